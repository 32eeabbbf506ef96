//! Parameters with the largest effect on a model's figures.

use kurabe_core::{Text, number, text};
use kurabe_doc::{Doc, Entry, Paragraph, Role, Table};
use kurabe_study::Mover;

/// Returns the names of a model's three main figures.
pub fn card_names() -> [Text; 3] {
    [
        text!("sequential read", "シーケンシャル読み出し"),
        text!("4 KiB random read", "4 KiB ランダム読み出し"),
        text!("4 KiB random write (32)", "4 KiB ランダム書き込み(32)"),
    ]
}

/// Describes the effect of a parameter, as in `doubled: 4 KiB random read 0.52 ×`.
pub fn mover_words(mover: &Mover) -> Text {
    let (figure, times) = (&card_names()[mover.figure], number::fixed(mover.ratio, 2));
    match mover.is_doubled {
        true => text!("doubled: {figure} {times} ×", "2 倍にすると{figure}は {times} 倍"; figure),
        false => text!("halved: {figure} {times} ×", "半分にすると{figure}は {times} 倍"; figure),
    }
}

pub(super) fn doc(movers: &[Mover]) -> Doc {
    let mut doc = Doc::new();
    if movers.is_empty() {
        return doc;
    }
    let what = text!(
        "Parameters with the largest effect, each changed alone, computed by the model",
        "影響の大きい項目(1 つだけ変えた場合のモデルの計算値)"
    );
    let table = Table::of(movers)
        .left(Text::default(), |mover| mover.name.clone())
        .right(Text::default(), |mover| Entry::new(Role::Quiet, mover.value.clone()))
        .left(Text::default(), |mover| mover_words(mover));
    doc.gap().push(Paragraph::new(what)).push(table.table().indent(2)).done()
}
