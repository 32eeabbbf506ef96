//! All runs as a pivot: how each value does against the baseline, the tables, how to read them, and what else differed.

use crate::columns::{self, Column, Cut, Entry, plain};
use crate::facts;
use crate::layout::{display_width, hanging, page, wrap};
use crate::style::{Role, Style};
use crate::verdict::{Said, tally, words_of};
use kurabe_compare::{Baseline, Group, Pivot, PivotDifference, PivotFigure, Weight};
use kurabe_core::number;
use kurabe_core::record::Measure;
use kurabe_core::{Text, text};
use kurabe_stats::{Judged, Verdict};

/// A column is given this much room before the table is broken into several.
const USUAL_COLUMN: usize = 26;
/// Space between columns.
const GAP: usize = 2;
/// Values, and places, that are named in a line.
const NAMED: usize = 3;
/// Values that have a sentence of their own.
const MOST_SENTENCES: usize = 8;

/// The page of a pivot.
pub fn render_pivot(pivot: &Pivot, style: &Style) -> String {
    let keys: Vec<&str> = pivot.keys.iter().map(|key| key.key.as_str()).collect();
    let mut lines = vec![style.paint(Role::Strong, &format!("kurabe compare --by {}", keys.join(",")))];
    lines.extend(wrap(&style.say(&headline(pivot)), style.width));
    let answers = pivot_answer(pivot);
    if !answers.is_empty() {
        lines.push(String::new());
        for answer in &answers {
            lines.extend(hanging(wrap(&style.say(answer), style.width.saturating_sub(2)), 0, 2));
        }
    }
    for section in sections(pivot) {
        if let Some(heading) = section.heading(style) {
            lines.push(String::new());
            lines
                .extend(wrap(&heading, style.width).into_iter().map(|line| style.paint(Role::Strong, &line)));
        }
        for columns in section.chunks(style) {
            lines.push(String::new());
            lines.extend(section.table(&columns, style));
        }
    }
    lines.push(String::new());
    lines.extend(wrap(&style.say(&legend(pivot)), style.width));
    lines.extend(left_out(pivot, style));
    lines.push(String::new());
    lines.extend(fairness(pivot, style));
    page(&lines)
}

/// How each value of the baseline's key does against the baseline, in a sentence each; nothing without a baseline.
pub fn pivot_answer(pivot: &Pivot) -> Vec<Text> {
    let Some(baseline) = &pivot.baseline else { return Vec::new() };
    let mut verdicts: Vec<(&Text, Vec<Verdict>)> = Vec::new();
    // In the order of the table; places are in the order of time.
    let mut order: Vec<usize> = (0..pivot.places.len()).collect();
    let makes_columns = baseline.key_index + 1 == pivot.keys.len();
    order.sort_by_key(|place| {
        let place = &pivot.places[*place];
        if makes_columns { (place.column, place.row) } else { (place.row, place.column) }
    });
    for place in order {
        let value = value_at(pivot, place, baseline);
        if *value == baseline.value {
            continue;
        }
        let of_place = |figure: &&PivotFigure| figure.place == place;
        let found = pivot.groups.iter().filter_map(|group| group.figures.iter().find(of_place)?.compared);
        let found = found.map(|judged| judged.verdict);
        match verdicts.iter_mut().find(|(known, _)| *known == value) {
            Some((_, list)) => list.extend(found),
            None => verdicts.push((value, found.collect())),
        }
    }
    let rest = verdicts.len().saturating_sub(MOST_SENTENCES);
    let mut sentences: Vec<Text> = verdicts
        .into_iter()
        .take(MOST_SENTENCES)
        .map(|(value, verdicts)| sentence(&baseline.value, value, &verdicts))
        .collect();
    if rest > 0 {
        sentences.push(text!("… and {rest} more", "…ほか {rest} 件"));
    }
    sentences
}

fn sentence(baseline: &Text, value: &Text, verdicts: &[Verdict]) -> Text {
    let said: Vec<Said> = verdicts.iter().map(|verdict| Said { verdict: *verdict, single: None }).collect();
    if said.is_empty() {
        return Text {
            en: format!("{} and {} have no cell in common.", value.en, baseline.en),
            ja: format!("{} と {} に共通の項目はありません。", value.ja, baseline.ja),
        };
    }
    Text { en: tally(&said, &value.en, &baseline.en).en, ja: tally(&said, &value.ja, &baseline.ja).ja }
}

/// The value of the baseline's key at a place.
fn value_at<'a>(pivot: &'a Pivot, place: usize, baseline: &Baseline) -> &'a Text {
    let place = &pivot.places[place];
    pivot.rows[place.row].get(baseline.key_index).unwrap_or(&pivot.columns[place.column])
}

