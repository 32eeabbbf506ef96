//! Interleaved runs, compared block by block.
//!
//! Repetitions with the same number belong to one block. Only blocks that both sides have count. If
//! a block is missing on one side because the run was stopped, the other block of its pair is
//! ignored as well, because only complete pairs are balanced.

use kurabe_core::record::{Cell, Repetition, RunRecord, VersusRecord};
use kurabe_stats::{
    Blocked, EQUAL_BLOCKS, MOST_BLOCKS, PILOT_PAIRS, Sides, is_look, judge, repetition_value,
    smallest_difference,
};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the common measurement of two interleaved runs.
pub(crate) fn together<'r>(baseline: &'r RunRecord, other: &RunRecord) -> Option<&'r VersusRecord> {
    let (one, two) = (baseline.header.versus.as_ref()?, other.header.versus.as_ref()?);
    (one.group == two.group && one.order_seed == two.order_seed && one.targets == two.targets).then_some(one)
}

/// Returns the values of a cell on both sides, in the order of the common blocks. `value` returns
/// the value of a repetition. `computed` is as in [`Sides`].
pub(crate) fn in_blocks(
    baseline: &Cell,
    other: &Cell,
    computed: bool,
    value: impl Fn(&Cell, &Repetition) -> Option<f64>,
) -> Sides {
    let mut sides = Sides {
        baseline: Vec::new(),
        other: Vec::new(),
        higher_is_better: baseline.measure.higher_is_better(),
        computed,
    };
    let took_turns = |repetition: &&Repetition| repetition.turn.is_some();
    let by_block: BTreeMap<u32, &Repetition> =
        other.counted().filter(took_turns).map(|repetition| (repetition.index, repetition)).collect();
    let own: BTreeSet<u32> =
        baseline.counted().filter(took_turns).map(|repetition| repetition.index).collect();
    let whole = |block: u32| {
        [block, block ^ 1].iter().all(|block| own.contains(block) && by_block.contains_key(block))
    };
    for repetition in baseline.counted().filter(took_turns) {
        let Some(across) = by_block.get(&repetition.index).filter(|_| whole(repetition.index)) else {
            continue;
        };
        // A repetition without a value makes the cell unusable, because omitting it would omit the
        // worst case.
        sides.baseline.push(value(baseline, repetition).unwrap_or(f64::NAN));
        sides.other.push(value(other, across).unwrap_or(f64::NAN));
    }
    sides
}

/// Returns the time of a pair of blocks of a cell on both sides in ns, from the repetitions so far.
pub(crate) fn pair_ns(baseline: &Cell, other: &Cell) -> u64 {
    let mean = |cell: &Cell| {
        let times: Vec<u64> = cell.counted().map(|repetition| repetition.elapsed_ns).collect();
        times.iter().fold(0, |sum: u64, time| sum.saturating_add(*time)) / (times.len() as u64).max(1)
    };
    mean(baseline).saturating_add(mean(other)).saturating_mul(2)
}

/// State of the comparisons in an interleaved measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct InterimResults {
    /// For each target but the first, the result of each cell in comparison with the first, by cell
    /// index. `None` if a side has no usable value yet.
    pub others: Vec<Vec<Option<Blocked>>>,
}

impl InterimResults {
    /// Evaluates the cells of all targets, the baseline first. `models` says which targets are
    /// models. Cells that are not measured yet are included in `cell_count`, because their verdicts
    /// need a share of the error rate.
    pub fn of(targets: &[Vec<Cell>], models: &[bool], cell_count: usize, margin: f64) -> Self {
        let sides = sides_of_cells(targets, models, cell_count);
        Self { others: sides.iter().map(|cells| judge(cells, margin, sides.len())).collect() }
    }

    /// Returns, for each cell, the targets that need it again.
    fn needs(&self) -> Vec<Vec<usize>> {
        let cells = self.others.first().map_or(0, Vec::len);
        (0..cells)
            .map(|cell| {
                let open =
                    |other: &Vec<Option<Blocked>>| !other[cell].is_some_and(|blocked| blocked.course.settled);
                let mut places: Vec<usize> =
                    (1..=self.others.len()).filter(|side| open(&self.others[side - 1])).collect();
                if !places.is_empty() {
                    places.insert(0, 0);
                }
                places
            })
            .collect()
    }

    /// Returns the number of decided comparisons, and of all comparisons.
    pub fn settled(&self) -> (usize, usize) {
        let all = self.others.iter().flatten();
        (all.clone().flatten().filter(|blocked| blocked.course.settled).count(), all.count())
    }
}

