//! What there is to say of runs that took turns: how, what changed meanwhile, and what is not settled.

use crate::compare::{Question, answer, cell_name, fairness, missing, stutters, table};
use crate::doc::{Doc, Paragraph};
use crate::style::Style;
use crate::verdict::{change_span, per_cent};
use kurabe_compare::{ComparedCell, Pair};
use kurabe_core::record::RunHeader;
use kurabe_core::{Text, text};
use kurabe_stats::{Course, Estimate, MOST_BLOCKS, Verdict};

/// A bound above this says nothing that anybody would read aloud.
const MOST_BOUND_PERCENT: i64 = 50;

/// The page of a measurement in turns. `settled` tells whether all was settled; `None` if it was stopped.
pub fn render_versus(pairs: &[Pair], headers: &[&RunHeader], settled: Option<bool>, style: &Style) -> String {
    let mut doc = Doc::new();
    doc.heading(1, "kurabe versus".to_owned());
    for (place, header) in headers.iter().enumerate() {
        let role = if place == 0 { text!("baseline", "基準") } else { text!("other", "比較") };
        let words = role.map(|role| format!("{role}: {} · {}", header.id, header.target_name()));
        doc.push(Paragraph::new(words).indent(2, 4));
    }
    let most = MOST_BLOCKS;
    let ended = match settled {
        Some(true) if pairs.iter().flat_map(|pair| &pair.cells).any(is_open) => text!(
            "What is not clear after {most} blocks stays open, so measuring ended; a larger --margin, a longer --repetition or a \
             quieter machine would tell.",
            "{most} ブロックではっきりしない項目は保留とし、測定を終えました。--margin を広げる、--repetition を長くする、ほかの\
             処理を止めるのいずれかで判断できます。"
        ),
        Some(true) => text!(
            "Every cell is clear, so measuring ended.",
            "すべての項目がはっきりしたため、測定を終えました。"
        ),
        Some(false) => text!("The time is up (--time allows more).", "時間切れです(--time で延ばせます)。"),
        None => text!(
            "It was stopped; this is what was measured until then.",
            "中断しました。そこまでの結果です。"
        ),
    };
    doc.gap().say(ended);
    for pair in pairs {
        doc.gap().say(answer(pair)).gap().push(table(pair));
        doc.append(missing(pair)).append(stutters(pair)).append(self::doc(pair));
        doc.gap().append(fairness(&pair.differences, &Question::NONE));
    }
    doc.terminal(style)
}

/// Whether a cell has no verdict.
fn is_open(cell: &ComparedCell) -> bool {
    cell.course.is_some_and(|course| !course.settled)
}

/// How the runs took turns, and what changed over them; nothing for runs that did not.
pub(crate) fn doc(pair: &Pair) -> Doc {
    let mut doc = Doc::new();
    let Some(versus) = &pair.versus else { return doc };
    let blocks = pair.cells.iter().filter_map(|cell| cell.course.map(|course| 2 * course.block_pairs));
    let Some((fewest, most)) = blocks.clone().min().zip(blocks.max()) else { return doc };
    let span = match fewest == most {
        true => Text::same(most.to_string()),
        false => text!("{fewest}–{most}", "{fewest}〜{most}"),
    };
    let seed = versus.order_seed;
    doc.gap().say(text!(
        "Measured in turns: {span} blocks per cell, order tossed and then back (A B, B A) with seed {seed}. The ratio is \
         within blocks, so what went on meanwhile met both.",
        "交互に測定: 項目ごとに {span} ブロック。順番は乱数で決め、次は逆順(A B、B A、種 {seed})。比は同じブロックどうしで\
         取るため、途中の外乱は両方に同じようにかかっています。";
        span
    ));
    doc.append(remedy(pair).map(Paragraph::new).into_iter().collect());
    let drifts: Vec<Text> = pair.cells.iter().filter_map(|cell| drift(cell, pair)).collect();
    doc.say(match drifts.is_empty() {
        true => text!(
            "Drift: none that shows above the scatter, neither of a side nor of a ratio.",
            "経時変化: ばらつきを超える変化は、どちらの側にも比にもありません。"
        ),
        false => text!("Drift, from the first block to the last:", "経時変化(最初のブロックから最後まで):"),
    });
    doc.append(drifts.into_iter().map(|words| Paragraph::new(words).indent(2, 4)).collect());
    doc
}

