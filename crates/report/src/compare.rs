//! Two runs compared: the answer in a sentence, cell by cell with a verdict that can be read aloud, and what else differed.

pub(crate) mod facts;
mod fit;
mod gate;
mod history;
mod pivot;
pub(crate) mod recommend;
pub(crate) mod tails;
mod turns;
pub(crate) mod verdict;

pub use facts::PIVOT_WORDS;
pub use fit::{accept_fit, fit_answer, fit_doc};
pub use gate::{Unaccepted, accept};
pub use history::history_doc;
pub use pivot::{pivot_answer, pivot_doc, render_pivot};
pub use recommend::{answer_for, recommendation_doc};
pub use turns::render_versus;
pub use verdict::fastest_words;

use crate::doc::{Column, Cut, Doc, Entry, Paragraph, Role, Style, Table, TableForm};
use crate::{words, words::stutter::stutter_words};
use facts::{Spoken, full_label};
use kurabe_compare::{Alone, CellKey, ComparedCell, Difference, Pair, Side, Weight};
use kurabe_core::display::{clip, clip_front};
use kurabe_core::mention::{COMPARE, JSON};
use kurabe_core::{Text, number, profile::Statistic, record::RunHeader, text};
use kurabe_stats::{Stutter, Verdict};
use verdict::{CellVerdict, single_words, tally, verdict_words};

/// The page of a comparison. `about` names the differences that the user asks about.
pub fn render_pair(pair: &Pair, headers: [&RunHeader; 2], about: &[String], style: &Style) -> String {
    render_pairs(std::slice::from_ref(pair), &headers, None, about, style)
}

/// The page of several runs, each but the first held against the first. `fastest` tells which of all is.
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
    doc.terminal(style)
}

/// Who is compared: the baseline, and the other one of each pair.
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

/// One pair: the answer, the table, and what there is to say of both.
fn compared(pair: &Pair, about: &[String]) -> Doc {
    let mut doc = Doc::new();
    doc.gap().say(answer(pair)).gap().push(table(pair));
    doc.say_all(counterparts(pair).into_iter().chain(value_note(pair)).chain(single_note(pair)));
    doc.append(missing(pair)).append(tails::doc(pair)).append(unevenness(pair)).append(turns::doc(pair));
    doc.gap().append(fairness(pair, about)).done()
}

/// A side in a line: what it is called below, and what the record says it is.
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

/// Columns of a terminal that a run's name takes above its figures.
const HEAD_COLUMNS: usize = 24;

/// Runs' names above their figures, cut where they are long. Of paths, and of names that begin alike, the end tells more.
pub(crate) fn heads<const N: usize>(names: &[Text; N]) -> [Text; N] {
    std::array::from_fn(|index| head(&names[index], names))
}

/// The name of one of several runs above its figures.
pub(crate) fn head(name: &Text, names: &[Text]) -> Text {
    let cut = |name: &Text| name.map(|name| clip(name, HEAD_COLUMNS));
    let begins_like_another = |name: &Text| names.iter().filter(|other| cut(other) == cut(name)).count() > 1;
    match name.en.starts_with('/') || begins_like_another(name) {
        true => name.map(|name| clip_front(name, HEAD_COLUMNS)),
        false => cut(name),
    }
}

/// The whole comparison in a sentence.
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
            "{baseline} and {other} have no cell in common, so there is nothing to compare",
            "{baseline} と {other} には共通の項目がないため、比べられません";
            baseline, other
        );
    }
    tally(&sayings, other, baseline)
}

/// How cells are compared that are not the same: nothing where all are.
pub(crate) fn counterparts(pair: &Pair) -> Option<Text> {
    let unlike = pair.cells.iter().filter_map(|cell| Some((&cell.key, &cell.counterpart.as_ref()?.key)));
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
            "Cells meet by their place in the procedure; what differs stands in their names.",
            "項目は手順の中の位置で対応させています。違いは項目名に示します。"
        )
    } else {
        text!(
            "The runs have no cell in common; compared are those that differ in one thing, which stands in their names.",
            "共通の項目がないため、条件が 1 つだけ違う項目どうしを比べています。違いは項目名に示します。"
        )
    };
    let rates = text!(
        " Rates are compared by bytes per second; operations per second are that rate divided by each side's own block size.",
        "速度は毎秒のバイト数で比べています。IOPS は、その速度をそれぞれのブロックサイズで割った値です。"
    );
    let rates = if unlike.contains(&true) { rates } else { Text::default() };
    Some(Text::join([how, rates], ["", ""]))
}

