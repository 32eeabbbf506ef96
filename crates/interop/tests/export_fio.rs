//! Job files written by kurabe, read and run by the real fio. Skipped without fio.

use crate::export_support::{cell, engine, imported, printed, record, workload};
use kurabe_core::Lang;
use kurabe_core::imported::{PrintedStatistic, Quantity};
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, Measure, RunRecord, TargetKind};
use kurabe_core::workload::{
    Arrival, BlockSize, Data, Direction, End, EndSync, OpenLoop, Pattern, SyncRule, ThreadShare, TimeCheck,
    Workload,
};
use kurabe_interop::{ExportFormat, export};
use kurabe_testkit::needs::skip;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs fio in a directory. `None` if fio is not installed.
fn fio(directory: &Path, arguments: &[&str]) -> Option<std::process::Output> {
    let run = Command::new("fio").args(arguments).current_dir(directory).stdin(Stdio::null()).output();
    if run.is_err() {
        skip("fio is not installed");
    }
    run.ok()
}

fn jobs_of(record: &RunRecord) -> String {
    export(std::slice::from_ref(record), ExportFormat::Fio, Lang::En).expect("a job file")
}

/// Returns a run in a directory with one cell for each workload.
fn run_of(directory: &Path, workloads: &[Workload]) -> RunRecord {
    let cells = workloads.iter().enumerate().map(|(index, workload)| {
        let direction = match workload.read_percent {
            100 => Direction::Read,
            0 => Direction::Write,
            _ => Direction::Mix,
        };
        cell(&format!("cell [{index}]"), direction, workload.clone())
    });
    let path = directory.to_str().expect("a name");
    record(path, TargetKind::Directory, Statistic::Best, cells.collect())
}

/// Returns workloads that together use every option.
fn all_options() -> Vec<Workload> {
    let blocks = |sizes: &[(u32, u32)]| {
        sizes
            .iter()
            .map(|(size_bytes, weight)| BlockSize { size_bytes: *size_bytes, weight: *weight })
            .collect()
    };
    let timed = End { time_ns: Some(20_000_000), ..End::default() };
    let mut all = Vec::new();
    let patterns = [
        Pattern::Sequential,
        Pattern::Interleaved,
        Pattern::Random,
        Pattern::Permutation,
        Pattern::Zipf { exponent: 1.0 },
        Pattern::Zipf { exponent: 1.2 },
    ];
    for pattern in patterns {
        for thread_share in [ThreadShare::Usual, ThreadShare::Parts, ThreadShare::Whole] {
            for (threads, iodepth) in [(1, 1), (3, 2)] {
                all.push(workload().with(|access| {
                    access.pattern = pattern;
                    access.thread_share = thread_share;
                    access.threads = threads;
                    access.iodepth = iodepth;
                    access.end = timed;
                }));
            }
        }
    }
    let writes = workload().with(|access| {
        access.read_percent = 0;
        access.end = timed;
    });
    for data in [Data::Random, Data::Zero, Data::Repeat, Data::Compressible { percent: 40 }] {
        all.push(Workload { data, ..writes.clone() });
        all.push(Workload {
            data,
            ..writes.clone().with(|access| access.block_sizes = blocks(&[(1 << 20, 1)]))
        });
    }
    for at_end in [EndSync::None, EndSync::Timed, EndSync::Untimed] {
        all.push(writes.clone().with(|access| {
            access.sync = SyncRule {
                o_sync: true,
                every_writes: Some(4),
                data_only: true,
                page_range_flags: None,
                at_end,
            }
        }));
    }
    for arrival in [Arrival::Even, Arrival::Poisson] {
        for read_percent in [0, 70, 100] {
            let open_loop = Some(OpenLoop { rate_iops: 100.5, arrival });
            all.push(writes.clone().with(|access| {
                access.open_loop = open_loop;
                access.read_percent = read_percent;
                access.pattern = Pattern::Random;
            }));
        }
    }
    for time_check in [TimeCheck::Pass, TimeCheck::Operations(20)] {
        all.push(workload().with(|access| access.end = End { time_check, ..timed }));
    }
    all.push(
        workload()
            .with(|access| access.end = End { bytes: Some(1 << 20), time_ns: Some(1_500), ..End::default() }),
    );
    all.push(workload().with(|access| {
        access.warm_up_ns = 10_000_000;
        access.end = timed;
    }));
    all.push(workload().with(|access| {
        access.rewrite_every_reads = Some(2);
        access.pattern = Pattern::Random;
        access.end = timed;
    }));
    all.push(workload().with(|access| {
        access.block_sizes = blocks(&[(4096, 1), (8192, 1), (65_536, 1)]);
        access.end = timed;
    }));
    all.push(Workload {
        span_bytes: 1 << 20,
        seed: 0,
        ..workload().with(|access| {
            access.offset_bytes = 1 << 20;
            access.end = timed;
        })
    });
    all
}

