//! Legend of the colours, patterns, dashes and markers of a drawing.

use super::canvas::{Align, Canvas, px};
use super::ink::Ink;
use super::marks::{dash, marker};
use super::measures::{LABEL, PAD_PX, room_for};
use crate::font;

const SAMPLE_PX: f64 = 22.0;
const ROW_PX: f64 = 20.0;
const GAP_PX: f64 = 20.0;

/// Style of a line as shown in its legend.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    /// Whether its points are connected.
    pub joined: bool,
    /// Whether it is dashed; dense lines are not.
    pub dashed: bool,
    /// Whether it has markers.
    pub marked: bool,
}

/// Sample drawn before a name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Swatch {
    /// The fill of a series.
    Fill(usize),
    /// The line of a series.
    Line(usize, Looks),
    /// A shaded range.
    Stall,
}

/// Returns the legend entries of filled series.
pub(super) fn fills(names: &[String]) -> Vec<(Swatch, String)> {
    names.iter().enumerate().map(|(index, name)| (Swatch::Fill(index), name.clone())).collect()
}

/// Draws the entries in as many rows as needed, and returns their lower edge.
pub(super) fn draw(canvas: &mut Canvas, entries: &[(Swatch, String)], top: f64) -> f64 {
    if entries.is_empty() {
        return top;
    }
    let right = canvas.width - PAD_PX;
    let most = right - PAD_PX - SAMPLE_PX - 6.0;
    let (mut x, mut y) = (PAD_PX, top);
    for (sample, name) in entries {
        let name = font::fit(name, LABEL.size, false, most);
        let width = SAMPLE_PX + 6.0 + room_for(&name, LABEL);
        if x > PAD_PX && x + width > right {
            (x, y) = (PAD_PX, y + ROW_PX);
        }
        draw_sample(canvas, *sample, x, y + ROW_PX / 2.0);
        canvas.text_mid(x + SAMPLE_PX + 6.0, y + ROW_PX / 2.0, Align::Start, LABEL, Ink::Text, &name);
        x += width + GAP_PX;
    }
    y + ROW_PX + 8.0
}

fn draw_sample(canvas: &mut Canvas, sample: Swatch, x: f64, y: f64) {
    match sample {
        Swatch::Fill(index) => {
            let fill = canvas.series_fill(index);
            canvas.rect((x, y - 6.0), (SAMPLE_PX, 12.0), &fill, r#" rx="2""#);
        }
        Swatch::Line(index, looks) => {
            if looks.joined {
                let dashes = if looks.dashed { dash(index) } else { String::new() };
                let more = format!(r#" stroke-width="2"{dashes}"#);
                canvas.line((x, y), (x + SAMPLE_PX, y), Ink::series(index), &more);
            }
            match looks {
                Looks { marked: true, .. } => marker(canvas, index, (x + SAMPLE_PX / 2.0, y), 3.6),
                Looks { joined: false, .. } => cloud(canvas, index, (x, y)),
                _ => {}
            }
        }
        Swatch::Stall => {
            let fill = canvas.paint(Ink::Stall);
            canvas.rect((x, y - 6.0), (SAMPLE_PX, 12.0), &fill, "");
        }
    }
}

/// Draws a few dots as the sample of a series with very many dots.
fn cloud(canvas: &mut Canvas, index: usize, (x, y): (f64, f64)) {
    let stroke = canvas.paint(Ink::series(index));
    let dots = [(4.0, 2.0), (9.0, -3.0), (13.0, 3.0), (18.0, -1.0)];
    let path: String = dots.iter().map(|(dx, dy)| format!("M{} {}h.1", px(x + dx), px(y + dy))).collect();
    canvas.raw(&format!(r#"<path d="{path}" stroke="{stroke}" stroke-width="2.4" stroke-linecap="round"/>"#));
}
