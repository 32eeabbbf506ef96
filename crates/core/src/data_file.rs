//! Reading kurabe's TOML files so that every mistake shows its line, the reason, and the nearest valid word.
//!
//! The model: a file is parsed into tables that remember where each word stood; a room's reader opens a table
//! with the list of keys that it knows, takes them one by one, and turns words into quantities. serde is not used
//! here, because its messages cannot name the nearest key or the line of a value that is wrong for a reason of
//! its own.

use crate::error::{Error, ErrorKind, Place, Result};
use crate::{mention::Mention, text, text::Text};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A parsed data file.
pub struct DataFile<'a> {
    name: &'a str,
    source: &'a str,
    root: Spanned<DeTable<'a>>,
}

impl<'a> DataFile<'a> {
    /// Parses `source`; `name` is shown in errors.
    ///
    /// # Errors
    /// On TOML that is not well formed, with its place.
    pub fn parse(name: &'a str, source: &'a str) -> Result<Self> {
        let root = DeTable::parse(source).map_err(|error| {
            ErrorKind::DataFile
                .error(text!(
                    "{name} is not valid TOML: {}",
                    "{name} は TOML として読めません: {}",
                    error.message()
                ))
                .at(Place::of(name, source, error.span().unwrap_or(0..0)))
        })?;
        Ok(Self { name, source, root })
    }

    fn place(&self, span: Range<usize>) -> Place {
        Place::of(self.name, self.source, span)
    }

    /// The file's outermost table.
    ///
    /// # Errors
    /// When it has a key that is not among `keys`.
    pub fn root(&self, keys: &[&str]) -> Result<DataTable<'_>> {
        DataTable { file: self, table: self.root.get_ref(), span: 0..0 }.check(keys)
    }
}

/// A table of a data file.
pub struct DataTable<'f> {
    file: &'f DataFile<'f>,
    table: &'f DeTable<'f>,
    span: Range<usize>,
}

/// A value of a data file, with its place.
#[derive(Clone)]
pub struct Value<'f> {
    file: &'f DataFile<'f>,
    value: &'f DeValue<'f>,
    span: Range<usize>,
}

impl<'f> DataTable<'f> {
    fn check(self, keys: &[&str]) -> Result<Self> {
        for key in self.table.keys() {
            let word: &str = key.get_ref();
            if !keys.contains(&word) {
                let at = self.file.place(key.span());
                return Err(ErrorKind::DataFile
                    .error(text!(
                        "{}: unknown key `{word}`",
                        "{}: `{word}` というキーはありません",
                        self.file.name
                    ))
                    .at(at)
                    .remedy(nearest(word, keys)));
            }
        }
        Ok(self)
    }

    /// The value of a key, if it is there.
    pub fn get(&self, key: &str) -> Option<Value<'f>> {
        let value = self.table.get(key)?;
        Some(Value { file: self.file, value: value.get_ref(), span: value.span() })
    }

    /// What `read` makes of the value of a key, if it is there.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn read<T>(&self, key: &str, read: impl FnOnce(&Value<'f>) -> Result<T>) -> Result<Option<T>> {
        self.get(key).map(|value| read(&value)).transpose()
    }

    /// One word out of a list, as [`Value::choice`]; the first of them if the key is not there.
    ///
    /// # Errors
    /// When it is another word.
    pub fn choice<T: Clone>(&self, key: &str, choices: &[(&'static str, T)]) -> Result<T> {
        self.get(key).map_or_else(|| Ok(choices[0].1.clone()), |value| value.choice(choices))
    }

    /// What `read` makes of each element of a key's list; nothing if the key is not there.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn each<T>(&self, key: &str, read: impl FnMut(&Value<'f>) -> Result<T>) -> Result<Vec<T>> {
        self.get(key).map_or(Ok(Vec::new()), |list| list.each(read))
    }

    /// The string of a key that must be there.
    ///
    /// # Errors
    /// When it is missing, or something else.
    pub fn words(&self, key: &str) -> Result<String> {
        self.require(key)?.words()
    }

    /// Refuses two keys beside each other that say the same.
    ///
    /// # Errors
    /// When both are there.
    pub fn refuse_both(&self, one: &str, other: &str) -> Result<()> {
        match (self.get(one), self.get(other)) {
            (Some(value), Some(_)) => Err(value.error(&text!(
                "give either `{one}` or `{other}`",
                "`{one}` と `{other}` はどちらか一方だけ指定できます"
            ))),
            _ => Ok(()),
        }
    }

    /// The value of a key that must be there.
    ///
    /// # Errors
    /// When it is missing.
    pub fn require(&self, key: &str) -> Result<Value<'f>> {
        self.get(key).ok_or_else(|| {
            let file = self.file;
            ErrorKind::DataFile
                .error(text!(
                    "{}: the key `{key}` is missing here",
                    "{}: ここに `{key}` が必要です",
                    file.name
                ))
                .at(file.place(self.span.clone()))
                .remedy(text!("add a line `{key} = …`", "`{key} = …` の行を加えてください"))
        })
    }
}

