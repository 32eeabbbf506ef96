//! What all exports ask of a record: statistics, devices, shapes of cells, printed figures.

use kurabe_core::imported::{FigureOf, ImportedCell, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::profile::Step;
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::workload::Workload;
use kurabe_core::{Lang, Text, shown};
use kurabe_stats::derived_values;

/// The models of the devices below the target, if known; of a computed target what it is, said to be a model.
pub(super) fn device(record: &RunRecord, lang: Lang) -> Option<String> {
    if let Some(model) = &record.header.model {
        return Some(format!("{}{}", lang.pick("model: ", "モデル: "), model.title.get(lang)));
    }
    let devices = &record.header.environment.devices;
    let models: Vec<&str> = devices.iter().filter_map(|device| device.model.as_deref()).collect();
    (!models.is_empty()).then(|| models.join(" + "))
}

/// Block size, operations in flight and threads, as far as they are known and one number each.
#[derive(Clone, Copy, Default)]
pub(super) struct Shape {
    pub(super) block_bytes: Option<u64>,
    pub(super) iodepth: Option<u32>,
    pub(super) threads: Option<u32>,
}

/// The shape of a cell, from its workload, its step or what another tool printed.
pub(super) fn shape(record: &RunRecord, cell: &Cell) -> Shape {
    if let Some(imported) = &cell.imported {
        let ImportedCell { block_bytes, iodepth, threads, .. } = *imported;
        return Shape { block_bytes, iodepth, threads };
    }
    if let Some(workload) = &cell.workload {
        return Shape {
            block_bytes: single_block_bytes(workload),
            iodepth: Some(workload.iodepth),
            threads: Some(workload.threads),
        };
    }
    let one = |bytes: u32| Shape { block_bytes: Some(u64::from(bytes)), iodepth: Some(1), threads: Some(1) };
    match step(record, cell) {
        Some(Step::Positional(step)) => one(step.sample_bytes),
        Some(Step::AccessTime(step)) => one(step.block_bytes),
        Some(Step::Copy(step)) => one(step.chunk_bytes),
        Some(Step::Replay(step)) => Shape { iodepth: Some(step.iodepth), ..Shape::default() },
        _ => Shape::default(),
    }
}

/// The step that a cell belongs to.
pub(super) fn step<'a>(record: &'a RunRecord, cell: &Cell) -> Option<&'a Step> {
    record.header.profile.as_ref()?.steps.get(cell.step_index as usize)
}

/// A figure that the profile makes of its cells' figures.
pub(super) struct DerivedFigure {
    /// Its label, with the step's where a formula is worked out for several.
    pub(super) label: Text,
    /// Its value; no unit.
    pub(super) value: f64,
}

/// The scores and ratios of a run, as far as their cells were measured.
pub(super) fn derived(record: &RunRecord) -> Vec<DerivedFigure> {
    let Some(profile) = &record.header.profile else { return Vec::new() };
    let mut figures = Vec::new();
    for derived in &profile.derived {
        let values = derived_values(profile, &derived.formula, &record.cells);
        let several = values.len() > 1;
        figures.extend(values.into_iter().filter(|(_, value)| value.is_finite()).map(|(place, value)| {
            let Text { en, ja } = derived.label.clone();
            let step = profile.steps.get(place).filter(|_| several).map(Step::label);
            let label = match step {
                Some(step) => Text { en: format!("{en} ({step})"), ja: format!("{ja} ({step})") },
                None => Text { en, ja },
            };
            DerivedFigure { label, value }
        }));
    }
    figures
}

/// The block size of a workload that has only one.
pub(super) fn single_block_bytes(workload: &Workload) -> Option<u64> {
    match workload.block_sizes.as_slice() {
        [block] => Some(u64::from(block.size_bytes)),
        _ => None,
    }
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

/// The same words as part of a line, blanks of any kind as one space.
pub(super) fn one_line(words: &str) -> String {
    shown::line(&words.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Two sentences as one text.
pub(super) fn joined(parts: &[Text], between: (&str, &str)) -> Text {
    let list =
        |pick: fn(&Text) -> &str, between: &str| parts.iter().map(pick).collect::<Vec<_>>().join(between);
    Text { en: list(|part| &part.en, between.0), ja: list(|part| &part.ja, between.1) }
}

/// That nothing was measured, and what the model was; `None` of a run on a real device.
pub(super) fn of_model(record: &RunRecord) -> Option<Text> {
    let model = record.header.model.as_ref()?;
    let (en, ja) = match model.changes().join(", ") {
        list if list.is_empty() => (String::new(), String::new()),
        list => (format!("; changed: {list}"), format!("(変更: {list})")),
    };
    let title = &model.title;
    Some(Text {
        en: format!("figures of a model in virtual time, not measured on a device: {}{en}", title.en),
        ja: format!("モデルを仮想時間で計算した値で、実機の測定値ではありません: {}{ja}", title.ja),
    })
}
