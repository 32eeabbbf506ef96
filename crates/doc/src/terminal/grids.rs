//! A grid in a terminal.
//!
//! The model: the first arrangement that fits the width is used: columns side by side, columns
//! below each other, or names on separate lines. Each shows as many percentiles as fit.

use crate::grid::{Grid, GridCell, GridRemark};
use crate::layout::{StyledLine, clip, display_width, pad_left, pad_right, wrap};
use crate::spark::sparkline;
use crate::{Role, Style};
use kurabe_core::number;

/// Gap between columns of the grid, if there is room.
const GAP: usize = 3;
const GAP_TIGHT: usize = 2;
/// Gap between a unit and its remark, and between a remark and the sparkline.
const REMARK_GAP: usize = 2;
const COURSE_SHORTEST: usize = 8;
const COURSE_LONGEST: usize = 12;

#[derive(Clone, Copy, PartialEq)]
enum Percentiles {
    All,
    /// The first and the last.
    Ends,
    /// The first and the last, on separate lines.
    Split,
}

/// A line of a cell in the reader's language.
struct LaidLine {
    role: Role,
    number: String,
    unit: &'static str,
    remark: String,
    /// The sparkline behind the remark.
    course: Option<Vec<f64>>,
}

type LaidCell = Vec<LaidLine>;

/// A grid with the percentiles of one arrangement.
struct LaidGrid {
    headings: Vec<String>,
    names: Vec<String>,
    rows: Vec<Vec<Option<LaidCell>>>,
}

/// Widths shared by all cells.
struct Widths {
    number: usize,
    unit: usize,
    remark: usize,
    course: usize,
}

impl Widths {
    fn remark_at(&self) -> usize {
        self.number + 1 + self.unit + REMARK_GAP
    }

    fn course_at(&self) -> usize {
        self.remark_at() + if self.remark > 0 { self.remark + REMARK_GAP } else { 0 }
    }
}

/// Renders a grid as lines.
pub(super) fn lines(grid: &Grid, style: &Style) -> Vec<String> {
    let laid = |percentiles| LaidGrid::new(grid, percentiles, style);
    let is_list = grid.headings.is_empty();
    let arrangements = [
        (Percentiles::All, GAP),
        (Percentiles::Ends, GAP),
        (Percentiles::Split, GAP),
        (Percentiles::Split, GAP_TIGHT),
    ];
    let arrangements = if is_list { &arrangements[..1] } else { &arrangements };
    let below = if is_list { &[][..] } else { &[Percentiles::All, Percentiles::Ends] };
    arrangements
        .iter()
        .find_map(|(percentiles, gap)| laid(*percentiles).side_by_side(*gap, style))
        .or_else(|| below.iter().find_map(|percentiles| laid(*percentiles).stacked(style, false)))
        .or_else(|| laid(Percentiles::Ends).stacked(style, true))
        .unwrap_or_default()
}

impl LaidGrid {
    fn new(grid: &Grid, percentiles: Percentiles, style: &Style) -> Self {
        let headings = match grid.headings.as_slice() {
            [] => vec![String::new()],
            headings => headings.iter().map(|heading| style.say(heading)).collect(),
        };
        let parts: Vec<[String; 2]> =
            grid.rows.iter().map(|row| row.name.each_ref().map(|part| style.say(part))).collect();
        let first = widest(parts.iter().map(|[first, _]| first));
        let name = |[first_part, second]: &[String; 2]| match second.as_str() {
            "" => first_part.clone(),
            second => format!("{} {second}", pad_right(first_part, first)),
        };
        let cell = |cell: &Option<GridCell>| cell.as_ref().map(|cell| laid_cell(cell, percentiles, style));
        let rows = grid.rows.iter().map(|row| row.cells.iter().map(cell).collect()).collect();
        let mut laid = Self { headings, names: parts.iter().map(name).collect(), rows };
        laid.align_decimals();
        laid
    }

    fn lines(&self) -> impl Iterator<Item = &LaidLine> {
        self.rows.iter().flatten().flatten().flatten()
    }

    fn lines_mut(&mut self) -> impl Iterator<Item = &mut LaidLine> {
        self.rows.iter_mut().flatten().flatten().flatten()
    }

    /// Pads rates with spaces to the same number of decimals, so that the decimal points are
    /// aligned.
    fn align_decimals(&mut self) {
        let places = |line: &LaidLine| {
            let fraction = line.number.split_once('.').filter(|_| line.unit == "MB/s");
            fraction.map(|(_, fraction)| fraction.len())
        };
        let most = self.lines().filter_map(places).max().unwrap_or(0);
        for line in self.lines_mut() {
            if let Some(places) = places(line) {
                line.number.push_str(&" ".repeat(most - places));
            }
        }
    }

    /// Computes the widths. The sparkline is as long as the cell's other lines allow, within its
    /// limits.
    fn widths(&self) -> Widths {
        let remarks = |with_course: bool| {
            widest(self.lines().filter(|line| line.course.is_some() == with_course).map(|line| &line.remark))
        };
        let mut widths = Widths {
            number: widest(self.lines().map(|line| &line.number)),
            unit: widest(self.lines().map(|line| line.unit)),
            remark: remarks(true),
            course: 0,
        };
        if self.lines().any(|line| line.course.as_ref().is_some_and(|course| !course.is_empty())) {
            let room = (widths.remark_at() + remarks(false)).saturating_sub(widths.course_at());
            widths.course = room.clamp(COURSE_SHORTEST, COURSE_LONGEST);
        }
        widths
    }

