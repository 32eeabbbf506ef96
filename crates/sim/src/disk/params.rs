//! Parameters of rotating media. Most of them are common to all kinds.

use crate::build::parameters;
use crate::schema::{Parameter, ParameterScale, SIZE};
use crate::vocabulary::entry;

parameters! {
    pub(super) struct Mechanics, MECHANICS from "disk" {
        "capacity" capacity_bytes: SIZE,
            usual("0 B", "derived: all that the zones hold").derived_from(&["zones", "heads", "cylinders", "sector"]);
        "sector" sector_bytes: Bytes(1, 1 << 20), usual("512 B", "assumed: the usual sector");
        "rotation" rotation: Number(60.0, 1e6), needed.scaled(ParameterScale::Log);
        "cylinders" cylinders: Count(1, 10_000_000), needed;
        "heads" heads: Count(1, 64), needed;
        "zones" zones: Rows(&["first cylinder", "sectors per track"]), needed;
        "zone_skews" zone_skews: Rows(&[ "track skew in sectors", "cylinder skew in sectors", "angle of \
            the first sector in sectors", "unused sectors at the start", "unused sectors at the end", ]),
            usual("[]", "derived: as long as the switches take, so that none costs a turn")
                .derived_from(&["head_switch", "cylinder_switch", "write_settle", "read_settle"]);
        "slips" slips: Rows(&["zone", "data sector of the zone", "sectors"]),
            usual("[]", "assumed: no bad sectors");
        "spares" spares: Rows(&["zone", "data sector of the zone", "sectors", "data sectors to the next", "times"]),
            usual("[]", "assumed: none, or as zone_skews and slips tell");
        "serpentine" serpentine: Flag, usual("false", "assumed: every cylinder begins at the first head");
        "serpentine_over_zones" serpentine_over_zones: Flag,
            usual("false", "assumed: every zone begins at its first head");
        "seek_single" seek_single_ns: Time, usual("0 ns", "assumed: given by seek_table");
        "seek_average" seek_average_ns: Time, usual("0 ns", "assumed: given by seek_table");
        "seek_full" seek_full_ns: Time, usual("0 ns", "assumed: given by seek_table");
        "seek_curve" seek_curve: Word(&["root-and-line", "coasting"]),
            usual("root-and-line", "assumed: Lee and Katz 1993, the three-point curve of DiskSim");
        "seek_table" seek_table: Rows(&["cylinders", "ms"]),
            usual("[]", "derived: the curve through the three seek times")
                .derived_from(&["seek_single", "seek_average", "seek_full", "seek_curve"]);
        "head_switch" head_switch_ns: Time, usual("0 ns", "assumed: one head, or not known");
        "cylinder_switch" cylinder_switch_ns: Time,
            usual("0 ns", "derived: a seek to the next cylinder").derived_from(&["seek_single", "seek_table"]);
        "write_settle" write_settle_ns: Time, usual("0 ns", "assumed: small, or contained in the seek times");
        "read_settle" read_settle_ns: Time, usual("0 ns", "assumed: moves take a write no less than a read");
    }
}

parameters! {
    /// Times of the drive's own processor and buffer.
    pub(super) struct Handling, HANDLING from "disk" {
        "read_overhead" read_overhead_ns: Time, needed.live();
        "write_overhead" write_overhead_ns: Time, needed.live();
        "buffer_rate" buffer_bytes_per_s: Rate,
            usual("1 GB/s", "assumed: faster than the bus, whose time its own layer tells").live();
    }
}

parameters! {
    pub(super) struct Memory, MEMORY from "disk" {
        "segment" segment_bytes: SIZE, usual("64 KiB", "assumed");
        "look_ahead" look_ahead_bytes: SIZE, usual("1 GiB", "assumed: until the segment is full");
        "look_ahead_until" look_ahead_until: Word(&["sectors", "track", "next-track"]),
            usual("sectors", "assumed: wherever that is");
        "look_ahead_on_hits" look_ahead_on_hits: Flag, usual("true", "assumed: there is room again");
        "keeps_passing" keeps_passing: Flag, usual("false", "assumed: only what is asked for and what follows");
        "look_ahead_of_runs_only" look_ahead_of_runs_only: Flag, usual("false", "assumed: after every read");
    }
}

