//! A value over two categories: cells with a colour and a number.

use super::canvas::{Align, Canvas, Type};
use super::ink::{Ink, RAMP};
use super::measures::{LABEL, PAD_PX, TICK, inside, room_for, widest};
use super::span::{Ends, PixelSpan};
use super::ticks::label_across;
use crate::font;
use crate::plot::{Heat, Scale, Unit, shown};

const ROW_PX: f64 = 34.0;
const KEY_PX: f64 = 150.0;
/// Font sizes of the numbers in cells, from the largest to the smallest legible one.
const SIZES: [f64; 4] = [12.5, 11.5, 10.5, 9.5];

struct HeatLayout {
    left: f64,
    cell_px: f64,
    shade: PixelSpan,
    number: Option<Type>,
}

pub(super) fn draw(heat: &Heat, canvas: &mut Canvas, top: f64) -> f64 {
    let top = key(heat, canvas, top);
    let layout = layout(heat, canvas.width);
    let label = font::fit(&heat.y_label, LABEL.size, false, canvas.width - 2.0 * PAD_PX);
    let head = if label.is_empty() { top } else { top + 20.0 };
    canvas.text(PAD_PX, head - 8.0, Align::Start, LABEL, Ink::Text, &label);
    for (row, name) in heat.rows.iter().enumerate() {
        let y = head + ROW_PX * row as f64;
        let name = font::fit(name, LABEL.size, false, layout.left - PAD_PX - 10.0);
        canvas.text_mid(layout.left - 10.0, y + ROW_PX / 2.0, Align::End, LABEL, Ink::Text, &name);
        for column in 0..heat.columns.len() {
            cell(heat, canvas, &layout, (row, column), y);
        }
    }
    columns(heat, canvas, &layout, head + ROW_PX * heat.rows.len() as f64)
}

fn values(heat: &Heat) -> impl Iterator<Item = f64> {
    heat.values.iter().flatten().flatten().copied().filter(|value| shown(*value).is_some())
}

/// Returns the colour scale from the lowest to the highest value: a heat map shows differences, so
/// it does not begin at zero.
fn shade(heat: &Heat) -> PixelSpan {
    let span = PixelSpan::over(values(heat), heat.axis.scale, Ends::AtValues).between(0.0, 1.0);
    let low = values(heat).fold(f64::INFINITY, f64::min);
    if heat.axis.scale == Scale::Linear && low < span.high { PixelSpan { low, ..span } } else { span }
}

fn layout(heat: &Heat, width: f64) -> HeatLayout {
    let left = PAD_PX + widest(&heat.rows, LABEL, width * 0.3) + 10.0;
    let cell_px = ((width - PAD_PX - left) / heat.columns.len().max(1) as f64).clamp(0.5, 160.0);
    let widest = |size: f64| {
        let kind = Type { size, strong: false };
        widest(values(heat).map(|value| number(heat, value)), kind, 1e6)
    };
    let size = SIZES.into_iter().find(|size| widest(*size) + 6.0 <= cell_px);
    HeatLayout { left, cell_px, shade: shade(heat), number: size.map(|size| Type { size, strong: false }) }
}

/// Formats the number in a cell, without its unit if all cells have the same one, because the key
/// shows it.
fn number(heat: &Heat, value: f64) -> String {
    let figure = heat.axis.unit.words(value);
    match heat.axis.unit {
        Unit::Rate | Unit::Iops | Unit::Factor | Unit::Share => {
            figure.rsplit_once(' ').map_or(figure.clone(), |(number, _)| number.to_owned())
        }
        _ => figure,
    }
}

fn cell(heat: &Heat, canvas: &mut Canvas, layout: &HeatLayout, (row, column): (usize, usize), y: f64) {
    let x = layout.left + layout.cell_px * column as f64;
    let gap = if layout.cell_px > 8.0 { 2.0 } else { 0.0 };
    let (corner, size) = ((x, y), (layout.cell_px - gap, ROW_PX - 2.0));
    let value = heat.values.get(row).and_then(|row| row.get(column)).copied().flatten();
    let label = format!("{}, {}", heat.rows[row], heat.columns[column]);
    let Some((value, at)) = value.and_then(|value| Some((value, layout.shade.at(value)?))) else {
        canvas.open_mark(&label, "–");
        let fill = canvas.missing_fill();
        canvas.rect(corner, size, &fill, r#" rx="2""#);
        canvas.close_mark();
        return;
    };
    let step = Ink::ramp(at);
    canvas.open_mark(&label, &heat.axis.unit.words(value));
    let fill = canvas.paint(Ink::Ramp(step));
    canvas.rect(corner, size, &fill, r#" rx="2""#);
    if let Some(kind) = layout.number {
        let middle = (x + size.0 / 2.0, y + size.1 / 2.0);
        canvas.text_mid(middle.0, middle.1, Align::Middle, kind, Ink::OnRamp(step), &number(heat, value));
    }
    canvas.close_mark();
}

/// Draws as many column names as fit, and returns their lower edge.
fn columns(heat: &Heat, canvas: &mut Canvas, layout: &HeatLayout, top: f64) -> f64 {
    let most = (layout.cell_px - 4.0).max(48.0);
    let names: Vec<String> =
        heat.columns.iter().map(|name| font::fit(name, TICK.size, false, most)).collect();
    let every = (widest(&names, TICK, most) + 8.0) / layout.cell_px;
    let every = (every.ceil() as usize).max(1);
    for (index, name) in names.iter().enumerate().step_by(every) {
        let middle = layout.left + layout.cell_px * (index as f64 + 0.5) - 1.0;
        let middle = inside(canvas.width, 2.0, name, TICK, middle);
        canvas.text(middle, top + 15.0, Align::Middle, TICK, Ink::Text, name);
    }
    let middle = layout.left + layout.cell_px * heat.columns.len() as f64 / 2.0;
    top + if label_across(canvas, &heat.x_label, middle, top + 36.0) { 41.0 } else { 20.0 }
}

/// Draws the colour key from the lowest to the highest value, and returns its lower edge.
fn key(heat: &Heat, canvas: &mut Canvas, top: f64) -> f64 {
    let (low, high) =
        values(heat).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    let room = canvas.width - 2.0 * PAD_PX;
    let middle = top + 9.0;
    let label = font::fit(&heat.axis.label, LABEL.size, false, room * 0.4);
    canvas.text_mid(PAD_PX, middle, Align::Start, LABEL, Ink::Text, &label);
    if low > high {
        return top + 28.0;
    }
    let mut x = PAD_PX + if label.is_empty() { 0.0 } else { room_for(&label, LABEL) + 14.0 };
    let ramp_px = KEY_PX.min(room * 0.25);
    let (low, high) = (heat.axis.unit.words(low), heat.axis.unit.words(high));
    let half = ((canvas.width - PAD_PX - x - ramp_px - 16.0) / 2.0).max(0.0);
    let (low, high) = (font::fit(&low, TICK.size, false, half), font::fit(&high, TICK.size, false, half));
    canvas.text_mid(x, middle, Align::Start, TICK, Ink::Quiet, &low);
    x += room_for(&low, TICK) + 8.0;
    let step_px = ramp_px / f64::from(RAMP);
    for step in 0..RAMP {
        let fill = canvas.paint(Ink::Ramp(step));
        canvas.rect((x + step_px * f64::from(step), middle - 6.0), (step_px + 0.5, 12.0), &fill, "");
    }
    canvas.text_mid(x + ramp_px + 8.0, middle, Align::Start, TICK, Ink::Quiet, &high);
    top + 32.0
}
