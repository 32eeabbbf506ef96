//! Finds the mechanism of a device and its parameters, and predicts a profile on it.

use crate::profile::load_profile;
use kurabe_core::profile::Profile;
use kurabe_core::record::{Cell, Measure};
use kurabe_core::workload::Direction;
use kurabe_core::{Result, text};
use kurabe_identify::DeviceBench;
use kurabe_infer::{DeviceFamily, InferenceLimits, InferenceStage, InferredDevice, ValueInterval, infer};
use kurabe_program::Stop;
use kurabe_sim::ModelTarget;
use kurabe_stats::cell_figure;

/// Devices on which a profile is predicted.
const PREDICTED: usize = 12;

/// Request for the parameters of a device.
#[derive(Clone, Debug, Default)]
pub struct InferenceRequest {
    /// Profile that is predicted.
    pub predict: Option<String>,
}

/// A device whose parameters were inferred.
#[derive(Clone, Debug)]
pub struct InferredTarget {
    /// The mechanism with its parameters, or what no family explains.
    pub device: InferredDevice,
    /// Size of the target.
    pub span_bytes: u64,
    /// Figures of a profile; none if no family explains the device.
    pub predictions: Vec<PredictedFigure>,
}

/// A figure of a profile on an inferred device.
#[derive(Clone, Debug)]
pub struct PredictedFigure {
    /// Name of the step, with its part if the cell has no direction.
    pub label: String,
    /// Direction, if the cell has one.
    pub direction: Option<Direction>,
    /// Kind of the figure.
    pub measure: Measure,
    /// The figure with its 95 % interval.
    pub interval: ValueInterval,
}

impl InferenceRequest {
    /// Loads the profile that is predicted.
    ///
    /// # Errors
    /// When it does not exist, or its file is invalid.
    pub(crate) fn profile(&self) -> Result<Option<Profile>> {
        self.predict.as_deref().map(load_profile).transpose()
    }
}

/// Infers the parameters of the device on a bench, and predicts the profile. `tell` receives each stage
/// before it begins.
pub(crate) fn inferred(
    bench: &mut dyn DeviceBench,
    profile: Option<&Profile>,
    (seed, stop): (u64, &Stop),
    tell: &mut dyn FnMut(InferenceStage),
) -> Result<InferredTarget> {
    let span_bytes = bench.facts().span_bytes;
    let device = infer(bench, &DeviceFamily::proven()?, (seed, InferenceLimits::USUAL), tell)?;
    let predictions = match profile {
        Some(profile) if device.is_explained => predictions(&device, profile, span_bytes, stop)?,
        _ => Vec::new(),
    };
    Ok(InferredTarget { device, span_bytes, predictions })
}

fn predictions(
    device: &InferredDevice,
    profile: &Profile,
    span_bytes: u64,
    stop: &Stop,
) -> Result<Vec<PredictedFigure>> {
    let mut runs: Vec<Vec<Cell>> = Vec::new();
    for point in device.samples.iter().step_by(device.samples.len() / PREDICTED + 1) {
        let mut model = ModelTarget::new(&device.family.device(point, span_bytes)?, 1)?;
        let traces = vec![None; profile.steps.len()];
        runs.push(kurabe_virtual::measure(&mut model, profile, &traces, stop)?.0);
    }
    let Some(first) = runs.first() else { return Ok(Vec::new()) };
    let is_determined = |cell: &Cell| device.did_write || cell.direction == Some(Direction::Read);
    Ok(first
        .iter()
        .enumerate()
        .filter(|(_, cell)| is_determined(cell))
        .filter_map(|(index, cell)| {
            let of = |run: &Vec<Cell>| cell_figure(run.get(index)?, profile.statistic);
            let values: Vec<f64> = runs.iter().filter_map(of).collect();
            (!values.is_empty()).then(|| PredictedFigure {
                label: match cell.direction {
                    Some(_) => cell.label.clone(),
                    None => [&*cell.label, &*cell.part].join(" ").trim().to_owned(),
                },
                direction: cell.direction,
                measure: cell.measure,
                interval: ValueInterval::of(&values),
            })
        })
        .collect())
}

impl InferredTarget {
    /// Returns the text of a device file; `target` is named in its sources.
    ///
    /// # Errors
    /// When no family explains the device.
    pub fn device_file(&self, name: &str, target: &str) -> Result<String> {
        if !self.device.is_explained {
            return Err(kurabe_core::ErrorKind::Unclear.error(text!(
                "no known mechanism explains the device, so its file was not written",
                "既知の仕組みではこのデバイスを説明できないため、ファイルは書き出しませんでした"
            )));
        }
        self.device.device_file(name, target, self.span_bytes)
    }
}
