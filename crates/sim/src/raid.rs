//! A RAID card: a processor, memory, and drives that together look like a single one.
//!
//! The model: each request of the host costs the card a latency, a processor time, and a processor
//! time per strip that it touches. Consecutive strips of one member go to it as one request, all
//! members work in parallel, and the last one to return ends the request. So a long read takes the
//! time of the member with most of its strips. A write to rows with parity first reads what it
//! needs to compute parity. A memory (`cache`) with its policies may precede all that: writes of
//! the host are acknowledged from it and written back in order of addresses, and cached data are
//! read from it.
//!
//! Contents of the memory: written data (write-back), read-ahead data, and, with cached I/O only,
//! data that were read and data that were written through. Reads under direct I/O look there but
//! leave nothing there. So with write-through and direct I/O it stays empty, and does not help
//! reads either.
//!
//! With parity, data of a failed member are computed from the others; with copies, they are read
//! elsewhere. Writes skip the failed member. An array with more failures than that fails every
//! request.
//!
//! Not modelled: rebuilds, patrol reads, boot time, and trim (the card accepts it and does nothing,
//! as cards of its time do). Parity is read from the members even if the old data are in the
//! memory. A flush that drains the memory delays later writes.

mod ahead;
mod cache;
mod card;
mod destage;
pub(crate) mod failures;
pub(crate) mod geometry;
mod parity;
#[cfg(test)]
mod published;
mod reads;
mod task;
#[cfg(test)]
mod tests;
mod writes;

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, LayerKind};
use crate::schema::ParameterScale;
use crate::vocabulary::page;
use card::Card;
use failures::Failures;
use geometry::{BLOCK_BYTES, MOST_MEMBERS, RaidGeometry};
use kurabe_core::Result;

/// RAID card: `raid` in device files.
pub const RAID: LayerKind = LayerKind::new(page!("raid"), "raid", Below::Members, PARAMETERS, build);

parameters! {
    pub(super) struct Values, PARAMETERS from "raid" {
        "level" level: OneOf(&[0, 1, 5, 6, 10]), needed;
        "members": Count(1, MOST_MEMBERS), usual("4", "assumed");
        "strip" strip_bytes: Bytes(BLOCK_BYTES, 1 << 30),
            usual("64 KiB", "default of MegaRAID firmware: `Strip Size : 64kB` in MegaCli -AdpAllInfo \
                (github.com/npinto/megaclisas-status issue 7)").scaled(ParameterScale::Multiples(BLOCK_BYTES));
        "latency" latency_ns: Time, usual("0 us", "assumed").live();
        "request_time" request_ns: Time, usual("0 us", "assumed").live();
        "strip_time" strip_ns: Time, usual("0 us", "assumed").live();
        "strips_per_request" strips_per_request: Count(1, 1 << 20),
            usual("42", "`Max Strips PerIO : 42` of MegaRAID firmware in MegaCli -AdpAllInfo \
                (github.com/thomas-krenn/check_lsi_raid issue 20)").live();
        "parity_rate" parity_bytes_per_s: Rate, usual("2 GB/s", "assumed").live();
        "cache" cache_bytes: SIZE, usual("0 B", "assumed");
        "write_policy" write_policy: Word(&["through", "back", "always-back"]), usual("through", "assumed");
        "io_policy" io_policy: Word(&["direct", "cached"]),
            usual("direct", "default of MegaRAID firmware: `Cached IO : No` \
                (github.com/npinto/megaclisas-status issue 7)");
        "read_policy" read_policy: Word(&["none", "always", "adaptive"]),
            usual("none", "default of MegaRAID firmware: `Read Policy : None` \
                (github.com/npinto/megaclisas-status issue 7)");
        "read_ahead" read_ahead_bytes: Bytes(0, 64 << 20), usual("1 MiB", "assumed").live();
        "memory_read_rate" memory_read_bytes_per_s: Rate, usual("2 GB/s", "assumed").live();
        "memory_write_rate" memory_write_bytes_per_s: Rate, usual("2 GB/s", "assumed").live();
        "high_water" high_water: Number(0.0, 1.0), usual("0.8", "assumed");
        "flush_interval" flush_interval_ns: Time,
            usual("4 s", "default of MegaRAID firmware: `Flush Time : 4 seconds` \
                (github.com/npinto/megaclisas-status issue 7)").live();
        "destages" destages: Count(1, 4096), usual("16", "assumed").live();
        "battery" battery: Flag, usual("true", "assumed");
    }
}

words! {
    /// Causes and counters of the card.
    pub(super) struct Words from "raid" {
        processor_busy: cause("processor-busy");
        request: cause("request");
        strips: cause("strips");
        latency: cause("latency");
        memory_busy: cause("memory-busy");
        memory: cause("memory");
        copy: cause("copy");
        full: cause("cache-full");
        draining: cause("draining");
        ahead: cause("read-ahead");
        row_busy: cause("row-busy");
        parity_busy: cause("parity-busy");
        parity: cause("parity");
        most_bytes: counter("most-bytes");
        even_bytes: counter("even-bytes");
        member_reads: counter("member-reads");
        member_writes: counter("member-writes");
        hit_bytes: counter("hit-bytes");
        missed_bytes: counter("missed-bytes");
        ahead_bytes: counter("ahead-bytes");
        destaged_bytes: counter("destaged-bytes");
        whole_rows: counter("whole-rows");
        partial_rows: counter("partial-rows");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let (members, smallest_bytes) = (builder.targets(), builder.below_bytes());
    let geometry = RaidGeometry::new(values.level, members.len() as u64, values.strip_bytes, smallest_bytes)
        .map_err(|(key, what)| builder.error(key, &what))?;
    let cache_bytes = values.cache_bytes;
    let cache = (cache_bytes >= BLOCK_BYTES).then(|| {
        cache::Cache::new(cache_bytes, (cache_bytes as f64 * values.high_water) as u64, geometry.strip_bytes)
    });
    let card = Card {
        busy: vec![0; members.len()],
        failures: Failures::new(members.len()),
        members,
        geometry,
        write_back: match values.write_policy {
            "always-back" => true,
            "back" => values.battery,
            _ => false,
        },
        cached: values.io_policy == "cached",
        ahead_after: match values.read_policy {
            "always" => Some(1),
            "adaptive" => Some(2),
            _ => None,
        },
        cache,
        values,
        words: Words::new(builder),
        ..Card::default()
    };
    Ok(Built::new(card, geometry.capacity_bytes()))
}
