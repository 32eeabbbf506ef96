//! The card: its processor and memory, and its requests to members.

use super::ahead::ReadStream;
use super::cache::Cache;
use super::failures::Failures;
use super::geometry::{MemberExtent, RaidGeometry};
use super::task::{NextStep, Tasks};
use super::{Values, Words};
use crate::account::Cause;
use crate::layer::{Control, Layer};
use crate::ranges::AtRisk;
use crate::settings::{Live, Setting};
use crate::timeline::Timeline;
use crate::world::{Child, JobId, LayerId, Request, RequestKind, World};
use kurabe_core::device::ErrorNumber;
use kurabe_core::{Text, text};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Default)]
pub(super) struct Card {
    pub(super) members: Vec<(LayerId, u16)>,
    pub(super) failures: Failures,
    pub(super) geometry: RaidGeometry,
    /// Cache policies; with read-ahead, the number of reads from which a stream is read ahead.
    pub(super) write_back: bool,
    pub(super) cached: bool,
    pub(super) ahead_after: Option<u64>,
    pub(super) cache: Option<Cache>,
    pub(super) values: Values,
    pub(super) words: Words,
    pub(super) processor: Timeline,
    pub(super) parity: Timeline,
    pub(super) memory: Timeline,
    /// Requests at each member, and a counter for round robin among equally busy copies.
    pub(super) busy: Vec<u32>,
    pub(super) turn: u64,
    pub(super) tasks: Tasks,
    /// Rows being written, each with the tasks that wait for it.
    pub(super) locks: BTreeMap<u64, VecDeque<u32>>,
    /// Writes that wait for room in the memory: the time from which they could be accepted, and the
    /// cause of the wait.
    pub(super) waiting: VecDeque<(JobId, u64, Cause)>,
    /// Flushes that wait until the memory is written back: the time from which they could be
    /// forwarded.
    pub(super) flushes: VecDeque<(JobId, u64)>,
    /// Whether the memory is being written back, by how many tasks, and where it continues.
    pub(super) draining: bool,
    pub(super) destages: u64,
    pub(super) cursor_bytes: u64,
    pub(super) timer_runs: bool,
    pub(super) streams: Vec<ReadStream>,
    pub(super) aheads: Vec<u32>,
    /// Lists that are reused, so that no request allocates.
    pub(super) stretches: Vec<(u64, u64)>,
    pub(super) begun: Vec<u32>,
    pub(super) pieces: Vec<MemberExtent>,
}

impl Card {
    /// Charges the processor time of a host request that touches this many strips and becomes this
    /// many requests to members, and the latency after it. Returns the time at which the request
    /// continues.
    pub(super) fn command(&mut self, job: JobId, strips: u64, requests: u64, world: &mut World) -> u64 {
        let costs = &self.values;
        let request_ns = costs.request_ns.saturating_mul(strips.div_ceil(costs.strips_per_request).max(1));
        let strips_ns = costs.strip_ns.saturating_mul(requests);
        let (start_ns, end_ns) = self.processor.take(world.now_ns(), request_ns.saturating_add(strips_ns));
        world.charge(job, self.words.processor_busy, start_ns);
        world.charge(job, self.words.request, end_ns - strips_ns);
        world.charge(job, self.words.strips, end_ns);
        let ready_ns = end_ns.saturating_add(costs.latency_ns);
        world.charge(job, self.words.latency, ready_ns);
        ready_ns
    }

    /// Sends pieces to their members for a task.
    pub(super) fn send(
        &mut self,
        task: u32,
        kind: RequestKind,
        pieces: &[MemberExtent],
        at_ns: u64,
        world: &mut World,
    ) {
        let all: u64 = pieces.iter().map(|piece| piece.length_bytes).sum();
        // A request with fewer strips than members cannot be divided evenly, so it is not counted
        // as uneven.
        if self.tasks[task].job.is_some() && all.div_ceil(self.geometry.strip_bytes) >= self.geometry.data {
            // A request ends with the member that has the largest part of it.
            let most = pieces.iter().map(|piece| piece.length_bytes).max().unwrap_or(0);
            world.count(self.words.most_bytes, most);
            world.count(self.words.even_bytes, all.div_ceil(self.geometry.data));
        }
        let Request { fua, number, .. } = match self.tasks[task].job {
            Some(job) => world.request(job),
            None => Request { number: self.tasks[task].number, ..Request::new(kind, 0, 0) },
        };
        let around;
        let mut pieces = pieces;
        if kind == RequestKind::Read && self.failures.degraded && self.geometry.parities > 0 {
            let computed_bytes;
            (around, computed_bytes) =
                self.failures.read_around(&self.geometry, pieces, |piece| self.failures.has(piece.member));
            self.tasks[task].computed_bytes += computed_bytes;
            pieces = &around;
        }
        for piece in pieces {
            let request = Request::new(kind, piece.offset_bytes, piece.length_bytes as u32);
            let request = Request { fua, number, ..request };
            if kind == RequestKind::Write {
                for member in piece.member..piece.member + self.geometry.copies as u16 {
                    self.send_one(task, member, request, at_ns, world);
                }
            } else {
                let member = self.reader(piece.member);
                self.send_one(task, member, request, at_ns, world);
            }
        }
    }

