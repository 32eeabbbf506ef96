//! Verdicts follow the figures: changed figures change the answer.

use crate::study::common::{all, cells};
use kurabe_core::{Error, Result};
use kurabe_study::catalogue::Catalogue;
use kurabe_study::{
    Agreement, Answer, Becomes, Goes, Measured, Models, Point, PointTarget, QuestionResult, Study, StudyAxis,
    StudyOptions, StudyResult, plan, run,
};

/// Bytes that every repetition transfers.
const BYTES: u64 = 1_000_000_000;

const SMALL: &str = r#"
schema = 1
name = "small"
title = { en = "small", ja = "小さなスタディ" }

[[part]]
id = "rates"
title = { en = "rates", ja = "速度" }
profile = "cdm-2"
rules = { size = "16 MiB", runs = 1, discarded_runs = 0, time = "10 ms" }
column = [
    { key = "read", name = { en = "read", ja = "読み出し" }, figure = "step1.read.MB_per_s", unit = "MB/s" },
    { key = "write", name = { en = "write", ja = "書き込み" }, figure = "step1.write.MB_per_s", unit = "MB/s" },
]

[[part.row]]
id = "one"
label = { en = "first", ja = "一方" }
model = "ideal-ram-disk"
set = ["memory.access=1 us"]
on = "disk"

[[part.row]]
id = "two"
label = { en = "second", ja = "他方" }
model = "ideal-ram-disk"
set = ["memory.access=2 us"]

[[part]]
id = "course"
title = { en = "course", ja = "推移" }
profile = "cdm-2"
rules = { size = "16 MiB", runs = 1, discarded_runs = 0, time = "10 ms" }
axis = [{ parameter = "memory.access", values = ["1 us", "2 us", "4 us"] }]
column = [{ key = "time", name = { en = "time", ja = "時間" }, figure = "step1.read.ms", unit = "ms", decimals = 3 }]

[[part.row]]
id = "one"
model = "ideal-ram-disk"

[[question]]
id = "which"
title = { en = "which is faster?", ja = "速いのはどちらか" }
ask = "best"
figures = [{ part = "rates" }]
article = { says = { en = "the first", ja = "一方" }, best = ["one"], why = { en = "it is new", ja = "新しいため" } }

[[question]]
id = "what"
title = { en = "what does the second cost?", ja = "他方にするとどうなるか" }
ask = "change"
rows = ["one", "two"]
from = "one"
to = "two"
figures = [{ part = "rates", columns = ["read"] }]
article = { says = { en = "it is slower", ja = "遅くなる" }, is = "worse" }

[[question]]
id = "alike"
title = { en = "do reads and writes go together?", ja = "読みと書きは同じ順序か" }
ask = "order"
figures = [{ part = "rates", columns = ["read", "write"] }]

[[question]]
id = "line"
title = { en = "is it a line?", ja = "直線か" }
ask = "line"
along = "memory.access"
figures = [{ part = "course" }]
article = { says = { en = "it is", ja = "直線" }, is = "line" }

[[question]]
id = "limit"
title = { en = "which reach 400 MB/s?", ja = "400 MB/s に届くのはどれか" }
ask = "keeps"
at_least = 400
figures = [{ part = "rates", columns = ["read"] }]
article = { says = { en = "both", ja = "両方" }, keep = ["one", "two"] }

[[question]]
id = "price"
title = { en = "which is cheaper?", ja = "安いのはどちらか" }
ask = "untold"
why = { en = "no prices are known", ja = "価格のデータがありません" }
article = { says = { en = "the second", ja = "他方" } }
"#;

/// Invents 1000 MB in as many seconds as the access takes microseconds, and ten times as many for 5
/// us.
struct Inventor;

impl Models for Inventor {
    fn run(&self, point: &Point) -> Result<Measured> {
        let PointTarget::Model { sets, .. } = &point.target else { return Ok(Measured::default()) };
        let (_, access) = sets.iter().rfind(|(key, _)| key == "memory.access").expect("an access");
        let us: u64 = access.split(' ').next().and_then(|word| word.parse().ok()).expect("a number");
        let seconds = if us == 5 { 50 } else { us };
        Ok(Measured { cells: cells(BYTES, seconds * 1_000_000_000), power_cut: None, ..Measured::default() })
    }
}

struct Disk(Option<u64>);

impl Disk {
    fn run(&mut self, _: &Point) -> Result<Measured> {
        let broken = || Error::new(kurabe_core::ErrorKind::Target, kurabe_core::text!("broken", "故障"));
        self.0.map(|ns| Measured { cells: cells(BYTES, ns), ..Measured::default() }).ok_or_else(broken)
    }
}

fn asked(source: &str, options: &StudyOptions, disk: &mut Disk) -> StudyResult {
    let study = Study::parse("small.toml", source, &Catalogue::load().unwrap()).unwrap();
    run(
        &plan(&study, options).unwrap(),
        Vec::new(),
        &Inventor,
        |points| all(points, |point| disk.run(point)),
        3,
    )
    .unwrap()
}

