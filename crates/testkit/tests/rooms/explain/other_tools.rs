//! Limits of records of other tools.
//!
//! A record of another tool can show only where the operations spent their time: in the device, in
//! a queue before it, in the programs, in a flush, in memory, or on the connection. Each text below has
//! one such answer, which its numbers were made for, or none. The answer is right, vague (nothing is
//! named) or wrong, and firmly wrong if it leaves no doubt. Results of modelled devices in fio's form
//! are compared with the models' own accounts.

use crate::explain::blind::{measured_on, model, profile, take_time};
use Place::*;
use kurabe_core::Lang;
use kurabe_core::environment::{BlockDevice, Link};
use kurabe_core::record::RunRecord;
use kurabe_explain::{CellLimit, LimitKind, Strength, limits, limits_from_outside};
use kurabe_interop::{ExportFormat, export, import};

/// Where operations spent most of their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Device,
    Queue,
    Programs,
    Flush,
    Memory,
    Connection,
    /// The record does not show it.
    Open,
}

fn place(kind: LimitKind) -> Place {
    match kind {
        LimitKind::Unknown => Open,
        LimitKind::HostMemory => Memory,
        LimitKind::Host | LimitKind::Generator => Programs,
        LimitKind::Saturated => Queue,
        LimitKind::Flush => Flush,
        LimitKind::Link => Connection,
        _ => Device,
    }
}

fn record(text: &str) -> RunRecord {
    let run =
        import("a.txt", text.as_bytes()).unwrap_or_else(|error| panic!("{}\n{text}", error.render(Lang::En)));
    run.into_iter().next().unwrap().into_record("0.0.0", "2026-01-01T00:00:00Z", &[])
}

fn iostat(rows: [&str; 3]) -> String {
    let heading = "Device r/s rkB/s r_await w/s wkB/s w_await f/s f_await aqu-sz %util\n";
    rows.map(|row| format!("{heading}sda {row}\n\n")).concat()
}

fn zpool(row: &str) -> String {
    let pairs = "read  write   ".repeat(6);
    format!(
        "              capacity     operations     bandwidth    total_wait     disk_wait    syncq_wait    \
         asyncq_wait  scrub   trim\n\
         pool        alloc   free   {pairs}wait   wait\n----------  -----  -----\n\
         tank        1.34T   947G    120    239  2.84M  39.9M  {row}   52ms      -\n"
    )
}

fn fio(options: &str, [slat, clat]: [u64; 2], spread: &str, sync: &str) -> String {
    let mean = slat + clat;
    let iops = 1e9 / mean as f64;
    let rw = if options.contains("write") { "write" } else { "read" };
    format!(
        "{{\"fio version\":\"fio-3.33\",\"disk_util\":[],\"jobs\":[{{\"jobname\":\"a\",\"error\":0,\
         \"job options\":{{{options}}},\"{rw}\":{{\"io_bytes\":409600000,\"io_kbytes\":400000,\
         \"bw_bytes\":{},\"iops\":{iops},\"runtime\":10000,\"total_ios\":100000,\
         \"slat_ns\":{{\"min\":{},\"max\":{},\"mean\":{slat},\"stddev\":1,\"N\":100000}},\
         \"clat_ns\":{{\"min\":{},\"max\":{},\"mean\":{clat},\"stddev\":1,\"N\":100000{spread}}},\
         \"lat_ns\":{{\"min\":{},\"max\":{},\"mean\":{mean},\"stddev\":1,\"N\":100000}}}}{sync}}}]}}\n",
        (iops * 4096.0) as u64,
        slat / 2,
        slat * 4,
        clat / 2,
        clat * 4,
        mean / 2,
        mean * 4,
    )
}

