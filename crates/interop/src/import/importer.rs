//! An importer, and its result for an input.

use super::input::Input;
use super::parts::{self, NotImported};
use super::room;
use super::split::Recognizer;
use kurabe_core::imported::{FigureOf, ImportedCell, Origin, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::record::{Cell, Notice, RunHeader, RunRecord, RunStatus};
use kurabe_core::{Result, Text, environment::Environment, text, workload::Direction};

/// A run measured by another tool.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ImportedRun {
    /// Tool and file.
    pub origin: Origin,
    /// Test environment according to the tool.
    pub environment: Environment,
    /// Cells in the order of the file; at least one.
    pub cells: Vec<Cell>,
    /// Notes for readers of the figures: corrected units, statistics other than means.
    pub notices: Vec<Notice>,
    /// Whether the tool was ended early.
    pub interrupted: bool,
}

impl ImportedRun {
    /// Converts the run to a record. The store assigns the id. `imported_at` is in RFC 3339.
    pub fn into_record(self, kurabe_version: &str, imported_at: &str, command: &[String]) -> RunRecord {
        let header = RunHeader {
            kurabe_version: kurabe_version.to_owned(),
            started_at: imported_at.to_owned(),
            command: command.to_vec(),
            environment: self.environment,
            origin: Some(self.origin),
            ..RunHeader::default()
        };
        RunRecord {
            status: if self.interrupted { RunStatus::Interrupted } else { RunStatus::Complete },
            notices: self.notices,
            cells: self.cells,
            ..RunRecord::begun(header)
        }
    }
}

/// Result of an importer for an input.
pub(super) type ImportedRuns = Result<Vec<ImportedRun>, NotImported>;

pub(crate) struct Importer {
    /// Name of the format for people: `fio JSON`.
    pub(crate) what: &'static str,
    /// Name of the tool: `fio`.
    pub(super) tool: &'static str,
    /// Reads an input. Cells without figures are dropped afterwards, and the others numbered.
    read: fn(&Input<'_>) -> ImportedRuns,
    /// Recognizes the importer's parts of a text. Importers of separate files see the complete file.
    pub(crate) claim: Recognizer,
    /// Words that occur in texts of the tool, and rarely in others.
    pub(crate) names: &'static [&'static str],
}

impl Importer {
    /// Creates an importer from its format, tool and names, its recognizer, and its read function.
    pub(super) const fn of(
        (what, tool, names): (&'static str, &'static str, &'static [&'static str]),
        claim: Recognizer,
        read: fn(&Input<'_>) -> ImportedRuns,
    ) -> Self {
        Self { what, tool, read, claim, names }
    }

    /// Returns the runs of an input: at least one, each with a cell.
    pub(super) fn runs(&self, input: &Input<'_>) -> ImportedRuns {
        let mut runs = (self.read)(input)?;
        for run in &mut runs {
            // A list of one cell has capacity for four.
            room::take(3 * size_of::<ImportedRun>() + 4 * size_of::<Cell>() + RUN_TEXT_BYTES);
            let removed = remove_untrue_figures(&mut run.cells);
            run.notices.extend(without_ranks(&remove_saturated_ranks(&mut run.cells)));
            let impossible = impossible(&run.cells);
            if !impossible.is_empty() {
                return Err(parts::broken(no_device_does(&impossible)).into());
            }
            let has_figures =
                |cell: &Cell| cell.imported.as_ref().is_some_and(|cell| !cell.figures.is_empty());
            if !removed.is_empty() && !run.cells.iter().any(has_figures) {
                return Err(parts::broken(no_device_does(&removed)).into());
            }
            run.notices.extend(left_out(&removed));
            run.cells.retain(|cell| cell.imported.as_ref().is_some_and(|cell| !cell.figures.is_empty()));
            parts::number_cells(&mut run.cells);
            run.notices.extend(true_shares(&mut run.cells));
        }
        runs.retain(|run| !run.cells.is_empty());
        if runs.is_empty() { Err(parts::nothing_measured(input, self.tool).into()) } else { Ok(runs) }
    }
}

/// Bytes of the texts of a run about its tool, its file and its environment.
const RUN_TEXT_BYTES: usize = 1024;
/// Number of mixes that notes list. Further ones are only counted.
const MIXES_NAMED: usize = 20;

