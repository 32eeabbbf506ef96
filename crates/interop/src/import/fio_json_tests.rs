//! Golden tests of fio's JSON. The files are fio's own output (3.33 of Debian 12; 2.16 built from its
//! tag), shortened.

use super::super::units::test::*;
use kurabe_core::imported::{FigureOf, PrintedStatistic as Statistic, Quantity};
use kurabe_core::workload::Direction;

#[test]
fn a_sequential_read_behind_a_note() {
    let runs = imported("lab/fio3-read.json");
    let [run] = runs.as_slice() else { panic!() };
    assert_eq!(run.origin.tool_name(), "fio 3.33");
    assert_eq!(run.origin.format, "fio-json");
    assert_eq!(run.origin.measured_at.as_deref(), Some("2026-11-21T13:23:23Z"));
    assert_eq!(run.origin.target.as_deref(), Some("t.dat"));
    assert_eq!(run.environment.devices[0].name, "vda");
    let [cell] = run.cells.as_slice() else { panic!() };
    assert_eq!((cell.label.as_str(), cell.direction), ("SEQ 1 MiB Q1 T1 · seqread", Some(Direction::Read)));
    let printed = of(cell);
    assert_eq!((printed.block_bytes, printed.iodepth, printed.threads), (Some(1 << 20), Some(1), Some(1)));
    assert_eq!((printed.offset_bytes, printed.span_bytes), (None, Some(16 << 20)));
    assert_eq!((printed.sequential, printed.runs, printed.read_percent), (Some(true), Some(1), None));
    let options = "name=seqread filename=t.dat size=16m rw=read bs=1m iodepth=8 ioengine=psync";
    assert_eq!(printed.procedure.as_deref(), Some(options));
    assert_figure(&printed.figures[0], "1290555076", "B/s", 1_290_555_076.0);
    assert_eq!(
        (printed.figures[0].quantity, printed.figures[0].statistic),
        (Quantity::Rate, Statistic::Mean)
    );
    assert_figure(figure(cell, Quantity::Iops, Statistic::Mean, None), "1230.769231", "IOPS", 1230.769231);
    let clat = |statistic| figure(cell, Quantity::Latency, statistic, Some("completion latency"));
    assert_figure(clat(Statistic::Mean), "782652.000000", "ns", 782_652.0);
    assert_figure(clat(Statistic::Highest), "7003095", "ns", 7_003_095.0);
    assert_figure(clat(Statistic::StandardDeviation), "1784654.808855", "ns", 1_784_654.808_855);
    assert_figure(clat(Statistic::Percentile(99.9)), "6979584", "ns", 6_979_584.0);
    let total = figure(cell, Quantity::Duration, Statistic::Sum, Some("run time"));
    assert_figure(total, "13", "ms", 13e6);
    let none =
        |of_what: &str| !printed.figures.iter().any(|f| f.of == Some(FigureOf::from(of_what.to_owned())));
    assert!(none("submission latency"), "nothing was sampled of it");
    assert!(none("bandwidth samples"), "the run was over before the first sample");
}

#[test]
fn json_plus_with_reads_writes_and_syncs() {
    let runs = imported("lab/fio3-json-plus.json");
    let labels: Vec<_> = runs[0].cells.iter().map(|cell| (cell.label.as_str(), cell.direction)).collect();
    let what = "RND 4 KiB Q4 T2 70 % read";
    let [mix, sync] = ["", " sync"].map(|word| format!("{what}{word} · base"));
    let expected = [(&*mix, Some(Direction::Read)), (&*mix, Some(Direction::Write)), (&*sync, None)];
    assert_eq!(labels, expected);
    let [read, _, sync] = runs[0].cells.as_slice() else { panic!() };
    let printed = of(read);
    assert_eq!((printed.threads, printed.iodepth, printed.read_percent), (Some(2), Some(4), Some(70.0)));
    assert_eq!(printed.sequential, Some(false));
    let percentile = |of_what| figure(read, Quantity::Latency, Statistic::Percentile(50.0), Some(of_what));
    assert!(percentile("total latency").value > 0.0);
    assert!(
        figure(read, Quantity::Rate, Statistic::StandardDeviation, Some("bandwidth samples")).value > 0.0
    );
    let first = &of(sync).figures[0];
    assert_eq!((first.quantity, first.of.clone()), (Quantity::Latency, Some(FigureOf::SyncLatency)));
    assert_eq!(of(sync).block_bytes, None);
}

