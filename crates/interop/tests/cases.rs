//! Files that people pasted into issues and forums, with the figures that a reader finds in them.
//!
//! The files are output of tools. Those in `read/` are imported, and the table contains their figures,
//! dates and notes. Those in `refused/` are refused with a message that names the tool.

use kurabe_core::Lang;
use kurabe_core::imported::PrintedStatistic::{self as Statistic, *};
use kurabe_core::imported::Quantity::{self, *};
use kurabe_core::imported::{ImportedCell, PrintedFigure};
use kurabe_core::record::NoticeKind;
use kurabe_core::workload::{OpKind, Pattern};
use kurabe_core::{profile::Step, trace::Trace};
use kurabe_fio::{NoSurroundings, read_fio_job};
use kurabe_interop::{ImportedRun, import, read_trace};
use std::collections::BTreeSet;
use std::path::Path;

mod pastes;

/// A figure: cell with its direction, quantity, statistic, characters, value in base units.
type Figure = (&'static str, Quantity, Statistic, &'static str, f64);

/// File, tool with its version, date, figures of the first run, words in its notes.
type Case = (&'static str, &'static str, Option<&'static str>, &'static [Figure], &'static [&'static str]);

const KIB: f64 = 1024.0;

#[rustfmt::skip]
const READ: &[Case] = &[
    ("bcc-biosnoop.txt", "biosnoop", None, &[
        ("xvda1 write", Latency, Highest, "1.24", 1.24e6),
        ("xvda1 write", Latency, Lowest, "0.58", 0.58e6),
        ("xvdb write", Latency, Median, "0.34", 0.34e6),
        ("xvdc write", Latency, Median, "0.23", 0.23e6),
    ], &["15 operations in 2.04 s", "0.649 ms", "1.24 ms (supervise)"]),
    ("btt-avg.txt", "btt", None, &[
        ("Q2C (queued to completed)", Latency, Mean, "0.013120242", 13.120_242e6),
        ("D2C (in the device)", Latency, Mean, "0.013116498", 13.116_498e6),
        ("D2C (in the device)", Share, Mean, "99.9715", 0.999_715),
        ("D2C (in the device)", Count, Sum, "7557", 7557.0),
        ("I2D (in the scheduler)", Latency, Mean, "0.000001078", 1078.0),
    ], &["99.9715 % of the time from queue to completion was spent in the device"]),
    ("dd-conv-fsync-zfs.txt", "dd", None, &[
        ("dd 1 MiB write", Rate, Mean, "12.1", 12.1e6),
        ("dd 1 MiB write", Duration, Sum, "11.0608", 11.0608e9),
    ], &["includes one flush at the end"]),
    ("dd-dsync-ten-sectors.txt", "dd", None, &[
        ("dd 512 B write", Iops, Mean, "10", 1_399.954_361_487_8),
        ("dd 512 B write", Latency, Mean, "0.00714309", 714_309.0),
    ], &["waited until it was durable"]),
    ("elbencho-livecsv-extended.csv", "elbencho", Some("2026-02-09T11:18:30.170-05:00"), &[
        ("READ read", Rate, Highest, "117", 117.0 * KIB * KIB),
        ("READ read", Iops, Highest, "30151", 30_151.0),
        ("READ read", Latency, Highest, "530", 530e3),
    ], &[]),
    ("fio-3.20-impossible-lat.txt", "fio 3.20-90-g5bd52", Some("2021-02-17T13:32:25"), &[
        ("RND 4 KiB Q1 T1 · test write", Rate, Mean, "227", 227.0 * KIB * KIB),
        ("RND 4 KiB Q1 T1 · test write", Iops, Mean, "58.1k", 58_100.0),
    ], &["because minimum, mean and maximum contradict each other", "total latency"]),
    ("fio-3.21-rate-iops-300.txt", "fio 3.21", Some("2022-05-01T19:29:21"), &[
        ("RND 4 KiB Q1 T1 · mytest write", Iops, Mean, "300", 300.0),
        ("RND 4 KiB Q1 T1 · mytest write", Rate, Mean, "1200", 1200.0 * KIB),
    ], &["issued operations at a fixed rate (rate_iops=300)"]),
    ("fio-3.25-pi-four-jobs-progress.txt", "fio 3.25", Some("2022-04-27T22:01:57"), &[
        ("SEQ 1 MiB Q64 T4 · fio-rand-read-sequential read", Rate, Mean, "397", 397.0 * KIB * KIB),
        ("SEQ 1 MiB Q64 T4 · fio-rand-read-sequential read", Latency, Mean, "634.65", 634.65e6),
    ], &[]),
    ("iostat-2010-z-idle-intervals.txt", "iostat", Some("2010-07-27"), &[
        ("sdb write", Rate, Highest, "890.37", 890.37 * 512.0),
        ("sdb write", Rate, Lowest, "0", 0.0),
        ("sdb all", Iops, Highest, "20.60", 20.6),
        ("sdb all", Iops, Lowest, "0", 0.0),
    ], &["reports that count: 2", "listed in 1 of 2 intervals: sda, sda1, sdb, sdb6", "counts as 0"]),
    ("iostat-cciss-slash-name.txt", "iostat", Some("2020"), &[
        ("cciss/c0d0p2 all", Iops, Mean, "32402.95", 32_402.95),
        ("cciss/c0d0p2 read", Rate, Mean, "0.00", 0.0),
    ], &[]),
    ("iostat-s-short.txt", "iostat", Some("2020"), &[
        ("sdq write and discard", Rate, Mean, "16.04", 16.04 * KIB),
        ("sdr write and discard", Rate, Mean, "16.04", 16.04 * KIB),
        ("sds write and discard", Rate, Mean, "3.21", 3.21 * KIB),
        ("sds read", Rate, Mean, "16.04", 16.04 * KIB),
    ], &[]),
    ("iostat-x-flush-columns.txt", "iostat", Some("2020"), &[
        ("sda read", Rate, Highest, "41499.97", 41_499.97 * KIB),
        ("sda all", QueueLength, Highest, "18.56", 18.56),
        ("sdd flush", Iops, Highest, "1.52", 1.52),
        ("sdd flush", Iops, Lowest, "1.32", 1.32),
        ("sdq read", Rate, Mean, "2221.93", 2221.93 * KIB),
    ], &["listed in 1 of 2 intervals: sdq; its figures cover only these intervals"]),
    ("iostat-xs-one-device.txt", "iostat", Some("2020"), &[
        ("sdb all", Rate, Highest, "22.60", 22.6 * KIB),
        ("sdb all", Rate, Lowest, "0.00", 0.0),
    ], &[]),
    ("iozone-macos-cached-card.txt", "iozone", None, &[
        ("sequential, file 102400 kB, record 4 kB write", Rate, Mean, "80292", 80_292.0 * KIB),
        ("sequential, file 102400 kB, record 16384 kB write", Rate, Mean, "78283", 78_283.0 * KIB),
        ("sequential, file 102400 kB, record 4 kB read", Rate, Mean, "1926436", 1_926_436.0 * KIB),
        ("random, file 102400 kB, record 512 kB write", Rate, Mean, "80289", 80_289.0 * KIB),
    ], &["does not show whether the system supported it"]),
    ("iozone-throughput-children-parent.txt", "iozone", Some("2016-05-30T10:37:31"), &[
        ("initial writers write", Rate, Sum, "277843.78", 277_843.78 * KIB),
        ("rewriters write", Rate, Sum, "649932.06", 649_932.06 * KIB),
    ], &["without direct I/O and without fsync"]),
    ("kdiskmark-3.1.3-ntfs3g-cached.txt", "KDiskMark 3.1.3", None, &[
        ("SEQ 1 MiB Q8 T1 read", Rate, Unknown, "5683.719", 5683.719 * 1.024e6),
        ("RND 4 KiB Q1 T1 read", Latency, Unknown, "5.17", 5170.0),
        ("SEQ 1 MiB Q8 T1 write", Rate, Unknown, "11.009", 11.009 * 1.024e6),
    ], &["multiplied by 1.024"]),
    ("pg_test_fsync-17.txt", "pg_test_fsync", None, &[
        ("one 8kB write, fdatasync write", Iops, Mean, "551.816", 551.816),
        ("one 8kB write, fdatasync write", Latency, Mean, "1812", 1.812e6),
        ("one 8kB write, open_datasync write", Iops, Mean, "231.539", 231.539),
        ("one 8kB write, fsync write", Latency, Mean, "6364", 6.364e6),
        ("one 8kB write, open_sync write", Iops, Mean, "159.308", 159.308),
        ("two 8kB writes, fdatasync write", Iops, Mean, "547.868", 547.868),
    ], &["percentiles such as p99 are unknown", "2012483.469 writes per second without a sync"]),
    ("pibenchmarks-fio-iozone-log.txt", "iozone 3.489", Some("2023-11-12T12:58:08"), &[
        ("sequential, file 81920 kB, record 4 kB read", Rate, Mean, "21524", 21_524.0 * KIB),
        ("sequential, file 81920 kB, record 4 kB write", Rate, Mean, "8433", 8433.0 * KIB),
        ("random, file 81920 kB, record 4 kB read", Rate, Mean, "21376", 21_376.0 * KIB),
        ("random, file 81920 kB, record 4 kB write", Rate, Mean, "8068", 8068.0 * KIB),
    ], &["used direct I/O (`-I`) and synced"]),
    ("sar-d-dev-last.txt", "sar", Some("2019-04-18T13:20:19"), &[
        ("sda read", Rate, Highest, "41499.97", 41_499.97 * KIB),
        ("sda write", Rate, Highest, "10663.48", 10_663.48 * KIB),
        ("sda all", Latency, Highest, "12.00", 12e6),
        ("sda all", Share, Highest, "85.36", 0.8536),
    ], &[]),
    ("sbc-bench-head-iostat.txt", "iostat", Some("2018-01-28"), &[
        ("mmcblk0 read", Rate, Mean, "510.28", 510.28 * KIB),
        ("mmcblk0 write", Rate, Mean, "227.10", 227.1 * KIB),
    ], &["single report"]),
    ("yabs-2023.json", "YABS 2023-04-23", Some("2023-04-23T13:41:14"), &[
        ("RND 4 KiB Q64 T2 50 % read read", Rate, Mean, "405417", 405_417.0 * KIB),
        ("RND 4 KiB Q64 T2 50 % read read", Iops, Mean, "101354", 101_354.0),
        ("RND 4 KiB Q64 T2 50 % read write", Iops, Mean, "101621", 101_621.0),
        ("RND 1 MiB Q64 T2 50 % read write", Rate, Mean, "420827", 420_827.0 * KIB),
    ], &["KiB/s as KBps"]),
    ("macos-iostat-two-disks.txt", "iostat", None, &[
        ("disk0 all", Rate, Highest, "3.10", 3.1 * KIB * KIB),
        ("disk0 all", Iops, Highest, "222", 222.0),
        ("disk4 all", Iops, Highest, "0", 0.0),
    ], &["since boot and was skipped; reports that count: 4"]),
    ("freebsd-iostat-x-two.txt", "iostat", None, &[
        ("ada0 write", Rate, Mean, "1004", 1004.0 * KIB),
        ("ada1 read", Rate, Mean, "16640", 16_640.0 * KIB),
        ("ada1 read", Latency, Mean, "7.2", 7.2e6),
        ("ada1 all", Share, Mean, "94", 0.94),
        ("ada1 all", QueueLength, Mean, "1", 1.0),
    ], &["since boot and was skipped; reports that count: 1"]),
    ("yabs-2026-powers-of-1000.txt", "YABS", Some("2026-09-09T20:47:58"), &[
        ("RND 512 KiB Q64 T2 50 % read read", Rate, Mean, "377.66", 377.66e6),
        ("RND 4 KiB Q64 T2 50 % read read", Rate, Mean, "16.10", 16.1e6),
        ("RND 1 MiB Q64 T2 50 % read write", Iops, Mean, "404", 404.0),
    ], &["powers of 1000"]),
    ("sysbench-cpu-then-fileio.txt", "sysbench", None, &[
        ("RND 16 KiB read", Rate, Mean, "21.43", 21.43 * KIB * KIB),
        ("RND 16 KiB all with fsync", Latency, Mean, "0.19", 0.19e6),
        ("RND 16 KiB all with fsync", Latency, Highest, "16.52", 16.52e6),
    ], &[]),
    ("sysbench-1.1-seqwr.txt", "sysbench 1.1.0-df89d34", None, &[
        ("SEQ 16 KiB write", Rate, Mean, "499.39", 499.39 * KIB * KIB),
        ("SEQ 16 KiB write", Iops, Mean, "31961.19", 31_961.19),
        ("SEQ 16 KiB all with fsync", Latency, Highest, "920.89", 920.89e6),
        ("SEQ 16 KiB fsync", Iops, Mean, "327500.24", 327_500.24),
    ], &[]),
    ("iozone-collapsed-tests-0-2.txt", "iozone", None, &[
        ("sequential, file 1048576 kB, record 4 kB write", Rate, Mean, "30551", 30_551.0 * KIB),
        ("sequential again, file 1048576 kB, record 4 kB write", Rate, Mean, "30412", 30_412.0 * KIB),
        ("random, file 1048576 kB, record 4 kB read", Rate, Mean, "8120", 8120.0 * KIB),
        ("random, file 1048576 kB, record 4 kB write", Rate, Mean, "29990", 29_990.0 * KIB),
    ], &[]),
    ("bonnie-name-on-two-lines.txt", "bonnie++ 1.01c", None, &[
        ("put_block write", Rate, Mean, "138838", 138_838.0 * KIB),
        ("seq_create", Iops, Mean, "1208", 1208.0),
        ("ran_del", Iops, Mean, "4476", 4476.0),
    ], &[]),
    ("bonnie-wrapped-rows.txt", "bonnie++ 1.97", None, &[
        ("put_block write", Rate, Mean, "993827", 993_827.0 * KIB),
        ("get_block read", Rate, Mean, "1341920", 1_341_920.0 * KIB),
        ("get_block read", Latency, Highest, "41587", 41.587e6),
        ("seeks mix", Iops, Mean, "8210", 8210.0),
    ], &["a result in two formats"]),
    ("dd-read-twice-after-drop.txt", "dd", None, &[
        ("dd 1 MiB write", Rate, Mean, "378", 378e6),
        ("dd 1 MiB read", Rate, Mean, "1.4", 1.4e9),
    ], &["dd read without direct I/O", "includes one flush"]),
    ("fio-3.16-etcd-syncs.txt", "fio 3.16", Some("2021-03-02T10:11:12"), &[
        ("SEQ 2.25 KiB Q1 T1 · mytest write", Iops, Mean, "58", 58.0),
        ("SEQ 2.25 KiB Q1 T1 sync · mytest", Latency, Percentile(99.0), "299893", 299.893e6),
        ("SEQ 2.25 KiB Q1 T1 sync · mytest", Latency, Highest, "5729.7k", 5.7297e9),
    ], &[]),
    ("fio-sync-excerpt.txt", "fio", None, &[
        ("fio sync · fio", Latency, Percentile(99.0), "2376", 2.376e6),
        ("fio sync · fio", Latency, Mean, "1273.08", 1.273_08e6),
    ], &[]),
    ("fio-3.35-saturated-percentiles.txt", "fio 3.35-139-gc5d8", Some("2023-11-06T04:07:30"), &[
        ("SEQ 16 KiB Q64 T40 · 4_thread write", Iops, Mean, "29", 29.0),
        ("SEQ 16 KiB Q64 T40 · 4_thread write", Latency, Mean, "41163568.65", 41.163_568_65e9),
    ], &["percentiles skipped, because the mean is higher than they allow"]),
    ("fio-2.2.10-commit-rate.txt", "fio 2.2.10", Some("2019-08-02T15:31:26"), &[
        ("SEQ 4 KiB Q32 T1 · write-test write", Iops, Mean, "4999", 4999.0),
        ("SEQ 4 KiB Q32 T1 · write-test write", Rate, Mean, "19999", 19_999.0 * KIB),
    ], &["at a fixed rate (rate_iops=5000)"]),
    ("fio-3.16-logger-prefix.txt", "fio 3.16", Some("2020-07-14T20:16:21"), &[
        ("randrw read", Iops, Mean, "31", 31.0),
        ("randrw read", Latency, Percentile(99.0), "208667", 208.667e6),
    ], &["put a prefix before each line"]),
    ("rados-bench-write-seq.txt", "rados bench", None, &[
        ("rados 4 MiB Q16 write", Rate, Mean, "46.5625", 46.5625 * KIB * KIB),
        ("rados 4 MiB Q16 write", Latency, Mean, "1.3707", 1.3707e9),
        ("SEQ 4 MiB read", Rate, Mean, "111.441", 111.441 * KIB * KIB),
        ("SEQ 4 MiB read", Latency, Highest, "1.16315", 1.163_15e9),
    ], &["through the network"]),
    ("sar-d-chinese-clock.txt", "sar", Some("2025-04-26T11:50:01"), &[
        ("dev8-0 write", Rate, Mean, "21.61", 21.61 * 512.0),
        ("dev8-0 all", Latency, Mean, "3.87", 3.87e6),
        ("dev253-1 all", Iops, Mean, "0.00", 0.0),
    ], &[]),
    ("iostat-wrapped-by-mail.txt", "iostat", None, &[
        ("rd/c0d0 all", QueueLength, Mean, "31860.75", 31_860.75),
        ("rd/c0d0 all", Share, Mean, "96.34", 0.9634),
        ("rd/c0d0 write", Rate, Mean, "0.00", 0.0),
    ], &["since boot and was skipped; reports that count: 1"]),
    ("zpool-iostat-vl-prompt-glued.txt", "zpool iostat", None, &[
        ("teststore write", Iops, Mean, "239", 239.0),
        ("teststore write", Rate, Mean, "39.9M", 39.9 * KIB * KIB),
        ("teststore write", Latency, Mean, "7ms", 7e6),
    ], &["single report", "since its import", "powers of 1024"]),
];

