//! The bill of a program: the combined result of several recordings.

use crate::count::{COUNTS, Count, RequestCounts};
use crate::panel::{Panel, PanelDevice};
use crate::recording::ProgramRecording;
use kurabe_core::mention::SIZE;
use kurabe_core::quantity::format_bytes;
use kurabe_core::{Error, ErrorKind, Result, Text, text};
use kurabe_sim::{Ranges, ReplayRules, Replayed, RequestKind, Stack, TimesCommit, replay};
use kurabe_stats::mean_interval;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the JSON format of a bill.
const SCHEMA: u32 = 1;
/// Maximum number of files that are listed individually.
const LISTED_FILES: usize = 8;
/// Number of start positions in the first tick for a replay, if they matter: a price is the mean over
/// them.
const TICK_PHASES: u64 = 8;
/// Number of causes that are named for each device.
const NAMED_CAUSES: usize = 3;

/// Conditions of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BillFacts {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// File system on which the program ran.
    pub file_system: String,
    /// Size of the file system in bytes.
    pub size_bytes: u64,
    /// Model on which the program was recorded in real time. `None` for a recording in memory.
    #[serde(default)]
    pub recorded_on: Option<String>,
    /// Requested faults of that device. Prices do not include their time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// Tick of the kernel in ns, if no flush was answered before the next tick. `None` for a model in
    /// real time, and in bills of earlier versions, whose counts depend on the number of flushes within
    /// a tick.
    #[serde(default)]
    pub tick_ns: Option<u64>,
    /// Kernel version. The kernel's file systems and caches are between the program and the device.
    pub kernel: String,
    /// Whether times include the pauses without requests.
    pub keeps_pauses: bool,
}

/// A value of each recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct RepeatedValue(pub Vec<u64>);

impl RepeatedValue {
    /// Returns whether the value is the same in every recording.
    pub fn is_exact(&self) -> bool {
        self.0.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// Returns the mean over the recordings.
    pub fn mean(&self) -> f64 {
        self.interval().0
    }

    /// Returns the mean, and half the width of its 95 % interval. The width is zero if all values are
    /// equal, and infinite for a single value.
    pub fn interval(&self) -> (f64, f64) {
        let values: Vec<f64> = self.0.iter().map(|value| *value as f64).collect();
        let Some(interval) = mean_interval(&values) else { return (0.0, f64::INFINITY) };
        (interval.mean, interval.half_width.unwrap_or(f64::INFINITY))
    }

    /// Returns the minimum over the recordings.
    pub fn least(&self) -> u64 {
        self.0.iter().copied().min().unwrap_or(0)
    }

    /// Returns the maximum over the recordings.
    pub fn most(&self) -> u64 {
        self.0.iter().copied().max().unwrap_or(0)
    }
}

/// Counts by their keys.
pub type CountValues = BTreeMap<String, RepeatedValue>;

/// The bill of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bill {
    /// Version of the JSON format.
    pub kurabe_price: u32,
    /// Version of kurabe, which determines the models.
    pub version: String,
    /// Conditions of the recordings.
    #[serde(flatten)]
    pub facts: BillFacts,
    /// Number of recordings.
    pub recordings: usize,
    /// Duration of the program on this machine in each recording, in ns.
    pub elapsed_ns: RepeatedValue,
    /// All counts.
    pub counts: CountValues,
    /// Number of system calls by name, if they were counted.
    #[serde(default, skip_serializing_if = "CountValues::is_empty")]
    pub syscalls: CountValues,
    /// Counts by file, the most written first.
    pub files: Vec<FileBill>,
    /// Counts by phase, if the program marked any.
    pub phases: Vec<PhaseBill>,
    /// Prices on the devices of the panel.
    pub prices: Vec<DevicePrice>,
}

/// Counts of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileBill {
    /// Name in the command's folder. Empty for requests that belong to no file at the end.
    pub name: String,
    /// Number of writes.
    pub writes: RepeatedValue,
    /// Bytes written.
    pub written_bytes: RepeatedValue,
    /// Bytes read.
    pub read_bytes: RepeatedValue,
    /// Number of flushes that follow at least one write to the file since the previous flush. For the
    /// journal, folders and metadata, only flushes without a write to a file of the program count.
    pub flushes: RepeatedValue,
}

