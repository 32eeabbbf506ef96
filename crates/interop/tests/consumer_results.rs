//! Import of results of consumer tools: exact figures of every version and format.

use kurabe_core::imported::{FigureOf, ImportedCell, PrintedFigure, PrintedStatistic, Quantity, SeriesAxis};
use kurabe_core::record::{Cell, Measure};
use kurabe_core::workload::Direction;
use kurabe_interop::{ImportedRun, import};
use std::path::Path;

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/consumer").join(name)).unwrap()
}

fn runs(name: &str) -> Vec<ImportedRun> {
    import(name, &bytes(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn run(name: &str) -> ImportedRun {
    let mut runs = runs(name);
    assert_eq!(runs.len(), 1, "{name}");
    runs.remove(0)
}

fn imported(cell: &Cell) -> &ImportedCell {
    cell.imported.as_ref().unwrap()
}

fn figure(cell: &Cell, quantity: Quantity, statistic: PrintedStatistic) -> &PrintedFigure {
    let is_asked = |figure: &&PrintedFigure| figure.quantity == quantity && figure.statistic == statistic;
    imported(cell).figures.iter().find(is_asked).unwrap_or_else(|| panic!("{cell:#?}"))
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() <= expected.abs() * 1e-12, "{value} is not {expected}");
}

/// Returns direction, label, printed rate, printed IOPS and printed latency of every cell.
fn table(run: &ImportedRun) -> Vec<String> {
    run.cells
        .iter()
        .map(|cell| {
            let printed: Vec<&str> =
                imported(cell).figures.iter().map(|figure| figure.printed.as_str()).collect();
            let direction = cell.direction.map_or("-", Direction::word);
            format!("{direction} {} | {}", cell.label, printed.join(" "))
        })
        .collect()
}

fn fact<'a>(run: &'a ImportedRun, key: &str) -> Option<&'a str> {
    run.origin.facts.get(key).map(String::as_str)
}

#[test]
fn cdm_3_is_read() {
    let run = run("cdm-3.0.1.txt");
    assert_eq!(
        table(&run),
        [
            "read SEQ | 211.347",
            "write SEQ | 98.206",
            "read RND 512 KiB | 156.902",
            "write RND 512 KiB | 97.114",
            "read RND 4 KiB Q1 | 14.875 3631.6",
            "write RND 4 KiB Q1 | 33.250 8117.7",
            "read RND 4 KiB Q32 | 121.401 29638.9",
            "write RND 4 KiB Q32 | 41.722 10186.0",
        ]
    );
    assert_eq!(run.origin.tool_name(), "CrystalDiskMark 3.0.1");
    assert_eq!(run.origin.profile.as_deref(), Some("cdm-3"));
    assert_eq!(run.origin.measured_at.as_deref(), Some("2012-02-15T08:39:27"));
    assert_eq!(run.origin.target.as_deref(), Some("C:"));
    assert_eq!(fact(&run, "Drive"), Some("C: 33.0% (39.3/119.1 GB)"));
    assert_eq!(fact(&run, "Edition"), Some("x64"));
    assert_eq!(fact(&run, "Comment"), None);
    assert_eq!(run.origin.procedure.as_deref(), Some("1000 MB (x5)"));
    let os = "Windows 7 Ultimate Edition SP1 [6.1 Build 7601] (x64)";
    assert_eq!(run.environment.machine.os.as_deref(), Some(os));
    let cell = &run.cells[7];
    assert_eq!((cell.index, cell.step_index, cell.part.as_str()), (7, 3, "write"));
    let imported_cell = imported(cell);
    assert_eq!(
        (imported_cell.runs, imported_cell.block_bytes, imported_cell.iodepth, imported_cell.threads),
        (Some(5), Some(4096), Some(32), None)
    );
    assert_eq!((imported_cell.sequential, imported_cell.read_percent), (Some(false), None));
    near(figure(cell, Quantity::Rate, PrintedStatistic::Highest).value, 41_722_000.0);
    near(figure(cell, Quantity::Iops, PrintedStatistic::Highest).value, 10186.0);
    // Values that version 3 does not print are absent.
    assert_eq!((imported(&run.cells[0]).block_bytes, imported(&run.cells[0]).iodepth), (None, None));
}

