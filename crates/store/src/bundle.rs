//! Several runs in one JSON text, as embedded in reports.
//!
//! ```text
//! { "kurabe_report": 1, …, "runs": [ { "kurabe_record": 1, "run": { … } }, … ] }
//! ```
//!
//! Each run has the form of its own file, without line breaks, and is read back by the same reader
//! with the same checks. Other content of a report (an answer, comparisons) is for other readers
//! and is skipped. Many runs are packed: the list of runs is stored under `packed` as gzip in
//! Base64, at a fifth of the length.

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

/// Version of the report format that this kurabe writes.
pub const REPORT_VERSION: u32 = 1;
/// Largest size of packed runs after decompression.
///
/// A page has 3 MB, and its JSON is compressed to about a tenth, so larger ones are not reports of
/// kurabe. A few hundred kB can expand to a thousand times as much, and each byte of that takes up
/// to ten bytes of memory as a record.
const MOST_UNPACKED_BYTES: u64 = 48 << 20;

/// Returns the runs as one JSON text without line breaks.
///
/// # Errors
/// If a record cannot be written as JSON, which is a defect of kurabe.
pub fn export_bundle(runs: Vec<RunRecord>) -> Result<String> {
    #[derive(Serialize)]
    struct Bundle {
        kurabe_report: u32,
        runs: Vec<ExportedRun>,
    }
    let runs = runs.into_iter().map(ExportedRun::from).collect();
    Ok(json::to_text(&Bundle { kurabe_report: REPORT_VERSION, runs })?)
}

/// Returns the runs as the shortest possible JSON text. Runs that cannot be packed, or are too
/// large to be unpacked, are stored unpacked.
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
            "the records of this report unpack to more than {most}, the limit for reports of kurabe",
            "このレポートの測定記録は、展開すると {most} を超えます。kurabe のレポートではありえません"
        )));
    }
    Ok(json)
}

fn refused(message: Text) -> Error {
    ErrorKind::Import.error(message)
}

/// Creates the error for runs that only the report's author could provide in another form.
fn not_held(message: Text) -> Error {
    refused(message).remedy(text!(
        "ask its author for the output of `{EXPORT} RUN`",
        "作成者に `{EXPORT} RUN` の出力をもらってください"
    ))
}

fn unreadable() -> Error {
    refused(text!("the records of this report cannot be read", "このレポートの測定記録を読めません"))
}

/// Returns whether this is the JSON of a report, complete or damaged, by its first key.
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
/// If the bytes are not a report, were written by a newer kurabe, contain no run, or contain one
/// that is not valid.
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
            "it was written by a newer version; update kurabe",
            "新しい kurabe が書いたファイルです。kurabe を更新してください"
        )));
    }
    let unpacked = packed.map(|packed| unpack(&packed)).transpose()?;
    if let Some(json) = &unpacked {
        runs = serde_json::from_slice(json).map_err(|error| unreadable().because(error))?;
    }
    if runs.is_empty() {
        return Err(not_held(text!(
            "the report contains no records, because they were too large",
            "このレポートに測定記録は入っていません(大きすぎたため省かれています)"
        )));
    }
    runs.into_iter().map(|run| parse_export(run.get().as_bytes())).collect()
}
