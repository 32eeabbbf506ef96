//! `kurabe versus`: several targets measured in turns; each is a run of its own in the store.

use crate::args::{Global, RunArgs, VersusArgs};
use crate::foresee::dry_run_in_turns;
use crate::lang::{lang, t};
use crate::model::model_name;
use crate::output::{error_style, print, print_json, print_record, progress_mode, say, style};
use crate::plan;
use crate::run::{Run, Subject, header, plain_run, random_word};
use crate::signals::Signals;
use crate::stored::{open_store, parse_label, recover};
use kurabe_compare::{FEWEST_BLOCKS, Referee, pair};
use kurabe_core::event::Event;
use kurabe_core::profile::{Profile, Step};
use kurabe_core::quantity::{NS_PER_S, format_time_setting};
use kurabe_core::record::{Cell, RunRecord, VersusRecord};
use kurabe_core::{Error, ErrorKind, Result, Text, text};
use kurabe_engine::{Contender, Ended, Target, WhyEnded, measure_in_turns};
use kurabe_host::NoiseWatch;
use kurabe_report::{VersusProgress, answer, headline, render_versus};
use kurabe_store::Store;
use kurabe_trace::remove_orphaned_traces;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Cells grow with every block; they are written to the store as often as this.
const STORE_EVERY: Duration = Duration::from_secs(2);

/// Runs the command.
///
/// # Errors
/// Whatever keeps the measurement from its end; what was measured until then is stored and shown.
pub fn versus(args: &VersusArgs, global: &Global, command_line: &[String]) -> Result<()> {
    check_targets(args)?;
    let run_args = args.targets.iter().map(|target| of_target(args, target)).collect::<Result<Vec<_>>>()?;
    let order_seed = args.seed.map_or_else(random_word, Ok)?;
    let labels = args.label.iter().map(|label| parse_label(label)).collect::<Result<Vec<_>>>()?;
    let mut profile = profile(args, &run_args)?;
    let traces = plan::traces(&run_args[0], &mut profile)?;
    if args.dry_run {
        return dry_run_in_turns(&run_args, &profile, &traces, args.time);
    }
    if let Some(words) = too_short(args, &profile).filter(|_| !global.json && !global.quiet) {
        say(words.get(lang()));
    }
    let signals = Signals::listen()?;
    let store = open_store(global)?;
    recover(&*store)?;
    remove_orphaned_traces();
    let mut runs = Vec::new();
    let mut subjects = Vec::new();
    for args in &run_args {
        let subject = Subject::open(args, &profile)?;
        let header = header(args, &*store, &subject, &profile, command_line)?;
        subjects.push(subject);
        let (profile, traces) = (profile.clone(), traces.clone());
        runs.push(Run {
            follow_up: None,
            args,
            global,
            store: &*store,
            signals: &signals,
            header,
            profile,
            traces,
            test_file: None,
        });
    }
    if let Err(error) = begin(&mut runs, &mut subjects, order_seed, &labels) {
        // Nothing was measured, so there is nothing to keep; the test files go first.
        drop(subjects);
        for run in runs.iter().filter(|run| !run.header.id.is_empty()) {
            store.remove(&run.header.id, &|_| false)?;
        }
        return Err(error);
    }
    let ended = measure(args, order_seed, &runs, subjects);
    show(args, &*store, &runs, ended)
}

/// At least two targets; and every device that may be written must be one of them: a slip must not go unnoticed.
fn check_targets(args: &VersusArgs) -> Result<()> {
    if args.targets.len() < 2 {
        return Err(Error::new(
            ErrorKind::Usage,
            text!("a single target has nothing to be compared with", "対象が 1 つでは比べられません"),
        )
        .remedy(text!(
            "name two or more, the baseline first; `kurabe run` measures one",
            "2 つ以上を、基準を先頭にして指定してください。1 つだけ測るなら `kurabe run` です"
        )));
    }
    let Some(device) = args.destroy_data_on.iter().find(|device| !args.targets.contains(device)) else {
        return Ok(());
    };
    let device = device.display();
    Err(Error::new(
        ErrorKind::Usage,
        text!(
            "--destroy-data-on {device} is none of the targets",
            "--destroy-data-on {device} は対象に含まれていません"
        ),
    )
    .remedy(text!(
        "name the device as it stands among the targets",
        "対象に書いたとおりの名前を指定してください"
    )))
}

