//! Pasted text: several results in one text, and texts changed by pages, mails and shells.

use kurabe_core::Lang;
use kurabe_core::imported::Quantity::{self, Bytes, Duration, Iops, Latency, QueueLength, Rate};
use kurabe_core::imported::{PrintedStatistic as Statistic, PrintedStatistic::*};
use kurabe_core::workload::Direction;
use kurabe_interop::{ImportedRun, import};
use std::path::Path;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    String::from_utf8(std::fs::read(path).unwrap()).unwrap()
}

fn runs(text: &str) -> Vec<ImportedRun> {
    import("pasted.txt", text.as_bytes()).unwrap_or_else(|error| panic!("{}\n{text}", error.render(Lang::En)))
}

/// Returns tool, version and main figure of each run.
fn tools(text: &str) -> Vec<(String, String)> {
    let figure = |run: &ImportedRun| run.cells[0].imported.as_ref().unwrap().figures[0].printed.clone();
    runs(text).iter().map(|run| (run.origin.tool_name(), figure(run))).collect()
}

fn pairs<'a>(expected: &[(&'a str, &'a str)]) -> Vec<(String, String)> {
    expected.iter().map(|(tool, figure)| ((*tool).to_owned(), (*figure).to_owned())).collect()
}

#[test]
fn the_texts_of_different_tools_in_one_file_stay_apart() {
    let (cdm, kdm) = (fixture("consumer/cdm-9.0.1-nvme.txt"), fixture("consumer/kdiskmark-3.3.0.txt"));
    let both = runs(&format!("{cdm}\n\n{kdm}"));
    let (alone, other) = (runs(&cdm), runs(&kdm));
    let cells = |run: &ImportedRun| run.cells.clone();
    assert_eq!(both.iter().map(cells).collect::<Vec<_>>(), [cells(&alone[0]), cells(&other[0])]);
    assert_eq!(both[0].origin.tool_name(), "CrystalDiskMark 9.0.1");
    assert_eq!(both[1].origin.tool_name(), "KDiskMark 3.3.0");
    // In reverse order, and each twice.
    let names =
        |text: &str| -> Vec<String> { runs(text).iter().map(|run| run.origin.tool.clone()).collect() };
    assert_eq!(names(&format!("{kdm}\n{cdm}\n{kdm}")), ["KDiskMark", "CrystalDiskMark", "KDiskMark"]);
    let adm = fixture("consumer/amorphousdiskmark-4.0.2.txt");
    let slower = adm.replace("6832.04", "1234.56");
    assert_eq!(
        tools(&format!("{adm}\n{slower}")),
        pairs(&[("AmorphousDiskMark 4.0.2", "6832.04"), ("AmorphousDiskMark 4.0.2", "1234.56")])
    );
    let diskspd = fixture("lab/diskspd.txt");
    assert_eq!(names(&format!("{diskspd}\n{diskspd}")), ["DiskSpd", "DiskSpd"]);
    assert_eq!(runs(&format!("{diskspd}\n{diskspd}"))[0].cells, runs(&diskspd)[0].cells);
}

#[test]
fn a_session_of_a_shell_is_as_many_runs_as_tools_ran() {
    let session = "root@nas:~# hdparm -t /dev/sda\n\n\
        /dev/sda:\n Timing buffered disk reads: 456 MB in  3.01 seconds = 151.45 MB/sec\n\
        root@nas:~# dd if=/dev/zero of=/srv/t bs=1M count=256 oflag=direct\n256+0 records in\n256+0 records out\n\
        268435456 bytes (268 MB, 256 MiB) copied, 2.04 s, 132 MB/s\n\
        root@nas:~# ioping -c 4 /srv\n4 KiB <<< /srv (ext4 /dev/sda1 1.8 TiB): request=1 time=7.26 ms (warmup)\n\
        4 KiB <<< /srv (ext4 /dev/sda1 1.8 TiB): request=2 time=3.98 ms\n\n\
        --- /srv (ext4 /dev/sda1 1.8 TiB) ioping statistics ---\n\
        1 requests completed in 3.98 ms, 4 KiB read, 251 iops, 1005.0 KiB/s\n\
        generated 2 requests in 1.01 s, 8 KiB, 1 iops, 7.9 KiB/s\n\
        min/avg/max/mdev = 3.98 ms / 3.98 ms / 3.98 ms / 0 ns\n\
        root@nas:~# hdparm -t /dev/sdb\n\n/dev/sdb:\n Timing buffered disk reads: 600 MB in  3.00 seconds \
        = 200.00 MB/sec\n";
    let expected = [("hdparm", "151.45"), ("dd", "132"), ("ioping", "3.98"), ("hdparm", "200.00")];
    assert_eq!(tools(session), pairs(&expected));
    assert_eq!(runs(session)[2].origin.target.as_deref(), Some("/srv"));
    let json = fixture("lab/fio3-read.json");
    let other = fixture("lab/fio2.json");
    let with_fio = format!("{{ date; uname -a; }}\n{session}{json}root@nas:~# fio again.fio\n{other}");
    let expected = [&expected[..], &[("fio 3.33", "1290555076"), ("fio 2.16", "82666")]].concat();
    assert_eq!(tools(&with_fio), pairs(&expected));
}

