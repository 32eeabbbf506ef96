//! Comparison of two runs: a summary sentence, a verdict for each cell, and the other differences
//! between the runs.

pub(crate) mod differences;
pub(crate) mod facts;
mod fit;
mod gate;
mod history;
mod pivot;
mod ranking;
pub(crate) mod recommend;
mod spoken;
pub(crate) mod tails;
pub(crate) mod verdict;
mod versus;

pub use facts::PIVOT_WORDS;
pub use fit::{accept_fit, fit_answer, fit_doc};
pub use gate::{Unaccepted, accept};
pub use history::history_doc;
pub use pivot::{pivot_answer, pivot_doc, render_pivot};
pub use ranking::ranking_doc;
pub use recommend::{answer_for, recommendation_doc};
pub use spoken::{AskedFact, SpokenHistory, SpokenPair, SpokenPairs, SpokenRecommendation, asked_facts};
pub use verdict::{fastest_words, verdict_words};
pub use versus::render_versus;

use crate::{words, words::stutter::stutter_words};
use facts::full_label;
use kurabe_compare::{Alone, CellKey, ComparedCell, Pair, Side};
use kurabe_core::display::{clip, clip_front};
use kurabe_core::mention::{COMPARE, FIT, JSON};
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::{Text, number, profile::Statistic, record::RunHeader, text, workload::Direction};
use kurabe_doc::{Column, Cut, Doc, Entry, Paragraph, Role, Style, Table};
use kurabe_stats::{Stutter, Verdict};
use verdict::{CellVerdict, single_words, tally};

/// Renders the comparison of two runs. `about` lists the differences that the user asks about.
pub fn render_pair(pair: &Pair, headers: [&RunHeader; 2], about: &[String], style: &Style) -> String {
    render_pairs(std::slice::from_ref(pair), &headers, None, about, style)
}

/// Renders the comparison of several runs with the first one. `fastest` is the sentence that names
/// the fastest run.
pub fn render_pairs(
    pairs: &[Pair],
    headers: &[&RunHeader],
    fastest: Option<Text>,
    about: &[String],
    style: &Style,
) -> String {
    let mut doc = Doc::new();
    let ids: Vec<&str> = headers.iter().map(|header| header.id.as_str()).collect();
    doc.heading(1, format!("{COMPARE} {}", ids.join(" "))).append(sides(pairs, headers));
    if let Some(words) = fastest {
        doc.gap().say(words);
    }
    for pair in pairs {
        doc.append(compared(pair, about));
    }
    doc.gap().append(fairness(pairs, about)).terminal(style)
}

/// Lists the compared runs: the baseline, and the other run of each pair.
pub(crate) fn sides(pairs: &[Pair], headers: &[&RunHeader]) -> Doc {
    let side = |(index, header): (usize, &&RunHeader)| {
        let role = if index == 0 { text!("baseline", "基準") } else { text!("other", "比較") };
        let name = match pairs.get(index.saturating_sub(1)) {
            Some(pair) => pair.names[usize::from(index > 0)].clone(),
            None => Text::same(header.target_name()),
        };
        Paragraph::new(side_words(header, &role, &name)).indent(2, 4)
    };
    headers.iter().enumerate().map(side).collect()
}

/// Returns the section of one pair: the summary sentence, the table, and the remarks on both runs.
fn compared(pair: &Pair, about: &[String]) -> Doc {
    let mut doc = Doc::new();
    doc.gap().say(answer(pair)).gap().push(table(pair));
    doc.say_all(counterparts(pair).into_iter().chain(value_note(pair)).chain(single_note(pair)));
    doc.append(missing(pair))
        .append(tails::doc(pair, about))
        .append(unevenness(pair))
        .append(versus::doc(pair));
    doc.done()
}

