//! A repetition of a trace.

use crate::drive::device_uring::WaitMode;
use crate::drive::measure::LaneGroup;
use crate::drive::replay::{ReplaySource, Span};
use crate::task::{Attempt, Repeated};
use crate::{context::Context, fit::writes_left_out, real::Real};
use kurabe_core::profile::{ReplayStep, Rules};
use kurabe_core::record::{NoticeKind, TargetRecord};
use kurabe_core::workload::{Direction, End, OpKind, Pattern, Workload};
use kurabe_core::{Error, ErrorKind, Result, Text, text, trace::Trace};
use std::sync::Arc;

impl Real<'_> {
    /// Replays a trace once. On a read-only target, the trace's writes and syncs are omitted.
    pub(crate) fn repeat_replay(
        &mut self,
        context: &mut Context<'_>,
        step: &ReplayStep,
        step_index: usize,
        attempt: &Attempt,
    ) -> Result<Repeated> {
        let (trace, source) = context.replay_source(self.target.facts(), step, step_index, attempt)?;
        let trial = self.trial(&context.profile.rules, &trace, source.fit.longest_bytes, step.in_flight());
        let mut choice = self.choose(context, &trial)?;
        if choice.issue.wait == WaitMode::Poll && has(&trace, OpKind::Sync) {
            choice.fallbacks.push("wait poll: a fsync cannot be polled; spinning instead".to_owned());
            choice.issue.wait = WaitMode::Spin;
        }
        let read_percent = if has(&trace, OpKind::Write) { 0 } else { 100 };
        let workload =
            Workload { seed: attempt.seed, ..trial.with(|access| access.read_percent = read_percent) };
        let job = LaneGroup { sources: vec![source], workload, issue: choice.issue };
        self.repeat_groups(context, vec![job], &[choice], attempt)
    }

    /// Returns a workload similar to the trace, for selecting the engine.
    fn trial(&self, rules: &Rules, trace: &Trace, longest_bytes: u32, iodepth: u32) -> Workload {
        Workload {
            data: rules.data,
            seed: rules.seed,
            ..Workload::plain(Pattern::Random, longest_bytes, self.target.facts().span_bytes).with(|access| {
                access.read_percent = if has(trace, OpKind::Read) { 100 } else { 0 };
                access.iodepth = iodepth;
                access.end = End { passes: Some(1), ..End::default() };
            })
        }
    }
}

impl Context<'_> {
    /// Returns the source of a step's trace, without writes if the target is read-only. The changes
    /// to the trace are reported once.
    pub(crate) fn replay_source(
        &mut self,
        facts: &TargetRecord,
        step: &ReplayStep,
        step_index: usize,
        attempt: &Attempt,
    ) -> Result<(Arc<Trace>, ReplaySource)> {
        let trace = self.traces.get(step_index).cloned().flatten().ok_or_else(|| no_trace(step))?;
        let trace = self.allowed(trace, facts, attempt)?;
        let span =
            Span { offset_bytes: 0, length_bytes: facts.span_bytes, alignment_bytes: facts.alignment_bytes };
        let source = ReplaySource::new(Arc::clone(&trace), step.timing, span)?;
        if attempt.number == 0 {
            self.tell_differences(&trace, source.fit.remark())?;
        }
        Ok((trace, source))
    }

    /// Returns the direction of a trace on the target, without writes if the target is read-only.
    pub(crate) fn trace_direction(&self, step_index: usize, writable: bool) -> Option<Direction> {
        let trace = self.traces.get(step_index)?.as_ref()?;
        match (has(trace, OpKind::Read), has(trace, OpKind::Write) && writable) {
            (true, true) => Some(Direction::Mix),
            (true, false) => Some(Direction::Read),
            (false, true) => Some(Direction::Write),
            (false, false) => None,
        }
    }

    /// Returns the trace, without writes and syncs if the target is read-only.
    fn allowed(&mut self, trace: Arc<Trace>, facts: &TargetRecord, attempt: &Attempt) -> Result<Arc<Trace>> {
        if facts.writable || !(has(&trace, OpKind::Write) || has(&trace, OpKind::Sync)) {
            return Ok(trace);
        }
        if attempt.number == 0 {
            let how = writes_left_out(facts.kind);
            let text = text!(
                "only the reads of the trace are replayed: {how}",
                "トレースのうち読み出しだけを再生します。{how}";
                how
            );
            self.notice(NoticeKind::WritesLeftOut, text)?;
        }
        let operations = trace.operations.iter().filter(|op| op.kind == OpKind::Read).copied().collect();
        let reads = Trace { operations, ..(*trace).clone() };
        if reads.operations.is_empty() {
            return Err(ErrorKind::Refused
                .error(text!(
                    "the trace contains only writes, but writing to the target is not allowed",
                    "トレースは書き込みだけで、対象には書き込めません"
                ))
                .remedy(writes_left_out(facts.kind)));
        }
        Ok(Arc::new(reads))
    }

    fn tell_differences(&mut self, trace: &Trace, mapping: Option<Text>) -> Result<()> {
        if let Some(remark) = mapping {
            self.notice(NoticeKind::Other, remark)?;
        }
        for (count, why) in &trace.left_out {
            let text =
                text!("not in the replay: {count} × {why}", "再生に含まないもの: {why} {count} 件"; why);
            self.notice(NoticeKind::Other, text)?;
        }
        Ok(())
    }
}

/// Returns whether the trace contains operations of a kind.
fn has(trace: &Trace, kind: OpKind) -> bool {
    trace.operations.iter().any(|op| op.kind == kind)
}

fn no_trace(step: &ReplayStep) -> Error {
    let name = &step.trace;
    ErrorKind::Internal
        .error(text!("the trace {name} was not loaded", "トレース {name} が読み込まれていません"))
}
