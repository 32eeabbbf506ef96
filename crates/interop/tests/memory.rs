//! Memory use of imports, in bytes and allocations, for files of every kind, including hostile ones.
//!
//! The model: an allocator counts the memory that the thread holds, its maximum, and the number of
//! allocations. For each kind of file, the maximum is compared with the length of the file, and the
//! number of allocations with that of a file of half the length. Nothing is timed. The test is a
//! separate program, because a program has one allocator.

#![allow(unsafe_code)] // An allocator is unsafe by its trait.

use kurabe_interop::import;
use kurabe_testkit::sampled;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Bytes beyond the multiple of the file.
const BASE: usize = 64 << 20;
/// Maximum bytes for each byte of the file, including the file itself.
const TIMES: usize = 4;

#[derive(Clone, Copy)]
struct Counts {
    held: usize,
    most: usize,
    allocations: usize,
}

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { held: 0, most: 0, allocations: 0 }) };
}

fn change(add: impl Fn(&mut Counts)) {
    // The counts no longer exist while a thread ends.
    let _ = COUNTS.try_with(|counts| {
        let mut now = counts.get();
        add(&mut now);
        now.most = now.most.max(now.held);
        counts.set(now);
    });
}

struct Counting;

// SAFETY: every call is passed unchanged to the system's allocator, and counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        change(|now| (now.held, now.allocations) = (now.held + layout.size(), now.allocations + 1));
        // SAFETY: the caller fulfils the contract of this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        change(|now| now.held = now.held.saturating_sub(layout.size()));
        // SAFETY: the caller fulfils the contract of this function.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both blocks can exist during the move.
        change(|now| (now.held, now.allocations) = (now.held + size, now.allocations + 1));
        change(|now| now.held = now.held.saturating_sub(layout.size()));
        // SAFETY: the caller fulfils the contract of this function.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Cost {
    /// Maximum number of bytes, including the file.
    most: usize,
    allocations: usize,
    /// Number of cells, or the error.
    read: Result<usize, String>,
}

fn cost(bytes: &[u8]) -> Cost {
    COUNTS.set(Counts { held: 0, most: 0, allocations: 0 });
    let read = import("file", bytes);
    let Counts { most, allocations, .. } = COUNTS.get();
    let read = read
        .map(|runs| runs.iter().map(|run| run.cells.len()).sum())
        .map_err(|error| error.what().en.clone());
    Cost { most: most + bytes.len(), allocations, read }
}

/// Head, repeated part and tail of a file, and whether a small one can be read.
type Shape = (&'static str, String, fn(usize) -> String, &'static str);

fn fixture(name: &str) -> String {
    let path = format!("{}/tests/fixtures/lab/{name}", env!("CARGO_MANIFEST_DIR"));
    String::from_utf8(std::fs::read(path).unwrap()).unwrap()
}

fn fio_job(number: usize) -> String {
    format!(
        "{{\"jobname\":\"job{number}\",\"job options\":{{\"rw\":\"read\",\"name\":\"{number}\"}},\"read\":{{\"io_bytes\":4096,\
         \"bw_bytes\":10,\"runtime\":7}}}},\n"
    )
}