/// How many runs, and what makes rows and columns.
fn headline(pivot: &Pivot) -> Text {
    let count = pivot.run_count;
    let plural = if count == 1 { "" } else { "s" };
    let mut words = text!("{count} run{plural}", "測定 {count} 件");
    let mut add = |more: Text| {
        words.en = format!("{} · {}", words.en, more.en);
        words.ja = format!("{} · {}", words.ja, more.ja);
    };
    let Some((column, rows)) = pivot.keys.split_last() else { return words };
    if !rows.is_empty() {
        let en: Vec<&str> = rows.iter().map(|key| key.name.en.as_str()).collect();
        let ja: Vec<&str> = rows.iter().map(|key| key.name.ja.as_str()).collect();
        add(Text { en: format!("rows: {}", en.join(", ")), ja: format!("行: {}", ja.join("、")) });
    }
    add(Text { en: format!("columns: {}", column.name.en), ja: format!("列: {}", column.name.ja) });
    if let Some(baseline) = &pivot.baseline {
        let Text { en, ja } = &baseline.value;
        add(text!("held against {en}", "基準: {ja}"));
    }
    words
}

/// Cells whose runs may be put together.
struct Section<'a> {
    pivot: &'a Pivot,
    groups: Vec<&'a Group>,
}

/// The cells, those that are told apart by the same facts together.
fn sections(pivot: &Pivot) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for group in &pivot.groups {
        match sections.iter_mut().find(|section| section.groups[0].apart == group.apart) {
            Some(section) => section.groups.push(group),
            None => sections.push(Section { pivot, groups: vec![group] }),
        }
    }
    sections
}

impl Section<'_> {
    /// What sets its runs apart from others with the same cells.
    fn heading(&self, style: &Style) -> Option<String> {
        let apart = &self.groups.first()?.apart;
        let facts = apart.iter().map(|(_, what, value)| format!("{}: {}", style.say(what), style.say(value)));
        (!apart.is_empty()).then(|| facts.collect::<Vec<_>>().join(" · "))
    }

    /// Whether the keys make rows below each cell.
    fn has_rows(&self) -> bool {
        self.pivot.keys.len() > 1
    }

    fn figures(&self) -> impl Iterator<Item = (&Group, &PivotFigure)> {
        self.groups.iter().flat_map(|group| group.figures.iter().map(move |figure| (*group, figure)))
    }

    /// The columns of each table: as many as have room beside one another.
    fn chunks(&self, style: &Style) -> Vec<Vec<usize>> {
        let room = style.width.saturating_sub(self.first_column(style));
        let mut widths = vec![0; self.pivot.columns.len()];
        for (group, figure) in self.figures() {
            let column = self.pivot.places[figure.place].column;
            let name = column_name(self.pivot, column, style);
            let verdict =
                figure.compared.map(|judged| verdict_of(figure, &judged, style).1).unwrap_or_default();
            for words in [name, figure_words(figure, group.cell.measure), verdict] {
                widths[column] = display_width(&words).max(widths[column]);
            }
        }
        let mut chunks: Vec<Vec<usize>> = Vec::new();
        let mut left = 0;
        for (column, width) in widths.into_iter().enumerate().filter(|(_, width)| *width > 0) {
            let width = width.min(USUAL_COLUMN) + GAP;
            if chunks.is_empty() || left < width {
                chunks.push(Vec::new());
                left = room;
            }
            left = left.saturating_sub(width);
            if let Some(chunk) = chunks.last_mut() {
                chunk.push(column);
            }
        }
        chunks
    }

    fn first_column(&self, style: &Style) -> usize {
        let rows = (0..self.pivot.rows.len()).map(|row| display_width(&row_name(self.pivot, row, style)));
        let cells = self.groups.iter().map(|group| display_width(&cell_name(group, style)));
        rows.chain(cells).max().unwrap_or(0)
    }

    fn table(&self, columns: &[usize], style: &Style) -> Vec<String> {
        let title = if self.has_rows() { "" } else { style.pick("cell", "項目") };
        let mut heads = vec![Column::left(title).cut(Cut::End)];
        heads.extend(
            columns
                .iter()
                .map(|column| Column::left(&column_name(self.pivot, *column, style)).cut(Cut::Wrap)),
        );
        let mut rows: Vec<Vec<Entry>> = Vec::new();
        for group in &self.groups {
            let below: Vec<_> = (0..self.pivot.rows.len())
                .flat_map(|row| {
                    let name = if self.has_rows() {
                        row_name(self.pivot, row, style)
                    } else {
                        cell_name(group, style)
                    };
                    row_of(self.pivot, group, row, columns, name, style)
                })
                .collect();
            if self.has_rows() && !below.is_empty() {
                rows.push(vec![(Role::Strong, cell_name(group, style))]);
            }
            rows.extend(below);
        }
        columns::render(&heads, &rows, 0, style)
    }
}

