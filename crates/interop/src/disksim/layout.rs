//! Sector layout and seek curves of DiskSim's disks.
//!
//! Sources: DiskSim 4.0, diskmodel/layout_g1.c and layout_g1_load.c (zones, sparing schemes),
//! mech_g1_seektime.c (seek curves).

use super::parse::{ParameterBlock, error_at};
use kurabe_core::{Error, Result, text};

/// Maximum number of regions of a zone that have their own spares. With a track as region, the largest
/// of DiskSim's own disks has 36,386.
const MOST_REGIONS: u64 = 100_000;
/// Distances in cylinders between the points of a seek curve given as a formula: below the first
/// number, and above it. Beyond some hundred cylinders the curve is straight.
const CURVE_STEPS: (u64, u64, u64) = (3, 100, 25);

/// Rows of the tables `zones`, `zone_skews`, `slips` and `spares` of a device file.
#[derive(Default)]
pub(super) struct ZoneTables {
    /// Total number of cylinders.
    pub(super) cylinders: u64,
    pub(super) zones: Vec<Vec<f64>>,
    pub(super) skews: Vec<Vec<f64>>,
    pub(super) slips: Vec<Vec<f64>>,
    pub(super) spares: Vec<Vec<f64>>,
    /// Whether the heads of a cylinder are addressed in alternating directions.
    pub(super) serpentine: bool,
    /// Whether the alternation continues from zone to zone.
    pub(super) serpentine_over_zones: bool,
}

/// Sparing scheme of DiskSim.
#[derive(Clone, Copy)]
struct Sparing {
    /// Number of tracks that share spares. `None` if it is the whole zone.
    region_tracks: Option<u64>,
    /// Whether whole tracks are defective and spare.
    of_tracks: bool,
    at_front: bool,
    /// Whether defects consume spares, so that no capacity is lost until the spares are used up.
    uses_spares: bool,
    /// Whether the tracks after a defective sector begin one sector later, so that the defect does not
    /// cost a rotation there.
    turns_tracks: bool,
}

pub(super) fn read(model: &ParameterBlock) -> Result<ZoneTables> {
    let (heads, cylinders) = (model.whole("Number of data surfaces")?, model.whole("Number of cylinders")?);
    let layout = model.block("Layout Model")?;
    let scheme = layout.whole("Sparing scheme used")?;
    let sparing = Sparing {
        region_tracks: match scheme {
            0 | 1 | 7 | 9 | 10 => None,
            2 | 4 | 5 | 6 => Some(heads),
            3 => Some(1),
            8 => Some(heads.saturating_mul(layout.whole("Rangesize for sparing")?.max(1))),
            _ => return Err(unknown(layout, "Sparing scheme used", "0 – 10")),
        },
        of_tracks: scheme == 1,
        at_front: matches!(scheme, 5 | 6),
        uses_spares: !matches!(scheme, 0 | 4 | 6 | 7 | 10),
        turns_tracks: (2..=6).contains(&scheme),
    };
    let mapping = layout.whole("LBN-to-PBN mapping scheme")?;
    if mapping > 2 {
        return Err(unknown(layout, "LBN-to-PBN mapping scheme", "0, 1, 2"));
    }
    let mut read =
        ZoneTables { serpentine: mapping > 0, serpentine_over_zones: mapping == 2, ..ZoneTables::default() };
    let in_turns = layout.is("Skew units", "revolutions");
    let zones = layout.blocks("Zones")?;
    for (index, block) in zones.iter().enumerate() {
        let last = block.whole("Last cylinder number")?;
        let next = match zones.get(index + 1) {
            Some(next) => next.whole("First cylinder number")?,
            // The last zone can end on the last cylinder, counted from 0 or from 1.
            None => cylinders.max(last + 1),
        };
        // Schemes 0 and 7 have no spares in a zone.
        let spares = if matches!(scheme, 0 | 7) { 0 } else { block.whole("Number of spares")? };
        DiskSimZone::read(block, heads, (last, next), in_turns)?.lay_out(sparing, spares, &mut read)?;
        read.cylinders = next;
    }
    Ok(read)
}

