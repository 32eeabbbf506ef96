//! A run in the form that other tools or people read.
//!
//! The model: an export is a pure function from records to text. It tells nothing that the record does not hold: what
//! is not known is absent or said to be unknown, what the form cannot express is said in a comment or a note.

mod cdm_text;
mod csv;
mod facts;
mod fio;
mod fio_geometry;
mod fio_json;
mod fio_log;
mod fio_options;
mod lines;
mod metrics;
mod operations;
mod other_tools;
#[cfg(feature = "tables")]
mod parquet;
mod tables;

pub use csv::{CsvColumn, csv_table};
pub use fio_log::{FioLog, FioLogKind, fio_log};
pub use operations::{write_operation, write_operations_header};
#[cfg(feature = "tables")]
pub use parquet::ParquetTables;
pub use tables::{EXPORT_TABLES, ExportTable, TableColumn, described};

use kurabe_core::{ErrorKind, Lang, Result, mention::LIST, record::RunRecord, text, words::Keyword};

/// What a run can be written as, besides kurabe's own JSON and the Markdown of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// A job file for fio that does the same work, with the same as command lines of DiskSpd and elbencho.
    Fio,
    /// The layout of fio's JSON output.
    FioJson,
    /// The line of fio's terse output, version 3, for each cell.
    FioTerse,
    /// The text that people paste into forums, as CrystalDiskMark lays it out.
    CdmText,
    /// A table with a line per repetition and figure, for spreadsheets and scripts (RFC 4180).
    Csv,
    /// The text of OpenMetrics, for node_exporter's textfile collector.
    OpenMetrics,
    /// The JSON of Bencher.
    Bencher,
    /// The JSON of github-action-benchmark, of figures that are better if bigger.
    GithubBigger,
    /// The same, of figures that are better if smaller.
    GithubSmaller,
}

/// The words used in flags.
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

/// Writes runs in a format; the figures for dashboards are those of the first run. The language is that of comments and notes; CSV
/// has none, and CrystalDiskMark's labels are English in every language.
///
/// # Errors
/// When there is no run, or fio cannot name the target.
pub fn export(records: &[RunRecord], format: ExportFormat, lang: Lang) -> Result<String> {
    let Some(first) = records.first() else {
        return Err(ErrorKind::NoSuchRun
            .error(text!("no run to export", "書き出す測定がありません"))
            .remedy(text!(
                "list the stored runs with `{LIST}`",
                "`{LIST}` で保存された測定を確認できます"
            )));
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
