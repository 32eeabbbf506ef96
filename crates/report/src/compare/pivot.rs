//! Pivot over all runs: each value compared with the baseline, the tables, a legend, and the other
//! differences.

use crate::compare::facts;
use crate::compare::verdict::{CellVerdict, tally, words_of};
use kurabe_compare::{Baseline, Group, Pivot, PivotDifference, PivotFigure, Weight};
use kurabe_core::mention::{BASELINE, BY, COMPARE};
use kurabe_core::{Text, number, record::Measure, text};
use kurabe_doc::{Column, Cut, Doc, Entry, Purpose, Role, Style, Table, TableRow};
use kurabe_stats::{Judged, Verdict};

/// Assumed width of a column when deciding whether to split the table.
const USUAL_COLUMN: usize = 26;
/// Maximum number of values or places that a line names.
const NAMED: usize = 3;
/// Maximum number of values that get a sentence each.
const MOST_SENTENCES: usize = 8;

/// Renders a pivot.
pub fn render_pivot(pivot: &Pivot, style: &Style) -> String {
    let keys: Vec<&str> = pivot.keys.iter().map(|key| key.key.as_str()).collect();
    let mut doc = Doc::new();
    doc.heading(1, format!("{COMPARE} {BY} {}", keys.join(",")));
    let mut doc = doc.and(pivot_doc(pivot));
    if pivot.baseline.is_none() && pivot.places.len() > 1 {
        doc.say(text!(
            "With a baseline ({BASELINE} VALUE), all other values are compared with it.",
            "基準({BASELINE} 値)を選ぶと、ほかをその値と比べます。"
        ));
    }
    doc.terminal(style)
}

/// Returns the pivot as a document without its heading.
pub fn pivot_doc(pivot: &Pivot) -> Doc {
    let mut doc = Doc::new();
    doc.say(headline(pivot));
    let answers = pivot_answer(pivot);
    if !answers.is_empty() {
        doc.gap().list(Purpose::Item, answers);
    }
    for section in sections(pivot) {
        // The facts that distinguish this section's runs from other runs with the same cells.
        let apart = section[0].apart.iter();
        let facts = apart.map(|(_, what, value)| text!("{what}: {value}", "{what}: {value}"; what, value));
        let heading = Text::join(facts, [" · "; 2]);
        if !heading.is_empty() {
            doc.gap().heading(2, heading);
        }
        doc.gap().push(table(pivot, &section));
    }
    doc.gap().say(legend(pivot));
    doc.say_all(left_out(pivot)).gap().append(fairness(pivot)).done()
}

/// Compares each value of the baseline's key with the baseline, one sentence per value. Empty
/// without a baseline.
pub fn pivot_answer(pivot: &Pivot) -> Vec<Text> {
    let Some(baseline) = &pivot.baseline else { return Vec::new() };
    let mut verdicts: Vec<(&Text, Vec<Verdict>)> = Vec::new();
    // Places are stored in chronological order. The sentences follow the order of the table.
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
        let judged = pivot.groups.iter().filter_map(|group| group.figures.iter().find(of_place)?.compared);
        let judged = judged.map(|judged| judged.verdict);
        match verdicts.iter_mut().find(|(other, _)| *other == value) {
            Some((_, list)) => list.extend(judged),
            None => verdicts.push((value, judged.collect())),
        }
    }
    let rest = verdicts.len().saturating_sub(MOST_SENTENCES);
    let rest = (rest > 0).then(|| text!("… and {rest} more", "…ほか {rest} 件"));
    let named = verdicts.into_iter().take(MOST_SENTENCES);
    named.map(|(value, verdicts)| sentence(&baseline.value, value, &verdicts)).chain(rest).collect()
}

fn sentence(baseline: &Text, value: &Text, verdicts: &[Verdict]) -> Text {
    let judged: Vec<CellVerdict> = verdicts.iter().copied().map(CellVerdict::of).collect();
    if judged.is_empty() {
        return text!(
            "{value} and {baseline} have no test in common.",
            "{value} と {baseline} に共通の項目はありません。";
            value, baseline
        );
    }
    tally(&judged, value, baseline)
}

/// Returns the value of the baseline's key at a place.
fn value_at<'a>(pivot: &'a Pivot, place: usize, baseline: &Baseline) -> &'a Text {
    let place = &pivot.places[place];
    pivot.rows[place.row].get(baseline.key_index).unwrap_or(&pivot.columns[place.column])
}

