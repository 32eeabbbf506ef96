//! Compares inferred limits with the truth.
//!
//! Every device of the library is measured. Its name and its time account are removed from the
//! record, the properties that Linux would report for such a device are added, and the limit of
//! each cell is inferred. The account shows whether the result is right.
//!
//! The account assigns a class to each cause, which says what changes its time. What can be inferred
//! from outside is coarser in one respect and finer in another (`Part`): the device's own chips and
//! controller take time for bytes or for commands, and more sizes and depths show which. The truth
//! of a cell is the part with most of the time, excluding queueing, or the flush if it took half of
//! the time. A limit is
//!
//! - right if it names this part,
//! - vague if it is unknown, or names something that contains the part although the record could
//!   have shown more,
//! - wrong if it names another part, and firmly wrong if it does so without doubt.
//!
//! The rules were developed on two thirds of the devices; the other third shows how they
//! generalize. The environment is also degraded as it is behind bridges and networks: a kernel that
//! calls every disk non-rotational, and an unknown connection.

use kurabe_core::environment::{Environment, Link};
use kurabe_core::event::Event;
use kurabe_core::model::{CauseClass, LayerRecord, ModelRecord};
use kurabe_core::profile::{Profile, Step};
use kurabe_core::record::{Cell, RunHeader, RunRecord, RunStatus, TargetKind, TargetRecord};
use kurabe_core::workload::Direction;
use kurabe_engine::{FollowUp, Session, Stop};
use kurabe_explain::{
    CellLimit, LimitKind, PROBE, Strength, counted_causes, limits_from_outside, probe_steps, seen_by_linux,
};
use kurabe_profile::profile_named;
use kurabe_sim::{DEVICES, ModelTarget, device_named};
use kurabe_stats::{CellFlush, cell_flush};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of results of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Score {
    /// Number of cells.
    pub cells: usize,
    /// Right results.
    pub right: usize,
    /// Vague results, including unknown ones.
    pub vague: usize,
    /// Vague results that name nothing.
    pub unknown: usize,
    /// Wrong results.
    pub wrong: usize,
    /// Wrong results without doubt.
    pub firmly_wrong: usize,
}

/// Whether a limit is true, as far as can be known from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    Right,
    Vague,
    Wrong,
}

/// Part of an operation's time that can be distinguished from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Bytes on the connection.
    Link,
    /// Bytes in the device: medium or controller.
    DeviceBytes,
    /// Commands regardless of their size, in the computer, on the connection or in the device.
    Command,
    Mechanics,
    Chain,
    Volume,
    /// Work that only writes need: programming, freeing space, parity.
    Writing,
    Flush,
    Memory,
}

