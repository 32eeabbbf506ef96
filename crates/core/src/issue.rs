//! User settings that determine how operations are issued.

use crate::words::Keyword;
use serde::{Deserialize, Serialize};

/// The kernel interface through which operations are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// io_uring.
    Uring,
    /// pread and pwrite.
    Threads,
    /// Copies from and to a memory mapping.
    Mmap,
}

impl Keyword for Engine {
    const WORDS: &'static [(&'static str, Self)] =
        &[("uring", Self::Uring), ("threads", Self::Threads), ("mmap", Self::Mmap)];
}

/// The engine of a recorded cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedEngine {
    /// Operations on real storage.
    Real(Engine),
    /// A model in virtual time.
    Model,
}

impl Keyword for RecordedEngine {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("uring", Self::Real(Engine::Uring)),
        ("threads", Self::Real(Engine::Threads)),
        ("mmap", Self::Real(Engine::Mmap)),
        ("model", Self::Model),
    ];
}

/// The engine that the user requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EngineChoice {
    /// Select the engine automatically.
    #[default]
    Auto,
    /// Use this engine.
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
    /// The thread sleeps until the kernel wakes it. The default, because programs do the same.
    #[default]
    Sleep,
    /// The thread polls the completion queue. This saves the 30 to 60 µs that it takes to wake an
    /// idle CPU in a virtual machine.
    Spin,
    /// The kernel polls the device instead of waiting for its interrupt. Few devices and drivers
    /// support this.
    Poll,
}

impl Keyword for WaitMode {
    const WORDS: &'static [(&'static str, Self)] =
        &[("sleep", Self::Sleep), ("spin", Self::Spin), ("poll", Self::Poll)];
}

/// The size of the pages that back the buffers. It affects the measured performance, because a
/// request on scattered pages is split at the device's segment limit. It is therefore part of the
/// record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pages {
    /// Ordinary 4 KiB pages, as in most programs. The default.
    #[default]
    Small,
    /// Pages of 2 MiB.
    Huge,
}

impl Keyword for Pages {
    const WORDS: &'static [(&'static str, Self)] = &[("4k", Self::Small), ("huge", Self::Huge)];
}

/// Whether the page cache is dropped between repetitions of buffered I/O.
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

/// All settings that determine how operations are issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The requested engine.
    pub engine: EngineChoice,
    /// How completions are awaited.
    pub wait: WaitMode,
    /// The pages that back the buffers.
    pub pages: Pages,
    /// Handling of the page cache between repetitions.
    pub cache: CachePolicy,
}
