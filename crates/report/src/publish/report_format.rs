//! The forms in which a report is published.

use crate::publish::page::Report;
use kurabe_chart::{Theme, png};
use kurabe_core::mention::{CHART, FORMAT};
use kurabe_core::words::{Keyword, all_words};
use kurabe_core::{ErrorKind, Result, Text, nearest, shown, shown::Shown, text};
use std::path::Path;

/// Pixels of a picture for one of the drawing.
const PNG_SCALE: f32 = 2.0;

/// A form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// One page without network.
    Page,
    /// Markdown.
    Markdown,
    /// A chart.
    Svg,
    /// The same in pixels.
    Png,
    /// A line for each cell and run.
    Csv,
    /// Answer, comparisons and records.
    Json,
}

/// The words in flags, and the endings of files.
impl Keyword for ReportFormat {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("html", Self::Page),
        ("md", Self::Markdown),
        ("svg", Self::Svg),
        ("png", Self::Png),
        ("csv", Self::Csv),
        ("json", Self::Json),
    ];
}

impl ReportFormat {
    /// The form that a file's ending tells.
    ///
    /// # Errors
    /// When it tells none.
    pub fn of_file(path: &Path) -> Result<Self> {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let ending = match ending.as_str() {
            "htm" => "html",
            "markdown" => "md",
            other => other,
        };
        if let Some(format) = Self::of_word(ending) {
            return Ok(format);
        }
        let (file, words) = (shown::path(path), all_words::<Self>());
        let all = words.join(", ");
        let remedy = match ending {
            "" => text!(
                "end the name in one of these, or give {FORMAT}: {all}",
                "拡張子を付けるか {FORMAT} を指定してください: {all}"
            ),
            _ => nearest(ending, &words),
        };
        Err(ErrorKind::Usage
            .error(text!(
                "the name {file} does not tell a format",
                "{file} という名前からは形式が分かりません"
            ))
            .remedy(remedy))
    }

    /// Refuses a chart for a form that is no picture: it would be ignored in silence.
    ///
    /// # Errors
    /// When this is none.
    pub fn check_chart(self, chart: Option<&str>) -> Result<()> {
        if chart.is_none() || matches!(self, Self::Svg | Self::Png) {
            return Ok(());
        }
        let format = self.word();
        let what = text!(
            "{CHART} is for svg and png, not for {format}",
            "{CHART} は svg と png 用で、{format} には使えません"
        );
        Err(ErrorKind::Usage.error(what).remedy(text!(
            "name a picture: -o chart.svg",
            "画像のファイル名を指定してください: -o chart.svg"
        )))
    }
}

/// A report in its form.
pub enum MadeReport {
    /// Words, and what was left out of them because a page would be too large.
    Words(Shown, Vec<Text>),
    /// Pixels.
    Picture(Vec<u8>),
}

impl MadeReport {
    /// As a file holds it.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Words(words, _) => words.as_ref().as_bytes(),
            Self::Picture(bytes) => bytes,
        }
    }
}

impl Report<'_> {
    /// The report in a form; a picture is the main chart, or the one that was asked for.
    ///
    /// # Errors
    /// When there is no such chart, or it cannot be drawn.
    pub fn made(&self, format: ReportFormat, theme: Theme, chart: Option<&str>) -> Result<MadeReport> {
        let words = match format {
            ReportFormat::Page => {
                let page = self.html(theme, |page_bytes| self.records(page_bytes));
                return Ok(MadeReport::Words(Shown::file(&page.html), page.left_out));
            }
            ReportFormat::Markdown => self.markdown(),
            ReportFormat::Csv => self.csv(),
            ReportFormat::Json => self.json()?,
            ReportFormat::Svg => self.picture(chart, theme)?,
            ReportFormat::Png => {
                // A PNG has one set of colours.
                let theme = if theme == Theme::Auto { Theme::Light } else { theme };
                return png(&self.picture(chart, theme)?, PNG_SCALE).map(MadeReport::Picture);
            }
        };
        Ok(MadeReport::Words(Shown::file(&words), Vec::new()))
    }
}
