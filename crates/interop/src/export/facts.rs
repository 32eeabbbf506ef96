//! Facts that all exports need from a record: statistics, devices, shapes of cells, printed figures.

use kurabe_core::imported::{FigureOf, ImportedCell, Origin, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::{Text, profile::Step, shown, text, workload::Workload};

/// Block size, operations in flight and threads, if they are known and each a single number.
#[derive(Clone, Copy, Default)]
pub(super) struct WorkloadShape {
    pub(super) block_bytes: Option<u64>,
    pub(super) iodepth: Option<u32>,
    pub(super) threads: Option<u32>,
}

/// Returns the shape of a cell, from its workload, its step or the output of another tool.
pub(super) fn shape(record: &RunRecord, cell: &Cell) -> WorkloadShape {
    if let Some(imported) = &cell.imported {
        let ImportedCell { block_bytes, iodepth, threads, .. } = *imported;
        return WorkloadShape { block_bytes, iodepth, threads };
    }
    let all = |block_bytes, iodepth, threads| WorkloadShape {
        block_bytes,
        iodepth: Some(iodepth),
        threads: Some(threads),
    };
    if let Some(workload) = &cell.workload {
        return all(single_block_bytes(workload), workload.iodepth, workload.threads);
    }
    let one = |bytes: u32| all(Some(u64::from(bytes)), 1, 1);
    match step(record, cell) {
        Some(Step::Positional(step)) => one(step.sample_bytes),
        Some(Step::AccessTime(step)) => one(step.block_bytes),
        Some(Step::Copy(step)) => one(step.chunk_bytes),
        Some(Step::Metadata(step)) => {
            WorkloadShape { block_bytes: None, iodepth: Some(1), threads: Some(step.threads) }
        }
        Some(Step::Replay(step)) => WorkloadShape { iodepth: Some(step.iodepth), ..WorkloadShape::default() },
        _ => WorkloadShape::default(),
    }
}

/// Returns the step of a cell.
pub(super) fn step<'a>(record: &'a RunRecord, cell: &Cell) -> Option<&'a Step> {
    record.header.profile.as_ref()?.steps.get(cell.step_index as usize)
}

/// Returns the block size of a workload with only one.
pub(super) fn single_block_bytes(workload: &Workload) -> Option<u64> {
    match workload.block_sizes.as_slice() {
        [block] => Some(u64::from(block.size_bytes)),
        _ => None,
    }
}

/// Returns the first figure of a quantity that covers the whole cell, not its spread.
pub(super) fn printed(cell: &ImportedCell, quantity: Quantity) -> Option<&PrintedFigure> {
    cell.figures.iter().find(|figure| {
        let spread =
            matches!(figure.statistic, PrintedStatistic::StandardDeviation | PrintedStatistic::Percentile(_));
        figure.quantity == quantity && !spread
    })
}

/// Returns the mean latency printed by a tool: a mean, or the best of the runs' means.
pub(super) fn printed_mean_latency(cell: &ImportedCell) -> Option<&PrintedFigure> {
    cell.figures.iter().find(|figure| {
        let of_means = figure.of.as_ref().is_some_and(FigureOf::is_of_means);
        figure.quantity == Quantity::Latency && (figure.statistic == PrintedStatistic::Mean || of_means)
    })
}

/// Returns the same words on one line, with whitespace of any kind as one space.
pub(super) fn one_line(words: &str) -> String {
    shown::line(&words.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns a note that the run is not a measurement, with the name of the model. `None` for a run on a
/// real device.
pub(super) fn of_model(record: &RunRecord) -> Option<Text> {
    let model = record.header.model.as_ref()?;
    let changed = match model.changes().join(", ") {
        changes if changes.is_empty() => Text::default(),
        changes => text!("; changed: {changes}", "(変更: {changes})"),
    };
    let title = &model.title;
    Some(text!(
        "figures of a model in virtual time, not measured on a device: {title}{changed}",
        "モデルを仮想時間で計算した値で、実機の測定値ではありません: {title}{changed}";
        title, changed
    ))
}

/// Returns whether figures were measured, computed, or printed by another tool.
pub(super) fn source(record: &RunRecord, cell: Option<&Cell>) -> &'static str {
    match &record.header {
        header if header.origin.is_some() || cell.is_some_and(|cell| cell.imported.is_some()) => "imported",
        header if header.model.is_some() => "modelled",
        _ => "measured",
    }
}

/// Returns the tool that measured, and its version.
pub(super) fn tool(record: &RunRecord) -> String {
    let origin = record.header.origin.as_ref();
    origin.map_or_else(|| format!("kurabe {}", record.header.kurabe_version), Origin::tool_name)
}

/// Returns the models of the devices below the target, if known. For a modelled target, returns its
/// name, marked as a model.
pub(super) fn device(record: &RunRecord) -> String {
    if let Some(model) = &record.header.model {
        return format!("model: {}", model.title.en);
    }
    let devices = &record.header.environment.devices;
    devices.iter().filter_map(|device| device.model.as_deref()).collect::<Vec<_>>().join(" + ")
}

/// Returns the word for the statistic of another tool's figure.
pub(super) fn statistic_word(statistic: PrintedStatistic) -> String {
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

/// Returns a latency printed by a tool with this statistic.
pub(super) fn printed_latency(cell: &ImportedCell, statistic: PrintedStatistic) -> Option<f64> {
    let of_runs = |figure: &PrintedFigure| figure.of.as_ref().is_some_and(FigureOf::is_of_means);
    cell.figures
        .iter()
        .find(|figure| {
            figure.quantity == Quantity::Latency && figure.statistic == statistic && !of_runs(figure)
        })
        .map(|figure| figure.value)
}
