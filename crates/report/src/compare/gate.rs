//! A comparison that a script takes for an answer: what it asks for ends it with an exit code of its own.

use crate::compare::{cell_name, verdict};
use kurabe_compare::{ComparedCell, Pair};
use kurabe_core::{ErrorKind, Result, text};
use kurabe_stats::Verdict;

/// What a script does not accept of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unaccepted {
    /// A cell in which another run is slower than the baseline, by more than this share with certainty.
    Slower {
        /// The margin, if none is named: what does not matter fails nothing, and chance alone does not reach so far.
        beyond: Option<f64>,
    },
    /// A cell of which nothing is known for certain.
    Unclear,
    /// A cell in which another run is faster or slower by more than the margin.
    Different,
}

impl Unaccepted {
    fn is_in(self, cell: &ComparedCell, margin: f64) -> bool {
        let Some(compared) = &cell.compared else { return self == Self::Unclear };
        match (self, compared.verdict) {
            (Self::Slower { beyond }, Verdict::Slower) => {
                compared.speed.high < 1.0 - beyond.unwrap_or(margin)
            }
            (Self::Different, Verdict::Slower) => compared.speed.high < 1.0 - margin,
            (Self::Different, Verdict::Faster) => compared.speed.low > 1.0 + margin,
            (Self::Unclear, Verdict::NotEnough { .. }) => true,
            _ => false,
        }
    }

    fn kind(self) -> ErrorKind {
        match self {
            Self::Slower { .. } => ErrorKind::Slower,
            Self::Unclear => ErrorKind::Unclear,
            Self::Different => ErrorKind::Different,
        }
    }
}

/// Accepts a comparison, or names the first cell for which it is not accepted.
///
/// # Errors
/// Of the kind of the first condition, in their order, that a cell meets.
pub fn accept(pairs: &[Pair], conditions: &[Unaccepted]) -> Result<()> {
    for condition in conditions {
        let cells = pairs.iter().flat_map(|pair| pair.cells.iter().map(move |cell| (pair, cell)));
        let mut met = cells.filter(|(pair, cell)| condition.is_in(cell, pair.margin));
        let Some((pair, cell)) = met.next() else { continue };
        let [baseline, other] = &pair.names;
        let (name, judged) = (cell_name(cell), verdict(cell).1);
        let more = match met.count() {
            0 => text!("", ""),
            count => text!(" (and {count} more)", "(ほか {count} 項目)"),
        };
        return Err(condition.kind().error(text!(
            "{name}: {other} against {baseline}: {judged}{more}",
            "{name}: {baseline} と比べた {other}: {judged}{more}";
            name, other, baseline, judged, more
        )));
    }
    Ok(())
}
