//! The frame of every page (head, navigation, language and theme), and elements that several pages
//! use.
//!
//! Language and theme are links that work without JavaScript. They only affect the presentation.

use super::Visit;
use super::kit::*;
use crate::assets::links;
use crate::reader::{LANG_COOKIE, Reader, THEME_COOKIE};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use kurabe_chart::Theme;
use kurabe_core::shown::Shown;
use kurabe_core::words::Keyword;
use kurabe_report::{Doc, ProfileChoice, profile_choices};
use maud::{DOCTYPE, PreEscaped, Render};
use std::collections::HashMap;

/// Pages in the navigation, with their keyboard shortcuts.
fn ways() -> [(&'static str, &'static str, Text); 6] {
    [
        ("/", "m", text!("Measure", "測定")),
        ("/runs", "r", text!("Runs", "結果")),
        ("/models", "o", text!("Models", "モデル")),
        ("/served", "v", text!("Served", "提供中")),
        ("/studies", "s", text!("Studies", "スタディ")),
        ("/catalogue", "p", text!("Published", "公表値")),
    ]
}

/// Renders a whole page: its head and the given body.
pub(crate) fn whole(Reader { lang, theme }: Reader, title: &str, body: &Markup) -> Markup {
    let forced = Some(theme.word()).filter(|_| theme != Theme::Auto);
    html! {
        (DOCTYPE)
        html lang=(lang.pick("en", "ja")) data-theme=[forced] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                (links())
            }
            (body)
        }
    }
}

/// Renders the list of keyboard shortcuts.
fn keys(lang: Lang) -> Markup {
    let own = [("/", text!("search", "検索")), ("?", text!("these keys", "このキー一覧"))];
    let name = text!("keys", "キー操作");
    html! {
        button type="button" popovertarget="keys" aria-keyshortcuts="?" aria-label=(name.get(lang)) { "?" }
        div #keys popover="auto" role="dialog" aria-label=(name.get(lang)) {
            dl {
                @for (key, name) in ways().into_iter().map(|(_, key, name)| (key, name)).chain(own) {
                    dt { kbd { (key) } } dd { (name.get(lang)) }
                }
            }
            // Users of speech input would trigger the shortcuts by accident.
            label {
                input #letters type="checkbox" checked;
                " " (text!("Keyboard shortcuts are on", "キー操作を使う").get(lang))
            }
            (without_script(
                &text!("Keyboard shortcuts need the page's script, which is off.", "キー操作には JavaScript が必要です。"),
                lang,
            ))
        }
    }
}

impl Visit {
    /// Renders the whole page.
    pub(crate) fn page(&self, title: &Text, content: &Markup) -> Html<String> {
        let lang = self.reader.lang;
        let picture = text!("save this table as a picture", "この表を画像で保存");
        let computed = text!("computed by a model, not measured", "モデルの計算値(実測ではありません)");
        let note = self.is_modelled().then(|| computed.get(lang));
        let body = html! {
            body data-picture=(picture.get(lang)) data-note=[note] {
                a.skip href="#main" { (text!("skip to the content", "本文へ").get(lang)) }
                header.bar {
                    a.brand href="/" { b { "kurabe" } " " span lang="ja" { "比べ" } }
                    nav aria-label=(text!("pages", "ページ").get(lang)) {
                        @for (address, key, name) in ways() {
                            @let current = self.is_in(address).then_some("page");
                            a href=(address) aria-keyshortcuts=(key) aria-current=[current] { (name.get(lang)) }
                        }
                    }
                    (self.choices())
                }
                main #main { (content) }
                div.unseen #say role="status" aria-live="polite" {}
                div #tip role="status" hidden {}
            }
        };
        answer(whole(self.reader, &format!("{} · kurabe", title.line(lang)), &body))
    }

    /// Checks whether the tables of the page were computed by models. The picture of a table is
    /// seen without its page and must say so.
    fn is_modelled(&self) -> bool {
        ["/models/", "/studies/"].iter().any(|folder| self.uri.path().starts_with(folder))
    }

    /// Checks whether the page has this address or is below it.
    fn is_in(&self, address: &str) -> bool {
        let above = match self.uri.path() {
            "/compare" | "/matrix" | "/history" => "/runs",
            "/drive" => "/",
            own => own,
        };
        above == address || above.strip_prefix(address).is_some_and(|rest| rest.starts_with('/'))
    }

