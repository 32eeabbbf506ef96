//! Answers to the questions of a study in sentences: the answer in each form, the decisive figures,
//! and the confidence.

use super::names::{self, choice};
use crate::{compare::recommend::why_out, run::why::how_sure, words};
use kurabe_core::{Text, number, text};
use kurabe_explain::{CellLimit, Limit, LimitKind};
use kurabe_stats::Concordance;
use kurabe_study::{
    Along, Answer, AxisFit, Becomes, Best, Change, Deciding, Goes, QuestionResult, RankedChoice, ReasonView,
};

/// Ratios below this are given in percent.
const TOLD_IN_PERCENT: f64 = 2.0;
/// Maximum number of decisive figures that are named.
const MOST_DECISIVE: usize = 3;

/// Returns the answer in a sentence.
pub(super) fn sentence(answer: &Answer, verdict: &QuestionResult) -> Text {
    match answer {
        Answer::Best(best) => best_of(best, verdict),
        Answer::Change(changes) => change(changes, verdict),
        Answer::Order { pairs, goes } => order(pairs, *goes, verdict),
        Answer::Line(courses) => lines(courses),
        Answer::Keeps { keep, break_it, .. } => keeps(keep, break_it, verdict),
        Answer::Reason(reason) => from_outside(reason),
    }
}

/// Checks whether two answers agree.
pub(super) fn is_same(one: &Answer, other: &Answer) -> bool {
    match (one, other) {
        (Answer::Best(one), Answer::Best(other)) => one.best == other.best,
        (Answer::Change(one), Answer::Change(other)) => {
            let alike = |change: &Change| {
                one.iter().any(|ours| ours.figure == change.figure && ours.becomes == change.becomes)
            };
            other.iter().all(alike)
        }
        (Answer::Order { goes: one, .. }, Answer::Order { goes: other, .. }) => one == other,
        (Answer::Line(one), Answer::Line(other)) => {
            other.iter().all(|line| one.iter().any(|o| o.figure == line.figure && o.on_line == line.on_line))
        }
        (Answer::Keeps { keep: one, .. }, Answer::Keeps { keep: other, break_it, .. }) => {
            other.iter().all(|row| one.contains(row)) && !break_it.iter().any(|row| one.contains(row))
        }
        _ => false,
    }
}

fn names(places: &[usize], verdict: &QuestionResult) -> Text {
    let all = names::choices(verdict);
    names::list(&places.iter().map(|index| all[*index].clone()).collect::<Vec<_>>())
}

/// Formats a share in percent, with one decimal below 10 unless it is whole.
fn percent(share: f64) -> String {
    let words = format!("{:.1}", share * 100.0);
    let short = if share < 0.1 { &words } else { &format!("{:.0}", share * 100.0) };
    short.strip_suffix(".0").unwrap_or(short).to_owned()
}

/// Describes how much faster something is, for a ratio above 1.
fn faster(ratio: f64, than: &Text) -> Text {
    let more = percent(ratio - 1.0);
    match ratio < TOLD_IN_PERCENT {
        true => text!("{more} % faster than {than}", "{than} より {more} % 速い"; than),
        false => text!("{ratio:.1} times as fast as {than}", "{than} の {ratio:.1} 倍の速さ"; than),
    }
}

fn best_of(best: &Best, verdict: &QuestionResult) -> Text {
    let able: Vec<&RankedChoice> = best.standings.iter().filter(|standing| standing.out.is_none()).collect();
    let next = able.iter().find(|standing| !best.best.contains(&standing.choice));
    let firsts = names(&best.best, verdict);
    let margin = percent(verdict.margin);
    let second = next.map(|next| (choice(next.choice, verdict), next.of_best));
    match (best.best.len(), second) {
        (0, _) => text!("None of them suits this use.", "この用途に向くものはありません。"),
        (1, None) if able.len() < best.standings.len() => {
            text!("{firsts}: the others are ruled out.", "{firsts}。ほかは除外されました。"; firsts)
        }
        (1, None) => text!("{firsts}.", "{firsts}。"; firsts),
        (1, Some((second, of_best))) => {
            let second = match best.standings.len() {
                2 => second,
                _ => text!("the next, {second}", "2 番目の {second}"; second),
            };
            let by = faster(1.0 / of_best, &second);
            text!("{firsts}: {by}.", "{firsts}。{by}。"; firsts, by)
        }
        (_, second) => {
            let next = second.map_or_else(Text::default, |(second, of_best)| {
                let slower = percent(1.0 - of_best);
                text!(" Next comes {second}, {slower} % slower.", "次は {second} で、{slower} % 遅くなります。"; second)
            });
            if apart_by_scatter(best, verdict.margin) {
                return text!(
                    "A tie between {firsts}: their repetitions scatter more than they differ.{next}",
                    "引き分け: {firsts}(繰り返しのばらつきのほうが差より大きい)。{next}";
                    firsts, next
                );
            }
            text!(
                "A tie between {firsts}: they differ by less than {margin} %.{next}",
                "引き分け: {firsts}(差は {margin} % 未満)。{next}";
                firsts, next
            )
        }
    }
}

