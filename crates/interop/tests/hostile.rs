//! Files that no tool wrote: huge, deep, repeated, truncated, without an encoding.
//!
//! The model: each tool's file is grown to as many jobs, devices, tests or rows as fit. A reader whose
//! time grows faster than the file exceeds the limit, which is ample for any other reader. The unit of
//! the limit is the time of simple work on the same number of bytes by the same thread, measured next
//! to each import, so the speed of the machine cancels out. Both are CPU times of the thread, so other
//! programs do not count.

use kurabe_core::words::Keyword;
use kurabe_interop::{ImportedRun, TraceFormat, import, read_trace};
use std::fmt::Write;
use std::time::Duration;

/// Maximum time of an import, in units of `plain_work`: several times the need of any of these files,
/// far less than the need of a quadratic reader.
const LIMIT: f64 = 60.0;
/// A reader is too slow only if it exceeds the limit each time. An interrupt, or cache pressure from
/// another process, does not occur each time.
const TRIES: usize = 4;

/// Size of the files in bytes.
const SIZE: usize = 1 << 18;

/// Returns lines up to the size.
fn grown(head: &str, line: impl Fn(usize) -> String, tail: &str) -> String {
    let mut text = head.to_owned();
    for number in 0.. {
        if text.len() >= SIZE {
            break;
        }
        text += &line(number);
    }
    text + tail
}

fn fixture(name: &str) -> String {
    let path = format!("{}/tests/fixtures/lab/{name}", env!("CARGO_MANIFEST_DIR"));
    String::from_utf8(std::fs::read(path).unwrap()).unwrap()
}

/// Returns the CPU time of this thread. Zero if the kernel does not report it, so that the limit does
/// not apply.
fn processor_time() -> Duration {
    let words = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(words.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0))
}

/// Does work that is linear in the size of the files: it sorts the words of four of them into a map.
fn plain_work() {
    let text = "figure 12 of a line in a file, and what it is\n".repeat(4 * SIZE / 46);
    let mut counts = std::collections::BTreeMap::new();
    text.split([' ', '\n']).for_each(|word| *counts.entry(word.to_owned()).or_insert(0_u32) += 1);
    assert!(counts["figure"] > 100);
}

/// Runs a function within the limit.
fn in_time<T>(name: &str, mut work: impl FnMut() -> T) -> T {
    let mut ratios = Vec::new();
    for _ in 0..TRIES {
        let begun = processor_time();
        let done = work();
        let between = processor_time();
        plain_work();
        let ended = processor_time();
        let ratio = (between - begun).as_secs_f64() / (ended - between).as_secs_f64();
        // Without a unit, the kernel does not report CPU times.
        if !ratio.is_finite() || ratio < LIMIT {
            return done;
        }
        ratios.push(ratio);
    }
    panic!("{name}: {ratios:?} times the time of plain work, {LIMIT} at most");
}

/// Imports within the limit. Figures must be valid.
fn within_limit(name: &str, bytes: &[u8]) -> Option<Vec<ImportedRun>> {
    let read = in_time(name, || import(name, bytes));
    let runs = read.ok()?;
    for cell in runs.iter().flat_map(|run| &run.cells) {
        for figure in &cell.imported.as_ref().unwrap().figures {
            assert!(figure.value.is_finite() && figure.value >= 0.0, "{name}: {figure:?}");
        }
    }
    Some(runs)
}

fn read_grown(name: &str, text: &str) {
    assert!(
        within_limit(name, text.as_bytes()).is_some(),
        "{name}: {:?}",
        import(name, text.as_bytes()).err()
    );
}

fn fio_job(number: usize) -> String {
    format!(
        "{{\"jobname\":\"job{number}\",\"job options\":{{\"rw\":\"read\",\"name\":\"{number}\"}},\"read\":{{\"io_bytes\":4096,\
         \"bw_bytes\":10,\"runtime\":7}}}},\n"
    )
}

