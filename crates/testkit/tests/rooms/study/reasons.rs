//! Questions that ask why: the same cells have another reason behind another link, regardless of
//! the account.

use crate::study::common::all;
use kurabe_core::environment::{BlockDevice, Environment, Link};
use kurabe_core::model::{Model, TimeAccount, TimeShare};
use kurabe_core::record::{Cell, LatencyRecord, OpsRecord, RunHeader};
use kurabe_core::workload::{BlockSize, Direction};
use kurabe_core::{ErrorKind, Result, text};
use kurabe_explain::LimitKind;
use kurabe_sim::ModelTarget;
use kurabe_study::catalogue::Catalogue;
use kurabe_study::{
    Agreement, Answer, Measured, Models, Point, QuestionResult, ReasonView, Study, StudyOptions, plan, run,
};
use kurabe_testkit::{planned_cell, repetition};

const LINKS: &str = r#"
schema = 1
name = "links"
title = { en = "links", ja = "接続" }

[[part]]
id = "rates"
title = { en = "rates", ja = "速度" }
profile = "cdm-2"
rules = { size = "16 MiB", runs = 1, discarded_runs = 0, time = "10 ms" }
axis = [{ parameter = "sata.generation", values = ["sata-1", "sata-2"] }]
column = [{ key = "read", name = { en = "read", ja = "読み出し" }, figure = "step1.read.MB_per_s", unit = "MB/s" }]

[[part.row]]
id = "drive"
model = "intel-x25m-g2"
on = "disk"

[[question]]
id = "why"
title = { en = "what bounds it?", ja = "何で決まるか" }
ask = "reason"
part = "rates"
row = "drive"
at = ["sata-1"]
cell = "seq read"
article = { says = { en = "the link", ja = "接続" }, reason = ["link", "command"] }
"#;

/// Returns cells with sequential access at 140 MB/s, regardless of the link.
fn cells(point: &Point, is_mixture: bool) -> Vec<Cell> {
    let planned = |direction: Direction| {
        let tasks = point.profile.tasks(16 << 20);
        let with_cells = tasks.iter().flat_map(|task| task.cells.iter().map(move |cell| (task, cell)));
        let cells = with_cells.map(|(task, cell)| planned_cell(task, cell));
        cells.filter(move |cell| cell.direction == Some(direction)).collect::<Vec<_>>()
    };
    let measured = |mut cell: Cell| {
        let workload = cell.workload.as_mut().unwrap();
        let bytes = u64::from(workload.block_sizes[0].size_bytes);
        if is_mixture {
            workload.block_sizes.push(BlockSize { size_bytes: 512, weight: 1 });
        }
        let ns = bytes * 1_000_000_000 / 140_000_000;
        let buckets = vec![(ns, 1000)];
        let latency = LatencyRecord { count: 1000, min_ns: ns, max_ns: ns, sum_ns: ns * 1000, buckets };
        let mut one = repetition(0, ns * 1000);
        one.read = OpsRecord {
            submitted: 1000,
            completed: 1000,
            bytes: bytes * 1000,
            latency,
            ..OpsRecord::default()
        };
        cell.repetitions = vec![one];
        cell
    };
    planned(Direction::Read).into_iter().map(measured).collect()
}

struct Drive {
    is_mixture: bool,
}

impl Models for Drive {
    fn run(&self, point: &Point) -> Result<Measured> {
        let model = ModelTarget::new(point.device.as_ref().unwrap(), 1)?.record();
        let mut cells = cells(point, self.is_mixture);
        let layer = model.layers.last().unwrap();
        for one in cells.iter_mut().flat_map(|cell| &mut cell.repetitions) {
            let share = TimeShare {
                layer: layer.name.clone(),
                cause: layer.causes[0].key.clone(),
                time_ns: one.read.latency.sum_ns,
            };
            one.account = Some(TimeAccount {
                operations: 1000,
                latency_ns: share.time_ns,
                shares: vec![share],
                counts: Vec::new(),
            });
        }
        let header = RunHeader { model: Some(model), ..RunHeader::default() };
        Ok(Measured { header, cells, ..Measured::default() })
    }
}

/// A disk of the user, behind first-generation SATA.
struct Disk;

impl Disk {
    fn run(&mut self, point: &Point) -> Result<Measured> {
        let link = Link::Sata { speed_gbit_per_s: Some(1.5), speed_max_gbit_per_s: None, ncq_depth: None };
        let device = BlockDevice { rotational: Some(false), link: Some(link), ..BlockDevice::default() };
        let environment = Environment { devices: vec![device], ..Environment::default() };
        if point.profile.name != "cdm-2" {
            return Err(ErrorKind::Internal.error(text!("another profile", "別のプロファイル")));
        }
        let header = RunHeader { environment, ..RunHeader::default() };
        Ok(Measured { header, cells: cells(point, false), ..Measured::default() })
    }
}

