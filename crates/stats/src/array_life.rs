//! How likely an array loses data within some time.
//!
//! The model: a Markov chain over how many members lack. Each member fails at the same constant rate, independent of the
//! others; one at a time is filled again, at a constant rate. Of the members that are left a share takes data with it when
//! it fails, and so does a filling that has nothing to make up for a bit that cannot be read. (For one parity and no
//! unreadable bits the mean time to it is the MTTF^2 / (N (N - 1) MTTR) of Patterson, Gibson and Katz 1988.)

/// Hours of a year.
const HOURS_PER_YEAR: f64 = 8766.0;

/// An array as the chain sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrayLife {
    /// How many members it has.
    pub members: u64,
    /// Failures of a member per year.
    pub failures_per_year: f64,
    /// Hours until a member is filled again.
    pub rebuild_hours: f64,
    /// By how many members lack, from 0: the share of the others each of which takes data with it. The last is 1.
    pub fatal_shares: Vec<f64>,
    /// By the same: the share of fillings that meet what cannot be read and made up for.
    pub unreadable_shares: Vec<f64>,
}

/// A square matrix.
type Matrix = Vec<Vec<f64>>;

impl ArrayLife {
    /// One of which any so many members may fail; with none left a filling reads so many bits.
    pub fn of_parity(members: u64, tolerated: u64, unreadable_share: f64) -> Self {
        let last =
            |value: f64| (0..=tolerated).map(|lack| if lack == tolerated { value } else { 0.0 }).collect();
        Self {
            members,
            fatal_shares: last(1.0),
            unreadable_shares: last(unreadable_share),
            ..Self::default()
        }
    }

    /// One of pairs, of each of which one may fail; a filling reads the other.
    pub fn of_pairs(members: u64, unreadable_share: f64) -> Self {
        let pairs = members / 2;
        let fatal_shares = (0..=pairs).map(|lack| lack as f64 / (members - lack) as f64).collect();
        Self {
            members,
            fatal_shares,
            unreadable_shares: vec![unreadable_share; pairs as usize + 1],
            ..Self::default()
        }
    }

    /// Rates per year from each state: to one more that lacks, to one less, and to loss.
    fn rates(&self, lack: usize) -> (f64, f64, f64) {
        let fails = (self.members - lack as u64) as f64 * self.failures_per_year;
        let filled = if lack == 0 { 0.0 } else { HOURS_PER_YEAR / self.rebuild_hours };
        let (fatal, unreadable) = (self.fatal_shares[lack], self.unreadable_shares[lack]);
        (fails * (1.0 - fatal), filled * (1.0 - unreadable), fails * fatal + filled * unreadable)
    }

    /// The chance that data are lost within so many years of an array that is whole at first.
    pub fn loss_within(&self, years: f64) -> f64 {
        let states = self.fatal_shares.len();
        let rates: Vec<_> = (0..states).map(|lack| self.rates(lack)).collect();
        let fastest = rates.iter().map(|(more, less, lost)| more + less + lost).fold(0.0, f64::max);
        if fastest == 0.0 {
            return 0.0;
        }
        // A step so short that a change in it is unlikely; then twice as long, until it is all. Nothing is subtracted, so
        // small chances stay exact.
        let doublings = (fastest * years).log2().ceil().max(0.0) as u32 + 4;
        let step_years = years / f64::from(doublings).exp2();
        let mut once = vec![vec![0.0; states + 1]; states + 1];
        once[states][states] = 1.0;
        for (lack, (more, less, lost)) in rates.into_iter().enumerate() {
            once[lack][lack] = 1.0 - (more + less + lost) / fastest;
            once[lack][states] += lost / fastest;
            if lack > 0 {
                once[lack][lack - 1] = less / fastest;
            }
            if more > 0.0 {
                once[lack][lack + 1] += more / fastest;
            }
        }
        let mut steps = exponential(&once, fastest * step_years);
        for _ in 0..doublings {
            steps = product(&steps, &steps);
        }
        steps[0][states].min(1.0)
    }
}

/// The chances after a time in which a change is expected so often, of chances after one change.
fn exponential(once: &Matrix, changes: f64) -> Matrix {
    let identity: Matrix = (0..once.len())
        .map(|row| (0..once.len()).map(|column| f64::from(u8::from(row == column))).collect())
        .collect();
    let mut sum = vec![vec![0.0; once.len()]; once.len()];
    let (mut power, mut weight) = (identity, (-changes).exp());
    for order in 1..30 {
        for (row, of_power) in sum.iter_mut().zip(&power) {
            row.iter_mut().zip(of_power).for_each(|(sum, of_power)| *sum += weight * of_power);
        }
        power = product(&power, once);
        weight *= changes / f64::from(order);
    }
    sum
}

