//! Pivots over runs that are defined here.

use super::*;
use crate::digest::Word;
use crate::fairness::{Fact, FactValue, Weight};
use crate::key::CellKey;
use kurabe_core::digest::{DigestedRun, Summary};
use kurabe_core::record::{Measure, RunStatus};
use kurabe_core::workload::Direction;
use kurabe_stats::Verdict;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Plain text. Values are the same in all languages.
const WORDS: PivotWords = PivotWords {
    key: |source| {
        Text::same(match source {
            KeySource::Fact(fact) => fact.word(),
            KeySource::Label(label) => label,
            _ => "own",
        })
    },
    value: |value| match value {
        Some(FactValue::Name(name)) => Text::same(name),
        _ => Text::same("not told"),
    },
    effect: |_| None,
    cell: |cell| text!("read {}", "読み出し {}", cell.label),
};

/// Runs with their digests, in chronological order.
#[derive(Default)]
struct Runs {
    list: Vec<RunSummary>,
    digests: Digests,
}

impl Runs {
    fn word(&mut self, word: &Word) -> u32 {
        let word = serde_json::to_string(word).unwrap();
        let position = self.digests.words.iter().position(|other| *other == word);
        position.unwrap_or_else(|| {
            self.digests.words.push(word);
            self.digests.words.len() - 1
        }) as u32
    }

    /// Adds a run with facts and labels (`label:key`), and the values of `read RND 4 KiB Q1 T1` in
    /// its repetitions, in MB/s.
    fn add(&mut self, id: &str, facts: &[(&str, &str)], values: &[f64]) -> &mut Self {
        let labels: BTreeMap<String, String> = facts
            .iter()
            .filter_map(|(key, value)| Some((key.strip_prefix("label:")?.to_owned(), (*value).to_owned())))
            .collect();
        let usual = [("tool", "kurabe"), ("model", "a device"), ("cache", "avoided"), ("profile", "quick")];
        let is_given = |key: &str| facts.iter().any(|(other, _)| *other == key);
        let rest = usual.into_iter().filter(|(key, _)| !is_given(key));
        let all: Vec<(&str, &str)> =
            facts.iter().copied().chain(rest).filter(|(key, _)| !key.starts_with("label:")).collect();
        let words = all.iter().map(|(key, value)| {
            Word::Fact(Fact::from_word(key).unwrap(), FactValue::Name((*value).to_owned()))
        });
        let facts = words.collect::<Vec<_>>().iter().map(|word| self.word(word)).collect();
        let cell = self.word(&Word::Cell(cell("RND 4 KiB Q1 T1", 4096)));
        let megabytes: Vec<f64> = values.iter().map(|value| value * 1e6).collect();
        let figures = Summary::of(&megabytes).map(|summary| (cell, summary)).into_iter().collect();
        let minute = self.list.len();
        self.list.push(RunSummary {
            id: id.to_owned(),
            started_at: format!("2026-02-{:02}T12:00:00Z", minute + 1),
            measured_at: None,
            imported: false,
            status: RunStatus::Complete,
            target: "/mnt/usb".to_owned(),
            device: None,
            model: all
                .iter()
                .find(|(key, value)| *key == "model" && *value != "a device")
                .map(|(_, value)| Text::same(*value)),
            profile: "quick".to_owned(),
            cell_count: 1,
            labels,
        });
        self.digests.runs.push(DigestedRun { id: id.to_owned(), facts, figures, among: Vec::new() });
        self
    }

    fn try_pivot(&self, by: &str, change: impl FnOnce(&mut PivotRequest)) -> Result<Pivot> {
        let by = by.split(',').map(str::to_owned).collect();
        let mut request = PivotRequest { by, margin: 0.05, ..PivotRequest::default() };
        change(&mut request);
        pivot(&self.list, &self.digests, &request, &WORDS)
    }

    fn pivot(&self, by: &str) -> Pivot {
        self.try_pivot(by, |_| {}).unwrap()
    }

    fn against(&self, by: &str, baseline: &str) -> Pivot {
        self.try_pivot(by, |request| request.baseline = Some(baseline.to_owned())).unwrap()
    }
}

fn cell(label: &str, block_bytes: u64) -> CellName {
    CellName {
        key: CellKey::Io {
            sequential: false,
            block_bytes,
            iodepth: 1,
            threads: 1,
            direction: "read".to_owned(),
            within: None,
            warm_up_passes: 0,
            times_as_long: 1,
            beside: String::new(),
            nth: 0,
        },
        label: label.to_owned(),
        part: String::new(),
        direction: Some(Direction::Read),
        measure: Measure::Rate,
    }
}