/// Counts of a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseBill {
    /// Name given by the program.
    pub name: String,
    /// All counts within the phase.
    pub counts: CountValues,
    /// Number of system calls by name within the phase, if they were counted.
    #[serde(default, skip_serializing_if = "CountValues::is_empty")]
    pub syscalls: CountValues,
    /// Time on each device of the panel, in ns.
    pub times_ns: Vec<RepeatedValue>,
}

/// Time of a recording on a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DevicePrice {
    /// Name of the model.
    pub model: String,
    /// Kind of device that the model represents.
    pub title: Text,
    /// Time in ns.
    pub time_ns: RepeatedValue,
    /// Number of flushes on this device. It is smaller than the count if several flushes fall into a
    /// tick of the kernel, because unchanged file times are not committed.
    #[serde(default)]
    pub flushes: RepeatedValue,
    /// Largest shares of the time of the requests, in the first recording.
    pub shares: Vec<TimeShareName>,
}

/// A share of the time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeShareName {
    /// Layer and cause: `disk.rotation`.
    pub cause: String,
    /// Short description of the cause.
    pub name: Text,
    /// Share of the total, from 0 to 1.
    pub share: f64,
}

impl Bill {
    /// Creates the bill of one or more recordings.
    ///
    /// # Errors
    /// If a device of the panel is smaller than the recorded range.
    pub fn new(facts: BillFacts, recordings: &[ProgramRecording], panel: &Panel) -> Result<Self> {
        let counted: Vec<RequestCounts> = recordings.iter().map(counts_of).collect();
        let mut bill = Self {
            kurabe_price: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            recordings: recordings.len(),
            elapsed_ns: RepeatedValue(recordings.iter().map(|recording| recording.elapsed_ns).collect()),
            counts: values_of(&counted),
            syscalls: syscalls_of(recordings, |_| true),
            files: files_of(recordings),
            phases: phases_of(recordings),
            prices: Vec::new(),
            facts,
        };
        let requests = recordings.iter().flat_map(|recording| &recording.requests);
        let end_bytes = requests.map(|one| one.request.end_bytes()).max().unwrap_or(0);
        for device in &panel.devices {
            let fresh = Stack::new(&device.spec, 1)?;
            fits(end_bytes, device, fresh.capacity_bytes())?;
            let record = fresh.record(&device.spec);
            let mut price = DevicePrice {
                model: device.model.clone(),
                title: device.title.clone(),
                time_ns: RepeatedValue::default(),
                flushes: RepeatedValue::default(),
                shares: Vec::new(),
            };
            let mut phases = vec![RepeatedValue::default(); bill.phases.len()];
            for recording in recordings {
                let replayed = replayed_at_ticks(&fresh, recording, &bill.facts)?;
                let mean = |value: &dyn Fn(&Replayed) -> u64| {
                    replayed.iter().map(value).sum::<u64>() / replayed.len() as u64
                };
                price.time_ns.0.push(mean(&|replayed| replayed.took_ns));
                price.flushes.0.push(mean(&|replayed| flushes_of(recording, replayed)));
                let ends = recording.phases.iter().skip(1).map(|(_, first)| *first);
                let ends = ends.chain([recording.requests.len()]);
                for (((_, first), end), values) in recording.phases.iter().zip(ends).zip(&mut phases) {
                    values.0.push(mean(&|replayed| {
                        let time = |place: usize| replayed.asked_ns.get(place).copied();
                        let end_ns = time(end).unwrap_or(replayed.took_ns);
                        end_ns - time(*first).unwrap_or(end_ns)
                    }));
                }
                if price.shares.is_empty() {
                    price.shares = shares_of(&replayed[0].account, &record);
                }
            }
            bill.phases.iter_mut().zip(phases).for_each(|(phase, values)| phase.times_ns.push(values));
            bill.prices.push(price);
        }
        Ok(bill)
    }

    /// Parses a saved bill. `name` is shown in errors.
    ///
    /// # Errors
    /// If it is not a bill, or of a newer version.
    pub fn parse(name: &str, json: &str) -> Result<Self> {
        let bill: Self = serde_json::from_str(json).map_err(|error| no_bill(name, &error))?;
        if bill.kurabe_price > SCHEMA || bill.recordings == 0 {
            let message = text!("{name} is a bill of a newer version", "{name} は新しいバージョンの明細です");
            return Err(ErrorKind::DataFile.error(message));
        }
        Ok(bill)
    }

    /// Returns the values of a count.
    pub fn count(&self, count: Count) -> Option<&RepeatedValue> {
        self.counts.get(count.word())
    }

