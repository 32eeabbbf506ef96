//! From the command line to a profile: a named one, a user's file, or a single workload; then the overrides.

use crate::args::RunArgs;
use kurabe_core::profile::{IoStep, Order, Profile, ReplayStep, ReplayTiming, Rules, Statistic, Step};
use kurabe_core::profile_library::profile_named;
use kurabe_core::quantity::{GIB, MIB, NS_PER_S};
use kurabe_core::trace::Trace;
use kurabe_core::workload::{
    Arrival, BlockSize, Data, Direction, End, EndSync, OpenLoop, Pattern, SyncRule, ThreadShare,
};
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_interop::{TraceFormat, read_trace};
use kurabe_study::{embedded_profile, embedded_trace};
use std::path::Path;
use std::sync::Arc;

/// Operations in flight of a replay: enough that a device's queue is not the replay's limit.
const DEFAULT_REPLAY_IODEPTH: u32 = 32;

/// The profile to run, with the flags applied.
///
/// # Errors
/// When there is no such profile, or its file is wrong.
pub fn profile(args: &RunArgs) -> Result<Profile> {
    check_replay_words(args)?;
    let mut profile = match (&args.profile, &args.replay) {
        (Some(name), _) => load(name)?,
        (None, Some(trace)) => replay(args, trace),
        (None, None) if args.is_single() => single(args),
        (None, None) => profile_named("default")?,
    };
    override_steps(args, &mut profile)?;
    let rules = &mut profile.rules;
    if let Some(size) = args.size {
        // A size that was asked for is not cut.
        (rules.size_bytes, rules.size_at_least_bytes, rules.whole_device) = (size, None, false);
    }
    rules.runs = args.runs.unwrap_or(rules.runs);
    rules.interval_ns = args.interval.unwrap_or(rules.interval_ns);
    rules.data = args.data.unwrap_or(rules.data);
    rules.seed = args.seed.unwrap_or(rules.seed);
    rules.direct = (rules.direct || args.direct) && !args.buffered;
    rules.time_ns = args.time.unwrap_or(rules.time_ns);
    Ok(profile)
}

/// A trace says itself what is done: words of a workload beside it would change nothing.
fn check_replay_words(args: &RunArgs) -> Result<()> {
    if args.replay.is_none() {
        return Ok(());
    }
    let words = [
        ("--rwmixread", args.rwmixread.is_some()),
        ("--threads", args.threads.is_some()),
        ("--order", args.order.is_some()),
        ("--offset", args.offset.is_some()),
        ("--bytes", args.bytes.is_some()),
        ("--passes", args.passes.is_some()),
        ("--warm-up", args.warm_up.is_some()),
        ("--rate", args.rate.is_some()),
        ("--fsync", args.fsync.is_some()),
        ("--end-fsync", args.end_fsync.is_some()),
        ("--o-sync", args.o_sync),
        ("--speed", args.speed.is_some() && args.timing != "timestamps"),
    ];
    let Some((word, _)) = words.iter().find(|(_, given)| *given) else { return Ok(()) };
    Err(Error::new(
        ErrorKind::Usage,
        text!("{word} changes nothing in this replay", "この再生では {word} は効きません"),
    )
    .remedy(text!(
        "leave it out; a replay takes --iodepth, --size, --runs and --timing, and --speed with --timing timestamps",
        "外してください。再生で使えるのは --iodepth、--size、--runs、--timing と、--timing timestamps での --speed です"
    )))
}

/// The flags that change steps.
fn override_steps(args: &RunArgs, profile: &mut Profile) -> Result<()> {
    check_overrides(args, profile)?;
    for step in &mut profile.steps {
        match step {
            Step::Io(step) => {
                if let (Some(time_ns), Some(own)) = (args.time, &mut step.end.time_ns) {
                    *own = time_ns;
                }
            }
            Step::Copy(step) => {
                step.chunk_bytes = args.chunk.unwrap_or(step.chunk_bytes);
            }
            Step::Command(step) => {
                if let (Some(count), Some(git)) = (args.files, &mut step.git) {
                    (git.files, git.changed_files) = (count, count.div_ceil(10));
                }
            }
            Step::Positional(_) | Step::AccessTime(_) | Step::Replay(_) => {}
        }
    }
    Ok(())
}

