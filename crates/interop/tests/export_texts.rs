//! CrystalDiskMark's text and CSV written by kurabe.

use crate::export_support::{cell, imported, measured, on_model, ops, printed, record, repetition, workload};
use kurabe_core::imported::{PrintedStatistic, Quantity};
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, Measure, RunRecord, Sample, TargetKind};
use kurabe_core::words::Keyword;
use kurabe_core::workload::{BlockSize, Direction, End, Pattern, ThreadShare, Workload};
use kurabe_core::{Lang, shown};
use kurabe_interop::{ExportFormat, export, import};
use kurabe_testkit::cases;
use proptest::prelude::*;

fn blocks(size_bytes: u32, pattern: Pattern, iodepth: u32) -> Workload {
    workload().with(|access| {
        access.block_sizes = vec![BlockSize { size_bytes, weight: 1 }];
        access.pattern = pattern;
        access.iodepth = iodepth;
    })
}

/// Returns a run with cells of every kind.
fn every_kind(statistic: Statistic) -> RunRecord {
    let sequential = blocks(1 << 20, Pattern::Sequential, 8);
    let random = blocks(4096, Pattern::Random, 32);
    let mix = random.clone().with(|access| access.read_percent = 70);
    let write = random.clone().with(|access| access.read_percent = 0);
    let zipf = blocks(4096, Pattern::Zipf { exponent: 1.1 }, 1);
    let samples = |measure| {
        let mut cell = Cell { workload: None, measure, ..cell("samples", Direction::Read, workload()) };
        let mut one = repetition(0, 2_000_000_000, ops(0, &[]), ops(0, &[]));
        one.samples = vec![
            Sample { offset_bytes: 0, bytes: 1_000_000, elapsed_ns: 1_000_000 },
            Sample { offset_bytes: 0, bytes: 1_000_000, elapsed_ns: 3_000_000 },
        ];
        cell.repetitions.push(one);
        cell
    };
    let duration = Cell {
        workload: None,
        measure: Measure::Duration,
        direction: None,
        repetitions: vec![repetition(0, 1_500_000_000, ops(0, &[]), ops(0, &[]))],
        ..cell("git, \"pull\"", Direction::Read, workload())
    };
    record(
        "/mnt/usb",
        TargetKind::Directory,
        statistic,
        vec![
            measured(
                "SEQ 1 MiB Q8 T1",
                Direction::Read,
                sequential,
                &[(3_000_000_000, 2_407_674), (3_479_812_345, 2_500_000)],
            ),
            measured(
                "RND 4 KiB Q32 T1",
                Direction::Write,
                write,
                &[(400_000_000, 81_920), (420_000_000, 80_000)],
            ),
            measured("RND 4 KiB Q32 T1", Direction::Mix, mix, &[(300_000_000, 90_000)]),
            measured("RND 4 KiB Q32 T1", Direction::Read, random, &[(500_000_000, 70_000)]),
            measured("ZIPF 4 KiB", Direction::Read, zipf, &[(1_000_000, 70_000)]),
            samples(Measure::Rate),
            samples(Measure::AccessTime),
            duration,
        ],
    )
}

fn text_of(record: &RunRecord, format: ExportFormat) -> String {
    export(std::slice::from_ref(record), format, Lang::En).expect("a text")
}

#[test]
fn the_text_is_laid_out_as_crystaldiskmark_lays_it_out() {
    let text = text_of(&every_kind(Statistic::Best), ExportFormat::CdmText);
    let expected = "\
------------------------------------------------------------------------------
kurabe 0.1.0 (as CrystalDiskMark 9 prints it)
                                     figures of kurabe, not of CrystalDiskMark
------------------------------------------------------------------------------
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]
* KB = 1000 bytes, KiB = 1024 bytes

[Read]
  SEQ    1MiB (Q=  8, T= 1):  3479.812 MB/s [   3318.6 IOPS] <  2407.67 us>
  RND    4KiB (Q= 32, T= 1):   500.000 MB/s [ 122070.3 IOPS] <    70.00 us>

