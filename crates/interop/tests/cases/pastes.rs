//! Pasted texts that other texts surround, that are cut off or changed, or that hold several runs.

use super::*;

#[rustfmt::skip]
pub(super) const READ: &[Case] = &[
    ("bonnie-first-version.txt", "Bonnie", None, &[
        ("put_block write", Rate, Mean, "10135", 10_135.0 * KIB),
        ("get_block read", Rate, Mean, "17481", 17_481.0 * KIB),
        ("seeks mix", Iops, Mean, "184.7", 184.7),
        ("seeks mix", Share, Mean, "2.5", 0.025),
    ], &[]),
    ("bonnie-without-version.txt", "bonnie++", None, &[
        ("put_block write", Rate, Mean, "312837", 312_837.0 * KIB),
        ("get_block read", Rate, Mean, "415501", 415_501.0 * KIB),
    ], &[]),
    ("cdm-7-ram-disk-and-nvme.txt", "CrystalDiskMark 7.0.0", Some("2020-01-07T08:55:53"), &[
        ("SEQ 1 MiB Q8 T1 read", Rate, Highest, "5585.875", 5585.875e6),
        ("RND 4 KiB Q1 T1 write", Latency, Lowest, "144.81", 144_810.0),
    ], &[]),
    ("dd-german-progress.txt", "dd", None, &[
        ("dd 4 MiB read", Rate, Mean, "107", 107e6),
        ("dd 4 MiB read", Duration, Sum, "10,0023", 10.0023e9),
    ], &[]),
    ("dd-loop-dsync.txt", "dd", None, &[
        ("dd 1 GiB write", Iops, Mean, "1", 1.0 / 5.6),
        ("dd 1 GiB write", Latency, Mean, "5.6", 5.6e9),
    ], &["waited until it was durable"]),
    ("diskspd-total-only.txt", "DiskSpd", None, &[
        ("total", Rate, Mean, "193.35", 193.35 * KIB * KIB),
        ("total", Iops, Mean, "773.40", 773.4),
        ("total", Latency, Mean, "82.740", 82.74e6),
    ], &[]),
    ("elbencho-live-on-stdout.txt", "elbencho", Some("2025-12-17T11:58:08.821-06:00"), &[
        ("READ read", Rate, Highest, "49122", 49_122.0 * KIB * KIB),
    ], &["one report per interval"]),
    ("fio-3.1-etcd-trimmed-spaces.txt", "fio 3.1", Some("2019-06-11T16:44:54"), &[
        ("SEQ 2.25 KiB Q1 T1 · sequential_write_iops_test write", Iops, Mean, "1192", 1192.0),
        ("SEQ 2.25 KiB Q1 T1 · sequential_write_iops_test write", Latency, Percentile(99.0), "2212", 2.212e6),
        ("SEQ 2.25 KiB Q1 T1 · sequential_write_iops_test write", Latency, Highest, "6381.4k", 6.3814e6),
    ], &[]),
    ("fio-dbench-log.txt", "fio 3.1", Some("2020-02-17T11:17:07"), &[
        ("RND 4 KiB Q64 T1 · read_iops read", Iops, Mean, "124k", 124_000.0),
        ("SEQ 1 MiB Q16 T1 · write_seq write", Rate, Mean, "97.6", 97.6 * KIB * KIB),
    ], &["2 of these jobs are single threads of a job", "output of dbench for Kubernetes, not read"]),
    ("fio-in-ansible-log.txt", "fio 3.1", Some("2019-06-11T16:44:54"), &[
        ("a write", Iops, Mean, "1192", 1192.0),
        ("a write", Latency, Mean, "326.48", 326_480.0),
    ], &["in place of line ends"]),
    ("fio-latencies-of-two-runs.txt", "fio", None, &[
        ("fio", Latency, Mean, "315.60", 315_600.0),
        ("fio", Latency, Highest, "24300", 24.3e6),
        ("fio", Latency, Percentile(99.9), "4686", 4.686e6),
    ], &[]),
    ("fio-nan.json", "fio 3.1", Some("2019-06-11T16:00:00Z"), &[
        ("RND 4 KiB T1 · a read", Latency, Mean, "80000.0", 80_000.0),
        ("RND 4 KiB T1 · a read", Latency, Percentile(99.0), "200000", 200_000.0),
    ], &["values that are not numbers"]),
    ("fio-same-job-twice.txt", "fio 3.28", Some("2024-06-11T16:44:54"), &[
        ("RND 4 KiB Q32 T1 · test write", Iops, Mean, "11.9k", 11_900.0),
        ("RND 4 KiB Q32 T1 · test write", Latency, Mean, "2680.48", 2.680_48e6),
    ], &[]),
    ("fio-script-in-form-of-cdm.txt", "unknown", Some("2022-11-02T10:11:12"), &[
        ("SEQ Q32 T1 read", Rate, Unknown, "1523", 1523e6),
        ("RND 4 KiB Q1 T1 write", Iops, Unknown, "27343", 27_343.0),
    ], &["the heading with the tool's name is missing"]),
    ("fio-status-interval.txt", "fio 3.28", Some("2024-06-11T16:44:54"), &[
        ("RND 4 KiB Q16 T1 · test read", Rate, Mean, "314", 314.0 * KIB * KIB),
        ("RND 4 KiB Q16 T1 · test read", Latency, Highest, "9381", 9.381e6),
    ], &["1 intermediate reports"]),
    ("fio-two-commands.txt", "fio", None, &[
        ("SEQ 1 MiB Q1 T1 · fio write", Iops, Mean, "146", 146.0),
        ("SEQ 1 GiB Q1 T1 · fio write", Rate, Mean, "144", 144.0 * KIB * KIB),
    ], &[]),
    ("hdparm-buffer-cache-two-disks.txt", "hdparm", None, &[
        ("buffered disk reads read", Rate, Mean, "5.41", 5.41 * KIB * KIB),
    ], &["come from the computer's memory"]),
    ("hdparm-sentence-end.txt", "hdparm", None, &[
        ("buffered disk reads read", Rate, Mean, "1.36", 1.36 * KIB * KIB),
    ], &["come from the computer's memory"]),
    ("hdtune-and-cdm-5.1.txt", "HD Tune", None, &[
        ("transfer rate read", Rate, Mean, "308.1", 308.1e6),
        ("access time read", Latency, Mean, "0.4", 0.4e6),
    ], &[]),
    ("hdtune-decimal-commas.txt", "HD Tune", None, &[
        ("transfer rate read", Rate, Mean, "145,2", 145.2e6),
        ("access time read", Latency, Mean, "16,2", 16.2e6),
    ], &[]),
    ("ior-highest-alone.txt", "IOR", None, &[
        ("test 0 write", Rate, Highest, "25154.87", 25_154.87 * KIB * KIB),
        ("test 0 read", Rate, Highest, "22659.51", 22_659.51 * KIB * KIB),
    ], &[]),
    ("iostat-cut.json", "iostat", Some("2023-11-21"), &[
        ("sda read", Rate, Mean, "10.00", 10.0 * KIB),
    ], &["is cut off"]),
    ("iostat-device-on-its-own-line.txt", "iostat", Some("2017"), &[
        ("sda write", Rate, Mean, "3.30", 3.3 * KIB * KIB),
        ("sdb all", Latency, Mean, "3.75", 3.75e6),
    ], &["reports that count: 1"]),
    ("iostat-in-json-string.json", "iostat", Some("2022-01-21"), &[
        ("sda read", Rate, Mean, "100.00", 100.0 * KIB),
        ("sdb write", Rate, Mean, "2000.00", 2000.0 * KIB),
    ], &["in place of line ends"]),
    ("iostat-markdown-table.txt", "iostat", None, &[
        ("sda read", Rate, Mean, "100.0", 100.0 * KIB),
        ("sdb all", Latency, Mean, "1.6", 1.6e6),
    ], &["in a table of Markdown"]),
    ("iostat-two-commands.txt", "iostat", None, &[
        ("vda read", Rate, Mean, "1.00", KIB * KIB),
    ], &["single report"]),
    ("iostat-y-after-hdparm.txt", "hdparm", None, &[
        ("buffered disk reads read", Rate, Mean, "151.45", 151.45 * KIB * KIB),
    ], &[]),
    ("iozone-pdsh-two-hosts.txt", "iozone 3.434", None, &[
        ("sequential, file 8388608 kB, record 1024 kB write", Rate, Mean, "812345", 812_345.0 * KIB),
        ("sequential, file 8388608 kB, record 1024 kB read", Rate, Mean, "1456789", 1_456_789.0 * KIB),
    ], &["the output of several hosts"]),
    ("kdiskmark-2.2.1.txt", "KDiskMark 2.2.1", Some("2021-05-03T14:01:41"), &[
        ("SEQ 1 MiB Q8 T1 read", Rate, Mean, "548.281", 548.281 * 1.024e6),
        ("RND 4 KiB Q1 T1 read", Iops, Mean, "6994.3", 6994.3),
    ], &["multiplied by 1.024"]),
    ("pg_test_fsync-two-systems.txt", "pg_test_fsync", None, &[
        ("fdatasync write", Iops, Mean, "329.207", 329.207),
        ("fsync write", Latency, Mean, "3042", 3.042e6),
    ], &["76100.311 writes per second without a sync"]),
    ("rados-negative-minimum.txt", "rados bench", None, &[
        ("rados 4 MiB write", Rate, Mean, "30", 30.0 * KIB * KIB),
        ("rados 4 MiB write", Latency, Lowest, "0.501", 0.501e9),
    ], &["through the network"]),
    ("rados-show-time.txt", "rados bench", None, &[
        ("rados 4 MiB Q128 write", Rate, Mean, "128", 128.0 * KIB * KIB),
        ("rados 4 MiB Q128 write", Duration, Sum, "12.5", 12.5e9),
    ], &[]),
    ("sar-averages-german.txt", "sar", None, &[
        ("dev8-0 write", Rate, Mean, "2340,10", 2340.1 * KIB),
        ("dev8-0 all", Latency, Mean, "3,20", 3.2e6),
    ], &["only the averages of sar"]),
    ("solaris-iostat-after-dd.txt", "dd", None, &[
        ("dd 1 MiB write", Rate, Mean, "208", 208e6),
    ], &["without direct I/O"]),
    ("sysbench-1.0-response-time.txt", "sysbench 1.0", None, &[
        ("RND 16 KiB read", Rate, Mean, "129.05", 129.05 * KIB * KIB),
        ("RND 16 KiB all with fsync", Latency, Highest, "1.98", 1.98e6),
    ], &[]),
    ("sysbench-after-prepare.txt", "sysbench", None, &[
        ("fileio read", Rate, Mean, "6.92", 6.92 * KIB * KIB),
        ("fileio write", Rate, Mean, "4.61", 4.61 * KIB * KIB),
    ], &[]),
    ("yabs-bars-around-heading.txt", "YABS", None, &[
        ("RND 4 KiB Q64 T2 50 % read read", Iops, Mean, "35.5k", 35_500.0),
        ("RND 1 MiB Q64 T2 50 % read write", Iops, Mean, "3.9k", 3900.0),
    ], &[]),
    ("yabs-in-ecs.txt", "YABS", None, &[
        ("RND 4 KiB Q64 T2 50 % read read", Rate, Mean, "117.62", 117.62 * 1.024e6),
        ("RND 1 MiB Q64 T2 50 % read write", Iops, Mean, "2.4k", 2400.0),
    ], &["output of a table of dd runs"]),
    ("zpool-iostat-cache-devices.txt", "zpool iostat", None, &[
        ("august write", Rate, Mean, "134K", 134.0 * KIB),
        ("cache/gpt/duracell read", Rate, Mean, "0", 0.0),
    ], &["reports that count: 1"]),
    ("zpool-iostat-fenced-heading.txt", "zpool iostat", None, &[
        ("pdata write", Iops, Mean, "196", 196.0),
        ("pdata write", Rate, Mean, "16.7M", 16.7 * KIB * KIB),
    ], &["single report"]),
    ("zpool-iostat-y-latencies.txt", "zpool iostat", None, &[
        ("data3 read", Rate, Mean, "1.32G", 1.32 * KIB * KIB * KIB),
        ("data3 read", Latency, Mean, "6ms", 6e6),
    ], &["powers of 1024"]),
];