/// Refuses flags that would change nothing.
fn check_overrides(args: &RunArgs, profile: &Profile) -> Result<()> {
    let count = |fits: fn(&Step) -> bool| profile.steps.iter().filter(|step| fits(step)).count();
    let chunks = count(|step| matches!(step, Step::Copy(_)));
    let files = count(|step| matches!(step, Step::Command(step) if step.git.is_some()));
    let timed = count(
        |step| matches!(step, Step::Io(IoStep { end, .. }) if end.time_ns.is_some() || !end.is_given()),
    );
    let name = &profile.name;
    let misfit = |flag: &str| {
        Error::new(
            ErrorKind::Usage,
            text!(
                "`{name}` has no step that {flag} could change",
                "`{name}` には {flag} で変えられるステップがありません"
            ),
        )
    };
    if args.time.is_some() && timed == 0 {
        return Err(misfit("--time").remedy(text!(
            "leave it out: these steps end by themselves",
            "外してください。これらのステップは時間では終わりません"
        )));
    }
    if args.size.is_some() && !profile.needs_span() {
        return Err(misfit("--size").remedy(text!(
            "leave it out; git-pull has --files",
            "外してください。git-pull には --files があります"
        )));
    }
    if args.runs.is_some() && profile.rounds.is_some() {
        return Err(misfit("--runs").remedy(text!(
            "leave it out, or change [rounds] in a profile of your own: its rounds decide how often",
            "外すか、自分のプロファイルで [rounds] を変えてください。回数はラウンドで決まります"
        )));
    }
    if args.files.is_some() && files == 0 {
        return Err(
            misfit("--files").remedy(text!("use it with git-pull", "git-pull と一緒に使ってください"))
        );
    }
    match (args.chunk, chunks) {
        (Some(_), 0) => {
            Err(misfit("--chunk")
                .remedy(text!("use it with delay-ratio", "delay-ratio と一緒に使ってください")))
        }
        // A sweep with one chunk would be the same copy several times.
        (Some(_), 2..) => Err(misfit("--chunk").remedy(text!(
            "this profile goes through several chunks; use delay-ratio",
            "このプロファイルは複数の大きさを試します。delay-ratio を使ってください"
        ))),
        _ => Ok(()),
    }
}

/// The traces of a profile's replay steps, by the step's place; and the profile's size where a trace sets it.
///
/// # Errors
/// When a trace cannot be read.
pub fn traces(args: &RunArgs, profile: &mut Profile) -> Result<Vec<Option<Arc<Trace>>>> {
    let mut traces = Vec::new();
    let mut end_bytes = 0;
    for step in &profile.steps {
        let Step::Replay(step) = step else {
            traces.push(None);
            continue;
        };
        // A trace named on the command line is a file. One that a profile names may be that of a study.
        let trace = trace(step, |name| {
            let is_file = args.replay.is_some() || Path::new(name).exists();
            if is_file { None } else { embedded_trace(name) }
        })?;
        end_bytes = end_bytes.max(trace.summary().end_bytes);
        traces.push(Some(Arc::new(trace)));
    }
    if args.replay.is_some() && args.size.is_none() && end_bytes > 0 {
        // As large as what the trace touched, in whole MiB.
        profile.rules.size_bytes = end_bytes.next_multiple_of(MIB);
    }
    Ok(traces)
}

/// The trace of a replay step: a text of the program that `embedded` knows by this name, or a file.
///
/// # Errors
/// When it cannot be read.
pub fn trace(step: &ReplayStep, embedded: impl Fn(&str) -> Option<&'static str>) -> Result<Trace> {
    let name = &step.trace;
    let bytes = match embedded(name) {
        Some(text) => text.as_bytes().to_vec(),
        None => std::fs::read(name).map_err(|error| {
            let made = Error::os(text!("cannot read the trace {name}", "トレース {name} を読めません"), &error);
            match error.kind() {
                std::io::ErrorKind::NotFound => made.remedy(text!(
                    "check the path, which begins in the current directory; `kurabe record` makes a trace",
                    "パスを確認してください(現在のディレクトリから見たもの)。トレースは `kurabe record` で作れます"
                )),
                _ => made,
            }
        })?,
    };
    let format = step.format.as_deref().map(TraceFormat::from_word).transpose()?;
    read_trace(name, &bytes, format)
}

/// Loads a profile by name, that of a study too, or, if it looks like one, from a file.
///
/// # Errors
/// When neither is there, or the file is wrong.
pub fn load(name: &str) -> Result<Profile> {
    if name.ends_with(".toml") || name.contains('/') {
        let source = std::fs::read_to_string(Path::new(name)).map_err(|error| {
            Error::os(text!("cannot read the profile {name}", "プロファイル {name} を読めません"), &error)
        })?;
        return Profile::parse(name, &source);
    }
    match embedded_profile(name) {
        Some(source) => Profile::parse(&format!("studies/profiles/{name}.toml"), source),
        None => profile_named(name),
    }
}

