//! Export and import of a run as a JSON file in the format of docs/record.md.
//!
//! The format has two version numbers: `kurabe_record` for the file, and `run.header.schema` for
//! the record. They are read first and separately, so that the error for a file of a newer kurabe
//! asks for an update instead of complaining about a field. Then the JSON is parsed, and then its
//! consistency is checked. Records with errors are refused completely.

use crate::json::{self, Misfit};
use crate::{check::check, identity, tidy_json::to_tidy_text};
use kurabe_core::record::{RECORD_SCHEMA, RunRecord, RunStatus};
use kurabe_core::{Error, ErrorKind, Result, mention::EXPORT, text};
use serde::{Deserialize, Serialize, de::IgnoredAny};

/// Version of the file format that this kurabe writes.
pub const EXPORT_VERSION: u32 = 1;

/// A run in the form of its file, which can also be embedded in larger documents.
#[derive(Clone, Debug, Serialize)]
pub struct ExportedRun<F = ()> {
    kurabe_record: u32,
    run: RunRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    figures: Option<F>,
}

impl<F> ExportedRun<F> {
    fn of(mut run: RunRecord, figures: Option<F>) -> Self {
        run.header.schema = RECORD_SCHEMA;
        run.cells.iter_mut().for_each(json::make_finite);
        Self { kurabe_record: EXPORT_VERSION, run, figures }
    }
}

impl From<RunRecord> for ExportedRun {
    fn from(run: RunRecord) -> Self {
        Self::of(run, None)
    }
}

/// Returns the run as a readable JSON file, with line breaks and one at the end.
///
/// # Errors
/// If the record cannot be written as JSON, which is a defect of kurabe.
pub fn export(record: &RunRecord) -> Result<String> {
    Ok(to_tidy_text(&ExportedRun::from(record.clone()))?)
}

/// Returns the run as it would be read back from its file: checked, ended, without NaN.
///
/// # Errors
/// As [`parse_export`].
pub(crate) fn as_read_back(mut run: RunRecord) -> Result<RunRecord> {
    // Cell by cell, because the text of a run with thousands of cells takes more memory than the
    // run.
    let mut cells = std::mem::take(&mut run.cells);
    let mut run: RunRecord = json::from_slice(json::to_text(&run)?.as_bytes()).map_err(misfit)?;
    for (index, cell) in cells.iter_mut().enumerate() {
        json::make_finite(cell);
        *cell = json::from_slice(json::to_text(cell)?.as_bytes()).map_err(|Misfit { field, reason }| {
            let within = if field.is_empty() { String::new() } else { format!(".{field}") };
            misfit(Misfit { field: format!("cells[{index}]{within}"), reason })
        })?;
    }
    run.cells = cells;
    taken_in(run)
}

/// Exports a run like [`export`], with the figures of its cells for other programs; they are not
/// read back.
///
/// # Errors
/// As [`export`].
pub fn export_with_figures(record: &RunRecord, figures: &impl Serialize) -> Result<String> {
    Ok(to_tidy_text(&ExportedRun::of(record.clone(), Some(figures)))?)
}

/// Returns whether this is an exported run, complete or damaged. It is recognized by a key, which a
/// program may have moved by sorting.
pub fn looks_exported(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"{") && String::from_utf8_lossy(bytes).contains("\"kurabe_record\"")
}

/// Reads an exported file. A run that was running when it was exported becomes interrupted.
///
/// # Errors
/// If the bytes are not an export, are incomplete or inconsistent, or come from a newer kurabe. The
/// error names the field.
pub fn parse_export(bytes: &[u8]) -> Result<RunRecord> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[serde(rename = "kurabe_record")]
        _version: IgnoredAny,
        run: RunRecord,
        /// Figures for other programs; kurabe computes them from the run.
        #[serde(rename = "figures", default)]
        _figures: Option<IgnoredAny>,
    }
    check_versions(bytes)?;
    let File { run, .. } = json::from_slice(bytes).map_err(misfit)?;
    taken_in(run)
}

/// Prepares a run that was read for storing.
fn taken_in(mut run: RunRecord) -> Result<RunRecord> {
    // In memory it has the current format, whatever version it was written in.
    run.header.schema = RECORD_SCHEMA;
    if run.status == RunStatus::Running {
        run.status = RunStatus::Interrupted;
    }
    if run.header.identity.is_empty() {
        run.header.identity = identity::of_content(&run);
    }
    check(&run).map_err(|fault| {
        let (field, message) = (fault.field, fault.message);
        ErrorKind::Import.error(text!(
            "the run to import is invalid at `run.{field}`: {message}",
            "取り込むファイルの `run.{field}` に誤りがあります: {message}";
            message
        ))
    })?;
    Ok(run)
}

fn check_versions(bytes: &[u8]) -> Result<()> {
    #[derive(Deserialize)]
    struct Outer {
        kurabe_record: Option<u64>,
    }
    #[derive(Deserialize)]
    struct Inner {
        run: Run,
    }
    #[derive(Deserialize)]
    struct Run {
        header: Header,
    }
    #[derive(Deserialize)]
    struct Header {
        schema: u64,
    }
    let Outer { kurabe_record } = json::from_slice(bytes).map_err(misfit)?;
    let version = kurabe_record.ok_or_else(|| {
        ErrorKind::Import
            .error(text!(
                "the file to import is JSON, but not an exported run: it has no `kurabe_record`",
                "取り込むファイルは JSON ですが、測定の書き出しではありません(`kurabe_record` がありません)"
            ))
            .remedy(text!("create one with `{EXPORT}`", "`{EXPORT}` で書き出したものを指定してください"))
    })?;
    check_version("kurabe_record", version, EXPORT_VERSION)?;
    let Inner { run } = json::from_slice(bytes).map_err(misfit)?;
    check_version("run.header.schema", run.header.schema, RECORD_SCHEMA)
}

fn check_version(field: &str, version: u64, newest: u32) -> Result<()> {
    if (1..=u64::from(newest)).contains(&version) {
        return Ok(());
    }
    let error = ErrorKind::Import.error(text!(
        "the file to import has `{field}` {version}; this kurabe reads 1 to {newest}",
        "取り込むファイルの `{field}` は {version} です。この kurabe が読めるのは 1〜{newest} です"
    ));
    if version == 0 {
        return Err(error);
    }
    Err(error.remedy(text!(
        "it was written by a newer version; update kurabe",
        "新しい kurabe が書いたファイルです。kurabe を更新してください"
    )))
}

fn misfit(misfit: Misfit) -> Error {
    let Misfit { field, reason } = misfit;
    let message = if field.is_empty() {
        text!("the file to import is not an exported run", "取り込むファイルは測定の書き出しではありません")
    } else {
        text!("the file to import is invalid at `{field}`", "取り込むファイルの `{field}` に誤りがあります")
    };
    ErrorKind::Import.error(message).because(reason)
}
