//! Reads kurabe's TOML files and reports every mistake with its line, the reason, and the nearest
//! valid word.
//!
//! A file is parsed into tables that store the position of each value. A crate's reader opens a
//! table with the list of keys that it knows, takes the keys one by one, and converts strings into
//! quantities. serde is not used here: its messages can name neither the nearest key nor the line
//! of a value that a reader rejects.

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
    /// Parses `source`. Errors show `name`.
    ///
    /// # Errors
    /// Fails with the position if the source is not well-formed TOML.
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

    /// Returns the file's root table.
    ///
    /// # Errors
    /// Fails if the table has a key that is not in `keys`.
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

/// A value of a data file, with its position.
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

    /// Returns the value of a key, if present.
    pub fn get(&self, key: &str) -> Option<Value<'f>> {
        let value = self.table.get(key)?;
        Some(Value { file: self.file, value: value.get_ref(), span: value.span() })
    }

    /// Applies `read` to the value of a key, if present.
    ///
    /// # Errors
    /// Returns the errors of `read`.
    pub fn read<T>(&self, key: &str, read: impl FnOnce(&Value<'f>) -> Result<T>) -> Result<Option<T>> {
        self.get(key).map(|value| read(&value)).transpose()
    }

    /// Reads one keyword from a list, like [`Value::choice`]. Returns the first choice if the key
    /// is absent.
    ///
    /// # Errors
    /// Fails if the value is not in the list.
    pub fn choice<T: Clone>(&self, key: &str, choices: &[(&'static str, T)]) -> Result<T> {
        self.get(key).map_or_else(|| Ok(choices[0].1.clone()), |value| value.choice(choices))
    }

    /// Applies `read` to each element of a key's list. Returns an empty list if the key is absent.
    ///
    /// # Errors
    /// Returns the errors of `read`.
    pub fn each<T>(&self, key: &str, read: impl FnMut(&Value<'f>) -> Result<T>) -> Result<Vec<T>> {
        self.get(key).map_or(Ok(Vec::new()), |list| list.each(read))
    }

    /// Returns the string value of a required key.
    ///
    /// # Errors
    /// Fails if the key is missing or its value is not a string.
    pub fn words(&self, key: &str) -> Result<String> {
        self.require(key)?.words()
    }

    /// Checks that two mutually exclusive keys aren't both present.
    ///
    /// # Errors
    /// Fails if both keys are present.
    pub fn refuse_both(&self, one: &str, other: &str) -> Result<()> {
        match (self.get(one), self.get(other)) {
            (Some(value), Some(_)) => Err(value.error(&text!(
                "give either `{one}` or `{other}`",
                "`{one}` と `{other}` はどちらか一方だけ指定できます"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the value of a required key.
    ///
    /// # Errors
    /// Fails if the key is missing.
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
    /// Creates an error at this value's position.
    pub fn error(&self, what: &Text) -> Error {
        let name = self.file.name;
        ErrorKind::DataFile.error(text!("{name}: {what}", "{name}: {what}"; what)).at(self.place())
    }

    /// Converts an error in something that this value names, such as another file. If the error has
    /// no position, it gets this value's position. Otherwise the message names this value as the
    /// place of use.
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

    /// Returns the value as a table with known keys.
    ///
    /// # Errors
    /// Fails if the value is not a table or has an unknown key.
    pub fn table(&self, keys: &[&str]) -> Result<DataTable<'f>> {
        self.any_table()?.check(keys)
    }

    /// Returns the value as a table whose valid keys depend on one of them. The keys are checked
    /// later, when the table is opened with [`Value::table`].
    ///
    /// # Errors
    /// Fails if the value is not a table.
    pub fn any_table(&self) -> Result<DataTable<'f>> {
        match self.value {
            DeValue::Table(table) => Ok(DataTable { file: self.file, table, span: self.span.clone() }),
            _ => Err(self.error(&text!("expected a table here", "ここにはテーブルを書きます"))),
        }
    }

    /// Returns the elements of an array. Any other value is returned as the only element.
    pub fn elements(&self) -> Vec<Self> {
        match self.value {
            DeValue::Array(array) => array
                .iter()
                .map(|value| Self { file: self.file, value: value.get_ref(), span: value.span() })
                .collect(),
            _ => vec![self.clone()],
        }
    }

    /// Applies `read` to each element.
    ///
    /// # Errors
    /// Returns the errors of `read`.
    pub fn each<T>(&self, read: impl FnMut(&Self) -> Result<T>) -> Result<Vec<T>> {
        self.elements().iter().map(read).collect()
    }

    /// Returns whether the value is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.value, DeValue::Array(_))
    }

    /// Returns whether the value is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// Returns the value as a string.
    ///
    /// # Errors
    /// Fails if the value is not a string.
    pub fn string(&self) -> Result<&'f str> {
        match self.value {
            DeValue::String(words) => Ok(words),
            _ => {
                Err(self
                    .error(&text!("expected a quoted string here", "ここには引用符で囲んだ文字列を書きます")))
            }
        }
    }

    /// Returns the value as an owned string.
    ///
    /// # Errors
    /// Fails if the value is not a string.
    pub fn words(&self) -> Result<String> {
        self.string().map(str::to_owned)
    }

    /// Parses a string with a parser for quantities.
    ///
    /// # Errors
    /// Returns the parser's error at this value's position.
    pub fn parsed<T>(&self, parse: impl FnOnce(&str) -> std::result::Result<T, Text>) -> Result<T> {
        parse(self.string()?).map_err(|what| self.error(&what))
    }

    /// Returns an integer within limits.
    ///
    /// # Errors
    /// Fails if the value is not an integer or is out of range.
    pub fn integer(&self, limits: std::ops::RangeInclusive<u64>) -> Result<u64> {
        let (least, most) = (*limits.start(), *limits.end());
        let number = match self.value {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        number.filter(|number| limits.contains(number)).ok_or_else(|| {
            self.error(&text!(
                "expected a whole number from {least} to {most} here",
                "ここには {least} から {most} までの整数を書きます"
            ))
        })
    }

    /// Returns a finite, non-negative number.
    ///
    /// # Errors
    /// Fails for any other value.
    pub fn number(&self) -> Result<f64> {
        let number = match self.value {
            DeValue::Integer(number) => {
                u64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number as f64)
            }
            DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
            _ => None,
        };
        number.filter(|number| number.is_finite() && *number >= 0.0).ok_or_else(|| {
            self.error(&text!("expected a number of 0 or more here", "ここには 0 以上の数を書きます"))
        })
    }

    /// Returns a number above zero.
    ///
    /// # Errors
    /// Fails for any other value.
    pub fn positive(&self) -> Result<f64> {
        self.number().ok().filter(|number| *number > 0.0).ok_or_else(|| {
            self.error(&text!("expected a number above zero here", "ここには 0 より大きい数を書きます"))
        })
    }

    /// Returns the value's source text, without the quotes of a string.
    pub fn written(&self) -> &'f str {
        match self.value {
            DeValue::String(words) => words,
            _ => &self.file.source[self.span.clone()],
        }
    }

    /// Returns the position of the value.
    pub fn place(&self) -> Place {
        self.file.place(self.span.clone())
    }

    /// Returns a boolean.
    ///
    /// # Errors
    /// Fails for any other value.
    pub fn boolean(&self) -> Result<bool> {
        match self.value {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(self.error(&text!("expected true or false here", "ここには true か false を書きます"))),
        }
    }

    /// Reads one keyword from a list and returns the associated value.
    ///
    /// # Errors
    /// Fails if the word is not in the list. The error names the nearest valid word.
    pub fn choice<T: Clone>(&self, choices: &[(&'static str, T)]) -> Result<T> {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let place = self.place_among(&names, |word| {
            text!("`{word}` is not a valid value", "`{word}` という選択肢はありません")
        })?;
        Ok(choices[place].1.clone())
    }

    /// Returns the index of the value in a list of words.
    ///
    /// # Errors
    /// Fails with the message of `missing` if the word is not in the list. The error names the
    /// nearest valid word.
    pub fn place_among(&self, words: &[&str], missing: impl FnOnce(&str) -> Text) -> Result<usize> {
        let word = self.string()?;
        let place = words.iter().position(|one| *one == word);
        place.ok_or_else(|| self.error(&missing(word)).remedy(nearest(word, words)))
    }

    /// Reads a table `{ en = "…", ja = "…" }`.
    ///
    /// # Errors
    /// Fails if a language is missing.
    pub fn text(&self) -> Result<Text> {
        let table = self.table(&["en", "ja"])?;
        Ok(Text::of(table.words("en")?, table.words("ja")?))
    }
}

/// Returns the valid word most similar to a mistyped one, if any is similar enough.
pub fn closest<'k>(word: &str, words: &[&'k str]) -> Option<&'k str> {
    words
        .iter()
        .map(|name| (strsim::jaro_winkler(word, name), *name))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// Returns a sentence that names the nearest valid word, and all valid words.
pub fn nearest(word: &str, words: &[&str]) -> Text {
    let all = words.join(", ");
    match closest(word, words) {
        Some(name) => {
            text!("did you mean `{name}`? (valid: {all})", "`{name}` ではありませんか(使えるもの: {all})")
        }
        None => text!("use one of: {all}", "使えるもの: {all}"),
    }
}

/// Returns only the letters and digits of a name, because users write names with or without
/// hyphens: `980pro`.
fn bare(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Returns the remedy for an unknown word when the list of valid ones is too long to print: the
/// nearest word, and the command that lists all.
pub fn nearest_of_many(word: &str, words: &[&str], command: Mention) -> Text {
    let small = word.to_lowercase();
    let stem = format!("{small}-");
    // A partial name means the first name with that prefix, because lists start with the newest.
    let meant = words
        .iter()
        .find(|name| **name == small)
        .or_else(|| words.iter().find(|name| name.starts_with(&stem)))
        .or_else(|| words.iter().find(|name| small.len() > 2 && bare(name).contains(&bare(&small))));
    match meant.copied().or_else(|| closest(&small, words)) {
        Some(name) => text!(
            "did you mean `{name}`? List all with `{command}`",
            "`{name}` ではありませんか。`{command}` で一覧できます"
        ),
        None => {
            let mut begin: Vec<&str> = words.iter().filter_map(|name| name.split('-').next()).collect();
            begin.sort_unstable();
            begin.dedup();
            let begin = begin.join(", ");
            text!(
                "list all with `{command}`; their names begin with {begin}",
                "`{command}` で一覧できます(名前の先頭: {begin})"
            )
        }
    }
}