#[test]
fn directions_reported_as_one_are_a_mix() {
    let run = &imported("lab/fio3-mixed.json")[0];
    let [cell] = run.cells.as_slice() else { panic!() };
    assert_eq!(
        (cell.label.as_str(), cell.direction),
        ("RND 16 KiB Q1 T1 50 % read · mix", Some(Direction::Mix))
    );
    let both = &imported("lab/fio3-unified-both.json")[0];
    let labels: Vec<_> = both.cells.iter().map(name).collect();
    let what = "RND 16 KiB Q1 T1 50 % read";
    assert_eq!(labels, ["read", "write", "mix"].map(|word| format!("{what} · both {word}")));
    // A job with one direction is not a mix, even if its report is a mixed one.
    let mixed =
        String::from_utf8(fixture("lab/fio3-mixed.json")).unwrap().replace("\"randrw\"", "\"randread\"");
    let cell = super::super::import("a.json", mixed.as_bytes()).unwrap().remove(0).cells.remove(0);
    assert_eq!((cell.label.as_str(), cell.direction), ("RND 16 KiB Q1 T1 · mix", Some(Direction::Read)));
}

#[test]
fn each_job_is_a_cell_and_trims_have_no_direction() {
    let run = &imported("lab/fio3-two-jobs.json")[0];
    let printed: Vec<_> = run.cells.iter().map(|cell| (cell.label.as_str(), of(cell).block_bytes)).collect();
    assert_eq!(printed, [("SEQ 64 KiB Q1 T1 · r", Some(65_536)), ("SEQ 8 KiB Q1 T1 · w", Some(8192))]);
    let trim = &imported("lab/fio3-trim.json")[0].cells[0];
    assert_eq!((trim.label.as_str(), trim.direction), ("RND 64 KiB Q1 T1 trim · tr", None));
}

#[test]
fn of_intermediate_reports_only_the_last_counts() {
    let runs = imported("lab/fio3-status-interval.json");
    let [run] = runs.as_slice() else { panic!("{} runs", runs.len()) };
    assert!(run.notices.iter().any(|notice| notice.text.en.contains("3 intermediate reports")));
    let time = figure(&run.cells[0], Quantity::Duration, Statistic::Sum, Some("run time"));
    assert_figure(time, "3001", "ms", 3_001e6);
}

#[test]
fn separate_runs_of_the_same_job_stay_separate() {
    let one = fixture("lab/fio3-two-jobs.json");
    let runs = super::super::import("a.json", &[one.clone(), one].concat()).unwrap();
    assert_eq!(runs.len(), 1, "the very same report twice is one run");
    let later = String::from_utf8(fixture("lab/fio3-read.json")).unwrap();
    let again = later.replace("1795267403", "1795267999");
    assert_eq!(super::super::import("a.json", (later + &again).as_bytes()).unwrap().len(), 2);
}

/// Returns a document of jobs that read, in fio's order of keys.
fn document(end_ms: u64, runtime_ms: u64, jobs: &[(&str, &str)]) -> String {
    let job = |(name, options): &(&str, &str)| {
        let pairs = options.split(' ').filter_map(|pair| pair.split_once('='));
        let options: Vec<String> = pairs.map(|(key, value)| format!("\"{key}\": \"{value}\"")).collect();
        format!(
            "{{\"jobname\": \"{name}\", \"groupid\": 0, \"elapsed\": {}, \"job options\": {{{}}}, \
             \"read\": {{\"io_bytes\": {runtime_ms}000, \"bw_bytes\": 1000000, \"iops\": 244.1, \
             \"runtime\": {runtime_ms}}}}}",
            runtime_ms / 1000 + 1,
            options.join(", ")
        )
    };
    let jobs: Vec<String> = jobs.iter().map(job).collect();
    format!(
        "{{\n\"fio version\": \"fio-3.36\", \"timestamp\": {}, \"timestamp_ms\": {end_ms}, \"jobs\": [{}]}}\n",
        end_ms / 1000,
        jobs.join(", ")
    )
}