[Write]
  RND    4KiB (Q= 32, T= 1):   420.000 MB/s [ 102539.1 IOPS] <    80.00 us>

[Mix] Read 70%/Write 30%
  RND    4KiB (Q= 32, T= 1):   300.000 MB/s [  73242.2 IOPS] <    90.00 us>

Profile: try-out
   Test: 4 MiB (x3) [/mnt/usb: 87% (814/931GiB)]
   Mode: 
   Time: Measure 0.5 sec / Interval 5 sec 
   Date: 2026/02/03 4:05:06
     OS: Debian GNU/Linux 13 [Linux 6.12]
Statistic: best
Comment: left out: ZIPF 4 KiB read, samples read, samples read, git, \"pull\"
";
    assert_eq!(text, expected);
}

#[test]
fn what_is_written_as_crystaldiskmark_writes_it_is_read_back_the_same() {
    for (statistic, read_as) in [
        (Statistic::Best, PrintedStatistic::Highest),
        (Statistic::Mean, PrintedStatistic::Mean),
        (Statistic::Median, PrintedStatistic::Median),
    ] {
        let text = text_of(&every_kind(statistic), ExportFormat::CdmText);
        let runs = import("back.txt", text.as_bytes()).expect("a run");
        assert_eq!(runs.len(), 1);
        assert_eq!(runs[0].origin.tool_name(), "kurabe 0.1.0");
        let again = runs[0].clone().into_record("0.1.0", "2026-02-03T04:05:06+09:00", &[]);
        let lines = |text: &str| {
            text.lines()
                .filter(|line| line.contains("MB/s [ ") || line.starts_with('['))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let figures = runs[0].cells.iter().map(|cell| cell.imported.as_ref().expect("figures"));
        assert!(figures.clone().all(|cell| cell.figures[0].statistic == read_as));
        let directions: Vec<_> = runs[0].cells.iter().filter_map(|cell| cell.direction).collect();
        assert_eq!(directions, [Direction::Read, Direction::Read, Direction::Write, Direction::Mix]);
        assert_eq!(lines(&text_of(&again, ExportFormat::CdmText)), lines(&text), "{text}");
        assert_eq!(lines(&text).len(), 7, "{text}");
    }
}

/// Returns the fields of CSV, parsed according to RFC 4180.
fn table(csv: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut inside) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = csv.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if inside && letters.peek() == Some(&'"') => field.extend(letters.next()),
            '"' => inside = !inside,
            ',' if !inside => row.push(std::mem::take(&mut field)),
            '\r' if !inside => {}
            '\n' if !inside => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            other => field.push(other),
        }
    }
    rows
}

/// Returns the values of a column in the lines of a step.
fn column(rows: &[Vec<String>], step: &str, name: &str) -> Vec<String> {
    let at = |name: &str| rows[0].iter().position(|column| column == name).expect("a column");
    rows.iter().skip(1).filter(|row| row[at("step")] == step).map(|row| row[at(name)].clone()).collect()
}

#[test]
fn csv_has_a_line_for_every_repetition_and_figure() {
    let rows = table(&text_of(&every_kind(Statistic::Best), ExportFormat::Csv));
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    // Two and one repetitions, and a figure, for eight cells.
    assert_eq!(rows.len(), 1 + 10 + 8);
    let sequential = |name| column(&rows, "SEQ 1 MiB Q8 T1", name);
    assert_eq!(sequential("repetition"), ["0", "1", "figure"]);
    assert_eq!(sequential("rate_bytes_per_s"), ["3000000000", "3479812345", "3479812345"]);
    assert_eq!(sequential("latency_ns_mean"), ["2407674", "2500000", "2407674"]);
    assert_eq!(sequential("statistic"), ["", "", "best"]);
    assert_eq!(sequential("device")[0], "Disk|1, \"fast\"");
    assert_eq!(sequential("block_bytes")[0], "1048576");
    assert_eq!(sequential("source")[0], "measured");
    let samples = |name| column(&rows, "samples", name);
    assert_eq!(samples("rate_bytes_per_s"), ["1000000000", "1000000000", "", ""]);
    assert_eq!(samples("access_time_ns"), ["", "", "1000000", "1000000"]);
    let command = |name| column(&rows, "git, \"pull\"", name);
    assert_eq!(command("elapsed_ns"), ["1500000000", "1500000000"]);
    for absent in ["direction", "rate_bytes_per_s", "iops", "latency_ns_mean", "bytes", "block_bytes"] {
        assert_eq!(command(absent), ["", ""], "{absent}");
    }
}

