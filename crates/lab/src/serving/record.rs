//! The final record of a server, which is written to a file, and to the store if there is one.

use crate::output::Output;
use crate::serving::ServedRequest;
use crate::stores::StorePlace;
use kurabe_compare::DIGESTER;
use kurabe_core::Result;
use kurabe_core::model::ModelRecord;
use kurabe_serve::{FrontKind, ServedFacts, ServedFigures};
use kurabe_store::{SqliteStore, Store};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Version of the record.
const RECORD_SCHEMA: u32 = 1;

/// Record of a server from its start to its end.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerRecord {
    kurabe_served: u32,
    version: String,
    /// The stack.
    pub model: ModelRecord,
    without: Vec<String>,
    exports: usize,
    size_bytes: u64,
    data: String,
    spin_ns: u64,
    /// Frontend that created its block devices, if it had any.
    #[serde(default)]
    by: Option<String>,
    /// Figures of the server.
    pub figures: ServedFigures,
}

impl ServerRecord {
    pub(super) fn new(facts: &ServedFacts, figures: &ServedFigures, asked: &ServedRequest) -> Self {
        Self {
            kurabe_served: RECORD_SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: facts.model.clone(),
            without: asked.without.clone(),
            exports: facts.exports,
            size_bytes: facts.size_bytes,
            data: asked.data.clone(),
            spin_ns: asked.settings.spin_ns,
            by: facts.front.map(|served| front_word(served.front).to_owned()),
            figures: figures.clone(),
        }
    }
}

/// Returns the name of a frontend for block devices.
pub fn front_word(front: FrontKind) -> &'static str {
    match front {
        FrontKind::Nbd => "nbd",
        FrontKind::Fuse => "fuse",
        FrontKind::Files => "files",
    }
}

/// Destinations of a record, as paths independent of the working directory.
pub(super) struct RecordPlaces {
    file: Option<Output>,
    store: Option<PathBuf>,
}

impl RecordPlaces {
    /// Creates the destinations from a claimed output and the store.
    pub(super) fn new(file: Option<Output>, store: &StorePlace) -> Result<Self> {
        Ok(Self { file, store: store.lasting_path()? })
    }
}

/// A server that has ended.
pub struct EndedServer {
    record: ServerRecord,
    store: Option<PathBuf>,
}

impl EndedServer {
    pub(super) fn new(record: ServerRecord, places: RecordPlaces) -> Result<Self> {
        let RecordPlaces { file, store } = places;
        let words = || format!("{:#}\n", json!(record));
        file.map_or(Ok(()), |output| output.write(words().as_bytes()))?;
        Ok(Self { record, store })
    }

    /// Returns the figures of the server.
    pub fn figures(&self) -> &ServedFigures {
        &self.record.figures
    }

    /// Stores its record, if there is a store.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn keep(&self) -> Result<()> {
        let Some(path) = &self.store else { return Ok(()) };
        SqliteStore::open_existing(path, DIGESTER)?
            .map_or(Ok(()), |store| store.keep_served(&json!(self.record)))
    }
}

/// A stored record of a server.
pub struct KeptServer {
    /// When it was stored.
    pub kept_at: String,
    /// The record as stored.
    pub record: Value,
}

impl KeptServer {
    /// Returns the parsed record, or `None` if another version of kurabe wrote it in an
    /// incompatible form.
    pub fn server(&self) -> Option<ServerRecord> {
        serde_json::from_value(self.record.clone()).ok()
    }
}

/// Returns the stored records of servers, oldest first.
///
/// # Errors
/// When the store cannot be read.
pub fn kept_servers(place: &StorePlace) -> Result<Vec<KeptServer>> {
    let kept = place.existing()?.map_or(Ok(Vec::new()), |store| store.served())?;
    Ok(kept.into_iter().map(|(kept_at, record)| KeptServer { kept_at, record }).collect())
}
