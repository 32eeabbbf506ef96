//! Two runs compared: the answer in a sentence, cell by cell with a verdict that can be read aloud, and what else differed.

use crate::columns::{self, Column, Cut, plain};
use crate::layout::{hanging, page, wrap};
use crate::stutter::stutter_words;
use crate::style::{Role, Style};
use crate::tails;
use crate::turns;
use crate::verdict::{Said, tally, verdict_words};
use crate::words;
use kurabe_compare::{CellName, ComparedCell, Difference, Pair, Side, Weight};
use kurabe_core::number;
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Measure, RunHeader};
use kurabe_core::{Text, text};
use kurabe_stats::{Stutter, Verdict};

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
    lines.extend(tails::lines(pair, style));
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
    if said.is_empty() {
        return text!(
            "{baseline} and {other} have no cell in common, so there is nothing to compare",
            "{baseline} と {other} には共通の項目がないため、比べられません"
        );
    }
    tally(&said, other, baseline)
}

/// Who is held against whom.
pub(crate) fn against(pair: &Pair) -> Text {
    let (baseline, other) = (&pair.baseline, &pair.other);
    text!("{other} against {baseline}", "{baseline} と比べた {other}")
}

pub(crate) fn table(pair: &Pair, style: &Style) -> Vec<String> {
    let heads = [
        Column::left(style.pick("cell", "項目")),
        Column::right(&pair.baseline),
        Column::right(&pair.other),
        Column::left(&style.say(&against(pair))).cut(Cut::Wrap),
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
        "(single figures): one figure does not show how much figures vary, so how sure this is cannot be told; measure several times where you can (--runs 5).",
        "(1 回の値): 値が 1 つだけではばらつきが分からず、確かさを判断できません。測り直せる場合は繰り返して測ってください(--runs 5)。"
    );
    wrap(&style.say(&words), style.width)
}

/// `read SEQ 1 MiB Q8 T1`
pub(crate) fn cell_name(cell: &ComparedCell, style: &Style) -> String {
    let direction = cell.direction.map_or("", |direction| words::direction(style, direction));
    [direction, &style.say(&cell.full_label())].join(" ").trim().to_owned()
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
        (Verdict::NotEnough { .. }, Some(_)) => (Role::Warn, turns::unsettled(&compared.speed)),
        _ => verdict_words(compared, cell.baseline.count.min(cell.other.count)),
    };
    (role, style.say(&words))
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
        let (one, two) = (
            baseline.unwrap_or_else(|| smooth(&cell.baseline)),
            other.unwrap_or_else(|| smooth(&cell.other)),
        );
        let (first, second) = (&pair.baseline, &pair.other);
        let words = Text {
            en: format!("{name}: {first} {}; {second} {}", one.en, two.en),
            ja: format!("{name}: {first} は{}。{second} は{}", one.ja, two.ja),
        };
        lines.extend(hanging(wrap(&style.say(&words), style.width.saturating_sub(2)), 0, 2));
    }
    lines
}

/// What stands for a side of whose stalls nobody would feel one. Short stalls are told: they are no smoothness.
fn smooth(side: &Side) -> Text {
    let Some(Stutter { stalls: 1.., worst_ns, .. }) = side.stutter else {
        return match side.stutter {
            Some(_) => text!("has no stall", "停滞なし"),
            None => text!("does not tell", "記録なし"),
        };
    };
    let worst = number::latency_ns(worst_ns);
    text!("has short stalls only, the longest {worst}", "短い停滞のみ(最長 {worst})")
}

/// Cells of one run alone that are named; of more their number is told.
const NAMED_ALONE: usize = 8;

/// Cells that only one run has.
pub(crate) fn missing(pair: &Pair, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    for (run, cells) in [(&pair.baseline, &pair.only_baseline), (&pair.other, &pair.only_other)] {
        if cells.is_empty() {
            continue;
        }
        let named: Vec<String> = cells.iter().take(NAMED_ALONE).map(|cell| own_name(cell, style)).collect();
        let named = named.join(style.pick(", ", " / "));
        let words = match cells.len() - cells.len().min(NAMED_ALONE) {
            0 => text!("only {run} has: {named}", "{run} にしかない項目: {named}"),
            more => {
                let all = cells.len();
                text!(
                    "only {run} has {all} more cells: {named} and {more} others (--json names all)",
                    "{run} にしかない項目 {all} 件: {named} ほか {more} 件(--json ですべて表示)"
                )
            }
        };
        lines.extend(hanging(wrap(&style.say(&words), style.width.saturating_sub(2)), 0, 2));
    }
    lines
}

/// The name of a cell that only one run has.
fn own_name(cell: &CellName, style: &Style) -> String {
    let direction = cell.direction.map_or("", |direction| words::direction(style, direction));
    [direction, &style.say(&cell.full_label())].join(" ").trim().to_owned()
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
            "記録で分かる範囲では、ほかの条件に違いはありません。"
        ),
        (false, true) => {
            let Text { en, ja } = list(&subject);
            text!(
                "The two runs differ in {en}, which you asked about, and in nothing else that the records tell.",
                "違いは、比べたかった点({ja})だけです(記録で分かる範囲)。"
            )
        }
        (true, _) if about.is_empty() => {
            let Text { en, ja } = list(&rest);
            text!("The two runs differ in: {en}.", "2 つの測定は次の点が違います: {ja}。")
        }
        (true, _) => {
            let Text { en, ja } = list(&rest);
            let asked = about.join(", ");
            text!(
                "As far as the records tell, the two runs do not differ in what you asked about ({asked}), but in: {en}.",
                "記録で分かる範囲では、比べたかった点({asked})に違いはなく、次の点が違います: {ja}。"
            )
        }
        (false, false) => {
            let (of, also) = (list(&subject), list(&rest));
            Text {
                en: format!(
                    "The two runs differ in {}, which you asked about, and also in: {}.",
                    of.en, also.en
                ),
                ja: format!("比べたかった点({})のほかに、次の点も違います: {}。", of.ja, also.ja),
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