#[test]
fn csv_of_another_tool_has_its_figures_and_nothing_else() {
    let figures = [
        (Quantity::Rate, PrintedStatistic::Highest, 2.5e9),
        (Quantity::Latency, PrintedStatistic::Lowest, 70_000.0),
    ];
    let run = imported(vec![printed("RND", Direction::Read, &figures)]);
    let rows = table(&text_of(&run, ExportFormat::Csv));
    let of = |name| column(&rows, "RND", name).concat();
    assert_eq!((of("source"), of("tool")), ("imported".to_owned(), "CrystalDiskMark 8.0.1".to_owned()));
    assert_eq!(
        (of("rate_bytes_per_s"), of("latency_ns_mean")),
        ("2500000000".to_owned(), "70000".to_owned())
    );
    assert_eq!((of("statistic"), of("started_at")), ("highest".to_owned(), "2021-02-05T11:16:10".to_owned()));
    for absent in ["iops", "discarded", "failed", "elapsed_ns", "latency_ns_max"] {
        assert_eq!(of(absent), "", "{absent}");
    }
}

#[test]
fn no_run_is_an_error() {
    assert!(export(&[], ExportFormat::Csv, Lang::En).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200)))]

    #[test]
    fn records_of_any_numbers_and_words_do_no_harm(
        numbers in proptest::array::uniform6(prop_oneof![Just(0u64), Just(u64::MAX), any::<u64>(), 1u64..1 << 20]),
        blocks in proptest::collection::vec((any::<u32>(), any::<u32>()), 0..3),
        (threads, iodepth, read_percent) in (any::<u32>(), any::<u32>(), any::<u8>()),
        (pattern, share, engine) in (0usize..5, 0usize..3, prop_oneof![Just("threads"), Just("uring")]),
        value in proptest::num::f64::ANY,
        words in ".*",
    ) {
        let patterns = [
            Pattern::Sequential,
            Pattern::Interleaved,
            Pattern::Random,
            Pattern::Permutation,
            Pattern::Zipf { exponent: value },
        ];
        let plain = workload().with(|access| {
            access.pattern = patterns[pattern];
            access.thread_share = [ThreadShare::Usual, ThreadShare::Parts, ThreadShare::Whole][share];
            let of_size = |(size_bytes, weight): &(u32, u32)| BlockSize { size_bytes: *size_bytes, weight: *weight };
            access.block_sizes = blocks.iter().map(of_size).collect();
            access.threads = threads;
            access.iodepth = iodepth;
            access.read_percent = read_percent;
            access.offset_bytes = numbers[0];
            access.warm_up_ns = numbers[2];
            access.end = End {
                time_ns: Some(numbers[3]),
                bytes: Some(numbers[4]).filter(|bytes| *bytes > 0),
                passes: Some(threads),
                ..End::default()
            };
        });
        let wild = Workload { span_bytes: numbers[1], ..plain };
        let mut run = every_kind(Statistic::Median);
        let mut cell = measured(&words, Direction::Mix, wild, &[(numbers[4], numbers[5])]);
        cell.engine.as_mut().expect("an engine").name = engine.into();
        run.cells.push(cell);
        run.cells.push(printed(&words, Direction::Mix, &[(Quantity::Rate, PrintedStatistic::Mean, value)]));
        run.header.started_at = words.clone();
        run.header.target.as_mut().expect("a target").given = words.clone();
        for format in ExportFormat::WORDS.iter().map(|(_, format)| *format) {
            for lang in [Lang::En, Lang::Ja] {
                let _ = export(std::slice::from_ref(&run), format, lang);
            }
        }
        let csv = table(&text_of(&run, ExportFormat::Csv));
        prop_assert!(csv.iter().all(|row| row.len() == csv[0].len()));
        // A formula gets a leading apostrophe.
        let is_led = words.starts_with(['=', '+', '-', '@', '\t', '\r']);
        let field = csv[1][1].strip_prefix('\'').filter(|_| is_led).unwrap_or(&csv[1][1]);
        prop_assert_eq!(field, shown::line(&words));
    }
}