/// Returns whether choices are a tie although more than the margin lies between them, because the
/// repetitions do not tell which of them is ahead.
fn apart_by_scatter(best: &Best, margin: f64) -> bool {
    let tied = best.standings.iter().filter(|standing| best.best.contains(&standing.choice));
    best.holds.is_some()
        && tied.map(|standing| standing.of_best).any(|of_best| of_best * (1.0 + margin) <= 1.0)
}

fn change(changes: &[Change], verdict: &QuestionResult) -> Text {
    let count = |becomes: Becomes| changes.iter().filter(|change| change.becomes == becomes).count();
    let all = changes.len();
    let margin = percent(verdict.margin);
    let (better, same, worse) = (count(Becomes::Better), count(Becomes::Same), count(Becomes::Worse));
    if same == all {
        return text!(
            "No difference that matters: every figure stays within {margin} %.",
            "問題になる差はありません。どの値も変化は {margin} % 以内です。"
        );
    }
    if let [only] = changes {
        return match only.becomes {
            Becomes::Better => text!("It gets better.", "改善します。"),
            _ => text!("It gets worse.", "悪化します。"),
        };
    }
    match (better, same, worse) {
        (2, 0, 0) => text!("Better in both figures.", "どちらの項目も改善します。"),
        (0, 0, 2) => text!("Worse in both figures.", "どちらの項目も悪化します。"),
        (_, 0, 0) => text!("Better in all {all} figures.", "{all} 項目すべてで改善します。"),
        (0, 0, _) => text!("Worse in all {all} figures.", "{all} 項目すべてで悪化します。"),
        _ => {
            let [b, w, k] = [better, worse, same].map(|count| if count == 1 { "s" } else { "" });
            let kinds = [
                (better, text!("{better} get{b} better", "{better} 項目は改善")),
                (worse, text!("{worse} get{w} worse", "{worse} 項目は悪化")),
                (same, text!("{same} stay{k} within {margin} %", "{same} 項目は {margin} % 以内で変化なし")),
            ];
            let kinds = Text::list(kinds.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words));
            text!("Of {all} figures, {kinds}.", "{all} 項目のうち {kinds}。"; kinds)
        }
    }
}

fn order(pairs: &Concordance, goes: Goes, verdict: &QuestionResult) -> Text {
    let name =
        |index: usize| verdict.figures.get(index).map(|figure| figure.name.clone()).unwrap_or_default();
    let (one, other) = (words::amid(&name(0)), words::amid(&name(1)));
    let one = Text::of(one.en, one.ja.trim_start());
    let all = pairs.same + pairs.opposite + pairs.tied;
    let (same, opposite) = (pairs.same, pairs.opposite);
    match goes {
        Goes::Together => text!(
            "Yes: {one} and {other} put them in the same order, in {same} of {all} pairs.",
            "はい。{one}と{other}は、{all} 組中 {same} 組で同じ順序です。";
            one, other
        ),
        Goes::Opposite => text!(
            "The other way round: {one} and {other} put them in opposite orders, in {opposite} of {all} pairs.",
            "逆です。{one}と{other}は、{all} 組中 {opposite} 組で逆の順序です。";
            one, other
        ),
        Goes::Neither => text!(
            "Unclear: {one} and {other} put {same} of {all} pairs in the same order, which may be \
             chance.",
            "はっきりしません。{one}と{other}が同じ順序なのは {all} 組中 {same} 組で、偶然でも起こり得ます。";
            one, other
        ),
    }
}

