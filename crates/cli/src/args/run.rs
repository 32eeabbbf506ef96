//! Arguments of `kurabe run`.

use super::help_table::help;
use super::options::{IssueArgs, OtherStepArgs, RuleArgs, WorkloadArgs, heading};
use super::paths::{InputPath, TargetPath};
use super::ranks::RankArgs;
use super::shared::{ForceArgs, ModelledArgs, WritingArgs, choice, labels, rate};
use crate::lang::{below, t};
use clap::{Args, ValueHint, builder::PossibleValuesParser};
use kurabe_core::issue::{Engine, EngineChoice};
use kurabe_core::output_path::OutputPath;
use kurabe_core::profile::{OptionPart, ReplayStep, ReplayTiming, Step};
use kurabe_core::{ErrorKind, Result, Text, shown, text, words::all_words};
use kurabe_fio::{FioJob, is_job_name};
use kurabe_interop::TraceFormat;
use kurabe_lab::{Overrides, Procedure, RunRequest, load_job, target_of_job};
use std::path::{Path, PathBuf};

/// Operations in flight during a replay, enough that the queue depth does not limit the device.
const DEFAULT_REPLAY_IODEPTH: u32 = 32;

/// Replay timings, by name.
const TIMINGS: [(&str, ReplayTiming); 5] = [
    ("fast", ReplayTiming::Fast),
    ("closed", ReplayTiming::Closed),
    ("think", ReplayTiming::Think),
    ("readers", ReplayTiming::Readers),
    ("timestamps", ReplayTiming::Timestamps { speed: 1.0 }),
];

const REPLAY_EN: &str = "Replay of a trace";
const REPLAY_JA: &str = "トレースの再生";

#[derive(Debug, Args)]
#[command(after_help = below!("run"))]
pub struct RunArgs {
    #[arg(
        value_name = "TARGET", default_value = ".", value_hint = ValueHint::AnyPath,
        help = help("run.target")
    )]
    pub target: TargetPath,
    /// The target, where a job file of fio stands in its place.
    #[arg(value_name = "TARGET", hide = true, value_hint = ValueHint::AnyPath)]
    pub behind_job: Option<TargetPath>,
    #[arg(long, short, value_name = "NAME|FILE", help = help("run.profile"))]
    pub profile: Option<String>,
    #[command(flatten)]
    pub rules: RuleArgs,
    #[arg(long, value_name = "KEY=VALUE", help = help("label"))]
    pub label: Vec<String>,
    #[arg(long, value_name = "NAME", help = help("run.name"))]
    pub name: Option<String>,
    #[command(flatten)]
    pub modelled: ModelledArgs,

    #[command(flatten)]
    pub issue: IssueArgs,
    #[arg(long, help_heading = heading(OptionPart::Issue), help = help("run.trace"))]
    pub trace: bool,

    #[command(flatten)]
    pub writing: WritingArgs,
    #[arg(
        long, value_name = "FILE", value_hint = ValueHint::FilePath,
        help_heading = help("heading.writing"),
        help = help("run.verify")
    )]
    pub verify: Option<OutputPath>,

    #[command(flatten)]
    pub workload: WorkloadArgs,

    #[arg(
        long, value_name = "FILE", conflicts_with_all = ["profile", "rw", "bs", "time"],
        value_hint = ValueHint::FilePath,
        help_heading = t(REPLAY_EN, REPLAY_JA),
        help = help("run.replay")
    )]
    pub replay: Option<InputPath>,
    #[arg(
        long, value_name = "TIMING", requires = "replay", default_value = "fast",
        value_parser = choice(&TIMINGS),
        help_heading = t(REPLAY_EN, REPLAY_JA),
        help = help("run.timing")
    )]
    pub timing: ReplayTiming,
    #[arg(
        long, value_name = "FACTOR", requires = "replay", value_parser = rate,
        help_heading = t(REPLAY_EN, REPLAY_JA),
        help = help("run.speed")
    )]
    pub speed: Option<f64>,
    #[arg(
        long, value_name = "FORMAT", requires = "replay",
        value_parser = PossibleValuesParser::new(all_words::<TraceFormat>()),
        help_heading = t(REPLAY_EN, REPLAY_JA),
        help = help("run.trace-format")
    )]
    pub trace_format: Option<String>,

    #[command(flatten)]
    pub other_steps: OtherStepArgs,

    #[command(flatten)]
    pub ranks: RankArgs,

    #[arg(long, help_heading = help("heading.stored"), help = help("run.with-serial"))]
    pub with_serial: bool,
    #[arg(
        long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "dry_run",
        help_heading = help("heading.stored"),
        help = help("run.per-request")
    )]
    pub per_request: Option<OutputPath>,
    #[command(flatten)]
    pub force: ForceArgs,
    #[arg(long, help = help("dry-run"))]
    pub dry_run: bool,
}

