//! Agreement of kurabe and fio on one disk, for typical command lines.
//!
//! Each line is run by `fio LINE` and by `kurabe fio LINE`, interleaved, on the same file. Both
//! write fio's JSON, so one parser reads both. The medians over the rounds of the rate, of p50 and
//! of p99 are compared. The latency of fio is its `lat`, from the start of an operation's
//! submission to its completion, because kurabe also counts from submission. fio's `clat` begins
//! only when the submitting system call has returned, and so omits the time that a device takes
//! within it.
//!
//! On a disk that varies, no tool can agree better with another than with itself. So fio's odd
//! rounds are compared with its even rounds in the same way, and its spread is printed.

use crate::child;
use crate::statistics::{distance, median, spread};
use crate::table::{figure, layout};
use crate::test_file::TestFile;
use crate::{Result, options::Flags};
use serde_json::{Value, json};
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
    /// Run only the lines that contain this.
    pub only: String,
    /// Print JSON instead of a table.
    pub json: bool,
}

/// Typical lines of wikis and scripts, without target, size and time.
pub const LINES: [&str; 25] = [
    "--name=a --rw=read --bs=1m --iodepth=8 --ioengine=io_uring --direct=1",
    "--name=a --rw=write --bs=1m --iodepth=8 --ioengine=io_uring --direct=1",
    "--name=a --rw=randread --bs=4k --iodepth=1 --ioengine=io_uring --direct=1",
    "--name=a --rw=randwrite --bs=4k --iodepth=1 --ioengine=io_uring --direct=1",
    "--name=a --rw=randread --bs=4k --iodepth=32 --ioengine=io_uring --direct=1",
    "--name=a --rw=randwrite --bs=4k --iodepth=32 --ioengine=io_uring --direct=1",
    "--name=a --rw=randrw --rwmixread=75 --bs=4k --iodepth=64 --ioengine=libaio --direct=1",
    "--name=a --rw=randread --bs=4k --iodepth=16 --numjobs=4 --ioengine=libaio --direct=1",
    "--name=a --rw=randread --bs=16k --iodepth=256 --ioengine=libaio --direct=1",
    "--name=a --rw=read --bs=128k --ioengine=psync --direct=1",
    "--name=a --rw=write --bs=2300 --ioengine=sync --fdatasync=1",
    "--name=a --rw=write --bs=4k --ioengine=psync --fsync=1",
    "--name=a --rw=write --bs=8k --ioengine=psync --sync=dsync --direct=1",
    "--name=a --rw=randwrite --bs=4k --ioengine=psync --sync=1 --direct=1",
    "--name=a --rw=read --bs=64k --ioengine=psync --numjobs=2",
    "--name=a --rw=randread --bs=4k --ioengine=psync --norandommap --direct=1",
    "--name=a --rw=randread --bs=4k --iodepth=8 --ioengine=libaio --direct=1 --random_distribution=zipf:1.2",
    "--name=a --rw=randread --bssplit=4k/60:8k/20:64k/20 --iodepth=8 --ioengine=libaio --direct=1",
    "--name=a --rw=randread --bs=4k --iodepth=4 --ioengine=libaio --direct=1 --rate_iops=500",
    "--name=a --rw=read --bs=64k --ioengine=psync --direct=1 --thinktime=1000 --thinktime_blocks=8",
    "--name=a --rw=read:64k --bs=64k --iodepth=4 --ioengine=libaio --direct=1",
    "--name=a --rw=randread:8 --bs=4k --ioengine=psync --direct=1",
    "--name=a --rw=randread --percentage_random=30 --bs=4k --ioengine=psync --direct=1",
    "--name=a --rw=randread --bs=4k --iodepth=8 --ioengine=libaio --direct=1 --name=b --new_group --rw=write --bs=256k --iodepth=2 \
     --ioengine=libaio --direct=1",
    "--name=a --rw=randread --bs=4k --iodepth=8 --ioengine=libaio --direct=1 --flow=3 --name=b --new_group --rw=randwrite --bs=4k \
     --ioengine=libaio --iodepth=8 --direct=1 --flow=1",
];

/// Figures that a tool reports for a line.
#[derive(Clone, Copy)]
struct Sample {
    /// Operations per second of all its jobs.
    rate_iops: f64,
    /// Median of the first job, in ns.
    p50_ns: f64,
    p99_ns: f64,
}

/// A line with the figures of both tools in each round; those of fio are empty if it is not
/// installed.
struct Line {
    line: &'static str,
    kurabe: Vec<Sample>,
    fio: Vec<Sample>,
}

/// One figure of a cell from both tools.
struct Comparison {
    kurabe: f64,
    fio: f64,
    kurabe_over_fio: f64,
    fio_over_itself: f64,
    kurabe_spread: f64,
    fio_spread: f64,
}