const DIRECT: &str = "\"rw\":\"randread\",\"bs\":\"4k\",\"iodepth\":\"1\",\"direct\":\"1\"";
const SYNCED: &str = "\"rw\":\"write\",\"bs\":\"4k\",\"direct\":\"1\",\"fsync\":\"1\"";
const DSYNC: &str = "\"rw\":\"write\",\"bs\":\"4k\",\"direct\":\"1\",\"sync\":\"dsync\"";
const BUFFERED: &str = "\"rw\":\"randread\",\"bs\":\"4k\",\"iodepth\":\"1\"";
const SYNC: &str = ",\"sync\":{\"total_ios\":100000,\"lat_ns\":{\"min\":100,\"max\":9000000,\"mean\":3000000,\
    \"stddev\":1,\"N\":100000}}";
const SCATTERED: &str =
    ",\"percentile\":{\"10.000000\":6000000,\"50.000000\":11000000,\"90.000000\":16000000}";

/// Texts of tools, the label and the part of the examined cell, and where its time was spent.
fn cases() -> Vec<(String, &'static str, Place)> {
    let btt = |share: f64| {
        format!(
            "ALL           MIN           AVG           MAX           N\n\
             Q2C               0.000100000   0.010000000   0.100000000        7557\n\
             I2D               0.000000500   0.000001000   0.100000000        7557\n\
             D2C               0.000050000   {:.9}   0.090000000        7557\n\n\
             DEV |       Q2G       G2I       Q2M       I2D       D2C\n\
             Overall |   0.0100%   0.0100%   0.0000%  {:.4}%  {share:.4}%\n",
            share / 1e4,
            99.98 - share
        )
    };
    let snoop = |queue: &str| {
        let heading = "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  QUE(ms) LAT(ms)\n";
        let row = |second: u32| {
            format!(
                "0.{second}00000    fio            9      sda     R {}   4096   {queue}   6.50\n",
                second * 8
            )
        };
        format!("{heading}{}{}{}", row(1), row(2), row(3))
    };
    let idle = "0 0 0 0 0 0 0 0 0 0";
    vec![
        (btt(99.97), "Q2C", Device),
        (btt(99.97), "D2C", Device),
        (btt(99.97), "I2D", Device),
        (btt(20.0), "I2D", Queue),
        (btt(20.0), "Q2C", Queue),
        (snoop("0.02"), "sda", Device),
        (snoop("25.10"), "sda", Queue),
        (iostat([idle, "210 840 4.7 0 0 0 0 0 0.99 99.8", "40 160 4.1 0 0 0 0 0 0.16 16.2"]), "sda", Device),
        (iostat([idle, "9000 36000 1.1 0 0 0 0 0 31.2 100.0", idle]), "sda", Device),
        (
            iostat([idle, "0 0 0 22 88 0.2 22 38.0 0.85 84.1", "0 0 0 20 80 0.2 20 39.0 0.8 79.0"]),
            "sda",
            Flush,
        ),
        (
            iostat([idle, "300 1200 0.1 0 0 0 0 0 0.03 3.4", "310 1240 0.1 0 0 0 0 0 0.03 3.5"]),
            "sda",
            Programs,
        ),
        (iostat([idle, "0 0 0 900 3600 0.7 0 0 0.6 70.0", idle]), "sda", Open),
        (
            iostat([idle, "5 20 0.3 0 0 0 0 0 0.0 0.3", idle])
                .lines()
                .take(2)
                .map(|line| format!("{line}\n"))
                .collect(),
            "sda",
            Open,
        ),
        (zpool(" 30ms    7ms   29ms    6ms    1us    1us    4us    1ms"), "tank", Device),
        (zpool(" 30ms   95ms    9ms   12ms   20ms    1us    4us   82ms"), "tank", Queue),
        (fio(DIRECT, [2_000, 90_000], "", ""), "RND", Device),
        (fio(DIRECT, [2_000, 11_000_000], SCATTERED, ""), "RND", Device),
        (fio(DIRECT, [80_000, 20_000], "", ""), "RND", Programs),
        (fio(SYNCED, [2_000, 400_000], "", SYNC), "SEQ", Flush),
        (fio(DSYNC, [2_000, 4_000_000], "", ""), "SEQ", Flush),
        (fio(BUFFERED, [200, 900], "", ""), "RND", Memory),
        (fio(BUFFERED, [200, 90_000], "", ""), "RND", Open),
    ]
}

