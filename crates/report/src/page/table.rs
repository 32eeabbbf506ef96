//! Tables that sort by a click or a key, and their figures.

use super::extent::Extent;
use super::html::Html;
use super::rows::{Entry, Row};
use super::{Report, run_name};
use crate::compare::verdict;
use crate::style::Style;
use kurabe_compare::{ComparedCell, Pair};
use kurabe_core::number;
use kurabe_core::text;
use kurabe_stats::{Estimate, Verdict, derived_values};

/// Up to this many runs stand side by side; of more, each has a line of its own.
const SIDE_BY_SIDE: usize = 6;

/// An entry of a table.
#[derive(Default)]
struct Field {
    /// What is read.
    words: String,
    /// What stands below it, smaller.
    under: String,
    /// What it is sorted by, if not by its words.
    value: Option<f64>,
    /// How it looks.
    class: &'static str,
    /// What is shown to who points at it.
    hint: String,
}

impl Field {
    fn words(words: impl Into<String>) -> Self {
        Self { words: words.into(), ..Self::default() }
    }

    fn number(words: impl Into<String>, value: f64) -> Self {
        Self { words: words.into(), value: Some(value), class: "n", ..Self::default() }
    }

    /// A figure that is not there.
    fn nothing() -> Self {
        Self { words: number::NONE.to_owned(), class: "n none", ..Self::default() }
    }
}

/// A column: its title, and whether it holds numbers.
struct Head {
    title: String,
    under: String,
    numbers: bool,
}

fn head(title: &str, numbers: bool) -> Head {
    Head { title: title.to_owned(), under: String::new(), numbers }
}

/// Writes a table. The first entry of each line is its name.
/// `class` is `cards` where a line may become a card on a narrow screen, `wide` where there are many columns.
fn write(html: &mut Html, caption: &str, class: &str, heads: &[Head], lines: &[Vec<Field>]) {
    html.open("div", &[("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", caption)]);
    html.open("table", &[("class", &format!("sorts {class}"))]).element("caption", &[], caption);
    html.raw("<thead><tr>");
    for head in heads {
        html.open("th", &[("scope", "col"), ("class", if head.numbers { "n" } else { "" })]);
        html.open("button", &[("type", "button")]).words(&head.title);
        if !head.under.is_empty() {
            html.element("small", &[], &head.under);
        }
        html.close("button").close("th");
    }
    html.raw("</tr></thead>\n<tbody>");
    for line in lines {
        html.raw("<tr>");
        for (place, field) in line.iter().enumerate() {
            let value = field.value.filter(|value| value.is_finite()).map(|value| value.to_string());
            let (tag, scope) = if place == 0 { ("th", "row") } else { ("td", "") };
            let attributes = [
                ("scope", scope),
                ("class", field.class),
                ("data-v", value.as_deref().unwrap_or("")),
                ("data-tip", &field.hint),
                ("data-l", if place > 0 && class == "cards" { &heads[place].title } else { "" }),
            ];
            html.open(tag, &attributes).words(&field.words);
            if !field.under.is_empty() {
                html.element("small", &[], &field.under);
            }
            html.close(tag);
        }
        html.close("tr");
    }
    html.raw("</tbody>").close("table").close("div");
}

/// The main table of a report.
pub(super) fn main_table(html: &mut Html, report: &Report<'_>) {
    let style = &report.style;
    let caption = style.pick("Results", "結果");
    let rows = report.rows();
    match report.pairs.as_slice() {
        [] => of_one(html, caption, report, 0),
        [pair] => of_two(html, caption, pair, &rows, style),
        pairs if pairs.len() < SIDE_BY_SIDE => side_by_side(html, caption, report, &rows),
        _ => line_each(html, caption, report, &rows),
    }
}

/// The figures of one run: of each cell its figure, latencies and stalls. Columns that would be empty are left out.
pub(super) fn of_one(html: &mut Html, caption: &str, report: &Report<'_>, place: usize) {
    let (heads, lines) = one_run(report, place);
    write(html, caption, "cards", &heads, &lines);
}