#[test]
fn fio_takes_every_job_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut run = run_of(directory.path(), &all_options());
    for name in ["threads", "uring"] {
        for cell in &mut run.cells {
            cell.engine = Some(engine(name));
        }
        let jobs = jobs_of(&run);
        std::fs::write(directory.path().join("jobs.fio"), &jobs).expect("a file");
        let Some(output) = fio(directory.path(), &["--parse-only", "jobs.fio"]) else { return };
        let messages =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !messages.contains("dropped"), "{name}: {messages}\n{jobs}");
    }
}

#[test]
fn fio_refuses_what_it_should() {
    // Shows that the test above can fail: fio's parser rejects unknown options.
    let directory = tempfile::tempdir().expect("a directory");
    let jobs = jobs_of(&run_of(directory.path(), &[workload()])).replace("numjobs=", "nmujobs=");
    std::fs::write(directory.path().join("jobs.fio"), jobs).expect("a file");
    let Some(output) = fio(directory.path(), &["--parse-only", "jobs.fio"]) else { return };
    assert!(!output.status.success());
}

/// Returns fio's results by the names of its jobs: reads, bytes read, writes, bytes written.
fn done(directory: &Path, jobs: &str) -> Option<BTreeMap<String, [u64; 4]>> {
    std::fs::write(directory.join("jobs.fio"), jobs).expect("a file");
    let output = fio(directory, &["--output-format=json", "jobs.fio"])?;
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{words}{}\n{jobs}", String::from_utf8_lossy(&output.stderr));
    let json = &words[words.find('{').expect("JSON")..];
    let result: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let mut sums: BTreeMap<String, [u64; 4]> = BTreeMap::new();
    for job in result["jobs"].as_array().expect("jobs") {
        let of = |direction: &str, figure: &str| job[direction][figure].as_u64().expect("a number");
        let counts = [
            of("read", "total_ios"),
            of("read", "io_bytes"),
            of("write", "total_ios"),
            of("write", "io_bytes"),
        ];
        // Sections of one cell are numbered after a comma.
        let name = job["jobname"].as_str().expect("a name").split(',').next().unwrap_or_default().to_owned();
        sums.entry(name).or_default().iter_mut().zip(counts).for_each(|(sum, counts)| *sum += counts);
    }
    Some(sums)
}