#[test]
fn records_of_other_tools_have_reasons_and_none_is_firmly_wrong() {
    let (mut right, mut with_answer) = (0, 0);
    for (text, label, truth) in cases() {
        let record = record(&text);
        let limits = limits_from_outside(&record);
        let limit = limits.iter().find(|limit| limit.label.starts_with(label)).expect("a cell");
        let named = place(limit.limit.kind);
        let is_wrong = named != Open && named != truth;
        assert!(!is_wrong || limit.limit.strength < Strength::Strong, "firmly wrong: {limit:#?}\n{text}");
        assert!(!is_wrong || truth != Open, "the record does not show this: {limit:#?}\n{text}");
        assert!(named == Open || !limit.limit.evidence.ja.is_empty(), "{limit:#?}");
        with_answer += usize::from(truth != Open);
        right += usize::from(named == truth && truth != Open);
    }
    assert!(right * 10 >= with_answer * 9, "{right} of {with_answer}");
}

#[test]
fn two_waits_of_zfs_of_the_same_length_are_both_named() {
    let record = record(&zpool(" 30ms    7ms   29ms    3ms    1us    1us    4us    3ms"));
    let write = limits(&record).into_iter().find(|limit| limit.part == "write").expect("writes");
    assert_eq!((write.limit.kind, write.limit.strength), (LimitKind::Shared, Strength::Likely), "{write:?}");
    assert!(write.limit.sentence.en.contains("asynchronous"), "{write:?}");
}

#[test]
fn a_drive_at_its_link_is_limited_by_it() {
    let mut record = record(
        "dd if=/dev/sda of=/dev/null bs=1M iflag=direct\n1000+0 records in\n1000+0 records out\n\
        1048576000 bytes (1.0 GB) copied, 3.7 s, 283 MB/s\n",
    );
    assert_eq!(limits(&record)[0].limit.kind, LimitKind::Unknown);
    let link = Link::Sata { speed_gbit_per_s: Some(3.0), speed_max_gbit_per_s: Some(6.0), ncq_depth: None };
    record.header.environment.devices = vec![BlockDevice { link: Some(link), ..BlockDevice::default() }];
    let limit = &limits(&record)[0].limit;
    assert_eq!(limit.kind, LimitKind::Link, "{limit:?}");
    assert!(limit.next.as_ref().is_some_and(|next| next.en.contains("faster port")), "{limit:?}");
}

#[test]
fn models_in_the_form_of_fio_have_the_reason_of_their_account() {
    let (mut right, mut cells) = (0, 0);
    for device in ["wd-red-3tb", "samsung-990-pro", "ssd-sata", "sandisk-extreme-a1-sd"] {
        let mut profile = profile("quick", None);
        take_time(&mut profile, 200_000_000);
        let modelled = measured_on(model(device), &profile);
        let json = export(std::slice::from_ref(&modelled), ExportFormat::FioJson, Lang::En).unwrap();
        let imported = record(&json);
        let own: Vec<CellLimit> = limits(&modelled);
        for limit in limits_from_outside(&imported) {
            let truth = own.iter().find(|own| limit.label.ends_with(&own.label) && own.part == limit.part);
            let Some(truth) = truth else { continue };
            // A record of another tool doesn't separate the transfer on the connection from the device.
            let truth = match place(truth.limit.kind) {
                Connection => Device,
                other => other,
            };
            let named = place(limit.limit.kind);
            cells += 1;
            right += usize::from(named == truth);
            let is_wrong = named != Open && named != truth;
            assert!(!is_wrong || limit.limit.strength < Strength::Strong, "{device}: {limit:#?}");
        }
    }
    assert!(cells >= 20 && right * 10 >= cells * 6, "{right} of {cells}");
}
