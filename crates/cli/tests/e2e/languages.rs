//! Japanese: by the locale and by `--lang`.

use crate::lab::{Ended, Lab, Live, ONE_CELL, text};

fn in_japan(lab: &Lab, words: &[&str]) -> Ended {
    let mut command = lab.command(words);
    command.env("LC_ALL", "ja_JP.UTF-8");
    Live::start(command).end()
}

fn has_japanese(output: &str) -> bool {
    output.chars().any(|letter| ('\u{3040}'..='\u{30ff}').contains(&letter))
}

#[test]
fn the_locale_makes_everything_japanese() {
    let lab = Lab::new();
    let run = in_japan(&lab, &[&["run", text(&lab.target())], &ONE_CELL[..]].concat()).ok();
    assert!(run.out.contains("読み出し") && run.out.contains("MB/s"), "{run:#?}");
    assert!(has_japanese(&run.err), "{run:#?}");
    let list = in_japan(&lab, &["list"]).ok().out;
    assert!(list.contains("測定内容") && list.contains("読み出し最高"), "{list}");
    let details = in_japan(&lab, &["show", "--details"]).ok().out;
    assert!(has_japanese(&details), "{details}");
    let error = in_japan(&lab, &["run", "/missing"]);
    assert_eq!(error.code(), Some(4), "{error:#?}");
    assert!(error.err.contains("測定対象にできません") && error.err.contains("  対処: "), "{error:#?}");
    for words in [&["--help"][..], &["run", "--help"], &["profiles"], &["doctor"]] {
        let ended = in_japan(&lab, words).ok();
        assert!(has_japanese(&ended.out), "{words:?}: {ended:#?}");
    }
}

#[test]
fn the_flag_is_stronger_than_the_locale() {
    let lab = Lab::new();
    lab.run(&lab.target(), &ONE_CELL).ok();
    assert!(lab.kurabe(&["list", "--lang", "ja"]).ok().out.contains("読み出し最高"));
    assert!(lab.kurabe(&["--lang=ja", "show"]).ok().out.contains("読み出し"));
    assert!(has_japanese(&lab.kurabe(&["--lang", "ja", "--help"]).ok().out));
    let english = in_japan(&lab, &["list", "--lang", "en"]).ok().out;
    assert!(english.contains("best read") && !has_japanese(&english), "{english}");
}

#[test]
fn english_output_has_no_japanese_in_it() {
    let lab = Lab::new();
    let run = lab.run(&lab.target(), &ONE_CELL).ok();
    for output in
        [&run.out, &run.err, &lab.kurabe(&["show", "--details"]).ok().out, &lab.kurabe(&["--help"]).ok().out]
    {
        assert!(!has_japanese(output), "{output}");
    }
}

#[test]
fn the_table_says_the_same_in_both_languages() {
    let lab = Lab::new();
    lab.run(&lab.target(), &ONE_CELL).ok();
    let figures = |lang: &str| {
        let out = lab.kurabe(&["show", "--lang", lang]).ok().out;
        let row =
            out.lines().find(|line| line.contains("MB/s") && line.contains("RND")).expect("a row").to_owned();
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(figures("en"), figures("ja"));
}
