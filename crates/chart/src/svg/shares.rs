//! Time by cause: each row is a bar of parts.

use super::canvas::{Align, Canvas};
use super::ink::Ink;
use super::legend;
use super::measures::{FIGURE, LABEL, PAD_PX, TICK, room_for, widest};
use super::span::{Ends, PixelSpan};
use super::ticks::{self, Way};
use crate::font;
use crate::plot::{Axis, Scale, ShareRow, Shares, Unit};

const BAR_PX: f64 = 24.0;
const ROW_GAP_PX: f64 = 12.0;

struct ShareLayout {
    span: PixelSpan,
    labels_px: f64,
    sums_px: f64,
}

pub(super) fn draw(shares: &Shares, canvas: &mut Canvas, top: f64) -> f64 {
    let top = legend::draw(canvas, &legend::fills(&shares.parts), top);
    let layout = layout(shares, canvas.width);
    let rows: Vec<Vec<String>> = shares
        .rows
        .iter()
        .map(|row| font::wrap(&row.label, LABEL.size, false, layout.labels_px, 3))
        .collect();
    let heights: Vec<f64> =
        rows.iter().map(|lines| (lines.len() as f64 * LABEL.size * 1.25).max(BAR_PX) + ROW_GAP_PX).collect();
    let bottom = top + heights.iter().sum::<f64>().max(ROW_GAP_PX) + ROW_GAP_PX / 2.0;
    // The full length is always 100 %, whatever the unit of the values.
    let axis = Axis { label: shares.axis.label.clone(), unit: Unit::Share, scale: Scale::Linear };
    let ticks = ticks::ticks(&axis, &layout.span, Way::Across);
    ticks::grid_across(canvas, &ticks, &layout.span, (top, bottom));
    let mut y = top + ROW_GAP_PX * 0.25;
    for ((row, lines), height) in shares.rows.iter().zip(&rows).zip(&heights) {
        let middle = y + height / 2.0;
        canvas.lines_mid(PAD_PX + layout.labels_px, middle, Align::End, LABEL, Ink::Text, lines);
        draw_row(shares, row, canvas, &layout, middle);
        y += height;
    }
    canvas.line((layout.span.from, top), (layout.span.from, bottom), Ink::Axis, "");
    ticks::across(canvas, &ticks, &layout.span, bottom)
}

fn layout(shares: &Shares, width: f64) -> ShareLayout {
    let labels_px = widest(shares.rows.iter().map(|row| &row.label), LABEL, width * 0.3);
    let sums: Vec<String> = shares.rows.iter().map(|row| shares.axis.unit.words(row.whole())).collect();
    let sums_px = widest(&sums, FIGURE, width * 0.25);
    let from = PAD_PX + labels_px + 12.0;
    let to = (width - PAD_PX - sums_px - 10.0).max(from + 20.0);
    let span = PixelSpan::over([1.0].into_iter(), Scale::Linear, Ends::AtValues).between(from, to);
    ShareLayout { span, labels_px, sums_px }
}

fn draw_row(shares: &Shares, row: &ShareRow, canvas: &mut Canvas, layout: &ShareLayout, middle: f64) {
    let whole = row.whole();
    let (scale, mut before, mut end) = (1.0 / whole, 0.0, layout.span.from);
    for (index, value) in row.parts().enumerate().filter(|(_, value)| *value > 0.0) {
        let x = layout.span.at(before * scale).unwrap_or(end);
        before += value;
        end = layout.span.at(before * scale).unwrap_or(x);
        let part = shares.parts.get(index).map_or("", String::as_str);
        let share = Unit::Share.words(value / whole);
        let value = format!("{} ({share})", shares.axis.unit.words(value));
        canvas.open_mark(&format!("{}, {part}", row.label), &value);
        let fill = canvas.series_fill(index);
        let seam = if end - x > 3.0 { 1.0 } else { 0.0 };
        canvas.rect((x, middle - BAR_PX / 2.0), ((end - x - seam).max(0.4), BAR_PX), &fill, "");
        inside(canvas, &share, (x, end), middle);
        canvas.close_mark();
    }
    let text = font::fit(&shares.axis.unit.words(whole), FIGURE.size, false, layout.sums_px + 4.0);
    canvas.text_mid(layout.span.to + 8.0, middle, Align::Start, FIGURE, Ink::Text, &text);
}

/// Draws a share inside its part, on a background-coloured rectangle so that no pattern interferes;
/// nothing if it does not fit.
fn inside(canvas: &mut Canvas, text: &str, (from, to): (f64, f64), middle: f64) {
    let width = room_for(text, TICK) + 8.0;
    if to - from < width + 6.0 {
        return;
    }
    let paper = canvas.paint(Ink::Paper);
    let x = f64::midpoint(from, to);
    canvas.rect((x - width / 2.0, middle - 8.0), (width, 16.0), &paper, r#" rx="3" opacity=".92""#);
    canvas.text_mid(x, middle, Align::Middle, TICK, Ink::Text, text);
}
