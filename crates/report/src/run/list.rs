//! The list of runs with their main figures.
//!
//! The model: one line per run if the terminal is wide enough for names and figures. Otherwise a
//! few lines per run with the same content.

use crate::{compare::facts::cell_name, words};
use kurabe_compare::{FirstFigure, ListedRun, NAME_LABEL};
use kurabe_core::{Text, mention::RUN, number, number::Figure, shown, text};
use kurabe_doc::{Block, Cut, Doc, Entry, Paragraph, Role, Style, Table, TableForm};

/// Terminal width from which a run takes one line. Figures and dates take about 70 columns, and the
/// names of target and device should have about 25 each.
const ONE_LINE_COLUMNS: usize = 120;
/// Additional columns for labels.
const LABEL_COLUMNS: usize = 30;

/// The profile of a workload from the command line, which says nothing about it.
const UNNAMED_PROFILE: &str = "single";

/// Renders the runs of a store, in the given order. Without runs, explains how to create one.
pub fn render_list(runs: &[ListedRun], style: &Style) -> String {
    let mut doc = Doc::new();
    let has_labels = runs.iter().any(|listed| !listed.run.labels.is_empty());
    if runs.is_empty() {
        doc.say(text!(
            "No runs yet. To measure the current directory:",
            "まだ測定がありません。次のコマンドで、カレントディレクトリを測定できます。"
        ));
        doc.push(Block::Code(format!("{RUN:#} .")));
    } else if style.width < ONE_LINE_COLUMNS + if has_labels { LABEL_COLUMNS } else { 0 } {
        doc.push_all(runs.iter().flat_map(stacked));
    } else {
        doc.push(table(runs, |listed| Entry::new(Role::Strong, listed.run.id.clone())));
    }
    doc.terminal(style)
}

/// Returns the runs as a table for a page. Each row has a checkbox and links to the run's page
/// below `address`.
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
    let mut table = Table::of(runs)
        .left(text!("run", "測定"), |listed| run(listed))
        .left(text!("when", "日時"), |listed| when(listed))
        .left(text!("status", "状態"), |listed| Entry::of(status(listed)))
        .cut(Cut::End, text!("workload", "測定内容"), |listed| workload(listed))
        .cut(Cut::Front, text!("target", "対象"), |listed| target(listed))
        .cut(Cut::End, text!("device", "デバイス"), |listed| device(listed));
    for (name, of) in rates() {
        let rate = |rate: f64| Entry::number(number::rate(rate), rate);
        table = table.right(name, |listed| of(listed).map(rate).unwrap_or_default());
    }
    table
        .cut(Cut::End, text!("first figure", "最初の値"), |listed| {
            listed.first_figure.as_ref().map(first_figure).unwrap_or_default()
        })
        .cut(Cut::End, text!("labels", "ラベル"), |listed| words::pairs(&listed.run.labels).join(", "))
        .table()
}

/// Returns a run on two lines: what was measured, and the figures.
fn stacked(listed: &ListedRun) -> [Paragraph; 2] {
    let ListedRun { run, .. } = listed;
    let (_, status) = status(listed);
    let facts = [
        Text::same(&run.id),
        when(listed),
        status,
        workload(listed),
        Text::same(target(listed)),
        device(listed),
        Text::same(words::pairs(&listed.run.labels).join(", ")),
    ];
    let rates = rates().into_iter().filter_map(|(name, of)| Some(named(&name, &number::rate(of(listed)?))));
    let figures = rates.chain(listed.first_figure.as_ref().map(first_figure)).collect();
    let facts = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    [Paragraph::flow(facts).indent(0, 2).lead(Role::Strong), Paragraph::flow(figures).indent(2, 2)]
}

/// A rate of a run: its name, and how to get it.
type ListedRate = (Text, fn(&ListedRun) -> Option<f64>);

/// Returns the listed rates.
fn rates() -> [ListedRate; 3] {
    [
        (text!("best read", "読み出し最高"), |listed| listed.best_read_rate_bytes_per_s),
        (text!("best write", "書き込み最高"), |listed| listed.best_write_rate_bytes_per_s),
        (text!("4 KiB Q1 read", "4 KiB Q1 読み出し"), |listed| listed.random_4k_read_rate_bytes_per_s),
    ]
}

fn named(name: &Text, figure: &Figure) -> Text {
    text!("{name} {figure}", "{name} {figure}"; name)
}

fn when(listed: &ListedRun) -> Text {
    words::or_unknown(number::date_minute(listed.run.measured_at()))
}

/// Returns the status of a run. Empty if it is complete.
fn status(listed: &ListedRun) -> (Role, Text) {
    match words::status(listed.run.status) {
        (Role::Plain, _) if listed.run.imported => (Role::Plain, text!("imported", "取り込み")),
        (Role::Plain, _) => Default::default(),
        status => status,
    }
}

/// Returns the profile, or the name of the only cell if the run has no named profile.
fn workload(listed: &ListedRun) -> Text {
    match &listed.only_cell {
        Some(cell) if listed.run.profile == UNNAMED_PROFILE => cell_name(cell),
        _ => Text::same(&listed.run.profile),
    }
}

/// Returns the target with its changed parameters, as in `model:rascsi (fat-image.cluster=16KiB)`.
fn target(listed: &ListedRun) -> String {
    let target = &listed.run.target;
    listed.changes.as_ref().map_or_else(|| target.clone(), |changes| format!("{target} ({changes})"))
}

/// Returns the device, or the title of the model.
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
