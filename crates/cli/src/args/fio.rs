//! Arguments of `kurabe fio`: those of fio, mixed with a few of kurabe's own.

use super::help_table::help;
use super::paths::TargetPath;
use super::shared::{ForceArgs, JudgedArgs, PlannedArgs, unaccepted};
use crate::lang::below;
use clap::{ArgAction, Args, CommandFactory, ValueHint};
use kurabe_core::{ErrorKind, Result, text, workload::Direction};
use kurabe_fio::{FioJob, FioLine, FioLog};
use kurabe_lab::{RunRequest, jobs_of_line, target_of_job};
use kurabe_report::Unaccepted;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(override_usage = "kurabe fio [OPTIONS] <FIO'S WORDS>...", after_help = below!("fio"))]
pub struct FioArgs {
    #[arg(long, value_name = "TARGET", value_hint = ValueHint::AnyPath, help = help("fio.on"))]
    pub on: Option<TargetPath>,
    #[arg(long, value_name = "RUN", help = help("fio.against"))]
    pub against: Option<String>,
    #[command(flatten)]
    pub judged: JudgedArgs,
    #[arg(
        long, value_name = "slower[:PERCENT]|unclear|different", value_delimiter = ',',
        requires = "against", value_parser = unaccepted,
        help = help("fio.fail-on")
    )]
    pub fail_on: Vec<Unaccepted>,
    #[arg(
        long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        help = help("fio.runs")
    )]
    pub runs: Option<u32>,
    #[command(flatten)]
    pub planned: PlannedArgs,
    #[command(flatten)]
    pub force: ForceArgs,
    #[arg(last = true, required = true, value_name = "FIO'S WORDS", help = help("fio.words"))]
    pub words: Vec<String>,
}

/// A run requested by a fio command line.
pub struct FioRun {
    pub request: RunRequest,
    /// Log files over time that its jobs write.
    pub logs: Vec<FioLog>,
}

impl FioArgs {
    /// Returns the runs of the fio command line, and its options that do not belong to a job.
    ///
    /// # Errors
    /// When arguments of fio are invalid or not supported.
    pub fn requests(&self) -> Result<(Vec<FioRun>, FioLine)> {
        let (jobs, line) = jobs_of_line(&self.words)?;
        let writes = |direction: &Direction| *direction != Direction::Read;
        let mut steps = jobs.iter().flat_map(|job| &job.profile.steps);
        if line.is_read_only && steps.any(|step| step.directions().iter().any(writes)) {
            return Err(ErrorKind::Usage
                .error(text!(
                    "--readonly is given, but some jobs write",
                    "--readonly ですが、書き込むジョブがあります"
                ))
                .remedy(text!(
                    "remove --readonly, or the jobs that write",
                    "--readonly か、書き込むジョブを外してください"
                )));
        }
        if let (Some(against), [_, _, ..]) = (&self.against, jobs.as_slice()) {
            return Err(ErrorKind::Usage
                .error(text!(
                    "the command line makes {} runs, but --against {against} is a single run",
                    "この指定は {} 回の測定になり、--against {against} とは比べられません",
                    jobs.len()
                ))
                .remedy(text!(
                    "compare them afterwards: kurabe compare",
                    "測定後に kurabe compare で比べてください"
                )));
        }
        let request = |mut job: FioJob| {
            let logs = std::mem::take(&mut job.logs);
            let target = self
                .on
                .as_ref()
                .map(|on| on.0.clone())
                .or_else(|| target_of_job(&job))
                .unwrap_or_else(|| PathBuf::from("."));
            let mut request = RunRequest { target: target.into(), ..self.planned.request()? }.with_job(job);
            request.overrides.runs = self.runs;
            Ok(FioRun { request, logs })
        };
        Ok((jobs.into_iter().map(request).collect::<Result<_>>()?, line))
    }
}

/// Sorts the arguments after `fio`: kurabe's own first, then `--`, then those of fio. Users may mix
/// them in any order.
pub fn sorted_words(words: Vec<OsString>) -> Vec<OsString> {
    if !words.iter().any(|word| word == "fio") || words.iter().any(|word| word == "--") {
        return words;
    }
    let program = super::Cli::command();
    let mut flags: Vec<&clap::Arg> = program.get_arguments().collect();
    let (mut own, mut of_line) = (Vec::new(), Vec::new());
    let mut is_behind = false;
    let mut rest = words.iter();
    own.extend(rest.next().cloned());
    while let Some(word) = rest.next() {
        let shown = word.to_string_lossy();
        let (name, has_value) = shown.split_once('=').map_or((&*shown, false), |(name, _)| (name, true));
        let is_named = |flag: &&&clap::Arg| match name.strip_prefix("--") {
            Some(long) => flag.get_long() == Some(long),
            None => flag.get_short().is_some_and(|short| name == format!("-{short}")),
        };
        match flags.iter().find(is_named) {
            Some(flag) => {
                own.push(word.clone());
                if !matches!(flag.get_action(), ArgAction::SetTrue) && !has_value {
                    own.extend(rest.next().cloned());
                }
            }
            None if matches!(name, "--help" | "-h") => own.push(word.clone()),
            None if is_behind => of_line.push(word.clone()),
            None if word == "fio" => {
                is_behind = true;
                own.push(word.clone());
                flags.extend(
                    program.find_subcommand("fio").into_iter().flat_map(clap::Command::get_arguments),
                );
            }
            // This is another command, with `fio` as one of its arguments.
            None => return words,
        }
    }
    own.push("--".into());
    own.extend(of_line);
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn parsed(line: &str) -> FioArgs {
        let words = line.split_whitespace().map(OsString::from).collect();
        match Cli::try_parse_from(sorted_words(words)).unwrap().command {
            Command::Fio(args) => *args,
            _ => panic!("fio"),
        }
    }

    #[test]
    fn kurabes_words_and_fios_stand_in_any_order() {
        let args = parsed(
            "kurabe fio --name=a --on model:hdd-nas --bs 4k --runs=3 -rw=read -q --json job.fio --size=1m",
        );
        assert_eq!(args.on, Some(TargetPath("model:hdd-nas".into())));
        assert_eq!(args.runs, Some(3));
        assert_eq!(args.words, ["--name=a", "--bs", "4k", "-rw=read", "job.fio", "--size=1m"]);
        assert_eq!(parsed("kurabe --lang en --db runs fio --parse-only a").words, ["--parse-only", "a"]);
    }

    #[test]
    fn no_word_is_kurabes_and_fios_at_once() {
        let program = Cli::command();
        let flags = program
            .find_subcommand("fio")
            .expect("the command")
            .get_arguments()
            .chain(program.get_arguments());
        let of_fio = |name: &str| {
            kurabe_fio::fio_options().iter().any(|group| group.names.iter().any(|other| other == name))
        };
        let both: Vec<&str> = flags.filter_map(clap::Arg::get_long).filter(|name| of_fio(name)).collect();
        assert_eq!(both, Vec::<&str>::new());
    }
}
