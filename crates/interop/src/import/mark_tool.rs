//! Description of a tool that prints in the format of CrystalDiskMark.

use super::kit::*;
use super::result_line::{FigureRules, Results};

/// A tool that prints CrystalDiskMark's result lines below its own heading.
pub(super) struct MarkTool {
    pub(super) name: &'static str,
    pub(super) format: &'static str,
    pub(super) heading: &'static str,
    /// Meaning of its other lines, including the heading.
    pub(super) details: &'static [DetailLine],
    /// Rules for its figures.
    pub(super) rules: fn(&RunDetails) -> FigureRules,
    /// Notices about its figures.
    pub(super) notices: fn(&RunDetails, &Results) -> Vec<Notice>,
}

/// Returns the procedure, as printed under these names.
pub(super) fn procedure(origin: &Origin, names: &[&str]) -> Option<String> {
    let words: Vec<&str> =
        names.iter().filter_map(|name| origin.facts.get(*name)).map(String::as_str).collect();
    (!words.is_empty()).then(|| words.join("; "))
}
