//! The list of runs: what was measured, and how fast it was.
//!
//! The model: a line a run where the terminal is wide enough for names and figures; else a few lines a run, with the same words.

use crate::doc::{Block, Column, Cut, Doc, Entry, Paragraph, Role, Style, Table, TableForm};
use crate::{compare::facts::cell_name, words};
use kurabe_compare::{FirstFigure, ListedRun, NAME_LABEL};
use kurabe_core::{Text, mention::RUN, number, number::Figure, shown, text};

/// Columns of a terminal from which on a run takes one line: figures and dates take about 70, and of the names of target and device
/// some 25 characters each should be seen.
const ONE_LINE_COLUMNS: usize = 120;
/// What labels need besides.
const LABEL_COLUMNS: usize = 30;

/// The profile of a workload from the command line, which says nothing of it.
const UNNAMED_PROFILE: &str = "single";

/// The runs of a store, in the order given; without runs a sentence that says how to make one.
pub fn render_list(runs: &[ListedRun], style: &Style) -> String {
    let mut doc = Doc::new();
    if runs.is_empty() {
        doc.say(text!(
            "No runs yet. This measures the directory you are in:",
            "まだ測定がありません。次のコマンドで、カレントディレクトリを測定できます。"
        ));
        doc.push(Block::Code(format!("{RUN:#} .")));
    } else if style.width < columns_needed(runs) {
        doc.push_all(runs.iter().flat_map(stacked));
    } else {
        doc.push(table(runs, |listed| Entry::new(Role::Strong, listed.run.id.clone())));
    }
    doc.terminal(style)
}

fn columns_needed(runs: &[ListedRun]) -> usize {
    let has_labels = runs.iter().any(|listed| !listed.run.labels.is_empty());
    ONE_LINE_COLUMNS + if has_labels { LABEL_COLUMNS } else { 0 }
}

/// Runs as a page lists them: each can be ticked, and leads to its own address below one.
pub fn runs_table(runs: &[ListedRun], address: &str) -> Doc {
    let run = |listed: &ListedRun| {
        let (id, name) = (&listed.run.id, listed.run.labels.get(NAME_LABEL));
        let link = format!("{address}/{}", shown::address(id.as_bytes(), &[]));
        let under = name.map(|_| Text::same(id)).unwrap_or_default();
        Entry { link, tick: id.clone(), under, ..Entry::plain(Text::same(name.unwrap_or(id))) }
    };
    Doc::of(table(runs, run).without_blanks_from(1).on_page(&text!("runs", "測定"), TableForm::Cards))
}

fn table(runs: &[ListedRun], run: impl Fn(&ListedRun) -> Entry) -> Table {
    let rate =
        |rate: Option<f64>| rate.map_or_else(Entry::default, |rate| Entry::number(number::rate(rate), rate));
    Table::of(runs)
        .left(text!("run", "測定"), |listed| run(listed))
        .left(text!("when", "日時"), |listed| when(listed))
        .left(text!("status", "状態"), |listed| {
            let (status, role) = status(listed);
            Entry::new(role, status)
        })
        .column(Column::left(text!("workload", "測定内容")).cut(Cut::End), |listed| workload(listed))
        .column(Column::left(text!("target", "対象")).cut(Cut::Front), |listed| target(listed))
        .column(Column::left(text!("device", "デバイス")).cut(Cut::End), |listed| device(listed))
        .right(best_read(), |listed| rate(listed.best_read_rate_bytes_per_s))
        .right(best_write(), |listed| rate(listed.best_write_rate_bytes_per_s))
        .right(random_read(), |listed| rate(listed.random_4k_read_rate_bytes_per_s))
        .column(Column::left(text!("first figure", "最初の値")).cut(Cut::End), |listed| {
            listed.first_figure.as_ref().map(first_figure).unwrap_or_default()
        })
        .column(Column::left(text!("labels", "ラベル")).cut(Cut::End), |listed| {
            words::pairs(&listed.run.labels).join(", ")
        })
        .table()
}

/// A run on lines of its own: what it is of, and below it the figures.
fn stacked(listed: &ListedRun) -> [Paragraph; 2] {
    let ListedRun { run, .. } = listed;
    let (status, _) = status(listed);
    let facts = [
        Text::same(&run.id),
        Text::same(when(listed)),
        status,
        workload(listed),
        Text::same(target(listed)),
        device(listed),
        Text::same(words::pairs(&listed.run.labels).join(", ")),
    ];
    let rate = |name: Text, rate: Option<f64>| Some(named(&name, &number::rate(rate?)));
    let figures = [
        rate(best_read(), listed.best_read_rate_bytes_per_s),
        rate(best_write(), listed.best_write_rate_bytes_per_s),
        rate(random_read(), listed.random_4k_read_rate_bytes_per_s),
        listed.first_figure.as_ref().map(first_figure),
    ];
    let facts = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    [
        Paragraph::flow(facts).indent(0, 2).lead(Role::Strong),
        Paragraph::flow(figures.into_iter().flatten().collect()).indent(2, 2),
    ]
}

fn best_read() -> Text {
    text!("best read", "読み出し最高")
}

fn best_write() -> Text {
    text!("best write", "書き込み最高")
}

fn random_read() -> Text {
    text!("4 KiB Q1 read", "4 KiB Q1 読み出し")
}

fn named(name: &Text, figure: &Figure) -> Text {
    text!("{name} {figure}", "{name} {figure}"; name)
}

fn when(listed: &ListedRun) -> String {
    number::date_minute(listed.run.measured_at.as_ref().unwrap_or(&listed.run.started_at))
}

/// How it stands; nothing where all is well.
fn status(listed: &ListedRun) -> (Text, Role) {
    let (status, role) = words::status(listed.run.status);
    match role {
        Role::Plain if listed.run.imported => (text!("imported", "取り込み"), role),
        Role::Plain => (Text::default(), role),
        _ => (status, role),
    }
}

/// The profile, or what was done where no profile says it.
fn workload(listed: &ListedRun) -> Text {
    match &listed.only_cell {
        Some(cell) if listed.run.profile == UNNAMED_PROFILE => cell_name(cell),
        _ => Text::same(&listed.run.profile),
    }
}

/// `model:rascsi (fat-image.cluster=16KiB)`: the target with what was changed in it.
fn target(listed: &ListedRun) -> String {
    let target = &listed.run.target;
    listed.changes.as_ref().map_or_else(|| target.clone(), |changes| format!("{target} ({changes})"))
}

/// The device, or of what it is a model.
fn device(listed: &ListedRun) -> Text {
    match &listed.run.model {
        Some(title) => text!("model: {title}", "モデル: {title}"; title),
        None => listed.run.device.clone().unwrap_or_default().into(),
    }
}

fn first_figure(first: &FirstFigure) -> Text {
    let value = first.rate_bytes_per_s.or(first.time_ns).or(first.operations_per_s).unwrap_or_default();
    named(&cell_name(&first.name), &number::measured(first.name.measure, value))
}