/// Describes one side in a line: the name used in the tables, and the facts from its record.
fn side_words(header: &RunHeader, role: &Text, name: &Text) -> Text {
    let target = header.target_name();
    let (profile, date) = (header.profile_name(), words::measured_at(header));
    let line = |role: &str, name: &str, date: &str| {
        let facts = [target, &header.id, &profile, date];
        let facts = facts[usize::from(name.contains(target))..].iter().filter(|fact| !fact.is_empty());
        format!("{role}: {name} · {}", facts.copied().collect::<Vec<_>>().join(" · "))
    };
    let line = Text::of(line(&role.en, &name.en, &date.en), line(&role.ja, &name.ja, &date.ja));
    match header.environment.devices.iter().find_map(|device| device.served_model()) {
        Some(model) => {
            text!("{line} · a model, {model}, served by kurabe", "{line} · kurabe が公開中のモデル {model}"; line)
        }
        None => line,
    }
}

/// Maximum width of a run's name above its figures, in terminal columns.
const HEAD_COLUMNS: usize = 24;

/// Shortens the run names above the figures. Paths, and names with the same beginning, keep their
/// end, which distinguishes them better.
pub(crate) fn heads<const N: usize>(names: &[Text; N]) -> [Text; N] {
    std::array::from_fn(|index| head(&names[index], names))
}

/// Shortens one of several run names to be shown above its figures.
pub(crate) fn head(name: &Text, names: &[Text]) -> Text {
    let cut = |name: &Text| name.map(|name| clip(name, HEAD_COLUMNS));
    let begins_like_another = |name: &Text| names.iter().filter(|other| cut(other) == cut(name)).count() > 1;
    match name.en.starts_with('/') || begins_like_another(name) {
        true => name.map(|name| clip_front(name, HEAD_COLUMNS)),
        false => cut(name),
    }
}

/// Summarizes the whole comparison in a sentence.
pub fn answer(pair: &Pair) -> Text {
    let [baseline, other] = &pair.names;
    let sayings: Vec<CellVerdict> = pair
        .cells
        .iter()
        .filter_map(|cell| {
            let (compared, by_single) = (cell.compared?.verdict, cell.by_single_figures);
            Some(CellVerdict { verdict: by_single.unwrap_or(compared), by_single: by_single.is_some() })
        })
        .collect();
    if sayings.is_empty() {
        return text!(
            "{baseline} and {other} have no test in common, so there is nothing to compare",
            "{baseline} と {other} には共通の項目がないため、比べられません";
            baseline, other
        );
    }
    tally(&sayings, other, baseline)
}

/// Explains how cells with different parameters are paired. `None` if all pairs have the same
/// parameters.
pub(crate) fn counterparts(pair: &Pair) -> Option<Text> {
    let unlike = pair.cells.iter().filter_map(|cell| Some((&cell.name.key, &cell.counterpart.as_ref()?.key)));
    let blocks = |key: &CellKey| match key {
        CellKey::Io { block_bytes, .. } => Some(*block_bytes),
        CellKey::Named { .. } => None,
    };
    let unlike: Vec<bool> = unlike.map(|(one, other)| blocks(one) != blocks(other)).collect();
    if unlike.is_empty() {
        return None;
    }
    let how = if pair.versus.is_some() {
        text!(
            "Tests are matched by their place in the procedure; their names show what differs.",
            "項目は手順の中の位置で対応させています。違いは項目名に示します。"
        )
    } else {
        text!(
            "The runs have no test in common. Tests that differ in one property are compared instead; \
             their names show it.",
            "共通の項目がないため、条件が 1 つだけ違う項目どうしを比べています。違いは項目名に示します。"
        )
    };
    let rates = text!(
        " Rates are compared by bytes per second; operations per second are that rate divided \
         by each side's own block size.",
        "速度は毎秒のバイト数で比べています。IOPS は、その速度をそれぞれのブロックサイズで割った値です。"
    );
    let rates = if unlike.contains(&true) { rates } else { Text::default() };
    Some(Text::join([how, rates], ["", ""]))
}

