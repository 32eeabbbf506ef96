//! The charts of a report, on the page and as a separate picture of the main chart.
//!
//! The model: `pictures` decides which charts can be drawn of the runs, and the page shows them in
//! that order. The colours follow the reader's system unless the theme is fixed. The main chart is
//! the forest plot if two runs are compared, otherwise the first chart.

use super::Report;
use crate::publish::pictures::{Picture, names, no_chart, pictures};
use kurabe_chart::Theme;
use kurabe_core::record::RunRecord;
use kurabe_core::{ErrorKind, Lang, Result, text};
use kurabe_doc::{Block, Doc, Paragraph, Purpose};

/// Width of a separate picture.
const PICTURE_WIDTH_PX: u32 = 1000;
/// Maximum number of runs in the page's charts. More could not be distinguished.
const DRAWN_RUNS: usize = 8;
/// Maximum number of expanded charts. The others are collapsed, so that the reasons below them are
/// easy to find.
pub(super) const SHOWN: usize = 3;

impl Report<'_> {
    fn pictures_in(&self, lang: Lang) -> Vec<Picture> {
        let drawn: Vec<&RunRecord> = self.runs.iter().copied().take(DRAWN_RUNS).collect();
        pictures(&drawn, self.pairs.first().filter(|_| self.pairs.len() == 1), lang)
    }

    /// Returns the pictures in English and in Japanese.
    pub(super) fn pictures(&self) -> Vec<[Picture; 2]> {
        let [english, japanese] = [Lang::En, Lang::Ja].map(|lang| self.pictures_in(lang));
        english.into_iter().zip(japanese).map(|(one, other)| [one, other]).collect()
    }

    /// Returns the charts of the page, some of them collapsed.
    pub(super) fn charts(&self, pictures: &[[Picture; 2]]) -> Doc {
        let mut doc = Doc::new();
        if self.runs.len() > DRAWN_RUNS && !pictures.is_empty() {
            let (drawn, all) = (DRAWN_RUNS, self.runs.len());
            doc.say(text!(
                "The charts show the first {drawn} of {all} runs; the tables hold all.",
                "グラフは {all} 件のうち最初の {drawn} 件です。表にはすべてあります。"
            ));
        }
        let (first, more) = pictures.split_at(pictures.len().min(SHOWN));
        doc.append(drawn(first));
        if let Some(left_out) = self.charts_left_out(pictures.len()) {
            doc.push(Paragraph::new(left_out).used_as(Purpose::Notice));
        } else if !more.is_empty() {
            let count = more.len();
            doc.push(Block::Fold(text!("More charts ({count})", "ほかのグラフ({count})"), drawn(more)));
        }
        doc
    }

    /// Returns the first chart with the given name (one of [`crate::PICTURE_NAMES`]), or the main
    /// chart, as SVG.
    ///
    /// # Errors
    ///
    /// Returns an error if no run has the data for the chart.
    pub fn picture(&self, name: Option<&str>, theme: Theme) -> Result<String> {
        let pictures = self.pictures_in(self.lang);
        let named = |name: &str| pictures.iter().find(|picture| picture.name == name);
        if let Some(picture) = name.map_or_else(|| named("forest").or(pictures.first()), named) {
            return Ok(picture.chart.svg(PICTURE_WIDTH_PX, theme));
        }
        let names = names(&pictures);
        if let Some(name) = name.filter(|_| !names.is_empty()) {
            return Err(no_chart(name, &names, &self.runs));
        }
        Err(ErrorKind::Unsupported
            .error(text!(
                "these runs hold nothing that can be drawn",
                "これらの測定には図にできる値がありません"
            ))
            .remedy(text!("write it as .html or .md", ".html か .md で書き出してください")))
    }
}

fn drawn(pictures: &[[Picture; 2]]) -> Doc {
    let both = |[one, other]: &[Picture; 2]| {
        Block::Chart(one.name, Box::new([one.chart.clone(), other.chart.clone()]))
    };
    pictures.iter().map(both).collect()
}