impl<'f> Value<'f> {
    /// An error at this value.
    pub fn error(&self, what: &Text) -> Error {
        let name = self.file.name;
        ErrorKind::DataFile.error(text!("{name}: {what}", "{name}: {what}"; what)).at(self.place())
    }

    /// An error of what this value names, such as another file: with this value as its place, or, if it has one already,
    /// with this value as what uses that place.
    pub fn error_of_named(&self, error: &Error) -> Error {
        let mut here = match error.place() {
            None => self.error(error.what()),
            Some(place) => {
                let (user, line) = (self.file.name, self.place().line);
                let what = error.what();
                let what = text!("{what} (used by {user}, line {line})", "{what}({user} の {line} 行目で使用)"; what);
                Error::new(error.kind(), what).at(place.clone())
            }
        };
        if let Some(cause) = error.cause() {
            here = here.because(cause);
        }
        match error.remedy_text() {
            Some(remedy) => here.remedy(remedy.clone()),
            None => here,
        }
    }

    /// The value as a table with known keys.
    ///
    /// # Errors
    /// When it is something else, or has an unknown key.
    pub fn table(&self, keys: &[&str]) -> Result<DataTable<'f>> {
        self.any_table()?.check(keys)
    }

    /// The value as a table whose keys depend on one of them; the keys are checked when it is opened with
    /// [`Value::table`].
    ///
    /// # Errors
    /// When it is something else.
    pub fn any_table(&self) -> Result<DataTable<'f>> {
        match self.value {
            DeValue::Table(table) => Ok(DataTable { file: self.file, table, span: self.span.clone() }),
            _ => Err(self.error(&text!("a table is expected here", "ここにはテーブルを書きます"))),
        }
    }

    /// The value's elements, if it is an array; itself alone, if it is not.
    pub fn elements(&self) -> Vec<Self> {
        match self.value {
            DeValue::Array(array) => array
                .iter()
                .map(|value| Self { file: self.file, value: value.get_ref(), span: value.span() })
                .collect(),
            _ => vec![self.clone()],
        }
    }

    /// What `read` makes of each of its elements.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn each<T>(&self, read: impl FnMut(&Self) -> Result<T>) -> Result<Vec<T>> {
        self.elements().iter().map(read).collect()
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.value, DeValue::Array(_))
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// A string.
    ///
    /// # Errors
    /// When it is something else.
    pub fn string(&self) -> Result<&'f str> {
        match self.value {
            DeValue::String(words) => Ok(words),
            _ => Err(self.error(&text!(
                "a string in quotes is expected here",
                "ここには引用符で囲んだ文字列を書きます"
            ))),
        }
    }

    /// A string, to be kept.
    ///
    /// # Errors
    /// When it is something else.
    pub fn words(&self) -> Result<String> {
        self.string().map(str::to_owned)
    }

    /// A string put through a parser of quantities.
    ///
    /// # Errors
    /// The parser's, at this place.
    pub fn parsed<T>(&self, parse: impl FnOnce(&str) -> std::result::Result<T, Text>) -> Result<T> {
        parse(self.string()?).map_err(|what| self.error(&what))
    }

    /// A whole number within limits.
    ///
    /// # Errors
    /// When it is something else or outside.
    pub fn integer(&self, limits: std::ops::RangeInclusive<u64>) -> Result<u64> {
        let (least, most) = (*limits.start(), *limits.end());
        let number = match self.value {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        number.filter(|number| limits.contains(number)).ok_or_else(|| {
            self.error(&text!(
                "a whole number from {least} to {most} is expected here",
                "ここには {least} から {most} までの整数を書きます"
            ))
        })
    }

    /// Any finite number that is not negative.
    ///
    /// # Errors
    /// When it is something else.
    pub fn number(&self) -> Result<f64> {
        let number = match self.value {
            DeValue::Integer(number) => {
                u64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number as f64)
            }
            DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
            _ => None,
        };
        number.filter(|number| number.is_finite() && *number >= 0.0).ok_or_else(|| {
            self.error(&text!("a number from 0 up is expected here", "ここには 0 以上の数を書きます"))
        })
    }

    /// A number above zero.
    ///
    /// # Errors
    /// When it is something else.
    pub fn positive(&self) -> Result<f64> {
        self.number().ok().filter(|number| *number > 0.0).ok_or_else(|| {
            self.error(&text!("a number above zero is expected here", "ここには 0 より大きい数を書きます"))
        })
    }

    /// The value as the file writes it, the quotes of a string left out.
    pub fn written(&self) -> &'f str {
        match self.value {
            DeValue::String(words) => words,
            _ => &self.file.source[self.span.clone()],
        }
    }

    /// Where the value stands.
    pub fn place(&self) -> Place {
        self.file.place(self.span.clone())
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// When it is something else.
    pub fn boolean(&self) -> Result<bool> {
        match self.value {
            DeValue::Boolean(value) => Ok(*value),
            _ => {
                Err(self.error(&text!("true or false is expected here", "ここには true か false を書きます")))
            }
        }
    }

    /// One word out of a list, as the value that belongs to it.
    ///
    /// # Errors
    /// When it is another word; the nearest valid one is named.
    pub fn choice<T: Clone>(&self, choices: &[(&'static str, T)]) -> Result<T> {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let place = self.place_among(&names, |word| {
            text!("`{word}` is not one of the choices", "`{word}` という選択肢はありません")
        })?;
        Ok(choices[place].1.clone())
    }

    /// The place of a word in a list.
    ///
    /// # Errors
    /// What `missing` says of a word that is not there; the nearest valid one is named.
    pub fn place_among(&self, words: &[&str], missing: impl FnOnce(&str) -> Text) -> Result<usize> {
        let word = self.string()?;
        let place = words.iter().position(|one| *one == word);
        place.ok_or_else(|| self.error(&missing(word)).remedy(nearest(word, words)))
    }

    /// A table `{ en = "…", ja = "…" }`.
    ///
    /// # Errors
    /// When a language is missing.
    pub fn text(&self) -> Result<Text> {
        let table = self.table(&["en", "ja"])?;
        Ok(Text::of(table.words("en")?, table.words("ja")?))
    }
}