#[test]
fn thousands_of_jobs_tests_and_targets() {
    let job = |number| fio_job(number);
    read_grown("fio jobs", &grown("{\"fio version\":\"fio-3.33\",\"jobs\":[\n", job, "{}]}"));
    let option = |number| format!("\"o{number}\":\"{number}\",\n");
    let options =
        grown("{\"fio version\":\"fio-3.33\",\"global options\":{", option, "\"a\":\"b\"},\"jobs\":[");
    let jobs: String = (0..500).map(fio_job).collect();
    read_grown("fio options", &format!("{options}{jobs}{{}}]}}"));
    let long = format!(
        "{{\"fio version\":\"fio-3.33\",\"global options\":{{\"filename\":\"{}\"}},\"jobs\":[",
        "x".repeat(SIZE)
    );
    let jobs: String = (0..2000).map(fio_job).collect();
    read_grown("fio long option", &format!("{long}{jobs}{{}}]}}"));
    let summary = |number| format!("{{\"operation\":\"read\",\"TestID\":{number},\"bwMaxMIB\":5}},\n");
    let test =
        |number| format!("{{\"TestID\":{number},\"Results\":[{{\"access\":\"read\",\"bwMiB\":5.0}}]}},\n");
    let tests = grown("{\"tests\":[", test, "{}],\"summary\":[");
    read_grown("IOR tests", &(tests + &grown("", summary, "{}]}")));
    let thread = |number| {
        format!(
            "<Thread><Target><Path>f{number}</Path><ReadBytes>4096</ReadBytes><ReadCount>1</ReadCount></Target></Thread>\n"
        )
    };
    let target = |number| format!("<Target><Path>f{number}</Path><BlockSize>4096</BlockSize></Target>\n");
    let profile = grown(
        "<Results><Profile><TimeSpans><TimeSpan><Targets>",
        target,
        "</Targets></TimeSpan></TimeSpans></Profile>",
    );
    let spans = grown("<TimeSpan><TestTimeSeconds>1.00</TestTimeSeconds>", thread, "</TimeSpan></Results>");
    read_grown("DiskSpd targets", &(profile + &spans));
    let span = |_| {
        "<TimeSpan><TestTimeSeconds>1.00</TestTimeSeconds><Thread><Target><ReadBytes>4096</ReadBytes>\
                    <ReadCount>1</ReadCount></Target></Thread></TimeSpan>\n"
            .to_owned()
    };
    read_grown("DiskSpd spans", &grown("<Results>", span, "</Results>"));
}

#[test]
fn texts_that_begin_much_and_end_nothing() {
    for (name, line) in [
        ("objects", "{\n"),
        ("objects with keys", "{\"fio version\":\n"),
        ("objects of a shell", "{ \"fio version\" echo; }\n"),
        ("elements", "<"),
        ("long elements", "<pre aaaaaaaaaaaaaaaaaaaaaaaaa"),
        ("marks", "> "),
        ("lists", "- * "),
        ("columns", "SEQ 1MiB (Q=  8, T= 1):   1.000 MB/s"),
        ("more columns", "   1.000 MB/s [  1.0 IOPS]"),
        ("sections", "[Read]\nSEQ 1MiB (Q=  8, T= 1):   1.000 MB/s\n"),
        ("headings", "CrystalDiskMark 8\nKDiskMark (3.0.0): x\nAS SSD Benchmark 2\nHD Tune: x Benchmark\n"),
        ("commands", "dd if=a of=b bs=1\n"),
        ("counts", "1+0 records in\n"),
        ("logs", "Linux 6.1.0 (host) x\n"),
        ("tables", "Device r/s w/s\n"),
    ] {
        drop(within_limit(name, grown("", |_| line.to_owned(), "").as_bytes()));
        drop(within_limit(name, grown("SEQ 1MiB (Q=  8, T= 1): ", |_| line.to_owned(), "").as_bytes()));
    }
}

