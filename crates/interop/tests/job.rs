//! Job files written by kurabe are read back as the same work, and accepted job files are also accepted
//! by the real fio. The latter needs fio, and is skipped without it.

use crate::export_support::{cell, engine, record, workload};
use kurabe_core::Lang;
use kurabe_core::profile::{Profile, Statistic};
use kurabe_core::record::{Cell, Interval, Repetition, RunRecord, Series, TargetKind};
use kurabe_core::workload::{
    AccessZone, Arrival, BlockSize, BlocksInOrder, Data, Direction, End, EndSync, Flow, LatencyTarget,
    OpenLoop, Pattern, SyncRule, Thinking, ThreadShare, Workload, WriteHint,
};
use kurabe_fio::{NoSurroundings, fio_log, read_fio_job, read_fio_line};
use kurabe_interop::{ExportFormat, export};
use kurabe_testkit::needs::skip;
use std::process::{Command, Stdio};

const SPAN_BYTES: u64 = 4 << 20;

/// Returns a run in a directory with a cell for each workload, through io_uring.
fn run_of(workloads: &[Workload]) -> RunRecord {
    run_through("io_uring", workloads)
}

fn run_through(name: &str, workloads: &[Workload]) -> RunRecord {
    let cells = workloads.iter().enumerate().map(|(index, workload)| {
        let direction = match workload.read_percent {
            100 => Direction::Read,
            0 => Direction::Write,
            _ => Direction::Mix,
        };
        let mut cell = cell(&format!("cell {index}"), direction, workload.clone());
        cell.engine = Some(engine(name));
        cell
    });
    record("/tmp", TargetKind::Directory, Statistic::Mean, cells.collect())
}

fn written(run: &RunRecord) -> String {
    export(std::slice::from_ref(run), ExportFormat::Fio, Lang::En).expect("a job file")
}

/// Returns the workloads of a profile on such a target.
fn workloads(profile: &Profile) -> Vec<Workload> {
    profile.tasks(profile.rules.size_bytes).iter().filter_map(|task| task.workload().cloned()).collect()
}

fn zone(access_percent: u8, span_percent: u8) -> AccessZone {
    AccessZone { access_percent, span_percent }
}

const SKIPPED: Pattern = Pattern::Strided { run_bytes: Some(65536), gap_bytes: 131_072 };

/// Returns workloads that fio's jobs can express exactly.
fn exact() -> Vec<Workload> {
    let timed = End { time_ns: Some(2_000_000_000), ..End::default() };
    let bytes = End { bytes: Some(2 << 20), ..End::default() };
    let base = Workload { span_bytes: SPAN_BYTES, seed: 7, ..workload().with(|access| access.end = timed) };
    let random = base.clone().with(|access| access.pattern = Pattern::Random);
    let writes = base.clone().with(|access| access.read_percent = 0);
    let mut all = vec![
        base.clone(),
        base.clone().with(|access| access.iodepth = 8),
        base.clone().with(|access| {
            access.iodepth = 8;
            access.threads = 4;
        }),
        base.clone().with(|access| {
            access.threads = 4;
            access.thread_share = ThreadShare::Whole;
        }),
        Workload { span_bytes: 1 << 20, ..base.clone().with(|access| access.offset_bytes = 1 << 20) },
        base.clone().with(|access| {
            access.warm_up_ns = 500_000_000;
            access.end = End { bytes: Some(2 << 20), ..timed };
        }),
        random.clone().with(|access| access.read_percent = 70),
        random.clone().with(|access| {
            access.iodepth = 32;
            access.threads = 2;
        }),
        random.clone().with(|access| {
            access.threads = 2;
            access.thread_share = ThreadShare::Parts;
        }),
        base.clone().with(|access| {
            access.pattern = Pattern::Permutation;
            access.end = bytes;
        }),
        base.clone().with(|access| access.pattern = Pattern::Zipf { exponent: 1.2 }),
        random.clone().with(|access| {
            access.block_sizes =
                vec![BlockSize { size_bytes: 4096, weight: 90 }, BlockSize { size_bytes: 65536, weight: 10 }];
        }),
        base.clone().with(|access| access.pattern = Pattern::Pareto { skew: 0.3 }),
        base.clone().with(|access| access.pattern = Pattern::Normal { deviation_percent: 20.0 }),
        base.clone().with(|access| access.pattern = Pattern::Strided { run_bytes: None, gap_bytes: -8192 }),
        base.clone().with(|access| access.pattern = Pattern::Strided { run_bytes: None, gap_bytes: 4096 }),
        base.clone().with(|access| access.pattern = SKIPPED),
        random.clone().with(|access| access.in_order = Some(BlocksInOrder::Blocks(8))),
        random.clone().with(|access| access.in_order = Some(BlocksInOrder::Percent(30))),
        random.clone().with(|access| {
            access.flow = Some(Flow { weight: 3, group: 2 });
            access.ends_all = true;
        }),
        random.clone().with(|access| access.zones = vec![zone(60, 10), zone(40, 90)]),
        random
            .clone()
            .with(|access| access.thinking = Some(Thinking { time_ns: 500_000, every_operations: 4 })),
        random.clone().with(|access| access.start_delay_ns = 2_000_000_000),
        random.clone().with(|access| {
            access.read_percent = 70;
            access.write_block_sizes =
                vec![BlockSize { size_bytes: 8192, weight: 50 }, BlockSize { size_bytes: 65536, weight: 50 }];
            access.block_sizes =
                vec![BlockSize { size_bytes: 4096, weight: 30 }, BlockSize { size_bytes: 65536, weight: 70 }];
            access.alignment_bytes = Some(4096);
        }),
        random
            .clone()
            .with(|access| access.open_loop = Some(OpenLoop { rate_iops: 200.0, arrival: Arrival::Poisson })),
    ];
    let data_only = SyncRule { o_sync: true, every_writes: Some(4), data_only: true, ..SyncRule::default() };
    all.push(writes.clone().with(|access| access.sync = SyncRule { at_end: EndSync::Timed, ..data_only }));
    let pages = SyncRule { every_writes: Some(8), page_range_flags: Some(3), ..SyncRule::default() };
    all.push(writes.clone().with(|access| access.sync = pages));
    let target = LatencyTarget { latency_ns: 500_000, percentile: 99.9, window_ns: 50_000_000 };
    all.push(random.clone().with(|access| access.latency_target = Some(target)));
    all.push(writes.clone().with(|access| access.write_hint = Some(WriteHint::Long)));
    for data in [Data::Random, Data::Zero, Data::Repeat, Data::Compressible { percent: 40 }] {
        all.push(Workload { data, ..writes.clone() });
    }
    all
}