    /// Sends a request to a member unless the member has failed.
    fn send_one(&mut self, task: u32, member: u16, request: Request, at_ns: u64, world: &mut World) {
        if self.failures.has(member) {
            return;
        }
        match request.kind {
            RequestKind::Read => world.count(self.words.member_reads, 1),
            RequestKind::Write => world.count(self.words.member_writes, 1),
            RequestKind::Flush | RequestKind::Trim | RequestKind::WriteZeroes => {}
        }
        self.tasks[task].pending += 1;
        self.busy[usize::from(member)] += 1;
        let tag = u64::from(task) << 16 | u64::from(member);
        let (below, unit) = self.members[usize::from(member)];
        world.send_at(at_ns, self.tasks[task].job, below, Request { unit, ..request }, tag);
    }

    /// Returns the copy that a read goes to: the least busy one, round robin among equals.
    fn reader(&mut self, first: u16) -> u16 {
        let copies = self.geometry.copies;
        if copies == 1 {
            return first;
        }
        self.turn += 1;
        let order = (0..copies).map(|copy| first + ((self.turn + copy) % copies) as u16);
        let live = order.filter(|member| !self.failures.has(*member));
        live.min_by_key(|member| self.busy[usize::from(*member)]).unwrap_or(first)
    }

    /// Records that a task has one less request or task to wait for, and continues it after the
    /// last.
    pub(super) fn less(&mut self, task: u32, world: &mut World) {
        self.tasks[task].pending -= 1;
        if self.tasks[task].pending > 0 {
            return;
        }
        match self.tasks[task].step {
            NextStep::Read => self.answer_read(task, world),
            NextStep::Answer => self.answer(task, world),
            NextStep::Compute => self.write_row(task, world.now_ns(), world),
            NextStep::Row => self.row_done(task, world),
            NextStep::Ahead => self.ahead_done(task, world),
        }
    }

    fn answer(&mut self, task: u32, world: &mut World) {
        if let Some(job) = self.tasks[task].job {
            world.finish(job);
        }
        self.tasks.end(task);
    }

    /// Forwards a flush to all members.
    pub(super) fn flush_members(&mut self, job: JobId, at_ns: u64, world: &mut World) {
        let task = self.tasks.begin(NextStep::Answer, Some(job), 0, 0);
        let request = Request::new(RequestKind::Flush, 0, 0);
        for member in 0..self.members.len() as u16 {
            self.send_one(task, member, request, at_ns, world);
        }
    }
}

impl Layer for Card {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        if self.failures.offline {
            return world.fail(job, ErrorNumber::IO);
        }
        let request = world.request(job);
        let (from, to) = (request.offset_bytes, request.end_bytes());
        match request.kind {
            RequestKind::Read if from < to => self.read(job, from, to, world),
            RequestKind::Write | RequestKind::WriteZeroes if from < to => self.write(job, from, to, world),
            RequestKind::Flush => self.flush(job, world),
            RequestKind::Read | RequestKind::Write | RequestKind::WriteZeroes | RequestKind::Trim => {
                let ready_ns = self.command(job, 0, 0, world);
                world.finish_at(ready_ns, job);
            }
        }
    }

    fn knows(&self, kind: RequestKind) -> bool {
        kind.is_known_to_all()
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        self.busy[(child.tag & 0xffff) as usize] -= 1;
        self.less((child.tag >> 16) as u32, world);
    }

    fn wake(&mut self, _token: u64, world: &mut World) {
        self.timer_runs = false;
        self.draining = true;
        self.destage(world);
    }

    fn waits_for(&self) -> Option<Text> {
        (!self.waiting.is_empty() || !self.flushes.is_empty())
            .then(|| text!("its memory being written back", "メモリーの書き戻し"))
    }

    fn control(&mut self, control: Control, _world: &mut World) -> Result<(), Text> {
        let last = self.members.len() - 1;
        match control {
            Control::FailMember(member) if self.failures.set(member, true, &self.geometry) => Ok(()),
            Control::FailMember(_) => {
                Err(text!("it has members 0 to {last}", "メンバーは 0 から {last} までです"))
            }
            Control::RebuildMember(..) | Control::Wear => Err(control.refused()),
        }
    }

    fn at_risk(&self, _now_ns: u64) -> AtRisk {
        let ranges = self.cache.as_ref().map(Cache::at_risk).unwrap_or_default();
        AtRisk::all(ranges, self.values.battery)
    }

    fn lift(&self, below: Vec<AtRisk>) -> Vec<AtRisk> {
        vec![self.geometry.lift(&below, &self.failures, 0)]
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}
