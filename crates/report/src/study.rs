//! Output of a study: its tables next to published figures, the curves of its axes, and a
//! description of the study.
//!
//! The model: if there are published figures, each column is a separate table: published, kurabe,
//! error, and status. Otherwise the columns are side by side. A page has more room and shows all
//! columns in one table.

mod answers;
mod article;
mod bars;
mod card;
mod catalogue;
mod matrix;
mod names;
mod own_card;
mod scripts;
mod shown;
mod tables;
mod verdicts;

pub use article::{check_article_format, study_article};
pub use card::study_card;
pub use catalogue::{catalogue_table, entry_doc, render_beside, render_catalogue, render_entry};
pub use scripts::{EntryLine, SpokenStudy, StudyLine};
pub use shown::{render_studies, render_study_file};
pub use verdicts::{study_answer, study_summary, verdict_answer, verdict_badge, verdict_doc};

use crate::words;
use bars::{order_words, plus_minus_words};
use kurabe_core::mention::{CELL, PROFILE, RUN, SET, SHOW, WHY};
use kurabe_core::target_name::MODEL_PREFIX;
use kurabe_core::{Lang, Text, text};
use kurabe_doc::curve::{CurveValues, DrawnCurve};
use kurabe_doc::{Block, Doc, Paragraph, Role, Style};
use kurabe_study::{ColumnResult, PartResult, RowResult, Status, StudyResult, WhyRun, own_or_named_profile};
use matrix::{matrix, matrix_legend};
use tables::{Notes, beside, figure_name, order_lines, remark_lines, status_word};

pub(crate) use tables::{error_words, published};

/// Renders a study with its figures for a terminal.
pub fn render_study(result: &StudyResult, style: &Style) -> String {
    document(result).terminal(style)
}

/// Renders a study with its figures as Markdown.
pub fn render_study_markdown(result: &StudyResult, lang: Lang) -> String {
    document(result).markdown(lang)
}

fn document(result: &StudyResult) -> Doc {
    let mut doc = Doc::new();
    doc.heading(1, result.name.clone()).aside(result.title.clone()).append(about(result));
    for part in &result.parts {
        let title = part.title.map(|title| format!("{} · {title}", part.id));
        doc.gap().heading(2, title).append(part_body(part, false));
    }
    doc.gap().append(ending(result)).append(verdicts::doc(result)).done()
}

/// Returns the source of a study, its note, and the changed parameters.
fn about(result: &StudyResult) -> Doc {
    let source = result.source.as_ref().map(|source| text!("source: {source}", "出典: {source}"));
    let changed = words::pairs(result.sets.iter().map(|(key, value)| (key, value))).join(", ");
    let changed = (!changed.is_empty()).then(|| text!("changed: {changed}", "変更: {changed}"));
    [source, result.note.clone(), changed].into_iter().flatten().map(Paragraph::aside).collect()
}

/// Explains the status words, and how to look further.
fn ending(result: &StudyResult) -> Doc {
    Doc::of(Paragraph::new(legend(result)).role(Role::Quiet)).and(why_part(result))
}

/// Returns what a page shows before and after the tables of a study.
pub fn study_frame(result: &StudyResult) -> [Doc; 2] {
    let legend = result.parts.iter().any(PartResult::has_published).then(matrix_legend);
    [about(result).and(legend.into_iter().collect()), ending(result)]
}

/// Returns the tables of a study for a page: id, title, and content.
pub fn study_tables(result: &StudyResult) -> impl Iterator<Item = (&str, &Text, Doc)> {
    result.parts.iter().map(|part| (&*part.id, &part.title, part_body(part, true)))
}

/// Explains the status words in the last column that occur.
fn legend(result: &StudyResult) -> Text {
    let rows = || result.parts.iter().flat_map(|part| &part.rows);
    let occurs = |status: Status| rows().flat_map(|row| &row.cells).any(|cell| cell.status == status);
    let meaning = |status: Status| match status {
        Status::Predicted => {
            text!("follows from the model without fitting", "どの公表値にも合わせずにモデルから得た値")
        }
        Status::Calibrated => {
            text!("a parameter was chosen to reproduce it", "この値になるようにパラメーターを選んだもの")
        }
        Status::Assumed => text!(
            "depends on a parameter without a source, chosen to match statements about it",
            "根拠のないパラメーターを、記事の記述に合うように選んだもの"
        ),
        Status::Source => text!("repeats a figure that was given to the model", "モデルに与えた値そのもの"),
        Status::Measured => text!("on your device", "手元の機器で測った値"),
    };
    let all = [Status::Predicted, Status::Calibrated, Status::Assumed, Status::Source, Status::Measured];
    let occurring = all.into_iter().filter(|status| occurs(*status));
    let occurring = occurring.map(|status| Text::join([status_word(status), meaning(status)], [": "; 2]));
    let words = Text::join(occurring, ["; ", "。"]);
    text!("{words}; an unmarked figure is predicted", "{words}。印のない値は予測"; words)
}

