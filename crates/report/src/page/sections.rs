//! What stands below the table: why, the stutter, fairness, method, environment, notices.

use super::extent::Extent;
use super::html::Html;
use super::main_result::beside_writes;
use super::rows::Row;
use super::{Report, Why, method, run_name, table};
use crate::compare::fairness_words;
use crate::environment::Field;
use crate::facts::Spoken;
use crate::stutter::{slow_operation, stutter_words};
use crate::style::Style;
use crate::sweep_curves;
use crate::why::is_brief;
use kurabe_compare::{Pair, Weight};
use kurabe_core::number;
use kurabe_core::record::RunRecord;
use kurabe_core::{Text, text};
use kurabe_stats::Stutter;

/// A section with its heading.
pub(super) fn section(html: &mut Html, id: &'static str, title: &str, fill: impl FnOnce(&mut Html)) {
    html.open("section", &[("id", id)]).element("h2", &[], title);
    fill(html);
    html.close("section");
}

/// Something that is there for who wants it.
pub(super) fn folded(html: &mut Html, title: &str, fill: impl FnOnce(&mut Html)) {
    html.open("details", &[]).element("summary", &[], title);
    fill(html);
    html.close("details");
}

fn list(html: &mut Html, fields: &[Field]) {
    html.raw("<dl>");
    for (key, items) in fields {
        html.element("dt", &[], key).open("dd", &[]);
        for (place, item) in items.iter().enumerate() {
            html.raw(if place > 0 { " · " } else { "" }).words(item);
        }
        html.close("dd");
    }
    html.raw("</dl>\n");
}

fn sentences(html: &mut Html, class: &'static str, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    html.open("ul", &[("class", class)]);
    for sentence in sentences {
        html.element("li", &[], sentence);
    }
    html.close("ul");
}

/// Of so many runs the page itself says why; of more what is folded does.
pub(super) const TOLD_WHY: usize = 2;

/// Why the cells are as fast as they are: of one run in full, of two and of many cells the most telling sentence of each.
pub(super) fn why_part(html: &mut Html, report: &Report<'_>) {
    let runs = report.runs.len();
    if runs > TOLD_WHY {
        return;
    }
    let found: Vec<Vec<Why>> = (0..runs).map(|place| method::why(report, place)).collect();
    if found.iter().all(Vec::is_empty) {
        return;
    }
    section(html, "why", report.style.pick("Why", "理由"), |html| {
        for (place, found) in found.iter().enumerate().filter(|(_, found)| !found.is_empty()) {
            if runs > 1 {
                html.element("h3", &[], &report.runs[place].header.id);
            }
            sentences(html, "plain", &sweep_curves::findings(report.runs[place], &report.style));
            match (runs, is_brief(found.len())) {
                (1, false) => in_full(html, found),
                (_, false) => first_sentences(html, found),
                (_, true) => folded(html, &cells_told(found.len(), &report.style), |html| {
                    first_sentences(html, found);
                }),
            }
        }
    });
}

fn in_full(html: &mut Html, found: &[Why]) {
    for why in found {
        html.element("h3", &[], &why.cell);
        for sentence in &why.sentences {
            html.element("p", &[], sentence);
        }
    }
}

fn first_sentences(html: &mut Html, found: &[Why]) {
    let told: Vec<String> = found.iter().filter_map(first_sentence).collect();
    sentences(html, "plain", &told);
}

/// The most telling sentence of a cell.
pub(super) fn first_sentence(why: &Why) -> Option<String> {
    Some(format!("{}: {}", why.cell, why.sentences.first()?))
}

/// What a fold of so many cells is called.
pub(super) fn cells_told(count: usize, style: &Style) -> String {
    style.say(&text!("The reasons of {count} cells", "{count} 項目の理由"))
}

/// Stutter of each run, in sentences, and in figures where there is any.
pub(super) fn stutter(html: &mut Html, report: &Report<'_>, rows: &[Row<'_>]) {
    let style = &report.style;
    sentences(html, "plain", &beside_lines(report));
    let lines = stutter_lines(report, rows);
    if lines.is_empty() {
        html.element(
            "p",
            &[],
            style.pick(
                "Not known: no cell was measured over time.",
                "不明です(時間を追って測った項目がありません)。",
            ),
        );
        return;
    }
    let several = report.runs.len() > 1;
    let (felt, smooth): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.felt.is_some());
    let told: Vec<String> = felt.iter().map(|line| line.sentence(several, style)).collect();
    sentences(html, "plain", &told);
    if felt.is_empty() {
        html.element("p", &[], &style.say(&no_stall(rows)));
    } else if !smooth.is_empty() {
        html.element(
            "p",
            &[],
            style.pick(
                "In all other cells no stall was long enough to be felt (0.1 s).",
                "ほかの項目では、人が気付くほど長い停滞(0.1 秒以上)はありませんでした。",
            ),
        );
    }
}