    fn choices(&self) -> Markup {
        let Reader { lang, theme } = self.reader;
        let (word, name) = match lang {
            Lang::En => ("ja", "日本語"),
            Lang::Ja => ("en", "English"),
        };
        // The link says what it does, not what is now the case.
        let (next, title) = match theme {
            Theme::Auto | Theme::Page => (Theme::Dark, text!("Switch to dark", "ダークに切り替え")),
            Theme::Dark => (Theme::Light, text!("Switch to light", "ライトに切り替え")),
            Theme::Light => (Theme::Auto, text!("Follow the system", "システムに合わせる")),
        };
        let back = encoded(self.uri.path_and_query().map_or("/", |address| address.as_str()));
        let choice = |what: &str, word: &str| format!("/choose/{what}/{word}?back={back}");
        html! {
            div.choices {
                a href=(choice("lang", word)) lang=(word) hreflang=(word) { (name) }
                a href=(choice("theme", next.word())) { (title.get(lang)) }
                (keys(lang))
            }
        }
    }
}

/// Returns a page or a fragment as a response. Control characters in text from outside are escaped
/// here, so that no page can forget it. Line breaks are harmless in markup.
pub(crate) fn answer(markup: Markup) -> Html<String> {
    Html(Shown::lines(&markup.into_string()).as_ref().to_owned())
}

/// Renders a document of the report crate.
pub(crate) fn written(doc: &Doc, lang: Lang) -> Markup {
    PreEscaped(doc.html(lang))
}

/// Encodes text for an address.
pub(crate) fn encoded(words: &str) -> String {
    shown::address(words.as_bytes(), &[])
}

/// Renders links: addresses and their texts.
pub(crate) fn ways_to(ways: impl IntoIterator<Item = (impl Render, Text)>, lang: Lang) -> Markup {
    html! {
        p.ways {
            @for (address, name) in ways { a href=(address) { (name.get(lang)) } " " }
        }
    }
}

/// A tab of a page: its id in addresses, its title, and its content, which is created only if it is
/// shown.
pub(crate) type Tab<'a> = (&'static str, Text, Box<dyn FnOnce() -> Result<Markup> + 'a>);

/// Returns the sections of a report as tabs, to which others can be added.
pub(crate) fn report_tabs<'a>(report: &Report<'_>, lang: Lang) -> Vec<Tab<'a>> {
    let tab =
        |(id, title, doc): (_, _, Doc)| -> Tab<'a> { (id, title, Box::new(move || Ok(written(&doc, lang)))) };
    report.parts().into_iter().map(tab).collect()
}

/// Renders tabs as links, so that they work without JavaScript. The first tab is shown by default.
pub(crate) fn tabs(address: &str, tabs: Vec<Tab<'_>>, asked: Option<&str>, lang: Lang) -> Result<Markup> {
    let shown = tabs.iter().position(|(id, ..)| Some(*id) == asked).unwrap_or(0);
    let joint = if address.contains('?') { '&' } else { '?' };
    let names = text!("parts of this page", "このページの内容");
    Ok(html! {
        nav.tabs aria-label=(names.get(lang)) {
            @for (number, (id, title, _)) in tabs.iter().enumerate() {
                // Links to a section on the page lead to its tab.
                a id=(id) href={ (address) (joint) "tab=" (id) } aria-current=[(number == shown).then_some("page")] {
                    (title.get(lang))
                }
            }
        }
        @for (id, title, content) in tabs.into_iter().skip(shown).take(1) {
            section.part id={ "part-" (id) } {
                h2.unseen { (title.get(lang)) }
                (content()?)
            }
        }
    })
}

/// Returns the address of a comparison of runs.
pub(crate) fn compare_address<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    let ids: Vec<String> = ids.into_iter().map(|id| format!("run={}", encoded(id))).collect();
    format!("/compare?{}", ids.join("&"))
}

/// Renders a form with checkboxes, and the button that compares everything that is ticked in any
/// list.
pub(crate) fn to_compare(things: &Markup, lang: Lang) -> Markup {
    let too_few = text!("tick two or more to compare", "比べるものを 2 つ以上選んでください");
    let words = text!("Compare the ticked ones", "選んだものを比べる");
    html! {
        form #compare method="get" action="/compare" {
            (things)
            p.actions {
                button.main data-too-few=(too_few.get(lang)) data-words=(words.get(lang)) { (words.get(lang)) }
                " " button.untick type="button" hidden { (text!("Clear", "選択を解除").get(lang)) }
            }
        }
    }
}

