//! A study as people see it: its tables beside what was published, the curves of its axes, and what it consists of.
//!
//! The model: a table becomes a grid of words (`study::tables`), which is laid out for a terminal here, and as Markdown
//! for a page. Where figures are published, each column is a table of its own: published, kurabe, error, and what the
//! figure is. Where none are, the columns stand side by side.

mod answers;
mod names;
mod shown;
mod tables;
mod verdicts;

pub use shown::{render_studies, render_study_file};
pub use verdicts::verdict_answer;

use crate::chart::Chart;
use crate::columns::{self, Column, Entry};
use crate::layout::{display_width, hanging, page, wrap};
use crate::style::{Role, Style};
use kurabe_core::number;
use kurabe_core::profile_library::profile_named;
use kurabe_core::{Lang, text};
use kurabe_study::{ColumnResult, PartResult, RowResult, Status, StudyResult, WhyRun, embedded_profile};
use tables::{Grid, Notes, figure_name, order_lines, part_grids, remark_lines};
use verdicts::{verdict_lines, verdict_markdown};

pub(crate) use tables::{error_words, published};

/// Lines of a curve.
const CURVE_HEIGHT: usize = 4;

/// A study with its figures, for a terminal.
pub fn render_study(result: &StudyResult, style: &Style) -> String {
    let mut lines = vec![style.paint(Role::Strong, &result.study)];
    lines.extend(paragraph(result.title.get(style.lang), style));
    if let Some(source) = &result.source {
        lines.extend(paragraph(&format!("{}: {source}", style.pick("source", "出典")), style));
    }
    if let Some(note) = &result.note {
        lines.extend(paragraph(note.get(style.lang), style));
    }
    if !result.sets.is_empty() {
        let changed: Vec<String> = result.sets.iter().map(|(key, value)| format!("{key}={value}")).collect();
        lines.extend(paragraph(&format!("{}: {}", style.pick("changed", "変更"), changed.join(", ")), style));
    }
    for part in &result.parts {
        lines.push(String::new());
        lines.extend(part_lines(part, style));
    }
    lines.push(String::new());
    lines.extend(legend(result, style));
    lines.extend(why_line(result, style));
    lines.extend(verdict_lines(result, style));
    page(&lines)
}

fn paragraph(words: &str, style: &Style) -> Vec<String> {
    hanging(wrap(words, style.width.saturating_sub(2)), 2, 2)
}

/// What the words in the last column mean, as far as they occur.
fn legend(result: &StudyResult, style: &Style) -> Vec<String> {
    let rows = || result.parts.iter().flat_map(|part| &part.rows);
    let occurs = |status: Status| rows().flat_map(|row| &row.cells).any(|cell| cell.status == status);
    let words = [
        (
            Status::Predicted,
            text!(
                "predicted: follows from the model, fitted to nothing",
                "予測: どの公表値にも合わせずにモデルから得た値"
            ),
        ),
        (
            Status::Calibrated,
            text!(
                "calibrated: a parameter was chosen so that it comes out",
                "較正: この値になるようにパラメーターを選んだもの"
            ),
        ),
        (
            Status::Assumed,
            text!(
                "assumed: rests on a parameter without a source, chosen in view of what is said of it",
                "仮定: 根拠のないパラメーターを、記事の記述に合うように選んだもの"
            ),
        ),
        (
            Status::Source,
            text!("source: repeats a figure that the model was given", "出典: モデルに与えた値そのもの"),
        ),
        (Status::Measured, text!("measured: on a device of yours", "実測: 手元の機器で測った値")),
    ];
    let told: Vec<&str> =
        words.iter().filter(|(status, _)| occurs(*status)).map(|(_, words)| words.get(style.lang)).collect();
    let line = told.join(style.pick("; ", "。"));
    wrap(&line, style.width).iter().map(|line| style.paint(Role::Quiet, line)).collect()
}

/// How to ask a model where its time goes: the run that the study names, else the first row that a plain run repeats.
fn why_line(result: &StudyResult, style: &Style) -> Vec<String> {
    let is_named = |profile: &str| embedded_profile(profile).is_some() || profile_named(profile).is_ok();
    let models = result.parts.iter().flat_map(|part| &part.rows).any(|row| row.model.is_some());
    let first = || {
        let mut parts = result.parts.iter().filter(|part| is_named(&part.profile));
        parts.find_map(|part| {
            let model = part.rows.iter().find_map(|row| row.model.clone())?;
            Some(WhyRun { model, sets: Vec::new(), profile: part.profile.clone(), cell: None })
        })
    };
    let Some(run) = result.why.clone().or_else(first).filter(|_| models) else { return Vec::new() };
    let sets: String = run.sets.iter().map(|(key, value)| format!(" --set {key}={value}")).collect();
    let quoted = |cell: &str| if cell.contains(' ') { format!("\"{cell}\"") } else { cell.to_owned() };
    let cell = run.cell.map(|cell| format!(" --cell {}", quoted(&cell))).unwrap_or_default();
    let (model, profile) = (&run.model, &run.profile);
    let commands =
        [format!("kurabe run model:{model}{sets} --profile {profile}"), format!("kurabe why{cell}")];
    let mut lines = vec![style.pick("where the time goes:", "時間の内訳を見るには:").to_owned()];
    for command in commands {
        lines.extend(hanging(wrap(&command, style.width.saturating_sub(6)), 2, 6));
    }
    lines.iter().map(|line| style.paint(Role::Quiet, line)).collect()
}

