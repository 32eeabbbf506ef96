//! Comparison as a check in a script. Each condition has its own exit code.

use crate::compare::{cell_name, verdict};
use kurabe_compare::{ComparedCell, Pair};
use kurabe_core::{ErrorKind, Result, text};
use kurabe_stats::Verdict;

/// Conditions under which a script rejects a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unaccepted {
    /// A cell in which another run is slower than the baseline by more than this share, with
    /// confidence.
    Slower {
        /// Share by which the run may be slower. Default: the margin, so that irrelevant and random
        /// differences don't fail the check.
        beyond: Option<f64>,
    },
    /// A cell without a clear verdict.
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

/// Checks a comparison and names the first cell that meets a condition.
///
/// # Errors
///
/// Returns an error of the kind of the first condition, in the given order, that any cell meets.
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
