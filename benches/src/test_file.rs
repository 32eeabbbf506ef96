//! The file that the tools read and write: created and filled here, and removed in every case.

use crate::Result;
use crate::child::check_interrupt;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// Bytes per write.
const CHUNK_BYTES: usize = 1 << 20;

/// A file that is deleted when it is dropped. No process holds it open, because kurabe refuses to
/// write to a file that another process could write to. Ctrl-C sets a flag that ends the bench
/// regularly.
pub struct TestFile {
    path: TempPath,
}

impl TestFile {
    /// Creates a file of `size_bytes` in a directory, filled with incompressible data, and flushes
    /// it to disk.
    ///
    /// # Errors
    /// Returns the error of the operating system, or an interrupt.
    pub fn create(directory: &Path, size_bytes: u64) -> Result<Self> {
        let cannot = |error| format!("cannot make a test file in {}: {error}", directory.display());
        let mut file =
            tempfile::Builder::new().prefix("kurabe-bench-").tempfile_in(directory).map_err(cannot)?;
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut left = size_bytes;
        while left > 0 {
            check_interrupt()?;
            for word in chunk.chunks_exact_mut(8) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                word.copy_from_slice(&state.to_le_bytes());
            }
            let now = left.min(CHUNK_BYTES as u64);
            file.write_all(&chunk[..now as usize])?;
            left -= now;
        }
        file.as_file().sync_all()?;
        Ok(Self { path: file.into_temp_path() })
    }

    /// Reads the whole file once, so that it is in the page cache; another process may have dropped
    /// it.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn warm(&self) -> Result<()> {
        let mut file = File::open(self.path())?;
        let mut chunk = vec![0; CHUNK_BYTES];
        while file.read(&mut chunk)? > 0 {}
        Ok(())
    }

    /// Returns the path of the file.
    pub fn path(&self) -> PathBuf {
        self.path.to_path_buf()
    }
}

/// Returns the directory of the running program, which is on the file system of the target
/// directory.
///
/// # Errors
/// Returns the error of the operating system.
pub fn own_directory() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    Ok(program.parent().ok_or("a program without a directory")?.to_owned())
}
