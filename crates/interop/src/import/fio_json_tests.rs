//! Golden tests of fio's JSON. The files are fio's own output (3.33 of Debian 12; 2.16 built from its tag), shortened.

use super::super::lab::test::*;
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
    assert_eq!((cell.label.as_str(), cell.direction), ("seqread", Some(Direction::Read)));
    let printed = of(cell);
    assert_eq!((printed.block_bytes, printed.iodepth, printed.threads), (Some(1 << 20), Some(8), None));
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
    let expected = [("base", Some(Direction::Read)), ("base", Some(Direction::Write)), ("base sync", None)];
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
    assert_eq!((cell.label.as_str(), cell.direction), ("mix", Some(Direction::Mix)));
    let both = &imported("lab/fio3-unified-both.json")[0];
    let labels: Vec<_> = both.cells.iter().map(name).collect();
    assert_eq!(labels, ["both read", "both write", "both mix"]);
}

#[test]
fn each_job_is_a_cell_and_trims_have_no_direction() {
    let run = &imported("lab/fio3-two-jobs.json")[0];
    let printed: Vec<_> = run.cells.iter().map(|cell| (cell.label.as_str(), of(cell).block_bytes)).collect();
    assert_eq!(printed, [("r", Some(65_536)), ("w", Some(8192))]);
    let trim = &imported("lab/fio3-trim.json")[0].cells[0];
    assert_eq!((trim.label.as_str(), trim.direction), ("tr trim", None));
}

#[test]
fn of_intermediate_reports_only_the_last_counts() {
    let runs = imported("lab/fio3-status-interval.json");
    let [run] = runs.as_slice() else { panic!("{} runs", runs.len()) };
    assert!(run.notices[0].text.en.contains("3 intermediate reports"));
    let time = figure(&run.cells[0], Quantity::Duration, Statistic::Sum, Some("run time"));
    assert_figure(time, "3001", "ms", 3_001e6);
}

#[test]
fn separate_runs_of_the_same_job_stay_separate() {
    let one = fixture("lab/fio3-two-jobs.json");
    let runs = super::super::import("a.json", &[one.clone(), one].concat()).unwrap();
    assert_eq!(runs.len(), 1, "the very same report twice is one run");
    let later = String::from_utf8(fixture("lab/fio3-read.json")).unwrap();
    let again = later.replace("\"timestamp\" : 1795267403", "\"timestamp\" : 1795267999");
    assert_eq!(super::super::import("a.json", (later + &again).as_bytes()).unwrap().len(), 2);
}

#[test]
fn a_job_that_did_nothing_is_no_cell() {
    let error = super::super::import("a.json", &fixture("lab/fio3-error.json")).unwrap_err();
    assert!(error.what().en.contains("fio measured nothing"));
    let cut = &fixture("lab/fio3-read.json")[..2000];
    let error = super::super::import("a.json", cut).unwrap_err();
    assert!(error.what().en.contains("breaks here") && error.place().is_some());
}

#[test]
fn fio_2_prints_microseconds_and_kibibytes() {
    let run = &imported("lab/fio2.json")[0];
    assert_eq!(run.origin.tool_name(), "fio 2.16");
    let [read, write] = run.cells.as_slice() else { panic!() };
    assert_eq!((of(read).block_bytes, of(write).block_bytes), (Some(8192), Some(16_384)));
    assert_eq!(of(read).read_percent, Some(60.0));
    assert_figure(&of(read).figures[0], "82666", "KiB/s", 82_666.0 * 1024.0);
    let clat = |statistic| figure(read, Quantity::Latency, statistic, Some("completion latency"));
    assert_figure(clat(Statistic::Mean), "79.565982", "us", 79_565.982);
    assert_figure(clat(Statistic::Percentile(99.0)), "278", "us", 278_000.0);
    // 682 operations of 8 KiB.
    let moved = figure(read, Quantity::Bytes, Statistic::Sum, Some("data moved"));
    assert_figure(moved, "5456", "KiB", 682.0 * 8192.0);
}

#[test]
fn damage_is_survived() {
    for name in ["fio3-read", "fio3-json-plus", "fio3-mixed", "fio2"] {
        assert_survives_damage(&format!("lab/{name}.json"));
    }
}
