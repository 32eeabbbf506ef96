//! The fill: writes the test file in full with the profile's data before anything is read.
//!
//! The fill is a workload like any other, so it runs at the device's speed and its rate is known.
//! If the profile limits its time, a minimum part is always written, and as much of the rest as the
//! time allows. On a model the file is always written in full, because virtual time costs nothing.

use crate::{context::Context, drive::device_uring::WaitMode, ground::Ground, real::Real};
use kurabe_core::quantity::{MIB, format_bytes};
use kurabe_core::record::{FillRecord, Interval, NoticeKind};
use kurabe_core::workload::{BlockSize, End, EndSync, Pattern, SyncRule, Workload};
use kurabe_core::{Result, event::Event, mention::SIZE, text};

/// Block size and queue depth with which the test file is written.
const FILL_BLOCK_BYTES: u32 = MIB as u32;
const FILL_IODEPTH: u32 = 8;

/// Writes the span of a ground once, in ascending order. `limit` contains the minimum size in bytes
/// and the time limit in ns for the rest. The minimum is written first, then the rest within the
/// time limit, and finally a tail that is not a whole block.
pub(crate) fn fill(
    ground: &mut impl Ground,
    context: &mut Context<'_>,
    limit: Option<(u64, u64)>,
) -> Result<FillRecord> {
    let rules = &context.profile.rules;
    let whole_bytes = ground.facts().span_bytes;
    let block_bytes = u64::from(FILL_BLOCK_BYTES).min(whole_bytes);
    let tail_bytes = whole_bytes % block_bytes;
    let least_bytes = limit.map_or(whole_bytes, |(least_bytes, _)| least_bytes.next_multiple_of(block_bytes));
    let limit_ns = limit.map(|(_, limit_ns)| limit_ns);
    let mut workload = Workload {
        data: rules.data,
        seed: rules.seed,
        ..Workload::plain(Pattern::Sequential, block_bytes as u32, whole_bytes).with(|access| {
            access.read_percent = 0;
            access.iodepth = FILL_IODEPTH;
            access.end = End { passes: Some(1), ..End::default() };
            access.sync = SyncRule { at_end: EndSync::Timed, ..SyncRule::default() };
        })
    };
    let mut fill = FillRecord { asked_bytes: whole_bytes, written_bytes: 0, elapsed_ns: 0 };
    for (until_bytes, block_bytes, limit_ns) in [
        (least_bytes.min(whole_bytes - tail_bytes), block_bytes, None),
        (whole_bytes - tail_bytes, block_bytes, limit_ns),
        (whole_bytes, tail_bytes, limit_ns),
    ] {
        let left_ns = limit_ns.map(|limit_ns: u64| limit_ns.saturating_sub(fill.elapsed_ns));
        let part_bytes = until_bytes - fill.written_bytes;
        // The tail follows only if there was enough time for all whole blocks.
        if part_bytes == 0 || !part_bytes.is_multiple_of(block_bytes) || left_ns == Some(0) {
            continue;
        }
        workload.block_sizes = vec![BlockSize { size_bytes: block_bytes as u32, weight: 1 }];
        workload.offset_bytes = fill.written_bytes;
        workload.span_bytes = part_bytes;
        workload.end.time_ns = left_ns;
        let mut done_bytes = fill.written_bytes;
        let (written_bytes, elapsed_ns) =
            ground.run_once(context, &workload, &mut |_, interval: Interval, _| {
                done_bytes += interval.write_bytes;
                Event::FillProgress { done_bytes, total_bytes: whole_bytes }
            })?;
        fill.written_bytes += written_bytes;
        fill.elapsed_ns += elapsed_ns;
    }
    Ok(fill)
}

impl Real<'_> {
    /// Writes the test file in full, or as much of it as the time limit allows.
    pub(crate) fn fill(&mut self, context: &mut Context<'_>) -> Result<FillRecord> {
        let rules = &context.profile.rules;
        // The wait mode matters only for measured work.
        let wait = std::mem::replace(&mut self.settings.wait, WaitMode::Sleep);
        let filled = fill(self, context, rules.size_at_least_bytes.zip(rules.fill_time_limit_ns));
        self.settings.wait = wait;
        let fill = filled?;
        let FillRecord { asked_bytes, written_bytes, .. } = fill;
        if written_bytes < asked_bytes {
            self.target.cut(written_bytes)?;
        }
        context.emit(Event::FillDone { fill })?;
        if written_bytes < asked_bytes {
            context.notice(
                NoticeKind::SizeCut,
                text!(
                    "the test file is {} instead of {}, because writing it completely would have taken \
                     too long (set the size with {SIZE})",
                    "書き込みに時間がかかりすぎるため、テストファイルを {}({} ではなく)にしました({SIZE} で指定できます)",
                    format_bytes(written_bytes),
                    format_bytes(asked_bytes)
                ),
            )?;
        }
        Ok(fill)
    }
}