/// Sets the measured share of reads of mixes with separate directions, if the options or a name say
/// otherwise.
fn true_shares(cells: &mut [Cell]) -> Vec<Notice> {
    let (mut notices, mut mixes) = (Vec::new(), 0);
    for at in 1..cells.len() {
        // Directions of a step are consecutive.
        let [.., reads, writes] = &mut cells[..=at] else { continue };
        let directions = [reads.direction, writes.direction];
        if reads.step_index != writes.step_index
            || directions != [Some(Direction::Read), Some(Direction::Write)]
        {
            continue;
        }
        let shares = reads.imported.as_ref().zip(writes.imported.as_ref());
        let Some((asked, share)) = shares.and_then(|(reads, writes)| other_share(reads, writes)) else {
            continue;
        };
        let words = |share: f64| format!("{share:.0} % read");
        for cell in [reads, writes] {
            cell.label = cell.label.replace(&words(asked), &words(share));
            cell.imported.iter_mut().for_each(|imported| imported.read_percent = Some(share));
        }
        mixes += 1;
        if mixes > MIXES_NAMED {
            continue;
        }
        let (label, share) = (&cells[at].label, format!("{share:.0}"));
        notices.push(parts::notice(text!(
            "{label}: {share} % of the operations were reads, although {asked:.0} % was requested",
            "{label}: 操作のうち読み出しは {share} % でした(指定は {asked:.0} %)"
        )));
    }
    if let Some(more) = mixes.checked_sub(MIXES_NAMED).filter(|more| *more > 0) {
        notices.push(parts::notice(text!(
            "{more} more mixes had a different share of reads than requested",
            "このほか {more} 件の混合でも、読み出しの割合が指定と異なりました"
        )));
    }
    notices
}

/// Returns the stated and the measured share of reads of a mix in percent, if they differ.
fn other_share(reads: &ImportedCell, writes: &ImportedCell) -> Option<(f64, f64)> {
    let asked = reads.read_percent?;
    let of = |cell: &ImportedCell, quantity: Quantity| {
        cell.figures.iter().find(|figure| figure.quantity == quantity).map(|figure| figure.value)
    };
    let both = |quantity| of(reads, quantity).zip(of(writes, quantity));
    let (read, written) = both(Quantity::Count).or_else(|| both(Quantity::Iops))?;
    let (all, probability) = (read + written, asked / 100.0);
    let share = Some(100.0 * read / all).filter(|_| all > 0.0)?;
    // Each operation is drawn at random.
    let scatter = 300.0 * (probability * (1.0 - probability) / all).sqrt();
    ((share - asked).abs() > 1.0 + scatter).then_some((asked, share))
}

/// Returns whether a figure is one of the statistics of samples, of which one can be impossible although
/// the job did its work.
fn is_of_samples(figure: &PrintedFigure) -> bool {
    figure.quantity == Quantity::Latency
        || matches!(figure.of, Some(FigureOf::RateSamples | FigureOf::IopsSamples))
}

/// Removes statistics of samples that contradict themselves, and returns their names. If minimum, mean
/// and maximum of a latency contradict each other, or one of them is impossible, the tool computed its
/// deviation and percentiles from the same samples, so these are removed as well.
fn remove_untrue_figures(cells: &mut [Cell]) -> Vec<String> {
    let mut removed = Vec::new();
    for cell in cells {
        let name = format!("{} {}", cell.label, cell.part);
        let Some(imported) = &mut cell.imported else { continue };
        // Percentiles are many, and have the same subject.
        let mut subjects: Vec<&Option<FigureOf>> = Vec::new();
        for figure in imported.figures.iter().filter(|figure| is_of_samples(figure)) {
            if !subjects.contains(&&figure.of) {
                subjects.push(&figure.of);
            }
        }
        subjects.retain(|of| is_untrue(&imported.figures, of));
        let untrue: Vec<Option<FigureOf>> = subjects.into_iter().cloned().collect();
        if untrue.is_empty() {
            continue;
        }
        for of in &untrue {
            let of = of.clone().map_or_else(|| "latency".to_owned(), |of| String::from(of).replace('_', " "));
            removed.push(format!("{}: {of}", name.trim_end()));
        }
        imported.figures.retain(|figure| !is_of_samples(figure) || !untrue.contains(&figure.of));
    }
    removed
}

