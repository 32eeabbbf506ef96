//! A study from its file to its result, with a runner that invents the cells.

use crate::study::common::{all, cells};
use kurabe_core::environment::BlockDevice;
use kurabe_core::record::{Notice, NoticeKind, Repetition, VersusRecord};
use kurabe_core::{Error, ErrorKind, Result, Text, text};
use kurabe_study::catalogue::Catalogue;
use kurabe_study::{
    Answer, Measured, Models, Point, PointTarget, RealAnswers, RowOrder, Status, Study, StudyAxis,
    StudyOptions, StudyResult, plan, run,
};
use proptest::prelude::*;
use std::sync::{LazyLock, Mutex};

const SMALL: &str = r#"
schema = 1
name = "small"
title = { en = "small", ja = "小さなスタディ" }

[[part]]
id = "rates"
title = { en = "rates", ja = "速度" }
profile = "cdm-2"
rules = { size = "16 MiB", runs = 1, discarded_runs = 0, time = "10 ms" }
catalogue = "raid-single"
column = [{ published = "read" }, { published = "write" }]

[[part.row]]
label = { en = "plain", ja = "普通" }
model = "ideal-ram-disk"
on = "disk"
published = "x25m-g2"
calibrated = { read = { en = "this", ja = "これ" } }

[[part.row]]
label = { en = "slow", ja = "遅い" }
model = "ideal-ram-disk"
set = ["memory.access=1 ms"]

[[part]]
id = "ratio"
title = { en = "ratio", ja = "比" }
profile = "cdm-2"
rules = { size = "16 MiB", runs = 1, discarded_runs = 0, time = "10 ms" }
column = [{ key = "read", name = { en = "read", ja = "読み出し" }, figure = "{step}.read.MB_per_s", unit = "", decimals = 2 }]

[[part.row]]
model = "ideal-ram-disk"
step = "step1"
over = { model = "ideal-ram-disk", set = ["memory.access=1 ms"] }
"#;

/// Invents 1000 MB/s, or 250 MB/s if the access takes 1 ms, for every point.
#[derive(Default)]
struct Inventor {
    seen: Mutex<Vec<PointTarget>>,
    fail: bool,
}

impl Inventor {
    fn answer(&self, point: &Point) -> Result<Measured> {
        self.seen.lock().unwrap().push(point.target.clone());
        let PointTarget::Model { sets, .. } = &point.target else { return Ok(Measured::default()) };
        let slow = sets.iter().any(|(_, value)| value == "1 ms");
        if slow && self.fail {
            return Err(Error::new(ErrorKind::Internal, Text::same("it broke"))
                .because("worn out")
                .remedy(text!("mend it", "直してください")));
        }
        let bytes = if slow { 250_000_000 } else { 1_000_000_000 };
        Ok(Measured { cells: cells(bytes, 1_000_000_000), power_cut: Some((0, 0)), ..Measured::default() })
    }
}

impl Models for Inventor {
    fn run(&self, point: &Point) -> Result<Measured> {
        self.answer(point)
    }
}

#[derive(Default)]
struct Walker(Vec<PointTarget>);

impl Walker {
    fn run(&mut self, point: &Point) -> Result<Measured> {
        self.0.push(point.target.clone());
        let notices = vec![Notice::new(NoticeKind::Noise, Text::same("others were busy"))];
        Ok(Measured { run: Some("abc".to_owned()), notices, ..Measured::default() })
    }
}

fn study() -> Study {
    Study::parse("small.toml", SMALL, &Catalogue::load().unwrap()).unwrap()
}

fn result(options: &StudyOptions, inventor: &Inventor) -> StudyResult {
    run(
        &plan(&study(), options).unwrap(),
        Vec::new(),
        inventor,
        |points| all(points, |point| Walker::default().run(point)),
        3,
    )
    .unwrap()
}