/// Shows how to ask a model for its time account. Uses the run that the study names, otherwise the
/// first row that a plain run can repeat.
fn why_part(result: &StudyResult) -> Doc {
    let is_named = |profile: &str| own_or_named_profile(profile).is_ok();
    let models = result.parts.iter().flat_map(|part| &part.rows).any(|row| row.model.is_some());
    let first = || {
        let mut parts = result.parts.iter().filter(|part| is_named(&part.profile));
        parts.find_map(|part| {
            let model = part.rows.iter().find_map(|row| row.model.clone())?;
            Some(WhyRun { model, sets: Vec::new(), profile: part.profile.clone(), cell: None })
        })
    };
    let Some(run) = result.why.clone().or_else(first).filter(|_| models) else { return Doc::new() };
    let sets: String = run.sets.iter().map(|(key, value)| format!(" {SET:#} {key}={value}")).collect();
    let quoted = |cell: &str| if cell.contains(' ') { format!("\"{cell}\"") } else { cell.to_owned() };
    let cell = run.cell.map(|cell| format!(" {CELL:#} {}", quoted(&cell))).unwrap_or_default();
    let (model, profile) = (&run.model, &run.profile);
    let commands =
        [format!("{RUN:#} {MODEL_PREFIX}{model}{sets} {PROFILE:#} {profile}"), format!("{WHY:#}{cell}")];
    let title = Paragraph::new(text!("where the time goes:", "時間の内訳を見るには:"));
    let commands = commands.map(|command| Paragraph::new(command).indent(2, 6));
    std::iter::once(title).chain(commands).map(|paragraph| paragraph.role(Role::Quiet)).collect()
}

/// Returns the content of a part. A page has all figures in one table, and collapses the remarks
/// from the measurement.
fn part_body(part: &PartResult, is_page: bool) -> Doc {
    let mut doc = Doc::new();
    let profile = &part.profile;
    let mut about = vec![text!("profile {profile}", "プロファイル {profile}")];
    about.extend(part.catalogue.as_ref().map(|table| text!("published in {table}", "公表値 {table}")));
    doc.push(Paragraph::flow(about).indent(2, 2).role(Role::Quiet));
    doc.push_all(part.note.clone().map(Paragraph::aside));
    let mut notes = Notes::default();
    let tables = match is_page || !part.has_published() || part.devices_across {
        true => vec![matrix(part, &mut notes)],
        false => (0..part.columns.len()).map(|column| beside(part, column, &mut notes)).collect(),
    };
    for table in tables {
        doc.gap().push(table.indent(2));
    }
    for (label, run) in part.rows.iter().filter_map(|row| Some((&row.label, row.run.as_ref()?))) {
        doc.aside(text!("{label}: stored, {SHOW} {run}", "{label}: 保存済み、{SHOW} {run}"; label));
    }
    for (number, note) in notes.list.into_iter().enumerate() {
        doc.push(Paragraph::aside(note).marked(format!("[{}]", number + 1)));
    }
    if !is_page {
        doc.append(curves(part));
    }
    doc.push_all(part.has_plus_minus().then(plus_minus_words).map(Paragraph::aside));
    doc.push_all(order_words(part).into_iter().map(Paragraph::aside));
    doc.push_all(order_lines(part).into_iter().map(Paragraph::aside));
    let remarks: Doc = remark_lines(part).into_iter().map(Paragraph::aside).collect();
    if is_page && !remarks.is_empty() {
        return doc.and(Doc::of(Block::Fold(text!("while it was computed", "計算中の記録"), remarks)));
    }
    doc.and(remarks)
}

/// Returns the curves of a part with one axis: one for each row and each marked column, or for the
/// first column.
fn curves(part: &PartResult) -> Doc {
    let mut doc = Doc::new();
    let [axis] = part.axes.as_slice() else { return doc };
    if axis.values.len() < 2 {
        return doc;
    }
    let marked: Vec<usize> = (0..part.columns.len()).filter(|column| part.columns[*column].curve).collect();
    let marked = if marked.is_empty() { vec![0] } else { marked };
    for rows in part.rows.chunks(axis.values.len()) {
        for column in &marked {
            doc.append(curve(&axis.parameter, &part.columns[*column], *column, rows));
        }
    }
    doc
}

fn curve(parameter: &str, column: &ColumnResult, index: usize, rows: &[RowResult]) -> Doc {
    let mut doc = Doc::new();
    let value = |row: &RowResult| row.cells.get(index)?.value;
    let points: Vec<(f64, f64)> =
        rows.iter().enumerate().filter_map(|(place, row)| Some((place as f64, value(row)?))).collect();
    let row = rows.first().map(|row| row.label.clone()).unwrap_or_default();
    let name = figure_name(column);
    if is_flat(&points) {
        doc.gap().aside(text!(
            "{name}, {row}: {parameter} changes nothing",
            "{name}、{row}: {parameter} では変わりません";
            name, row
        ));
        return doc;
    }
    let place = |row: Option<&RowResult>| row.and_then(|row| row.values.first().cloned()).unwrap_or_default();
    let curve = DrawnCurve {
        points,
        until: rows.len() as f64,
        values: CurveValues::Fixed(column.decimals, column.unit.clone()),
        edges: [rows.first(), rows.last()].map(place),
    };
    if !curve.is_empty() {
        let title = text!("{name} over {parameter}, {row}", "{name}、横軸 {parameter}: {row}"; name, row);
        doc.gap().aside(title).push(curve);
    }
    doc
}

/// Checks whether a curve would be a solid block, because all its points are within 0.5 % of the
/// highest.
fn is_flat(points: &[(f64, f64)]) -> bool {
    let values = || points.iter().map(|(_, value)| *value);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    points.len() > 1 && most - least <= 0.005 * most
}
