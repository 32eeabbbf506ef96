//! Values of a section's options.

use crate::job::line::refused;
use crate::job::sections::{JobSection, JobText, Written};
use crate::job::table::{BARE, FioOptionKind, fio_options, group_of};
use crate::values::{size_bytes, time_ns};
use kurabe_core::profile::MOST_THREADS;
use kurabe_core::workload::Direction;
use kurabe_core::{Error, Place, Result, Text, closest, text};
use std::ops::{Range, RangeInclusive};
use std::rc::Rc;

/// Sizes and counts for which 0 is fio's default: the whole device or file, and no limit.
const ZERO_IS_DEFAULT: [&str; 5] = ["size", "io_size", "filesize", "number_ios", "zonerange"];

/// Options of a section.
pub(super) struct OptionReader<'s> {
    pub(super) name: &'s str,
    origin: &'s Rc<JobText>,
    section: &'s Range<usize>,
    options: &'s [Written],
    kb_base: u64,
}

impl<'s> OptionReader<'s> {
    /// Returns the reader of a section, if all of its options are accepted.
    pub(super) fn of(section: &'s JobSection) -> Result<Self> {
        let JobSection { name, origin, range, options } = section;
        let mut reader = Self { name, origin, section: range, options, kb_base: 1024 };
        for option in options {
            reader.check(option)?;
        }
        if let Some(base) = reader.number("kb_base", 1000..=1024)? {
            reader.kb_base = base;
        }
        Ok(reader)
    }

    fn check(&self, option: &Written) -> Result<()> {
        let name = option.name.as_str();
        if let Some(group) = group_of(name).filter(|group| !group.of_line) {
            // Disabling an unsupported feature has the intended effect.
            let is_off = matches!(option.value.as_deref(), Some("0" | "none"));
            return match group.kind == FioOptionKind::Refused && !is_off {
                true => Err(refused(group, name).at(option.origin.place(&option.range))),
                false => Ok(()),
            };
        }
        let names: Vec<&str> =
            fio_options().iter().flat_map(|group| &group.names).map(String::as_str).collect();
        let remedy = match closest(name, &names) {
            Some(nearest) => text!(
                "did you mean `{nearest}`? Otherwise, remove it if the figures do not depend on it",
                "`{nearest}` ではありませんか。違う場合、結果に影響しないなら消してください"
            ),
            None => text!(
                "remove it if the figures do not depend on it, or express it in a TOML profile (docs/profiles.md)",
                "結果に影響しないなら消してください。TOML のプロファイルで書けることもあります(docs/profiles.md)"
            ),
        };
        let what = text!("kurabe does not support the option `{name}`", "`{name}` は解釈できません");
        Err(option.origin.error(&option.range, what).remedy(remedy))
    }

