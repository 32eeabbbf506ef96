//! Read-ahead.
//!
//! The model: the card remembers where the last few reads ended. A read that begins there continues
//! that stream. Data ahead of a stream are read in the background, again when half of them are
//! consumed. A wrong prediction costs no time directly, but it keeps the drives busy and evicts
//! other data.

use super::card::Card;
use super::task::NextStep;
use crate::world::{RequestKind, World};

/// Number of streams tracked.
const STREAMS: usize = 8;

/// A sequence of consecutive reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadStream {
    /// Position where the next read would begin.
    next: u64,
    reads: u64,
    /// End of the data read ahead.
    ahead_to: u64,
}

impl Card {
    /// Waits for data that are already being read ahead, instead of reading them twice.
    pub(super) fn wait_for_ahead(&mut self, task: u32, missing: &mut Vec<(u64, u64)>) {
        for ahead in &self.aheads {
            let (from, to) = (self.tasks[*ahead].from, self.tasks[*ahead].to);
            if !missing.iter().any(|stretch| stretch.0 < to && from < stretch.1) {
                continue;
            }
            *missing = missing
                .iter()
                .flat_map(|stretch| [(stretch.0, stretch.1.min(from)), (stretch.0.max(to), stretch.1)])
                .filter(|(from, to)| from < to)
                .collect();
            self.tasks[*ahead].waiters.push(task);
            self.tasks[task].pending += 1;
        }
    }

    /// Handles a read from `from` to `to`: reads ahead of it, if the policy says so.
    pub(super) fn look_ahead(&mut self, from: u64, to: u64, world: &mut World) {
        let Some(enough) = self.ahead_after.filter(|_| self.cache.is_some()) else { return };
        // The most recently used stream is last.
        let index = self.streams.iter().position(|stream| stream.next == from);
        let mut stream = match index {
            Some(index) => self.streams.remove(index),
            None => {
                if self.streams.len() == STREAMS {
                    self.streams.remove(0);
                }
                ReadStream { next: from, reads: 0, ahead_to: 0 }
            }
        };
        (stream.next, stream.reads) = (to, stream.reads + 1);
        let window = self.values.read_ahead_bytes;
        let begin = stream.ahead_to.max(to);
        let end = (to + window).min(self.geometry.capacity_bytes());
        let is_due = stream.reads >= enough && begin < end && (end - begin) * 2 >= window;
        if is_due {
            stream.ahead_to = end;
        }
        self.streams.push(stream);
        if is_due {
            self.read_ahead(begin, end, world);
        }
    }

    fn read_ahead(&mut self, from: u64, to: u64, world: &mut World) {
        let mut missing = std::mem::take(&mut self.stretches);
        missing.clear();
        if let Some(cache) = &mut self.cache {
            cache.missing(from, to, &mut missing);
        }
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        for (from, to) in &missing {
            self.geometry.split(*from, *to, &mut pieces);
            world.count(self.words.ahead_bytes, to - from);
        }
        if !pieces.is_empty() {
            let strips = self.geometry.strips(from, to);
            let (_, start_ns) =
                self.processor.take(world.now_ns(), self.values.strip_ns.saturating_mul(strips));
            let task = self.tasks.begin(NextStep::Ahead, None, from, to);
            self.aheads.push(task);
            self.send(task, RequestKind::Read, &pieces, start_ns, world);
        }
        (self.pieces, self.stretches) = (pieces, missing);
    }

    pub(super) fn ahead_done(&mut self, task: u32, world: &mut World) {
        self.aheads.retain(|ahead| *ahead != task);
        if let Some(cache) = &mut self.cache {
            cache.keep(self.tasks[task].from, self.tasks[task].to);
        }
        let mut waiters = std::mem::take(&mut self.tasks[task].waiters);
        for waiter in waiters.drain(..) {
            if let Some(job) = self.tasks[waiter].job {
                world.charge(job, self.words.ahead, world.now_ns());
            }
            self.less(waiter, world);
        }
        self.tasks[task].waiters = waiters;
        self.tasks.end(task);
    }
}
