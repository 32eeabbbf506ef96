//! Writes of the host: into the memory, or through it to the members.

use super::cache::Cache;
use super::card::Card;
use super::task::NextStep;
use crate::timeline::transfer_ns;
use crate::world::{JobId, Request, RequestKind, World};
use std::collections::VecDeque;

impl Card {
    pub(super) fn write(&mut self, job: JobId, from: u64, to: u64, world: &mut World) {
        let strips = self.geometry.strips(from, to);
        let Request { number, fua, .. } = world.request(job);
        // A memory without a battery cannot make data durable.
        let write_back = self.write_back && (self.values.battery || !fua);
        let Some(cache) = self.cache.as_mut().filter(|cache| write_back && cache.could_hold(from, to)) else {
            return self.write_through(job, from, to, strips, world);
        };
        let takes = self.flushes.is_empty() && self.waiting.is_empty() && cache.write(from, to, number);
        let ready_ns = self.command(job, strips, strips, world);
        if takes {
            return self.acknowledge(job, ready_ns, world);
        }
        let cause = if self.flushes.is_empty() { self.words.full } else { self.words.draining };
        self.waiting.push_back((job, ready_ns, cause));
        self.draining = true;
        self.destage(world);
    }

    /// Acknowledges a write that the memory has accepted, when its bytes are there.
    fn acknowledge(&mut self, job: JobId, ready_ns: u64, world: &mut World) {
        let bytes = u64::from(world.request(job).length_bytes);
        let time_ns = transfer_ns(bytes, self.values.memory_write_bytes_per_s);
        let (start_ns, end_ns) = self.memory.take(ready_ns, time_ns);
        world.charge(job, self.words.memory_busy, start_ns);
        world.charge(job, self.words.memory, end_ns);
        world.finish_at(end_ns, job);
        self.draining |= self.cache.as_ref().is_some_and(Cache::is_half_full);
        if self.draining {
            self.destage(world);
        } else if !self.timer_runs {
            self.timer_runs = true;
            world.wake_at(world.now_ns().saturating_add(self.values.flush_interval_ns), 0);
        }
    }

    /// Accepts writes that waited for room.
    pub(super) fn admit(&mut self, world: &mut World) {
        while self.flushes.is_empty() {
            let Some(&(job, ready_ns, cause)) = self.waiting.front() else { return };
            let request = world.request(job);
            let Some(cache) = &mut self.cache else { return };
            if !cache.write(request.offset_bytes, request.end_bytes(), request.number) {
                return;
            }
            self.waiting.pop_front();
            let at_ns = ready_ns.max(world.now_ns());
            world.charge(job, cause, at_ns);
            self.acknowledge(job, at_ns, world);
        }
    }

    fn write_through(&mut self, job: JobId, from: u64, to: u64, strips: u64, world: &mut World) {
        if world.request(job).fua
            && let Some(cache) = &mut self.cache
        {
            cache.pass_by(from, to);
        }
        if self.cached
            && let Some(cache) = &mut self.cache
        {
            cache.keep(from, to);
        }
        if self.geometry.parities > 0 {
            return self.write_rows(job, from, to, strips, world);
        }
        let ready_ns = self.command(job, strips, strips * self.geometry.copies, world);
        let task = self.tasks.begin(NextStep::Answer, Some(job), from, to);
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        self.geometry.split(from, to, &mut pieces);
        self.send(task, RequestKind::Write, &pieces, ready_ns, world);
        self.pieces = pieces;
    }

