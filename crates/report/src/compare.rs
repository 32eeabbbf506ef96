//! Two runs compared: the answer in a sentence, cell by cell with a verdict that can be read aloud, and what else differed.

use crate::columns::{self, Column, Cut, plain};
use crate::layout::{hanging, page, wrap};
use crate::stutter::stutter_words;
use crate::style::{Role, Style};
use crate::turns;
use crate::words;
use kurabe_compare::{ComparedCell, Difference, Pair, Side, Weight};
use kurabe_core::number;
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Measure, RunHeader};
use kurabe_core::workload::Direction;
use kurabe_core::{Text, text};
use kurabe_stats::{Compared, Estimate, Verdict};

/// The page of a comparison. `about` names the differences that the user asks about.
pub fn render_pair(pair: &Pair, headers: [&RunHeader; 2], about: &[String], style: &Style) -> String {
    let mut lines =
        vec![style.paint(Role::Strong, &format!("kurabe compare {} {}", pair.baseline, pair.other))];
    for (header, role) in headers.into_iter().zip([text!("baseline", "基準"), text!("other", "比較")]) {
        let date = number::date_minute(header.measured_at());
        let words = format!(
            "{}: {} · {date} · {} · {}",
            role.get(style.lang),
            header.id,
            header.target_name(),
            header.profile_name()
        );
        lines.extend(hanging(wrap(&words, style.width.saturating_sub(4)), 2, 4));
    }
    lines.push(String::new());
    lines.extend(wrap(&style.say(&answer(pair)), style.width));
    lines.push(String::new());
    lines.extend(table(pair, style));
    lines.extend(statistic_line(pair, style));
    lines.extend(single_line(pair, style));
    lines.extend(missing(pair, style));
    lines.extend(stutters(pair, style));
    lines.extend(turns::lines(pair, style));
    lines.push(String::new());
    lines.extend(fairness(&pair.differences, about, style));
    page(&lines)
}

/// The whole comparison in a sentence.
pub fn answer(pair: &Pair) -> Text {
    let (other, baseline) = (&pair.other, &pair.baseline);
    let said: Vec<Said> = pair
        .cells
        .iter()
        .filter_map(|cell| {
            let compared = cell.compared.as_ref()?;
            let is_single = cell.baseline.count.min(cell.other.count) < 2;
            Some(Said { verdict: compared.verdict, single: is_single.then_some(compared.speed.value) })
        })
        .collect();
    let all = said.len();
    if all == 0 {
        return text!(
            "{baseline} and {other} have no cell in common, so there is nothing to compare",
            "{baseline} と {other} には共通の項目がないため、比べられません"
        );
    }
    let Text { en, ja } = tally(&said);
    let cells = if all == 1 { "the one cell".to_owned() } else { format!("{all} cells") };
    text!(
        "Of {cells} that both have, {other} is {en}.",
        "共通の {all} 項目で {baseline} と比べた {other} の結果: {ja}。"
    )
}

/// What may be said of a cell.
#[derive(Clone, Copy)]
pub(crate) struct Said {
    /// The verdict.
    pub(crate) verdict: Verdict,
    /// The speed, where a side has one value only.
    pub(crate) single: Option<f64>,
}

/// `faster in 3, not clear yet in 1`
pub(crate) fn tally(said: &[Said]) -> Text {
    let of = |verdict: Verdict| said.iter().filter(|one| one.verdict == verdict).count();
    let unclear = || said.iter().filter(|one| matches!(one.verdict, Verdict::NotEnough { .. }));
    let single = |fits: fn(f64) -> bool| unclear().filter(|one| one.single.is_some_and(fits)).count();
    let kinds = [
        (of(Verdict::Faster), "faster in", "速い"),
        (of(Verdict::Slower), "slower in", "遅い"),
        (of(Verdict::Same), "not measurably different in", "測れる差なし"),
        (unclear().filter(|one| one.single.is_none()).count(), "not clear yet in", "まだ判断できない"),
        (single(|speed| speed > 1.0), "faster by single figures in", "1 つの値どうしでは速い"),
        (single(|speed| speed < 1.0), "slower by single figures in", "1 つの値どうしでは遅い"),
        (single(|speed| speed == 1.0), "the same by single figures in", "1 つの値どうしでは同じ"),
    ];
    let told = || kinds.iter().filter(|(number, ..)| *number > 0);
    let en: Vec<String> = told().map(|(number, words, _)| format!("{words} {number}")).collect();
    let ja: Vec<String> = told().map(|(number, _, words)| format!("{words} {number}")).collect();
    Text { en: en.join(", "), ja: ja.join("、") }
}