#[test]
fn a_japanese_comment_in_shift_jis_and_the_fill_are_kept() {
    let run = run("cdm-3.0.1-shift-jis-0fill.txt");
    assert_eq!(fact(&run, "Comment"), Some("職場のパソコン、圧縮の確認"));
    assert_eq!(run.origin.procedure.as_deref(), Some("1000 MB (x5) <0Fill>"));
    assert_eq!(run.cells.len(), 8);
}

#[test]
fn cdm_5_and_6_are_read() {
    let five = run("cdm-5.2.0.txt");
    assert_eq!(five.origin.profile.as_deref(), Some("cdm-5"));
    assert_eq!(five.origin.target.as_deref(), Some("E:"));
    assert_eq!(five.origin.procedure.as_deref(), Some("1024 MiB (x5)  [Interval=5 sec]"));
    assert_eq!(table(&five)[4..6], ["read SEQ T1 | 530.551", "write SEQ T1 | 488.342"]);
    let six = run("cdm-6.0.2.txt");
    assert_eq!(six.origin.profile.as_deref(), Some("cdm-6"));
    assert_eq!(fact(&six, "Comment"), Some("空きの多いとき"));
    assert_eq!(six.origin.procedure.as_deref(), Some("1024 MiB (x5) <0Fill> [Interval=5 sec]"));
    assert_eq!(table(&six)[3], "write RND 4 KiB Q8 T8 | 361.904 88355.5");
    assert_eq!(imported(&six.cells[3]).threads, Some(8));
}

#[test]
fn cdm_7_is_read_with_its_mix() {
    let run = run("cdm-7.0.0h-mix.txt");
    assert_eq!(run.origin.version.as_deref(), Some("7.0.0h"));
    assert_eq!(run.origin.profile.as_deref(), Some("cdm-7-mix"));
    assert_eq!(run.cells.len(), 12);
    assert_eq!(table(&run)[10], "mix RND 4 KiB Q32 T16 | 1101.914 269022.0 1889.01");
    let cell = &run.cells[10];
    assert_eq!((imported(cell).read_percent, imported(&run.cells[7]).read_percent), (Some(70.0), None));
    let latency = figure(cell, Quantity::Latency, PrintedStatistic::Lowest);
    near(latency.value, 1_889_010.0);
    assert_eq!(latency.of, Some(FigureOf::RunMeanLatency));
}

#[test]
fn cdm_8_leaves_out_tests_that_were_not_run() {
    let run = run("cdm-8.0.1-partial.txt");
    assert_eq!(run.cells.len(), 4);
    assert!(run.cells.iter().all(|cell| cell.direction == Some(Direction::Read)));
    assert!(run.notices.iter().any(|notice| notice.text.en.starts_with(
        "4 results were skipped, because they \
            are printed as 0,"
    )));
    assert_eq!(run.origin.profile.as_deref(), Some("cdm-8"));
    assert_eq!(fact(&run, "Comment"), Some("RND と SEQ: 読み取りだけ"));
    assert_eq!(fact(&run, "Mode"), Some("[Admin]"));
    assert_eq!(
        run.origin.procedure.as_deref(),
        Some("Default; 1 GiB (x5); [Admin]; Measure 5 sec / Interval 5 sec")
    );
    near(figure(&run.cells[0], Quantity::Rate, PrintedStatistic::Highest).value, 3_479_812_000.0);
}

#[test]
fn cdm_8_in_utf_16_and_with_an_edition_is_read() {
    let run = run("cdm-8.0.4-real-utf16.txt");
    assert_eq!(fact(&run, "Edition"), Some("Shizuku Edition x64"));
    assert_eq!(run.origin.profile.as_deref(), Some("cdm-8-real"));
    assert_eq!(run.origin.measured_at.as_deref(), Some("2022-01-09T09:05:03"));
    assert_eq!(table(&run)[3], "write RND 4 KiB Q1 T1 | 1.204 293.9 3398.11");
    assert_eq!(imported(&run.cells[0]).runs, Some(3));
}

#[test]
fn cdm_9_names_its_preset() {
    let run = run("cdm-9.0.1-nvme.txt");
    assert_eq!(run.origin.profile.as_deref(), Some("cdm-9-nvme"));
    assert_eq!(table(&run)[1], "read SEQ 128 KiB Q32 T1 | 12398.004 94589.3 338.02");
    assert_eq!(imported(&run.cells[2]).threads, Some(16));
}

