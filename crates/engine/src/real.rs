//! Real files and devices, in real time.

use crate::{steps::choose::Chooser, target::Target};
pub use kurabe_core::issue::{CachePolicy, Settings};
use kurabe_host::NoiseWatch;

/// A real target, and how operations reach it.
pub struct Real<'a> {
    pub(crate) target: &'a mut Target,
    pub(crate) settings: Settings,
    pub(crate) noise: &'a NoiseWatch,
    pub(crate) chooser: Chooser,
    /// The devices (major, minor) whose operations are traced in an additional repetition, if
    /// tracing is enabled and works.
    pub(crate) traced: Option<Vec<(u32, u32)>>,
}
