//! Locates the figures of a table in a measured run.

use crate::catalogue::check_figure;
use kurabe_core::environment::DeviceHealth;
use kurabe_core::profile::{Formula, Profile};
use kurabe_core::record::{Cell, LatencyRecord, Notice, RunHeader};
use kurabe_core::{Text, text};
use kurabe_stats::derived_values;
use serde::{Deserialize, Serialize};

/// Source of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum FigureSource {
    /// A formula over the cells of the run; `{step}` in it is replaced by the row's step.
    Formula(String),
    /// A derived figure of the profile, by its index.
    Derived(usize),
    /// Effect of a power cut at the end of the run, in MB.
    PowerCut(PowerCut),
    /// Latency of reads over all cells, in ms.
    Wait(WaitOf),
}

/// Statistic of the reads' latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitOf {
    /// Mean of all reads.
    Mean,
    /// Longest read.
    Longest,
}

/// Fate of acknowledged bytes that are not on the medium yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerCut {
    /// Lost.
    Lost,
    /// Saved by a battery or a capacitor.
    Saved,
}

/// Measurement of a point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Header of the run, with the model or the environment of the real target.
    pub header: RunHeader,
    /// Cells of the run.
    pub cells: Vec<Cell>,
    /// Notices of the run.
    pub notices: Vec<Notice>,
    /// Bytes that a power cut at the end would have lost and saved; `None` on a real target, where
    /// no power cut is made.
    pub power_cut: Option<(u64, u64)>,
    /// Health of the devices after the run, with their temperature during it.
    #[serde(default)]
    pub health_after: Option<DeviceHealth>,
    /// The id of the stored run, if it was stored.
    pub run: Option<String>,
}

impl FigureSource {
    /// Returns the formula for a row, or `None` for other sources.
    fn formula(&self, step: Option<&str>, profile: &Profile) -> Result<Option<Formula>, Text> {
        match self {
            Self::Formula(source) => {
                if source.contains("{step}") && step.is_none() {
                    return Err(text!(
                        "the formula contains {{step}}, so the row needs a `step`",
                        "式に {{step}} があるので、行に `step` が必要です"
                    ));
                }
                Formula::parse(&source.replace("{step}", step.unwrap_or_default())).map(Some)
            }
            Self::Derived(place) => Ok(profile.derived.get(*place).map(|derived| derived.formula.clone())),
            Self::PowerCut(_) | Self::Wait(_) => Ok(None),
        }
    }

    /// Returns a textual key of the figure that is the same in every table, or `None` if the
    /// profile does not have it.
    pub(crate) fn words(&self, step: Option<&str>, profile: &Profile) -> Option<String> {
        match self.formula(step, profile).ok()? {
            Some(formula) => Some(formula.source().to_owned()),
            None => Some(format!("{self:?}")),
        }
    }

    /// Checks that a profile has the cells that this figure needs.
    ///
    /// # Errors
    /// Names the missing cell.
    pub(crate) fn check(&self, step: Option<&str>, profile: &Profile) -> Result<(), Text> {
        match self.formula(step, profile)? {
            Some(formula) => check_figure(&formula, profile),
            None => Ok(()),
        }
    }

    /// Computes the figure; `None` if it was not measured.
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

/// Returns the latency of the reads of all cells, or `None` if nothing was read.
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
    /// Returns whether lower values are better, according to the unit for a formula.
    pub(crate) fn less_is_better(&self, unit: &str) -> bool {
        match self {
            Self::PowerCut(kind) => *kind == PowerCut::Lost,
            Self::Wait(_) => true,
            Self::Formula(_) | Self::Derived(_) => matches!(unit, "s" | "ms"),
        }
    }
}