fn runs_of(text: &str) -> usize {
    super::super::import("a.json", text.as_bytes()).unwrap().len()
}

#[test]
fn runs_that_were_appended_are_runs_and_reports_of_one_are_not() {
    let job = [("a", "rw=read bs=4k")];
    let start = 1_700_000_000_000;
    // Runs of one second each, one after the other. The later one has slightly more data.
    let short = document(start + 1000, 1000, &job) + &document(start + 2010, 1001, &job);
    assert_eq!(runs_of(&short), 2);
    let long = document(start + 30_000, 30_000, &job) + &document(start + 91_000, 60_000, &job);
    assert_eq!(runs_of(&long), 2);
    let reports = document(start + 1000, 1000, &job)
        + &document(start + 2003, 2000, &job)
        + &document(start + 3001, 3001, &job);
    assert_eq!(runs_of(&reports), 1);
    let seconds = |text: &str| text.replace("\"timestamp_ms\"", "\"unknown\"");
    assert_eq!(runs_of(&seconds(&long)), 2);
    assert_eq!(runs_of(&seconds(&short)), 2);
}

#[test]
fn threads_that_are_told_apart_are_no_job() {
    let options = "rw=randread bs=4k iodepth=32 numjobs=4 ioengine=libaio direct=1";
    let read = |jobs: &[(&str, &str)]| {
        super::super::import("a.json", document(1_700_000_009_000, 9000, jobs).as_bytes()).unwrap().remove(0)
    };
    let apart = read(&[("a", options); 4]);
    assert_eq!(apart.cells.len(), 4);
    for cell in &apart.cells {
        assert_eq!(of(cell).one_of_threads, Some(4));
        assert_eq!((cell.label.as_str(), of(cell).threads), ("RND 4 KiB Q32 one of 4 threads · a", None));
    }
    assert!(apart.notices[0].text.en.contains("`group_reporting`"));
    let grouped = read(&[("a", options)]);
    assert_eq!(
        (grouped.cells[0].label.as_str(), of(&grouped.cells[0]).threads),
        ("RND 4 KiB Q32 T4 · a", Some(4))
    );
    assert_eq!(grouped.origin.facts.get("direct").map(String::as_str), Some("1"));
    let two = read(&[("a", "rw=read bs=4k"), ("b", "rw=read bs=4k"), ("c", "rw=read bs=8k direct=1")]);
    let labels: Vec<&str> = two.cells.iter().map(|cell| cell.label.as_str()).collect();
    assert_eq!(labels, ["SEQ 4 KiB Q1 T1 · a", "SEQ 4 KiB Q1 T1 · b", "SEQ 8 KiB Q1 T1 · c"]);
    assert_eq!(two.origin.facts.get("direct"), None, "they differ");
}

#[test]
fn an_engine_that_nobody_named_has_no_queue_on_linux() {
    let text = document(1_700_000_009_000, 9000, &[("a", "rw=randread bs=4k iodepth=32 size=1m numjobs=2")]);
    let cell =
        |text: &str| super::super::import("a.json", text.as_bytes()).unwrap().remove(0).cells.remove(0);
    let on_linux = text.replace("\"jobs\"", "\"disk_util\": [], \"jobs\"");
    assert_eq!([of(&cell(&on_linux)).iodepth, of(&cell(&text)).iodepth], [Some(1), None]);
    // Each job has its own file.
    assert_eq!(of(&cell(&text)).span_bytes, Some(2 << 20));
}

#[test]
fn a_job_that_did_nothing_is_no_cell() {
    let error = super::super::import("a.json", &fixture("lab/fio3-error.json")).unwrap_err();
    assert!(error.what().en.contains("fio measured nothing"));
    let cut = &fixture("lab/fio3-read.json")[..2000];
    let error = super::super::import("a.json", cut).unwrap_err();
    assert!(error.what().en.contains("damaged here") && error.place().is_some());
}

