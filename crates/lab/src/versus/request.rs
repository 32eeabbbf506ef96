//! Requests for interleaved measurements, as plain data.

use kurabe_core::profile::{Overrides, Profile};
use kurabe_core::quantity::NS_PER_S;
use kurabe_core::target_name::TargetName;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A variant of a target, to be compared with others of the same target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// The difference, such as `bs=4k`.
    pub name: String,
    /// Changes to the procedure, and how operations are issued.
    pub overrides: Overrides,
    /// Changes to a model: `layer.parameter` and value.
    pub sets: Vec<(String, String)>,
    /// Program and arguments to time instead of the profile. Only the command line may name one.
    #[serde(skip)]
    pub command: Vec<String>,
}

/// A request for an interleaved measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersusRequest {
    /// The targets, as in a [`RunRequest`](crate::RunRequest), the baseline first. A single one if there are variants.
    pub targets: Vec<TargetName>,
    /// Variants of the target, the baseline first. Empty if targets are compared.
    #[serde(default)]
    pub variants: Vec<Variant>,
    /// Name of the profile, or path of its file.
    pub profile: String,
    /// Profile that is used instead of the named one, with its own repetitions.
    #[serde(skip)]
    pub given: Option<Box<Profile>>,
    /// Maximum measuring time in ns of all targets together. The default is [`USUAL_TIME_NS`](super::USUAL_TIME_NS),
    /// towards which the virtual time of models does not count.
    pub time_ns: Option<u64>,
    /// Duration in ns of repetitions that end by time. By default [`USUAL_REPETITION_NS`], or down to
    /// [`SHORTEST_REPETITION_NS`] where that shows the same.
    pub repetition_ns: Option<u64>,
    /// Largest relative difference that does not matter.
    pub margin: f64,
    /// Changes to the procedure of all targets: its size, the seed of the order, offsets and data (by default a new
    /// one), the pause before each repetition, and how operations are issued on real targets.
    #[serde(default)]
    pub overrides: Overrides,
    /// Labels of the runs.
    pub labels: Vec<(String, Option<String>)>,
    /// Whether models get no test file.
    #[serde(default)]
    pub no_fill: bool,
    /// Permissions to write to targets.
    pub writing: VersusWriting,
}

/// Permissions to write to the targets of an interleaved measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersusWriting {
    /// Whether targets that are existing files may be written.
    pub existing_files: bool,
    /// Block devices among the targets whose data may be destroyed.
    pub devices: Vec<PathBuf>,
}

/// Default duration of a repetition. Many short repetitions give more information than few long
/// ones.
pub const USUAL_REPETITION_NS: u64 = NS_PER_S / 10;
/// Shortest duration of a repetition that was not requested. What surrounds a repetition takes some
/// ms.
pub const SHORTEST_REPETITION_NS: u64 = NS_PER_S / 50;

impl Default for VersusRequest {
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            variants: Vec::new(),
            profile: "quick".to_owned(),
            given: None,
            time_ns: None,
            repetition_ns: None,
            margin: 0.05,
            overrides: Overrides::default(),
            labels: Vec::new(),
            no_fill: false,
            writing: VersusWriting::default(),
        }
    }
}