fn lines(courses: &[AxisFit]) -> Text {
    let on = courses.iter().filter(|course| course.on_line).count();
    match (on, courses.len()) {
        (on, all) if on == all => text!("Yes, in a straight line.", "はい。直線的に変わります。"),
        (0, _) => text!("No, not in a straight line.", "いいえ。直線にはなりません。"),
        (on, all) => text!("In a straight line for {on} of {all}.", "{all} 個のうち {on} 個は直線的です。"),
    }
}

fn keeps(keep: &[usize], break_it: &[usize], verdict: &QuestionResult) -> Text {
    let (kept, broken) = (names(keep, verdict), names(break_it, verdict));
    match (keep.is_empty(), break_it.is_empty()) {
        (false, true) => text!("All of them.", "すべて当てはまります。"),
        (true, _) => text!("None of them.", "当てはまるものはありません。"),
        (false, false) => {
            text!("{kept}; not {broken}.", "{kept}。当てはまらないもの: {broken}。"; kept, broken)
        }
    }
}

/// Returns the figures behind an answer.
pub(super) fn details(answer: &Answer, verdict: &QuestionResult) -> Vec<Text> {
    match answer {
        Answer::Best(best) => best_details(best, verdict),
        Answer::Change(changes) => changes.iter().map(|change| change_words(change, verdict)).collect(),
        Answer::Order { .. } => vec![order_details(verdict)],
        Answer::Line(courses) => courses.iter().map(|course| course_words(course, verdict)).collect(),
        Answer::Keeps { worst, .. } => vec![worst_words(worst, verdict)],
        Answer::Reason(reason) => reason_details(reason),
    }
}

/// Returns the reason as it can be seen from outside, without the model's account.
fn from_outside(reason: &ReasonView) -> Text {
    let CellLimit { part, label, limit, .. } = &reason.outside;
    let sentence = match limit.kind {
        LimitKind::Unknown => text!("unknown", "判断できません"),
        _ => how_sure(limit),
    };
    text!(
        "{part} {label}, from outside (blind): {sentence}.",
        "{part} {label}、内訳を使わず測定値だけから推定すると: {sentence}。";
        sentence
    )
}

/// Returns the evidence for the reason, or how to find out, and the model's account.
fn reason_details(reason: &ReasonView) -> Vec<Text> {
    let Limit { kind, evidence, next, .. } = &reason.outside.limit;
    let evidence = Some(evidence).filter(|evidence| !evidence.is_empty());
    let next = next.as_ref().filter(|_| *kind == LimitKind::Unknown);
    let account = reason.account.as_ref().map(|Limit { sentence, evidence, .. }| {
        text!("The model's account: {sentence}; {evidence}.", "モデルの内訳: {sentence}。{evidence}。"; sentence, evidence)
    });
    let evidence = evidence.map(|evidence| text!("Evidence: {evidence}.", "根拠: {evidence}。"; evidence));
    let next = next.map(|next| text!("To decide it: {next}.", "調べるには: {next}。"; next));
    evidence.into_iter().chain(next).chain(account).collect()
}

fn figure(value: f64, deciding: &Deciding) -> String {
    number::fixed(value, deciding.decimals)
}

/// Formats a figure with its unit.
fn with_unit(value: f64, deciding: &Deciding) -> String {
    format!("{} {}", figure(value, deciding), deciding.unit).trim().to_owned()
}

/// Returns the ranking of all choices that are not excluded, if there are more than two.
fn order_of(best: &Best, verdict: &QuestionResult) -> Option<Text> {
    let index = |standing: &RankedChoice| {
        let name = choice(standing.choice, verdict);
        let behind = percent(1.0 - standing.of_best);
        match standing.of_best >= 1.0 {
            true => name,
            false => name.map(|name| format!("{name} -{behind} %")),
        }
    };
    let able = best.standings.iter().filter(|standing| standing.out.is_none());
    let order = Text::join(able.clone().map(index), ["; ", " / "]);
    (able.count() > 2).then(|| text!("Order, best first: {order}.", "良い順: {order}。"; order))
}

/// Returns the answer from figures other than those of the verdict, with its ranking.
pub(super) fn in_short(answer: &Answer, verdict: &QuestionResult) -> Text {
    let order = match answer {
        Answer::Best(best) => order_of(best, verdict),
        _ => None,
    };
    Text::sentences(std::iter::once(sentence(answer, verdict)).chain(order))
}

