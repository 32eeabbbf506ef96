//! A table for spreadsheets and scripts: CSV as in RFC 4180, with a header line and CRLF.
//!
//! The model: a line for every repetition of a measured cell, and one with `figure` in the column `repetition` for what
//! they come to by the tool's statistic (mean latencies by that statistic too, each on its own; percentiles and maximum
//! over all counted operations). A cell of another tool has the figure line alone. The profile's scores and ratios follow
//! the cells, with `derived` as their measure. The column `source` tells measured, modelled and imported figures apart. All rows have the same columns, in
//! base units; what is not known is empty, never 0. Hand-written, because writing needs no more than the quotes.

use super::facts::{printed, printed_mean_latency, shape};
use kurabe_core::imported::{FigureOf, ImportedCell, Origin, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::record::{Cell, LatencyRecord, Measure, Repetition, RunRecord};
use kurabe_core::{shown, workload::Direction};
use kurabe_stats::{
    cell_figure, cell_iops, cell_latency, cell_mean_latency_ns, derived_figures, figure, percentile_ns,
    rate_iops, repetition_latency, repetition_values,
};

/// A column of a table: its name, and what stands in it for a line.
pub type CsvColumn<L> = (&'static str, fn(&L) -> String);

/// A table as RFC 4180 has it: a line of names, and one for each of these.
pub fn csv_table<L>(columns: &[CsvColumn<L>], lines: impl IntoIterator<Item = L>) -> String {
    let line = |fields: Vec<String>| fields.join(",") + "\r\n";
    let mut out = line(columns.iter().map(|(name, _)| (*name).to_owned()).collect());
    for one in lines {
        out.push_str(&line(columns.iter().map(|(_, value)| field(&value(&one))).collect()));
    }
    out
}

/// The columns. Rates are bytes per second, times ns.
const COLUMNS: &str = "run_id,started_at,source,tool,target,device,profile,step,part,direction,block_bytes,iodepth,threads,\
    repetition,discarded,measure,statistic,rate_bytes_per_s,iops,access_time_ns,elapsed_ns,latency_ns_mean,latency_ns_p50,\
    latency_ns_p99,latency_ns_p999,latency_ns_max,bytes,operations,failed,derived";

/// What a line tells beyond its cell, by the names of its columns.
type LineFigures = Vec<(&'static str, String)>;

/// Writes the table.
pub(super) fn write(records: &[RunRecord]) -> String {
    let mut out = format!("{COLUMNS}\r\n");
    for record in records {
        for cell in &record.cells {
            for figures in cell_lines(record, cell) {
                write_line(&mut out, record, Some(cell), &figures);
            }
        }
        // A score is the line of a step that was not run, named as the score is.
        for score in derived_figures(record).iter().filter(|score| score.value.is_finite()) {
            let mut figures = vec![
                ("step", score.name.en.clone()),
                ("repetition", "figure".to_owned()),
                ("measure", "derived".to_owned()),
            ];
            figures.extend(numbers([("derived", Some(score.value))]));
            write_line(&mut out, record, None, &figures);
        }
    }
    out
}

fn write_line(out: &mut String, record: &RunRecord, cell: Option<&Cell>, figures: &[(&str, String)]) {
    let header = &record.header;
    let shape = cell.map(|cell| shape(record, cell)).unwrap_or_default();
    let of_cell = |value: fn(&Cell) -> &str| cell.map_or(String::new(), |cell| value(cell).to_owned());
    let of_run = |column| match column {
        "run_id" => header.id.clone(),
        "started_at" => header.measured_at().to_owned(),
        "source" => source(record, cell).to_owned(),
        "tool" => tool(record),
        "target" => header.target_name().to_owned(),
        "device" => device(record),
        "profile" => header.profile.as_ref().map(|profile| profile.name.clone()).unwrap_or_default(),
        "step" => of_cell(|cell| &cell.label),
        "part" => of_cell(|cell| &cell.part),
        "direction" => of_cell(|cell| cell.direction.map_or("", Direction::word)),
        "measure" => of_cell(|cell| cell.measure.word()),
        "block_bytes" => known(shape.block_bytes),
        "iodepth" => known(shape.iodepth),
        "threads" => known(shape.threads),
        _ => String::new(),
    };
    let values = COLUMNS.split(',').map(|column| {
        let figure = figures.iter().find(|(name, _)| *name == column);
        field(&figure.map_or_else(|| of_run(column), |(_, value)| value.clone()))
    });
    let values: Vec<String> = values.collect();
    out.push_str(&(values.join(",") + "\r\n"));
}

pub(super) fn source(record: &RunRecord, cell: Option<&Cell>) -> &'static str {
    match cell.and_then(|cell| cell.imported.as_ref()) {
        Some(_) => "imported",
        None if record.header.model.is_some() => "modelled",
        None => "measured",
    }
}

pub(super) fn tool(record: &RunRecord) -> String {
    let origin = record.header.origin.as_ref();
    origin.map_or_else(|| format!("kurabe {}", record.header.kurabe_version), Origin::tool_name)
}

/// The models of the devices below the target, if known; of a computed target what it is, said to be a model.
fn device(record: &RunRecord) -> String {
    if let Some(model) = &record.header.model {
        return format!("model: {}", model.title.en);
    }
    let devices = &record.header.environment.devices;
    devices.iter().filter_map(|device| device.model.as_deref()).collect::<Vec<_>>().join(" + ")
}

fn cell_lines(record: &RunRecord, cell: &Cell) -> Vec<LineFigures> {
    if let Some(imported) = &cell.imported {
        return vec![printed_line(cell, imported)];
    }
    let of_repetitions = cell.repetitions.iter().map(|repetition| repetition_line(record, cell, repetition));
    of_repetitions.chain([figure_line(record, cell)]).collect()
}

fn repetition_line(record: &RunRecord, cell: &Cell, repetition: &Repetition) -> LineFigures {
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
    let moved = operations > 0;
    let mut line = vec![
        ("repetition", repetition.index.to_string()),
        ("discarded", repetition.discarded.to_string()),
        ("bytes", known(moved.then_some(bytes))),
        ("operations", known(moved.then_some(operations))),
        ("failed", repetition.failed().to_string()),
    ];
    // Where a repetition has many values, as samples are, they are put together by the tool's statistic too.
    if values.len() > 1 {
        line.push(("statistic", statistic.word().to_owned()));
    }
    line.extend(numbers([
        ("elapsed_ns", Some(repetition.elapsed_ns as f64).filter(|_| cell.measure != Measure::Duration)),
        ("iops", moved.then(|| rate_iops(repetition, cell.direction))),
        ("latency_ns_mean", latency.mean_ns()),
        (main_column(cell.measure), figure(statistic, &values, cell.measure == Measure::Rate)),
    ]));
    line.extend(percentiles(&latency));
    line
}

fn figure_line(record: &RunRecord, cell: &Cell) -> LineFigures {
    let statistic = record.header.statistic();
    let mut line = vec![("repetition", "figure".to_owned()), ("statistic", statistic.word().to_owned())];
    line.extend(numbers([
        ("iops", cell_iops(cell, statistic)),
        ("latency_ns_mean", cell_mean_latency_ns(cell, statistic)),
        (main_column(cell.measure), cell_figure(cell, statistic)),
    ]));
    line.extend(percentiles(&cell_latency(cell)));
    line
}

fn printed_line(cell: &Cell, imported: &ImportedCell) -> LineFigures {
    let value = |quantity| printed(imported, quantity).map(|figure| figure.value);
    let of_latency = |statistic| printed_latency(imported, statistic);
    let percentile = |percent| of_latency(PrintedStatistic::Percentile(percent));
    let statistic = imported.figures.first().map(|figure| statistic_word(figure.statistic));
    let mut line = vec![("repetition", "figure".to_owned()), ("statistic", statistic.unwrap_or_default())];
    line.extend(numbers([
        ("rate_bytes_per_s", value(Quantity::Rate)),
        ("iops", value(Quantity::Iops)),
        ("access_time_ns", value(Quantity::Latency).filter(|_| cell.measure == Measure::AccessTime)),
        ("elapsed_ns", value(Quantity::Duration)),
        ("latency_ns_mean", printed_mean_latency(imported).map(|figure| figure.value)),
        ("latency_ns_p50", of_latency(PrintedStatistic::Median).or_else(|| percentile(50.0))),
        ("latency_ns_p99", percentile(99.0)),
        ("latency_ns_p999", percentile(99.9)),
        ("latency_ns_max", of_latency(PrintedStatistic::Highest)),
    ]));
    line
}

fn percentiles(latency: &LatencyRecord) -> LineFigures {
    let percentile = |fraction| percentile_ns(latency, fraction).map(|ns| ns as f64);
    numbers([
        ("latency_ns_p50", percentile(0.5)),
        ("latency_ns_p99", percentile(0.99)),
        ("latency_ns_p999", percentile(0.999)),
        ("latency_ns_max", (latency.count > 0).then_some(latency.max_ns as f64)),
    ])
}

/// The column of what a cell measures.
fn main_column(measure: Measure) -> &'static str {
    match measure {
        Measure::Rate => "rate_bytes_per_s",
        Measure::AccessTime => "access_time_ns",
        Measure::Duration => "elapsed_ns",
    }
}

/// The figures that there are and that are numbers.
fn numbers<const COUNT: usize>(values: [(&'static str, Option<f64>); COUNT]) -> LineFigures {
    let numbers =
        values.into_iter().filter_map(|(name, value)| Some((name, value.filter(|value| value.is_finite())?)));
    numbers.map(|(name, value)| (name, decimal(value))).collect()
}

fn known(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The word for how another tool made a figure.
fn statistic_word(statistic: PrintedStatistic) -> String {
    match statistic {
        PrintedStatistic::Mean => "mean".to_owned(),
        PrintedStatistic::Median => "median".to_owned(),
        PrintedStatistic::Highest => "highest".to_owned(),
        PrintedStatistic::Lowest => "lowest".to_owned(),
        PrintedStatistic::StandardDeviation => "standard deviation".to_owned(),
        PrintedStatistic::Percentile(percent) => format!("p{percent}"),
        PrintedStatistic::Sum => "sum".to_owned(),
        PrintedStatistic::Unknown => "unknown".to_owned(),
    }
}

/// A latency that a tool printed with this statistic.
fn printed_latency(cell: &ImportedCell, statistic: PrintedStatistic) -> Option<f64> {
    let of_runs = |figure: &PrintedFigure| figure.of.as_ref().is_some_and(FigureOf::is_of_means);
    cell.figures
        .iter()
        .find(|figure| {
            figure.quantity == Quantity::Latency && figure.statistic == statistic && !of_runs(figure)
        })
        .map(|figure| figure.value)
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