/// Returns the column headings of both sides and of the verdict. The verdict's heading uses the
/// same shortened names, so that it fits on a line.
fn headings(names: &[Text; 2]) -> [Text; 3] {
    let [baseline, other] = heads(names);
    let verdict = text!("{other} against {baseline}", "{baseline} と比べた {other}"; other, baseline);
    [baseline, other, verdict]
}

/// Returns the columns of a comparison table: the compared item, both sides, and the verdict.
pub(crate) fn columns(compared: Text, pair: &Pair) -> [Column; 4] {
    let [baseline, other, verdict] = headings(&pair.names);
    [
        Column::left(compared),
        Column::right(baseline),
        Column::right(other),
        Column::left(verdict).cut(Cut::Wrap).bare(),
    ]
}

pub(crate) fn table(pair: &Pair) -> Table {
    let columns = columns(text!("test", "項目"), pair);
    let rows = pair.cells.iter().map(|cell| {
        let [baseline, other] =
            [&cell.baseline, &cell.other].map(|side| number::measured(cell.name.measure, side.mean));
        [cell_name(cell).into(), baseline.into(), other.into(), Entry::of(verdict(cell))]
    });
    Table::new(columns, rows).stacks()
}

/// Explains which values are compared if they are not the repetitions: the best value of each side,
/// or the samples of one pass.
fn value_note(pair: &Pair) -> Option<Text> {
    let has = |is_it: fn(&ComparedCell) -> bool| pair.cells.iter().any(is_it);
    if has(|cell| cell.by_samples) {
        return Some(text!(
            "The samples within one pass are compared, so the interval shows the variation between \
             samples, not between passes.",
            "1 回の測定のサンプルどうしを比べています。区間はサンプルのばらつきによるもので、測り直したときの差は含みません。"
        ));
    }
    has(|cell| cell.statistic == Statistic::Best).then_some(text!(
        "One of the tools prints only its best repetition, so the best repetition of the other run is \
         used as well.",
        "一方のツールは最良値しか表示しないので、もう一方も最良の回の値で比べています。"
    ))
}

/// Explains why single figures give no verdict, and how to get one.
pub(crate) fn single_note(pair: &Pair) -> Option<Text> {
    pair.cells.iter().any(|cell| cell.by_single_figures.is_some()).then_some(text!(
            "(single figures): one figure does not show how much figures vary, so how sure this is \
             cannot be told; measure several times where you can, with 5 runs for example.",
            "(1 回の値): 値が 1 つだけではばらつきが分からず、確かさを判断できません。測り直せる場合は、5 回など、繰り返して測ってください。"
    ))
}

/// Returns the name of a cell, such as `read SEQ 1 MiB Q8 T1`.
pub(crate) fn cell_name(cell: &ComparedCell) -> Text {
    let mut name = words::directed(cell.name.direction, &full_label(&cell.name.key, &cell.name.label));
    if let Some(other) = &cell.counterpart {
        let other = words::directed(other.direction, &full_label(&other.key, &other.label));
        name = Text::of(from_to(&name.en, &other.en), from_to(&name.ja, &other.ja));
    }
    match cell.includes_flush {
        true => {
            let flush = words::including_the_flush();
            text!("{name}, {flush}", "{name}({flush})"; name, flush)
        }
        false => name,
    }
}

/// Combines two names and writes their common parts once, as in `RND 4→16 KiB Q1 T1`.
fn from_to(one: &str, other: &str) -> String {
    let [one, other] = [one, other].map(|name| name.split(' ').collect::<Vec<_>>());
    let same = |(one, other): &(&&str, &&str)| one == other;
    let start = one.iter().zip(&other).take_while(same).count();
    let rest = one.len().min(other.len()) - start;
    let end = one.iter().rev().zip(other.iter().rev()).take_while(same).count().min(rest);
    let middle = |name: &[&str]| name[start..name.len() - end].join(" ");
    let arrow = match (middle(&one).as_str(), middle(&other).as_str()) {
        (from, to) if from.contains(' ') || to.contains(' ') => format!("{from} → {to}"),
        (from, to) => format!("{from}→{to}"),
    };
    [&one[..start], &[arrow.as_str()], &one[one.len() - end..]].concat().join(" ")
}