/// The same as words: the titles, and the lines with what stands below a figure beside it.
pub(super) fn figures(report: &Report<'_>, place: usize) -> (Vec<String>, Vec<Vec<String>>) {
    let (heads, lines) = one_run(report, place);
    let words = |field: Field| match field.under.as_str() {
        "" => field.words,
        under => format!("{} ({under})", field.words),
    };
    let lines = lines.into_iter().map(|line| line.into_iter().map(words).collect());
    (heads.into_iter().map(|head| head.title).collect(), lines.collect())
}

fn one_run(report: &Report<'_>, place: usize) -> (Vec<Head>, Vec<Vec<Field>>) {
    let style = &report.style;
    let record = report.runs[place];
    let alone = Report { runs: vec![record], pairs: Vec::new(), ..report.clone() };
    let heads = vec![
        head(style.pick("Cell", "項目"), false),
        head(style.pick("Figure", "値"), true),
        head("IOPS", true),
        head("p50", true),
        head("p99", true),
        head("p99.9", true),
        head(style.pick("Longest", "最長"), true),
        head(style.pick("Stalls", "停滞"), true),
    ];
    // What a profile derives is what it is there for.
    let mut lines = derived_lines(report, place, heads.len());
    lines.extend(alone.rows().iter().filter_map(|row| Some(one_line(row, row.entries[0].as_ref()?, style))));
    let kept: Vec<bool> = (0..heads.len())
        .map(|column| column < 2 || lines.iter().any(|line| line[column].value.is_some()))
        .collect();
    let heads = heads.into_iter().zip(&kept).filter(|(_, keep)| **keep).map(|(head, _)| head).collect();
    let of_kept = |line: Vec<Field>| {
        line.into_iter().zip(&kept).filter(|(_, keep)| **keep).map(|(field, _)| field).collect()
    };
    (heads, lines.into_iter().map(of_kept).collect())
}

fn one_line(row: &Row<'_>, entry: &Entry<'_>, style: &Style) -> Vec<Field> {
    let figures = &entry.figures;
    let main = entry.value.map_or_else(Field::nothing, |value| {
        let mut field = Field::number(row.figure(value).to_string(), value);
        field.under = beside(row, entry, style);
        field.class = "n strong";
        field
    });
    let latency = |fraction: f64| match figures.percentile_ns(fraction) {
        Some(ns) => Field::number(number::latency_ns(ns), ns as f64),
        None => Field::nothing(),
    };
    let iops = figures.rate_iops.filter(|rate| figures.small_blocks && *rate > 0.0);
    let longest = Some(figures.latency.max_ns).filter(|_| figures.latency.count > 0);
    vec![
        Field::words(&row.name),
        main,
        iops.map_or_else(Field::nothing, |rate| Field::number(number::iops(rate).number, rate)),
        latency(0.5),
        latency(0.99),
        latency(0.999),
        longest.map_or_else(Field::nothing, |ns| Field::number(number::latency_ns(ns), ns as f64)),
        entry
            .stutter
            .map_or_else(Field::nothing, |one| Field::number(number::count(one.stalls), one.stalls as f64)),
    ]
}

