//! Output of a run: two lines on the target and the procedure, the table, and the remarks.

mod assessment;
pub(crate) mod choice;
mod copies;
pub(crate) mod derived;
mod details;
pub(crate) mod figures;
mod foreseen;
mod grid;
pub(crate) mod imported;
mod list;
mod measured;
mod positions;
mod profile;
mod ranks;
pub(crate) mod remarks;
mod replay;
pub(crate) mod rescued;
pub(crate) mod steady;
mod steps;
pub(crate) mod sweep;
pub(crate) mod table;
pub(crate) mod times;
pub(crate) mod why;

pub(crate) use assessment::host_memory_words;
pub use assessment::{Assessment, Unfit, usual_words};
pub use choice::{ProfileChoice, procedure_name, profile_choices};
pub use details::render_details;
pub use figures::Tile;
pub use foreseen::{
    foreseen_sentence, foreseen_versus_doc, render_foreseen, render_foreseen_versus, written_by_all,
};
pub use list::{render_list, runs_table};
pub use measured::{DemeritRow, demerit_pictures, demerits, render_demerits};
pub use positions::positions_doc;
pub use profile::{render_profile, render_profiles};
pub(crate) use remarks::written_words;
pub use remarks::{notices_doc, planned_writes};
pub use steady::round_line;
pub use why::{CauseTime, CellTime, CountOf, Per, Why, card_names, explain, mover_words, render_why};

use crate::{model, words};
use figures::Figures;
use kurabe_core::mention::{DETAILS, EXPORT, PROFILE, RUN, SHOW, WHY};
use kurabe_core::record::{Cell, RunHeader, RunRecord};
use kurabe_core::{Text, number, profile::Statistic, shown, text, workload::Direction};
use kurabe_doc::layout::{StyledLine, display_width, pad_left, pad_right};
use kurabe_doc::spark::{course, sparkline};
use kurabe_doc::{Doc, Paragraph, Role, Style};
use kurabe_profile::PROFILES;
use rescued::rescued_in;
use std::path::Path;
use table::RunTable;

/// Renders the whole run: header, table, remarks, and the next steps.
pub fn render_run(record: &RunRecord, headline: &Text, style: &Style) -> String {
    whole_head(record, headline).and(result(record)).terminal(style)
}

/// Renders a run whose header has already been shown.
pub fn render_result(record: &RunRecord, style: &Style) -> String {
    below_header(record).and(result(record)).terminal(style)
}

/// Renders a run that the store could not take, with the file that contains it.
pub fn render_rescued(record: &RunRecord, headline: &Text, file: &Path, style: &Style) -> String {
    whole_head(record, headline).and(body(record)).and(end(record, rescued_in(file))).terminal(style)
}

/// Renders a sweep: header, curves with their findings, remarks. The table of its cells is in
/// [`render_run`].
pub fn render_sweep_run(record: &RunRecord, headline: &Text, style: &Style) -> String {
    whole_head(record, headline).and(sweep::doc(record)).and(stored_end(record)).terminal(style)
}

/// Renders a sweep whose header has already been shown.
pub fn render_sweep_result(record: &RunRecord, style: &Style) -> String {
    below_header(record).and(sweep::doc(record)).and(stored_end(record)).terminal(style)
}

fn whole_head(record: &RunRecord, headline: &Text) -> Doc {
    head(&record.header, headline, remarks::engines(&record.cells)).with_gap()
}

/// Returns the facts that a header written before the run can't contain.
fn below_header(record: &RunRecord) -> Doc {
    let engines = remarks::engines(&record.cells).map(|engines| Paragraph::new(engines).role(Role::Quiet));
    engines.into_iter().collect::<Doc>().with_gap()
}

fn result(record: &RunRecord) -> Doc {
    body(record).and(stored_end(record))
}

/// Returns the summary sentence. In a terminal, it is below the table and the remarks, where the
/// user looks at the end of a run.
fn summary(record: &RunRecord) -> Doc {
    let sentence = Assessment::of(record).map(|summary| Paragraph::new(summary.sentence).role(Role::Strong));
    sentence.map_or_else(Doc::new, |sentence| Doc::of(sentence).with_gap())
}

fn body(record: &RunRecord) -> Doc {
    let table = RunTable::of(record);
    let tables = [
        grid::doc(&table),
        replay::doc(&table),
        times::doc(&table),
        copies::doc(record, &table),
        grid::list(&table),
    ];
    let tables = tables.into_iter().filter(|table| !table.is_empty());
    let mut doc = tables.map(Doc::with_gap).fold(Doc::new(), Doc::and);
    let notes = if doc.is_empty() { Doc::new() } else { remarks::footnotes(record, &table) };
    doc.append(derived::doc(record)).append(positions::doc(record)).append(steady::doc(record));
    doc.append(sweep::doc(record));
    if !notes.is_empty() {
        doc.append(notes.with_gap());
    }
    doc
}

/// Renders the first lines of a run, which are known before it begins.
pub fn render_header(header: &RunHeader, headline: &Text, style: &Style) -> String {
    head(header, headline, None).terminal(style)
}