fn unknown(block: &ParameterBlock, key: &str, known: &str) -> Error {
    let what = text!("kurabe supports only {known} for `{key}`", "`{key}` は {known} だけに対応しています");
    match block.word(key) {
        Ok((_, at)) => error_at(at, what),
        Err(error) => error,
    }
}

/// A range of sectors without data: the first one, counting all sectors, and the length.
type Gap = (u64, u64);

/// A zone as it appears in the file.
struct DiskSimZone<'b> {
    block: &'b ParameterBlock,
    first: u64,
    last: u64,
    /// First cylinder of the next zone. The cylinders between the zones contain no data.
    next: u64,
    track: u64,
    heads: u64,
    /// Track skew, cylinder skew and angle of the first sector, in sectors.
    skews: [f64; 3],
    front: u64,
    bad: Vec<u64>,
}

impl<'b> DiskSimZone<'b> {
    fn read(block: &'b ParameterBlock, heads: u64, (last, next): (u64, u64), in_turns: bool) -> Result<Self> {
        let (first, track) = (block.whole("First cylinder number")?, block.whole("Blocks per track")?);
        let in_turns =
            in_turns && !block.is("Skew units", "sectors") || block.is("Skew units", "revolutions");
        let sectors = |key: &str| {
            let given = block.number_or(key, 0.0)?;
            Ok(if in_turns { given * track as f64 } else { given.trunc() })
        };
        let place = |number: f64| (number as u64).min(1 << 40);
        let mut bad: Vec<u64> = block.numbers("slips")?.into_iter().map(place).collect();
        bad.sort_unstable();
        let zone = Self {
            block,
            first,
            last,
            next,
            track,
            heads,
            skews: [
                sectors("Skew for track switch")?,
                sectors("Skew for cylinder switch")?,
                sectors("Offset of first block")?,
            ],
            front: block.whole("Empty space at zone front")?,
            bad,
        };
        let fits = first <= last && last < next && (1..=1 << 20).contains(&track);
        if fits && (1..=1 << 10).contains(&heads) && next <= 1 << 30 { Ok(zone) } else { Err(zone.damaged()) }
    }

    fn damaged(&self) -> Error {
        let what = text!(
            "the cylinders, tracks and spares of the zone are inconsistent",
            "このゾーンのシリンダー・トラック・予備領域が整合しません"
        );
        error_at(&self.block.at, what)
    }

    /// Returns the ranges without data in ascending order.
    fn gaps(&self, sparing: Sparing, spares: u64) -> Vec<Gap> {
        let unit = if sparing.of_tracks { self.track } else { 1 };
        let all = (self.last + 1 - self.first) * self.heads * self.track;
        let region = sparing.region_tracks.map_or(all, |tracks| tracks.saturating_mul(self.track)).max(1);
        let regions = if spares == 0 { 0 } else { (all / region).min(MOST_REGIONS) };
        let bad_before =
            |sector: u64| self.bad.partition_point(|bad| bad.saturating_mul(unit) < sector) as u64;
        let of_region = |index: u64| {
            let (start, end) = (index * region, (index + 1) * region);
            let mut left = spares.saturating_mul(unit).min(region);
            loop {
                let (from, until) = if sparing.at_front { (start + left, end) } else { (start, end - left) };
                // Defects among the spares do not consume spares.
                let used = if sparing.uses_spares { bad_before(until) - bad_before(from) } else { 0 };
                let fewer = spares.saturating_sub(used).saturating_mul(unit).min(left);
                if fewer == left {
                    return (if sparing.at_front { start } else { until }, left);
                }
                left = fewer;
            }
        };
        let bad = self.bad.iter().map(|bad| (bad.saturating_mul(unit), unit));
        let mut gaps: Vec<Gap> = bad.chain((0..regions).map(of_region)).collect();
        gaps.retain(|(start, sectors)| *start < all && *sectors > 0);
        gaps.sort_unstable();
        gaps
    }

