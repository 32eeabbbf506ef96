//! Runs ranked for a use: the answer in a sentence, the parts that decided it, and what keeps a run out.

use crate::columns::{self, Column, Cut, plain};
use crate::facts::Spoken;
use crate::layout::{hanging, page, wrap};
use crate::style::{Role, Style};
use crate::words;
use kurabe_compare::{FIRM_SHARE, Recommendation, Standing, Use};
use kurabe_core::number;
use kurabe_core::{Text, text};

/// Who is ahead by no more than this is not the better choice.
const LITTLE: f64 = 0.05;

/// The page of a recommendation for runs with these ids.
pub fn render_recommendation(found: &Recommendation, wanted: &Use, ids: &[&str], style: &Style) -> String {
    let heading = format!("{} · {}", wanted.name, wanted.title.get(style.lang));
    let mut lines = vec![style.paint(Role::Strong, &heading)];
    lines.extend(hanging(wrap(wanted.reason.get(style.lang), style.width.saturating_sub(2)), 2, 2));
    lines.push(String::new());
    lines.extend(wrap(&style.say(&answer_for(found, ids)), style.width));
    lines.push(String::new());
    lines.extend(parts(found, ids, style));
    lines.extend(limits(found, wanted, ids, style));
    for standing in &found.standings {
        if let Some(words) = out_words(standing, ids) {
            lines.extend(hanging(wrap(&style.say(&words), style.width.saturating_sub(2)), 0, 2));
        }
    }
    if !found.doubts.is_empty() {
        let names = Text::list(found.doubts.iter().map(|doubt| Spoken::from(doubt).name));
        let words = text!(
            "Beware: these runs differ in what can make their figures incomparable: {names}; `kurabe compare` tells more",
            "注意: これらの測定は、値を比べられなくすることのある点が違います: {names}。詳しくは `kurabe compare` で確かめられます";
            names
        );
        lines.extend(wrap(&style.say(&words), style.width).iter().map(|line| style.paint(Role::Warn, line)));
    }
    let missing = ((1.0 - found.covered) * 100.0).round() as u64;
    if missing > 0 {
        let words = text!(
            "{missing} % of the use is not measured by all of these runs, so the answer leaves it out",
            "この用途の {missing} % は、すべての測定に共通する項目がないため含めていません"
        );
        lines.extend(wrap(&style.say(&words), style.width));
    }
    if found.parts.iter().any(|part| part.cell.is_some() && !part.exact) {
        let words = text!(
            "≈ the nearest cell that all runs have stands for this part",
            "≈ は、すべての測定にある最も近い項目で代用した部分です"
        );
        lines.extend(wrap(&style.say(&words), style.width));
    }
    page(&lines)
}

/// What the use bears, and of whom it is known that it keeps to it.
fn limits(found: &Recommendation, wanted: &Use, ids: &[&str], style: &Style) -> Vec<String> {
    let Some(limit_ns) = wanted.limits.iter().map(|limit| limit.worst_stall_ns).min() else {
        return Vec::new();
    };
    let each = |standing: &Standing| {
        let id = ids[standing.run];
        match standing.worst_ns {
            None => text!("{id}: not known", "{id}: 不明"),
            Some(0) => text!("{id}: none", "{id}: なし"),
            Some(worst_ns) => {
                let worst = number::latency_ns(worst_ns);
                text!("{id}: {worst}", "{id}: {worst}")
            }
        }
    };
    let all: Vec<Text> = found.standings.iter().map(each).collect();
    let join = |pick: fn(&Text) -> &str, with| all.iter().map(pick).collect::<Vec<_>>().join(with);
    let (en, ja) = (join(|one| &one.en, ", "), join(|one| &one.ja, "、"));
    let limit = number::latency_ns(limit_ns);
    let words = text!(
        "limit: stands still for {limit} at most; the longest standstill of {en}",
        "条件: 止まる時間は {limit} まで。最長の停止は {ja}"
    );
    wrap(&style.say(&words), style.width)
}

/// Below this share of the use that was measured, no choice follows.
const COVERED_ENOUGH: f64 = 0.5;