/// Refused files, with the words of the error.
const REFUSED: &[(&str, &[&str])] = &[
    ("bcc-biosnoop-junk.txt", &["do not match its header"]),
    ("bcc-ext4slower.txt", &["the output of ext4slower", "neither a rate nor percentiles"]),
    ("cifsiostat.json", &["the output of cifsiostat JSON", "network file systems"]),
    ("pidstat-d.txt", &["the output of pidstat", "describes processes"]),
    (
        "smartctl-usb-bridge.json",
        &["the output of smartctl JSON", "SanDisk pSSD", "link 3.0 Gb/s of 6.0 Gb/s"],
    ),
    ("vmstat-d.txt", &["the output of vmstat -d", "since boot"]),
];

fn bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cases").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn runs(name: &str) -> Vec<ImportedRun> {
    let read = import(name, &bytes(&format!("read/{name}")));
    read.unwrap_or_else(|error| panic!("{name}: {}", error.render(Lang::En)))
}

fn cell<'a>(run: &'a ImportedRun, name: &str) -> &'a ImportedCell {
    let names = || run.cells.iter().map(|cell| format!("{} {}", cell.label, cell.part).trim().to_owned());
    let at = names()
        .position(|own| own == name)
        .unwrap_or_else(|| panic!("no {name} in {:#?}", names().collect::<Vec<_>>()));
    run.cells[at].imported.as_ref().unwrap()
}