    /// Returns the bytes at the device for each byte that the program wrote.
    pub fn write_amplification(&self) -> Option<f64> {
        let asked = self.count(Count::AskedBytes)?.mean();
        (asked > 0.0).then(|| self.count(Count::WrittenBytes).map_or(0.0, RepeatedValue::mean) / asked)
    }
}

fn no_bill(name: &str, error: &serde_json::Error) -> Error {
    ErrorKind::DataFile.error(text!("{name} is not a bill: {error}", "{name} は明細ではありません: {error}"))
}

/// Replays a recording: once, or from several start positions in the first tick if commits of file
/// times fall into one tick.
fn replayed_at_ticks(
    fresh: &Stack,
    recording: &ProgramRecording,
    facts: &BillFacts,
) -> Result<Vec<Replayed>> {
    let tick_ns = facts.tick_ns.unwrap_or(0);
    let replayed_from = |phase: u64| {
        let rules = ReplayRules {
            keeps_pauses: facts.keeps_pauses,
            times_commits: &recording.times_commits,
            tick_ns,
            tick_phase_ns: phase * tick_ns / TICK_PHASES,
        };
        replay(&mut fresh.clone(), &recording.requests, &rules)
    };
    let first = replayed_from(0)?;
    let is_within_tick =
        |commit: &TimesCommit| first.asked_ns[commit.stamp] - first.asked_ns[commit.stamp_before] < tick_ns;
    let phases = match recording.times_commits.iter().any(is_within_tick) {
        true => 1..TICK_PHASES,
        false => 1..1,
    };
    let others = phases.map(replayed_from).collect::<Result<Vec<_>>>()?;
    Ok(std::iter::once(first).chain(others).collect())
}

fn flushes_of(recording: &ProgramRecording, replayed: &Replayed) -> u64 {
    let asked = recording.requests.iter().zip(&replayed.left_out);
    let asked = asked.filter_map(|(one, is_out)| (!is_out).then_some(one));
    RequestCounts::of(asked, &recording.journal).get(Count::Flushes)
}

fn counts_of(recording: &ProgramRecording) -> RequestCounts {
    let mut counts = RequestCounts::of(&recording.requests, &recording.journal);
    counts.set(Count::AskedBytes, recording.asked_bytes.unwrap_or(0));
    counts
}

fn values_of(counted: &[RequestCounts]) -> CountValues {
    let values = |count: Count| RepeatedValue(counted.iter().map(|counts| counts.get(count)).collect());
    COUNTS.iter().map(|(word, count)| ((*word).to_owned(), values(*count))).collect()
}

/// Returns the sums of the system calls in the chosen phases. A call that a recording lacks is 0 there.
fn syscalls_of(recordings: &[ProgramRecording], is_chosen: impl Fn(usize) -> bool) -> CountValues {
    let mut values = CountValues::new();
    for (index, recording) in recordings.iter().enumerate() {
        let phases = recording.syscalls.iter().enumerate().filter(|(phase, _)| is_chosen(*phase));
        for (name, count) in phases.flat_map(|(_, calls)| calls) {
            let value =
                values.entry(name.clone()).or_insert_with(|| RepeatedValue(vec![0; recordings.len()]));
            value.0[index] += count;
        }
    }
    values
}

/// Returns the phases that every recording has, in order.
fn phases_of(recordings: &[ProgramRecording]) -> Vec<PhaseBill> {
    let least = recordings.iter().map(|recording| recording.phases.len()).min().unwrap_or(0);
    let phase = |place: usize| {
        let counted: Vec<RequestCounts> = recordings
            .iter()
            .map(|recording| {
                let end = recording.phases.get(place + 1).map_or(recording.requests.len(), |next| next.1);
                RequestCounts::of(&recording.requests[recording.phases[place].1..end], &recording.journal)
            })
            .collect();
        PhaseBill {
            name: recordings[0].phases[place].0.clone(),
            counts: values_of(&counted),
            syscalls: syscalls_of(recordings, |phase| phase == place),
            times_ns: Vec::new(),
        }
    };
    (0..least).map(phase).collect()
}

/// Sums of a file in one recording: writes, bytes written and read, flushes.
type FileSums = [u64; 4];

