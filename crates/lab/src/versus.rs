//! Interleaved measurement of several targets. Each target is a separate run, and a referee decides
//! when there are enough repetitions.

mod forecast;
mod repetition;
mod request;
mod settling;
mod vary;

pub use request::{SHORTEST_REPETITION_NS, USUAL_REPETITION_NS, Variant, VersusRequest, VersusWriting};
pub use vary::{SideWords, Variation, count_sides, side_name, sides};

use crate::clock::random_word;
use crate::journal::{Journal, Lab, rescued};
use crate::open::{Open, OpenTarget};
use crate::prepared::Prepared;
use crate::profile::ProfileWithTraces;
use crate::request::{Procedure, RunRequest, Writing};
use crate::served::ServedModel;
use crate::step_change::drop_doubles;
use crate::stream::{StreamEvent, VersusEvent};
use kurabe_compare::{FEWEST_BLOCKS, MOST_BLOCKS, Referee};
use kurabe_core::event::Event;
use kurabe_core::foreseen::{ForeseenSide, ForeseenVersus, LongestTime};
use kurabe_core::issue::Settings;
use kurabe_core::mention::{COMPARE, DESTROY_DATA_ON, PROFILE, RUN, VARY};
use kurabe_core::profile::{Overrides, Profile, Step};
use kurabe_core::quantity::NS_PER_S;
use kurabe_core::record::{RunHeader, RunRecord, VersusRecord};
use kurabe_core::target_name::TargetName;
use kurabe_core::{ErrorKind, Result, shown, text};
use kurabe_engine::{BlocksSoFar, Ended, InterleavedRules, InterleavedTarget, Target, measure_interleaved};
use kurabe_host::NoiseWatch;
use kurabe_trace::remove_orphaned_traces;
use settling::settling_time;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub use kurabe_engine::WhyEnded;

/// A repetition that writes ends after this number of bytes, however fast the target is. Hundreds
/// of repetitions at full speed would wear a fast drive without a better answer.
const MOST_WRITTEN_BYTES: u64 = 64 << 20;

/// Default time limit for the measurement, which a user will accept.
pub const USUAL_TIME_NS: u64 = 300 * NS_PER_S;

/// Maximum number of variants in one measurement. With more, each would get too few blocks for a
/// verdict in acceptable time.
pub const MOST_VARIANTS: usize = 16;

/// A measurement with too few blocks for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooShort {
    /// Blocks that fit into the time.
    pub blocks: u64,
    /// Minimum number of blocks for a verdict.
    pub fewest: u64,
    /// Sufficient time in ns.
    pub needed_ns: u64,
}

/// A planned interleaved measurement.
pub struct PreparedVersus {
    request: VersusRequest,
    runs: Vec<Prepared>,
    order_seed: u64,
}

/// An interleaved measurement with all targets open.
pub struct OpenVersus<'a> {
    request: VersusRequest,
    runs: Vec<Open<'a>>,
    order_seed: u64,
}

/// Result of an interleaved measurement.
#[derive(Debug)]
pub struct VersusDone {
    /// The runs as stored, the baseline first. `None` for a run without cells, which is not stored.
    pub records: Vec<Option<RunRecord>>,
    /// Why the measurement ended.
    pub why: Result<WhyEnded>,
    /// Number of complete blocks.
    pub blocks: u32,
    /// File with the runs that the store did not take, if any.
    pub rescued: Option<PathBuf>,
}

impl PreparedVersus {
    /// Plans the measurement of a request.
    ///
    /// # Errors
    /// When there are fewer than two targets, a permission does not refer to any of them, or as
    /// [`Prepared::new`].
    pub fn new(request: VersusRequest) -> Result<Self> {
        request.check()?;
        let order_seed = request.overrides.seed.map_or_else(random_word, Ok)?;
        let requests = request.runs();
        let mut plans = requests.iter().map(ProfileWithTraces::of).collect::<Result<Vec<_>>>()?;
        if !request.variants.is_empty() {
            drop_doubles(&mut plans);
        }
        for plan in &mut plans {
            request.shorten(&mut plan.profile)?;
        }
        let runs: Vec<Prepared> = requests
            .into_iter()
            .zip(plans)
            .map(|(run, plan)| Prepared::with_plan(run, plan))
            .collect::<Result<_>>()?;
        request.refuse_equal(&runs)?;
        Ok(Self { request, runs, order_seed })
    }