fn shapes() -> Vec<Shape> {
    const FIO: &str = "{\"fio version\":\"fio-3.33\",\"jobs\":[";
    let live = fixture("elbencho-live.csv");
    let (live, _) = live.split_once('\n').unwrap();
    vec![
        ("fio jobs", FIO.into(), fio_job, "{}]}"),
        ("fio zeros", FIO.into(), |_| "0,".into(), "0]}"),
        ("fio empty jobs", FIO.into(), |_| "{},".into(), "{}]}"),
        ("fio empty directions", FIO.into(), |_| "{\"read\":{}},".into(), "{}]}"),
        ("fio least jobs", FIO.into(), |_| "{\"read\":{\"io_bytes\":1}},".into(), "{}]}"),
        ("fio members of a job", [FIO, "{"].concat(), |_| "\"\":0,".into(), "\"a\":0}]}"),
        ("fio list in a job", [FIO, "{\"a\":["].concat(), |_| "0,".into(), "0]}]}"),
        ("fio nest", [FIO, "{\"a\":"].concat(), |_| "[".repeat(1000), ""),
        (
            "fio string",
            [FIO, "{\"jobname\":\""].concat(),
            |_| "x".repeat(1000),
            "\",\"read\":{\"io_bytes\":1}}]}",
        ),
        (
            "fio percentiles",
            [FIO, "{\"read\":{\"io_bytes\":1,\"clat_ns\":{\"N\":1,\"percentile\":{"].concat(),
            |_| "\"1\":1,".into(),
            "\"2\":1}}}}]}",
        ),
        ("fio head", "{\"fio version\":\"x\",\"a\":[".into(), |_| "0,".into(), "0],\"jobs\":[]}"),
        ("fio documents", String::new(), |_| "{\"fio version\":0}\n".into(), ""),
        (
            "fio runs",
            String::new(),
            |_| "{\"fio version\":0,\"jobs\":[{\"read\":{\"io_bytes\":1}}]}\n".into(),
            "",
        ),
        (
            "fio text",
            String::new(),
            |_| {
                "a: (groupid=0, jobs=1): err= 0: pid=1: x\n  read: IOPS=1, BW=1KiB/s (1kB/s)(1KiB/1msec)\n"
                    .into()
            },
            "",
        ),
        ("ioping list", "[{\"target\":0,\"mdev\":0},".into(), |_| "0,".into(), "0]"),
        (
            "ioping requests",
            "[{\"target\":0,\"mdev\":0},".into(),
            |_| "{\"io\":{\"time\":1},\"timestamp\":1},".into(),
            "0]",
        ),
        ("ioping text", String::new(), |_| "4 KiB <<< . (ext4 /dev/vda): request=1 time=1 us\n".into(), ""),
        (
            "iostat JSON",
            "{\"sysstat\":{\"hosts\":[{\"statistics\":[".into(),
            |number| format!("{{\"disk\":[{{\"disk_device\":\"a\",\"r/s\":{number},\"w/s\":1}}]}},"),
            "{}]}]}}",
        ),
        (
            "iostat zeros",
            "{\"sysstat\":{\"hosts\":[{\"statistics\":[{\"disk\":[{\"disk_device\":0}]},".into(),
            |_| "0,".into(),
            "0]}]}}",
        ),
        ("iostat text", "Device r/s w/s\n".into(), |_| "a 1 2\n".into(), "\n"),
        ("iostat tables", String::new(), |_| "Device r/s w/s\na 1 2\n\n".into(), ""),
        ("iostat devices", "Device r/s w/s\n".into(), |number| format!("d{number} 1 2\n"), "\n"),
        ("zpool", String::new(), |number| format!("pool{number}\t1\t2\t3\t4\t5\t6\n"), ""),
        ("IOR tests", "{\"bwMiB\":0,\"tests\":[".into(), |_| "{},".into(), "{}]}"),
        ("IOR zeros", "{\"bwMiB\":0,\"tests\":[".into(), |_| "0,".into(), "0]}"),
        ("IOR summaries", "{\"bwMiB\":0,\"tests\":[{}],\"summary\":[".into(), |_| "0,".into(), "0]}"),
        ("IOR CSV", "access,bw(MiB/s),\n".into(), |_| "read,1,\n".into(), ""),
        ("elbencho CSV", "ISO date,a,operation,MiB/s [last]\n".into(), |_| ",,,1\n".into(), ""),
        ("elbencho columns", "ISO date,a,operation,".into(), |_| ",".into(), "\n1"),
        ("elbencho fields", "ISO date,a,operation,MiB/s [last]\n".into(), |_| ",".into(), "\n1"),
        ("elbencho live", format!("{live}\n"), |_| "a,b,Total\n".into(), ""),
        ("elbencho JSON", String::new(), |_| "{\"phase_type\":0,\"last_done\":{\"iops\":1}}\n".into(), ""),
        ("dd", String::new(), |_| "1 bytes copied, 1 s, 1 MB/s\n".into(), ""),
        (
            "CrystalDiskMark",
            "CrystalDiskMark 8.0.1 x64\n[Read]\n".into(),
            |_| "SEQ 1MiB (Q=  8, T= 1):  3479.812 MB/s [   3318.6 IOPS] <  2407.67 us>\n".into(),
            "",
        ),
        (
            "headings",
            String::new(),
            |_| "CrystalDiskMark 8\nAS SSD Benchmark 2\nHD Tune: x Benchmark\n".into(),
            "",
        ),
        ("AS SSD", "AS SSD Benchmark 2\n".into(), |_| "Seq: 1 MB/s\n".into(), ""),
        (
            "hdparm",
            String::new(),
            |_| "/dev/sda:\n Timing buffered disk reads: 1 MB in 1 seconds = 1 MB/sec\n".into(),
            "",
        ),
        ("bonnie", String::new(), |_| "1.98,1.98,a,1,1,1M,,1,1,1,1,1,1,1,1,1,1,1,1\n".into(), ""),
        (
            "iozone",
            "Iozone: Performance Test of File I/O\n\"Writer report\"\n        \"4\" \"8\"\n".into(),
            |number| format!("\"{number}\"  5  6\n"),
            "\n",
        ),
        ("mdtest", "SUMMARY rate: (of 1 iterations)\n".into(), |_| "File creation : 1 1 1 1\n".into(), ""),
        (
            "IO500",
            "IO500 version io500-x\n".into(),
            |_| "[RESULT] ior-easy-write 1 GiB/s : time 1 seconds\n".into(),
            "",
        ),
        ("sysbench", "sysbench 1.0\n".into(), |_| "    reads/s: 1.0\n".into(), ""),
        ("DiskSpd text", "Total IO\nthread |\n".into(), |_| "0 | 1 | 1 | 1 | 1 | a\n".into(), ""),
        ("DiskSpd XML", "<Results><TimeSpan></TimeSpan>".into(), |_| "<a/>".into(), "</Results>"),
        (
            "DiskSpd spans",
            "<Results>".into(),
            |_| "<TimeSpan><TestTimeSeconds>1</TestTimeSeconds></TimeSpan>".into(),
            "</Results>",
        ),
        ("empty lines", "Timing cached reads:   1 MB in  1 seconds = 1 MB/sec\n".into(), |_| "\n".into(), ""),
        (
            "short lines",
            "Timing cached reads:   1 MB in  1 seconds = 1 MB/sec\n".into(),
            |_| "a\r\n".into(),
            "",
        ),
        ("elements", "Timing cached reads:   1 MB in  1 seconds = 1 MB/sec\n".into(), |_| "<br>a".into(), ""),
        (
            "one line",
            "Timing cached reads:   1 MB in  1 seconds = 1 MB/sec\n".into(),
            |_| "abc ".repeat(1000),
            "",
        ),
        ("objects", "{\"fio version\":0}\n".into(), |_| "{}\n".into(), ""),
        ("bytes", "\u{1}".into(), |_| "\u{0}\u{7f}".repeat(1000), ""),
    ]
}

