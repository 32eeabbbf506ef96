//! Imports runs from files, either exported by kurabe or written by other tools.

use crate::clock::now;
use crate::journal::keep_digest;
use kurabe_core::outside::text_of_file;
use kurabe_core::record::RunRecord;
use kurabe_core::{ErrorKind, Result, text};
use kurabe_interop::{DeviceFile, embedded_in_page, is_disksim, read_disksim};
use kurabe_sim::{Stack, read_device};
use kurabe_store::{Store, looks_bundled, looks_exported, parse_bundle, parse_export};
use std::path::Path;

/// A run that was imported into the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Id of the run in the store.
    pub id: String,
    /// Whether another tool measured it.
    pub of_other_tool: bool,
}

/// Imports all runs of a file and passes each to `heard` once it is stored. `name` is the name of
/// the file.
///
/// # Errors
/// When the file is neither from kurabe nor a result of a tool that kurabe knows, or `heard` fails.
pub fn import(
    store: &dyn Store,
    name: &str,
    bytes: &[u8],
    command: &[String],
    heard: &mut dyn FnMut(Imported) -> Result<()>,
) -> Result<()> {
    // All runs are parsed before the first is stored.
    let (records, of_other_tool) = match exported(bytes) {
        Some(records) => (records.map_err(|error| error.in_file(name))?, false),
        None => {
            let runs = kurabe_interop::import(name, bytes)?;
            let imported_at = now()?;
            let record = |run: kurabe_interop::ImportedRun| {
                run.into_record(env!("CARGO_PKG_VERSION"), &imported_at, command)
            };
            (runs.into_iter().map(record).collect(), true)
        }
    };
    for record in records {
        let id = store.import(record)?;
        keep_digest(store, &id);
        heard(Imported { id, of_other_tool })?;
    }
    Ok(())
}

/// Converts a parameter file of DiskSim to a device file, and checks that a model can be built from
/// it. Returns `None` if the bytes are of another kind of file. Files that it refers to are read
/// from its folder.
///
/// # Errors
/// When the file is damaged or contains no disk that kurabe can model.
pub fn import_device(path: &Path, bytes: &[u8]) -> Option<Result<DeviceFile>> {
    is_disksim(bytes).then(|| {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let beside = |file: &str| {
            let what =
                text!("cannot read {file}, which {name} names", "{name} が参照する {file} を読めません");
            let remedy = text!(
                "put it in the folder of the file that names it, and name it without a folder",
                "参照元と同じフォルダーに置き、フォルダー名なしで参照してください"
            );
            // Only files in the same folder, so that an untrusted file cannot cause other files to
            // be opened.
            if Path::new(file).components().count() != 1 || file == ".." {
                return Err(ErrorKind::Import.error(what).remedy(remedy));
            }
            let text = text_of_file(&path.with_file_name(file).to_string_lossy(), &what);
            text.map_err(|error| if error.remedy_text().is_none() { error.remedy(remedy) } else { error })
        };
        let source = String::from_utf8_lossy(bytes);
        let device = read_disksim(&name, &source, &beside)?;
        Stack::new(&read_device(&device.name, &device.toml)?, 1)?;
        Ok(device)
    })
}

/// Returns the runs of a file that kurabe wrote: an exported run, or a report as a page or as JSON.
fn exported(bytes: &[u8]) -> Option<Result<Vec<RunRecord>>> {
    if let Some(json) = embedded_in_page(bytes) {
        return Some(json.and_then(parse_bundle));
    }
    if looks_bundled(bytes) {
        return Some(parse_bundle(bytes));
    }
    looks_exported(bytes).then(|| parse_export(bytes).map(|run| vec![run]))
}