/// Returns the figure of the first group at a row and a column, by their text.
fn figure<'a>(pivot: &'a Pivot, row: &[&str], column: &str) -> &'a PivotFigure {
    let figure = pivot.groups[0].figures.iter().find(|figure| {
        let place = &pivot.places[figure.place];
        pivot.columns[place.column].en == column
            && pivot.rows[place.row].iter().map(|value| value.en.as_str()).eq(row.iter().copied())
    });
    figure.unwrap_or_else(|| panic!("nothing at {row:?}, {column}: {pivot:#?}"))
}

fn texts(list: &[Text]) -> Vec<&str> {
    list.iter().map(|text| text.en.as_str()).collect()
}

/// Returns runs on two file systems with two firmware versions.
fn emulators() -> Runs {
    let mut runs = Runs::default();
    for (id, system, firmware, value) in [
        ("a", "apfs", "1.9", 100.0),
        ("b", "apfs", "1.10", 120.0),
        ("c", "exfat", "1.9", 80.0),
        ("d", "exfat", "1.10", 90.0),
        ("e", "apfs", "1.9", 104.0),
        ("f", "exfat", "1.9", 81.0),
    ] {
        runs.add(id, &[("filesystem", system), ("firmware", firmware)], &[value - 1.0, value, value + 1.0]);
    }
    runs.add("g", &[("filesystem", "apfs")], &[1.0]);
    runs
}

#[test]
fn the_last_key_makes_the_columns_and_the_run_is_the_unit() {
    let pivot = emulators().pivot("filesystem,firmware");
    assert_eq!(texts(&pivot.columns), ["1.9", "1.10"], "numbers in their order");
    assert_eq!(pivot.rows.iter().map(|row| row[0].en.as_str()).collect::<Vec<_>>(), ["apfs", "exfat"]);
    let mean = figure(&pivot, &["apfs"], "1.9");
    assert_eq!((mean.mean, mean.run_count, mean.repetition_count), (102e6, 2, None));
    assert!((mean.deviation - 8f64.sqrt() * 1e6).abs() < 1.0, "{mean:?}");
    let single = figure(&pivot, &["exfat"], "1.10");
    assert_eq!((single.mean, single.run_count, single.repetition_count), (90e6, 1, Some(3)));
    assert!((single.deviation - 1e6).abs() < 1.0, "its repetitions stand in: {single:?}");
    let lacking: Vec<_> = pivot.lacking.iter().map(|(key, count)| (key.key.as_str(), *count)).collect();
    assert_eq!((pivot.run_count, lacking), (6, vec![("firmware", 1)]));
    let columns = emulators().pivot("filesystem");
    assert_eq!((columns.rows, columns.run_count), (vec![Vec::new()], 7));
}

#[test]
fn a_baseline_is_a_value_of_any_key() {
    let pivot = emulators().against("filesystem,firmware", "apfs");
    assert!(figure(&pivot, &["apfs"], "1.9").compared.is_none());
    let judged = figure(&pivot, &["exfat"], "1.10").compared.unwrap();
    assert_eq!((judged.speed.value, judged.verdict), (0.75, Verdict::Slower));
    let by_firmware = emulators().against("filesystem,firmware", "firmware=1.9");
    let judged = figure(&by_firmware, &["apfs"], "1.10").compared.unwrap();
    assert!((judged.speed.value - 120.0 / 102.0).abs() < 1e-9);
    assert!(judged.speed.low.is_nan(), "one run against two tells nothing of its spread: {judged:?}");
    assert!(matches!(judged.verdict, Verdict::NotEnough { .. }));
}

#[test]
fn a_baseline_that_is_not_there_or_not_clear_is_an_error_that_helps() {
    let refused = |by: &str, baseline: &str| {
        emulators().try_pivot(by, |request| request.baseline = Some(baseline.to_owned())).unwrap_err()
    };
    let error = refused("filesystem,firmware", "apsf");
    assert!(error.remedy_text().unwrap().en.contains("did you mean `apfs`?"), "{error}");
    let mut runs = Runs::default();
    runs.add("a", &[("filesystem", "x"), ("label:owner", "x")], &[1.0, 2.0]);
    runs.add("b", &[("filesystem", "y"), ("label:owner", "y")], &[1.0, 2.0]);
    let error =
        runs.try_pivot("filesystem,owner", |request| request.baseline = Some("x".to_owned())).unwrap_err();
    assert!(error.remedy_text().unwrap().en.contains("--baseline filesystem=x"), "{error}");
    assert!(
        runs.try_pivot("filesystem,owner", |request| request.baseline = Some("owner=x".to_owned())).is_ok()
    );
}

