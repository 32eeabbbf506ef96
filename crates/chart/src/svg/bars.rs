//! Grouped bars with intervals: one group per cell, one bar per run.

use super::canvas::{Align, Canvas, Type, px};
use super::ink::Ink;
use super::legend;
use super::measures::{FIGURE, LABEL, PAD_PX, room_for, widest};
use super::span::{Ends, PixelSpan};
use super::ticks::{self, Way};
use crate::font;
use crate::plot::{Bar, BarGroup, Bars, shown};

const GROUP_GAP_PX: f64 = 14.0;
/// Text for a series without a value.
const NONE: &str = "–";

/// Positions and sizes common to all groups.
struct BarLayout {
    span: PixelSpan,
    bar_px: f64,
    labels_px: f64,
    figure: Type,
}

impl BarLayout {
    /// Returns the position at which bars begin.
    fn zero(&self) -> f64 {
        self.span.at(0.0).unwrap_or(self.span.from)
    }
}

pub(super) fn draw(bars: &Bars, canvas: &mut Canvas, top: f64) -> f64 {
    let top = legend::draw(canvas, &legend::fills(&bars.series), top);
    let layout = layout(bars, canvas.width);
    let heights: Vec<f64> = bars.groups.iter().map(|group| group_height(group, &layout)).collect();
    let bottom = top + heights.iter().map(|height| height + GROUP_GAP_PX).sum::<f64>() + GROUP_GAP_PX / 2.0;
    let ticks = ticks::ticks(&bars.axis, &layout.span, Way::Across);
    ticks::grid_across(canvas, &ticks, &layout.span, (top, bottom));
    let mut y = top + GROUP_GAP_PX * 0.75;
    for (group, height) in bars.groups.iter().zip(&heights) {
        draw_group(bars, group, canvas, &layout, (y, *height));
        y += height + GROUP_GAP_PX;
    }
    let zero = layout.zero();
    canvas.line((zero, top), (zero, bottom), Ink::Axis, "");
    ticks::across(canvas, &ticks, &layout.span, bottom)
}

fn layout(bars: &Bars, width: f64) -> BarLayout {
    let series = bars.groups.iter().map(|group| group.bars.len()).max().unwrap_or(0).max(1);
    let bar_px = match series {
        1 => 20.0,
        2 | 3 => 17.0,
        4..=8 => 14.0,
        _ => 11.0,
    };
    let figure = Type { size: FIGURE.size.min(bar_px - 1.0).max(9.5), ..FIGURE };
    let all_bars = || bars.groups.iter().flat_map(|group| group.bars.iter().flatten());
    let values = all_bars().flat_map(|bar| [bar.value, drawn_ends(bar).0, drawn_ends(bar).1]);
    let labels_px = widest(bars.groups.iter().map(|group| &group.label), LABEL, width * 0.32);
    let figures: Vec<String> = all_bars().map(|bar| bars.axis.unit.words(bar.value)).collect();
    let figures_px = widest(figures.iter().map(String::as_str).chain([NONE]), figure, width * 0.3);
    let from = PAD_PX + if labels_px > 0.0 { labels_px + 12.0 } else { 0.0 };
    let to = (width - PAD_PX - figures_px - 8.0).max(from + 20.0);
    let span = PixelSpan::over(values, bars.axis.scale, Ends::AtValues).between(from, to);
    BarLayout { span, bar_px, labels_px, figure }
}

/// Returns the ends of the interval, or the value itself if there is none.
fn ends(bar: &Bar) -> (f64, f64) {
    let ends = bar.interval.and_then(|(low, high)| Some((shown(low)?, shown(high)?)));
    ends.unwrap_or((bar.value, bar.value))
}

/// Returns the ends as drawn. The quantities drawn as bars (rates, times) are never negative,
/// whatever the computed interval; an axis below zero would show impossible values.
fn drawn_ends(bar: &Bar) -> (f64, f64) {
    let (low, high) = ends(bar);
    if bar.value >= 0.0 { (low.max(0.0), high) } else { (low, high) }
}