/// What stands below a figure: its interval; where the figure is not the mean what it is, and the mean.
fn beside(row: &Row<'_>, entry: &Entry<'_>, style: &Style) -> String {
    if let Some(imported) = &entry.cell.imported {
        return crate::imported::first_remark(imported, style);
    }
    let figures = &entry.figures;
    let mut words: Vec<String> = Vec::new();
    let profile_statistic = figures
        .mean
        .filter(|mean| entry.value.is_some_and(|value| (value - mean.mean).abs() > 1e-9 * value.abs()));
    if let Some(mean) = profile_statistic {
        let mean = row.figure(mean.mean);
        words.push(style.say(&text!("mean {mean}", "平均 {mean}")));
    }
    // Equal repetitions of a model have no spread.
    let spread = figures.mean.and_then(|mean| mean.half_width).is_some_and(|half| half > 0.0);
    words.extend(figures.interval().filter(|_| spread));
    if figures.generator_bound {
        words.push(style.pick("kurabe was the limit", "kurabe 自身が上限").to_owned());
    }
    if figures.failed > 0 {
        let failed = number::count(figures.failed);
        words.push(style.say(&text!("{failed} failed", "{failed} 件失敗")));
    }
    words.join(" · ")
}

/// The scores and ratios of a run.
fn derived_lines(report: &Report<'_>, place: usize, columns: usize) -> Vec<Vec<Field>> {
    let record = report.runs[place];
    let Some(profile) = &record.header.profile else { return Vec::new() };
    let mut lines = Vec::new();
    for derived in &profile.derived {
        let found = derived_values(profile, &derived.formula, &record.cells);
        let several = found.len() > 1;
        for (step, value) in found {
            let mut name = derived.label.get(report.style.lang).to_owned();
            if several {
                name.push_str(&format!(" ({})", profile.steps[step].label()));
            }
            let mut line = vec![Field::words(name), Field::number(number::ratio(value), value)];
            line[1].class = "n strong";
            line[1].hint =
                derived.meaning.as_ref().map(|meaning| report.style.say(meaning)).unwrap_or_default();
            line.resize_with(columns, Field::nothing);
            lines.push(line);
        }
    }
    lines
}

/// `1.30 ×`, and what it is sorted by.
fn ratio(speed: &Estimate, style: &Style) -> String {
    let times = speed.value;
    let digits = if times >= 9.995 { 1 } else { 2 };
    let times = number::fixed(times, digits);
    style.say(&text!("{times} ×", "{times} 倍"))
}

/// `1.27 to 1.34`; nothing for computed figures, which have no interval.
fn interval(speed: &Estimate, style: &Style) -> String {
    if !speed.low.is_finite() || !speed.high.is_finite() || speed.low == speed.high {
        return String::new();
    }
    let (low, high) = (number::fixed(speed.low, 2), number::fixed(speed.high, 2));
    style.say(&text!("{low} to {high}", "{low}〜{high}"))
}

fn class_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "n good",
        Verdict::Slower => "n bad",
        Verdict::Same => "n same",
        Verdict::NotEnough { .. } => "n open",
    }
}

/// A sign for a verdict, because colour alone tells nothing in black and white.
fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "▲",
        Verdict::Slower => "▼",
        Verdict::Same => "=",
        Verdict::NotEnough { .. } => "?",
    }
}

fn verdict_field(cell: &ComparedCell, style: &Style) -> Field {
    let words = style.say(&verdict(cell).1);
    match &cell.compared {
        Some(compared) => Field {
            words: format!("{} {words}", sign(compared.verdict)),
            value: Some(compared.speed.value),
            class: class_of(compared.verdict).trim_start_matches("n "),
            ..Field::default()
        },
        None => Field { words, class: "none", ..Field::default() },
    }
}

fn side(row: &Row<'_>, place: usize) -> Field {
    let value = row.entries[place].as_ref().and_then(|entry| entry.value);
    value.map_or_else(Field::nothing, |value| Field::number(row.figure(value).to_string(), value))
}

