//! A probe: reads that distinguish explanations which the cells of a run leave open.
//!
//! Open cells are matched with the readings that may settle them. The next reading is the one that
//! may settle most cells per unit of time, until none is left that a reading could settle. Each
//! reading is done once, so the total takes seconds. After Worthington et al., On-line extraction
//! of SCSI disk drive parameters, SIGMETRICS 1995 (re-reads of the same sectors).
//!
//! Non-goals: writing, and identifying the components of a device.

use crate::cell::CellFacts;
use crate::limits::{CellLimit, Evidence, LimitKind, Strength, judged};
use kurabe_core::profile::{FurtherSteps, IoStep, Profile, Step};
use kurabe_core::record::{Cell, RunHeader, RunRecord};
use kurabe_core::workload::{Direction, Pattern};
use kurabe_core::{Text, text};

/// Name of the profile that starts a probe.
pub const PROBE: &str = "probe";

/// Readings that may settle a cell.
#[derive(Clone, Copy, Debug)]
enum Reading {
    /// Re-reads of the same range: connection and drive memory, without the medium.
    SamePlace,
    /// Larger reads at random offsets: the time of the command, and the time of the transfer.
    Sizes,
    /// A repetition of what other work disturbed.
    Again,
}

impl Reading {
    /// Returns whether the reading may settle the limit of a cell.
    fn tells(self, evidence: &Evidence<'_>, facts: &CellFacts<'_>, limit: &CellLimit) -> bool {
        let is_mixed = matches!(limit.limit.kind, LimitKind::Unknown | LimitKind::Shared);
        match self {
            Self::SamePlace => evidence.turns() && !evidence.storage.several && !facts.is_random(),
            Self::Sizes => {
                let is_command = limit.limit.kind == LimitKind::Command;
                (is_mixed || is_command) && facts.is_random() && !evidence.turns()
            }
            Self::Again => limit.limit.kind == LimitKind::OtherWork,
        }
    }

    /// Returns the steps of the reading, for the cells that it may settle.
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
            Self::Sizes => vec![read(Pattern::Random, 8 << 10), read(Pattern::Random, 64 << 10)],
            Self::Again => profile.steps.iter().filter_map(again).collect(),
        }
    }

    /// Describes the purpose of the reading, for a waiting user.
    fn words(self) -> Text {
        match self {
            Self::SamePlace => text!(
                "re-reading the same range distinguishes the medium from the connection",
                "同じ場所を読み直して、媒体と接続を切り分けます"
            ),
            Self::Sizes => text!(
                "larger reads distinguish the command from the transfer",
                "大きな読み出しで、コマンドの時間と転送の時間を切り分けます"
            ),
            Self::Again => {
                text!(
                    "other processes disturbed the test, so it is repeated",
                    "ほかの処理の影響があったため、もう一度測ります"
                )
            }
        }
    }
}

/// Returns the steps of the next reading and the open cells. Returns no steps if no reading can
/// settle anything.
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
            // All steps take the same time.
            let settled_per_time = open.len() as f64 / steps.len() as f64;
            let with_id = |(number, step)| Step::Io(Box::new(IoStep { id: Some(id(number)), ..step }));
            let name =
                |facts: &CellFacts<'_>| Text::same(format!("{} {}", facts.cell.part, facts.cell.label));
            let (names, words) = (Text::list(open.into_iter().map(name)), reading.words());
            let why = text!("unknown: {names}; {words}", "未解明: {names}。{words}"; names, words);
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
