//! Runs in a list: the summary of each run, its work, and its main figures.
//!
//! Users of a list want to know the best and the worst performance of a device. The main figures
//! are therefore the highest read rate, the highest write rate, and the rate of random 4 KiB reads
//! one at a time. A run without any of them shows the figure of its first cell that has one. The
//! figures equal those of `show`, by the profile's statistic. They are part of the digest, so that
//! a list of many runs does not read records.

use crate::digest::{Word, read};
use crate::fairness::{Fact, FactValue};
use crate::joined::Joined;
use crate::key::{CellKey, CellName};
use kurabe_core::digest::{DigestedRun, Digests};
use kurabe_core::record::{Measure, RunRecord, RunSummary};
use kurabe_core::workload::Direction;
use kurabe_stats::{cell_figure, compared_values, is_from_memory};
use serde::{Deserialize, Serialize};

/// Kind of a main figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MainFigure {
    /// The highest read rate.
    BestRead,
    /// The highest write rate.
    BestWrite,
    /// Random 4 KiB reads, one at a time.
    Random4kRead,
    /// The first cell, if there are no rates.
    First,
}

/// A run in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedRun {
    /// Summary from the store.
    #[serde(flatten)]
    pub run: RunSummary,
    /// Changed parameters of the model, in the form of `--set`: `disk.rpm=5400, disk.heads=2`.
    pub changes: Option<String>,
    /// Its cell, if it has only one.
    #[serde(skip)]
    pub only_cell: Option<CellName>,
    /// The highest read rate among its cells.
    pub best_read_rate_bytes_per_s: Option<f64>,
    /// The highest write rate among its cells.
    pub best_write_rate_bytes_per_s: Option<f64>,
    /// The rate of random reads of 4 KiB at queue depth 1.
    pub random_4k_read_rate_bytes_per_s: Option<f64>,
    /// The first figure of a run without these rates.
    pub first_figure: Option<FirstFigure>,
}

/// The first figure of a run without read or write rates. Only the field of the quantity that its
/// cell measures is set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FirstFigure {
    /// The cell.
    #[serde(skip)]
    pub name: CellName,
    /// Label of the cell.
    pub cell: String,
    /// A rate of both directions.
    pub rate_bytes_per_s: Option<f64>,
    /// An access time or a duration.
    pub time_ns: Option<f64>,
    /// Operations per second.
    pub operations_per_s: Option<f64>,
}

/// Returns the cells that represent a run, with their figures.
pub(crate) fn main_cells(run: &RunRecord) -> Vec<(MainFigure, CellName, f64)> {
    let statistic = run.header.statistic();
    let cells = Joined::of(&run.cells).cells;
    let figures: Vec<(CellName, f64)> = cells
        .iter()
        .zip(CellName::of_cells(run, &cells))
        .filter(|(cell, _)| !is_from_memory(cell, run.header.model.as_ref()))
        .filter_map(|(cell, name)| {
            // A figure printed by another tool is a single value.
            let printed = || compared_values(cell).first().copied();
            Some((name, cell_figure(cell, statistic).or_else(printed)?))
        })
        .collect();
    let best = |direction: Direction| {
        let of_direction =
            |(name, _): &&(CellName, f64)| name.measure == Measure::Rate && name.direction == Some(direction);
        figures.iter().filter(of_direction).max_by(|one, other| one.1.total_cmp(&other.1))
    };
    let random = figures.iter().find(|(name, _)| is_random_4k_read(name));
    let mains = [
        (MainFigure::BestRead, best(Direction::Read)),
        (MainFigure::BestWrite, best(Direction::Write)),
        (MainFigure::Random4kRead, random),
    ];
    let mains = || mains.iter().filter_map(|(main, cell)| Some((*main, (*cell)?)));
    let first = figures.first().filter(|_| mains().next().is_none()).map(|cell| (MainFigure::First, cell));
    mains().chain(first).map(|(main, (name, figure))| (main, name.clone(), *figure)).collect()
}

fn is_random_4k_read(name: &CellName) -> bool {
    let CellKey::Io { sequential: false, block_bytes: 4096, iodepth: 1, threads: 1, direction, .. } =
        &name.key
    else {
        return false;
    };
    name.measure == Measure::Rate && direction == Direction::Read.word()
}