    /// Returns the names of the variants, if one target is measured in several.
    pub fn variants(&self) -> impl Iterator<Item = &str> {
        self.request.variants.iter().map(|variant| variant.name.as_str())
    }

    /// Returns the run of each target, the baseline first.
    pub fn runs(&self) -> &[Prepared] {
        &self.runs
    }

    /// Returns how much the measurement writes, and how long it takes at most.
    ///
    /// # Errors
    /// When a target does not exist.
    pub fn foresee(&self) -> Result<ForeseenVersus> {
        let limit = self.limit();
        let mut variants = self.request.variants.iter().map(|variant| variant.name.clone());
        let of_run = |(place, run): (usize, &Prepared)| {
            let mut foreseen = run.foresee()?;
            if foreseen.writes.time_ns > 0 {
                // The number of repetitions is decided during the measurement. The maximum duration is
                // the upper bound for the writing time.
                foreseen.writes.time_ns = limit.ns();
            }
            let shared = foreseen.test_file_bytes.take_if(|_| self.shares_test_file(place));
            foreseen.writes.bytes = foreseen.writes.bytes.saturating_sub(shared.unwrap_or(0));
            Ok(ForeseenSide { variant: variants.next(), foreseen, shares_test_file: shared.is_some() })
        };
        let sides = self.runs.iter().enumerate().map(of_run).collect::<Result<_>>()?;
        Ok(ForeseenVersus { limit, sides })
    }

    /// Returns whether a run uses the test file of an earlier one.
    fn shares_test_file(&self, place: usize) -> bool {
        let run = &self.runs[place];
        let Some(path) = path_of_its_file(run) else { return false };
        let shares = |before: &Prepared| {
            path_of_its_file(before).is_some_and(|other| other == path)
                && holds_the_same(&path, run.profile(), before.profile())
        };
        self.runs[..place].iter().any(shares)
    }

    /// Returns the limit that applies if the cells are not decided.
    pub fn limit(&self) -> LongestTime {
        self.request.limit()
    }

    /// Returns the shortest and the usual duration of a repetition in ns. `None` for programs, which take
    /// their own time.
    pub fn repetition_range_ns(&self) -> Option<[u64; 2]> {
        let mut steps = self.runs.iter().flat_map(|run| &run.profile().steps);
        let are_programs = steps.all(|step| matches!(step, Step::Command(_)));
        (!are_programs).then(|| self.request.repetition_range_ns())
    }

    /// Returns the shortfall if the time is too short for a verdict.
    pub fn too_short(&self) -> Option<TooShort> {
        let rules = &self.runs[0].profile().rules;
        let LongestTime::Measuring(time_ns) = self.limit() else { return None };
        if self.request.are_models() {
            return None;
        }
        let once_ns = time_ns / u64::from(rules.runs).max(1);
        let blocks = time_ns / self.request.least_of(once_ns).max(1);
        let fewest = FEWEST_BLOCKS as u64 + u64::from(rules.discarded_runs);
        let needed_ns = once_ns.saturating_mul(fewest);
        (blocks < fewest).then_some(TooShort { blocks, fewest, needed_ns })
    }

