//! The sentence that summarizes a run, for models, real targets, imports and failures: the text it
//! must and must not contain. All sentences are listed in `first_sentences.txt`;
//! `KURABE_WRITE_DOCS=1` writes it.

use crate::explain::blind::{measured_on, model, without_account};
use kurabe_core::environment::{BlockDevice, Environment, FileSystem, Link};
use kurabe_core::record::{Cell, Measure, RunRecord, RunStatus};
use kurabe_core::workload::{Arrival, Direction, EndSync, OpenLoop, SyncRule};
use kurabe_core::{Lang, Text};
use kurabe_profile::profile_named;
use kurabe_report::Assessment;
use kurabe_testkit::ssd;
use std::fmt::Write;

/// A run with the text that its sentence must contain, in English and Japanese, and the text that
/// it must not.
struct Case {
    name: &'static str,
    run: RunRecord,
    must: &'static [&'static str],
    must_not: &'static [&'static str],
}

fn case(
    name: &'static str,
    run: RunRecord,
    must: &'static [&'static str],
    must_not: &'static [&'static str],
) -> Case {
    Case { name, run, must, must_not }
}

/// Text that no sentence contains: unidiomatic phrases, and judgements without evidence.
const NEVER: &[&str] = &[
    "no use is ruled out",
    "held back",
    "sure to",
    "known to",
    "stalls for",
    "freezes",
    "不向きな用途は見当たらない",
    "停滞",
    "しか分からない",
    "操作数",
];

/// Returns a run of the profile `quick` on a model, with a quarter of its repetitions.
fn quick(device: &str) -> RunRecord {
    let mut profile = profile_named("quick").unwrap();
    profile.rules.runs = 3;
    measured_on(model(device), &profile)
}

/// Returns the same run as if on a real drive with the same connection.
fn real(device: &str) -> RunRecord {
    without_account(quick(device))
}

/// Returns a run of a profile on a model.
fn with_profile(device: &str, profile: &str) -> RunRecord {
    let mut profile = profile_named(profile).unwrap();
    profile.rules.runs = profile.rules.runs.min(3);
    profile.rules.size_bytes = profile.rules.size_bytes.min(256 << 20);
    measured_on(model(device), &profile)
}

/// Returns the run of an NVMe SSD, modified.
fn changed(change: impl FnOnce(&mut RunRecord)) -> RunRecord {
    let mut run = ssd::run();
    change(&mut run);
    run
}

fn on_device(link: Link) -> Environment {
    let device = BlockDevice { name: "sdx".to_owned(), link: Some(link), ..BlockDevice::default() };
    Environment { devices: vec![device], ..Environment::default() }
}

/// Returns a run imported from the text of CrystalDiskMark 8: reads and writes of its default tests
/// in MB/s.
fn crystal_disk_mark(read: [f64; 4], write: [f64; 4]) -> RunRecord {
    const TESTS: [(&str, f64); 4] = [
        ("SEQ    1MiB (Q=  8, T= 1)", 1e6),
        ("SEQ    1MiB (Q=  1, T= 1)", 1e6),
        ("RND    4KiB (Q= 32, T= 1)", 4096.0),
        ("RND    4KiB (Q=  1, T= 1)", 4096.0),
    ];
    let lines = |rates: [f64; 4]| {
        TESTS.iter().zip(rates).fold(String::new(), |mut lines, ((test, _), rate)| {
            let _ = writeln!(lines, "  {test}: {rate:9.3} MB/s");
            lines
        })
    };
    let text = format!(
        "CrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo\n\n[Read]\n{}\n[Write]\n{}\n\
         Profile: Default\n   Test: 1 GiB (x5) [D: 1% (1/100GiB)]\n",
        lines(read),
        lines(write)
    );
    imported("cdm.txt", &text)
}

fn imported(name: &str, text: &str) -> RunRecord {
    let mut runs = kurabe_interop::import(name, text.as_bytes()).unwrap();
    runs.remove(0).into_record("0.0.0", "2026-01-01T00:00:00Z", &[])
}

