//! `kurabe sweep`: a profile of many points as one run, and what it shows.

use crate::args::{Cli, Command, Global, RunArgs, SweepArgs};
use crate::run::{Planned, run_planned};
use crate::stored::parse_label;
use clap::Parser;
use kurabe_core::quantity::KIB;
use kurabe_core::workload::Direction;
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_explain::{Axis, SweepPlan, further_steps};
use std::ffi::OsString;

/// Least largest working set: fewer points are no curve.
const LEAST_MAX_BYTES: u64 = 512 * KIB;

/// Runs the command.
///
/// # Errors
/// As `kurabe run`; and when nothing would be swept.
pub fn sweep(args: &SweepArgs, global: &Global, command_line: &[String]) -> Result<()> {
    let profile = plan(args)?.profile();
    let labels = args.label.iter().map(|label| parse_label(label)).collect::<Result<Vec<_>>>()?;
    let traces = vec![None; profile.steps.len()];
    let planned = Planned { profile, traces, labels, follow_up: Some(further_steps) };
    run_planned(&as_run(args)?, planned, global, command_line)
}

fn plan(args: &SweepArgs) -> Result<SweepPlan> {
    if let Some(max) = args.max.filter(|max| *max < LEAST_MAX_BYTES) {
        return Err(Error::new(
            ErrorKind::Usage,
            text!("--max of {max} bytes leaves no curve", "--max が {max} バイトでは曲線になりません"),
        )
        .remedy(text!("use 512 KiB or more; 1 GiB is usual", "512 KiB 以上にしてください(通常は 1 GiB)")));
    }
    let axis = |word: &str| match word {
        "size" => vec![Axis::WorkingSet],
        "block-size" => vec![Axis::BlockSize],
        "queue-depth" => vec![Axis::QueueDepth],
        "write" => vec![Axis::BytesWritten],
        _ => Axis::ALL.to_vec(),
    };
    let wanted: Vec<Axis> = args.over.iter().flat_map(|word| axis(word)).collect();
    let plan = SweepPlan {
        // In the order of the axes, each once.
        axes: Axis::ALL.into_iter().filter(|axis| wanted.contains(axis)).collect(),
        directions: match args.direction.as_str() {
            "read" => vec![Direction::Read],
            "write" => vec![Direction::Write],
            _ => vec![Direction::Read, Direction::Write],
        },
        max_bytes: args.max,
        time_ns: args.time,
        runs: args.runs,
        direct: !args.buffered,
        seed: args.seed,
    };
    if plan.axes == [Axis::BytesWritten] && !plan.directions.contains(&Direction::Write) {
        return Err(Error::new(
            ErrorKind::Usage,
            text!("--over write needs writes", "--over write では書き込みが必要です"),
        )
        .remedy(text!("leave out --direction read", "--direction read を外してください")));
    }
    Ok(plan)
}

/// The same target as `kurabe run` would take it.
fn as_run(args: &SweepArgs) -> Result<RunArgs> {
    let mut words: Vec<OsString> = ["kurabe", "run"].map(OsString::from).to_vec();
    for change in &args.set {
        words.extend([OsString::from("--set"), OsString::from(change)]);
    }
    if let Some(device) = &args.destroy_data_on {
        words.extend([OsString::from("--destroy-data-on"), device.clone().into_os_string()]);
    }
    let flags = [
        ("--buffered", args.buffered),
        ("--write-existing", args.write_existing),
        ("--dry-run", args.dry_run),
    ];
    words.extend(flags.iter().filter(|(_, given)| *given).map(|(word, _)| OsString::from(word)));
    words.extend([OsString::from("--"), args.target.clone().into_os_string()]);
    let not_a_run = |cause: String| {
        Error::new(ErrorKind::Internal, text!("a sweep is no run", "スイープを測定にできません"))
            .because(cause)
    };
    match Cli::try_parse_from(words).map_err(|error| not_a_run(error.to_string()))?.command {
        Command::Run(run) => Ok(RunArgs { size: args.max, ..*run }),
        _ => Err(not_a_run("another command".to_owned())),
    }
}
