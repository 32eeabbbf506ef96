//! Runs that come from files: those of kurabe itself, and results of other tools.

use crate::clock::now;
use crate::journal::keep_digest;
use kurabe_core::Result;
use kurabe_core::record::RunRecord;
use kurabe_interop::embedded_in_page;
use kurabe_store::{Store, looks_bundled, looks_exported, parse_bundle, parse_export};

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