#[test]
fn keys_are_facts_labels_and_what_the_list_shows() {
    let mut runs = Runs::default();
    runs.add("a", &[("label:owner", "Aki"), ("label:firmware", "2"), ("firmware", "1")], &[1.0, 2.0]);
    for (key, value) in [
        ("owner", "Aki"),
        ("label:owner", "Aki"),
        ("label:firmware", "2"),
        ("fact:firmware", "1"),
        ("target", "/mnt/usb"),
        ("date", "2026-02-01"),
        ("month", "2026-02"),
        ("run", "a"),
        ("profile", "quick"),
        ("model", "a device"),
    ] {
        assert_eq!(texts(&runs.pivot(key).columns), [value], "{key}");
    }
    let refused = |by: &str| runs.try_pivot(by, |_| {}).unwrap_err().remedy_text().unwrap().en.clone();
    assert!(refused("firmware").contains("label:firmware or fact:firmware"));
    assert!(refused("filesytem").contains("did you mean `filesystem`?"));
    assert!(refused("label:ownr").contains("did you mean `label:owner`?"));
    assert!(refused("owner,label:owner").contains("once"));
    assert!(refused("kernel").contains("kurabe label"));
}

#[test]
fn filters_leave_the_runs_that_are_meant() {
    let runs = emulators();
    let with = |filters: &[(&str, &str)]| {
        let filters = filters.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        runs.try_pivot("firmware", |request| request.filters = filters)
    };
    assert_eq!(with(&[("filesystem", "APFS")]).unwrap().run_count, 3);
    assert_eq!(with(&[("filesystem", "apfs"), ("firmware", "1.10")]).unwrap().run_count, 1);
    let error = with(&[("filesystem", "exfta")]).unwrap_err();
    assert!(error.remedy_text().unwrap().en.contains("did you mean `exfat`?"), "{error}");
    let profile = |name: &str| runs.try_pivot("firmware", |request| request.profile = Some(name.to_owned()));
    assert_eq!(profile("quick").unwrap().run_count, 6);
    assert!(profile("quik").unwrap_err().remedy_text().unwrap().en.contains("`quick`"));
    let cell = |words: &str| runs.try_pivot("firmware", |request| request.cell = Some(words.to_owned()));
    assert_eq!(cell("rnd read 4 kib").unwrap().groups.len(), 1);
    assert_eq!(cell("読み出し").unwrap().groups.len(), 1);
    assert!(cell("write").unwrap_err().remedy_text().unwrap().en.contains("read RND 4 KiB Q1 T1"));
}

#[test]
fn what_else_differed_is_said_and_where_it_is_mixed() {
    let mut runs = Runs::default();
    runs.add("a", &[("filesystem", "apfs"), ("kernel", "6.1")], &[1.0, 2.0]);
    runs.add("b", &[("filesystem", "apfs"), ("kernel", "6.6")], &[1.0, 2.0]);
    runs.add("c", &[("filesystem", "exfat"), ("kernel", "6.6"), ("scheduler", "none")], &[1.0, 2.0]);
    let pivot = runs.pivot("filesystem");
    let differences: Vec<_> = pivot
        .differences
        .iter()
        .map(|difference| (difference.key, texts(&difference.values), difference.within.len()))
        .collect();
    assert_eq!(
        differences,
        [("kernel", vec!["6.1", "6.6"], 1)],
        "a value that one run lacks is not a difference"
    );
    let place = &pivot.places[pivot.differences[0].within[0]];
    assert_eq!(pivot.columns[place.column].en, "apfs");
    assert!(
        runs.pivot("kernel").differences.iter().all(|difference| difference.key != "kernel"),
        "the subject of the comparison is not a difference"
    );
}