/// A profile of one step that does a trace again.
fn replay(args: &RunArgs, trace: &Path) -> Profile {
    let step = ReplayStep {
        id: None,
        label: None,
        trace: trace.display().to_string(),
        format: args.trace_format.clone(),
        timing: match args.timing.as_str() {
            "closed" => ReplayTiming::Closed,
            "timestamps" => ReplayTiming::Timestamps { speed: args.speed.unwrap_or(1.0) },
            _ => ReplayTiming::Fast,
        },
        iodepth: args.iodepth.unwrap_or(DEFAULT_REPLAY_IODEPTH),
    };
    Profile {
        name: "replay".to_owned(),
        title: text!("a trace, done again", "トレースの再生"),
        ..one_step(Step::Replay(step))
    }
}

/// A profile of one step from flags.
fn single(args: &RunArgs) -> Profile {
    let rw = args.rw.as_deref().unwrap_or("randread");
    let direction = match rw {
        "read" | "randread" => Direction::Read,
        "write" | "randwrite" => Direction::Write,
        _ => Direction::Mix,
    };
    let usual = if rw.starts_with("rand") { Pattern::Random } else { Pattern::Sequential };
    let mut end = End { bytes: args.bytes, passes: args.passes, ..End::default() };
    if end.is_given() {
        end.time_ns = args.time;
    }
    let step = IoStep {
        id: None,
        label: None,
        directions: vec![direction],
        read_percent: args.rwmixread.unwrap_or(50),
        pattern: args.order.unwrap_or(usual),
        thread_share: ThreadShare::Usual,
        block_sizes: vec![BlockSize { size_bytes: args.bs.unwrap_or(4096), weight: 1 }],
        iodepth: args.iodepth.unwrap_or(1),
        threads: args.threads.unwrap_or(1),
        offset_bytes: args.offset.unwrap_or(0),
        span_bytes: None,
        rewrite_every_reads: None,
        open_loop: args.rate.map(|rate_iops| OpenLoop {
            rate_iops,
            arrival: if args.poisson { Arrival::Poisson } else { Arrival::Even },
        }),
        warm_up_ns: args.warm_up.unwrap_or(0),
        warm_up_passes: 0,
        end,
        sync: SyncRule {
            o_sync: args.o_sync,
            every_writes: args.fsync,
            at_end: match args.end_fsync.as_deref() {
                Some("timed") => EndSync::Timed,
                Some("untimed") => EndSync::Untimed,
                _ => EndSync::None,
            },
        },
        data: None,
    };
    one_step(Step::Io(step))
}

/// A profile of one step, with the rules that hold where no flag says otherwise.
fn one_step(step: Step) -> Profile {
    Profile {
        name: "single".to_owned(),
        title: text!("a single workload from the command line", "コマンドラインで指定した単独のワークロード"),
        source: None,
        differs: None,
        statistic: Statistic::Mean,
        as_printed: None,
        rounds: None,
        preconditions: Vec::new(),
        derived: Vec::new(),
        rules: Rules {
            size_bytes: GIB,
            whole_device: false,
            size_at_least_bytes: None,
            fill_time_limit_ns: None,
            runs: 1,
            discarded_runs: 0,
            time_ns: 5 * NS_PER_S,
            write_limit_bytes: None,
            interval_ns: 0,
            order: Order::ByDirection,
            direct: true,
            data: Data::Random,
            same_offsets: false,
            seed: 1,
        },
        steps: vec![step],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn planned(words: &[&str]) -> Profile {
        let cli = Cli::parse_from(["kurabe", "run"].iter().chain(words));
        let Command::Run(args) = cli.command else { panic!("run") };
        profile(&args).unwrap()
    }

    #[test]
    fn fio_words_make_one_workload() {
        let plan =
            planned(&["--rw", "randrw", "--bs", "8k", "--iodepth", "4", "--numjobs", "2", "--time", "3s"]);
        let tasks = plan.tasks(1 << 30);
        assert_eq!(tasks.len(), 1);
        let workload = tasks[0].workload().unwrap();
        assert_eq!((workload.read_percent, workload.iodepth, workload.threads), (50, 4, 2));
        assert_eq!(workload.end.time_ns, Some(3 * NS_PER_S));
        assert_eq!(workload.largest_block_bytes(), 8192);
    }

    #[test]
    fn flags_override_the_profile() {
        let plan =
            planned(&["--profile", "cdm-9", "--size", "64m", "--runs", "5", "--time", "1s", "--buffered"]);
        assert_eq!((plan.rules.size_bytes, plan.rules.runs, plan.rules.direct), (64 << 20, 5, false));
        assert_eq!(plan.tasks(1 << 30)[0].workload().unwrap().end.time_ns, Some(NS_PER_S));
    }

    #[test]
    fn an_end_by_bytes_is_not_cut_by_the_usual_time() {
        let plan = planned(&["--rw", "write", "--bytes", "1g"]);
        assert_eq!(
            plan.tasks(1 << 30)[0].workload().unwrap().end,
            End { bytes: Some(1 << 30), ..End::default() }
        );
    }
}