#[test]
fn figures_stand_beside_the_published_ones_and_ratios_are_quotients() {
    let inventor = Inventor::default();
    let result = result(&StudyOptions::default(), &inventor);
    let cells = &result.parts[0].rows[0].cells;
    assert_eq!((cells[0].value, cells[0].published.unwrap().low), (Some(1000.0), 239.5));
    assert_eq!(cells[0].error_percent.unwrap().round(), 318.0);
    assert_eq!((cells[0].status, cells[1].status), (Status::Calibrated, Status::Predicted));
    assert_eq!(result.parts[0].rows[1].cells[0].value, Some(250.0));
    assert_eq!(result.parts[1].rows[0].cells[0].value, Some(4.0));
    // The ratio needs the two models that the first table has measured already.
    assert_eq!(inventor.seen.lock().unwrap().len(), 2);
}

#[test]
fn the_same_bytes_come_out_of_any_number_of_threads() {
    let options = StudyOptions {
        axes: vec![StudyAxis::parse("memory.access=1us..1ms").unwrap()],
        ..StudyOptions::default()
    };
    let plan = plan(&study(), &options).unwrap();
    let json = |threads: usize| {
        let result = run(
            &plan,
            Vec::new(),
            &Inventor::default(),
            |points| all(points, |point| Walker::default().run(point)),
            threads,
        )
        .unwrap();
        serde_json::to_string(&result).unwrap()
    };
    let one = json(1);
    assert!([2, 3, 16].into_iter().all(|threads| json(threads) == one));
}

#[test]
fn an_axis_of_the_user_makes_rows_that_are_no_longer_what_was_published() {
    let options = StudyOptions {
        axes: vec![StudyAxis::parse("memory.access=2us,1 ms").unwrap()],
        ..StudyOptions::default()
    };
    let rows = result(&options, &Inventor::default()).parts.remove(0).rows;
    let values: Vec<&str> = rows.iter().map(|row| row.values[0].as_str()).collect();
    assert_eq!(values, ["2us", "1 ms", "2us", "1 ms"]);
    let first = &rows[0].cells[0];
    assert!(rows[0].changed && first.published.is_some() && first.error_percent.is_none());
    assert_eq!((first.status, first.reason.clone()), (Status::Predicted, None));
    // The second row is a disk with 1 ms in any case.
    assert_eq!(rows.iter().map(|row| row.changed).collect::<Vec<_>>(), [true, true, true, false]);
}

#[test]
fn an_axis_or_a_value_that_is_the_studys_own_changes_nothing() {
    let plain = result(&StudyOptions::default(), &Inventor::default()).parts.remove(0).rows.remove(0);
    for words in ["memory.access=1us,2us", "memory.access=1000 ns,2us"] {
        let options =
            StudyOptions { axes: vec![StudyAxis::parse(words).unwrap()], ..StudyOptions::default() };
        let rows = result(&options, &Inventor::default()).parts.remove(0).rows;
        assert!(!rows[0].changed && rows[1].changed, "{words}");
        assert_eq!(rows[0].cells, plain.cells);
    }
    let sets = vec![("memory.rate".to_owned(), "5200 MB/s".to_owned())];
    let same = result(&StudyOptions { sets, ..StudyOptions::default() }, &Inventor::default());
    assert!(!same.parts[0].rows[0].changed);
}

