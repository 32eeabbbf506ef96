//! Answers about modelled fakes, whose parts are known.
//!
//! A generator varies the parameters of the library's models and puts other layers in front of them:
//! memory, and counterfeit capacities. Each is identified blind, by reads and writes, and each answer
//! is right, unclear, or wrong. No answer that is called certain may be wrong.

mod fakes;
mod score;
mod truth;

use score::{Score, scored};

/// Seed of the fakes.
const SEED: u64 = 1;

#[test]
fn answers_about_a_sample_of_fakes_are_right_or_unclear() {
    let (table, scores) = scored(SEED, 13, 4 << 30);
    check(&table, &scores, 0.6);
}

#[test]
#[ignore = "slow"]
fn answers_about_many_fakes_are_right_or_unclear() {
    let seed = std::env::var("KURABE_FAKES_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(SEED);
    let count = std::env::var("KURABE_FAKES").ok().and_then(|count| count.parse().ok()).unwrap_or(130);
    let (table, scores) = scored(seed, count, 20 << 30);
    #[allow(clippy::print_stdout, reason = "the table is the result")]
    {
        println!("{table}");
    }
    check(&table, &scores, 0.2);
}

/// Checks that answers are right and none is certain and wrong.
fn check(table: &str, scores: &[Score], most_unclear: f64) {
    for score in scores {
        let answers = score.right + score.wrong;
        assert_eq!(score.surely_wrong, 0, "certain and wrong\n{table}");
        assert!(score.right as f64 >= 0.95 * answers as f64, "right answers\n{table}");
        assert!(score.unclear as f64 <= most_unclear * score.asked() as f64, "unclear answers\n{table}");
    }
}
