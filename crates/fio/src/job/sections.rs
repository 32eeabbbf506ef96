//! Sections of a job file with their options, as fio reads them.
//!
//! The model: an option is its name, its value with evaluated variables and expressions, and its place.
//! `[global]` sections apply to the sections after them. `include` is replaced by another file. A
//! command line is a job file with a line for each argument, so that one parser is sufficient.

use crate::job::table::{FioOptionKind, group_of, plain_name};
use kurabe_core::{Error, ErrorKind, Place, Result, Text, text};
use std::ops::Range;
use std::rc::Rc;

/// Maximum depth of files that include each other.
const DEEPEST_INCLUDE: u32 = 16;

/// Environment of a job file.
pub trait JobSurroundings {
    /// Returns the value of `${NAME}`, and of fio's own `pagesize`, `mb_memory` and `ncpus`.
    fn variable(&self, name: &str) -> Option<String>;

    /// Returns the content and the name of a file that another file includes.
    ///
    /// # Errors
    /// If it cannot be read.
    fn included(&self, by: &str, name: &str) -> Result<(String, String)>;

    /// Returns the version of the installed fio, if there is one.
    fn fio_version(&self) -> Option<String> {
        None
    }
}

/// A job file without an environment, such as pasted text.
pub struct NoSurroundings;

impl JobSurroundings for NoSurroundings {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn included(&self, _: &str, name: &str) -> Result<(String, String)> {
        Err(ErrorKind::DataFile
            .error(text!("{name} cannot be included here", "ここでは {name} を読み込めません"))
            .remedy(text!(
                "replace `include` with the lines of the file",
                "`include` の行をその中身に置き換えてください"
            )))
    }
}

/// A text and its name.
#[derive(Debug)]
pub(super) struct JobText {
    file: String,
    source: String,
}

impl JobText {
    pub(super) fn place(&self, range: &Range<usize>) -> Place {
        Place::of(&self.file, &self.source, range.clone())
    }

    pub(super) fn error(&self, range: &Range<usize>, what: Text) -> Error {
        ErrorKind::DataFile.error(what).at(self.place(range))
    }
}

/// An option as written.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) name: String,
    pub(super) value: Option<String>,
    pub(super) origin: Rc<JobText>,
    pub(super) range: Range<usize>,
}

/// A section with its own options after those of the `[global]` sections before it.
pub(super) struct JobSection {
    pub(super) name: String,
    pub(super) origin: Rc<JobText>,
    pub(super) range: Range<usize>,
    pub(super) options: Vec<Written>,
}

/// Returns the sections except `[global]`, in order. If names are given, only these are parsed.
pub(super) fn sections(
    file: &str,
    source: &str,
    only: &[String],
    around: &dyn JobSurroundings,
) -> Result<Vec<JobSection>> {
    let mut reader = SectionReader {
        around,
        only,
        global: Vec::new(),
        sections: Vec::new(),
        is_global: None,
        skips: false,
    };
    reader.take(file, source, 0)?;
    Ok(reader.sections)
}

struct SectionReader<'a> {
    around: &'a dyn JobSurroundings,
    only: &'a [String],
    global: Vec<Written>,
    sections: Vec<JobSection>,
    /// Whether the current section is `[global]`. `None` before the first section.
    is_global: Option<bool>,
    /// Whether the current section is not requested.
    skips: bool,
}

