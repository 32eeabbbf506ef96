//! The options of a workload. Each row has a name, a value type, a help text, and what it changes.
//!
//! A row of the table determines the field of [`Overrides`], the flag with fio's names as aliases, the key in an `io`
//! step of a profile, what the option sets in a step, how a step with it is described, its spelling in fio's job
//! files (if it is the same value there), what it needs to have an effect, whether it has one on a model, and whether
//! configurations of one target may differ in it. The lab applies the options of other parts to the profile, the
//! device and the files. `interop` keeps fio's options that have another structure.
//!
//! # To add an option of a workload
//!
//! - Add its field to [`AccessPattern`](crate::workload::AccessPattern), and its row here.
//! - Obey it in `engine`, and test the operations that it changes.
//! - Describe it in docs/profiles.md.

mod table;
mod values;

use crate::data_file::DataTable;
use crate::issue::{Engine, EngineChoice, Settings};
use crate::workload::{AccessPattern, Direction, Pattern};
use crate::{error::Result, profile::IoStep, text::Text};
use OptionKind::{Flag, Number, Switch};
pub use table::{OPTIONS, Overrides};
pub use values::{OptionInput, block_sizes, parse_block_size};

/// Maximum number of operations in flight per thread.
pub const MOST_IODEPTH: u32 = 4096;
/// Maximum number of threads.
pub const MOST_THREADS: u32 = 1024;
/// Highest rate of an open loop, in operations per second: one per nanosecond, which is the
/// resolution of due times.
pub const MOST_RATE_IOPS: f64 = 1e9;
/// Largest block size, in bytes.
pub const LARGEST_BLOCK_BYTES: u64 = 1 << 30;

/// The type of an option's value.
#[derive(Clone, Copy, Debug)]
pub enum OptionKind {
    /// A size above zero.
    Bytes,
    /// A block size.
    Block,
    /// Block sizes with their weights.
    Sizes,
    /// A duration above zero.
    Time,
    /// A duration, which may be zero.
    Pause,
    /// An integer in this inclusive range.
    Count(u32, u32),
    /// Any non-negative integer.
    Number,
    /// A number above zero.
    Rate,
    /// A percentage above 0, at most 100.
    Percentile,
    /// No value. Naming the option turns it on, and no value turns it off.
    Switch,
    /// On or off.
    Flag,
    /// One of these keywords.
    Choice(fn() -> Vec<&'static str>),
    /// The data to write.
    Data,
    /// An order of offsets.
    Order,
    /// Zones of the span.
    Zones,
    /// Processor numbers.
    Processors,
}

/// How fio's job files spell the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioForm {
    /// The same fact has another structure there, or none: `interop` translates it.
    Other,
    /// A whole number.
    Number,
    /// A number with a fraction.
    Real,
    /// 0 or 1.
    Flag,
    /// A time, in seconds if it has no unit.
    Seconds,
    /// A time, in microseconds if it has no unit.
    Micros,
    /// A keyword.
    Word,
}

/// The part of a run that an option applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionPart {
    /// A workload: each `io` step of a profile, or the only step of a run without one.
    Workload,
    /// The rules of a profile.
    Rules,
    /// How operations are issued.
    Issue,
    /// Steps of some profiles that are not workloads.
    OtherSteps,
}

/// A condition without which an option has no effect, and how a profile fulfils it.
pub type OptionNeed = (fn(&IoStep) -> bool, &'static str);

/// The description of one option.
#[derive(Clone, Copy)]
pub struct WorkloadOption {
    /// The option's name.
    pub name: &'static str,
    /// Help text, in English and Japanese.
    pub help: (&'static str, &'static str),
    /// The part of a run that it applies to.
    pub part: OptionPart,
    /// The type of its value.
    pub kind: OptionKind,
    /// Placeholder for its value in usage messages, such as `SIZE`.
    pub value_name: &'static str,
    /// The default value, if it can be written as a keyword.
    pub usual: Option<&'static str>,
    /// fio's names for it, which become aliases of the flag.
    pub fio: &'static [&'static str],
    /// How fio's job files spell its value, under its first fio name.
    pub fio_form: FioForm,
    /// Its key in an `io` step of a profile.
    pub key: Option<&'static str>,
    /// The option without which it has no effect.
    pub requires: Option<&'static str>,
    /// The condition without which it has no effect.
    pub needs: Option<OptionNeed>,
    /// Whether it has no effect on a model, which has neither a kernel nor a page cache.
    pub idle_on_models: bool,
    /// Whether configurations of one target may differ in it.
    pub may_differ: bool,
    /// Applies its value to a step.
    apply: fn(&Overrides, &mut IoStep),
    /// Returns its value in an access pattern, unless that is the default.
    value: fn(&AccessPattern) -> Option<OptionInput<'static>>,
    /// Describes a step that has it.
    says: fn(&IoStep) -> Option<Text>,
}