#[test]
fn an_exported_job_read_back_is_the_same_work() {
    let all = exact();
    let job = read_fio_job("job.fio", &written(&run_of(&all)), &NoSurroundings).expect("our own job");
    assert_eq!(job.access.target.as_deref(), Some("/tmp/kurabe-fio-test"));
    assert_eq!(job.profile.rules.size_bytes, SPAN_BYTES);
    let back = workloads(&job.profile);
    assert_eq!(back.len(), all.len());
    for (before, after) in all.iter().zip(back) {
        // The run has one seed, and fio gets none if offsets ascend. Random offsets are fio's from then
        // on.
        let fio_places = before.fio_places;
        assert_eq!(
            Workload { seed: before.seed, ..after.with(|access| access.fio_places = fio_places) },
            *before
        );
    }
}

#[test]
fn what_fio_needs_several_jobs_for_is_one_step_again() {
    let timed = End { time_ns: Some(2_000_000_000), ..End::default() };
    let bytes = End { bytes: Some(2 << 20), ..End::default() };
    let base = Workload {
        span_bytes: SPAN_BYTES,
        seed: 7,
        ..workload().with(|access| {
            access.end = timed;
            access.iodepth = 4;
        })
    };
    let random = base.clone().with(|access| access.pattern = Pattern::Random);
    let open_loop = Some(OpenLoop { rate_iops: 800.0, arrival: Arrival::Poisson });
    let all = [
        base.clone(),
        base.clone().with(|access| access.threads = 2),
        base.clone().with(|access| {
            access.threads = 2;
            access.read_percent = 0;
            access.end = bytes;
        }),
        Workload { span_bytes: 1 << 20, ..base.clone().with(|access| access.offset_bytes = 1 << 20) },
        random.clone(),
        random.clone().with(|access| {
            access.threads = 2;
            access.open_loop = open_loop;
        }),
        random.clone().with(|access| {
            access.threads = 2;
            access.thread_share = ThreadShare::Parts;
        }),
        base.clone().with(|access| {
            access.threads = 3;
            access.pattern = Pattern::Interleaved;
            access.iodepth = 1;
        }),
        base.clone().with(|access| {
            access.threads = 2;
            access.pattern = Pattern::Interleaved;
        }),
    ];
    for name in ["threads", "io_uring"] {
        let jobs = written(&run_through(name, &all));
        assert_ne!(fio_accepts(&jobs), Some(false), "{jobs}");
        let job = read_fio_job("job.fio", &jobs, &NoSurroundings)
            .unwrap_or_else(|error| panic!("{}\n{jobs}", error.render(Lang::En)));
        let back = workloads(&job.profile);
        assert_eq!(back.len(), all.len(), "{jobs}");
        for (before, after) in all.iter().zip(back) {
            let fio_places = before.fio_places;
            assert_eq!(
                Workload { seed: before.seed, ..after.with(|access| access.fio_places = fio_places) },
                *before,
                "{name}\n{jobs}"
            );
        }
    }
    // If a user changes the number of jobs by hand, the options count.
    let changed = written(&run_through("threads", &all[4..5])).replace("numjobs=4", "numjobs=3");
    let job = read_fio_job("job.fio", &changed, &NoSurroundings).expect("a job");
    assert_eq!((workloads(&job.profile)[0].threads, workloads(&job.profile)[0].iodepth), (3, 1));
}

