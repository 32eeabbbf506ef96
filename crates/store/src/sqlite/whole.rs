//! Checks the integrity of a store: SQLite's check of its pages, and every run by its checksums.

use super::open::SqliteStore;
use crate::platform;
use crate::store::{Runs, Store, StoreCheck};
use kurabe_core::{Error, ErrorKind, Result, text};

/// Most complaints of SQLite that are listed; one broken page may cause thousands.
const MOST_COMPLAINTS: u32 = 20;

pub(super) fn check(store: &SqliteStore) -> Result<StoreCheck> {
    let mut damages = Vec::new();
    let asked = store.column(&format!("PRAGMA integrity_check({MOST_COMPLAINTS})"), []);
    match asked {
        Ok(lines) => damages.extend(
            lines.into_iter().filter(|line| line != "ok").map(|line| (None, broken_page().because(line))),
        ),
        Err(error) => damages.push((None, error)),
    }
    let mut runs = 0;
    match store.column("SELECT id FROM runs ORDER BY started_unix_s, rowid", []) {
        Ok(ids) => {
            for id in ids {
                match store.load(&id) {
                    Ok(_) => runs += 1,
                    Err(error) => damages.push((Some(id), error)),
                }
            }
        }
        Err(error) => damages.push((None, error)),
    }
    damages.extend(store.served().err().map(|error| (None, error)));
    let remarks = platform::open_to_others(&store.path).map(|mode| {
        let path = kurabe_core::shown::path(&store.path);
        text!(
            "users other than its owner can open the store (mode {mode:o}); make it private with `chmod 600 {path}`",
            "保存先は所有者以外も開けます(モード {mode:o})。`chmod 600 {path}` で自分だけのものになります"
        )
    });
    Ok(StoreCheck { runs, damages, remarks: remarks.into_iter().collect() })
}

fn broken_page() -> Error {
    ErrorKind::Store.error(text!("the store's file is damaged", "保存先のファイルが壊れています"))
}