/// Files with several runs: the tool and the first figure of each.
pub(super) const SEVERAL: &[(&str, &[(&str, &str)])] = &[
    ("bonnie-first-version.txt", &[("Bonnie", "3616"), ("Bonnie", "3647"), ("Bonnie", "3593")]),
    ("bonnie-without-version.txt", &[("bonnie++", "93865"), ("bonnie++", "52144")]),
    ("cdm-7-ram-disk-and-nvme.txt", &[("CrystalDiskMark", "5585.875"), ("CrystalDiskMark", "2585.875")]),
    ("fio-same-job-twice.txt", &[("fio", "46.5"), ("fio", "31.3")]),
    ("fio-status-interval.txt", &[("fio", "314")]),
    ("hdparm-sentence-end.txt", &[("hdparm", "1120.07"), ("hdparm", "1100.60")]),
    ("hdtune-and-cdm-5.1.txt", &[("HD Tune", "308.1"), ("CrystalDiskMark", "554.872"), ("HD Tune", "113.4")]),
    ("iostat-two-commands.txt", &[("iostat", "1.00"), ("iostat", "3.00")]),
    ("iostat-y-after-hdparm.txt", &[("hdparm", "151.45"), ("iostat", "100.00")]),
    ("iozone-pdsh-two-hosts.txt", &[("iozone", "812345"), ("iozone", "712345")]),
    ("pg_test_fsync-two-systems.txt", &[("pg_test_fsync", "329.207"), ("pg_test_fsync", "6676.001")]),
    ("solaris-iostat-after-dd.txt", &[("dd", "208"), ("iostat", "0.0")]),
    ("sysbench-after-prepare.txt", &[("sysbench", "6.92"), ("dd", "1.3")]),
];

