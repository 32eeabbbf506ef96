//! Linux software RAID over n members: RAID 0, 1, 5, 6 and 10 (near layout).
//!
//! The model (drivers/md): the array is divided into chunks. Reads go to the members that hold the
//! data; among copies, `balance` selects one. Writes go to all copies, or to `stripes`, which reads
//! what parity needs. Before a write, the `bitmap` must mark its part of the array on all members.
//! A flush goes to all members. Data of a failed member are computed from parity or read from a
//! copy. `rebuild` fills an empty replacement, and throttles itself while other requests are
//! served.
//!
//! Data begin after the superblock, the bitmap and the space that mdadm leaves free
//! (`data_offset`).
//!
//! Not modelled: processor time (the host's layer has one per request), the clean flag in the
//! superblock, discards, the journal of RAID 5 and 6, far and offset layouts, and the mutual
//! exclusion of a rebuild of copies and other writes within 64 MiB.

mod balance;
mod bitmap;
mod bits;
mod rebuild;
mod stripes;
#[cfg(test)]
mod tests;

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Control, Layer, LayerKind};
use crate::raid::failures::Failures;
use crate::raid::geometry::{MemberExtent, RaidGeometry};
use crate::ranges::AtRisk;
use crate::schema::ParameterScale;
use crate::settings::{Live, Setting};
use crate::timeline::{Timeline, transfer_ns};
use crate::vocabulary::page;
use crate::world::{Child, JobId, LayerId, OpenParts, Request, RequestKind, World};
use bits::{Bitmap, DAEMON};
use kurabe_core::device::ErrorNumber;
use kurabe_core::{Result, Text, text};
use rebuild::Rebuild;
use std::collections::BTreeMap;
use stripes::Stripes;

/// Linux software RAID: `md` in device files.
pub const MD: LayerKind = LayerKind::new(page!("md"), "md", Below::Members, PARAMETERS, build);

/// A set of members is a 64-bit mask.
const MOST_MEMBERS: u64 = 64;

parameters! {
    struct Values, PARAMETERS from "md" {
        "level" level: OneOf(&[0, 1, 5, 6, 10]), needed;
        "members": Count(1, MOST_MEMBERS), usual("4", "assumed");
        "chunk" chunk_bytes: Bytes(4096, 1 << 30),
            usual("512 KiB", "mdadm(8): chunk, default 512 KB").scaled(ParameterScale::PowersOfTwo);
        "data_offset" data_offset_bytes: SIZE,
            usual("129 MiB", "mdadm super1.c: 128 MiB left free on members of this size, and 1 MiB for \
                superblock and bitmap");
        "rotational" rotational: Flag, usual("true", "assumed: of disks; Linux asks the members (queue/rotational)");
        "bitmap" bitmap: Flag, usual("true", "mdadm(8): bitmap, internal by itself where members are \
            larger than 100 GB");
        "bitmap_chunk" bitmap_chunk_bytes: Bytes(4096, 1 << 40),
            usual("64 MiB", "mdadm(8): bitmap-chunk, at least 64 MB of an internal bitmap")
                .scaled(ParameterScale::PowersOfTwo);
        "bitmap_delay" bitmap_delay_ns: Time, usual("5 s", "mdadm(8): delay, default 5 seconds");
        "stripe_cache" stripe_cache: Count(17, 32_768),
            usual("256", "Linux Documentation/admin-guide/md.rst: stripe_cache_size, default 256").live();
        "parity_rate" parity_bytes_per_s: Rate,
            usual("10 GB/s", "assumed: what the kernel prints of `xor` and `raid6` with AVX2 on one core").live();
        "speed_min" speed_min_bytes_per_s: Rate,
            usual("1024000 B/s", "Linux drivers/md/md.c: speed_limit_min, 1000 KiB/s").live();
        "speed_max" speed_max_bytes_per_s: Rate,
            usual("204800000 B/s", "Linux drivers/md/md.c: speed_limit_max, 200000 KiB/s").live();
        "state" state: Word(&["clean", "degraded", "rebuilding"]), usual("clean", "assumed: all members are sound");
    }
}