impl Score {
    fn add(&mut self, answer: &Answer) {
        self.cells += 1;
        match answer.truth() {
            Truth::Right => self.right += 1,
            Truth::Vague => {
                self.vague += 1;
                self.unknown += usize::from(answer.limit.limit.kind == LimitKind::Unknown);
            }
            Truth::Wrong => {
                self.wrong += 1;
                self.firmly_wrong += usize::from(answer.limit.limit.strength >= Strength::Strong);
            }
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |count: usize| 100.0 * count as f64 / self.cells.max(1) as f64;
        write!(
            formatter,
            "{} cells: {:.1} % right, {:.1} % vague ({:.1} % unknown), {:.1} % wrong, {} firmly",
            self.cells,
            percent(self.right),
            percent(self.vague),
            percent(self.unknown),
            percent(self.wrong),
            self.firmly_wrong
        )
    }
}

/// Inferred limit of a cell, and the truth.
struct Answer {
    device: &'static str,
    limit: CellLimit,
    /// Time by part, the largest first.
    parts: Vec<(Part, f64)>,
    /// Ratio of the rate of the same reads to that of these writes. `None` for other cells.
    reads_faster: Option<f64>,
    turns: bool,
    /// Kind of the bottom layer.
    medium: String,
}

/// Reads that are this many times as fast as the same writes show that writes need more.
const READS_FASTER: f64 = 1.5;

impl Answer {
    /// Returns whether the limit names the part with most of the time.
    fn truth(&self) -> Truth {
        let Some((truth, share)) = self.parts.first().copied() else { return Truth::Vague };
        let right = |is_right| if is_right { Truth::Right } else { Truth::Wrong };
        // The interface of a disk's memory cannot be distinguished from the connection from
        // outside.
        let is_interface = self.turns && truth == Part::DeviceBytes;
        match self.limit.limit.kind {
            LimitKind::Unknown => Truth::Vague,
            LimitKind::Link => right(truth == Part::Link || is_interface),
            LimitKind::Mechanics => right(truth == Part::Mechanics || (truth == Part::Writing && self.turns)),
            LimitKind::Volume => right(truth == Part::Volume),
            LimitKind::Walk => right(truth == Part::Chain),
            LimitKind::Flush => right(truth == Part::Flush),
            // Host memory in front of the drives looks like their cache.
            LimitKind::WriteCache => right(matches!(truth, Part::Memory | Part::Writing)),
            LimitKind::SmallWrites | LimitKind::BehindWrites => right(truth == Part::Writing),
            // The rate at which a device writes is its own. Where reads show that writes need more,
            // the record tells more than the device.
            LimitKind::DeviceRate | LimitKind::CommandRate if truth == Part::Writing => {
                let is_shown = self.reads_faster.is_some_and(|ratio| ratio >= READS_FASTER);
                let is_random = self.limit.limit.kind == LimitKind::CommandRate;
                if is_shown && is_random { Truth::Vague } else { Truth::Right }
            }
            LimitKind::DeviceRate => right(truth == Part::DeviceBytes),
            LimitKind::Command | LimitKind::CommandRate => right(truth == Part::Command),
            LimitKind::Shared if self.is_shared_so() => Truth::Right,
            LimitKind::Shared if self.is_named(truth) && share < 0.9 => Truth::Vague,
            _ => Truth::Wrong,
        }
    }

    /// Returns whether the sentence of a shared limit names a part.
    fn is_named(&self, part: Part) -> bool {
        let sentence = &self.limit.limit.sentence.en;
        let words: &[&str] = match part {
            Part::Link | Part::DeviceBytes => &["bytes", "write itself"],
            Part::Command => &["command", "write itself"],
            Part::Writing => &["write itself"],
            Part::Chain => &["chain"],
            Part::Mechanics => &["rotation"],
            Part::Flush => &["flush"],
            Part::Volume | Part::Memory => &[],
        };
        words.iter().any(|word| sentence.contains(word))
    }

