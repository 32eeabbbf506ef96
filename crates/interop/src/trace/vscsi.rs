//! CloudPhysics' traces of virtual SCSI disks, as in its public data set: consecutive records of a
//! fixed size.
//!
//! The model, with little-endian numbers: version 1 has records of 32 bytes (serial number, length in
//! bytes, scatter-gather entries, command, version, block, time in µs), version 2 of 40 (command and
//! version first, and a response time after the time). The version is in the upper byte of its field.
//! Blocks are 512 bytes, as VMware counts them. The command is the SCSI opcode. Layout: libCacheSim's
//! reader of the same traces (traceReader, vscsi.h).

use super::builder::{SECTOR_BYTES, TraceBuilder, discards, empty, operation, sync, too_long};
use super::lines::{MOST_BYTES, TraceLine, too_large, unreadable};
use kurabe_core::{Error, ErrorKind, Result, Text, text, workload::OpKind};
use std::io::{BufRead, Read};

/// Number of records that must contain the version for a file to be recognized as such a trace. Other
/// bytes contain it once by chance.
const SHOWN: usize = 4;
/// The unit of all operations.
const DISK: &str = "disk";
/// Duration in ns of a tick.
const TICK_NS: u64 = 1000;

/// Offsets of the fields of a record that differ between versions.
struct RecordLayout {
    version: u8,
    size: usize,
    command_at: usize,
    version_at: usize,
    length_at: usize,
}

const LAYOUTS: [RecordLayout; 2] = [
    RecordLayout { version: 1, size: 32, command_at: 12, version_at: 14, length_at: 4 },
    RecordLayout { version: 2, size: 40, command_at: 0, version_at: 2, length_at: 8 },
];
/// Offset of block and time in every version.
const BLOCK_AT: usize = 16;
const TIME_AT: usize = 24;

impl RecordLayout {
    /// Returns the layout of a file, by its first records.
    fn of(bytes: &[u8]) -> Option<&'static Self> {
        let fits = |layout: &&Self| {
            let records = bytes.chunks_exact(layout.size).take(SHOWN);
            bytes.len() >= 2 * layout.size && records.into_iter().all(|record| layout.shows_version(record))
        };
        LAYOUTS.iter().find(fits)
    }

    fn shows_version(&self, record: &[u8]) -> bool {
        record.get(self.version_at + 1) == Some(&self.version)
    }
}

/// Returns whether the bytes are of such a trace.
pub(super) fn fits(bytes: &[u8]) -> bool {
    RecordLayout::of(bytes).is_some()
}

pub(super) fn read(name: &str, mut input: impl BufRead, builder: &mut TraceBuilder) -> Result<()> {
    let beginning = input.fill_buf().map_err(|error| unreadable(name, &error))?;
    if beginning.is_empty() {
        return Err(empty(name));
    }
    let Some(layout) = RecordLayout::of(beginning) else {
        let what = text!("not a record of version 1 or 2", "バージョン 1 または 2 のレコードではありません");
        return Err(broken(name, 0, &what));
    };
    let mut record = Vec::with_capacity(layout.size);
    for index in 0.. {
        record.clear();
        let taken = (&mut input).take(layout.size as u64).read_to_end(&mut record);
        taken.map_err(|error| unreadable(name, &error))?;
        if record.is_empty() {
            break;
        }
        let at = index * layout.size as u64;
        if at > MOST_BYTES {
            return Err(too_large(name));
        }
        if builder.trace.operations.len() == builder.most_operations {
            return Err(too_long(name, builder.most_operations, &format!("head -c {at}")));
        }
        take(name, at, layout, &record, builder)?;
    }
    Ok(())
}

/// Reads one record at an offset of the file.
fn take(name: &str, at: u64, layout: &RecordLayout, record: &[u8], builder: &mut TraceBuilder) -> Result<()> {
    let broken = |what: Text| broken(name, at, &what);
    if record.len() < layout.size {
        return Err(broken(text!("the record is cut off", "レコードが途中で切れています")));
    }
    if !layout.shows_version(record) {
        return Err(broken(text!("a record of another version", "バージョンの異なるレコードです")));
    }
    // Errors of lines do not occur here: there is one unit, and the limit was already checked.
    let line = TraceLine { file: name, number: 0, text: "" };
    builder.unit(line, DISK)?;
    let too_large = || broken(text!("block or time is too large", "ブロック番号か時刻が大きすぎます"));
    let (command, at_ns, extent) = fields_of(layout, record).ok_or_else(too_large)?;
    match command {
        // READ (6), (10), (12), (16).
        0x08 | 0x28 | 0xa8 | 0x88 => builder.push(line, DISK, operation(at_ns, OpKind::Read, extent)),
        // WRITE (6), (10), (12), (16), and the same with VERIFY.
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => {
            builder.push(line, DISK, operation(at_ns, OpKind::Write, extent))
        }
        // SYNCHRONIZE CACHE (10), (16).
        0x35 | 0x91 => builder.push(line, DISK, sync(at_ns)),
        // UNMAP.
        0x42 => builder.leave_out(discards()),
        _ => builder.leave_out(text!("other commands of SCSI", "そのほかの SCSI コマンド")),
    }
}

