//! Resolves a request to a profile (a named one, a user's file, a single step or a sweep), then
//! applies the overrides.

use crate::request::{Procedure, RunRequest};
use crate::step_change::change_steps;
use crate::trace::{TraceNames, traces};
use kurabe_core::library::is_path;
use kurabe_core::mention::{CHUNK, DIRECTION, FILES, MAX, Mention, OVER, RUNS, SIZE, TIME};
use kurabe_core::outside::text_of_file;
use kurabe_core::profile::{Overrides, Profile, Rules, Step};
use kurabe_core::quantity::{KIB, MIB};
use kurabe_core::trace::Trace;
use kurabe_core::workload::Direction;
use kurabe_core::{ErrorKind, Result, text};
use kurabe_explain::{SweepAxis, SweepPlan};
use kurabe_fio::{FioJob, FioLine, JobSurroundings, is_job_name, read_fio_job, read_fio_jobs, read_fio_line};
use kurabe_host::tool_version;
use kurabe_profile::profile_named;
use kurabe_study::own_or_named_profile;
use std::path::Path;
use std::sync::Arc;

/// Minimum for the largest working set of a sweep. Fewer points would not form a curve.
const LEAST_SWEEP_BYTES: u64 = 512 * KIB;

/// A profile with the traces of its replay steps, by step index.
pub(crate) struct ProfileWithTraces {
    pub(crate) profile: Profile,
    pub(crate) traces: Vec<Option<Arc<Trace>>>,
}

impl ProfileWithTraces {
    /// Resolves a request.
    ///
    /// # Errors
    /// When a profile or a trace does not exist, its file is invalid, or an override would have no
    /// effect.
    pub(crate) fn of(request: &RunRequest) -> Result<Self> {
        let (procedure, overrides) = (&request.procedure, &request.overrides);
        let mut profile = match procedure {
            Procedure::Usual => profile_named("default")?,
            Procedure::Named(name) => load_profile(name)?,
            Procedure::Given(profile) => (**profile).clone(),
            Procedure::Single(step) => one_step((**step).clone()),
            Procedure::Sweep(plan) => sweep(plan)?,
        };
        check_overrides(overrides, &profile)?;
        if !matches!(procedure, Procedure::Single(_)) {
            change_steps(overrides, &mut profile)?;
        }
        override_steps(overrides, &mut profile);
        override_rules(overrides, &mut profile.rules);
        let traces = traces(
            &profile,
            match procedure {
                Procedure::Single(_) => TraceNames::Files,
                Procedure::Given(_) => TraceNames::EmbeddedFirst,
                _ => TraceNames::FilesFirst,
            },
        )?;
        let end_bytes = traces.iter().flatten().map(|trace| trace.summary().end_bytes).max().unwrap_or(0);
        if matches!(procedure, Procedure::Single(_)) && overrides.size_bytes.is_none() && end_bytes > 0 {
            // As large as the range that the trace touches, in whole MiB.
            profile.rules.size_bytes = end_bytes.next_multiple_of(MIB);
        }
        Ok(Self { profile, traces })
    }
}

fn sweep(plan: &SweepPlan) -> Result<Profile> {
    if let Some(max) = plan.max_bytes.filter(|max| *max < LEAST_SWEEP_BYTES) {
        return Err(ErrorKind::Usage
            .error(text!(
                "{MAX} of {max} bytes is too small for a curve",
                "{MAX} が {max} バイトでは曲線になりません"
            ))
            .remedy(text!(
                "use 512 KiB or more; 1 GiB is usual",
                "512 KiB 以上にしてください(通常は 1 GiB)"
            )));
    }
    if plan.axes == [SweepAxis::BytesWritten] && !plan.directions.contains(&Direction::Write) {
        return Err(ErrorKind::Usage
            .error(text!("{OVER} write needs write tests", "{OVER} write では書き込みが必要です"))
            .remedy(text!("remove {DIRECTION} read", "{DIRECTION} read を外してください")));
    }
    Ok(plan.profile())
}

fn override_rules(overrides: &Overrides, rules: &mut Rules) {
    if let Some(size_bytes) = overrides.size_bytes {
        // An explicitly requested size is not reduced.
        (rules.size_bytes, rules.size_at_least_bytes, rules.whole_device) = (size_bytes, None, false);
    }
    rules.runs = overrides.runs.unwrap_or(rules.runs);
    rules.interval_ns = overrides.interval_ns.unwrap_or(rules.interval_ns);
    rules.data = overrides.data.unwrap_or(rules.data);
    rules.seed = overrides.seed.unwrap_or(rules.seed);
    rules.direct = overrides.is_direct().unwrap_or(rules.direct);
    rules.time_ns = overrides.time_ns.unwrap_or(rules.time_ns);
}

fn override_steps(overrides: &Overrides, profile: &mut Profile) {
    for step in &mut profile.steps {
        match step {
            Step::Io(step) => {
                if let (Some(time_ns), Some(own)) = (overrides.time_ns, &mut step.end.time_ns) {
                    *own = time_ns;
                }
            }
            Step::Copy(step) => step.chunk_bytes = overrides.chunk_bytes.unwrap_or(step.chunk_bytes),
            Step::Command(step) => {
                if let (Some(count), Some(git)) = (overrides.files, &mut step.git) {
                    (git.files, git.changed_files) = (count, count.div_ceil(10));
                }
            }
            Step::Metadata(step) => step.files = overrides.files.unwrap_or(step.files),
            Step::Positional(_) | Step::AccessTime(_) | Step::Replay(_) | Step::Stopwatch(_) => {}
        }
    }
}

