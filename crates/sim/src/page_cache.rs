//! The memory of a computer or a hypervisor in front of the storage below.
//!
//! The model: a read whose pages are all in memory takes a fixed time plus the time to copy its
//! bytes, one request at a time. All other requests go down, and their pages are in memory
//! afterwards. The page that was used least recently makes room. Writes go through. A warm cache
//! has the first pages of the storage from the beginning, and keeps them.
//!
//! Not modelled: reading ahead, and writes that wait in memory.

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::settings::{Live, Setting};
use crate::timeline::{Timeline, transfer_ns};
use crate::vocabulary::page;
use crate::world::{Child, JobId, LayerId, Request, RequestKind, World};
use kurabe_core::Result;
use std::collections::BTreeMap;

/// Memory in front of storage: `page-cache` in device files.
pub const PAGE_CACHE: LayerKind =
    LayerKind::new(page!("page-cache"), "page-cache", Below::One, PARAMETERS, build);

const PAGE_BYTES: u64 = 4096;

parameters! {
    struct Values, PARAMETERS from "page-cache" {
        "size" size_bytes: SOME_SIZE, needed;
        "access" access_ns: Time, needed.live();
        "rate" rate_bytes_per_s: Rate, needed.live();
        "warm" warm: Flag, usual("false", "assumed: nothing was read before");
    }
}

words! {
    struct Words from "page-cache" {
        waiting: line("waiting");
        memory: cause("memory");
        hits: counter("hits");
    }
}

#[derive(Clone)]
struct PageCache {
    below: LayerId,
    processor: Timeline,
    /// Time of the last use by page, in requests.
    used: BTreeMap<u64, u64>,
    /// Pages in order of use.
    order: BTreeMap<u64, u64>,
    uses: u64,
    values: Values,
    words: Words,
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let layer = PageCache {
        below: builder.only_below(),
        processor: Timeline::default(),
        used: BTreeMap::new(),
        order: BTreeMap::new(),
        uses: 0,
        values: Values::new(builder),
        words: Words::new(builder),
    };
    Ok(Built::new(layer, builder.below_bytes()))
}

/// Returns the pages of a request.
fn pages(request: &Request) -> std::ops::Range<u64> {
    request.offset_bytes / PAGE_BYTES..request.end_bytes().div_ceil(PAGE_BYTES)
}

impl PageCache {
    fn capacity_pages(&self) -> u64 {
        self.values.size_bytes.div_ceil(PAGE_BYTES)
    }

    fn has(&self, page: u64) -> bool {
        self.used.contains_key(&page) || self.is_kept(page)
    }

    /// Returns whether a page has been in memory from the beginning.
    fn is_kept(&self, page: u64) -> bool {
        self.values.warm && page < self.capacity_pages()
    }

    fn touch(&mut self, page: u64) {
        if self.is_kept(page) {
            return;
        }
        self.uses += 1;
        if let Some(before) = self.used.insert(page, self.uses) {
            self.order.remove(&before);
        }
        self.order.insert(self.uses, page);
        while self.used.len() as u64 > self.capacity_pages() {
            let Some((_, oldest)) = self.order.pop_first() else { return };
            self.used.remove(&oldest);
        }
    }
}

impl Layer for PageCache {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        if request.kind != RequestKind::Read || !pages(&request).all(|page| self.has(page)) {
            return world.send(job, self.below, request, 0);
        }
        pages(&request).for_each(|page| self.touch(page));
        let copy_ns = transfer_ns(u64::from(request.length_bytes), self.values.rate_bytes_per_s);
        let (start_ns, end_ns) = self.processor.take(world.now_ns(), self.values.access_ns + copy_ns);
        world.charge(job, self.words.waiting, start_ns);
        world.charge(job, self.words.memory, end_ns);
        world.count(self.words.hits, 1);
        world.finish_at(end_ns, job);
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        if matches!(child.request.kind, RequestKind::Read | RequestKind::Write) && child.error.is_none() {
            pages(&child.request).for_each(|page| self.touch(page));
        }
        if let Some(job) = child.parent {
            world.finish(job);
        }
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{account, count, device, request, run_apart, spent_ns};
    use crate::stack::Stack;
    use crate::world::RequestKind;

    const BELOW: &str = "constant capacity=64_MiB access=1_ms rate=1_TB/s";

    #[test]
    fn what_was_read_is_in_memory_until_others_need_the_room() {
        let spec = device(&["page-cache size=1_MiB access=1_us rate=4.096_GB/s", BELOW]);
        let mut stack = Stack::new(&spec, 1).unwrap();
        let read = |place: u64| request(RequestKind::Read, place * 4096, 4096);
        let twice = run_apart(&mut stack, &[read(0), read(0)]);
        assert!(twice[0] > 1_000_000 && twice[1] == 2_000, "{twice:?}");
        let others: Vec<_> = (1..=256).map(read).collect();
        run_apart(&mut stack, &others);
        assert!(run_apart(&mut stack, &[read(0)])[0] > 1_000_000, "it was used least recently");
        let account = account(&mut stack);
        assert_eq!((count(&account, "hits"), spent_ns(&account, "memory")), (1, 2_000));
    }

    #[test]
    fn a_warm_cache_has_the_beginning_and_a_write_goes_through() {
        let spec = device(&["page-cache size=1_MiB access=1_us rate=1_GB/s warm=true", BELOW]);
        let mut stack = Stack::new(&spec, 1).unwrap();
        let times_ns = run_apart(
            &mut stack,
            &[
                request(RequestKind::Read, 4096, 4096),
                request(RequestKind::Read, 2 << 20, 4096),
                request(RequestKind::Write, 4096, 4096),
            ],
        );
        assert!(times_ns[0] < 10_000 && times_ns[1] > 1_000_000 && times_ns[2] > 1_000_000, "{times_ns:?}");
    }
}
