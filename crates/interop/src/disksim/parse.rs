//! Parser for DiskSim's parameter files.
//!
//! Format: DiskSim 4.0's libparam. A file contains blocks, `type name { key = value, … }`, and lines
//! that connect components (`instantiate`, `topology`), which are skipped. A key is any words before
//! `=`. A value is a word, a list in brackets, a block, or `source FILE`, which refers to a block in
//! another file. `#` begins a comment.

use crate::import::place_of_line;
use kurabe_core::{Error, ErrorKind, Place, Result, Text, text};

/// Maximum nesting depth of blocks and lists. DiskSim's own files need six.
const DEEPEST: usize = 32;
/// Maximum depth of references between files: a system names its disk, and the disk its model.
const MOST_FILES: usize = 8;

/// Reads the files that a file refers to.
pub(super) type FilesBeside<'f> = &'f dyn Fn(&str) -> Result<String>;

#[derive(Clone, Debug)]
pub(super) struct ParameterBlock {
    /// Type of the block, such as `disksim_disk`.
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) entries: Vec<Assignment>,
    pub(super) at: Place,
}

/// An assignment `key = value`.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub(super) key: String,
    pub(super) value: ParameterValue,
    pub(super) at: Place,
}

#[derive(Clone, Debug)]
pub(super) enum ParameterValue {
    Word(String),
    List(Vec<ParameterValue>),
    Block(ParameterBlock),
}

/// Creates the error for a place in a file.
pub(super) fn error_at(at: &Place, what: Text) -> Error {
    ErrorKind::Import.error(what).at(at.clone()).remedy(text!(
        "give a DiskSim 4.0 parameter file, with the files that it names in the same folder",
        "DiskSim 4.0 が読めるパラメーターファイルを、そこから参照されるファイルと同じフォルダーに置いて指定してください"
    ))
}

/// Returns the blocks of a file and of the files that it refers to.
pub(super) fn blocks(name: &str, source: &str, files: FilesBeside<'_>) -> Result<Vec<ParameterBlock>> {
    ParvReader::new(name, source, files, 1).file()
}

struct ParvReader<'s, 'f> {
    name: &'s str,
    lines: Vec<&'s str>,
    /// Words and signs, with their zero-based line numbers.
    tokens: Vec<(&'s str, usize)>,
    next: usize,
    files: FilesBeside<'f>,
    /// Depth of references that lead to this file.
    opened: usize,
}

impl<'s, 'f> ParvReader<'s, 'f> {
    fn new(name: &'s str, source: &'s str, files: FilesBeside<'f>, opened: usize) -> Self {
        let lines: Vec<&str> = source.lines().collect();
        let mut tokens = Vec::new();
        for (number, line) in lines.iter().enumerate() {
            let line = line.split('#').next().unwrap_or("");
            let mut rest = line.trim_start();
            while let Some(first) = rest.chars().next() {
                let end = if is_sign(first) {
                    first.len_utf8()
                } else {
                    rest.find(|letter: char| letter.is_whitespace() || is_sign(letter)).unwrap_or(rest.len())
                };
                let (token, after) = rest.split_at(end);
                tokens.push((token, number));
                rest = after.trim_start();
            }
        }
        Self { name, lines, tokens, next: 0, files, opened }
    }

    fn at(&self, index: usize) -> Place {
        let line = self.tokens.get(index).or(self.tokens.last()).map_or(0, |(_, line)| *line);
        let shown = self.lines.get(line).map_or(String::new(), |text| text.chars().take(160).collect());
        place_of_line(self.name, line + 1, shown)
    }

    fn fault(&self, what: Text) -> Error {
        error_at(&self.at(self.next.saturating_sub(1)), what)
    }

    fn peek(&self) -> Option<&'s str> {
        self.tokens.get(self.next).map(|(token, _)| *token)
    }

