//! Writes to stripes with parity.
//!
//! The model (raid5.c): data are handled in stripe heads, 4 KiB of each member at the same offset;
//! the stripe cache holds `stripe_cache` of them. A head whose data are all written is only
//! written. Otherwise it reads either the data to be overwritten and the parity
//! (read-modify-write), or the data that stay (reconstruct-write): whichever has fewer blocks
//! missing from the cache, and reconstruct-write if they are equal (handle_stripe_dirtying with
//! PARITY_ENABLE_RMW). If a failed member prevents both, all other members are read. Adjoining
//! heads go to a member as one request, because the block layer merges them. Blocks that were read
//! or written stay in the cache until other heads need the space.
//!
//! A row of chunks is written by one write at a time. Writes that arrive while it waits for space in
//! the cache join it. Writes that arrive during it are combined into the next one, as a delayed
//! stripe collects writes. A stripe with data to write keeps its heads (its reference count is not
//! 0), so that next write comes before those of rows that have none yet.

use super::{AfterMembers, Md};
use crate::raid::geometry::MemberExtent;
use crate::world::{JobId, Request, RequestKind, World, is_last_part};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Size of a head on each member (raid5.h: STRIPE_SIZE).
const HEAD_BYTES: u64 = 4096;

/// The part of a write that is within one row: its request, and the range in the array.
type RowPart = (JobId, u64, u64);

/// For each head written, its strips of data with the number of bytes of each.
type WrittenHeads = BTreeMap<u64, Vec<(u64, u64)>>;

/// A write to the heads of one row.
#[derive(Clone, Debug, Default)]
struct StripeWrite {
    row: u64,
    parts: Vec<RowPart>,
    heads: WrittenHeads,
    writes: Vec<MemberExtent>,
    computed_bytes: u64,
}

/// The stripe cache, and the writes to its heads.
#[derive(Clone, Debug, Default)]
pub(super) struct Stripes {
    under_way: HashMap<u32, StripeWrite>,
    begun: u32,
    /// Rows being written, each with the parts that wait for it.
    rows: BTreeMap<u64, Vec<RowPart>>,
    /// Rows that wait for space in the cache.
    waiting: VecDeque<StripeWrite>,
    heads_in_use: u64,
    /// Last use and cached members' blocks, by head; and the head, by last use.
    cached: HashMap<u64, (u64, u64)>,
    used: BTreeMap<u64, u64>,
    uses: u64,
}

impl Stripes {
    /// Returns the set of members whose blocks of a head are cached.
    fn blocks(&self, head: u64) -> u64 {
        self.cached.get(&head).map_or(0, |(_, blocks)| *blocks)
    }

    /// Caches blocks of a head and evicts the least recently used head.
    fn keep(&mut self, head: u64, blocks: u64, most_heads: u64) {
        self.uses += 1;
        let (used, kept) = self.cached.entry(head).or_default();
        self.used.remove(used);
        (*used, *kept) = (self.uses, *kept | blocks);
        self.used.insert(self.uses, head);
        while self.cached.len() as u64 > most_heads {
            let Some((_, oldest)) = self.used.pop_first() else { return };
            self.cached.remove(&oldest);
        }
    }
}

/// Adds a block of a member, merged into one request with an adjoining one.
fn add_block(list: &mut Vec<MemberExtent>, member: u16, offset_bytes: u64) {
    match list.iter_mut().rev().find(|extent| extent.member == member) {
        Some(last) if last.end_bytes() == offset_bytes => last.length_bytes += HEAD_BYTES,
        _ => list.push(MemberExtent { member, offset_bytes, length_bytes: HEAD_BYTES }),
    }
}

impl Md {
    /// Divides a write of the host into rows.
    pub(super) fn write_stripes(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        let row_bytes = self.geometry.row_bytes();
        let rows = request.offset_bytes / row_bytes..request.end_bytes().div_ceil(row_bytes);
        self.open.insert(job, rows.end - rows.start);
        for row in rows {
            let from = request.offset_bytes.max(row * row_bytes);
            let part = (job, from, request.end_bytes().min((row + 1) * row_bytes));
            let waiting = self.stripes.waiting.iter().position(|stripe| stripe.row == row);
            if let Some(index) = waiting {
                let mut parts = std::mem::take(&mut self.stripes.waiting[index].parts);
                parts.push(part);
                self.stripes.waiting[index] = self.stripe(row, parts);
            } else if let Some(later) = self.stripes.rows.get_mut(&row) {
                later.push(part);
            } else {
                self.stripes.rows.insert(row, Vec::new());
                let stripe = self.stripe(row, vec![part]);
                self.stripes.waiting.push_back(stripe);
                self.admit(world);
            }
        }
    }

    /// Returns a write of these parts of a row.
    fn stripe(&self, row: u64, parts: Vec<RowPart>) -> StripeWrite {
        let heads = self.heads(row, &parts);
        StripeWrite { row, parts, heads, ..StripeWrite::default() }
    }

    fn admit(&mut self, world: &mut World) {
        while let Some(first) = self.stripes.waiting.front() {
            let fits = self.stripes.heads_in_use + first.heads.len() as u64 <= self.values.stripe_cache;
            if !fits && self.stripes.heads_in_use > 0 {
                return;
            }
            let Some(stripe) = self.stripes.waiting.pop_front() else { return };
            self.stripes.heads_in_use += stripe.heads.len() as u64;
            self.read_first(stripe, world);
        }
    }