/// Returns, for each target but the first, the values of every cell on both sides. The arguments are
/// those of [`InterimResults::of`].
fn sides_of_cells(targets: &[Vec<Cell>], models: &[bool], cell_count: usize) -> Vec<Vec<Sides>> {
    let Some((baseline, others)) = targets.split_first() else { return Vec::new() };
    let later = Cell::default();
    let is_model = |place: usize| models.get(place) == Some(&true);
    let of_target = |(place, other): (usize, &Vec<Cell>)| {
        let of_cell = |index: u32| {
            let [one, two] = [baseline, other]
                .map(|cells| cells.iter().find(|cell| cell.index == index).unwrap_or(&later));
            in_blocks(one, two, is_model(0) && is_model(place), repetition_value)
        };
        (0..cell_count as u32).map(of_cell).collect()
    };
    (1..).zip(others).map(of_target).collect()
}

/// The smallest difference that a measurement can find in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellForecast {
    /// Index of the cell.
    pub cell: u32,
    /// Index of the target that is compared with the first.
    pub other: usize,
    /// The relative difference: 0.03 is 3 %.
    pub smallest_difference: f64,
}

/// Decides during the measurement which cells need more blocks.
///
/// It evaluates the values only at planned interim analyses, because repeated significance tests
/// inflate the false-positive rate.
#[derive(Clone, Debug)]
pub struct Referee {
    margin: f64,
    /// Number of initial blocks that do not count.
    discarded: u32,
    /// Whether each target is a model.
    models: Vec<bool>,
    standings: InterimResults,
    needs: Vec<Vec<usize>>,
    /// Cells with a forecast, each with the index of its target.
    foreseen: BTreeSet<(u32, usize)>,
}

impl Referee {
    /// Creates a referee that ignores differences below `margin` and the first `discarded` blocks.
    /// `models` says which targets are models, the baseline first.
    pub fn new(margin: f64, discarded: u32, models: Vec<bool>) -> Self {
        let standings = InterimResults { others: Vec::new() };
        Self { margin, discarded, models, standings, needs: Vec::new(), foreseen: BTreeSet::new() }
    }

    /// Returns, for each cell, the targets that need it again after this number of blocks.
    /// `targets` returns the cells of all targets so far, the baseline first.
    pub fn decide(
        &mut self,
        blocks: u32,
        cell_count: usize,
        targets: impl FnOnce() -> Vec<Vec<Cell>>,
    ) -> Vec<Vec<usize>> {
        let counted = blocks.saturating_sub(self.discarded) as usize;
        // The first call only determines the number of cells, because a single pair of blocks
        // decides nothing.
        if self.needs.is_empty() || self.is_look(counted) {
            self.standings = InterimResults::of(&targets(), &self.models, cell_count, self.margin);
            self.needs = self.standings.needs();
        }
        if counted >= MOST_BLOCKS {
            // Cells that start later have their own blocks.
            return vec![Vec::new(); self.needs.len()];
        }
        self.needs.clone()
    }

    /// Returns the smallest differences that can be found if `expected` blocks fit into the time, for
    /// the cells whose first blocks have just been measured. Models get as many blocks as they need,
    /// so nothing is forecast for two of them.
    pub fn forecast(
        &mut self,
        blocks: u32,
        expected: u32,
        cell_count: usize,
        targets: impl FnOnce() -> Vec<Vec<Cell>>,
    ) -> Vec<CellForecast> {
        if blocks.saturating_sub(self.discarded) as usize != 2 * PILOT_PAIRS {
            return Vec::new();
        }
        let pairs = expected.saturating_sub(self.discarded) as usize / 2;
        let sides = sides_of_cells(&targets(), &self.models, cell_count);
        let comparisons = cell_count * sides.len();
        let mut forecasts = Vec::new();
        for (other, cells) in (1..).zip(&sides) {
            for (cell, sides) in (0..).zip(cells).filter(|(_, sides)| !sides.computed) {
                let difference = smallest_difference(sides, pairs, comparisons);
                if let Some(smallest_difference) = difference.filter(|_| self.foreseen.insert((cell, other)))
                {
                    forecasts.push(CellForecast { cell, other, smallest_difference });
                }
            }
        }
        forecasts
    }

    /// Returns whether this number of blocks can settle a cell.
    fn is_look(&self, blocks: usize) -> bool {
        let any_computed =
            self.models.split_first().is_some_and(|(first, others)| *first && others.contains(&true));
        is_look(blocks) || any_computed && blocks == EQUAL_BLOCKS
    }

