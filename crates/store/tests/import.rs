//! Files from outside are either refused, naming the field, or imported once.

use crate::common::fresh_store;
use kurabe_core::imported::{Correction, ImportedCell, PrintedStatistic};
use kurabe_core::profile::{PrintedUnit, Profile, Rounds, Step, Tracked};
use kurabe_core::record::{Repetition, RunRecord, Sample, Traffic};
use kurabe_core::split::KernelSplit;
use kurabe_core::workload::{Arrival, OpenLoop};
use kurabe_core::{Error, ErrorKind, Lang, Text};
use kurabe_store::{Archive, Runs, export, parse_export};
use kurabe_testkit::any_record;
use kurabe_testkit::sample::{sample_foreign, sample_record};
use proptest::prelude::*;

fn refused(bytes: &[u8]) -> Error {
    let error = parse_export(bytes).expect_err("this must not be accepted");
    assert_eq!(error.kind(), ErrorKind::Import);
    error
}

/// Modifies the sample, and returns the text of the refusal in both languages.
fn refusal(spoil: impl FnOnce(&mut RunRecord)) -> String {
    let mut run = sample_record();
    spoil(&mut run);
    let error = refused(export(&run).unwrap().as_bytes());
    format!("{}\n{}", error.render(Lang::En), error.render(Lang::Ja))
}

fn replaced(from: &str, to: &str) -> Vec<u8> {
    let words = export(&sample_record()).unwrap();
    assert!(words.contains(from), "{from}");
    words.replacen(from, to, 1).into_bytes()
}

#[test]
fn a_refusal_names_the_field_and_the_line() {
    let words = refused(&replaced("\"generator_bound\": false", "\"generator_bound\": 3")).to_string();
    assert!(words.contains("run.cells[0].repetitions[0].generator_bound"), "{words}");
    assert!(words.contains(" line "), "{words}");
    let words = refused(&replaced("\"step_index\": 0,", "")).to_string();
    assert!(words.contains("run.cells[0]") && words.contains("step_index"), "{words}");
}

#[test]
fn a_file_of_a_newer_kurabe_is_answered_with_update() {
    let newer_file = br#"{ "kurabe_record": 2, "run": "quite another form" }"#;
    let newer_record = replaced("\"schema\": 2", "\"schema\": 3");
    let much_newer_record = replaced("\"schema\": 2", "\"schema\": 18446744073709551615");
    for bytes in [&newer_file[..], &newer_record, &much_newer_record] {
        let error = refused(bytes);
        assert!(error.remedy_text().unwrap().en.contains("update"), "{error}");
        assert!(error.remedy_text().unwrap().ja.contains("更新"), "{error}");
    }
}

#[test]
fn what_is_no_exported_run_is_said_to_be_none() {
    for bytes in [&b""[..], b"null", b"[]", b"{}", b"{\"run\": {}}", b"\xff\xfe", "測定".as_bytes()] {
        refused(bytes);
    }
    let whole = export(&sample_record()).unwrap();
    assert!(refused(&whole.as_bytes()[..whole.len() / 2]).to_string().contains("EOF"), "cut short");
    refused(format!("{whole} x").as_bytes());
    let error = refused(b"{}");
    assert!(error.remedy_text().unwrap().en.contains("kurabe export"));
}