#[test]
fn presets_follow_from_profile_and_tests_or_are_not_named() {
    let text = String::from_utf8(bytes("cdm-9.0.1-nvme.txt")).unwrap();
    let profile = |text: &str| import("a", text.as_bytes()).unwrap().remove(0).origin.profile;
    let default = text
        .replace("SEQ  128KiB (Q= 32, T= 1)", "SEQ    1MiB (Q=  1, T= 1)")
        .replace("RND    4KiB (Q= 32, T=16)", "RND    4KiB (Q= 32, T= 1)");
    assert_eq!(profile(&default).as_deref(), Some("cdm-9"));
    let flash = default.replace("Measure 5 sec / Interval 5 sec", "Measure 1 sec / Interval 30 sec");
    assert_eq!(profile(&flash).as_deref(), Some("cdm-9-flash"));
    assert_eq!(profile(&text.replace("T=16", "T= 7")), None);
    assert_eq!(profile(&text.replace("9.0.1", "10.0.1")), None);
}

#[test]
fn kurabes_own_text_is_read_as_kurabes() {
    let (own, theirs) = (run("kurabe-as-cdm-9.txt"), run("cdm-9.0.1-nvme.txt"));
    assert_eq!(own.origin.tool_name(), "kurabe 0.1.0");
    assert_eq!(own.origin.profile, None);
    let path = String::from_utf8(bytes("kurabe-as-cdm-9.txt")).unwrap().replace("[C: 12%", "[/srv/a:b: 12%");
    assert_eq!(import("a", path.as_bytes()).unwrap()[0].origin.target.as_deref(), Some("/srv/a:b"));
    assert_eq!(table(&own), table(&theirs));
    figure(&own.cells[0], Quantity::Rate, PrintedStatistic::Mean);
    let text = String::from_utf8(bytes("kurabe-as-cdm-9.txt")).unwrap().replace("Statistic: mean\n", "");
    let silent = import("a", text.as_bytes()).unwrap().remove(0);
    figure(&silent.cells[0], Quantity::Rate, PrintedStatistic::Unknown);
}

#[test]
fn several_texts_in_one_file_are_several_runs() {
    let both = [bytes("cdm-3.0.1.txt"), bytes("cdm-9.0.1-nvme.txt")].concat();
    let runs = import("both.txt", &both).unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(table(&runs[0]), table(&run("cdm-3.0.1.txt")));
    assert_eq!(table(&runs[1]), table(&run("cdm-9.0.1-nvme.txt")));
    assert_eq!(runs[1].origin.measured_at.as_deref(), Some("2025-07-01T22:10:45"));
    assert_eq!(fact(&runs[0], "Comment"), None);
    let own = bytes("kurabe-as-cdm-9.txt");
    assert_eq!(import("own.txt", &[own.clone(), b"\n".to_vec(), own].concat()).unwrap().len(), 2);
}

#[test]
fn kdiskmarks_unit_is_corrected() {
    let run = run("kdiskmark-3.3.0.txt");
    assert_eq!(run.cells.len(), 11);
    let rate = figure(&run.cells[0], Quantity::Rate, PrintedStatistic::Mean);
    near(rate.value, 508.897 * 1.024 * 1e6);
    // The IOPS confirm the correction: 497.0 of 1 MiB.
    assert!((rate.value / (497.0 * 1_048_576.0) - 1.0).abs() < 1e-4);
    assert_eq!((rate.printed.as_str(), rate.unit_printed.as_str()), ("508.897", "MB/s"));
    near(rate.correction.as_ref().unwrap().factor, 1.024);
    near(figure(&run.cells[0], Quantity::Latency, PrintedStatistic::Mean).value, 13_840_050.0);
    let count = |words: &str| run.notices.iter().filter(|notice| notice.text.en.contains(words)).count();
    assert_eq!((count("multiplied by 1.024"), count("printed as 0,")), (1, 1));
    assert_eq!(
        run.origin.target.as_deref(),
        Some("/home 61% (140.11/228.32 GiB) [Samsung SSD 860 EVO 250GB]")
    );
    assert_eq!(run.origin.measured_at.as_deref(), Some("2024-08-24T16:10:33"));
    assert_eq!(fact(&run, "Flexible I/O Tester"), Some("fio-3.36"));
    // The figure of a mix is not a total: it is not compared with other tools, and a note says so.
    assert_eq!(
        (run.cells[10].direction, imported(&run.cells[10]).read_percent),
        (Some(Direction::Mix), None)
    );
    assert!(imported(&run.cells[10]).procedure.as_ref().unwrap().ends_with("70 % read"));
    assert_eq!(count("39 to 42 % below"), 1);
}