fn verdict(id: &str, source: &str, options: &StudyOptions) -> QuestionResult {
    let result = asked(source, options, &mut Disk(None));
    result.verdicts.into_iter().find(|verdict| verdict.head.id == id).unwrap()
}

fn agreement(verdict: &QuestionResult) -> Option<Agreement> {
    verdict.article.as_ref()?.agreement
}

#[test]
fn whoever_swaps_the_figures_swaps_the_answer() {
    let best = |source: &str| {
        let verdict = verdict("which", source, &StudyOptions::default());
        let Some(Answer::Best(best)) = &verdict.answer else { panic!("{verdict:?}") };
        let why = verdict.article.as_ref().unwrap().why.is_some();
        (best.best.clone(), agreement(&verdict).unwrap(), why)
    };
    assert_eq!(best(SMALL), (vec![0], Agreement::Agrees, false));
    let swapped = SMALL.replace("access=1 us", "access=4 us");
    assert_eq!(best(&swapped), (vec![1], Agreement::Differs, true));
    let tie = SMALL.replace("access=1 us", "access=2 us");
    assert_eq!(best(&tie), (vec![0, 1], Agreement::Partly, true));
}

#[test]
fn a_change_has_a_direction_and_a_size_that_matters() {
    let becomes = |source: &str| {
        let verdict = verdict("what", source, &StudyOptions::default());
        let Some(Answer::Change(changes)) = &verdict.answer else { panic!("{verdict:?}") };
        (changes[0].becomes, agreement(&verdict).unwrap())
    };
    assert_eq!(becomes(SMALL), (Becomes::Worse, Agreement::Agrees));
    assert_eq!(becomes(&SMALL.replace("access=1 us", "access=4 us")), (Becomes::Better, Agreement::Differs));
    let wide = SMALL.replace("id = \"what\"", "id = \"what\"\nmargin = 150");
    assert_eq!(becomes(&wide), (Becomes::Same, Agreement::Differs));
}

#[test]
fn two_pairs_are_no_order_and_a_line_is_told_from_a_bend() {
    let order = verdict("alike", SMALL, &StudyOptions::default());
    let Some(Answer::Order { pairs, goes }) = &order.answer else { panic!("{order:?}") };
    // A single pair has the same order by chance half of the time.
    assert_eq!((pairs.same, pairs.opposite, *goes), (1, 0, Goes::Neither));
    let on_line = |options: &StudyOptions| agreement(&verdict("line", SMALL, options));
    assert_eq!(on_line(&StudyOptions::default()), Some(Agreement::Agrees));
    let axes = vec![StudyAxis::parse("memory.access=1 us,2 us,5 us").unwrap()];
    assert_eq!(on_line(&StudyOptions { axes, ..StudyOptions::default() }), Some(Agreement::Differs));
}

#[test]
fn who_keeps_a_limit_is_told_row_by_row() {
    let limit = |source: &str| {
        let verdict = verdict("limit", source, &StudyOptions::default());
        let Some(Answer::Keeps { keep, break_it, .. }) = &verdict.answer else { panic!("{verdict:?}") };
        (keep.clone(), break_it.clone(), agreement(&verdict).unwrap())
    };
    assert_eq!(limit(SMALL), (vec![0, 1], vec![], Agreement::Agrees));
    let slow = SMALL.replace("access=2 us", "access=4 us");
    assert_eq!(limit(&slow), (vec![0], vec![1], Agreement::Partly));
}

#[test]
fn what_no_figure_tells_is_said_and_a_question_without_its_table_is_not_asked() {
    let price = verdict("price", SMALL, &StudyOptions::default());
    assert_eq!((&price.answer, agreement(&price)), (&None, Some(Agreement::CannotBeTold)));
    assert_eq!(price.untold.unwrap().en, "no prices are known");
    let options = StudyOptions { parts: vec!["course".to_owned()], ..StudyOptions::default() };
    let result = asked(SMALL, &options, &mut Disk(None));
    let ids: Vec<&str> = result.verdicts.iter().map(|verdict| verdict.head.id.as_str()).collect();
    assert_eq!(
        (ids, result.unasked),
        (
            vec!["line", "price"],
            vec!["which", "what", "alike", "limit"].into_iter().map(str::to_owned).collect::<Vec<_>>()
        )
    );
}

#[test]
fn a_real_target_takes_part_and_one_that_fails_is_left_out() {
    let options = StudyOptions { on: vec![("disk".to_owned(), "/mnt/x".into())], ..StudyOptions::default() };
    let which = |disk: Option<u64>| {
        let result = asked(SMALL, &options, &mut Disk(disk));
        result.verdicts.into_iter().find(|verdict| verdict.head.id == "which").unwrap()
    };
    let real = which(Some(8_000_000_000));
    let Some(Answer::Best(best)) = &real.answer else { panic!("{real:?}") };
    assert_eq!((&best.best, real.choices[0].real, real.margin), (&vec![1], true, 0.05));
    // A single choice gives no answer.
    let alone = which(None);
    assert!(alone.answer.is_none() && alone.untold.is_some(), "{alone:?}");
}