impl Comparison {
    fn new(kurabe: &[f64], fio: &[f64]) -> Self {
        let every_other = |skip: usize| fio.iter().copied().skip(skip).step_by(2).collect::<Vec<_>>();
        let (middle, fio_middle) = (median(kurabe), median(fio));
        Self {
            kurabe: middle,
            fio: fio_middle,
            kurabe_over_fio: middle / fio_middle,
            fio_over_itself: median(&every_other(0)) / median(&every_other(1)),
            kurabe_spread: spread(kurabe),
            fio_spread: spread(fio),
        }
    }

    fn verdict(&self) -> &'static str {
        let apart = distance(self.kurabe_over_fio);
        if apart.is_nan() {
            "–"
        } else if apart <= WITHIN {
            "within 5 %"
        } else if apart <= distance(self.fio_over_itself) {
            "as fio with itself"
        } else if apart <= self.fio_spread {
            "within fio's spread"
        } else {
            "APART"
        }
    }

    fn fields(&self, unit: f64) -> Vec<String> {
        let percent = |share: f64| figure(share * 100.0, 0);
        vec![
            figure(self.kurabe / unit, 1),
            figure(self.fio / unit, 1),
            figure(self.kurabe_over_fio, 3),
            figure(self.fio_over_itself, 3),
            percent(self.kurabe_spread),
            percent(self.fio_spread),
            self.verdict().to_owned(),
        ]
    }
}

/// Selects one of the compared figures.
type OfSample = fn(&Sample) -> f64;

/// The compared figures of a line, with their units.
const FIGURES: [(&str, f64, OfSample); 3] = [
    ("operations per second", 1.0, |sample| sample.rate_iops),
    ("p50, µs", 1e3, |sample| sample.p50_ns),
    ("p99, µs", 1e3, |sample| sample.p99_ns),
];

impl Line {
    fn compare(&self, figure: OfSample) -> Comparison {
        let of = |samples: &[Sample]| samples.iter().map(figure).collect::<Vec<_>>();
        Comparison::new(&of(&self.kurabe), &of(&self.fio))
    }
}

/// Measures and prints everything. `progress` receives progress messages.
///
/// # Errors
/// Returns an error if a tool fails, or on an interrupt.
pub fn run(options: &Options, kurabe: &Path, out: &mut dyn Write, progress: &mut dyn Write) -> Result<()> {
    writeln!(progress, "filling the test file …")?;
    let file = TestFile::create(&options.directory, options.size_bytes)?;
    let folder = tempfile::tempdir()?;
    let fio = Command::new("fio").arg("--version").output().ok();
    let fio = fio.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let mut lines = Vec::new();
    for line in LINES.into_iter().filter(|line| line.contains(&options.only)) {
        let mut measured = Line { line, kurabe: Vec::new(), fio: Vec::new() };
        for round in 1..=options.rounds {
            writeln!(progress, "{line}: round {round} of {}", options.rounds)?;
            let words = words(line, options, &file.path());
            let mut command = Command::new(kurabe);
            command.arg("--db").arg(folder.path().join("bench.db"));
            command.args(["fio", "--quiet", "--write-existing"]).args(&words);
            measured.kurabe.push(sample(&mut command)?);
            if fio.is_some() {
                measured.fio.push(sample(Command::new("fio").args(&words))?);
            }
        }
        lines.push(measured);
    }
    if options.json {
        serde_json::to_writer_pretty(&mut *out, &as_json(options, fio.as_deref(), &lines))?;
        return Ok(writeln!(out)?);
    }
    print_table(options, fio.as_deref(), &lines, out)
}

/// Returns the arguments of a line, with target, size and time before its jobs.
fn words(line: &str, options: &Options, file: &Path) -> Vec<String> {
    let global = [
        format!("--filename={}", file.display()),
        format!("--size={}", options.size_bytes),
        format!("--runtime={}ms", (options.seconds * 1000.0).round()),
    ];
    let fixed = [
        "--time_based",
        "--output-format=json",
        "--lat_percentiles=1",
        "--clat_percentiles=0",
        "--group_reporting",
    ];
    let own = fixed.into_iter().chain(line.split_whitespace()).map(str::to_owned);
    global.into_iter().chain(own).collect()
}