pub(crate) fn table(pair: &Pair, style: &Style) -> Vec<String> {
    let heads = [
        Column::left(style.pick("cell", "項目")),
        Column::right(&pair.baseline),
        Column::right(&pair.other),
        Column::left(&style.say(&{
            let other = &pair.other;
            text!("{other} is", "{other} は")
        }))
        .cut(Cut::Wrap),
    ];
    let rows: Vec<_> = pair
        .cells
        .iter()
        .map(|cell| {
            let (role, words) = verdict(cell, style);
            vec![
                plain(cell_name(cell, style)),
                plain(side_figure(&cell.baseline, cell.measure)),
                plain(side_figure(&cell.other, cell.measure)),
                (role, words),
            ]
        })
        .collect();
    columns::render(&heads, &rows, 0, style)
}

/// That the best stands against the best.
fn statistic_line(pair: &Pair, style: &Style) -> Vec<String> {
    if !pair.cells.iter().any(|cell| cell.statistic == Statistic::Best) {
        return Vec::new();
    }
    let words = text!(
        "One of the tools prints only its best run, so the best repetition stands for the other run, too.",
        "一方のツールは最良値しか表示しないので、もう一方も最良の回の値で比べています。"
    );
    wrap(&style.say(&words), style.width)
}

/// Why single figures give no verdict, and what would.
pub(crate) fn single_line(pair: &Pair, style: &Style) -> Vec<String> {
    let is_single = |cell: &ComparedCell| {
        let unclear =
            cell.compared.is_some_and(|compared| matches!(compared.verdict, Verdict::NotEnough { .. }));
        unclear && cell.baseline.count.min(cell.other.count) < 2
    };
    if !pair.cells.iter().any(is_single) {
        return Vec::new();
    }
    let words = text!(
        "One figure a side does not tell how much figures scatter, so nobody can say how sure that is; measure several times where you can (--runs 5).",
        "1 つの値どうしではばらつきが分からず、確かさを判断できません。測り直せる場合は繰り返して測ってください (--runs 5)。"
    );
    wrap(&style.say(&words), style.width)
}

/// `read SEQ 1 MiB Q8 T1`
pub(crate) fn cell_name(cell: &ComparedCell, style: &Style) -> String {
    let direction = cell.direction.map_or("", |direction| words::direction(style, direction));
    [direction, cell.label.as_str()].join(" ").trim().to_owned()
}

/// The mean of a side with its unit.
pub(crate) fn side_figure(side: &Side, measure: Measure) -> String {
    let shown = match measure {
        Measure::Rate => number::rate(side.mean),
        Measure::AccessTime | Measure::Duration => number::latency(side.mean),
    };
    format!("{} {}", shown.number, shown.unit)
}

/// What may be said of a cell.
pub(crate) fn verdict(cell: &ComparedCell, style: &Style) -> (Role, String) {
    let Some(compared) = &cell.compared else {
        return (Role::Quiet, style.pick("no usable figure", "使える値なし").to_owned());
    };
    let (role, words) = match (compared.verdict, &cell.course) {
        (Verdict::NotEnough { more }, Some(_)) => {
            (Role::Warn, turns::unsettled(&compared.speed, more, cell.pair_ns))
        }
        _ => verdict_words(compared, cell.baseline.count.min(cell.other.count)),
    };
    (role, style.say(&words))
}