/// Returns the number of runs, and the keys of rows and columns.
fn headline(pivot: &Pivot) -> Text {
    let count = pivot.run_count;
    let plural = if count == 1 { "" } else { "s" };
    let mut items = vec![text!("{count} run{plural}", "測定 {count} 件")];
    if let Some((column, rows)) = pivot.keys.split_last() {
        if !rows.is_empty() {
            let rows = Text::list(rows.iter().map(|key| key.name.clone()));
            items.push(text!("rows: {rows}", "行: {rows}"; rows));
        }
        let column = &column.name;
        items.push(text!("columns: {column}", "列: {column}"; column));
        let baseline = pivot.baseline.as_ref();
        items.extend(
            baseline.map(|Baseline { value, .. }| text!("compared with {value}", "基準: {value}"; value)),
        );
    }
    Text::join(items, [" · "; 2])
}

/// Groups the cells by the facts that distinguish them, because runs within a section can be
/// pooled.
fn sections(pivot: &Pivot) -> Vec<Vec<&Group>> {
    let mut sections: Vec<Vec<&Group>> = Vec::new();
    for group in &pivot.groups {
        match sections.iter_mut().find(|section| section[0].apart == group.apart) {
            Some(section) => section.push(group),
            None => sections.push(vec![group]),
        }
    }
    sections
}

/// Returns the table of a section: the columns in which a cell has a figure, and for each cell its
/// rows, if the keys define rows.
fn table(pivot: &Pivot, section: &[&Group]) -> Table {
    let has_figure = |column: &usize| {
        let mut figures = section.iter().flat_map(|group| &group.figures);
        figures.any(|figure| pivot.places[figure.place].column == *column)
    };
    let shown: Vec<usize> = (0..pivot.columns.len()).filter(has_figure).collect();
    let has_rows = pivot.keys.len() > 1;
    let title = if has_rows { Text::default() } else { text!("test", "項目") };
    let mut columns = vec![Column::left(title).cut(Cut::End)];
    let key = pivot.keys.len().saturating_sub(1);
    let titles = shown.iter().map(|column| marked(pivot, key, &pivot.columns[*column]));
    columns.extend(titles.map(|title| Column::left(title).wrap_to(USUAL_COLUMN)));
    let mut rows: Vec<TableRow> = Vec::new();
    for group in section {
        let name = facts::cell_name(&group.cell);
        if has_rows {
            rows.push([Entry::new(Role::Strong, name.clone())].into());
        }
        for row in 0..pivot.rows.len() {
            let name = if has_rows { row_name(pivot, row) } else { name.clone() };
            rows.extend(rows_of(pivot, group, row, &shown, name));
        }
    }
    Table::new(columns, rows).parted_behind(1)
}

/// Returns the key values of a row, indented below the cell.
fn row_name(pivot: &Pivot, row: usize) -> Text {
    let values = pivot.rows[row].iter().enumerate().map(|(key, value)| marked(pivot, key, value));
    Text::join(values, [" · "; 2])
        .map(|words| if words.is_empty() { String::new() } else { format!("  {words}") })
}

/// Returns a key's value and marks it if it is the baseline.
fn marked(pivot: &Pivot, key_index: usize, value: &Text) -> Text {
    let is_baseline = |one: &Baseline| one.key_index == key_index && one.value == *value;
    let mark = match pivot.baseline.as_ref().is_some_and(is_baseline) {
        true => text!(" (baseline)", " (基準)"),
        false => Text::default(),
    };
    text!("{value}{mark}", "{value}{mark}"; value, mark)
}

/// Returns a figure with its interval and number of runs, as in `510.3 MB/s ±2 % (5)`.
fn figure_words(figure: &PivotFigure, measure: Measure) -> String {
    let shown = number::measured(measure, figure.mean);
    let half_width = figure
        .half_width
        .and_then(|half_width| number::half_width(figure.mean, half_width))
        .map_or(String::new(), |words| format!(" {words}"));
    format!("{shown}{half_width} ({})", figure.run_count)
}

fn verdict_of(judged: &Judged) -> Entry {
    let verdict = match judged.verdict {
        // The remedy is in the sentence below the tables.
        Verdict::NotEnough { .. } if judged.speed.low.is_nan() => {
            let times = judged.speed.value;
            let words = text!("{times:.2} times as fast (one run)", "{times:.2} 倍(1 回のみ)");
            return Entry::new(Role::Quiet, words);
        }
        Verdict::NotEnough { .. } => Verdict::NotEnough { more: None },
        clear => clear,
    };
    Entry::of(words_of(&judged.speed, verdict))
}

/// Returns the figures of a row with their verdicts below them. Empty if the cell has no figures in
/// this row.
fn rows_of(pivot: &Pivot, group: &Group, row: usize, columns: &[usize], name: Text) -> Vec<TableRow> {
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
    let shown = |figure: &Option<&PivotFigure>| {
        figure.map_or_else(Entry::missing, |figure| figure_words(figure, group.cell.measure).into())
    };
    let named = |name: Text, entries: Vec<Entry>| TableRow::from([vec![name.into()], entries].concat());
    let mut rows = vec![named(name, figures.iter().map(shown).collect())];
    if figures.iter().flatten().any(|figure| figure.compared.is_some()) {
        let verdict = |figure: &Option<&PivotFigure>| {
            figure.and_then(|figure| figure.compared.as_ref()).map_or_else(Entry::default, verdict_of)
        };
        rows.push(named(Text::default(), figures.iter().map(verdict).collect()));
    }
    rows
}