#[test]
fn figures_that_cannot_be_put_together_are_shown_apart() {
    let mut runs = Runs::default();
    let (best, mean) = (("statistic", "the best of several runs"), ("statistic", "every repetition"));
    runs.add("a", &[("filesystem", "apfs"), mean], &[100.0, 101.0]);
    runs.add("b", &[("filesystem", "apfs"), best], &[200.0]);
    runs.add("c", &[("filesystem", "exfat"), mean], &[50.0, 51.0]);
    let pivot = runs.against("filesystem", "apfs");
    assert_eq!(pivot.groups.len(), 2);
    for group in &pivot.groups {
        assert_eq!(group.apart[0].0, "statistic");
        assert!(group.figures.iter().all(|figure| figure.run_count == 1), "{group:?}");
    }
    let compared: Vec<_> =
        pivot.groups.iter().flat_map(|group| &group.figures).filter_map(|f| f.compared).collect();
    assert_eq!(compared.len(), 1, "only the means are held against one another");
    let difference = &pivot.differences[0];
    assert_eq!(
        (difference.key, difference.weight, difference.within.len()),
        ("statistic", Weight::Decisive, 0)
    );

    // If no place combines them, they are compared as two runs would be, and the difference is
    // listed first.
    let by_tool = runs.pivot("statistic");
    assert_eq!((by_tool.groups.len(), by_tool.groups[0].figures.len()), (1, 2));
}

#[test]
fn computed_figures_that_repeat_are_exact_and_others_scatter() {
    let judged = |one: &[f64], two: &[f64]| {
        let mut runs = Runs::default();
        runs.add("a", &[("model", "one")], one);
        runs.add("b", &[("model", "two")], two);
        figure(&runs.against("model", "one"), &[], "two").compared.unwrap()
    };
    let exact = judged(&[100.1; 3], &[130.13; 3]);
    assert_eq!(exact.verdict, Verdict::Faster);
    assert!((exact.speed.low - 1.3).abs() < 1e-9 && (exact.speed.high - 1.3).abs() < 1e-9, "{exact:?}");
    let scatters = judged(&[100.0, 60.0, 140.0], &[130.0, 90.0, 170.0]);
    assert!(
        matches!(scatters.verdict, Verdict::NotEnough { .. }) && scatters.speed.low < 1.0,
        "{scatters:?}"
    );
    let alike = judged(&[100.0, 60.0, 140.0], &[100.0, 60.0, 140.0]);
    assert_eq!((alike.verdict, alike.speed.low), (Verdict::Same, 1.0), "computed alike");
    let single = judged(&[100.0], &[130.0]);
    assert!(
        matches!(single.verdict, Verdict::NotEnough { more: None }),
        "whether it repeats is not known: {single:?}"
    );
}

#[test]
fn a_model_that_repeats_itself_needs_no_second_run() {
    let mut runs = Runs::default();
    runs.add("a", &[("model", "one")], &[100.0, 100.0]);
    for (id, value) in [("b", 130.0), ("c", 132.0)] {
        runs.add(id, &[("model", "two")], &[value, value]);
    }
    let against = |runs: &Runs| figure(&runs.against("model", "one"), &[], "two").compared.unwrap();
    assert_eq!(against(&runs).verdict, Verdict::Faster);
    let mut scatters = Runs::default();
    scatters.add("a", &[("model", "one")], &[99.0, 101.0]);
    for (id, value) in [("b", 130.0), ("c", 132.0)] {
        scatters.add(id, &[("model", "two")], &[value, value]);
    }
    assert!(against(&scatters).speed.low.is_nan());
}

proptest! {
    #[test]
    fn every_run_counts_once_and_means_lie_among_their_runs(
        given in prop::collection::vec((0u8..3, 0u8..3, 1.0f64..1000.0), 1..30),
    ) {
        let mut runs = Runs::default();
        for (number, (row, column, value)) in given.iter().enumerate() {
            let (row, column) = (row.to_string(), column.to_string());
            let facts = [("filesystem", row.as_str()), ("firmware", column.as_str())];
            runs.add(&format!("r{number}"), &facts, &[*value, *value]);
        }
        let pivot = runs.pivot("filesystem,firmware");
        prop_assert_eq!(pivot.run_count, given.len());
        let counted: u32 = pivot.groups[0].figures.iter().map(|figure| figure.run_count).sum();
        prop_assert_eq!(counted as usize, given.len());
        for figure in &pivot.groups[0].figures {
            let place = &pivot.places[figure.place];
            let (row, column) = (&pivot.rows[place.row][0].en, &pivot.columns[place.column].en);
            let here: Vec<f64> = given
                .iter()
                .filter(|(r, c, _)| r.to_string() == *row && c.to_string() == *column)
                .map(|(_, _, value)| value * 1e6)
                .collect();
            prop_assert_eq!(here.len(), place.runs.len());
            let mean = here.iter().sum::<f64>() / here.len() as f64;
            prop_assert!((figure.mean / mean - 1.0).abs() < 1e-9);
        }
    }
}