fn product(one: &Matrix, other: &Matrix) -> Matrix {
    let column =
        |row: &Vec<f64>, column: usize| row.iter().zip(other).map(|(value, row)| value * row[column]).sum();
    one.iter().map(|row| (0..other.len()).map(|place| column(row, place)).collect()).collect()
}

/// The chance that of so many bytes a bit cannot be read, of which each cannot with this chance.
pub fn unreadable_share(bytes: f64, of_a_bit: f64) -> f64 {
    -(-bytes * 8.0 * of_a_bit).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::random::Random;

    fn life(of: ArrayLife, failures_per_year: f64, rebuild_hours: f64) -> ArrayLife {
        ArrayLife { failures_per_year, rebuild_hours, ..of }
    }

    fn is_near(value: f64, expected: f64, share: f64) {
        assert!((value / expected - 1.0).abs() < share, "{value:e}, expected {expected:e}");
    }

    #[test]
    fn one_parity_is_the_closed_form_of_patterson_gibson_and_katz() {
        for (members, failures, hours) in [(4u64, 0.0157, 10.0), (8, 0.01, 24.0), (3, 0.05, 1.0)] {
            let (mttf, mttr) = (1.0 / failures, hours / HOURS_PER_YEAR);
            let (n, lambda, mu) = (members as f64, failures, 1.0 / mttr);
            let exact_years = ((2.0 * n - 1.0) * lambda + mu) / (n * (n - 1.0) * lambda * lambda);
            is_near(exact_years, mttf * mttf / (n * (n - 1.0) * mttr), 0.01);
            let loss = life(ArrayLife::of_parity(members, 1, 0.0), failures, hours).loss_within(1.0);
            // Within a year the chance is the time over the mean, but for the hours that a first failure needs.
            is_near(loss, 1.0 / exact_years, 0.01);
        }
        // Two parities: MTTF^3 / (N (N - 1) (N - 2) MTTR^2).
        let loss = life(ArrayLife::of_parity(8, 2, 0.0), 0.0157, 24.0).loss_within(1.0);
        is_near(loss, 8.0 * 7.0 * 6.0 * 0.0157f64.powi(3) * (24.0 / HOURS_PER_YEAR).powi(2), 0.02);
        // No redundancy: any failure; pairs: the partner's.
        is_near(
            life(ArrayLife::of_parity(4, 0, 0.0), 0.0157, 1.0).loss_within(1.0),
            1.0 - (-4.0 * 0.0157f64).exp(),
            1e-9,
        );
        let pairs = life(ArrayLife::of_pairs(4, 0.0), 0.0157, 10.0).loss_within(1.0);
        is_near(pairs, 4.0 * 0.0157 * 0.0157 * 10.0 / HOURS_PER_YEAR, 0.01);
        assert_eq!(life(ArrayLife::of_parity(4, 1, 0.0), 0.0, 10.0).loss_within(1.0), 0.0);
    }

    #[test]
    fn what_cannot_be_read_counts_where_nothing_makes_up_for_it() {
        // 9 TB read at one bit in 10^14 meet one in half of the cases.
        is_near(unreadable_share(9e12, 1e-14), 0.513, 0.001);
        let loss = |tolerated| life(ArrayLife::of_parity(4, tolerated, 0.5), 0.0157, 10.0).loss_within(1.0);
        is_near(loss(1), 4.0 * 0.0157 * 0.5, 0.05);
        assert!(loss(2) < loss(1) / 1000.0);
    }

    /// Lives drawn one by one, with rates so high that some thousand are enough.
    #[test]
    fn lives_that_are_drawn_end_as_often() {
        let mut random = Random::new(7, 0);
        for array in [
            life(ArrayLife::of_parity(4, 1, 0.1), 0.4, 400.0),
            life(ArrayLife::of_parity(6, 2, 0.2), 0.8, 600.0),
            life(ArrayLife::of_pairs(6, 0.05), 0.5, 500.0),
        ] {
            let lives = 20_000;
            let mut lost = 0u32;
            for _ in 0..lives {
                let (mut lack, mut years) = (0, 0.0);
                loop {
                    let (more, less, fatal) = array.rates(lack);
                    years -= (1.0 - random.unit()).ln() / (more + less + fatal);
                    if years > 1.0 {
                        break;
                    }
                    let drawn = random.unit() * (more + less + fatal);
                    if drawn < fatal {
                        lost += 1;
                        break;
                    }
                    lack = if drawn < fatal + more { lack + 1 } else { lack - 1 };
                }
            }
            let (share, expected) = (f64::from(lost) / f64::from(lives), array.loss_within(1.0));
            let deviation = (expected * (1.0 - expected) / f64::from(lives)).sqrt();
            assert!((share - expected).abs() < 4.0 * deviation, "{share} drawn, {expected} computed");
        }
    }
}
