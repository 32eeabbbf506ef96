//! Lines and dots over a position, a time, a size, a depth or a percentile, with annotations.

use super::canvas::{Align, Canvas, px};
use super::ink::Ink;
use super::legend::{self, Looks, Swatch};
use super::marks::{dash, marker};
use super::measures::{LABEL, PAD_PX, TICK, room_for};
use super::span::{Ends, PixelSpan};
use super::thin;
use super::ticks::{self, Ticks, Way};
use crate::font;
use crate::plot::{Axis, ChartLine, LineStyle, Lines, Mark, shown};
use std::fmt::Write as _;

/// Up to this many points, each may have a marker and a tooltip.
const FEW: usize = 80;
/// A line with more points than pixels divided by this has no dashes, because they would look like
/// data.
const DENSE_PX: f64 = 4.0;
/// Number of strips of the horizontal axis that have a tooltip.
const STRIPS: usize = 48;
/// Rows of labels above the plot.
const LANES: usize = 6;
const LANE_PX: f64 = 17.0;

/// Axes and edges of the plot.
struct Frame {
    x: PixelSpan,
    x_ticks: Ticks,
    left: (PixelSpan, Ticks),
    right: Option<(PixelSpan, Ticks)>,
    top: f64,
    bottom: f64,
}

impl Frame {
    fn places<'a>(&'a self, line: &'a ChartLine) -> impl Iterator<Item = thin::PixelPoint> + 'a {
        let (span, _) = self.right.as_ref().filter(|_| line.at_right).unwrap_or(&self.left);
        line.points.iter().map(move |(x, y)| Some((self.x.at(*x)?, span.at(*y)?)))
    }
}

/// A labelled vertical line: position, text, start of the text, and row of the label.
struct Rule<'a> {
    x: f64,
    mark: &'a Mark,
    words: String,
    from: f64,
    width: f64,
    lane: Option<usize>,
}

pub(super) fn draw(lines: &Lines, canvas: &mut Canvas, top: f64) -> f64 {
    let mut frame = frame(lines, canvas.width);
    let top = legend::draw(canvas, &entries(lines, &frame), top);
    let labels = if lines.y.label.is_empty() && lines.right.is_none() { top + 6.0 } else { top + 28.0 };
    let rules = rules(lines, &frame, canvas.width);
    let lanes = rules.iter().filter_map(|rule| rule.lane).max().map_or(0, |lane| lane + 1);
    frame.top = labels + lanes as f64 * LANE_PX + if lanes > 0 { 6.0 } else { 0.0 };
    frame.bottom = frame.top + canvas.plot_px.unwrap_or_else(|| height(canvas.width));
    for (span, _) in std::iter::once(&mut frame.left).chain(&mut frame.right) {
        *span = span.between(frame.bottom, frame.top);
    }
    axis_labels(canvas, &frame, top + 12.0);
    stretches(lines, canvas, &frame);
    grid(canvas, &frame);
    for (index, line) in lines.lines.iter().enumerate() {
        draw_line(lines, line, canvas, &frame, index);
    }
    draw_rules(lines, canvas, &frame, &rules);
    strips(lines, canvas, &frame);
    ticks::across(canvas, &frame.x_ticks, &frame.x, frame.bottom)
}

/// Returns the height of the plot, if it is not specified.
pub(super) fn height(width: f64) -> f64 {
    (width * 0.36).clamp(180.0, 360.0)
}

/// Returns the legend entries: the lines, and the ranges if they all have the same label.
fn entries(lines: &Lines, frame: &Frame) -> Vec<(Swatch, String)> {
    let is_nameless = matches!(lines.lines.as_slice(), [only] if only.name.is_empty());
    let named = lines.lines.iter().enumerate().filter(|_| !is_nameless);
    let swatch = |(index, line)| Swatch::Line(index, looks(lines, line, frame));
    let mut entries: Vec<_> = named.map(|named| (swatch(named), named.1.name.clone())).collect();
    if let Some(first) = lines.stretches.first().filter(|first| !first.label.is_empty())
        && lines.stretches.iter().all(|stretch| stretch.label == first.label)
    {
        entries.push((Swatch::Stall, first.label.clone()));
    }
    entries
}

/// Returns whether the points of a line are so dense that dashes would look like data.
fn is_dense(line: &ChartLine, frame: &Frame) -> bool {
    let shown = line.points.iter().filter(|(x, y)| shown(*x).is_some() && shown(*y).is_some()).count();
    shown as f64 > (frame.x.to - frame.x.from) / DENSE_PX
}