    fn take(&mut self) -> Result<&'s str> {
        let token = self.peek();
        self.next += 1;
        token.ok_or_else(|| self.fault(text!("the file ends too early", "ファイルが途中で終わっています")))
    }

    /// Returns the words before a sign.
    fn words_before(&mut self, sign: &str, expected: &Text) -> Result<Vec<&'s str>> {
        let mut words = Vec::new();
        loop {
            match self.take()? {
                token if token == sign => return Ok(words),
                token if token.chars().all(is_sign) => return Err(self.fault(expected.clone())),
                word => words.push(word),
            }
        }
    }

    /// Parses items up to a sign, with or without commas between them.
    fn items_before<T>(&mut self, sign: &str, item: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = Vec::new();
        loop {
            match self.peek() {
                Some(",") => self.next += 1,
                Some(token) if token == sign => {
                    self.next += 1;
                    return Ok(items);
                }
                _ => items.push(item(self)?),
            }
        }
    }

    fn file(mut self) -> Result<Vec<ParameterBlock>> {
        let mut blocks = Vec::new();
        while let Some(word) = self.peek() {
            match word {
                "source" => {
                    self.next += 1;
                    let file = self.take()?;
                    blocks.extend(self.other_file(file)?);
                }
                "instantiate" | "topology" => self.pass_over()?,
                _ => blocks.push(self.block(0)?),
            }
        }
        Ok(blocks)
    }

    /// Skips `instantiate [ a ] as b` and `topology kind name [ … ]`.
    fn pass_over(&mut self) -> Result<()> {
        let word = self.take()?;
        while self.take()? != "[" {}
        let mut depth = 1usize;
        while depth > 0 {
            match self.take()? {
                "[" => depth += 1,
                "]" => depth -= 1,
                _ => {}
            }
        }
        if word == "instantiate" {
            let shown: String = self.take()?.chars().take(40).collect();
            if shown != "as" {
                return Err(self
                    .fault(text!("`as` is expected, not `{shown}`", "`{shown}` ではなく `as` が必要です")));
            }
            self.take()?;
        }
        Ok(())
    }

    fn other_file(&self, file: &str) -> Result<Vec<ParameterBlock>> {
        if self.opened == MOST_FILES {
            return Err(self.fault(text!("too many nested files", "ファイルの参照が深すぎます")));
        }
        let source = (self.files)(file)?;
        ParvReader::new(file, &source, self.files, self.opened + 1).file()
    }

    /// Parses `kind name { … }`. The name is optional.
    fn block(&mut self, depth: usize) -> Result<ParameterBlock> {
        let at = self.at(self.next);
        let kind = self.take()?.to_owned();
        let expected = text!("a block `{{ … }}` is expected", "ブロック `{{ … }}` が必要です");
        let name = self.words_before("{", &expected)?.last().copied().unwrap_or_default().to_owned();
        let entries = self.items_before("}", |reader| reader.entry(depth + 1))?;
        Ok(ParameterBlock { kind, name, entries, at })
    }

    fn entry(&mut self, depth: usize) -> Result<Assignment> {
        let at = self.at(self.next);
        let expected = text!("`key = value` is expected", "`キー = 値` が必要です");
        let key = self.words_before("=", &expected)?.join(" ");
        Ok(Assignment { key, value: self.value(depth)?, at })
    }

    fn value(&mut self, depth: usize) -> Result<ParameterValue> {
        if depth > DEEPEST {
            return Err(self.fault(text!("blocks are nested too deeply", "ブロックの入れ子が深すぎます")));
        }
        match self.take()? {
            "[" => self.items_before("]", |reader| reader.value(depth + 1)).map(ParameterValue::List),
            "source" => {
                let file = self.take()?;
                match self.other_file(file)?.into_iter().next() {
                    Some(block) => Ok(ParameterValue::Block(block)),
                    None => {
                        Err(self.fault(text!("{file} contains no block", "{file} にブロックがありません")))
                    }
                }
            }
            sign if sign.chars().all(is_sign) => {
                Err(self.fault(text!("a value is expected, not `{sign}`", "`{sign}` ではなく値が必要です")))
            }
            word => {
                if self.begins_block() {
                    self.next -= 1;
                    return self.block(depth).map(ParameterValue::Block);
                }
                Ok(ParameterValue::Word(word.to_owned()))
            }
        }
    }

    /// Returns whether `{`, or a name and `{`, follow.
    fn begins_block(&self) -> bool {
        let token = |ahead: usize| self.tokens.get(self.next + ahead).map(|(token, _)| *token);
        token(0) == Some("{")
            || (token(0).is_some_and(|word| !word.chars().all(is_sign)) && token(1) == Some("{"))
    }
}

