//! Uses of a disk, from the folder `uses/`: the work of a use, and its limits.
//!
//! A use is a mix of work with a number of operations of each kind. Runs are ranked by the time of
//! the mix. Only ratios of it are shown, never a score. The numbers of operations come from
//! `kurabe price` with a real program.
//!
//! # To add a use
//!
//! - Write `uses/NAME.toml` (shares of work, limits, reasons, sources) and add its name to `USES`.
//! - Test two runs that differ in the decisive property, and one that breaks each limit. Its cells
//!   are in the profile `uses`.
//! - Add its program to `benches/programs/uses.sh`, and its name to `help/recommend`, `help/fit`
//!   and the table of docs/comparing.md.

use kurabe_core::library::{is_path, names};
use kurabe_core::outside::text_of_file;
use kurabe_core::profile::MOST_THREADS;
use kurabe_core::quantity::{MIB, parse_bytes, parse_duration_ns};
use kurabe_core::workload::{Direction, OpKind};
use kurabe_core::{DataFile, DataTable, ErrorKind, Lang, Result, Text, Value, library, nearest, text};
use std::sync::LazyLock;

/// Name and text of every use, in the order of listing.
pub const USES: &[(&str, &str)] = library!["uses", ".toml":
    "os-disk",
    "vm-image",
    "database",
    "swap",
    "archive",
    "media-editing",
    "game-library",
    "retro-computer",
    "etcd",
    "postgresql-wal",
    "sqlite",
    "vm-host",
    "nas",
    "camera-recorder",
    "sd-a1",
    "sd-a2",
];

/// Default size of the test file.
const USUAL_SIZE_BYTES: u64 = 256 * MIB;

/// A use of a disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    /// Its name.
    pub name: String,
    /// Title.
    pub title: Text,
    /// Reason for this mix of work.
    pub reason: Text,
    /// Work of the use.
    pub work: Vec<UseWork>,
    /// Limits of the use.
    pub limits: Vec<UseLimit>,
    /// Range in bytes that its work covers.
    pub size_bytes: u64,
    /// Whether its program uses the page cache.
    pub buffered: bool,
    /// Whether it flushes with fdatasync, which does not store the times of a file, instead of fsync.
    pub data_only: bool,
    /// Whether the pages that it writes are new to the file, so that the file system stores where they are.
    pub new_pages: bool,
    /// Whether it writes for hours, so that a drive runs at the rate of its medium rather than its
    /// caches.
    pub sustained: bool,
    /// Whether only a dedicated measurement is meaningful, so that other runs are not evaluated.
    pub measured_alone: bool,
}

/// A part of the work of a use.
#[derive(Clone, Debug, PartialEq)]
pub struct UseWork {
    /// Whether offsets are sequential.
    pub sequential: bool,
    /// Read or write.
    pub direction: Direction,
    /// Block size in bytes.
    pub block_bytes: u64,
    /// Operations in flight per thread.
    pub iodepth: u32,
    /// Threads.
    pub threads: u32,
    /// Whether each write waits for a flush.
    pub sync: bool,
    /// Rate of the incoming data in bytes per second, whether the storage keeps up or not. `None`
    /// for as fast as possible.
    pub rate_bytes_per_s: Option<f64>,
    /// Whether threads and rate apply to each counted instance, such as a camera or a client.
    pub per_count: bool,
    /// Whether a file system does this work, so that it already occurs when a file is measured.
    pub of_file_system: bool,
    /// Share of the operations, in any unit.
    pub share: f64,
    /// Minimum rate for the use.
    pub least: Option<LeastRate>,
}

/// Minimum rate of a part of a use.
#[derive(Clone, Debug, PartialEq)]
pub struct LeastRate {
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Consequence of a lower rate.
    pub reason: Text,
    /// Source of the value.
    pub source: Text,
}

/// A limit that disqualifies a disk for a use.
#[derive(Clone, Debug, PartialEq)]
pub struct UseLimit {
    /// The limit.
    pub bears: Bearable,
    /// Consequence of exceeding it.
    pub reason: Text,
    /// Source of the value, if any.
    pub source: Option<Text>,
}