/// Two runs: both figures, their ratio with its interval, the verdict in words.
pub(super) fn of_two(html: &mut Html, caption: &str, pair: &Pair, rows: &[Row<'_>], style: &Style) {
    let mut heads = vec![
        head(style.pick("Cell", "項目"), false),
        head(&pair.baseline, true),
        head(&pair.other, true),
        head(style.pick("Speed", "速さの比"), true),
        head(style.pick("95 % interval", "95 % 区間"), true),
        head(style.pick("Verdict", "判定"), false),
    ];
    heads[1].under = style.pick("baseline", "基準").to_owned();
    let lines: Vec<Vec<Field>> = rows
        .iter()
        .map(|row| {
            let mut line = vec![Field::words(&row.name), side(row, 0), side(row, 1)];
            let against = row.entries[1].as_ref().and_then(|entry| entry.against);
            match against.map(|cell| (cell, &cell.compared)) {
                Some((cell, Some(compared))) => {
                    line.push(Field::number(ratio(&compared.speed, style), compared.speed.value));
                    line.push(match interval(&compared.speed, style) {
                        words if words.is_empty() => Field::nothing(),
                        words => Field::number(words, compared.speed.low),
                    });
                    line.push(verdict_field(cell, style));
                }
                Some((cell, None)) => {
                    line.extend([Field::nothing(), Field::nothing(), verdict_field(cell, style)]);
                }
                None => {
                    let run = if row.entries[0].is_some() { &pair.baseline } else { &pair.other };
                    let words = style.say(&text!("only {run} has it", "{run} にしかない"));
                    line.extend([Field::nothing(), Field::nothing()]);
                    line.push(Field { words, class: "none", ..Field::default() });
                }
            }
            line
        })
        .collect();
    write(html, caption, "cards", &heads, &lines);
}

/// A figure, and below it the verdict against the baseline.
fn judged(row: &Row<'_>, place: usize, in_words: bool, with_hints: bool, style: &Style) -> Field {
    let mut field = side(row, place);
    let Some(cell) = row.entries[place].as_ref().and_then(|entry| entry.against) else { return field };
    let words = style.say(&verdict(cell).1);
    let Some(compared) = &cell.compared else {
        field.under = words;
        return field;
    };
    let sign = sign(compared.verdict);
    field.class = class_of(compared.verdict);
    if in_words {
        field.under = format!("{sign} {words}");
    } else {
        field.under = format!("{sign} {}", ratio(&compared.speed, style));
        if with_hints {
            field.hint = format!("{} · {}: {words}", row.name, field.words);
        }
    }
    field
}

/// A few runs: a line for each cell, a column for each run.
fn side_by_side(html: &mut Html, caption: &str, report: &Report<'_>, rows: &[Row<'_>]) {
    let style = &report.style;
    let mut heads = vec![head(style.pick("Cell", "項目"), false)];
    for (place, run) in report.runs.iter().enumerate() {
        let mut column = head(&run.header.id, true);
        column.under =
            if place == 0 { style.pick("baseline", "基準").to_owned() } else { run_name(run, style) };
        heads.push(column);
    }
    let lines: Vec<Vec<Field>> = rows
        .iter()
        .map(|row| {
            let mut line = vec![Field::words(&row.name)];
            line.extend((0..report.runs.len()).map(|place| judged(row, place, true, false, style)));
            line
        })
        .collect();
    write(html, caption, "", &heads, &lines);
}

/// Many runs: a line for each run, a column for each cell.
fn line_each(html: &mut Html, caption: &str, report: &Report<'_>, rows: &[Row<'_>]) {
    let style = &report.style;
    let mut heads = vec![head(style.pick("Run", "測定"), false)];
    heads.extend(rows.iter().map(|row| head(&row.name, true)));
    let lines: Vec<Vec<Field>> = report
        .runs
        .iter()
        .enumerate()
        .map(|(place, run)| {
            let mut name = Field::words(&run.header.id);
            let labels: Vec<String> =
                run.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
            // What tells runs apart: the user's labels, or else what was measured.
            name.under = if labels.is_empty() { run_name(run, style) } else { labels.join(", ") };
            let mut line = vec![name];
            let with_hints = report.extent < Extent::OneTable;
            line.extend(rows.iter().map(|row| judged(row, place, false, with_hints, style)));
            line
        })
        .collect();
    write(html, caption, "wide", &heads, &lines);
}
