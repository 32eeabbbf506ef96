//! Finds the greatest queue depth that keeps a workload's latency below a limit (fio's
//! `latency_target`).
//!
//! The workload runs in unrecorded windows, each at one depth. The depth is doubled while enough
//! operations stay within the limit. Then a binary search follows between the last depth that met
//! it and the first that did not. This assumes that latency increases with depth, so that any depth
//! below one that meets the limit also meets it.

use kurabe_core::Result;
use kurabe_core::record::Repetition;
use kurabe_core::workload::{End, LatencyTarget, Workload};
use kurabe_stats::operations_over;

/// Returns the workload at the greatest depth that meets its target, and that depth. The depth is 1
/// if none meets it. A workload without a target is returned unchanged. `window` runs a workload
/// and returns what it recorded.
///
/// # Errors
/// Returns the errors of `window`.
pub(crate) fn within_target(
    workload: &Workload,
    mut window: impl FnMut(&Workload) -> Result<Repetition>,
) -> Result<(Workload, Option<u32>)> {
    let Some(target) = workload.latency_target else { return Ok((workload.clone(), None)) };
    let at = |iodepth, end| {
        workload.clone().with(|access| {
            access.iodepth = iodepth;
            access.latency_target = None;
            access.end = end;
        })
    };
    let end = End { time_ns: Some(target.window_ns), ..End::default() };
    let (most, mut kept, mut broken) = (workload.iodepth, 0, workload.iodepth.saturating_add(1));
    while broken - kept > 1 {
        let depth = if broken > most { (kept * 2).clamp(1, most) } else { kept.midpoint(broken) };
        match keeps(&window(&at(depth, end))?, &target) {
            true => kept = depth,
            false => broken = depth,
        }
    }
    let iodepth = kept.max(1);
    Ok((at(iodepth, workload.end), Some(iodepth)))
}

/// Returns whether enough operations stayed within the target's limit.
fn keeps(window: &Repetition, target: &LatencyTarget) -> bool {
    let (mut all, mut over) = (0u64, 0u64);
    for side in [&window.read, &window.write] {
        all += side.completed;
        over += operations_over(&side.latency, target.latency_ns);
    }
    over as f64 <= all as f64 * (1.0 - target.percentile / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::record::{LatencyRecord, OpsRecord};
    use kurabe_core::workload::Pattern;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_greatest_depth_that_keeps_it_is_had_in_few_windows(most in 1u32..4096, limit in 0u32..5000) {
            let target = LatencyTarget { latency_ns: u64::from(limit) * 1000, percentile: 99.0, window_ns: 1 };
            let workload = Workload::plain(Pattern::Random, 4096, 1 << 20).with(|access| {
                access.iodepth = most;
                access.latency_target = Some(target);
            });
            let mut windows = 0;
            let (chosen, iodepth) = within_target(&workload, |window| {
                windows += 1;
                let latency_ns = u64::from(window.iodepth) * 1000;
                let latency =
                    LatencyRecord {
                        count: 10,
                        min_ns: latency_ns,
                        max_ns: latency_ns,
                        buckets: vec![(latency_ns, 10)],
                        ..Default::default()
                    };
                let read = OpsRecord { completed: 10, latency, ..OpsRecord::default() };
                Ok(Repetition { read, ..Repetition::default() })
            }).unwrap();
            prop_assert_eq!(chosen.iodepth, limit.clamp(1, most));
            prop_assert_eq!(iodepth, Some(chosen.iodepth));
            prop_assert!(chosen.latency_target.is_none() && chosen.end == workload.end);
            prop_assert!(windows <= 2 * 13, "{}", windows);
        }
    }
}
