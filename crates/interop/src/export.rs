//! Export of runs to the formats of other tools, and to formats for people.
//!
//! The model: an export is a pure function from records to text. It contains only data from the record.
//! Unknown values are absent or marked as unknown. Anything that the format cannot express is reported
//! in a comment or a note.

mod cdm_text;
mod csv;
mod facts;
mod fio;
mod fio_json;
mod lines;
mod metrics;
mod operations;
mod other_tools;
#[cfg(feature = "tables")]
mod parquet;
mod tables;

pub use csv::{CsvColumn, csv_table};
pub use operations::{write_operation, write_operations_header};
#[cfg(feature = "tables")]
pub use parquet::ParquetTables;
pub use tables::{EXPORT_TABLES, ExportTable, TableColumn, described};

use kurabe_core::{ErrorKind, Lang, Result, mention::LIST, record::RunRecord, text, words::Keyword};

/// Export formats, besides kurabe's own JSON and the Markdown of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// A fio job file with the same work, and the equivalent command lines of DiskSpd and elbencho.
    Fio,
    /// The layout of fio's JSON output.
    FioJson,
    /// The line of fio's terse output, version 3, for each cell.
    FioTerse,
    /// Text for forums in the layout of CrystalDiskMark.
    CdmText,
    /// A table with a line per repetition and figure, for spreadsheets and scripts (RFC 4180).
    Csv,
    /// OpenMetrics text, for the textfile collector of node_exporter.
    OpenMetrics,
    /// The JSON format of Bencher.
    Bencher,
    /// The JSON format of github-action-benchmark, with the figures for which higher is better.
    GithubBigger,
    /// The JSON format of github-action-benchmark, with the figures for which lower is better.
    GithubSmaller,
}

/// Words used in options.
impl Keyword for ExportFormat {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("fio", Self::Fio),
        ("fio-json", Self::FioJson),
        ("fio-terse", Self::FioTerse),
        ("cdm-text", Self::CdmText),
        ("csv", Self::Csv),
        ("openmetrics", Self::OpenMetrics),
        ("bencher", Self::Bencher),
        ("github-bigger", Self::GithubBigger),
        ("github-smaller", Self::GithubSmaller),
    ];
}

/// Writes runs in a format. Figures for dashboards come from the first run. The language applies to
/// comments and notes. CSV has none of these, and CrystalDiskMark's labels are English in every
/// language.
///
/// # Errors
/// When no run is given, or fio cannot name the target.
pub fn export(records: &[RunRecord], format: ExportFormat, lang: Lang) -> Result<String> {
    let Some(first) = records.first() else {
        return Err(ErrorKind::NoSuchRun
            .error(text!("no run to export", "書き出す測定がありません"))
            .remedy(text!("choose a run from `{LIST}`", "`{LIST}` で保存された測定を確認できます")));
    };
    match format {
        ExportFormat::Fio => fio::write(records, lang),
        ExportFormat::FioJson => Ok(fio_json::write(first, records)),
        ExportFormat::FioTerse => Ok(fio_json::terse(records)),
        ExportFormat::CdmText => Ok(cdm_text::write(records, lang)),
        ExportFormat::Csv => Ok(csv::write(records)),
        ExportFormat::OpenMetrics => Ok(metrics::openmetrics(first)),
        ExportFormat::Bencher => Ok(metrics::bencher(first)),
        ExportFormat::GithubBigger => Ok(metrics::github(first, true)),
        ExportFormat::GithubSmaller => Ok(metrics::github(first, false)),
    }
}
