//! Construction of the mechanism of a rotating medium from its parameters.

use super::geometry::{DiskGeometry, Serpentine, Track, Zone};
use super::mechanism::{BufferedMechanism, Habits, Mechanism, Settle, Until};
use super::params::{Mechanics, Memory};
use super::seek::Seek;
use crate::build::Builder;
use kurabe_core::{Error, Result, text};

/// Upper limit of sectors per track.
const MOST_SECTORS: u64 = 1 << 20;

pub(super) fn mechanism(builder: &Builder<'_>, values: &Mechanics) -> Result<Mechanism> {
    let turn_ns = (60e9 / values.rotation).round() as u64;
    let (heads, cylinders) = (values.heads, values.cylinders);
    let seek = seek(builder, values)?;
    let settle = Settle { write_ns: values.write_settle_ns, read_ns: values.read_settle_ns };
    let head_ns = values.head_switch_ns;
    let cylinder_ns = match values.cylinder_switch_ns {
        0 => seek.ns(1),
        given_ns => given_ns,
    };
    let mut zones = zones(builder, values)?;
    for zone in &mut zones {
        // A skew that the device file does not specify is as long as the slowest switch, so that no
        // switch costs a revolution.
        zone.skew_ns = (settle.longest(head_ns) % turn_ns, settle.longest(cylinder_ns) % turn_ns);
    }
    skews(builder, values, &mut zones, turn_ns)?;
    let serpentine = match (values.serpentine, values.serpentine_over_zones) {
        (false, _) => Serpentine::No,
        (true, false) => Serpentine::FromEachZone,
        (true, true) => Serpentine::OverZones,
    };
    let geometry = DiskGeometry::new(zones, heads, cylinders, turn_ns, serpentine);
    if geometry.sectors == 0 {
        let what = text!("the zones contain no sectors", "ゾーンにセクターが 1 つもありません");
        return Err(builder.error("zones", &what));
    }
    let track = Track::default();
    Ok(Mechanism { geometry, seek, switch_ns: (head_ns, cylinder_ns), settle, track })
}

/// Builds the mechanism with a read buffer of `segments` segments. Also returns the bytes per
/// sector, and the capacity in bytes: the given one, or everything that the zones hold.
pub(super) fn reader(builder: &Builder<'_>, segments: u64) -> Result<(BufferedMechanism, u64, u64)> {
    let (values, memory) = (Mechanics::new(builder), Memory::new(builder));
    let sector_bytes = values.sector_bytes;
    let (segment, ahead) = (memory.segment_bytes / sector_bytes, memory.look_ahead_bytes / sector_bytes);
    let mechanism = mechanism(builder, &values)?;
    let held = mechanism.geometry.sectors.saturating_mul(sector_bytes);
    let capacity_bytes = match values.capacity_bytes {
        0 => held,
        given if given <= held => given - given % sector_bytes,
        _ => {
            let what = text!(
                "the zones have a capacity of only {held} bytes",
                "ゾーンの合計は {held} バイトしかありません"
            );
            return Err(builder.error("capacity", &what));
        }
    };
    let habits = Habits {
        ahead_sectors: ahead,
        until: match memory.look_ahead_until {
            "track" => Until::Track,
            "next-track" => Until::NextTrack,
            _ => Until::Sectors,
        },
        of_runs_only: memory.look_ahead_of_runs_only,
        on_hits: memory.look_ahead_on_hits,
        passing: memory.keeps_passing,
    };
    let reader = BufferedMechanism::new(mechanism, segments as usize, segment, habits);
    Ok((reader, sector_bytes, capacity_bytes))
}