/// What reads suffer beside writes, of each run that measured it.
pub(super) fn beside_lines(report: &Report<'_>) -> Vec<String> {
    let several = report.runs.len() > 1;
    let of_run = |run: &&RunRecord| {
        let id = run.header.id.clone();
        let told = beside_writes(run).into_iter().map(|words| report.style.say(&words));
        told.map(|words| if several { format!("{id} · {words}") } else { words }).collect::<Vec<_>>()
    };
    report.runs.iter().flat_map(of_run).collect()
}

/// That nobody would feel a stall; and that operations are slow all the same, if they are.
pub(super) fn no_stall(rows: &[Row<'_>]) -> Text {
    let cells = rows.iter().flat_map(|row| row.entries.iter().flatten().map(move |entry| (row, entry)));
    let slow = cells.filter_map(|(row, entry)| {
        slow_operation(std::iter::once(entry.cell), |_| row.name.clone()).map(|(name, ns)| (ns, name))
    });
    match slow.max_by_key(|(longest_ns, _)| *longest_ns) {
        None => text!(
            "No stall that a person would feel (0.1 s or longer) was seen.",
            "人が気付くような停滞(0.1 秒以上)はありませんでした。"
        ),
        Some((longest_ns, name)) => {
            let longest = number::latency_ns(longest_ns);
            text!(
                "No stall stands out from the other operations, but they are slow themselves: up to {longest} ({name}).",
                "ほかの操作より際立って長い停滞はありませんが、操作そのものに最長 {longest} かかっています({name})。"
            )
        }
    }
}

/// The stutter of a cell of a run.
pub(super) struct StutterLine {
    run: String,
    cell: String,
    /// In words, if it would be felt.
    pub(super) felt: Option<Text>,
    figures: Stutter,
}

impl StutterLine {
    /// `7kq, write SEQ 1 MiB: freezes for …`
    pub(super) fn sentence(&self, with_run: bool, style: &Style) -> String {
        let felt = self.felt.as_ref().map(|felt| style.say(felt)).unwrap_or_default();
        let cell = if with_run { format!("{} · {}", self.run, self.cell) } else { self.cell.clone() };
        let silence = match self.figures.longest_silence_ns {
            0 => String::new(),
            ns => {
                let ns = number::latency_ns(ns);
                style.say(&text!(
                    "; nothing at all was completed for up to {ns}",
                    "。最長 {ns} の間、何も完了しなかった"
                ))
            }
        };
        format!("{cell}: {felt}{silence}")
    }
}

/// The stutter of every cell that kurabe measured.
pub(super) fn stutter_lines(report: &Report<'_>, rows: &[Row<'_>]) -> Vec<StutterLine> {
    let mut lines = Vec::new();
    for (place, run) in report.runs.iter().enumerate() {
        for row in rows {
            let Some(figures) = row.entries[place].as_ref().and_then(|entry| entry.stutter) else { continue };
            lines.push(StutterLine {
                run: run.header.id.clone(),
                cell: row.name.clone(),
                felt: stutter_words(&figures),
                figures,
            });
        }
    }
    lines
}

/// The slowest operations of two runs.
pub(super) fn tails(html: &mut Html, pair: &Pair, style: &Style) {
    let told = crate::tails::sentences(pair).iter().map(|words| style.say(words)).collect::<Vec<_>>();
    if !told.is_empty() {
        html.element("h3", &[], style.pick("Slowest operations", "遅い操作"));
        sentences(html, "plain", &told);
    }
}

/// What else differed between two runs.
pub(super) fn fairness(html: &mut Html, pair: &Pair, about: &[String], style: &Style) {
    let (sentence, rest) = fairness_words(&pair.differences, about);
    html.element("p", &[], &style.say(&sentence));
    if !rest.is_empty() {
        differences(html, pair, &rest, style);
    }
}

