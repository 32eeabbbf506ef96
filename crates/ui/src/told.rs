//! Errors in the words of the page: what happened, what to do about it, and where that is.
//!
//! The model: errors are made by rooms that know a command line and no page. Where the page has the same thing, it is named as the page
//! names it, and a link leads there; what only a command line can do is said to be of the command line.

use kurabe_core::{Error, ErrorKind, Text, text};

/// An error as the page tells it.
#[derive(Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) what: Text,
    pub(crate) cause: Option<String>,
    pub(crate) remedy: Option<Text>,
    /// Where the remedy is.
    pub(crate) way: Option<&'static str>,
}

/// Words of a command line, the same on the page in English and in Japanese, and where that is; nowhere if it is on the same page.
const SAME: [(&str, &str, &str, Option<&str>); 8] = [
    ("`kurabe list`", "the list of runs", "結果の一覧", Some("/runs")),
    ("`kurabe models`", "the list of models", "モデルの一覧", Some("/models")),
    ("`kurabe catalogue`", "the list of published figures", "公表値の一覧", Some("/catalogue")),
    ("`kurabe profiles`", "the list of profiles in the form", "フォームのプロファイル一覧", Some("/")),
    ("kurabe profiles", "the list of profiles in the form", "フォームのプロファイル一覧", Some("/")),
    ("`kurabe run`", "the first page", "最初のページ", Some("/")),
    ("--baseline ", "against ", "基準 ", None),
    ("--by ", "by ", "並べるもの ", None),
];

impl Told {
    pub(crate) fn of(error: &Error) -> Self {
        let (what, _) = in_words_of_the_page(error.what());
        let remedy = error.remedy_text().map(in_words_of_the_page);
        let (remedy, way) = remedy.unzip();
        let runs = (error.kind() == ErrorKind::NoSuchRun).then_some("/runs");
        Self {
            what,
            cause: error.cause().map(str::to_owned),
            remedy: remedy.map(told_of_the_command_line),
            way: way.flatten().or(runs),
        }
    }
}

fn in_words_of_the_page(words: &Text) -> (Text, Option<&'static str>) {
    let (mut own, mut way) = (words.clone(), None);
    for (word, en, ja, address) in SAME {
        if own.en.contains(word) || own.ja.contains(word) {
            own = Text { en: own.en.replace(word, en), ja: own.ja.replace(word, ja) };
            way = way.or(address);
        }
    }
    (own, way)
}

fn told_of_the_command_line(words: Text) -> Text {
    if !["--", "`kurabe ", "(kurabe "].iter().any(|word| words.en.contains(word)) {
        return words;
    }
    text!("on the command line: {words}", "コマンドラインでは: {words}"; words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(what: Text, remedy: Text) -> Told {
        Told::of(&Error::new(ErrorKind::Usage, what).remedy(remedy))
    }

    #[test]
    fn what_the_page_has_is_named_as_there_with_the_way() {
        let error = told(
            text!("--baseline x: none", "--baseline x: なし"),
            text!("`kurabe list` shows all runs", "`kurabe list` で一覧を見られます"),
        );
        assert_eq!(error.what, text!("against x: none", "基準 x: なし"));
        let remedy = text!("the list of runs shows all runs", "結果の一覧 で一覧を見られます");
        assert_eq!((error.remedy, error.way), (Some(remedy), Some("/runs")));
    }

    #[test]
    fn what_the_page_has_not_is_said_to_be_of_the_command_line() {
        let error = told(text!("full", "満杯"), text!("name another with --db FILE", "--db FILE で指定"));
        let remedy =
            text!("on the command line: name another with --db FILE", "コマンドラインでは: --db FILE で指定");
        assert_eq!((error.remedy, error.way), (Some(remedy), None));
        let plain = text!("a newer kurabe wrote it: update this one", "更新してください");
        assert_eq!(told(text!("full", "満杯"), plain.clone()).remedy, Some(plain));
    }
}