/// A verdict as it is read aloud.
pub(crate) fn verdict_words(compared: &Compared, count: usize) -> (Role, Text) {
    words_of(&compared.speed, compared.verdict, count)
}

/// The words of a verdict; `count` values are behind the side that has fewer.
pub(crate) fn words_of(speed: &Estimate, verdict: Verdict, count: usize) -> (Role, Text) {
    match verdict {
        Verdict::Faster => (Role::Good, faster(speed)),
        Verdict::Slower => (Role::Bad, slower(speed)),
        Verdict::Same if is_exact(speed) => {
            let percent = per_cent(speed.value);
            (
                Role::Plain,
                text!("no difference that matters ({percent:+} %)", "問題になる差なし ({percent:+} %)"),
            )
        }
        Verdict::Same => {
            let span = change_span(speed);
            (
                Role::Plain,
                Text {
                    en: format!("no measurable difference ({})", span.en),
                    ja: format!("測れる差なし ({})", span.ja),
                },
            )
        }
        Verdict::NotEnough { .. } if count < 2 => {
            let words = by_single_figures(speed);
            let (en, ja) = (words.en, words.ja);
            (Role::Plain, text!("{en}, by one figure a side", "{ja} (1 つの値どうし)"))
        }
        Verdict::NotEnough { more } => {
            let span = change_span(speed);
            let (en, ja) = match more {
                Some(more) => (
                    format!(": about {more} more repetitions of each would likely settle it"),
                    format!("。あと約 {more} 回ずつ測れば判断できる見込み"),
                ),
                None => (String::new(), String::new()),
            };
            (
                Role::Warn,
                Text {
                    en: format!("not clear yet ({}){en}", span.en),
                    ja: format!("まだ判断できない ({}){ja}", span.ja),
                },
            )
        }
    }
}

/// Ratios up to this are told in percent.
const TOLD_IN_PERCENT: f64 = 2.0;

/// Computed figures have no interval.
fn is_exact(speed: &Estimate) -> bool {
    speed.low == speed.high
}

fn faster(speed: &Estimate) -> Text {
    let Estimate { value, low, high } = *speed;
    if is_exact(speed) {
        let percent = per_cent(value);
        return match value < TOLD_IN_PERCENT {
            true => text!("{percent} % faster", "{percent} % 速い"),
            false => text!("{value:.1} times as fast", "{value:.1} 倍速い"),
        };
    }
    if value < TOLD_IN_PERCENT {
        let (percent, from, to) = (per_cent(value), per_cent(low), per_cent(high));
        text!("{percent} % faster ({from} to {to} %)", "{percent} % 速い ({from}〜{to} %)")
    } else {
        text!(
            "{value:.1} times as fast ({low:.1} to {high:.1})",
            "{value:.1} 倍速い ({low:.1}〜{high:.1} 倍)"
        )
    }
}

fn slower(speed: &Estimate) -> Text {
    let Estimate { value, low, high } = *speed;
    if is_exact(speed) {
        let (percent, times) = (-per_cent(value), 1.0 / value);
        return match value > 1.0 / TOLD_IN_PERCENT {
            true => text!("{percent} % slower", "{percent} % 遅い"),
            false => {
                text!("slower: it takes {times:.1} times as long", "遅い: 相手の {times:.1} 倍の時間がかかる")
            }
        };
    }
    if value > 1.0 / TOLD_IN_PERCENT {
        let (percent, from, to) = (-per_cent(value), -per_cent(high), -per_cent(low));
        text!("{percent} % slower ({from} to {to} %)", "{percent} % 遅い ({from}〜{to} %)")
    } else {
        let (times, from, to) = (1.0 / value, 1.0 / high, 1.0 / low);
        text!(
            "slower: it takes {times:.1} times as long ({from:.1} to {to:.1})",
            "遅い: 相手の {times:.1} 倍の時間がかかる ({from:.1}〜{to:.1} 倍)"
        )
    }
}

