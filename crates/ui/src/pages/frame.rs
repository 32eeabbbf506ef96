//! What stands around every page: its head, the ways to the other pages, language and theme.

use crate::assets::{icon_address, script_address, style_address};
use crate::shared::Reader;
use axum::response::{Html as HtmlBody, IntoResponse};
use kurabe_core::{Lang, Text, text};
use kurabe_report::{Html, PageTheme};

/// What a page is framed with.
pub(crate) struct Frame<'a> {
    pub(crate) reader: Reader,
    /// Its own address, to which the choices of language and theme come back.
    pub(crate) address: &'a str,
    pub(crate) title: &'a Text,
}

/// The pages that one gets to from everywhere.
fn ways() -> [(&'static str, Text); 5] {
    [
        ("/", text!("Measure", "測定")),
        ("/runs", text!("Runs", "結果")),
        ("/models", text!("Models", "モデル")),
        ("/studies", text!("Studies", "スタディ")),
        ("/catalogue", text!("Published", "公表値")),
    ]
}

impl Frame<'_> {
    /// The whole page.
    pub(crate) fn around(&self, content: &Html) -> String {
        let lang = self.reader.lang;
        let mut html = self.head();
        let picture = text!("save this table as a picture", "この表を画像で保存");
        let computed = text!("computed by a model, not measured", "モデルの計算値(実測ではありません)");
        let note = if self.is_modelled() { computed.get(lang) } else { "" };
        html.open("body", &[("data-picture", picture.get(lang)), ("data-note", note)]).raw("\n");
        let skip = text!("to the content", "本文へ");
        html.element("a", &[("class", "skip"), ("href", "#main")], skip.get(lang));
        html.raw("<header class=\"bar\">");
        html.raw("<a class=\"brand\" href=\"/\"><b>kurabe</b> <span lang=\"ja\">比べ</span></a>");
        let label = text!("pages", "ページ");
        html.open("nav", &[("aria-label", label.get(lang))]);
        for (address, name) in ways() {
            let here = self.is_in(address);
            let attributes = [("href", address), ("aria-current", if here { "page" } else { "" })];
            html.element("a", &attributes, name.get(lang));
        }
        html.close("nav");
        self.choices(&mut html);
        html.raw("</header>\n<main id=\"main\">\n").piece(content).raw("</main>\n");
        html.raw("<div id=\"say\" class=\"unseen\" role=\"status\" aria-live=\"polite\"></div>\n");
        html.raw("<div id=\"tip\" role=\"status\" hidden></div>\n</body></html>\n");
        html.finish()
    }

    /// Whether the tables of the page were computed by models: a picture of one is seen without its page.
    fn is_modelled(&self) -> bool {
        ["/models/", "/studies/"].iter().any(|folder| self.address.starts_with(folder))
    }

    /// Whether the page is the one of this address, or below it.
    fn is_in(&self, address: &str) -> bool {
        let own = self.address.split('?').next().unwrap_or_default();
        let compares = ["/compare", "/matrix", "/history"].contains(&own) && address == "/runs";
        let measures = own == "/drive" && address == "/";
        own == address
            || compares
            || measures
            || own.strip_prefix(address).is_some_and(|rest| rest.starts_with('/'))
    }

    fn choices(&self, html: &mut Html) {
        let Reader { lang, theme } = self.reader;
        html.raw("<div class=\"choices\">");
        let (word, name) = match lang {
            Lang::En => ("ja", "日本語"),
            Lang::Ja => ("en", "English"),
        };
        let address = self.choice("lang", word);
        html.element("a", &[("href", &address), ("lang", word), ("hreflang", word)], name);
        let next = match theme {
            PageTheme::Auto => PageTheme::Dark,
            PageTheme::Dark => PageTheme::Light,
            PageTheme::Light => PageTheme::Auto,
        };
        let words = match next {
            PageTheme::Auto => text!("as the system", "システムに合わせる"),
            PageTheme::Dark => text!("dark", "ダーク"),
            PageTheme::Light => text!("light", "ライト"),
        };
        let title = text!("theme: {words}", "テーマ: {words}"; words);
        let address = self.choice("theme", next.word());
        html.element("a", &[("href", &address), ("title", title.get(lang))], words.get(lang));
        html.raw("</div>");
    }

    fn choice(&self, what: &str, word: &str) -> String {
        format!("/choose/{what}/{word}?back={}", encoded(self.address))
    }

    fn head(&self) -> Html {
        let Reader { lang, theme } = self.reader;
        let theme = if theme == PageTheme::Auto { "" } else { theme.word() };
        let mut html = Html::new();
        html.raw("<!doctype html>\n");
        html.open("html", &[("lang", lang.pick("en", "ja")), ("data-theme", theme)]);
        html.raw("<head><meta charset=\"utf-8\">\n");
        html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n");
        html.element("title", &[], &format!("{} · kurabe", self.title.get(lang)));
        html.open("link", &[("rel", "stylesheet"), ("href", style_address())]);
        html.open("link", &[("rel", "icon"), ("href", icon_address())]);
        html.open("script", &[("src", script_address()), ("defer", "defer")]).raw("</script></head>\n");
        html
    }
}

/// A page or a piece as an answer.
pub(crate) fn html(page: String) -> impl IntoResponse {
    HtmlBody(page)
}

/// An element with words in the reader's language.
pub(crate) fn say(html: &mut Html, tag: &'static str, class: &str, words: &Text, lang: Lang) {
    html.element(tag, &[("class", class)], words.get(lang));
}

/// A piece of an address: what is neither letter, digit nor `-._~` as its bytes (RFC 3986, 2.1).
pub(crate) fn encoded(words: &str) -> String {
    let mut out = String::new();
    for byte in words.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// A box to tick a run by its date, which leads to the run.
pub(crate) fn dated_run(html: &mut Html, id: &str, date: &str, is_ticked: bool) {
    let ticked = if is_ticked { "checked" } else { "" };
    html.raw("<label>");
    html.open("input", &[("type", "checkbox"), ("name", "run"), ("value", id), ("checked", ticked)]);
    html.raw(" ").element("a", &[("href", &format!("/runs/{}", encoded(id)))], date).raw("</label> ");
}

/// Ways to the pages before and after one of a list that was searched for words: address, words, and number.
pub(crate) fn further(
    html: &mut Html,
    (path, words, page): (&str, &str, usize),
    has_more: bool,
    [before, after]: [Text; 2],
    lang: Lang,
) {
    let address = |page: usize| format!("{path}?q={}&page={page}", encoded(words));
    html.raw("<p class=\"ways\">");
    if page > 0 {
        html.element("a", &[("href", &address(page - 1))], before.get(lang)).raw(" ");
    }
    if has_more {
        html.element("a", &[("href", &address(page + 1))], after.get(lang));
    }
    html.raw("</p>");
}

/// The field in which a list is searched for words; who adds to its line closes the form.
pub(crate) fn search(html: &mut Html, path: &str, label: &Text, words: &str, lang: Lang) {
    html.open("form", &[("class", "line"), ("method", "get"), ("action", path), ("role", "search")]);
    html.raw("<label>").words(label.get(lang)).raw(" ");
    html.open("input", &[("type", "search"), ("name", "q"), ("value", words)]).raw("</label> ");
    html.element("button", &[], text!("search", "検索").get(lang));
}
