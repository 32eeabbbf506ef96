//! What each feature of a ring brings: the bare loop with all of them, and without one at a time.
//!
//! The loop keeps its code, so that the differences are those of the kernel. Rounds are interleaved, and a
//! ratio is the median of the ratios of the rounds.

use crate::Result;
use crate::statistics::{paired_ratio, spread};
use crate::table::{figure, layout};
use crate::tools::{Job, Kit, Tool};
use std::io::Write;

/// Features of a ring, as `kurabe run --json` names them, and submission of all new operations by the call that
/// waits. Without `single-issuer` there is no `deferred-task-work` either. kurabe uses all but
/// `no-submission-array`, which brings nothing.
pub const RING_FEATURES: [&str; 7] = [
    "single-issuer",
    "deferred-task-work",
    "no-submission-array",
    "registered-buffers",
    "registered-file",
    "registered-ring",
    "batched-submission",
];

/// Measures the jobs with all features and without each, and prints the ratio of the IOPS.
///
/// # Errors
/// Returns an error if the loop fails, or on an interrupt.
pub fn run(jobs: &[Job], rounds: u32, kit: &Kit, out: &mut dyn Write) -> Result<()> {
    let heading = jobs.iter().map(|job| format!("QD{}", job.depth));
    let mut table =
        vec![std::iter::once("IOPS without / with".to_owned()).chain(heading).collect::<Vec<_>>()];
    table.extend(RING_FEATURES.map(|feature| vec![feature.to_owned()]));
    for job in jobs {
        let mut all: Vec<f64> = Vec::new();
        let mut without: Vec<Vec<f64>> = vec![Vec::new(); RING_FEATURES.len()];
        for _ in 0..rounds {
            let iops =
                |mode: String| -> Result<f64> { Ok(kit.measure(&Tool::Bare(mode), job)?.figures.iops) };
            all.push(iops("uring".to_owned())?);
            for (feature, rates) in RING_FEATURES.iter().zip(&mut without) {
                rates.push(iops(format!("uring-without-{feature}"))?);
            }
            crate::child::check_interrupt()?;
        }
        for (row, rates) in table[1..].iter_mut().zip(&without) {
            let ratio = paired_ratio(rates, &all);
            row.push(format!("{} ({} %)", figure(ratio, 3), figure(spread(rates) * 100.0, 0)));
        }
    }
    Ok(write!(out, "{}", layout(&table))?)
}