/// Explains how to read a figure.
fn legend(pivot: &Pivot) -> Text {
    let figures = || pivot.groups.iter().flat_map(|group| &group.figures);
    let (single, several) =
        (figures().any(|figure| figure.run_count == 1), figures().any(|figure| figure.run_count > 1));
    let mut sentences = vec![match several {
        true => text!(
            "Each figure is the mean over runs with its 95 % interval, followed by the number of runs \
             in brackets.",
            "各値は測定の平均と 95 % 区間で、()は測定の件数です。"
        ),
        _ if figures().all(|figure| figure.half_width.is_none()) => {
            text!("Each figure is from a single run (1).", "各値は 1 件の測定(1)のものです。")
        }
        _ => text!(
            "Each figure is from a single run (1), with the 95 % interval of its repetitions.",
            "各値は 1 件の測定(1)のもので、区間は各回の値から求めた 95 % 区間です。"
        ),
    }];
    if several && single {
        sentences.push(text!(
            "For a single run, the interval is that of its repetitions.",
            "1 件だけの場合、区間は各回の値から求めています。"
        ));
    }
    if figures().filter_map(|figure| figure.compared).any(|judged| judged.speed.low.is_nan()) {
        sentences.push(text!(
            "The scatter is unknown where a single run is compared with several, or has a single \
             repetition: measure it again.",
            "片方だけが 1 件の場合や、1 回しか測っていない場合は、ばらつきが分からないため判定できません。もう一度測ってください。"
        ));
    }
    Text::sentences(sentences)
}

/// Describes the runs that have no place in the table.
fn left_out(pivot: &Pivot) -> Vec<Text> {
    let lacking = pivot.lacking.iter().map(|(key, count)| {
        let key = &key.name;
        let (runs, are) =
            if *count == 1 { ("1 run does".to_owned(), "is") } else { (format!("{count} runs do"), "are") };
        text!(
            "{runs} not record the {key} and {are} left out.",
            "「{key}」が分からない測定 {count} 件は除きました。";
            key
        )
    });
    let broken = (!pivot.unreadable.is_empty()).then(|| {
        let ids = pivot.unreadable.join(", ");
        text!("These runs cannot be read and are left out: {ids}", "読めない測定を除きました: {ids}")
    });
    lacking.chain(broken).collect()
}

/// Lists the other differences, and the places that pool differing runs.
fn fairness(pivot: &Pivot) -> Doc {
    let mut doc = Doc::new();
    if pivot.differences.is_empty() {
        doc.say(text!(
            "According to the records, these runs differ in nothing else.",
            "記録で分かる範囲では、ほかに違いはありません。"
        ));
        return doc;
    }
    let names = Text::list(pivot.differences.iter().map(|difference| difference.name.clone()));
    doc.say(text!("These runs also differ in: {names}.", "これらの測定はほかに次の点が違います: {names}。"; names));
    let table = Table::of(&pivot.differences)
        .left(Text::default(), |difference| {
            let role = if difference.weight == Weight::Decisive { Role::Warn } else { Role::Plain };
            Entry::new(role, difference.name.clone())
        })
        .cut(Cut::Wrap, text!("values", "値"), |difference| some_of(difference.values.clone()))
        .cut(Cut::Wrap, text!("mixed within", "混在する欄"), |difference| mixed(pivot, difference))
        .cut(Cut::Wrap, Text::default(), |difference| {
            Entry::new(Role::Quiet, difference.effect.clone().unwrap_or_default())
        });
    doc.push(table.table().indent(2)).done()
}

/// Names the places within which a fact differs.
fn mixed(pivot: &Pivot, difference: &PivotDifference) -> Text {
    if difference.within.len() == pivot.places.len() && pivot.places.len() > 1 {
        return text!("every field", "すべて");
    }
    let name = |place: &usize| {
        let place = &pivot.places[*place];
        let values = pivot.rows[place.row].iter().chain([&pivot.columns[place.column]]);
        Text::join(values.cloned(), [" · "; 2])
    };
    some_of(difference.within.iter().map(name).collect())
}

/// Returns the first few items of a list, and its length.
fn some_of(list: Vec<Text>) -> Text {
    let all = list.len();
    let first = Text::list(list.into_iter().take(NAMED));
    match all > NAMED {
        true => text!("{first}, … ({all} in all)", "{first}、… (全 {all} 種)"; first),
        false => first,
    }
}