/// What two single figures say, without an interval.
fn by_single_figures(speed: &Estimate) -> Text {
    let exact = Estimate { value: speed.value, low: speed.value, high: speed.value };
    match per_cent(speed.value) {
        0 => text!("the same", "同じ"),
        more if more > 0 => faster(&exact),
        _ => slower(&exact),
    }
}

/// The change of speed in whole percent.
pub(crate) fn per_cent(ratio: f64) -> i64 {
    ((ratio - 1.0) * 100.0).round() as i64
}

/// `-1 to +2 %`
pub(crate) fn change_span(speed: &Estimate) -> Text {
    let (from, to) = (per_cent(speed.low), per_cent(speed.high));
    text!("{from:+} to {to:+} %", "{from:+}〜{to:+} %")
}

/// The cells in which one of the runs stutters so that a person feels it.
pub(crate) fn stutters(pair: &Pair, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    for cell in &pair.cells {
        let of = |side: &Side| side.stutter.as_ref().and_then(stutter_words);
        let (baseline, other) = (of(&cell.baseline), of(&cell.other));
        if baseline.is_none() && other.is_none() {
            continue;
        }
        let name = cell_name(cell, style);
        let smooth = || text!("does not stutter", "止まらない");
        let (one, two) = (baseline.unwrap_or_else(smooth), other.unwrap_or_else(smooth));
        let (first, second) = (&pair.baseline, &pair.other);
        let words = Text {
            en: format!("{name}: {first} {}; {second} {}", one.en, two.en),
            ja: format!("{name}: {first} は{}。{second} は{}", one.ja, two.ja),
        };
        lines.extend(hanging(wrap(&style.say(&words), style.width.saturating_sub(2)), 0, 2));
    }
    lines
}

/// Cells that only one run has.
pub(crate) fn missing(pair: &Pair, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    for (run, cells) in [(&pair.baseline, &pair.only_baseline), (&pair.other, &pair.only_other)] {
        if cells.is_empty() {
            continue;
        }
        let cells: Vec<String> = cells.iter().map(|cell| own_cell_name(cell, style)).collect();
        let cells = cells.join(style.pick(", ", " / "));
        let words = text!("only {run} has: {cells}", "{run} にしかない項目: {cells}");
        lines.extend(hanging(wrap(&style.say(&words), style.width.saturating_sub(2)), 0, 2));
    }
    lines
}

/// The name of a cell that only one run has, with its direction as the other names have it.
fn own_cell_name(cell: &str, style: &Style) -> String {
    let directions = [Direction::Read, Direction::Write, Direction::Mix];
    let told = cell.rsplit_once(' ').and_then(|(label, word)| {
        let direction = directions.into_iter().find(|direction| direction.word() == word)?;
        Some(format!("{} {label}", words::direction(style, direction)))
    });
    told.unwrap_or_else(|| cell.to_owned())
}

/// What else differed in a sentence, and the differences that were not asked about, the weightiest first.
pub(crate) fn fairness_words<'d>(
    differences: &'d [Difference],
    about: &[String],
) -> (Text, Vec<&'d Difference>) {
    let asked = |difference: &&Difference| about.iter().any(|key| key == difference.key);
    let subject: Vec<&Difference> = differences.iter().filter(asked).collect();
    let rest: Vec<&Difference> = differences.iter().filter(|difference| !asked(difference)).collect();
    let list = |differences: &[&Difference]| -> Text {
        let en: Vec<&str> = differences.iter().map(|difference| difference.name.en.as_str()).collect();
        let ja: Vec<&str> = differences.iter().map(|difference| difference.name.ja.as_str()).collect();
        Text { en: en.join(", "), ja: ja.join("、") }
    };
    let sentence = match (subject.is_empty(), rest.is_empty()) {
        (_, true) if subject.is_empty() => text!(
            "As far as the records tell, the two runs differ in nothing else.",
            "記録で分かる範囲では、ほかに違いはありません。"
        ),
        (false, true) => {
            let Text { en, ja } = list(&subject);
            text!(
                "The two runs differ in {en}, which you asked about, and in nothing else that the records tell.",
                "違いは、比べたかった点 ({ja}) だけです (記録で分かる範囲)。"
            )
        }
        (true, _) => {
            let Text { en, ja } = list(&rest);
            text!("The two runs also differ in: {en}.", "2 つの測定はほかに次の点が違います: {ja}。")
        }
        (false, false) => {
            let (of, also) = (list(&subject), list(&rest));
            Text {
                en: format!(
                    "The two runs differ in {}, which you asked about, and also in: {}.",
                    of.en, also.en
                ),
                ja: format!("比べたかった点 ({}) のほかに、次の点も違います: {}。", of.ja, also.ja),
            }
        }
    };
    (sentence, rest)
}

