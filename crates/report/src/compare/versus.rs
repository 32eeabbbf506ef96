//! Interleaved runs: how they were measured, how they drifted, and which cells are not settled.

use crate::compare::facts::value;
use crate::compare::verdict::{change_span, per_cent};
use crate::compare::{cell_name, compared, fairness, sides};
use crate::run::rescued::rescued_in;
use kurabe_compare::{ComparedCell, Fact, Pair};
use kurabe_core::mention::{MARGIN, REPETITION, TIME, VERSUS};
use kurabe_core::{Text, record::RunHeader, text};
use kurabe_doc::{Doc, Paragraph, Style};
use kurabe_stats::{Estimate, FEWEST_BLOCKS, MOST_BLOCKS, Verdict};
use std::path::Path;

/// A larger bound on a difference is not shown, because it is meaningless.
const MOST_BOUND_PERCENT: i64 = 50;

/// Renders an interleaved comparison.
///
/// `settled` is true if all cells are settled, and `None` if the measurement was stopped. `fastest`
/// names the fastest of several runs. `rescued` is the file with the results that the store could
/// not take.
pub fn render_versus(
    pairs: &[Pair],
    headers: &[&RunHeader],
    settled: Option<bool>,
    fastest: Option<Text>,
    rescued: Option<&Path>,
    style: &Style,
) -> String {
    let mut doc = Doc::new();
    doc.heading(1, VERSUS.to_string());
    doc.append(sides(pairs, headers));
    let most = MOST_BLOCKS;
    let ended = match settled {
        Some(true) if pairs.iter().flat_map(|pair| &pair.cells).any(is_open) => text!(
            "Measuring ended after {most} blocks, the maximum. To decide the unclear tests, use a \
             larger {MARGIN}, a longer {REPETITION} or a quieter machine.",
            "{most} ブロックではっきりしない項目は保留とし、測定を終えました。{MARGIN} を広げる、{REPETITION} を長くする、ほかの\
             処理を止めるのいずれかで判断できます。"
        ),
        Some(true) => text!(
            "Every test is decided, so measuring ended.",
            "すべての項目がはっきりしたため、測定を終えました。"
        ),
        Some(false) => text!("The time is up ({TIME} allows more).", "時間切れです({TIME} で延ばせます)。"),
        None => text!(
            "The measurement was stopped; these are the results so far.",
            "中断しました。そこまでの結果です。"
        ),
    };
    doc.gap().say(ended);
    if let Some(words) = fastest {
        doc.gap().say(words);
    }
    for pair in pairs {
        doc.append(compared(pair, &[]));
    }
    doc.gap().append(fairness(pairs, &[]));
    if let Some(file) = rescued {
        doc.gap().push(Paragraph::flow(rescued_in(file)).indent(0, 2));
    }
    doc.terminal(style)
}

/// Checks whether a cell has no verdict yet.
fn is_open(cell: &ComparedCell) -> bool {
    cell.course.is_some_and(|course| !course.settled)
}

/// Describes how the runs were interleaved and how they drifted. Empty for runs that weren't
/// interleaved.
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
        "Measured interleaved: {span} blocks per test, in random order and then reversed (A B, B A), \
         seed {seed}. The ratio is computed within blocks, so disturbances affect all targets.",
        "交互に測定: 項目ごとに {span} ブロック。順番は乱数で決め、次は逆順(A B、B A、シード {seed})。比は同じブロックどうしで\
         取るため、途中のほかの処理の影響は、両方に同じようにかかっています。";
        span
    ));
    let size = pair.facts.iter().find(|difference| difference.fact == Fact::Size);
    // A program that is timed uses no test file.
    let uses_size = pair.cells.iter().any(|cell| cell.name.part != "command");
    doc.say_all(size.filter(|size| uses_size && !size.differs()).map(|size| {
        let size = value(size.baseline.as_ref());
        text!(
            "All were measured within a test of {size}; rates over more of a drive, or after more \
             writing, can differ.",
            "どちらも {size} のテストでの値です。範囲や書き込み量が大きくなると、速度は変わることがあります。";
            size
        )
    }));
    doc.say_all(remedies(pair));
    let drifts: Vec<Text> = pair.cells.iter().filter_map(|cell| drift(cell, pair)).collect();
    doc.say(match drifts.is_empty() {
        true => text!(
            "Drift: none above the scatter, neither of a target nor of a ratio.",
            "経時変化: ばらつきを超える変化は、どちらの側にも比にもありません。"
        ),
        false => text!("Drift, from the first block to the last:", "経時変化(最初のブロックから最後まで):"),
    });
    doc.push_all(drifts.into_iter().map(|words| Paragraph::new(words).indent(2, 4))).done()
}

