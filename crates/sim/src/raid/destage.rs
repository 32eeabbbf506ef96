//! Write-back of the memory: row by row in order of addresses, a limited number of rows at once. So
//! writes to one row at different times go to the drives together.

use super::cache::Cache;
use super::card::Card;
use super::task::NextStep;
use crate::world::{JobId, World};
use std::collections::VecDeque;

impl Card {
    pub(super) fn flush(&mut self, job: JobId, world: &mut World) {
        let ready_ns = self.command(job, 0, 0, world);
        if self.write_back && self.values.battery && self.cache.is_some() {
            // Data in the memory are safe.
            world.finish_at(ready_ns, job);
        } else if self.cache.as_ref().is_some_and(|cache| cache.unsafe_bytes() > 0) {
            self.flushes.push_back((job, ready_ns));
            self.draining = true;
            self.destage(world);
        } else {
            self.flush_members(job, ready_ns, world);
        }
    }

    /// Starts rows, up to the limit in progress.
    pub(super) fn destage(&mut self, world: &mut World) {
        while self.draining && self.destages < self.values.destages {
            let Some(row) = self.next_row() else { break };
            self.destage_row(row, world);
        }
        self.draining &= self.cache.as_ref().is_some_and(Cache::has_dirty);
    }

    /// Returns the next row with dirty data that is not being written already.
    fn next_row(&mut self) -> Option<u64> {
        let (cache, row_bytes) = (self.cache.as_ref()?, self.geometry.row_bytes());
        for first in [self.cursor_bytes, 0] {
            let mut at = first;
            while let Some(begin) = cache.next_dirty(at) {
                let row = begin / row_bytes;
                at = (row + 1) * row_bytes;
                if !self.locks.contains_key(&row) {
                    self.cursor_bytes = at;
                    return Some(row);
                }
            }
        }
        None
    }

    fn destage_row(&mut self, row: u64, world: &mut World) {
        let row_bytes = self.geometry.row_bytes();
        let (from, to) = (row * row_bytes, (row + 1) * row_bytes);
        let task = self.tasks.begin(NextStep::Row, None, from, to);
        let Some(cache) = &mut self.cache else { return };
        let number = cache.take_dirty(from, to, &mut self.tasks[task].stretches);
        self.tasks[task].number = number;
        self.destages += 1;
        self.locks.insert(row, VecDeque::new());
        let bytes: u64 = self.tasks[task].stretches.iter().map(|(from, to)| to - from).sum();
        world.count(self.words.destaged_bytes, bytes);
        let requests = if self.geometry.parities > 0 {
            self.plan_row(task, world)
        } else {
            let plan = &mut self.tasks[task];
            plan.plan.reads.clear();
            plan.plan.writes.clear();
            plan.plan.computed_bytes = 0;
            for (from, to) in &plan.stretches {
                self.geometry.split(*from, *to, &mut plan.plan.writes);
            }
            plan.plan.writes.len() as u64 * self.geometry.copies
        };
        let work_ns = self.values.strip_ns.saturating_mul(requests);
        let (_, start_ns) = self.processor.take(world.now_ns(), work_ns);
        self.start_row(task, start_ns, world);
    }

    /// Ends the write-back of a row.
    pub(super) fn destaged(&mut self, from: u64, to: u64, world: &mut World) {
        self.destages -= 1;
        let Some(cache) = &mut self.cache else { return };
        cache.landed(from, to);
        if cache.unsafe_bytes() == 0 {
            while let Some((job, ready_ns)) = self.flushes.pop_front() {
                let at_ns = ready_ns.max(world.now_ns());
                world.charge(job, self.words.draining, at_ns);
                self.flush_members(job, at_ns, world);
            }
        }
        self.admit(world);
        self.draining |= !self.waiting.is_empty() || !self.flushes.is_empty();
        self.destage(world);
    }
}