/// Refuses overrides that would have no effect.
fn check_overrides(overrides: &Overrides, profile: &Profile) -> Result<()> {
    let count = |fits: fn(&Step) -> bool| profile.steps.iter().filter(|step| fits(step)).count();
    let chunks = count(|step| matches!(step, Step::Copy(_)));
    let files = count(|step| match step {
        Step::Command(step) => step.git.is_some(),
        Step::Metadata(_) => true,
        _ => false,
    });
    let timed =
        count(|step| matches!(step, Step::Io(step) if step.end.time_ns.is_some() || !step.end.is_given()));
    let name = &profile.name;
    let misfit = |flag: Mention| {
        ErrorKind::Usage.error(text!(
            "{flag} does not apply to any step of `{name}`",
            "`{name}` には {flag} で変えられるステップがありません"
        ))
    };
    if overrides.time_ns.is_some() && timed == 0 {
        return Err(misfit(TIME).remedy(text!(
            "remove it: these steps do not end by time",
            "外してください。これらのステップは時間では終わりません"
        )));
    }
    if overrides.size_bytes.is_some() && !profile.needs_span() {
        return Err(misfit(SIZE).remedy(text!(
            "remove it; use {FILES} for these steps",
            "外してください。これらのステップには {FILES} を使います"
        )));
    }
    if overrides.runs.is_some() && profile.rounds.is_some() {
        return Err(misfit(RUNS).remedy(text!(
            "remove it, or change [rounds] in your own profile: the rounds determine the number of repetitions",
            "外すか、自分のプロファイルで [rounds] を変えてください。回数はラウンドで決まります"
        )));
    }
    if overrides.files.is_some() && files == 0 {
        return Err(misfit(FILES).remedy(text!(
            "use it with git-pull or mdtest-easy",
            "git-pull か mdtest-easy と一緒に使ってください"
        )));
    }
    match (overrides.chunk_bytes, chunks) {
        (Some(_), 0) => {
            Err(misfit(CHUNK).remedy(text!("use it with delay-ratio", "delay-ratio と一緒に使ってください")))
        }
        // With one chunk size, this profile would repeat the same copy.
        (Some(_), 2..) => Err(misfit(CHUNK).remedy(text!(
            "this profile uses several chunk sizes; use delay-ratio",
            "このプロファイルは複数の大きさを試します。delay-ratio を使ってください"
        ))),
        _ => Ok(()),
    }
}

/// Loads a profile by name, including those of studies, or from a file if the name looks like a
/// path.
///
/// # Errors
/// When it does not exist, or the file is invalid.
pub fn load_profile(name: &str) -> Result<Profile> {
    if is_job_name(name) {
        return load_job(name).map(|job| job.profile);
    }
    if is_path(name) {
        let what = text!("cannot read the profile {name}", "プロファイル {name} を読めません");
        let source = text_of_file(name, &what)?;
        return kurabe_profile::parse_profile(name, &source);
    }
    own_or_named_profile(name)
}

/// Loads a job file of fio.
///
/// # Errors
/// When it does not exist, or uses features that kurabe does not support.
pub fn load_job(name: &str) -> Result<FioJob> {
    let source =
        text_of_file(name, &text!("cannot read the job file {name}", "ジョブファイル {name} を読めません"))?;
    read_fio_job(name, &source, &ThisMachine)
}

/// Parses the arguments after `fio`. Returns the jobs of each run, and the options that do not
/// belong to a job.
///
/// # Errors
/// When an argument is unknown to fio or not supported by kurabe, or a job file does not exist.
pub fn jobs_of_line(words: &[String]) -> Result<(Vec<FioJob>, FioLine)> {
    let line = read_fio_line(words)?;
    let jobs = read_fio_jobs(&line, &ThisMachine)?;
    Ok((jobs, line))
}

/// Surroundings of a job file on this machine: environment variables, and files that it includes.
struct ThisMachine;

impl JobSurroundings for ThisMachine {
    fn variable(&self, name: &str) -> Option<String> {
        match name {
            "pagesize" => Some(rustix::param::page_size().to_string()),
            "ncpus" => std::thread::available_parallelism().ok().map(|count| count.to_string()),
            "mb_memory" => {
                let memory = std::fs::read_to_string("/proc/meminfo").ok()?;
                let kilobytes: u64 = memory.split_whitespace().nth(1)?.parse().ok()?;
                Some((kilobytes / 1024).to_string())
            }
            name => std::env::var(name).ok(),
        }
    }

    fn included(&self, by: &str, name: &str) -> Result<(String, String)> {
        let path = Path::new(by).parent().unwrap_or(Path::new("")).join(name).display().to_string();
        let what = text!("cannot read the job file {path}", "ジョブファイル {path} を読めません");
        let source = text_of_file(&path, &what)?;
        Ok((path, source))
    }

    fn fio_version(&self) -> Option<String> {
        tool_version("fio")
    }
}

/// Returns a profile of one step, with the default rules.
fn one_step(step: Step) -> Profile {
    let (name, title) = match &step {
        Step::Replay(_) => ("replay", text!("replay of a trace", "トレースの再生")),
        _ => (
            "single",
            text!("a single workload from the command line", "コマンドラインで指定した単独のワークロード"),
        ),
    };
    Profile::of_steps(name, title, Rules::once(), vec![step])
}