/// What stands above both sides and the verdict: there, too, the names as they are above the sides, short enough for a line.
fn headings(names: &[Text; 2]) -> [Text; 3] {
    let [baseline, other] = heads(names);
    let verdict = text!("{other} against {baseline}", "{baseline} と比べた {other}"; other, baseline);
    [baseline, other, verdict]
}

/// What is compared, both sides, and the verdict.
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
    let columns = columns(text!("cell", "項目"), pair);
    let rows = pair.cells.iter().map(|cell| {
        let [baseline, other] =
            [&cell.baseline, &cell.other].map(|side| number::measured(cell.measure, side.mean));
        [cell_name(cell).into(), baseline.into(), other.into(), Entry::of(verdict(cell))]
    });
    Table::new(columns, rows).stacks()
}

/// What is compared where it is not each repetition: the best of either side, or the samples of one pass.
fn value_note(pair: &Pair) -> Option<Text> {
    let has = |is_it: fn(&ComparedCell) -> bool| pair.cells.iter().any(is_it);
    if has(|cell| cell.by_samples) {
        return Some(text!(
            "The other tool kept the samples of one pass, and these are compared: an interval shows how samples vary, not how passes do.",
            "他ツールの記録にある 1 回分のサンプルどうしを比べています。区間はサンプルのばらつきによるもので、測り直したときの差は含みません。"
        ));
    }
    has(|cell| cell.statistic == Statistic::Best).then_some(text!(
        "One of the tools prints only its best run, so the best repetition stands for the other run, too.",
        "一方のツールは最良値しか表示しないので、もう一方も最良の回の値で比べています。"
    ))
}

/// Why single figures give no verdict, and what would.
pub(crate) fn single_note(pair: &Pair) -> Option<Text> {
    pair.cells.iter().any(|cell| cell.by_single_figures.is_some()).then_some(text!(
            "(single figures): one figure does not show how much figures vary, so how sure this is cannot be told; measure several times where you can, with 5 runs for example.",
            "(1 回の値): 値が 1 つだけではばらつきが分からず、確かさを判断できません。測り直せる場合は、5 回など、繰り返して測ってください。"
    ))
}

/// `read SEQ 1 MiB Q8 T1`
pub(crate) fn cell_name(cell: &ComparedCell) -> Text {
    let name = words::directed(cell.direction, &full_label(&cell.key, &cell.label));
    let Some(other) = &cell.counterpart else { return name };
    let other = words::directed(other.direction, &full_label(&other.key, &other.label));
    Text::of(from_to(&name.en, &other.en), from_to(&name.ja, &other.ja))
}

/// `RND 4→16 KiB Q1 T1`: two names with what they share written once.
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

/// What may be said of a cell.
pub(crate) fn verdict(cell: &ComparedCell) -> (Role, Text) {
    let Some(compared) = &cell.compared else {
        return (Role::Quiet, text!("no usable figure", "使える値なし"));
    };
    match (compared.verdict, &cell.course, cell.by_single_figures) {
        (Verdict::NotEnough { .. }, Some(_), _) => (Role::Warn, turns::unsettled(&compared.speed)),
        (_, _, Some(verdict)) => single_words(compared.speed.value, verdict),
        _ => verdict_words(compared),
    }
}

/// That what a run shows in these cells is memory; nothing if there are none.
pub(crate) fn memory_words(run: &Text, cells: impl Iterator<Item = Text>) -> Option<Paragraph> {
    let cells = Text::list(cells);
    let words = text!(
        "{cells}: the figure of {run} is that of the computer's memory, not of its drives; it holds until memory is full",
        "{cells}: {run} の値はコンピューターのメモリーの速さで、ドライブの速さではありません。メモリーが一杯になるまでの値です";
        cells, run
    );
    (!cells.is_empty()).then(|| Paragraph::new(words).role(Role::Warn).listed())
}

