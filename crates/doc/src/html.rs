//! A document as HTML that consists only of this program's markup and of escaped text.
//!
//! The model: names of elements and attributes are literals, and everything else is escaped when it
//! is added, so that no caller can forget to escape. Two exceptions accept markup that kurabe
//! itself generated: charts, and the block of records. Tables can be sorted by mouse and keyboard.

use super::table::{EntryBody, Flush, RowMarks, Table, TableForm};
use super::{Block, Doc, Paragraph, Purpose, TableRow};
use crate::{Role, spark::sparkline};
use kurabe_chart::{Theme, escape};
use kurabe_core::{Lang, Text, number, text};

/// Width of a chart on a page.
const CHART_WIDTH_PX: u32 = 960;

impl Doc {
    /// Returns the document as an HTML fragment for a page that includes
    /// `page_style` of the report.
    pub fn html(&self, lang: Lang) -> String {
        let mut html = Html::default();
        self.write_html(&mut html, lang, Theme::Page);
        html.finish()
    }

    /// Writes the document into a page. Charts are drawn in the given theme.
    pub fn write_html(&self, html: &mut Html, lang: Lang, theme: Theme) {
        let mut list: Option<Purpose> = None;
        for block in &self.blocks {
            let next = match block {
                Block::Paragraph(paragraph) if paragraph.purpose.is_listed() => Some(paragraph.purpose),
                Block::Gap => continue,
                _ => None,
            };
            if list.is_some() && list != next {
                html.close("ul");
            }
            if let Some(purpose) = next.filter(|_| list != next) {
                let class = match purpose {
                    Purpose::Note => "notes",
                    Purpose::Run => "runs",
                    _ => "plain",
                };
                html.open("ul", &[("class", class)]);
            }
            list = next;
            write_block(html, block, lang, theme);
        }
        if list.is_some() {
            html.close("ul");
        }
    }
}

fn write_block(html: &mut Html, block: &Block, lang: Lang, theme: Theme) {
    let words = |text: &Text| text.get(lang).to_owned();
    match block {
        // Tables and charts show their figures.
        Block::Gap | Block::Curve(_) | Block::Grid(_) | Block::Bars(_) => {}
        Block::Drawing { wide, .. } => {
            html.open("pre", &[("tabindex", "0")]);
            for line in wide.get(lang).lines() {
                html.words(line).raw("\n");
            }
            html.close("pre");
        }
        Block::Heading(level, title) => {
            let tag = ["h1", "h1", "h2", "h3"][(*level).clamp(1, 4) - 1];
            html.element(tag, &[], &words(title));
        }
        Block::Paragraph(paragraph) => write_paragraph(html, paragraph, lang),
        Block::Fields(fields) => {
            html.raw("<dl>");
            for (key, items) in &fields.fields {
                html.element("dt", &[], &words(key)).open("dd", &[]);
                for (index, item) in items.iter().enumerate() {
                    html.raw(if index > 0 { " · " } else { "" }).words(&words(item));
                }
                html.close("dd");
            }
            html.raw("</dl>\n");
        }
        Block::Table(table) => write_table(html, table, lang),
        Block::Chart(kind, drawn) => {
            html.open("figure", &[("data-picture", kind)]);
            // The style sheet shows the hint only if the screen is narrower than the chart.
            let hint = text!(
                "↔ wider than the screen: scroll sideways",
                "↔ 画面より横長です。横にスクロールできます"
            );
            html.element("p", &[("class", "hint")], &words(&hint))
                .raw("<div class=\"scroll\" tabindex=\"0\">");
            let chart = &drawn[usize::from(lang == Lang::Ja)];
            html.made(&chart.svg(CHART_WIDTH_PX, theme));
            html.raw("</div>").close("figure");
        }
        Block::Section { id, title, doc, .. } => {
            html.open("section", &[("id", id)]).element("h2", &[], &words(title));
            doc.write_html(html, lang, theme);
            html.close("section");
        }
        Block::Fold(title, doc) => {
            html.open("details", &[]).element("summary", &[], &words(title));
            doc.write_html(html, lang, theme);
            html.close("details");
        }
        Block::Code(command) => {
            html.open("pre", &[]).element("code", &[], command).close("pre");
        }
    }
}

