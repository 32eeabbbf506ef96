//! CSV tables for spreadsheets and scripts, as in RFC 4180, with a header line and CRLF.
//!
//! The model: a line for every repetition of a measured cell, and one with `figure` in the column
//! `repetition` for the result by the tool's statistic. Mean latencies use that statistic as well, each
//! separately; percentiles and maximum cover all counted operations. A cell of another tool has only
//! the figure line. The profile's scores and ratios follow the cells, with `derived` as their measure.
//! The column `source` distinguishes measured, modelled and imported figures. All rows have the same
//! columns in base units. Unknown values are empty, never 0. The writer needs no library, because it
//! only has to quote fields.

use super::lines::{Line, figure_line, repetitions_of, score_lines};
use super::tables::{ColumnOf, EXPORT_TABLES, ExportTable, TableColumn};
use kurabe_core::{record::RunRecord, shown};

/// A column of a table: its name, and the function that returns its value for a line.
pub type CsvColumn<L> = (&'static str, fn(&L) -> String);

/// Returns a table as in RFC 4180: a line of names, and one line for each item.
pub fn csv_table<L>(columns: &[CsvColumn<L>], lines: impl IntoIterator<Item = L>) -> String {
    let line = |fields: Vec<String>| fields.join(",") + "\r\n";
    let mut out = line(columns.iter().map(|(name, _)| (*name).to_owned()).collect());
    for one in lines {
        out.push_str(&line(columns.iter().map(|(_, value)| field(&value(&one))).collect()));
    }
    out
}

/// Columns: those with this name in the tables of repetitions, cells and runs, and the repetition.
const COLUMNS: &str = "run_id,started_at,source,tool,target,device,profile,step,part,direction,block_bytes,iodepth,threads,\
    repetition,discarded,measure,statistic,rate_bytes_per_s,iops,access_time_ns,elapsed_ns,latency_ns_mean,latency_ns_p50,\
    latency_ns_p99,latency_ns_p999,latency_ns_max,bytes,operations,failed,flush_call,\
    flush_included,flush_ns_mean,flush_ns_p50,flush_ns_p99,flush_share,derived";

pub(super) fn write(records: &[RunRecord]) -> String {
    let [runs, cells, repetitions, ..] = &EXPORT_TABLES;
    let of_figures = columns(&[cells, runs]);
    let of_repetitions = columns(&[repetitions, cells, runs]);
    let mut out = format!("{COLUMNS}\r\n");
    let mut write_line = |columns: &[Option<&TableColumn>], line: &Line<'_>| {
        let values = COLUMNS.split(',').zip(columns).map(|(name, column)| match (name, column) {
            ("repetition", _) => line.repetition.map_or("figure".to_owned(), |one| one.index.to_string()),
            (_, column) => column.and_then(|column| value(column, line)).unwrap_or_default(),
        });
        out.push_str(&(values.map(|value| field(&value)).collect::<Vec<_>>().join(",") + "\r\n"));
    };
    for record in records {
        for cell in &record.cells {
            repetitions_of(record, cell).for_each(|line| write_line(&of_repetitions, &line));
            write_line(&of_figures, &figure_line(record, cell));
        }
        score_lines(record, &mut |line| write_line(&of_figures, line));
    }
    out
}

/// Returns the first column of each name in these tables.
fn columns<'t>(tables: &[&'t ExportTable]) -> Vec<Option<&'t TableColumn>> {
    let column = |name| tables.iter().flat_map(|table| table.columns).find(|column| column.0 == name);
    COLUMNS.split(',').map(column).collect()
}

/// Returns the value of a column as text.
fn value(column: &TableColumn, line: &Line<'_>) -> Option<String> {
    match column.1 {
        ColumnOf::Words(words) => words(line),
        ColumnOf::Whole(whole) => whole(line).map(|whole| whole.to_string()),
        ColumnOf::Number(number) => number(line).filter(|number| number.is_finite()).map(decimal),
        ColumnOf::Flag(flag) => flag(line).map(|flag| flag.to_string()),
    }
}

/// Formats a number with at most three decimals, without trailing zeros.
fn decimal(value: f64) -> String {
    let words = format!("{value:.3}");
    words.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Quotes a field as in RFC 4180, on one line. A field that a spreadsheet would take for a formula gets
/// a leading apostrophe, because names of devices and labels can come from other people.
pub fn field(words: &str) -> String {
    let is_number = words.parse::<f64>().is_ok_and(f64::is_finite);
    let is_formula = !is_number && words.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let field = if is_formula { format!("'{}", shown::line(words)) } else { shown::line(words) };
    if field.contains(['"', ',']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_no_formula_is_left() {
        assert_eq!(field("a,\"b\"\n"), "\"a,\"\"b\"\"\\n\"");
        assert_eq!(field("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
        assert_eq!(field("\t=1"), "'\\t=1");
        assert_eq!(field("\u{feff}=1"), "\\u{feff}=1");
        assert_eq!(field("-1.5"), "-1.5");
        assert_eq!(field("-inf"), "'-inf");
        assert_eq!(field("-1+2"), "'-1+2");
        assert_eq!(field("@SUM(1)"), "'@SUM(1)");
        assert_eq!(field("SEQ 1 MiB"), "SEQ 1 MiB");
    }
}