    fn cell_width(&self, widths: &Widths) -> usize {
        let with_remarks = widths.remark_at() + widest(self.lines().map(|line| &line.remark));
        with_remarks.max(widths.course_at() + widths.course)
    }

    fn side_by_side(&self, gap: usize, style: &Style) -> Option<Vec<String>> {
        let widths = self.widths();
        let label = widest(&self.names);
        let cell_width = self.cell_width(&widths).max(widest(&self.headings));
        let column = |index: usize| label + gap + index * (cell_width + gap);
        if column(self.headings.len()) - gap > style.width {
            return None;
        }
        let mut head = StyledLine::new(style);
        for (index, heading) in self.headings.iter().enumerate() {
            // The heading is aligned with the start of the widest number.
            head.at(column(index), Role::Strong, heading);
        }
        let mut lines = vec![head.finish()];
        lines.retain(|line| !line.is_empty());
        for (cells, name) in self.rows.iter().zip(&self.names) {
            let height = cells.iter().flatten().map(Vec::len).max().unwrap_or(0).max(1);
            for line in 0..height {
                let mut out = StyledLine::new(style);
                out.at(0, Role::Plain, if line == 0 { name } else { "" });
                for (index, cell) in cells.iter().enumerate() {
                    match cell {
                        Some(cell) => put(cell.get(line), &mut out, column(index), &widths),
                        None if line == 0 => {
                            out.until(column(index) + widths.number, Role::Quiet, number::NONE);
                        }
                        None => {}
                    }
                }
                lines.push(out.finish());
            }
        }
        Some(lines)
    }

    /// Arranges columns below each other. `named_apart` puts names on separate lines and always
    /// succeeds, cutting what doesn't fit.
    fn stacked(mut self, style: &Style, named_apart: bool) -> Option<Vec<String>> {
        let mut widths = self.widths();
        let column = if named_apart { 4 } else { 2 + widest(&self.names) + GAP };
        if column + self.cell_width(&widths) > style.width {
            if !named_apart {
                return None;
            }
            let room = style.width.saturating_sub(column + widths.remark_at());
            self.lines_mut().for_each(|line| line.remark = clip(&line.remark, room));
            widths.course = style.width.saturating_sub(column + widths.course_at()).min(COURSE_SHORTEST);
        }
        let mut lines = Vec::new();
        for (index, heading) in self.headings.iter().enumerate() {
            lines.extend((index > 0).then(String::new));
            lines.extend((!heading.is_empty()).then(|| style.paint(Role::Strong, heading)));
            for (cells, name) in self.rows.iter().zip(&self.names) {
                let Some(cell) = &cells[index] else { continue };
                if named_apart {
                    let names = wrap(name, style.width.saturating_sub(2));
                    lines.extend(names.iter().map(|name| format!("  {name}")));
                }
                for (place, line) in cell.iter().enumerate() {
                    let mut out = StyledLine::new(style);
                    out.at(2, Role::Plain, if place == 0 && !named_apart { name } else { "" });
                    put(Some(line), &mut out, column, &widths);
                    lines.push(out.finish());
                }
            }
        }
        Some(lines)
    }
}

fn widest(words: impl IntoIterator<Item = impl AsRef<str>>) -> usize {
    words.into_iter().map(|words| display_width(words.as_ref())).max().unwrap_or(0)
}

/// Returns the lines of a cell. The sparkline is behind the first line.
fn laid_cell(cell: &GridCell, percentiles: Percentiles, style: &Style) -> LaidCell {
    let mut lines: LaidCell = Vec::new();
    for line in &cell.lines {
        let mut remarks = match &line.remark {
            GridRemark::Words(words) => vec![style.say(words)],
            GridRemark::Percentiles(latencies) => latency_remarks(latencies, percentiles),
        }
        .into_iter();
        let (number, remark) = (line.figure.number.clone(), remarks.next().unwrap_or_default());
        let course = cell.course.clone().filter(|_| lines.is_empty());
        lines.push(LaidLine { role: line.role, number, unit: line.figure.unit, remark, course });
        let below =
            |remark| LaidLine { role: line.role, number: String::new(), unit: "", remark, course: None };
        lines.extend(remarks.map(below));
    }
    lines
}

/// Returns the percentiles on one line, or each on a separate line and aligned.
fn latency_remarks(latencies: &[(&str, String)], percentiles: Percentiles) -> Vec<String> {
    let last = latencies.len().saturating_sub(1);
    let name_width = if percentiles == Percentiles::Split { 5 } else { 0 };
    let is_shown = |place: usize| percentiles == Percentiles::All || place == 0 || place == last;
    let shown =
        latencies.iter().enumerate().filter(|(place, _)| is_shown(*place)).map(|(_, latency)| latency);
    let remark = |(name, latency): &(&str, String)| {
        format!("{} {}", pad_right(name, name_width), pad_left(latency, 7))
    };
    let remarks: Vec<String> = shown.map(remark).collect();
    if percentiles == Percentiles::Split { remarks } else { vec![remarks.join("  ")] }
}

fn put(line: Option<&LaidLine>, out: &mut StyledLine<'_>, column: usize, widths: &Widths) {
    let Some(line) = line else { return };
    // A remark has the role of its line, unless the line is the main figure.
    let remark = if line.role == Role::Strong { Role::Plain } else { line.role };
    out.at(column, line.role, &pad_left(&line.number, widths.number));
    out.at(column + widths.number + 1, line.role, line.unit);
    out.at(column + widths.remark_at(), remark, &line.remark);
    if let Some(course) = line.course.as_ref().filter(|_| widths.course > 0) {
        out.at(column + widths.course_at(), Role::Course, &sparkline(course, widths.course));
    }
}