    /// Returns the state at the last interim analysis.
    pub fn standings(&self) -> &InterimResults {
        &self.standings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::record::{Measure, OpsRecord};

    /// Returns a cell with an interleaved repetition of one second for each rate.
    fn cell(rates: impl Iterator<Item = u64>) -> Cell {
        let repetitions = rates
            .enumerate()
            .map(|(index, bytes)| Repetition {
                index: index as u32,
                turn: Some(index as u32),
                elapsed_ns: 1_000_000_000,
                read: OpsRecord { bytes, completed: 1, ..OpsRecord::default() },
                ..Repetition::default()
            })
            .collect();
        Cell {
            index: 0,
            step_index: 0,
            part: String::new(),
            label: "reads".to_owned(),
            direction: Some(kurabe_core::workload::Direction::Read),
            measure: Measure::Rate,
            workload: None,
            engine: None,
            repetitions,
            imported: None,
        }
    }

    fn targets(blocks: u32) -> Vec<Vec<Cell>> {
        // Equal up to block 12, then the other is twice as fast.
        let other =
            (0..blocks).map(|block| if block < 12 { 1000 + u64::from(block * 77 % 500) } else { 3000 });
        let baseline = (0..blocks).map(|block| 1000 + u64::from(block * 131 % 500));
        vec![vec![cell(baseline)], vec![cell(other)]]
    }

    #[test]
    fn between_looks_nothing_is_decided() {
        let mut referee = Referee::new(0.05, 0, Vec::new());
        let mut looks = Vec::new();
        for blocks in (2..=40).step_by(2) {
            let mut looked = false;
            let needs = referee.decide(blocks, 1, || {
                looked = true;
                targets(blocks)
            });
            if looked {
                looks.push(blocks);
            }
            assert!(blocks > 20 || needs == [[0, 1]], "{blocks}: {needs:?}");
        }
        assert_eq!(looks, [2, 20, 28, 40]);
        assert_eq!(referee.standings().settled(), (1, 1));
        assert_eq!(referee.decide(42, 1, || panic!("no look")), [Vec::<usize>::new(); 1]);
    }

    #[test]
    fn equal_blocks_of_models_are_looked_at_after_the_second_pair() {
        let steady = |blocks: usize, bytes: u64| vec![cell(std::iter::repeat_n(bytes, blocks))];
        let needs = |models: [bool; 2]| {
            let mut referee = Referee::new(0.01, 0, models.to_vec());
            let after = |referee: &mut Referee, blocks: u32| {
                referee
                    .decide(blocks, 1, || vec![steady(blocks as usize, 1000), steady(blocks as usize, 1011)])
            };
            assert_eq!(after(&mut referee, 2), [[0, 1]]);
            after(&mut referee, 4)
        };
        assert_eq!(needs([true, true]), [Vec::<usize>::new()]);
        assert_eq!(needs([true, false]), [[0, 1]]);
    }

    #[test]
    fn a_cell_is_foreseen_once_after_its_first_blocks() {
        let scattered = |blocks: u32| {
            let of = |factor: u64| cell((0..u64::from(blocks)).map(move |block| 1000 + block * factor % 50));
            vec![vec![of(77)], vec![of(31)]]
        };
        let mut referee = Referee::new(0.05, 2, vec![false; 2]);
        assert_eq!(referee.forecast(12, 100, 1, || panic!("no pilot")), []);
        let forecasts = referee.forecast(14, 100, 1, || scattered(12));
        assert_eq!((forecasts.len(), forecasts[0].cell, forecasts[0].other), (1, 0, 1));
        assert!((0.001..0.1).contains(&forecasts[0].smallest_difference), "{forecasts:?}");
        assert_eq!(referee.forecast(14, 100, 1, || scattered(12)), []);
        // Too little time for a verdict, and models.
        assert_eq!(Referee::new(0.05, 0, vec![false; 2]).forecast(12, 18, 1, || scattered(12)), []);
        assert_eq!(Referee::new(0.05, 0, vec![true; 2]).forecast(12, 100, 1, || scattered(12)), []);
    }

    #[test]
    fn blocks_that_do_not_count_put_the_looks_off() {
        let mut referee = Referee::new(0.05, 2, Vec::new());
        referee.decide(2, 1, || targets(2));
        referee.decide(20, 1, || panic!("no look"));
        referee.decide(22, 1, || targets(20));
    }

    #[test]
    fn who_comes_later_has_as_many_blocks() {
        let mut referee = Referee::new(0.05, 0, Vec::new());
        assert_eq!(referee.decide(2, 2, || targets(2)), [[0, 1], [0, 1]]);
        assert_eq!(referee.decide(MOST_BLOCKS as u32, 2, || targets(2)), [Vec::<usize>::new(), Vec::new()]);
        assert_eq!(referee.decide(2, 2, || panic!("no look")), [[0, 1], [0, 1]]);
    }

    #[test]
    fn a_block_that_only_one_side_has_is_left_out() {
        let (one, mut two) = (cell(1..8), cell(11..16));
        two.repetitions.remove(2);
        // Block 2 is missing, so block 3 of the same pair is ignored as well. Block 4 has no
        // counterpart yet.
        assert_eq!(in_blocks(&one, &two, false, repetition_value).baseline, [1.0, 2.0]);
        two.repetitions[0].turn = None;
        assert!(in_blocks(&one, &two, false, repetition_value).other.is_empty());
    }
}