/// Returns the style of a line: solid with occasional markers if it has many points, otherwise
/// dashed.
fn looks(lines: &Lines, line: &ChartLine, frame: &Frame) -> Looks {
    let dense = is_dense(line, frame);
    let few = line.points.len() <= FEW;
    Looks {
        joined: line.style != LineStyle::Dots,
        dashed: !dense,
        marked: match line.style {
            LineStyle::Dots => few,
            LineStyle::Marked if few => true,
            _ => dense && lines.lines.len() > 1,
        },
    }
}

fn frame(lines: &Lines, width: f64) -> Frame {
    let of = |right: bool| {
        let chosen = lines.lines.iter().filter(move |line| (line.at_right && lines.right.is_some()) == right);
        chosen.flat_map(|line| line.points.iter().map(|point| point.1))
    };
    let height = height(width);
    let upright = |axis: &Axis, right: bool| {
        let span = PixelSpan::over(of(right), axis.scale, Ends::Round).between(height, 0.0);
        let mut ticks = ticks::ticks(axis, &span, Way::Up);
        let gutter = ticks::gutter(&mut ticks, width * 0.2) + 8.0;
        ((span, ticks), gutter)
    };
    let (left, left_px) = upright(&lines.y, false);
    let (right, right_px) = lines.right.as_ref().map(|axis| upright(axis, true)).unzip();
    let from = PAD_PX + left_px;
    let to = (width - PAD_PX - right_px.unwrap_or(14.0)).max(from + 20.0);
    let places = || lines.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0));
    let marks =
        lines.marks.iter().map(|mark| mark.x).chain(lines.stretches.iter().flat_map(|s| [s.from, s.to]));
    let x = if places().any(|place| shown(place).is_some()) {
        PixelSpan::over(places(), lines.x.scale, Ends::AtValues)
    } else {
        PixelSpan::over(marks, lines.x.scale, Ends::AtValues)
    };
    let x = x.between(from, to);
    let x_ticks = ticks::ticks(&lines.x, &x, Way::Across);
    Frame { x, x_ticks, left, right, top: 0.0, bottom: height }
}

/// Draws the labels of the vertical axes above them: rotated text is hard to read, Japanese in
/// particular.
fn axis_labels(canvas: &mut Canvas, frame: &Frame, y: f64) {
    let room = canvas.width - 2.0 * PAD_PX;
    let room = if frame.right.is_some() { room / 2.0 - 10.0 } else { room };
    let left = font::fit(&frame.left.1.label, LABEL.size, false, room);
    canvas.text(PAD_PX, y, Align::Start, LABEL, Ink::Text, &left);
    if let Some((_, ticks)) = &frame.right {
        let right = font::fit(&ticks.label, LABEL.size, false, room);
        canvas.text(canvas.width - PAD_PX, y, Align::End, LABEL, Ink::Text, &right);
    }
}

