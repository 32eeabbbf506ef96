//! Answers as data.

use serde::Serialize;

/// A property of a device, in the order in which it is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeviceProperty {
    /// Whether memory answers instead of the medium.
    Memory,
    /// Whether the medium rotates, and how fast.
    Medium,
    /// Time of a command and of its bytes.
    Command,
    /// Whether several commands can be in flight.
    Queue,
    /// Strip size and members behind a volume.
    Strip,
    /// Whether the capacity is real.
    Capacity,
    /// Whether acknowledged writes wait in volatile memory.
    WriteCache,
    /// Whether a flush waits for the medium.
    Flush,
    /// Whether tracks overlap (drive-managed SMR).
    Shingled,
    /// A faster region for writes: SLC or media cache.
    FastRegion,
}

impl DeviceProperty {
    /// All properties, in order.
    pub const ALL: [Self; 10] = [
        Self::Memory,
        Self::Medium,
        Self::Command,
        Self::Queue,
        Self::Strip,
        Self::Capacity,
        Self::WriteCache,
        Self::Flush,
        Self::Shingled,
        Self::FastRegion,
    ];

    /// Returns whether only writes can show it.
    pub fn needs_writes(self) -> bool {
        self >= Self::Capacity
    }
}

/// How certain an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// No answer is possible.
    Unclear,
    /// The answer explains the times, and so could another one.
    Likely,
    /// No other explanation is plausible.
    Certain,
}

/// The value of a property.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PropertyAnswer {
    /// Reads are answered by memory and do not reach the medium.
    FromMemory,
    /// First reads reach the medium, and memory of the computer answers repeated ones.
    RepeatsFromMemory,
    /// Reads reach the device.
    FromDevice,
    /// The medium rotates at this speed.
    Rotates {
        /// Measured speed, in revolutions per minute.
        rpm: f64,
        /// The usual speed that it equals, if any.
        usual_rpm: Option<u32>,
    },
    /// The medium does not rotate.
    NoRotation,
    /// Time of a small read, and rate of large ones.
    Command {
        /// Time of a re-read of a block, in ns.
        small_read_ns: f64,
        /// Rate of large sequential reads at the start of the device.
        rate_bytes_per_s: f64,
        /// A link class that the device's rates exceed, so its own is faster.
        faster_than: Option<&'static str>,
    },
    /// Several commands are in flight.
    SeveralCommands {
        /// Rate with many operations in flight over the rate with one.
        gain: f64,
    },
    /// One command at a time.
    OneCommand,
    /// The volume is divided into strips.
    Strips {
        /// Bytes of a strip.
        strip_bytes: u64,
        /// Number of drives over which consecutive strips are distributed, if it shows.
        members: Option<u32>,
    },
    /// No strips are visible.
    NoStrips,
    /// The whole capacity holds data.
    RealCapacity,
    /// The device holds less than it claims.
    FakeCapacity {
        /// Least bytes that it holds.
        low_bytes: u64,
        /// Most bytes that it holds.
        high_bytes: u64,
        /// Whether addresses beyond wrap around to its start.
        wraps: bool,
    },
    /// Acknowledged writes wait in volatile memory.
    Volatile,
    /// Writes are acknowledged when they are on the medium.
    WriteThrough,
    /// A flush costs nothing although writes are faster than a medium: the memory is protected,
    /// the medium is as fast as that, or the device ignores flushes.
    FreeFlush,
    /// A flush waits until the data are on the medium.
    FlushWaits,
    /// Tracks of the disk overlap.
    Shingled,
    /// Tracks do not overlap.
    NotShingled,
    /// Writes are faster until so many bytes are written.
    FastRegion {
        /// Least size of the region.
        low_bytes: u64,
        /// Most size of the region.
        high_bytes: u64,
        /// Rate within the region.
        fast_bytes_per_s: f64,
        /// Rate after the region.
        slow_bytes_per_s: f64,
    },
    /// The rate did not change within the bytes written.
    NoFastRegion {
        /// Bytes that were written.
        written_bytes: u64,
        /// Rate of these writes.
        rate_bytes_per_s: f64,
    },
}

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FigureUnit {
    /// A time in ns.
    Ns,
    /// A number of bytes.
    Bytes,
    /// A number of bytes per second.
    BytesPerS,
    /// A share or a ratio, without a unit.
    Ratio,
    /// A number of things.
    Count,
}