#[test]
fn what_cannot_be_read_beside_others_is_named() {
    let cdm = fixture("consumer/cdm-9.0.1-nvme.txt");
    let text = format!("{cdm}\n/dev/sda:\n Timing buffered disk reads: 456 MB in seconds\n");
    let run = runs(&text).remove(0);
    let remarks: Vec<&str> = run.notices.iter().map(|notice| notice.text.en.as_str()).collect();
    let line = cdm.lines().count() + 2;
    assert!(
        remarks.contains(
            &format!("left out of this file: hdparm timings from line {line} on: the timing cannot be read")
                .as_str()
        ),
        "{remarks:?}"
    );
    let terse = format!("{cdm}\n3;fio-3.33;a;0;0;819200;819200;12800;1000;0;0;0.000000;0.000000\n");
    assert!(runs(&terse)[0].notices.iter().any(|notice| notice.text.en.contains("fio's terse text")));
    // If it is the only block, its error with the line is the result.
    let error =
        import("a.txt", b"\n/dev/sda:\n Timing buffered disk reads: 456 MB in seconds\n").unwrap_err();
    assert_eq!(error.place().map(|place| place.line), Some(3));
    let quoted = import("a.txt", b"> /dev/sda:\n>  Timing buffered disk reads: 456 MB\n").unwrap_err();
    assert_eq!(
        quoted.place().map(|place| place.text.as_str()),
        Some(">  Timing buffered disk reads: 456 MB")
    );
}

#[test]
fn a_text_is_the_same_however_it_was_pasted() {
    for name in [
        "consumer/cdm-3.0.1.txt",
        "consumer/cdm-7.0.0h-mix.txt",
        "consumer/cdm-9.0.1-nvme.txt",
        "consumer/kdiskmark-3.3.0.txt",
        "consumer/amorphousdiskmark-4.0.2.txt",
        "consumer/hdtune.txt",
        "consumer/as-ssd-mb.txt",
        "consumer/hdparm.txt",
        "consumer/ioping.txt",
        "consumer/dd-gnu.txt",
        "lab/fio3-read.json",
        "lab/diskspd.txt",
        "lab/iostat-x.txt",
        "lab/zpool-iostat.txt",
        "lab/bonnie-1.98.csv",
        "lab/iozone.txt",
        "lab/ior.txt",
        "lab/mdtest.txt",
        "lab/sysbench-rndrw.txt",
    ] {
        let text = fixture(name).replace('\r', "");
        let cells = |text: &str| -> Vec<_> { runs(text).into_iter().map(|run| run.cells).collect() };
        let plain = cells(&text);
        let put = |before: &str, after: &str| -> String {
            text.lines().map(|line| format!("{before}{line}{after}\n")).collect()
        };
        for changed in [
            put("> ", ""),
            put("> > ", ""),
            put("// ", ""),
            put("# ", ""),
            put("    ", ""),
            put("", "<br>"),
            format!("I ran it twice:\n\n```\n{text}```\n\nand it was fast.\n"),
            format!(
                "<p>Here it is:</p>\n<pre>{}</pre>\n",
                text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
            ),
        ] {
            assert_eq!(cells(&changed), plain, "{name}:\n{changed}");
        }
    }
}

#[test]
fn figures_alone_are_of_an_unknown_tool() {
    let text = fixture("consumer/cdm-9.0.1-nvme.txt");
    let lines = || text.lines().map(str::trim_end);
    let alone: Vec<&str> = lines()
        .skip_while(|line| *line != "[Read]")
        .take_while(|line| !line.starts_with("Profile"))
        .collect();
    let one = alone.join("\n");
    let run = runs(&format!("  SSD performance:\n\n{one}\n")).remove(0);
    assert_eq!((run.origin.tool.as_str(), run.cells.len()), ("unknown", runs(&text)[0].cells.len()));
    assert!(run.notices[0].text.en.contains("the heading with the tool's name is missing"));
    assert_eq!(run.cells[0].imported.as_ref().unwrap().figures[0].statistic, Unknown);
    // Twice below each other: a repeated section begins another result.
    assert_eq!(runs(&format!("{one}\nand the other:\n{one}\n")).len(), 2);
    let three = fixture("consumer/cdm-3.0.1.txt");
    let figures: Vec<&str> =
        three.lines().filter(|line| line.contains(" MB/s") && line.contains(" : ")).collect();
    let figures = figures.join("\n");
    assert_eq!(runs(&format!("A:\n{figures}\nB:\n{figures}\n")).len(), 2);
    // KDiskMark's format without its version can have either unit.
    let kdiskmark = fixture("consumer/kdiskmark-3.3.0.txt");
    let alone: Vec<&str> = kdiskmark.lines().skip_while(|line| *line != "[Read]").collect();
    let error = import("a.txt", alone.join("\n").as_bytes()).unwrap_err();
    assert!(error.what().en.contains("without its heading"), "{error}");
}