/// Returns the ranking of all choices, and the figures with the largest lead of the best choice
/// over the next.
fn best_details(best: &Best, verdict: &QuestionResult) -> Vec<Text> {
    let mut lines: Vec<Text> = order_of(best, verdict).into_iter().collect();
    lines.extend(best.standings.iter().filter_map(|standing| out_words(standing, verdict)));
    let is_there = |choice: &usize| best.standings.iter().any(|standing| standing.choice == *choice);
    let missing: Vec<usize> = (0..verdict.choices.len()).filter(|choice| !is_there(choice)).collect();
    if !missing.is_empty() {
        let missing = names(&missing, verdict);
        lines.push(
            text!("Left out, because figures are missing: {missing}.", "値がないため除外: {missing}。"; missing),
        );
    }
    lines.extend(decisive(best, verdict));
    lines
}

fn out_words(standing: &RankedChoice, verdict: &QuestionResult) -> Option<Text> {
    let out = standing.out.as_ref()?;
    let name = choice(standing.choice, verdict);
    let why = why_out(out);
    Some(text!("{name} is ruled out: {why}.", "{name} は除外: {why}。"; name, why))
}

/// Returns the figures that put the best choice ahead of the next: those with the largest weighted
/// distance, at most three.
fn decisive(best: &Best, verdict: &QuestionResult) -> Option<Text> {
    let first = best.standings.first().filter(|standing| standing.out.is_none())?.choice;
    let able = best.standings.iter().filter(|standing| standing.out.is_none());
    let next = able.map(|standing| standing.choice).find(|choice| !best.best.contains(choice));
    let next = next.or_else(|| best.best.iter().copied().find(|choice| *choice != first))?;
    let weighed = verdict.figures.iter().filter_map(|deciding| {
        let (one, two) = (deciding.values[first]?, deciding.values[next]?);
        let ahead = if deciding.less_is_better { two / one } else { one / two };
        (ahead.is_finite() && ahead > 0.0).then(|| (deciding.weight * ahead.ln(), deciding, one, two))
    });
    let mut by_weight: Vec<(f64, &Deciding, f64, f64)> = weighed.collect();
    by_weight.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let words = by_weight.iter().take(MOST_DECISIVE).map(|(_, deciding, one, two)| {
        let figures = format!("{} : {}", figure(*one, deciding), with_unit(*two, deciding));
        deciding.name.map(|name| format!("{name} {figures}"))
    });
    let words: Vec<Text> = words.collect();
    if words.is_empty() {
        return None;
    }
    let words = Text::join(words, ["; ", " / "]);
    let (one, two) = (choice(first, verdict), choice(next, verdict));
    Some(text!(
        "The largest differences, {one} : {two}: {words}.",
        "差の大きい値({one} : {two}): {words}。";
        one, two, words
    ))
}

fn change_words(change: &Change, verdict: &QuestionResult) -> Text {
    let deciding = &verdict.figures[change.figure];
    let figures = format!("{} → {}", figure(change.from, deciding), with_unit(change.to, deciding));
    let by = if change.from > 0.0 {
        let ratio = change.to / change.from;
        if ratio >= TOLD_IN_PERCENT {
            text!(" ({ratio:.1} times)", " ({ratio:.1} 倍)")
        } else {
            let sign = if ratio < 1.0 { '-' } else { '+' };
            match percent((ratio - 1.0).abs()) {
                none if none == "0" => text!(" (no change)", "(変化なし)"),
                by => text!(" ({sign}{by} %)", " ({sign}{by} %)"),
            }
        }
    } else {
        Text::default()
    };
    let name = &deciding.name;
    text!("{name}: {figures}{by}", "{name}: {figures}{by}"; name, by)
}

/// Returns both figures of each row, in the order of the first figure.
fn order_details(verdict: &QuestionResult) -> Text {
    let [one, other] = verdict.figures.as_slice() else { return Text::default() };
    let names = names::choices(verdict);
    let figures = one.values.iter().zip(&other.values).zip(&names);
    let mut rows: Vec<(f64, f64, &Text)> =
        figures.filter_map(|((one, other), name)| Some(((*one)?, (*other)?, name))).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rows = rows.into_iter().map(|(a, b, name)| {
        let (first, second) = (with_unit(a, one), with_unit(b, other));
        name.map(|name| format!("{name} {first} : {second}"))
    });
    let rows = Text::join(rows, ["; ", " / "]);
    text!("{rows}.", "{rows}。"; rows)
}

