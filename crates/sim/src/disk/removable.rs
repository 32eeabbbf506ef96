//! Drives for removable disks: magneto-optical and ZIP.
//!
//! The model: one command at a time, in order of arrival. After a read, the drive reads ahead into
//! its buffer. A write is divided into pieces of the size of the write buffer, and each piece takes
//! as many passes over its sectors as the medium needs: a magneto-optical disk first erases, then
//! writes, then reads back to verify. After each pass the head returns and waits for the first
//! sector again.
//!
//! Not modelled: spinning down, media changes, and rewriting sectors after a failed verification.

use super::layout;
use super::mechanism::{BufferedMechanism, Causes, Read};
use super::params::{Handling, MAGNETO_OPTICAL_PARAMETERS, Passes, REMOVABLE_PARAMETERS, WRITE_PIECE};
use crate::account::{Cause, Counter};
use crate::build::{Builder, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::settings::{Live, Setting};
use crate::timeline::transfer_ns;
use crate::vocabulary::{entry, page};
use crate::world::{JobId, RequestKind, World};
use kurabe_core::Result;

/// Magneto-optical drive with its disk: `magneto-optical` in device files.
pub const MAGNETO_OPTICAL: LayerKind = LayerKind::new(
    page!("disk"),
    "magneto-optical",
    Below::Nothing,
    MAGNETO_OPTICAL_PARAMETERS,
    build_magneto_optical,
);

/// Drive for removable magnetic disks: `removable` in device files.
pub const REMOVABLE: LayerKind =
    LayerKind::new(page!("disk"), "removable", Below::Nothing, REMOVABLE_PARAMETERS, build_plain);

#[derive(Clone)]
struct Removable {
    reader: BufferedMechanism,
    sector_bytes: u64,
    handling: Handling,
    piece_sectors: u64,
    /// Cause to which each pass of a write is charged.
    passes: Vec<Cause>,
    free_ns: u64,
    causes: Causes,
    counted: Counter,
}

words! {
    /// Causes of the passes other than the writing one.
    struct CausesOfPasses from "disk" {
        erase: cause("erase");
        verify: cause("verify");
    }
}

/// Builds a magneto-optical drive.
fn build_magneto_optical(builder: &mut Builder<'_>) -> Result<Built> {
    let causes = Causes::new(builder);
    let (passes, of_passes) = (Passes::new(builder), CausesOfPasses::new(builder));
    let erase = passes.erase.then_some(of_passes.erase);
    let verify = passes.verify.then_some(of_passes.verify);
    let passes = [erase, Some(causes.transfer), verify].into_iter().flatten().collect();
    build(builder, causes, passes)
}

/// Builds a drive that writes in one pass.
fn build_plain(builder: &mut Builder<'_>) -> Result<Built> {
    let causes = Causes::new(builder);
    let passes = vec![causes.transfer];
    build(builder, causes, passes)
}

fn build(builder: &mut Builder<'_>, causes: Causes, passes: Vec<Cause>) -> Result<Built> {
    let (reader, sector_bytes, capacity_bytes) = layout::reader(builder, 1)?;
    let piece_bytes: u64 = builder.value(WRITE_PIECE.key);
    let removable = Removable {
        reader,
        sector_bytes,
        handling: Handling::new(builder),
        piece_sectors: (piece_bytes / sector_bytes).max(1),
        passes,
        free_ns: 0,
        causes,
        counted: builder.counter("passes", entry!("disk", "counter", "passes")),
    };
    Ok(Built::new(removable, capacity_bytes))
}

impl Removable {
    fn read(&mut self, job: JobId, ready_ns: u64, first: u64, end: u64, world: &mut World) -> u64 {
        let bytes_ns = transfer_ns((end - first) * self.sector_bytes, self.handling.buffer_bytes_per_s);
        let there_ns = match self.reader.read(ready_ns, ready_ns, first, end) {
            Read::Hit => ready_ns,
            Read::Follows(there_ns) => {
                if there_ns > ready_ns + bytes_ns {
                    world.charge(job, self.causes.transfer, there_ns);
                }
                there_ns
            }
            Read::Access(access) | Read::Rest(access) => {
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
                let access = self.reader.write(at_ns, at_ns, at_ns, sector, piece_end);
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
    fn arrive(&mut self, job: JobId, world: &mut World) {
        let (request, now_ns) = (world.request(job), world.now_ns());
        let write = request.kind != RequestKind::Read;
        let overhead_ns = match write {
            _ if request.continues => 0,
            true => self.handling.write_overhead_ns,
            false => self.handling.read_overhead_ns,
        };
        let start_ns = now_ns.max(self.free_ns);
        // The overhead of a command overlaps with its waiting time.
        let ready_ns = start_ns.max(now_ns + overhead_ns);
        world.charge(job, self.causes.waiting, start_ns);
        world.charge(job, self.causes.command, ready_ns);
        let (first, end) =
            (request.offset_bytes / self.sector_bytes, request.end_bytes().div_ceil(self.sector_bytes));
        let end_ns = match request.kind {
            RequestKind::Read if first < end => self.read(job, ready_ns, first, end, world),
            RequestKind::Write | RequestKind::WriteZeroes if first < end => {
                self.write(job, ready_ns, first, end, world)
            }
            _ => ready_ns,
        };
        self.free_ns = end_ns;
        world.finish_at(end_ns, job);
    }

    fn knows(&self, kind: RequestKind) -> bool {
        kind.is_known_to_all()
    }

    fn change(&mut self, setting: &Setting) {
        self.handling.change(setting);
    }
}
