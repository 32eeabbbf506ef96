//! A modelled target: the interface that the engine uses, and the parts that a record stores.
//!
//! The device of a modelled target has its own virtual clock, which only operations and pauses
//! advance. After a measurement it reports where the time of the operations went, layer by layer,
//! in exact sums.

use crate::{device::Device, text::Text};
use serde::{Deserialize, Serialize};

/// A target whose completion times are computed.
pub trait Model {
    /// The device that performs operations. Its clock continues from that of the previous device.
    type Device<'m>: Device
    where
        Self: 'm;

    /// Returns the number of bytes that offsets may cover.
    fn span_bytes(&self) -> u64;

    /// Creates a device for the operations in flight that `queues` specifies.
    fn device(&mut self, queues: Queues) -> Self::Device<'_>;

    /// Returns the model's clock in ns.
    fn now_ns(&self) -> u64;

    /// Lets the model idle for a time. Background work continues.
    fn idle(&mut self, length_ns: u64);

    /// Returns the place that keeps the data of an address, or `None` if they are lost.
    fn kept_at(&self, offset_bytes: u64) -> Option<u64> {
        Some(offset_bytes)
    }

    /// Returns how its host copies files.
    fn copy_habits(&self) -> CopyHabits;

    /// Returns the description of the model for the record.
    fn record(&self) -> ModelRecord;

    /// Converts the sums from one of its devices into an account with names.
    fn account(&self, sums: &TimeSums) -> TimeAccount;
}

/// How operations arrive at a modelled device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queues {
    /// Number of issuing threads, each on its own processor.
    pub threads: u32,
    /// Operations in flight per thread.
    pub iodepth: u32,
    /// Whether a write completes only when it is durable (`O_SYNC`).
    pub o_sync: bool,
}

impl Queues {
    /// Returns the queue of one thread with ordinary operations.
    pub const fn of_one(iodepth: u32) -> Self {
        Self { threads: 1, iodepth, o_sync: false }
    }

    /// Returns the total number of operations in flight.
    pub const fn slots(self) -> usize {
        self.threads as usize * self.iodepth as usize
    }
}

/// How an operating system copies a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyHabits {
    /// Bytes per operation.
    pub piece_bytes: u32,
    /// Operations in flight while the file is read or written.
    pub iodepth: u32,
    /// Pause of the host before each read, in ns, during which the device is idle.
    pub read_gap_ns: u64,
    /// Pause of the host before each write, in ns.
    pub write_gap_ns: u64,
    /// Bytes read before switching to writing, and vice versa, if source and destination are on the
    /// same device.
    pub turn_bytes: u64,
    /// Read rate of a disk in memory.
    pub memory_read_bytes_per_s: f64,
    /// Write rate of a disk in memory.
    pub memory_write_bytes_per_s: f64,
}

/// A modelled stack, as configured for a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelRecord {
    /// The name from its device file.
    pub name: String,
    /// A one-line description.
    pub title: Text,
    /// Seed of its random behaviour.
    pub seed: u64,
    /// Its layers from the host down. Identical layers are listed once.
    pub layers: Vec<LayerRecord>,
}

impl ModelRecord {
    /// Returns the causes as `layer.cause`, in the order of [`TimeSums::times_ns`].
    pub fn cause_names(&self) -> Vec<String> {
        let of_layer = |layer: &LayerRecord| -> Vec<String> {
            layer.causes.iter().map(|cause| format!("{}.{}", layer.name, cause.key)).collect()
        };
        std::iter::once("unexplained".to_owned()).chain(self.layers.iter().flat_map(of_layer)).collect()
    }

    /// Returns the parameters that the command line or a study changed: `raid.strip = 256 KiB`.
    pub fn changes(&self) -> Vec<String> {
        let of_layer = |layer: &LayerRecord| -> Vec<String> {
            let changed = layer.parameters.iter().filter(|parameter| parameter.changed);
            changed
                .map(|parameter| format!("{}.{} = {}", layer.name, parameter.key, parameter.value))
                .collect()
        };
        self.layers.iter().flat_map(of_layer).collect()
    }