fn seek(builder: &Builder<'_>, values: &Mechanics) -> Result<Seek> {
    let rows = &values.seek_table;
    if !rows.is_empty() {
        let what = text!(
            "cylinders must ascend, starting with a distance of at least one",
            "シリンダー数は 1 以上から昇順に並べてください"
        );
        return Seek::table(rows).ok_or_else(|| builder.error("seek_table", &what));
    }
    let &Mechanics {
        seek_single_ns: single, seek_average_ns: average, seek_full_ns: full, cylinders, ..
    } = values;
    let what = text!(
        "no ascending curve fits these times for one cylinder, the average and the full stroke; give a \
         table of measured times as seek_table",
        "隣接・平均・全幅の 3 つの時間を通る単調な曲線がありません。実測値があれば seek_table に表で書けます"
    );
    let curve = if values.seek_curve == "coasting" { Seek::coasting } else { Seek::three_points };
    curve(single, average, full, cylinders).ok_or_else(|| builder.error("seek_average", &what))
}

fn misfit(builder: &Builder<'_>) -> Error {
    let what = text!(
        "zones must start at cylinder 0 and ascend; each has 1 to 1048576 sectors per track and ends \
         within the cylinders",
        "ゾーンはシリンダー 0 から昇順に並べます。1 トラックは 1 以上 1048576 以下のセクターで、全シリンダー数に収めてください"
    );
    builder.error("zones", &what)
}

fn zones(builder: &Builder<'_>, values: &Mechanics) -> Result<Vec<Zone>> {
    let mut zones: Vec<Zone> = Vec::new();
    for row in values.zones.iter() {
        let (cylinder, sectors) = (row[0] as u64, row[1] as u64);
        let follows = zones.last().map_or(cylinder == 0, |last| last.cylinder < cylinder);
        if !follows || cylinder >= values.cylinders || !(1..=MOST_SECTORS).contains(&sectors) {
            return Err(misfit(builder));
        }
        zones.push(Zone { cylinder, sectors, ..Zone::default() });
    }
    if zones.is_empty() { Err(misfit(builder)) } else { Ok(zones) }
}

/// Applies the skews of a measured drive to its zones.
fn skews(builder: &Builder<'_>, values: &Mechanics, zones: &mut [Zone], turn_ns: u64) -> Result<()> {
    let rows = &values.zone_skews;
    if !rows.is_empty() && rows.len() != zones.len() {
        let what = text!("expected one row for each zone", "ゾーンごとに 1 行が必要です");
        return Err(builder.error("zone_skews", &what));
    }
    for (row, zone) in rows.iter().zip(zones.iter_mut()) {
        let angle_ns = |sectors: f64| {
            let turns = sectors / zone.sectors as f64;
            ((turns.fract() * turn_ns as f64).round() as u64) % turn_ns
        };
        (zone.skew_ns, zone.offset_ns) = ((angle_ns(row[0]), angle_ns(row[1])), angle_ns(row[2]));
        zone.unused = (row[3] as u64 % (1 << 40), row[4] as u64 % (1 << 40));
    }
    let mut slips: Vec<Vec<(u64, u64)>> = vec![Vec::new(); zones.len()];
    let once = values.slips.iter().map(|row| ("slips", row, 0, 1));
    let whole = |number: f64| number as u64 % (1 << 40);
    let repeated = values.spares.iter().map(|row| ("spares", row, whole(row[3]), whole(row[4])));
    if repeated.clone().map(|(.., times)| times).sum::<u64>() > MOST_SECTORS {
        let what = text!("at most 1048576 entries in total", "合計 1048576 か所までです");
        return Err(builder.error("spares", &what));
    }
    for (key, row, step, times) in once.chain(repeated) {
        let Some(slips) = slips.get_mut(row[0] as usize) else {
            let what = text!(
                "this zone does not exist; zones are numbered from 0",
                "その番号のゾーンはありません(0 から数えます)"
            );
            return Err(builder.error(key, &what));
        };
        slips.extend((0..times).map(|index| (whole(row[1]) + step * index, whole(row[2]))));
    }
    for (zone, slips) in zones.iter_mut().zip(slips) {
        zone.leave_out(slips);
    }
    Ok(())
}