/// The stored runs of real targets.
fn run_lines(part: &PartResult, style: &Style) -> Vec<String> {
    let runs = part.rows.iter().filter_map(|row| Some((row.label.get(style.lang), row.run.as_ref()?)));
    runs.flat_map(|(label, run)| {
        let words = text!("{label}: stored, kurabe show {run}", "{label}: 保存済み、kurabe show {run}");
        paragraph(&style.say(&words), style)
    })
    .collect()
}

fn part_lines(part: &PartResult, style: &Style) -> Vec<String> {
    let mut lines = wrap(&format!("{} · {}", part.id, part.title.get(style.lang)), style.width)
        .iter()
        .map(|line| style.paint(Role::Strong, line))
        .collect::<Vec<_>>();
    let mut about = vec![format!("{} {}", style.pick("profile", "プロファイル"), part.profile)];
    if let Some(table) = &part.catalogue {
        about.push(format!("{} {table}", style.pick("published in", "公表値")));
    }
    lines.push(style.paint(Role::Quiet, &format!("  {}", about.join(" · "))));
    if let Some(note) = &part.note {
        lines.extend(paragraph(note.get(style.lang), style));
    }
    let mut notes = Notes::default();
    for grid in part_grids(part, &mut notes, style.lang) {
        for piece in fitting(&grid, style.width.saturating_sub(2)) {
            lines.push(String::new());
            lines.extend(grid_lines(&piece, style));
        }
        lines.extend(grid.all_are.iter().flat_map(|line| paragraph(line, style)));
    }
    lines.extend(run_lines(part, style));
    lines.extend(curves(part, style));
    let remarks = order_lines(part, style.lang).into_iter().chain(remark_lines(part, style.lang));
    lines.extend(remarks.flat_map(|line| paragraph(&line, style)));
    for (number, note) in notes.list.iter().enumerate() {
        let number = format!("[{}]", number + 1);
        let at = 3 + display_width(&number);
        let mut wrapped = hanging(wrap(note.get(style.lang), style.width.saturating_sub(at)), 0, at);
        if let Some(first) = wrapped.first_mut() {
            *first = format!("  {number} {first}");
        }
        lines.extend(wrapped);
    }
    lines
}

fn grid_lines(grid: &Grid, style: &Style) -> Vec<String> {
    let heads: Vec<Column> = grid
        .heads
        .iter()
        .enumerate()
        .map(|(place, head)| match place {
            0 => Column::left(head).cut(columns::Cut::Wrap),
            place if place >= grid.fixed && grid.is_words(place) => {
                Column::left(head).cut(columns::Cut::Wrap)
            }
            place if grid.is_words(place) => Column::left(head),
            _ => Column::right(head),
        })
        .collect();
    let strong = grid.strong;
    let rows: Vec<Vec<Entry>> = grid
        .rows
        .iter()
        .map(|row| {
            let role = |place: usize| if Some(place) == strong { Role::Strong } else { Role::Plain };
            row.iter().enumerate().map(|(place, words)| (role(place), words.clone())).collect()
        })
        .collect();
    columns::render(&heads, &rows, 2, style)
}

/// The grid, cut into several side by side where its columns are too many for the width.
fn fitting(grid: &Grid, width: usize) -> Vec<Grid> {
    const GAP: usize = 2;
    /// The first column wraps, but not below this.
    const NARROWEST_LABEL: usize = 20;
    const NARROWEST_WORDS: usize = 12;
    let column_width = |place: usize| {
        let rows = grid.rows.iter().map(|row| display_width(&row[place]));
        let widest = rows.chain([display_width(&grid.heads[place])]).max().unwrap_or(0);
        // Words behind the figures wrap.
        if place >= grid.fixed && grid.is_words(place) { widest.min(NARROWEST_WORDS) } else { widest }
    };
    let fixed: usize = (0..grid.fixed)
        .map(
            |place| if place == 0 { column_width(0).min(NARROWEST_LABEL) } else { column_width(place) } + GAP,
        )
        .sum();
    let mut pieces: Vec<Vec<usize>> = Vec::new();
    let mut used = 0;
    for place in grid.fixed..grid.heads.len() {
        let wide = column_width(place) + GAP;
        match pieces.last_mut() {
            Some(piece) if fixed + used + wide <= width + GAP => piece.push(place),
            _ => {
                pieces.push(vec![place]);
                used = 0;
            }
        }
        used += wide;
    }
    pieces.iter().map(|places| grid.only(places)).collect()
}