/// An option with default properties, the base of all rows.
const PLAIN: WorkloadOption = WorkloadOption {
    name: "",
    help: ("", ""),
    part: OptionPart::Workload,
    kind: Number,
    value_name: "",
    usual: None,
    fio: &[],
    fio_form: FioForm::Other,
    key: None,
    requires: None,
    needs: None,
    idle_on_models: false,
    may_differ: true,
    apply: |_, _| {},
    value: |_| None,
    says: |_| None,
};

impl WorkloadOption {
    /// Returns whether the option is either on or off.
    pub fn is_switch(&self) -> bool {
        matches!(self.kind, Switch | Flag)
    }

    /// Returns its value in an access pattern, if a file of fio has it in the same form and it is not the default.
    pub fn value_of(&self, access: &AccessPattern) -> Option<OptionInput<'static>> {
        (self.value)(access)
    }

    /// Describes a step that has this option. `None` if the step doesn't have it, or another option describes it.
    pub fn describe(&self, step: &IoStep) -> Option<Text> {
        (self.says)(step)
    }
}

/// Returns the option with this name.
pub fn option(name: &str) -> Option<&'static WorkloadOption> {
    OPTIONS.iter().find(|option| option.name == name)
}

impl Overrides {
    /// Reads the options that have a key in an `io` step.
    pub fn of_step(table: &DataTable<'_>) -> Result<Self> {
        let mut overrides = Self::default();
        for (option, key) in OPTIONS.iter().filter_map(|option| Some((option, option.key?))) {
            let Some(value) = table.get(key) else { continue };
            let input = OptionInput::of_value(&value, option.kind)?;
            overrides.set(option.name, input).map_err(|what| value.error(&what))?;
        }
        Ok(overrides)
    }

    /// Returns the settings that determine how operations are issued.
    pub fn settings(&self) -> Settings {
        Settings {
            engine: self.engine.unwrap_or_default(),
            wait: self.wait.unwrap_or_default(),
            pages: self.pages.unwrap_or_default(),
            cache: self.cache.unwrap_or_default(),
        }
    }

    /// Returns whether I/O bypasses the page cache, if an option determines it.
    pub fn is_direct(&self) -> Option<bool> {
        // Mapped pages are part of the page cache.
        let is_mapped = self.engine == Some(EngineChoice::Fixed(Engine::Mmap));
        self.direct.or(self.buffered.map(|is_buffered| !is_buffered)).or(is_mapped.then_some(false))
    }

    /// Returns whether any workload option is set.
    pub fn is_of_workload(&self) -> bool {
        self.given().any(|option| option.part == OptionPart::Workload)
    }

    /// Returns the only step of a run without a profile. By default it performs random reads of 4
    /// KiB, one at a time.
    pub fn single_step(&self) -> IoStep {
        let random_reads = IoStep::plain(Pattern::Random, 4096, 1, vec![Direction::Read]);
        // Stored as requested, even if the step has no mix.
        let read_percent = self.read_percent.map_or(random_reads.read_percent, |percent| percent as u8);
        let mut step = random_reads.with(|access| access.read_percent = read_percent);
        self.change_step(&mut step);
        if step.end.is_given() {
            step.end.time_ns = self.time_ns;
        }
        step
    }

    /// Applies the workload options to a step. Removes its label if that no longer describes the
    /// step.
    pub fn change_step(&self, step: &mut IoStep) {
        let before = step.clone();
        OPTIONS.iter().for_each(|option| (option.apply)(self, step));
        if *step != before {
            step.label = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_one_option_and_a_usual_value_is_none() {
        for option in OPTIONS {
            let names =
                |other: &&WorkloadOption| other.name == option.name || other.fio.contains(&option.name);
            assert_eq!(OPTIONS.iter().filter(names).count(), 1, "{}", option.name);
            assert!(!option.help.0.is_empty() && !option.help.1.is_empty());
            let mut overrides = Overrides::default();
            if let Some(word) = option.usual {
                overrides.set(option.name, word).unwrap();
                assert_eq!(overrides, Overrides::default(), "{word}");
            }
        }
    }

    #[test]
    fn a_value_that_is_set_is_given_and_a_wrong_one_is_refused() {
        let mut overrides = Overrides::default();
        for (name, words) in [("bs", "4k"), ("rw", "randread"), ("o-sync", "no"), ("buffered", "off")] {
            overrides.set(name, words).unwrap();
        }
        let given: Vec<&str> = overrides.given().map(|option| option.name).collect();
        assert_eq!(given, ["rw", "bs", "buffered"], "a switch has no word for off");
        assert_eq!((overrides.block_bytes, overrides.is_direct()), (Some(4096), Some(true)));
        for (name, words) in
            [("iodepth", "0"), ("rw", "trim"), ("size", "0"), ("direct", "maybe"), ("iodpeth", "1")]
        {
            assert!(overrides.set(name, words).is_err(), "{name} {words}");
        }
    }
}