/// The valid word that a mistyped one is most like, if any is like it.
pub fn closest<'k>(word: &str, words: &[&'k str]) -> Option<&'k str> {
    words
        .iter()
        .map(|name| (strsim::jaro_winkler(word, name), *name))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// A sentence that names the nearest of the valid words, and all of them.
pub fn nearest(word: &str, words: &[&str]) -> Text {
    let all = words.join(", ");
    match closest(word, words) {
        Some(name) => {
            text!("did you mean `{name}`? (all: {all})", "`{name}` ではありませんか(使えるもの: {all})")
        }
        None => text!("use one of: {all}", "使えるもの: {all}"),
    }
}

/// Letters and digits of a name, which people write with or without hyphens: `980pro`.
fn bare(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// The remedy for a word that is none of more than one wants to read: the nearest, and the command that lists all.
pub fn nearest_of_many(word: &str, words: &[&str], command: Mention) -> Text {
    let small = word.to_lowercase();
    let stem = format!("{small}-");
    // Half a name means the first that begins so: lists have the newest first.
    let meant = words
        .iter()
        .find(|name| **name == small)
        .or_else(|| words.iter().find(|name| name.starts_with(&stem)))
        .or_else(|| words.iter().find(|name| small.len() > 2 && bare(name).contains(&bare(&small))));
    match meant.copied().or_else(|| closest(&small, words)) {
        Some(name) => text!(
            "did you mean `{name}`? `{command}` lists all",
            "`{name}` ではありませんか。`{command}` で一覧できます"
        ),
        None => {
            let mut begin: Vec<&str> = words.iter().filter_map(|name| name.split('-').next()).collect();
            begin.sort_unstable();
            begin.dedup();
            let begin = begin.join(", ");
            text!(
                "`{command}` lists all; their names begin with {begin}",
                "`{command}` で一覧できます(名前の先頭: {begin})"
            )
        }
    }
}
