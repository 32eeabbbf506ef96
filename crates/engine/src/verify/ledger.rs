//! The ledger of what a run wrote where, and what of it must be readable.
//!
//! Writes are numbered in the order in which they are issued. If two overlapping writes are in
//! flight together, either may end up as the final content, so only the older one can be promised:
//! `oldest` of a sector is the first of the writes that were in flight together with its last
//! acknowledged one. A flush promises the writes that were acknowledged before it started.

use super::list::{SectorRun, WriteList};
use super::stamp::{SECTOR_BYTES, Stamp};
use kurabe_core::workload::{Op, OpKind};
use kurabe_core::{ErrorKind, Result, mention::VERIFY, text};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sectors per chunk. Chunks of one MiB keep the size of the ledger proportional to the data
/// written: 3 % of it.
const CHUNK_SECTORS: u64 = 2048;

/// A growing list of what a run wrote, shared by its threads.
#[derive(Debug)]
pub struct Ledger {
    mark: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Number of the last write.
    generation: u32,
    chunks: HashMap<u64, Box<[Sector]>>,
    /// Writes that were acknowledged but not flushed, in that order.
    acknowledged: VecDeque<Promise>,
    /// Number of writes that have left that queue.
    promised: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sector {
    /// The oldest write that may be read here after a power cut. 0 if any content is allowed.
    flushed: u32,
    /// The oldest of the writes that were in flight together.
    oldest: u32,
    /// The last write that was issued.
    last: u32,
    in_flight: u32,
}

/// An acknowledged write: once a flush completes, no write older than `oldest` may be read from
/// these sectors.
#[derive(Clone, Copy, Debug)]
struct Promise {
    first_sector: u64,
    sectors: u64,
    oldest: u32,
}

/// A write in flight.
#[derive(Clone, Copy, Debug)]
struct WriteInFlight {
    first_sector: u64,
    sectors: u64,
}

/// A device's access to the ledger.
#[derive(Clone, Debug)]
pub(crate) struct Stamping {
    pub(crate) ledger: Arc<Ledger>,
    /// Whether an acknowledged write needs no flush.
    pub(crate) o_sync: bool,
}

impl Ledger {
    /// Creates an empty ledger. `mark` is a random number that distinguishes the stamps of this run
    /// from those of other runs.
    pub fn new(mark: u64) -> Self {
        Self { mark, state: Mutex::default() }
    }