fn grid(canvas: &mut Canvas, frame: &Frame) {
    ticks::grid_across(canvas, &frame.x_ticks, &frame.x, (frame.top, frame.bottom));
    let (span, ticks) = &frame.left;
    for y in ticks.minor.iter().filter_map(|value| span.at(*value)) {
        canvas.line((frame.x.from, y), (frame.x.to, y), Ink::Grid, r#" stroke-width=".5""#);
    }
    for tick in &ticks.ticks {
        let Some(y) = span.at(tick.value) else { continue };
        canvas.line((frame.x.from, y), (frame.x.to, y), Ink::Grid, "");
        canvas.text_mid(frame.x.from - 7.0, y, Align::End, TICK, Ink::Quiet, &tick.words);
    }
    let Some((span, ticks)) = &frame.right else { return };
    canvas.line((frame.x.to, frame.top), (frame.x.to, frame.bottom), Ink::Axis, "");
    for tick in &ticks.ticks {
        let Some(y) = span.at(tick.value) else { continue };
        canvas.line((frame.x.to, y), (frame.x.to + 4.0, y), Ink::Axis, "");
        canvas.text_mid(frame.x.to + 7.0, y, Align::Start, TICK, Ink::Quiet, &tick.words);
    }
}

fn stretches(lines: &Lines, canvas: &mut Canvas, frame: &Frame) {
    for stretch in &lines.stretches {
        let (Some(from), Some(to)) = (frame.x.at(stretch.from), frame.x.at(stretch.to)) else { continue };
        let (from, to) = (from.min(to), from.max(to));
        let between = format!("{} – {}", lines.x.words(stretch.from), lines.x.words(stretch.to));
        canvas.open_mark(&stretch.label, &between);
        let fill = canvas.paint(Ink::Stall);
        // Even the shortest stall must be visible.
        canvas.rect((from, frame.top), ((to - from).max(1.5), frame.bottom - frame.top), &fill, "");
        canvas.close_mark();
    }
}

fn draw_line(lines: &Lines, line: &ChartLine, canvas: &mut Canvas, frame: &Frame, index: usize) {
    let few = line.points.len() <= FEW;
    if line.style == LineStyle::Dots {
        if !few {
            let mut path = String::new();
            for (x, y) in thin::dots(frame.places(line)) {
                let _ = write!(path, "M{} {}h.1", px(x), px(y));
            }
            let more = r#" stroke-width="2.4" stroke-linecap="round" opacity=".75""#;
            canvas.stroke(&path, Ink::series(index), more);
        }
    } else {
        let pieces = thin::pieces(frame.places(line));
        let dense = is_dense(line, frame);
        let (width, parts, dashes) =
            if dense { ("1.2", 1.0, String::new()) } else { ("2", 10.0, dash(index)) };
        let steps = line.style == LineStyle::Steps && !dense;
        let path: String = pieces.iter().map(|piece| path(piece, steps, parts)).collect();
        let more =
            format!(r#" stroke-width="{width}" stroke-linejoin="round" stroke-linecap="round"{dashes}"#);
        canvas.stroke(&path, Ink::series(index), &more);
        if dense && lines.lines.len() > 1 {
            landmarks(canvas, &pieces, index);
        }
    }
    if few && matches!(line.style, LineStyle::Dots | LineStyle::Marked) {
        markers(lines, line, canvas, frame, index);
    }
}

/// Returns the path of a piece, rounded to fractions of a pixel. Steps go horizontally first, then
/// vertically.
fn path(piece: &[(f64, f64)], steps: bool, parts: f64) -> String {
    let mut out = String::new();
    let mut last = (0.0, 0.0);
    // Round first, so that the errors of relative moves do not accumulate.
    let rounded = |value: f64| (value * parts).round() / parts;
    for (index, (x, y)) in piece.iter().map(|(x, y)| (rounded(*x), rounded(*y))).enumerate() {
        let (dx, dy) = (px(x - last.0), px(y - last.1));
        let _ = match (index, steps) {
            (0, _) => write!(out, "M{} {}", px(x), px(y)),
            (_, true) => write!(out, "h{dx}v{dy}"),
            (1, _) => write!(out, "l{dx} {dy}"),
            // The command letter applies to all following pairs.
            _ => write!(out, " {dx} {dy}"),
        };
        last = (x, y);
    }
    // A single point is a dot.
    if piece.len() == 1 { out + "h.1" } else { out }
}

/// Draws occasional markers on a dense line, so that it is distinguishable without colour.
fn landmarks(canvas: &mut Canvas, pieces: &[Vec<(f64, f64)>], index: usize) {
    let mut next = f64::NEG_INFINITY;
    for (x, y) in pieces.iter().flatten() {
        if next == f64::NEG_INFINITY {
            next = x + 20.0 + 23.0 * (index % 5) as f64;
        }
        if *x >= next {
            marker(canvas, index, (*x, *y), 3.4);
            next = x + 130.0;
        }
    }
}

fn markers(lines: &Lines, line: &ChartLine, canvas: &mut Canvas, frame: &Frame, index: usize) {
    let axis = lines.axis_of(line);
    for ((x, y), point) in line.points.iter().zip(frame.places(line)) {
        let Some(point) = point else { continue };
        let at = lines.x.words(*x);
        let label = if line.name.is_empty() { at } else { format!("{}, {at}", line.name) };
        canvas.open_mark(&label, &axis.unit.words(*y));
        marker(canvas, index, point, 3.6);
        canvas.close_mark();
    }
}

/// Places labelled vertical lines, each label in the lowest row without a conflict.
fn rules<'a>(lines: &'a Lines, frame: &Frame, width: f64) -> Vec<Rule<'a>> {
    let most = ((frame.x.to - frame.x.from) * 0.6).min(320.0);
    let mut rules: Vec<Rule> = lines
        .marks
        .iter()
        .filter(|mark| frame.x.holds(mark.x))
        .filter_map(|mark| {
            let x = frame.x.at(mark.x)?;
            let words = font::fit(&mark.label, TICK.size, false, most);
            let room = room_for(&words, TICK);
            let from = (x + 5.0).min(width - PAD_PX / 2.0 - room);
            Some(Rule { x, mark, words, from, width: room, lane: None })
        })
        .collect();
    rules.sort_by(|a, b| b.x.total_cmp(&a.x));
    for index in 0..rules.len() {
        let (placed, rest) = rules.split_at_mut(index);
        let Some(rule) = rest.first_mut().filter(|rule| !rule.words.is_empty()) else { continue };
        let (from, to) = (rule.from - 6.0, rule.from + rule.width + 6.0);
        let meets = |other: &&Rule| {
            (other.x >= from && other.x <= to) || (other.from < to && other.from + other.width > from)
        };
        // Place it above every label with which it would collide.
        let lane =
            placed.iter().filter(meets).filter_map(|other| other.lane).max().map_or(0, |lane| lane + 1);
        rule.lane = (lane < LANES).then_some(lane);
    }
    rules
}

