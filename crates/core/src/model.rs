//! A modelled target: what the engine needs of one, and what a record keeps of it.
//!
//! The model: the device of a modelled target has a clock of its own that only its operations and pauses move. After a
//! measurement it tells where the time of the operations went, layer by layer, in sums that are exact.

use crate::{device::Device, text::Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A target that is computed.
pub trait Model {
    /// The device through which operations go; its clock goes on where the last one stood.
    type Device<'m>: Device
    where
        Self: 'm;

    /// Bytes that offsets may cover.
    fn span_bytes(&self) -> u64;

    /// A device for as many operations in flight as the queues have.
    fn device(&mut self, queues: Queues) -> Self::Device<'_>;

    /// The model's clock.
    fn now_ns(&self) -> u64;

    /// Nothing is asked of it for a while; work in the background goes on.
    fn idle(&mut self, length_ns: u64);

    /// How its host copies files.
    fn copy_habits(&self) -> CopyHabits;

    /// What a record keeps of it.
    fn record(&self) -> ModelRecord;

    /// The sums that one of its devices took, with the names of what they are of.
    fn account(&self, sums: &TimeSums) -> TimeAccount;
}

/// How operations come to a modelled device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queues {
    /// Threads that issue them, each on a processor of its own.
    pub threads: u32,
    /// Operations that each of them keeps in flight.
    pub iodepth: u32,
    /// Whether a write is done only when it is safe (`O_SYNC`).
    pub o_sync: bool,
}

impl Queues {
    /// One thread's queue of ordinary operations.
    pub const fn of_one(iodepth: u32) -> Self {
        Self { threads: 1, iodepth, o_sync: false }
    }

    /// Operations in flight in all.
    pub const fn slots(self) -> usize {
        self.threads as usize * self.iodepth as usize
    }
}

/// How an operating system copies a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyHabits {
    /// Bytes of one operation.
    pub piece_bytes: u32,
    /// Operations in flight while the file is read or written.
    pub iodepth: u32,
    /// Pause of the host before each piece that it reads, in which it asks nothing of the device.
    pub read_gap_ns: u64,
    /// The same before each piece that it writes.
    pub write_gap_ns: u64,
    /// Bytes read before it turns to writing, and the other way round, when source and destination are one device.
    pub turn_bytes: u64,
    /// Rate at which a disk in memory is read.
    pub memory_read_bytes_per_s: f64,
    /// Rate at which a disk in memory is written.
    pub memory_write_bytes_per_s: f64,
}

/// A modelled stack as it was for a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRecord {
    /// The name that its device file gives.
    pub name: String,
    /// What it is.
    pub title: Text,
    /// Seed of what is random in it.
    pub seed: u64,
    /// Its layers from the host down; a layer that is there several times is listed once.
    pub layers: Vec<LayerRecord>,
}

impl ModelRecord {
    /// What time can go to as `layer.cause`, in the order of [`TimeSums::times_ns`].
    pub fn cause_names(&self) -> Vec<String> {
        let of_layer = |layer: &LayerRecord| -> Vec<String> {
            layer.causes.iter().map(|cause| format!("{}.{}", layer.name, cause.key)).collect()
        };
        std::iter::once("unexplained".to_owned()).chain(self.layers.iter().flat_map(of_layer)).collect()
    }

    /// The parameters that the command line or a study set: `raid.strip = 256 KiB`.
    pub fn changes(&self) -> Vec<String> {
        let of_layer = |layer: &LayerRecord| -> Vec<String> {
            let changed = layer.parameters.iter().filter(|parameter| parameter.changed);
            changed
                .map(|parameter| format!("{}.{} = {}", layer.name, parameter.key, parameter.value))
                .collect()
        };
        self.layers.iter().flat_map(of_layer).collect()
    }

    /// The name, with what was changed of the model behind it, if anything was.
    pub fn name_with_changes(&self) -> String {
        match self.changes().join(", ").as_str() {
            "" => self.name.clone(),
            changes => format!("{} ({changes})", self.name),
        }
    }

    /// The layer of this name.
    pub fn layer(&self, name: &str) -> Option<&LayerRecord> {
        self.layers.iter().find(|layer| layer.name == name)
    }

    /// What is known of a cause to which an account gave time.
    pub fn cause(&self, share: &TimeShare) -> Option<&CauseRecord> {
        self.layer(&share.layer)?.causes.iter().find(|cause| cause.key == share.cause)
    }
}

