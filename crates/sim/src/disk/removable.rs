//! Drives for removable disks: magneto-optical and ZIP.
//!
//! The model: one command after the other, in order of arrival. A read goes on reading into the drive's memory. A write
//! goes piece by piece, as large as the drive's memory for it, and every piece takes as many passes over its sectors as
//! the medium needs: a magneto-optical disk first erases, then writes, then reads back to check. After each pass the
//! head goes back and waits for the first sector again.
//!
//! Not modelled: spinning down, exchange of media, sectors that are written again after a failed check.

use super::causes::Causes;
use super::layout;
use super::mechanism::{Read, Reader};
use crate::account::{Cause, Counter};
use crate::build::Builder;
use crate::layer::Layer;
use crate::settings::Setting;
use crate::timeline::transfer_ns;
use crate::world::{JobId, Kind, World};
use kurabe_core::Result;

#[derive(Clone)]
struct Removable {
    reader: Reader,
    sector_bytes: u64,
    capacity_bytes: u64,
    read_overhead_ns: u64,
    write_overhead_ns: u64,
    buffer_bytes_per_s: f64,
    piece_sectors: u64,
    /// What each pass of a write is charged to.
    passes: Vec<Cause>,
    free_ns: u64,
    causes: Causes,
    counted: Counter,
}

/// Builds a magneto-optical drive.
pub(super) fn build_magneto_optical(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let causes = Causes::new(builder);
    let erase = builder.cause(
        "erase",
        ("erasing before writing", "書き込み前の消去"),
        (
            "the laser can only set all bits to the same value, so the old data are erased in a pass of their own",
            "レーザーと磁石では一度に同じ向きにしかできないので、書く前に 1 周余分に回って消去します"
        ),
    );
    let verify = builder.cause(
        "verify",
        ("reading back to check", "書き込み後の照合"),
        (
            "the drive reads what it has just written, in a pass of its own",
            "書いた内容を、さらに 1 周回って読み直して確かめます",
        ),
    );
    let mut passes = vec![causes.transfer];
    if builder.flag("erase") {
        passes.insert(0, erase);
    }
    if builder.flag("verify") {
        passes.push(verify);
    }
    build(builder, causes, passes)
}

/// Builds a drive that writes in one pass.
pub(super) fn build_plain(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let causes = Causes::new(builder);
    let passes = vec![causes.transfer];
    build(builder, causes, passes)
}

fn build(builder: &mut Builder<'_>, causes: Causes, passes: Vec<Cause>) -> Result<Box<dyn Layer>> {
    let sector_bytes = builder.bytes("sector");
    let reader = layout::reader(builder, 1, sector_bytes)?;
    let capacity_bytes = layout::capacity_bytes(builder, reader.mechanism.geometry.sectors, sector_bytes)?;
    Ok(Box::new(Removable {
        reader,
        sector_bytes,
        capacity_bytes,
        read_overhead_ns: builder.ns("read_overhead"),
        write_overhead_ns: builder.ns("write_overhead"),
        buffer_bytes_per_s: builder.rate("buffer_rate"),
        piece_sectors: (builder.bytes("write_piece") / sector_bytes).max(1),
        passes,
        free_ns: 0,
        causes,
        counted: builder.counter("passes", ("passes over sectors for writing", "書き込みのための周回")),
    }))
}

impl Removable {
    fn read(&mut self, job: JobId, ready_ns: u64, first: u64, end: u64, world: &mut World) -> u64 {
        let bytes_ns = transfer_ns((end - first) * self.sector_bytes, self.buffer_bytes_per_s);
        let there_ns = match self.reader.read(ready_ns, first, end) {
            Read::Hit => ready_ns,
            Read::Follows(there_ns) => {
                world.charge(job, self.causes.transfer, there_ns);
                there_ns
            }
            Read::Access(access) => {
                self.causes.charge(world, job, &access);
                access.end_ns
            }
        };
        let end_ns = there_ns.max(ready_ns + bytes_ns);
        world.charge(job, self.causes.memory, end_ns);
        end_ns
    }

    fn write(&mut self, job: JobId, ready_ns: u64, first: u64, end: u64, world: &mut World) -> u64 {
        let (mut at_ns, mut sector) = (ready_ns, first);
        while sector < end {
            let piece_end = end.min(sector.saturating_add(self.piece_sectors));
            for cause in &self.passes {
                let access = self.reader.write(at_ns, at_ns, sector, piece_end);
                world.charge(job, self.causes.seek, access.sought_ns);
                world.charge(job, self.causes.rotation, access.turned_ns);
                world.charge(job, self.causes.switch, access.turned_ns + access.switch_ns);
                world.charge(job, *cause, access.end_ns);
                at_ns = access.end_ns;
            }
            world.count(self.counted, self.passes.len() as u64);
            sector = piece_end;
        }
        at_ns
    }
}

impl Layer for Removable {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn arrive(&mut self, job: JobId, world: &mut World) {
        let (request, now_ns) = (world.request(job), world.now_ns());
        let write = request.kind != Kind::Read;
        let overhead_ns = match write {
            _ if request.continues => 0,
            true => self.write_overhead_ns,
            false => self.read_overhead_ns,
        };
        let start_ns = now_ns.max(self.free_ns);
        // A command that waited has been worked out meanwhile.
        let ready_ns = start_ns.max(now_ns + overhead_ns);
        world.charge(job, self.causes.waiting, start_ns);
        world.charge(job, self.causes.command, ready_ns);
        let (first, end) =
            (request.offset_bytes / self.sector_bytes, request.end_bytes().div_ceil(self.sector_bytes));
        let end_ns = match request.kind {
            Kind::Read if first < end => self.read(job, ready_ns, first, end, world),
            Kind::Write | Kind::WriteZeroes if first < end => self.write(job, ready_ns, first, end, world),
            _ => ready_ns,
        };
        self.free_ns = end_ns;
        world.finish_at(end_ns, job);
    }

    fn change(&mut self, setting: &Setting) {
        match setting.parameter.key {
            "read_overhead" => self.read_overhead_ns = setting.whole(),
            "write_overhead" => self.write_overhead_ns = setting.whole(),
            "buffer_rate" => self.buffer_bytes_per_s = setting.real(),
            _ => setting.refused(),
        }
    }
}