    /// Returns whether two parts share the time as reported: every part with a quarter of the time
    /// or more is one of them, each of them has that much, and neither has most of it.
    fn is_shared_so(&self) -> bool {
        let sentence = &self.limit.limit.sentence.en;
        let time_of = |parts: &[Part]| -> f64 {
            self.parts.iter().filter(|(part, _)| parts.contains(part)).map(|(_, share)| share).sum()
        };
        let has_none = |words: &str, parts: &[Part]| sentence.contains(words) && time_of(parts) < 0.25;
        if has_none("bytes", &[Part::Link, Part::DeviceBytes])
            || has_none("command", &[Part::Command])
            || has_none("chain", &[Part::Chain])
            || has_none("rotation", &[Part::Mechanics])
            || has_none("flush", &[Part::Flush])
        {
            return false;
        }
        self.parts[0].1 < 2.0 / 3.0
            && self.parts.iter().filter(|(_, share)| *share >= 0.25).all(|(part, _)| self.is_named(*part))
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.truth() {
            Truth::Right => "right",
            Truth::Vague if self.limit.limit.kind == LimitKind::Unknown => "?",
            Truth::Vague => "vague",
            Truth::Wrong => "WRONG",
        };
        let limit = &self.limit;
        let truth: Vec<String> = self
            .parts
            .iter()
            .take(3)
            .map(|(part, share)| format!("{part:?} {:.0} %", share * 100.0))
            .collect();
        write!(
            formatter,
            "{verdict:5} {:26} {:5} {:17} {:?} {:?} <- {}",
            self.device,
            limit.part,
            limit.label,
            limit.limit.kind,
            limit.limit.strength,
            truth.join(", ")
        )
    }
}

/// Returns the part to which a cause belongs. Work of flash chips counts as commands for small
/// operations, and as bytes for large ones, which are spread over all chips.
fn part_of(class: CauseClass, layer: &LayerRecord, key: &str, is_small: bool) -> Option<Part> {
    let by_bytes = ["channel", "channel-wait", "data-path", "read-ahead", "memory", "memory-busy"];
    Some(match class {
        CauseClass::Line | CauseClass::Serial => return None,
        CauseClass::Link => Part::Link,
        CauseClass::Command => Part::Command,
        CauseClass::Mechanics => Part::Mechanics,
        CauseClass::Medium => Part::DeviceBytes,
        CauseClass::Chain => Part::Chain,
        CauseClass::Limit => Part::Volume,
        CauseClass::Writing => Part::Writing,
        CauseClass::Memory => Part::Memory,
        CauseClass::Device if key.starts_with("parity") => Part::Writing,
        CauseClass::Device if by_bytes.contains(&key) => Part::DeviceBytes,
        CauseClass::Device if matches!(key, "flash-read" | "behind-reads") && !is_small => Part::DeviceBytes,
        // Looking up the table, the controller, a chip that reads.
        CauseClass::Device => {
            assert!(["ssd", "raid", "disk", "md"].contains(&layer.kind.as_str()), "{}.{key}", layer.name);
            Part::Command
        }
    })
}

/// Largest operation that uses a single flash chip on most devices.
const SMALL_BYTES: u64 = 16 << 10;

/// Returns the share of a cell's time by part, excluding queueing, the largest first. Flushes are
/// timed, so their share is that of the record, and the other parts share the rest.
fn parts_of(cell: &Cell, model: &ModelRecord) -> Vec<(Part, f64)> {
    let counted: Vec<_> = cell.counted().collect();
    let bytes: u64 = counted.iter().map(|one| one.bytes(Direction::Mix)).sum();
    let operations: u64 = counted.iter().map(|one| one.operations(Direction::Mix)).sum();
    let is_small = bytes <= SMALL_BYTES * operations;
    let mut sums: BTreeMap<Part, f64> = BTreeMap::new();
    let place = |name: &str| model.layers.iter().position(|layer| layer.name == name);
    // The pieces of a sample wait in front of the part that limits them, and above it for each other.
    let is_sampled = counted.iter().any(|one| !one.samples.is_empty());
    let queue = counted_causes(model, cell).and_then(|counted| counted.queue).filter(|_| is_sampled);
    let first = queue.and_then(|queue| place(&queue.layer)).unwrap_or(0);
    for share in counted.iter().filter_map(|one| one.account.as_ref()).flat_map(|account| &account.shares) {
        let Some(layer) = model.layer(&share.layer).filter(|layer| place(&layer.name) >= Some(first)) else {
            continue;
        };
        let class = model.cause(share).map_or(CauseClass::Line, |cause| cause.class);
        if let Some(part) = part_of(class, layer, &share.cause, is_small) {
            *sums.entry(part).or_default() += share.time_ns as f64;
        }
    }
    let whole: f64 = sums.values().sum();
    let flush = match cell_flush(cell) {
        Some(CellFlush::Separate(flush)) => flush.share.unwrap_or(0.0),
        _ => 0.0,
    };
    let parts = sums.into_iter().filter(|(_, time_ns)| *time_ns > 0.0);
    let mut shares: Vec<(Part, f64)> =
        parts.map(|(part, time_ns)| (part, time_ns / whole * (1.0 - flush))).collect();
    shares.extend((flush > 0.0).then_some((Part::Flush, flush)));
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}

/// Returns the share of a cell's time by class, excluding queueing, the largest first.
pub fn truth_of(cell: &Cell, model: &ModelRecord) -> Vec<(CauseClass, f64)> {
    let mut sums: BTreeMap<CauseClass, u64> = BTreeMap::new();
    for share in cell.counted().filter_map(|one| one.account.as_ref()).flat_map(|account| &account.shares) {
        let layer = model.layers.iter().find(|layer| layer.name == share.layer);
        let cause = layer.and_then(|layer| layer.causes.iter().find(|cause| cause.key == share.cause));
        *sums.entry(cause.map_or(CauseClass::Line, |cause| cause.class)).or_default() += share.time_ns;
    }
    sums.retain(|class, time_ns| !matches!(class, CauseClass::Line | CauseClass::Serial) && *time_ns > 0);
    let whole: u64 = sums.values().sum();
    let mut shares: Vec<_> =
        sums.into_iter().map(|(class, time_ns)| (class, time_ns as f64 / whole as f64)).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}

/// Runs a profile on a model, and returns the record as of a device that Linux sees, with the time
/// account.
pub fn measured_on(model: ModelTarget, profile: &Profile) -> RunRecord {
    measured_as(model, profile, Seen::AsIs)
}

/// Like `measured_on`, in an environment, on which the next steps of a probe depend.
fn measured_as(mut model: ModelTarget, profile: &Profile, seen: Seen) -> RunRecord {
    let account = kurabe_core::model::Model::record(&model);
    let target = TargetRecord {
        given: "/dev/sdx".to_owned(),
        path: "/dev/sdx".to_owned(),
        kind: TargetKind::BlockDevice,
        span_bytes: profile.rules.size_bytes,
        direct: true,
        alignment_bytes: 512,
        writable: true,
    };
    let mut environment = seen_by_linux(&account);
    seen.degrade(&mut environment);
    let header = RunHeader {
        id: "abc".to_owned(),
        target: Some(target),
        profile: Some(profile.clone()),
        environment,
        ..RunHeader::default()
    };
    let mut record = RunRecord::begun(header.clone());
    let mut emit = |event: Event| {
        record.apply(&event);
        Ok(())
    };
    let follow_up: FollowUp<'_> = Box::new(move |profile, cells| probe_steps(&header, profile, cells));
    let stop = Stop::default();
    let session = Session::on_model(&mut model, "x", profile, &stop, &mut emit)
        .with_follow_up((profile.name == PROBE).then_some(follow_up));
    kurabe_virtual::run(session).unwrap();
    record.status = RunStatus::Complete;
    record.header.model = Some(account);
    record
}

/// Returns a model of the library.
pub fn model(device: &str) -> ModelTarget {
    model_with(device, &[])
}

/// Returns a model of the library with changed parameters.
pub fn model_with(device: &str, changes: &[(&str, &str)]) -> ModelTarget {
    let mut spec = device_named(device).unwrap();
    for (parameter, value) in changes {
        spec.set(parameter, value).unwrap();
    }
    ModelTarget::new(&spec, 1).unwrap()
}

/// Returns a record as it would be without knowledge of the model.
pub fn without_account(mut record: RunRecord) -> RunRecord {
    record.header.model = None;
    record.cells.iter_mut().flat_map(|cell| &mut cell.repetitions).for_each(|one| one.account = None);
    record
}

/// Environment that the rules see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// As Linux reports the device.
    AsIs,
    /// Every device is called non-rotational, as behind some USB bridges, iSCSI, nbd and rbd.
    NotRotational,
    /// The connection is unknown.
    NoLink,
    /// Both.
    Neither,
}

