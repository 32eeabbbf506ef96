//! Random offsets equal to those of a fio job, so that the same job line accesses the same blocks
//! in both programs.
//!
//! Based on fio's documentation (`randrepeat`, `randseed`, `norandommap`) and the behaviour of its
//! source. Each job has its own generator (L'Ecuyer, "Maximally equidistributed combined Tausworthe
//! generators", 1996), seeded from the seed and the job's number. A draw is scaled to the blocks of
//! the span. With a map, a block already visited in this pass is replaced by the next unvisited
//! one. End-to-end tests compare the results with fio itself.

use kurabe_core::workload::{FioPlaces, Pattern, Workload};

/// fio's default seed, and the default seed of offsets before version 3.35.
const OWN_SEED: u64 = 0x89;
const OLD_SEED: u64 = 0xb189_9bed;
/// The multiplier of fio's seeds.
const SEED_FACTOR: u64 = 0x9e37_0001;
/// Index of the generator of a job that draws offsets.
const PLACES_GENERATOR: u64 = 6;

/// The offsets of one job.
#[derive(Clone, Debug)]
pub(super) struct FioJobPlaces {
    random: Tausworthe,
    count: u64,
    /// Blocks visited in this pass, if each is visited once.
    visited: Option<VisitedBlocks>,
    /// The initial generator, if every pass restarts with it. fio does so for jobs without a seed
    /// that don't end by time.
    restart: Option<Tausworthe>,
}

impl FioJobPlaces {
    /// Returns the offsets of a thread of a workload whose span has `count` blocks, at least one.
    /// `None` if the workload does not use fio's offsets.
    pub(super) fn of(workload: &Workload, thread: u32, count: u64) -> Option<Self> {
        let FioPlaces { seed, first_job, is_old, is_wide } = workload.fio_places?;
        let job = u64::from(first_job.saturating_add(thread));
        let law = if is_wide || count > u64::from(u32::MAX) { &TAUS258 } else { &TAUS88 };
        let random = match seed {
            None if is_old => Tausworthe::new(law, OLD_SEED.wrapping_mul(job)),
            _ => {
                let seed = seed.unwrap_or(OWN_SEED);
                let scaled = (0..4 + PLACES_GENERATOR).fold(seed, |seed, _| seed.wrapping_mul(SEED_FACTOR));
                Tausworthe::new(law, scaled.wrapping_mul(job).wrapping_add(PLACES_GENERATOR))
            }
        };
        let begins_anew = seed.is_none() && workload.end.time_ns.is_none();
        Some(Self {
            restart: begins_anew.then(|| random.clone()),
            random,
            count,
            visited: (workload.pattern == Pattern::Permutation).then(|| VisitedBlocks::new(count)),
        })
    }

    /// Returns the next block.
    pub(super) fn draw(&mut self) -> u64 {
        if self.visited.as_ref().is_some_and(VisitedBlocks::are_all) {
            self.visited = Some(VisitedBlocks::new(self.count));
            match &self.restart {
                Some(start) => self.random = start.clone(),
                // fio draws a number before it notices that no block is left.
                None => _ = self.random.unit(),
            }
        }
        let block = (self.count as f64 * self.random.unit()) as u64;
        self.visited.as_mut().map_or(block, |visited| visited.visit(block))
    }
}

/// Parameters of a combined Tausworthe generator: its bits, the seeding factor, and for each
/// component the smallest seed and the four numbers of its recurrence.
#[derive(Debug)]
struct TauswortheLaw {
    mask: u64,
    seed_factor: u64,
    components: &'static [(u64, [u32; 4])],
}

const TAUS88: TauswortheLaw = TauswortheLaw {
    mask: u32::MAX as u64,
    seed_factor: 69069,
    components: &[(1, [1, 13, 19, 12]), (7, [3, 2, 25, 4]), (15, [4, 3, 11, 17])],
};
const TAUS258: TauswortheLaw = TauswortheLaw {
    mask: u64::MAX,
    seed_factor: 6_906_969_069,
    components: &[
        (1, [1, 1, 53, 10]),
        (7, [9, 24, 50, 5]),
        (15, [12, 3, 23, 29]),
        (33, [17, 5, 24, 23]),
        (49, [23, 3, 33, 8]),
    ],
};

/// The state of a combined generator.
#[derive(Clone, Debug)]
struct Tausworthe {
    law: &'static TauswortheLaw,
    state: [u64; 5],
}