words! {
    struct Words from "md" {
        bitmap: cause("bitmap");
        stripe_cache: line("stripe-cache");
        stripe_busy: cause("stripe-busy");
        parity_busy: cause("parity-busy");
        parity: cause("parity");
        member_reads: counter("member-reads");
        member_writes: counter("member-writes");
        bitmap_writes: counter("bitmap-writes");
        cached: counter("cached");
        rebuilt_bytes: counter("rebuilt-bytes");
    }
}

/// A member of the array.
#[derive(Clone)]
struct ArrayMember {
    below: LayerId,
    unit: u16,
    /// Number of unanswered requests.
    pending: u32,
    /// End of the last read sent to it, and position of the last request that it answered.
    sent_to_bytes: u64,
    head_bytes: u64,
}

/// Action when all members have answered.
#[derive(Clone, Debug)]
enum AfterMembers {
    /// Computes this many bytes of failed members, then ends the host's request.
    Answer { computed_bytes: u64 },
    /// Computes parity and writes a stripe.
    Parity(u32),
    /// Ends the write of a stripe.
    Stripe(u32),
    /// Marks the next writes in the bitmap, after the members' caches are flushed.
    Mark,
    /// Starts the writes that are now marked.
    Marked,
    /// Writes a range read from the other members to the replacement.
    Copy(u64),
    /// Continues the rebuild after a range was written.
    Copied(u64),
    /// Does nothing.
    Forget,
}

/// Requests to members for a request of the host, or for the array itself.
#[derive(Clone, Debug)]
struct MemberWork {
    after: AfterMembers,
    job: Option<JobId>,
    pending: u32,
}

#[derive(Clone, Default)]
struct Md {
    members: Vec<ArrayMember>,
    geometry: RaidGeometry,
    failures: Failures,
    values: Values,
    words: Words,
    work: BTreeMap<u64, MemberWork>,
    begun: u64,
    /// Stripes that each write still waits for.
    open: OpenParts,
    bitmap: Bitmap,
    stripes: Stripes,
    rebuild: Option<Rebuild>,
    parity: Timeline,
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let targets = builder.targets();
    let (members, data_bytes) =
        (targets.len() as u64, builder.below_bytes().saturating_sub(values.data_offset_bytes));
    let geometry = RaidGeometry::new(values.level, members, values.chunk_bytes, data_bytes)
        .map_err(|(key, what)| builder.error(if key == "strip" { "chunk" } else { key }, &what))?;
    if members > MOST_MEMBERS {
        return Err(builder.error(
            "members",
            &text!("more than {MOST_MEMBERS} members", "メンバーは {MOST_MEMBERS} 台までです"),
        ));
    }
    let member =
        |(below, unit)| ArrayMember { below, unit, pending: 0, sent_to_bytes: u64::MAX, head_bytes: 0 };
    let mut md = Md {
        failures: Failures::new(targets.len()),
        members: targets.into_iter().map(member).collect(),
        geometry,
        words: Words::new(builder),
        values,
        ..Md::default()
    };
    if md.values.state != "clean" {
        if geometry.parities == 0 && geometry.copies == 1 {
            let what = text!(
                "RAID 0 loses the data of a failed member",
                "RAID 0 では故障したメンバーのデータが失われます"
            );
            return Err(builder.error("state", &what));
        }
        md.failures.set(0, true, &geometry);
        md.rebuild = (md.values.state == "rebuilding").then(|| md.new_rebuild(0, 0));
    }
    Ok(Built::new(md, geometry.capacity_bytes()))
}

impl Md {
    /// Creates a set of requests to members.
    fn begin(&mut self, after: AfterMembers, job: Option<JobId>) -> u64 {
        self.begun += 1;
        self.work.insert(self.begun, MemberWork { after, job, pending: 0 });
        self.begun
    }