    /// Returns the current list of writes.
    pub fn list(&self) -> WriteList {
        let state = self.state();
        let mut places: Vec<u64> = state.chunks.keys().copied().collect();
        places.sort_unstable();
        let mut list =
            WriteList { mark: self.mark, writes: u64::from(state.generation), stretches: Vec::new() };
        for place in places {
            for (sector, at) in state.chunks[&place].iter().zip(place * CHUNK_SECTORS..) {
                if sector.last > 0 {
                    list.push(SectorRun {
                        first: at,
                        sectors: 1,
                        flushed: sector.flushed,
                        last: sector.last,
                    });
                }
            }
        }
        list
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stamping {
    /// Checks whether an operation can be verified.
    ///
    /// # Errors
    /// Fails if a write does not consist of whole sectors, or if there are more writes than can be
    /// numbered.
    pub(crate) fn check(&self, op: Op) -> Result<()> {
        let is_whole = |bytes: u64| bytes.is_multiple_of(SECTOR_BYTES);
        if op.kind != OpKind::Write {
            return Ok(());
        }
        if !is_whole(op.offset_bytes) || !is_whole(u64::from(op.length_bytes)) {
            let (offset, length) = (op.offset_bytes, op.length_bytes);
            return Err(ErrorKind::Usage.error(text!(
                "a write of {length} bytes at offset {offset} cannot be verified: it does not consist of \
                 whole {SECTOR_BYTES}-byte sectors",
                "オフセット {offset} への {length} バイトの書き込みは検証できません({SECTOR_BYTES} バイトのセクター単位ではありません)"
            ))
            .remedy(text!(
                "choose block sizes and offsets that are multiples of {SECTOR_BYTES}, or remove {VERIFY}",
                "ブロックサイズとオフセットを {SECTOR_BYTES} の倍数にするか、{VERIFY} を外してください"
            )));
        }
        if self.ledger.state().generation == u32::MAX {
            let most = u32::MAX;
            return Err(ErrorKind::Unsupported
                .error(text!(
                    "a verified run has at most {most} writes",
                    "検証できる書き込みは {most} 回までです"
                ))
                .remedy(text!("write less in one run", "1 回の測定で書く量を減らしてください")));
        }
        Ok(())
    }

    /// Stamps the bytes of a write, performs it, and records its outcome.
    pub(crate) fn write<E>(
        &self,
        op: Op,
        bytes: &mut [u8],
        perform: impl FnOnce(&[u8]) -> std::result::Result<usize, E>,
    ) -> std::result::Result<usize, E> {
        let writing = self.begin(op, bytes);
        let outcome = perform(bytes);
        let done_bytes = outcome.as_ref().map_or(0, |bytes| *bytes as u64);
        self.end(writing, done_bytes / SECTOR_BYTES);
        outcome
    }

    /// Performs a flush and records its outcome.
    pub(crate) fn flush<E>(
        &self,
        perform: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let state = self.ledger.state();
        let until = state.promised + state.acknowledged.len() as u64;
        drop(state);
        perform()?;
        self.ledger.state().flush(until);
        Ok(())
    }

    /// Records a discard: its sectors have no promised content until they are written again.
    pub(crate) fn forget(&self, op: Op) {
        let end_bytes = op.offset_bytes + u64::from(op.length_bytes);
        let mut state = self.ledger.state();
        for sector in op.offset_bytes / SECTOR_BYTES..end_bytes.div_ceil(SECTOR_BYTES) {
            let kept = state.sector(sector);
            *kept = Sector { in_flight: kept.in_flight, ..Sector::default() };
        }
    }

    fn begin(&self, op: Op, bytes: &mut [u8]) -> WriteInFlight {
        let first_sector = op.offset_bytes / SECTOR_BYTES;
        let sectors = u64::from(op.length_bytes) / SECTOR_BYTES;
        let mut state = self.ledger.state();
        state.generation += 1;
        let generation = state.generation;
        for sector in first_sector..first_sector + sectors {
            let kept = state.sector(sector);
            if kept.in_flight == 0 {
                kept.oldest = generation;
            }
            kept.in_flight += 1;
            kept.last = generation;
        }
        drop(state);
        let stamp =
            Stamp { mark: self.ledger.mark, sector: 0, generation, first_sector, sectors: sectors as u32 };
        for (bytes, sector) in bytes.chunks_exact_mut(SECTOR_BYTES as usize).zip(first_sector..) {
            Stamp { sector, ..stamp }.put(bytes);
        }
        WriteInFlight { first_sector, sectors }
    }

    fn end(&self, writing: WriteInFlight, done_sectors: u64) {
        let mut state = self.ledger.state();
        let WriteInFlight { first_sector, sectors } = writing;
        let mut promises: Vec<Promise> = Vec::with_capacity(1);
        for sector in first_sector..first_sector + sectors {
            let kept = state.sector(sector);
            kept.in_flight -= 1;
            if sector - first_sector >= done_sectors {
                continue;
            }
            match promises.last_mut() {
                Some(last) if last.oldest == kept.oldest => last.sectors += 1,
                _ => promises.push(Promise { first_sector: sector, sectors: 1, oldest: kept.oldest }),
            }
        }
        state.acknowledged.extend(promises);
        if self.o_sync {
            let until = state.promised + state.acknowledged.len() as u64;
            state.flush(until);
        }
    }
}

impl State {
    fn sector(&mut self, sector: u64) -> &mut Sector {
        let chunk = self
            .chunks
            .entry(sector / CHUNK_SECTORS)
            .or_insert_with(|| vec![Sector::default(); CHUNK_SECTORS as usize].into_boxed_slice());
        &mut chunk[(sector % CHUNK_SECTORS) as usize]
    }

    fn flush(&mut self, until: u64) {
        while self.promised < until {
            let Some(promise) = self.acknowledged.pop_front() else { return };
            self.promised += 1;
            for sector in promise.first_sector..promise.first_sector + promise.sectors {
                let kept = self.sector(sector);
                kept.flushed = kept.flushed.max(promise.oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamping(o_sync: bool) -> Stamping {
        Stamping { ledger: Arc::new(Ledger::new(7)), o_sync }
    }

    fn op(sector: u64, sectors: u64) -> Op {
        let length_bytes = (sectors * SECTOR_BYTES) as u32;
        Op { kind: OpKind::Write, offset_bytes: sector * SECTOR_BYTES, length_bytes }
    }

    /// Performs a write, and calls `meanwhile` while it is in flight.
    fn write(stamping: &Stamping, sector: u64, sectors: u64, meanwhile: &mut dyn FnMut()) {
        let mut bytes = vec![0; (sectors * SECTOR_BYTES) as usize];
        let perform = |bytes: &[u8]| {
            meanwhile();
            Ok::<_, ()>(bytes.len())
        };
        stamping.write(op(sector, sectors), &mut bytes, perform).unwrap();
    }

    fn flush(stamping: &Stamping, meanwhile: &mut dyn FnMut()) {
        let perform = || {
            meanwhile();
            Ok::<_, ()>(())
        };
        stamping.flush(perform).unwrap();
    }

    /// Returns first sector, number of sectors, oldest promised write and last issued write of each
    /// stretch.
    fn stretches(stamping: &Stamping) -> Vec<(u64, u64, u32, u32)> {
        let list = stamping.ledger.list();
        list.stretches.iter().map(|part| (part.first, part.sectors, part.flushed, part.last)).collect()
    }

    #[test]
    fn what_was_acknowledged_before_a_flush_is_promised_after_it_and_nothing_else() {
        let stamping = stamping(false);
        write(&stamping, 0, 8, &mut || {});
        assert_eq!(stretches(&stamping), [(0, 8, 0, 1)]);
        // The second write starts and ends during the flush, so only the next flush promises it.
        flush(&stamping, &mut || write(&stamping, 8, 8, &mut || {}));
        assert_eq!(stretches(&stamping), [(0, 8, 1, 1), (8, 8, 0, 2)]);
        flush(&stamping, &mut || {});
        assert_eq!(stretches(&stamping), [(0, 8, 1, 1), (8, 8, 2, 2)]);
        write(&stamping, 4, 8, &mut || {});
        assert_eq!(stretches(&stamping), [(0, 4, 1, 1), (4, 4, 1, 3), (8, 4, 2, 3), (12, 4, 2, 2)]);
    }

    #[test]
    fn of_writes_that_overlap_in_flight_either_may_be_there() {
        let stamping = stamping(false);
        write(&stamping, 0, 8, &mut || write(&stamping, 0, 8, &mut || {}));
        flush(&stamping, &mut || {});
        assert_eq!(stretches(&stamping), [(0, 8, 1, 2)]);
        write(&stamping, 0, 8, &mut || {});
        flush(&stamping, &mut || {});
        assert_eq!(stretches(&stamping), [(0, 8, 3, 3)]);
    }

    #[test]
    fn a_write_that_fails_or_comes_in_part_promises_only_what_was_acknowledged() {
        let stamping = stamping(false);
        let mut bytes = vec![0; 8 * SECTOR_BYTES as usize];
        stamping.write(op(0, 8), &mut bytes, |_| Err::<usize, ()>(())).unwrap_err();
        stamping.write(op(100, 8), &mut bytes, |_| Ok::<_, ()>(3 * 512 + 100)).unwrap();
        flush(&stamping, &mut || {});
        assert_eq!(stretches(&stamping), [(0, 8, 0, 1), (100, 3, 2, 2), (103, 5, 0, 2)]);
    }

    #[test]
    fn a_failed_flush_promises_nothing_and_o_sync_needs_none() {
        let lazy = stamping(false);
        write(&lazy, 0, 1, &mut || {});
        lazy.flush(|| Err::<(), ()>(())).unwrap_err();
        assert_eq!(stretches(&lazy), [(0, 1, 0, 1)]);
        let eager = stamping(true);
        write(&eager, 0, 1, &mut || {});
        assert_eq!(stretches(&eager), [(0, 1, 1, 1)]);
    }

    #[test]
    fn only_writes_of_whole_sectors_are_taken() {
        let stamping = stamping(false);
        let refused = |offset_bytes, length_bytes| {
            stamping.check(Op { kind: OpKind::Write, offset_bytes, length_bytes }).is_err()
        };
        assert!(!refused(512, 1024) && refused(100, 512) && refused(512, 100));
        assert!(stamping.check(Op { kind: OpKind::Read, offset_bytes: 1, length_bytes: 1 }).is_ok());
        stamping.ledger.state().generation = u32::MAX;
        assert!(refused(0, 512));
    }
}