#[test]
fn what_one_table_tells_of_a_figure_holds_in_another_with_other_words_for_the_same() {
    let what_if = r#"
[[part]]
id = "what-if"
title = { en = "what if", ja = "もしも" }
profile = "cdm-2"
rules = { size = "SIZE", runs = 2, discarded_runs = 1, time = "20 ms" }
axis = [{ parameter = "memory.access", values = ["0.001 ms", "1 ms"] }]
column = [
    { key = "r", name = { en = "read", ja = "読み出し" }, figure = "step1.read.MB_per_s", unit = "MB/s" },
    { key = "w", name = { en = "write", ja = "書き込み" }, figure = "step1.write.MB_per_s", unit = "MB/s" },
]

[[part.row]]
model = "ideal-ram-disk"
"#;
    let cells = |size: &str, options: &StudyOptions| {
        let source = format!("{SMALL}{}", what_if.replace("SIZE", size));
        let study = Study::parse("small.toml", &source, &Catalogue::load().unwrap()).unwrap();
        let plan = plan(&study, options).unwrap();
        let mut result = run(
            &plan,
            Vec::new(),
            &Inventor::default(),
            |points| all(points, |point| Walker::default().run(point)),
            1,
        )
        .unwrap();
        let rows = result.parts.pop().unwrap().rows;
        rows.iter()
            .map(|row| (row.cells[0].status, row.cells[1].status, row.cells[0].reason.clone()))
            .collect()
    };
    let why = Some(text!("as in table rates: this", "表 rates と同じ: これ"));
    let as_there = (Status::Calibrated, Status::Predicted, why);
    let plain = (Status::Predicted, Status::Predicted, None);
    let cells_of_16_mib: Vec<_> = cells("16 MiB", &StudyOptions::default());
    assert_eq!(cells_of_16_mib, [as_there.clone(), plain.clone()]);
    // The table with the mark need not be run.
    let alone = StudyOptions { parts: vec!["what-if".to_owned()], ..StudyOptions::default() };
    assert_eq!(cells("16 MiB", &alone), [as_there, plain.clone()]);
    // A test with another size has other figures, and so does a changed device.
    assert_eq!(cells("8 MiB", &StudyOptions::default()), [plain.clone(), plain.clone()]);
    let sets = vec![("memory.rate".to_owned(), "1 GB/s".to_owned())];
    assert_eq!(cells("16 MiB", &StudyOptions { sets, ..StudyOptions::default() }), [plain.clone(), plain]);
}

#[test]
fn a_real_target_takes_the_place_of_its_row_and_of_no_other() {
    let options = StudyOptions { on: vec![("disk".to_owned(), "/mnt/x".into())], ..StudyOptions::default() };
    let mut walker = Walker::default();
    let result = run(
        &plan(&study(), &options).unwrap(),
        Vec::new(),
        &Inventor::default(),
        |points| all(points, |point| walker.run(point)),
        2,
    )
    .unwrap();
    assert_eq!(walker.0, [PointTarget::Path("/mnt/x".into())]);
    let rows = &result.parts[0].rows;
    assert_eq!((rows[0].path.as_deref(), rows[0].run.as_deref()), (Some("/mnt/x"), Some("abc")));
    assert_eq!(rows[0].notices[0].text.en, "others were busy");
    assert_eq!(rows[0].cells[0].status, Status::Measured);
    assert_eq!(rows[1].model.as_deref(), Some("ideal-ram-disk"));
}

/// A study of two devices of the user's, without a model.
const OWN: &str = r#"
schema = 1
name = "own"
title = { en = "own", ja = "手元の機器" }

[[part]]
id = "rates"
title = { en = "rates", ja = "速度" }
profile = "cdm-2"
devices = "columns"
column = [{ key = "read", name = { en = "read", ja = "読み出し" }, figure = "step1.read.MB_per_s", unit = "MB/s" }]

[[part.row]]
id = "a"
on = "a"
target = "/mnt/a"

[[part.row]]
id = "b"
on = "b"
label = { en = "blue", ja = "青" }

[[question]]
id = "best"
title = { en = "which?", ja = "どちらか" }
ask = "best"
rows = ["a", "b"]
figures = [{ part = "rates" }]
"#;