#[test]
fn fio_does_as_many_operations_as_the_workload_says() {
    let reads = workload();
    let twice = End { passes: Some(2), ..End::default() };
    let (span, block) = (4 << 20, 65_536);
    let of_reads = [
        (reads.clone(), span),
        (reads.clone().with(|access| access.end = twice), 2 * span),
        (
            Workload {
                span_bytes: 2 << 20,
                ..reads.clone().with(|access| {
                    access.offset_bytes = 1 << 20;
                    access.end = twice;
                })
            },
            4 << 20,
        ),
        (reads.clone().with(|access| access.threads = 4), span),
        (
            reads.clone().with(|access| {
                access.threads = 4;
                access.thread_share = ThreadShare::Whole;
            }),
            4 * span,
        ),
        (reads.clone().with(|access| access.iodepth = 4), span),
        (
            reads.clone().with(|access| {
                access.iodepth = 2;
                access.threads = 2;
                access.end = twice;
            }),
            2 * span,
        ),
        (
            reads.clone().with(|access| {
                access.pattern = Pattern::Interleaved;
                access.threads = 4;
            }),
            span,
        ),
        (
            reads.clone().with(|access| {
                access.pattern = Pattern::Random;
                access.threads = 2;
                access.iodepth = 2;
                access.end = twice;
            }),
            2 * span,
        ),
        (
            reads.clone().with(|access| {
                access.pattern = Pattern::Random;
                access.threads = 2;
                access.thread_share = ThreadShare::Parts;
            }),
            span,
        ),
        (
            reads.clone().with(|access| {
                access.pattern = Pattern::Permutation;
                access.end = twice;
            }),
            2 * span,
        ),
        (reads.with(|access| access.end = End { bytes: Some(1 << 20), ..End::default() }), 1 << 20),
    ];
    let writes =
        of_reads.iter().map(|(reads, bytes)| (reads.clone().with(|access| access.read_percent = 0), *bytes));
    let (workloads, amounts): (Vec<Workload>, Vec<u64>) = of_reads.iter().cloned().chain(writes).unzip();
    let directory = tempfile::tempdir().expect("a directory");
    let jobs = jobs_of(&run_of(directory.path(), &workloads));
    let Some(counts) = done(directory.path(), &jobs) else { return };
    for (index, (workload, bytes)) in workloads.iter().zip(amounts).enumerate() {
        let (word, expected) = match workload.read_percent {
            0 => ("write", [0, 0, bytes / block, bytes]),
            _ => ("read", [bytes / block, bytes, 0, 0]),
        };
        assert_eq!(counts[&format!("cell ({index}) {word}")], expected, "{workload:?}\n{jobs}");
    }
}

/// Returns the blocks that fio leaves after one pass of writes.
fn written(data: Data, block_bytes: u32) -> Option<Vec<Vec<u8>>> {
    let directory = tempfile::tempdir().expect("a directory");
    let block_sizes = vec![BlockSize { size_bytes: block_bytes, weight: 1 }];
    let writes = Workload {
        data,
        ..workload().with(|access| {
            access.read_percent = 0;
            access.block_sizes = block_sizes;
        })
    };
    done(directory.path(), &jobs_of(&run_of(directory.path(), &[writes])))?;
    let bytes = std::fs::read(directory.path().join("kurabe-fio-test")).expect("the test file");
    assert_eq!(bytes.len(), 4 << 20);
    Some(bytes.chunks(block_bytes as usize).map(<[u8]>::to_vec).collect())
}

#[test]
fn fio_writes_data_of_the_same_kind() {
    let different = |blocks: &[Vec<u8>]| blocks.iter().collect::<std::collections::HashSet<_>>().len();
    let Some(zeros) = written(Data::Zero, 65_536) else { return };
    assert!(zeros.iter().flatten().all(|byte| *byte == 0));
    for block_bytes in [65_536, 1 << 20] {
        let random = written(Data::Random, block_bytes).expect("blocks");
        assert_eq!(different(&random), random.len());
    }
    assert_eq!(different(&written(Data::Repeat, 65_536).expect("blocks")), 1);
    let compressible = written(Data::Compressible { percent: 75 }, 65_536).expect("blocks");
    assert_eq!(different(&compressible), compressible.len());
    let zeros = compressible.iter().flatten().filter(|byte| **byte == 0).count() as f64 / f64::from(4 << 20);
    assert!((0.70..0.80).contains(&zeros), "{zeros}");
}

