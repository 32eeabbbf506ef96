//! The file that stands for a device in a directory.

use crate::bench::{FLUSH, Manner, write};
use crate::survey::Survey;
use kurabe_core::Result;

/// Writes the whole file, because a file that was never written is answered without the device.
pub(crate) fn fill(survey: &mut Survey<'_>) -> Result<()> {
    const PIECE_BYTES: u64 = 1 << 20;
    let span_bytes = survey.facts.span_bytes;
    let places: Vec<u64> = (0..span_bytes).step_by(PIECE_BYTES as usize).collect();
    for places in places.chunks(32) {
        let pieces = places.iter().map(|place| write(*place, PIECE_BYTES.min(span_bytes - place)));
        survey.perform(&pieces.collect::<Vec<_>>(), Manner::deep(4))?;
    }
    survey.perform(&[FLUSH], Manner::PLAIN).map(|_| ())
}
