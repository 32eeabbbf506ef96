//! Curves over the target on the page of a run: of cells that sampled it place by place, measured here or by another tool.

use crate::doc::Doc;
use crate::publish::pictures::{curves, curves_together};
use kurabe_chart::Plot;
use kurabe_core::{Lang, record::RunRecord};

/// The curves of a run; none if nothing was sampled.
pub(crate) fn doc(record: &RunRecord) -> Doc {
    let drawn = |lang| {
        let mut charts = curves(record, lang);
        let several = charts.len() > 1;
        // The access times have a chart of their own, over the distance; in block characters a thousand dots hide the curves.
        if let Some(Plot::Lines(lines)) = charts.first_mut().filter(|_| several).map(|chart| &mut chart.plot)
        {
            lines.lines.retain(|line| !line.at_right);
            lines.right = None;
        }
        charts
    };
    let (mut doc, [english, japanese]) = (Doc::new(), [Lang::En, Lang::Ja].map(drawn));
    for (one, other) in english.into_iter().zip(japanese) {
        doc.chart("positions", [one, other]).gap();
    }
    doc
}

/// Rates and access times over the target, of one run or of several, all in one drawing as GNOME Disks has it; nothing if nothing was sampled.
pub fn positions_doc(runs: &[&RunRecord]) -> Doc {
    Doc::new().chart_of("positions", |lang| curves_together(runs, lang)).done()
}