impl RunArgs {
    /// Returns the request of these arguments.
    ///
    /// # Errors
    /// When arguments conflict.
    pub fn request(&self) -> Result<RunRequest> {
        let overrides = self.overrides().map_err(|what| ErrorKind::Usage.error(what))?;
        self.check_replay_words(&overrides)?;
        self.check_verify_words(&overrides)?;
        let job = self.job(&overrides)?;
        let procedure = match (&self.profile, &self.replay) {
            (Some(name), _) => Procedure::Named(name.clone()),
            (None, Some(trace)) => {
                Procedure::Single(Box::new(Step::Replay(self.replay_step(trace, &overrides))))
            }
            (None, None) if overrides.is_of_workload() => {
                Procedure::Single(Box::new(Step::Io(Box::new(overrides.single_step()))))
            }
            (None, None) => Procedure::Usual,
        };
        let request = RunRequest {
            target: self.target.name(),
            procedure,
            overrides,
            verify: self.verify.is_some(),
            reads_back: false,
            kernel_trace: self.trace,
            labels: labels(&self.label, self.name.as_ref())?,
            sets: self.modelled.sets()?,
            without: self.modelled.without.clone(),
            no_fill: self.modelled.no_fill,
            writing: self.writing.writing(),
            with_serial: self.with_serial,
        };
        let Some(job) = job else { return Ok(request) };
        let target = self.behind_job.as_ref().map(|target| target.0.clone()).or_else(|| target_of_job(&job));
        let target = target.unwrap_or_else(|| PathBuf::from("."));
        Ok(RunRequest { target: target.into(), ..request }.with_job(job))
    }

    /// Returns the fio job file that was given instead of a target, if any.
    fn job(&self, overrides: &Overrides) -> Result<Option<FioJob>> {
        let name = self.target.to_str().filter(|name| is_job_name(name) && self.profile.is_none());
        let Some(name) = name.filter(|_| self.behind_job.is_some() || self.target.is_file()) else {
            let Some(other) = &self.behind_job else { return Ok(None) };
            let (first, second) = (shown::path(&*self.target), shown::path(&**other));
            return Err(ErrorKind::Usage.error(text!("two targets were given: {first} and {second}", "対象\
                が 2 つ指定されています: {first} と {second}"))
            .remedy(text!(
                "compare targets with `kurabe versus`; only a fio job file (job.fio) may precede a target",
                "対象どうしを比べるのは `kurabe versus` です。対象の前に書けるのは fio のジョブファイル(job.fio)だけです"
            )));
        };
        let mut words = workload_flags(overrides).chain(self.replay.as_ref().map(|_| "--replay".to_owned()));
        if let Some(word) = words.next() {
            return Err(ErrorKind::Usage
                .error(text!(
                    "{word} has no effect on the job file {name}",
                    "ジョブファイル {name} に {word} は効きません"
                ))
                .remedy(text!("write it into the job file", "ジョブファイルに書いてください")));
        }
        load_job(name).map(Some)
    }

