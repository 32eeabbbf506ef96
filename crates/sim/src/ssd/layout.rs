//! Initial location of the data, computed without a table.
//!
//! The model of a sequentially filled drive: rows are distributed over the dies in round-robin
//! order. The model of a drive in steady state: uniform random writes have continued until the
//! distribution no longer changes. After a share x of a block's lifetime since it was filled, u^x
//! of its data are still valid, where u is the valid share of a block about to be collected
//! (`steady_share`). So each block gets its number of valid units from a random number between 0
//! and 1, and the k-th unit of a fixed permutation of all units is in the block with the k-th valid
//! location. A few bytes per block are enough, and no writes are simulated to reach the steady
//! state.

use super::config::FlashGeometry;
use kurabe_core::random::Random;

/// Initial layout of the first units of a drive.
#[derive(Clone)]
pub(super) enum Layout {
    /// Rows in round-robin order over the dies.
    InOrder,
    /// Steady state under random writes.
    Worn(Worn),
}

/// The layout of a drive in steady state.
#[derive(Clone)]
pub(super) struct Worn {
    /// By block: valid locations in the blocks before it.
    before: Vec<u32>,
    /// The block of every `step`-th valid location.
    blocks: Vec<u32>,
    step: u32,
    units: u64,
    factor: u64,
    inverse: u64,
}

/// Returns the share of a block that is still valid when it is collected, for `spread` times as
/// many physical locations as valid units, under uniform random writes and with this block size.
/// With a = spread (1 + 1 / 2 units) it is u = e^(-a (1 - u)), so that write amplification 1 / (1 -
/// u) is a / (a + W(-a e^-a)) with Lambert's W: Desnoyers, Analytic Modeling of SSD Write
/// Performance (SYSTOR 2012), for greedy collection; without the last term it is the form for large
/// blocks (Xiang and Kurkoski, An Improved Analytic Expression for Write Amplification in NAND
/// Flash, 2012).
pub(super) fn steady_share(spread: f64, units_per_block: u32) -> f64 {
    let spread = spread * (1.0 + 0.5 / f64::from(units_per_block));
    if spread <= 1.0 {
        return 1.0;
    }
    // Newton's method from the side where the function is convex and has its root below 1.
    let mut share = 0.0;
    for _ in 0..100 {
        let power = (-spread * (1.0 - share)).exp();
        let next: f64 = share - (share - power) / (1.0 - spread * power);
        if (next - share).abs() < 1e-13 {
            break;
        }
        share = next;
    }
    share
}

impl Layout {
    /// Returns the location of a unit on the drive.
    #[inline]
    pub(super) fn place(&self, geometry: &FlashGeometry, unit: u32) -> u32 {
        match self {
            Self::InOrder => in_order(geometry, unit),
            Self::Worn(worn) => worn.place(geometry, unit),
        }
    }

    /// Returns the units of a block in order of location.
    pub(super) fn owners<'a>(
        &'a self,
        geometry: &'a FlashGeometry,
        block: u32,
        filled: u32,
    ) -> impl Iterator<Item = u32> + use<'a> {
        let (worn, count) = match self {
            Self::InOrder => (None, geometry.units_per_block),
            Self::Worn(worn) => {
                let (first, end) = (worn.before[block as usize], worn.before[block as usize + 1]);
                (Some((worn, u64::from(first) * worn.inverse % worn.units)), end - first)
            }
        };
        let mut next = worn.map_or(0, |(_, unit)| unit);
        let unit_at = move |offset: u32| match worn {
            None => in_order_owner(geometry, block, offset, filled),
            Some((worn, _)) => {
                // The product of the next rank, without a division.
                let unit = next;
                next += worn.inverse;
                next -= if next >= worn.units { worn.units } else { 0 };
                Some(unit as u32)
            }
        };
        (0..count).map_while(unit_at)
    }
}

/// Returns the unit at a location of a block after the first `filled` units were written
/// sequentially, if there is one.
#[inline]
fn in_order_owner(geometry: &FlashGeometry, block: u32, offset: u32, filled: u32) -> Option<u32> {
    let (die, block) = (block / geometry.blocks_per_die, block % geometry.blocks_per_die);
    let (row, within) = (offset / geometry.units_per_row, offset % geometry.units_per_row);
    let row = u64::from(block) * u64::from(geometry.rows_per_block) + u64::from(row);
    let row = row * u64::from(geometry.dies) + u64::from(die);
    let unit = row * u64::from(geometry.units_per_row) + u64::from(within);
    (unit < u64::from(filled)).then_some(unit as u32)
}

/// Returns the location of a unit in round-robin order over the dies.
#[inline]
pub(super) fn in_order(geometry: &FlashGeometry, unit: u32) -> u32 {
    let (row, within) = (unit / geometry.units_per_row, unit % geometry.units_per_row);
    let (die, row) = (row % geometry.dies, row / geometry.dies);
    // Rows of a die are numbered continuously across its blocks.
    (die * geometry.blocks_per_die * geometry.rows_per_block + row) * geometry.units_per_row + within
}

