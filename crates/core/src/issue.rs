//! How operations are issued, as far as the user decides it.

use crate::words::Keyword;
use serde::{Deserialize, Serialize};

/// A way to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// io_uring.
    Uring,
    /// pread and pwrite.
    Threads,
    /// Copies from and into a mapping.
    Mmap,
}

impl Keyword for Engine {
    const WORDS: &'static [(&'static str, Self)] =
        &[("uring", Self::Uring), ("threads", Self::Threads), ("mmap", Self::Mmap)];
}

/// The engine that the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EngineChoice {
    /// Find out.
    #[default]
    Auto,
    /// This one.
    Fixed(Engine),
}

impl Keyword for EngineChoice {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("auto", Self::Auto),
        ("uring", Self::Fixed(Engine::Uring)),
        ("threads", Self::Fixed(Engine::Threads)),
        ("mmap", Self::Fixed(Engine::Mmap)),
    ];
}

/// How completions are awaited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WaitMode {
    /// The thread sleeps until the kernel wakes it. The default: it is what programs do.
    #[default]
    Sleep,
    /// The thread looks at the completion queue again and again; saves the 30 to 60 µs that waking an idle CPU
    /// costs in a virtual machine.
    Spin,
    /// The kernel polls the device instead of waiting for its interrupt; few devices and drivers allow it.
    Poll,
}

impl Keyword for WaitMode {
    const WORDS: &'static [(&'static str, Self)] =
        &[("sleep", Self::Sleep), ("spin", Self::Spin), ("poll", Self::Poll)];
}

/// The pages under buffers. The kind changes what a disk seems to do, because a request of scattered pages is cut
/// at the device's segment limit, so it stands in the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pages {
    /// Ordinary pages of 4 KiB, as most programs' buffers have. The default.
    #[default]
    Small,
    /// Pages of 2 MiB.
    Huge,
}

impl Keyword for Pages {
    const WORDS: &'static [(&'static str, Self)] = &[("4k", Self::Small), ("huge", Self::Huge)];
}

/// What becomes of the page cache between repetitions of buffered I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CachePolicy {
    /// Dropped: every repetition starts cold.
    #[default]
    Drop,
    /// Kept: the cache is part of what is measured.
    Keep,
}

impl Keyword for CachePolicy {
    const WORDS: &'static [(&'static str, Self)] = &[("drop", Self::Drop), ("keep", Self::Keep)];
}

/// How operations are issued, all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
