//! Rebuild of an empty member.
//!
//! The model (md.c, md_do_sync): the member is rebuilt from its beginning in blocks of 64 KiB. Each
//! block is read from the first copy, or with parity from all other members, and written. The
//! number of blocks in flight is that of raid1.c and raid10.c (RESYNC_DEPTH), or with parity as
//! many as the stripe cache holds. Every 128 KiB, the speed over the last 30 s is checked. Above
//! `speed_max` it sleeps for half a second. Above `speed_min`, if the members served more than 32
//! KiB for other requests since (is_mddev_idle), it waits until none of its own blocks are in
//! flight.

use super::{AfterMembers, Md};
use crate::raid::geometry::MemberExtent;
use crate::world::{Request, RequestKind, World};
use std::collections::VecDeque;

const BLOCK_BYTES: u64 = 64 << 10;
/// Blocks in flight for copies (raid1.c, raid10.c: RESYNC_DEPTH).
const DEPTH: u64 = 32;
/// Interval of the speed checks (md.c: 32 pages), and the bytes of other requests in between that
/// still count as idle.
const LOOK_BYTES: u64 = 128 << 10;
const IDLE_BYTES: u64 = 32 << 10;
/// Period over which the speed is averaged (md.c: SYNC_MARKS times SYNC_MARK_STEP), and length of a
/// sleep.
const MARKS: usize = 10;
const MARK_NS: u64 = 3_000_000_000;
const SLEEP_NS: u64 = 500_000_000;

/// State of a rebuild.
#[derive(Clone, Debug, Default)]
pub(super) struct Rebuild {
    pub(super) member: u16,
    pub(super) began: bool,
    pub(super) sleeps: bool,
    /// End of the rebuilt part of the member, and start of the next block.
    pub(super) filled_bytes: u64,
    next_bytes: u64,
    under_way: VecDeque<(u64, bool)>,
    /// Whether it waits until none of its blocks are in flight.
    yields: bool,
    done_bytes: u64,
    looked_bytes: u64,
    /// Times and bytes done, recorded every three seconds.
    marks: VecDeque<(u64, u64)>,
    /// Bytes requested by others since the last check that found the members busy.
    pub(super) clients_bytes: u64,
}

impl Md {
    /// Returns a rebuild of a member from a byte of its data on.
    pub(super) fn new_rebuild(&self, member: u16, from_bytes: u64) -> Rebuild {
        let from_bytes = from_bytes / BLOCK_BYTES * BLOCK_BYTES;
        Rebuild { member, filled_bytes: from_bytes, next_bytes: from_bytes, ..Rebuild::default() }
    }

    /// Starts blocks, up to the limit in flight.
    pub(super) fn go_on(&mut self, world: &mut World) {
        let most = match self.geometry.parities {
            0 => DEPTH,
            _ => (self.values.stripe_cache * 4096 / BLOCK_BYTES).max(1),
        };
        let end_bytes = self.geometry.member_bytes();
        while let Some(rebuild) = &mut self.rebuild {
            rebuild.began = true;
            rebuild.yields &= !rebuild.under_way.is_empty();
            if rebuild.next_bytes >= end_bytes {
                if rebuild.under_way.is_empty() {
                    let member = rebuild.member;
                    self.rebuild = None;
                    self.failures.set(usize::from(member), false, &self.geometry);
                }
                return;
            }
            if rebuild.sleeps || rebuild.yields || rebuild.under_way.len() as u64 >= most {
                return;
            }
            if rebuild.next_bytes.is_multiple_of(LOOK_BYTES) && rebuild.looked_bytes != rebuild.next_bytes {
                rebuild.looked_bytes = rebuild.next_bytes;
                self.look(world);
                continue;
            }
            let at = rebuild.next_bytes;
            rebuild.next_bytes = end_bytes.min(at + BLOCK_BYTES);
            rebuild.under_way.push_back((at, false));
            self.read_block(at, world);
        }
    }

    /// Checks the speed, and throttles the rebuild if others need the members.
    fn look(&mut self, world: &mut World) {
        let now_ns = world.now_ns();
        let Some(rebuild) = &mut self.rebuild else { return };
        if rebuild.marks.back().is_none_or(|(at_ns, _)| now_ns >= at_ns + MARK_NS) {
            rebuild.marks.push_back((now_ns, rebuild.done_bytes));
        }
        if rebuild.marks.len() > MARKS {
            rebuild.marks.pop_front();
        }
        let (from_ns, from_bytes) = rebuild.marks.front().copied().unwrap_or((now_ns, 0));
        let elapsed_s = (now_ns - from_ns) / 1_000_000_000 + 1;
        let speed_bytes_per_s = ((rebuild.done_bytes - from_bytes) / elapsed_s) as f64;
        let others = rebuild.clients_bytes > IDLE_BYTES;
        if others {
            rebuild.clients_bytes = 0;
        }
        if speed_bytes_per_s > self.values.speed_max_bytes_per_s {
            rebuild.sleeps = true;
            // As in the source, it checks again after that.
            rebuild.looked_bytes = u64::MAX;
            world.wake_at(now_ns + SLEEP_NS, 0);
        } else if others && speed_bytes_per_s > self.values.speed_min_bytes_per_s {
            rebuild.yields = true;
        }
    }

    fn read_block(&mut self, at: u64, world: &mut World) {
        let Some(rebuild) = &self.rebuild else { return };
        let (target, length) = (rebuild.member, BLOCK_BYTES.min(self.geometry.member_bytes() - at));
        let copies = self.geometry.copies as u16;
        let others = if copies > 1 {
            target / copies * copies..(target / copies + 1) * copies
        } else {
            0..self.members.len() as u16
        };
        let others = others.filter(|member| {
            *member != target
                && !self.is_unreadable(&MemberExtent {
                    member: *member,
                    offset_bytes: at,
                    length_bytes: length,
                })
        });
        let sources: Vec<u16> = others.take(if copies > 1 { 1 } else { usize::MAX }).collect();
        let work = self.begin(AfterMembers::Copy(at), None);
        for member in sources {
            self.send(
                work,
                member,
                Request::new(RequestKind::Read, at, length as u32),
                world.now_ns(),
                world,
            );
        }
    }

    /// Writes a block that was read to the new member.
    pub(super) fn copy(&mut self, at: u64, world: &mut World) {
        let Some(rebuild) = &self.rebuild else { return };
        let (target, length) = (rebuild.member, BLOCK_BYTES.min(self.geometry.member_bytes() - at));
        let work = self.begin(AfterMembers::Copied(at), None);
        self.send(work, target, Request::new(RequestKind::Write, at, length as u32), world.now_ns(), world);
    }

    /// Records that a block was written.
    pub(super) fn copied(&mut self, at: u64, world: &mut World) {
        let Some(rebuild) = &mut self.rebuild else { return };
        if let Some(block) = rebuild.under_way.iter_mut().find(|block| block.0 == at) {
            block.1 = true;
        }
        while rebuild.under_way.front().is_some_and(|block| block.1) {
            rebuild.under_way.pop_front();
        }
        rebuild.filled_bytes = rebuild.under_way.front().map_or(rebuild.next_bytes, |block| block.0);
        let bytes = BLOCK_BYTES.min(self.geometry.member_bytes() - at);
        rebuild.done_bytes += bytes;
        world.count(self.words.rebuilt_bytes, bytes);
        self.go_on(world);
    }
}