/// Returns runs with the figures of their digests, in the given order. A run that is being measured
/// or cannot be read has only its summary.
pub fn listed(runs: Vec<RunSummary>, digests: &Digests) -> Vec<ListedRun> {
    let words = read(digests);
    let by_id = digests.by_id();
    let with_figures = |run: RunSummary| {
        let digest = by_id.get(run.id.as_str()).copied();
        let mut listed = ListedRun::from(run);
        digest.into_iter().for_each(|digest| listed.add(digest, &words));
        listed
    };
    runs.into_iter().map(with_figures).collect()
}

impl From<RunSummary> for ListedRun {
    /// Creates an entry with the summary alone.
    fn from(run: RunSummary) -> Self {
        Self { run, ..Self::default() }
    }
}

impl ListedRun {
    fn add(&mut self, digest: &DigestedRun, words: &[Option<Word>]) {
        let word = |number: &u32| words.get(*number as usize).and_then(Option::as_ref);
        for fact in digest.facts.iter().filter_map(word) {
            if let Word::Fact(Fact::Parameters, FactValue::Name(changes)) = fact {
                self.changes = Some(changes.replace(" = ", "="));
            }
        }
        for (number, summary) in &digest.figures {
            let value = summary.mean;
            match word(number) {
                Some(Word::Main(MainFigure::BestRead, _)) => self.best_read_rate_bytes_per_s = Some(value),
                Some(Word::Main(MainFigure::BestWrite, _)) => self.best_write_rate_bytes_per_s = Some(value),
                Some(Word::Main(MainFigure::Random4kRead, _)) => {
                    self.random_4k_read_rate_bytes_per_s = Some(value);
                }
                Some(Word::Main(MainFigure::First, name)) => {
                    self.first_figure = Some(FirstFigure::new(name, value));
                }
                Some(Word::Cell(name)) if self.run.cell_count == 1 => self.only_cell = Some(name.clone()),
                _ => {}
            }
        }
    }
}