/// Makes all writes of a run wait for the medium one at a time.
fn flushed(run: &mut RunRecord) {
    for cell in run.cells.iter_mut().filter(|cell| cell.direction == Some(Direction::Write)) {
        let workload = cell.workload.as_mut().unwrap();
        workload.sync = SyncRule { every_writes: Some(1), at_end: EndSync::default(), ..SyncRule::default() };
    }
}

/// Sets every stall of a run to this length, with one operation in flight.
fn paused(run: &mut RunRecord, length_ns: u64) {
    for cell in &mut run.cells {
        cell.workload.as_mut().unwrap().iodepth = 1;
        for stall in cell.repetitions.iter_mut().flat_map(|one| &mut one.stalls) {
            (stall.length_ns, stall.longest_ns) = (length_ns, length_ns);
        }
    }
}

fn flash() -> Vec<Case> {
    vec![
        case(
            "SATA SSD",
            quick("samsung-870-evo"),
            &["SATA SSD (model)", "SATA SSD(モデル)"],
            &["QLC", "slower"],
        ),
        case("SATA SSD, QLC", quick("samsung-870-qvo"), &["SATA SSD (model)", "QLC", "42 GB"], &["steady"]),
        case("SATA SSD of 2009", quick("toshiba-hg2-agya0201"), &["Slower than a SATA SSD", "遅い"], &[]),
        case(
            "SATA SSD of 2008",
            quick("ocz-core-v2"),
            &["random writes only", "ランダム書き込みは"],
            &["memory", "cache"],
        ),
        case(
            "PCIe 3, without DRAM",
            quick("samsung-980"),
            &["NVMe SSD on PCIe 3", "without DRAM", "DRAM なし"],
            &["steady"],
        ),
        case("PCIe 3, QLC", quick("crucial-p1"), &["QLC", "140 GB"], &[]),
        case("PCIe 4", quick("samsung-990-pro"), &["NVMe SSD on PCIe 4", "PCIe 4.0 の NVMe SSD"], &["DRAM"]),
        case("PCIe 5", quick("samsung-9100-pro"), &["NVMe SSD on PCIe 5 (model)", "MB/s"], &["usual"]),
        case("server SSD", quick("samsung-pm963"), &["server SSD", "サーバー向け SSD"], &["PCIe"]),
        case("Optane", quick("intel-optane-p4800x"), &["Optane SSD"], &["NVMe SSD on", "memory"]),
    ]
}

fn disks_and_others() -> Vec<Case> {
    vec![
        case(
            "hard disk of 2013",
            quick("wd-red-3tb"),
            &["hard disk (model)", "ハードディスク(モデル)"],
            &["lower", "faster"],
        ),
        case("hard disk of 2009", quick("hua722020-sata"), &["hard disk"], &["lower than", "遅い"]),
        case("nearline disk", quick("seagate-exos-x18"), &["hard disk"], &["lower", "SMR"]),
        case(
            "SMR disk",
            quick("seagate-archive-8tb"),
            &["SMR hard disk", "20 GB media cache", "20 GB のメディアキャッシュ"],
            &["s fast as", "steady"],
        ),
        case(
            "SMR disk, 2.5 inches",
            quick("seagate-barracuda-2tb-25"),
            &["SMR hard disk"],
            &["s fast as", "steady"],
        ),
        case("USB stick", quick("samsung-fit-plus-exfat"), &["USB 3"], &["SSD"]),
        case("SD card", quick("sandisk-extreme-a1-sd"), &["SD card", "SD カード"], &["eMMC"]),
        case("eMMC", quick("asus-c201-emmc"), &["eMMC"], &["SD card", "SD カード"]),
        case(
            "EBS gp3",
            quick("ebs-gp3"),
            &["cloud volume", "3,000 IOPS", "クラウドボリューム"],
            &["too slow", "遅すぎる"],
        ),
        case("EBS gp2", quick("ebs-gp2"), &["burst credits", "300 IOPS"], &["too slow"]),
        case("PD balanced", quick("google-pd-balanced"), &["6,000 IOPS"], &["too slow"]),
        case(
            "RAM disk",
            quick("ideal-ram-disk"),
            &["This is memory (model), not a drive", "メモリー"],
            &["SSD"],
        ),
        case("RAID-Z2", quick("raidz2-6"), &["writes into memory", "メモリーへの書き込み"], &["steady"]),
        case("RAID card", quick("raid-9260"), &["By the model", "モデルの計算値"], &["SATA SSD"]),
        case("SCSI emulator", quick("rascsi"), &["By the model"], &["video", "動画"]),
        case("MO drive", quick("fujitsu-mcd3130ss-1300"), &["By the model"], &["video", "as fast as"]),
        case(
            "GNOME Disks on a disk",
            with_profile("wd-red-3tb", "gnome-disks"),
            &["access time", "アクセス時間"],
            &[],
        ),
        case(
            "uses, with flushes",
            with_profile("samsung-870-evo", "uses"),
            &["SATA SSD"],
            &["sequential writes ("],
        ),
    ]
}

