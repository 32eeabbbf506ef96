//! Runs that come from files: those of kurabe itself, and results of other tools.

use crate::clock::now;
use crate::journal::keep_digest;
use kurabe_core::outside::text_of_file;
use kurabe_core::record::RunRecord;
use kurabe_core::{ErrorKind, Result, text};
use kurabe_interop::{DeviceFile, embedded_in_page, is_disksim, read_disksim};
use kurabe_sim::{Stack, read_device};
use kurabe_store::{Store, looks_bundled, looks_exported, parse_bundle, parse_export};
use std::path::Path;

/// A run that is in the store now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Its id.
    pub id: String,
    /// Whether another tool measured it.
    pub of_other_tool: bool,
}

/// Takes in all runs of a file; `heard` is told of each as soon as it is stored. `name` is the file's name.
///
/// # Errors
/// When it is neither of kurabe nor a result of a tool that kurabe knows, or nobody can be told.
pub fn import(
    store: &dyn Store,
    name: &str,
    bytes: &[u8],
    command: &[String],
    heard: &mut dyn FnMut(Imported) -> Result<()>,
) -> Result<()> {
    // All are read before the first is stored.
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

/// The device file that a parameter file of DiskSim makes, once it is known to be one that a model can be built of; `None`
/// if the bytes are of something else. Files that it names are read from its folder.
///
/// # Errors
/// When the file is damaged or holds no disk that kurabe models.
pub fn import_device(path: &Path, bytes: &[u8]) -> Option<Result<DeviceFile>> {
    is_disksim(bytes).then(|| {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let beside = |file: &str| {
            let what =
                text!("cannot read {file}, which {name} names", "{name} が参照する {file} を読めません");
            let remedy = text!(
                "put it beside the file that names it, and name it without a folder",
                "参照元と同じフォルダーに置き、フォルダー名なしで参照してください"
            );
            // Only files of the same folder: a file from elsewhere must not have others opened.
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

/// The runs of a file that kurabe wrote: an exported run, or a report as a page or as JSON.
fn exported(bytes: &[u8]) -> Option<Result<Vec<RunRecord>>> {
    if let Some(json) = embedded_in_page(bytes) {
        return Some(json.and_then(parse_bundle));
    }
    if looks_bundled(bytes) {
        return Some(parse_bundle(bytes));
    }
    looks_exported(bytes).then(|| parse_export(bytes).map(|run| vec![run]))
}