impl SectionReader<'_> {
    fn take(&mut self, file: &str, source: &str, depth: u32) -> Result<()> {
        let origin = Rc::new(JobText { file: file.to_owned(), source: source.to_owned() });
        let mut from = 0;
        for whole in source.split_inclusive('\n') {
            let start = from + (whole.len() - whole.trim_start().len());
            from += whole.len();
            let line = whole.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            // As in fio, a comment can also follow an option.
            let line = line.split([';', '#']).next().unwrap_or(line).trim_end();
            let range = start..start + line.len();
            if let Some(name) = line.strip_prefix("include ").map(str::trim) {
                if depth == DEEPEST_INCLUDE {
                    let what = text!("files include each other in a loop", "include が循環しています");
                    return Err(origin.error(&range, what));
                }
                let (name, content) = self.around.included(file, name)?;
                self.take(&name, &content, depth + 1)?;
            } else if let Some((name, _)) =
                whole.trim().strip_prefix('[').and_then(|rest| rest.rsplit_once(']'))
            {
                self.begin(name, &origin, range);
            } else if !self.skips {
                let option = self.option(line, &origin, range)?;
                match (self.is_global, self.sections.last_mut()) {
                    (Some(false), Some(section)) => section.options.push(option),
                    (Some(true), _) => self.global.push(option),
                    _ => {
                        let what = text!(
                            "an option appears before the first section",
                            "最初のセクションより前にオプションがあります"
                        );
                        return Err(origin.error(&option.range, what).remedy(text!(
                            "write [global] or [name of a job] above it",
                            "その上に [global] か [ジョブ名] を書いてください"
                        )));
                    }
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self, name: &str, origin: &Rc<JobText>, range: Range<usize>) {
        self.is_global = Some(name == "global");
        let is_asked_for = self.only.is_empty() || self.only.iter().any(|asked| asked == name);
        self.skips = name != "global" && !is_asked_for;
        if name != "global" && !self.skips {
            let (name, origin, options) = (name.to_owned(), Rc::clone(origin), self.global.clone());
            self.sections.push(JobSection { name, origin, range, options });
        }
    }

    fn option(&self, line: &str, origin: &Rc<JobText>, range: Range<usize>) -> Result<Written> {
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (line, None),
        };
        // The value of an option without an effect can be anything.
        let is_idle = group_of(plain_name(name)).is_some_and(|group| group.kind == FioOptionKind::Idle);
        let value = match value {
            Some(value) if !is_idle => Some(self.worked_out(value).map_err(|what| {
                origin.error(&range, what).remedy(text!("write its value", "値をそのまま書いてください"))
            })?),
            value => value.map(str::to_owned),
        };
        Ok(Written { name: plain_name(name).to_owned(), value, origin: Rc::clone(origin), range })
    }

    /// Returns a value with evaluated variables and expressions.
    fn worked_out(&self, value: &str) -> Result<String, Text> {
        let unknown =
            |name: &str| text!("the variable `{name}` does not exist", "変数 `{name}` がありません");
        let mut words = value.to_owned();
        while let Some((before, rest)) = words.split_once("${") {
            let Some((name, after)) = rest.split_once('}') else {
                return Err(text!("`{value}` has no }}", "`{value}` に }} がありません"));
            };
            let put = self.around.variable(name).ok_or_else(|| unknown(name))?;
            words = format!("{before}{put}{after}");
        }
        for name in ["pagesize", "mb_memory", "ncpus"] {
            let mark = format!("${name}");
            if words.contains(&mark) {
                words = words.replace(&mark, &self.around.variable(name).ok_or_else(|| unknown(name))?);
            }
        }
        if !words.starts_with('(') {
            return Ok(words);
        }
        let mut sum = Sum { rest: &words };
        let result = sum.terms().filter(|_| sum.rest.trim().is_empty());
        let what = || text!("`{value}` is not an arithmetic expression", "`{value}` は計算できません");
        result.map(|number| format!("{}", number.round())).ok_or_else(what)
    }
}

/// An expression evaluated from left to right, as fio does in parentheses.
struct Sum<'a> {
    rest: &'a str,
}

impl Sum<'_> {
    fn operator(&mut self, of: [char; 2]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let next = self.rest.chars().next().filter(|next| of.contains(next))?;
        self.rest = &self.rest[1..];
        Some(next)
    }

    fn terms(&mut self) -> Option<f64> {
        let mut sum = self.factors()?;
        while let Some(operator) = self.operator(['+', '-']) {
            let term = self.factors()?;
            sum += if operator == '+' { term } else { -term };
        }
        Some(sum)
    }

    fn factors(&mut self) -> Option<f64> {
        let mut product = self.number()?;
        while let Some(operator) = self.operator(['*', '/']) {
            let factor = self.number()?;
            product = if operator == '*' { product * factor } else { product / factor };
        }
        Some(product).filter(|product| product.is_finite())
    }

    fn number(&mut self) -> Option<f64> {
        if self.operator(['(', '(']).is_some() {
            let inner = self.terms()?;
            return self.operator([')', ')']).map(|_| inner);
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.parse().ok().or_else(|| crate::values::size_bytes(word, 1024).map(|bytes| bytes as f64))
    }
}