/// The words of `kurabe run` for one of the targets.
fn of_target(args: &VersusArgs, target: &Path) -> Result<Box<RunArgs>> {
    let mut run = plain_run(target)?;
    run.profile = Some(args.profile.clone());
    (run.size, run.seed) = (args.size, args.seed);
    if model_name(&run).is_none() {
        run.engine.clone_from(&args.engine);
        run.buffered = args.buffered;
        run.write_existing = args.write_existing && target.is_file();
        run.destroy_data_on = args.destroy_data_on.iter().find(|device| *device == target).cloned();
    }
    Ok(run)
}

/// A repetition that writes ends after so many bytes at the latest, however fast the target is: hundreds of repetitions at the rate of a
/// fast drive would wear it for an answer that fewer bytes give as well.
const MOST_WRITTEN_BYTES: u64 = 64 << 20;

/// The profile with short repetitions, and as many of them as the time allows.
fn profile(args: &VersusArgs, runs: &[Box<RunArgs>]) -> Result<Profile> {
    let mut profile = plan::profile(&runs[0])?;
    // All are measured alike: what is asked of one holds for all.
    profile.rules.direct &= !args.buffered;
    if profile.rounds.is_some() {
        let name = &profile.name;
        return Err(Error::new(
            ErrorKind::Usage,
            text!(
                "`{name}` goes on in rounds until each device is steady, so targets cannot take turns",
                "`{name}` は定常状態になるまでラウンドを繰り返すため、交互には測れません"
            ),
        )
        .remedy(text!(
            "measure each with `kurabe run --profile {name}`, then `kurabe compare`",
            "それぞれ `kurabe run --profile {name}` で測り、`kurabe compare` で比べてください"
        )));
    }
    let rules = &mut profile.rules;
    (rules.time_ns, rules.interval_ns) = (args.repetition, args.interval);
    // Blocks come in pairs, so those that do not count do, too.
    rules.discarded_runs = rules.discarded_runs.next_multiple_of(2);
    if runs.iter().any(|run| model_name(run).is_none()) {
        let own = rules.write_limit_bytes.unwrap_or(u64::MAX);
        rules.write_limit_bytes = Some(own.min(MOST_WRITTEN_BYTES));
    }
    for step in &mut profile.steps {
        let Step::Io(step) = step else { continue };
        if let Some(time_ns) = &mut step.end.time_ns {
            *time_ns = args.repetition;
        }
    }
    let tasks = profile.tasks(profile.rules.size_bytes);
    let once_ns = tasks
        .iter()
        .map(|task| task.planned_time_ns().unwrap_or(args.repetition).saturating_add(args.interval))
        .fold(0, u64::saturating_add);
    let block_ns = once_ns.saturating_mul(args.targets.len() as u64).max(1);
    profile.rules.runs = u32::try_from((args.time / block_ns).max(2)).unwrap_or(u32::MAX);
    Ok(profile)
}

/// What must be said before a measurement whose time is too short for a verdict.
fn too_short(args: &VersusArgs, profile: &Profile) -> Option<Text> {
    let blocks = u64::from(profile.rules.runs);
    let fewest = FEWEST_BLOCKS as u64 + u64::from(profile.rules.discarded_runs);
    if blocks >= fewest {
        return None;
    }
    let needed = format_time_setting((args.time / blocks).saturating_mul(fewest).next_multiple_of(NS_PER_S));
    Some(text!(
        "kurabe: the time suffices for about {blocks} blocks, and nothing can be told before {fewest}; --time {needed} would do, \
         or fewer cells (--profile), or a shorter --repetition",
        "kurabe: この時間では約 {blocks} ブロックしか測れず、{fewest} ブロックまでは何も判断できません。--time {needed} にするか、\
         項目の少ない --profile、または短い --repetition を指定してください"
    ))
}