/// A value of the key that makes the columns; the baseline says so.
fn column_name(pivot: &Pivot, column: usize, style: &Style) -> String {
    let is_baseline = |baseline: &Baseline| {
        baseline.key_index + 1 == pivot.keys.len() && baseline.value == pivot.columns[column]
    };
    marked(&pivot.columns[column], pivot.baseline.as_ref().is_some_and(is_baseline), style)
}

/// The values that make a row, indented under the cell.
fn row_name(pivot: &Pivot, row: usize, style: &Style) -> String {
    let values: Vec<String> = pivot.rows[row]
        .iter()
        .enumerate()
        .map(|(key, value)| {
            let is_baseline = |baseline: &Baseline| baseline.key_index == key && baseline.value == *value;
            marked(value, pivot.baseline.as_ref().is_some_and(is_baseline), style)
        })
        .collect();
    if values.is_empty() { String::new() } else { format!("  {}", values.join(" · ")) }
}

fn marked(value: &Text, is_baseline: bool, style: &Style) -> String {
    let mark = if is_baseline { style.pick(" (baseline)", " (基準)") } else { "" };
    format!("{}{mark}", style.say(value))
}

/// `read RND 4 KiB Q1 T1`
fn cell_name(group: &Group, style: &Style) -> String {
    style.say(&facts::cell_name(&group.cell))
}

/// `510.3 MB/s ±2 % (5)`
fn figure_words(figure: &PivotFigure, measure: Measure) -> String {
    let shown = match measure {
        Measure::Rate => number::rate(figure.mean),
        Measure::AccessTime | Measure::Duration => number::latency(figure.mean),
    };
    let half_width = figure
        .half_width
        .and_then(|half_width| number::half_width(figure.mean, half_width))
        .map_or(String::new(), |words| format!(" {words}"));
    format!("{shown}{half_width} ({})", figure.run_count)
}

fn verdict_of(figure: &PivotFigure, judged: &Judged, style: &Style) -> (Role, String) {
    let verdict = match judged.verdict {
        // The sentence below the tables says what to do about it.
        Verdict::NotEnough { .. } if judged.speed.low.is_nan() => {
            let times = judged.speed.value;
            let words = text!("{times:.2} times as fast, by one run", "{times:.2} 倍(1 回のみ)");
            return (Role::Quiet, style.say(&words));
        }
        Verdict::NotEnough { .. } => Verdict::NotEnough { more: None },
        clear => clear,
    };
    let count = figure.repetition_count.unwrap_or(figure.run_count).max(2) as usize;
    let (role, words) = words_of(&judged.speed, verdict, count);
    (role, style.say(&words))
}

/// The figures of a row and, below them, what may be said of them. Nothing for a row that the cell does not have.
fn row_of(
    pivot: &Pivot,
    group: &Group,
    row: usize,
    columns: &[usize],
    name: String,
    style: &Style,
) -> Vec<Vec<Entry>> {
    let at = |column: &usize| {
        group.figures.iter().find(|figure| {
            let place = &pivot.places[figure.place];
            place.row == row && place.column == *column
        })
    };
    let figures: Vec<Option<&PivotFigure>> = columns.iter().map(at).collect();
    if figures.iter().all(Option::is_none) {
        return Vec::new();
    }
    let shown = |figure: &Option<&PivotFigure>| match figure {
        Some(figure) => plain(figure_words(figure, group.cell.measure)),
        None => (Role::Quiet, number::NONE.to_owned()),
    };
    let mut lines = vec![std::iter::once(plain(name)).chain(figures.iter().map(shown)).collect()];
    if figures.iter().flatten().any(|figure| figure.compared.is_some()) {
        let verdict = |figure: &Option<&PivotFigure>| {
            let judged = figure.and_then(|figure| Some((figure, figure.compared.as_ref()?)));
            judged.map_or_else(|| plain(""), |(figure, judged)| verdict_of(figure, judged, style))
        };
        lines.push(std::iter::once(plain("")).chain(figures.iter().map(verdict)).collect());
    }
    lines
}

