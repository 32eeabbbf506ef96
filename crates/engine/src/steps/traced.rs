//! A repetition whose operations are traced through the kernel, to separate the time in the
//! kernel's queues from that in the device. Otherwise it is an ordinary repetition.

use crate::task::{Attempt, Repeated};
use crate::{context::Context, ground::Ground, real::Real};
use kurabe_core::mention::{DIRECT, TRACE};
use kurabe_core::profile::{Task, Work};
use kurabe_core::{Error, Result, Text, record::NoticeKind, text, workload::Workload};
use kurabe_trace::SplitTrace;

impl Real<'_> {
    /// Reports if nothing can be traced on this target.
    pub(crate) fn check_tracing(&mut self, context: &mut Context<'_>) -> Result<()> {
        let Some(devices) = &self.traced else { return Ok(()) };
        let reason = if devices.is_empty() {
            text!(
                "{TRACE} has no effect: the target has no block device under it",
                "対象の下にブロックデバイスがないため、トレースしません({TRACE})"
            )
        } else if !self.target.facts().direct {
            text!(
                "{TRACE} has no effect: requests through the page cache do not correspond to operations; \
                 bypass it with {DIRECT}",
                "ページキャッシュ経由では要求と操作が対応しないため、トレースしません({TRACE})。{DIRECT} を付けると避けられます"
            )
        } else {
            return Ok(());
        };
        self.traced = None;
        context.notice(NoticeKind::Other, reason)
    }

    /// Performs a repetition with tracing. Returns `None` if tracing fails, which is reported.
    pub(crate) fn repeat_traced(
        &mut self,
        context: &mut Context<'_>,
        task: &Task,
        prepared: &mut <Self as Ground>::Prepared,
        attempt: &Attempt,
    ) -> Result<Option<Repeated>> {
        let devices = self.traced.clone().unwrap_or_default();
        let trace = match SplitTrace::start(&devices) {
            Ok(trace) => trace,
            Err(error) => {
                self.give_up_tracing(context, &error)?;
                return Ok(None);
            }
        };
        // It is not a repetition of the cell, so its operations are not listed.
        let operations = context.operations.take();
        let repeated = self.repeat(context, task, prepared, attempt);
        context.operations = operations;
        let mut done = repeated?;
        if let Err(error) = trace.stop(operation_bytes(task), &mut done.repetitions) {
            self.give_up_tracing(context, &error)?;
            return Ok(None);
        }
        Ok(Some(done))
    }

    /// Reports why tracing does not work, and disables it.
    fn give_up_tracing(&mut self, context: &mut Context<'_>, error: &Error) -> Result<()> {
        self.traced = None;
        let clauses = [error.what_and_why()].into_iter().chain(error.remedy_text().cloned());
        context.notice(NoticeKind::Other, Text::clauses(clauses))
    }
}

/// Returns the size of a task's operations in bytes, if all have the same size.
fn operation_bytes(task: &Task) -> Option<u64> {
    match &task.work {
        Work::Io(workloads) => {
            let mut sizes = workloads.iter().flat_map(Workload::all_block_bytes).map(u64::from);
            let first = sizes.next()?;
            sizes.all(|size_bytes| size_bytes == first).then_some(first)
        }
        Work::AccessTime(step) => Some(u64::from(step.block_bytes)),
        _ => None,
    }
}