fn head(header: &RunHeader, headline: &Text, engines: Option<Text>) -> Doc {
    // What a model was computed on says nothing about it.
    let headline =
        header.model.as_ref().map_or_else(|| headline.clone(), |model| model::title_line(header, model));
    let name = Text::same(shown::line(header.target_name()));
    let target = match (headline.is_empty(), name.is_empty()) {
        (true, _) => name,
        (false, true) => headline,
        (false, false) => text!("{name} ({headline})", "{name} ({headline})"; name, headline),
    };
    let mut first: Vec<Text> = vec![format!("{RUN} {}", shown::line(&header.id)).into()];
    first.extend([words::measured_at(header), target]);
    first.retain(|item| !item.is_empty());
    let mut second: Vec<Text> = vec![shown::line(&header.profile_name()).into()];
    if let Some(profile) = header.profile.as_ref().filter(|_| header.target.is_some()) {
        second.extend(words::size_and_data(header));
        second.push(words::repetitions(profile));
    }
    if let Some(origin) = &header.origin {
        second.extend(words::procedures(origin));
        let file = shown::line(&origin.file);
        second.push(text!("imported from {file}", "{file} から取り込み"));
    }
    second.extend(engines);
    Doc::of(Paragraph::flow(first).lead(Role::Strong).indent(0, 2))
        .push_all(header.model.as_ref().map(|model| Paragraph::flow(model::facts(model)).indent(2, 2)))
        .push(Paragraph::flow(second).indent(0, 2))
        .done()
}

/// Describes how a stored run ended, and the next steps.
fn stored_end(record: &RunRecord) -> Doc {
    let header = &record.header;
    let id = shown::line(&header.id);
    let mut items = vec![
        text!("saved as {id}", "{id} として保存"),
        text!("details: {SHOW} {id} {DETAILS}", "詳細: {SHOW} {id} {DETAILS}"),
        text!("export: {EXPORT} {id}", "書き出し: {EXPORT} {id}"),
    ];
    if header.model.is_some() {
        items.push(text!("where the time went: {WHY} {id}", "時間の内訳: {WHY} {id}"));
    } else if record.cells.iter().flat_map(|cell| &cell.repetitions).any(|one| one.kernel.is_some()) {
        items.push(text!("what limited it: {WHY} {id}", "ボトルネック: {WHY} {id}"));
    }
    let same = header.origin.as_ref().and_then(|origin| origin.profile.as_deref());
    if let Some(profile) = same.filter(|profile| PROFILES.iter().any(|(name, _)| name == profile)) {
        items.push(text!(
            "measure in the same way: {RUN} {PROFILE} {profile}",
            "同じ手順で測定: {RUN} {PROFILE} {profile}"
        ));
    }
    end(record, items)
}

/// Describes how the run ended, with remarks and the given next steps.
fn end(record: &RunRecord, items: Vec<Text>) -> Doc {
    let mut doc = remarks::status(record).append(remarks::below(record)).done();
    if !doc.is_empty() {
        doc = doc.with_gap();
    }
    doc.append(summary(record)).push(Paragraph::flow(items).indent(0, 2)).done()
}

/// Returns direction and name of a cell, padded so that the names of all cells are aligned. Cells
/// without a direction, and the parts of a copy, whose names contain it, have only the name.
fn cell_name(cell: &Cell, style: &Style) -> String {
    let (name, label) = (style.say(&words::cell(cell)), style.say(&words::label(cell)));
    let Some(direction) = cell.direction.filter(|_| name != label) else {
        // As wide as the longest part of a copy, or as the other cells.
        return pad_right(&name, if cell.direction.is_some() { 31 } else { 23 });
    };
    let directions = Direction::ALL.map(|direction| display_width(&style.say(&words::direction(direction))));
    let width = directions.into_iter().max().unwrap_or(0);
    format!("{} {}", pad_right(&style.say(&words::direction(direction)), width), pad_right(&label, 17))
}

/// Renders a cell in one line, for progress without a live line. Facts that don't fit are left out
/// from the end.
pub fn render_cell(cell: &Cell, statistic: Statistic, style: &Style) -> String {
    let figures = Figures::of(cell, statistic);
    let name = cell_name(cell, style);
    let mut row = StyledLine::new(style);
    row.at(0, Role::Plain, &name);
    let Some(main) = figures.main_figure() else {
        row.at(0, Role::Quiet, &format!(" {}", style.pick("nothing counted", "有効な測定なし")));
        return row.finish();
    };
    let marks: String = figures.doubts().iter().map(|doubt| format!("  {}", style.say(doubt))).collect();
    let mut used = display_width(&name) + display_width(&marks);
    let mut put = |role: Role, text: String, required: bool| {
        if !text.is_empty() && (required || used + display_width(&text) <= style.width) {
            used += display_width(&text);
            row.at(0, role, &text);
        }
    };
    put(Role::Strong, format!(" {} {}", pad_left(&main.number, 8), pad_right(main.unit, 4)), true);
    let interval = figures.interval().unwrap_or_default();
    let words = match figures.chosen() {
        _ if figures.counted < 2 => String::new(),
        Some(chosen) => {
            let mean = figures.value(figures.mean.map_or(0.0, |mean| mean.mean));
            let mean = format!("{} {mean} {interval}", style.pick("mean", "平均"));
            format!("  {} ({})", style.say(&chosen), mean.trim_end())
        }
        None => format!("  {}", pad_right(&interval, 6)),
    };
    put(Role::Plain, words, false);
    put(Role::Course, format!("  {}", sparkline(&course(cell), 8)), false);
    if figures.small_blocks {
        put(Role::Quiet, format!("  {}", number::iops(figures.rate_iops.unwrap_or(0.0))), false);
        if let Some(ns) = figures.percentile_ns(0.999) {
            put(Role::Quiet, format!("  p99.9 {}", number::latency_ns(ns)), false);
        }
    }
    row.at(0, if figures.failed > 0 { Role::Bad } else { Role::Warn }, &marks);
    row.finish()
}
