//! Runs work on files and devices that this process itself serves.
//!
//! If a process is killed, a thread of it that waits for the process's own answer ends only once the
//! connection of the file system is closed. The connection is closed when the last thread that
//! shares its file descriptor table has ended. A thread with its own table, without the connection,
//! does not prevent that: the other threads end, the kernel fails the request, and this thread ends
//! as well.

use crate::platform;
use std::fs::File;
use std::io;
use std::os::fd::IntoRawFd;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Runs work that may wait for this process, in a thread with its own file descriptor table.
///
/// The work has to open its files itself: no descriptor of the caller is valid in it, and it can
/// return none.
///
/// # Errors
/// Those of the work, and those of creating the thread or the table.
pub fn apart<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let begin = || {
        platform::leave_open_files(0)?;
        // Output to standard error must not reach a device that was given its number.
        for _ in 0..3 {
            let _ = File::options().read(true).write(true).open("/dev/null")?.into_raw_fd();
        }
        work()
    };
    std::thread::scope(|scope| {
        let worker = Builder::new().name("kurabe-apart".to_owned()).spawn_scoped(scope, begin)?;
        worker.join().unwrap_or_else(|_| Err(io::Error::other("panicked")))
    })
}

/// A thread with its own file descriptor table, as for [`apart`], and its own mount namespace.
///
/// Its mounts are visible only to it and the processes it starts, and are removed when the last of
/// them ends. It has the standard streams of this process, and passes them on.
#[derive(Debug)]
pub struct Visitor {
    work: Option<Sender<Box<dyn FnOnce() + Send>>>,
    thread: Option<JoinHandle<()>>,
}

impl Visitor {
    /// Starts the thread; without its own mount namespace if the whole process already has one.
    ///
    /// # Errors
    /// If the process does not run as root, or the kernel provides no tables.
    pub fn start(has_own_mounts: bool) -> io::Result<Self> {
        let (work, works) = channel::<Box<dyn FnOnce() + Send>>();
        let (ready, is_ready) = channel();
        let thread = Builder::new().name("kurabe-visitor".to_owned()).spawn(move || {
            let begun = platform::leave_open_files(STANDARD_STREAMS)
                .and_then(|()| if has_own_mounts { platform::unshare_mounts() } else { Ok(()) });
            let is_begun = begun.is_ok();
            if ready.send(begun).is_ok() && is_begun {
                works.into_iter().for_each(|work| work());
            }
        })?;
        is_ready.recv().map_err(io::Error::other)??;
        Ok(Self { work: Some(work), thread: Some(thread) })
    }

    /// Runs a function on the thread and waits for it. Its result must not hold a descriptor.
    ///
    /// # Errors
    /// If earlier work panicked.
    pub fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
        let gone = || io::Error::other("panicked");
        let (done, is_done) = channel();
        let job = Box::new(move || drop(done.send(work())));
        self.work.as_ref().and_then(|sender| sender.send(job).ok()).ok_or_else(gone)?;
        is_done.recv().map_err(|_| gone())
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        self.work = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Number of standard streams: descriptors below are input, output and error.
const STANDARD_STREAMS: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_files_are_its_own() {
        let names = |folder: &str| -> io::Result<Vec<String>> {
            let entries = std::fs::read_dir(folder)?;
            Ok(entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
        };
        // The standard streams, and the folder that is being read.
        let apart_names = apart(|| names("/proc/thread-self/fd")).unwrap();
        assert_eq!(apart_names, ["0", "1", "2", "3"]);
        assert!(names("/proc/thread-self/fd").unwrap().len() >= 4);
        let failed = apart(|| File::open("/nowhere").map(|_| ()));
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