    /// Returns the accepted options without an effect, with the reason.
    pub(super) fn idle(&self) -> impl Iterator<Item = (&'s str, &'static Text)> + '_ {
        self.options.iter().filter_map(|option| {
            let group = group_of(&option.name).filter(|group| group.kind == FioOptionKind::Idle)?;
            Some((option.name.as_str(), group.why.as_ref()?))
        })
    }

    /// Returns the last occurrence of an option, unless its value is fio's default.
    fn written(&self, name: &str) -> Option<&'s Written> {
        let last = self.options.iter().rev().find(|option| option.name == name)?;
        let is_zero = || last.value.as_deref().and_then(|value| size_bytes(value, self.kb_base)) == Some(0);
        Some(last).filter(|_| !(ZERO_IS_DEFAULT.contains(&name) && is_zero()))
    }

    /// Returns whether an option exists.
    pub(super) fn has(&self, name: &str) -> bool {
        self.written(name).is_some()
    }

    /// Returns whether an option has a value.
    pub(super) fn has_value(&self, name: &str) -> bool {
        self.written(name).is_some_and(|option| option.value.is_some())
    }

    /// Creates an error at an option, or at the section if it does not have the option.
    pub(super) fn error(&self, name: &str, what: Text) -> Error {
        match self.written(name) {
            Some(option) => option.origin.error(&option.range, what),
            None => self.section_error(what),
        }
    }

    /// Returns the place of the section.
    pub(super) fn place(&self) -> Place {
        self.origin.place(self.section)
    }

    /// Creates an error at the section.
    pub(super) fn section_error(&self, what: Text) -> Error {
        self.origin.error(self.section, what)
    }

    /// Creates the error for an unsupported value.
    pub(super) fn wrong(&self, name: &str) -> Error {
        let value = self.written(name).and_then(|option| option.value.as_deref()).unwrap_or("");
        self.error(name, text!("kurabe does not support `{name}={value}`", "`{name}={value}` は行えません"))
    }

    /// Returns the parsed value of an option. Refuses an unsupported one with a remedy.
    pub(super) fn taken<T>(&self, value: Option<T>, name: &str, remedy: Text) -> Result<T> {
        value.ok_or_else(|| self.wrong(name).remedy(remedy))
    }

    /// Refuses the value of an option unless it is supported, with a remedy.
    pub(super) fn require(&self, can_be_done: bool, name: &str, remedy: Text) -> Result<()> {
        self.taken(can_be_done.then_some(()), name, remedy)
    }

    /// Returns the value for one of a few words. The first choice is the default.
    pub(super) fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)], remedy: Text) -> Result<T> {
        let word = self.word(name)?.unwrap_or(choices[0].0);
        let choice = choices.iter().find(|(choice, _)| *choice == word);
        self.taken(choice.map(|(_, value)| *value), name, remedy)
    }

    /// Returns the value of an option as text.
    pub(super) fn word(&self, name: &str) -> Result<Option<&'s str>> {
        let Some(option) = self.written(name) else { return Ok(None) };
        match option.value.as_deref() {
            Some(value) if !value.is_empty() => Ok(Some(value)),
            _ => Err(self
                .error(name, text!("`{name}` has no value", "`{name}` に値がありません"))
                .remedy(text!("write {name}=VALUE", "{name}=値 と書いてください"))),
        }
    }

    fn parsed<T>(
        &self,
        name: &str,
        remedy: Text,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(word) = self.word(name)? else { return Ok(None) };
        parse(word).map(Some).ok_or_else(|| {
            let what =
                text!("`{word}` is not a value of `{name}`", "`{word}` は `{name}` の値ではありません");
            self.error(name, what).remedy(remedy)
        })
    }

    /// Returns a whole number.
    pub(super) fn number(&self, name: &str, limits: RangeInclusive<u64>) -> Result<Option<u64>> {
        let (low, high) = (limits.start(), limits.end());
        let remedy = text!("a whole number from {low} to {high}", "{low} から {high} までの整数です");
        self.parsed(name, remedy, |word| word.parse().ok().filter(|number| limits.contains(number)))
    }

    /// Number of jobs in this section (`numjobs`).
    pub(super) fn jobs(&self) -> Result<u64> {
        Ok(self.number("numjobs", 1..=u64::from(MOST_THREADS))?.unwrap_or(1))
    }

    /// Returns a flag. Some are on without a value.
    pub(super) fn flag(&self, name: &str) -> Result<bool> {
        match self.written(name).map(|option| option.value.as_deref()) {
            None => Ok(false),
            Some(None) if BARE.contains(&name) => Ok(true),
            Some(_) => Ok(self.number(name, 0..=1)? == Some(1)),
        }
    }

    /// Returns the part of an option for a direction. In `READS,WRITES,TRIMS`, a missing part is the
    /// same as the one before it. For a mix, reads and writes must be the same.
    pub(super) fn of_direction(&self, name: &str, direction: Direction) -> Result<Option<[&'s str; 2]>> {
        let Some(words) = self.word(name)? else { return Ok(None) };
        let mut parts = words.split(',').map(str::trim);
        let reads = parts.next().unwrap_or_default();
        let writes = parts.next().unwrap_or(reads);
        let discards = self.word("rw")?.is_some_and(|rw| rw.contains("trim"));
        let remedy = text!(
            "a single value for both writes and trims",
            "書き込みと trim に共通の値を 1 つ書いてください"
        );
        self.require(!discards || parts.next().is_none_or(|trims| trims == writes), name, remedy)?;
        Ok(Some(match direction {
            Direction::Read => [reads, reads],
            Direction::Write => [writes, writes],
            Direction::Mix => [reads, writes],
        }))
    }

    /// Returns a number of bytes in fio's notation.
    pub(super) fn bytes(&self, name: &str) -> Result<Option<u64>> {
        self.parsed(name, size_remedy(), |word| self.size(word))
    }

    /// Parses a size in fio's notation.
    pub(super) fn size(&self, word: &str) -> Option<u64> {
        size_bytes(word, self.kb_base)
    }

    /// Returns a time in ns. A number without a unit is in microseconds.
    pub(super) fn micros_ns(&self, name: &str) -> Result<Option<u64>> {
        match self.word(name)? {
            Some(word) if word.bytes().all(|byte| byte.is_ascii_digit()) => {
                Ok(self.number(name, 0..=u64::from(u32::MAX))?.map(|micros| micros * 1000))
            }
            _ => self.time_ns(name),
        }
    }

    /// Returns a time in ns. A number without a unit is in seconds.
    pub(super) fn time_ns(&self, name: &str) -> Result<Option<u64>> {
        let remedy = text!("a time such as 30, 30s, 500ms, 5m", "30、30s、500ms、5m のように書いてください");
        self.parsed(name, remedy, time_ns)
    }
}

/// Returns the remedy for an invalid size.
pub(super) fn size_remedy() -> Text {
    text!("a size such as 4k, 1m, 16g", "4k、1m、16g のように書いてください")
}
