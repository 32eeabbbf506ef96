//! An error as the page shows it: what happened, the remedy, and a link to it.
//!
//! The model: if an error mentions a part of the command line that the page also has, the page's
//! name for it is used, with a link. Other remedies are marked as remedies on the command line.

use kurabe_core::mention::{BASELINE, BY, CATALOGUE, LIST, MODELS, Mention, PROFILES, RUN, VARY};
use kurabe_core::{Error, ErrorKind, Lang, Text, text};
use kurabe_store::without_passwords;

/// Creates an error for an invalid request, with its remedy.
pub(crate) fn usage(what: Text, remedy: Text) -> Error {
    ErrorKind::Usage.error(what).remedy(remedy)
}

/// The texts of an error.
#[derive(Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) what: Text,
    pub(crate) cause: Option<Text>,
    pub(crate) remedy: Option<Text>,
    /// Address of the remedy.
    pub(crate) link: Option<&'static str>,
}

/// Parts of the command line that the page also has: the quotation mark around the mention, the
/// page's names for it, and its address. `None` if it is on the same page.
const NAMES: [(&str, Mention, &str, &str, Option<&str>); 9] = [
    ("`", LIST, "the list of runs", "結果の一覧", Some("/runs")),
    ("`", MODELS, "the list of models", "モデルの一覧", Some("/models")),
    ("`", CATALOGUE, "the list of published figures", "公表値の一覧", Some("/catalogue")),
    ("`", PROFILES, "the list of profiles in the form", "フォームのプロファイル一覧", Some("/")),
    ("", PROFILES, "the list of profiles in the form", "フォームのプロファイル一覧", Some("/")),
    ("`", RUN, "the first page", "最初のページ", Some("/")),
    ("", BASELINE, "against", "基準", None),
    ("", BY, "by", "並べるもの", None),
    ("", VARY, "the list of other settings", "条件の指定", None),
];

impl Message {
    pub(crate) fn of(error: &Error) -> Self {
        let (what, _) = worded(error.what());
        let (remedy, link) = error.remedy_text().map(worded).unzip();
        let runs = (error.kind() == ErrorKind::NoSuchRun).then_some("/runs");
        let remedy = remedy.map(|remedy| match remedy.mentions_any() {
            true => text!("on the command line: {remedy}", "コマンドラインでは: {remedy}"; remedy),
            false => remedy,
        });
        // The user may have typed a database URL into another field.
        let [what, remedy, cause] = [Some(what), remedy, error.cause().map(Text::same)]
            .map(|text| text.map(|text| text.map(|words| without_passwords(words).into_owned())));
        Self { what: what.unwrap_or_default(), cause, remedy, link: link.flatten().or(runs) }
    }

    /// Returns all texts in a line.
    pub(crate) fn line(&self, lang: Lang) -> String {
        let parts = [Some(&self.what), self.cause.as_ref(), self.remedy.as_ref()];
        parts.into_iter().flatten().map(|part| part.line(lang)).collect::<Vec<_>>().join(" — ")
    }
}

fn worded(text: &Text) -> (Text, Option<&'static str>) {
    let (mut own, mut link) = (text.clone(), None);
    for (quote, mention, en, ja, address) in NAMES {
        let mention = format!("{quote}{mention}{quote}");
        if [Lang::En, Lang::Ja].iter().any(|lang| own.marked(*lang).contains(&mention)) {
            let name = |lang, name| own.marked(lang).replace(&mention, name);
            own = Text::of(name(Lang::En, en), name(Lang::Ja, ja));
            link = link.or(address);
        }
    }
    (own, link)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::mention::DB;

    fn message(what: Text, remedy: Text) -> Message {
        Message::of(&ErrorKind::Usage.error(what).remedy(remedy))
    }

    #[test]
    fn what_the_page_has_is_named_as_there_with_a_link() {
        let error = message(
            text!("{BASELINE} x: none", "{BASELINE} x: なし"),
            text!("`{LIST}` shows all runs", "`{LIST}` で一覧を見られます"),
        );
        assert_eq!(error.what, text!("against x: none", "基準 x: なし"));
        let remedy = text!("the list of runs shows all runs", "結果の一覧 で一覧を見られます");
        assert_eq!((error.remedy, error.link), (Some(remedy), Some("/runs")));
    }

    #[test]
    fn what_the_page_has_not_is_said_to_be_of_the_command_line() {
        let error = message(text!("full", "満杯"), text!("name another with {DB} FILE", "{DB} FILE で指定"));
        let remedy =
            text!("on the command line: name another with --db FILE", "コマンドラインでは: --db FILE で指定");
        assert_eq!((error.remedy, error.link), (Some(remedy), None));
        let arguments = text!("`{CATALOGUE} x` searches", "`{CATALOGUE} x` で検索");
        let remedy = message(text!("none", "なし"), arguments).remedy.unwrap();
        assert_eq!(remedy.en, "on the command line: `kurabe catalogue x` searches");
        let plain = text!("a newer kurabe wrote it: update this one", "更新してください");
        assert_eq!(message(text!("full", "満杯"), plain.clone()).remedy, Some(plain));
    }
}
