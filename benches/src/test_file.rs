//! The file that the tools read and write: made and filled here, removed on every way out.

use crate::Result;
use crate::child::check_interrupt;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// Bytes written at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// A file that goes away with its owner, and that nobody holds open: kurabe writes to no file that somebody else could write
/// to. Ctrl-C sets a flag that ends the bench the ordinary way.
pub struct TestFile {
    path: TempPath,
}

impl TestFile {
    /// Makes a file of `size_bytes` in a directory, filled with bytes that do not compress, and on the disk.
    ///
    /// # Errors
    /// The operating system's, or an interrupt.
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

    /// Reads all of it once, so that it lies in the page cache; somebody else may have dropped it.
    ///
    /// # Errors
    /// The operating system's.
    pub fn warm(&self) -> Result<()> {
        let mut file = File::open(self.path())?;
        let mut chunk = vec![0; CHUNK_BYTES];
        while file.read(&mut chunk)? > 0 {}
        Ok(())
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.path.to_path_buf()
    }
}

/// The directory of the running program: on the file system of the target directory.
///
/// # Errors
/// The operating system's.
pub fn own_directory() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    Ok(program.parent().ok_or("a program without a directory")?.to_owned())
}