/// Returns the verdict of a cell, as text with its role.
pub(crate) fn verdict(cell: &ComparedCell) -> (Role, Text) {
    let Some(compared) = &cell.compared else {
        return (Role::Quiet, text!("no usable figure", "使える値なし"));
    };
    match (compared.verdict, &cell.course, cell.by_single_figures) {
        (Verdict::NotEnough { .. }, Some(_), _) => (Role::Warn, versus::unsettled(&compared.speed)),
        (_, _, Some(verdict)) => single_words(compared.speed.value, verdict),
        _ => verdict_words(compared),
    }
}

/// Warns that the figures of these cells show the speed of memory. `None` if there are no such
/// cells.
pub(crate) fn memory_words(run: &Text, cells: impl Iterator<Item = Text>) -> Option<Paragraph> {
    let cells = Text::list(cells);
    let words = text!(
        "{cells}: the figure of {run} is the speed of the computer's memory, not of its drives, and \
         applies only until memory is full",
        "{cells}: {run} の値はコンピューターのメモリーの速さで、ドライブの速さではありません。メモリーが一杯になるまでの値です";
        cells, run
    );
    (!cells.is_empty()).then(|| Paragraph::new(words).role(Role::Warn).listed())
}

/// Returns the caveat for a side whose writes all went into the media cache of a shingled disk.
fn media_cache_words(run: &Text, cache_bytes: u64) -> Paragraph {
    let cache = format_bytes_decimal(cache_bytes);
    let words = text!(
        "all that {run} wrote is within its media cache of {cache}: sustained writes are many times \
         slower ({FIT} measures beyond it)",
        "{run} の書き込みはすべて {cache} のメディアキャッシュに収まっています。書き続けると何倍も遅くなります({FIT} はその先まで測定)";
        run
    );
    Paragraph::new(words).role(Role::Warn).listed()
}

/// Lists what the figures alone don't show: cells that are served from memory, runs with
/// perceptible stalls, and runs that switch between two states.
pub(crate) fn unevenness(pair: &Pair) -> Doc {
    let mut doc = Doc::new();
    for (place, run) in pair.names.iter().enumerate() {
        let writes = pair.cells.iter().any(|cell| cell.name.direction == Some(Direction::Write));
        doc.push_all(
            pair.media_cache_bytes[place].filter(|_| writes).map(|bytes| media_cache_words(run, bytes)),
        );
        let from_memory = |cell: &&ComparedCell| [&cell.baseline, &cell.other][place].from_memory;
        doc.push_all(memory_words(run, pair.cells.iter().filter(from_memory).map(cell_name)));
    }
    for cell in &pair.cells {
        let sides = pair.names.iter().zip([&cell.baseline, &cell.other]);
        for (run, groups) in sides.filter_map(|(run, side)| Some((run, side.groups?))) {
            let name = cell_name(cell);
            let [low, high] =
                [groups.low_mean, groups.high_mean].map(|mean| number::measured(cell.name.measure, mean));
            let (low_count, high_count) = (groups.low_count, groups.high_count);
            let words = text!(
                "{name}: {run} has two states, {low} ({low_count} repetitions) and {high} \
                 ({high_count}); its figure is the mean of both",
                "{name}: {run} には 2 つの状態があります。{low}({low_count} 回)と {high}({high_count} 回)で、表の値は両方の平均です";
                name, run
            );
            doc.push(Paragraph::new(words).listed());
        }
        let sides = [&cell.baseline, &cell.other];
        let felt = sides.map(|side| side.stutter.as_ref().and_then(stutter_words));
        if felt.iter().all(Option::is_none) {
            continue;
        }
        let [baseline, other] = felt;
        let baseline = baseline.unwrap_or_else(|| smooth(&cell.baseline));
        let other = other.unwrap_or_else(|| smooth(&cell.other));
        let (name, [first, second]) = (cell_name(cell), &pair.names);
        let words = text!(
            "{name}: {first} {baseline}; {second} {other}",
            "{name}: {first} は{baseline}。{second} は{other}";
            name, first, baseline, second, other
        );
        doc.push(Paragraph::new(words).listed());
    }
    doc
}

