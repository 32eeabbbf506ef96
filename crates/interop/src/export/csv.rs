//! A table for spreadsheets and scripts: CSV as in RFC 4180, with a header line and CRLF.
//!
//! The model: a line for every repetition of a measured cell, and one with `figure` in the column `repetition` for what
//! they come to by the tool's statistic (mean latencies by that statistic too, each on its own; percentiles and maximum
//! over all counted operations). A cell of another tool has the figure line alone. The profile's scores and ratios follow
//! the cells, with `derived` as their measure. The column `source` tells measured, modelled and imported figures apart. All rows have the same columns, in
//! base units; what is not known is empty, never 0. Hand-written, because writing needs no more than the quotes.

use super::facts::{WorkloadShape, printed, printed_mean_latency, shape};
use kurabe_core::imported::{FigureOf, ImportedCell, Origin, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::record::{Cell, LatencyRecord, Measure, Repetition, RunRecord};
use kurabe_core::shown;
use kurabe_core::workload::Direction;
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

/// A line of the table.
struct CsvRow<'a> {
    record: &'a RunRecord,
    /// The cell, or the name of a score or ratio.
    subject: Subject<'a>,
    figures: LineFigures,
}

#[derive(Clone, Copy)]
enum Subject<'a> {
    Cell(&'a Cell),
    Derived(&'a str),
}

/// What a line tells beyond its cell.
#[derive(Default)]
struct LineFigures {
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

/// The columns. Rates are bytes per second, times ns.
fn columns<'a>() -> [CsvColumn<CsvRow<'a>>; 30] {
    [
        ("run_id", |line| line.record.header.id.clone()),
        ("started_at", |line| line.record.header.measured_at().to_owned()),
        ("source", |line| line.source().to_owned()),
        ("tool", |line| tool(line.record)),
        ("target", |line| line.record.header.target_name().to_owned()),
        ("device", |line| device(line.record)),
        ("profile", |line| {
            line.record.header.profile.as_ref().map(|profile| profile.name.clone()).unwrap_or_default()
        }),
        ("step", |line| line.label().to_owned()),
        ("part", |line| line.cell().map(|cell| cell.part.clone()).unwrap_or_default()),
        ("direction", |line| {
            line.cell().and_then(|cell| cell.direction).map_or("", Direction::word).to_owned()
        }),
        ("block_bytes", |line| known(line.shape().block_bytes)),
        ("iodepth", |line| known(line.shape().iodepth)),
        ("threads", |line| known(line.shape().threads)),
        ("repetition", |line| line.figures.repetition.clone()),
        ("discarded", |line| known(line.figures.discarded)),
        ("measure", |line| line.cell().map_or("derived", |cell| cell.measure.word()).to_owned()),
        ("statistic", |line| line.figures.statistic.clone()),
        ("rate_bytes_per_s", |line| number(line.figures.rate_bytes_per_s)),
        ("iops", |line| number(line.figures.iops)),
        ("access_time_ns", |line| number(line.figures.access_time_ns)),
        ("elapsed_ns", |line| number(line.figures.elapsed_ns)),
        ("latency_ns_mean", |line| number(line.figures.latency_ns_mean)),
        ("latency_ns_p50", |line| number(line.figures.latency_ns_percentiles[0])),
        ("latency_ns_p99", |line| number(line.figures.latency_ns_percentiles[1])),
        ("latency_ns_p999", |line| number(line.figures.latency_ns_percentiles[2])),
        ("latency_ns_max", |line| number(line.figures.latency_ns_max)),
        ("bytes", |line| known(line.figures.bytes)),
        ("operations", |line| known(line.figures.operations)),
        ("failed", |line| known(line.figures.failed)),
        ("derived", |line| number(line.figures.derived)),
    ]
}

/// Writes the table.
pub(super) fn write(records: &[RunRecord]) -> String {
    let derived: Vec<_> = records.iter().map(derived_figures).collect();
    let lines = records.iter().zip(&derived).flat_map(|(record, derived)| {
        let of_cell = move |cell| {
            let line = move |figures| CsvRow { record, subject: Subject::Cell(cell), figures };
            cell_lines(record, cell).into_iter().map(line)
        };
        // A score is the line of a step that was not run, named as the score is.
        let derived = derived.iter().filter(|score| score.value.is_finite()).map(move |score| {
            let figures = LineFigures {
                repetition: "figure".to_owned(),
                derived: Some(score.value),
                ..LineFigures::default()
            };
            CsvRow { record, subject: Subject::Derived(&score.name.en), figures }
        });
        record.cells.iter().flat_map(of_cell).chain(derived)
    });
    csv_table(&columns(), lines)
}

impl<'a> CsvRow<'a> {
    fn cell(&self) -> Option<&'a Cell> {
        match self.subject {
            Subject::Cell(cell) => Some(cell),
            Subject::Derived(_) => None,
        }
    }

    fn label(&self) -> &'a str {
        match self.subject {
            Subject::Cell(cell) => &cell.label,
            Subject::Derived(name) => name,
        }
    }

    fn shape(&self) -> WorkloadShape {
        self.cell().map(|cell| shape(self.record, cell)).unwrap_or_default()
    }

    fn source(&self) -> &'static str {
        match self.cell().and_then(|cell| cell.imported.as_ref()) {
            Some(_) => "imported",
            None if self.record.header.model.is_some() => "modelled",
            None => "measured",
        }
    }
}