    /// Sends a request to a member; the offset is within the member's data.
    fn send(&mut self, work: u64, member: u16, request: Request, at_ns: u64, world: &mut World) {
        match request.kind {
            RequestKind::Read => world.count(self.words.member_reads, 1),
            RequestKind::Write => world.count(self.words.member_writes, 1),
            RequestKind::Flush | RequestKind::Trim | RequestKind::WriteZeroes => {}
        }
        self.send_raw(
            work,
            member,
            request.at(request.offset_bytes + self.values.data_offset_bytes, request.length_bytes),
            at_ns,
            world,
        );
    }

    /// Sends a request to a member; the offset is within the whole member.
    fn send_raw(&mut self, work: u64, member: u16, request: Request, at_ns: u64, world: &mut World) {
        let Some(begun) = self.work.get_mut(&work) else { return };
        begun.pending += 1;
        let target = &mut self.members[usize::from(member)];
        target.pending += 1;
        if request.kind == RequestKind::Read {
            target.sent_to_bytes = request.end_bytes();
        }
        let tag = work << 8 | u64::from(member);
        world.send_at(at_ns, begun.job, target.below, Request { unit: target.unit, ..request }, tag);
    }

    /// Returns the members that accept writes, including one that is being rebuilt.
    fn asked(&self) -> Vec<u16> {
        (0..self.members.len() as u16).filter(|member| !self.is_unwritable(*member)).collect()
    }

    /// Returns whether a range of a member cannot be read.
    fn is_unreadable(&self, piece: &MemberExtent) -> bool {
        let filled = self.rebuild.as_ref().filter(|rebuild| rebuild.member == piece.member);
        self.failures.has(piece.member)
            && filled.is_none_or(|rebuild| piece.end_bytes() > rebuild.filled_bytes)
    }

    fn is_unwritable(&self, member: u16) -> bool {
        self.failures.has(member) && self.rebuild.as_ref().is_none_or(|rebuild| rebuild.member != member)
    }

    fn read(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        let mut pieces = Vec::new();
        self.geometry.split(request.offset_bytes, request.end_bytes(), &mut pieces);
        let mut computed_bytes = 0;
        if self.geometry.parities > 0 && pieces.iter().any(|piece| self.is_unreadable(piece)) {
            (pieces, computed_bytes) =
                self.failures.read_around(&self.geometry, &pieces, |piece| self.is_unreadable(piece));
        }
        let work = self.begin(AfterMembers::Answer { computed_bytes }, Some(job));
        for piece in pieces {
            let member = if self.geometry.copies > 1 { self.reader(&piece) } else { piece.member };
            let request = Request::new(RequestKind::Read, piece.offset_bytes, piece.length_bytes as u32);
            self.send(work, member, request, world.now_ns(), world);
        }
    }

    /// Writes data that the bitmap has marked.
    fn write(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        if self.geometry.parities > 0 {
            return self.write_stripes(job, world);
        }
        let mut pieces = Vec::new();
        self.geometry.split(request.offset_bytes, request.end_bytes(), &mut pieces);
        let work = self.begin(AfterMembers::Answer { computed_bytes: 0 }, Some(job));
        for piece in pieces {
            let request = Request { kind: RequestKind::Write, ..request };
            let request = request.at(piece.offset_bytes, piece.length_bytes as u32);
            for member in piece.member..piece.member + self.geometry.copies as u16 {
                if !self.is_unwritable(member) {
                    self.send(work, member, request, world.now_ns(), world);
                }
            }
        }
    }

    /// Ends a request of the host.
    fn answer(&mut self, job: JobId, at_ns: u64, world: &mut World) {
        if world.request(job).kind.writes() {
            self.unmark(job, world);
        }
        world.finish_at(at_ns, job);
    }

    /// Charges the computation of this many bytes after the members have delivered, and returns its
    /// end.
    fn compute(&mut self, job: JobId, bytes: u64, world: &mut World) -> u64 {
        let time_ns = transfer_ns(bytes, self.values.parity_bytes_per_s);
        let (start_ns, end_ns) = self.parity.take(world.now_ns(), time_ns);
        world.charge(job, self.words.parity_busy, start_ns);
        world.charge(job, self.words.parity, end_ns);
        end_ns
    }
}

