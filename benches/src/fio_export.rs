//! Agreement of fio, running the job file that kurabe exports from a run, with that run.
//!
//! All on one file, interleaved: kurabe measures a cell, `kurabe export --format fio` writes its
//! job, and fio runs that job on the same file. The medians over the rounds of operations per
//! second are compared. The bench sets no option of the job: an option missing from the export
//! shows in the ratio.

use crate::Result;
use crate::child;
use crate::options::Flags;
use crate::statistics::{distance, median};
use crate::table::{figure, layout};
use crate::test_file::TestFile;
use kurabe_core::record::RunRecord;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Promised agreement.
const WITHIN: f64 = 0.05;

/// Options of the bench.
pub struct Options {
    /// Time of one measurement.
    pub seconds: f64,
    /// Number of rounds; both tools run once per round.
    pub rounds: u32,
    /// Size of the test file.
    pub size_bytes: u64,
    /// Directory of the test file.
    pub directory: PathBuf,
}

/// Name and kurabe's flags of each cell.
const CELLS: [(&str, &[&str]); 5] = [
    ("SEQ 1 MiB Q8 read", &["--rw", "read", "--bs", "1m", "--iodepth", "8"]),
    ("SEQ 1 MiB Q1 T2 read", &["--rw", "read", "--bs", "1m", "--iodepth", "1", "--threads", "2"]),
    ("RND 4 KiB Q1 read", &["--rw", "randread", "--bs", "4k", "--iodepth", "1"]),
    ("RND 4 KiB Q32 read", &["--rw", "randread", "--bs", "4k", "--iodepth", "32"]),
    ("RND 4 KiB Q32 write", &["--rw", "randwrite", "--bs", "4k", "--iodepth", "32"]),
];

/// Measures and prints everything. `progress` receives progress messages.
///
/// # Errors
/// Returns an error if a tool fails or is missing, or on an interrupt.
pub fn run(options: &Options, kurabe: &Path, out: &mut dyn Write, progress: &mut dyn Write) -> Result<()> {
    writeln!(progress, "filling the test file …")?;
    let file = TestFile::create(&options.directory, options.size_bytes)?;
    let folder = tempfile::tempdir()?;
    let heading = ["operations per second", "kurabe", "fio", "fio / kurabe", ""];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for (name, flags) in CELLS {
        let (mut kurabes, mut fios) = (Vec::new(), Vec::new());
        for round in 1..=options.rounds {
            writeln!(progress, "{name}: round {round} of {}", options.rounds)?;
            let record = measure(kurabe, folder.path(), flags, &file.path(), options)?;
            kurabes.push(iops(&record)?);
            fios.push(run_exported(kurabe, folder.path(), &record.header.id)?);
        }
        let ratio = median(&fios) / median(&kurabes);
        let verdict = if distance(ratio) <= WITHIN { "within 5 %" } else { "APART" };
        let shown = [figure(median(&kurabes), 0), figure(median(&fios), 0), figure(ratio, 3)];
        rows.push([name.to_owned()].into_iter().chain(shown).chain([verdict.to_owned()]).collect());
    }
    Ok(writeln!(out, "{}", layout(&rows).trim_end())?)
}

fn kurabe_command(kurabe: &Path, folder: &Path) -> Command {
    let mut command = Command::new(kurabe);
    command.arg("--db").arg(folder.join("bench.db"));
    command
}

fn measure(
    kurabe: &Path,
    folder: &Path,
    flags: &[&str],
    target: &Path,
    options: &Options,
) -> Result<RunRecord> {
    let mut command = kurabe_command(kurabe, folder);
    command.args(["run", "--json", "--quiet", "--direct", "--runs", "1", "--write-existing"]).args(flags);
    command.args(["--size", &options.size_bytes.to_string()]);
    command.args(["--time", &format!("{}ms", (options.seconds * 1000.0).round())]).arg(target);
    let ended = child::run(&mut command)?;
    let line: Value = serde_json::from_str(ended.stdout.lines().next_back().ok_or("no output")?)?;
    Ok(serde_json::from_value(line["run"].clone())?)
}

fn iops(record: &RunRecord) -> Result<f64> {
    let cell = record.cells.first().ok_or("no cell")?;
    let repetition = cell.counted().next().ok_or("no repetition")?;
    Ok(kurabe_stats::rate_iops(repetition, cell.direction))
}

/// Exports a run and runs its job. The test file belongs to this bench, so jobs that write are
/// permitted.
fn run_exported(kurabe: &Path, folder: &Path, id: &str) -> Result<f64> {
    let exported = child::run(kurabe_command(kurabe, folder).args(["export", "--format", "fio", id]))?;
    let jobs = exported.stdout.lines().map(|line| line.strip_prefix("; ").unwrap_or(line));
    let path = folder.join("job.fio");
    std::fs::write(&path, jobs.collect::<Vec<_>>().join("\n") + "\n")?;
    let ended = child::run(Command::new("fio").arg("--output-format=json").arg(&path))?;
    let result = crate::tools::fio_json(&ended.stdout)?;
    let half = |direction: &str| result["jobs"][0][direction]["iops"].as_f64().unwrap_or(0.0);
    Ok(half("read") + half("write"))
}

/// Flags of `cargo bench --bench fio_export`.
pub const HELP: &str = "\
cargo bench -p kurabe-benches --bench fio_export -- [flags]
  --seconds N   time of one measurement (5)
  --rounds N    rounds in which both tools take a turn (5)
  --size-mib N  size of the test file (1024)
  --dir PATH    where it is made, which decides the disk (the target directory)";

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns the errors of [`run`], and an error for an invalid flag.
pub fn main(out: &mut dyn Write, progress: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["seconds", "rounds", "size-mib", "dir"], &[], HELP)?;
    let directory = crate::test_file::own_directory()?;
    let mut options = Options { seconds: 5.0, rounds: 5, size_bytes: 1 << 30, directory };
    flags.set("seconds", &mut options.seconds)?;
    flags.set("rounds", &mut options.rounds)?;
    flags.set_mib("size-mib", &mut options.size_bytes)?;
    flags.set("dir", &mut options.directory)?;
    run(&options, &crate::tools::build_kurabe()?, out, progress)
}
