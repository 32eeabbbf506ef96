//! Offsets from a non-uniform distribution.
//!
//! Zipf and Pareto draw ranks, which a permutation scatters over the span. Zones and the normal
//! distribution draw offsets directly. The distributions are those of fio's `random_distribution`.

use crate::drive::{permutation::Permutation, zipf::Zipf};
use kurabe_core::random::Random;
use kurabe_core::workload::{Pattern, Workload};

/// A distribution of places, numbered from 0.
#[derive(Clone, Debug)]
pub(super) enum Places {
    /// Zipf-distributed ranks.
    Zipf { ranks: Zipf, scatter: Permutation },
    /// Pareto-distributed ranks: the rank is a power of a uniform number.
    Pareto { power: f64, count: u64, scatter: Permutation },
    /// Normally distributed around the middle.
    Normal { deviation: f64, count: u64 },
    /// For each zone: the cumulative percentage of draws, the first place, and the number of
    /// places.
    Zones(Vec<(u64, u64, u64)>),
}

impl Places {
    /// Returns the distribution of a workload whose span has `count` places, at least one.
    pub(super) fn of(workload: &Workload, count: u64) -> Self {
        let scatter = Permutation::new(count, workload.seed);
        match workload.pattern {
            Pattern::Zipf { exponent } => Self::Zipf { ranks: Zipf::new(count, exponent), scatter },
            // For x uniform in 0..1, x^power is below `skew` with probability 1 - skew.
            Pattern::Pareto { skew } => Self::Pareto { power: skew.ln() / (1.0 - skew).ln(), count, scatter },
            Pattern::Normal { deviation_percent } => {
                Self::Normal { deviation: count as f64 * deviation_percent / 100.0, count }
            }
            _ => Self::Zones(zones(workload, count)),
        }
    }

    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        match self {
            Self::Zipf { ranks, scatter } => scatter.at(ranks.draw(random)),
            Self::Pareto { power, count, scatter } => {
                scatter.at(((*count as f64 * random.unit().powf(*power)) as u64).min(count - 1))
            }
            Self::Normal { deviation, count } => {
                // Box-Muller transform. Values beyond the ends are moved to the ends.
                let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
                let deviate = radius * (std::f64::consts::TAU * random.unit()).cos();
                ((*count as f64 / 2.0 + deviate * deviation).max(0.0) as u64).min(count - 1)
            }
            Self::Zones(zones) => {
                let drawn = random.below(100);
                let zone = zones.iter().find(|(until, _, _)| drawn < *until);
                zone.map_or(0, |(_, first, count)| first + random.below(*count))
            }
        }
    }
}

fn zones(workload: &Workload, count: u64) -> Vec<(u64, u64, u64)> {
    let (mut until, mut covered) = (0, 0u64);
    let bounds = |zone: &kurabe_core::workload::AccessZone| {
        let first = count * covered / 100;
        until += u64::from(zone.access_percent);
        covered += u64::from(zone.span_percent);
        // A zone of a small span has at least one place.
        (until, first.min(count - 1), (count * covered / 100).saturating_sub(first).max(1))
    };
    workload.zones.iter().map(bounds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::workload::AccessZone;

    const COUNT: u64 = 1000;

    /// Returns the share of draws that lie in a range of places.
    fn share(pattern: Pattern, zones: Vec<AccessZone>, lies: impl Fn(u64) -> bool) -> f64 {
        let workload = Workload::plain(pattern, 512, COUNT * 512).with(|access| access.zones = zones);
        let (places, mut random) = (Places::of(&workload, COUNT), Random::new(5, 0));
        let drawn = (0..100_000).filter(|_| lies(places.draw(&mut random)));
        drawn.count() as f64 / 100_000.0
    }

    #[test]
    fn a_fifth_of_the_blocks_gets_four_fifths_of_the_operations() {
        let pattern = Pattern::Pareto { skew: 0.2 };
        let scatter = Permutation::new(COUNT, Workload::plain(pattern, 512, COUNT * 512).seed);
        let popular: Vec<u64> = (0..COUNT / 5).map(|rank| scatter.at(rank)).collect();
        assert!((share(pattern, Vec::new(), |place| popular.contains(&place)) - 0.8).abs() < 0.01);
    }

    #[test]
    fn two_thirds_lie_within_a_deviation_of_the_middle() {
        let pattern = Pattern::Normal { deviation_percent: 10.0 };
        assert!((share(pattern, Vec::new(), |place| (400..600).contains(&place)) - 0.683).abs() < 0.01);
    }

    #[test]
    fn zones_get_their_shares() {
        let zone = |access_percent, span_percent| AccessZone { access_percent, span_percent };
        let zones = vec![zone(60, 10), zone(30, 20), zone(8, 30), zone(2, 40)];
        for (lies, expected) in [(0..100, 0.6), (100..300, 0.3), (300..600, 0.08), (600..1000, 0.02)] {
            let of_zone = share(Pattern::Random, zones.clone(), |place| lies.contains(&place));
            assert!((of_zone - expected).abs() < 0.01, "{lies:?}: {of_zone}");
        }
    }
}
