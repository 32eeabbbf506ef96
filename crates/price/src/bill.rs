//! The bill of a program: what several recordings of it came to.

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

/// Version of a bill as JSON.
const SCHEMA: u32 = 1;
/// Files that are listed one by one.
const LISTED_FILES: usize = 8;
/// Places in the first tick at which a replay begins, where that matters: a price is the mean over them.
const TICK_PHASES: u64 = 8;
/// Causes that are named for each device.
const NAMED_CAUSES: usize = 3;

/// What a recording stood on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BillFacts {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The file system on which it ran.
    pub file_system: String,
    /// Size of that.
    pub size_bytes: u64,
    /// The model on which it was recorded in real time; nothing if it was in memory.
    #[serde(default)]
    pub recorded_on: Option<String>,
    /// Faults of that device while it ran, as they were asked for; their time is in no price.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// Tick of the kernel in ns, if no flush was answered before the next one; none on a model in real time, and in bills of
    /// earlier versions, whose counts depend on how many flushes happened to fit into a tick.
    #[serde(default)]
    pub tick_ns: Option<u64>,
    /// The kernel, whose file systems and caches stand between the program and the device.
    pub kernel: String,
    /// Whether the pauses in which the program asked nothing are in the seconds.
    pub keeps_pauses: bool,
}

/// A value of each recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct RepeatedValue(pub Vec<u64>);

impl RepeatedValue {
    /// Whether it is the same in every recording.
    pub fn is_exact(&self) -> bool {
        self.0.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.interval().0
    }

    /// The mean, and half the width of its interval of 95 %; nothing where all are the same, endless of a single value.
    pub fn interval(&self) -> (f64, f64) {
        let values: Vec<f64> = self.0.iter().map(|value| *value as f64).collect();
        let Some(interval) = mean_interval(&values) else { return (0.0, f64::INFINITY) };
        (interval.mean, interval.half_width.unwrap_or(f64::INFINITY))
    }

    /// The lowest.
    pub fn least(&self) -> u64 {
        self.0.iter().copied().min().unwrap_or(0)
    }

    /// The highest.
    pub fn most(&self) -> u64 {
        self.0.iter().copied().max().unwrap_or(0)
    }
}

/// Counts by their keys.
pub type CountValues = BTreeMap<String, RepeatedValue>;

/// The bill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bill {
    /// Version of this form.
    pub kurabe_price: u32,
    /// Version of kurabe, whose models the seconds are of.
    pub version: String,
    /// What it stands on.
    #[serde(flatten)]
    pub facts: BillFacts,
    /// Recordings.
    pub recordings: usize,
    /// How long the program took here each time, in ns.
    pub elapsed_ns: RepeatedValue,
    /// Everything that was counted.
    pub counts: CountValues,
    /// What files had of it: the most written first.
    pub files: Vec<FileBill>,
    /// By phase, if the program told any.
    pub phases: Vec<PhaseBill>,
    /// On the devices of the panel.
    pub prices: Vec<DevicePrice>,
}

/// What a file had.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileBill {
    /// Its name in the command's folder; empty for what is no file at the end.
    pub name: String,
    /// Its writes.
    pub writes: RepeatedValue,
    /// Bytes written to it.
    pub written_bytes: RepeatedValue,
    /// Bytes read from it.
    pub read_bytes: RepeatedValue,
    /// Flushes before which it was written since the flush before. Of the journal, folders and metadata, only those before which
    /// no file of the program was.
    pub flushes: RepeatedValue,
}

/// What a phase had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseBill {
    /// As the program named it.
    pub name: String,
    /// What was counted in it.
    pub counts: CountValues,
    /// Its time on each device of the panel, in ns.
    pub times_ns: Vec<RepeatedValue>,
}

/// What a recording takes on a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DevicePrice {
    /// Its model.
    pub model: String,
    /// What it stands for.
    pub title: Text,
    /// In ns.
    pub time_ns: RepeatedValue,
    /// Flushes on this device. They are fewer than were counted where several fit into a tick of the kernel, because file times
    /// that did not change are not committed.
    #[serde(default)]
    pub flushes: RepeatedValue,
    /// What the time of its requests went to: the largest shares of the first recording.
    pub shares: Vec<TimeShareName>,
}

/// A share of the time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeShareName {
    /// Its layer and cause: `disk.rotation`.
    pub cause: String,
    /// A few words.
    pub name: Text,
    /// Of all.
    pub share: f64,
}

impl Bill {
    /// Makes the bill of recordings, at least one.
    ///
    /// # Errors
    /// When a device of the panel is smaller than what was recorded.
    pub fn new(facts: BillFacts, recordings: &[ProgramRecording], panel: &Panel) -> Result<Self> {
        let counted: Vec<RequestCounts> = recordings.iter().map(counts_of).collect();
        let mut bill = Self {
            kurabe_price: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            recordings: recordings.len(),
            elapsed_ns: RepeatedValue(recordings.iter().map(|recording| recording.elapsed_ns).collect()),
            counts: values_of(&counted),
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

    /// Reads a bill that was saved; `name` is shown in errors.
    ///
    /// # Errors
    /// When it is none, or of a later version.
    pub fn parse(name: &str, json: &str) -> Result<Self> {
        let bill: Self = serde_json::from_str(json).map_err(|error| no_bill(name, &error))?;
        if bill.kurabe_price > SCHEMA || bill.recordings == 0 {
            let message = text!("{name} is a bill of a newer version", "{name} は新しいバージョンの明細です");
            return Err(ErrorKind::DataFile.error(message));
        }
        Ok(bill)
    }

    /// The values of a count.
    pub fn count(&self, count: Count) -> Option<&RepeatedValue> {
        self.counts.get(count.word())
    }

    /// Bytes at the device for each byte that the program asked to be written.
    pub fn write_amplification(&self) -> Option<f64> {
        let asked = self.count(Count::AskedBytes)?.mean();
        (asked > 0.0).then(|| self.count(Count::WrittenBytes).map_or(0.0, RepeatedValue::mean) / asked)
    }
}

fn no_bill(name: &str, error: &serde_json::Error) -> Error {
    ErrorKind::DataFile.error(text!("{name} is not a bill: {error}", "{name} は明細ではありません: {error}"))
}

/// Replays a recording: once, or where commits of file times fall into one tick, from several places in the first tick.
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

/// Phases by their order; only those that every recording has.
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
            times_ns: Vec::new(),
        }
    };
    (0..least).map(phase).collect()
}

/// What a file had in one recording: writes, bytes written and read, flushes.
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
    // Where two names were at one place at different times, the first stays. What was seen only in another recording, because it
    // was gone too soon in this one, lay at the same place.
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
                // A write that waits for the medium is a flush of its own.
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

/// For which of the files that were written a flush counts, by name and in order: for those of the program, else for one of the
/// others. So the flushes of a commit are one of the file and one of the journal.
fn flushed<'n>(written: &[&'n str]) -> impl Iterator<Item = &'n str> {
    // Metadata has no name, and what is no file is in parentheses.
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

/// Whether what was recorded, up to this byte, has room on a device.
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