/// Takes ids and opens the targets.
fn begin(
    runs: &mut [Run<'_>],
    subjects: &mut [Subject],
    order_seed: u64,
    labels: &[(String, Option<String>)],
) -> Result<()> {
    let targets: Vec<String> = runs.iter().map(|run| run.header.target_name().to_owned()).collect();
    let mut group = String::new();
    for (place, run) in runs.iter_mut().enumerate() {
        run.begin()?;
        if place == 0 {
            group.clone_from(&run.header.id);
        }
        run.header.versus = Some(VersusRecord {
            group: group.clone(),
            order_seed,
            targets: targets.clone(),
            place: place as u32,
        });
        let (before, rest) = subjects.split_at_mut(place);
        match the_same(run, before) {
            Some(target) => run.take(target.again()?, &mut rest[0])?,
            None => run.open_target(&mut rest[0])?,
        }
        for (key, value) in labels {
            run.store.label(&run.header.id, key, value.as_deref())?;
        }
    }
    Ok(())
}

/// The target among those before that a run's is, too. Two test files of one directory lie in different places of the
/// disk, which may differ truly; the same target twice is to be the same. Programs and copies make files of their own.
fn the_same<'s>(run: &Run<'_>, before: &'s [Subject]) -> Option<&'s Target> {
    let own_files = |step: &Step| matches!(step, Step::Command(_) | Step::Copy(_));
    if run.profile.steps.iter().any(own_files) {
        return None;
    }
    let path = run.args.target.canonicalize().ok()?;
    let real = |subject: &'s Subject| match subject {
        Subject::Real(target) => Some(target),
        Subject::Path | Subject::Model(..) => None,
    };
    before
        .iter()
        .filter_map(real)
        .find(|target| Path::new(&target.record().given).canonicalize().is_ok_and(|other| other == path))
}

/// What is known of the runs while they go on.
struct Live<'a, 'r> {
    runs: &'a [Run<'r>],
    args: &'a VersusArgs,
    progress: VersusProgress,
    /// The cells of each target by their place.
    cells: Vec<BTreeMap<u32, Cell>>,
    referee: Referee,
    stored: Vec<Instant>,
    /// Time of the repetitions so far.
    spent_ns: u64,
}

impl Live<'_, '_> {
    /// Keeps and tells what happened on a target.
    fn on_event(&mut self, place: usize, event: &Event) -> Result<()> {
        let run = &self.runs[place];
        match event {
            Event::CellSoFar { cell } => {
                self.cells[place].insert(cell.index, (**cell).clone());
                return Ok(());
            }
            Event::RepetitionDone { repetition, .. } => {
                self.spent_ns += repetition.elapsed_ns;
            }
            _ => run.keep(event)?,
        }
        let left_ns = self.args.time.saturating_sub(self.spent_ns);
        self.progress.on_event(&run.header.id, event, left_ns);
        if run.global.json {
            let id = &run.header.id;
            print_json(&serde_json::json!({ "event": "versus_run", "run": id, "happened": event }))?;
        }
        Ok(())
    }

    /// After a pair of blocks: what each cell still needs.
    fn look(&mut self, blocks: u32) -> Result<Vec<Vec<usize>>> {
        for (place, run) in self.runs.iter().enumerate() {
            if self.stored[place].elapsed() < STORE_EVERY {
                continue;
            }
            for cell in self.cells[place].values() {
                run.store.put_cell(&run.header.id, cell)?;
            }
            self.stored[place] = Instant::now();
        }
        let before = self.referee.standings().clone();
        let cells = || self.cells.iter().map(|cells| cells.values().cloned().collect()).collect();
        let wanted = self.referee.decide(blocks, cells);
        let standings = self.referee.standings();
        for (other, found) in standings.others.iter().enumerate() {
            for ((place, found), cell) in found.iter().enumerate().zip(self.cells[0].values()) {
                let before = before.others.get(other).and_then(|cells| cells.get(place).copied().flatten());
                let Some(found) = found.filter(|found| found.course.settled) else { continue };
                if !before.is_some_and(|before| before.course.settled) {
                    self.progress.settled(cell, &self.runs[other + 1].header.id, &found);
                }
            }
        }
        let settled = standings.settled();
        self.progress.after_blocks(blocks, settled);
        if self.runs[0].global.json {
            print_json(&serde_json::json!({
                "event": "versus_blocks", "blocks": blocks, "settled": settled.0, "comparisons": settled.1,
            }))?;
        }
        Ok(wanted)
    }
}

