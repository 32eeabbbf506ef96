//! Formats in which a report is published.

use crate::publish::page::Report;
use kurabe_chart::{Theme, png};
use kurabe_core::mention::{CHART, FORMAT};
use kurabe_core::words::{Keyword, all_words};
use kurabe_core::{ErrorKind, Result, Text, nearest, shown, shown::Shown, text};
use std::path::Path;

/// Pixels of a PNG per pixel of the drawing.
pub(crate) const PNG_SCALE: f32 = 2.0;

/// A format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// A single page that works without a network.
    Page,
    /// Markdown.
    Markdown,
    /// A chart.
    Svg,
    /// A chart in pixels.
    Png,
    /// A line for each cell of each run.
    Csv,
    /// Summary, comparisons and records.
    Json,
}

/// The words used in options, and the extensions of files.
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
    /// Returns the format that a file's extension implies.
    ///
    /// # Errors
    ///
    /// Returns an error if the extension is unknown.
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
                "the file name {file} does not determine a format",
                "{file} という名前からは形式が分かりません"
            ))
            .remedy(remedy))
    }

    /// Rejects a chart for a format that is not a picture. Otherwise it would be silently ignored.
    ///
    /// # Errors
    ///
    /// Returns an error if `chart` is given and the format is not a picture.
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

/// A report in its format.
pub enum MadeReport {
    /// Text, and a list of what was left out because a page would be too large.
    Words(Shown, Vec<Text>),
    /// A picture in pixels.
    Picture(Vec<u8>),
}

impl MadeReport {
    /// Returns the content of the file.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Words(words, _) => words.as_ref().as_bytes(),
            Self::Picture(bytes) => bytes,
        }
    }
}

impl Report<'_> {
    /// Creates the report in a format. A picture is the main chart, or the chart with the given
    /// name.
    ///
    /// # Errors
    ///
    /// Returns an error if the chart does not exist or can't be drawn.
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
                // A PNG has only one set of colours.
                let theme = if theme == Theme::Auto { Theme::Light } else { theme };
                return png(&self.picture(chart, theme)?, PNG_SCALE).map(MadeReport::Picture);
            }
        };
        Ok(MadeReport::Words(Shown::file(&words), Vec::new()))
    }
}
