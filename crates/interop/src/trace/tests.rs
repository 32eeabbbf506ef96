//! Tests of every format with its fixture, of refusals, and of freedom from panics.

use super::builder::*;
use super::lines::{TraceLine, decimal_ns};
use super::*;
use kurabe_core::trace::TraceOp;
use kurabe_core::workload::OpKind;
use kurabe_core::{ErrorKind, Lang};
use proptest::prelude::*;

const IOLOG_2: &[u8] = include_bytes!("../../tests/fixtures/traces/iolog-v2.log");
const IOLOG_3: &[u8] = include_bytes!("../../tests/fixtures/traces/iolog-v3.log");
const BLKPARSE: &[u8] = include_bytes!("../../tests/fixtures/traces/blkparse.txt");
const MSR: &[u8] = include_bytes!("../../tests/fixtures/traces/msr.csv");
const SPC: &[u8] = include_bytes!("../../tests/fixtures/traces/financial.spc");
const MQSIM: &[u8] = include_bytes!("../../tests/fixtures/traces/mqsim.trace");
const VALIDATE: &[u8] = include_bytes!("../../tests/fixtures/traces/validate.trace");
const DISKSIM: &[u8] = include_bytes!("../../tests/fixtures/traces/disksim.trace");

/// Short form of an operation.
type Short = (u64, OpKind, u64, u32, u32);

fn short(trace: &Trace) -> Vec<Short> {
    let one = |op: &TraceOp| (op.at_ns, op.kind, op.offset_bytes, op.length_bytes, op.unit);
    trace.operations.iter().map(one).collect()
}

fn read(bytes: &[u8], format: Option<TraceFormat>) -> Trace {
    let trace = read_trace("t", bytes, format).unwrap_or_else(|error| panic!("{}", error.render(Lang::En)));
    assert_eq!(trace.flaw(), None);
    trace
}

fn left_out(trace: &Trace) -> Vec<(u64, &str)> {
    trace.left_out.iter().map(|(count, why)| (*count, why.en.as_str())).collect()
}

fn refused(bytes: &[u8], format: Option<TraceFormat>) -> String {
    let error = read_trace("t", bytes, format).expect_err("refused");
    assert!(error.remedy_text().is_some(), "{error}");
    error.render(Lang::En)
}

use OpKind::{Read, Sync, Write};

/// Returns lines without an end. A reader may take at most this number of bytes.
fn endless(line: &str, most_bytes: usize) -> impl BufRead {
    struct Endless(Vec<u8>, usize, usize);
    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            for byte in &mut *buffer {
                *byte = self.0[self.1 % self.0.len()];
                self.1 += 1;
            }
            assert!(self.1 <= self.2, "{} bytes are read", self.1);
            Ok(buffer.len())
        }
    }
    std::io::BufReader::new(Endless(line.as_bytes().to_vec(), 0, most_bytes))
}

#[test]
fn disksims_validate_traces_tell_how_long_each_request_took() {
    let trace = read(VALIDATE, None);
    assert_eq!((trace.format.as_str(), trace.timed), ("disksim-validate", true));
    let expected = [
        (0, Read, 1_975_456 * 512, 2048, 0),
        (15_362_000 + 56_074_000, Read, 8_702_844 * 512, 512, 0),
        (71_436_000 + 487_250 + 27_896_500, Write, 0, 8192, 0),
    ];
    assert_eq!(short(&trace), expected);
    let took: Vec<u32> = trace.operations.iter().map(|operation| operation.took_ns).collect();
    assert_eq!(took, [15_362_000, 487_250, u32::MAX], "4.29 s at most");
    assert!(refused(b"R Hit 1 4 5.0 6.0\nR Hit 1 4 5.0\n", None).contains("has 5 fields, not 6"));
    assert!(refused(b"R Hit 1 4 5.0 6.0\nX Hit 1 4 5.0 6.0\n", None).contains("`X` is not R or W"));
}

#[test]
fn of_what_never_ends_no_more_is_read_than_tells_that() {
    let refused = |line: &str, most_bytes: usize| {
        let error = read_trace("t", endless(line, most_bytes), None).expect_err("refused");
        error.render(Lang::En)
    };
    assert!(refused("\0", 16_384).contains("t is not text"));
    assert!(refused("1,", 16_384).contains("the line is longer than 8 KiB"));
    assert!(refused("cat\n", 16_384).contains("cannot be detected"));
    let mut builder = TraceBuilder::new(1);
    let line = TraceLine { file: "t", number: 1, text: "0 name add" };
    let long_name = "n".repeat(8000);
    let error = (0..10_000).find_map(|number| builder.unit(line, &format!("{long_name}{number}")).err());
    let words = error.expect("refused").render(Lang::En);
    assert!(words.contains("the names of its files exceed 64 MiB"), "{words}");
}