#[test]
fn thousands_of_devices_rows_and_results() {
    let header = "Device r/s w/s rkB/s wkB/s\n";
    let row = |number: usize| format!("disk{number} 1.00 2.00 3.00 4.00\n");
    let rows: String = (0..1000).map(row).collect();
    let report = format!("{header}{rows}\n");
    read_grown("iostat devices", &format!("{report}{report}{report}"));
    let reports = |number: usize| format!("{header}disk{number} 1.00 2.00 3.00 4.00\n\n");
    read_grown("iostat reports", &grown("", reports, ""));
    let pool = |number: usize| format!("pool{number}\t1\t2\t3\t4\t5\t6\n");
    read_grown("zpool", &(0..2000).map(pool).collect::<String>());
    let live = fixture("elbencho-live.csv");
    let mut lines = live.lines();
    let (head, row) = (lines.next().unwrap(), lines.find(|line| line.contains(",Total,")).unwrap());
    let phase = |number: usize| row.replacen("RWMIX30", &format!("RWMIX30+{number}"), 1) + "\n";
    read_grown("elbencho live", &grown(&format!("{head}\n"), phase, ""));
    let text =
        grown("Iozone: Performance Test of File I/O\nCommand line used: iozone ", |_| "x".repeat(1000), "\n");
    let title = "\"Writer report\"\n        \"4\" \"8\"\n";
    let row = |number: usize| format!("\"{number}\"  5  6\n");
    let mut rows = String::new();
    (0..2000).for_each(|number| rows += &row(number));
    read_grown("iozone", &format!("{text}{title}{rows}\n"));
    let dd = |_| "64+0 records out\n67108864 bytes (67 MB, 64 MiB) copied, 0.5 s, 134 MB/s\n".to_owned();
    read_grown("dd", &grown("", dd, ""));
    let cdm = |_| "SEQ 1MiB (Q=  8, T= 1):  3479.812 MB/s [   3318.6 IOPS] <  2407.67 us>\n".to_owned();
    read_grown(
        "CrystalDiskMark",
        &grown("CrystalDiskMark 8.0.1 x64\n[Read]\n", cdm, "   Test: 1 GiB (x5)\n"),
    );
}

#[test]
fn nothing_nests_too_deep() {
    let deep = SIZE / 2;
    let fio = format!("{{\"fio version\":\"x\",\"jobs\":{}{}}}", "[".repeat(deep), "]".repeat(deep));
    let objects = format!("{{\"fio version\":\"x\",\"jobs\":{}", "{\"a\":".repeat(deep / 5));
    let xml = format!("<Results><TimeSpan>{}{}</Results>", "<a>".repeat(deep / 7), "</a>".repeat(deep / 7));
    let open = format!("<Results><TimeSpan>{}</Results>", "<a>".repeat(deep / 3));
    let mut pools = String::from("capacity operations bandwidth\nalloc free read write read write\n");
    (0..400).for_each(|depth| {
        let _ = writeln!(pools, "{}{} 1 2 3 4 5 6", " ".repeat(2 * depth), "p".repeat(500));
    });
    for (name, text) in [("lists", fio), ("objects", objects), ("xml", xml), ("open xml", open)] {
        assert!(within_limit(name, text.as_bytes()).is_none(), "{name}");
    }
    drop(within_limit("pools", pools.as_bytes()));
}

#[test]
fn entities_are_no_bomb() {
    let mut bomb = String::from("<!DOCTYPE Results [<!ENTITY a \"aaaaaaaaaa\">");
    for (one, next) in ('a'..='y').zip('b'..='z') {
        let _ = write!(bomb, "<!ENTITY {next} \"{}\">", format!("&{one};").repeat(10));
    }
    let body = "<Results><TimeSpan><TestTimeSeconds>&z;</TestTimeSeconds></TimeSpan></Results>";
    for text in [format!("{bomb}]>{body}"), format!("<Results>{bomb}]><TimeSpan></TimeSpan></Results>")] {
        assert!(within_limit("bomb", text.as_bytes()).is_none());
    }
    let attributes = grown("<Results><TimeSpan ", |number| format!("a{number}=\"1\" "), "/></Results>");
    drop(within_limit(
        "attributes",
        attributes.replacen("<TimeSpan ", "<TimeSpan></TimeSpan><TimeSpan ", 1).as_bytes(),
    ));
}