    /// Creates the runs in the store and opens the targets. On failure, nothing is stored.
    ///
    /// # Errors
    /// As [`Prepared::open`].
    pub fn open<'a>(self, lab: &Lab<'a>) -> Result<OpenVersus<'a>> {
        remove_orphaned_traces();
        let Self { request, runs, order_seed } = self;
        let targets: Vec<String> = runs.iter().map(|run| shown::name(run.target().typed())).collect();
        let variants: Vec<String> = request.variants.iter().map(|variant| variant.name.clone()).collect();
        // All environments are recorded before the first test file is created, because the file
        // would appear as a difference.
        let headers = runs.iter().map(|run| run.header(lab)).collect::<Result<Vec<_>>>()?;
        let mut opened: Vec<Open<'a>> = Vec::new();
        for (place, (run, header)) in runs.into_iter().zip(headers).enumerate() {
            let group = opened.first().map(|first| first.header().identity.clone()).unwrap_or_default();
            let (targets, variants) = (targets.clone(), variants.clone());
            let versus = VersusRecord { group, order_seed, targets, place: place as u32, variants };
            let twin = the_same(&run, &opened);
            match run.open_as(lab, header, Some((versus, twin))) {
                Ok(open) => opened.push(open),
                Err(error) => {
                    // There are no results to store. The test files are removed first.
                    let journals: Vec<Journal<'_>> = opened.into_iter().map(|open| open.journal).collect();
                    journals.iter().try_for_each(Journal::discard)?;
                    return Err(error);
                }
            }
        }
        Ok(OpenVersus { request, runs: opened, order_seed })
    }
}

impl VersusRequest {
    /// Checks that there are at least two targets, and that every device with write consent is one
    /// of them. This detects typing errors.
    fn check(&self) -> Result<()> {
        if self.targets.len() < 2 && self.variants.is_empty() {
            return Err(ErrorKind::Usage.error(text!("a comparison needs more than one target", "対象が 1 つでは比べられません"))
            .remedy(text!(
                "name two or more targets, the baseline first, or vary an option ({VARY} bs=4k,16k); \
                 measure a single target with `{RUN}`",
                "2 つ以上を、基準を先頭にして指定するか、変えたい条件を指定してください({VARY} bs=4k,16k)。1 つだけ測るなら \
                 `{RUN}` です"
            )));
        }
        if self.targets.len() > 1 && !self.variants.is_empty() {
            return Err(ErrorKind::Usage
                .error(text!(
                    "{VARY} compares configurations of one target, but several targets were given",
                    "{VARY} は 1 つの対象の条件を変えて比べますが、対象が複数あります"
                ))
                .remedy(text!(
                    "name one target, or remove {VARY}",
                    "対象を 1 つにするか、{VARY} を外してください"
                )));
        }
        let is_model = self.targets.first().is_some_and(|target| target.model().is_some());
        if let Some((parameter, _)) =
            self.variants.iter().flat_map(|variant| &variant.sets).next().filter(|_| !is_model)
        {
            return Err(ErrorKind::Usage
                .error(text!(
                    "{VARY} {parameter} applies to models, but the target is not a model",
                    "{VARY} {parameter} はモデル用ですが、対象はモデルではありません"
                ))
                .remedy(text!("name a model: model:NAME", "対象を model:名前 にしてください")));
        }
        let Some(device) = self
            .writing
            .devices
            .iter()
            .find(|device| !self.targets.iter().any(|target| target.path() == Some(device)))
        else {
            return Ok(());
        };
        let device = shown::path(device);
        Err(ErrorKind::Usage
            .error(text!(
                "{DESTROY_DATA_ON} {device} is not one of the targets",
                "{DESTROY_DATA_ON} {device} は対象に含まれていません"
            ))
            .remedy(text!(
                "name the device exactly as in the list of targets",
                "対象に書いたとおりの名前を指定してください"
            )))
    }

    /// Returns the pause in ns before each repetition.
    fn interval_ns(&self) -> u64 {
        self.overrides.interval_ns.unwrap_or(0)
    }

    fn are_models(&self) -> bool {
        self.targets.iter().all(|target| target.model().is_some())
    }

