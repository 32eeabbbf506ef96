//! Coverage of the intervals of a ratio, and the rate at which equal sides are called different, by
//! simulation.
//!
//! `cargo bench -p kurabe-benches --bench coverage -- --trials 2000`

#![allow(clippy::print_stdout)]

use kurabe_core::digest::Summary;
use kurabe_core::random::Random;
use kurabe_stats::{Centre, Sides, SummarySides, Verdict, compare, compare_summaries, ratio_interval};

/// Draws a standard normal value (Box and Muller).
fn normal(random: &mut Random) -> f64 {
    (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

/// A distribution with its mean and its median.
struct Kind {
    name: &'static str,
    draw: fn(&mut Random) -> f64,
    mean: f64,
    median: f64,
}

const KINDS: [Kind; 3] = [
    Kind { name: "normal, 5 %", draw: |random| 100.0 + 5.0 * normal(random), mean: 100.0, median: 100.0 },
    Kind {
        name: "lognormal, sigma 0.3",
        draw: |random| 100.0 * (0.3 * normal(random)).exp(),
        // 100 exp(0.3² / 2)
        mean: 104.602_786,
        median: 100.0,
    },
    Kind {
        name: "bimodal, 100 and (one in four) 70",
        draw: |random| if random.below(4) == 0 { 70.0 } else { 100.0 } + 2.0 * normal(random),
        mean: 92.5,
        // 2/3 of the upper mode is above the median: 100 - 0.430 727 · 2.
        median: 99.138_546,
    },
];

fn main() {
    let trials = argument("--trials").unwrap_or(2000);
    if !std::env::args().any(|word| word == "--summaries-only") {
        repetitions(trials);
        println!();
    }
    summaries(trials * 10);
}

/// Simulates the bootstrap over repetitions, by which two runs are compared.
fn repetitions(trials: u64) {
    println!(
        "| distribution | n | mean: interval holds the ratio | median: the same | equal sides called different | eight equal \
         cells: any called different |"
    );
    println!("|---|---|---|---|---|---|");
    for kind in &KINDS {
        for count in [2, 3, 5, 10, 30] {
            let mut random = Random::new(1, count as u64);
            let [mut mean, mut median, mut different, mut families] = [0u64; 4];
            for _ in 0..trials {
                let mut values = |scale: f64| -> Vec<f64> {
                    (0..count).map(|_| scale * (kind.draw)(&mut random)).collect()
                };
                let (other, baseline) = (values(1.2), values(1.0));
                let holds = |centre, truth: f64| {
                    ratio_interval(centre, &other, &baseline, 0.95)
                        .is_some_and(|ratio| ratio.low <= truth && truth <= ratio.high)
                };
                mean += u64::from(holds(Centre::Mean, 1.2 * kind.mean / kind.mean));
                median += u64::from(holds(Centre::Median, 1.2 * kind.median / kind.median));
                let null = [Sides { baseline, other: values(1.0), higher_is_better: true, computed: false }];
                let verdict = compare(&null, 0.05)[0].map(|compared| compared.verdict);
                different += u64::from(matches!(verdict, Some(Verdict::Faster | Verdict::Slower)));
                let family: Vec<Sides> = (0..8)
                    .map(|_| Sides {
                        baseline: values(1.0),
                        other: values(1.0),
                        higher_is_better: true,
                        computed: false,
                    })
                    .collect();
                let any = compare(&family, 0.05)
                    .iter()
                    .flatten()
                    .any(|compared| matches!(compared.verdict, Verdict::Faster | Verdict::Slower));
                families += u64::from(any);
            }
            let percent = |hits: u64| 100.0 * hits as f64 / trials as f64;
            println!(
                "| {} | {count} | {:.1} % | {} | {:.1} % | {:.1} % |",
                kind.name,
                percent(mean),
                if count < 5 { "–".to_owned() } else { format!("{:.1} %", percent(median)) },
                percent(different),
                percent(families)
            );
        }
    }
}

/// Simulates the formula over means, deviations and counts, by which the cells of a pivot are
/// compared. It is fast, so it has ten times as many trials.
fn summaries(trials: u64) {
    println!("| distribution | runs | mean: interval holds the ratio | equal sides called different |");
    println!("|---|---|---|---|");
    for kind in &KINDS {
        for count in [2, 3, 5, 10, 30] {
            let mut random = Random::new(2, count as u64);
            let [mut holds, mut different] = [0u64; 2];
            for _ in 0..trials {
                let mut side = |scale: f64| {
                    let values: Vec<f64> = (0..count).map(|_| scale * (kind.draw)(&mut random)).collect();
                    Summary::of(&values).expect("finite values")
                };
                let baseline = side(1.0);
                let mut judge = |scale: f64| {
                    let sides = SummarySides {
                        baseline,
                        other: side(scale),
                        higher_is_better: true,
                        computed: false,
                    };
                    compare_summaries(&[sides], 0.05)[0].expect("values above zero")
                };
                let (faster, equal) = (judge(1.2), judge(1.0));
                holds += u64::from(faster.speed.low <= 1.2 && 1.2 <= faster.speed.high);
                different += u64::from(matches!(equal.verdict, Verdict::Faster | Verdict::Slower));
            }
            let percent = |hits: u64| 100.0 * hits as f64 / trials as f64;
            println!("| {} | {count} | {:.1} % | {:.1} % |", kind.name, percent(holds), percent(different));
        }
    }
}

fn argument(name: &str) -> Option<u64> {
    let words: Vec<String> = std::env::args().collect();
    let at = words.iter().position(|word| word == name)?;
    words.get(at + 1)?.parse().ok()
}
