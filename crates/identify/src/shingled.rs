//! Whether tracks overlap (drive-managed SMR).
//!
//! A shingled drive puts small scattered writes into a cache on the disk, and cleans it later. Until
//! then, a range with such blocks is in two places, and reading it in order takes a seek to each
//! block. An ordinary disk writes the blocks to their places when it is flushed, and reads the range
//! as before.

use crate::answer::{DeviceProperty, EvidenceFigure, PropertyAnswer, PropertyFinding, SettledBy};
use crate::bench::{FLUSH, Manner, elapsed_ns, random_place, read, write};
use crate::survey::Survey;
use kurabe_core::Result;
use kurabe_core::workload::Op;

const PIECE_BYTES: u64 = 1 << 20;
/// Pieces of the range that is written.
const MOST_PIECES: u64 = 32;
const FEWEST_PIECES: u64 = 4;
/// Scattered blocks in it.
const BLOCKS: usize = 128;
/// Pieces that are read elsewhere, so that the drive's memory has none of the range.
const MOST_OTHERS: u64 = 288;
/// Ratio of the reading times from which the blocks are elsewhere, and below which they are not.
const ELSEWHERE: f64 = 1.7;
const IN_PLACE: f64 = 1.3;

pub(crate) fn shingled(survey: &mut Survey<'_>) -> Result<PropertyFinding> {
    const PROPERTY: DeviceProperty = DeviceProperty::Shingled;
    if survey.answer(DeviceProperty::Medium) == Some(PropertyAnswer::NoRotation) {
        return Ok(PropertyFinding::certain(
            PROPERTY,
            PropertyAnswer::NotShingled,
            survey.evidence(DeviceProperty::Medium),
        ));
    }
    let span_bytes = survey.usable_bytes();
    let span_pieces = span_bytes / PIECE_BYTES;
    let (range, others) = (MOST_PIECES.min(span_pieces / 16), MOST_OTHERS.min(span_pieces / 8));
    if !survey.rotates() || range < FEWEST_PIECES {
        return Ok(PropertyFinding::unclear(PROPERTY, Vec::new(), SettledBy::WholeDevice));
    }
    let half = span_bytes / 2 / PIECE_BYTES;
    let first = survey.random.below(half - range) * PIECE_BYTES;
    let other = (half + survey.random.below(half - others)) * PIECE_BYTES;
    let pieces = |from: u64, count: u64, op: fn(u64, u64) -> Op| {
        (0..count).map(|piece| op(from + piece * PIECE_BYTES, PIECE_BYTES)).collect::<Vec<_>>()
    };
    let reading_ns = |survey: &mut Survey<'_>| -> Result<f64> {
        survey.perform(&pieces(other, others, read), Manner::deep(2))?;
        survey.forget()?;
        Ok(elapsed_ns(&survey.perform(&pieces(first, range, read), Manner::deep(2))?))
    };
    survey.perform(&pieces(first, range, write), Manner::deep(2))?;
    survey.perform(&[FLUSH], Manner::PLAIN)?;
    let before_ns = reading_ns(survey)?;
    let block_bytes = survey.block_bytes();
    let mut place = || first + random_place(&mut survey.random, range * PIECE_BYTES, block_bytes);
    let scattered: Vec<_> = (0..BLOCKS).map(|_| write(place(), block_bytes)).collect();
    let writing_ns = elapsed_ns(&survey.perform(&scattered, Manner::PLAIN)?);
    survey.perform(&[FLUSH], Manner::PLAIN)?;
    let after_ns = reading_ns(survey)?;
    let ratio = after_ns / before_ns;
    let evidence = vec![
        EvidenceFigure::ns("range_read", before_ns),
        EvidenceFigure::ns("range_read_after_scattered_writes", after_ns),
        EvidenceFigure::ns("scattered_write", writing_ns / BLOCKS as f64),
        EvidenceFigure::count("scattered_writes", BLOCKS),
    ];
    Ok(if ratio >= ELSEWHERE {
        PropertyFinding::likely(PROPERTY, PropertyAnswer::Shingled, evidence, SettledBy::MoreWritten)
    } else if ratio <= IN_PLACE {
        PropertyFinding::likely(PROPERTY, PropertyAnswer::NotShingled, evidence, SettledBy::MoreWritten)
    } else {
        PropertyFinding::unclear(PROPERTY, evidence, SettledBy::MoreWritten)
    })
}
