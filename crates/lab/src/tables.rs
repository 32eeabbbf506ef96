//! Exports runs as tables, if this feature is built in.

#[cfg(feature = "tables")]
mod parquet;

use crate::output::new_folder;
#[cfg(not(feature = "tables"))]
use kurabe_core::{Error, ErrorKind};
use kurabe_core::{Result, output_path::OutputPath};
use kurabe_store::Runs;

/// Writes the given runs, or all runs of the store if `ids` is empty, as Parquet files into a new
/// folder.
///
/// # Errors
/// When the folder exists or cannot be created, a run cannot be read, or this build does not write
/// tables. No partial folder remains.
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