fn draw_rules(lines: &Lines, canvas: &mut Canvas, frame: &Frame, rules: &[Rule]) {
    for rule in rules {
        canvas.open_mark(&rule.mark.label, &lines.x.words(rule.mark.x));
        let lane = |lane: usize| frame.top - 6.0 - LANE_PX * (lane as f64 + 0.5);
        let top = rule.lane.map_or(frame.top, |at| lane(at) - 6.0);
        canvas.line(
            (rule.x, top),
            (rule.x, frame.bottom),
            Ink::Text,
            r#" stroke-width="1.2" stroke-dasharray="4 3" opacity=".8""#,
        );
        if let Some(at) = rule.lane {
            canvas.text_mid(rule.from, lane(at), Align::Start, TICK, Ink::Text, &rule.words);
        }
        canvas.close_mark();
    }
}

/// Draws invisible strips over lines of many points, with the lowest and the highest value as
/// tooltip.
fn strips(lines: &Lines, canvas: &mut Canvas, frame: &Frame) {
    let many = |line: &&ChartLine| {
        line.points.len() > FEW || matches!(line.style, LineStyle::Joined | LineStyle::Steps)
    };
    let chosen: Vec<&ChartLine> = lines.lines.iter().filter(many).take(4).collect();
    let step = (frame.x.to - frame.x.from) / STRIPS as f64;
    if chosen.is_empty() || step <= 0.0 {
        return;
    }
    let mut strips: Vec<Vec<Option<StripExtent>>> = vec![vec![None; chosen.len()]; STRIPS];
    for (index, line) in chosen.iter().enumerate() {
        for (x, y) in &line.points {
            let (Some(x_px), Some(y)) = (frame.x.at(*x), shown(*y)) else { continue };
            let strip = (((x_px - frame.x.from) / step) as usize).min(STRIPS - 1);
            let range = strips[strip][index].get_or_insert(StripExtent { from: *x, to: *x, low: y, high: y });
            *range = StripExtent {
                from: range.from.min(*x),
                to: range.to.max(*x),
                low: range.low.min(y),
                high: range.high.max(y),
            };
        }
    }
    let paper = canvas.paint(Ink::Paper);
    for (strip, ranges) in strips.iter().enumerate().filter(|(_, ranges)| ranges.iter().any(Option::is_some))
    {
        let all = || ranges.iter().flatten();
        let (from, to) =
            all().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), r| (a.min(r.from), b.max(r.to)));
        let range = between(&lines.x, from, to);
        let values: Vec<String> = chosen
            .iter()
            .zip(ranges)
            .filter_map(|(line, range)| {
                let words = between(lines.axis_of(line), range.as_ref()?.low, range.as_ref()?.high);
                Some(if line.name.is_empty() { words } else { format!("{} {words}", line.name) })
            })
            .collect();
        canvas.open_mark(&range, &values.join(", "));
        let x = frame.x.from + step * strip as f64;
        canvas.rect((x, frame.top), (step, frame.bottom - frame.top), &paper, r#" fill-opacity="0""#);
        canvas.close_mark();
    }
}

/// Extremes of the points in a strip.
#[derive(Clone, Debug)]
struct StripExtent {
    from: f64,
    to: f64,
    low: f64,
    high: f64,
}

fn between(axis: &Axis, low: f64, high: f64) -> String {
    let (low, high) = (axis.unit.words(low), axis.unit.words(high));
    if low == high { low } else { format!("{low} – {high}") }
}
