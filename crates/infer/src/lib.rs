//! Finds the mechanism of a device and its parameters, so that workloads that were not measured can
//! be predicted.
//!
//! A [`DeviceFamily`] is a device file with free parameters. The model: probes are performed on the device
//! and, in virtual time, on candidates of each family. The parameters that reproduce the times are
//! those of the device, as far as the probes determine them. A misfit above the noise means that no
//! family has the mechanism of the device; then nothing is claimed.
//!
//! Non-goals: properties that need no model (`identify`), and sentences.

mod answer;
mod choose;
mod evolution;
mod family;
mod geometry;
mod linear;
mod measure;
mod probes;
mod problem;
mod reach;
mod refine;
mod sampler;
mod search;
mod session;
mod surface;
mod workload;

pub use answer::{InferredParameter, InferredSum, InferredValue, ValueInterval, quantity};
pub use family::{DeviceFamily, FAMILIES, FamilyPoint, FreeParameter, FreeRange};
pub use measure::{MeasuredProbe, Measurements, ProbeLimits};
pub use reach::AllowedPlaces;
pub use session::{InferenceLimits, InferenceStage, InferredDevice, ProbeResidual, infer};
pub use workload::{ProbeOrder, ProbeRegion, ProbeWorkload, ProbeWrites};
