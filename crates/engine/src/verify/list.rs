//! The list of what a run wrote, as a text that is kept until an image is checked. It consists of a
//! line of JSON, followed by one line for each stretch of sectors with the same writes (first
//! sector, number of sectors, oldest write that must be present, last write issued).

use super::stamp::SECTOR_BYTES;
use kurabe_core::mention::{RUN, VERIFY};
use kurabe_core::{ErrorKind, Result, quantity::MIB, shown, text};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::Path;

/// Highest sector number in a list: 4 EiB, more than any device has.
const MOST_SECTORS: u64 = 8 << 50;
const VERSION: u32 = 1;

/// The list of what a run wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteList {
    /// The mark in the stamps of the run.
    pub mark: u64,
    /// Number of writes issued.
    pub writes: u64,
    /// Ascending and without overlaps.
    pub(crate) stretches: Vec<SectorRun>,
}

/// Consecutive sectors with the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SectorRun {
    pub(crate) first: u64,
    pub(crate) sectors: u64,
    /// The oldest write that may be read there. 0 if any content is allowed.
    pub(crate) flushed: u32,
    /// The last write that was issued.
    pub(crate) last: u32,
}

#[derive(Serialize, Deserialize)]
struct Head {
    kurabe_writes: u32,
    mark: String,
    writes: u64,
}

impl WriteList {
    /// Appends a stretch that follows all existing ones.
    pub(crate) fn push(&mut self, stretch: SectorRun) {
        match self.stretches.last_mut() {
            Some(before)
                if before.first + before.sectors == stretch.first
                    && (before.flushed, before.last) == (stretch.flushed, stretch.last) =>
            {
                before.sectors += stretch.sectors;
            }
            _ => self.stretches.push(stretch),
        }
    }

    /// Returns the bytes that were written at least once.
    pub fn written_bytes(&self) -> u64 {
        self.stretches.iter().map(|stretch| stretch.sectors * SECTOR_BYTES).sum()
    }

    /// Formats the list as text.
    pub fn to_text(&self) -> String {
        let head = Head { kurabe_writes: VERSION, mark: format!("{:016x}", self.mark), writes: self.writes };
        let mut text = format!("{}\n", serde_json::to_string(&head).unwrap_or_default());
        for SectorRun { first, sectors, flushed, last } in &self.stretches {
            let _ = writeln!(text, "{first} {sectors} {flushed} {last}");
        }
        text
    }

    /// Parses the text of a list. `name` is the name of the file.
    ///
    /// # Errors
    /// Fails with the line number if the text is not a valid list.
    pub fn parse(name: &Path, bytes: &[u8]) -> Result<Self> {
        let name = shown::path(name);
        let broken = |line: usize| {
            ErrorKind::Import
                .error(text!(
                    "{name} is not a list of writes (line {line})",
                    "{name} は書き込みの一覧ではありません({line} 行目)"
                ))
                .remedy(text!(
                    "name the file that `{RUN} {VERIFY} FILE` wrote",
                    "`{RUN} {VERIFY} ファイル` が書いたファイルを指定してください"
                ))
        };
        let whole = std::str::from_utf8(bytes).map_err(|_| broken(1))?;
        let mut lines = whole.lines();
        let head: Option<Head> = lines.next().and_then(|line| serde_json::from_str(line).ok());
        let head = head.filter(|head| head.kurabe_writes == VERSION).ok_or_else(|| broken(1))?;
        let mark = u64::from_str_radix(&head.mark, 16).map_err(|_| broken(1))?;
        let mut list = Self { mark, writes: head.writes, stretches: Vec::new() };
        let mut end = 0;
        for (line, number) in lines.zip(2..) {
            let stretch =
                stretch(line).filter(|stretch| stretch.first >= end).ok_or_else(|| broken(number))?;
            end = stretch.first + stretch.sectors;
            list.stretches.push(stretch);
        }
        Ok(list)
    }

    /// Maximum number of bytes of a stretch that are read at once.
    pub(crate) const PIECE_BYTES: u64 = MIB;
}

fn stretch(line: &str) -> Option<SectorRun> {
    let mut words = line.split(' ');
    let stretch = SectorRun {
        first: words.next()?.parse().ok()?,
        sectors: words.next()?.parse().ok()?,
        flushed: words.next()?.parse().ok()?,
        last: words.next()?.parse().ok()?,
    };
    let is_sound = words.next().is_none()
        && stretch.sectors > 0
        && stretch.first.checked_add(stretch.sectors)? <= MOST_SECTORS
        && (1..=stretch.last).contains(&stretch.flushed.max(1));
    is_sound.then_some(stretch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAME: &str = "writes.txt";

    fn parse(text: &str) -> Result<WriteList> {
        WriteList::parse(Path::new(NAME), text.as_bytes())
    }

    fn list() -> WriteList {
        let mut list = WriteList { mark: 0xfedc, writes: 9, stretches: Vec::new() };
        for (first, flushed, last) in [(0, 1, 1), (1, 1, 1), (2, 0, 9), (8, 2, 3)] {
            list.push(SectorRun { first, sectors: 1, flushed, last });
        }
        list
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let text = list().to_text();
        assert_eq!(
            text,
            "{\"kurabe_writes\":1,\"mark\":\"000000000000fedc\",\"writes\":9}\n0 2 1 1\n2 1 0 9\n8 1 2 3\n"
        );
        assert_eq!(parse(&text).unwrap(), list());
    }

    #[test]
    fn what_is_no_list_is_told_with_its_line() {
        let head = list().to_text().lines().next().unwrap().to_owned();
        for (text, line) in [
            (String::new(), 1),
            ("{}".to_owned(), 1),
            (head.replace(":1,", ":2,"), 1),
            (format!("{head}\n1 2 3"), 2),
            (format!("{head}\n0 4 0 1\n3 1 0 1"), 3),
            (format!("{head}\n0 0 0 1"), 2),
            (format!("{head}\n0 1 2 1"), 2),
            (format!("{head}\n0 1 0 0"), 2),
            (format!("{head}\n18446744073709551615 2 0 1"), 2),
        ] {
            let error = parse(&text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Import);
            assert!(error.to_string().contains(&format!("(line {line})")), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_list_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200), with_head: bool) {
            let head = with_head.then(|| list().to_text().lines().next().unwrap().to_owned() + "\n");
            let bytes = [head.unwrap_or_default().as_bytes(), &bytes].concat();
            if let Ok(list) = WriteList::parse(Path::new(NAME), &bytes) {
                prop_assert_eq!(WriteList::parse(Path::new(NAME), list.to_text().as_bytes()).unwrap(), list);
            }
        }
    }
}
