//! Curves over the target on the page of a run: of cells that sampled it place by place, measured here or by another tool.

use crate::doc::Doc;
use crate::publish::pictures::{curves, curves_together};
use kurabe_chart::{Chart, Plot};
use kurabe_core::{Lang, record::RunRecord};

/// The curves of a run; none if nothing was sampled.
pub(crate) fn doc(record: &RunRecord) -> Doc {
    let mut doc = Doc::new();
    let [mut english, mut japanese] = [Lang::En, Lang::Ja].map(|lang| curves(record, lang));
    if english.len() > 1 {
        // The access times have a chart of their own, over the distance; in block characters a thousand dots hide the curves.
        let first = [english.first_mut(), japanese.first_mut()];
        first.into_iter().flatten().for_each(without_dots);
    }
    for (one, other) in english.into_iter().zip(japanese) {
        doc.chart("positions", [one, other]).gap();
    }
    doc
}

/// Rates and access times over the target, of one run or of several, all in one drawing as GNOME Disks has it; nothing if nothing was sampled.
pub fn positions_doc(runs: &[&RunRecord]) -> Doc {
    Doc::new().chart_of("positions", |lang| curves_together(runs, lang)).done()
}

/// Takes the dots of the axis at the right away.
fn without_dots(chart: &mut Chart) {
    if let Plot::Lines(lines) = &mut chart.plot {
        lines.lines.retain(|line| !line.at_right);
        lines.right = None;
    }
}
