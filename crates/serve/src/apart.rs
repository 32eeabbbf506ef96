//! Work on files and devices that this process serves itself.
//!
//! The model: whoever waits for an answer of this process when it is killed ends only once the connection of its file system does,
//! and that ends when the last thread that shares its table of open files has. A thread with a table of its own, in which nothing
//! of the connection is, keeps nobody: the others end, the kernel fails what it waits for, and it ends as well.

use crate::platform;
use std::fs::File;
use std::io;
use std::os::fd::IntoRawFd;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Does work that may wait for this process, in a thread that shares no open files with it. The work opens what it needs: no
/// descriptor of the caller's is one there, and none comes out.
///
/// # Errors
/// Those of the work, and of a kernel that gives no thread or no table.
pub fn apart<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let begin = || {
        platform::leave_open_files(0)?;
        // Whoever writes to standard error must not reach a device that took its number.
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

/// A thread that is apart as well, for as long as it is needed, and has a table of mounts of its own: what is mounted by it and by
/// what it starts is seen by nobody else, and goes when the last of them ends, whose wait for this process keeps nobody. It has the
/// standard streams of this process, and hands them on.
#[derive(Debug)]
pub struct Visitor {
    work: Option<Sender<Box<dyn FnOnce() + Send>>>,
    thread: Option<JoinHandle<()>>,
}

impl Visitor {
    /// Starts it; without mounts of its own where all of this process has such.
    ///
    /// # Errors
    /// When this process is not root's, or the kernel gives it no tables.
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

    /// Has it do something, and waits for that. What comes out must hold no descriptor.
    ///
    /// # Errors
    /// When the work panicked before.
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

/// Descriptors below this are standard input, output and error.
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
        // The three, and the folder that is looked at.
        let apart_names = apart(|| names("/proc/thread-self/fd")).unwrap();
        assert_eq!(apart_names, ["0", "1", "2", "3"]);
        assert!(names("/proc/thread-self/fd").unwrap().len() >= 4);
        let failed = apart(|| File::open("/nowhere").map(|_| ()));
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