/// Describes a side without perceptible stalls. Short stalls are still mentioned, because they are
/// not smooth operation.
fn smooth(side: &Side) -> Text {
    let Some(Stutter { stalls: 1.., worst_ns, .. }) = side.stutter else {
        return match side.stutter {
            Some(_) => text!("has no pause", "停滞なし"),
            None => text!("does not record pauses", "記録なし"),
        };
    };
    let worst = number::latency_ns(worst_ns);
    text!("has only short pauses, the longest {worst}", "短い停滞のみ(最長 {worst})")
}

/// Maximum number of cells present in only one run that are listed by name. The others are counted.
const NAMED_ALONE: usize = 8;

/// Lists the cells that only one run has, with the parameters that distinguish each from the
/// nearest cell of the other run.
pub(crate) fn missing(pair: &Pair) -> Doc {
    let mut doc = Doc::new();
    for (run, cells) in pair.names.iter().zip([&pair.only_baseline, &pair.only_other]) {
        if cells.is_empty() {
            continue;
        }
        let name =
            |alone: &Alone| Text::join([facts::cell_name(&alone.name), facts::unlike(alone)], ["", ""]);
        let named = Text::join(cells.iter().take(NAMED_ALONE).map(name), [", ", " / "]);
        let words = match cells.len() - cells.len().min(NAMED_ALONE) {
            0 => text!("only in {run}: {named}", "{run} にしかない項目: {named}"; run, named),
            more => {
                let all = cells.len();
                text!(
                    "only in {run}: {all} more tests, {named} and {more} others ({JSON} lists all)",
                    "{run} にしかない項目 {all} 件: {named} ほか {more} 件({JSON} ですべて表示)";
                    run, named
                )
            }
        };
        doc.push(Paragraph::new(words).listed());
    }
    doc
}

/// Returns the names of all runs of a comparison, the baseline first.
pub(crate) fn run_names(pairs: &[Pair]) -> impl Iterator<Item = Text> + '_ {
    let baseline = pairs.first().map(|pair| &pair.names[0]);
    baseline.into_iter().chain(pairs.iter().map(|pair| &pair.names[1])).cloned()
}

/// Returns what else differed as a sentence and a table, the weightiest first.
pub(crate) fn fairness(pairs: &[Pair], about: &[String]) -> Doc {
    let heads = match pairs {
        [_] => vec![text!("baseline", "基準"), text!("other", "比較")],
        _ => run_names(pairs).collect(),
    };
    let heads = heads.into_iter().map(|name| Column::left(name).cut(Cut::Wrap));
    let columns = std::iter::once(Column::untitled()).chain(heads).chain([Column::untitled().cut(Cut::Wrap)]);
    differences::doc(pairs, about, columns.collect(), |_, effect| Entry::new(Role::Quiet, effect))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_begin_alike_are_told_apart_by_their_ends() {
        let names = [
            "model:ideal-ram-disk, memory.access = 2us",
            "model:ideal-ram-disk, memory.access = 1us",
            "short",
        ];
        let names = names.map(Text::same);
        let [one, other, short] = heads(&names);
        assert_ne!(one, other);
        assert!(one.en.ends_with("= 2us") && short.en == "short", "{one:?}");
        assert_eq!(head(&names[0], &names[..1]).en, "model:ideal-ram-disk, m…");
    }

    #[test]
    fn no_heading_has_a_word_that_is_longer_than_a_name_may_be() {
        for heading in headings(&["a", "b"].map(|letter| Text::same(letter.repeat(3 * HEAD_COLUMNS)))) {
            let longest = heading.en.split(' ').map(str::len).max().unwrap_or(0);
            assert!(longest <= HEAD_COLUMNS + "…".len(), "{heading:?}");
        }
    }
}