/// How to read a figure.
fn legend(pivot: &Pivot) -> Text {
    let figures = || pivot.groups.iter().flat_map(|group| &group.figures);
    let (single, several) =
        (figures().any(|figure| figure.run_count == 1), figures().any(|figure| figure.run_count > 1));
    let mut words = match (several, single) {
        (true, true) => text!(
            "Each figure is the mean over runs with its 95 % interval; in brackets how many runs. Of a single run the \
             repetitions make the interval.",
            "各値は測定の平均と 95 % 区間で、()は測定の件数です。1 件だけの場合、区間は各回の値から求めています。"
        ),
        (true, false) => text!(
            "Each figure is the mean over runs with its 95 % interval; in brackets how many runs.",
            "各値は測定の平均と 95 % 区間で、()は測定の件数です。"
        ),
        _ if figures().all(|figure| figure.half_width.is_none()) => {
            text!("Each figure is that of a single run, (1).", "各値は 1 件の測定(1)のものです。")
        }
        _ => text!(
            "Each figure is that of a single run, (1), with the 95 % interval of its repetitions.",
            "各値は 1 件の測定(1)のもので、区間は各回の値から求めた 95 % 区間です。"
        ),
    };
    let lone = figures().filter_map(|figure| figure.compared).any(|judged| judged.speed.low.is_nan());
    if lone {
        words.en.push_str(" Where a side is one run against several, or one repetition, nothing is known of its spread: measure it again.");
        words.ja.push_str(
            "片方だけが 1 件の場合や、1 回しか測っていない場合は、ばらつきが分からないため判定できません。もう一度測ってください。",
        );
    }
    if pivot.baseline.is_none() && pivot.places.len() > 1 {
        words.en.push_str(" --baseline VALUE holds all others against one value.");
        words.ja.push_str("--baseline 値 を付けると、その値を基準に比べます。");
    }
    words
}

/// Runs that have no place.
fn left_out(pivot: &Pivot, style: &Style) -> Vec<String> {
    let lacking = pivot.lacking.iter().map(|(key, count)| {
        let Text { en, ja } = &key.name;
        let (runs, are) =
            if *count == 1 { ("1 run does".to_owned(), "is") } else { (format!("{count} runs do"), "are") };
        text!(
            "{runs} not tell the {en} and {are} left out.",
            "「{ja}」が分からない測定 {count} 件は除きました。"
        )
    });
    let broken = (!pivot.unreadable.is_empty()).then(|| {
        let ids = pivot.unreadable.join(", ");
        text!("These runs cannot be read and are left out: {ids}", "読めない測定を除きました: {ids}")
    });
    lacking.chain(broken).flat_map(|words| wrap(&style.say(&words), style.width)).collect()
}

/// What else differed, and where runs that differ are put together.
fn fairness(pivot: &Pivot, style: &Style) -> Vec<String> {
    if pivot.differences.is_empty() {
        let words = text!(
            "As far as the records tell, these runs differ in nothing else.",
            "記録で分かる範囲では、ほかに違いはありません。"
        );
        return wrap(&style.say(&words), style.width);
    }
    let en: Vec<&str> = pivot.differences.iter().map(|difference| difference.name.en.as_str()).collect();
    let ja: Vec<&str> = pivot.differences.iter().map(|difference| difference.name.ja.as_str()).collect();
    let (en, ja) = (en.join(", "), ja.join("、"));
    let mut lines = wrap(
        &style
            .say(&text!("These runs also differ in: {en}.", "これらの測定はほかに次の点が違います: {ja}。")),
        style.width,
    );
    let heads = [
        Column::left(""),
        Column::left(style.pick("values", "値")).cut(Cut::Wrap),
        Column::left(style.pick("mixed within", "混在する欄")).cut(Cut::Wrap),
        Column::left("").cut(Cut::Wrap),
    ];
    let rows: Vec<Vec<Entry>> = pivot
        .differences
        .iter()
        .map(|difference| {
            let role = if difference.weight == Weight::Decisive { Role::Warn } else { Role::Plain };
            vec![
                (role, style.say(&difference.name)),
                plain(some_of(difference.values.iter().map(|value| style.say(value)).collect(), style)),
                plain(mixed(pivot, difference, style)),
                (Role::Quiet, difference.effect.as_ref().map(|effect| style.say(effect)).unwrap_or_default()),
            ]
        })
        .collect();
    lines.extend(columns::render(&heads, &rows, 2, style));
    lines
}

/// Where a difference lies within one place.
fn mixed(pivot: &Pivot, difference: &PivotDifference, style: &Style) -> String {
    if difference.within.len() == pivot.places.len() && pivot.places.len() > 1 {
        return style.pick("every field", "すべて").to_owned();
    }
    let name = |place: &usize| {
        let place = &pivot.places[*place];
        let values = pivot.rows[place.row].iter().chain([&pivot.columns[place.column]]);
        values.map(|value| style.say(value)).collect::<Vec<_>>().join(" · ")
    };
    some_of(difference.within.iter().map(name).collect(), style)
}

/// The first of several, and how many there are.
fn some_of(list: Vec<String>, style: &Style) -> String {
    let (all, separator) = (list.len(), style.pick(", ", "、"));
    let more = if all > NAMED {
        style.say(&text!(", … ({all} in all)", "、… (全 {all} 種)"))
    } else {
        String::new()
    };
    let named: Vec<String> = list.into_iter().take(NAMED).collect();
    format!("{}{more}", named.join(separator))
}
