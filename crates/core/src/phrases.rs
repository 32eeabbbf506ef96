//! Japanese translations of English phrases that are data: phrases stored in a record, or named as
//! a source in a device file.
//!
//! A page contains a phrase on each line, followed by its Japanese on the next line. `{}` in a
//! phrase is a placeholder for a name, a figure or another phrase. `{0}` and `{1}` in the Japanese
//! give their positions there. An exact match has priority, then the first line that matches. A
//! phrase that is not on the page stays unchanged.

/// Returns the Japanese translation of a phrase.
pub fn in_japanese(page: &str, phrase: &str) -> String {
    translated(page, phrase, &mut |_| {})
}

/// Returns the parts of a phrase that the page does not translate: names, figures, and missing
/// phrases.
pub fn untranslated(page: &str, phrase: &str) -> Vec<String> {
    let mut parts = Vec::new();
    translated(page, phrase, &mut |part| parts.push(part.to_owned()));
    parts
}

fn rows(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut lines = page.lines();
    std::iter::from_fn(move || Some((lines.next()?, lines.next()?.trim_start())))
}

fn translated(page: &str, phrase: &str, stays: &mut dyn FnMut(&str)) -> String {
    if let Some((_, ja)) = rows(page).find(|(en, _)| *en == phrase) {
        return ja.to_owned();
    }
    let Some((ja, parts)) = rows(page).find_map(|(en, ja)| Some((ja, captured(en, phrase)?))) else {
        stays(phrase);
        return phrase.to_owned();
    };
    parts.iter().enumerate().fold(ja.to_owned(), |sentence, (index, part)| {
        sentence.replace(&format!("{{{index}}}"), &translated(page, part, stays))
    })
}

/// Returns the text at each `{}` of a pattern, if the phrase matches.
fn captured<'a>(pattern: &str, words: &'a str) -> Option<Vec<&'a str>> {
    let mut fixed = pattern.split("{}").peekable();
    let mut rest = words.strip_prefix(fixed.next()?)?;
    let mut parts = Vec::new();
    while let Some(behind) = fixed.next() {
        let (part, after) = match fixed.peek() {
            Some(_) => rest.split_once(behind)?,
            None => (rest.strip_suffix(behind)?, ""),
        };
        parts.push(part);
        rest = after;
    }
    (rest.is_empty() && parts.iter().all(|part| !part.is_empty())).then_some(parts)
}

#[test]
fn a_phrase_keeps_its_names_and_takes_their_place_in_japanese() {
    let page = "{} on {}\n  {1} 上の {0}\nthe disk\n  ディスク\nall on one\n  すべて 1 つ\n";
    assert_eq!(in_japanese(page, "ext4 on the disk"), "ディスク 上の ext4");
    assert_eq!(in_japanese(page, "all on one"), "すべて 1 つ");
    assert_eq!(in_japanese(page, "nothing"), "nothing");
    assert_eq!(untranslated(page, "ext4 on the disk"), ["ext4"]);
    assert_eq!(in_japanese(page, " on the disk"), " on the disk");
}
