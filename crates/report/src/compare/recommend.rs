//! Runs ranked for a use: the recommendation in a sentence, the decisive parts, and the reasons for
//! excluding a run.

use crate::compare::fit::assumed_flush;
use crate::compare::{facts::Spoken, head, memory_words};
use crate::{side_by_side_doc, words};
use kurabe_compare::{BrokenLimit, CellKey, FIRM_SHARE, Out, Recommendation, Standing, Use, UsePart, names};
use kurabe_core::mention::{COMPARE, PROFILE, RUN};
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::{Text, model::ModelRecord, number, record::RunRecord, shown, text, workload::OpKind};
use kurabe_doc::{Cut, Doc, Entry, Paragraph, Purpose, Role, Table};
use kurabe_stats::is_from_memory;
use kurabe_study::{KnownMiss, ModelLimits, ModelSide};

/// A lead up to this share does not make a run the better choice.
const LITTLE: f64 = 0.05;

/// Returns the recommendation for the use `asked` among the runs. `sides` compares the models among
/// them by properties other than speed, and `limits` has what limits the figures of each model.
pub fn recommendation_doc(
    choice: &Recommendation,
    asked: &Use,
    runs: &[&RunRecord],
    sides: &[ModelSide],
    limits: &[Option<ModelLimits>],
) -> Doc {
    let names = &*names(runs);
    let mut doc = Doc::new();
    let heading = asked.title.map(|title| match title == asked.name {
        true => title.to_owned(),
        false => format!("{} · {title}", asked.name),
    });
    doc.heading(1, heading).aside(asked.reason.clone());
    for (name, run) in names.iter().zip(runs) {
        doc.push(Paragraph::new(name.map(|name| format!("{name} · {}", run.header.id))).indent(2, 4));
    }
    doc.gap().say(answer_for(choice, names)).gap().push(parts(choice, names));
    for (name, run) in names.iter().zip(runs) {
        let is_part = |key: &CellKey| choice.parts.iter().any(|part| part.cell.as_ref() == Some(key));
        let cells = CellKey::of_run(run).into_iter().zip(&run.cells).filter(|(key, _)| is_part(key));
        let from_memory = cells.filter(|(_, cell)| is_from_memory(cell, run.header.model.as_ref()));
        doc.push_all(memory_words(name, from_memory.map(|(_, cell)| words::cell(cell))));
    }
    doc.say_all(speeds(choice, names).into_iter().chain(longest_pauses(choice, asked, names)));
    doc.list(Purpose::Item, choice.standings.iter().filter_map(|standing| out_words(standing, names)));
    doc.append(caveats(choice));
    if choice.parts.iter().any(|part| part.sync && part.cell.is_some()) {
        let assumed = names.iter().zip(runs).filter_map(|(name, run)| Some((name, assumed_flush(run)?)));
        doc.say_all(assumed.map(|(name, assumed)| {
            text!(
                "flushes of {name} depend on assumptions of the model: {assumed}",
                "{name} のフラッシュの値はモデルの仮定によります: {assumed}";
                name
            )
        }));
    }
    doc.append(limits_of_models(names, limits));
    if !sides.is_empty() {
        doc.gap().append(side_by_side_doc(sides));
    }
    doc.say_all(names.iter().zip(runs).filter(|(_, run)| is_without_side(run, sides)).map(|(name, _)| {
        text!(
            "{name} is not in the table of models: its device file is gone or has changed since",
            "{name} はモデルの表にありません。デバイスのファイルがないか、測定後に変更されています";
            name
        )
    }));
    doc
}

/// Says for each model how many of its parameters are assumed, and where it is known to be wrong.
fn limits_of_models(names: &[Text], limits: &[Option<ModelLimits>]) -> Doc {
    let modelled = || names.iter().zip(limits).filter_map(|(name, limits)| Some((name, limits.as_ref()?)));
    let assumed = modelled().map(|(name, limits)| {
        let (assumed, all) = (limits.assumed, limits.parameters);
        text!("{name} {assumed} of {all}", "{name} {all} 個中 {assumed} 個"; name)
    });
    let assumed = Text::list(assumed);
    let mut doc = Doc::new();
    if !assumed.is_empty() {
        doc.say(text!(
            "parameters of the models that are assumed, without a source: {assumed}",
            "モデルのパラメーターのうち、根拠がなく仮定したもの: {assumed}";
            assumed
        ));
    }
    doc.push_all(modelled().flat_map(|(name, limits)| misses(name, &limits.known_misses)));
    doc
}

