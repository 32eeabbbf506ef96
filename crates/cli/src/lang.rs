//! The language of this process: `--lang`, else `LC_ALL`, `LC_MESSAGES` or `LANG`.

use kurabe_core::Lang;
use std::sync::OnceLock;

static LANG: OnceLock<Lang> = OnceLock::new();

/// Determines the language. Called before the command line is parsed, because the help depends on
/// it.
pub fn decide(args: &[String]) -> Lang {
    *LANG.get_or_init(|| asked(args).unwrap_or_else(from_environment))
}

/// Returns the language of this process.
pub fn lang() -> Lang {
    LANG.get().copied().unwrap_or_default()
}

/// Returns the literal in the current language.
pub fn t(en: &'static str, ja: &'static str) -> &'static str {
    lang().pick(en, ja)
}

/// Returns the help page in the current language, to appear below the options of a command.
pub fn page(en: &'static str, ja: &'static str) -> &'static str {
    t(en, ja).trim_end()
}

/// Expands to the page in `help` that appears below the options of a command, in the current
/// language.
macro_rules! below {
    ($command:literal) => {
        $crate::lang::page(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/help/", $command, ".en.txt")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/help/", $command, ".ja.txt")),
        )
    };
}
pub(crate) use below;

fn asked(args: &[String]) -> Option<Lang> {
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--lang") {
            Some("") => words.next().map(String::as_str),
            Some(rest) => rest.strip_prefix('='),
            None if word == "--" => return None,
            None => continue,
        };
        return value.map(Lang::from_locale);
    }
    None
}

fn from_environment() -> Lang {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .map_or(Lang::En, |locale| Lang::from_locale(&locale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_found_in_both_forms() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(asked(&words(&["kurabe", "--lang", "ja", "list"])), Some(Lang::Ja));
        assert_eq!(asked(&words(&["kurabe", "--lang=en"])), Some(Lang::En));
        assert_eq!(asked(&words(&["kurabe", "--language"])), None);
        assert_eq!(asked(&words(&["kurabe", "--", "--lang=ja"])), None);
    }
}