/// Measures in turns and closes every run.
fn measure(args: &VersusArgs, order_seed: u64, runs: &[Run<'_>], mut subjects: Vec<Subject>) -> Ended {
    let global = runs[0].global;
    let headlines = runs.iter().map(|run| (run.header.clone(), headline(&run.header))).collect::<Vec<_>>();
    let live = RefCell::new(Live {
        runs,
        args,
        progress: VersusProgress::new(error_style(), progress_mode(global)),
        cells: vec![BTreeMap::new(); runs.len()],
        referee: Referee::new(args.margin, runs[0].profile.rules.discarded_runs),
        stored: vec![Instant::now(); runs.len()],
        spent_ns: 0,
    });
    live.borrow_mut().progress.start(&headlines, args.time, args.repetition);
    let mut listeners: Vec<_> = (0..runs.len())
        .map(|place| {
            let live = &live;
            move |event: Event| live.borrow_mut().on_event(place, &event)
        })
        .collect();
    let watches: Vec<NoiseWatch> = runs.iter().map(|run| NoiseWatch::new(&run.header.environment)).collect();
    let ended = turns(args, order_seed, runs, &mut subjects, &watches, &mut listeners, &live);
    let mut ended = ended.unwrap_or_else(|error| Ended { why: Err(error), failed: None, blocks: 0 });
    for (place, (run, subject)) in runs.iter().zip(subjects).enumerate() {
        let stopped = Error::new(
            ErrorKind::Interrupted,
            text!("another target ended it", "ほかの対象のため終了しました"),
        );
        let error = match &ended.why {
            Ok(_) => None,
            Err(error) if ended.failed == Some(place) => Some(error),
            Err(_) => Some(&stopped),
        };
        let told = run.conclude(subject, error).and_then(|event| live.borrow_mut().on_event(place, &event));
        if let (true, Err(error)) = (ended.why.is_ok(), told) {
            ended.why = Err(error);
        }
    }
    live.borrow_mut().progress.finish();
    ended
}

fn turns(
    args: &VersusArgs,
    order_seed: u64,
    runs: &[Run<'_>],
    subjects: &mut [Subject],
    watches: &[NoiseWatch],
    listeners: &mut [impl FnMut(Event) -> Result<()>],
    live: &RefCell<Live<'_, '_>>,
) -> Result<Ended> {
    for ((run, subject), listener) in runs.iter().zip(subjects.iter()).zip(listeners.iter_mut()) {
        listener(run.started(subject)?)?;
    }
    let mut contenders: Vec<Box<dyn Contender + '_>> = Vec::new();
    for (place, (subject, listener)) in subjects.iter_mut().zip(listeners).enumerate() {
        contenders.push(runs[place].in_turns(subject, &watches[place], listener)?);
    }
    let mut decide = |blocks| live.borrow_mut().look(blocks);
    let stop = &runs[0].signals.stop;
    Ok(measure_in_turns(&mut contenders, order_seed, args.time, stop, &mut decide))
}

/// Shows what the store has of it.
fn show(args: &VersusArgs, store: &dyn Store, runs: &[Run<'_>], ended: Ended) -> Result<()> {
    let json = runs[0].global.json;
    let mut records: Vec<RunRecord> = Vec::new();
    for run in runs {
        let record = store.load(&run.header.id)?;
        if record.cells.is_empty() {
            store.remove(&run.header.id, &|_| false)?;
        } else {
            records.push(record);
        }
    }
    let (why, blocks) = (ended.why.as_ref().ok().copied(), ended.blocks);
    match records.split_first() {
        Some((baseline, others)) if records.len() == runs.len() => {
            let pairs: Vec<_> = others.iter().map(|other| pair(baseline, other, args.margin)).collect();
            if json {
                records.iter().try_for_each(print_record)?;
                let answers: Vec<_> = pairs.iter().map(answer).collect();
                print_json(&serde_json::json!({
                    "event": "versus", "blocks": blocks, "ended": ended_word(why), "answers": answers, "comparisons": pairs,
                }))?;
            } else {
                let headers: Vec<_> = records.iter().map(|record| &record.header).collect();
                let settled = why.map(|why| why == WhyEnded::Settled);
                print(&render_versus(&pairs, &headers, settled, &style()))?;
            }
        }
        _ if json => {}
        _ => say(t(
            "kurabe: not every target was measured, so there is nothing to compare; what was measured is in `kurabe list`",
            "kurabe: 測れなかった対象があるため比べられません。測定済みの結果は `kurabe list` で見られます",
        )),
    }
    ended.why.map(|_| ())
}

fn ended_word(why: Option<WhyEnded>) -> &'static str {
    match why {
        Some(WhyEnded::Settled) => "settled",
        Some(WhyEnded::TimeUp) => "time_up",
        None => "error",
    }
}