fn figure(cell: &ImportedCell, quantity: Quantity, statistic: Statistic) -> &PrintedFigure {
    let is_meant = |figure: &&PrintedFigure| (figure.quantity, figure.statistic) == (quantity, statistic);
    cell.figures
        .iter()
        .find(is_meant)
        .unwrap_or_else(|| panic!("no {quantity:?} {statistic:?} in {:#?}", cell.figures))
}

#[test]
fn every_file_is_read_as_a_person_reads_it() {
    for (name, tool, date, figures, remarks) in READ.iter().chain(pastes::READ) {
        let run = runs(name).remove(0);
        assert_eq!(run.origin.tool_name(), *tool, "{name}");
        assert_eq!(run.origin.measured_at.as_deref(), *date, "{name}");
        for &(of, quantity, statistic, printed, value) in *figures {
            let figure = figure(cell(&run, of), quantity, statistic);
            assert_eq!(figure.printed, printed, "{name}, {of}");
            assert!(
                (figure.value - value).abs() <= value * 1e-9,
                "{name}, {of}: {} is not {value}",
                figure.value
            );
        }
        let sentences: Vec<&str> = run.notices.iter().map(|notice| notice.text.en.as_str()).collect();
        for words in *remarks {
            assert!(
                sentences.iter().any(|remark| remark.contains(words)),
                "{name}: no `{words}` in {sentences:#?}"
            );
        }
        assert!(run.notices.iter().all(|notice| !notice.text.ja.is_empty()), "{name}");
    }
}

