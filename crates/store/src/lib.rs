//! Stores of runs: the traits ([`Runs`], [`Archive`], [`Store`]), a user's runs in one SQLite file
//! ([`SqliteStore`]), a laboratory's runs in a PostgreSQL database ([`open_shared`]), and the JSON
//! format for exchanging runs.
//!
//! ```text
//! kurabe.db            application_id "kura", user_version = version of these tables
//! ├─ meta              salt (16 random bytes, created with the store)
//! └─ runs              one row per run: summary columns for the list, header as JSON, the closing, the owner
//!    ├─ notices        one row per notice,  JSON
//!    ├─ cells          one row per cell,    JSON   ← appended during the run
//!    ├─ labels         key and value, set by the user
//!    └─ digests        one small row per ended run, with words in a shared table; computed from the
//!                      record, removed whenever it changes
//!
//! run.json             { "kurabe_record": 1, "run": { header, status, cells, … } }
//! ```
//!
//! A run is begun, grows by one durable transaction per cell, and is closed. However the process
//! ends, the cells appended so far are stored. A run whose owner has died is detected at the next
//! start and marked as interrupted. An imported run is stored in the same tables. The time and the
//! liveness of processes are parameters: nothing here reads a clock or inspects a process.
//!
//! The store does not interpret figures. It is opened with the function that computes a digest
//! of a record, for queries over many runs. Other queries load the run.
//!
//! # To add another store
//!
//! - Write `impl Runs` and `impl Archive` next to `sqlite.rs` and `postgres.rs`, and `impl Store`
//!   if runs are measured into it.
//! - Pass an empty one to `tests/conformance.rs`, and open it in `lab/stores.rs`.

mod address;
mod bundle;
mod check;
mod export;
mod filter;
mod id;
mod identity;
mod json;
mod json_path;
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

pub use address::{AddressFault, SharedAccess, SharedAddress};
pub use bundle::{REPORT_VERSION, export_bundle, export_packed_bundle, looks_bundled, parse_bundle};
pub use export::{EXPORT_VERSION, ExportedRun, export, export_with_figures, looks_exported, parse_export};
pub use filter::{Filter, parse_since};
pub use label::check_label_key;
pub use location::{StoreName, default_store};
pub use passwords::{Secrets, without_password, without_passwords};
pub use shared::open_shared;
pub use sqlite::{SqliteStore, abandon_waits, abandonable, tell_waits};
pub use store::{
    Archive, BroughtRun, LAST, RunHash, Runs, Store, StoreCheck, being_measured, no_such_run, supersedes,
};
pub use without_paths::without_paths;