impl Seen {
    /// All environments, that of Linux first.
    pub const ALL: [Self; 4] = [Self::AsIs, Self::NotRotational, Self::NoLink, Self::Neither];

    fn words(self) -> &'static str {
        match self {
            Self::AsIs => "all",
            Self::NotRotational => "called non-rotational",
            Self::NoLink => "connection unknown",
            Self::Neither => "non-rotational and connection unknown",
        }
    }

    fn degrade(self, environment: &mut Environment) {
        for device in &mut environment.devices {
            if matches!(self, Self::NotRotational | Self::Neither) {
                // ATA and NVMe drives are asked; a bridge or network answers for the others.
                let is_asked = matches!(device.link, Some(Link::Sata { .. } | Link::Pcie { .. }));
                let is_bridged = !is_asked || self == Self::Neither;
                device.rotational = if is_bridged { Some(false) } else { device.rotational };
            }
            if matches!(self, Self::NoLink | Self::Neither) {
                device.link = None;
            }
        }
    }
}

/// Returns how many times as fast the same reads are as the writes of a cell.
fn reads_faster(record: &RunRecord, cell: &Cell) -> Option<f64> {
    let rate = |cell: &Cell, direction| -> f64 {
        let elapsed_ns: f64 = cell.counted().map(|one| one.elapsed_ns as f64).sum();
        cell.counted().map(|one| one.bytes(direction) as f64).sum::<f64>() / elapsed_ns
    };
    let is_same = |other: &&Cell| other.label == cell.label && other.direction == Some(Direction::Read);
    let read = record.cells.iter().filter(|_| cell.direction == Some(Direction::Write)).find(is_same)?;
    Some(rate(read, Direction::Read) / rate(cell, Direction::Write))
}

