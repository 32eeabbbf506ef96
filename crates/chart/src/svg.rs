//! Rendering of a chart as SVG: title, notes and legend around the plot.
//!
//! The model: the width is given, and the height follows from the content. Everything is laid out
//! with the widths of the embedded font, and the file is self-contained: no script, no font, no
//! image, no URL. Every data mark has a `<title>` that a browser shows, and `data-label` and
//! `data-value` for the scripts of a page. Element names (`id`) begin with a hash of the drawing,
//! so that one page can contain many charts.
//!
//! Non-goals: interaction, animation, right-to-left text.

mod bars;
mod canvas;
mod forest;
mod heat;
mod ink;
mod legend;
mod lines;
mod marks;
mod measures;
mod shares;
pub(crate) mod span;
#[cfg(all(test, feature = "png"))]
mod tests;
mod thin;
pub(crate) mod ticks;

pub use canvas::escape;
pub use ink::Theme;

use crate::font;
use crate::plot::{Chart, Plot};
use canvas::{Align, Canvas};
use ink::Ink;
use measures::{NOTE, PAD_PX, TITLE};

/// Minimum width: narrower pictures would be illegible.
const NARROWEST_PX: u32 = 240;
const WIDEST_PX: u32 = 8_000;
/// Minimum height of a line plot: a lower axis has no room for its numbers.
const FLATTEST_PX: f64 = 150.0;

/// Returns the CSS for pages whose drawings have the theme [`Theme::Page`]. A page that wants a
/// specific theme regardless of the reader's settings sets `data-theme` on its root element.
pub fn style_sheet() -> String {
    let [light, dark] =
        [false, true].map(|dark| Ink::all().map(|ink| ink.property(dark)).collect::<String>());
    format!(
        ".kurabe-chart{{font-variant-numeric:tabular-nums;{light}}}\n\
         @media (prefers-color-scheme:dark){{:root:not([data-theme=\"light\"]) .kurabe-chart{{{dark}}}}}\n\
         :root[data-theme=\"dark\"] .kurabe-chart{{{dark}}}\n\
         @media print{{:root:not([data-theme=\"light\"]) .kurabe-chart,:root[data-theme=\"dark\"] \
         .kurabe-chart{{{light}}}}}\n"
    )
}

/// A rendered chart with its size in pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// SVG document.
    pub svg: String,
    /// Width in pixels.
    pub width_px: f64,
    /// Height in pixels.
    pub height_px: f64,
}

impl Chart {
    /// Renders the chart as SVG, from 240 to 8000 pixels wide; the height follows from the content.
    pub fn svg(&self, width_px: u32, theme: Theme) -> String {
        self.draw(width_px, theme).svg
    }

    /// Renders the chart as SVG and returns its size, for placing it next to others.
    pub fn draw(&self, width_px: u32, theme: Theme) -> Drawing {
        self.draw_with(width_px, None, theme)
    }

    /// Renders the chart for a given height: lines are stretched or compressed to `height_px`, but
    /// never below a legible height. The height of every other kind follows from its rows.
    pub fn draw_into(&self, width_px: u32, height_px: f64, theme: Theme) -> Drawing {
        let free = self.draw(width_px, theme);
        if !matches!(self.plot, Plot::Lines(_)) {
            return free;
        }
        let plot_px = lines::height(free.width_px) + height_px.floor() - free.height_px;
        self.draw_with(width_px, Some(plot_px.max(FLATTEST_PX)), theme)
    }

    fn draw_with(&self, width_px: u32, plot_px: Option<f64>, theme: Theme) -> Drawing {
        let width_px = f64::from(width_px.clamp(NARROWEST_PX, WIDEST_PX));
        let mut canvas = Canvas::new(width_px, plot_px, theme);
        let top = self.heading(&mut canvas);
        let bottom = match &self.plot {
            Plot::Bars(bars) => bars::draw(bars, &mut canvas, top),
            Plot::Lines(lines) => lines::draw(lines, &mut canvas, top),
            Plot::Forest(forest) => forest::draw(forest, &mut canvas, top),
            Plot::Heat(heat) => heat::draw(heat, &mut canvas, top),
            Plot::Shares(shares) => shares::draw(shares, &mut canvas, top),
        };
        let height_px = (bottom + PAD_PX * 0.8).ceil();
        Drawing { svg: canvas.finish(height_px, &self.title, &self.notes), width_px, height_px }
    }

    /// Draws title and notes, and returns their lower edge.
    fn heading(&self, canvas: &mut Canvas) -> f64 {
        let room = canvas.width - 2.0 * PAD_PX;
        let mut y = PAD_PX;
        for line in font::wrap(&self.title, TITLE.size, TITLE.strong, room, 3) {
            y += TITLE.size * 1.3;
            canvas.text(PAD_PX, y - TITLE.size * 0.3, Align::Start, TITLE, Ink::Text, &line);
        }
        for note in &self.notes {
            for line in font::wrap(note, NOTE.size, false, room, 4) {
                y += NOTE.size * 1.5;
                canvas.text(PAD_PX, y - 1.0, Align::Start, NOTE, Ink::Quiet, &line);
            }
        }
        y + 14.0
    }
}