/// Returns the valid units of every block after the first `filled` units were written sequentially.
pub(super) fn in_order_counts(geometry: &FlashGeometry, filled: u32) -> Vec<u32> {
    let mut counts = vec![0; (geometry.dies * geometry.blocks_per_die) as usize];
    let whole_rows = filled / geometry.units_per_row;
    for (die, blocks) in counts.chunks_mut(geometry.blocks_per_die as usize).enumerate() {
        let mut rows = (whole_rows + geometry.dies - 1 - die as u32) / geometry.dies;
        for count in blocks {
            let here = rows.min(geometry.rows_per_block);
            *count = here * geometry.units_per_row;
            rows -= here;
            if here == 0 {
                break;
            }
        }
    }
    let rest = filled % geometry.units_per_row;
    if rest > 0 {
        counts[(in_order(geometry, filled - 1) / geometry.units_per_block) as usize] += rest;
    }
    counts
}

impl Worn {
    /// Returns a drive in steady state, and the number of valid units of each block. `free` blocks
    /// of each die are empty.
    pub(super) fn new(
        geometry: &FlashGeometry,
        filled: u32,
        free: u32,
        random: &mut Random,
    ) -> (Self, Vec<u32>) {
        let counts = worn_counts(geometry, filled, free, random);
        let mut before = Vec::with_capacity(counts.len() + 1);
        let mut sum = 0;
        before.push(0);
        for count in &counts {
            sum += count;
            before.push(sum);
        }
        let step = (sum / counts.len() as u32).max(1);
        let mut blocks = Vec::with_capacity((sum / step) as usize + 1);
        for (block, end) in before[1..].iter().enumerate() {
            while (blocks.len() as u32).saturating_mul(step) < *end {
                blocks.push(block as u32);
            }
        }
        let units = u64::from(filled).max(1);
        let factor = mixing_factor(units);
        let worn = Self { before, blocks, step, units, factor, inverse: inverse(factor, units) };
        (worn, counts)
    }

    #[inline]
    fn place(&self, geometry: &FlashGeometry, unit: u32) -> u32 {
        let rank = (u64::from(unit) * self.factor % self.units) as u32;
        let mut block = self.blocks[(rank / self.step) as usize];
        while self.before[block as usize + 1] <= rank {
            block += 1;
        }
        block * geometry.units_per_block + (rank - self.before[block as usize])
    }
}

/// Returns the number of valid units of each block; they sum to `filled`.
fn worn_counts(geometry: &FlashGeometry, filled: u32, free: u32, random: &mut Random) -> Vec<u32> {
    let per_die = geometry.blocks_per_die as usize;
    let used = per_die - free as usize;
    let most = geometry.units_per_block;
    let places = u64::from(geometry.dies) * used as u64 * u64::from(most);
    let share = steady_share(places as f64 / f64::from(filled.max(1)), most);
    let mut counts = vec![0; geometry.dies as usize * per_die];
    let mut sum = 0;
    for die in counts.chunks_mut(per_die) {
        // One block for each of as many equal parts of the lifetime, in a mixed order.
        let factor = mixing_factor(used as u64);
        for (index, count) in die[..used].iter_mut().enumerate() {
            let age = (index as u64 * factor % used as u64) as f64 + random.unit();
            let valid = f64::from(most) * share.powf(age / used as f64);
            *count = (valid as u32).min(most);
            sum += u64::from(*count);
        }
    }
    // The difference due to rounding and chance is distributed over the blocks in order.
    let mut missing = i64::from(filled) - sum as i64;
    while missing != 0 {
        let each = (missing.abs() / (u64::from(geometry.dies) * used as u64) as i64).max(1);
        for count in counts.chunks_mut(per_die).flat_map(|die| die[..used].iter_mut()) {
            let step = each.min(missing.abs());
            let change =
                if missing > 0 { step.min(i64::from(most - *count)) } else { -step.min(i64::from(*count)) };
            *count = (i64::from(*count) + change) as u32;
            missing -= change;
        }
    }
    counts
}

/// Returns a factor coprime to `units`, near their golden section, so that neighbours are far
/// apart.
fn mixing_factor(units: u64) -> u64 {
    let mut factor = ((units as f64 * 0.618_033_988_749_895) as u64).max(1);
    while greatest_divisor(factor, units) != 1 {
        factor += 1;
    }
    factor
}

fn greatest_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns the modular inverse of `factor` modulo `units`.
fn inverse(factor: u64, units: u64) -> u64 {
    let (mut old, mut new) = ((units as i64, 0i64), ((factor % units.max(1)) as i64, 1i64));
    while new.0 != 0 {
        let times = old.0 / new.0;
        (old, new) = (new, (old.0 - times * new.0, old.1 - times * new.1));
    }
    old.1.rem_euclid(units as i64) as u64
}