#[test]
fn traces_say_how_they_are_replayed() {
    for name in [
        "msr.csv",
        "disksim.trace",
        "mqsim.trace",
        "blkparse.txt",
        "iolog-v3.log",
        "iolog-v2.log",
        "financial.spc",
    ] {
        let error = import(name, fixture(&format!("traces/{name}")).as_bytes()).unwrap_err();
        let words = error.render(Lang::En);
        assert!(
            words.contains("is a trace") && words.contains(&format!("kurabe run --replay {name}")),
            "{words}"
        );
    }
}

#[test]
fn no_result_is_lost_to_how_it_is_spelt_or_laid_out() {
    // The tool's own misspelling.
    let adm = fixture("consumer/amorphousdiskmark-4.0.2.txt");
    let misspelt = adm.replace("Sequential Write", "Sequantial Write");
    assert_ne!(misspelt, adm);
    let cells = |text: &str| -> Vec<_> {
        runs(text).remove(0).cells.into_iter().map(|cell| (cell.label, cell.direction)).collect()
    };
    assert_eq!(cells(&misspelt), cells(&adm));
    // A table of a page.
    let row =
        |words: &str| -> String { words.split_whitespace().map(|word| format!("<td>{word}</td>")).collect() };
    let head = row("kB reclen write rewrite read reread read write read rewrite read");
    let numbers = row("1048576 4 81747 35641 73644 73894 2770 805 40026 29575 7645");
    let page = format!("<table><tbody><tr>{head}</tr>\n<tr>{numbers}</tr></tbody></table>\n");
    let iozone = runs(&page).remove(0);
    assert_eq!((iozone.origin.tool.as_str(), iozone.cells.len()), ("iozone", 9));
    assert_eq!(iozone.cells[4].imported.as_ref().unwrap().figures[0].printed, "2770");
    // Groups of devices are indented.
    let iostat = fixture("lab/iostat.json").replacen("\"disk_device\": \"", "\"disk_device\": \" ", 50);
    assert!(runs(&iostat)[0].cells.iter().all(|cell| !cell.label.starts_with(' ')));
}

#[test]
fn a_job_file_says_how_it_is_run() {
    let job = "; my disk\n[global]\ndirect=1\nsize=64m\n[reads]\nrw=randread\nbs=4k\n";
    // Refused options are reported when the job is run.
    let refused = "[reads]\nrw=randread\nioengine=rados\n";
    for (name, text) in [("disk.fio", job), ("disk.txt", job), ("disk.fio", refused)] {
        let error = import(name, text.as_bytes()).unwrap_err().render(Lang::En);
        assert!(error.contains("is a fio job file") && error.contains("kurabe run disk"), "{error}");
    }
    for other in [refused, "[Read]\nnothing\n", "rw=randread\n"] {
        assert!(
            !import("a.txt", other.as_bytes()).unwrap_err().render(Lang::En).contains("job file"),
            "{other}"
        );
    }
}

const READ: Option<Direction> = Some(Direction::Read);
const WRITE: Option<Direction> = Some(Direction::Write);
const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;

type Figure = (usize, Option<Direction>, Quantity, Statistic, &'static str, &'static str, f64);

