//! References to options and commands of the command line within a sentence. A reference is data,
//! and each front end decides how to word it.
//!
//! A mention appears in the format strings of `text!` by its constant (`{SIZE}`, `` `{LIST}` ``).
//! It is formatted as typed, between two marks. A [`Text`](crate::Text) removes the marks and also
//! stores the marked form. Terminals and records show the typed form. A web page has neither
//! options nor commands, so it substitutes its own names. `{RUN:#}` is formatted without marks, for
//! command lines that are not part of a sentence.

use std::fmt;

/// Unicode noncharacters (for internal use within a program) that surround a mention.
const MARKS: [char; 2] = ['\u{fdd0}', '\u{fdd1}'];

/// Something that can be typed on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mention {
    /// An option of kurabe's commands, identified by the name of its constant.
    Flag(&'static str),
    /// A kurabe command, identified by the name of its constant.
    Command(&'static str),
    /// A command of another program, as it is typed.
    Shell(&'static str),
}

impl fmt::Display for Mention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let typed = match self {
            Self::Flag(name) => format!("--{}", name.to_lowercase().replace('_', "-")),
            Self::Command(name) => format!("kurabe {}", name.to_lowercase().replace('_', " ")),
            Self::Shell(line) => (*line).to_owned(),
        };
        let [begin, end] = MARKS;
        if f.alternate() { f.write_str(&typed) } else { write!(f, "{begin}{typed}{end}") }
    }
}

/// Returns whether the text contains a mention.
pub(crate) fn is_marked(words: &str) -> bool {
    words.contains(MARKS)
}

/// Returns the text with its mentions as typed.
pub(crate) fn typed(words: &str) -> String {
    words.replace(MARKS, "")
}

/// Defines constants and a list of all of them.
macro_rules! mentions {
    ($list:ident: $kind:ident, $($name:ident)+) => {
        $(#[doc = concat!("See [`Mention::", stringify!($kind), "`].")]
        pub const $name: Mention = Mention::$kind(stringify!($name));)+

        /// All mentions of this kind.
        pub const $list: &[Mention] = &[$($name),+];
    };
}

mentions! { FLAGS: Flag,
    ABOUT ALL ALL_DEVICES AXIS BASELINE BESIDE BS BUFFERED BY CACHE CELL CHART CHUNK COUNT DATA DB
    DESTROY_DATA_ON DETAILS DIRECT DIRECTION ENGINE EXPORTS FILES FORCE FOREGROUND FORMAT FSYNC HELP
    IODEPTH JSON LANG LAYER MARGIN MAX MEASURED NO_FILL O_SYNC OFFSET ON OUTPUT OVER PAGES PER_REQUEST POWER_CUTS PROBE PROFILE QUIET REPETITION REPLAY ROUND_TRIP RUNS RW SET SIZE SOCKET
    THREADS TIME TIMING TO TRACE VARY VERIFY WAIT WITHOUT WITH_SERIAL WRITE WRITE_EXISTING
}

mentions! { COMMANDS: Command,
    ATTACH CATALOGUE CATALOGUE_SHOW CHECK COMPARE CONTROL DETACH DOCTOR EXPORT FIO FIT HISTORY IMPORT LABEL LIST MODELS
    MODELS_SHOW PROFILES PROFILES_SHOW PULL PUSH RECORD REPORT RM RUN SERVE SHOW STUDY_RUN STUDY_SHOW SWEEP VERSUS WHAT
    WHY
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lang, Text, text};

    #[test]
    fn a_mention_is_shown_as_it_is_typed_and_kept_through_every_change() {
        let text =
            text!("more with {DESTROY_DATA_ON}: `{MODELS_SHOW}`", "{DESTROY_DATA_ON}、`{MODELS_SHOW}`");
        assert_eq!(text.en, "more with --destroy-data-on: `kurabe models show`");
        assert_eq!(text.ja, "--destroy-data-on、`kurabe models show`");
        let mut longer = Text::clauses([text!("a", "b"), text!("[{text}]", "[{text}]"; text)]);
        longer.push(&text.map(|words| words.replace(&MODELS_SHOW.to_string(), "models")));
        assert_eq!(longer.ja, "b。[--destroy-data-on、`kurabe models show`]--destroy-data-on、`models`");
        assert_eq!(longer.marked(Lang::Ja).matches(&DESTROY_DATA_ON.to_string()).count(), 2);
        assert_eq!(
            (format!("{RUN:#} ."), Mention::Shell("ls -l").to_string().len()),
            ("kurabe run .".to_owned(), 11)
        );
    }

    #[test]
    fn a_record_has_the_words_alone() {
        let text = text!("{SIZE}", "{SIZE}");
        let json = serde_json::to_string(&text).unwrap();
        assert_eq!(json, r#"{"en":"--size","ja":"--size"}"#);
        let read: Text = serde_json::from_str(&json).unwrap();
        assert!(read == text && !read.mentions_any() && text.mentions_any());
    }
}
