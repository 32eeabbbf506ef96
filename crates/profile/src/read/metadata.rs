//! The reader of `metadata` steps.

use super::kit::{flag, integer_or, keys};
use kurabe_core::Value;
use kurabe_core::profile::{MetadataPart, MetadataStep, parse_block_size};
use kurabe_core::words::Keyword;
use kurabe_core::{Result, text};

/// Maximum number of files per thread.
const MOST_FILES: u64 = 100_000_000;
const MOST_THREADS: u64 = 1024;

pub(super) fn read_metadata(value: &Value<'_>) -> Result<MetadataStep> {
    let table =
        value.table(&keys("kind id label files threads shared neighbours write_size sync cold parts"))?;
    let mut parts = table.each("parts", |part| part.choice(MetadataPart::WORDS))?;
    if parts.is_empty() {
        // The part that only IO500 uses is not part of the default.
        let usual = MetadataPart::WORDS.iter().map(|(_, part)| *part);
        parts = usual.filter(|part| *part != MetadataPart::Find).collect();
    }
    let in_order = parts.windows(2).all(|pair| pair[0] < pair[1]);
    if let Some(at) = table.get("parts").filter(|_| !in_order || parts.first() != Some(&MetadataPart::Create))
    {
        return Err(at
            .error(&text!("these parts cannot run in this order", "この並びでは実行できません"))
            .remedy(text!(
                "begin with \"create\", and keep the order create, find, stat, read, rename, unlink",
                "\"create\" で始め、create、find、stat、read、rename、unlink の順に書いてください"
            )));
    }
    Ok(MetadataStep {
        id: table.read("id", Value::words)?,
        label: table.read("label", Value::words)?,
        files: table.require("files")?.integer(1..=MOST_FILES)? as u32,
        threads: integer_or(&table, "threads", 1..=MOST_THREADS, 1)? as u32,
        shared: flag(&table, "shared", false)?,
        neighbours: flag(&table, "neighbours", false)?,
        write_bytes: table.read("write_size", |value| value.parsed(parse_block_size))?.unwrap_or(0),
        sync: flag(&table, "sync", false)?,
        cold: flag(&table, "cold", false)?,
        parts,
    })
}