#[test]
fn a_record_that_contradicts_itself_is_refused_at_the_field() {
    let latency = |run: &mut RunRecord, spoil: fn(&mut kurabe_core::record::LatencyRecord)| {
        spoil(&mut run.cells[1].repetitions[1].write.latency);
    };
    let buckets = "`run.cells[1].repetitions[1].write.latency.buckets";
    let refusals = [
        (refusal(|run| latency(run, |latency| latency.count += 1)), buckets),
        (refusal(|run| latency(run, |latency| latency.buckets[0].1 = u64::MAX)), buckets),
        (refusal(|run| latency(run, |latency| latency.buckets.swap(1, 2))), buckets),
        (refusal(|run| latency(run, |latency| latency.buckets[1].0 = 257)), buckets),
        (refusal(|run| latency(run, |latency| latency.max_ns = 300)), buckets),
        (refusal(|run| latency(run, |latency| latency.buckets.insert(0, (3, 0)))), buckets),
        (refusal(|run| latency(run, |latency| latency.min_ns = 70_000)), "write.latency.min_ns`"),
        (refusal(|run| run.cells[2].repetitions[0].read.bytes = u64::MAX), "`run.cells`"),
        (refusal(|run| run.header.id = "ID".to_owned()), "`run.header.id`"),
        (refusal(|run| run.header.started_at = "yesterday".to_owned()), "`run.header.started_at`"),
        (refusal(|run| run.ended_at = Some(String::new())), "`run.ended_at`"),
        (refusal(|run| drop(run.labels.insert("鍵".to_owned(), String::new()))), "`run.labels`"),
        (refusal(|run| run.cells.swap(0, 1)), "`run.cells[1].index`"),
        (refusal(|run| run.cells[1].index = 0), "`run.cells[1].index`"),
        (refusal(|run| run.cells[3].step_index = 2), "`run.cells[3].step_index`"),
        (
            refusal(|run| run.cells[3].workload.as_mut().unwrap().block_sizes.clear()),
            "`run.cells[3].workload.block_sizes`",
        ),
        (refusal(|run| run.header.profile = None), "`run.header.profile`"),
        (refusal(|run| run.cells[3].workload.as_mut().unwrap().read_percent = 101), "workload.read_percent`"),
        (refusal(|run| run.cells[0].repetitions[0].elapsed_ns = u64::MAX), "`run.cells`"),
    ];
    for (words, field) in refusals {
        assert_eq!(words.matches(field).count(), 2, "{field} in {words}");
    }
}

#[test]
fn a_record_that_would_overflow_or_divide_by_zero_when_shown_is_refused_at_the_field() {
    let profile = |spoil: fn(&mut Profile)| {
        refusal(|run| spoil(run.header.profile.as_mut().expect("kurabe measured it")))
    };
    let repetition = |spoil: fn(&mut Repetition)| refusal(|run| spoil(&mut run.cells[2].repetitions[1]));
    let rounds = Rounds {
        most: 4,
        window: 2,
        excursion_percent: 20.0,
        slope_percent: 10.0,
        tracked_cells: Vec::new(),
        tracked: Tracked::Iops,
    };
    let with_rounds = |spoil: fn(&mut Rounds)| {
        let mut rounds = rounds.clone();
        spoil(&mut rounds);
        refusal(|run| run.header.profile.as_mut().unwrap().rounds = Some(rounds))
    };
    let unit = || PrintedUnit { unit: "MB/s".to_owned(), bytes: 0 };
    let huge = Traffic { read_bytes: u64::MAX, write_bytes: u64::MAX, ..Traffic::default() };
    let refusals = [
        (
            refusal(|run| run.header.profile.as_mut().unwrap().as_printed = Some(unit())),
            "profile.as_printed`",
        ),
        (
            profile(|profile| match &mut profile.steps[0] {
                Step::Io(step) => step.read_percent = 101,
                other => panic!("{other:?}"),
            }),
            "profile.steps.read_percent`",
        ),
        (
            refusal(|run| {
                run.cells[0].workload.as_mut().unwrap().open_loop =
                    Some(OpenLoop { rate_iops: 1e300, arrival: Arrival::Even });
            }),
            "`run.cells[0].workload.open_loop.rate_iops`",
        ),
        (with_rounds(|rounds| rounds.window = 1), "profile.rounds.window`"),
        (with_rounds(|rounds| rounds.most = 1), "profile.rounds.window`"),
        (with_rounds(|rounds| rounds.slope_percent = -1.0), "profile.rounds.slope_percent`"),
        (
            repetition(|repetition| {
                repetition.samples = vec![Sample { offset_bytes: u64::MAX, bytes: 1, elapsed_ns: 1 }];
            }),
            "`run.cells[2].repetitions[1].samples[0]`",
        ),
        (
            repetition(|repetition| {
                repetition.samples =
                    vec![Sample { offset_bytes: 0, bytes: u64::MAX / 2 + 1, elapsed_ns: 1 }; 2];
            }),
            "`run.cells`",
        ),
        (
            refusal(|run| run.cells.iter_mut().for_each(|cell| cell.repetitions[0].traffic = Some(huge))),
            "`run.cells`",
        ),
        (repetition(|repetition| repetition.stall_count = u64::MAX), "`run.cells`"),
        (
            repetition(|repetition| repetition.kernel = Some(KernelSplit::default())),
            "`run.cells[2].repetitions[1].discarded`",
        ),
    ];
    for (words, field) in refusals {
        assert_eq!(words.matches(field).count(), 2, "{field} in {words}");
    }
}