/// Runs a tool and parses its output, which is fio's JSON for both.
fn sample(command: &mut Command) -> Result<Sample> {
    let ended = child::run(command)?;
    let result = crate::tools::fio_json(&ended.stdout)?;
    let jobs = result["jobs"].as_array().ok_or("no jobs")?;
    let sides = |job: &Value| ["read", "write"].map(|side| job[side].clone());
    let rates = jobs.iter().flat_map(sides).map(|side| side["iops"].as_f64().unwrap_or(0.0));
    let first = jobs.first().into_iter().flat_map(sides).find(|side| side["total_ios"].as_u64() > Some(0));
    let first = first.ok_or_else(|| format!("no operations: {}\n{}", ended.stdout, ended.stderr))?;
    let percentile = |name: &str| first["lat_ns"]["percentile"][name].as_f64().unwrap_or(f64::NAN);
    Ok(Sample { rate_iops: rates.sum(), p50_ns: percentile("50.000000"), p99_ns: percentile("99.000000") })
}

fn print_table(options: &Options, fio: Option<&str>, lines: &[Line], out: &mut dyn Write) -> Result<()> {
    let Options { seconds, rounds, size_bytes, .. } = options;
    writeln!(
        out,
        "{} MiB in {}; medians of {rounds} rounds of {seconds} s, interleaved; {}",
        size_bytes >> 20,
        options.directory.display(),
        fio.unwrap_or("fio is not installed: its columns are left empty")
    )?;
    let heading = ["kurabe", "fio", "kurabe / fio", "fio / itself", "spread % kurabe", "fio", ""];
    for (title, unit, of) in FIGURES {
        let mut laid: Vec<Vec<String>> =
            vec![heading.into_iter().chain([title]).map(str::to_owned).collect()];
        let row =
            |line: &Line| line.compare(of).fields(unit).into_iter().chain([line.line.to_owned()]).collect();
        laid.extend(lines.iter().map(row));
        writeln!(out, "\n{}", layout(&laid).trim_end())?;
    }
    writeln!(
        out,
        "\nfio / itself: its odd rounds over its even rounds. Spread: largest less smallest, over the median.\n\
         fio's latency is `lat`, which like kurabe's counts from submission to completion; it is that of the first job."
    )?;
    Ok(())
}

fn as_json(options: &Options, fio: Option<&str>, lines: &[Line]) -> Value {
    let comparison = |of: &Comparison| {
        json!({
            "kurabe": of.kurabe,
            "fio": of.fio,
            "kurabe_over_fio": of.kurabe_over_fio,
            "fio_over_itself": of.fio_over_itself,
            "kurabe_spread": of.kurabe_spread,
            "fio_spread": of.fio_spread,
            "verdict": of.verdict(),
        })
    };
    let line = |line: &Line| {
        let [rate_iops, p50_ns, p99_ns] = FIGURES.map(|(_, _, of)| comparison(&line.compare(of)));
        json!({ "line": line.line, "rate_iops": rate_iops, "latency_ns_p50": p50_ns, "latency_ns_p99": p99_ns })
    };
    json!({
        "bench": "agreement",
        "seconds": options.seconds,
        "rounds": options.rounds,
        "size_bytes": options.size_bytes,
        "fio": fio,
        "lines": lines.iter().map(line).collect::<Vec<_>>(),
    })
}

/// Flags of `cargo bench --bench agreement`.
pub const HELP: &str = "\
cargo bench -p kurabe-benches --bench agreement -- [flags]
  --seconds N   time of one measurement (5)
  --rounds N    rounds in which both tools take a turn (5)
  --size-mib N  size of the test file (1024)
  --dir PATH    where it is made, which decides the disk (the target directory)
  --only WORDS  only lines that have these in them
  --json        JSON instead of tables";

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns the errors of [`run`], and an error for an invalid flag.
pub fn main(out: &mut dyn Write, progress: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["seconds", "rounds", "size-mib", "dir", "only"], &["json"], HELP)?;
    let mut options = Options {
        seconds: 5.0,
        rounds: 5,
        size_bytes: 1 << 30,
        directory: crate::test_file::own_directory()?,
        only: String::new(),
        json: flags.has("json"),
    };
    flags.set("seconds", &mut options.seconds)?;
    flags.set("rounds", &mut options.rounds)?;
    flags.set_mib("size-mib", &mut options.size_bytes)?;
    flags.set("dir", &mut options.directory)?;
    flags.set("only", &mut options.only)?;
    run(&options, &crate::tools::build_kurabe()?, out, progress)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_grants_what_fio_grants_itself() {
        let steady = [100.0, 101.0, 100.0, 99.0];
        assert_eq!(Comparison::new(&[103.0; 4], &steady).verdict(), "within 5 %");
        assert_eq!(Comparison::new(&[120.0; 4], &steady).verdict(), "APART");
        let restless = [80.0, 100.0, 80.0, 100.0];
        assert_eq!(Comparison::new(&[100.0; 4], &restless).verdict(), "as fio with itself");
        assert_eq!(Comparison::new(&[100.0; 4], &[]).verdict(), "–");
    }
}