#[test]
fn what_has_another_form_in_fio_is_the_same_work_when_it_is_written_again() {
    let base = Workload { span_bytes: SPAN_BYTES, seed: 7, ..workload() };
    let passes = End { passes: Some(3), ..End::default() };
    let all = [
        base.clone().with(|access| access.end = passes),
        base.clone().with(|access| {
            access.end = passes;
            access.threads = 2;
            access.thread_share = ThreadShare::Whole;
        }),
        base.clone().with(|access| {
            access.pattern = Pattern::Random;
            access.end = passes;
            access.threads = 2;
        }),
    ];
    let once = written(&run_of(&all));
    let job = read_fio_job("job.fio", &once, &NoSurroundings).expect("our own job");
    let seed = |workload: Workload| Workload { seed: 7, ..workload };
    let again = written(&run_of(&workloads(&job.profile).into_iter().map(seed).collect::<Vec<_>>()));
    let options = |jobs: &str| -> Vec<String> {
        jobs.lines().filter(|line| !line.starts_with(['#', ';'])).map(str::to_owned).collect()
    };
    assert_eq!(options(&once), options(&again));
}

/// Returns whether fio accepts a job file. `None` without fio.
fn fio_accepts(source: &str) -> Option<bool> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("job.fio");
    std::fs::write(&path, source).expect("a job file");
    let mut command = Command::new("fio");
    let parsed =
        command.arg("--parse-only").arg(&path).current_dir(folder.path()).stdin(Stdio::null()).output();
    parsed.ok().map(|output| output.status.success())
}

/// Lines of a job: values as fio users write them, and mistakes.
const LINES: &[&str] = &[
    "bs=4k",
    "bs=4kB",
    "bs=4KiB",
    "bs=4ki",
    "bs=1M",
    "bs=512",
    "bs=4k,8k",
    "bs=4q",
    "bs=k",
    "bs=-4k",
    "blocksize=8k",
    "rw=randread",
    "readwrite=write",
    "rw=foo",
    "rw=",
    "iodepth=8",
    "iodepth=abc",
    "numjobs=2",
    "numjobs=x",
    "runtime=30",
    "runtime=30s",
    "runtime=500ms",
    "runtime=5m",
    "runtime=1h",
    "runtime=2d",
    "runtime=7us",
    "timeout=3",
    "time_based\nruntime=3",
    "ramp_time=5",
    "direct=1",
    "direct",
    "buffered=0",
    "invalidate=0",
    "loops=2",
    "fsync=1",
    "end_fsync=1",
    "sync=1",
    "sync=none",
    "sync=2",
    "sync_file_range=write:8",
    "sync_file_range=wait_before,write,wait_after:1",
    "sync_file_range=0",
    "sync_file_range=8",
    "rwmixread=70",
    "rwmixread=101",
    "rwmixwrite=30",
    "ioengine=psync",
    "ioengine=libaio",
    "ioengine=rados_not",
    "norandommap",
    "norandommap=1",
    "random_distribution=zipf:1.2",
    "random_distribution=zipf",
    "random_distribution=foo",
    "percentage_random=100",
    "percentage_random=100,100",
    "randseed=5",
    "kb_base=1000",
    "kb_base=1024",
    "kb_base=7",
    "stonewall",
    "stonewall=1",
    "group_reporting",
    "offset=1m",
    "offset_increment=1m",
    "io_size=2m",
    "number_ios=10",
    "zero_buffers",
    "bssplit=4k/90:64k/10",
    "bssplit=4k/90;64k/10",
    "buffer_compress_percentage=50",
    "dedupe_percentage=100",
    "rate_iops=100",
    "rate_iops=100,200",
    "rate_process=poisson",
    "rate_process=foo",
    "iodpeth=3",
    "thread=1",
    "rw=read:-8k",
    "rw=randread:8",
    "bsrange=4k-64k",
    "bsrange=4k",
    "bssplit=4k/60:8k/:64k/",
    "bssplit=4k/60:8k/,64k",
    "bs=4k,64k",
    "ba=4k",
    "bs_unaligned",
    "rate=1m,500k",
    "rate=foo",
    "thinktime=500",
    "thinktime=5ms",
    "thinktime_blocks=4",
    "startdelay=2",
    "fdatasync=1",
    "fsync_on_close=1",
    "sync=dsync",
    "filesize=1m-4m",
    "nrfiles=4",
    "random_distribution=pareto:0.3",
    "random_distribution=normal:20",
    "random_distribution=zoned:90/10:10/90",
    "random_distribution=zoned:90/10:10/80",
    "percentage_random=100",
    "wait_for=a",
];