#[test]
fn numbers_that_are_none_make_no_figure() {
    let job = |bw: &str| {
        format!(
            "{{\"fio version\":\"fio-3.33\",\"jobs\":[{{\"jobname\":\"a\",\"read\":{{\"io_bytes\":4096,\"io_bytes\":1,\
             \"bw_bytes\":{bw},\"runtime\":7}}}}]}}"
        )
    };
    let of = |bw: &str| within_limit("numbers", job(bw).as_bytes());
    let rates = |bw: &str| -> Vec<f64> {
        let runs = of(bw).unwrap_or_default();
        let figures =
            runs.iter().flat_map(|run| &run.cells).flat_map(|cell| &cell.imported.as_ref().unwrap().figures);
        figures.filter(|figure| figure.unit_printed == "B/s").map(|figure| figure.value).collect()
    };
    assert_eq!(rates("12"), [12.0]);
    for words in ["1e400", "-5", "\"inf\"", "\"NaN\"", "null", "[1]", "\"0x10\"", "\"１２\""] {
        assert_eq!(rates(words), Vec::<f64>::new(), "{words}");
    }
    for words in ["-5", "1e308", "1e400", "\"NaN\"", "[1]", "true"] {
        let error = import("a.json", job(words).as_bytes()).unwrap_err();
        let shown = error.render(kurabe_core::Lang::En);
        assert!(shown.contains("jobs[0].read.bw_bytes is "), "{words}: {shown}");
    }
    assert!(of("null").is_some(), "fio tells nothing there");
    let only = "HD Tune: x Benchmark\nBurst Rate : -3.0 MB/sec\n";
    let error = import("a.txt", only.as_bytes()).unwrap_err();
    assert!(error.what().en.ends_with("burst rate read: -3.0 MB/sec"), "{error}");
}

#[test]
fn bytes_that_are_no_file_of_a_tool() {
    let long_line = vec![b'x'; SIZE];
    let nuls = vec![0; SIZE];
    let invalid: Vec<u8> = (0..SIZE).map(|at| (at * 7 % 251) as u8 | 0x80).collect();
    let odd_ends = "CrystalDiskMark 8.0.1\r\r\n[Read]\n\rSEQ 1MiB (Q=  8, T= 1):  34".repeat(1000);
    for bytes in [
        &b""[..],
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\n\r\n\r",
        &long_line,
        &nuls,
        &invalid,
        odd_ends.as_bytes(),
    ] {
        assert!(within_limit("no file", bytes).is_none());
        for format in std::iter::once(None).chain(TraceFormat::WORDS.iter().map(|(_, format)| Some(*format)))
        {
            assert!(read_trace("no trace", bytes, format).is_err());
        }
    }
    // Japanese letters in both old encodings, and a heading truncated within a letter.
    for text in [&b"\x93\xfa\x96\x7b : CrystalDiskMark"[..], b"\xc6\xfc\xcb\xdc\xb8\xec", b"\x93"] {
        assert!(within_limit("letters", text).is_none());
    }
}

#[test]
fn an_error_shows_no_more_of_a_line_than_people_read() {
    let text = format!("CrystalDiskMark 8.0.1\n[Read]\nSEQ {}\n", "x".repeat(SIZE));
    let error = import("a", text.as_bytes()).unwrap_err();
    assert!(error.render(kurabe_core::Lang::En).len() < 20_000);
}

#[test]
fn long_traces() {
    let files: String = (0..20_000).fold(String::new(), |mut all, number| {
        let _ = writeln!(all, "0 f{number} add");
        all
    });
    let iolog = |number: usize| format!("{number} f{} read {} 4096\n", number % 20_000, number * 4096);
    let msr = |number: usize| format!("{number},host{number},0,Read,{},4096,10\n", number * 4096);
    let spc = |number: usize| format!("{number},{number},4096,R,{number}.5\n");
    let disksim = |number: usize| format!("{number}.5 {number} {} 8 1\n", number * 8);
    for text in [
        grown(&format!("fio version 3 iolog\n{files}"), iolog, ""),
        grown("", msr, ""),
        grown("", spc, ""),
        grown("", disksim, ""),
    ] {
        in_time("long", || {
            let trace = read_trace("long", text.as_bytes(), None).unwrap();
            assert_eq!(trace.flaw(), None);
            let again = read_trace("again", kurabe_interop::write_iolog_v3(&trace).as_bytes(), None).unwrap();
            assert_eq!(again.operations.len(), trace.operations.len());
        });
    }
}
