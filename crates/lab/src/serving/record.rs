//! What the server of a model says at its end, as it is kept: in a file, and in the store if there is one.

use crate::output::Output;
use crate::serving::ServedRequest;
use crate::stores::StorePlace;
use kurabe_core::Result;
use kurabe_core::model::ModelRecord;
use kurabe_serve::{FrontKind, ServedFacts, ServedFigures};
use kurabe_store::{SqliteStore, Store};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Version of the record.
const RECORD_SCHEMA: u32 = 1;

/// A server from its beginning to its end.
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
    /// What made its block devices, if it had any.
    #[serde(default)]
    by: Option<String>,
    /// What it did.
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
            spin_ns: asked.spin_ns,
            by: facts.front.map(|served| front_word(served.front).to_owned()),
            figures: figures.clone(),
        }
    }
}

/// What makes devices, as one word.
pub fn front_word(front: FrontKind) -> &'static str {
    match front {
        FrontKind::Nbd => "nbd",
        FrontKind::Fuse => "fuse",
        FrontKind::Files => "files",
    }
}

/// Where a record goes, from whatever folder.
pub(super) struct RecordPlaces {
    file: Option<Output>,
    store: Option<PathBuf>,
}

impl RecordPlaces {
    /// An output that was claimed, and the store.
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

    /// What it did.
    pub fn figures(&self) -> &ServedFigures {
        &self.record.figures
    }

    /// Keeps its record in the store, if there is one.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn keep(&self) -> Result<()> {
        let Some(path) = &self.store else { return Ok(()) };
        SqliteStore::open_existing(path)?.map_or(Ok(()), |store| store.keep_served(&json!(self.record)))
    }
}

/// A server whose record a store has.
pub struct KeptServer {
    /// When it was kept.
    pub kept_at: String,
    /// What is kept.
    pub record: Value,
}

impl KeptServer {
    /// The server, unless another version of kurabe wrote its record.
    pub fn server(&self) -> Option<ServerRecord> {
        serde_json::from_value(self.record.clone()).ok()
    }
}

/// The servers whose records a store has, the oldest first.
///
/// # Errors
/// When the store cannot be read.
pub fn kept_servers(place: &StorePlace) -> Result<Vec<KeptServer>> {
    let kept = place.existing()?.map_or(Ok(Vec::new()), |store| store.served())?;
    Ok(kept.into_iter().map(|(kept_at, record)| KeptServer { kept_at, record }).collect())
}
