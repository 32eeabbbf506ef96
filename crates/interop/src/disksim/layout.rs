//! Where DiskSim's disks keep their sectors, and how their arms move.
//!
//! Sources: DiskSim 4.0, diskmodel/layout_g1.c and layout_g1_load.c (zones, ways of sparing), mech_g1_seektime.c (seek
//! curves).

use super::parse::{ParameterBlock, error_at};
use kurabe_core::{Error, Result, text};

/// Most rows that a zone may make of its spares: the largest of DiskSim's own disks has 190.
const MOST_RANGES: u64 = 100_000;
/// Distances, in cylinders, between the points of a seek curve that is given as a formula: below the first number, and
/// above it. The curve is straight beyond some hundred cylinders.
const CURVE_STEPS: (u64, u64, u64) = (3, 100, 25);

/// Rows of a device file's `zones`, `zone_skews` and `slips`.
#[derive(Default)]
pub(super) struct ZoneTables {
    pub(super) zones: Vec<Vec<f64>>,
    pub(super) skews: Vec<Vec<f64>>,
    pub(super) slips: Vec<Vec<f64>>,
    /// Whether a cylinder's heads are addressed to and fro.
    pub(super) serpentine: bool,
    /// Whether that goes on from zone to zone.
    pub(super) serpentine_over_zones: bool,
}

/// What DiskSim leaves out to replace bad sectors.
#[derive(Clone, Copy)]
enum Spares {
    /// Whole tracks, at the end of a zone.
    Tracks,
    /// Nothing beyond the bad sectors.
    AtEnd,
    /// Sectors at the end of so many cylinders.
    Range(u64),
    /// Sectors at the end of a zone.
    Zone,
}

pub(super) fn read(model: &ParameterBlock) -> Result<ZoneTables> {
    let (heads, cylinders) = (model.whole("Number of data surfaces")?, model.whole("Number of cylinders")?);
    let layout = model.block("Layout Model")?;
    let spares = match layout.whole("Sparing scheme used")? {
        1 => Spares::Tracks,
        7 => Spares::AtEnd,
        8 => Spares::Range(layout.whole("Rangesize for sparing")?.max(1)),
        9 | 10 => Spares::Zone,
        _ => return Err(unknown(layout, "Sparing scheme used", "1, 7, 8, 9, 10")),
    };
    let scheme = layout.whole("LBN-to-PBN mapping scheme")?;
    if scheme > 2 {
        return Err(unknown(layout, "LBN-to-PBN mapping scheme", "0, 1, 2"));
    }
    let (serpentine, serpentine_over_zones) = (scheme > 0, scheme == 2);
    let mut read = ZoneTables { serpentine, serpentine_over_zones, ..ZoneTables::default() };
    let zones = layout.blocks("Zones")?;
    for (index, zone) in zones.iter().enumerate() {
        let after = match zones.get(index + 1) {
            Some(next) => next.whole("First cylinder number")?,
            None => cylinders,
        };
        read_zone(zone, index, after, heads, spares, &mut read)?;
    }
    Ok(read)
}

fn unknown(block: &ParameterBlock, key: &str, known: &str) -> Error {
    let what = text!("kurabe models `{key}` of {known} only", "`{key}` は {known} だけに対応しています");
    match block.word(key) {
        Ok((_, at)) => error_at(at, what),
        Err(error) => error,
    }
}

/// A stretch of sectors that hold no data: the first, counted in the zone with all sectors, and how many.
type Gap = (u64, u64);