    fn limit(&self) -> LongestTime {
        match self.time_ns {
            // The number of repetitions ends the measurement.
            None if self.given.is_some() => LongestTime::Measuring(u64::MAX),
            None if self.are_models() => LongestTime::Computing(USUAL_TIME_NS),
            time_ns => LongestTime::Measuring(time_ns.unwrap_or(USUAL_TIME_NS)),
        }
    }

    /// Returns, for each run, whether its time counts. Next to a real target, the virtual time of a
    /// model does not.
    fn counting_runs(&self) -> impl Iterator<Item = bool> + '_ {
        let all = self.are_models();
        let times = self.variants.len().max(1);
        let counts = move |target: &TargetName| all || target.model().is_none();
        self.targets.iter().flat_map(move |target| std::iter::repeat_n(counts(target), times))
    }

    /// Returns a function that computes the share of the time limit used from the time spent on
    /// each target by its own clock. The wall clock starts now.
    fn clock(&self) -> impl Fn(&[u64]) -> f64 + use<> {
        let (limit, begun) = (self.limit(), Instant::now());
        let counting: Vec<bool> = self.counting_runs().collect();
        move |spent_ns| match limit {
            LongestTime::Measuring(time_ns) => {
                let counted = spent_ns.iter().zip(&counting).filter(|(_, counts)| **counts);
                counted.map(|(spent_ns, _)| *spent_ns as f64).sum::<f64>() / time_ns as f64
            }
            LongestTime::Computing(time_ns) => begun.elapsed().as_nanos() as f64 / time_ns as f64,
        }
    }

    /// Returns the run of each target, or of each variant of the single target, the baseline first.
    fn runs(&self) -> Vec<RunRequest> {
        let Some(target) = self.targets.first().filter(|_| !self.variants.is_empty()) else {
            return self.targets.iter().map(|target| self.of_target(target)).collect();
        };
        let of_variant = |variant: &Variant| {
            let request = self.of_target(target);
            let Variant { overrides, sets, .. } = variant.clone();
            let overrides = Overrides {
                size_bytes: overrides.size_bytes.or(self.overrides.size_bytes),
                seed: overrides.seed.or(self.overrides.seed),
                ..overrides
            };
            let procedure = match variant.step() {
                Some(step) => Procedure::Single(Box::new(step)),
                None => request.procedure,
            };
            RunRequest { procedure, overrides, sets, ..request }
        };
        self.variants.iter().map(of_variant).collect()
    }

    /// Refuses variants that are identical, because there would be nothing to compare.
    fn refuse_equal(&self, runs: &[Prepared]) -> Result<()> {
        for (place, variant) in self.variants.iter().enumerate() {
            let is_equal = |before: &usize| runs[*before].does_the_same(&runs[place]);
            if let Some(before) = (0..place).find(is_equal) {
                let (one, other) = (&self.variants[before].name, &variant.name);
                return Err(ErrorKind::Usage
                    .error(text!(
                        "{one} and {other} give the same configuration here",
                        "{one} と {other} はここでは同じ条件になります"
                    ))
                    .remedy(text!(
                        "remove one of them, or choose a {PROFILE} that they affect",
                        "どちらかを外すか、条件によって変わる {PROFILE} を選んでください"
                    )));
            }
        }
        Ok(())
    }

    /// Returns the run of one target.
    fn of_target(&self, target: &TargetName) -> RunRequest {
        let is_model = |target: &TargetName| target.model().is_some();
        let Overrides { size_bytes, seed, engine, .. } = self.overrides;
        let request = RunRequest {
            target: target.clone(),
            procedure: match &self.given {
                Some(profile) => Procedure::Given(profile.clone()),
                None => Procedure::Named(self.profile.clone()),
            },
            overrides: Overrides { size_bytes, seed, ..Overrides::default() },
            labels: self.labels.clone(),
            // If models are compared with a real target, the real target keeps its test file.
            // Without a model, the option is passed on so that it is refused.
            no_fill: self.no_fill && (is_model(target) || !self.targets.iter().any(is_model)),
            ..RunRequest::default()
        };
        let Some(path) = target.path() else { return request };
        RunRequest {
            overrides: Overrides { engine, ..request.overrides },
            writing: Writing {
                existing_file: self.writing.existing_files && path.is_file(),
                destroy_data_on: self.writing.devices.iter().find(|device| *device == path).cloned(),
            },
            ..request
        }
    }

    /// Sets short repetitions, and as many blocks as the time allows.
    fn shorten(&self, profile: &mut Profile) -> Result<()> {
        // All targets are measured in the same way, so an option for one applies to all.
        profile.rules.direct &= self.overrides.is_direct().unwrap_or(true);
        if profile.rounds.is_some() {
            let name = &profile.name;
            return Err(ErrorKind::Usage
                .error(text!(
                    "`{name}` repeats rounds until each device is steady, so the measurements of targets \
                     cannot be interleaved",
                    "`{name}` は定常状態になるまでラウンドを繰り返すため、交互には測れません"
                ))
                .remedy(text!(
                    "measure each with `{RUN} {PROFILE} {name}`, then `{COMPARE} RUN RUN`",
                    "それぞれ `{RUN} {PROFILE} {name}` で測り、`{COMPARE} 測定 測定` で比べてください"
                )));
        }
        let rules = &mut profile.rules;
        if self.given.is_some() {
            // Blocks come in pairs.
            rules.discarded_runs = rules.discarded_runs.next_multiple_of(2);
            rules.runs = rules.runs.next_multiple_of(2);
            return Ok(());
        }
        (rules.time_ns, rules.interval_ns) = (self.repetition_ns(), self.interval_ns());
        // Blocks come in pairs, and so do discarded blocks.
        rules.discarded_runs = rules.discarded_runs.next_multiple_of(2);
        if self.targets.iter().any(|target| target.model().is_none()) {
            let own = rules.write_limit_bytes.unwrap_or(u64::MAX);
            rules.write_limit_bytes = Some(own.min(MOST_WRITTEN_BYTES));
        }
        for step in &mut profile.steps {
            let Step::Io(step) = step else { continue };
            if let Some(time_ns) = &mut step.end.time_ns {
                *time_ns = self.repetition_ns();
            }
        }
        let tasks = profile.tasks(profile.rules.size_bytes);
        let once_ns = tasks
            .iter()
            .map(|task| {
                task.planned_time_ns().unwrap_or(self.repetition_ns()).saturating_add(self.interval_ns())
            })
            .fold(0, u64::saturating_add);
        let counting = self.counting_runs().filter(|counts| *counts).count();
        let block_ns = once_ns.saturating_mul(counting as u64).max(1);
        let blocks = match self.limit() {
            LongestTime::Measuring(time_ns) => (time_ns / block_ns).max(2),
            LongestTime::Computing(_) => MOST_BLOCKS as u64 + u64::from(profile.rules.discarded_runs),
        };
        profile.rules.runs = u32::try_from(blocks).unwrap_or(u32::MAX);
        Ok(())
    }
}

