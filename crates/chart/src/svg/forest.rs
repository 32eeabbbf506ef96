//! Ratios with intervals relative to 1, and their verdicts as text.

use super::canvas::{Align, Canvas, px};
use super::ink::Ink;
use super::marks::{hollow, shape};
use super::measures::{LABEL, PAD_PX, widest};
use super::span::{Ends, PixelSpan};
use super::ticks::{self, Way};
use crate::font;
use crate::plot::{Axis, Forest, ForestRow, RatioVerdict, Scale, Unit, shown};

/// Ratios further from 1 are drawn at the edge.
const FURTHEST: f64 = 1000.0;

/// Texts of a row, wrapped into lines.
struct Texts {
    label: Vec<String>,
    words: Vec<String>,
}

impl Texts {
    fn of(row: &ForestRow, width: f64) -> Self {
        Self {
            label: font::balance(&row.label, LABEL.size, width * 0.26, 3),
            words: font::balance(&row.words, LABEL.size, width * 0.33, 3),
        }
    }

    fn height(&self) -> f64 {
        self.label.len().max(self.words.len()).max(1) as f64 * LABEL.size * 1.25 + 13.0
    }
}

pub(super) fn draw(forest: &Forest, canvas: &mut Canvas, top: f64) -> f64 {
    let rows: Vec<Texts> = forest.rows.iter().map(|row| Texts::of(row, canvas.width)).collect();
    let span = span(forest, &rows, canvas.width);
    let bottom = top + rows.iter().map(Texts::height).sum::<f64>().max(16.0);
    let axis = Axis { label: forest.axis_label.clone(), unit: Unit::Factor, scale: Scale::Log };
    let ticks = ticks::ticks(&axis, &span, Way::Across);
    band(forest, canvas, &span, (top, bottom));
    ticks::grid_across(canvas, &ticks, &span, (top, bottom));
    if let Some(one) = span.at(1.0) {
        canvas.line((one, top), (one, bottom), Ink::Axis, r#" stroke-width="1.4""#);
    }
    let mut y = top;
    for (row, texts) in forest.rows.iter().zip(&rows) {
        let height = texts.height();
        let middle = y + height / 2.0;
        canvas.line((PAD_PX, y + height), (canvas.width - PAD_PX, y + height), Ink::Grid, "");
        canvas.lines_mid(PAD_PX, middle, Align::Start, LABEL, Ink::Text, &texts.label);
        let ink = if row.outcome == RatioVerdict::Open { Ink::Quiet } else { Ink::Text };
        canvas.lines_mid(span.to + 22.0, middle, Align::Start, LABEL, ink, &texts.words);
        canvas.open_mark(&row.label, &row_words(row));
        draw_ratio(row, canvas, &span, middle);
        canvas.close_mark();
        y += height;
    }
    ticks::across(canvas, &ticks, &span, bottom)
}

/// Returns the axis between the labels and the verdicts. It extends equally far on both sides of 1,
/// so that twice as fast appears as far away as half as fast.
fn span(forest: &Forest, rows: &[Texts], width: f64) -> PixelSpan {
    let labels_px = widest(rows.iter().flat_map(|row| &row.label), LABEL, width * 0.27);
    let words_px = widest(rows.iter().flat_map(|row| &row.words), LABEL, width * 0.35);
    let margin =
        if shown(forest.margin).is_some_and(|margin| margin > 0.0) { forest.margin.min(10.0) } else { 0.0 };
    let mut furthest = 1.1_f64.max((1.0 + margin).powf(1.6));
    for (ratio, low, high) in forest.rows.iter().filter_map(|row| row.ratio) {
        for value in [ratio, low, high].into_iter().filter(|value| shown(*value).is_some() && *value > 0.0) {
            furthest = furthest.max(value.max(1.0 / value));
        }
    }
    let furthest = furthest.powf(1.06).min(FURTHEST);
    let from = PAD_PX + labels_px + 22.0;
    let to = (width - PAD_PX - words_px - 22.0).max(from + 20.0);
    PixelSpan::over([1.0 / furthest, furthest].into_iter(), Scale::Log, Ends::AtValues).between(from, to)
}

/// Formats ratio, interval and verdict.
fn row_words(row: &ForestRow) -> String {
    match row.ratio {
        Some((ratio, low, high)) => {
            let words = |value: f64| Unit::Factor.words(value);
            format!("{} ({} – {}): {}", words(ratio), words(low), words(high), row.words)
        }
        None => row.words.clone(),
    }
}

/// Draws the range in which ratios do not matter.
fn band(forest: &Forest, canvas: &mut Canvas, span: &PixelSpan, (top, bottom): (f64, f64)) {
    let margin = forest.margin;
    if !(margin.is_finite() && margin > 0.0) {
        return;
    }
    if let (Some(from), Some(to)) = (span.at(1.0 / (1.0 + margin)), span.at(1.0 + margin)) {
        let fill = canvas.paint(Ink::Band);
        canvas.rect((from, top), (to - from, bottom - top), &fill, "");
    }
}

fn draw_ratio(row: &ForestRow, canvas: &mut Canvas, span: &PixelSpan, y: f64) {
    let Some((ratio, low, high)) = row.ratio else { return };
    let Some(x) = span.at(ratio) else { return };
    let (ink, marker, radius) = match row.outcome {
        RatioVerdict::Better => (Ink::Better, 2, 4.8),
        RatioVerdict::Worse => (Ink::Worse, 4, 4.8),
        RatioVerdict::Same => (Ink::Text, 1, 4.2),
        RatioVerdict::Open => (Ink::Quiet, 0, 4.2),
    };
    let is_open = row.outcome == RatioVerdict::Open;
    let stroke = canvas.paint(ink);
    // An interval without an end extends to the edge.
    let end = |value: f64, edge: f64| if value.is_nan() { x } else { span.at(value).unwrap_or(edge) };
    let (from, to) = (end(low, span.from), end(high, span.to));
    let cap = |at: f64, value: f64, out: f64| {
        if span.holds(value) {
            format!("M{} {}v8", px(at), px(y - 4.0))
        } else {
            format!("M{} {}l{} 4l{} 4", px(at - out), px(y - 4.0), px(out), px(-out))
        }
    };
    let ends = cap(from, low, -4.0) + &cap(to, high, 4.0);
    let dash = if is_open { r#" stroke-dasharray="3 2.5""# } else { "" };
    canvas.raw(&format!(
        r#"<path d="M{} {}H{}" fill="none" stroke="{stroke}" stroke-width="2"{dash}/>"#,
        px(from),
        px(y),
        px(to)
    ));
    canvas.raw(&format!(r#"<path d="{ends}" fill="none" stroke="{stroke}" stroke-width="1.6"/>"#));
    let draw = if is_open { hollow } else { shape };
    draw(canvas, marker, (x, y), radius, ink);
}
