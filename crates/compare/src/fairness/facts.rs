//! The facts that distinguish runs: how each is read from the record, and its weight.
//!
//! # To add a fact
//!
//! - Add a variant of `Fact` and its row in `FACTS` with its weight. Its text is in
//!   `report/compare/facts.rs`.
//! - Raise `DIGEST_VERSION`. Describe the fact in docs/comparing.md.

use super::{FactValue, Weight, engine_name, is_disturbed};
use crate::key::shared_span_bytes;
use kurabe_core::environment::{BlockDevice, Environment, FileSystem, Link};
use kurabe_core::imported::{Origin, PrintedStatistic};
use kurabe_core::quantity::{format_bytes, format_time_setting};
use kurabe_core::{ErrorKind, Result, mention::ABOUT, nearest, profile::Rules, record::RunRecord, text};
use serde::{Deserialize, Serialize};

/// A property that can distinguish runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each is the word that users write, explained in docs/comparing.md")]
pub enum Fact {
    Tool,
    Statistic,
    Model,
    Parameters,
    Seed,
    Cache,
    Profile,
    Size,
    Data,
    Time,
    Target,
    Device,
    Firmware,
    Link,
    Filesystem,
    BlockSize,
    Journal,
    Mount,
    Fill,
    WriteCache,
    QueueDepth,
    Scheduler,
    Temperature,
    Layers,
    Machine,
    Kernel,
    Engine,
    Kurabe,
    Noise,
}

/// Reads a fact from a record. Returns `None` if it is not recorded.
type FactReader = fn(&RunRecord) -> Option<FactValue>;

use Weight::{Decisive, Minor, Notable};

/// All facts in the order of [`Fact`], each with its word for `--by` and `--about`, its weight and
/// its reader.
const FACTS: &[(Fact, &str, Weight, FactReader)] = &[
    // How was it measured?
    (Fact::Tool, "tool", Decisive, tool),
    (Fact::Statistic, "statistic", Decisive, statistic),
    (Fact::Model, "model", Decisive, model),
    (Fact::Parameters, "parameters", Notable, parameters),
    (Fact::Seed, "seed", Minor, seed),
    (Fact::Cache, "cache", Decisive, cache),
    (Fact::Profile, "profile", Notable, profile),
    (Fact::Size, "size", Notable, size),
    (Fact::Data, "data", Notable, |run| rule(run, |rules| FactValue::Data(rules.data))),
    (Fact::Time, "time", Minor, |run| rule(run, |rules| format_time_setting(rules.time_ns).into())),
    // On what?
    (Fact::Target, "target", Notable, |run| Some(FactValue::Target(run.header.target.as_ref()?.kind))),
    (Fact::Device, "device", Notable, device_name),
    (Fact::Firmware, "firmware", Notable, |run| device(run, |device| device.firmware.clone())),
    (Fact::Link, "link", Notable, |run| device(run, |device| device.link.as_ref().map(link))),
    (Fact::Filesystem, "filesystem", Notable, |run| file_system(run, |system| system.kind.clone())),
    (Fact::BlockSize, "block-size", Notable, |run| {
        file_system(run, |system| system.block_size_bytes.map(format_bytes))
    }),
    (Fact::Journal, "journal", Notable, |run| {
        Some(FactValue::Journal(run.header.environment.file_system.as_ref()?.journal.clone()?))
    }),
    (Fact::Mount, "mount", Minor, |run| file_system(run, |system| system.options.clone())),
    (Fact::Fill, "fill", Notable, |run| file_system(run, fill_level)),
    (Fact::WriteCache, "write-cache", Notable, |run| device(run, |device| device.write_cache.clone())),
    (Fact::QueueDepth, "queue-depth", Notable, |run| {
        device(run, |device| device.queue_depth.map(|depth| depth.to_string()))
    }),
    (Fact::Scheduler, "scheduler", Minor, |run| device(run, |device| device.scheduler.clone())),
    (Fact::Temperature, "temperature", Notable, temperature),
    (Fact::Layers, "layers", Notable, |run| {
        observed(run).then(|| run.header.environment.layers.join(", ").into())
    }),
    // With which machine and programs?
    (Fact::Machine, "machine", Notable, machine),
    (Fact::Kernel, "kernel", Notable, |run| run.header.environment.machine.kernel.clone().map(Into::into)),
    (Fact::Engine, "engine", Notable, engine),
    (Fact::Kurabe, "kurabe", Minor, |run| {
        run.header.origin.is_none().then(|| run.header.kurabe_version.clone().into())
    }),
    (Fact::Noise, "noise", Notable, |run| is_disturbed(run).map(FactValue::Disturbed)),
];