fn grown((_, head, part, tail): &Shape, length: usize) -> String {
    let mut text = String::with_capacity(length + head.len() + tail.len() + 2000);
    text += head;
    for number in 0.. {
        if text.len() >= length {
            break;
        }
        text += &part(number);
    }
    text + tail
}

/// Length at which a file of hostile parts needs far more than the base, if it needs too much.
const LENGTH: usize = 5 << 20;
/// Length of files that are one long text.
const LONG: usize = 24 << 20;

#[test]
fn no_file_takes_many_times_its_length() {
    let excess = |shape: &Shape| {
        let is_long = ["string", "nest", "line", "bytes", "columns", "fields"]
            .iter()
            .any(|word| shape.0.ends_with(word));
        let text = grown(shape, if is_long { LONG } else { LENGTH });
        let Cost { most, read, .. } = cost(text.as_bytes());
        (most > BASE + TIMES * text.len()).then_some((shape.0, most >> 20, read))
    };
    let shapes = sampled(shapes(), 12);
    // Memory is counted per thread.
    let failed: Vec<_> = std::thread::scope(|scope| {
        let quarters = shapes.chunks(shapes.len().div_ceil(4));
        let threads: Vec<_> = quarters
            .map(|shapes| scope.spawn(move || shapes.iter().filter_map(excess).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn allocations_grow_with_the_file_and_no_faster() {
    let mut failed = Vec::new();
    for shape in shapes() {
        let [half, whole] = [1 << 16, 1 << 17].map(|length| cost(grown(&shape, length).as_bytes()));
        if whole.allocations > 2 * half.allocations + half.allocations / 5 + 100 {
            failed.push((shape.0, half.allocations, whole.allocations));
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
#[ignore = "slow"]
fn a_run_of_24000_jobs_is_read() {
    const JOBS: usize = 24_000;
    let text: String = (0..JOBS).map(fio_job).collect();
    let text = format!("{{\"fio version\":\"fio-3.33\",\"jobs\":[{text}{{}}]}}");
    assert_eq!(cost(text.as_bytes()).read, Ok(JOBS));
    let latency = "\"clat_ns\":{\"N\":1,\"mean\":5,\"min\":1,\"max\":9,\"stddev\":0},\"iops\":5,\"io_bytes\"";
    let text = text.replace("\"io_bytes\"", latency);
    assert_eq!(cost(text.as_bytes()).read, Ok(JOBS));
    // A job as fio writes it, with all its figures.
    let whole = fixture("fio3-two-jobs.json");
    let (head, jobs) = whole.split_once("\"jobs\" : [").unwrap();
    let (job, _) = jobs.split_once("\n    },").unwrap();
    let name = job.split("\"jobname\" : \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let renamed = |number: usize| job.replace(&format!("\"{name}\""), &format!("\"{name}{number}\""));
    let jobs: Vec<String> = (0..JOBS / 4).map(|number| renamed(number) + "\n    }").collect();
    let text = format!("{head}\"jobs\" : [{}]}}", jobs.join(","));
    let Cost { most, read, .. } = cost(text.as_bytes());
    assert_eq!(read, Ok(JOBS / 4));
    assert!(most <= BASE + TIMES * text.len(), "{} of {}", most, text.len());
}
