//! The store: what is asked of a store of runs ([`Runs`], [`Archive`], [`Store`]), every run of a user in one SQLite file
//! ([`SqliteStore`]), those of a laboratory in one database of PostgreSQL ([`open_shared`]), and the JSON form in which a run travels.
//!
//! ```text
//! kurabe.db            application_id "kura", user_version = version of these tables
//! ├─ meta              salt (16 random bytes, made once)
//! └─ runs              one row per run: summary columns for the list, header as JSON, the closing, the owner
//!    ├─ notices        one row per remark,  JSON
//!    ├─ cells          one row per cell,    JSON   ← appended while the run goes on
//!    ├─ labels         key and value, the user's
//!    └─ digests        one small row per ended run, of words that are kept once; made from the record, dropped with
//!                      any change of it
//!
//! run.json             { "kurabe_record": 1, "run": { header, status, cells, … } }
//! ```
//!
//! The model: a run is begun, grows by one durable transaction per cell, and is closed. Whatever ends the process,
//! the cells appended so far are there, and a run whose owner is gone is recognised at the next start and marked
//! interrupted. A run that is imported is stored in the same tables. Time and the life of processes are
//! parameters; nothing here reads a clock or looks at a process.
//!
//! Not a goal: knowing what a figure means. Whoever asks across runs brings the function that makes a digest of a record;
//! whoever asks for more loads the run.
//!
//! # To add another store
//!
//! - Write `impl Runs` and `impl Archive` next to `sqlite.rs` and `postgres.rs`, and `impl Store` if runs are measured into
//!   it.
//! - Pass an empty one to `tests/conformance.rs`, and open it in `lab/stores.rs`.

mod address;
mod bundle;
mod check;
mod export;
mod filter;
mod id;
mod identity;
mod json;
mod label;
mod location;
mod passwords;
mod platform;
#[cfg(feature = "postgres")]
mod postgres;
mod rescue;
mod shared;
mod sqlite;
mod store;
mod tidy_json;
mod without_paths;

pub use address::{AddressFault, SharedAddress};
pub use bundle::{REPORT_VERSION, export_bundle, export_packed_bundle, looks_bundled, parse_bundle};
pub use export::{EXPORT_VERSION, ExportedRun, export, export_with_figures, looks_exported, parse_export};
pub use filter::{Filter, parse_since};
pub use label::check_label_key;
pub use location::{StoreName, default_store};
pub use passwords::{Secrets, without_password, without_passwords};
pub use shared::{SharedAccess, open_shared};
pub use sqlite::{SqliteStore, abandon_waits, abandonable, tell_waits};
pub use store::{
    Archive, BroughtRun, LAST, RunHash, Runs, Store, StoreCheck, being_measured, no_such_run, supersedes,
};
pub use without_paths::without_paths;
