//! Cost of measuring together: how far apart ranks start, the time to wait for each other and to
//! merge records, and the CPU time of an operation compared with that of one rank.
//!
//! The model: `kurabe-mpi` as its users run it, all ranks on this machine, with 1, 2 and 4 of them
//! interleaved. The time between the end of a repetition and the start of the next exists with one
//! rank as well (the store, the page cache); the rest is due to the ranks.

use crate::options::Flags;
use crate::statistics::{median, percentile};
use crate::table::{figure, layout};
use crate::{Result, child};
use kurabe_core::record::{Repetition, RunRecord};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const HELP: &str = "flags: --seconds N (1)  --runs N (20)  --rounds N (3)  --target DIRECTORY (a temporary one)  --store DIRECTORY (the same)";
/// Numbers of ranks to try.
const COUNTS: [usize; 3] = [1, 2, 4];

/// Options of the bench.
#[derive(Debug)]
pub struct Options {
    /// Length of a repetition.
    pub seconds: f64,
    /// Repetitions of a run.
    pub runs: u32,
    /// Runs with each number of ranks.
    pub rounds: u32,
    /// Path of `kurabe-mpi`.
    pub program: PathBuf,
    /// Directory to measure.
    pub directory: PathBuf,
    /// Directory of the stores of all ranks.
    pub store: PathBuf,
}

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns an error if a flag is invalid, or the bench fails.
pub fn main(out: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["seconds", "runs", "rounds", "target", "store"], &[], HELP)?;
    let directory = tempfile::tempdir()?;
    let mut target = directory.path().display().to_string();
    flags.set("target", &mut target)?;
    let mut store = target.clone();
    flags.set("store", &mut store)?;
    let (directory, store) = (target.into(), store.into());
    let mut options = Options { seconds: 1.0, runs: 20, rounds: 3, program: program()?, directory, store };
    flags.set("seconds", &mut options.seconds)?;
    flags.set("runs", &mut options.runs)?;
    flags.set("rounds", &mut options.rounds)?;
    run(&options, out)
}

/// Returns `KURABE_MPI_BIN`, or builds the release version and returns its path.
///
/// # Errors
/// Returns an error if it cannot be built.
pub fn program() -> Result<PathBuf> {
    if let Ok(program) = std::env::var("KURABE_MPI_BIN") {
        return Ok(program.into());
    }
    let words = ["build", "--release", "--quiet", "-p", "kurabe", "--features", "mpi", "--bin", "kurabe-mpi"];
    let cargo =
        std::env::var_os("CARGO").ok_or("run it with cargo, or name the program in KURABE_MPI_BIN")?;
    if !Command::new(cargo).args(words).status()?.success() {
        return Err("kurabe-mpi does not build: libopenmpi-dev and libclang-dev are needed".into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join("release/kurabe-mpi"))
}

/// Runs the bench and prints the results.
///
/// # Errors
/// Returns an error if a run fails.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<()> {
    let mut repetitions: Vec<Vec<Vec<Repetition>>> = vec![Vec::new(); COUNTS.len()];
    for _ in 0..options.rounds {
        for (count, all) in COUNTS.iter().zip(&mut repetitions) {
            all.push(measured(options, *count)?);
        }
    }
    let of_all = |runs: &[Vec<Repetition>], figure: &dyn Fn(&Repetition) -> f64| -> Vec<f64> {
        runs.iter().flatten().map(figure).collect()
    };
    let skew = |one: &Repetition| one.ranks.as_ref().map_or(0.0, |ranks| ranks.skew_ns() as f64 / 1e3);
    let cpu = |one: &Repetition| (one.cpu.user_ns + one.cpu.system_ns) as f64 / one.completed().max(1) as f64;
    let between = |runs: &[Vec<Repetition>]| -> f64 {
        let gap = |pair: &[Repetition]| {
            pair[1].started_ns.saturating_sub(pair[0].started_ns + pair[0].elapsed_ns) as f64 / 1e6
        };
        median(&runs.iter().flat_map(|run| run.windows(2).map(gap)).collect::<Vec<f64>>())
    };
    let head = ["ranks", "skew p50", "skew p99", "between", "of a cell", "CPU/op", "beside 1", "message"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let (alone_ms, alone_ns) = (between(&repetitions[0]), median(&of_all(&repetitions[0], &cpu)));
    for (count, runs) in COUNTS.iter().zip(&repetitions) {
        let (skews, gap_ms, cpu_ns) = (of_all(runs, &skew), between(runs), median(&of_all(runs, &cpu)));
        let message = runs.iter().flatten().map(|one| Repetition { ranks: None, ..one.clone() });
        let bytes = message.filter_map(|one| serde_json::to_vec(&one).ok()).map(|bytes| bytes.len() as f64);
        rows.push(vec![
            count.to_string(),
            format!("{} µs", figure(percentile(&skews, 0.5), 0)),
            format!("{} µs", figure(percentile(&skews, 0.99), 0)),
            format!("{} ms", figure(gap_ms, 1)),
            format!("{} %", figure((gap_ms - alone_ms).max(0.0) / options.seconds / 10.0, 2)),
            format!("{} ns", figure(cpu_ns, 0)),
            format!("{} %", figure((cpu_ns / alone_ns - 1.0) * 100.0, 1)),
            format!("{} KiB", figure(median(&bytes.collect::<Vec<f64>>()) / 1024.0, 1)),
        ]);
    }
    write!(out, "{}", layout(&rows))?;
    Ok(())
}

/// Returns the repetitions of a run with this many ranks.
fn measured(options: &Options, count: usize) -> Result<Vec<Repetition>> {
    let Options { seconds, runs, program, directory, store, .. } = options;
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "-n", &count.to_string()]).arg(program);
    command
        .arg("run")
        .arg(directory)
        .args(["--rw", "randread", "--bs", "4k", "--size", "16m", "--json", "--quiet"]);
    command.args([
        "--engine",
        "threads",
        "--time",
        &format!("{}ms", seconds * 1e3),
        "--runs",
        &runs.to_string(),
    ]);
    command.env("KURABE_DB", store.join("kurabe.db"));
    let ended = child::run(&mut command)?;
    let last = ended.stdout.lines().last().ok_or("kurabe-mpi printed nothing")?;
    let mut line: serde_json::Value = serde_json::from_str(last)?;
    let record: RunRecord = serde_json::from_value(line["run"].take())?;
    let cell = record.cells.into_iter().next().ok_or("nothing was measured")?;
    Ok(cell.repetitions)
}