fn write_paragraph(html: &mut Html, paragraph: &Paragraph, lang: Lang) {
    let (tag, class) = match (paragraph.purpose, paragraph.role) {
        (Purpose::Item | Purpose::Note | Purpose::Run, _) => ("li", ""),
        (Purpose::Notice, Role::Warn | Role::Bad) => ("p", "notice warn"),
        (Purpose::Notice, _) => ("p", "notice"),
        (Purpose::Answer, _) => ("p", "answer"),
        (Purpose::Plain, _) => ("p", ""),
    };
    html.open(tag, &[("class", class)]);
    if let Some(section) = paragraph.link {
        html.open("a", &[("href", &format!("#{section}"))]);
    }
    html.words(&paragraph.mark).raw(if paragraph.mark.is_empty() { "" } else { " " });
    for (index, item) in paragraph.items.iter().enumerate() {
        html.raw(if index > 0 && paragraph.flows { " · " } else { "" });
        match paragraph.lead.filter(|_| index == 0) {
            Some(_) => html.element("b", &[], item.get(lang)),
            None => html.words(item.get(lang)),
        };
    }
    for tag in &paragraph.tags {
        html.element("em", &[], tag.get(lang));
    }
    if paragraph.link.is_some() {
        html.close("a");
    }
    html.close(tag);
}

/// Writes a table. The first entry of each row is its name.
fn write_table(html: &mut Html, table: &Table, lang: Lang) {
    let caption = table.caption.get(lang);
    let class = match table.form {
        TableForm::Sorts => "sorts",
        TableForm::Cards => "sorts cards",
        TableForm::Wide => "sorts wide",
        TableForm::Facts => "facts",
    };
    let sorts = table.form != TableForm::Facts;
    let region = if caption.is_empty() { "" } else { "region" };
    html.open("div", &[("class", "scroll"), ("tabindex", "0"), ("role", region), ("aria-label", caption)]);
    html.open("table", &[("class", class)]);
    if !caption.is_empty() {
        html.element("caption", &[], caption);
    }
    html.raw("<thead><tr>");
    for column in &table.columns {
        let numbers = column.flush == Flush::Right;
        // A button without text would have no accessible name.
        let sorts = sorts && !column.title.is_empty();
        // A column heading without text must not be a `th`.
        let (tag, scope) =
            if column.title.is_empty() && column.under.is_empty() { ("td", "") } else { ("th", "col") };
        html.open(tag, &[("scope", scope), ("class", if numbers { "n" } else { "" })]);
        if sorts {
            html.open("button", &[("type", "button")]);
        }
        html.words(column.title.get(lang));
        if !column.under.is_empty() {
            html.element("small", &[], column.under.get(lang));
        }
        if sorts {
            html.close("button");
        }
        html.close(tag);
    }
    html.raw("</tr></thead>\n<tbody>");
    for row in &table.rows {
        html.raw("<tr>");
        for index in 0..row.entries.len() {
            write_entry(html, table, (index, row), lang);
        }
        html.close("tr");
    }
    html.raw("</tbody>").close("table").close("div").raw("\n");
}

/// Writes an entry. The last entry of a short row spans the remaining columns.
fn write_entry(html: &mut Html, table: &Table, (index, row): (usize, &TableRow), lang: Lang) {
    let entry = &row.entries[index];
    let left = table.columns.len().saturating_sub(index).to_string();
    let spans = index > 0 && index + 1 == row.entries.len() && left != "1";
    let value = entry.value.filter(|value| value.is_finite()).map(|value| value.to_string());
    let is_blank =
        matches!(&entry.shown, EntryBody::Words(words) if words.is_empty()) && entry.under.is_empty();
    let (tag, scope) = if index == 0 && !is_blank { ("th", "row") } else { ("td", "") };
    let column = table.columns.get(index);
    let title = column.filter(|_| index > 0 && table.form == TableForm::Cards);
    // The note of a row is a tooltip on its main figure.
    let hint = row.note.as_ref().filter(|_| index == 1).unwrap_or(&entry.hint);
    let is_figure = index > 0 && !spans && column.is_some_and(|column| column.flush == Flush::Right);
    let class = [
        if is_figure { "n" } else { "" },
        class_of(entry.role),
        if matches!(entry.shown, EntryBody::RowMarks(_)) { "drawn" } else { "" },
    ]
    .join(" ");
    let attributes = [
        ("scope", scope),
        ("colspan", if spans { &left } else { "" }),
        ("class", class.trim()),
        ("data-v", value.as_deref().unwrap_or("")),
        ("data-tip", hint.get(lang)),
        ("data-l", title.map_or("", |column| column.title.get(lang))),
    ];
    html.open(tag, &attributes);
    if !entry.tick.is_empty() {
        let run = &entry.tick;
        let label = text!("compare {run}", "{run} を比べる").take(lang);
        let kind = entry.tick_kind.unwrap_or("run");
        html.open("input", &[("type", "checkbox"), ("name", kind), ("value", run), ("aria-label", &label)]);
    }
    match &entry.shown {
        EntryBody::Words(words) if entry.link.is_empty() => html.words(words.get(lang)),
        EntryBody::Words(words) => html.element("a", &[("href", &entry.link)], words.get(lang)),
        EntryBody::Missing => html.words(number::NONE),
        EntryBody::Course(values, (_, longest)) => html.words(&sparkline(values, *longest)),
        // The share is also in the table as a figure.
        EntryBody::Bar { .. } => html,
        EntryBody::RowMarks(marks) => write_marks(html, marks),
    };
    for line in entry.under.get(lang).lines() {
        html.element("small", &[], line);
    }
    html.close(tag);
}