parameters! {
    /// Parameters of hard disks only.
    pub(super) struct Values, OF_DISK from "disk" {
        "read_hit_overhead" read_hit_overhead_ns: Time, usual("0 ns", "assumed: small").live();
        "overheads" overheads: Rows(&["read hit ms", "read ms", "write to the cache ms", "write ms"]),
            usual("[]", "derived: the single overheads")
                .derived_from(&["read_hit_overhead", "read_overhead", "write_overhead"]);
        "read_end" read_end_ns: Time, usual("0 ns", "assumed: contained in the overhead before").live();
        "write_end" write_end_ns: Time, usual("0 ns", "assumed: contained in the overhead before").live();
        "reconnect" reconnect_ns: Time, usual("0 ns", "assumed: at once").live();
        "segments" segments: Count(0, 65_536), usual("1", "assumed");
        "read_start" read_start: Number(0.0, 1.0), usual("0", "assumed: sector by sector").live();
        "write_start" write_start: Number(0.0, 1.0), usual("0", "assumed: at once, sector by sector").live();
        "write_start_most" write_start_most_bytes: SIZE, usual("1 GiB", "assumed: write_start alone").live();
        "write_cache" write_cache: Flag, usual("false", "assumed: as SCSI drives were sold");
        "write_cache_size" write_cache_size_bytes: SIZE, usual("0 B", "assumed: no write cache");
        "write_cache_kept" write_cache_kept: Flag, usual("false", "assumed: it is empty after a power cut");
        "writes_empty_segments" writes_empty_segments: Flag,
            usual("false", "assumed: the write cache has memory of its own");
        "write_back" write_back_bytes: SIZE, usual("1 MiB", "assumed").live();
        "queue_depth" queue_depth: Count(1, 256), usual("1", "assumed: no command queueing");
        "age_limit" age_limit_ns: Time,
            usual("500 ms", "assumed: as read_expire of Linux block/mq-deadline.c; no drive states its own").live();
        // Reliability over the years. It affects no time, only the data-loss probability of an
        // array of such disks.
        "failures_per_year": Number(0.0, 10.0),
            usual(
                "0.0157",
                "assumed: as all drives at Backblaze in 2024, 1.57 % a year (blocksandfiles.com, 2025-11-13)"
            );
        "bits_per_error": Number(1.0, 1e18),
            usual("100000000000000", "assumed: the bound that data sheets of such disks give, one in 10^14 bits read");
    }
}

/// Parameter of drives for removable disks only.
pub(super) const WRITE_PIECE: Parameter =
    Parameter::needed("write_piece", SIZE, entry!("disk", "parameter", "write_piece"));

parameters! {
    /// Passes of a write to a magneto-optical disk, in addition to the writing pass.
    pub(super) struct Passes, PASSES from "disk" {
        "erase" erase: Flag,
            usual("true", "http://moca.ncl.ac.uk/floppys/20109.htm: erase, write, check in three passes");
        "verify" verify: Flag,
            usual("true", "http://moca.ncl.ac.uk/floppys/20109.htm: erase, write, check in three passes");
    }
}

const fn joined<const COUNT: usize>(parts: &[&[Parameter]]) -> [Parameter; COUNT] {
    let mut all = [WRITE_PIECE; COUNT];
    let (mut part, mut count) = (0, 0);
    while part < parts.len() {
        let mut index = 0;
        while index < parts[part].len() {
            all[count] = parts[part][index];
            (index, count) = (index + 1, count + 1);
        }
        part += 1;
    }
    assert!(count == COUNT);
    all
}

/// Overheads of reads and of writes, and the rate of the buffer.
const OVERHEADS: (&[Parameter], &[Parameter]) = HANDLING.split_at(2);

pub(super) const DISK_PARAMETERS: &[Parameter] = &{
    let (read_hit, others) = OF_DISK.split_at(1);
    let (before_memory, after_memory) = others.split_at(5);
    let (read, write) = OVERHEADS.0.split_at(1);
    joined::<47>(&[MECHANICS, read, read_hit, write, before_memory, MEMORY, OVERHEADS.1, after_memory])
};
pub(super) const REMOVABLE_PARAMETERS: &[Parameter] =
    &joined::<30>(&[MECHANICS, OVERHEADS.0, MEMORY, OVERHEADS.1, &[WRITE_PIECE]]);
pub(super) const MAGNETO_OPTICAL_PARAMETERS: &[Parameter] = &joined::<32>(&[REMOVABLE_PARAMETERS, PASSES]);
