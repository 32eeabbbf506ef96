//! How ZFS fills an empty drive in the place of one.
//!
//! The model (OpenZFS `dsl_scan.c`, `vdev_queue.c`): the pool is gone through in the order of addresses, in stretches as
//! long as neighbouring requests are joined to, three under way (zfs_vdev_scrub_max_active). Each is read from the drives
//! that have what belongs there, and written. It goes on beside everything else.
//!
//! Not modelled: that a pool which is not full has less to fill, and that it gives way to others.

use crate::vdev_queue::VdevQueue;
use crate::world::{Child, Request, RequestKind, World};
use std::collections::BTreeMap;

/// Marks the tag of a request of a resilver; the rest is where its stretch begins.
const MARK: u64 = 1 << 63;
/// zfs(4): zfs_vdev_aggregation_limit, zfs_vdev_scrub_max_active.
const STRETCH_BYTES: u64 = 1 << 20;
const UNDER_WAY: usize = 3;

/// The filling of a drive.
#[derive(Clone, Debug)]
pub(crate) struct Resilver {
    pub(crate) drive: usize,
    next_bytes: u64,
    drive_bytes: u64,
    /// How many of the other drives are read.
    sources: usize,
    /// Stretches under way by their begin: reads that have not come back.
    under_way: BTreeMap<u64, usize>,
}

impl Resilver {
    /// Whether a request that came back belongs to one.
    pub(crate) fn is_of(child: &Child) -> bool {
        child.parent.is_none() && child.tag & MARK != 0
    }

    pub(crate) fn new(drive: usize, from_bytes: u64, drive_bytes: u64, sources: usize) -> Self {
        Self { drive, next_bytes: from_bytes, drive_bytes, sources, under_way: BTreeMap::new() }
    }

    /// Begins as many stretches as may be under way; whether any is left.
    pub(crate) fn go_on(&mut self, drives: &[VdevQueue], world: &mut World) -> bool {
        while self.under_way.len() < UNDER_WAY && self.next_bytes < self.drive_bytes {
            let at = self.next_bytes;
            let length = STRETCH_BYTES.min(self.drive_bytes - at);
            self.next_bytes += length;
            let others = drives.iter().filter(|drive| !drive.failed).take(self.sources);
            self.under_way.insert(at, others.clone().count());
            let read = Request::new(RequestKind::Read, at, length as u32);
            others.for_each(|drive| drive.send_beside(read, MARK | at, world));
        }
        !self.under_way.is_empty()
    }

    /// A request has come back: bytes that are there now.
    pub(crate) fn came(&mut self, child: &Child, drives: &[VdevQueue], world: &mut World) -> u64 {
        let at = child.tag & !MARK;
        let Some(left) = self.under_way.get_mut(&at) else { return 0 };
        if child.request.kind == RequestKind::Write {
            self.under_way.remove(&at);
            return u64::from(child.request.length_bytes);
        }
        *left -= 1;
        if *left == 0 {
            let write = Request { kind: RequestKind::Write, ..child.request };
            drives[self.drive].send_beside(write, child.tag, world);
        }
        0
    }
}