#[test]
fn kdiskmarks_other_profiles_are_best_of() {
    let run = run("kdiskmark-2.3.0-peak.txt");
    figure(&run.cells[0], Quantity::Iops, PrintedStatistic::Highest);
    figure(&run.cells[0], Quantity::Latency, PrintedStatistic::Lowest);
    assert_eq!(imported(&run.cells[0]).runs, Some(3));
    let text = String::from_utf8(bytes("kdiskmark-2.3.0-peak.txt")).unwrap().replace("(2.3.0)", "(1.4.3)");
    let old = import("old.txt", text.as_bytes()).unwrap().remove(0);
    near(figure(&old.cells[0], Quantity::Rate, PrintedStatistic::Highest).value, 3300.125 * 1_048_576.0);
}

#[test]
fn amorphous_disk_mark_is_median() {
    let four = run("amorphousdiskmark-4.0.2.txt");
    assert_eq!(four.cells.len(), 8);
    near(figure(&four.cells[0], Quantity::Rate, PrintedStatistic::Median).value, 6_832_040_000.0);
    assert_eq!(four.origin.measured_at.as_deref(), Some("2026-05-06T04:09:09Z"));
    assert_eq!(four.origin.target.as_deref(), Some("APPLE SSD AP0512Z"));
    assert_eq!(four.environment.machine.cpu_model.as_deref(), Some("Apple M3"));
    assert_eq!(four.environment.machine.os.as_deref(), Some("macOS 15.4.1 24E263"));
    let procedure = "1 GiB (x5) <0Fill> [Interval=5 sec] [Limit=10 sec]";
    assert_eq!(four.origin.procedure.as_deref(), Some(procedure));
    let two = run("amorphousdiskmark-2.5.4.txt");
    assert_eq!(table(&two)[2], "read SEQ 128 KiB Q32 | 540.11 4120.7");
    assert_eq!(two.cells.len(), 7);
}

#[test]
fn gnome_disks_files_are_read_in_both_orders() {
    let little = run("gnome-disks-little-endian.gnome-disks-benchmark");
    let mut big = run("gnome-disks-big-endian.gnome-disks-benchmark");
    assert_eq!(little.cells, big.cells);
    big.origin.file.clone_from(&little.origin.file);
    big.origin.target.clone_from(&little.origin.target);
    assert_eq!(little, big);
    assert_eq!(little.origin.measured_at.as_deref(), Some("2021-02-05T01:53:20Z"));
    assert_eq!(little.origin.target.as_deref(), Some("gnome-disks-little-endian"));
    assert_eq!(fact(&little, "device-size"), Some("256060514304"));
    let read = figure(&little.cells[0], Quantity::Rate, PrintedStatistic::Mean);
    near(read.value, 491_250_000.0);
    assert_eq!((read.printed.as_str(), read.unit_printed.as_str()), ("491.2", "MB/s"));
    let series = &imported(&little.cells[0]).series[0];
    assert_eq!((series.axis, series.points.len()), (SeriesAxis::Offset, 40));
    assert_eq!(series.points[1], (6_401_511_424.0, 537_500_000.0));
    let access = &little.cells[2];
    assert_eq!((access.measure, access.direction), (Measure::AccessTime, Some(Direction::Read)));
    let time = figure(access, Quantity::Latency, PrintedStatistic::Mean);
    near(time.value, 62_000.0);
    assert_eq!((time.printed.as_str(), time.unit_printed.as_str()), ("0.06", "msec"));
    near(imported(access).series[0].points[0].1, 50_000.0);
    let reads = run("gnome-disks-read-only.gnome-disks-benchmark");
    assert_eq!(reads.cells.len(), 1);
}

