//! Real files and devices, in real time.

use crate::drive::buffer::Pages;
use crate::drive::device_uring::WaitMode;
use crate::steps::choose::{Chooser, EngineChoice};
use crate::target::Target;
use kurabe_host::NoiseWatch;
use serde::{Deserialize, Serialize};

/// What becomes of the page cache between repetitions of buffered I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CachePolicy {
    /// Dropped: every repetition starts cold.
    #[default]
    Drop,
    /// Kept: the cache is part of what is measured.
    Keep,
}

/// How operations are issued, as far as the user decides it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Engine.
    pub engine: EngineChoice,
    /// How completions are awaited.
    pub wait: WaitMode,
    /// Pages under the buffers.
    pub pages: Pages,
    /// The page cache.
    pub cache: CachePolicy,
}

/// A target of files or a device, and how operations reach it.
pub struct Real<'a> {
    pub(crate) target: &'a mut Target,
    pub(crate) settings: Settings,
    pub(crate) noise: &'a NoiseWatch,
    pub(crate) chooser: Chooser,
    /// The devices (major, minor) on which operations are traced once more, if that is wanted and works.
    pub(crate) traced: Option<Vec<(u32, u32)>>,
}