impl Layer for Md {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        if self.failures.offline {
            return world.fail(job, ErrorNumber::IO);
        }
        if self.rebuild.as_ref().is_some_and(|rebuild| !rebuild.began) {
            self.go_on(world);
        }
        let request = world.request(job);
        if let Some(rebuild) = &mut self.rebuild {
            rebuild.clients_bytes += u64::from(request.length_bytes);
        }
        match request.kind {
            RequestKind::Read if request.length_bytes > 0 => self.read(job, world),
            RequestKind::Write | RequestKind::WriteZeroes if request.length_bytes > 0 => {
                if self.mark(job, world) {
                    self.write(job, world);
                }
            }
            RequestKind::Flush => {
                let work = self.begin(AfterMembers::Answer { computed_bytes: 0 }, Some(job));
                for member in self.asked() {
                    self.send_raw(work, member, request, world.now_ns(), world);
                }
            }
            RequestKind::Read | RequestKind::Write | RequestKind::WriteZeroes | RequestKind::Trim => {
                world.finish(job);
            }
        }
    }

    fn knows(&self, kind: RequestKind) -> bool {
        kind.is_known_to_all()
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        let member = &mut self.members[(child.tag & 0xff) as usize];
        member.pending -= 1;
        if child.request.kind != RequestKind::Flush {
            member.head_bytes = child.request.end_bytes();
        }
        let number = child.tag >> 8;
        let Some(work) = self.work.get_mut(&number) else { return };
        work.pending -= 1;
        if work.pending > 0 {
            return;
        }
        let Some(MemberWork { after, job, .. }) = self.work.remove(&number) else { return };
        match (after, job) {
            (AfterMembers::Answer { computed_bytes }, Some(job)) => {
                let end_ns = self.compute(job, computed_bytes, world);
                self.answer(job, end_ns, world);
            }
            (AfterMembers::Parity(stripe), Some(job)) => self.write_stripe(stripe, job, world),
            (AfterMembers::Stripe(stripe), _) => self.stripe_done(stripe, world),
            (AfterMembers::Mark, job) => self.write_marks(job, world),
            (AfterMembers::Marked, _) => self.marked(world),
            (AfterMembers::Copy(at), _) => self.copy(at, world),
            (AfterMembers::Copied(at), _) => self.copied(at, world),
            (AfterMembers::Forget | AfterMembers::Answer { .. } | AfterMembers::Parity(_), _) => {}
        }
    }

    fn wake(&mut self, token: u64, world: &mut World) {
        if token == DAEMON {
            self.clear_marks(world);
        } else if let Some(rebuild) = self.rebuild.as_mut().filter(|rebuild| rebuild.sleeps) {
            rebuild.sleeps = false;
            self.go_on(world);
        }
    }

    fn waits_for(&self) -> Option<Text> {
        (!self.open.is_empty()).then(|| text!("a stripe of the array", "アレイのストライプ"))
    }

    fn control(&mut self, control: Control, world: &mut World) -> Result<(), Text> {
        let last = self.members.len() - 1;
        let (Control::FailMember(member) | Control::RebuildMember(member, _)) = control else {
            return Err(control.refused());
        };
        if !self.failures.set(member, true, &self.geometry) {
            return Err(text!("it has members 0 to {last}", "メンバーは 0 から {last} までです"));
        }
        self.rebuild = None;
        if let Control::RebuildMember(_, from_bytes) = control
            && !self.failures.offline
        {
            self.rebuild = Some(self.new_rebuild(member as u16, from_bytes));
            self.go_on(world);
        }
        Ok(())
    }

    fn lift(&self, below: Vec<AtRisk>) -> Vec<AtRisk> {
        vec![self.geometry.lift(&below, &self.failures, self.values.data_offset_bytes)]
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}