fn tool(record: &RunRecord) -> String {
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
    let mut line = LineFigures {
        repetition: repetition.index.to_string(),
        discarded: Some(repetition.discarded),
        // Where a repetition has many values, as samples are, they are put together by the tool's statistic too.
        statistic: if values.len() > 1 { statistic.word().to_owned() } else { String::new() },
        iops: (operations > 0).then(|| rate_iops(repetition, cell.direction)),
        elapsed_ns: Some(repetition.elapsed_ns as f64),
        latency_ns_mean: latency.mean_ns(),
        bytes: (operations > 0).then_some(bytes),
        operations: (operations > 0).then_some(operations),
        failed: Some(repetition.failed()),
        ..with_percentiles(&latency)
    };
    let value = figure(statistic, &values, cell.measure == Measure::Rate);
    set_main(&mut line, cell.measure, value);
    line
}

fn figure_line(record: &RunRecord, cell: &Cell) -> LineFigures {
    let statistic = record.header.statistic();
    let mut line = LineFigures {
        repetition: "figure".to_owned(),
        statistic: statistic.word().to_owned(),
        iops: cell_iops(cell, statistic),
        latency_ns_mean: cell_mean_latency_ns(cell, statistic),
        ..with_percentiles(&cell_latency(cell))
    };
    set_main(&mut line, cell.measure, cell_figure(cell, statistic));
    line
}

fn printed_line(cell: &Cell, imported: &ImportedCell) -> LineFigures {
    let value = |quantity| printed(imported, quantity).map(|figure| figure.value);
    let of_latency = |statistic| printed_latency(imported, statistic);
    let mean = printed_mean_latency(imported).map(|figure| figure.value);
    let percentile = |percent| of_latency(PrintedStatistic::Percentile(percent));
    let access = cell.measure == Measure::AccessTime;
    LineFigures {
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
        ..LineFigures::default()
    }
}

fn with_percentiles(latency: &LatencyRecord) -> LineFigures {
    let percentile = |fraction| percentile_ns(latency, fraction).map(|ns| ns as f64);
    LineFigures {
        latency_ns_percentiles: [percentile(0.5), percentile(0.99), percentile(0.999)],
        latency_ns_max: (latency.count > 0).then_some(latency.max_ns as f64),
        ..LineFigures::default()
    }
}

fn set_main(line: &mut LineFigures, measure: Measure, value: Option<f64>) {
    match measure {
        Measure::Rate => line.rate_bytes_per_s = value,
        Measure::AccessTime => line.access_time_ns = value,
        Measure::Duration => line.elapsed_ns = value,
    }
}

/// A figure of a line, if there is any and it is a number.
fn number(value: Option<f64>) -> String {
    known(value.filter(|value| value.is_finite()).map(decimal))
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