    /// Returns the heads that parts of a row touch.
    fn heads(&self, row: u64, parts: &[RowPart]) -> WrittenHeads {
        let (chunk_bytes, row_from) = (self.values.chunk_bytes, row * self.geometry.row_bytes());
        let mut heads = WrittenHeads::new();
        for (_, from, to) in parts {
            let (mut at, to) = (from - row_from, to - row_from);
            while at < to {
                let end = to.min((at / HEAD_BYTES + 1) * HEAD_BYTES);
                let head = (row * chunk_bytes + at % chunk_bytes) / HEAD_BYTES;
                heads.entry(head).or_default().push((at / chunk_bytes, end - at));
                at = end;
            }
        }
        heads
    }

    /// Reads the blocks that parity needs and the cache lacks.
    fn read_first(&mut self, mut stripe: StripeWrite, world: &mut World) {
        let mut reads = Vec::new();
        for (&head, strips) in &stripe.heads {
            let cached = self.stripes.blocks(head);
            let needs = self.needs(stripe.row, head, strips, cached);
            world.count(self.words.cached, u64::from(needs == 0 && cached != 0));
            let members = |set: u64| (0..MEMBER_BITS).filter(move |member| set >> member & 1 == 1);
            members(needs).for_each(|member| add_block(&mut reads, member, head * HEAD_BYTES));
            let data = strips.iter().map(|(strip, _)| self.geometry.data_member(stripe.row, *strip));
            let parity =
                (0..self.geometry.parities).map(|index| self.geometry.parity_member(stripe.row, index));
            let written = data.chain(parity).fold(0u64, |set, member| set | 1 << member);
            members(written)
                .filter(|member| !self.is_unwritable(*member))
                .for_each(|member| add_block(&mut stripe.writes, member, head * HEAD_BYTES));
            self.stripes.keep(head, needs | written, self.values.stripe_cache);
            let computed = u64::from((needs | written).count_ones());
            stripe.computed_bytes += computed * HEAD_BYTES * self.geometry.parities;
        }
        for (job, ..) in &stripe.parts {
            world.charge(*job, self.words.stripe_cache, world.now_ns());
        }
        let job = stripe.parts[0].0;
        self.stripes.begun += 1;
        let number = self.stripes.begun;
        self.stripes.under_way.insert(number, stripe);
        if reads.is_empty() {
            return self.write_stripe(number, job, world);
        }
        let work = self.begin(AfterMembers::Parity(number), Some(job));
        for read in reads {
            let request = Request::new(RequestKind::Read, read.offset_bytes, read.length_bytes as u32);
            self.send(work, read.member, request, world.now_ns(), world);
        }
    }

    /// Returns the members whose blocks of a head must be read before it is written.
    fn needs(&self, row: u64, head: u64, strips: &[(u64, u64)], cached: u64) -> u64 {
        let unreadable = |member: u16| {
            self.is_unreadable(&MemberExtent {
                member,
                offset_bytes: head * HEAD_BYTES,
                length_bytes: HEAD_BYTES,
            })
        };
        let (mut modify, mut reconstruct, mut others) = (0, 0, 0);
        for strip in 0..self.geometry.data {
            let block = 1u64 << self.geometry.data_member(row, strip);
            let of_strip = strips.iter().filter(|(written, _)| *written == strip);
            let written_bytes: u64 = of_strip.map(|(_, bytes)| bytes).sum();
            modify |= if written_bytes > 0 { block } else { 0 };
            reconstruct |= if written_bytes < HEAD_BYTES { block } else { 0 };
        }
        for index in 0..self.geometry.parities {
            modify |= 1u64 << self.geometry.parity_member(row, index);
        }
        for member in 0..self.members.len() as u16 {
            others |= if unreadable(member) { 0 } else { 1u64 << member };
        }
        let (modify, reconstruct) = (modify & !cached, reconstruct & !cached);
        let can = |needs: u64| needs & !others == 0;
        match (can(modify), can(reconstruct)) {
            (true, true) if modify.count_ones() < reconstruct.count_ones() => modify,
            (_, true) => reconstruct,
            (true, false) => modify,
            (false, false) => others & !cached,
        }
    }

    /// Computes parity and writes the heads.
    pub(super) fn write_stripe(&mut self, number: u32, job: JobId, world: &mut World) {
        let Some(stripe) = self.stripes.under_way.get_mut(&number) else { return };
        let (writes, bytes) = (std::mem::take(&mut stripe.writes), stripe.computed_bytes);
        let requests = stripe.parts.iter().map(|(job, ..)| world.request(*job));
        let fua = requests.clone().any(|request| request.fua);
        let oldest = requests.map(|request| request.number).min().unwrap_or(0);
        let at_ns = self.compute(job, bytes, world);
        let work = self.begin(AfterMembers::Stripe(number), Some(job));
        for write in writes {
            let request = Request::new(RequestKind::Write, write.offset_bytes, write.length_bytes as u32);
            self.send(work, write.member, Request { fua, number: oldest, ..request }, at_ns, world);
        }
    }

    /// Ends the write of a stripe and starts the writes that wait for its row, or for its space in
    /// the cache.
    pub(super) fn stripe_done(&mut self, number: u32, world: &mut World) {
        let Some(stripe) = self.stripes.under_way.remove(&number) else { return };
        self.stripes.heads_in_use -= stripe.heads.len() as u64;
        for (job, ..) in stripe.parts {
            world.charge(job, self.words.stripe_busy, world.now_ns());
            if is_last_part(&mut self.open, job) {
                self.answer(job, world.now_ns(), world);
            }
        }
        let waiting = self.stripes.rows.remove(&stripe.row).unwrap_or_default();
        for (job, ..) in &waiting {
            world.charge(*job, self.words.stripe_busy, world.now_ns());
        }
        if !waiting.is_empty() {
            self.stripes.rows.insert(stripe.row, Vec::new());
            let next = self.stripe(stripe.row, waiting);
            self.stripes.waiting.push_front(next);
        }
        self.admit(world);
    }
}

const MEMBER_BITS: u16 = u64::BITS as u16;