#[test]
fn dd_lines_are_cells() {
    let gnu = run("dd-gnu.txt");
    assert_eq!(table(&gnu).len(), 3);
    assert_eq!(gnu.cells[0].label, "dd 1 MiB");
    assert_eq!((gnu.cells[0].direction, gnu.cells[2].direction), (Some(Direction::Write), None));
    near(figure(&gnu.cells[0], Quantity::Rate, PrintedStatistic::Mean).value, 1.6e9);
    near(figure(&gnu.cells[0], Quantity::Bytes, PrintedStatistic::Sum).value, 33_554_432.0);
    assert_eq!(gnu.cells[2].label, "dd");
    let progress = run("dd-gnu-progress.txt");
    assert_eq!(progress.cells.len(), 1);
    near(figure(&progress.cells[0], Quantity::Rate, PrintedStatistic::Mean).value, 368e6);
    let series = &imported(&progress.cells[0]).series[0];
    // With conv=fdatasync, dd prints two lines as one, which is ignored.
    assert_eq!((series.axis, series.points.len()), (SeriesAxis::Time, 4));
    assert_eq!(series.points[1], (1e9, 411e6));
    let japanese = run("dd-gnu-japanese.txt");
    assert_eq!(
        table(&japanese),
        ["write dd 1 MiB | 73.0 7.35077 536870912", "read dd 1 MiB | 149 3.61204 536870912"]
    );
    assert_eq!(figure(&japanese.cells[0], Quantity::Rate, PrintedStatistic::Mean).unit_printed, "MB/秒");
    near(figure(&run("dd-macos.txt").cells[0], Quantity::Rate, PrintedStatistic::Mean).value, 10_656_444.0);
    let busybox = run("dd-busybox.txt");
    let rate = figure(&busybox.cells[0], Quantity::Rate, PrintedStatistic::Mean);
    near(rate.value, 1_073_741_824.0);
    assert_eq!(rate.correction.as_ref().unwrap().unit, "GiB/s");
}

#[test]
fn hdparm_devices_are_runs() {
    let runs = runs("hdparm.txt");
    let targets: Vec<&str> = runs.iter().filter_map(|run| run.origin.target.as_deref()).collect();
    assert_eq!(targets, ["/dev/loop0", "/dev/loop1", "/dev/loop0", "/dev/loop1"]);
    let labels: Vec<&str> = runs.iter().flat_map(|run| &run.cells).map(|cell| cell.label.as_str()).collect();
    assert_eq!(labels[..4], ["cached reads", "buffered disk reads", "cached reads", "buffered disk reads"]);
    assert_eq!(
        labels[4..],
        ["O_DIRECT cached reads", "O_DIRECT disk reads", "buffered disk reads (offset 0 GB)"]
    );
    let rate = figure(&runs[0].cells[1], Quantity::Rate, PrintedStatistic::Mean);
    near(rate.value, 255.39 * 1_048_576.0);
    assert_eq!(rate.unit_printed, "MB/sec");
    near(figure(&runs[0].cells[1], Quantity::Bytes, PrintedStatistic::Sum).value, 64.0 * 1_048_576.0);
    near(figure(&runs[0].cells[1], Quantity::Duration, PrintedStatistic::Sum).value, 0.25e9);
}

#[test]
fn ioping_forms_are_read() {
    let text = run("ioping-rapid.txt");
    let cell = &text.cells[0];
    near(figure(cell, Quantity::Latency, PrintedStatistic::Mean).value, 61_500.0);
    assert_eq!(imported(cell).figures[0].printed, "61.5");
    near(figure(cell, Quantity::Latency, PrintedStatistic::Highest).value, 4.1e6);
    near(figure(cell, Quantity::Iops, PrintedStatistic::Mean).value, 16_300.0);
    near(figure(cell, Quantity::Rate, PrintedStatistic::Mean).value, 63.6 * 1_048_576.0);
    assert_eq!((cell.direction, cell.measure), (Some(Direction::Read), Measure::AccessTime));
    assert_eq!(
        (text.origin.target.as_deref(), fact(&text, "Device")),
        (Some("."), Some("ext4 /dev/vda 252.0 GiB"))
    );
    let plain = run("ioping.txt");
    assert_eq!(imported(&plain.cells[0]).block_bytes, Some(4096));
    assert_eq!(imported(&plain.cells[0]).series[0].points.len(), 5);
    assert_eq!(run("ioping-quiet-write.txt").cells[0].direction, Some(Direction::Write));
    let raw = run("ioping-raw.txt");
    assert_eq!(raw.cells.len(), 3);
    near(figure(&raw.cells[0], Quantity::Latency, PrintedStatistic::Mean).value, 145_255.0);
    near(figure(&raw.cells[0], Quantity::Rate, PrintedStatistic::Mean).value, 28_198_685.0);
    let json = run("ioping.json");
    assert_eq!(imported(&json.cells[0]).series[0].points.len(), 3);
    assert_eq!(imported(&json.cells[0]).block_bytes, Some(4096));
    assert_eq!(json.cells[0].direction, Some(Direction::Read));
    let two = runs("ioping-two-dated.txt");
    assert_eq!(two.len(), 2);
    assert_eq!(imported(&two[1].cells[0]).block_bytes, Some(65_536));
    near(figure(&two[1].cells[0], Quantity::Latency, PrintedStatistic::StandardDeviation).value, 13_500.0);
    assert_eq!(imported(&two[1].cells[0]).series[0].points, [(1.0, 352_900.0), (2.0, 380_000.0)]);
}