/// Describes the drift of a cell from the first block to the last, if it exceeds the scatter.
fn drift(cell: &ComparedCell, pair: &Pair) -> Option<Text> {
    let course = cell.course.as_ref()?;
    // The drift must exceed the scatter and be at least one whole percent.
    let shows = |trend: &Option<Estimate>| {
        trend.filter(|trend| (trend.low > 1.0 || trend.high < 1.0) && per_cent(trend.value) != 0)
    };
    let side = |(run, trend): (&Text, &Option<Estimate>)| -> Option<Text> {
        let percent = per_cent(shows(trend)?.value);
        Some(run.map(|run| format!("{run} {percent:+} %")))
    };
    let trends = [&course.baseline_trend, &course.other_trend];
    let sides = Text::list(pair.names.iter().zip(trends).filter_map(side));
    let (name, ratio) = (cell_name(cell), shows(&course.ratio_trend));
    match (ratio, sides.en.as_str()) {
        (None, "") => None,
        (None, _) => {
            Some(text!("{name}: {sides}; the ratio is steady", "{name}: {sides}。比は安定"; name, sides))
        }
        (Some(ratio), _) => {
            let (change, span) = (per_cent(ratio.value), change_span(&ratio));
            let before = if sides.en.is_empty() { sides } else { sides.map(|sides| format!("{sides}; ")) };
            Some(text!(
                "{name}: {before}the ratio itself changed by {change:+} % ({span}): it is valid for \
                 this period only",
                "{name}: {before}比そのものが {change:+} % 変化({span})。この時間内に限った結果です";
                name, before, span
            ))
        }
    }
}

/// Describes a cell that is not settled by the largest difference that is still possible.
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

/// Minimum number of block pairs for predicting from their scatter how many more are needed.
const FEWEST_PAIRS: usize = 3;

/// Effort that a new measurement would need until all cells are settled. The cells share the time,
/// and a new measurement starts from zero.
#[derive(Debug, PartialEq)]
struct Needed {
    /// Time of all cells, estimated from their repetitions so far.
    time_ns: u64,
    /// Cells with too few blocks for a prediction. Their time is that up to the first interim
    /// analysis, before which there is no verdict.
    unforeseen: usize,
    /// Cells that no number of blocks is expected to settle. Their time is the time spent so far.
    never: usize,
}

/// Estimates the effort. `None` if all cells are settled.
fn needed(pair: &Pair) -> Option<Needed> {
    let interleaved = || pair.cells.iter().filter_map(|cell| Some((cell, cell.course?)));
    if interleaved().all(|(_, course)| course.settled) {
        return None;
    }
    let mut needed = Needed { time_ns: 0, unforeseen: 0, never: 0 };
    for (cell, course) in interleaved() {
        let verdict = cell.compared.map(|compared| compared.verdict).filter(|_| !course.settled);
        let more = match verdict {
            Some(Verdict::NotEnough { more: Some(more) }) => u64::from(more).div_ceil(2),
            Some(Verdict::NotEnough { more: None }) if course.block_pairs < FEWEST_PAIRS => {
                needed.unforeseen += 1;
                (FEWEST_BLOCKS / 2 - course.block_pairs) as u64
            }
            Some(Verdict::NotEnough { more: None }) => {
                needed.never += 1;
                0
            }
            _ => 0,
        };
        let pairs = (course.block_pairs as u64).saturating_add(more);
        needed.time_ns = needed.time_ns.saturating_add(cell.pair_ns.unwrap_or(0).saturating_mul(pairs));
    }
    Some(needed)
}