/// The word that asks about latencies, which are no fact of a run: all percentiles are shown then,
/// not only those that differ.
pub const ABOUT_LATENCY: &str = "latency";

/// Refuses words that do not name a fact.
///
/// # Errors
/// When a word does not name a fact.
pub fn check_about(about: &[String]) -> Result<()> {
    let is_unknown = |word: &&String| *word != ABOUT_LATENCY && Fact::from_word(word).is_none();
    let Some(word) = about.iter().find(is_unknown) else { return Ok(()) };
    Err(ErrorKind::Usage
        .error(text!(
            "{ABOUT} {word}: this is not a property of runs",
            "{ABOUT} {word}: この条件では比べられません"
        ))
        .remedy(nearest(word, &Fact::all().map(Fact::word).chain([ABOUT_LATENCY]).collect::<Vec<_>>())))
}

impl Fact {
    /// Returns all facts, in the order of display.
    pub fn all() -> impl Iterator<Item = Self> {
        FACTS.iter().map(|row| row.0)
    }

    /// Returns the stable word, as `--by` takes it: `filesystem`, `kernel`.
    pub fn word(self) -> &'static str {
        FACTS[self as usize].1
    }

    /// Returns the fact with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::all().find(|fact| fact.word() == word)
    }

    /// Returns the possible effect of a difference in this fact on the figures.
    pub fn weight(self) -> Weight {
        FACTS[self as usize].2
    }

    /// Returns the value that a run records.
    pub fn of(self, run: &RunRecord) -> Option<FactValue> {
        FACTS[self as usize].3(run)
    }
}

/// Returns the engines of its cells. A model has none; that a run is a model is a separate fact.
fn engine(run: &RunRecord) -> Option<FactValue> {
    let mut names: Vec<&str> = run.cells.iter().filter_map(engine_name).collect();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| names.join(", ").into())
}

/// Returns whether the environment was recorded. It is not for an imported run or a model.
fn observed(run: &RunRecord) -> bool {
    run.header.environment != Environment::default()
}

/// Returns the name of the model, computed or served. All real devices have the same value.
fn model(run: &RunRecord) -> Option<FactValue> {
    let computed = run.header.model.as_ref().map(|model| model.name.clone());
    let devices = &run.header.environment.devices;
    let served = || devices.iter().find(|device| device.served_model().is_some())?.model.clone();
    Some(computed.or_else(served).map_or(FactValue::RealDevice, Into::into))
}

/// Returns the parameters of a model that the command line changed.
fn parameters(run: &RunRecord) -> Option<FactValue> {
    let changes = run.header.model.as_ref()?.changes();
    Some(if changes.is_empty() { FactValue::Unchanged } else { changes.join(", ").into() })
}

/// Returns the seed of a modelled run, which is its only source of randomness. A real device has
/// others.
fn seed(run: &RunRecord) -> Option<FactValue> {
    let profile = run.header.profile.as_ref().filter(|_| run.header.model.is_some())?;
    Some(profile.rules.seed.to_string().into())
}

/// Returns the range that workloads may cover: the target, or the part of it that the profile
/// assigns to all of them.
fn size(run: &RunRecord) -> Option<FactValue> {
    let target = run.header.target.as_ref()?;
    let shared = run.header.profile.as_ref().and_then(shared_span_bytes);
    Some(format_bytes(shared.map_or(target.span_bytes, |span| span.min(target.span_bytes))).into())
}

fn tool(run: &RunRecord) -> Option<FactValue> {
    Some(run.header.origin.as_ref().map_or("kurabe".to_owned(), Origin::tool_name).into())
}

fn profile(run: &RunRecord) -> Option<FactValue> {
    let name = match (&run.header.profile, &run.header.origin) {
        (Some(profile), _) => Some(profile.name.clone()),
        (None, Some(origin)) => origin.profile.clone(),
        (None, None) => None,
    };
    name.map(Into::into)
}

fn rule(run: &RunRecord, of: impl Fn(&Rules) -> FactValue) -> Option<FactValue> {
    run.header.profile.as_ref().map(|profile| of(&profile.rules))
}

/// Returns whether I/O bypassed the page cache, which fio's results record as well.
fn cache(run: &RunRecord) -> Option<FactValue> {
    let printed = || match run.header.origin.as_ref()?.facts.get("direct")?.as_str() {
        "1" => Some(FactValue::Direct(true)),
        "0" => Some(FactValue::Direct(false)),
        _ => None,
    };
    rule(run, |rules| FactValue::Direct(rules.direct)).or_else(printed)
}