fn real_targets() -> Vec<Case> {
    vec![
        case("a real SATA SSD", real("samsung-870-evo"), &["SATA SSD", "steady"], &["model", "モデル"]),
        case("a real hard disk", real("wd-red-3tb"), &["hard disk"], &["model", "lower than"]),
        case("a real SD card", real("samsung-evo-plus-sd"), &["SD card"], &["model"]),
        case("a real cloud volume", real("ebs-gp3"), &["cloud volume"], &["too slow", "PCIe"]),
        case(
            "tmpfs",
            changed(|run| {
                let file_system = FileSystem { kind: Some("tmpfs".to_owned()), ..FileSystem::default() };
                run.header.environment =
                    Environment { file_system: Some(file_system), ..on_device(Link::Memory) };
            }),
            &["This is memory (tmpfs), not a drive: reads up to", "ドライブではなくメモリー(tmpfs)"],
            &["NVMe", "steady", "pauses"],
        ),
        case(
            "a loop device on a buffered file",
            changed(|run| {
                run.header.environment = on_device(Link::Loop { backing: None, direct: Some(false) });
            }),
            &["This is a loop device on the page cache, not a drive", "ページキャッシュ上の loop デバイス"],
            &["NVMe"],
        ),
    ]
}

fn doubtful_runs() -> Vec<Case> {
    let unsteady = |run: &mut RunRecord| paused(run, 2_100_000_000);
    vec![
        case(
            "the page cache",
            changed(|run| {
                run.header.target.as_mut().unwrap().direct = false;
                for one in run.cells.iter_mut().flat_map(|cell| &mut cell.repetitions) {
                    let faster = |bytes: &mut u64| *bytes = bytes.saturating_mul(10_000);
                    one.generator_bound = false;
                    faster(&mut one.read.bytes);
                    faster(&mut one.write.bytes);
                }
            }),
            &["This is the page cache, not a drive", "ページキャッシュ"],
            &["NVMe"],
        ),
        case(
            "a run that failed",
            changed(|run| {
                run.status = RunStatus::Failed;
                run.cells.truncate(3);
            }),
            &["ncomplete", "failed in test 3", "エラー"],
            &["NVMe", "steady"],
        ),
        case(
            "a run that failed at once",
            changed(|run| {
                run.status = RunStatus::Failed;
                run.cells.clear();
            }),
            &["failed before a test was complete"],
            &["NVMe"],
        ),
        case(
            "an SSD that pauses",
            changed(unsteady),
            &["pauses of up to 2.10 s", "最長 2.10 s の停止"],
            &["steady", "安定"],
        ),
        case("flushed writes", changed(flushed), &["NVMe"], &["equential writes (", "steady"]),
        case(
            "an offered rate",
            changed(|run| {
                for cell in &mut run.cells {
                    let workload = cell.workload.as_mut().unwrap();
                    workload.open_loop = Some(OpenLoop { rate_iops: 300.0, arrival: Arrival::Even });
                }
            }),
            &["offered rate of 300 IOPS", "300 IOPS の負荷"],
            &["up to", "s fast as"],
        ),
        case(
            "durations alone",
            changed(|run| {
                run.cells.truncate(1);
                let cell: &mut Cell = &mut run.cells[0];
                (cell.measure, cell.direction, cell.workload) = (Measure::Duration, None, None);
                cell.label = "git pull".to_owned();
            }),
            &["git pull"],
            &["up to"],
        ),
    ]
}