/// Returns a warning for each published figure that a model does not reach.
pub(super) fn misses(name: &Text, misses: &[KnownMiss]) -> Vec<Paragraph> {
    let warn = |miss: &KnownMiss| {
        let reason = &miss.reason;
        let words = text!(
            "Caution: {name} does not reproduce a published figure: {reason}",
            "注意: {name} は公表値を再現できません: {reason}";
            name, reason
        );
        Paragraph::new(words).role(Role::Warn)
    };
    misses.iter().map(warn).collect()
}

/// Returns whether the model of a run could not be loaded again for the table of models.
fn is_without_side(run: &RunRecord, sides: &[ModelSide]) -> bool {
    let name = run.header.model.as_ref().map(ModelRecord::name_with_changes);
    name.is_some_and(|name| !sides.iter().any(|side| side.name == name))
}

/// Returns what limits the answer: incomparable runs, and parts of the use that were not measured.
fn caveats(choice: &Recommendation) -> Doc {
    let mut doc = Doc::new();
    if !choice.doubts.is_empty() {
        let doubts = Text::list(choice.doubts.iter().map(|doubt| Spoken::from(doubt).name));
        let words = text!(
            "Caution: these runs differ in properties that can make their figures incomparable: \
             {doubts}. `{COMPARE}` shows more",
            "注意: これらの測定は、値を比べられなくすることのある点が違います: {doubts}。詳しくは `{COMPARE}` で確かめられます";
            doubts
        );
        doc.push(Paragraph::new(words).role(Role::Warn));
    }
    let missing = ((1.0 - choice.covered) * 100.0).round() as u64;
    if missing > 0 {
        doc.say(text!(
            "{missing} % of the operations of this use were not measured in all of these runs, so the \
             answer ignores them",
            "この用途の操作の {missing} % は、すべての測定に共通する項目がないため含めていません"
        ));
    }
    if choice.parts.iter().any(|part| part.sync && part.cell.is_none()) {
        let words = text!(
            "Caution: this use waits for flushes, and these runs measured none. On most consumer \
             drives, flushes take longer than everything else. `{RUN} {PROFILE} uses` measures them",
            "注意: この用途はフラッシュの完了を待ちますが、これらの測定にはフラッシュを待つ書き込みがありません。\
             一般向けのドライブでは多くの場合、それがほかのすべてより長くかかります。用途に必要な項目は `{RUN} {PROFILE} uses` で測れます"
        );
        doc.push(Paragraph::new(words).role(Role::Warn));
    }
    if choice.parts.iter().any(|part| part.cell.is_some() && !part.exact) {
        doc.say(text!(
            "≈ the nearest test that all runs have is used for this part",
            "≈ は、すべての測定にある最も近い項目で代用した部分です"
        ));
    }
    doc
}

/// Describes the longest stall that the use tolerates, and how each run compares with it.
fn longest_pauses(choice: &Recommendation, asked: &Use, names: &[Text]) -> Option<Text> {
    let (limit_ns, _) = asked.worst_stall()?;
    let each = |standing: &Standing| {
        let name = &names[standing.run];
        match standing.worst_ns {
            None => text!("{name}: unknown", "{name}: 不明"; name),
            Some(0) => text!("{name}: none", "{name}: なし"; name),
            Some(worst_ns) => name.map(|name| format!("{name}: {}", number::latency_ns(worst_ns))),
        }
    };
    let standstills = Text::list(choice.standings.iter().map(each));
    let limit = number::latency_ns(limit_ns);
    Some(text!(
        "limit: pauses of up to {limit}; longest pause of {standstills}",
        "条件: 停止は {limit} まで。最長の停止は {standstills}";
        standstills
    ))
}

/// If less than this share of the use was measured, no choice is recommended.
pub(crate) const COVERED_ENOUGH: f64 = 0.5;

/// Summarizes the recommendation in a sentence. `names` are the names of the runs.
pub fn answer_for(choice: &Recommendation, names: &[Text]) -> Text {
    let able: Vec<&Standing> = choice.standings.iter().filter(|standing| standing.out.is_none()).collect();
    let Some(best) = able.first() else {
        return text!(
            "None of these runs meets the limits of this use.",
            "この用途の条件を満たすものはありません。"
        );
    };
    let name = &names[best.run];
    if choice.covered < COVERED_ENOUGH {
        let covered = number::percent(choice.covered);
        return text!(
            "Only {covered} of this use was measured in all of these runs, which is not enough for a \
             choice.",
            "すべての測定に共通する項目がこの用途の {covered} しかなく、選ぶ根拠には足りません。"
        );
    }
    let Some(next) = able.get(1) else {
        return if names.len() > 1 {
            text!("Only {name} meets the limits of this use.", "この用途の条件を満たすのは {name} だけです。"; name)
        } else {
            text!(
                "{name} meets the limits of this use.",
                "{name} はこの用途の条件を満たします。";
                name
            )
        };
    };
    let (second, times) = (&names[next.run], best.speed / next.speed);
    let ratio = digits(times);
    if choice.fewest < 2 {
        return text!(
            "{name} is faster for this use: {ratio} times as fast as {second}. Each figure was measured \
             once, so the confidence is unknown.",
            "1 回の値で比べると、この用途には {name} が向いています({second} の {ratio} 倍の速さ)。ただし確かさは分かりません。";
            name, second
        );
    }
    lead(choice, names, &able, times)
}