#[test]
fn scores_and_ratios_follow_the_cells() {
    let source = "schema = 1\nname = \"a\"\ntitle = { en = \"a\", ja = \"a\" }\nsource = \"none\"\n\
        statistic = \"mean\"\n\
        [rules]\nsize = \"1 GiB\"\nruns = 2\ntime = \"1 s\"\norder = \"by-step\"\ndirect = false\n\
        data = \"random\"\n\
        [[step]]\nkind = \"copy\"\nid = \"c\"\nchunk = \"64 KiB\"\n\
        [[derived]]\nlabel = { en = \"DelayRatio\", ja = \"遅延倍率\" }\n\
        formula = \"c.within.s / c.to_memory.s\"\n";
    let timed = |part: &str, elapsed_ns| Cell {
        workload: None,
        measure: Measure::Duration,
        direction: None,
        part: part.to_owned(),
        repetitions: vec![repetition(0, elapsed_ns, ops(0, &[]), ops(0, &[]))],
        ..cell("copy", Direction::Read, workload())
    };
    let cells = vec![timed("within", 3_000_000_000), timed("to_memory", 2_000_000_000)];
    let mut record = record("/mnt", TargetKind::Directory, Statistic::Mean, cells);
    record.header.profile = Some(kurabe_profile::parse_profile("a.toml", source).unwrap());
    let csv = export(&[record.clone()], ExportFormat::Csv, Lang::En).unwrap();
    let last = csv.lines().last().unwrap();
    assert!(last.contains(",a,DelayRatio,,,,,,figure,,derived,,,"), "{last}");
    assert!(last.ends_with(",,,,,,,,,,,,,1.5"), "{last}");
    record.cells.pop();
    assert!(!text_of(&record, ExportFormat::Csv).contains("DelayRatio"));
}

#[test]
fn no_export_passes_a_model_off_as_a_measurement() {
    let run = on_model(every_kind(Statistic::Best));
    for format in ExportFormat::WORDS.iter().map(|(_, format)| *format) {
        for (lang, words) in
            [(Lang::En, "a model in virtual time"), (Lang::Ja, "モデルを仮想時間で計算した値")]
        {
            let text = export(std::slice::from_ref(&run), format, lang).unwrap();
            let origin = match format {
                ExportFormat::Fio | ExportFormat::CdmText => words,
                // A line that contains only figures.
                ExportFormat::FioTerse => "kurabe-",
                // Output for programs has no language.
                _ => "modelled",
            };
            assert!(text.contains(origin), "{format:?}: {text}");
            assert!(!text.contains("Debian"), "the computer that computed it is not what was computed");
        }
    }
    let csv = text_of(&run, ExportFormat::Csv);
    assert!(csv.contains("model: a card") && !csv.contains(",measured,"), "{csv}");
    let fio = text_of(&run, ExportFormat::Fio);
    assert!(fio.contains("filename=kurabe-fio-test") && !fio.contains("filename=model"), "{fio}");
    assert!(!fio.lines().any(|line| line.starts_with("rw=") && line.contains("write")), "{fio}");
}

#[test]
fn a_models_text_is_read_back_as_one() {
    let text = text_of(&on_model(every_kind(Statistic::Best)), ExportFormat::CdmText);
    let back = &import("back.txt", text.as_bytes()).unwrap()[0];
    assert!(back.origin.facts["Model"].contains("not measured on a device"), "{:?}", back.origin);
    assert!(back.notices.iter().any(|notice| notice.text.en.contains("not measured on a device")));
}