/// The answer in a sentence.
pub fn answer_for(found: &Recommendation, ids: &[&str]) -> Text {
    let able: Vec<&Standing> = found.standings.iter().filter(|standing| standing.out.is_none()).collect();
    let Some(best) = able.first() else {
        return text!("None of these runs suits this use.", "この用途に向くものはありません。");
    };
    let name = ids[best.run];
    if found.covered < COVERED_ENOUGH {
        let covered = number::percent(found.covered);
        return text!(
            "Only {covered} of this use is measured by all of these runs, which is not enough to choose by.",
            "すべての測定に共通する項目がこの用途の {covered} しかなく、選ぶ根拠には足りません。"
        );
    }
    let Some(next) = able.get(1) else {
        return if ids.len() > 1 {
            text!("{name} is the only one that suits this use.", "この用途に向くのは {name} だけです。")
        } else {
            text!(
                "{name} suits this use, as far as these limits tell.",
                "この条件の範囲では、{name} はこの用途に使えます。"
            )
        };
    };
    let (second, times) = (ids[next.run], best.speed / next.speed);
    let (percent, shown) = ((found.holds * 100.0).floor() as u64, digits(times));
    if found.fewest < 2 {
        return text!(
            "For this use {name} is the better choice by single figures: {shown} times as fast as {second}. How sure that is, nobody can tell.",
            "1 回の値で比べると、この用途には {name} が向いています({second} の {shown} 倍の速さ)。ただし確かさは分かりません。"
        );
    }
    if found.holds < FIRM_SHARE {
        let unsure = able.iter().skip(1).filter(|standing| standing.behind < FIRM_SHARE);
        let mut tied: Vec<&str> = unsure.map(|standing| ids[standing.run]).collect();
        if tied.is_empty() {
            tied.push(second);
        }
        let last = tied.pop().unwrap_or(second);
        let others: String = tied.iter().map(|id| format!(", {id}")).collect();
        let others_ja: String = tied.iter().map(|id| format!("、{id}")).collect();
        return text!(
            "{name}{others} and {last} are a tie for this use: as far as the repetitions scatter, {name} would come out ahead in {percent} % of cases, which is not enough to choose by.",
            "この用途では {name}{others_ja} と {last} は引き分けです。繰り返しのばらつきを考えると {name} が上回るのは {percent} % で、選ぶ根拠には足りません。"
        );
    }
    if times <= 1.0 + LITTLE {
        let ahead = (times - 1.0) * 100.0;
        return text!(
            "{name} and {second} are as good as each other for this use: {name} is ahead by {ahead:.1} % only, which does not matter.",
            "この用途では {name} と {second} にほとんど差がありません。{name} が {ahead:.1} % 速いだけで、選ぶ理由にはなりません。"
        );
    }
    text!(
        "For this use {name} is the better choice: {shown} times as fast as {second}. As far as the repetitions scatter, this order would come out in {percent} % of cases.",
        "この用途には {name} が向いています。{second} の {shown} 倍の速さです。繰り返しのばらつきを考えても、{percent} % でこの順位になります。"
    )
}

/// A ratio with the digits that mean something: `16 000`, `219`, `1.47`, `0.0051`.
fn digits(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 1000.0 => number::whole((ratio / 100.0).round() * 100.0),
        ratio if ratio >= 100.0 => number::whole(ratio),
        ratio if ratio >= 10.0 => format!("{ratio:.1}"),
        ratio if ratio >= 0.1 || ratio <= 0.0 => format!("{ratio:.2}"),
        ratio => format!("{ratio:.*}", (1.0 - ratio.log10().floor()) as usize),
    }
}

fn parts(found: &Recommendation, ids: &[&str], style: &Style) -> Vec<String> {
    let mut heads = vec![
        Column::left(style.pick("part of the use", "用途の内訳")).cut(Cut::Wrap),
        Column::right(style.pick("share", "割合")),
    ];
    heads.extend(ids.iter().map(|id| Column::right(id)));
    let rows: Vec<_> = found
        .parts
        .iter()
        .map(|part| {
            let direction = style.say(&words::direction(part.direction));
            let name = match (&part.cell, part.exact) {
                (Some(_), true) => format!("{direction} {}", part.label),
                (Some(_), false) => format!("{direction} ≈ {}", part.label),
                (None, _) => format!("{direction} {}", style.pick("(not measured)", "(未測定)")),
            };
            let best = part.rates_bytes_per_s.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut row = vec![plain(name), plain(format!("{:.0} %", part.share * 100.0))];
            row.extend(part.rates_bytes_per_s.iter().map(|rate| {
                let figure = number::rate(*rate);
                let role = if *rate == best && ids.len() > 1 { Role::Strong } else { Role::Plain };
                (role, format!("{} {}", figure.number, figure.unit))
            }));
            row
        })
        .collect();
    let mut lines = columns::render(&heads, &rows, 0, style);
    if ids.len() > 1 {
        let first = ids[0];
        let all: Vec<Text> = found
            .standings
            .iter()
            .map(|standing| {
                let (id, speed) = (ids[standing.run], digits(standing.speed));
                let (low, high) = (digits(standing.low), digits(standing.high));
                if found.fewest < 2 && standing.run != 0 {
                    text!("{id} {speed}", "{id} {speed}")
                } else if standing.run == 0 {
                    text!("{id} 1", "{id} 1")
                } else {
                    text!("{id} {speed} ({low} to {high})", "{id} {speed} ({low}〜{high})")
                }
            })
            .collect();
        let join = |pick: fn(&Text) -> &str, with| all.iter().map(pick).collect::<Vec<_>>().join(with);
        let words = Text {
            en: format!("speed over the whole use, {first} being 1: {}", join(|text| &text.en, ", ")),
            ja: format!("用途全体での速さ({first} を 1 とする): {}", join(|text| &text.ja, "、")),
        };
        lines.extend(wrap(&style.say(&words), style.width));
    }
    lines
}

/// What keeps a run out.
fn out_words(standing: &Standing, ids: &[&str]) -> Option<Text> {
    let out = standing.out.as_ref()?;
    let (id, cell) = (ids[standing.run], &out.cell);
    let (stall, limit) = (number::latency_ns(out.stall_ns), number::latency_ns(out.limit_ns));
    let (en, ja) = (&out.reason.en, &out.reason.ja);
    Some(text!(
        "{id} is out: it stalled for {stall} in {cell}, and this use bears {limit} at most ({en})",
        "{id} は除外: {cell} で {stall} の停滞がありました。この用途の上限は {limit} です({ja})"
    ))
}