fn asked(source: &str, options: &StudyOptions, is_mixture: bool) -> QuestionResult {
    let study = Study::parse("links.toml", source, &Catalogue::load().unwrap()).unwrap();
    let result = run(
        &plan(&study, options).unwrap(),
        Vec::new(),
        &Drive { is_mixture },
        |points| all(points, |point| Disk.run(point)),
        2,
    )
    .unwrap();
    result.verdicts.into_iter().next().unwrap()
}

fn reason(source: &str, options: &StudyOptions, is_mixture: bool) -> (ReasonView, Agreement) {
    let verdict = asked(source, options, is_mixture);
    let Some(Answer::Reason(reason)) = verdict.answer else { panic!("{verdict:?}") };
    (*reason, verdict.article.unwrap().agreement.unwrap())
}

#[test]
fn a_reason_is_told_without_the_account_and_beside_it() {
    let usual = StudyOptions::default();
    let (view, agreement) = reason(LINKS, &usual, false);
    let outside = &view.outside;
    assert_eq!((outside.part.as_str(), outside.label.as_str()), ("read", "SEQ 1 MiB Q1 T1"));
    assert_eq!((outside.limit.kind, agreement), (LimitKind::Link, Agreement::Agrees));
    // The account contains another cause.
    let account = view.account.unwrap();
    assert!(account.kind == LimitKind::Cause && account.evidence.en.contains("100 %"), "{account:?}");
    let wider = LINKS.replace("at = [\"sata-1\"]", "at = [\"sata-2\"]");
    let (view, agreement) = reason(&wider, &usual, false);
    assert_eq!((view.outside.limit.kind, agreement), (LimitKind::DeviceRate, Agreement::Differs));
    let (view, agreement) = reason(LINKS, &usual, true);
    assert_eq!((view.outside.limit.kind, agreement), (LimitKind::Unknown, Agreement::CannotBeTold));
}

#[test]
fn of_a_real_target_the_system_tells_and_no_account() {
    let without_axis = LINKS
        .replace("axis = [{ parameter = \"sata.generation\", values = [\"sata-1\", \"sata-2\"] }]\n", "")
        .replace("at = [\"sata-1\"]\n", "");
    let on = StudyOptions { on: vec![("disk".to_owned(), "/mnt/x".into())], ..StudyOptions::default() };
    let (view, agreement) = reason(&without_axis, &on, false);
    assert_eq!((view.outside.limit.kind, agreement), (LimitKind::Link, Agreement::Agrees));
    assert_eq!(view.account, None);
}

#[test]
fn a_changed_model_is_said_to_be_another_and_a_row_that_was_not_measured_has_no_reason() {
    let axes = vec![kurabe_study::StudyAxis::parse("sata.generation=sata-2").unwrap()];
    let gone = asked(LINKS, &StudyOptions { axes, ..StudyOptions::default() }, false);
    assert!(gone.answer.is_none() && gone.untold.is_some(), "{gone:?}");
    let sets = vec![("ssd.buffer".to_owned(), "0 B".to_owned())];
    assert!(asked(LINKS, &StudyOptions { sets, ..StudyOptions::default() }, false).changed);
    assert!(!asked(LINKS, &StudyOptions::default(), false).changed);
}

#[test]
fn a_mistake_in_such_a_question_shows_its_line_and_what_would_do() {
    for (good, bad, words, remedy) in [
        ("cell = \"seq read\"", "cell = \"seq reed\"", "no test `seq reed`", "read SEQ 1 MiB Q1 T1"),
        ("cell = \"seq read\"", "cell = \"read\"", "several tests", "read RND 4 KiB Q1 T1"),
        ("cell = \"seq read\"\n", "", "`cell`", "cell = "),
        ("row = \"drive\"", "row = \"drivee\"", "`drivee` does not exist", "`drive`"),
        ("part = \"rates\"", "part = \"rate\"", "no table `rate`", "`rates`"),
        ("at = [\"sata-1\"]\n", "", "`at`", "at = "),
        ("at = [\"sata-1\"]", "at = [\"sata-9\"]", "`sata-9` does not exist", "sata-1"),
        ("at = [\"sata-1\"]", "at = [\"sata-1\", \"1\"]", "`rates` has 1 axes", "at = ["),
        ("\"link\"", "\"lnik\"", "is not a valid value", "`link`"),
        ("\"link\"", "\"unknown\"", "is not a valid value", "walk"),
        ("ask = \"reason\"", "ask = \"reason\"\nmargin = 3", "has no effect with", ""),
    ] {
        assert!(LINKS.contains(good), "{good}");
        let source = LINKS.replacen(good, bad, 1);
        let error = Study::parse("links.toml", &source, &Catalogue::load().unwrap()).unwrap_err();
        let what = error.what().en.clone();
        assert!(what.contains(words), "{bad}: {what}");
        let hint = error.remedy_text().map(|text| text.en.clone()).unwrap_or_default();
        assert!(hint.contains(remedy), "{bad}: {what} {hint}");
        assert!(error.place().is_some(), "{bad}");
    }
}

#[test]
fn a_reason_is_written_as_json_names_it() {
    for (word, kind) in LimitKind::REASONS {
        assert_eq!(serde_json::to_value(kind).unwrap(), word);
    }
}
