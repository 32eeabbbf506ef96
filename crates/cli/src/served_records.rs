//! What the server of a model says at its end, as it is kept: in a file (`--record`), and in the store if there is one.

use crate::args::{Global, ServedArgs};
use crate::files::{self, Existing};
use crate::output::print_json;
use crate::serve::print_texts;
use crate::served_words::front_word;
use crate::stored::{existing_store, lasting_store_path};
use kurabe_core::model::ModelRecord;
use kurabe_core::number::{count, fixed, latency_ns, moment};
use kurabe_core::{Result, Text, shown, text};
use kurabe_serve::{ServedFacts, ServedFigures};
use kurabe_store::{SqliteStore, Store};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Version of the record.
const RECORD_SCHEMA: u32 = 1;

/// A server from its beginning to its end.
#[derive(Serialize, Deserialize)]
pub struct ServerRecord {
    kurabe_served: u32,
    version: String,
    model: ModelRecord,
    without: Vec<String>,
    exports: usize,
    size_bytes: u64,
    data: String,
    spin_ns: u64,
    /// What made its block devices, if it had any.
    #[serde(default)]
    by: Option<String>,
    figures: ServedFigures,
}

impl ServerRecord {
    pub fn new(facts: &ServedFacts, figures: &ServedFigures, args: &ServedArgs) -> Self {
        Self {
            kurabe_served: RECORD_SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: facts.model.clone(),
            without: args.without.clone(),
            exports: facts.exports,
            size_bytes: facts.size_bytes,
            data: args.data.clone(),
            spin_ns: args.spin,
            by: facts.front.map(|served| front_word(served.front).to_owned()),
            figures: figures.clone(),
        }
    }

    /// Writes it to a new file, where that was asked for.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, places: &RecordPlaces) -> Result<()> {
        let words = || format!("{:#}\n", json!(self));
        places.file.as_ref().map_or(Ok(()), |path| files::write(path, words().as_bytes(), Existing::Kept))
    }

    /// Keeps it in the store, if there is one.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn keep(&self, places: &RecordPlaces) -> Result<()> {
        let Some(path) = &places.store else { return Ok(()) };
        SqliteStore::open_existing(path)?.map_or(Ok(()), |store| store.keep_served(&json!(self)))
    }
}

/// Where a record goes, from whatever folder.
pub struct RecordPlaces {
    file: Option<PathBuf>,
    store: Option<PathBuf>,
}

impl RecordPlaces {
    /// The places that the words name; no file is there yet.
    ///
    /// # Errors
    /// When one is, or a store is named in a folder that is not there.
    pub fn new(args: &ServedArgs, global: &Global) -> Result<Self> {
        Ok(Self { file: args.new_record()?, store: lasting_store_path(global)? })
    }
}

/// `kurabe list --served`
///
/// # Errors
/// When the store cannot be read.
pub fn list(global: &Global) -> Result<()> {
    let kept = existing_store(global)?.map_or(Ok(Vec::new()), |store| store.served())?;
    if global.json {
        return kept.iter().try_for_each(|(kept_at, record)| {
            print_json(&json!({ "event": "served", "kept_at": kept_at, "record": record }))
        });
    }
    if kept.is_empty() {
        return print_texts(&[text!(
            "No model was served so far, or there was no store to keep it in (`kurabe run` makes one).",
            "公開したモデルの記録はありません(保存先がなければ残りません。保存先は `kurabe run` で作られます)。"
        )]);
    }
    print_texts(&kept.iter().map(|(kept_at, record)| line(kept_at, record)).collect::<Vec<_>>())
}

/// One server.
fn line(kept_at: &str, record: &Value) -> Text {
    let Ok(record) = serde_json::from_value::<ServerRecord>(record.clone()) else {
        return text!(
            "{kept_at}  by another version of kurabe",
            "{kept_at}  別バージョンの kurabe による記録"
        );
    };
    let changes = record.model.changes();
    let name = match changes.is_empty() {
        true => record.model.name,
        false => format!("{} ({})", record.model.name, changes.join(", ")),
    };
    let name = shown::line(&name);
    let figures = &record.figures;
    let (time, answers) = (moment(figures.served_ns), count(figures.lateness.answers));
    let Some(share) = figures.lateness.in_time_share else {
        return text!("{kept_at}  {name}  {time}, no request", "{kept_at}  {name}  {time}、要求なし");
    };
    let (share, p99) = (fixed(share * 100.0, 1), latency_ns(figures.lateness.p99_ns));
    text!(
        "{kept_at}  {name}  {time}, {answers} answers, {share} % in time, p99 late by {p99}",
        "{kept_at}  {name}  {time}、応答 {answers} 回、{share} % が時間どおり、遅れ p99 {p99}"
    )
}
