//! Curves over the target on the page of a run: of cells that sampled it place by place, measured here or by another tool.

use crate::doc::Doc;
use crate::pictures::curves;
use kurabe_core::Lang;
use kurabe_core::record::RunRecord;

/// The curves of a run; none if nothing was sampled.
pub(crate) fn doc(record: &RunRecord) -> Doc {
    let mut doc = Doc::new();
    let [english, japanese] = [Lang::En, Lang::Ja].map(|lang| curves(record, lang));
    for (one, other) in english.into_iter().zip(japanese) {
        doc.chart("positions", [one, other]).gap();
    }
    doc
}