/// Worst value that a use tolerates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bearable {
    /// No stall longer than this.
    Stall {
        /// In ns.
        at_most_ns: u64,
    },
    /// A share of operations must complete within a time.
    Percentile {
        /// Reads, writes or flushes.
        of: OpKind,
        /// Share of operations, between 0 and 1.
        share: f64,
        /// In ns.
        at_most_ns: u64,
    },
}

impl Use {
    /// Returns the uses that come with kurabe, parsed once.
    ///
    /// # Panics
    /// Never: their files are part of the program, and a test parses them.
    pub fn built_in() -> &'static [Self] {
        static READ: LazyLock<Vec<Use>> = LazyLock::new(|| {
            let read = |(name, source): &(&str, &str)| Use::parse(&format!("uses/{name}.toml"), source);
            let uses = USES.iter().map(read).collect::<Result<_>>();
            uses.unwrap_or_else(|error| panic!("{}", error.render(Lang::En)))
        });
        &READ
    }

    /// Returns the shortest stall limit, and the consequence of exceeding it.
    pub fn worst_stall(&self) -> Option<(u64, &Text)> {
        let stalls = self.limits.iter().filter_map(|limit| match limit.bears {
            Bearable::Stall { at_most_ns } => Some((at_most_ns, &limit.reason)),
            Bearable::Percentile { .. } => None,
        });
        stalls.min_by_key(|(at_most_ns, _)| *at_most_ns)
    }

    /// Returns whether it has a limit that a measurement can prove. The absence of stalls proves
    /// little.
    pub fn can_be_judged(&self) -> bool {
        let is_percentile = |limit: &UseLimit| matches!(limit.bears, Bearable::Percentile { .. });
        self.work.iter().any(|work| work.least.is_some()) || self.limits.iter().any(is_percentile)
    }

    /// Returns its own work, without the work of a file system.
    pub(crate) fn own_work(&self) -> impl Iterator<Item = &UseWork> {
        self.work.iter().filter(|work| !work.of_file_system)
    }

    /// Returns whether it has a count, of cameras or clients.
    pub fn counts(&self) -> bool {
        self.work.iter().any(|work| work.per_count)
    }

    /// Loads a use that comes with kurabe, or from a file if the name looks like a path.
    ///
    /// # Errors
    /// When it does not exist, or its file is invalid.
    pub fn load(name: &str) -> Result<Self> {
        if is_path(name) {
            let message = text!("cannot read the use {name}", "用途のファイル {name} を読めません");
            return Self::parse(name, &text_of_file(name, &message)?);
        }
        match Self::built_in().iter().find(|purpose| purpose.name == name) {
            Some(purpose) => Ok(purpose.clone()),
            None => {
                let message = text!("there is no use named `{name}`", "`{name}` という用途はありません");
                Err(ErrorKind::Usage.error(message).remedy(nearest(name, &names(USES))))
            }
        }
    }

    /// Parses the file of a use. `name` appears in errors.
    ///
    /// # Errors
    /// The first error, with its line.
    pub fn parse(name: &str, source: &str) -> Result<Self> {
        let file = DataFile::parse(name, source)?;
        let keys = [
            "schema",
            "name",
            "title",
            "reason",
            "size",
            "buffered",
            "data_only",
            "new_pages",
            "sustained",
            "measured_alone",
            "work",
            "limit",
        ];
        let root = file.root(&keys)?;
        root.require("schema")?.integer(1..=1)?;
        Ok(Self {
            name: root.require("name")?.string()?.to_owned(),
            title: root.require("title")?.text()?,
            reason: root.require("reason")?.text()?,
            work: root.require("work")?.each(work)?,
            limits: root.each("limit", limit)?,
            size_bytes: root.read("size", some_bytes)?.unwrap_or(USUAL_SIZE_BYTES),
            buffered: flag(&root, "buffered")?,
            data_only: flag(&root, "data_only")?,
            new_pages: flag(&root, "new_pages")?,
            sustained: flag(&root, "sustained")?,
            measured_alone: flag(&root, "measured_alone")?,
        })
    }
}

fn flag(table: &DataTable<'_>, key: &str) -> Result<bool> {
    Ok(table.read(key, Value::boolean)?.unwrap_or(false))
}