    /// Returns the changes to the procedure, and how operations are issued.
    pub(super) fn overrides(&self) -> std::result::Result<Overrides, Text> {
        let Self { rules, issue, workload, other_steps, .. } = self;
        let mut overrides = Overrides::default();
        for (name, words) in
            rules.given().chain(issue.given()).chain(workload.given()).chain(other_steps.given())
        {
            overrides.set(name, words)?;
        }
        Ok(overrides)
    }

    /// Refuses `--verify` with the `uring` engine. Only the `threads` engine stamps writes.
    fn check_verify_words(&self, overrides: &Overrides) -> Result<()> {
        if self.verify.is_none() || overrides.engine != Some(EngineChoice::Fixed(Engine::Uring)) {
            return Ok(());
        }
        Err(ErrorKind::Usage
            .error(text!(
                "--verify cannot be combined with io_uring",
                "--verify と io_uring は同時に使えません"
            ))
            .remedy(text!(
                "remove --engine; only pread/pwrite can stamp writes",
                "--engine を外してください。印を付けられるのは pread/pwrite です"
            )))
    }

    /// Refuses workload options with a trace, because the trace defines the operations and the
    /// options would have no effect.
    fn check_replay_words(&self, overrides: &Overrides) -> Result<()> {
        let has_times = matches!(self.timing, ReplayTiming::Timestamps { .. });
        let speed = (self.speed.is_some() && !has_times).then(|| "--speed".to_owned());
        let has_depth = self.timing != ReplayTiming::Think;
        let mut words =
            workload_flags(overrides).filter(|word| !has_depth || word != "--iodepth").chain(speed);
        let Some(word) = words.next().filter(|_| self.replay.is_some()) else { return Ok(()) };
        Err(ErrorKind::Usage.error(text!("{word} has no effect on this replay", "この再生では {word} は効きません"))
        .remedy(text!(
            "remove it; a replay supports --iodepth, --size, --runs and --timing, and --speed with --timing timestamps",
            "外してください。再生で使えるのは --iodepth、--size、--runs、--timing と、--timing timestamps での --speed です"
        )))
    }

    fn replay_step(&self, trace: &Path, overrides: &Overrides) -> ReplayStep {
        ReplayStep {
            id: None,
            label: None,
            trace: trace.display().to_string(),
            format: self.trace_format.clone(),
            timing: match (self.timing, self.speed) {
                (ReplayTiming::Timestamps { .. }, Some(speed)) => ReplayTiming::Timestamps { speed },
                (timing, _) => timing,
            },
            iodepth: overrides.iodepth.unwrap_or(DEFAULT_REPLAY_IODEPTH),
        }
    }
}

/// Returns the workload flags that were given.
fn workload_flags(overrides: &Overrides) -> impl Iterator<Item = String> {
    let options = overrides.given().filter(|option| option.part == OptionPart::Workload);
    options.map(|option| format!("--{}", option.name))
}

#[cfg(test)]
mod tests {
    use crate::args::{Cli, Command};
    use clap::Parser;
    use kurabe_core::profile::Profile;
    use kurabe_core::quantity::NS_PER_S;
    use kurabe_core::workload::End;

    #[test]
    fn quantities_are_read_with_their_units() {
        let cli = Cli::parse_from([
            "kurabe",
            "run",
            "--bs",
            "4k",
            "--time",
            "10s",
            "--data",
            "compressible:30",
            "/x",
        ]);
        let Command::Run(run) = cli.command else { panic!("run") };
        let overrides = run.overrides().unwrap();
        assert_eq!((overrides.block_bytes, overrides.time_ns), (Some(4096), Some(10_000_000_000)));
        assert!(overrides.is_of_workload());
        assert!(Cli::try_parse_from(["kurabe", "run", "--size", "0"]).is_err());
        assert!(Cli::try_parse_from(["kurabe", "run", "--profile", "quick", "--bs", "4k"]).is_err());
    }

    fn planned(words: &[&str]) -> Profile {
        let cli = Cli::parse_from(["kurabe", "run"].iter().chain(words));
        let Command::Run(args) = cli.command else { panic!("run") };
        kurabe_lab::Prepared::new(args.request().unwrap()).unwrap().profile().clone()
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
