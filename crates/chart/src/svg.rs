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
mod shares;
pub(crate) mod span;
#[cfg(test)]
mod tests;
mod thin;
pub(crate) mod ticks;

pub use canvas::escape;

use crate::font;
use crate::plot::{Chart, Plot};
use canvas::{Align, Canvas, Type};
use ink::Ink;

/// Free space around everything.
const PAD_PX: f64 = 20.0;
/// Narrower pictures are drawn at this width: nothing could be read on them.
const NARROWEST_PX: u32 = 240;
const WIDEST_PX: u32 = 8_000;
/// Lines are not pressed flatter than this: their axis would have no room for its numbers.
const FLATTEST_PX: f64 = 150.0;

const TITLE: Type = Type { size: 17.0, strong: true };
const NOTE: Type = Type { size: 12.0, strong: false };
/// Labels of rows, legends and axes.
const LABEL: Type = Type { size: 12.5, strong: false };
/// Numbers at the ticks.
const TICK: Type = Type { size: 11.5, strong: false };
/// Figures beside or in marks.
const FIGURE: Type = Type { size: 12.0, strong: false };

/// How large a picture is. The height follows from what it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Its width in pixels; from 240 to 8000.
    pub width_px: u32,
}

/// The colours of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
    /// As the reader's screen is set. For browsers only: a PNG needs one of the others.
    Auto,
    /// As the page has it in which the drawing stands: without a style of its own, for pages that forbid styles within
    /// their markup. The page has [`style_sheet`].
    Page,
}

/// What a page needs whose drawings have the theme [`Theme::Page`], as CSS. A page that wants one of the two whatever the
/// reader's screen is set to says so in `data-theme` of its root.
pub fn style_sheet() -> String {
    let colours = |dark: bool| -> String {
        Ink::all().map(|ink| format!("{}:{};", ink.name(), ink.hex(dark))).collect()
    };
    let (light, dark) = (colours(false), colours(true));
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
    /// The chart as SVG.
    pub fn svg(&self, size: &Size, theme: Theme) -> String {
        self.draw(size, theme).svg
    }

    /// The chart as SVG, with its size: for who places it beside others.
    pub fn draw(&self, size: &Size, theme: Theme) -> Drawing {
        self.draw_with(size, None, theme)
    }

    /// The same, as high as a place allows: lines are stretched or pressed to `height_px`, but not flatter than can be
    /// read. The height of every other kind follows from its rows, as ever.
    pub fn draw_into(&self, size: &Size, height_px: f64, theme: Theme) -> Drawing {
        let free = self.draw(size, theme);
        if !matches!(self.plot, Plot::Lines(_)) {
            return free;
        }
        let plot_px = lines::height(free.width_px) + height_px.floor() - free.height_px;
        self.draw_with(size, Some(plot_px.max(FLATTEST_PX)), theme)
    }

    fn draw_with(&self, size: &Size, plot_px: Option<f64>, theme: Theme) -> Drawing {
        let width_px = f64::from(size.width_px.clamp(NARROWEST_PX, WIDEST_PX));
        let mut canvas = Canvas::new(width_px, theme);
        canvas.plot_px = plot_px;
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

/// Width that a text needs, with some room for a browser's own font.
fn room_for(text: &str, kind: Type) -> f64 {
    (font::text_width(text, kind.size, kind.strong) * 1.04).ceil()
}

/// The widest of some texts, but not more than `most`.
fn widest<'a>(texts: impl Iterator<Item = &'a str>, kind: Type, most: f64) -> f64 {
    texts.map(|text| room_for(text, kind)).fold(0.0, f64::max).min(most)
}