    /// Writes to rows with parity; each row is a separate task.
    fn write_rows(&mut self, job: JobId, from: u64, to: u64, strips: u64, world: &mut World) {
        let row_bytes = self.geometry.row_bytes();
        let rows = from / row_bytes..(to - 1) / row_bytes + 1;
        let above =
            (rows.end - rows.start > 1).then(|| self.tasks.begin(NextStep::Answer, Some(job), from, to));
        let mut begun = std::mem::take(&mut self.begun);
        let mut requests = 0;
        for row in rows {
            let stretch = (from.max(row * row_bytes), to.min((row + 1) * row_bytes));
            let task = self.tasks.begin(NextStep::Row, Some(job), row * row_bytes, (row + 1) * row_bytes);
            self.tasks[task].stretches.push(stretch);
            self.tasks[task].above = above;
            if let Some(above) = above {
                self.tasks[above].pending += 1;
            }
            requests += self.plan_row(task, world);
            begun.push(task);
        }
        let ready_ns = self.command(job, strips, requests, world);
        for task in begun.drain(..) {
            let row = self.tasks[task].from / row_bytes;
            match self.locks.get_mut(&row) {
                Some(waiters) => waiters.push_back(task),
                None => {
                    self.locks.insert(row, VecDeque::new());
                    self.start_row(task, ready_ns, world);
                }
            }
        }
        self.begun = begun;
    }

    /// Plans the update of a row with parity. Returns the number of requests to members.
    pub(super) fn plan_row(&mut self, task: u32, world: &mut World) -> u64 {
        let row = self.tasks[task].from / self.geometry.row_bytes();
        let (task, failures) = (&mut self.tasks[task], &self.failures);
        task.plan.fill(&self.geometry, row, &task.stretches, |member| failures.has(member));
        let read_first = !task.plan.reads.is_empty();
        let counter = if read_first { self.words.partial_rows } else { self.words.whole_rows };
        world.count(counter, 1);
        (task.plan.reads.len() + task.plan.writes.len()) as u64
    }

    /// Starts a row that this task has locked: reads what parity needs, or writes directly.
    pub(super) fn start_row(&mut self, task: u32, at_ns: u64, world: &mut World) {
        let reads = std::mem::take(&mut self.tasks[task].plan.reads);
        if reads.is_empty() {
            self.write_row(task, at_ns, world);
        } else {
            self.tasks[task].step = NextStep::Compute;
            self.send(task, RequestKind::Read, &reads, at_ns, world);
        }
        self.tasks[task].plan.reads = reads;
    }

    /// Computes parity and writes the row.
    pub(super) fn write_row(&mut self, task: u32, at_ns: u64, world: &mut World) {
        let computed_bytes = self.tasks[task].plan.computed_bytes + self.tasks[task].computed_bytes;
        let time_ns = transfer_ns(computed_bytes, self.values.parity_bytes_per_s);
        let (start_ns, end_ns) = self.parity.take(at_ns, time_ns);
        if let Some(job) = self.tasks[task].job {
            world.charge(job, self.words.parity_busy, start_ns);
            world.charge(job, self.words.parity, end_ns);
        }
        let writes = std::mem::take(&mut self.tasks[task].plan.writes);
        self.tasks[task].step = NextStep::Row;
        self.send(task, RequestKind::Write, &writes, end_ns, world);
        self.tasks[task].plan.writes = writes;
    }

    /// Ends the write of a row and starts the next one that waits for it.
    pub(super) fn row_done(&mut self, task: u32, world: &mut World) {
        let (from, to) = (self.tasks[task].from, self.tasks[task].to);
        let row = from / self.geometry.row_bytes();
        match self.locks.get_mut(&row).and_then(VecDeque::pop_front) {
            Some(next) => {
                if let Some(job) = self.tasks[next].job {
                    world.charge(job, self.words.row_busy, world.now_ns());
                }
                self.start_row(next, world.now_ns(), world);
            }
            None => {
                self.locks.remove(&row);
            }
        }
        let (job, above) = (self.tasks[task].job, self.tasks[task].above);
        self.tasks.end(task);
        match (above, job) {
            (Some(above), _) => self.less(above, world),
            (None, Some(job)) => world.finish(job),
            (None, None) => self.destaged(from, to, world),
        }
        // The write-back may have been waiting for this row.
        if self.draining {
            self.destage(world);
        }
    }
}