#[test]
fn what_is_known_of_the_figures_goes_with_the_answer_whether_it_agrees_or_not() {
    let with = |mark: &str| {
        let marks = format!("on = \"disk\"\n{mark} = {{ read = {{ en = \"so\", ja = \"そう\" }} }}");
        SMALL.replace("on = \"disk\"", &marks)
    };
    let of = |mark: &str, id: &str| verdict(id, &with(mark), &StudyOptions::default());
    let plain = verdict("which", SMALL, &StudyOptions::default());
    assert_eq!((plain.count, plain.calibrated, plain.unreached.len(), plain.assumed.len()), (4, 0, 0, 0));
    let fitted = of("calibrated", "which");
    assert_eq!((fitted.count, fitted.calibrated), (4, 1));
    let missed = of("unreachable", "which");
    assert_eq!(agreement(&missed), Some(Agreement::Agrees));
    let (choice, figure) = &missed.unreached[0].of[0];
    assert_eq!((missed.unreached.len(), *choice, figure.en.as_str()), (1, 0, "read"));
    assert_eq!(missed.unreached[0].why.en, "so");
    // Another figure of the same disk does not count.
    assert!(of("unreachable", "line").unreached.is_empty());
}

#[test]
fn what_the_model_was_given_confirms_nothing() {
    let marks = "on = \"disk\"\nassumed = { read = { en = \"so\", ja = \"そう\" } }";
    let given = SMALL.replace("on = \"disk\"", marks);
    let of = |source: &str, id: &str| agreement(&verdict(id, source, &StudyOptions::default()));
    assert_eq!(of(&given, "what"), Some(Agreement::WasGiven));
    assert_eq!(verdict("what", &given, &StudyOptions::default()).assumed[0].of.len(), 1);
    // A result that contradicts a given conclusion is informative, and one that does not use it is
    // not affected.
    let against = given.replace("access=1 us", "access=4 us");
    assert_eq!(of(&against, "what"), Some(Agreement::Differs));
    assert_eq!(of(&given, "line"), Some(Agreement::Agrees));
    // It does not apply to another device either.
    let sets = vec![("memory.access".to_owned(), "3 us".to_owned())];
    let changed = verdict("what", &given, &StudyOptions { sets, ..StudyOptions::default() });
    assert!(changed.assumed.is_empty() && changed.changed, "{changed:?}");
}

#[test]
fn changed_models_are_told_as_such() {
    let options = StudyOptions {
        sets: vec![("memory.access".to_owned(), "3 us".to_owned())],
        ..StudyOptions::default()
    };
    let changed = verdict("which", SMALL, &options);
    assert!(changed.changed, "{changed:?}");
    assert!(!verdict("which", SMALL, &StudyOptions::default()).changed);
}

#[test]
fn a_mistake_in_a_question_shows_its_line_and_what_would_do() {
    let catalogue = Catalogue::load().unwrap();
    for (good, bad, words, remedy) in [
        ("best = [\"one\"]", "best = [\"onee\"]", "`onee` does not exist", "`one`"),
        ("figures = [{ part = \"rates\" }]", "figures = [{ part = \"rate\" }]", "no table `rate`", "`rates`"),
        ("columns = [\"read\"] }]", "columns = [\"raed\"] }]", "`raed` does not exist", "`read`"),
        ("to = \"two\"", "to = \"too\"", "`too` does not exist", "`two`"),
        (
            "along = \"memory.access\"",
            "along = \"memory.acces\"",
            "`memory.acces` does not exist",
            "memory.access",
        ),
        ("along = \"memory.access\"\nfigures", "figures", "`along`", ""),
        ("ask = \"keeps\"", "ask = \"keep\"", "is not a valid value", "keeps"),
        ("at_least = 400\n", "", "`at_most`", ""),
        ("at_least = 400\n", "at_least = 400\nfrom = \"one\"\n", "has no effect with", ""),
        ("columns = [\"read\", \"write\"] }]", "columns = [\"read\"] }]", "expected two columns", ""),
        ("is = \"worse\"", "is = \"slower\"", "is not a valid value", "worse"),
        ("id = \"what\"", "id = \"which\"", "another question", ""),
        ("id = \"two\"", "id = \"one\"", "another row", ""),
        ("best = [\"one\"]", "first = [\"one\"]", "`first` and `last`", ""),
    ] {
        assert!(SMALL.contains(good), "{good}");
        let error = Study::parse("small.toml", &SMALL.replacen(good, bad, 1), &catalogue).unwrap_err();
        let what = error.what().en.clone();
        assert!(what.contains(words), "{bad}: {what}");
        let hint = error.remedy_text().map(|text| text.en.clone()).unwrap_or_default();
        assert!(what.contains(remedy) || hint.contains(remedy), "{bad}: {what} {hint}");
        assert!(error.place().is_some(), "{bad}");
    }
}
