//! A report of one or more runs for publication: as a page, a text, a table or a picture.
//!
//! The model: the summary, the table, the charts, the reasons, the stutter, the other differences,
//! the procedure, the test environment, and the warnings. Of several runs, the first is the
//! baseline, and each other run is compared with it separately. A page is a single file that loads
//! nothing: its content security policy forbids every request and allows only its own script. All
//! text from a record (device names, labels) is escaped when it is written.
//!
//! Non-goals: terminal output, which the other renderers produce, and writing files.

mod answer;
mod card;
mod charts;
mod csv;
mod document;
mod extent;
mod rows;
mod table;

pub use extent::{MOST_PAGE_BYTES, Page};

use crate::publish::pictures::{Picture, account_of};
use crate::run::Assessment;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use extent::Extent;
use kurabe_chart::{Theme, style_sheet};
use kurabe_compare::{Fastest, Pair, fastest, names, pairs, subject};
use kurabe_core::record::RunRecord;
use kurabe_core::words::Keyword;
use kurabe_core::{Lang, Text, mention::IMPORT, text};
use kurabe_doc::{Doc, Html, Paragraph};
use kurabe_study::Likeness;
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("page/page.css");
const VERSION: &str = concat!("kurabe ", env!("CARGO_PKG_VERSION"));
/// JavaScript that sorts tables and shows the values of chart marks.
pub const PAGE_SCRIPT: &str = include_str!("page/page.js");

/// Returns the CSS of kurabe's pages, including that of the charts.
pub fn page_style() -> String {
    format!("{STYLE}{}", style_sheet())
}

/// Records embedded in a page.
#[derive(Clone, Debug, Default)]
pub struct Embedded {
    /// The records as JSON. Empty if there are none.
    pub json: String,
    /// Describes what is left out of the records, and where to find it.
    pub left_out: Option<Text>,
}

/// A report of runs.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    runs: Vec<&'a RunRecord>,
    /// Names of the runs, in order.
    names: Vec<Text>,
    pairs: Vec<Pair>,
    fastest: Option<Fastest>,
    about: Vec<String>,
    title: Option<String>,
    lang: Lang,
    extent: Extent,
    /// The summary sentence, if there is only one run.
    summary: Option<Assessment>,
}

impl<'a> Report<'a> {
    /// Creates a report of at least one run. The first is the baseline.
    ///
    /// Differences up to `margin` don't matter (0.05 is 5 %). `about` holds the keys of the facts
    /// that the user asks about.
    pub fn new(
        runs: Vec<&'a RunRecord>,
        margin: f64,
        about: &[String],
        title: Option<&str>,
        lang: Lang,
    ) -> Self {
        Self {
            names: names(&runs),
            pairs: pairs(&runs, margin),
            fastest: fastest(&runs, margin),
            about: about.to_vec(),
            title: title.map(str::to_owned),
            lang,
            extent: Extent::Whole,
            summary: if let [run] = runs.as_slice() { Assessment::of(run) } else { None },
            runs,
        }
    }

    /// Returns a report of some of the runs, for their tables.
    fn of_part(&self, runs: Vec<&'a RunRecord>, names: Vec<Text>, pairs: Vec<Pair>) -> Self {
        Self { runs, names, pairs, fastest: None, title: None, summary: None, ..self.clone() }
    }

    /// Returns the title: the user's own, or the measured target and profile.
    pub fn title(&self) -> Text {
        if let Some(title) = &self.title {
            return Text::same(title);
        }
        if let [run] = self.runs.as_slice() {
            let profile = run.header.profile_name();
            return subject(run).map(|name| format!("{name} · {profile}"));
        }
        let mut subjects: Vec<Text> = self.runs.iter().map(|run| subject(run)).collect();
        subjects.dedup();
        let count = self.runs.len();
        match (subjects.as_slice(), self.names.as_slice()) {
            (_, [one, two]) => text!("{one} and {two} compared", "{one} と {two} の比較"; one, two),
            ([name], _) => text!("{name}: {count} runs compared", "{name}: {count} 件の測定の比較"; name),
            _ => text!("{count} runs compared", "{count} 件の測定の比較"),
        }
    }