#[test]
fn each_job_reads_its_own_part() {
    let threads = workload().with(|access| access.threads = 4);
    let jobs = jobs_of(&run_of(Path::new("/x"), &[threads]));
    for line in ["offset_increment=1048576", "size=1048576", "numjobs=4", "io_size=1048576", "rw=read"] {
        assert!(jobs.lines().any(|own| own == line), "{line}\n{jobs}");
    }
    let lanes = workload().with(|access| access.iodepth = 4);
    let jobs = jobs_of(&run_of(Path::new("/x"), &[lanes]));
    for line in ["rw=read:196608", "offset_increment=65536", "size=3997696", "numjobs=4"] {
        assert!(jobs.lines().any(|own| own == line), "{line}\n{jobs}");
    }
}

#[test]
fn jobs_that_would_destroy_data_are_commented_out() {
    let writes = workload().with(|access| access.read_percent = 0);
    let cells = vec![cell("r", Direction::Read, workload()), cell("w", Direction::Write, writes)];
    for kind in [TargetKind::BlockDevice, TargetKind::File] {
        let jobs = jobs_of(&record("/dev/null-by-id:0", kind, Statistic::Mean, cells.clone()));
        assert!(jobs.contains("\n[r read]\n") && jobs.contains("\n; [w write]\n; stonewall=1\n"), "{jobs}");
        assert!(jobs.contains("OVERWRITES /dev/null-by-id\\:0"), "{jobs}");
        assert!(!jobs.lines().any(|line| line.starts_with("rw=write")), "{jobs}");
        assert!(!jobs.contains("create_only"), "{jobs}");
    }
}

#[test]
fn names_cannot_bring_in_options() {
    let mut bad = run_of(Path::new("/x"), &[workload()]);
    bad.cells[0].label = "x]\nexec_prerun=touch evil\n[y".to_owned();
    bad.header.id = "a\nexec_prerun=b".to_owned();
    assert!(!jobs_of(&bad).lines().any(|line| line.starts_with("exec")));
    for path in ["/x\nexec_prerun=b", "/x ", "/$ncpus", "/a\\b"] {
        let mut bad = run_of(Path::new("/x"), &[workload()]);
        if let Some(target) = &mut bad.header.target {
            (target.path, target.kind) = (path.to_owned(), TargetKind::File);
        }
        assert!(export(&[bad], ExportFormat::Fio, Lang::En).is_err(), "{path:?}");
    }
}

#[test]
fn what_fio_cannot_do_is_said_in_both_languages() {
    let once = workload().with(|access| access.rewrite_every_reads = Some(2));
    let copy =
        Cell { workload: None, measure: Measure::Duration, ..cell("a copy", Direction::Read, workload()) };
    let mut run = run_of(Path::new("/x"), &[once]);
    run.cells.push(copy);
    let english = jobs_of(&run);
    assert!(english.contains("writes back every block") && english.contains("# a copy read: "), "{english}");
    let japanese = export(&[run], ExportFormat::Fio, Lang::Ja).expect("a job file");
    assert!(japanese.contains("書き戻します"), "{japanese}");
}

#[test]
fn other_tools_get_a_command_line_or_a_reason() {
    let random = Workload {
        seed: 0,
        ..workload().with(|access| {
            access.pattern = Pattern::Random;
            access.iodepth = 32;
            access.threads = 16;
            access.block_sizes = vec![BlockSize { size_bytes: 4096, weight: 1 }];
            access.end = End { time_ns: Some(5_000_000_000), ..End::default() };
        })
    };
    let jobs = jobs_of(&run_of(Path::new("/x"), std::slice::from_ref(&random)));
    let diskspd = "# diskspd -b4K -o32 -t16 -r -w0 -Sb -d5 -W0 -z0 -L -c4M kurabe-diskspd-test.dat\n";
    assert!(jobs.contains(diskspd), "{jobs}");
    let elbencho = "# elbencho -r --rand -b 4K -t 16 --iodepth 32 -s 4M --timelimit 5 --infloop --lat \
        '/x/kurabe-fio-test'";
    assert!(jobs.contains(elbencho), "{jobs}");
    let zipf = random.with(|access| access.pattern = Pattern::Zipf { exponent: 1.1 });
    let jobs = jobs_of(&run_of(Path::new("/x"), &[zipf]));
    assert!(jobs.contains("# DiskSpd cannot do this: it has no Zipf distribution\n"), "{jobs}");
    assert!(jobs.contains("# elbencho cannot do this: it has no Zipf distribution\n"), "{jobs}");
}