impl FirstFigure {
    fn new(name: &CellName, value: f64) -> Self {
        let of = |is_it: bool| is_it.then_some(value);
        Self {
            name: name.clone(),
            cell: name.label.clone(),
            rate_bytes_per_s: of(name.measure == Measure::Rate),
            time_ns: of(!name.measure.higher_is_better()),
            operations_per_s: of(name.measure == Measure::Operations),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::digest;
    use kurabe_core::profile::Statistic;
    use kurabe_core::record::RunStatus;
    use kurabe_testkit::{parameter, ssd, stories};
    use std::collections::BTreeMap;

    fn summary(run: &RunRecord) -> RunSummary {
        RunSummary {
            id: run.header.id.clone(),
            started_at: run.header.started_at.clone(),
            measured_at: None,
            imported: false,
            status: RunStatus::Complete,
            target: run.header.target_name().to_owned(),
            device: None,
            model: None,
            profile: run.header.profile_name(),
            cell_count: run.cells.len() as u32,
            labels: BTreeMap::new(),
        }
    }

    /// Returns the list entry of a run, using the words that a store contains.
    fn in_list(run: &RunRecord) -> ListedRun {
        let digest = digest(run);
        let words: Vec<String> =
            digest.facts.iter().chain(digest.figures.iter().map(|(word, _)| word)).cloned().collect();
        let number = |word: &String| words.iter().position(|other| other == word).unwrap() as u32;
        let digested = DigestedRun {
            id: run.header.id.clone(),
            facts: digest.facts.iter().map(number).collect(),
            figures: digest.figures.iter().map(|(word, summary)| (number(word), *summary)).collect(),
            among: Vec::new(),
        };
        let digests = Digests { words: words.clone(), runs: vec![digested], unreadable: Vec::new() };
        listed(vec![summary(run)], &digests).remove(0)
    }

    #[test]
    fn a_run_is_told_by_its_best_rates_and_its_hardest_cell() {
        let run = ssd::run();
        let listed = in_list(&run);
        let statistic = run.header.statistic();
        let highest = |direction: Direction| {
            let of_direction = run.cells.iter().filter(|cell| cell.direction == Some(direction));
            of_direction.filter_map(|cell| cell_figure(cell, statistic)).max_by(f64::total_cmp)
        };
        assert_eq!(listed.best_read_rate_bytes_per_s, highest(Direction::Read));
        assert_eq!(listed.best_write_rate_bytes_per_s, highest(Direction::Write));
        let label = |name: &str| {
            let cell =
                run.cells.iter().find(|cell| cell.label == name && cell.direction == Some(Direction::Read));
            cell_figure(cell.unwrap(), statistic)
        };
        assert_eq!(listed.random_4k_read_rate_bytes_per_s, label("RND 4 KiB Q1 T1"));
        assert!(listed.best_read_rate_bytes_per_s > listed.random_4k_read_rate_bytes_per_s);
        assert_eq!((listed.changes, listed.only_cell, listed.first_figure), (None, None, None));
    }

    #[test]
    fn a_run_of_another_tool_is_told_by_what_was_printed() {
        let file = include_str!("../../store/tests/fixtures/export-v2-imported.json");
        let file: serde_json::Value = serde_json::from_str(file).unwrap();
        let run: RunRecord = serde_json::from_value(file["run"].clone()).unwrap();
        let printed = |direction: Direction| {
            let of_direction = run.cells.iter().filter(|cell| cell.direction == Some(direction));
            of_direction.flat_map(compared_values).max_by(f64::total_cmp)
        };
        let listed = in_list(&run);
        assert!(printed(Direction::Read).is_some());
        assert_eq!(listed.best_read_rate_bytes_per_s, printed(Direction::Read));
        assert_eq!(listed.best_write_rate_bytes_per_s, printed(Direction::Write));
    }

    #[test]
    fn threads_that_are_told_one_by_one_are_one_figure() {
        let file = include_str!("../../store/tests/fixtures/export-v2-imported.json");
        let file: serde_json::Value = serde_json::from_str(file).unwrap();
        let mut run: RunRecord = serde_json::from_value(file["run"].clone()).unwrap();
        let mut thread = run.cells[0].clone();
        let imported = thread.imported.as_mut().unwrap();
        (imported.threads, imported.one_of_threads) = (None, Some(2));
        let printed = compared_values(&thread)[0];
        run.cells = vec![thread.clone(), thread];
        assert_eq!(in_list(&run).best_read_rate_bytes_per_s, Some(2.0 * printed));
    }

    #[test]
    fn reads_from_the_page_cache_are_no_best_reads() {
        let file = include_str!("../../store/tests/fixtures/export-v2-imported.json");
        let file: serde_json::Value = serde_json::from_str(file).unwrap();
        let mut run: RunRecord = serde_json::from_value(file["run"].clone()).unwrap();
        assert!(in_list(&run).best_read_rate_bytes_per_s.is_some());
        run.cells.iter_mut().filter_map(|cell| cell.imported.as_mut()).for_each(|one| one.cached = true);
        assert_eq!(in_list(&run).best_read_rate_bytes_per_s, None);
    }

    #[test]
    fn the_figures_are_those_of_the_profile() {
        let best = |record: &RunRecord| in_list(record).best_read_rate_bytes_per_s;
        assert!(best(&ssd::run_with(Statistic::Best, &[Direction::Read])) > best(&ssd::run()));
    }

    #[test]
    fn a_run_without_rates_is_told_by_its_first_figure() {
        let mut run = stories::fat_walk();
        run.cells.retain(|cell| cell.measure == Measure::AccessTime);
        let command = in_list(&run);
        let first = command.first_figure.unwrap();
        assert_eq!((first.rate_bytes_per_s, first.time_ns.is_some()), (None, true), "{first:?}");
        assert_eq!(command.best_read_rate_bytes_per_s, None);
    }

    #[test]
    fn what_was_changed_in_a_model_is_told() {
        let mut run = stories::fat_walk();
        let model = run.header.model.as_mut().unwrap();
        model.layers[0].name = "disk".to_owned();
        model.layers[0].parameters =
            vec![parameter("rpm", "5400", "", true), parameter("heads", "2", "", true)];
        model.layers.truncate(1);
        assert_eq!(in_list(&run).changes.as_deref(), Some("disk.rpm=5400, disk.heads=2"));
    }
}