    /// Adds the zone, as several zones if its tracks begin later from some cylinder on.
    fn lay_out(&self, sparing: Sparing, spares: u64, tables: &mut ZoneTables) -> Result<()> {
        let cylinder = self.heads * self.track;
        let mut cuts = vec![0];
        if sparing.turns_tracks {
            cuts.extend(self.bad.iter().map(|bad| bad / cylinder + 1));
        }
        cuts.retain(|cut| *cut <= self.last - self.first);
        let gaps = self.gaps(sparing, spares);
        let [by_head, by_cylinder, angle] = self.skews;
        for (bad_before, cut) in cuts.iter().enumerate() {
            let end = cuts.get(bad_before + 1).copied();
            if end == Some(*cut) {
                continue;
            }
            let until = end.map_or(u64::MAX, |end| end * cylinder);
            let before = |sector: u64| gaps.partition_point(|(start, _)| *start < sector);
            let here = &gaps[before(cut * cylinder)..before(until)];
            let angle =
                angle + bad_before as f64 + *cut as f64 * ((self.heads - 1) as f64 * by_head + by_cylinder);
            let index = tables.zones.len() as f64;
            tables.zones.push(vec![(self.first + cut) as f64, self.track as f64]);
            // The unused start is counted without the defects in it.
            let front = if *cut == 0 { self.front } else { 0 };
            let (mut gone_in_front, mut gone, mut covered, mut rows) = (0, 0, 0, Vec::new());
            for (start, sectors) in here.iter().map(|(start, sectors)| (start - cut * cylinder, *sectors)) {
                let fresh = start.max(covered);
                let sectors = (start + sectors).saturating_sub(fresh);
                if sectors == 0 {
                    continue;
                }
                match (fresh - gone).checked_sub(front) {
                    Some(data) => rows.push((data, sectors)),
                    None => gone_in_front += sectors,
                }
                (gone, covered) = (gone + sectors, fresh + sectors);
            }
            tables.leave_out(index, &rows);
            let unused = if end.is_none() { (self.next - 1 - self.last) * cylinder } else { 0 };
            let angle = angle % self.track as f64;
            tables.skews.push(vec![
                by_head,
                by_cylinder,
                angle,
                (front + gone_in_front) as f64,
                unused as f64,
            ]);
        }
        Ok(())
    }
}

impl ZoneTables {
    /// Adds the sectors that are left out of a zone. Ranges at equal distances become one row.
    fn leave_out(&mut self, zone: f64, mut rows: &[Gap]) {
        while let [(first, sectors), rest @ ..] = rows {
            let step = rest.first().map_or(0, |(next, _)| next - first);
            let follows = |(times, (data, count)): (u64, &Gap)| {
                (*data, *count) == (first + step * (times + 1), *sectors)
            };
            let more = (0..).zip(rest).take_while(|pair| follows(*pair)).count();
            let times = if more < 2 { 1 } else { more + 1 };
            let (table, row) = match times {
                1 => (&mut self.slips, vec![zone, *first as f64, *sectors as f64]),
                _ => {
                    (&mut self.spares, vec![zone, *first as f64, *sectors as f64, step as f64, times as f64])
                }
            };
            table.push(row);
            rows = &rows[times..];
        }
    }
}

/// Returns the seek table of a disk's mechanics, and its source.
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
            let damaged = || text!("{curve} contains no seek times", "{curve} にシーク時間がありません");
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
                "kurabe supports only the seek types extracted and hplplus10",
                "シークの種類は extracted と hplplus10 だけに対応しています"
            );
            Err(error_at(at, what))
        }
    }
}

/// Parses `Seek distances measured: 106` and the lines with a distance in cylinders and a time in ms.
/// Distances must ascend.
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
