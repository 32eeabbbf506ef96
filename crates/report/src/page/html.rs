//! HTML as it is written: a text that only grows by markup of this program and by escaped words of others.
//!
//! The model: names of elements and attributes are literals; everything else is escaped on its way in, so there is no
//! call that could forget it. The two exceptions take what another writer of kurabe made: a drawing, and the block of
//! records.

/// A piece of a page.
#[derive(Default)]
pub(super) struct Html {
    text: String,
}

/// An attribute: name and value.
pub(super) type Attribute<'a> = (&'static str, &'a str);

impl Html {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Words, whatever they hold.
    pub(super) fn words(&mut self, words: &str) -> &mut Self {
        escape(words, &mut self.text);
        self
    }

    /// Markup of this program.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.text.push_str(markup);
        self
    }

    /// A drawing as SVG, whose words are escaped already.
    pub(super) fn drawing(&mut self, svg: &str) -> &mut Self {
        self.text.extend(svg.chars().map(|c| if turns_writing(c) { '\u{fffd}' } else { c }));
        self
    }

    /// The block of records, as it is written where it is read again.
    pub(super) fn made(&mut self, markup: &str) -> &mut Self {
        self.text.push_str(markup);
        self
    }

    /// The start of an element; attributes without a value that says something are left out.
    pub(super) fn open(&mut self, tag: &'static str, attributes: &[Attribute<'_>]) -> &mut Self {
        self.text.push('<');
        self.text.push_str(tag);
        for (name, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
            self.text.push(' ');
            self.text.push_str(name);
            self.text.push_str("=\"");
            escape(value, &mut self.text);
            self.text.push('"');
        }
        self.text.push('>');
        self
    }

    /// Its end.
    pub(super) fn close(&mut self, tag: &'static str) -> &mut Self {
        self.text.push_str("</");
        self.text.push_str(tag);
        self.text.push('>');
        // Where a line end cannot be seen it makes the source readable.
        if matches!(
            tag,
            "tr" | "p" | "li" | "ul" | "dd" | "h1" | "h2" | "h3" | "table" | "section" | "figure" | "details"
        ) {
            self.text.push('\n');
        }
        self
    }

    /// An element that holds words alone.
    pub(super) fn element(
        &mut self,
        tag: &'static str,
        attributes: &[Attribute<'_>],
        words: &str,
    ) -> &mut Self {
        self.open(tag, attributes).words(words).close(tag)
    }

    /// How long it is so far.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// Escapes for text and for attributes alike. Control characters have no place in either; those that turn the direction
/// of writing could show other words than there are.
fn escape(words: &str, out: &mut String) {
    for c in words.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || turns_writing(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

/// Marks of the bidirectional algorithm that override what stands after them.
fn turns_writing(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_and_attributes_cannot_become_markup() {
        let mut html = Html::new();
        let hostile = "\"><img src=x onerror='alert(1)'>&amp;\u{202e}";
        html.element("p", &[("title", hostile), ("lang", "")], hostile);
        let escaped = "&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;amp;\u{fffd}";
        assert_eq!(html.finish(), format!("<p title=\"{escaped}\">{escaped}</p>\n"));
    }

    proptest! {
        #[test]
        fn no_word_opens_a_tag_or_ends_an_attribute(words in ".*") {
            let mut html = Html::new();
            html.words(&words);
            let text = html.finish();
            prop_assert!(!text.contains(['<', '>', '"', '\'']));
        }
    }
}