/// Kinds of layers that are a connection: they carry data while those below work on more.
pub const CONNECTIONS: [&str; 5] = ["scsi", "sata", "usb", "pcie", "port-multiplier"];

/// A layer of a modelled stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LayerRecord {
    /// Its name in the stack.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// How many of it there are.
    pub instances: u32,
    /// Layers above it, for drawing.
    pub depth: u32,
    /// Its parameters.
    pub parameters: Vec<ParameterRecord>,
    /// What its time can go to.
    pub causes: Vec<CauseRecord>,
    /// What it counts.
    pub counters: Vec<CounterRecord>,
}

impl LayerRecord {
    /// The value of a parameter, with its unit.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.parameters.iter().find(|parameter| parameter.key == key).map(|one| one.value.as_str())
    }
}

/// A parameter of a layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ParameterRecord {
    /// Its key.
    pub key: String,
    /// Its value with its unit.
    pub value: String,
    /// Where the value is from.
    pub source: String,
    /// Whether the command line or a study changed it.
    pub changed: bool,
}

/// Something that time goes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CauseRecord {
    /// Stable word, unique within its layer.
    pub key: String,
    /// A few words.
    pub name: Text,
    /// One sentence for somebody who never heard of it.
    pub explanation: Text,
    /// Whether it is standing in line: time in which others are served, so that what bounds them bounds this, too.
    #[serde(default)]
    pub in_line: bool,
    /// What somebody can know it by who sees no account.
    #[serde(default)]
    pub class: CauseClass,
}

/// What a cause is to somebody outside: what changes the time that goes to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseClass {
    /// How many others are served before, whatever serves them.
    Line,
    /// The same, in front of a part that takes one at a time.
    Serial,
    /// Bytes on the connection.
    Link,
    /// Commands, whatever their size: the computer, the protocol, firmware, finding the data.
    Command,
    /// Arm and rotation.
    Mechanics,
    /// Bytes of the medium.
    Medium,
    /// The device's chips and controller, which work side by side: bytes or commands, as there are more of.
    #[default]
    Device,
    /// Position in a file whose clusters are found one after the other.
    Chain,
    /// A limit that somebody sold, whatever the device could.
    Limit,
    /// What a medium needs beside the bytes that are written: programming, the rest of a unit, room in a cache.
    Writing,
    /// The computer's memory, which answers for the storage below it.
    Memory,
}

impl CauseClass {
    /// Returns the class that a word names, as records spell it.
    pub const fn named(word: &str) -> Option<Self> {
        // Strings cannot be matched in a constant.
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

/// Something that a layer counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterRecord {
    /// Stable word, unique within its layer.
    pub key: String,
    /// A few words.
    pub name: Text,
}

/// Where the time of operations went, as numbers in the order of a record's layers and of the causes and counters within
/// each: what an account is while nobody reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeSums {
    /// Operations.
    pub operations: u64,
    /// Sum of their latencies; the times sum to it exactly.
    pub latency_ns: u64,
    /// Time by cause; the first is what no layer accounted for.
    pub times_ns: Vec<u64>,
    /// How often, by counter.
    pub counts: Vec<u64>,
}

impl TimeSums {
    /// Adds sums of the same stack.
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

/// Where the time of operations went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeAccount {
    /// Operations.
    pub operations: u64,
    /// Sum of their latencies; the shares sum to it exactly.
    pub latency_ns: u64,
    /// By layer and cause, from the host down; causes that took no time are left out.
    pub shares: Vec<TimeShare>,
    /// What the layers counted meanwhile.
    pub counts: Vec<LayerCount>,
}

/// What one cause took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeShare {
    /// Name of the layer.
    pub layer: String,
    /// Key of the cause.
    pub cause: String,
    /// Its time.
    pub time_ns: u64,
}

/// What one layer counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayerCount {
    /// Name of the layer.
    pub layer: String,
    /// Key of the counter.
    pub counter: String,
    /// How often.
    pub count: u64,
}

impl TimeAccount {
    /// Adds another account of the same stack.
    pub fn add(&mut self, other: &Self) {
        // An imported record may hold any numbers.
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
        // A class that is missing above is in the message of this error.
        let error = CauseClass::deserialize(StrDeserializer::<Error>::new("arm")).unwrap_err().to_string();
        assert_eq!(error.matches('`').count(), 2 * (words.len() + 1), "{error}");
    }
}
