//! Where a figure of a table is found in what was measured.

use crate::catalogue::check_figure;
use kurabe_core::profile::{Formula, Profile};
use kurabe_core::record::{Cell, LatencyRecord, Notice, RunHeader};
use kurabe_core::{Text, text};
use kurabe_stats::derived_values;
use serde::{Deserialize, Serialize};

/// Where a figure is found.
#[derive(Clone, Debug, PartialEq)]
pub enum FigureSource {
    /// A formula over the cells of the run; `{step}` in it stands for the row's step.
    Formula(String),
    /// A figure that the profile derives, by its place.
    Derived(usize),
    /// What a power cut at the end of the run would do, in MB.
    PowerCut(PowerCut),
    /// How long reads waited, over all of its cells, in ms.
    Wait(WaitOf),
}

/// Which wait of the reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitOf {
    /// The mean of all reads.
    Mean,
    /// The longest of all.
    Longest,
}

/// What becomes of acknowledged bytes that are not on the medium yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerCut {
    /// Gone.
    Lost,
    /// Saved by a battery or a capacitor.
    Saved,
}

/// What a point came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// What is known of the run besides: the model, or what the system tells of a real target.
    pub header: RunHeader,
    /// Its cells.
    pub cells: Vec<Cell>,
    /// What was said of it.
    pub notices: Vec<Notice>,
    /// Bytes that a power cut at the end would have lost, and saved; `None` on a real target, where nobody cuts it.
    pub power_cut: Option<(u64, u64)>,
    /// The id of the stored run, if it was stored.
    pub run: Option<String>,
}

impl FigureSource {
    /// The formula of a row, if this is one.
    fn formula(&self, step: Option<&str>, profile: &Profile) -> Result<Option<Formula>, Text> {
        match self {
            Self::Formula(source) => {
                if source.contains("{step}") && step.is_none() {
                    return Err(text!(
                        "the formula has {{step}}, so the row must name its `step`",
                        "式に {{step}} があるので、行に `step` が必要です"
                    ));
                }
                Formula::parse(&source.replace("{step}", step.unwrap_or_default())).map(Some)
            }
            Self::Derived(place) => Ok(profile.derived.get(*place).map(|derived| derived.formula.clone())),
            Self::PowerCut(_) | Self::Wait(_) => Ok(None),
        }
    }

    /// The figure in words that are the same wherever it is asked for; `None` if it cannot be asked of the profile.
    pub(crate) fn words(&self, step: Option<&str>, profile: &Profile) -> Option<String> {
        match self.formula(step, profile).ok()? {
            Some(formula) => Some(formula.source().to_owned()),
            None => Some(format!("{self:?}")),
        }
    }

    /// Whether a profile has what this asks for.
    ///
    /// # Errors
    /// Says what is missing.
    pub(crate) fn check(&self, step: Option<&str>, profile: &Profile) -> Result<(), Text> {
        match self.formula(step, profile)? {
            Some(formula) => check_figure(&formula, profile),
            None => Ok(()),
        }
    }

    /// The figure; `None` if it was not measured.
    pub(crate) fn value(&self, step: Option<&str>, profile: &Profile, measured: &Measured) -> Option<f64> {
        if let Self::PowerCut(kind) = self {
            let (lost, saved) = measured.power_cut?;
            let bytes = if *kind == PowerCut::Lost { lost } else { saved };
            return Some(bytes as f64 / 1e6);
        }
        if let Self::Wait(of) = self {
            return wait_ms(*of, &measured.cells);
        }
        let formula = self.formula(step, profile).ok()??;
        derived_values(profile, &formula, &measured.cells).first().map(|(_, value)| *value)
    }
}

/// How long the reads of all cells waited; `None` if nothing was read.
fn wait_ms(of: WaitOf, cells: &[Cell]) -> Option<f64> {
    let reads = LatencyRecord::together(
        cells.iter().flat_map(Cell::counted).map(|repetition| &repetition.read.latency),
    );
    match of {
        WaitOf::Mean => reads.mean_ns().map(|ns| ns / 1e6),
        WaitOf::Longest => (reads.count > 0).then_some(reads.max_ns as f64 / 1e6),
    }
}

impl FigureSource {
    /// Whether less of it is better, told by its unit where it is a formula.
    pub(crate) fn less_is_better(&self, unit: &str) -> bool {
        match self {
            Self::PowerCut(kind) => *kind == PowerCut::Lost,
            Self::Wait(_) => true,
            Self::Formula(_) | Self::Derived(_) => matches!(unit, "s" | "ms"),
        }
    }
}
