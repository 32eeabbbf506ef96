//! Identities of runs, which are globally unique; the short id that users type is unique only in
//! its store.
//!
//! A new run gets a version 7 UUID from its start and 74 random bits. A run without one (from an
//! older kurabe or another tool) gets a version 8 UUID computed from its content, so that every
//! copy of it gets the same. The content is a fixed list of fields and not the record's JSON, which
//! grows from version to version. It excludes everything that may differ between copies: id,
//! labels, paths, command line, and the time at which a dead run was detected; for other tools also
//! the details of the import.

use jiff::Timestamp;
use kurabe_core::record::{Cell, OpsRecord, RunRecord};
use kurabe_core::workload::OpKind;
use sha2::{Digest, Sha256};

/// Creates the identity of a new run.
pub(crate) fn begun(started_at: &str, random: [u8; 16]) -> String {
    let milliseconds = started_at.parse::<Timestamp>().map_or(0, Timestamp::as_millisecond).max(0) as u64;
    let mut bytes = random;
    bytes[..6].copy_from_slice(&milliseconds.to_be_bytes()[2..]);
    uuid(bytes, 7)
}

/// Computes the identity of a run without one.
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

/// Returns whether the text can be an identity: a UUID in lower case.
pub(crate) fn is_well_formed(identity: &str) -> bool {
    identity.len() == 36
        && identity.bytes().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

/// Builds the UUID (RFC 9562) from these bytes, of which six bits are replaced by the version and
/// the variant.
fn uuid(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// Hash of a run's content, one value after another.
struct RunContent(Sha256);

impl RunContent {
    /// Adds a string with its length, so that strings cannot be confused with their concatenation.
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
                // Identities are older than trims, so a run without trims keeps its identity.
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
