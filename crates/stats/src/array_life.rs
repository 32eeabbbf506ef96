//! The probability that an array loses data within a given time.
//!
//! The model: a Markov chain over the number of missing members. Members fail independently at the
//! same constant rate, and one missing member at a time is rebuilt, also at a constant rate. A
//! fixed share of the failures of the remaining members is fatal. So is a rebuild that meets an
//! unreadable bit when no redundancy is left. (For one parity and no unreadable bits, the mean time
//! to data loss is the MTTF^2 / (N (N - 1) MTTR) of Patterson, Gibson and Katz 1988.)

/// Mean length of a year (365.25 days) in hours.
const HOURS_PER_YEAR: f64 = 8766.0;

/// Parameters of the Markov chain of an array.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrayLife {
    /// Number of members.
    pub members: u64,
    /// Failures of a member per year.
    pub failures_per_year: f64,
    /// Hours to rebuild a member.
    pub rebuild_hours: f64,
    /// Share of the remaining members whose failure loses data, indexed by the number of missing
    /// members. The last is 1.
    pub fatal_shares: Vec<f64>,
    /// Probability that a rebuild meets an unreadable bit that no redundancy corrects, indexed by
    /// the number of missing members.
    pub unreadable_shares: Vec<f64>,
}

type Matrix = Vec<Vec<f64>>;

impl ArrayLife {
    /// Returns an array that survives the failure of any `tolerated` members. With none of that
    /// redundancy left, a rebuild meets an unreadable bit with probability `unreadable_share`.
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

    /// Returns an array of mirrored pairs, each of which survives the failure of one member. A
    /// rebuild reads the other member of the pair.
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

    /// Returns the transition rates per year with `lack` members missing: to one more missing, to
    /// one fewer, and to data loss.
    fn rates(&self, lack: usize) -> (f64, f64, f64) {
        let fails = (self.members - lack as u64) as f64 * self.failures_per_year;
        let filled = if lack == 0 { 0.0 } else { HOURS_PER_YEAR / self.rebuild_hours };
        let (fatal, unreadable) = (self.fatal_shares[lack], self.unreadable_shares[lack]);
        (fails * (1.0 - fatal), filled * (1.0 - unreadable), fails * fatal + filled * unreadable)
    }

    /// Returns the probability that an array with all members present loses data within `years`.
    pub fn loss_within(&self, years: f64) -> f64 {
        let states = self.fatal_shares.len();
        let rates: Vec<_> = (0..states).map(|lack| self.rates(lack)).collect();
        let fastest = rates.iter().map(|(more, less, lost)| more + less + lost).fold(0.0, f64::max);
        if fastest == 0.0 {
            return 0.0;
        }
        // Start with a step so short that a transition in it is unlikely, then double it until it
        // covers the whole time. Nothing is subtracted, so small probabilities stay exact.
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

/// Returns the transition probabilities over a time in which `changes` transitions are expected,
/// given those of a single transition.
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

/// Returns the probability that at least one bit of `bytes` is unreadable, if each bit is with
/// probability `of_a_bit`.
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
            // Within one year, the probability is the time divided by the mean, except for the
            // hours before the first failure.
            is_near(loss, 1.0 / exact_years, 0.01);
        }
        // Two parities: MTTF^3 / (N (N - 1) (N - 2) MTTR^2).
        let loss = life(ArrayLife::of_parity(8, 2, 0.0), 0.0157, 24.0).loss_within(1.0);
        is_near(loss, 8.0 * 7.0 * 6.0 * 0.0157f64.powi(3) * (24.0 / HOURS_PER_YEAR).powi(2), 0.02);
        // Without redundancy any failure is fatal; in a pair, the partner's.
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
        // Reading 9 TB at an error rate of one bit in 10^14 meets an error half of the time.
        is_near(unreadable_share(9e12, 1e-14), 0.513, 0.001);
        let loss = |tolerated| life(ArrayLife::of_parity(4, tolerated, 0.5), 0.0157, 10.0).loss_within(1.0);
        is_near(loss(1), 4.0 * 0.0157 * 0.5, 0.05);
        assert!(loss(2) < loss(1) / 1000.0);
    }

    /// Simulates single lives, at rates so high that some thousand lives are enough.
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