/// A measured figure that supports an answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EvidenceFigure {
    /// Word that identifies the figure.
    pub name: &'static str,
    /// The value that was measured.
    pub value: f64,
    /// Unit of the value.
    pub unit: FigureUnit,
}

impl EvidenceFigure {
    pub(crate) fn ns(name: &'static str, value: f64) -> Self {
        Self { name, value, unit: FigureUnit::Ns }
    }

    pub(crate) fn bytes(name: &'static str, value: u64) -> Self {
        Self { name, value: value as f64, unit: FigureUnit::Bytes }
    }

    pub(crate) fn rate(name: &'static str, value: f64) -> Self {
        Self { name, value, unit: FigureUnit::BytesPerS }
    }

    pub(crate) fn ratio(name: &'static str, value: f64) -> Self {
        Self { name, value, unit: FigureUnit::Ratio }
    }

    pub(crate) fn count(name: &'static str, value: usize) -> Self {
        Self { name, value: value as f64, unit: FigureUnit::Count }
    }
}

/// A way to settle an unclear answer, or the rest of a likely one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SettledBy {
    /// Writing to the device.
    Writes,
    /// The whole device instead of a file on it.
    WholeDevice,
    /// A larger range than the memory in question.
    LargerRange,
    /// Reads that reach the medium.
    ReachMedium,
    /// A quiet machine, and another run.
    Again,
    /// A power cut while the device writes.
    PowerCut,
    /// Writing more bytes than before.
    MoreWritten,
    /// The scheduler of the device turned off.
    NoScheduler,
    /// The configuration that the volume's own tool prints.
    VolumeTool,
}

/// The answer to one property.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PropertyFinding {
    /// Property that was examined.
    pub property: DeviceProperty,
    /// Value; `None` if it is unclear.
    pub answer: Option<PropertyAnswer>,
    /// How certain the value is.
    pub certainty: Certainty,
    /// Figures that support it.
    pub evidence: Vec<EvidenceFigure>,
    /// A way to settle it, if the answer is open.
    pub settling: Option<SettledBy>,
}

impl PropertyFinding {
    /// Returns an answer without doubt.
    pub(crate) fn certain(
        property: DeviceProperty,
        answer: PropertyAnswer,
        evidence: Vec<EvidenceFigure>,
    ) -> Self {
        Self { property, answer: Some(answer), certainty: Certainty::Certain, evidence, settling: None }
    }

    /// Returns an answer that something else could explain, too.
    pub(crate) fn likely(
        property: DeviceProperty,
        answer: PropertyAnswer,
        evidence: Vec<EvidenceFigure>,
        settling: SettledBy,
    ) -> Self {
        let certainty = Certainty::Likely;
        Self { property, answer: Some(answer), certainty, evidence, settling: Some(settling) }
    }

    /// Returns that the figures allow no answer.
    pub(crate) fn unclear(
        property: DeviceProperty,
        evidence: Vec<EvidenceFigure>,
        settling: SettledBy,
    ) -> Self {
        let certainty = Certainty::Unclear;
        Self { property, answer: None, certainty, evidence, settling: Some(settling) }
    }
}

/// Everything that was learned about a device.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceIdentity {
    /// Size of what was examined.
    pub span_bytes: u64,
    /// Whether that is the whole device.
    pub is_device: bool,
    /// Time of the probes on the device's clock, in ns.
    pub probing_ns: u64,
    /// Bytes that the probes wrote.
    pub written_bytes: u64,
    /// One answer for each property, in order.
    pub findings: Vec<PropertyFinding>,
}

impl DeviceIdentity {
    /// Returns the answer to a property.
    pub fn finding(&self, property: DeviceProperty) -> Option<&PropertyFinding> {
        self.findings.iter().find(|finding| finding.property == property)
    }
}
