//! Errors in the command line, in the user's language.
//!
//! clap finds the mistake and describes it in English. For Japanese, the sentence is rebuilt from
//! the parts that clap reports: the argument, the value and the valid values. For kinds of mistakes
//! without a sentence here, clap's message is used.

use crate::lang::t;
use clap::error::{ContextKind, ErrorKind};
use kurabe_core::{Text, phrases, text};
use kurabe_fio::fio_options;
use std::error::Error as _;

/// Describes the mistake in a line; for Japanese readers, including the valid values.
pub fn what(error: &clap::Error) -> Text {
    let words = error.to_string();
    let en = words.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let ja = sentence(error).unwrap_or_else(|| en.clone());
    Text::of(en, ja)
}

/// Returns the whole message in Japanese, or `None` if only clap's message is available.
pub fn in_japanese(error: &clap::Error) -> Option<String> {
    let mut message = format!("kurabe: {}\n", sentence(error)?);
    if let Some(remedy) = remedy(error) {
        message.push_str(&format!("  対処: {remedy}\n"));
    }
    if let Some(usage) = told(error, ContextKind::Usage) {
        message.push_str(&format!("\n{}\n", usage.trim_end().replace("Usage:", "使い方:")));
    }
    message.push_str("\n詳しくは --help をご覧ください。\n");
    Some(message)
}

/// Returns the hint for an argument that is an option of fio and not of kurabe.
pub fn of_fio(error: &clap::Error) -> Option<&'static str> {
    let word = told(error, ContextKind::InvalidArg).filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    let is_option = fio_options().iter().any(|group| group.names.iter().any(|other| other == name));
    is_option.then(|| {
        t(
            "  tip: this is a fio option; put a fio command line after `kurabe fio` unchanged",
            "  ヒント: fio のオプションです。fio の行は `kurabe fio` の後にそのまま書けます",
        )
    })
}

/// The tip for a command that is not separated from the options of `price` and `on`.
pub fn of_command(error: &clap::Error) -> Option<String> {
    let word = told(error, ContextKind::InvalidArg).filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let takes_command = told(error, ContextKind::Usage)?.contains("-- <COMMAND>");
    (takes_command && !word.starts_with('-')).then(|| {
        let tip = text!(
            "  tip: write `--` before the command: -- {word}",
            "  ヒント: コマンドの前に `--` を書いてください: -- {word}"
        );
        tip.take(crate::lang::lang())
    })
}

/// Returns a part that clap reports, or `None` if it is empty.
fn told(error: &clap::Error, kind: ContextKind) -> Option<String> {
    error.get(kind).map(ToString::to_string).filter(|words| !words.is_empty())
}

fn sentence(error: &clap::Error) -> Option<String> {
    let argument = told(error, ContextKind::InvalidArg);
    let value = told(error, ContextKind::InvalidValue);
    Some(match error.kind() {
        ErrorKind::InvalidValue => match (argument?, value) {
            (argument, Some(value)) => format!("{argument} に `{value}` は指定できません"),
            (argument, None) => format!("{argument} の値がありません"),
        },
        ErrorKind::ValueValidation => {
            let why = error
                .source()
                .map(|source| format!(": {}", phrases::in_japanese(PARSERS, &source.to_string())));
            let why = why.unwrap_or_default();
            format!("{} に `{}` は指定できません{why}", argument?, value?)
        }
        ErrorKind::UnknownArgument => format!("`{}` という引数はありません", argument?),
        ErrorKind::InvalidSubcommand => {
            format!("`{}` というコマンドはありません", told(error, ContextKind::InvalidSubcommand)?)
        }
        ErrorKind::MissingRequiredArgument => format!("必要な引数がありません: {}", argument?),
        ErrorKind::ArgumentConflict => match told(error, ContextKind::PriorArg)? {
            prior if Some(&prior) == argument.as_ref() => format!("{prior} は 1 回しか指定できません"),
            prior => format!("{} と {prior} は同時に指定できません", argument?),
        },
        ErrorKind::TooManyValues => format!("{} に余分な値 `{}` があります", argument?, value?),
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            format!("{} の値の数が違います", argument?)
        }
        ErrorKind::InvalidUtf8 => "UTF-8 でない文字があります".to_owned(),
        _ => return None,
    })
}

