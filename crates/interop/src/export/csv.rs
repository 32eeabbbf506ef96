//! A table for spreadsheets and scripts: CSV as in RFC 4180, with a header line and CRLF.
//!
//! The model: a line for every repetition of a measured cell, and one with `figure` in the column `repetition` for what
//! they come to by the tool's statistic (mean latencies by that statistic too, each on its own; percentiles and maximum
//! over all counted operations). A cell of another tool has the figure line alone. The profile's scores and ratios follow
//! the cells, with `derived` as their measure. The column `source` tells measured, modelled and imported figures apart. All rows have the same columns, in
//! base units; what is not known is empty, never 0. Hand-written, because writing needs no more than the quotes.

use super::facts::{
    DerivedFigure, derived, device, printed, printed_latency, printed_mean_latency, shape, statistic_word,
};
use kurabe_core::Lang;
use kurabe_core::imported::{ImportedCell, PrintedStatistic, Quantity};
use kurabe_core::record::{Cell, LatencyRecord, Measure, Repetition, RunRecord};
use kurabe_core::shown;
use kurabe_stats::{
    cell_figure, cell_iops, cell_latency, cell_mean_latency_ns, figure, percentile_ns, rate_iops,
    repetition_latency, repetition_values,
};

/// The columns. Rates are bytes per second, times ns.
const COLUMNS: [&str; 30] = [
    "run_id",
    "started_at",
    "source",
    "tool",
    "target",
    "device",
    "profile",
    "step",
    "part",
    "direction",
    "block_bytes",
    "iodepth",
    "threads",
    "repetition",
    "discarded",
    "measure",
    "statistic",
    "rate_bytes_per_s",
    "iops",
    "access_time_ns",
    "elapsed_ns",
    "latency_ns_mean",
    "latency_ns_p50",
    "latency_ns_p99",
    "latency_ns_p999",
    "latency_ns_max",
    "bytes",
    "operations",
    "failed",
    "derived",
];

/// What a line tells beyond its cell.
#[derive(Default)]
struct Line {
    repetition: String,
    discarded: Option<bool>,
    statistic: String,
    rate_bytes_per_s: Option<f64>,
    iops: Option<f64>,
    access_time_ns: Option<f64>,
    elapsed_ns: Option<f64>,
    latency_ns_mean: Option<f64>,
    latency_ns_percentiles: [Option<f64>; 3],
    latency_ns_max: Option<f64>,
    bytes: Option<u64>,
    operations: Option<u64>,
    failed: Option<u64>,
    derived: Option<f64>,
}

/// Writes the table.
pub(super) fn write(records: &[RunRecord]) -> String {
    let mut out = COLUMNS.join(",") + "\r\n";
    for record in records {
        let measured = record.cells.iter().map(|cell| (cell.clone(), lines(record, cell)));
        for (cell, lines) in measured.chain(derived(record).into_iter().map(derived_line)) {
            for line in lines {
                let fields: Vec<String> =
                    fields(record, &cell, &line).iter().map(|field| self::field(field)).collect();
                out.push_str(&fields.join(","));
                out.push_str("\r\n");
            }
        }
    }
    out
}

fn lines(record: &RunRecord, cell: &Cell) -> Vec<Line> {
    if let Some(imported) = &cell.imported {
        return vec![printed_line(cell, imported)];
    }
    let of_repetitions = cell.repetitions.iter().map(|repetition| repetition_line(record, cell, repetition));
    of_repetitions.chain([figure_line(record, cell)]).collect()
}

fn repetition_line(record: &RunRecord, cell: &Cell, repetition: &Repetition) -> Line {
    let statistic = record.header.statistic();
    let values = repetition_values(cell, repetition);
    let latency = repetition_latency(repetition, cell.direction);
    let (bytes, operations) = match cell.direction {
        Some(direction) => (repetition.bytes(direction), repetition.operations(direction)),
        None => (
            repetition.read.bytes.saturating_add(repetition.write.bytes),
            repetition.read.completed.saturating_add(repetition.write.completed),
        ),
    };
    let sides = [&repetition.read, &repetition.write, &repetition.sync];
    let mut line = Line {
        repetition: repetition.index.to_string(),
        discarded: Some(repetition.discarded),
        // Where a repetition has many values, as samples are, they are put together by the tool's statistic too.
        statistic: if values.len() > 1 { statistic.word().to_owned() } else { String::new() },
        iops: (operations > 0).then(|| rate_iops(repetition, cell.direction)),
        elapsed_ns: Some(repetition.elapsed_ns as f64),
        latency_ns_mean: latency.mean_ns(),
        bytes: (operations > 0).then_some(bytes),
        operations: (operations > 0).then_some(operations),
        failed: Some(sides.iter().fold(0, |sum: u64, side| sum.saturating_add(side.failed))),
        ..with_percentiles(&latency)
    };
    let value = figure(statistic, &values, cell.measure == Measure::Rate);
    set_main(&mut line, cell.measure, value);
    line
}