/// The curves of a part with one axis: one for each row and each column that is marked, or for the first column.
fn curves(part: &PartResult, style: &Style) -> Vec<String> {
    let [axis] = part.axes.as_slice() else { return Vec::new() };
    if axis.values.len() < 2 {
        return Vec::new();
    }
    let marked: Vec<usize> = (0..part.columns.len()).filter(|column| part.columns[*column].curve).collect();
    let marked = if marked.is_empty() { vec![0] } else { marked };
    let mut lines = Vec::new();
    for rows in part.rows.chunks(axis.values.len()) {
        for column in &marked {
            lines.extend(curve(part, &part.columns[*column], *column, rows, style));
        }
    }
    lines
}

fn curve(
    part: &PartResult,
    column: &ColumnResult,
    index: usize,
    rows: &[RowResult],
    style: &Style,
) -> Vec<String> {
    let points: Vec<(f64, f64)> = rows
        .iter()
        .enumerate()
        .filter_map(|(place, row)| Some((place as f64, row.cells.get(index)?.value?)))
        .collect();
    let parameter = part.axes.first().map_or("", |axis| axis.parameter.as_str());
    let row = rows.first().map_or("", |row| row.label.get(style.lang));
    let name = figure_name(column, style.lang);
    if is_flat(&points) {
        let words = text!(
            "{name}, {row}: {parameter} changes nothing",
            "{name}、{row}: {parameter} では変わりません"
        );
        return [vec![String::new()], paragraph(&style.say(&words), style)].concat();
    }
    let last = rows.len().saturating_sub(1);
    let name_of = |place: f64| {
        let row = rows.get((place.round() as usize).min(last));
        row.and_then(|row| row.values.first()).cloned().unwrap_or_default()
    };
    let value = |value: f64| match column.unit.as_str() {
        "" => number::fixed(value, column.decimals),
        unit => format!("{} {unit}", number::fixed(value, column.decimals)),
    };
    let chart = Chart {
        points: &points,
        holds: true,
        until: rows.len() as f64,
        height: CURVE_HEIGHT,
        value: &value,
        place: &name_of,
    };
    let drawn = chart.render(style);
    if drawn.is_empty() {
        return drawn;
    }
    let title = style.say(&text!("{name} over {parameter}, {row}", "{name}、横軸 {parameter}: {row}"));
    let mut lines = vec![String::new()];
    lines.extend(paragraph(&title, style));
    lines.extend(drawn);
    lines
}

/// Whether a curve would be a block: all its points are within 0.5 % of the highest.
fn is_flat(points: &[(f64, f64)]) -> bool {
    let values = || points.iter().map(|(_, value)| *value);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    points.len() > 1 && most - least <= 0.005 * most
}

/// A study with its figures, as Markdown.
pub fn render_study_markdown(result: &StudyResult, lang: Lang) -> String {
    let mut out = format!("# {}\n", markdown_words(result.title.get(lang)));
    if let Some(source) = &result.source {
        out.push_str(&format!("\n{}: {}\n", lang.pick("Source", "出典"), markdown_words(source)));
    }
    for part in &result.parts {
        out.push_str(&format!("\n## {}\n", markdown_words(part.title.get(lang))));
        if let Some(note) = &part.note {
            out.push_str(&format!("\n{}\n", markdown_words(note.get(lang))));
        }
        let mut notes = Notes::default();
        for grid in part_grids(part, &mut notes, lang) {
            out.push('\n');
            out.push_str(&markdown_line(&grid.heads));
            let rule = (0..grid.heads.len()).map(|place| if grid.is_words(place) { "---" } else { "---:" });
            out.push_str(&markdown_line(&rule.map(str::to_owned).collect::<Vec<_>>()));
            for row in &grid.rows {
                let cells: Vec<String> = row.iter().map(|words| markdown_words(words)).collect();
                out.push_str(&markdown_line(&cells));
            }
            if let Some(line) = &grid.all_are {
                out.push_str(&format!("\n{}\n", markdown_words(line)));
            }
        }
        for line in order_lines(part, lang).into_iter().chain(remark_lines(part, lang)) {
            out.push_str(&format!("\n{}\n", markdown_words(&line)));
        }
        for (number, note) in notes.list.iter().enumerate() {
            out.push_str(&format!("\n[{}] {}\n", number + 1, markdown_words(note.get(lang))));
        }
    }
    out.push_str(&verdict_markdown(result, lang));
    out
}

fn markdown_line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// Words that Markdown leaves as they are.
fn markdown_words(words: &str) -> String {
    let mut out = String::new();
    for c in words.chars() {
        match c {
            '|' | '*' | '_' | '<' | '`' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