/// English messages of clap's number parsers, with their Japanese. The parsers of kurabe use the
/// user's language themselves.
const PARSERS: &str = "\
{} is not in {}..=4294967295
  {1} 以上の整数です
{} is not in {}..={}
  {1} から {2} までの整数です
{} is not in {}..
  {1} 以上の整数です
invalid digit found in string
  整数ではありません
number too large to fit in target type
  大きすぎる数です
number too small to fit in target type
  小さすぎる数です
cannot parse integer from empty string
  値が空です
value was not a boolean
  true か false です
";

fn remedy(error: &clap::Error) -> Option<String> {
    let nearest = [ContextKind::SuggestedValue, ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand]
        .into_iter()
        .find_map(|kind| told(error, kind));
    let valid = told(error, ContextKind::ValidValue);
    match (nearest, valid) {
        (Some(nearest), Some(valid)) => Some(format!("`{nearest}` ではありませんか?(使える値: {valid})")),
        (Some(nearest), None) => Some(format!("`{nearest}` ではありませんか?")),
        (None, Some(valid)) => Some(format!("使える値: {valid}")),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::Parser;

    fn of(words: &str) -> String {
        let error = Cli::try_parse_from(words.split(' ')).expect_err("a mistake");
        in_japanese(&error).expect("a sentence")
    }

    #[test]
    fn every_mistake_has_a_japanese_sentence() {
        for (words, says) in [
            ("kurabe compare a b --margin x", "--margin <PERCENT> に `x` は指定できません: "),
            ("kurabe run --iodepth 0", "`0` は指定できません: 1 から "),
            ("kurabe run --iodepth x", "`x` は指定できません: 整数ではありません"),
            ("kurabe list --last 0", "`0` は指定できません: 1 以上の整数です"),
            ("kurabe run --seed 99999999999999999999", "大きすぎる数です"),
            ("kurabe report -f pdf", "使える値: html, md, svg, png, csv, json"),
            ("kurabe sweep --over siez", "`size` ではありませんか?(使える値: all, size"),
            ("kurabe recommend a", "必要な引数がありません: --for <USE|FILE>"),
            ("kurabe versus", "使い方: kurabe versus"),
            ("kurabe run --nope", "`--nope` という引数はありません"),
            ("kurabe runn", "`run` ではありませんか?"),
            ("kurabe compare --margin", "--margin <PERCENT> の値がありません"),
            ("kurabe card a b", "`b` という引数はありません"),
            ("kurabe card --theme dark --theme light", "--theme <THEME> は 1 回しか指定できません"),
        ] {
            let sentence = of(words);
            assert!(sentence.contains(says), "{words}: {sentence}");
            assert!(!sentence.contains("error") && !sentence.contains("For more"), "{sentence}");
        }
    }

    #[test]
    fn a_command_without_its_separator_gets_a_tip() {
        let tip = |words: &str| of_command(&Cli::try_parse_from(words.split(' ')).expect_err("a mistake"));
        for words in ["kurabe price ./prog", "kurabe on model:ssd-sata ./prog"] {
            assert!(tip(words).is_some_and(|tip| tip.ends_with("-- ./prog")), "{words}");
        }
        for words in ["kurabe price --nope -- ./prog", "kurabe card a b"] {
            assert_eq!(tip(words), None, "{words}");
        }
    }

    #[test]
    fn a_script_gets_both_languages() {
        let error = Cli::try_parse_from(["kurabe", "versus"]).expect_err("a mistake");
        let what = what(&error);
        assert!(what.en.contains("required") && what.ja.contains("必要な引数"), "{what:?}");
    }
}
