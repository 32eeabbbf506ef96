//! Curves over the target on the page of a run, from cells that sampled it position by position,
//! measured here or by another tool.

use crate::publish::pictures::{curves, curves_together};
use kurabe_chart::Plot;
use kurabe_core::{Lang, record::RunRecord};
use kurabe_doc::Doc;

/// Returns the curves of a run. Empty if nothing was sampled.
pub(crate) fn doc(record: &RunRecord) -> Doc {
    let drawn = |lang| {
        let mut charts = curves(record, lang);
        let several = charts.len() > 1;
        // Access times have their own chart over the distance. In block characters, a thousand dots
        // would hide the curves.
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

/// Returns rates and access times over the target for one or more runs, in one chart as in GNOME
/// Disks. Empty if nothing was sampled.
pub fn positions_doc(runs: &[&RunRecord]) -> Doc {
    Doc::new().chart_of("positions", |lang| curves_together(runs, lang)).done()
}
