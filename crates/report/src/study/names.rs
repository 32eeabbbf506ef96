//! Names in sentences: lists of names, in quotation marks if a name contains a comma or a colon.

use kurabe_core::{Text, text};
use kurabe_study::QuestionResult;

/// Puts all names in quotation marks if any of them could be mistaken for two.
pub(super) fn quoted<'t>(names: impl Iterator<Item = &'t Text> + Clone) -> Vec<Text> {
    let parts = |word: &str| word.contains([',', ':', ';', '、', '：', '/']);
    let (en, ja) = (names.clone().any(|name| parts(&name.en)), names.clone().any(|name| parts(&name.ja)));
    let quote = |name: &Text| {
        Text::of(
            if en { format!("\"{}\"", name.en) } else { name.en.clone() },
            if ja { format!("「{}」", name.ja) } else { name.ja.clone() },
        )
    };
    names.map(quote).collect()
}

/// Returns the names of a verdict's choices for its sentences.
pub(super) fn choices(verdict: &QuestionResult) -> Vec<Text> {
    quoted(verdict.choices.iter().map(|choice| &choice.name))
}

/// Returns the name of one choice.
pub(super) fn choice(index: usize, verdict: &QuestionResult) -> Text {
    choices(verdict).swap_remove(index)
}

/// Joins names as in a sentence.
pub(super) fn list(names: &[Text]) -> Text {
    match names {
        [first @ .., last] if !first.is_empty() => {
            let first = Text::list(first.iter().cloned());
            text!("{first} and {last}", "{first}、{last}"; first, last)
        }
        names => Text::list(names.iter().cloned()),
    }
}

/// Lists the same figures of several choices, as in `SCSI2SD V6: sequential write, random write`.
pub(super) fn cells(of: &[(usize, Text)], verdict: &QuestionResult) -> Text {
    let cells = choices(verdict).into_iter().enumerate().filter_map(|(index, name)| {
        let figures = of.iter().filter(|(choice, _)| *choice == index).map(|(_, figure)| figure.clone());
        let figures = Some(Text::list(figures)).filter(|figures| !figures.is_empty())?;
        Some(text!("{name}: {figures}", "{name}: {figures}"; name, figures))
    });
    Text::join(cells, ["; ", " / "])
}

/// Removes from Japanese text the spaces around a name that was put into brackets.
pub(super) fn closed_up(ja: &str) -> String {
    let mut out = String::new();
    let mut rest = ja.chars().peekable();
    while let Some(letter) = rest.next() {
        let before = out.chars().next_back().is_some_and(|last| !last.is_ascii());
        let after = rest.peek();
        let opens = before && after == Some(&'「');
        let closes = out.ends_with('」') && after.is_some_and(|next| !next.is_ascii());
        if letter != ' ' || !(opens || closes) {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::spaced;

    #[test]
    fn a_name_with_a_comma_puts_all_of_a_list_into_quotation_marks() {
        let names = [Text::same("a"), text!("b: c, d", "b(c)")];
        let list = list(&quoted(names.iter()));
        assert_eq!((list.en.as_str(), list.ja.as_str()), ("\"a\" and \"b: c, d\"", "a、b(c)"));
        let plain = [Text::same("a"), Text::same("b")];
        assert_eq!(quoted(plain.iter()), plain);
    }

    #[test]
    fn a_latin_name_stands_apart_from_japanese_words() {
        assert_eq!(
            ["DelayRatio", "4 KiB 読み出し", "速度"].map(spaced),
            [" DelayRatio ", " 4 KiB 読み出し", "速度"]
        );
    }

    #[test]
    fn brackets_stand_close_to_japanese_words_and_apart_from_figures() {
        assert_eq!(closed_up("2 番目の 「a、b」 より 3 % 速い"), "2 番目の「a、b」より 3 % 速い");
        assert_eq!(closed_up("「a、b」 10.5 MB / 「c」 2 MB"), "「a、b」 10.5 MB / 「c」 2 MB");
    }
}