/// Returns the inferred limits of a device measured with a profile, in every environment.
fn answers_of(device: &'static str, profile: &Profile) -> [Vec<Answer>; 4] {
    let inside = measured_on(model(device), profile);
    let model = inside.header.model.as_ref().unwrap();
    let is_turning =
        |layer: &LayerRecord| matches!(layer.kind.as_str(), "disk" | "removable" | "magneto-optical");
    let turns = model.layers.iter().any(is_turning);
    let medium = &model.layers.last().expect("a layer").kind;
    let own_cells = |cell: &Cell| cell.step_index < profile.steps.len() as u32;
    // The first reading that a probe adds.
    let asked = |environment: &Environment| -> Vec<Step> {
        let header = RunHeader { environment: environment.clone(), ..inside.header.clone() };
        let cells: Vec<Cell> = inside.cells.iter().filter(|cell| own_cells(cell)).cloned().collect();
        if profile.name == PROBE { probe_steps(&header, profile, &cells).steps } else { Vec::new() }
    };
    Seen::ALL.map(|seen| {
        let mut outside = without_account(inside.clone());
        seen.degrade(&mut outside.header.environment);
        let asks_the_same = asked(&outside.header.environment) == asked(&inside.header.environment);
        let other = (!asks_the_same).then(|| measured_as(self::model(device), profile, seen));
        if let Some(other) = &other {
            outside = without_account(other.clone());
        }
        let measured = other.as_ref().unwrap_or(&inside);
        let answer = |(cell, limit): (&Cell, CellLimit)| Answer {
            device,
            limit,
            parts: parts_of(cell, model),
            reads_faster: reads_faster(measured, cell),
            turns,
            medium: medium.clone(),
        };
        // Cells that a probe added are only a means.
        let cells = measured.cells.iter().zip(limits_from_outside(&outside));
        cells.filter(|(cell, _)| own_cells(cell)).map(answer).collect()
    })
}

/// Returns the inferred limits of all devices measured with a profile, in every environment. The
/// devices are in the order of the library.
fn answers(profile: &Profile) -> [Vec<Answer>; 4] {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((device, _)) = DEVICES.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push(answers_of(device, profile));
        }
        done
    };
    let devices: Vec<[Vec<Answer>; 4]> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..std::thread::available_parallelism().map_or(1, usize::from))
            .map(|_| scope.spawn(work))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut all: [Vec<Answer>; 4] = Default::default();
    for device in devices {
        all.iter_mut().zip(device).for_each(|(all, own)| all.extend(own));
    }
    for answers in &mut all {
        answers.sort_by_key(|answer| DEVICES.iter().position(|(device, _)| *device == answer.device));
    }
    all
}

/// Returns whether no rule was developed on a device: one in three, selected by a hash of the name
/// (FNV-1a).
fn is_held_back_device(device: &str) -> bool {
    let hash = device.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash.is_multiple_of(3)
}

fn score<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Score {
    let mut score = Score::default();
    answers.into_iter().for_each(|answer| score.add(answer));
    score
}

/// Returns a profile with the test file of `quick`, and with a shorter time if one is given.
pub fn profile(name: &str, time_ns: Option<u64>) -> Profile {
    let mut profile = profile_named(name).unwrap();
    if !profile.rules.whole_device {
        profile.rules.size_bytes = 256 << 20;
    }
    if let Some(time_ns) = time_ns {
        take_time(&mut profile, time_ns);
    }
    profile
}

/// Sets the duration of each repetition that ends by time.
pub fn take_time(profile: &mut Profile, time_ns: u64) {
    profile.rules.time_ns = time_ns;
    for step in &mut profile.steps {
        if let Step::Io(step) = step {
            let end = &mut step.end;
            end.time_ns = end.time_ns.map(|_| time_ns);
        }
    }
}

