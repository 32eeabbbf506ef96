//! Results of power cuts, as lines.

use kurabe_core::{Text, text};
use kurabe_lab::{CutOutcome, CutTrial};

/// Returns the number of power cuts that lost data, then the first cuts of each kind with the seed
/// that reproduces each.
pub fn crash_lines(trials: &[CutTrial]) -> Vec<Text> {
    let cuts = trials.len();
    let of = |outcome: CutOutcome| trials.iter().filter(move |trial| trial.outcome == outcome);
    let (lost, unmountable) = (of(CutOutcome::Lost).count(), of(CutOutcome::Unmountable).count());
    let first = match (lost, unmountable) {
        (0, 0) => text!("{cuts} power cuts: nothing was lost", "電源断 {cuts} 回: 失われたものはありません"),
        (_, 0) => text!(
            "{cuts} power cuts: {lost} lost what had been promised",
            "電源断 {cuts} 回: うち {lost} 回で、保証済みのデータが失われました"
        ),
        _ => text!(
            "{cuts} power cuts: {lost} lost what had been promised, {unmountable} left a file system that cannot be mounted",
            "電源断 {cuts} 回: うち {lost} 回で保証済みのデータが失われ、{unmountable} 回でファイルシステムがマウントできなくなりました"
        ),
    };
    let losses = trials.iter().filter(|trial| trial.outcome != CutOutcome::Kept).take(SHOWN);
    let listed = losses.map(|CutTrial { seed, after_writes, sectors_lost, .. }| {
        text!(
            "  after write {after_writes}, {sectors_lost} sectors lost: repeat it with seed {seed}",
            "  書き込み {after_writes} 回目の後、{sectors_lost} セクターが消失: シード {seed} で再現できます"
        )
    });
    std::iter::once(first).chain(listed).collect()
}

/// Maximum number of power cuts that are listed.
const SHOWN: usize = 10;