/// Suggests how much longer to measure, one line per remedy. Empty if all cells are settled.
fn remedies(pair: &Pair) -> Vec<Text> {
    const MINUTE_NS: u64 = 60_000_000_000;
    let Some(Needed { time_ns, unforeseen, never }) = needed(pair) else { return Vec::new() };
    let open = pair.cells.iter().filter(|cell| is_open(cell)).count();
    let minutes = time_ns.div_ceil(MINUTE_NS);
    let mut lines = Vec::new();
    if unforeseen > 0 {
        lines.push(text!(
            "There is no verdict before {FEWEST_BLOCKS} blocks of each test; {TIME} {minutes}min \
             suffices for these.",
            "各項目 {FEWEST_BLOCKS} ブロックまでは判断できません。{TIME} {minutes}min なら足ります。"
        ));
    } else if open > never {
        lines.push(text!(
            "The unclear tests would likely be decided with {TIME} {minutes}min.",
            "まだ判断できない項目も、{TIME} {minutes}min なら判断できる見込みです。"
        ));
    }
    if never > 0 {
        lines.push(text!(
            "More time is not expected to decide {never} of the tests within {MOST_BLOCKS} blocks: use \
             a larger {MARGIN}, a longer {REPETITION} or a quieter machine.",
            "{never} 項目は、測定時間を延ばしても {MOST_BLOCKS} ブロック以内には判断できない見込みです。{MARGIN} を広げる、{REPETITION} を\
             長くする、ほかの処理を止めるのいずれかが必要です。"
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_compare::{CellKey, CellName, Side};
    use kurabe_core::profile::Statistic;
    use kurabe_core::record::Measure;
    use kurabe_stats::{Compared, Course};

    /// Returns an interleaved comparison with one open cell per entry: the block pairs done, and
    /// the repetitions still needed. A block pair takes one second.
    fn open_pair(cells: &[(usize, Option<u32>)]) -> Pair {
        let nothing = Estimate { value: f64::NAN, low: f64::NAN, high: f64::NAN };
        let side =
            || Side { mean: 1.0, count: 2, printed: false, groups: None, stutter: None, from_memory: false };
        let cell = |(block_pairs, more): &(usize, Option<u32>)| ComparedCell {
            name: CellName {
                key: CellKey::Named {
                    label: "a".to_owned(),
                    part: String::new(),
                    direction: String::new(),
                    nth: 0,
                },
                label: "a".to_owned(),
                part: String::new(),
                direction: None,
                measure: Measure::Rate,
            },
            counterpart: None,
            baseline: side(),
            other: side(),
            statistic: Statistic::Mean,
            by_single_figures: None,
            by_samples: false,
            compared: Some(Compared {
                speed: nothing,
                speed_by_median: nothing,
                superiority: 0.5,
                p_value: 1.0,
                verdict: Verdict::NotEnough { more: *more },
            }),
            course: Some(Course {
                block_pairs: *block_pairs,
                settled: false,
                baseline_trend: None,
                other_trend: None,
                ratio_trend: None,
            }),
            pair_ns: Some(1_000_000_000),
            includes_flush: false,
            tails: Vec::new(),
        };
        Pair {
            baseline: "a".to_owned(),
            other: "b".to_owned(),
            names: [Text::same("a"), Text::same("b")],
            margin: 0.05,
            media_cache_bytes: [None; 2],
            cells: cells.iter().map(cell).collect(),
            only_baseline: Vec::new(),
            only_other: Vec::new(),
            differences: Vec::new(),
            facts: Vec::new(),
            versus: None,
        }
    }

    #[test]
    fn an_open_verdict_always_says_what_would_settle_it() {
        let lines = |cells: &[(usize, Option<u32>)]| -> Vec<String> {
            remedies(&open_pair(cells)).into_iter().map(|words| words.en).collect()
        };
        // One block pair per cell is done, and ten are needed for a verdict: 20 s.
        assert_eq!(
            lines(&[(1, None), (1, None)]),
            ["There is no verdict before 20 blocks of each test; --time 1min suffices for these."]
        );
        // 70 block pairs of one second each.
        assert_eq!(
            lines(&[(14, Some(112))]),
            ["The unclear tests would likely be decided with --time 2min."]
        );
        let both = lines(&[(14, Some(112)), (14, None)]);
        assert!(
            both.len() == 2 && both[0].contains("--time 2min") && both[1].contains("1 of the tests"),
            "{both:?}"
        );
        assert!(lines(&[(448, None)])[0].contains("a larger --margin"));
        let mut clear = open_pair(&[(14, None)]);
        clear.cells[0].course.as_mut().unwrap().settled = true;
        assert_eq!(remedies(&clear), []);
    }

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