#[test]
fn operations_beyond_the_limit_end_the_reading_and_the_remedy_leaves_a_trace_that_can_be_read() {
    let mut lines = LineReader::new("t", endless("0,0,4096,R,0.5\n", 1 << 14)).expect("begun");
    let mut builder = TraceBuilder::new(3);
    let error = lines.each(|line| csv::spc_line(line, &mut builder)).expect_err("refused");
    let words = error.render(Lang::En);
    assert!(words.contains("t has more than 3 operations") && words.contains("head -n 3 t"), "{words}");
}

#[test]
fn fios_logs_of_both_versions_are_read() {
    let trace = read(IOLOG_2, None);
    assert_eq!((trace.format.as_str(), trace.timed), ("fio-iolog-2", false));
    assert_eq!(trace.units, ["/data/a", "/data/b"]);
    assert_eq!(short(&trace), [(0, Write, 8192, 4096, 0), (0, Read, 0, 65536, 1), (0, Sync, 0, 0, 0)]);
    let waits = "waits, whose unit differs between fio's manual and its code";
    assert_eq!(left_out(&trace), [(1, waits), (1, "discards (trims)")]);

    let trace = read(IOLOG_3, None);
    assert_eq!((trace.format.as_str(), trace.timed), ("fio-iolog-3", true));
    let expected = [
        (0, Read, 0, 4096, 0),
        (25_000, Write, 45056, 4096, 0),
        (50_050_000, Sync, 0, 0, 0),
        (50_098_000, Write, 28672, 8192, 0),
    ];
    assert_eq!(short(&trace), expected);
    assert_eq!(left_out(&trace), [(1, "discards (trims)")]);
}

#[test]
fn blkparse_gives_what_was_queued_or_what_was_issued() {
    let trace = read(BLKPARSE, None);
    assert_eq!((trace.format.as_str(), trace.timed), ("blkparse-queued", true));
    assert_eq!(trace.units, ["7,0"]);
    let expected = [
        (0, Write, 48 * 512, 8192, 0),
        (100_000, Read, 64 * 512, 4096, 0),
        (200_000, Sync, 0, 0, 0),
        (500_000, Write, 128 * 512, 65536, 0),
        (122_999_999_005, Read, 300 * 512, 512, 0),
    ];
    assert_eq!(short(&trace), expected);
    let forced = "forced unit access (FUA) of writes, which are recorded as plain writes";
    assert_eq!(left_out(&trace), [(1, "discards (trims)"), (1, forced)]);

    let trace = read(BLKPARSE, Some(TraceFormat::BlkparseIssued));
    assert_eq!(trace.format, "blkparse-issued");
    let expected =
        [(0, Write, 48 * 512, 8192, 0), (98_500, Read, 64 * 512, 4096, 0), (198_500, Sync, 0, 0, 0)];
    assert_eq!(short(&trace), expected);
    assert_eq!(
        left_out(&trace),
        [(1, "discards (trims)"), (1, "commands that are neither reads nor writes")]
    );

    // A text filtered to `D` is recognized by its content.
    let kept: String = String::from_utf8_lossy(BLKPARSE)
        .lines()
        .filter(|line| line.contains("  D  "))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(read(kept.as_bytes(), None).format, "blkparse-issued");
}

#[test]
fn a_flush_before_a_write_is_a_sync_before_it() {
    let line = b"  8,0    1        1     0.000000001   501  Q FWFSM 8 + 8 [jbd2]\n";
    let trace = read(line, None);
    assert_eq!(short(&trace), [(0, Sync, 0, 0, 0), (0, Write, 4096, 4096, 0)]);
}