fn course_words(course: &AxisFit, verdict: &QuestionResult) -> Text {
    let deciding = &verdict.figures[course.figure];
    let (unit, size) = match course.along {
        Along::Bytes => largest_unit(verdict),
        Along::Nanoseconds => ("ms", 1e6),
        Along::Number => ("", 1.0),
    };
    let adds = with_unit(course.line.slope * size, deciding);
    let share = percent(course.line.fit);
    let name = &deciding.name;
    let step = if unit.is_empty() { text!("step", "増える") } else { text!("{unit}", "{unit} ") };
    match course.on_line {
        true => text!(
            "{name}: each {step} adds {adds}; a straight line accounts for {share} % of the differences.",
            "{name}: 1 {step}ごとに {adds} 増加。直線で {share} % 説明できます。";
            name, step
        ),
        false => text!(
            "{name}: a straight line accounts for only {share} % of the differences.",
            "{name}: 直線で説明できるのは違いの {share} % だけです。";
            name
        ),
    }
}

/// Returns the unit that suits an axis of sizes.
fn largest_unit(verdict: &QuestionResult) -> (&'static str, f64) {
    let has = |unit: &str| verdict.choices.iter().any(|choice| choice.key.ends_with(unit));
    let units = [
        ("GB", 1e9),
        ("GiB", 1_073_741_824.0),
        ("MB", 1e6),
        ("MiB", 1_048_576.0),
        ("kB", 1e3),
        ("KiB", 1024.0),
    ];
    units.iter().find(|(unit, _)| has(&format!(" {unit}"))).copied().unwrap_or(("B", 1.0))
}

/// Returns for each choice the figure closest to the limit or furthest beyond it.
fn worst_words(worst: &[Option<f64>], verdict: &QuestionResult) -> Text {
    let Some(deciding) = verdict.figures.first() else { return Text::default() };
    let names = names::choices(verdict);
    let each = names.iter().zip(worst).filter_map(|(name, value)| Some((name, (*value)?)));
    let values = each.map(|(name, value)| {
        let value = with_unit(value, deciding);
        name.map(|name| format!("{name} {value}"))
    });
    let (name, values) = (&deciding.name, Text::join(values, ["; ", " / "]));
    text!("{name}: {values}.", "{name}: {values}。"; name, values)
}

/// Describes the confidence in an answer.
pub(super) fn firmness(answer: &Answer, verdict: &QuestionResult) -> Option<Text> {
    match answer {
        Answer::Best(best) => Some(best_firmness(best, verdict)),
        Answer::Order { pairs, .. } if pairs.p_value.is_finite() => {
            let chance = percent(pairs.p_value);
            Some(text!(
                "If they were independent, an order as clear as this would occur in {chance} % of cases.",
                "両者が無関係なら、これほどそろった(または逆の)順序になるのは {chance} % です。"
            ))
        }
        _ => None,
    }
}

fn best_firmness(best: &Best, verdict: &QuestionResult) -> Text {
    if let Some(holds) = best.holds {
        let share = (holds * 100.0).floor();
        return text!(
            "Robustness: given the scatter of the repetitions, the first stays first in {share} % of \
             cases.",
            "確かさ: 繰り返しのばらつきを考えても、{share} % で 1 位は変わりません。"
        );
    }
    let count = verdict.figures.len();
    if count < 2 {
        return text!(
            "Robustness: the answer depends on one figure.",
            "確かさ: 1 つの値だけによる答えです。"
        );
    }
    let Some(rest) = best.rests_on.first() else {
        return text!(
            "Robustness: without any one of the {count} figures, the answer is the same.",
            "確かさ: {count} 個の値のどれを 1 つ除いても、答えは変わりません。"
        );
    };
    let (name, instead) = (&verdict.figures[rest.figure].name, names(&rest.instead, verdict));
    let answer = match rest.instead.as_slice() {
        [] => text!("there would be none", "答えがなくなります"),
        [_] => text!("it would be {instead}", "{instead} になります"; instead),
        _ => text!("{instead} would be a tie", "{instead} の引き分けになります"; instead),
    };
    let more = match best.rests_on.len() - 1 {
        0 => Text::default(),
        1 => text!(" The same applies to one other figure.", "ほかにも 1 個、そうした値があります。"),
        others => {
            text!(
                " The same applies to {others} other figures.",
                "ほかにも {others} 個、そうした値があります。"
            )
        }
    };
    text!(
        "Robustness: the answer depends on {name}; without it, {answer}.{more}",
        "確かさ: {name} に左右されます。これを除くと{answer}。{more}";
        name, answer, more
    )
}
