//! From the command line to a profile: a named one, a user's file, or a single workload; then the overrides.

use crate::args::RunArgs;
use kurabe_core::profile::{IoStep, Order, Profile, Rules, Statistic, Step};
use kurabe_core::profile_library::profile_named;
use kurabe_core::quantity::{GIB, NS_PER_S};
use kurabe_core::workload::{Arrival, BlockSize, Data, Direction, End, EndSync, OpenLoop, Pattern, SyncRule};
use kurabe_core::{Error, Result, text};
use std::path::Path;

/// The profile to run, with the flags applied.
///
/// # Errors
/// When there is no such profile, or its file is wrong.
pub fn profile(args: &RunArgs) -> Result<Profile> {
    let mut profile = match &args.profile {
        Some(name) => load(name)?,
        None if args.is_single() => single(args),
        None => profile_named("default")?,
    };
    let rules = &mut profile.rules;
    if let Some(size) = args.size {
        // A size that was asked for is not cut.
        (rules.size_bytes, rules.size_at_least_bytes) = (size, None);
    }
    rules.runs = args.runs.unwrap_or(rules.runs);
    rules.interval_ns = args.interval.unwrap_or(rules.interval_ns);
    rules.data = args.data.unwrap_or(rules.data);
    rules.seed = args.seed.unwrap_or(rules.seed);
    rules.direct = (rules.direct || args.direct) && !args.buffered;
    if let Some(time_ns) = args.time {
        rules.time_ns = time_ns;
        for Step::Io(step) in &mut profile.steps {
            if step.end.time_ns.is_some() {
                step.end.time_ns = Some(time_ns);
            }
        }
    }
    Ok(profile)
}

/// Loads a profile by name or, if it looks like one, from a file.
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
    profile_named(name)
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
    let mut end = End { time_ns: None, bytes: args.bytes, passes: args.passes };
    if end != End::default() {
        end.time_ns = args.time;
    }
    let step = IoStep {
        label: None,
        directions: vec![direction],
        read_percent: args.rwmixread.unwrap_or(50),
        pattern: args.order.unwrap_or(usual),
        block_sizes: vec![BlockSize { size_bytes: args.bs.unwrap_or(4096), weight: 1 }],
        iodepth: args.iodepth.unwrap_or(1),
        threads: args.threads.unwrap_or(1),
        offset_bytes: args.offset.unwrap_or(0),
        span_bytes: None,
        open_loop: args.rate.map(|rate_iops| OpenLoop {
            rate_iops,
            arrival: if args.poisson { Arrival::Poisson } else { Arrival::Even },
        }),
        warm_up_ns: args.warm_up.unwrap_or(0),
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
    Profile {
        name: "single".to_owned(),
        title: text!("a single workload from the command line", "コマンドラインで指定した単独のワークロード"),
        source: None,
        differs: None,
        statistic: Statistic::Mean,
        rules: Rules {
            size_bytes: GIB,
            size_at_least_bytes: None,
            fill_time_limit_ns: None,
            runs: 1,
            discarded_runs: 0,
            time_ns: 5 * NS_PER_S,
            interval_ns: 0,
            order: Order::ByDirection,
            direct: true,
            data: Data::Random,
            same_offsets: false,
            seed: 1,
        },
        steps: vec![Step::Io(step)],
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
        let cells = plan.cells(1 << 30);
        assert_eq!(cells.len(), 1);
        let workload = &cells[0].workload;
        assert_eq!((workload.read_percent, workload.iodepth, workload.threads), (50, 4, 2));
        assert_eq!(workload.end.time_ns, Some(3 * NS_PER_S));
        assert_eq!(workload.largest_block_bytes(), 8192);
    }

    #[test]
    fn flags_override_the_profile() {
        let plan =
            planned(&["--profile", "cdm-9", "--size", "64m", "--runs", "5", "--time", "1s", "--buffered"]);
        assert_eq!((plan.rules.size_bytes, plan.rules.runs, plan.rules.direct), (64 << 20, 5, false));
        assert_eq!(plan.cells(1 << 30)[0].workload.end.time_ns, Some(NS_PER_S));
    }

    #[test]
    fn an_end_by_bytes_is_not_cut_by_the_usual_time() {
        let plan = planned(&["--rw", "write", "--bytes", "1g"]);
        assert_eq!(plan.cells(1 << 30)[0].workload.end, End { bytes: Some(1 << 30), ..End::default() });
    }
}