/// Returns command, time, and offset and length of a record. `None` if its offset or time is too large.
fn fields_of(layout: &RecordLayout, record: &[u8]) -> Option<(u16, u64, (u64, u32))> {
    let command = u16::from_le_bytes(field(record, layout.command_at)?);
    let length_bytes = u32::from_le_bytes(field(record, layout.length_at)?);
    let at_ns = u64::from_le_bytes(field(record, TIME_AT)?).checked_mul(TICK_NS)?;
    let offset_bytes = u64::from_le_bytes(field(record, BLOCK_AT)?).checked_mul(SECTOR_BYTES)?;
    offset_bytes.checked_add(u64::from(length_bytes))?;
    Some((command, at_ns, (offset_bytes, length_bytes)))
}

fn field<const SIZE: usize>(record: &[u8], at: usize) -> Option<[u8; SIZE]> {
    record.get(at..at + SIZE)?.try_into().ok()
}

fn broken(name: &str, at: u64, what: &Text) -> Error {
    let what = text!("{name}, byte {at}: {what}", "{name} の {at} バイト目: {what}"; what);
    ErrorKind::Import.error(what).remedy(text!(
        "give the trace as it was published, decompressed and complete",
        "公開されたままの、展開済みで欠けのないトレースを指定してください"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::read_trace;
    use super::*;
    use kurabe_core::Lang;

    /// Command, length, block, time in µs.
    type Record = (u16, u32, u64, u64);

    fn bytes_of(version: u16, records: &[Record]) -> Vec<u8> {
        let serial = 7_u32.to_le_bytes();
        let mut bytes = Vec::new();
        for (command, length, block, time) in records {
            let words = [command.to_le_bytes(), (version << 8).to_le_bytes()].concat();
            let sizes = [serial, length.to_le_bytes(), 1_u32.to_le_bytes()].concat();
            let rest = [block.to_le_bytes(), time.to_le_bytes()].concat();
            bytes.extend(if version == 1 {
                [sizes, words, rest].concat()
            } else {
                [words, sizes, rest, 250_u64.to_le_bytes().to_vec()].concat()
            });
        }
        bytes
    }

    const RECORDS: [Record; 5] = [
        (0x28, 4096, 64, 1_000_000),
        (0x8a, 65_536, 1 << 20, 1_000_250),
        (0x35, 0, 0, 1_000_300),
        (0x12, 36, 0, 1_000_400),
        (0x42, 24, 0, 1_000_500),
    ];

    #[test]
    fn both_versions_are_told_by_their_content_and_read_alike() {
        for version in [1, 2] {
            let bytes = bytes_of(version, &RECORDS);
            assert_eq!(super::super::recognised("w01.vscsi", &bytes), Some("vscsi"));
            let trace = read_trace("w01.vscsi", &bytes[..], None).unwrap();
            let operations: Vec<_> = trace
                .operations
                .iter()
                .map(|op| (op.at_ns, op.kind, op.offset_bytes, op.length_bytes))
                .collect();
            let expected = [
                (0, OpKind::Read, 64 * 512, 4096),
                (250_000, OpKind::Write, 512 << 20, 65_536),
                (300_000, OpKind::Sync, 0, 0),
            ];
            assert_eq!(operations, expected, "version {version}");
            let left_out: u64 = trace.left_out.iter().map(|(count, _)| count).sum();
            assert_eq!((trace.format.as_str(), trace.timed, left_out), ("vscsi", true, 2));
        }
    }

    #[test]
    fn what_is_cut_or_of_two_versions_is_refused_with_its_place() {
        let whole = bytes_of(2, &[RECORDS[0]; 6]);
        let refused = |bytes: &[u8]| read_trace("w", bytes, None).unwrap_err().render(Lang::En);
        assert!(refused(&whole[..whole.len() - 1]).contains("byte 200: the record is cut off"));
        let mut mixed = whole.clone();
        mixed[5 * 40 + 3] = 1;
        assert!(refused(&mixed).contains("byte 200: a record of another version"));
        let far = bytes_of(1, &[(0x28, 4096, u64::MAX / 512, 5), RECORDS[0]]);
        assert!(refused(&far).contains("byte 0: block or time is too large"));
        let mut few = TraceBuilder::new(3);
        let error = read("w", &whole[..], &mut few).unwrap_err();
        assert!(error.render(Lang::En).contains("head -c 120 w"), "{error}");
        // Zeros contain no version.
        assert!(refused(&[0; 320]).contains("not text"));
    }
}
