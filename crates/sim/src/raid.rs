//! A RAID card: a processor, its memory, and drives that together look like one.
//!
//! The model: a request of the host costs the card a latency and its processor a time of its own, and a time for every
//! strip that it touches. Consecutive strips of one member go to it as one request, all members work side by side, and
//! the last one to return ends the request: so the time of a long read is that of the member with the most strips of it.
//! Writes to rows with parity read first what they need to compute it. In front of all that may stand a memory (`cache`)
//! with its policies: what the host writes is acknowledged from it and written back in the order of addresses, and what
//! it holds is read from it.
//!
//! What is in the memory: data that were written (write-back), data that were read ahead, and, with cached I/O only, data
//! that were read and data that were written through. Reads under direct I/O look into it but leave nothing there.
//! So with write-through and direct I/O it stays empty, and helps no reads either.
//!
//! Of a member that failed, RAID with parity computes what it held from the others, and copies are read elsewhere; writes
//! leave it out. An array that lacks more than that fails every request.
//!
//! Non-goals: the rebuild of a member, patrol reads, boot time, trim (the card takes it and does nothing, as cards of
//! its time do). Parity is read from the members even if the old data are in the memory. A flush that drains the memory
//! holds later writes back.

mod ahead;
mod cache;
mod card;
mod degraded;
mod destage;
mod geometry;
mod index;
mod parity;
#[cfg(test)]
mod published;
mod reads;
mod task;
#[cfg(test)]
mod tests;
mod words;
mod writes;

use crate::build::{Builder, parameters};
use crate::layer::{Below, Layer, LayerKind};
use crate::link::{common_capacity_bytes, targets};
use crate::schema::ParameterScale;
use card::{Card, Policies, ReadAhead};
use geometry::{BLOCK_BYTES, MOST_MEMBERS, RaidGeometry};
use kurabe_core::Result;

/// The kind.
pub const RAID: LayerKind = LayerKind {
    word: "raid",
    title: ("a RAID controller", "RAID コントローラー"),
    of_host: false,
    below: Below::Members,
    parameters: PARAMETERS,
    relations: &[],
    build,
};