/// Runs the study with these rates in MB/s for the repetitions of each device.
fn own(rates: [&[u64]; 2], group: Option<&str>, apart: Option<&Text>) -> StudyResult {
    let study = Study::parse("own.toml", OWN, &Catalogue::load().unwrap()).unwrap();
    let on = vec![("b".to_owned(), "/mnt/b".into())];
    let plan = plan(&study, &StudyOptions { on, ..StudyOptions::default() }).unwrap();
    let measured = |rates: &&[u64]| {
        let mut cells = cells(0, 1_000_000_000);
        let only = cells[0].repetitions.remove(0);
        for (index, rate) in (0..).zip(*rates) {
            let mut repetition = Repetition { index, ..only.clone() };
            repetition.read.bytes = rate * 1_000_000;
            cells[0].repetitions.push(repetition);
        }
        let mut measured = Measured { cells, ..Measured::default() };
        measured.header.versus = group.map(|group| VersusRecord {
            group: group.to_owned(),
            order_seed: 1,
            targets: Vec::new(),
            place: 0,
            variants: Vec::new(),
        });
        let device = BlockDevice { model: Some("Stick".to_owned()), ..BlockDevice::default() };
        measured.header.environment.devices = vec![device];
        Ok(measured)
    };
    run(
        &plan,
        Vec::new(),
        &Inventor::default(),
        |points| {
            let targets: Vec<_> = points.iter().map(|point| point.target.clone()).collect();
            let paths = ["/mnt/a", "/mnt/b"].map(|path| PointTarget::Path(path.into()));
            assert_eq!(targets, paths, "both are measured together");
            RealAnswers { answers: rates.iter().map(measured).collect(), apart: apart.cloned() }
        },
        1,
    )
    .unwrap()
}

#[test]
fn rows_without_a_model_have_their_scatter_and_the_name_of_the_device() {
    let result = own([&[90, 110], &[200, 200]], Some("g"), None);
    assert!(result.is_measured());
    let part = &result.parts[0];
    let labels: Vec<&str> = part.rows.iter().map(|row| row.label.en.as_str()).collect();
    assert_eq!(labels, ["Stick", "blue"]);
    let cell = &part.rows[0].cells[0];
    // Student's t for one degree of freedom: 12.706 times the standard error, 10.
    assert!((cell.plus_minus.unwrap() - 127.06).abs() < 0.01, "{cell:?}");
    assert_eq!((cell.status, part.rows[1].cells[0].plus_minus), (Status::Measured, Some(0.0)));
    assert_eq!(part.order, [RowOrder::Interleaved { rows: vec![0, 1], blocks: 2 }]);
    assert!(part.devices_across && result.verdicts[0].interleaved);
}

#[test]
fn devices_whose_repetitions_scatter_more_than_they_differ_are_a_tie() {
    let best = |rates: [&[u64]; 2]| {
        let result = own(rates, Some("g"), None);
        let Some(Answer::Best(best)) = result.verdicts[0].answer.clone() else { panic!("{result:?}") };
        best.best
    };
    assert_eq!(best([&[100, 101, 99, 100], &[120, 121, 119, 120]]), [1]);
    assert_eq!(best([&[50, 150, 60, 140], &[60, 170, 90, 160]]), [0, 1]);
}

#[test]
fn devices_that_were_not_interleaved_say_why() {
    let why = text!("another sector size", "セクターサイズが違う");
    let result = own([&[1, 1], &[1, 1]], None, Some(&why));
    assert_eq!(result.parts[0].order, [RowOrder::InSequence { rows: vec![0, 1], why }]);
    assert!(!result.verdicts[0].interleaved);
}

#[test]
fn a_row_without_a_model_needs_a_device_and_no_key_of_a_model() {
    let catalogue = Catalogue::load().unwrap();
    let study = Study::parse("own.toml", OWN, &catalogue).unwrap();
    let error = plan(&study, &StudyOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.remedy_text().unwrap().en.contains("--on b=PATH"), "{error:?}");
    for (good, bad, what) in [
        (
            "target = \"/mnt/a\"",
            "target = \"/mnt/a\"\nset = [\"memory.access=1 ms\"]",
            "`set` refers to a model",
        ),
        (
            "target = \"/mnt/a\"",
            "target = \"/mnt/a\"\nmodel = \"ideal-ram-disk\"",
            "either a `model` or a `target`",
        ),
        ("on = \"a\"\ntarget = \"/mnt/a\"\n", "", "a row needs a `model`"),
        ("\"columns\"", "\"across\"", "`across`"),
    ] {
        let error = Study::parse("own.toml", &OWN.replacen(good, bad, 1), &catalogue).unwrap_err();
        assert!(error.what().en.contains(what), "{bad}: {error}");
    }
}

