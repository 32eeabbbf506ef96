//! Programs that cannot be started because they are not installed.
//!
//! The kernel does not always answer `ENOENT`: with a folder on `PATH` that the user may not read,
//! the answer is `EACCES`, although no other folder has the program.

use std::ffi::OsStr;
use std::io::{Error, ErrorKind};

/// Returns whether no folder of `PATH` contains a program that failed to start with this error.
pub(crate) fn is_missing(program: &str, error: &Error) -> bool {
    is_missing_in(&std::env::var_os("PATH").unwrap_or_default(), program, error.kind())
}

fn is_missing_in(path: &OsStr, program: &str, kind: ErrorKind) -> bool {
    match kind {
        // A path to a file: the error is about this file.
        ErrorKind::NotFound if program.contains('/') => true,
        ErrorKind::NotFound | ErrorKind::PermissionDenied if !program.contains('/') => {
            !std::env::split_paths(path).any(|folder| folder.join(program).exists())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_program_that_no_folder_has_is_missing_whatever_the_kernel_says() {
        let folder = tempfile::tempdir().unwrap();
        let (some, none) = (folder.path().join("some"), folder.path().join("none"));
        fs::create_dir(&some).unwrap();
        fs::create_dir(&none).unwrap();
        fs::write(some.join("program"), "").unwrap();
        let path = std::env::join_paths([&none, &some]).unwrap();
        for kind in [ErrorKind::NotFound, ErrorKind::PermissionDenied] {
            assert!(is_missing_in(&path, "other", kind));
            assert!(!is_missing_in(&path, "program", kind), "it is there: {kind}");
        }
        assert!(!is_missing_in(&path, "other", ErrorKind::WouldBlock));
        assert!(is_missing_in(&path, "/no/such/program", ErrorKind::NotFound));
        assert!(!is_missing_in(&path, "/no/such/program", ErrorKind::PermissionDenied));
    }
}
