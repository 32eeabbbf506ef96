//! A repetition whose operations are followed through the kernel, to tell the time in its queues from that in the device.
//!
//! The model: the repetition is an ordinary one. What the tracepoints do not cover is the rest of what the driver
//! measured: both count the same operations, so the means can be taken from each other; percentiles cannot.

use crate::ground::Ground;
use crate::real::{Prepared, Real};
use crate::session::Session;
use crate::task::{Attempt, Done};
use kurabe_core::profile::{Task, Work};
use kurabe_core::record::{NoticeKind, Repetition};
use kurabe_core::split::KernelSplit;
use kurabe_core::{Error, Result, Text, text};
use kurabe_host::SplitTrace;

/// The kernel and the driver count the same operations if the counts differ by no more than this share of them.
const SAME_COUNT: f64 = 0.01;

impl<'a> Session<'a, Real<'a>> {
    /// After the repetitions of a cell follows one more, in which its operations are followed through the kernel on these
    /// devices (major, minor).
    #[must_use]
    pub fn with_kernel_trace(mut self, devices: Option<Vec<(u32, u32)>>) -> Self {
        self.ground.traced = devices;
        self
    }
}

impl Session<'_, Real<'_>> {
    /// Says so if nothing can be traced on this target.
    pub(crate) fn check_tracing(&mut self) -> Result<()> {
        let Some(devices) = &self.ground.traced else { return Ok(()) };
        let reason = if devices.is_empty() {
            text!(
                "nothing is traced (--trace): there is no block device under the target",
                "対象の下にブロックデバイスがないため、トレースしません(--trace)"
            )
        } else if !self.ground.target.is_direct() {
            text!(
                "nothing is traced (--trace): through the page cache the requests are not those of the operations; --direct \
                 goes around it",
                "ページキャッシュ経由では要求と操作が対応しないため、トレースしません(--trace)。--direct を付けると避けられます"
            )
        } else {
            return Ok(());
        };
        self.ground.traced = None;
        self.notice(NoticeKind::Other, reason)
    }

    /// A repetition with what the kernel tells of it; none where it does not, which is told.
    pub(crate) fn repeat_traced(
        &mut self,
        task: &Task,
        prepared: &mut Prepared,
        attempt: &Attempt,
    ) -> Result<Option<Done>> {
        let devices = self.ground.traced.clone().unwrap_or_default();
        let trace = match SplitTrace::start(&devices) {
            Ok(trace) => trace,
            Err(error) => {
                self.give_up_tracing(&error)?;
                return Ok(None);
            }
        };
        let mut done = Real::repeat(self, task, prepared, attempt)?;
        let split = match trace.stop(operation_bytes(task)) {
            Ok(split) => split,
            Err(error) => {
                self.give_up_tracing(&error)?;
                return Ok(None);
            }
        };
        for repetition in &mut done.repetitions {
            let rest_mean_ns = rest_ns(&split, repetition);
            repetition.kernel = Some(KernelSplit { rest_mean_ns, ..split.clone() });
        }
        Ok(Some(done))
    }

    /// Says why nothing is traced, and tries no more.
    fn give_up_tracing(&mut self, error: &Error) -> Result<()> {
        self.ground.traced = None;
        let mut text = error.what().clone();
        if let Some(cause) = error.cause() {
            text.en.push_str(&format!(" ({cause})"));
            text.ja.push_str(&format!(" ({cause})"));
        }
        if let Some(Text { en, ja }) = error.remedy_text() {
            text.en.push_str(&format!("; {en}"));
            text.ja.push_str(&format!("。{ja}"));
        }
        self.notice(NoticeKind::Other, text)
    }
}

/// The size of every operation of a task, if they are of one size.
fn operation_bytes(task: &Task) -> Option<u64> {
    match &task.work {
        Work::Io(workload) => match workload.block_sizes.as_slice() {
            [one] => Some(u64::from(one.size_bytes)),
            _ => None,
        },
        Work::AccessTime(step) => Some(u64::from(step.block_bytes)),
        _ => None,
    }
}

/// What the driver measured of an operation beyond the kernel's queues and the device.
fn rest_ns(split: &KernelSplit, repetition: &Repetition) -> Option<f64> {
    let sides = [&repetition.read.latency, &repetition.write.latency];
    let count: u64 = sides.iter().map(|side| side.count).sum();
    let sum_ns: f64 = sides.iter().map(|side| side.sum_ns as f64).sum();
    let differ = split.operations.abs_diff(count) as f64;
    (count > 0 && split.operations > 0 && differ <= (count as f64 * SAME_COUNT).max(1.0))
        .then(|| sum_ns / count as f64 - split.queue.mean_ns - split.device.mean_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::record::{LatencyRecord, OpsRecord};
    use kurabe_core::split::TimeSplit;

    #[test]
    fn the_rest_is_what_both_do_not_cover() {
        let part = |mean_ns| TimeSplit { mean_ns, ..TimeSplit::default() };
        let split = KernelSplit {
            operations: 1000,
            queue: part(5_000.0),
            device: part(60_000.0),
            ..KernelSplit::default()
        };
        let latency = LatencyRecord { count: 1001, sum_ns: 1001 * 80_000, ..LatencyRecord::default() };
        let one = Repetition { read: OpsRecord { latency, ..OpsRecord::default() }, ..Repetition::default() };
        assert_eq!(rest_ns(&split, &one), Some(15_000.0));
        // The kernel saw others than the driver: nothing can be said.
        assert_eq!(rest_ns(&KernelSplit { operations: 900, ..split }, &one), None);
        assert_eq!(rest_ns(&KernelSplit::default(), &one), None);
    }
}