/// Removes the percentiles of latencies whose mean is higher than these percentiles and the maximum
/// allow, and returns the names of the latencies. A share `q` of the operations took at most the
/// percentile of `q`, and the others at most the maximum. fio counts everything above 17 s as 17 s.
fn remove_saturated_ranks(cells: &mut [Cell]) -> Vec<String> {
    let mut removed = Vec::new();
    for cell in cells {
        let name = format!("{} {}", cell.label, cell.part);
        let Some(imported) = &mut cell.imported else { continue };
        let latencies = || imported.figures.iter().filter(|figure| figure.quantity == Quantity::Latency);
        let all = |statistic| -> Vec<&PrintedFigure> {
            latencies().filter(|figure| figure.statistic == statistic).collect()
        };
        let (means, highest) = (all(PrintedStatistic::Mean), all(PrintedStatistic::Highest));
        let is_saturated = |rank: &&PrintedFigure| {
            let PrintedStatistic::Percentile(percent) = rank.statistic else { return false };
            let own = |figures: &[&PrintedFigure]| {
                figures.iter().find(|figure| figure.of == rank.of).map(|figure| figure.value)
            };
            let share = percent / 100.0;
            own(&means)
                .zip(own(&highest))
                .is_some_and(|(mean, high)| mean > (rank.value * share + high * (1.0 - share)) * ROUNDING)
        };
        let Some(of) = latencies().find(is_saturated).map(|figure| figure.of.clone()) else { continue };
        removed.push(name.trim_end().to_owned());
        let is_rank = |figure: &PrintedFigure| {
            figure.of == of && matches!(figure.statistic, PrintedStatistic::Percentile(_))
        };
        imported.figures.retain(|figure| !is_rank(figure));
    }
    removed
}

/// Returns the note on removed percentiles.
fn without_ranks(removed: &[String]) -> Option<Notice> {
    let (named, more) = (removed[..removed.len().min(NAMED)].join(", "), removed.len() > NAMED);
    (!removed.is_empty()).then(|| {
        let rest = if more { ", …" } else { "" };
        parts::notice(text!(
            "percentiles skipped, because the mean is higher than they allow (fio counts every latency \
             above 17 s as 17 s): {named}{rest}",
            "平均がパーセンタイルからありえないほど大きいため、パーセンタイルは取り込んでいません(fio は 17 秒を超えるレイテンシを \
             17 秒として数えます): {named}{rest}"
        ))
    })
}

/// Tools round each figure separately.
const ROUNDING: f64 = 1.05;

/// Returns whether the figures of one latency contradict each other.
fn is_untrue(figures: &[PrintedFigure], of: &Option<FigureOf>) -> bool {
    let own = || figures.iter().filter(|figure| is_of_samples(figure) && figure.of == *of);
    let value = |statistic| own().find(|figure| figure.statistic == statistic).map(|figure| figure.value);
    let [low, mean, high] =
        [PrintedStatistic::Lowest, PrintedStatistic::Mean, PrintedStatistic::Highest].map(value);
    let descends =
        |low: Option<f64>, high: Option<f64>| low.zip(high).is_some_and(|(low, high)| low > high * ROUNDING);
    own().any(|figure| !figure.quantity.is_possible(figure.value))
        || descends(low, mean)
        || descends(mean, high)
        || descends(low, high)
}

/// Returns the note on removed latencies.
fn left_out(removed: &[String]) -> Option<Notice> {
    let (named, more) = (removed[..removed.len().min(NAMED)].join(", "), removed.len() > NAMED);
    (!removed.is_empty()).then(|| {
        let rest = if more { ", …" } else { "" };
        parts::notice(text!(
            "skipped together with deviation and percentiles, because minimum, mean and maximum \
             contradict each other: {named}{rest}",
            "最小・平均・最大が互いに矛盾するため、標準偏差とパーセンタイルも含めて取り込まなかったもの: {named}{rest}"
        ))
    })
}

/// Returns the names of values that cannot have been measured.
fn impossible(cells: &[Cell]) -> Vec<String> {
    let mut names = Vec::new();
    for cell in cells {
        let Some(imported) = &cell.imported else { continue };
        let name = format!("{} {}", cell.label, cell.part);
        let mut check = |is_possible: bool, of: String, what: &str| {
            names.extend((!is_possible).then(|| format!("{}{of}: {what}", name.trim_end())));
        };
        for figure in &imported.figures {
            if !figure.quantity.is_possible(figure.value) {
                let of = figure.of.as_ref().map(|of| format!(" {}", String::from(of.clone())));
                check(false, of.unwrap_or_default(), &format!("{} {}", figure.printed, figure.unit_printed));
            }
        }
        for series in &imported.series {
            let is_possible = series.points.iter().all(|(_, value)| series.quantity.is_possible(*value));
            check(is_possible, String::new(), &series.name);
        }
        if names.len() > NAMED {
            break;
        }
    }
    names
}

/// Number of values that an error lists.
const NAMED: usize = 8;

fn no_device_does(names: &[String]) -> Text {
    let named = names[..names.len().min(NAMED)].join(", ");
    match names.len() > NAMED {
        false => text!("impossible for any storage: {named}", "どのストレージでもありえない値です: {named}"),
        true => text!(
            "impossible for any storage: {named}, and more",
            "どのストレージでもありえない値です: {named} ほか"
        ),
    }
}