fn files_of(recordings: &[ProgramRecording]) -> Vec<FileBill> {
    let sums: Vec<BTreeMap<&str, FileSums>> =
        recordings.iter().map(|recording| sums_by_file(recording, recordings)).collect();
    let mut names: Vec<&str> = sums.iter().flat_map(|sums| sums.keys().copied()).collect();
    names.sort_unstable();
    names.dedup();
    let file = |name: &str| {
        let values = |place: usize| {
            RepeatedValue(sums.iter().map(|sums| sums.get(name).map_or(0, |sums| sums[place])).collect())
        };
        FileBill {
            name: name.to_owned(),
            writes: values(0),
            written_bytes: values(1),
            read_bytes: values(2),
            flushes: values(3),
        }
    };
    let mut files: Vec<FileBill> = names.into_iter().map(file).collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.written_bytes.most() + file.read_bytes.most()));
    files.truncate(LISTED_FILES);
    files
}

fn sums_by_file<'r>(
    recording: &'r ProgramRecording,
    all: &'r [ProgramRecording],
) -> BTreeMap<&'r str, FileSums> {
    // If two names were at one place at different times, the first one counts. A file seen only in
    // another recording, because it existed too briefly in this one, was at the same place.
    let files: Vec<_> =
        std::iter::once(recording).chain(all).flat_map(|recording| &recording.files).collect();
    let mut places = Ranges::default();
    for (file, (_, ranges)) in files.iter().enumerate() {
        for range in ranges {
            places.add(range.start, range.end, file as u64);
        }
    }
    let mut sums: BTreeMap<&str, FileSums> = BTreeMap::new();
    let mut written: Vec<&str> = Vec::new();
    for one in &recording.requests {
        let request = &one.request;
        if request.kind == RequestKind::Flush {
            written.sort_unstable();
            written.dedup();
            flushed(&written).for_each(|name| sums.entry(name).or_default()[3] += 1);
            written.clear();
        }
        if matches!(request.kind, RequestKind::Flush | RequestKind::Trim) {
            continue;
        }
        let mut add = |name, bytes| {
            let sum = sums.entry(name).or_default();
            if request.kind.writes() {
                sum[0] += 1;
                sum[1] += bytes;
                // A write that waits for the medium is also a flush.
                sum[3] += u64::from(request.fua);
                if !request.fua {
                    written.push(name);
                }
            } else {
                sum[2] += bytes;
            }
        };
        let mut left = u64::from(request.length_bytes);
        for (from, to, file) in places.within(request.offset_bytes, request.end_bytes()) {
            add(files[file as usize].0.as_str(), to - from);
            left -= to - from;
        }
        if left > 0 {
            add("", left);
        }
    }
    sums
}

/// Returns the names of the written files for which a flush counts, in order: those of the program,
/// otherwise one of the others. So the flushes of a commit are one of the file and one of the journal.
fn flushed<'n>(written: &[&'n str]) -> impl Iterator<Item = &'n str> {
    // Metadata has no name, and entries in parentheses are not files.
    let is_of_program = |name: &str| !name.is_empty() && !name.starts_with('(');
    let has_own = written.iter().any(|name| is_of_program(name));
    let first = written.first().copied();
    written.iter().copied().filter(move |name| match has_own {
        true => is_of_program(name),
        false => Some(*name) == first,
    })
}

fn shares_of(
    account: &kurabe_core::model::TimeAccount,
    record: &kurabe_core::model::ModelRecord,
) -> Vec<TimeShareName> {
    let mut shares: Vec<TimeShareName> = (account.shares.iter())
        .filter_map(|share| {
            Some(TimeShareName {
                cause: format!("{}.{}", share.layer, share.cause),
                name: record.cause(share)?.name.clone(),
                share: share.time_ns as f64 / account.latency_ns.max(1) as f64,
            })
        })
        .collect();
    shares.sort_by(|one, other| other.share.total_cmp(&one.share));
    shares.truncate(NAMED_CAUSES);
    shares
}

/// Checks whether the recorded range fits on a device.
fn fits(end_bytes: u64, device: &PanelDevice, capacity_bytes: u64) -> Result<()> {
    if end_bytes <= capacity_bytes {
        return Ok(());
    }
    let (model, has, needs) = (&device.model, format_bytes(capacity_bytes), format_bytes(end_bytes));
    let what = text!(
        "`{model}` has a capacity of {has}, but the recorded requests reach up to {needs}",
        "`{model}` の容量は {has} ですが、記録した I/O は {needs} まで達しています"
    );
    Err(ErrorKind::Target.error(what).remedy(text!(
        "remove it from the panel, or make the file system smaller with {SIZE}",
        "パネルから外すか、{SIZE} でファイルシステムを小さくしてください"
    )))
}