/// What else differed, the weightiest first.
pub(crate) fn fairness(differences: &[Difference], about: &[String], style: &Style) -> Vec<String> {
    let (sentence, rest) = fairness_words(differences, about);
    let mut lines = wrap(&style.say(&sentence), style.width);
    let heads = [
        Column::left(""),
        Column::left(style.pick("baseline", "基準")).cut(Cut::Wrap),
        Column::left(style.pick("other", "比較")).cut(Cut::Wrap),
        Column::left("").cut(Cut::Wrap),
    ];
    let rows: Vec<_> = rest
        .iter()
        .map(|difference| {
            let role = if difference.weight == Weight::Decisive { Role::Warn } else { Role::Plain };
            vec![
                (role, style.say(&difference.name)),
                plain(style.say(&difference.baseline)),
                plain(style.say(&difference.other)),
                (Role::Quiet, difference.effect.as_ref().map(|effect| style.say(effect)).unwrap_or_default()),
            ]
        })
        .collect();
    if !rows.is_empty() {
        lines.extend(columns::render(&heads, &rows, 2, style));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(value: f64, low: f64, high: f64, verdict: Verdict) -> Compared {
        let speed = Estimate { value, low, high };
        Compared { speed, speed_by_median: speed, superiority: 1.0, p_value: 0.01, verdict }
    }

    #[test]
    fn verdicts_can_be_read_aloud_in_both_languages() {
        let said = |compared: &Compared| verdict_words(compared, 5).1;
        let words = said(&compared(1.3, 1.27, 1.34, Verdict::Faster));
        assert_eq!(words.en, "30 % faster (27 to 34 %)");
        assert_eq!(words.ja, "30 % 速い (27〜34 %)");
        assert_eq!(said(&compared(3.2, 3.0, 3.4, Verdict::Faster)).en, "3.2 times as fast (3.0 to 3.4)");
        assert_eq!(said(&compared(0.62, 0.6, 0.65, Verdict::Slower)).en, "38 % slower (35 to 40 %)");
        assert_eq!(
            said(&compared(0.25, 0.2, 0.3, Verdict::Slower)).ja,
            "遅い: 相手の 4.0 倍の時間がかかる (3.3〜5.0 倍)"
        );
        let words = said(&compared(1.01, 0.99, 1.02, Verdict::Same));
        assert_eq!(words.en, "no measurable difference (-1 to +2 %)");
        let words = said(&compared(1.1, 0.9, 1.3, Verdict::NotEnough { more: Some(6) }));
        assert_eq!(words.ja, "まだ判断できない (-10〜+30 %)。あと約 6 回ずつ測れば判断できる見込み");
        // Computed figures have no interval.
        assert_eq!(
            said(&compared(0.08, 0.08, 0.08, Verdict::Slower)).en,
            "slower: it takes 12.5 times as long"
        );
        assert_eq!(said(&compared(1.01, 1.01, 1.01, Verdict::Same)).ja, "問題になる差なし (+1 %)");
        let words = verdict_words(&compared(2.0, f64::NAN, f64::NAN, Verdict::NotEnough { more: None }), 1).1;
        assert_eq!(words.en, "2.0 times as fast, by one figure a side");
    }
}