fn read_zone(
    zone: &ParameterBlock,
    index: usize,
    next_cylinder: u64,
    heads: u64,
    spares: Spares,
    layout: &mut ZoneTables,
) -> Result<()> {
    let (first, last) = (zone.whole("First cylinder number")?, zone.whole("Last cylinder number")?);
    let track = zone.whole("Blocks per track")?;
    let damaged = || {
        let what = text!(
            "the zone's cylinders, tracks and spares do not fit together",
            "このゾーンのシリンダー・トラック・予備領域が整合しません"
        );
        error_at(&zone.at, what)
    };
    if last < first || next_cylinder <= last || track == 0 || track > 1 << 20 {
        return Err(damaged());
    }
    let count = zone.whole("Number of spares")?;
    let front = zone.whole("Empty space at zone front")?;
    let bad: Vec<u64> = zone.numbers("slips")?.into_iter().map(|number| number as u64).collect();
    // Cylinders between two zones hold nothing.
    let between = (next_cylinder - 1 - last) * heads * track;
    let tracks = |number: u64| number.saturating_mul(track);
    let mut gaps: Vec<Gap> = match spares {
        Spares::Tracks => bad.iter().map(|number| (tracks(*number), track)).collect(),
        Spares::AtEnd | Spares::Zone => bad.iter().map(|sector| (*sector, 1)).collect(),
        Spares::Range(length) => range_gaps(&bad, count, (last - first + 1) / length, length * heads * track),
    };
    let used = bad.len() as u64;
    let end = match spares {
        Spares::Tracks => tracks(count).checked_sub(tracks(used)),
        Spares::Zone => count.checked_sub(used),
        Spares::AtEnd | Spares::Range(_) => Some(0),
    };
    gaps.sort_unstable();
    let mut gone = 0;
    for (start, sectors) in gaps.into_iter().filter(|(_, sectors)| *sectors > 0) {
        let data = start.checked_sub(front).and_then(|data| data.checked_sub(gone)).ok_or_else(damaged)?;
        layout.slips.push(vec![index as f64, data as f64, sectors as f64]);
        gone += sectors;
    }
    let end = end.ok_or_else(damaged)?.saturating_add(between);
    layout.zones.push(vec![first as f64, track as f64]);
    let skew = |key: &str| zone.number(key);
    layout.skews.push(vec![
        skew("Skew for track switch")?,
        skew("Skew for cylinder switch")?,
        skew("Offset of first block")?,
        front as f64,
        end as f64,
    ]);
    Ok(())
}

/// Bad sectors, and after each range the spares that none of its bad sectors used up.
fn range_gaps(bad: &[u64], spares: u64, ranges: u64, range_sectors: u64) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = bad.iter().map(|sector| (*sector, 1)).collect();
    for range in 0..ranges.min(MOST_RANGES) {
        let (start, end) = (range * range_sectors, (range + 1) * range_sectors);
        let used = bad.iter().filter(|sector| (start..end).contains(*sector)).count() as u64;
        let left = spares.saturating_sub(used).min(range_sectors);
        gaps.push((end - left, left));
    }
    gaps
}

/// The seek table of a disk's mechanics, and where it is from.
pub(super) fn seek_table(
    mechanics: &ParameterBlock,
    cylinders: u64,
    beside: &dyn Fn(&str) -> Result<String>,
) -> Result<(Vec<Vec<f64>>, String)> {
    let file = &mechanics.at.file;
    let (kind, at) = mechanics.word("Seek type")?;
    match kind {
        "extracted" => {
            let (curve, at) = mechanics.word("Full seek curve")?;
            let rows = measured(&beside(curve)?);
            let damaged = || text!("{curve} holds no seek times", "{curve} にシーク時間がありません");
            rows.map(|rows| (rows, format!("{curve}: measured"))).ok_or_else(|| error_at(at, damaged()))
        }
        "hplplus10" => {
            let first = mechanics.numbers("First ten seek times")?;
            let [division, constant, root, flat, slope, ..] =
                mechanics.numbers("HPL seek equation values")?[..]
            else {
                let what = text!("the seek equation needs five numbers", "シーク式には 5 つの数が必要です");
                return Err(error_at(at, what));
            };
            let (step, near, far_step) = CURVE_STEPS;
            let near_points = (11..near.min(cylinders)).step_by(step as usize);
            let far_points = (near..cylinders).step_by(far_step as usize);
            let time = |distance: u64| {
                let distance = distance as f64;
                if distance < division { constant + root * distance.sqrt() } else { flat + slope * distance }
            };
            let measured = first.iter().zip(1u64..).take(10).map(|(ms, distance)| vec![distance as f64, *ms]);
            let curve = near_points.chain(far_points).map(|distance| vec![distance as f64, time(distance)]);
            Ok((
                measured.chain(curve).collect(),
                format!("{file}: First ten seek times, HPL seek equation values"),
            ))
        }
        _ => {
            let what = text!(
                "kurabe models the seek types extracted and hplplus10 only",
                "シークの種類は extracted と hplplus10 だけに対応しています"
            );
            Err(error_at(at, what))
        }
    }
}

/// `Seek distances measured: 106`, then lines of a distance in cylinders and a time in ms. Distances rise.
fn measured(source: &str) -> Option<Vec<Vec<f64>>> {
    let rows: Option<Vec<Vec<f64>>> = source
        .lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let (distance, ms) = line.split_once(',')?;
            let (distance, ms): (f64, f64) = (distance.trim().parse().ok()?, ms.trim().parse().ok()?);
            (distance >= 1.0 && ms >= 0.0 && ms.is_finite()).then(|| vec![distance, ms])
        })
        .collect();
    rows.filter(|rows| !rows.is_empty() && rows.windows(2).all(|pair| pair[0][0] < pair[1][0]))
}
