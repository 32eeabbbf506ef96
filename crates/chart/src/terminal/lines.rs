//! Lines and dots over an axis.

use super::braille::Canvas;
use super::row::{Ink, InkedLine, letter, widest};
use super::ticks::TickedAxis;
use crate::plot::{ChartLine, LineStyle, Lines};
use crate::svg::ticks::Way;
use kurabe_core::display::{clip, display_width, pad_left};

const LEAST_LINES: usize = 10;
const MOST_LINES: usize = 18;
/// Number of letters along a line without other signs, so that it is distinguishable from others.
const LETTERS: usize = 3;

/// Typical width in columns of the labels next to the plot.
const USUAL_GUTTERS: usize = 14;

/// The axes of the plot.
struct ScaledCanvas {
    x: TickedAxis,
    left: TickedAxis,
    right: Option<TickedAxis>,
}

pub(super) fn draw(lines: &Lines, width: usize) -> Vec<InkedLine> {
    let height = (width / 6).clamp(LEAST_LINES, MOST_LINES);
    let Some(drawing) = ScaledCanvas::of(lines, width, height) else { return Vec::new() };
    let left = labels(&drawing.left, height);
    let right = drawing.right.as_ref().map(|range| labels(range, height));
    let left_width = widest(left.iter());
    let right_width = right.as_deref().map_or(0, |labels| widest(labels.iter()) + 2);
    let columns = width.saturating_sub(2 + left_width + 2 + right_width).max(10);
    let mut canvas = Canvas::new(columns, height);
    for stretch in &lines.stretches {
        if let (Some(from), Some(to)) = (drawing.x.share(stretch.from), drawing.x.share(stretch.to)) {
            canvas.shade(from, to);
        }
    }
    for mark in &lines.marks {
        if let Some(at) = drawing.x.share(mark.x) {
            canvas.rule(at);
        }
    }
    let alone = lines.lines.len() == 1;
    for (index, line) in lines.lines.iter().enumerate() {
        let points = placed(line, &drawing);
        put_line(&mut canvas, line.style, &points, index);
        if !alone {
            put_letters(&mut canvas, &points, index, lines.lines.len());
        }
    }
    let mut rows = vec![axis_names(&drawing, width)];
    for line in 0..height {
        let mut row = InkedLine::indented(Ink::Quiet, &pad_left(&left[line], left_width));
        row.put(Ink::Quiet, if left[line].is_empty() { " │" } else { " ┤" });
        canvas.put_line(line, &mut row);
        if let Some(right) = &right {
            row.put(Ink::Quiet, if right[line].is_empty() { "│" } else { "├ " });
            row.put(Ink::Quiet, &right[line]);
        }
        rows.push(row);
    }
    rows.extend(below(&drawing.x, 2 + left_width + 2, columns));
    rows.extend(legend(lines, alone));
    rows
}

impl ScaledCanvas {
    fn of(lines: &Lines, width: usize, height: usize) -> Option<Self> {
        let of = |at_right: bool| {
            let of_side = lines.lines.iter().filter(move |line| line.at_right == at_right);
            of_side.flat_map(|line| &line.points).map(|point| point.1)
        };
        // A mark outside the lines does not extend the axis; a range does, because it is part of
        // the data.
        let xs = lines.lines.iter().flat_map(|line| &line.points).map(|point| point.0);
        let xs = xs.chain(lines.stretches.iter().map(|stretch| stretch.to));
        let x = TickedAxis::of(&lines.x, xs, Way::Across, width.saturating_sub(USUAL_GUTTERS))?;
        let up = |axis, at_right| TickedAxis::of(axis, of(at_right), Way::Up, height);
        let right = || up(lines.right.as_ref()?, true);
        // If every line refers to the right axis, the left axis shows the same values.
        let (left, right) = (up(&lines.y, false).or_else(right)?, right());
        Some(Self { x, left, right })
    }
}

/// Returns the label of each line of the axis, from the top.
fn labels(range: &TickedAxis, height: usize) -> Vec<String> {
    let mut labels = vec![String::new(); height];
    for (share, words) in range.ticks() {
        let line = ((1.0 - share) * (height - 1) as f64).round() as usize;
        words.clone_into(&mut labels[line.min(height - 1)]);
    }
    labels
}