parameters! {
    /// Values of its parameters.
    pub(super) struct Values, PARAMETERS {
        "level" level: OneOf(&[0, 1, 5, 6, 10]), needed,
            ("RAID level: 0, 1, 5, 6 or 10", "RAID レベル。0、1、5、6、10 のいずれか");
        "members": Count(1, MOST_MEMBERS), usual("4", "assumed"), ("number of drives", "ドライブの台数");
        "strip" strip_bytes: Bytes(BLOCK_BYTES, 1 << 30),
            usual("64 KiB", "default of MegaRAID firmware: `Strip Size : 64kB` in MegaCli -AdpAllInfo (github.com/npinto/megaclisas-status issue 7)")
                .scaled(ParameterScale::Multiples(BLOCK_BYTES)),
            ("consecutive bytes on one drive before the next drive's turn",
             "次のドライブへ移る前に 1 台に続けて置くバイト数(ストライプサイズ)");
        "latency" latency_ns: Time, usual("0 us", "assumed").live(),
            ("time of a request in driver and card during which the card's processor is free for others",
             "ドライバーとカードが要求ごとにかける時間のうち、カードのプロセッサーが空いている分");
        "request_time" request_ns: Time, usual("0 us", "assumed").live(),
            ("time of the card's processor for a request", "要求 1 件に使うプロセッサー時間");
        "strip_time" strip_ns: Time, usual("0 us", "assumed").live(),
            ("time of the card's processor for every strip that a request touches",
             "要求がまたがるストリップ 1 個ごとに使うプロセッサー時間");
        "strips_per_request" strips_per_request: Count(1, 1 << 20),
            usual("42", "`Max Strips PerIO : 42` of MegaRAID firmware in MegaCli -AdpAllInfo (github.com/thomas-krenn/check_lsi_raid issue 20)")
                .live(),
            ("strips that the firmware takes at once; a longer request costs the processor several times",
             "ファームウェアが一度に扱うストリップ数。これを超える要求は複数回分の処理時間がかかる");
        "parity_rate" parity_bytes_per_s: Rate, usual("2 GB/s", "assumed").live(),
            ("rate at which parity is computed", "パリティーの計算速度");
        "cache" cache_bytes: SIZE, usual("0 B", "assumed"),
            ("memory for data", "データ用のキャッシュメモリーの容量");
        "write_policy" write_policy: Word(&["through", "back", "always-back"]), usual("through", "assumed"),
            ("through: acknowledged when the drives have it; back: when the memory has it, if there is a battery; always-back: \
             even without one",
             "through: ドライブに書けてから完了。back: バッテリーがあればメモリーに入った時点で完了。always-back: バッテリーがなくても同様");
        "io_policy" io_policy: Word(&["direct", "cached"]),
            usual("direct", "default of MegaRAID firmware: `Cached IO : No` (github.com/npinto/megaclisas-status issue 7)"),
            ("direct: reads go past the memory to the host; cached: they are put into it and copied from there",
             "direct: 読み出したデータはメモリーに残さず直接渡す。cached: いったんメモリーに入れてから渡す");
        "read_policy" read_policy: Word(&["none", "always", "adaptive"]),
            usual("none", "default of MegaRAID firmware: `Read Policy : None` (github.com/npinto/megaclisas-status issue 7)"),
            ("reading ahead: never, after every read, or after two reads in a row",
             "先読み。しない、毎回、2 回続けて連続したときだけ、のいずれか");
        "read_ahead" read_ahead_bytes: Bytes(0, 64 << 20), usual("1 MiB", "assumed").live(),
            ("how far ahead, up to 64 MiB", "先読みする量(64 MiB まで)");
        "memory_read_rate" memory_read_bytes_per_s: Rate, usual("2 GB/s", "assumed").live(),
            ("rate from the card's memory to the host", "カードのメモリーからホストへの速度");
        "memory_write_rate" memory_write_bytes_per_s: Rate, usual("2 GB/s", "assumed").live(),
            ("rate from the host to the card's memory", "ホストからカードのメモリーへの速度");
        "high_water" high_water: Number(0.0, 1.0), usual("0.8", "assumed"),
            ("share of the memory that may wait to be written; at half of it writing back begins",
             "未書き込みのデータで埋めてよいメモリーの割合。この半分で書き戻しを始める");
        "flush_interval" flush_interval_ns: Time,
            usual("4 s", "default of MegaRAID firmware: `Flush Time : 4 seconds` (github.com/npinto/megaclisas-status issue 7)")
                .live(),
            ("age of written data at which writing back begins", "書き込みデータをためておく時間の上限");
        "destages" destages: Count(1, 4096), usual("16", "assumed").live(),
            ("rows that are written back at once", "同時に書き戻すストライプの数");
        "battery" battery: Flag, usual("true", "assumed"),
            ("whether a battery saves the memory at a power cut",
             "停電時にメモリーを保持するバッテリーの有無");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let values = Values::new(builder);
    let members = targets(builder);
    let smallest_bytes = common_capacity_bytes(builder);
    let geometry = RaidGeometry::new(values.level, members.len() as u64, values.strip_bytes, smallest_bytes)
        .map_err(|(key, what)| builder.error(key, &what))?;
    let policies = Policies {
        write_back: match values.write_policy {
            "always-back" => true,
            "back" => values.battery,
            _ => false,
        },
        cached: values.io_policy == "cached",
        read_ahead: match values.read_policy {
            "always" => ReadAhead::Always,
            "adaptive" => ReadAhead::Adaptive,
            _ => ReadAhead::None,
        },
    };
    let cache_bytes = values.cache_bytes;
    let cache = (cache_bytes >= BLOCK_BYTES).then(|| {
        cache::Cache::new(cache_bytes, (cache_bytes as f64 * values.high_water) as u64, geometry.strip_bytes)
    });
    let words = words::Words::new(builder);
    Ok(Box::new(Card::new(members, geometry, policies, cache, values, words)))
}
