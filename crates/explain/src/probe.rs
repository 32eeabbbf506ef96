//! A probe: reads that tell apart what the cells of a run leave open.
//!
//! The model: what is open is held against the readings that may tell it. That comes next which may settle most cells in the time that it
//! takes, until nothing is open that any of them tells: each is asked once, so that all take seconds. After Worthington et al.,
//! On-line extraction of SCSI disk drive parameters, SIGMETRICS 1995 (the same sectors again).
//!
//! Non-goals: writing, and finding what a device is made of.

use crate::cell::CellFacts;
use crate::limits::{CellLimit, Evidence, LimitKind, Strength, judged};
use kurabe_core::profile::{FurtherSteps, IoStep, Profile, Step};
use kurabe_core::record::{Cell, RunHeader, RunRecord};
use kurabe_core::workload::{Direction, Pattern};
use kurabe_core::{Text, text};

/// The profile that begins one.
pub const PROBE: &str = "probe";

/// Reads that may settle something.
#[derive(Clone, Copy, Debug)]
enum Reading {
    /// The same place again: connection and drive's memory, without the medium.
    SamePlace,
    /// Larger reads at random places: what the command takes, and what its bytes take.
    Sizes,
    /// What other work disturbed, once more.
    Again,
}

impl Reading {
    /// Whether it may settle what is open of a cell.
    fn tells(self, evidence: &Evidence<'_>, facts: &CellFacts<'_>, limit: &CellLimit) -> bool {
        let is_mixed = matches!(limit.limit.kind, LimitKind::Unknown | LimitKind::Shared);
        match self {
            Self::SamePlace => evidence.turns() && !evidence.storage.several && !facts.is_random(),
            Self::Sizes => is_mixed && facts.is_random() && !evidence.turns(),
            Self::Again => limit.limit.kind == LimitKind::OtherWork,
        }
    }

    /// What is read, for the cells that it may settle.
    fn steps(self, profile: &Profile, settled: &[&CellFacts<'_>]) -> Vec<IoStep> {
        let read = |pattern, block_bytes| IoStep::plain(pattern, block_bytes, 1, vec![Direction::Read]);
        let same = |block_bytes: u32| IoStep {
            label: Some(format!("same {} KiB", block_bytes >> 10)),
            span_bytes: Some(u64::from(block_bytes)),
            ..read(Pattern::Sequential, block_bytes)
        };
        let again = |step: &Step| match step {
            Step::Io(io) if settled.iter().any(|facts| facts.cell.label == io.label()) => {
                Some(IoStep::clone(io))
            }
            _ => None,
        };
        match self {
            Self::SamePlace => vec![same(4 << 10), same(16 << 10)],
            Self::Sizes => vec![read(Pattern::Random, 16 << 10), read(Pattern::Random, 64 << 10)],
            Self::Again => profile.steps.iter().filter_map(again).collect(),
        }
    }

    /// What it is for, said to somebody who waits.
    fn words(self) -> Text {
        match self {
            Self::SamePlace => text!(
                "reading the same place again tells the medium from the connection",
                "同じ場所を読み直して、媒体と接続を切り分けます"
            ),
            Self::Sizes => text!(
                "larger reads tell the command from its bytes",
                "大きな読み出しで、コマンドの時間と転送の時間を切り分けます"
            ),
            Self::Again => {
                text!(
                    "other work disturbed it, so once more",
                    "ほかの処理の影響があったため、もう一度測ります"
                )
            }
        }
    }
}

/// The next reading of a probe, and what is open; no steps if nothing is that a reading tells.
pub fn probe_steps(header: &RunHeader, profile: &Profile, cells: &[Cell]) -> FurtherSteps {
    let record = RunRecord { cells: cells.to_vec(), ..RunRecord::begun(header.clone()) };
    let facts: Vec<CellFacts<'_>> = record.cells.iter().map(CellFacts::of).collect();
    let evidence = Evidence::of(&record, &facts);
    let limits = judged(&record, &evidence);
    let proposal = |reading: Reading| {
        let id = |number: usize| format!("{reading:?}_{number}").to_lowercase();
        let is_open = |(facts, limit): &(&CellFacts<'_>, &CellLimit)| {
            let is_sure = limit.limit.strength >= Strength::Strong;
            !is_sure && !facts.is_same_place() && reading.tells(&evidence, facts, limit)
        };
        let open: Vec<_> = facts.iter().zip(&limits).filter(is_open).map(|(facts, _)| facts).collect();
        let steps = reading.steps(profile, &open);
        let is_asked = profile.steps.iter().any(|step| step.id() == Some(&id(0)));
        let is_next = !open.is_empty() && !steps.is_empty() && !is_asked;
        is_next.then(|| {
            // Steps take the same time each.
            let settled_per_time = open.len() as f64 / steps.len() as f64;
            let with_id = |(number, step)| Step::Io(Box::new(IoStep { id: Some(id(number)), ..step }));
            let name =
                |facts: &CellFacts<'_>| Text::same(format!("{} {}", facts.cell.part, facts.cell.label));
            let (names, words) = (Text::list(open.into_iter().map(name)), reading.words());
            let why = text!("still open: {names}; {words}", "未解明: {names}。{words}"; names, words);
            let steps = steps.into_iter().enumerate().map(with_id).collect();
            (settled_per_time, FurtherSteps { steps, why: Some(why) })
        })
    };
    [Reading::SamePlace, Reading::Sizes, Reading::Again]
        .into_iter()
        .filter_map(proposal)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, further)| further)
        .unwrap_or_default()
}