#[test]
fn a_figure_of_another_tool_that_cannot_be_is_refused_at_the_field() {
    let refused_at = |field: &str, spoil: fn(&mut ImportedCell)| {
        let mut run = sample_foreign();
        spoil(run.cells[1].imported.as_mut().unwrap());
        let words = refused(export(&run).unwrap().as_bytes()).to_string();
        assert!(words.contains(&format!("`run.cells[1].imported.{field}`")), "{words}");
    };
    refused_at("read_percent", |cell| cell.read_percent = Some(100.5));
    refused_at("figures[0].statistic", |cell| cell.figures[0].statistic = PrintedStatistic::Percentile(-1.0));
    refused_at("figures[0].correction", |cell| {
        cell.figures[0].correction =
            Some(Box::new(Correction { factor: 0.0, unit: String::new(), reason: Text::same("x") }));
    });
}

#[test]
fn a_run_of_another_tool_needs_no_profile_but_figures_that_are_some() {
    assert_eq!(parse_export(export(&sample_foreign()).unwrap().as_bytes()).unwrap(), sample_foreign());
    let field = "`run.cells[1].imported.figures[0].value`";
    let words = |value: f64| {
        let mut run = sample_foreign();
        run.cells[1].imported.as_mut().unwrap().figures[0].value = value;
        refused(export(&run).unwrap().as_bytes()).to_string()
    };
    assert!(words(-1.0).contains(field), "{}", words(-1.0));
    // JSON has no such number, so the error is about the format.
    assert!(words(f64::NAN).contains("run.cells[1].imported"), "{}", words(f64::NAN));
}

#[test]
fn a_record_without_an_id_gets_one() {
    let (_directory, store) = fresh_store();
    let mut run = sample_foreign();
    run.header.id = String::new();
    let id = store.import(run.clone()).unwrap();
    assert!(id.len() >= 3, "{id}");
    run.header.id.clone_from(&id);
    assert_eq!(store.load(&id).unwrap(), run);
    // An exported file must have an id, because it was assigned before the file was written.
    run.header.id.clear();
    assert!(refused(export(&run).unwrap().as_bytes()).to_string().contains("`run.header.id`"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse_export(&bytes);
    }

    #[test]
    fn mutated_files_never_panic(
        run in any_record(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = export(&run).unwrap().into_bytes();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let _ = parse_export(&bytes);
    }

    #[test]
    fn files_with_a_number_changed_never_panic_and_stay_storable(
        run in any_record(),
        place in any::<prop::sample::Index>(),
        number in prop_oneof![Just("0"), Just("-1"), Just("18446744073709551615"), Just("1e400"), Just("null")],
    ) {
        let words = export(&run).unwrap();
        let numbers: Vec<(usize, &str)> =
            words.split_inclusive(": ").scan(0, |at, part| { *at += part.len(); Some(*at) })
                .filter_map(|at| {
                    let digits = words[at..].bytes().take_while(u8::is_ascii_digit).count();
                    (digits > 0).then(|| (at, &words[at..at + digits]))
                })
                .collect();
        let (at, old) = numbers[place.index(numbers.len())];
        let changed = format!("{}{number}{}", &words[..at], &words[at + old.len()..]);
        if let Ok(run) = parse_export(changed.as_bytes()) {
            let (_directory, store) = fresh_store();
            let id = store.import(run.clone()).unwrap();
            prop_assert_eq!(store.load(&id).unwrap(), run);
        }
    }
}