    /// Returns the report as Markdown: for an issue on GitHub, an article on Qiita, a wiki.
    pub fn markdown(&self) -> String {
        let mut doc = self.head_doc();
        doc.append(self.body(&[]));
        format!("{}\n{VERSION}\n", doc.markdown(self.lang))
    }

    /// Returns the class of devices that the single run is compared with.
    pub fn likeness(&self) -> Option<&Likeness> {
        self.summary.as_ref()?.likeness.as_ref()
    }

    /// Returns the sections below the summary and the figures: the id, the title and the content of
    /// each.
    pub fn parts(&self) -> Vec<(&'static str, Text, Doc)> {
        self.body(&self.pictures()).into_sections()
    }

    /// Returns the summary, the figures, and the time account of each model.
    pub fn figures(&self) -> Doc {
        let mut doc = Doc::of(Paragraph::new(self.answer()));
        doc.push(self.main_table());
        for run in &self.runs {
            doc.chart_of("time-account", |lang| account_of(run, lang));
        }
        doc
    }

    /// Renders the page up to its footer.
    fn page(&self, theme: Theme, pictures: &[[Picture; 2]]) -> Html {
        let mut html = Html::default();
        self.head(&mut html, theme);
        html.raw("<body><main>\n<header>");
        self.head_doc().write_html(&mut html, self.lang, theme);
        html.raw("</header>\n");
        self.body(pictures).write_html(&mut html, self.lang, theme);
        html
    }

    fn head(&self, html: &mut Html, theme: Theme) {
        write_head(html, self.title().get(self.lang), self.lang, theme);
    }

    fn foot(&self, html: &mut Html, embedded: &Embedded) {
        write_foot(html, embedded, self.lang);
    }
}

/// Writes a page from its beginning to the end of its head.
pub(crate) fn write_head(html: &mut Html, title: &str, lang: Lang, theme: Theme) {
    html.raw("<!doctype html>\n");
    let forced = if theme == Theme::Auto { "" } else { theme.word() };
    html.open("html", &[("lang", lang.pick("en", "ja")), ("data-theme", forced)]);
    html.raw("<head><meta charset=\"utf-8\">\n");
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; \
             form-action 'none'",
        sha256_base64(PAGE_SCRIPT)
    );
    html.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
    html.raw("\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
    html.open("meta", &[("name", "generator"), ("content", VERSION)]);
    html.element("title", &[], title);
    html.raw("\n<style>\n").raw(STYLE).raw("</style></head>\n");
}

/// Writes a page from its footer to its end.
pub(crate) fn write_foot(html: &mut Html, embedded: &Embedded, lang: Lang) {
    let records = embedded.json.as_str();
    html.raw("<footer>");
    let words = match (records.is_empty(), &embedded.left_out) {
        (true, _) => text!("This page contains no records.", "このページに測定記録は入っていません。"),
        (false, None) => text!(
            "This page contains the complete records of its runs: {IMPORT} reads them.",
            "このページには測定記録がすべて入っています。{IMPORT} で取り込めます。",
        ),
        (false, Some(_)) => text!(
            "This page contains records of its runs: {IMPORT} reads them.",
            "このページには測定記録が入っています。{IMPORT} で取り込めます。",
        ),
    };
    html.element("p", &[], words.get(lang));
    if let Some(left_out) = &embedded.left_out {
        html.element("p", &[("class", "notice warn")], left_out.get(lang));
    }
    html.element("p", &[], VERSION);
    html.raw("</footer></main>\n<div id=\"tip\" role=\"status\" hidden></div>\n");
    if !records.is_empty() {
        html.made(&kurabe_interop::embed_in_page(records));
    }
    html.raw("<script>").raw(PAGE_SCRIPT).raw("</script>\n</body></html>\n");
}

/// Returns the Base64-encoded SHA-256 hash by which a page's content security policy identifies its
/// script, as in `script-src 'sha256-…'`.
fn sha256_base64(words: &str) -> String {
    STANDARD.encode(Sha256::digest(words.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_is_that_of_the_standard() {
        // FIPS 180-4, the message "abc".
        assert_eq!(sha256_base64("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    }
}