/// Returns the points of a line as relative positions in the plot; gaps are `None`.
fn placed(line: &ChartLine, drawing: &ScaledCanvas) -> Vec<Option<(f64, f64)>> {
    let range = drawing.right.as_ref().filter(|_| line.at_right).unwrap_or(&drawing.left);
    line.points.iter().map(|(x, y)| Some((drawing.x.share(*x)?, range.share(*y)?))).collect()
}

/// Draws a line; a stepped line ends at the last point before a gap.
fn put_line(canvas: &mut Canvas, style: LineStyle, points: &[Option<(f64, f64)>], series: usize) {
    for (index, point) in points.iter().enumerate() {
        let Some(point) = *point else { continue };
        canvas.point(point, series);
        let Some(Some(next)) = points.get(index + 1).copied() else { continue };
        match style {
            LineStyle::Dots => {}
            LineStyle::Joined | LineStyle::Marked => canvas.line(point, next, series),
            LineStyle::Steps => {
                canvas.line(point, (next.0, point.1), series);
                canvas.line((next.0, point.1), next, series);
            }
        }
    }
    if style == LineStyle::Marked {
        points.iter().flatten().for_each(|point| canvas.sign(*point, '●', series));
    }
}

/// Draws letters along a line, at different positions for each line.
fn put_letters(canvas: &mut Canvas, points: &[Option<(f64, f64)>], series: usize, of: usize) {
    let points: Vec<(f64, f64)> = points.iter().flatten().copied().collect();
    for place in 0..LETTERS {
        let share = (place as f64 + (series as f64 + 0.5) / of as f64) / LETTERS as f64;
        if let Some(point) = points.get((share * points.len() as f64) as usize) {
            canvas.sign(*point, letter(series), series);
        }
    }
}

/// Returns the labels of the vertical axes, the left one on the left and the right one on the
/// right.
fn axis_names(drawing: &ScaledCanvas, width: usize) -> InkedLine {
    let mut row = InkedLine::indented(Ink::Quiet, &clip(&drawing.left.ticks.label, width / 2));
    if let Some(right) = &drawing.right {
        let label = clip(&right.ticks.label, width / 3);
        row.pad_to(width.saturating_sub(display_width(&label)));
        row.put(Ink::Quiet, &label);
    }
    row
}

/// Returns the horizontal axis: its line, its numbers, its label.
fn below(range: &TickedAxis, start: usize, columns: usize) -> Vec<InkedLine> {
    let mut rule = vec!['─'; columns];
    let mut words = InkedLine::default();
    words.pad_to(start);
    for (share, name) in range.ticks() {
        let column = ((share * (columns - 1) as f64).round() as usize).min(columns - 1);
        // Centred below its tick, but within the plot, and at a distance from the previous number.
        let wide = display_width(name);
        let most = (start + columns).saturating_sub(wide).max(start);
        let at = (start + column).saturating_sub(wide / 2).clamp(start, most);
        if words.width > start && at < words.width + 2 {
            continue;
        }
        rule[column] = '┬';
        words.pad_to(at);
        words.put(Ink::Quiet, name);
    }
    let line = InkedLine::of(Ink::Plain, &" ".repeat(start - 1)).and(Ink::Quiet, "└");
    let line = line.and(Ink::Quiet, &rule.iter().collect::<String>());
    let mut name = InkedLine::default();
    name.pad_to((start + columns).saturating_sub(display_width(&range.ticks.label)).max(start));
    name.put(Ink::Quiet, &range.ticks.label);
    vec![line, words, name]
}

fn legend(lines: &Lines, alone: bool) -> Vec<InkedLine> {
    let mut rows = Vec::new();
    for (index, line) in lines.lines.iter().enumerate() {
        if alone && lines.right.is_none() {
            continue;
        }
        let sign = if alone { '─' } else { letter(index) };
        let mut row = InkedLine::key(index, &format!("{sign} "), &line.name);
        if let Some(axis) = lines.right.as_ref().filter(|_| line.at_right) {
            row.put(Ink::Quiet, &format!(" → {}", axis.label));
        }
        rows.push(row);
    }
    for mark in &lines.marks {
        let at = lines.x.words(mark.x);
        rows.push(InkedLine::indented(Ink::Quiet, &format!("┊ {at}: ")).and(Ink::Plain, &mark.label));
    }
    rows
}