/// Scores of a profile over all devices.
#[derive(Debug)]
pub struct Scores {
    /// All cells.
    pub all: Score,
    /// Cells limited by a link.
    pub linked: Score,
    /// A report: each result that is not right, then the scores.
    pub text: String,
}

/// Returns the scores of a profile in every environment.
pub fn scored(profile: &Profile) -> [Scores; 4] {
    let answers = answers(profile);
    let mut scores =
        Seen::ALL.into_iter().zip(&answers).map(|(seen, answers)| scores_of(profile, seen, answers));
    std::array::from_fn(|_| scores.next().unwrap())
}

fn scores_of(profile: &Profile, seen: Seen, answers: &[Answer]) -> Scores {
    let mut lines: Vec<String> =
        answers.iter().filter(|answer| answer.truth() != Truth::Right).map(Answer::to_string).collect();
    for (name, is_held_back) in [("rules made on", false), ("held back", true)] {
        let score = score(answers.iter().filter(|answer| is_held_back_device(answer.device) == is_held_back));
        lines.push(format!("{}, {name}: {score}", profile.name));
    }
    let is_linked = |answer: &&Answer| answer.parts.first().is_some_and(|(part, _)| *part == Part::Link);
    let linked = score(answers.iter().filter(is_linked));
    lines.push(format!("{}, bound by a link: {linked}", profile.name));
    let media: BTreeSet<&str> = answers.iter().map(|answer| answer.medium.as_str()).collect();
    for medium in media {
        let score = score(answers.iter().filter(|answer| answer.medium == medium));
        lines.push(format!("{}, {medium}: {score}", profile.name));
    }
    let all = score(answers);
    lines.push(format!("{}, {}: {all}", profile.name, seen.words()));
    Scores { all, linked, text: lines.join("\n") }
}

/// Lowest percentages of right results of a profile, and the highest of wrong ones.
struct Bounds {
    /// Of all cells, also if the kernel calls every disk non-rotational.
    right: f64,
    /// Of the cells that a link limits.
    linked_right: f64,
    /// Of all cells, if the connection is unknown.
    unlinked_right: f64,
    wrong: f64,
}

/// Checks the bounds of a profile in every environment. No result may be firmly wrong.
fn holds(place: usize, bounds: &Bounds) {
    let (name, time_ns) = PROFILES[place];
    let scores = scored(&profile(name, time_ns));
    let percent = |count: usize, of: &Score| 100.0 * count as f64 / of.cells as f64;
    let linked = &scores[0].linked;
    assert!(percent(linked.right, linked) >= bounds.linked_right, "{}", scores[0].text);
    for (seen, Scores { all, text, .. }) in Seen::ALL.into_iter().zip(&scores) {
        let right = match seen {
            Seen::AsIs | Seen::NotRotational => bounds.right,
            Seen::NoLink | Seen::Neither => bounds.unlinked_right,
        };
        let is_held = percent(all.right, all) >= right && percent(all.wrong, all) <= bounds.wrong;
        assert!(is_held && all.firmly_wrong == 0, "{text}");
    }
}

/// Profiles to score, with a shorter time per repetition if the profile's own makes no difference.
pub const PROFILES: [(&str, Option<u64>); 4] =
    [("quick", None), ("cdm-9", Some(500_000_000)), ("gnome-disks", None), ("probe", None)];

#[test]
#[ignore = "slow"]
fn of_a_quick_run() {
    holds(0, &Bounds { right: 88.0, linked_right: 65.0, unlinked_right: 85.0, wrong: 1.0 });
}

#[test]
#[ignore = "slow"]
fn of_a_run_as_crystaldiskmark_does_it() {
    holds(1, &Bounds { right: 81.0, linked_right: 60.0, unlinked_right: 75.0, wrong: 2.0 });
}

#[test]
#[ignore = "slow"]
fn of_a_run_as_gnome_disks_does_it() {
    holds(2, &Bounds { right: 81.0, linked_right: 65.0, unlinked_right: 78.0, wrong: 1.0 });
}

#[test]
fn of_a_probe() {
    holds(3, &Bounds { right: 95.0, linked_right: 90.0, unlinked_right: 87.0, wrong: 0.7 });
}