/// Summarizes the lead of the best run over the next one, which is `times` as slow.
fn lead(choice: &Recommendation, names: &[Text], able: &[&Standing], times: f64) -> Text {
    let [name, second] = [able[0], able[1]].map(|standing| &names[standing.run]);
    let (percent, ratio) = ((choice.holds * 100.0).floor() as u64, digits(times));
    if times == 1.0 {
        return text!(
            "{name} and {second} are equally fast for this use.",
            "この用途では {name} と {second} の速さは同じです。";
            name, second
        );
    }
    if choice.holds < FIRM_SHARE {
        let unsure = able.iter().skip(1).filter(|standing| standing.behind < FIRM_SHARE);
        let mut tied: Vec<Text> = unsure.map(|standing| names[standing.run].clone()).collect();
        let last = tied.pop().unwrap_or_else(|| second.clone());
        let others = Text::list([name.clone()].into_iter().chain(tied));
        return text!(
            "{others} and {last} are tied for this use: given the scatter of the repetitions, {name} is \
             ahead with a probability of only {percent} %.",
            "この用途では {others} と {last} は引き分けです。繰り返しのばらつきを考えると、{name} が上回る確率は {percent} % にとどまります。";
            name, others, last
        );
    }
    if times <= 1.0 + LITTLE {
        return equally_good([name, second], times, choice.by_models);
    }
    if choice.by_models {
        return text!(
            "{name} is the better choice for this use, by the models: {ratio} times as fast as {second}.",
            "この用途には {name} が向いています(モデルによる)。{second} の {ratio} 倍の速さです。";
            name, second
        );
    }
    text!(
        "{name} is the better choice for this use: {ratio} times as fast as {second}. Given the scatter \
         of the repetitions, the probability of this order is {percent} %.",
        "この用途には {name} が向いています。{second} の {ratio} 倍の速さです。繰り返しのばらつきを考えても、この順位になる確率は {percent} % です。";
        name, second
    )
}

/// Says that the lead of the first of two runs is too small to choose by.
fn equally_good([name, second]: [&Text; 2], times: f64, by_models: bool) -> Text {
    let ahead = (times - 1.0) * 100.0;
    let ahead = match ahead < 0.1 {
        true => text!("less than 0.1 %", "0.1 % 未満"),
        false => text!("{ahead:.1} %", "{ahead:.1} %"),
    };
    if by_models {
        return text!(
            "{name} and {second} are equally good for this use: by the models they differ by {ahead}, \
             which is less than the error of the models. Choose by other properties.",
            "この用途では {name} と {second} の優劣は付けられません。モデル上の差は {ahead} で、モデルの誤差より小さいため、\
             ほかの条件で選んでください。";
            name, second, ahead
        );
    }
    text!(
        "{name} and {second} are equally good for this use: they differ by {ahead}, too little to \
         choose by. Price, capacity or endurance may decide.",
        "この用途では {name} と {second} の差は {ahead} で、選ぶ理由になりません。価格、容量、耐久性などで選んでください。";
        name, second, ahead
    )
}

/// Formats a ratio with its meaningful digits: `16,000`, `219`, `1.47`, `0.0051`.
fn digits(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 1000.0 => number::whole((ratio / 100.0).round() * 100.0),
        ratio if ratio >= 100.0 => number::whole(ratio),
        ratio if ratio >= 10.0 => format!("{ratio:.1}"),
        ratio if ratio >= 0.1 || ratio <= 0.0 => format!("{ratio:.2}"),
        ratio => format!("{ratio:.*}", (1.0 - ratio.log10().floor()) as usize),
    }
}

