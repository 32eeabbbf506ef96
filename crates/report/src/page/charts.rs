//! The charts of a report: in the page as they are, and the main one as a picture of its own.
//!
//! The model: what can be drawn of the runs decides `pictures`; the page shows it in that order, the colours follow the
//! reader's system unless they are fixed. The main picture is the ratios where two runs are held against each other, else
//! the first that there is.

use super::html::Html;
use super::sections::section;
use super::{PageTheme, Report};
use crate::pictures::{Picture, pictures};
use kurabe_chart::{Chart, Size, Theme};
use kurabe_core::record::RunRecord;

/// Width of a chart in the page.
const PAGE_WIDTH_PX: u32 = 960;
/// Width of a picture of its own.
const PICTURE_WIDTH_PX: u32 = 1000;
/// More runs than this in one chart cannot be told apart: the page draws the first of them.
const DRAWN_RUNS: usize = 8;

impl Report<'_> {
    fn pictures(&self) -> Vec<Picture> {
        let drawn: Vec<&RunRecord> = self.runs.iter().copied().take(DRAWN_RUNS).collect();
        let pair = match self.pairs.as_slice() {
            [pair] => Some(pair),
            _ => None,
        };
        pictures(&drawn, pair, self.style.lang)
    }

    /// The section of charts, if there is anything to draw.
    pub(super) fn charts(&self, html: &mut Html, theme: PageTheme) {
        let pictures = self.pictures();
        if pictures.is_empty() {
            return;
        }
        section(html, "charts", self.style.pick("Charts", "グラフ"), |html| {
            if self.runs.len() > DRAWN_RUNS {
                let (drawn, all) = (DRAWN_RUNS, self.runs.len());
                let words = kurabe_core::text!(
                    "The charts show the first {drawn} of {all} runs; the tables hold all.",
                    "グラフは {all} 件のうち最初の {drawn} 件です。表にはすべてあります。"
                );
                html.element("p", &[], &self.style.say(&words));
            }
            for picture in &pictures {
                html.open("figure", &[("data-picture", picture.name)])
                    .raw("<div class=\"scroll\" tabindex=\"0\">");
                html.made(&picture.chart.svg(&Size { width_px: PAGE_WIDTH_PX }, drawn_in(theme)));
                html.raw("</div>").close("figure");
            }
        });
    }

    /// The main chart, if there is anything to draw.
    fn main_chart(&self) -> Option<Chart> {
        let mut pictures = self.pictures();
        let place = pictures.iter().position(|picture| picture.name == "forest").unwrap_or(0);
        (place < pictures.len()).then(|| pictures.swap_remove(place).chart)
    }

    /// The main chart as SVG; nothing if no run has anything to draw.
    pub fn picture(&self, theme: PageTheme) -> Option<String> {
        Some(self.main_chart()?.svg(&Size { width_px: PICTURE_WIDTH_PX }, drawn_in(theme)))
    }
}

fn drawn_in(theme: PageTheme) -> Theme {
    match theme {
        PageTheme::Auto => Theme::Auto,
        PageTheme::Light => Theme::Light,
        PageTheme::Dark => Theme::Dark,
    }
}