/// Writes a line with dots and their intervals, one dot below the other.
fn write_marks<'h>(html: &'h mut Html, marks: &RowMarks) -> &'h mut Html {
    let place = |share: f64| 6.0 + 148.0 * share.clamp(0.0, 1.0);
    html.raw("<svg class=\"marks\" viewBox=\"0 0 160 30\" aria-hidden=\"true\">");
    if let Some([low, high]) = marks.band.map(|ends| ends.map(place)) {
        let middle = (low + high) / 2.0;
        html.made(&format!("<rect x=\"{low:.1}\" y=\"3\" width=\"{:.1}\" height=\"24\"/>", high - low));
        html.made(&format!("<path d=\"M{middle:.1} 3v24\"/>"));
    }
    html.raw("<path d=\"M6 15h148\"/>");
    for (number, [low, value, high]) in marks.dots.iter().map(|dot| dot.map(place)).enumerate() {
        let y = 15.0 + (number as f64 - (marks.dots.len() as f64 - 1.0) / 2.0) * 12.0;
        html.made(&format!(
            "<g><path d=\"M{low:.1} {y}H{high:.1}\"/><circle cx=\"{value:.1}\" cy=\"{y}\" r=\"4.5\"/></g>"
        ));
    }
    html.raw("</svg>")
}

/// Returns the CSS class of a role.
fn class_of(role: Role) -> &'static str {
    match role {
        Role::Strong => "strong",
        Role::Good => "good",
        Role::Bad => "bad",
        Role::Warn => "open",
        Role::Quiet => "none",
        Role::Plain | Role::Course => "",
    }
}

/// A piece of a page that consists only of this program's markup and of escaped text.
#[derive(Clone, Debug, Default)]
pub struct Html {
    text: String,
}

/// An attribute: name and value.
type Attribute<'a> = (&'static str, &'a str);

impl Html {
    /// Adds text, escaped.
    pub fn words(&mut self, words: &str) -> &mut Self {
        self.text.push_str(&escape(words));
        self
    }

    /// Adds this program's markup.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.text.push_str(markup);
        self
    }

    /// Adds markup whose text is already escaped: a chart, or the block of records.
    pub fn made(&mut self, markup: &str) -> &mut Self {
        self.text.push_str(markup);
        self
    }

    /// Opens an element. Attributes with an empty value are omitted.
    pub fn open(&mut self, tag: &'static str, attributes: &[Attribute<'_>]) -> &mut Self {
        self.text += &format!("<{tag}");
        for (name, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
            self.text += &format!(" {name}=\"{}\"", escape(value));
        }
        self.raw(">")
    }

    /// Closes an element.
    pub fn close(&mut self, tag: &'static str) -> &mut Self {
        self.text += &format!("</{tag}>");
        // A line break after a block element is not rendered and makes the source readable.
        if matches!(
            tag,
            "tr" | "p" | "li" | "ul" | "dd" | "h1" | "h2" | "h3" | "table" | "section" | "figure" | "details"
        ) {
            self.text.push('\n');
        }
        self
    }

    /// Adds an element that contains only text.
    pub fn element(&mut self, tag: &'static str, attributes: &[Attribute<'_>], words: &str) -> &mut Self {
        self.open(tag, attributes).words(words).close(tag)
    }

    /// Returns the current length in bytes.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Returns the markup.
    pub fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_and_attributes_cannot_become_markup() {
        let mut html = Html::default();
        let hostile = "\"><img src=x onerror='alert(1)'>&amp;\u{202e}";
        html.element("p", &[("title", hostile), ("lang", "")], hostile);
        let escaped = "&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;amp;\\u{202e}";
        assert_eq!(html.finish(), format!("<p title=\"{escaped}\">{escaped}</p>\n"));
    }

    proptest! {
        #[test]
        fn no_word_opens_a_tag_or_ends_an_attribute(words in ".*") {
            let mut html = Html::default();
            html.words(&words);
            let text = html.finish();
            prop_assert!(!text.contains(['<', '>', '"', '\'']));
        }
    }
}