fn imports() -> Vec<Case> {
    vec![
        case(
            "CrystalDiskMark, SATA SSD",
            crystal_disk_mark([555.0, 530.0, 390.0, 40.0], [520.0, 500.0, 340.0, 100.0]),
            &["As fast as a SATA SSD", "SATA SSD 並みの速さ"],
            &["model", "printed", "memory"],
        ),
        case(
            "CrystalDiskMark, hard disk",
            crystal_disk_mark([205.0, 201.0, 1.5, 0.63], [203.0, 200.0, 1.4, 1.2]),
            &["hard disk"],
            &["SSD", "memory"],
        ),
        case(
            "CrystalDiskMark, RAM disk",
            crystal_disk_mark([9800.0, 7900.0, 1900.0, 1700.0], [12000.0, 9000.0, 1700.0, 1500.0]),
            &["This is memory, not a drive: reads up to 9,800.0 MB/s", "ドライブではなくメモリー"],
            &["NVMe"],
        ),
        case(
            "CrystalDiskMark, reads from a cache",
            crystal_disk_mark([5820.0, 4400.0, 980.0, 790.0], [11.3, 10.9, 0.5, 0.4]),
            &["perhaps answered by a cache", "キャッシュの速度の可能性"],
            &["NVMe"],
        ),
        case(
            "iozone through the page cache",
            imported(
                "iozone.txt",
                "Command line used: iozone -i 0 -i 8 -t 1 -s 4m\nOutput is in Kbytes/sec\n\
                 Throughput test with 1 process\n\
                 Children see throughput for  1 initial writers  =  277843.78 KB/sec\n\
                 Parent sees throughput for  1 initial writers   =   10234.10 KB/sec\n",
            ),
            &["page cache"],
            &["SSD", "Slower", "s fast as"],
        ),
    ]
}

/// Checks the cases, and returns their sentences for the list.
fn checked(cases: &[Case]) -> String {
    let mut list = String::new();
    let mut wrong = Vec::new();
    for Case { name, run, must, must_not } in cases {
        let Some(Assessment { sentence, .. }) = Assessment::of(run) else {
            wrong.push(format!("{name}: no sentence"));
            continue;
        };
        let Text { en, ja, .. } = &sentence;
        let all = format!("{en} {ja}");
        wrong.extend(
            must.iter()
                .filter(|words| !all.contains(**words))
                .map(|words| format!("{name}: no `{words}` in {all}")),
        );
        let never = must_not.iter().chain(NEVER);
        wrong.extend(
            never.filter(|words| all.contains(**words)).map(|words| format!("{name}: `{words}` in {all}")),
        );
        let words = en.split_whitespace().count();
        if words > 25 {
            wrong.push(format!("{name}: {words} words: {en}"));
        }
        let _ = writeln!(list, "{name}\n    {}\n    {}", sentence.line(Lang::En), sentence.line(Lang::Ja));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    list
}

#[test]
fn every_first_sentence_says_what_an_expert_would() {
    let cases: Vec<Case> = [flash(), disks_and_others(), real_targets(), doubtful_runs(), imports()]
        .into_iter()
        .flatten()
        .collect();
    assert!(cases.len() >= 40, "{}", cases.len());
    let list = checked(&cases);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rooms/first_sentences.txt");
    if std::env::var_os("KURABE_WRITE_DOCS").is_some() {
        std::fs::write(path, &list).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(path).unwrap_or_default(),
        list,
        "KURABE_WRITE_DOCS=1 writes the list"
    );
}