fn is_sign(letter: char) -> bool {
    matches!(letter, '{' | '}' | '[' | ']' | '=' | ',')
}

impl ParameterBlock {
    fn entry(&self, key: &str) -> Option<&Assignment> {
        // For a repeated key, DiskSim uses the last value.
        self.entries.iter().rev().find(|entry| entry.key == key)
    }

    fn require(&self, key: &str) -> Result<&Assignment> {
        self.entry(key).ok_or_else(|| {
            let kind = &self.kind;
            error_at(&self.at, text!("{kind} has no `{key}`", "{kind} に `{key}` がありません"))
        })
    }

    /// Returns a value of the expected kind.
    fn get<'b, T>(
        &'b self,
        key: &str,
        expected: &Text,
        of: impl FnOnce(&'b ParameterValue) -> Option<T>,
    ) -> Result<T> {
        let entry = self.require(key)?;
        of(&entry.value).ok_or_else(|| entry.wrong(expected))
    }

    /// Returns a finite number of 0 or more.
    pub(super) fn number(&self, key: &str) -> Result<f64> {
        self.require(key)?.number()
    }

    /// Returns a finite number.
    pub(super) fn signed(&self, key: &str) -> Result<f64> {
        self.get(key, &text!("a number", "数"), ParameterValue::number)
    }

    /// Returns a finite number, or the default if the key is missing.
    pub(super) fn signed_or(&self, key: &str, otherwise: f64) -> Result<f64> {
        if self.entry(key).is_some() { self.signed(key) } else { Ok(otherwise) }
    }

    /// Returns a finite number of 0 or more, or the default if the key is missing.
    pub(super) fn number_or(&self, key: &str, otherwise: f64) -> Result<f64> {
        self.entry(key).map_or(Ok(otherwise), Assignment::number)
    }

    /// Returns a whole number below 2^40, a limit that no disk of DiskSim reaches.
    pub(super) fn whole(&self, key: &str) -> Result<u64> {
        let number = self.number(key)?;
        let is_whole =
            |_: &ParameterValue| (number.fract() == 0.0 && number < (1u64 << 40) as f64).then_some(());
        self.get(key, &text!("a whole number", "整数"), is_whole).map(|()| number as u64)
    }

    pub(super) fn word(&self, key: &str) -> Result<(&str, &Place)> {
        let word = self.get(key, &text!("a word", "語"), |value| match value {
            ParameterValue::Word(word) => Some(word.as_str()),
            _ => None,
        })?;
        Ok((word, &self.require(key)?.at))
    }

    /// Returns whether a key has this word as its value.
    pub(super) fn is(&self, key: &str, word: &str) -> bool {
        self.word(key).is_ok_and(|(given, _)| given == word)
    }

    pub(super) fn block(&self, key: &str) -> Result<&Self> {
        self.get(key, &text!("a block", "ブロック"), ParameterValue::block)
    }

    /// Returns the blocks of a list.
    pub(super) fn blocks(&self, key: &str) -> Result<Vec<&Self>> {
        let expected = text!("a list of blocks", "ブロックのリスト");
        self.get(key, &expected, |value| value.items()?.iter().map(ParameterValue::block).collect())
    }

    /// Returns the numbers of a list.
    pub(super) fn numbers(&self, key: &str) -> Result<Vec<f64>> {
        let expected = text!("a list of numbers", "数のリスト");
        self.get(key, &expected, |value| value.items()?.iter().map(ParameterValue::number).collect())
    }
}

impl Assignment {
    fn number(&self) -> Result<f64> {
        let number = self.value.number().filter(|number| *number >= 0.0);
        number.ok_or_else(|| self.wrong(&text!("a number that is not negative", "0 以上の数")))
    }

    fn wrong(&self, expected: &Text) -> Error {
        let key = &self.key;
        error_at(&self.at, text!("`{key}` is not {expected}", "`{key}` は{expected}ではありません"; expected))
    }
}

impl ParameterValue {
    fn block(&self) -> Option<&ParameterBlock> {
        if let Self::Block(block) = self { Some(block) } else { None }
    }

    fn items(&self) -> Option<&[Self]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Word(word) => word.parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        }
    }
}