#[test]
fn cambridge_times_are_ticks_of_100_ns_and_are_put_in_order() {
    let trace = read(MSR, None);
    assert_eq!((trace.format.as_str(), trace.reordered), ("msr", 1));
    assert_eq!(trace.units, ["web_0", "web_1"]);
    let expected =
        [(0, Read, 7_014_609_920, 24576, 0), (2_100, Write, 2048, 512, 1), (7_100, Write, 1024, 4096, 0)];
    assert_eq!(short(&trace), expected);
    assert_eq!(left_out(&trace), [(1, "operations of length 0")]);
    let header = [b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n", MSR].concat();
    assert_eq!(read(&header, None), trace);
}

#[test]
fn spc_addresses_are_sectors_and_its_times_seconds() {
    let trace = read(SPC, None);
    assert_eq!(trace.format, "spc");
    assert_eq!(trace.units, ["asu0", "asu1"]);
    let expected = [
        (0, Write, 303 * 512, 3584, 0),
        (26_214_000, Write, 555 * 512, 3072, 1),
        (78_643_000, Read, 310 * 512, 8192, 0),
    ];
    assert_eq!(short(&trace), expected);
}

#[test]
fn simulators_columns_need_a_name_where_they_look_alike() {
    let message = refused(MQSIM, None);
    assert!(message.contains("mqsim, ssdsim, disksim"), "{message}");
    let trace = read(MQSIM, Some(TraceFormat::Mqsim));
    let expected = [
        (0, Write, 524_288 * 512, 8192, 0),
        (13_000, Write, 524_304 * 512, 8192, 0),
        (20_000, Read, 64 * 512, 4096, 1),
    ];
    assert_eq!(short(&trace), expected);
    assert_eq!(trace.units, ["device1", "device2"]);
    let same = read(MQSIM, Some(TraceFormat::Ssdsim));
    assert_eq!((same.format.as_str(), same.operations), ("ssdsim", trace.operations));
    // The same figures read as DiskSim's result in a time that is a million times longer.
    assert_eq!(read(MQSIM, Some(TraceFormat::Disksim)).summary().duration_ns, 20_000_000_000);

    let trace = read(DISKSIM, None);
    assert_eq!(trace.format, "disksim");
    let expected = [
        (0, Read, 1000 * 512, 4096, 0),
        (12_941_135, Write, 0, 2560, 1),
        (17_250_000, Read, 576_560 * 512, 3072, 1),
    ];
    assert_eq!(short(&trace), expected);
    assert!(refused(DISKSIM, Some(TraceFormat::Mqsim)).contains("whole number"));
}

#[test]
fn a_bad_line_is_shown_with_a_remedy() {
    let bad = b"fio version 3 iolog\n\n7 /data/a write 10x 4096\n";
    let message = refused(bad, None);
    assert!(message.contains("t:3:17"), "{message}");
    assert!(message.contains("`10x` is not"), "{message}");
    for (bytes, words) in [
        (&b"fio version 9 iolog\n"[..], "a supported version of fio's log"),
        (b"fio version 3 iolog\n7 a wait 5 0\n", "a fio action"),
        (b"fio version 3 iolog\n7 a read 5\n", "4 fields, not 5"),
        (b"fio version 2 iolog\na unlink\n", "add, open or close"),
        (b"fio version 2 iolog\na read 0 4294967296\n", "a length below 4 GiB"),
        (b"fio version 2 iolog\na read 18446744073709551615 4096\n", "an offset below 16 EiB"),
        (b"fio version 2 iolog\na trim 0 4096\n", "no operation that can be replayed"),
        (b"\x1f\x8b\x08", "gunzip"),
        (b"\x07taerest", "blkparse -i"),
        (b"a\0b", "not text"),
        (b"", "no operation"),
        (b"hello world\n", "fio-iolog, blkparse"),
        (b"1,web,0,Read,0,512,1\n2,web,0,Reed,0,512,1\n", "Read or Write"),
        (b"0,0,512,r,0.5\n0,0,512\n", "3 fields, not 5"),
        (b"0,0,512,r,-0.5\n", "a time"),
        (b"  8,0 1 1 0.1 5 Q W 8 + 8 [a]\n  8,0 1 2 0.2 5 ?? W 8 + 8 [a]\n", "an action of blkparse"),
        (b"1.5 0 0 8 1\n2.5 0 0 8\n", "4 fields, not 5"),
    ] {
        let message = refused(bytes, None);
        assert!(message.contains(words), "{words}: {message}");
    }
}

#[test]
fn a_very_long_line_is_shown_cut() {
    let long = format!("1.5 0 0 8 {}", "g".repeat(5000));
    let message = refused(long.as_bytes(), Some(TraceFormat::Disksim));
    assert!(message.len() < 1500, "{}", message.len());
    let late = format!("{} 0 0 8 g", "1".repeat(300));
    assert!(refused(late.as_bytes(), Some(TraceFormat::Disksim)).len() < 1500);
}

#[test]
fn formats_have_words() {
    for (_, format) in TraceFormat::WORDS {
        assert_eq!(TraceFormat::from_word(format.word()).expect("its own word"), *format);
    }
    let error = TraceFormat::from_word("zip").expect_err("not a trace format");
    assert_eq!(error.kind(), ErrorKind::Usage);
}

#[test]
fn fractions_of_time_are_exact() {
    assert_eq!(decimal_ns("17.5", 1_000_000), Some(17_500_000));
    assert_eq!(decimal_ns("0.000000001", 1_000_000_000), Some(1));
    assert_eq!(decimal_ns("0.0000000019999999999999", 1_000_000_000), Some(1));
    assert_eq!(decimal_ns("3.", 1000), Some(3000));
    for bad in ["", ".5", "-1", "1e3", "1.2.3", "99999999999999999999", "１"] {
        assert_eq!(decimal_ns(bad, 1000), None, "{bad}");
    }
    assert_eq!(decimal_ns("18446744073709551615", 1000), None);
}

#[test]
fn what_fio_cannot_read_in_a_name_is_replaced() {
    let mut trace = read(IOLOG_3, None);
    trace.units = vec![format!("my disk {}", "é".repeat(300))];
    let again = read(write_iolog_v3(&trace).as_bytes(), None);
    assert!(again.units[0].starts_with("my_disk_é") && again.units[0].len() <= 255);
    assert_eq!(again.operations, trace.operations);
}

/// Returns an arbitrary valid trace with times in whole µs.
fn any_trace() -> impl Strategy<Value = Trace> {
    let operation = (0..u64::MAX / 4000, 0..3_u8, 0..u64::MAX / 2, 1..=u32::MAX, 0..3_u32);
    prop::collection::vec(operation, 1..40).prop_map(|drawn| {
        let operations = drawn
            .into_iter()
            .map(|(at_us, kind, offset_bytes, length_bytes, unit)| {
                let at_ns = at_us * 1000;
                match kind {
                    0 => TraceOp { at_ns, kind: Read, offset_bytes, length_bytes, unit, took_ns: 0 },
                    1 => TraceOp { at_ns, kind: Write, offset_bytes, length_bytes, unit, took_ns: 0 },
                    _ => TraceOp { at_ns, kind: Sync, offset_bytes: 0, length_bytes: 0, unit, took_ns: 0 },
                }
            })
            .collect();
        let mut trace = Trace {
            format: "fio-iolog-3".to_owned(),
            units: ["/a", "/b", "loop0"].map(str::to_owned).to_vec(),
            operations,
            timed: true,
            ..Trace::default()
        };
        trace.settle();
        trace.reordered = 0;
        trace
    })
}

proptest! {
    #[test]
    fn a_written_log_is_read_again_as_the_same(trace in any_trace()) {
        prop_assert_eq!(trace.flaw(), None);
        let again = read_trace("t", write_iolog_v3(&trace).as_bytes(), None);
        prop_assert_eq!(again.map_err(|error| error.render(Lang::En)), Ok(trace));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survive(&bytes);
    }

    #[test]
    fn damaged_traces_are_read_without_a_panic(
        which in 0..7_usize,
        at in 0..900_usize,
        with in "[-0-9a-zA-Z,. +\n\t日]{0,12}",
        cut in any::<bool>(),
    ) {
        let whole = [IOLOG_2, IOLOG_3, BLKPARSE, MSR, SPC, MQSIM, DISKSIM][which];
        let at = at.min(whole.len());
        let rest = if cut { &[] } else { &whole[(at + with.len()).min(whole.len())..] };
        survive(&[&whole[..at], with.as_bytes(), rest].concat());
    }
}

/// Reads bytes in every format. An accepted trace is valid, and a refusal has a remedy.
fn survive(bytes: &[u8]) {
    for format in std::iter::once(None).chain(TraceFormat::WORDS.iter().map(|(_, format)| Some(*format))) {
        match read_trace("t", bytes, format) {
            Ok(trace) => assert_eq!(trace.flaw(), None, "{format:?}"),
            Err(error) => {
                assert!(error.remedy_text().is_some(), "{error}");
                assert!(!error.render(Lang::Ja).is_empty());
            }
        }
    }
}
