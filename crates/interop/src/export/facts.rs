//! What all exports ask of a record: statistics, devices, shapes of cells, printed figures.

use kurabe_core::imported::{FigureOf, ImportedCell, Origin, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::{Text, profile::Step, shown, text, workload::Workload};

/// Block size, operations in flight and threads, as far as they are known and one number each.
#[derive(Clone, Copy, Default)]
pub(super) struct WorkloadShape {
    pub(super) block_bytes: Option<u64>,
    pub(super) iodepth: Option<u32>,
    pub(super) threads: Option<u32>,
}

/// The shape of a cell, from its workload, its step or what another tool printed.
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

/// The step that a cell belongs to.
pub(super) fn step<'a>(record: &'a RunRecord, cell: &Cell) -> Option<&'a Step> {
    record.header.profile.as_ref()?.steps.get(cell.step_index as usize)
}

/// The block size of a workload that has only one.
pub(super) fn single_block_bytes(workload: &Workload) -> Option<u64> {
    match workload.block_sizes.as_slice() {
        [block] => Some(u64::from(block.size_bytes)),
        _ => None,
    }
}

/// The first figure of a quantity that stands for the whole cell, not for its spread.
pub(super) fn printed(cell: &ImportedCell, quantity: Quantity) -> Option<&PrintedFigure> {
    cell.figures.iter().find(|figure| {
        let spread =
            matches!(figure.statistic, PrintedStatistic::StandardDeviation | PrintedStatistic::Percentile(_));
        figure.quantity == quantity && !spread
    })
}

/// The mean latency that a tool printed: a mean, or the best of the runs' means.
pub(super) fn printed_mean_latency(cell: &ImportedCell) -> Option<&PrintedFigure> {
    cell.figures.iter().find(|figure| {
        let of_means = figure.of.as_ref().is_some_and(FigureOf::is_of_means);
        figure.quantity == Quantity::Latency && (figure.statistic == PrintedStatistic::Mean || of_means)
    })
}

/// The same words as part of a line, blanks of any kind as one space.
pub(super) fn one_line(words: &str) -> String {
    shown::line(&words.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// That nothing was measured, and what the model was; `None` of a run on a real device.
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

/// Whether figures were measured, computed, or printed by another tool.
pub(super) fn source(record: &RunRecord, cell: Option<&Cell>) -> &'static str {
    match &record.header {
        header if header.origin.is_some() || cell.is_some_and(|cell| cell.imported.is_some()) => "imported",
        header if header.model.is_some() => "modelled",
        _ => "measured",
    }
}

/// The tool that measured, and its version.
pub(super) fn tool(record: &RunRecord) -> String {
    let origin = record.header.origin.as_ref();
    origin.map_or_else(|| format!("kurabe {}", record.header.kurabe_version), Origin::tool_name)
}

/// The models of the devices below the target, if known; of a computed target what it is, said to be a model.
pub(super) fn device(record: &RunRecord) -> String {
    if let Some(model) = &record.header.model {
        return format!("model: {}", model.title.en);
    }
    let devices = &record.header.environment.devices;
    devices.iter().filter_map(|device| device.model.as_deref()).collect::<Vec<_>>().join(" + ")
}

/// The word for how another tool made a figure.
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

/// A latency that a tool printed with this statistic.
pub(super) fn printed_latency(cell: &ImportedCell, statistic: PrintedStatistic) -> Option<f64> {
    let of_runs = |figure: &PrintedFigure| figure.of.as_ref().is_some_and(FigureOf::is_of_means);
    cell.figures
        .iter()
        .find(|figure| {
            figure.quantity == Quantity::Latency && figure.statistic == statistic && !of_runs(figure)
        })
        .map(|figure| figure.value)
}