fn figure_line(record: &RunRecord, cell: &Cell) -> Line {
    let statistic = record.header.statistic();
    let mut line = Line {
        repetition: "figure".to_owned(),
        statistic: statistic.word().to_owned(),
        iops: cell_iops(cell, statistic),
        latency_ns_mean: cell_mean_latency_ns(cell, statistic),
        ..with_percentiles(&cell_latency(cell))
    };
    set_main(&mut line, cell.measure, cell_figure(cell, statistic));
    line
}

fn printed_line(cell: &Cell, imported: &ImportedCell) -> Line {
    let value = |quantity| printed(imported, quantity).map(|figure| figure.value);
    let of_latency = |statistic| printed_latency(imported, statistic);
    let mean = printed_mean_latency(imported).map(|figure| figure.value);
    let percentile = |percent| of_latency(PrintedStatistic::Percentile(percent));
    let access = cell.measure == Measure::AccessTime;
    Line {
        repetition: "figure".to_owned(),
        statistic: imported
            .figures
            .first()
            .map(|figure| statistic_word(figure.statistic))
            .unwrap_or_default(),
        rate_bytes_per_s: value(Quantity::Rate),
        iops: value(Quantity::Iops),
        access_time_ns: value(Quantity::Latency).filter(|_| access),
        elapsed_ns: value(Quantity::Duration),
        latency_ns_mean: mean,
        latency_ns_percentiles: [
            of_latency(PrintedStatistic::Median).or_else(|| percentile(50.0)),
            percentile(99.0),
            percentile(99.9),
        ],
        latency_ns_max: of_latency(PrintedStatistic::Highest),
        ..Line::default()
    }
}

/// A score or ratio: the line of a step that was not run, named as the score is.
fn derived_line(figure: DerivedFigure) -> (Cell, Vec<Line>) {
    let cell = Cell {
        index: u32::MAX,
        step_index: u32::MAX,
        label: figure.label.en,
        part: String::new(),
        direction: None,
        measure: Measure::Rate,
        workload: None,
        engine: None,
        repetitions: Vec::new(),
        imported: None,
    };
    (cell, vec![Line { repetition: "figure".to_owned(), derived: Some(figure.value), ..Line::default() }])
}

fn with_percentiles(latency: &LatencyRecord) -> Line {
    let percentile = |fraction| percentile_ns(latency, fraction).map(|ns| ns as f64);
    Line {
        latency_ns_percentiles: [percentile(0.5), percentile(0.99), percentile(0.999)],
        latency_ns_max: (latency.count > 0).then_some(latency.max_ns as f64),
        ..Line::default()
    }
}

fn set_main(line: &mut Line, measure: Measure, value: Option<f64>) {
    match measure {
        Measure::Rate => line.rate_bytes_per_s = value,
        Measure::AccessTime => line.access_time_ns = value,
        Measure::Duration => line.elapsed_ns = value,
    }
}

fn fields(record: &RunRecord, cell: &Cell, line: &Line) -> [String; COLUMNS.len()] {
    let header = &record.header;
    let shape = shape(record, cell);
    let number =
        |value: Option<f64>| value.filter(|value| value.is_finite()).map(decimal).unwrap_or_default();
    let count = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let tool = match &header.origin {
        Some(origin) => origin.tool_name(),
        None => format!("kurabe {}", header.kurabe_version),
    };
    let measure = match cell.measure {
        _ if line.derived.is_some() => "derived",
        Measure::Rate => "rate",
        Measure::AccessTime => "access_time",
        Measure::Duration => "duration",
    };
    let [p50, p99, p999] = line.latency_ns_percentiles;
    [
        header.id.clone(),
        header.measured_at().to_owned(),
        match (&cell.imported, &header.model) {
            (Some(_), _) => "imported",
            (None, Some(_)) => "modelled",
            (None, None) => "measured",
        }
        .to_owned(),
        tool,
        header.target_name().to_owned(),
        device(record, Lang::En).unwrap_or_default(),
        header.profile.as_ref().map(|profile| profile.name.clone()).unwrap_or_default(),
        cell.label.clone(),
        cell.part.clone(),
        cell.direction.map(|direction| direction.word().to_owned()).unwrap_or_default(),
        count(shape.block_bytes),
        count(shape.iodepth.map(u64::from)),
        count(shape.threads.map(u64::from)),
        line.repetition.clone(),
        line.discarded.map(|discarded| discarded.to_string()).unwrap_or_default(),
        measure.to_owned(),
        line.statistic.clone(),
        number(line.rate_bytes_per_s),
        number(line.iops),
        number(line.access_time_ns),
        number(line.elapsed_ns),
        number(line.latency_ns_mean),
        number(p50),
        number(p99),
        number(p999),
        number(line.latency_ns_max),
        count(line.bytes),
        count(line.operations),
        count(line.failed),
        number(line.derived),
    ]
}

/// A number with at most three digits after the point, and none that say nothing.
fn decimal(value: f64) -> String {
    let words = format!("{value:.3}");
    words.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A field as RFC 4180 has it, on one line. A field that a spreadsheet would take for a formula is led by an apostrophe: the
/// words of a device or a label are not the reader's own.
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