/// What changed in a cell from the first block to the last, if it shows above the scatter.
fn drift(cell: &ComparedCell, pair: &Pair) -> Option<Text> {
    let course = cell.course.as_ref()?;
    // Beyond the scatter, and enough for a whole percent.
    let shows = |trend: &Option<Estimate>| {
        trend.filter(|trend| (trend.low > 1.0 || trend.high < 1.0) && per_cent(trend.value) != 0)
    };
    let side = |run: &str, trend: &Option<Estimate>| -> Option<String> {
        Some(format!("{run} {:+} %", per_cent(shows(trend)?.value)))
    };
    let sides = [side(&pair.baseline, &course.baseline_trend), side(&pair.other, &course.other_trend)];
    let sides = sides.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let (name, ratio) = (cell_name(cell), shows(&course.ratio_trend));
    match (ratio, sides.as_str()) {
        (None, "") => None,
        (None, _) => {
            let sides = Text::same(sides);
            Some(text!("{name}: {sides}; the ratio is steady", "{name}: {sides}。比は安定"; name, sides))
        }
        (Some(ratio), _) => {
            let (change, span) = (per_cent(ratio.value), change_span(&ratio));
            let before = Text::same(if sides.is_empty() { sides } else { format!("{sides}; ") });
            Some(text!(
                "{name}: {before}the ratio itself changed by {change:+} % ({span}): it holds for this time only",
                "{name}: {before}比そのものが {change:+} % 変化({span})。この時間内に限った結果です";
                name, before, span
            ))
        }
    }
}

/// What may be said of a cell that is not settled: how large a difference could be.
pub(crate) fn unsettled(speed: &Estimate) -> Text {
    let bound = per_cent(speed.high).abs().max(per_cent(speed.low).abs());
    if !speed.low.is_finite() || !speed.high.is_finite() || bound > MOST_BOUND_PERCENT || speed.low <= 0.0 {
        return text!("too early to tell", "まだ判断できない");
    }
    let span = change_span(speed);
    text!(
        "no difference found; it is below {bound} % ({span})",
        "差は見つからず、あっても {bound} % 未満({span})";
        span
    )
}

/// How long a measurement of its own would likely take until all cells are clear: they share the time, and a new one
/// begins anew. `None` if all are clear already, or nobody can tell.
fn time_needed_ns(pair: &Pair) -> Option<u64> {
    let turns = || pair.cells.iter().filter_map(|cell| Some((cell, cell.course?)));
    if turns().all(|(_, course)| course.settled) {
        return None;
    }
    let needed = |(cell, course): (&ComparedCell, Course)| {
        let more = match cell.compared?.verdict {
            _ if course.settled => 0,
            Verdict::NotEnough { more } => u64::from(more?),
            Verdict::Faster | Verdict::Slower | Verdict::Same => 0,
        };
        Some(cell.pair_ns?.saturating_mul(course.block_pairs as u64 + more.div_ceil(2)))
    };
    turns().map(needed).try_fold(0, |all: u64, one| Some(all.saturating_add(one?)))
}

/// How long it would likely take to know, as a line.
fn remedy(pair: &Pair) -> Option<Text> {
    const MINUTE_NS: u64 = 60_000_000_000;
    let minutes = time_needed_ns(pair)?.div_ceil(MINUTE_NS);
    Some(text!(
        "What is not clear yet would likely be with --time {minutes}min.",
        "まだ判断できない項目も、--time {minutes}min なら判断できる見込みです。"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_settled_has_a_bound_where_the_interval_allows_it() {
        let of = |low: f64, high: f64| Estimate { value: 1.01, low, high };
        let words = unsettled(&of(0.94, 1.09));
        assert_eq!(words.en, "no difference found; it is below 9 % (-6 to +9 %)");
        assert_eq!(words.ja, "差は見つからず、あっても 9 % 未満(-6〜+9 %)");
        assert_eq!(unsettled(&of(0.4, 2.0)).en, "too early to tell");
        assert_eq!(unsettled(&of(0.0, f64::INFINITY)).ja, "まだ判断できない");
    }
}