/// Text, and some of its figures: cell, direction, quantity, statistic, characters, unit, value.
const TABLE: &[(&str, &[Figure])] = &[
    (
        "Samsung:\n<blockquote>Sequential Read : 512.125 MB/s\nSequential Write : 480.250 MB/s\n\
         Random Read 4KB (QD=32) : 391.500 MB/s [ 95581.1 IOPS]</blockquote>\n",
        &[
            (0, READ, Rate, Unknown, "512.125", "MB/s", 512.125e6),
            (1, WRITE, Rate, Unknown, "480.250", "MB/s", 480.25e6),
            (2, READ, Iops, Unknown, "95581.1", "IOPS", 95_581.1),
        ],
    ),
    (
        "// CrystalDiskMark 6.0.2 x64 (C) 2007-2018 hiyohiyo\n//\n\
         //   Random Read 4KiB (Q=  8,T= 8) :   390.625 MB/s [  95367.4 IOPS]\n\
         //  Random Write 4KiB (Q=  8,T= 8) :   321.500 MB/s [  78491.2 IOPS]\n//\n\
         //   Date : 2018/12/15 0:48:36\n",
        &[
            (0, READ, Rate, Highest, "390.625", "MB/s", 390.625e6),
            (0, READ, Iops, Highest, "95367.4", "IOPS", 95_367.4),
            (1, WRITE, Rate, Highest, "321.500", "MB/s", 321.5e6),
        ],
    ),
    (
        "$ dd if=/dev/sda of=/dev/null bs=4M count=64\n64+0 Datensätze ein\n64+0 Datensätze aus\n\
         268435456 Bytes (268 MB, 256 MiB) kopiert, 1,25 s, 215 MB/s\n",
        &[
            (0, READ, Rate, Mean, "215", "MB/s", 215e6),
            (0, READ, Duration, Sum, "1,25", "s", 1.25e9),
            (0, READ, Bytes, Sum, "268435456", "bytes", 268_435_456.0),
        ],
    ),
    (
        "$ dd if=/dev/zero bs=1M count=1024 | md5sum\n1024+0 records in\n1024+0 records out\n\
         1073741824 bytes (1.1 GB) copied, 2.5 s, 429 MB/s\n",
        &[
            (0, None, Rate, Mean, "429", "MB/s", 429e6),
            (0, None, Duration, Sum, "2.5", "s", 2.5e9),
            (0, None, Bytes, Sum, "1073741824", "bytes", 1_073_741_824.0),
        ],
    ),
    (
        "/dev/hda:\n Timing buffer-cache reads:   128 MB in  0.36 seconds =355.56 MB/sec\n\
         Timing buffered disk reads:  64 MB in  1.55 seconds = 41.29 MB/sec\n",
        &[
            (0, READ, Rate, Mean, "355.56", "MB/sec", 355.56 * MIB),
            (1, READ, Rate, Mean, "41.29", "MB/sec", 41.29 * MIB),
            (1, READ, Bytes, Sum, "64", "MB", 64.0 * MIB),
        ],
    ),
    (
        "--- /dev/sda (device 465.8 GiB) ioping statistics ---\n\
         837 requests completed in 3004.1 ms, 292 iops, 72.9 MiB/s\n\
         min/avg/max/mdev = 2.0/3.4/28.9/2.5 ms\n",
        &[
            (0, None, Latency, Mean, "3.4", "ms", 3.4e6),
            (0, None, Latency, Highest, "28.9", "ms", 28.9e6),
            (0, None, Latency, StandardDeviation, "2.5", "ms", 2.5e6),
            (0, None, Iops, Mean, "292", "iops", 292.0),
            (0, None, Rate, Mean, "72.9", "MiB/s", 72.9 * MIB),
        ],
    ),
    (
        "Linux 6.1.0 (host) \t22/11/2026 \t_x86_64_\t(2 CPU)\n\navg-cpu:  %user\n          35,69\n\n\
         Device            r/s     rkB/s   r_await     w/s     wkB/s  aqu-sz  %util\n\
         sda            160,94  11504,60     0,25   28,42    605,54    0,03   3,25\n",
        &[
            (0, READ, Rate, Mean, "11504,60", "kB/s", 11_504.6 * KIB),
            (0, READ, Latency, Mean, "0,25", "ms", 0.25e6),
            (1, WRITE, Iops, Mean, "28,42", "1/s", 28.42),
            (2, None, QueueLength, Mean, "0,03", "", 0.03),
        ],
    ),
    (
        "     r/s     rkB/s     w/s     wkB/s  aqu-sz  %util Device\n    6.90    222.14    1.69     \
         57.08    0.10   0.46 sda\n",
        &[
            (0, READ, Rate, Mean, "222.14", "kB/s", 222.14 * KIB),
            (0, READ, Iops, Mean, "6.90", "1/s", 6.9),
            (1, WRITE, Rate, Mean, "57.08", "kB/s", 57.08 * KIB),
        ],
    ),
];

#[test]
fn every_shape_keeps_its_figures_directions_statistics_and_units() {
    for (text, figures) in TABLE {
        let run = runs(text).remove(0);
        assert!(figures.len() >= 3, "{text}");
        for &(at, direction, quantity, statistic, printed, unit, value) in *figures {
            let cell = &run.cells[at];
            assert_eq!(cell.direction, direction, "{text}");
            let figures = &cell.imported.as_ref().unwrap().figures;
            let one =
                figures.iter().find(|figure| (figure.quantity, figure.statistic) == (quantity, statistic));
            let one = one.unwrap_or_else(|| panic!("no {quantity:?} {statistic:?} in {figures:#?}"));
            assert_eq!((one.printed.as_str(), one.unit_printed.as_str()), (printed, unit), "{text}");
            assert!((one.value - value).abs() <= value * 1e-12, "{} is not {value}: {text}", one.value);
        }
    }
}
