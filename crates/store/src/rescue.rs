//! Saves runs that the store no longer accepts to a separate file, so that no result is lost with
//! the store.

use crate::{bundle::export_bundle, location::state_directory, platform};
use kurabe_core::{ErrorKind, Result, record::RunRecord, text};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Number of names that are tried in a directory.
const MOST_NAMES: u32 = 100;

/// Writes runs next to the store. If that fails, tries the user's state directory and then the one
/// for temporary files. Returns the path.
pub(crate) fn write(
    store: &Path,
    records: &[RunRecord],
    env: impl Fn(&str) -> Option<OsString>,
) -> Result<PathBuf> {
    let id = records.first().map_or("run", |record| record.header.id.as_str());
    let json = export_bundle(records.to_vec())?;
    let name = store.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let beside = store.parent().map(|directory| (directory.to_owned(), format!("{name}.rescued-{id}")));
    let state = state_directory(env).map(|directory| (directory, format!("rescued-{id}")));
    let temporary = Some((std::env::temp_dir(), format!("kurabe-rescued-{id}")));
    let mut first_error = None;
    for (directory, stem) in [beside, state, temporary].into_iter().flatten() {
        match write_in(&directory, &stem, &json, store) {
            Ok(path) => return Ok(path),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    let error = ErrorKind::Store.error(text!(
        "the record of the run could not be written anywhere",
        "測定の記録をどこにも書けませんでした"
    ));
    Err(match first_error {
        Some(cause) => error.because(cause),
        None => error,
    })
}

/// Creates a file in a directory. The directory is created if necessary, unless it is the store's,
/// which the user may have removed on purpose.
fn write_in(directory: &Path, stem: &str, json: &str, store: &Path) -> io::Result<PathBuf> {
    if store.parent() != Some(directory) {
        platform::create_private_dirs(directory)?;
    }
    let names = std::iter::once(format!("{stem}.json"));
    for name in names.chain((2..=MOST_NAMES).map(|number| format!("{stem}-{number}.json"))) {
        let path = directory.join(name);
        match platform::create_private_file(&path) {
            Ok(mut file) => {
                let written = file.write_all(json.as_bytes()).and_then(|()| file.sync_all());
                return written.map(|()| path.clone()).inspect_err(|_| {
                    // An incomplete file is removed.
                    let _ = std::fs::remove_file(&path);
                });
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_bundle;
    use kurabe_testkit::sample::sample_record;

    #[test]
    fn where_the_store_was_taken_away_with_its_directory_the_users_state_takes_the_run() {
        let home = tempfile::tempdir().unwrap();
        let env = |name: &str| (name == "HOME").then(|| home.path().as_os_str().to_owned());
        let store = home.path().join("gone/kurabe.db");
        let path = write(&store, &[sample_record()], env).unwrap();
        assert_eq!(path.parent().unwrap(), home.path().join(".local/state/kurabe"));
        assert_eq!(parse_bundle(&std::fs::read(path).unwrap()).unwrap(), [sample_record()]);
        assert!(!home.path().join("gone").exists());
    }
}