/// Renders the runs of a device by date, with links to the runs. The selected runs are overlaid at
/// `address`, which may also need a target.
pub(crate) fn dated_runs<'a>(
    address: &str,
    target: Option<&str>,
    runs: impl IntoIterator<Item = (&'a str, &'a str, bool)>,
    lang: Lang,
) -> Markup {
    html! {
        form.line method="get" action=(address) {
            @if let Some(target) = target { input type="hidden" name="target" value=(target); }
            @for (id, started_at, is_ticked) in runs {
                label {
                    input type="checkbox" name="run" value=(id) checked[is_ticked]; " "
                    a href={ "/runs/" (encoded(id)) } { (number::date_minute(started_at)) }
                } " "
            }
            button { (text!("overlay", "重ねて比べる").get(lang)) }
        }
    }
}

/// Renders a labelled list to choose from: values and their names, one of them selected.
pub(crate) fn choice<'a>(
    (name, label): (&str, Text),
    options: impl IntoIterator<Item = (&'a str, Text)>,
    chosen: Option<&str>,
    lang: Lang,
) -> Markup {
    html! {
        label {
            (label.get(lang)) " "
            select name=(name) {
                @for (value, words) in options {
                    option value=(value) selected[chosen == Some(value)] { (words.get(lang)) }
                }
            }
        } " "
    }
}

/// Renders the list of profiles in groups, with their durations.
pub(crate) fn profiles(chosen: &str, lang: Lang) -> Result<Markup> {
    Ok(html! {
        label {
            (text!("Profile", "プロファイル").get(lang)) " "
            select name="profile" {
                @for (group, choices) in profile_choices()? {
                    optgroup label=(group.get(lang)) {
                        @for ProfileChoice { name, words } in choices {
                            option value=(name) selected[name == chosen] { (words.get(lang)) }
                        }
                    }
                }
            }
        } " "
    })
}

/// Renders the notice for features that need JavaScript.
pub(crate) fn without_script(words: &Text, lang: Lang) -> Markup {
    html! { noscript { p.notice.warn { (words.get(lang)) } } }
}

/// Handles `GET /choose/WHAT/WORD`.
pub(crate) async fn choose(
    Path((what, word)): Path<(String, String)>,
    Query(asked): Query<HashMap<String, String>>,
) -> Response {
    let choice = match (what.as_str(), word.as_str()) {
        ("lang", "ja" | "en") => Some((LANG_COOKIE, word.as_str())),
        ("theme", word) => Theme::of_word(word).map(|theme| (THEME_COOKIE, theme.word())),
        _ => None,
    };
    let Some((name, word)) = choice else { return StatusCode::NOT_FOUND.into_response() };
    let cookie = format!("{name}={word}; Path=/; Max-Age=31536000; SameSite=Strict");
    ([(header::SET_COOKIE, cookie)], Redirect::to(own_page(asked.get("back").map_or("/", String::as_str))))
        .into_response()
}

/// Returns the page to return to: a page of this server, or the first page.
fn own_page(back: &str) -> &str {
    let is_path = back.starts_with('/') && !back.starts_with("//");
    let is_plain = back.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_path && is_plain { back } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_attributes_cannot_become_markup() {
        let hostile = "\"><img src=x onerror='alert(1)'>&amp;\u{202e}";
        let Html(page) = answer(html! { p title=(hostile) { (hostile) } });
        let escaped = "&quot;&gt;&lt;img src=x onerror='alert(1)'&gt;&amp;amp;\\u{202e}";
        assert_eq!(page, format!("<p title=\"{escaped}\">{escaped}</p>"));
    }
}

#[cfg(test)]
mod ways_back {
    use super::*;

    #[test]
    fn a_way_back_stays_on_this_server() {
        assert_eq!(own_page("/runs?q=a%20b"), "/runs?q=a%20b");
        for foreign in
            ["", "//evil.example/", "https://evil.example", "/\\evil.example", "/a\r\nSet-Cookie: b", "evil"]
        {
            assert_eq!(own_page(foreign), "/", "{foreign:?}");
        }
    }
}