pub(super) const REFUSED: &[(&str, &[&str])] = &[
    ("atto.txt", &["the output of ATTO Disk Benchmark"]),
    ("bench-sh.txt", &["the output of a table of dd runs"]),
    ("blkparse-summary.txt", &["the output of the summary of blkparse", "totals of a trace"]),
    ("bonnie-table-of-a-person.txt", &["bonnie++ table: no line such as"]),
    ("esxtop.txt", &["the output of esxtop", "iostat -x 1"]),
    ("ezfio.txt", &["the output of ezFIO"]),
    ("f3-progress.txt", &["the output of F3"]),
    ("fio-progress.txt", &["fio's progress line", "not its result"]),
    ("freebsd-iostat-Ix.txt", &["the output of iostat -I or -o of BSD"]),
    ("iozone-diagnostic-mode.txt", &["invalid in this mode"]),
    ("seeker.txt", &["the output of Seeker"]),
    ("vdbench.txt", &["the output of vdbench"]),
    ("winsat.txt", &["the output of winsat"]),
];

#[test]
fn every_run_of_a_paste_is_read() {
    for (name, expected) in SEVERAL {
        let runs = runs(name);
        let of = |run: &ImportedRun| {
            let first = run.cells[0].imported.as_ref().unwrap().figures[0].printed.clone();
            (run.origin.tool.clone(), first)
        };
        let expected: Vec<(String, String)> =
            expected.iter().map(|(tool, first)| ((*tool).to_owned(), (*first).to_owned())).collect();
        assert_eq!(runs.iter().map(of).collect::<Vec<_>>(), expected, "{name}");
    }
    // The command above a result says that iostat left the time since boot out.
    let iostat = &runs("iostat-y-after-hdparm.txt")[1];
    assert_eq!(cell(iostat, "sda read").series[0].points.len(), 2);
    assert_eq!(runs("iozone-pdsh-two-hosts.txt")[1].origin.facts["host"], "oss2");
}

