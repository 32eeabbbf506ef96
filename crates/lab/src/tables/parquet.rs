//! Exports runs of a store as a folder of tables, completely or not at all.
//!
//! Runs are loaded and written one after the other, so that a store may be larger than memory. The
//! folder has a temporary name until all of its tables are complete, and is removed on error.

use crate::output::cannot_write;
use crate::passing_folder::PassingFolder;
use kurabe_core::{Result, shown};
use kurabe_interop::ParquetTables;
use kurabe_store::Runs;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

/// See [`super::write_tables`].
pub(crate) fn write_tables(store: &dyn Runs, ids: Vec<String>, folder: &Path) -> Result<()> {
    let refused = |error| cannot_write(&shown::path(folder), error);
    let ids = match ids.is_empty() {
        true => store.list()?.into_iter().map(|run| run.id).collect(),
        false => ids,
    };
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    // The guard removes the temporary name, which no longer exists after the rename.
    let part = PassingFolder(folder.with_file_name(name));
    fs::create_dir(&part.0).map_err(refused)?;
    let create = |name: &str| File::create_new(part.0.join(format!("{name}.parquet"))).map(BufWriter::new);
    let mut tables = ParquetTables::begin(create).map_err(refused)?;
    for id in ids {
        tables.add(&store.load(&id)?).map_err(refused)?;
    }
    let end = || -> io::Result<()> {
        for file in tables.end()? {
            file.into_inner()?.sync_all()?;
        }
        fs::rename(&part.0, folder)
    };
    end().map_err(refused)
}
