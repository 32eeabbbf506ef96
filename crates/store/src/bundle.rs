//! Several runs in one JSON text: what a report holds of its runs, and how it is read back.
//!
//! ```text
//! { "kurabe_report": 1, …, "runs": [ { "kurabe_record": 1, "run": { … } }, … ] }
//! ```
//!
//! The model: each run stands in it as it stands in a file of its own, without line breaks, and is read back by the same
//! reader with the same checks. What else a report tells of them (an answer, comparisons) is for other readers and is
//! passed over. Many runs are packed: the list of runs as gzip in Base64, under `packed`, a fifth as long.

use crate::export::{ExportedRun, parse_export};
use crate::json;
use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use kurabe_core::record::RunRecord;
use kurabe_core::{Error, ErrorKind, Result, Text, mention::EXPORT, quantity::format_bytes, text};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::io::Read;

/// The version of the form that this kurabe writes.
pub const REPORT_VERSION: u32 = 1;
/// Packed runs of more than this are no report of kurabe's: a page has 3 MB, and its JSON packs to a tenth or so. A few
/// hundred kB can unpack to a thousand times as much, and each byte of that takes up to ten of memory as a record.
const MOST_UNPACKED_BYTES: u64 = 48 << 20;

/// The runs as one JSON text without line breaks.
///
/// # Errors
/// When a record cannot be written as JSON, which is a defect of kurabe.
pub fn export_bundle(runs: Vec<RunRecord>) -> Result<String> {
    #[derive(Serialize)]
    struct Bundle {
        kurabe_report: u32,
        runs: Vec<ExportedRun>,
    }
    let runs = runs.into_iter().map(ExportedRun::from).collect();
    Ok(json::to_text(&Bundle { kurabe_report: REPORT_VERSION, runs })?)
}

/// The runs as one JSON text that is as short as it can be. Runs that cannot be packed, and so many that they could not be
/// unpacked, stay as they are.
///
/// # Errors
/// As [`export_bundle`].
pub fn export_packed_bundle(runs: Vec<RunRecord>) -> Result<String> {
    #[derive(Serialize)]
    struct Bundle {
        kurabe_report: u32,
        packed: String,
    }
    let runs: Vec<ExportedRun> = runs.into_iter().map(ExportedRun::from).collect();
    let json = json::to_text(&runs)?;
    let mut packed = Vec::new();
    let mut encoder = GzEncoder::new(json.as_bytes(), Compression::default());
    if json.len() as u64 > MOST_UNPACKED_BYTES || encoder.read_to_end(&mut packed).is_err() {
        return Ok(format!("{{\"kurabe_report\":{REPORT_VERSION},\"runs\":{json}}}"));
    }
    Ok(json::to_text(&Bundle { kurabe_report: REPORT_VERSION, packed: STANDARD.encode(packed) })?)
}

/// Runs unpacked.
fn unpack(packed: &str) -> Result<Vec<u8>> {
    let packed = STANDARD.decode(packed).map_err(|error| unreadable().because(error))?;
    let mut json = Vec::new();
    GzDecoder::new(packed.as_slice())
        .take(MOST_UNPACKED_BYTES + 1)
        .read_to_end(&mut json)
        .map_err(|error| unreadable().because(error))?;
    if json.len() as u64 > MOST_UNPACKED_BYTES {
        let most = format_bytes(MOST_UNPACKED_BYTES);
        return Err(not_held(text!(
            "the records of this report unpack to more than {most}, which no report of kurabe's does",
            "このレポートの測定記録は、展開すると {most} を超えます。kurabe のレポートではありえません"
        )));
    }
    Ok(json)
}

fn refused(message: Text) -> Error {
    ErrorKind::Import.error(message)
}

/// What its author could still give otherwise.
fn not_held(message: Text) -> Error {
    refused(message).remedy(text!(
        "ask its author for `{EXPORT} RUN`",
        "作成者に `{EXPORT} RUN` の出力をもらってください"
    ))
}

fn unreadable() -> Error {
    refused(text!("the records of this report cannot be read", "このレポートの測定記録を読めません"))
}

/// Whether this is a report's JSON, whole or damaged: its first key tells.
pub fn looks_bundled(bytes: &[u8]) -> bool {
    let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(256)]);
    beginning
        .trim_start()
        .strip_prefix('{')
        .is_some_and(|rest| rest.trim_start().starts_with("\"kurabe_report\""))
}

/// Reads the runs of a report.
///
/// # Errors
/// When it is no report, a newer kurabe wrote it, it holds no run, or one of its runs is wrong.
pub fn parse_bundle(bytes: &[u8]) -> Result<Vec<RunRecord>> {
    #[derive(Deserialize)]
    struct Bundle<'a> {
        kurabe_report: u64,
        #[serde(borrow, default)]
        runs: Vec<&'a RawValue>,
        packed: Option<String>,
    }
    let Bundle { kurabe_report, mut runs, packed } =
        serde_json::from_slice(bytes).map_err(|error| unreadable().because(error))?;
    if kurabe_report != u64::from(REPORT_VERSION) {
        return Err(refused(text!(
            "the report has `kurabe_report` {kurabe_report}; this kurabe reads {REPORT_VERSION}",
            "レポートの `kurabe_report` は {kurabe_report} です。この kurabe が読めるのは {REPORT_VERSION} です"
        ))
        .remedy(text!(
            "a newer kurabe wrote it: update this one",
            "新しい kurabe が書いたファイルです。kurabe を更新してください"
        )));
    }
    let unpacked = packed.map(|packed| unpack(&packed)).transpose()?;
    if let Some(json) = &unpacked {
        runs = serde_json::from_slice(json).map_err(|error| unreadable().because(error))?;
    }
    if runs.is_empty() {
        return Err(not_held(text!(
            "the report holds no record: it was too large for them",
            "このレポートに測定記録は入っていません(大きすぎたため省かれています)"
        )));
    }
    runs.into_iter().map(|run| parse_export(run.get().as_bytes())).collect()
}
