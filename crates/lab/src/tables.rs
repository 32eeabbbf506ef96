//! Runs as tables, if they were built in.

#[cfg(feature = "tables")]
mod parquet;

use crate::output::new_folder;
#[cfg(not(feature = "tables"))]
use kurabe_core::{Error, ErrorKind};
use kurabe_core::{Result, output_path::OutputPath};
use kurabe_store::Runs;

/// Writes these runs, or all of the store, as Parquet files into a new folder.
///
/// # Errors
/// When the folder exists or cannot be made, when a run cannot be read, or when this build writes no tables; then nothing of it is left.
pub fn write_tables(store: &dyn Runs, ids: Vec<String>, folder: &OutputPath) -> Result<()> {
    let folder = new_folder(folder)?;
    #[cfg(feature = "tables")]
    return parquet::write_tables(store, ids, folder);
    #[cfg(not(feature = "tables"))]
    {
        let _ = (store, ids, folder);
        Err(Error::not_built(ErrorKind::Unsupported, "Parquet", "tables"))
    }
}