/// Returns processor and operating system. Other tools record the latter.
fn machine(run: &RunRecord) -> Option<FactValue> {
    let machine = &run.header.environment.machine;
    let words: Vec<&str> =
        [&machine.cpu_model, &machine.os].into_iter().flatten().map(String::as_str).collect();
    (!words.is_empty()).then(|| words.join(", ").into())
}

/// Returns the statistic of a run's figures. kurabe compares its own repetitions individually,
/// whatever figure the profile shows.
fn statistic(run: &RunRecord) -> Option<FactValue> {
    use PrintedStatistic::{Highest, Lowest, Mean, Median, Percentile, StandardDeviation, Sum, Unknown};
    if run.header.profile.is_some() {
        return Some(FactValue::EveryRepetition);
    }
    let figure = run.cells.iter().find_map(|cell| cell.imported.as_ref()?.figures.first())?;
    match figure.statistic {
        // The highest of rates corresponds to the lowest of times.
        Highest | Lowest => Some(FactValue::Printed(Highest)),
        Mean | Median | Percentile(_) => Some(FactValue::Printed(figure.statistic)),
        StandardDeviation | Sum | Unknown => None,
    }
}

/// Returns the names that the devices report. A device without such a name (a disk of a hypervisor,
/// memory) is described by its kernel name and its link, and a model by its own name.
fn device_name(run: &RunRecord) -> Option<FactValue> {
    if let Some(model) = &run.header.model {
        return Some(model.name.clone().into());
    }
    let by_kernel = |device: &BlockDevice| {
        let link = device.link.as_ref().map(link).filter(|link| *link != device.name);
        (!device.name.is_empty()).then(|| match link {
            Some(link) => format!("{} ({link})", device.name),
            None => device.name.clone(),
        })
    };
    device(run, |device| device.model.clone().or_else(|| by_kernel(device)))
}

/// Returns a fact of the devices, or all distinct values if there are several.
fn device(run: &RunRecord, of: impl Fn(&BlockDevice) -> Option<String>) -> Option<FactValue> {
    let mut values: Vec<String> = run.header.environment.devices.iter().filter_map(of).collect();
    values.dedup();
    (!values.is_empty()).then(|| values.join(", ").into())
}

fn link(link: &Link) -> String {
    let number = |value: &Option<f64>| value.map_or("?".to_owned(), |value| format!("{value}"));
    match link {
        Link::Pcie { speed_gt_per_s, width, .. } => {
            let width = width.map_or("?".to_owned(), |width| width.to_string());
            format!("PCIe {} GT/s x{width}", number(speed_gt_per_s))
        }
        Link::Sata { speed_gbit_per_s, .. } => format!("SATA {} Gbit/s", number(speed_gbit_per_s)),
        Link::Usb { speed_mbit_per_s, protocol, .. } => {
            let protocol = protocol.as_deref().map_or(String::new(), |protocol| format!(" ({protocol})"));
            format!("USB {} Mbit/s{protocol}", number(speed_mbit_per_s))
        }
        Link::CardLines { timing, .. } => format!("card {}", timing.as_deref().unwrap_or("?")),
        Link::RaidCard { driver, slot } => format!("{driver} on {}", self::link(slot)),
        Link::Virtio => "virtio".to_owned(),
        Link::Loop { .. } => "loop".to_owned(),
        Link::Memory => "memory".to_owned(),
        Link::Other { subsystem } => subsystem.clone(),
    }
}

fn file_system(run: &RunRecord, of: impl Fn(&FileSystem) -> Option<String>) -> Option<FactValue> {
    run.header.environment.file_system.as_ref().and_then(of).map(Into::into)
}

/// Returns the fill level in steps of ten percent, so that a few bytes do not count as a
/// difference.
fn fill_level(system: &FileSystem) -> Option<String> {
    let (size, free) = (system.size_bytes?, system.free_bytes?);
    let percent = (size.saturating_sub(free)) as f64 * 100.0 / size.max(1) as f64;
    let tens = (percent / 10.0).floor() as u64 * 10;
    Some(format!("{tens}-{} %", tens + 10))
}

/// Returns the temperature of the hottest device in steps of ten degrees.
fn temperature(run: &RunRecord) -> Option<FactValue> {
    let devices = run.header.environment.devices.iter();
    let hottest = devices.filter_map(|device| device.health.as_ref()?.temperature_celsius).max()?;
    let tens = hottest.div_euclid(10) * 10;
    Some(format!("{tens}-{} °C", tens + 10).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_stand_in_their_order_and_are_kept_under_their_words() {
        for (place, fact) in Fact::all().enumerate() {
            assert_eq!(fact as usize, place);
            assert_eq!(serde_json::to_string(&fact).unwrap(), format!("\"{}\"", fact.word()));
        }
    }
}