fn some_bytes(value: &Value<'_>) -> Result<u64> {
    match value.parsed(parse_bytes)? {
        0 => Err(value.error(&text!("at least one byte is expected", "1 バイト以上が必要です"))),
        bytes => Ok(bytes),
    }
}

fn work(value: &Value<'_>) -> Result<UseWork> {
    let table = value.table(&[
        "access",
        "direction",
        "block",
        "iodepth",
        "threads",
        "sync",
        "rate",
        "per_count",
        "of_file_system",
        "share",
        "least",
    ])?;
    let threads = |threads: &Value<'_>| threads.integer(1..=u64::from(MOST_THREADS));
    Ok(UseWork {
        sequential: table.require("access")?.choice(&[("sequential", true), ("random", false)])?,
        direction: table
            .require("direction")?
            .choice(&[("read", Direction::Read), ("write", Direction::Write)])?,
        block_bytes: some_bytes(&table.require("block")?)?,
        iodepth: table.require("iodepth")?.integer(1..=65_536)? as u32,
        threads: table.read("threads", threads)?.unwrap_or(1) as u32,
        sync: flag(&table, "sync")?,
        rate_bytes_per_s: table.read("rate", some_bytes)?.map(|bytes| bytes as f64),
        per_count: flag(&table, "per_count")?,
        of_file_system: flag(&table, "of_file_system")?,
        share: table.require("share")?.positive()?,
        least: table.read("least", |least| {
            let least = least.table(&["bytes_per_s", "reason", "source"])?;
            Ok(LeastRate {
                bytes_per_s: least.require("bytes_per_s")?.parsed(parse_bytes)? as f64,
                reason: least.require("reason")?.text()?,
                source: source(&least.require("source")?)?,
            })
        })?,
    })
}

fn limit(value: &Value<'_>) -> Result<UseLimit> {
    let table = value.table(&["worst_stall", "percentile", "of", "at_most", "reason", "source"])?;
    table.refuse_both("worst_stall", "percentile")?;
    let bears = match table.get("worst_stall") {
        Some(stall) => Bearable::Stall { at_most_ns: stall.parsed(parse_duration_ns)? },
        None => {
            Bearable::Percentile { of: kind(&table)?, share: share(&table)?, at_most_ns: at_most(&table)? }
        }
    };
    Ok(UseLimit { bears, reason: table.require("reason")?.text()?, source: table.read("source", source)? })
}

/// Parses a source: a name that is the same in all languages, or text in both.
fn source(value: &Value<'_>) -> Result<Text> {
    if value.is_table() { value.text() } else { value.words().map(Text::same) }
}

fn kind(table: &DataTable<'_>) -> Result<OpKind> {
    table.require("of")?.choice(&[("read", OpKind::Read), ("write", OpKind::Write), ("sync", OpKind::Sync)])
}

fn share(table: &DataTable<'_>) -> Result<f64> {
    let percentile = table.require("percentile")?;
    match percentile.positive()? {
        percent if percent < 100.0 => Ok(percent / 100.0),
        _ => Err(percentile.error(&text!(
            "a percentile is above 0 and below 100",
            "パーセンタイルは 0 より大きく 100 未満です"
        ))),
    }
}

fn at_most(table: &DataTable<'_>) -> Result<u64> {
    table.require("at_most")?.parsed(parse_duration_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_use_of_the_library_is_read_under_its_name() {
        for (name, _) in USES {
            let purpose = Use::load(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(purpose.name, *name);
            assert!(!purpose.work.is_empty());
        }
        assert!(Use::load("vm-imag").unwrap_err().remedy_text().unwrap().en.contains("vm-image"));
    }

    #[test]
    fn the_example_of_the_documentation_is_a_use() {
        let page = include_str!("../../../docs/statistics.md");
        let example =
            page.split("```toml").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
        assert_eq!(Use::parse("docs/statistics.md", example).unwrap().work.len(), 2);
    }

    #[test]
    fn a_mistake_shows_its_line() {
        let source = USES[0].1.replace("share = 28", "share = 0");
        let error = Use::parse("mine.toml", &source).unwrap_err();
        assert_eq!(error.place().map(|place| place.line), Some(20));
    }
}
