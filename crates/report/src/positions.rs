//! Curves over the target on the page of a run: of cells that sampled it place by place, measured here or by another tool.

use crate::pictures::curves;
use crate::style::Style;
use kurabe_core::record::RunRecord;

/// The curves of a run; none if nothing was sampled.
pub(crate) fn render(record: &RunRecord, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    for chart in curves(record, style.lang) {
        lines.extend(chart.terminal(style.width, style.color));
        lines.push(String::new());
    }
    lines
}