/// The word for what a difference can do.
pub(super) fn weight(weight: Weight, style: &Style) -> &'static str {
    match weight {
        Weight::Decisive => style.lang.pick("may make the figures incomparable", "比較を損なうおそれ"),
        Weight::Notable => style.lang.pick("may explain a difference", "差の原因になり得る"),
        Weight::Minor => style.lang.pick("rarely matters", "影響は小さい"),
    }
}

fn differences(html: &mut Html, pair: &Pair, found: &[Spoken], style: &Style) {
    html.raw("<div class=\"scroll\" tabindex=\"0\"><table class=\"facts\"><thead><tr>");
    let heads = [
        style.pick("What differs", "違い"),
        &pair.baseline,
        &pair.other,
        style.pick("What it can do", "影響"),
    ];
    for head in heads {
        html.element("th", &[("scope", "col")], head);
    }
    html.raw("</tr></thead><tbody>");
    for difference in found {
        let class = if difference.weight == Weight::Decisive { "decisive" } else { "" };
        html.open("tr", &[("class", class)]).element("th", &[("scope", "row")], &style.say(&difference.name));
        html.element("td", &[], &style.say(&difference.baseline)).element(
            "td",
            &[],
            &style.say(&difference.other),
        );
        html.open("td", &[]).words(weight(difference.weight, style));
        if let Some(effect) = &difference.effect {
            html.element("small", &[], &style.say(effect));
        }
        html.close("td").close("tr");
    }
    html.raw("</tbody></table></div>\n");
}

/// How a run was measured.
pub(super) fn method(html: &mut Html, report: &Report<'_>, place: usize) {
    let (record, style) = (report.runs[place], &report.style);
    list(html, &method::fields(record, style));
    if let Some(command) = method::again(record) {
        html.element("p", &[], style.pick("The same measurement again:", "同じ測定を行うには:"));
        html.open("pre", &[]).element("code", &[], &command).close("pre");
    }
}

/// What a run stood on.
pub(super) fn environment(html: &mut Html, report: &Report<'_>, place: usize) {
    list(html, &method::environment(report.runs[place], &report.style));
}

/// Remarks of a run.
pub(super) fn notices(html: &mut Html, report: &Report<'_>, place: usize) {
    let found = method::notices(report.runs[place], &report.style);
    for remark in found {
        let class = if remark.warns { "notice warn" } else { "notice" };
        html.element("p", &[("class", class)], &remark.line());
    }
}

/// Everything of one of several runs, folded.
pub(super) fn run(html: &mut Html, report: &Report<'_>, place: usize) {
    let (record, style) = (report.runs[place], &report.style);
    let title = format!("{} · {}", record.header.id, run_name(record, style));
    folded(html, &title, |html| {
        let against =
            place.checked_sub(1).and_then(|place| report.pairs.get(place)).filter(|_| report.pairs.len() > 1);
        if let Some(pair) = against {
            self::against(html, report, place, pair);
        }
        let own_table = match report.extent {
            Extent::Whole | Extent::FirstCharts => true,
            Extent::OneTable => against.is_none(),
            Extent::MainTable => false,
        };
        if own_table {
            html.element("h3", &[], style.pick("Figures", "測定値"));
            table::of_one(html, style.pick("Figures", "測定値"), report, place);
        }
        sentences(html, "notes", &method::footnotes(record, style));
        let tells = report.runs.len() > TOLD_WHY && report.extent < Extent::OneTable;
        let found = if tells { method::why(report, place) } else { Vec::new() };
        if !found.is_empty() {
            html.element("h3", &[], style.pick("Why", "理由"));
            first_sentences(html, &found);
        }
        html.element("h3", &[], style.pick("Method", "測定方法"));
        method(html, report, place);
        html.element("h3", &[], style.pick("Environment", "環境"));
        environment(html, report, place);
        notices(html, report, place);
    });
}

/// One of several runs against the baseline.
fn against(html: &mut Html, report: &Report<'_>, place: usize, pair: &Pair) {
    let style = &report.style;
    let baseline = &pair.baseline;
    let title = style.say(&text!("Against {baseline}", "{baseline} との比較"));
    html.element("h3", &[], &title);
    if report.extent < Extent::MainTable {
        let runs = vec![report.runs[0], report.runs[place]];
        let both = Report { runs, pairs: vec![pair.clone()], ..report.clone() };
        table::of_two(html, &title, pair, &both.rows(), style);
    }
    fairness(html, pair, &report.about, style);
}

/// Notes below a table.
pub(super) fn notes(html: &mut Html, notes: &[String]) {
    sentences(html, "notes", notes);
}