    /// Returns the name of the model, followed by its changed parameters, if any.
    pub fn name_with_changes(&self) -> String {
        match self.changes().join(", ").as_str() {
            "" => self.name.clone(),
            changes => format!("{} ({changes})", self.name),
        }
    }

    /// Returns the layer with this name.
    pub fn layer(&self, name: &str) -> Option<&LayerRecord> {
        self.layers.iter().find(|layer| layer.name == name)
    }

    /// Returns the description of a cause in an account.
    pub fn cause(&self, share: &TimeShare) -> Option<&CauseRecord> {
        self.layer(&share.layer)?.causes.iter().find(|cause| cause.key == share.cause)
    }
}

/// Kinds of layers that are links. They transfer data while the layers below work on other
/// requests.
pub const CONNECTIONS: [&str; 5] = ["scsi", "sata", "usb", "pcie", "port-multiplier"];

/// A layer of a modelled stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerRecord {
    /// The layer's name in the stack.
    pub name: String,
    /// The layer's kind.
    pub kind: String,
    /// Number of instances.
    pub instances: u32,
    /// Number of layers above it, for drawing.
    pub depth: u32,
    /// The layer's parameters.
    pub parameters: Vec<ParameterRecord>,
    /// The causes to which the layer charges time.
    pub causes: Vec<CauseRecord>,
    /// The layer's counters.
    pub counters: Vec<CounterRecord>,
}

impl LayerRecord {
    /// Returns the value of a parameter, with its unit.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.parameters.iter().find(|parameter| parameter.key == key).map(|one| one.value.as_str())
    }
}

/// A parameter of a layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParameterRecord {
    /// The parameter's key.
    pub key: String,
    /// The value with its unit.
    pub value: String,
    /// The source of the value.
    pub source: String,
    /// Whether the command line or a study changed it.
    pub changed: bool,
}

/// A cause to which time is charged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseRecord {
    /// Stable key, unique within its layer.
    pub key: String,
    /// A short name.
    pub name: Text,
    /// One sentence of explanation for a reader who does not know the term.
    pub explanation: Text,
    /// Whether this is time spent waiting in a queue while other requests are served. The limit of
    /// those requests is then also the limit of this one.
    #[serde(default)]
    pub in_line: bool,
    /// How the cause shows in measurements without an account.
    #[serde(default)]
    pub class: CauseClass,
}

/// The observable class of a cause, defined by what changes the time charged to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CauseClass {
    /// The number of requests served before, by any part.
    Line,
    /// The number of requests served before, by a part that handles one at a time.
    Serial,
    /// Bytes transferred over the link.
    Link,
    /// Commands regardless of their size: host, protocol, firmware, address lookup.
    Command,
    /// Seek and rotation.
    Mechanics,
    /// Bytes read from or written to the medium.
    Medium,
    /// The device's chips and controller, which work in parallel. Depends on bytes or commands,
    /// whichever dominates.
    #[default]
    Device,
    /// Position in a file whose clusters form a linked chain.
    Chain,
    /// A contractual limit, independent of what the device could do.
    Limit,
    /// Work of the medium beyond the bytes written: programming, completing a unit, freeing space
    /// in a cache.
    Writing,
    /// The host's memory, which serves requests instead of the storage below it.
    Memory,
}

impl CauseClass {
    /// Returns the class with this keyword, as spelled in records.
    pub const fn named(word: &str) -> Option<Self> {
        // Strings can't be matched in a constant function.
        Some(match word.as_bytes() {
            b"line" => Self::Line,
            b"serial" => Self::Serial,
            b"link" => Self::Link,
            b"command" => Self::Command,
            b"mechanics" => Self::Mechanics,
            b"medium" => Self::Medium,
            b"device" => Self::Device,
            b"chain" => Self::Chain,
            b"limit" => Self::Limit,
            b"writing" => Self::Writing,
            b"memory" => Self::Memory,
            _ => return None,
        })
    }
}

