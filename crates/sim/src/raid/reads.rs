//! Reads of the host: cached data from the memory, and the rest from the members.

use super::card::Card;
use super::task::NextStep;
use crate::timeline::transfer_ns;
use crate::world::{JobId, RequestKind, World};

impl Card {
    pub(super) fn read(&mut self, job: JobId, from: u64, to: u64, world: &mut World) {
        let strips = self.geometry.strips(from, to);
        let ready_ns = self.command(job, strips, strips, world);
        let task = self.tasks.begin(NextStep::Read, Some(job), from, to);
        let mut missing = std::mem::take(&mut self.tasks[task].stretches);
        match &mut self.cache {
            Some(cache) => {
                cache.missing(from, to, &mut missing);
                self.wait_for_ahead(task, &mut missing);
                let missed: u64 = missing.iter().map(|(from, to)| to - from).sum();
                world.count(self.words.missed_bytes, missed);
                self.read_memory(task, to - from - missed, missed == 0, ready_ns, world);
            }
            None => missing.push((from, to)),
        }
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        for (from, to) in &missing {
            self.geometry.split(*from, *to, &mut pieces);
        }
        if self.cached && self.cache.is_some() {
            // Strips are copied as they arrive; only the last one of each member is left for the
            // end.
            let strip_bytes = self.geometry.strip_bytes;
            let last: u64 = pieces.iter().map(|piece| piece.length_bytes.min(strip_bytes)).sum();
            let all: u64 = pieces.iter().map(|piece| piece.length_bytes).sum();
            self.memory.take(ready_ns, transfer_ns(all - last, self.values.memory_read_bytes_per_s));
            self.tasks[task].copy_bytes = last;
        }
        self.tasks[task].stretches = missing;
        self.send(task, RequestKind::Read, &pieces, ready_ns, world);
        self.pieces = pieces;
        if self.tasks[task].pending == 0 {
            self.answer_read(task, world);
        }
        self.look_ahead(from, to, world);
    }

    /// Sends the cached data to the host while the drives deliver the rest.
    fn read_memory(&mut self, task: u32, bytes: u64, is_all: bool, ready_ns: u64, world: &mut World) {
        if bytes == 0 {
            return;
        }
        world.count(self.words.hit_bytes, bytes);
        let time_ns = transfer_ns(bytes, self.values.memory_read_bytes_per_s);
        let (start_ns, end_ns) = self.memory.take(ready_ns, time_ns);
        self.tasks[task].copied_ns = end_ns;
        if let (Some(job), true) = (self.tasks[task].job, is_all && self.tasks[task].pending == 0) {
            world.charge(job, self.words.memory_busy, start_ns);
            world.charge(job, self.words.memory, end_ns);
        }
    }

    pub(super) fn answer_read(&mut self, task: u32, world: &mut World) {
        let Some(job) = self.tasks[task].job else { return };
        let copied_ns = self.tasks[task].copied_ns;
        world.charge(job, self.words.memory, copied_ns);
        let mut end_ns = world.now_ns().max(copied_ns);
        let computed_bytes = self.tasks[task].computed_bytes;
        if computed_bytes > 0 {
            let time_ns = transfer_ns(computed_bytes, self.values.parity_bytes_per_s);
            let (start_ns, computed_ns) = self.parity.take(end_ns, time_ns);
            world.charge(job, self.words.parity_busy, start_ns);
            world.charge(job, self.words.parity, computed_ns);
            end_ns = computed_ns;
        }
        let copy_bytes = self.tasks[task].copy_bytes;
        if copy_bytes > 0 {
            let time_ns = transfer_ns(copy_bytes, self.values.memory_read_bytes_per_s);
            let (start_ns, copied_ns) = self.memory.take(end_ns, time_ns);
            world.charge(job, self.words.memory_busy, start_ns);
            world.charge(job, self.words.copy, copied_ns);
            end_ns = copied_ns;
            if let Some(cache) = &mut self.cache {
                for (from, to) in &self.tasks[task].stretches {
                    cache.keep(*from, *to);
                }
            }
        }
        world.finish_at(end_ns, job);
        self.tasks.end(task);
    }
}