#[test]
fn hd_tune_and_as_ssd_are_read() {
    let runs = runs("hdtune.txt");
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[1].origin.target.as_deref(), Some("WDC WD20EFRX-68EUZN0"));
    assert_eq!(
        table(&runs[1]),
        ["read transfer rate | 112.6 62.3 148.8", "read access time | 16.4", "read burst rate | 180.2"]
    );
    near(figure(&runs[1].cells[1], Quantity::Latency, PrintedStatistic::Mean).value, 16.4e6);
    let mb = run("as-ssd-mb.txt");
    assert_eq!(mb.origin.version.as_deref(), Some("2.0.7316.34247"));
    assert_eq!(mb.origin.measured_at.as_deref(), Some("2024-11-28T14:18:03"));
    assert_eq!(table(&mb)[4..6], ["read 4K-64Threads | 790.21", "write 4K-64Threads | 1066.48"]);
    assert_eq!(table(&mb)[10], "- Score | 3046");
    near(figure(&mb.cells[2], Quantity::Rate, PrintedStatistic::Mean).value, 49.57 * 1_048_576.0);
    near(figure(&mb.cells[6], Quantity::Latency, PrintedStatistic::Mean).value, 90_000.0);
    let iops = run("as-ssd-iops-german.txt");
    assert_eq!(iops.origin.measured_at.as_deref(), Some("2024-11-28T14:20:40"));
    assert_eq!(table(&iops)[0], "read Sequential | 178,98");
    near(figure(&iops.cells[0], Quantity::Iops, PrintedStatistic::Mean).value, 178.98);
    // The unit is right: both formats agree.
    let rate = figure(&mb.cells[2], Quantity::Rate, PrintedStatistic::Mean).value;
    assert!((rate / 4096.0 / 12690.0 - 1.0).abs() < 1e-3);
}

#[test]
fn damage_is_shown_with_its_line() {
    let text = String::from_utf8(bytes("cdm-8.0.1-partial.txt")).unwrap();
    let damaged = text.replace("2302.114 MB/s", "2302.114 GB");
    let error = import("d.txt", damaged.as_bytes()).unwrap_err();
    let place = error.place().unwrap();
    assert_eq!((place.line, place.column), (10, 3));
    assert!(place.text.contains("2302.114 GB"));
    let nothing = text.replace("3479.812", "0.000").replace("2302.114", "0.000");
    let nothing = nothing.replace("611.334", "0.000").replace("50.127", "0.000");
    assert!(import("n.txt", nothing.as_bytes()).unwrap_err().to_string().contains("no test was run"));
}

#[test]
fn what_nobody_knows_names_the_nearest_kind_and_what_is_missing() {
    let error = import("/tmp/letter.txt", b"Dear all,\nCrystalDiskMark 8 is a program.\n").unwrap_err();
    assert_eq!(error.kind(), kurabe_core::ErrorKind::Import);
    let what = &error.what().en;
    assert!(what.contains("most similar kind is CrystalDiskMark text") && !what.contains('\n'), "{what}");
    assert!(what.contains("no result line follows"), "{what}");
    assert!(error.what().ja.contains("結果の行がありません"));
    assert!(error.remedy_text().is_some());
    let letter = import("letter.txt", b"Dear all,\nit is fast.\n").unwrap_err();
    assert!(letter.what().en.contains("does not name a known tool"), "{letter}");
    let of_name = import("iostat-1.log", b"avg: 5\n").unwrap_err();
    assert!(of_name.what().en.contains("iostat text: no line contains iostat's columns"), "{of_name}");
}