impl Tausworthe {
    fn new(law: &'static TauswortheLaw, seed: u64) -> Self {
        // fio's source intends powers of two but writes exclusive ors: (2^31) + (2^17) + (2^7) are
        // 29, 19 and 5.
        let mut last = 29 + 19 + 5u64;
        let mut state = [0; 5];
        for (component, (least, _)) in state.iter_mut().zip(law.components) {
            let mixed = (last.wrapping_mul(law.seed_factor) ^ seed) & law.mask;
            last = if mixed < *least { mixed + least } else { mixed };
            *component = last;
        }
        let mut random = Self { law, state };
        // As in fio, so that similar seeds give different sequences.
        (0..6).for_each(|_| _ = random.unit());
        random
    }

    /// Returns the next number, from 0 to 1.
    fn unit(&mut self) -> f64 {
        let mask = self.law.mask;
        let mut bits = 0;
        for (state, (_, [dropped, left, right, shift])) in self.state.iter_mut().zip(self.law.components) {
            let kept = *state >> dropped << dropped;
            *state = (kept << shift & mask) ^ (((*state << left & mask) ^ *state) >> right);
            bits ^= *state;
        }
        bits as f64 / (mask as f64 + 1.0)
    }
}

/// A set of visited blocks: one bit for each block, and above them levels with one bit for each
/// full word below.
#[derive(Clone, Debug)]
struct VisitedBlocks {
    levels: Vec<Vec<u64>>,
    count: u64,
    left: u64,
}

impl VisitedBlocks {
    fn new(count: u64) -> Self {
        let words = |bits: &u64| (*bits > 1).then(|| bits.div_ceil(64));
        let levels = std::iter::successors(Some(count.div_ceil(64)), words);
        Self { levels: levels.map(|words| vec![0; words as usize]).collect(), count, left: count }
    }

    fn are_all(&self) -> bool {
        self.left == 0
    }

    /// Visits a block, or the next unvisited one after it, wrapping around at the end. At least one
    /// must be unvisited.
    fn visit(&mut self, block: u64) -> u64 {
        let free = self.next_free(block).or_else(|| self.next_free(0)).unwrap_or(block);
        let mut bit = free;
        for level in &mut self.levels {
            let word = &mut level[(bit / 64) as usize];
            *word |= 1 << (bit % 64);
            if *word != u64::MAX {
                break;
            }
            bit /= 64;
        }
        self.left -= 1;
        free
    }

    /// Returns the first unvisited block from this one on.
    fn next_free(&self, block: u64) -> Option<u64> {
        let (mut bit, mut level) = (block, 0);
        // Go up until a word has a free bit after the current one, then down to the block.
        loop {
            let word = self.levels.get(level)?.get((bit / 64) as usize)?;
            let free = !word & (u64::MAX << (bit % 64));
            if free == 0 {
                (bit, level) = (bit / 64 + 1, level + 1);
                continue;
            }
            bit = bit / 64 * 64 + u64::from(free.trailing_zeros());
            if level == 0 {
                return Some(bit).filter(|bit| *bit < self.count);
            }
            (bit, level) = (bit * 64, level - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_next_free_block_is_that_of_a_set(
            count in 1u64..10_000,
            draws in proptest::collection::vec(any::<u64>(), 1..400),
        ) {
            let (mut visited, mut free) = (VisitedBlocks::new(count), (0..count).collect::<BTreeSet<u64>>());
            for draw in draws {
                let block = draw % count;
                let Some(next) = free.range(block..).next().or(free.first()).copied() else { break };
                prop_assert_eq!(visited.visit(block), next);
                free.remove(&next);
                prop_assert_eq!(visited.are_all(), free.is_empty());
            }
        }
    }

    #[test]
    fn a_full_word_is_stepped_over_on_every_level() {
        let mut visited = VisitedBlocks::new(64 * 64 * 3);
        let order: Vec<u64> = (0..64 * 64 + 2).map(|_| visited.visit(64)).collect();
        assert!(order.iter().copied().eq(64..64 * 64 + 66));
        assert_eq!(visited.visit(64 * 64 * 3 - 1), 64 * 64 * 3 - 1);
        // The search wraps around at the end.
        assert_eq!(visited.visit(64 * 64 * 3 - 1), 0);
    }
}