/// A counter of a layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CounterRecord {
    /// Stable key, unique within its layer.
    pub key: String,
    /// A short name.
    pub name: Text,
}

/// A time breakdown as plain numbers, in the order of a record's layers and of the causes and
/// counters in each layer. The compact form of [`TimeAccount`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeSums {
    /// Number of operations.
    pub operations: u64,
    /// Sum of their latencies in ns. Equal to the sum of `times_ns`.
    pub latency_ns: u64,
    /// Time by cause, in ns. The first entry is the time that no layer accounted for.
    pub times_ns: Vec<u64>,
    /// Values of the counters.
    pub counts: Vec<u64>,
}

impl TimeSums {
    /// Adds the sums of another device of the same stack.
    pub fn add(&mut self, other: &Self) {
        let add_all = |sums: &mut Vec<u64>, more: &[u64]| {
            sums.resize(sums.len().max(more.len()), 0);
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
        };
        self.operations += other.operations;
        self.latency_ns = self.latency_ns.saturating_add(other.latency_ns);
        add_all(&mut self.times_ns, &other.times_ns);
        add_all(&mut self.counts, &other.counts);
    }
}

/// The time breakdown of operations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeAccount {
    /// Number of operations.
    pub operations: u64,
    /// Sum of their latencies in ns. Equal to the sum of the shares.
    pub latency_ns: u64,
    /// Time by layer and cause, from the host down. Causes that took no time are omitted.
    pub shares: Vec<TimeShare>,
    /// Values of the layers' counters.
    pub counts: Vec<LayerCount>,
}

/// The time charged to one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeShare {
    /// Name of the layer.
    pub layer: String,
    /// Key of the cause.
    pub cause: String,
    /// Time in ns.
    pub time_ns: u64,
}

/// The value of one counter of a layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerCount {
    /// Name of the layer.
    pub layer: String,
    /// Key of the counter.
    pub counter: String,
    /// The value.
    pub count: u64,
}

impl TimeAccount {
    /// Adds another account of the same stack.
    pub fn add(&mut self, other: &Self) {
        // An imported record may contain arbitrary numbers.
        self.operations = self.operations.saturating_add(other.operations);
        self.latency_ns = self.latency_ns.saturating_add(other.latency_ns);
        for share in &other.shares {
            let same =
                self.shares.iter_mut().find(|own| own.layer == share.layer && own.cause == share.cause);
            match same {
                Some(own) => own.time_ns = own.time_ns.saturating_add(share.time_ns),
                None => self.shares.push(share.clone()),
            }
        }
        for count in &other.counts {
            let same =
                self.counts.iter_mut().find(|own| own.layer == count.layer && own.counter == count.counter);
            match same {
                Some(own) => own.count = own.count.saturating_add(count.count),
                None => self.counts.push(count.clone()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CauseClass;
    use serde::Deserialize;
    use serde::de::value::{Error, StrDeserializer};

    #[test]
    fn a_class_has_the_word_that_records_spell() {
        let words = [
            "line",
            "serial",
            "link",
            "command",
            "mechanics",
            "medium",
            "device",
            "chain",
            "limit",
            "writing",
            "memory",
        ];
        for word in words {
            let read = CauseClass::deserialize(StrDeserializer::<Error>::new(word)).unwrap();
            assert_eq!(CauseClass::named(word), Some(read), "{word}");
        }
        assert_eq!(CauseClass::named("Line"), None);
        // Detects a class that is missing above: this error's message lists all of them.
        let error = CauseClass::deserialize(StrDeserializer::<Error>::new("arm")).unwrap_err().to_string();
        assert_eq!(error.matches('`').count(), 2 * (words.len() + 1), "{error}");
    }
}
