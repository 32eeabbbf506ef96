//! Uses of a disk, from the folder `uses/`: what a use does, and what it cannot bear.
//!
//! The model: a use is a mix of work. Runs are ranked by the weighted geometric mean of the rates of its parts: a part that
//! is twice as fast counts the same wherever it stands, the order does not depend on which run is the baseline, and only
//! ratios are ever shown, never a score.

use kurabe_core::outside::text_of_file;
use kurabe_core::quantity::{parse_bytes, parse_duration_ns};
use kurabe_core::workload::Direction;
use kurabe_core::{DataFile, DataTable, ErrorKind, Lang, Result, Text, Value, nearest, text};
use std::sync::LazyLock;

macro_rules! library {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../uses/", $name, ".toml")))),*]
    };
}

/// Name and text of every use, in the order in which they are listed.
pub const USES: &[(&str, &str)] = library![
    "os-disk",
    "vm-image",
    "database",
    "swap",
    "archive",
    "media-editing",
    "game-library",
    "retro-computer",
];

/// A use of a disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    /// Its name.
    pub name: String,
    /// What it is.
    pub title: Text,
    /// Why it is made of this.
    pub reason: Text,
    /// What it does.
    pub work: Vec<UseWork>,
    /// What it cannot bear.
    pub limits: Vec<UseLimit>,
}

/// A part of what a use does.
#[derive(Clone, Debug, PartialEq)]
pub struct UseWork {
    /// Whether offsets ascend.
    pub sequential: bool,
    /// Read or write.
    pub direction: Direction,
    /// Block size in bytes.
    pub block_bytes: u64,
    /// Operations in flight.
    pub iodepth: u32,
    /// Its weight among the parts.
    pub share: f64,
    /// The rate below which a disk is of no use for it.
    pub least: Option<LeastRate>,
}

/// The rate that a part of a use needs.
#[derive(Clone, Debug, PartialEq)]
pub struct LeastRate {
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// What less would mean.
    pub reason: Text,
}

/// What disqualifies a disk for a use.
#[derive(Clone, Debug, PartialEq)]
pub struct UseLimit {
    /// A stall longer than this, in ns.
    pub worst_stall_ns: u64,
    /// What that would mean.
    pub reason: Text,
}

impl Use {
    /// Those that come with kurabe, read once.
    ///
    /// # Panics
    /// Never: their files are part of the program, and a test reads them.
    pub fn built_in() -> &'static [Self] {
        static READ: LazyLock<Vec<Use>> = LazyLock::new(|| {
            let read = |(name, source): &(&str, &str)| Use::parse(&format!("uses/{name}.toml"), source);
            let uses = USES.iter().map(read).collect::<Result<_>>();
            uses.unwrap_or_else(|error| panic!("{}", error.render(Lang::En)))
        });
        &READ
    }

    /// A use that comes with kurabe, or from a file of the user's own if the name looks like a path.
    ///
    /// # Errors
    /// When there is none, or its file is wrong.
    pub fn load(name: &str) -> Result<Self> {
        if name.ends_with(".toml") || name.contains('/') {
            let message = text!("cannot read the use {name}", "用途のファイル {name} を読めません");
            let source = text_of_file(name, &message)?;
            return Self::parse(name, &source);
        }
        match Self::built_in().iter().find(|purpose| purpose.name == name) {
            Some(purpose) => Ok(purpose.clone()),
            None => {
                let names: Vec<&str> = USES.iter().map(|(name, _)| *name).collect();
                let message = text!("there is no use named `{name}`", "`{name}` という用途はありません");
                Err(ErrorKind::Usage.error(message).remedy(nearest(name, &names)))
            }
        }
    }

    /// Reads the file of a use; `name` is shown in errors.
    ///
    /// # Errors
    /// At the first thing that is wrong, with its line.
    pub fn parse(name: &str, source: &str) -> Result<Self> {
        let file = DataFile::parse(name, source)?;
        let root = file.root(&["schema", "name", "title", "reason", "work", "limit"])?;
        root.require("schema")?.integer(1..=1)?;
        let limits = root.get("limit").map(|list| list.elements()).unwrap_or_default();
        Ok(Self {
            name: root.require("name")?.string()?.to_owned(),
            title: root.require("title")?.text()?,
            reason: root.require("reason")?.text()?,
            work: list(&root, "work")?.iter().map(work).collect::<Result<_>>()?,
            limits: limits.iter().map(limit).collect::<Result<_>>()?,
        })
    }
}

fn list<'f>(root: &DataTable<'f>, key: &str) -> Result<Vec<Value<'f>>> {
    Ok(root.require(key)?.elements())
}

fn work(value: &Value<'_>) -> Result<UseWork> {
    let table = value.table(&["access", "direction", "block", "iodepth", "share", "least"])?;
    let block = table.require("block")?;
    let block_bytes = block.parsed(parse_bytes)?;
    if block_bytes == 0 {
        return Err(block.error(&text!("a block has at least one byte", "ブロックは 1 バイト以上です")));
    }
    Ok(UseWork {
        sequential: table.require("access")?.choice(&[("sequential", true), ("random", false)])?,
        direction: table
            .require("direction")?
            .choice(&[("read", Direction::Read), ("write", Direction::Write)])?,
        block_bytes,
        iodepth: table.require("iodepth")?.integer(1..=65_536)? as u32,
        share: table.require("share")?.positive()?,
        least: table.read("least", |least| {
            let least = least.table(&["bytes_per_s", "reason", "source"])?;
            least.require("source")?.string()?;
            Ok(LeastRate {
                bytes_per_s: least.require("bytes_per_s")?.parsed(parse_bytes)? as f64,
                reason: least.require("reason")?.text()?,
            })
        })?,
    })
}

fn limit(value: &Value<'_>) -> Result<UseLimit> {
    let table = value.table(&["worst_stall", "reason"])?;
    Ok(UseLimit {
        worst_stall_ns: table.require("worst_stall")?.parsed(parse_duration_ns)?,
        reason: table.require("reason")?.text()?,
    })
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
        let source = USES[0].1.replace("share = 30", "share = 0");
        let error = Use::parse("mine.toml", &source).unwrap_err();
        assert_eq!(error.place().map(|place| place.line), Some(19));
    }
}