fn group_height(group: &BarGroup, layout: &BarLayout) -> f64 {
    let lines = font::wrap(&group.label, LABEL.size, false, layout.labels_px, 3).len();
    let bars = group.bars.len().max(1) as f64 * (layout.bar_px + 3.0) - 3.0;
    bars.max(lines as f64 * LABEL.size * 1.25)
}

fn draw_group(
    bars: &Bars,
    group: &BarGroup,
    canvas: &mut Canvas,
    layout: &BarLayout,
    (top, height): (f64, f64),
) {
    let lines = font::wrap(&group.label, LABEL.size, false, layout.labels_px, 3);
    let middle = top + height / 2.0;
    canvas.lines_mid(PAD_PX + layout.labels_px, middle, Align::End, LABEL, Ink::Text, &lines);
    let used = group.bars.len().max(1) as f64 * (layout.bar_px + 3.0) - 3.0;
    let mut y = top + (height - used) / 2.0;
    for (index, bar) in group.bars.iter().enumerate() {
        let name = bars.series.get(index).map_or("", String::as_str);
        let label = if name.is_empty() { group.label.clone() } else { format!("{}, {name}", group.label) };
        match bar {
            Some(bar) if shown(bar.value).is_some() => {
                let value = words(bars, bar);
                canvas.open_mark(&label, &value);
                draw_bar(bars, bar, canvas, layout, (index, y));
                canvas.close_mark();
            }
            _ => {
                canvas.text_mid(
                    layout.zero() + 6.0,
                    y + layout.bar_px / 2.0,
                    Align::Start,
                    layout.figure,
                    Ink::Quiet,
                    NONE,
                );
            }
        }
        y += layout.bar_px + 3.0;
    }
}

/// Formats value and interval.
fn words(bars: &Bars, bar: &Bar) -> String {
    let value = bars.axis.unit.words(bar.value);
    match bar.interval {
        Some((low, high)) if low.is_finite() && high.is_finite() => {
            format!("{value} ({} – {})", bars.axis.unit.words(low), bars.axis.unit.words(high))
        }
        _ => value,
    }
}

fn draw_bar(bars: &Bars, bar: &Bar, canvas: &mut Canvas, layout: &BarLayout, (index, y): (usize, f64)) {
    let zero = layout.zero();
    let end = layout.span.at(bar.value).unwrap_or(zero);
    let (left, right) = (zero.min(end), zero.max(end));
    let fill = canvas.series_fill(index);
    canvas.rect((left, y), ((right - left).max(1.0), layout.bar_px), &fill, r#" rx="1.5""#);
    let middle = y + layout.bar_px / 2.0;
    let mut reach = right;
    if bar.interval.is_some() {
        let (low, high) = drawn_ends(bar);
        let at = |value: f64| layout.span.at(value).unwrap_or(end);
        let cut = low > ends(bar).0;
        whisker(canvas, (at(low), at(high)), middle, (layout.bar_px * 0.26).min(4.5), cut);
        reach = reach.max(at(high));
    }
    let room = (canvas.width - PAD_PX / 2.0 - reach - 7.0).max(0.0);
    let figure = font::fit(&bars.axis.unit.words(bar.value), layout.figure.size, false, room);
    let x = (reach + 7.0).min(canvas.width - room_for(&figure, layout.figure) - 2.0);
    canvas.text_mid(x, middle, Align::Start, layout.figure, Ink::Text, &figure);
}

/// Draws an interval: a line with caps and a background-coloured outline, so that it is visible on
/// every fill. A truncated end has no cap, because the interval continues there.
fn whisker(canvas: &mut Canvas, (low, high): (f64, f64), y: f64, cap: f64, cut: bool) {
    let (a, b, top, bottom) = (px(low), px(high), px(y - cap), px(y + cap));
    let first = if cut { String::new() } else { format!("M{a} {top}V{bottom}") };
    let path = format!("{first}M{b} {top}V{bottom}M{a} {y}H{b}", y = px(y));
    let (paper, text) = (canvas.paint(Ink::Paper), canvas.paint(Ink::Text));
    canvas
        .raw(&format!(r#"<path d="{path}" fill="none" stroke="{paper}" stroke-width="3.6" opacity=".8"/>"#));
    canvas.raw(&format!(r#"<path d="{path}" fill="none" stroke="{text}" stroke-width="1.3"/>"#));
}