#[test]
fn a_row_that_fails_says_why_and_the_others_count() {
    let result = result(&StudyOptions::default(), &Inventor { fail: true, ..Inventor::default() });
    let failure = result.failure().unwrap();
    let Text { en, ja, .. } = failure.what();
    assert!(
        en.ends_with(": 2 of the rows could not be measured; the first: it broke: worn out; mend it"),
        "{en}"
    );
    assert!(ja.ends_with(": it broke: worn out。直してください"), "{ja}");
    let rows = &result.parts[0].rows;
    assert!(rows[0].error.is_none() && rows[0].cells[0].value.is_some());
    assert!(rows[1].error.is_some() && rows[1].cells[0].value.is_none());
}

#[test]
fn mistakes_are_told_before_anything_is_measured() {
    let refusal = |options: &StudyOptions| {
        let error = plan(&study(), options).unwrap_err();
        assert!(error.remedy_text().is_some(), "{error:?}");
        assert_eq!(error.kind(), ErrorKind::Usage, "{error:?}");
        error.what().en.clone()
    };
    let axes = vec![StudyAxis::parse("raid.strip=8KiB..64KiB").unwrap()];
    assert!(refusal(&StudyOptions { axes, ..StudyOptions::default() }).contains("raid.strip"));
    let sets = vec![("memory.acces".to_owned(), "1".to_owned())];
    assert!(refusal(&StudyOptions { sets, ..StudyOptions::default() }).contains("memory.acces"));
    let on = vec![("usb".to_owned(), "/x".into())];
    assert!(refusal(&StudyOptions { on, ..StudyOptions::default() }).contains("`usb`"));
    assert!(
        refusal(&StudyOptions { parts: vec!["rate".to_owned()], ..StudyOptions::default() })
            .contains("`rate`")
    );
}

#[test]
fn a_mistake_in_a_study_shows_its_line() {
    let catalogue = Catalogue::load().unwrap();
    for (good, bad, line, what) in [
        ("profile = \"cdm-2\"", "profile = \"cdm-22\"", 9, "no profile"),
        ("published = \"write\"", "published = \"wrote\"", 12, "no column"),
        ("published = \"x25m-g2\"", "published = \"x25m\"", 18, "no row"),
        ("calibrated = { read", "calibrated = { raed", 19, "unknown key"),
        ("memory.access=1 ms\"]\n\n", "memory\"]\n\n", 24, "layer.parameter=value"),
        ("step = \"step1\"", "step = \"step7\"", 33, "no test"),
        ("step = \"step1\"\n", "", 33, "{step}"),
        ("raid-single", "raid-singel", 11, "no table"),
        ("id = \"ratio\"", "id = \"rates\"", 26, "another part"),
    ] {
        let error = Study::parse("small.toml", &SMALL.replacen(good, bad, 1), &catalogue).unwrap_err();
        assert!(error.what().en.contains(what), "{bad}: {error}");
        assert_eq!(error.place().map(|place| place.line), Some(line), "{bad}: {error:?}");
    }
}

/// Returns a text in which a range is replaced.
fn damaged(text: &str, at: usize, length: usize, words: &str) -> String {
    let kept = |from: usize, count: usize| text.chars().skip(from).take(count);
    kept(0, at).chain(words.chars()).chain(kept(at + length, usize::MAX)).collect()
}

proptest! {
    // Without `/`, so that no file is read.
    #[test]
    fn damaged_files_are_read_or_refused_and_nothing_panics(
        at in 0usize..1400, length in 0usize..30, words in "[ -.0-~\n]{0,12}|[\\[\\]{}\"=0-9あ]{0,4}"
    ) {
        static KNOWN: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::load().unwrap());
        if let Ok(study) = Study::parse("damaged.toml", &damaged(SMALL, at, length, &words), &KNOWN) {
            let _ = plan(&study, &StudyOptions::default());
        }
        let (_, tables) = kurabe_study::catalogue::CATALOGUE[0];
        let _ = Catalogue::parse("damaged.toml", &damaged(tables, at, length, &words));
    }
}
