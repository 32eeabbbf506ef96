//! Hidden devices are inferred blind, by noisy times, and compared with the truth.
//!
//! A generator draws the parameters of a family. The times that the bench sees have 2 % of noise.
//! Held-out figures are workloads that no probe has. Devices with a mechanism that no family has must
//! be refused.

mod hidden;
mod score;

use hidden::{Hidden, foreign, hidden};
use kurabe_infer::InferenceLimits;
use score::{Score, scored};

/// Seed of the hidden devices.
const SEED: u64 = 1;

#[test]
fn a_hidden_stick_is_inferred_and_one_with_another_mechanism_is_refused() {
    let mut score = Score::default();
    let quick = InferenceLimits { rounds: 2, restarts: 0, ..InferenceLimits::USUAL };
    scored(&hidden(SEED, 0), SEED, quick, &mut score);
    assert_eq!((score.right, score.stated_wrong), (1, 0), "{}", score.lines);
    assert!(score.median_error() < 0.02, "{}", score.lines);
    let mut score = Score::default();
    scored(&foreign(SEED, 0), SEED, quick, &mut score);
    assert_eq!(score.refused, 1, "{}", score.lines);
}

#[test]
#[ignore = "slow"]
fn hidden_devices_are_inferred_and_foreign_ones_are_refused() {
    let number =
        |name: &str, usual| std::env::var(name).ok().and_then(|one| one.parse().ok()).unwrap_or(usual);
    let seed = number("KURABE_HIDDEN_SEED", SEED);
    let (from, to) = (number("KURABE_HIDDEN_FROM", 0), number("KURABE_HIDDEN_TO", 5));
    let mut score = Score::default();
    for index in from..to {
        // Of every five devices, the last has a mechanism that no family has.
        let device: Hidden = match index % 5 {
            4 => foreign(seed, index / 5),
            _ => hidden(seed, index - index / 5),
        };
        scored(&device, seed ^ index, InferenceLimits::USUAL, &mut score);
    }
    #[allow(clippy::print_stdout, reason = "the table is the result")]
    {
        println!("{}", score.table());
    }
    let (all, own) = (score.devices, score.devices - score.foreign);
    assert!(all == 0 || score.right as f64 >= 0.95 * own as f64, "families\n{}", score.table());
    assert_eq!(score.refused_foreign, score.foreign, "foreign devices\n{}", score.table());
}