/// What figures do not tell: the cells in which memory answers, one of the runs stutters so that a person feels it, or is now in one
/// state and now in another.
pub(crate) fn unevenness(pair: &Pair) -> Doc {
    let mut doc = Doc::new();
    for (place, run) in pair.names.iter().enumerate() {
        let from_memory = |cell: &&ComparedCell| [&cell.baseline, &cell.other][place].from_memory;
        doc.push_all(memory_words(run, pair.cells.iter().filter(from_memory).map(cell_name)));
    }
    for cell in &pair.cells {
        let sides = pair.names.iter().zip([&cell.baseline, &cell.other]);
        for (run, groups) in sides.filter_map(|(run, side)| Some((run, side.groups?))) {
            let name = cell_name(cell);
            let [low, high] =
                [groups.low_mean, groups.high_mean].map(|mean| number::measured(cell.measure, mean));
            let (low_count, high_count) = (groups.low_count, groups.high_count);
            let words = text!(
                "{name}: {run} has two states, {low} ({low_count} repetitions) and {high} ({high_count}); its figure is the mean of both",
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

/// The words for a side without a stall that can be felt. Short stalls are mentioned: they are no smoothness.
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

/// Cells of one run alone that are named; more are counted.
const NAMED_ALONE: usize = 8;

/// Cells that only one run has, and what keeps each from meeting the nearest of the other.
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
            0 => text!("only {run} has: {named}", "{run} にしかない項目: {named}"; run, named),
            more => {
                let all = cells.len();
                text!(
                    "only {run} has {all} more cells: {named} and {more} others ({JSON} names all)",
                    "{run} にしかない項目 {all} 件: {named} ほか {more} 件({JSON} ですべて表示)";
                    run, named
                )
            }
        };
        doc.push(Paragraph::new(words).listed());
    }
    doc
}

/// What else differed in a sentence, and what to show of it: first what was asked about, whether it differs or not, then
/// the other differences, the weightiest first. `about` holds the words of what was asked about.
pub(crate) fn fairness_words(pair: &Pair, about: &[String]) -> (Text, Vec<Spoken>) {
    let is_asked = |key: &str| about.iter().any(|word| word == key);
    let asked: Vec<&Difference> = pair.facts.iter().filter(|pair| is_asked(pair.fact.word())).collect();
    let rest: Vec<Spoken> =
        pair.differences.iter().map(Spoken::from).filter(|one| !is_asked(one.key)).collect();
    let name = |pair: &&Difference| facts::name(pair.fact);
    let of = Text::list(asked.iter().filter(|pair| pair.differs()).map(name));
    let same = Text::list(asked.iter().filter(|pair| !pair.differs()).map(name));
    let also = Text::list(rest.iter().map(|difference| difference.name.clone()));
    let sentence = match (of.is_empty(), rest.is_empty()) {
        (true, true) => text!(
            "As far as the records tell, the two runs differ in nothing else.",
            "記録で分かる範囲では、ほかの条件に違いはありません。"
        ),
        (false, true) => text!(
            "The two runs differ in {of}, which you asked about, and in nothing else that the records tell.",
            "違いは、比べたかった点({of})だけです(記録で分かる範囲)。";
            of
        ),
        (true, false) if same.is_empty() => {
            text!("The two runs differ in: {also}.", "2 つの測定は次の点が違います: {also}。"; also)
        }
        (true, false) => text!(
            "As far as the records tell, the two runs do not differ in what you asked about ({same}), but in: {also}.",
            "記録で分かる範囲では、比べたかった点({same})に違いはなく、次の点が違います: {also}。";
            same, also
        ),
        (false, false) => text!(
            "The two runs differ in {of}, which you asked about, and also in: {also}.",
            "比べたかった点({of})のほかに、次の点も違います: {also}。";
            of, also
        ),
    };
    (sentence, asked.into_iter().map(Spoken::from).chain(rest).collect())
}

/// What else differed, the weightiest first.
pub(crate) fn fairness(pair: &Pair, about: &[String]) -> Doc {
    let columns = [
        Column::untitled(),
        Column::left(text!("baseline", "基準")).cut(Cut::Wrap),
        Column::left(text!("other", "比較")).cut(Cut::Wrap),
        Column::untitled().cut(Cut::Wrap),
    ];
    fairness_table(pair, about, columns, |_, effect| Entry::new(Role::Quiet, effect))
}

/// The same under columns of one's own, the last of which holds what a difference may do.
pub(crate) fn fairness_table(
    pair: &Pair,
    about: &[String],
    columns: [Column; 4],
    effects: impl Fn(Weight, Text) -> Entry,
) -> Doc {
    let (sentence, rest) = fairness_words(pair, about);
    let mut doc = Doc::new();
    doc.say(sentence);
    if rest.is_empty() {
        return doc;
    }
    let rows = rest.into_iter().map(|Spoken { name, baseline, other, weight, effect, .. }| {
        let role = if weight == Weight::Decisive { Role::Warn } else { Role::Plain };
        let effect = effects(weight, effect.unwrap_or_default());
        [Entry::new(role, name), baseline.into(), other.into(), effect]
    });
    let table = Table::new(columns, rows).indent(2).stacks();
    doc.push(table.on_page(&Text::default(), TableForm::Facts)).done()
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