/// Returns the earlier target that is the same as that of a run. Two test files in one directory
/// occupy different areas of the disk, which may differ in speed, but the same target named twice
/// should show no difference. Programs and copies create their own files. Files of different size
/// or data are distinct.
fn the_same<'s>(run: &Prepared, before: &'s [Open<'_>]) -> Option<&'s Target> {
    let path = path_of_its_file(run)?;
    let is_at_path =
        |target: &&Target| Path::new(&target.facts().given).canonicalize().is_ok_and(|other| other == path);
    let alike = |open: &&Open<'_>| holds_the_same(&path, run.profile(), &open.plan.profile);
    before.iter().filter(alike).filter_map(|open| open.ground.real()).find(is_at_path)
}

/// Returns where a run's test file is created, or the file or device that it uses. Returns `None`
/// for a model, and for runs that create their own files.
fn path_of_its_file(run: &Prepared) -> Option<PathBuf> {
    let own_files = |step: &Step| step.has_own_files() || matches!(step, Step::Copy(_));
    if run.is_modelled() || run.profile().steps.iter().any(own_files) {
        return None;
    }
    run.target().path()?.canonicalize().ok()
}

/// Returns whether two plans can share the test file at a path.
fn holds_the_same(path: &Path, one: &Profile, other: &Profile) -> bool {
    let content = |profile: &Profile| (profile.rules.size_bytes, profile.rules.data);
    !path.is_dir() || content(one) == content(other)
}

/// State of the runs during the measurement.
struct Live<'a, 'l> {
    journals: Vec<Journal<'a>>,
    lab: Lab<'a>,
    request: &'l VersusRequest,
    referee: Referee,
}

impl Live<'_, '_> {
    /// Reports the served models below each run's target.
    fn tell_served(&mut self, served: &[Vec<ServedModel>]) -> Result<()> {
        self.journals.iter_mut().zip(served).try_for_each(|(journal, models)| journal.tell_served(models))
    }

    /// Performs an interim analysis after a pair of blocks. Returns what each cell still needs.
    fn look(&mut self, so_far: BlocksSoFar) -> Result<Vec<Vec<usize>>> {
        let BlocksSoFar { done: blocks, cell_count, .. } = so_far;
        let before = self.referee.standings().clone();
        if self.request.given.is_some() {
            let event = VersusEvent::VersusBlocks { blocks, settled: 0, comparisons: 0 };
            self.lab.stream.tell(self.journals[0].id(), StreamEvent::Versus(event))?;
            return Ok(self.all_again(blocks, cell_count));
        }
        let cells = || self.journals.iter().map(|journal| journal.record.cells.clone()).collect();
        let needed = self.referee.decide(blocks, cell_count, cells);
        let standings = self.referee.standings();
        let group = self.journals[0].id();
        let tell = |event| self.lab.stream.tell(group, StreamEvent::Versus(event));
        for (other, judged) in standings.others.iter().enumerate() {
            for cell in &self.journals[0].record.cells {
                let place = cell.index as usize;
                let before = before.others.get(other).and_then(|cells| cells.get(place).copied().flatten());
                let Some(blocked) = judged[place].filter(|blocked| blocked.course.settled) else { continue };
                if before.is_some_and(|before| before.course.settled) {
                    continue;
                }
                let settled = VersusEvent::VersusSettled {
                    label: cell.label.clone(),
                    direction: cell.direction,
                    other: self.journals[other + 1].id().to_owned(),
                    blocked: Box::new(blocked),
                };
                tell(settled)?;
            }
        }
        let (settled, comparisons) = standings.settled();
        tell(VersusEvent::VersusBlocks { blocks, settled, comparisons })?;
        self.foresee(so_far)?;
        Ok(needed)
    }

    /// Returns all targets for each cell until the given profile's repetitions are complete.
    fn all_again(&self, blocks: u32, cell_count: usize) -> Vec<Vec<usize>> {
        let profile = self.journals[0].record.header.profile.as_ref();
        let targets = match profile.is_some_and(|profile| blocks < profile.repetitions()) {
            true => (0..self.journals.len()).collect(),
            false => Vec::new(),
        };
        vec![targets; cell_count]
    }

    /// Measures until no target needs more blocks or the time is up.
    fn turns(
        live: &RefCell<Self>,
        events: Vec<Vec<Event>>,
        targets: &mut [(ProfileWithTraces, OpenTarget, (Settings, bool))],
        order_seed: u64,
    ) -> Result<Ended> {
        for (place, event) in events
            .into_iter()
            .enumerate()
            .flat_map(|(place, all)| all.into_iter().map(move |event| (place, event)))
        {
            live.borrow_mut().journals[place].tell(event)?;
        }
        let (watches, handle, request) = {
            let live = live.borrow();
            let watch = |journal: &Journal<'_>| NoiseWatch::new(&journal.record.header.environment);
            let watches: Vec<NoiseWatch> = live.journals.iter().map(watch).collect();
            (watches, live.lab.handle, live.request)
        };
        let mut listeners: Vec<_> = (0..watches.len())
            .map(|place| move |event: Event| live.borrow_mut().journals[place].tell(event))
            .collect();
        let stop = &handle.stop;
        let mut targets: Vec<Box<dyn InterleavedTarget + '_>> = targets
            .iter_mut()
            .zip(&watches)
            .zip(&mut listeners)
            .map(|(((plan, ground, settings), noise), emit)| {
                ground.interleaved(plan, *settings, noise, stop, emit)
            })
            .collect();
        let mut decide = |so_far| live.borrow_mut().look(so_far);
        let time_used = request.clock();
        let own_spans = request.variants.iter().any(|variant| variant.overrides.size_bytes.is_some());
        let headers: Vec<RunHeader> =
            live.borrow().journals.iter().map(|journal| journal.record.header.clone()).collect();
        let settling = settling_time(request, &headers);
        let discarded = headers[0].profile.as_ref().map_or(0, |profile| profile.rules.discarded_runs);
        let fewest_blocks = request.fewest_blocks(discarded);
        let short_ns = request.short_ns(&headers);
        let rules = InterleavedRules { order_seed, own_spans, settling, short_ns, fewest_blocks };
        Ok(measure_interleaved(&mut targets, rules, &time_used, stop, &mut decide))
    }
}

impl OpenVersus<'_> {
    /// Returns the headers of the runs, the baseline first.
    pub fn headers(&self) -> impl Iterator<Item = &RunHeader> {
        self.runs.iter().map(Open::header)
    }

    /// Measures the targets interleaved until every cell is decided, the time is up or the
    /// measurement is stopped, and closes every run.
    pub fn measure(self) -> VersusDone {
        let Self { request, runs, order_seed } = self;
        let events = runs.iter().map(Open::started).collect::<Result<Vec<_>>>();
        let (mut journals, mut targets) = (Vec::new(), Vec::new());
        for Open { journal, plan, ground, settings, fills, .. } in runs {
            journals.push(journal);
            targets.push((plan, ground, (settings, fills)));
        }
        let models = journals.iter().map(|journal| journal.record.header.model.is_some()).collect();
        let discarded = targets[0].0.profile.rules.discarded_runs;
        let live = RefCell::new(Live {
            lab: journals[0].lab,
            journals,
            request: &request,
            referee: Referee::new(request.margin, discarded, models),
        });
        let served: Vec<_> = targets.iter().map(|(_, ground, _)| ground.served()).collect();
        let ended = events.and_then(|events| Live::turns(&live, events, &mut targets, order_seed));
        let Ended { why, failed, blocks } =
            ended.unwrap_or_else(|error| Ended { why: Err(error), failed: None, blocks: 0 });
        // Before test files are removed, because servers would count these requests as well.
        let kept = live.borrow_mut().tell_served(&served);
        let remains = targets.into_iter().map(|(_, ground, _)| ground.close()).collect::<Vec<_>>();
        let other_ended = ErrorKind::Interrupted
            .error(text!("ended because of another target", "ほかの対象のため終了しました"));
        let store = live.borrow().lab.store;
        let mut closed = Vec::new();
        let journals = live.into_inner().journals;
        for (place, (mut journal, remains)) in journals.into_iter().zip(remains).enumerate() {
            let error = match &why {
                Ok(_) => None,
                Err(error) if failed == Some(place) => Some(error),
                Err(_) => Some(&other_ended),
            };
            let left = journal.left(remains);
            let mut run = journal.close(error);
            run.outcome = left.and(run.outcome);
            closed.push(run);
        }
        let (why, rescued) = rescued(store, &mut closed, why.and_then(|why| kept.map(|()| why)));
        VersusDone { records: closed.into_iter().map(|run| run.record).collect(), why, blocks, rescued }
    }
}
