//! Work on files and devices that this process serves itself.
//!
//! The model: whoever waits for an answer of this process when it is killed ends only once the connection of its file system does,
//! and that ends when the last thread that shares its table of open files has. A thread with a table of its own, in which nothing
//! of the connection is, keeps nobody: the others end, the kernel fails what it waits for, and it ends as well.

use crate::platform;
use std::fs::File;
use std::io;
use std::os::fd::IntoRawFd;
use std::thread::Builder;

/// Does work that may wait for this process, in a thread that shares no open files with it. The work opens what it needs: no
/// descriptor of the caller's is one there, and none comes out.
pub(crate) fn apart<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let begin = || {
        platform::leave_open_files()?;
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
