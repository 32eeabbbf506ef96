//! A faster region for writes: the SLC cache of flash.
//!
//! The device is written in order until the rate falls and stays low, or the limit is reached. The
//! rates of equal parts are divided into levels (`kurabe_stats::change_points`), and the first fall
//! is the end of the region, with the interval that the levels allow.

use crate::answer::{DeviceProperty, EvidenceFigure, PropertyAnswer, PropertyFinding, SettledBy};
use crate::bench::{FLUSH, Manner, elapsed_ns, median, write};
use crate::survey::Survey;
use kurabe_core::Result;
use kurabe_stats::{CurvePoint, ShapeFamily, change_points};

const PIECE_BYTES: u64 = 1 << 20;
/// Longest write on a disk, which is slow and seldom has such a region.
const MOST_ON_DISK_BYTES: u64 = 24 << 30;
/// Parts of the longest write.
const PARTS: u64 = 192;
/// The rate after the region is less than this share of the rate in it.
const FALL: f64 = 0.7;
/// A lower rate that is at least this share of the first one is the same rate.
const SAME: f64 = 0.9;
/// Parts at the lower rate after which the fall is established.
const SLOW_PARTS: usize = 6;
/// Fewest parts before the fall; less is the memory of a controller or of disks.
const FEWEST_FAST_PARTS: usize = 4;
/// Fewest parts for an answer.
const FEWEST_PARTS: usize = 8;

pub(crate) fn fast_region(survey: &mut Survey<'_>) -> Result<PropertyFinding> {
    const PROPERTY: DeviceProperty = DeviceProperty::FastRegion;
    let mut most_bytes = survey.usable_bytes().min(survey.limits.long_write_bytes);
    if survey.rotates() {
        most_bytes = most_bytes.min(MOST_ON_DISK_BYTES);
    }
    if most_bytes < FEWEST_PARTS as u64 * PIECE_BYTES {
        return Ok(PropertyFinding::unclear(PROPERTY, Vec::new(), SettledBy::WholeDevice));
    }
    let part_bytes = (most_bytes / PARTS / PIECE_BYTES).max(1) * PIECE_BYTES;
    let rates = rates(survey, part_bytes, most_bytes / part_bytes)?;
    let written_bytes = rates.len() as u64 * part_bytes;
    let points: Vec<_> = (rates.iter().enumerate())
        .map(|(part, rate)| CurvePoint {
            x: (part as u64 * part_bytes + part_bytes) as f64,
            values: vec![*rate],
        })
        .collect();
    let (first, last) =
        (median(&rates[..rates.len().min(4)]), median(&rates[rates.len().saturating_sub(4)..]));
    let evidence = vec![
        EvidenceFigure::bytes("written", written_bytes),
        EvidenceFigure::count("parts", rates.len()),
        EvidenceFigure::rate("first_parts", first),
        EvidenceFigure::rate("last_parts", last),
    ];
    let curve = change_points(&points, ShapeFamily::Levels).filter(|_| rates.len() >= FEWEST_PARTS);
    let Some(curve) = curve else {
        return Ok(PropertyFinding::unclear(PROPERTY, evidence, SettledBy::MoreWritten));
    };
    let level = |first: usize, last: usize| median(&rates[first..=last]);
    let fall = curve.changes.iter().enumerate().find_map(|(index, change)| {
        let fast = level(curve.pieces[index].first, curve.pieces[index].last);
        let slow = level(curve.pieces[index + 1].first, rates.len() - 1);
        (change.before + 1 >= FEWEST_FAST_PARTS && slow < FALL * fast).then_some((change, fast, slow))
    });
    Ok(match fall {
        Some((change, fast_bytes_per_s, slow_bytes_per_s)) => {
            let answer = PropertyAnswer::FastRegion {
                low_bytes: (change.low - part_bytes as f64).max(0.0) as u64,
                high_bytes: change.high as u64 + part_bytes,
                fast_bytes_per_s,
                slow_bytes_per_s,
            };
            PropertyFinding::certain(PROPERTY, answer, evidence)
        }
        // A smaller fall may be that of a region, or of other work in the drive.
        None if last < SAME * first => PropertyFinding::unclear(PROPERTY, evidence, SettledBy::MoreWritten),
        None => {
            // A fall in the last parts would not be established.
            let written_bytes = written_bytes.saturating_sub(SLOW_PARTS as u64 * part_bytes);
            let answer = PropertyAnswer::NoFastRegion { written_bytes, rate_bytes_per_s: median(&rates) };
            let settling = SettledBy::MoreWritten;
            PropertyFinding::likely(PROPERTY, answer, evidence, settling)
        }
    })
}

/// Writes in order and returns the rate of each part.
fn rates(survey: &mut Survey<'_>, part_bytes: u64, parts: u64) -> Result<Vec<f64>> {
    let (mut rates, mut spent_ns): (Vec<f64>, f64) = (Vec::new(), 0.0);
    for part in 0..parts {
        let pieces = part_bytes / PIECE_BYTES;
        let ops: Vec<_> =
            (0..pieces).map(|piece| write(part * part_bytes + piece * PIECE_BYTES, PIECE_BYTES)).collect();
        let part_ns = elapsed_ns(&survey.perform(&ops, Manner::deep(4))?);
        spent_ns += part_ns;
        rates.push(part_bytes as f64 / part_ns * 1e9);
        let is_low = |rate: &f64| *rate < FALL * median(&rates[..rates.len().min(4)]);
        let slow = rates.iter().rev().take_while(|rate| is_low(rate)).count();
        let is_established = slow >= SLOW_PARTS && rates.len() >= FEWEST_PARTS && slow * 4 >= rates.len();
        if is_established || spent_ns > survey.limits.long_write_ns as f64 {
            break;
        }
    }
    survey.perform(&[FLUSH], Manner::PLAIN)?;
    Ok(rates)
}