#[test]
fn fio_and_kurabe_agree_on_what_is_valid() {
    let job = |line: &str| format!("[a]\nsize=1m\nfilename=x\n{line}\n");
    let is_read = |line: &&&str| read_fio_job("job.fio", &job(line), &NoSurroundings).is_ok();
    let lines: Vec<&&str> = LINES.iter().filter(is_read).collect();
    assert!(lines.len() > 50, "{}", lines.len());
    let all: String = lines.iter().map(|line| job(line)).collect();
    match fio_accepts(&all) {
        None => skip("fio is not installed"),
        Some(true) => {}
        // Lines that kurabe accepts are valid for fio.
        Some(false) => {
            let is_nonsense = |line: &&&&str| fio_accepts(&job(line)) != Some(true);
            panic!("fio refuses {:?}", lines.iter().filter(is_nonsense).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_log_without_a_name_is_refused_on_the_line_as_fio_refuses_it() {
    let line = |words: &str| {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        read_fio_line(&words).map(|line| line.source).map_err(|error| error.what().en.clone())
    };
    for option in ["write_bw_log", "write_iops_log", "write_lat_log"] {
        for words in ["--name=a --OPTION", "--name=a --OPTION --size=1m", "--name=a --OPTION="] {
            let refused = Err(format!("--{option} has no value"));
            assert_eq!(line(&words.replace("OPTION", option)), refused, "{words}");
        }
        for words in ["--name=a --OPTION x", "--name=a --OPTION=x"] {
            let taken = Ok(format!("[global]\n[a]\n{option}=x\n"));
            assert_eq!(line(&words.replace("OPTION", option)), taken, "{words}");
        }
    }
}

#[test]
fn a_line_of_a_log_is_an_interval_of_a_direction() {
    let source = "[a]\nsize=1m\n[b]\nstonewall\nsize=1m\nwrite_bw_log=x\nwrite_iops_log\nwrite_lat_log=y\n";
    let job = read_fio_job("job.fio", source, &NoSurroundings).expect("a job");
    let files: Vec<String> = job.logs.iter().map(|log| log.file.to_string()).collect();
    assert_eq!(files, ["x_bw.2.log", "b_iops.2.log", "y_lat.2.log", "y_clat.2.log"]);
    let interval = |read_bytes, read_operations, write_operations| Interval {
        read_bytes,
        read_operations,
        read_worst_ns: 70_000,
        write_operations,
        ..Interval::default()
    };
    let intervals = vec![interval(4096 * 50, 50, 0), interval(0, 0, 3)];
    let series = Series { interval_ns: 100_000_000, intervals };
    let mut of_job = cell("b", Direction::Read, workload());
    (of_job.step_index, of_job.repetitions) = (1, vec![Repetition::default(); 2]);
    for repetition in &mut of_job.repetitions {
        (repetition.series, repetition.elapsed_ns) = (series.clone(), 200_000_000);
    }
    let of_other = Cell { step_index: 0, ..of_job.clone() };
    let log = |place: usize| fio_log(&job.logs[place], &[of_other.clone(), of_job.clone()]);
    let bandwidth = "100, 2000, 0, 0, 0, 0\n200, 0, 1, 0, 0, 0\n300, 2000, 0, 0, 0, 0\n400, 0, 1, 0, 0, 0\n";
    assert_eq!(log(0), bandwidth);
    assert!(log(1).starts_with("100, 500, 0, 0, 0, 0\n200, 30, 1,"));
    assert!(log(2).starts_with("100, 70000, 0,") && log(2) == log(3));
}
