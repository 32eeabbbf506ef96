//! The writing of the test file: in full with the data of the profile, before anything is read.
//!
//! The model: it is a workload like any other, so it runs at the device's speed and its rate is known. Where the
//! profile bounds the time of the fill, a first part is always written, and the rest as far as the time allows. On a
//! model the file is written in full, because virtual time is waited for by nobody.

use crate::drive::device_uring::WaitMode;
use crate::drive::measure::{Engine, Issue, MeasuredRepetition, measure};
use crate::ground::Ground as _;
use crate::modelled::Modelled;
use crate::real::Real;
use crate::session::Session;
use kurabe_core::event::Event;
use kurabe_core::model::Model;
use kurabe_core::profile::Rules;
use kurabe_core::quantity::{MIB, format_bytes};
use kurabe_core::record::{FillRecord, Interval, NoticeKind};
use kurabe_core::workload::{BlockSize, End, EndSync, Pattern, SyncRule, ThreadShare, Workload};
use kurabe_core::{Result, text};

/// Block and queue depth that write the test file.
const FILL_BLOCK_BYTES: u32 = MIB as u32;
const FILL_IODEPTH: u32 = 8;

/// A stretch of the file, written once in order.
fn workload(rules: &Rules, block_bytes: u32, offset_bytes: u64, span_bytes: u64) -> Workload {
    Workload {
        pattern: Pattern::Sequential,
        block_sizes: vec![BlockSize { size_bytes: block_bytes, weight: 1 }],
        read_percent: 0,
        rewrite_every_reads: None,
        thread_share: ThreadShare::Usual,
        iodepth: FILL_IODEPTH,
        threads: 1,
        offset_bytes,
        span_bytes,
        open_loop: None,
        warm_up_ns: 0,
        end: End { passes: Some(1), ..End::default() },
        sync: SyncRule { at_end: EndSync::Timed, ..SyncRule::default() },
        data: rules.data,
        seed: rules.seed,
    }
}

impl<M: Model> Session<'_, Modelled<'_, M>> {
    /// Writes the test file in full, in the model's time, and pauses as between cells.
    pub(crate) fn fill_model(&mut self) -> Result<()> {
        let rules = &self.profile.rules;
        let asked_bytes = self.ground.facts().span_bytes;
        let block_bytes = u64::from(FILL_BLOCK_BYTES).min(asked_bytes);
        let tail_bytes = asked_bytes % block_bytes;
        let whole_bytes = asked_bytes - tail_bytes;
        let mut fill = FillRecord { asked_bytes, written_bytes: 0, elapsed_ns: 0 };
        let mut done_bytes = 0;
        let mut tell = |_, interval: Interval| {
            done_bytes += interval.write_bytes;
            Event::FillProgress { done_bytes, total_bytes: asked_bytes }
        };
        for (block_bytes, from_bytes, bytes) in
            [(block_bytes, 0, whole_bytes), (tail_bytes, whole_bytes, tail_bytes)]
        {
            if bytes > 0 {
                let part = workload(rules, block_bytes as u32, from_bytes, bytes);
                let recorded = self.run_workload(&part, None, &mut tell)?;
                fill.written_bytes += recorded.write.bytes;
                fill.elapsed_ns += recorded.elapsed_ns;
            }
        }
        self.emit(Event::FillDone { fill })?;
        self.pause(rules.interval_ns)
    }
}

impl Session<'_, Real<'_>> {
    /// Writes the test file in full, or as much of it as the time limit allows.
    pub(crate) fn fill(&mut self) -> Result<FillRecord> {
        let rules = &self.profile.rules;
        let asked_bytes = self.ground.target.span_bytes();
        let block = u64::from(FILL_BLOCK_BYTES).min(asked_bytes) as u32;
        let limit_ns = rules.size_at_least_bytes.and(rules.fill_time_limit_ns);
        let mut workload = workload(rules, block, 0, asked_bytes);
        let whole = asked_bytes;
        let tail = whole % u64::from(block);
        let least = rules.size_at_least_bytes.unwrap_or(whole).next_multiple_of(u64::from(block)).min(whole);
        // First what must be there, then more of it as long as there is time; last what is no whole block.
        let mut fill = FillRecord { asked_bytes: whole, written_bytes: 0, elapsed_ns: 0 };
        let whole_blocks = whole - tail;
        for (until, block, limit) in [
            (least.min(whole_blocks), block, None),
            (whole_blocks, block, limit_ns),
            (whole, tail as u32, limit_ns),
        ] {
            let left_ns = limit.map(|limit: u64| limit.saturating_sub(fill.elapsed_ns));
            // The tail follows only when the time sufficed for all whole blocks.
            let fits = (until - fill.written_bytes).is_multiple_of(u64::from(block));
            if until == fill.written_bytes || !fits || left_ns == Some(0) {
                continue;
            }
            workload.block_sizes = vec![BlockSize { size_bytes: block, weight: 1 }];
            workload.offset_bytes = fill.written_bytes;
            workload.span_bytes = until - fill.written_bytes;
            workload.end.time_ns = left_ns;
            let measured = self.write_part(&workload, fill.written_bytes, whole)?;
            fill.written_bytes += measured.recorded.write.bytes;
            fill.elapsed_ns += measured.recorded.elapsed_ns;
        }
        if fill.written_bytes < self.ground.target.span_bytes() {
            self.ground.target.cut(fill.written_bytes)?;
        }
        self.emit(Event::FillDone { fill })?;
        if fill.written_bytes < whole {
            self.notice(
                NoticeKind::SizeCut,
                text!(
                    "the test file is {}, not {}: writing all of it would have taken too long (--size sets it)",
                    "書き込みに時間がかかりすぎるため、テストファイルを {}({} ではなく)にしました(--size で指定できます)",
                    format_bytes(fill.written_bytes),
                    format_bytes(whole)
                ),
            )?;
        }
        Ok(fill)
    }

    fn write_part(
        &mut self,
        workload: &Workload,
        before_bytes: u64,
        total_bytes: u64,
    ) -> Result<MeasuredRepetition> {
        let issue = Issue { engine: Engine::Uring, wait: WaitMode::Sleep, pages: self.ground.settings.pages };
        let choice = self.ground.chooser.choose(
            self.ground.settings.engine,
            self.ground.target,
            workload,
            issue,
            self.interrupt,
        )?;
        let mut done_bytes = before_bytes;
        let tell = |_, interval: Interval, _| {
            done_bytes += interval.write_bytes;
            Event::FillProgress { done_bytes, total_bytes }
        };
        self.watched(tell, |target, interrupt, live| {
            measure(&|| target.open_lane(true, false), workload, choice.issue, interrupt, live)
        })
    }
}