#[test]
fn words_below_a_table_do_not_refuse_it() {
    let table = String::from_utf8(bytes("read/zpool-iostat-y-latencies.txt")).unwrap();
    let text = format!("{table}\nAs you can see, 5 of 12 disks are slow, and 3 have errors.\n");
    assert_eq!(
        import("a.txt", text.as_bytes()).unwrap()[0].cells,
        runs("zpool-iostat-y-latencies.txt")[0].cells
    );
    let cut = table.replace("13.2K      0  1.32G", "13.2K  1.32G");
    assert!(import("a.txt", cut.as_bytes()).is_err());
}

#[test]
fn rows_of_a_pool_that_lost_their_line_ends_are_separate() {
    let head = "               capacity     operations    bandwidth\n\
                pool        alloc   free   read  write   read  write\n";
    let rows = [
        "10  13.7K  41.5K  55.3M",
        "0  63.5K      0   244M",
        "0  11.2K      0  43.3M",
        "0  64.5K      0   250M",
    ];
    let rows = rows.map(|row| format!("T           17.2T   103T      {row}"));
    let separate = format!("{head}{}\n", rows.join("\n"));
    let glued = format!("{head}{}\n{}\n{}      {}\n", rows[0], rows[1], rows[2], rows[3]);
    let read = |text: &str| import("a.txt", text.as_bytes()).unwrap().remove(0);
    assert_eq!(read(&glued).cells, read(&separate).cells);
    assert_eq!(figure(cell(&read(&glued), "T write"), Rate, Highest).printed, "250M");
}
