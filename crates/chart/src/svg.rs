//! A chart as SVG: a frame of title, notes and legend around the drawing of its kind.
//!
//! The model: one width is given, the height follows from what there is to show. Everything is laid out with the widths of
//! the embedded font, and the file stands alone: no script, no font, no image, no address. Every mark of data carries a
//! `<title>` that a browser shows, and `data-label` and `data-value` for scripts of a page. Names of parts (`id`) begin
//! with a hash of the drawing, so that many charts can stand in one page.
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

/// Narrower pictures are drawn at this width: nothing could be read on them.
const NARROWEST_PX: u32 = 240;
const WIDEST_PX: u32 = 8_000;
/// Lines are not pressed flatter than this: their axis would have no room for its numbers.
const FLATTEST_PX: f64 = 150.0;

/// What a page needs whose drawings have the theme [`Theme::Page`], as CSS. A page that wants one of the two whatever the
/// reader's screen is set to says so in `data-theme` of its root.
pub fn style_sheet() -> String {
    let [light, dark] =
        [false, true].map(|dark| Ink::all().map(|ink| ink.property(dark)).collect::<String>());
    format!(
        ".kurabe-chart{{font-variant-numeric:tabular-nums;{light}}}\n\
         @media (prefers-color-scheme:dark){{:root:not([data-theme=\"light\"]) .kurabe-chart{{{dark}}}}}\n\
         :root[data-theme=\"dark\"] .kurabe-chart{{{dark}}}\n\
         @media print{{:root:not([data-theme=\"light\"]) .kurabe-chart,:root[data-theme=\"dark\"] .kurabe-chart{{{light}}}}}\n"
    )
}

/// A drawn chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// The SVG.
    pub svg: String,
    /// Its width in pixels.
    pub width_px: f64,
    /// Its height in pixels.
    pub height_px: f64,
}

impl Chart {
    /// The chart as SVG, from 240 to 8000 pixels wide; its height follows from what it shows.
    pub fn svg(&self, width_px: u32, theme: Theme) -> String {
        self.draw(width_px, theme).svg
    }

    /// The chart as SVG, with its size: for who places it beside others.
    pub fn draw(&self, width_px: u32, theme: Theme) -> Drawing {
        self.draw_with(width_px, None, theme)
    }

    /// The same, as high as a place allows: lines are stretched or pressed to `height_px`, but not flatter than can be
    /// read. The height of every other kind follows from its rows, as ever.
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

    /// Title and notes; where they end.
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