#[test]
fn what_is_refused_is_named() {
    for (name, words) in REFUSED.iter().chain(pastes::REFUSED) {
        let error = import(name, &bytes(&format!("refused/{name}"))).unwrap_err();
        let message = error.render(Lang::En);
        assert!(words.iter().all(|words| message.contains(words)), "{name}: {message}");
        assert!(!message.contains("nearest"), "{name}: {message}");
    }
}

#[test]
fn every_file_is_in_a_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cases");
    let files = |folder: &str| -> BTreeSet<String> {
        let entries = std::fs::read_dir(root.join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    assert_eq!(files("read"), READ.iter().chain(pastes::READ).map(|(name, ..)| (*name).to_owned()).collect());
    assert_eq!(
        files("refused"),
        REFUSED.iter().chain(pastes::REFUSED).map(|(name, _)| (*name).to_owned()).collect()
    );
}

#[test]
fn idle_intervals_are_points_of_zero() {
    let run = runs("iostat-2010-z-idle-intervals.txt").remove(0);
    let series = &cell(&run, "sdb write").series[0];
    assert_eq!(series.points, [(0.0, 0.0), (1.0, 890.37 * 512.0)]);
    // An interval without operations has no latency.
    let text = "Device r/s w/s rkB/s wkB/s r_await\nsda 9.00 9.00 9.00 9.00 9.00\nsdb 9.00 9.00 9.00 9.00 9.00\n\n\
                Device r/s w/s rkB/s wkB/s r_await\nsda 1.00 2.00 3.00 4.00 5.00\n\n\
                Device r/s w/s rkB/s wkB/s r_await\nsdb 1.00 2.00 3.00 4.00 5.00\n\n";
    let run = import("a.txt", text.as_bytes()).unwrap().remove(0);
    let read = cell(&run, "sda read");
    assert_eq!(figure(read, Rate, Lowest).value, 0.0);
    assert_eq!(figure(read, Latency, Mean).printed, "5.00");
    // A row of zeros: the tool does not omit idle devices.
    let with_zeros = text.replacen("sdb 1.00 2.00 3.00 4.00", "sdb 0.00 0.00 0.00 0.00", 1);
    let run = import("a.txt", with_zeros.as_bytes()).unwrap().remove(0);
    assert_eq!(figure(cell(&run, "sda read"), Rate, Mean).printed, "3.00");
}

#[test]
fn a_restart_ends_a_series_of_sar_and_averages_are_no_interval() {
    let runs = runs("sar-d-dev-last.txt");
    let points = |run: &ImportedRun| cell(run, "sda read").series.first().map(|series| series.points.clone());
    assert_eq!(runs.len(), 2);
    let places: Vec<f64> = points(&runs[0]).unwrap().iter().map(|(at, _)| *at).collect();
    assert_eq!(places, [0.0, 10e9, 20e9, 30e9]);
    assert_eq!(points(&runs[1]), None, "one interval is a figure");
}

#[test]
fn memory_is_not_taken_for_a_drive() {
    let kinds =
        |name: &str| -> Vec<NoticeKind> { runs(name)[0].notices.iter().map(|notice| notice.kind).collect() };
    assert!(kinds("iozone-throughput-children-parent.txt").contains(&NoticeKind::CacheDrop));
    assert!(!kinds("pibenchmarks-fio-iozone-log.txt").contains(&NoticeKind::CacheDrop));
    let dd = |command: &str| -> Vec<NoticeKind> {
        let text = format!(
            "$ {command}\n1+0 records in\n1+0 records out\n1048576 bytes (1.0 MB) copied, 0.001 s, 1.0 GB/s\n"
        );
        import("a", text.as_bytes()).unwrap()[0].notices.iter().map(|notice| notice.kind).collect()
    };
    assert_eq!(dd("dd if=/dev/zero of=/srv/t bs=1M count=1"), [NoticeKind::CacheDrop]);
    assert_eq!(dd("dd if=/srv/t of=/dev/null bs=1M"), [NoticeKind::CacheDrop]);
    assert_eq!(dd("dd if=/dev/zero of=/srv/t bs=1M count=1 oflag=direct"), []);
    assert_eq!(dd("dd if=/dev/zero of=/srv/t bs=1M count=1 conv=fdatasync"), [NoticeKind::Other]);
}

#[test]
fn a_latency_that_contradicts_itself_goes_with_its_percentiles() {
    let text = "r: (g=0): rw=randread, bs=4096B-4096B, ioengine=psync, iodepth=1\n\
                r: (groupid=0, jobs=1): err= 0: pid=1: Sat Nov 21 13:23:23 2026\n\
                \x20 read: IOPS=100, BW=400KiB/s (410kB/s)(4MiB/10001msec)\n\
                \x20   clat (usec): min=90, max=40, avg=45.12, stdev=10.01\n\
                \x20    lat (usec): min=31, max=41, avg=35.12, stdev=2.01\n\
                \x20   clat percentiles (usec):\n\
                \x20    |  1.00th=[   30], 99.00th=[   39]\n";
    let run = import("a.txt", text.as_bytes()).unwrap().remove(0);
    let latencies =
        run.cells[0].imported.as_ref().unwrap().figures.iter().filter(|one| one.quantity == Latency);
    let printed: Vec<&str> = latencies.map(|figure| figure.printed.as_str()).collect();
    assert_eq!(printed, ["35.12", "31", "41", "2.01"]);
    let remark = run.notices.iter().find(|notice| notice.text.en.contains("contradict each other")).unwrap();
    assert!(remark.text.en.contains("completion latency") && !remark.text.en.contains("total"), "{remark:?}");
    let sound = text.replace("min=90", "min=30").replace("max=40", "max=1400");
    let run = import("a.txt", sound.as_bytes()).unwrap().remove(0);
    assert_eq!(
        run.cells[0].imported.as_ref().unwrap().figures.iter().filter(|one| one.quantity == Latency).count(),
        10
    );
}

/// Lines in the format of Alibaba's traces of 2020.
const ALIBABA: &str =
    "0,R,4096000,4096,1577808000000046\n1,W,8192,77824,1577808000000426\n0,R,4100096,4096,1577808000000809\n";

fn trace(name: &str, text: &str) -> Trace {
    read_trace(name, text.as_bytes(), None).unwrap_or_else(|error| panic!("{}", error.render(Lang::En)))
}

#[test]
fn traces_of_alibaba_biosnoop_and_cloudphysics_are_read() {
    let heading = format!("device_id,opcode,offset,length,timestamp\n{ALIBABA}");
    for text in [ALIBABA, &heading] {
        let trace = trace("a.csv", text);
        let shown: Vec<_> =
            trace.operations.iter().map(|one| (one.at_ns, one.kind, one.length_bytes)).collect();
        let expected =
            [(0, OpKind::Read, 4096), (380_000, OpKind::Write, 77_824), (763_000, OpKind::Read, 4096)];
        assert_eq!(shown, expected);
        assert_eq!((trace.units.len(), trace.operations[0].offset_bytes), (2, 4_096_000));
    }
    let snoop = String::from_utf8(bytes("read/bcc-biosnoop.txt")).unwrap();
    let snooped = trace("a.txt", &snoop);
    assert_eq!((snooped.operations.len(), snooped.units.len()), (15, 3));
    assert!(
        snooped.operations.iter().any(|one| one.offset_bytes == 13_092_560 * 512 && one.length_bytes == 4096)
    );
    let junk = bytes("refused/bcc-biosnoop-junk.txt");
    assert!(read_trace("junk.txt", junk.as_slice(), None).is_err());
    let physics =
        "version,time,op,size,lbn\n1,33898,2a,512,42932745\n1,33899,28,6144,31954535\n1,33899,12,36,0\n";
    let physics = trace("a.csv", physics);
    let shown: Vec<_> =
        physics.operations.iter().map(|one| (one.at_ns, one.kind, one.offset_bytes)).collect();
    let expected = [(0, OpKind::Write, 42_932_745 * 512), (1_000_000_000, OpKind::Read, 31_954_535 * 512)];
    assert_eq!(shown, expected);
}

#[test]
fn an_excerpt_of_blkparse_is_reported_and_damage_is_refused() {
    let line = |number: u32| {
        format!("  8,0    3 {number:8}     0.00000{number} 697  Q   W {} + 8 [kjournald]\n", 8 * number)
    };
    let whole = format!("{}{}", line(1), line(2));
    let third = line(3);
    let cut = &third[..third.find(" + 8").unwrap() + 4];
    for excerpt in
        [format!("{whole}{cut}"), format!("{whole}……\n"), format!("{}{cut}\n...\n{}", line(1), line(2))]
    {
        let trace = trace("a.txt", &excerpt);
        assert_eq!(trace.operations.len(), 2, "{excerpt}");
        assert!(trace.left_out.iter().any(|(_, what)| what.en.contains("excerpt")), "{excerpt}");
    }
    let damaged = format!("{}{cut}\n{}", line(1), line(2));
    assert!(read_trace("a.txt", damaged.as_bytes(), None).is_err());
}

#[test]
fn a_size_of_zero_is_the_whole_target() {
    let source = String::from_utf8(bytes("diskplorer-8-jobs.fio")).unwrap();
    let job = read_fio_job("0002.fio", &source, &NoSurroundings)
        .unwrap_or_else(|error| panic!("{}", error.render(Lang::En)));
    let steps: Vec<_> = job
        .profile
        .steps
        .iter()
        .filter_map(|step| if let Step::Io(step) = step { Some(step) } else { None })
        .collect();
    assert_eq!(steps.len(), 8);
    assert!(steps.iter().all(|step| step.span_bytes.is_none() && step.block_sizes[0].size_bytes == 512));
    assert_eq!(steps.iter().map(|step| step.iodepth).collect::<Vec<_>>(), [2, 2, 2, 2, 2, 2, 2, 1]);
    assert!(
        steps
            .iter()
            .all(|step| step.pattern == Pattern::Permutation && step.end.time_ns == Some(30_000_000_000))
    );
    // A job's own 0 overrides the global size.
    let own = "[global]\nsize=1g\n[a]\nsize=0\nfilename=/dev/x\n";
    let job = read_fio_job("a.fio", own, &NoSurroundings).unwrap();
    assert!(matches!(&job.profile.steps[0], Step::Io(step) if step.span_bytes.is_none()));
}
