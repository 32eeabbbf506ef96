//! The charts of a report: in the page as they are, and the main one as a picture of its own.
//!
//! The model: what can be drawn of the runs decides `pictures`; the page shows it in that order, the colours follow the
//! reader's system unless they are fixed. The main picture is the ratios where two runs are held against each other, else
//! the first that there is.

use super::html::Html;
use super::sections::{folded, section};
use super::{PageTheme, Report};
use crate::pictures::{Picture, pictures};
use kurabe_chart::{Chart, Size, Theme};
use kurabe_core::record::RunRecord;
use kurabe_core::text;

/// Width of a chart in the page.
const PAGE_WIDTH_PX: u32 = 960;
/// Width of a picture of its own.
const PICTURE_WIDTH_PX: u32 = 1000;
/// More runs than this in one chart cannot be told apart: the page draws the first of them.
const DRAWN_RUNS: usize = 8;
/// More charts than this are folded, so that the reasons below them are found.
pub(super) const SHOWN: usize = 3;

impl Report<'_> {
    pub(super) fn pictures(&self) -> Vec<Picture> {
        let drawn: Vec<&RunRecord> = self.runs.iter().copied().take(DRAWN_RUNS).collect();
        let pair = match self.pairs.as_slice() {
            [pair] => Some(pair),
            _ => None,
        };
        pictures(&drawn, pair, self.style.lang)
    }

    /// The section of charts, if there is anything to draw.
    pub(super) fn charts(&self, html: &mut Html, pictures: &[Picture], theme: PageTheme) {
        if pictures.is_empty() {
            return;
        }
        section(html, "charts", self.style.pick("Charts", "グラフ"), |html| {
            if self.runs.len() > DRAWN_RUNS {
                let (drawn, all) = (DRAWN_RUNS, self.runs.len());
                let words = text!(
                    "The charts show the first {drawn} of {all} runs; the tables hold all.",
                    "グラフは {all} 件のうち最初の {drawn} 件です。表にはすべてあります。"
                );
                html.element("p", &[], &self.style.say(&words));
            }
            let (first, more) = pictures.split_at(pictures.len().min(SHOWN));
            write(html, first, theme);
            if let Some(left_out) = self.charts_left_out(pictures.len()) {
                html.element("p", &[("class", "notice")], &self.style.say(&left_out));
            } else if !more.is_empty() {
                let count = more.len();
                let title = text!("More charts ({count})", "ほかのグラフ({count})");
                folded(html, &self.style.say(&title), |html| write(html, more, theme));
            }
        });
    }

    /// The names of the charts that can be drawn.
    pub fn picture_names(&self) -> Vec<&'static str> {
        let mut names: Vec<&str> = self.pictures().iter().map(|picture| picture.name).collect();
        names.dedup();
        names
    }

    /// The first chart of a name; without one the main chart, if there is anything to draw.
    fn chart(&self, wanted: Option<&str>) -> Option<Chart> {
        let mut pictures = self.pictures();
        let named = |name: &str| pictures.iter().position(|picture| picture.name == name);
        let place = match wanted {
            Some(wanted) => named(wanted)?,
            None => named("forest").unwrap_or(0),
        };
        (place < pictures.len()).then(|| pictures.swap_remove(place).chart)
    }

    /// A chart as SVG: the first of a name (one of [`crate::PICTURE_NAMES`]), or the main one; nothing if no run has the
    /// data for it.
    pub fn picture(&self, wanted: Option<&str>, theme: PageTheme) -> Option<String> {
        Some(self.chart(wanted)?.svg(&Size { width_px: PICTURE_WIDTH_PX }, drawn_in(theme)))
    }
}

fn write(html: &mut Html, pictures: &[Picture], theme: PageTheme) {
    for picture in pictures {
        html.open("figure", &[("data-picture", picture.name)]).raw("<div class=\"scroll\" tabindex=\"0\">");
        html.drawing(&picture.chart.svg(&Size { width_px: PAGE_WIDTH_PX }, drawn_in(theme)));
        html.raw("</div>").close("figure");
    }
}

fn drawn_in(theme: PageTheme) -> Theme {
    match theme {
        PageTheme::Auto => Theme::Auto,
        PageTheme::Light => Theme::Light,
        PageTheme::Dark => Theme::Dark,
    }
}
