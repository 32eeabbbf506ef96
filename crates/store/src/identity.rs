//! Identities of runs: unique in the world, where the short id is unique in its store and what people type.
//!
//! The model: a run that begins gets a UUID of version 7, of its start and 74 random bits. A run without one (of a kurabe from
//! before, or of another tool) has the UUID of version 8 that is made of what it holds, so that whoever reads a copy of it
//! comes to the same. That is a list of fields which never changes, not the record's JSON, which grows from version to
//! version. What copies of one run may differ in is not in it: the id, labels, paths, the command line, when a dead run was
//! found dead; of another tool's also how and when it was imported.

use jiff::Timestamp;
use kurabe_core::record::{Cell, OpsRecord, RunRecord};
use kurabe_core::workload::OpKind;
use sha2::{Digest, Sha256};

/// The identity of a run that begins.
pub(crate) fn begun(started_at: &str, random: [u8; 16]) -> String {
    let milliseconds = started_at.parse::<Timestamp>().map_or(0, Timestamp::as_millisecond).max(0) as u64;
    let mut bytes = random;
    bytes[..6].copy_from_slice(&milliseconds.to_be_bytes()[2..]);
    uuid(bytes, 7)
}

/// The identity of a run that was given none.
pub(crate) fn of_content(run: &RunRecord) -> String {
    let mut content = RunContent(Sha256::new());
    let header = &run.header;
    match &header.origin {
        Some(origin) => {
            [&origin.tool, &origin.format, &origin.file].into_iter().for_each(|word| content.add(word));
            [&origin.version, &origin.measured_at, &origin.target, &origin.procedure]
                .into_iter()
                .for_each(|word| content.add(word.as_deref().unwrap_or_default()));
            origin
                .facts
                .iter()
                .for_each(|(key, fact)| [key, fact].into_iter().for_each(|word| content.add(word)));
        }
        None => [&header.started_at, &header.kurabe_version].into_iter().for_each(|word| content.add(word)),
    }
    content.add(&header.profile_name());
    run.cells.iter().for_each(|cell| content.add_cell(cell));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&content.0.finalize()[..16]);
    uuid(bytes, 8)
}

/// Whether these words can be an identity: a UUID in small letters.
pub(crate) fn is_well_formed(identity: &str) -> bool {
    identity.len() == 36
        && identity.bytes().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

/// The UUID (RFC 9562) of these bytes, which leave six bits to the version and the variant.
fn uuid(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// What a run holds, one word after the other.
struct RunContent(Sha256);

impl RunContent {
    /// With its length before it, so that no word is taken for two.
    fn add(&mut self, word: &str) {
        self.0.update((word.len() as u64).to_be_bytes());
        self.0.update(word);
    }

    fn add_numbers<const COUNT: usize>(&mut self, numbers: [u64; COUNT]) {
        numbers.into_iter().for_each(|number| self.0.update(number.to_be_bytes()));
    }

    fn add_cell(&mut self, cell: &Cell) {
        self.add(&cell.label);
        self.add_numbers([cell.index.into(), cell.step_index.into(), cell.repetitions.len() as u64]);
        for repetition in &cell.repetitions {
            self.add_numbers([repetition.index.into(), repetition.seed, repetition.elapsed_ns]);
            for kind in OpKind::ALL {
                let OpsRecord { completed, bytes, latency, .. } = repetition.side(kind);
                // Identities are older than trims: a run without any keeps its own.
                if kind != OpKind::Trim || *completed > 0 {
                    self.add_numbers([*completed, *bytes, latency.sum_ns]);
                }
            }
        }
        for figure in cell.imported.iter().flat_map(|imported| &imported.figures) {
            self.add(&figure.printed);
            self.add_numbers([figure.value.to_bits()]);
        }
        for series in cell.imported.iter().flat_map(|imported| &imported.series) {
            series.points.iter().for_each(|(at, value)| self.add_numbers([at.to_bits(), value.to_bits()]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_begins_has_a_uuid_of_its_start() {
        // The example of RFC 9562, whose start is 2022-02-22 19:22:22 UTC.
        let random = 0x0cc3_18c4_dc0c_0c07_398f_u128.to_be_bytes();
        let identity = begun("2022-02-22T14:22:22-05:00", random);
        assert_eq!(identity, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
        assert!(is_well_formed(&identity));
    }

    #[test]
    fn well_formed_identities() {
        for words in
            ["", "k7f", "017F22E2-79b0-7cc3-98c4-dc0c0c07398f", "017f22e279b07cc398c4dc0c0c07398f----"]
        {
            assert!(!is_well_formed(words), "{words}");
        }
    }
}