#[test]
fn no_line_has_a_place_that_is_left_to_fill_in() {
    let jobs = jobs_of(&run_of(Path::new("/x"), &all_options()));
    assert!(jobs.contains("elbencho -w -b 1M"), "{jobs}");
    let left: Vec<&str> = jobs.lines().filter(|line| line.contains(['{', '}'])).collect();
    assert_eq!(left, [""; 0]);
}

/// Returns sequential reads through the page cache, as hdparm does: of 2 MiB repeatedly, and of the
/// whole once.
fn as_hdparm(directory: &Path) -> RunRecord {
    let time_ns = Some(50_000_000);
    let whole = Workload {
        span_bytes: 16 << 20,
        ..workload().with(|access| {
            access.block_sizes = vec![BlockSize { size_bytes: 1 << 20, weight: 1 }];
            access.end = End { time_ns: Some(5_000_000_000), passes: Some(1), ..End::default() };
        })
    };
    let cached = Workload {
        span_bytes: 2 << 20,
        ..whole.clone().with(|access| access.end = End { time_ns, ..End::default() })
    };
    let mut run = run_of(directory, &[cached, whole]);
    let target = run.header.target.as_mut().expect("a target");
    (target.direct, target.span_bytes) = (false, 16 << 20);
    run
}

#[test]
fn cached_reads_stay_cached_in_fio_and_are_told_from_the_others_when_they_come_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let jobs = jobs_of(&as_hdparm(directory.path()));
    let sections: Vec<&str> = jobs.split("\n[").filter(|section| section.contains("rw=read")).collect();
    let kept: Vec<bool> = sections.iter().map(|section| section.contains("\ninvalidate=0\n")).collect();
    assert_eq!(kept, [true, false], "{jobs}");
    std::fs::write(directory.path().join("jobs.fio"), &jobs).expect("a file");
    let Some(output) = fio(directory.path(), &["--output-format=json", "jobs.fio"]) else { return };
    assert!(output.status.success(), "{output:?}");
    let runs = kurabe_interop::import("jobs.json", &output.stdout).expect("fio's result");
    let cells = runs[0].cells.iter().filter_map(|cell| cell.imported.as_ref());
    let places: Vec<_> = cells.map(|cell| (cell.offset_bytes, cell.span_bytes)).collect();
    assert_eq!(places, [(Some(0), Some(2 << 20)), (Some(0), Some(16 << 20))]);
}

#[test]
fn an_imported_cell_becomes_a_job_with_what_is_known() {
    let figures = [(Quantity::Rate, PrintedStatistic::Highest, 3.4e9)];
    let mut run = imported(vec![printed("RND 4 KiB Q32 T16", Direction::Read, &figures)]);
    let jobs = jobs_of(&run);
    for line in ["rw=randread", "bs=4096", "iodepth=32", "numjobs=16", "norandommap=1"] {
        assert!(jobs.lines().any(|own| own == line), "{line}\n{jobs}");
    }
    assert!(jobs.contains("are unknown"), "{jobs}");
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("jobs.fio"), &jobs).expect("a file");
    if let Some(output) = fio(directory.path(), &["--parse-only", "jobs.fio"]) {
        assert!(output.status.success(), "{jobs}");
    }
    run.cells[0].imported.as_mut().expect("figures").block_bytes = None;
    assert!(jobs_of(&run).contains("did not print the block size"));
}