fn parts(choice: &Recommendation, names: &[Text]) -> Table {
    let label = |part: &UsePart| match (&part.cell, part.exact) {
        (Some(_), true) => part.label.clone().into(),
        (Some(_), false) => format!("≈ {}", part.label).into(),
        (None, _) => text!("(not measured)", "(未測定)"),
    };
    let mut table = Table::of(&choice.parts)
        .cut(Cut::Wrap, text!("part of the use", "用途の内訳"), |part| {
            Text::join([words::direction(part.direction), label(part)], [" "; 2])
        })
        .right(text!("share", "割合"), |part| number::percent(part.share));
    for (index, name) in names.iter().enumerate() {
        table = table.right(head(name, names), |part| {
            let best = part.rates_bytes_per_s.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            // A part that a run did not measure has no rates.
            let Some(rate) = part.rates_bytes_per_s.get(index) else { return Entry::default() };
            let role = if *rate == best && names.len() > 1 { Role::Strong } else { Role::Plain };
            Entry::figure(role, Some(number::rate(*rate)))
        });
    }
    table.table().stacks()
}

/// Compares the speed of the runs over the whole use. `None` if there is only one run.
fn speeds(choice: &Recommendation, names: &[Text]) -> Option<Text> {
    let (first, _) = names.split_first().filter(|(_, others)| !others.is_empty())?;
    let each = choice.standings.iter().map(|standing| {
        let (name, speed) = (&names[standing.run], digits(standing.speed));
        let (low, high) = (digits(standing.low), digits(standing.high));
        match standing.run {
            0 => name.map(|name| format!("{name} 1")),
            _ if choice.fewest < 2 => name.map(|name| format!("{name} {speed}")),
            _ => text!("{name} {speed} ({low} to {high})", "{name} {speed} ({low}〜{high})"; name),
        }
    });
    let speeds = Text::list(each);
    Some(text!(
        "speed over the whole use, relative to {first}: {speeds}",
        "用途全体での速さ({first} を 1 とする): {speeds}";
        first, speeds
    ))
}

/// Returns the plural name of a kind of operation.
pub(crate) fn operations(kind: OpKind) -> Text {
    match kind {
        OpKind::Read => text!("reads", "読み出し"),
        OpKind::Write => text!("writes", "書き込み"),
        OpKind::Sync => text!("flushes", "フラッシュ"),
        OpKind::Trim => text!("trims", "破棄(TRIM)"),
    }
}

/// Explains why a run is excluded. `None` if it isn't.
fn out_words(standing: &Standing, names: &[Text]) -> Option<Text> {
    let out = standing.out.as_ref()?;
    let (name, why) = (&names[standing.run], why_out(out));
    Some(text!("{name} is ruled out: {why}", "{name} は除外: {why}"; name, why))
}

/// Describes the limit of the use that a run exceeds.
pub(crate) fn why_out(out: &Out) -> Text {
    let (cell, reason) = (shown::line(&out.cell), &out.reason);
    match out.broken {
        BrokenLimit::Stall { stall_ns, limit_ns } => {
            let (stall, limit) = (number::latency_ns(stall_ns), number::latency_ns(limit_ns));
            text!(
                "it paused for {stall} in {cell}; the limit of this use is {limit} ({reason})",
                "{cell} で {stall} 停止しました。この用途の上限は {limit} です({reason})"; reason
            )
        }
        BrokenLimit::Percentile { of, share, value_ns, limit_ns } => {
            let (percent, kind) = (number::percentile(share), operations(of));
            let (value, limit) = (number::latency_ns(value_ns), number::latency_ns(limit_ns));
            text!(
                "{percent} % of {kind} in {cell} take up to {value}; the limit of this use is {limit} ({reason})",
                "{cell} で{kind}の {percent} % に {value} かかります。この用途の上限は {limit} です({reason})"; kind, reason
            )
        }
        BrokenLimit::Cached { written_bytes, cache_bytes } => {
            let [written, cache] = [written_bytes, cache_bytes].map(format_bytes_decimal);
            text!(
                "the {written} that it wrote fit into its {cache} media cache, beyond which writes are much slower",
                "書き込んだ {written} は {cache} のメディアキャッシュに収まりました。超えると大幅に遅くなります"
            )
        }
        BrokenLimit::Rate { bytes_per_s, least_bytes_per_s } => {
            let (rate, least) = (number::rate(bytes_per_s), number::rate(least_bytes_per_s));
            text!(
                "it reaches {rate} in {cell}; this use needs {least} ({reason})",
                "{cell} が {rate} で、この用途に必要な {least} に届きません({reason})"; reason
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lead_that_rounds_to_nothing_is_no_number() {
        let names = [&Text::same("A"), &Text::same("B")];
        let words = equally_good(names, 1.000_04, false);
        assert_eq!(
            words.en,
            "A and B are equally good for this use: they differ by less than 0.1 %, too little to choose by. \
             Price, capacity or endurance may decide."
        );
        assert!(words.ja.contains("0.1 % 未満") && !words.ja.contains("0.0 %"), "{}", words.ja);
        assert!(
            equally_good(names, 1.034, true)
                .en
                .contains("they differ by 3.4 %, which is less than the error of the models")
        );
    }
}