#[test]
fn fio_2_prints_microseconds_and_kibibytes() {
    let run = &imported("lab/fio2.json")[0];
    assert_eq!(run.origin.tool_name(), "fio 2.16");
    let [read, write] = run.cells.as_slice() else { panic!() };
    assert_eq!((of(read).block_bytes, of(write).block_bytes), (Some(8192), Some(16_384)));
    // The option requests 60 %, and the result counts the transferred data: blocks of writes are twice
    // as large.
    assert_eq!(of(read).read_percent.map(f64::round), Some(50.0));
    assert_figure(&of(read).figures[0], "82666", "KiB/s", 82_666.0 * 1024.0);
    let clat = |statistic| figure(read, Quantity::Latency, statistic, Some("completion latency"));
    assert_figure(clat(Statistic::Mean), "79.565982", "us", 79_565.982);
    assert_figure(clat(Statistic::Percentile(99.0)), "278", "us", 278_000.0);
    // 682 operations of 8 KiB.
    let moved = figure(read, Quantity::Bytes, Statistic::Sum, Some("data moved"));
    assert_figure(moved, "5456", "KiB", 682.0 * 8192.0);
}

#[test]
fn a_run_that_a_signal_ended_says_so() {
    let read = |text: &str| super::super::import("a.json", text.as_bytes()).unwrap();
    let options = "rw=read bs=4k direct=1 time_based=1 runtime=300";
    let cut = document(1_700_000_048_000, 48_000, &[("a", options)]);
    let remark = |text: &str| {
        let run = read(text).remove(0);
        (run.interrupted, run.notices.first().map(|notice| notice.text.en.clone()).unwrap_or_default())
    };
    let figures = "after 48 s of 5 min: the figures cover only that part";
    let signal = format!("fio: terminating on signal 2\n{cut}");
    assert_eq!(remark(&signal), (true, format!("fio was ended by signal 2 {figures}")));
    assert_eq!(remark(&cut), (true, format!("fio ended {figures}")));
    let whole = document(1_700_000_300_000, 300_000, &[("a", options)]);
    assert_eq!(remark(&whole), (false, String::new()));
    // If everything is written once, the time is not limited.
    let once = document(1_700_000_048_000, 48_000, &[("a", "rw=read bs=4k direct=1 runtime=300")]);
    assert_eq!(remark(&once), (false, String::new()));
}

#[test]
fn the_share_of_reads_is_what_was_done() {
    let mix = |reads: u64, writes: u64| {
        let text = format!(
            "{{\"fio version\": \"fio-3.36\", \"jobs\": [{{\"jobname\": \"half\", \"job options\": {{\"rw\": \"randrw\", \"bs\": \"4k\",
             \"direct\": \"1\", \"rwmixread\": \"50\", \"ioengine\": \"psync\"}},
             \"read\": {{\"io_bytes\": 4096, \"bw_bytes\": 10, \"runtime\": 7, \"total_ios\": {reads}}},
             \"write\": {{\"io_bytes\": 4096, \"bw_bytes\": 10, \"runtime\": 7, \"total_ios\": {writes}}}}}]}}"
        );
        super::super::import("a.json", text.as_bytes()).unwrap().remove(0)
    };
    let run = mix(1600, 8400);
    assert_eq!(run.cells[0].label, "RND 4 KiB Q1 T1 16 % read · half");
    assert_eq!(of(&run.cells[0]).read_percent, Some(16.0));
    let remark =
        "RND 4 KiB Q1 T1 16 % read · half: 16 % of the operations were reads, although 50 % was requested";
    assert_eq!(run.notices[0].text.en, remark);
    // Each operation is drawn at random, so a few operations are rarely exactly half reads.
    for (reads, writes) in [(5040, 4960), (56, 44)] {
        let run = mix(reads, writes);
        assert_eq!((run.cells[0].label.as_str(), run.notices.len()), ("RND 4 KiB Q1 T1 50 % read · half", 0));
    }
}
