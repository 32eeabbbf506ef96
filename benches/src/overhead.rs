//! Cost of an operation: kurabe compared with a bare loop and with fio, on targets with almost no
//! cost of their own.
//!
//! Random reads of 4 KiB from a file in the page cache and from /dev/zero. Columns: the bare loop
//! with io_uring, and at queue depth 1 with pread; kurabe; fio with io_uring at its best with
//! latency on (fixed buffers, registered files, batches in both directions; the best of several
//! settings, determined first); fio with io_uring and default settings; and at queue depth 1 fio
//! with psync. User CPU time is that of the whole process, including start-up and exit.

use crate::Result;
use crate::instructions::Counter;
use crate::ring_features;
use crate::statistics::{median, paired_ratio, spread};
use crate::table::{figure, layout};
use crate::test_file::TestFile;
use crate::tools::{Job, Kit, Sample, Tool};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

const BLOCK_BYTES: u64 = 4096;
/// Maximum user CPU time per operation from queue depth 32 on.
const USER_NS_AT_MOST: f64 = 60.0;
/// Minimum share of the bare loop's IOPS from queue depth 32 on.
const OF_BARE_AT_LEAST: f64 = 0.9;
/// Measured time of the shorter run in which instructions are counted.
const COUNTED_SECONDS: f64 = 0.5;

/// Options of the bench.
pub struct Options {
    /// Time of one measurement.
    pub seconds: f64,
    /// Number of rounds; all tools run once per round.
    pub rounds: u32,
    /// Size of the cached file, and span on /dev/zero.
    pub size_bytes: u64,
    /// Queue depths.
    pub depths: Vec<u32>,
    /// Directory of the cached file.
    pub directory: PathBuf,
    /// Time of the trial of each of fio's settings; 0 uses the most likely one without a trial.
    pub trial_seconds: f64,
    /// Whether to count instructions as well.
    pub instructions: bool,
    /// Print JSON instead of tables.
    pub json: bool,
}

impl Options {
    fn job(&self, target: PathBuf, depth: u32) -> Job {
        let (span_bytes, seconds) = (self.size_bytes, self.seconds);
        Job { target, rw: "randread", block_bytes: BLOCK_BYTES, depth, span_bytes, seconds }
    }
}

/// A target with almost no cost of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cheap {
    CachedFile,
    Zero,
}

impl Cheap {
    fn name(self) -> &'static str {
        match self {
            Self::CachedFile => "cached file",
            Self::Zero => "/dev/zero",
        }
    }

    /// Returns the promised ratio to fio's best from queue depth 32 on.
    fn of_fio_at_least(self) -> f64 {
        match self {
            Self::CachedFile => 1.15,
            Self::Zero => 1.3,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    BareUring,
    BareSync,
    Kurabe,
    FioTuned,
    FioShipped,
    FioPsync,
}

impl Column {
    const ALL: [Self; 6] =
        [Self::BareUring, Self::BareSync, Self::Kurabe, Self::FioTuned, Self::FioShipped, Self::FioPsync];

    fn name(self) -> &'static str {
        match self {
            Self::BareUring => "bare uring",
            Self::BareSync => "bare pread",
            Self::Kurabe => "kurabe",
            Self::FioTuned => "fio tuned",
            Self::FioShipped => "fio shipped",
            Self::FioPsync => "fio psync",
        }
    }

    /// Returns the settings to try, the most likely first; empty if the column does not apply.
    fn candidates(self, depth: u32) -> Vec<Tool> {
        let one = depth == 1;
        match self {
            Self::BareUring => vec![Tool::Bare("uring".to_owned())],
            Self::BareSync if one => vec![Tool::Bare("sync".to_owned())],
            Self::Kurabe => vec![Tool::Kurabe("auto")],
            Self::FioTuned => fio_tuned(depth),
            Self::FioShipped => vec![Tool::Fio("io_uring", Vec::new())],
            Self::FioPsync if one => {
                [fio_lean(), Vec::new()].into_iter().map(|flags| Tool::Fio("psync", flags)).collect()
            }
            Self::BareSync | Self::FioPsync => Vec::new(),
        }
    }
}

/// Returns flags for one latency per operation with its percentiles instead of three, and without a
/// map of blocks already read.
fn fio_lean() -> Vec<String> {
    ["--norandommap", "--disable_slat=1", "--disable_clat=1", "--lat_percentiles=1"].map(str::to_owned).into()
}

/// Returns settings of io_uring with all its optimisations, in batches of different sizes, each
/// with one latency or three.
fn fio_tuned(depth: u32) -> Vec<Tool> {
    let mut batches = vec![depth, depth / 2, depth / 4];
    batches.retain(|batch| *batch > 0);
    let mut tools = Vec::new();
    for latencies in [fio_lean(), vec!["--norandommap".to_owned()]] {
        for batch in &batches {
            let mut flags = latencies.clone();
            flags.extend(["--fixedbufs".to_owned(), "--registerfiles".to_owned()]);
            flags.push(format!("--iodepth_batch_submit={batch}"));
            flags.push("--iodepth_batch_complete_min=1".to_owned());
            flags.push(format!("--iodepth_batch_complete_max={batch}"));
            tools.push(Tool::Fio("io_uring", flags));
        }
    }
    tools
}

struct ColumnResult {
    column: Column,
    tool: Tool,
    samples: Vec<Sample>,
    instructions: Option<f64>,
}

impl ColumnResult {
    fn iops(&self) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.figures.iops).collect()
    }

    fn user_ns(&self) -> Vec<f64> {
        self.samples.iter().map(|sample| sample.user_ns_per_operation).collect()
    }
}

struct Row {
    cheap: Cheap,
    depth: u32,
    columns: Vec<ColumnResult>,
}

impl Row {
    fn name(&self) -> String {
        format!("{} QD{}", self.cheap.name(), self.depth)
    }

    fn get(&self, column: Column) -> Option<&ColumnResult> {
        self.columns.iter().find(|result| result.column == column)
    }

    /// Returns kurabe's IOPS divided by a column's.
    fn kurabe_over(&self, column: Column) -> Option<f64> {
        let (kurabe, other) = (self.get(Column::Kurabe)?, self.get(column)?);
        Some(paired_ratio(&kurabe.iops(), &other.iops()))
    }
}

/// Measures and prints everything. `progress` receives progress messages.
///
/// # Errors
/// Returns an error if a tool fails, or on an interrupt.
pub fn run(options: &Options, kit: &Kit, out: &mut dyn Write, progress: &mut dyn Write) -> Result<()> {
    writeln!(progress, "making the file …")?;
    let file = TestFile::create(&options.directory, options.size_bytes)?;
    let mut counter = None;
    let mut missing = Vec::new();
    if kit.fio.is_none() {
        missing.push("fio is not installed: its columns are left out".to_owned());
    }
    if options.instructions {
        match Counter::find() {
            Ok(available) => counter = Some(available),
            Err(error) => missing.push(format!("user instructions are not available here: {error}")),
        }
    }
    let mut rows = Vec::new();
    for cheap in [Cheap::CachedFile, Cheap::Zero] {
        for depth in &options.depths {
            let target = match cheap {
                Cheap::CachedFile => file.path(),
                Cheap::Zero => PathBuf::from("/dev/zero"),
            };
            let job = options.job(target, *depth);
            let bench = Bench { kit, file: &file, cheap };
            rows.push(bench.measure_row(&job, options, progress)?);
            if let (Some(counter), Some(row)) = (&counter, rows.last_mut()) {
                count_instructions(row, &job, counter, kit, &mut missing, progress)?;
            }
        }
    }
    if options.json {
        serde_json::to_writer_pretty(&mut *out, &as_json(options, kit, &rows, &missing))?;
        return Ok(writeln!(out)?);
    }
    print_head(options, kit, counter, out)?;
    print_tables(&rows, out)?;
    print_promises(&rows, out)?;
    print_settings(&rows, out)?;
    for line in missing {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Tools and target of a row.
struct Bench<'a> {
    kit: &'a Kit,
    file: &'a TestFile,
    cheap: Cheap,
}

impl Bench<'_> {
    fn measure_row(&self, job: &Job, options: &Options, progress: &mut dyn Write) -> Result<Row> {
        let mut row = Row { cheap: self.cheap, depth: job.depth, columns: Vec::new() };
        for column in Column::ALL {
            let candidates: Vec<Tool> =
                column.candidates(job.depth).into_iter().filter(|tool| self.kit.has(tool)).collect();
            if let Some(tool) = self.best_of(candidates, job, options.trial_seconds)? {
                row.columns.push(ColumnResult { column, tool, samples: Vec::new(), instructions: None });
            }
        }
        for round in 1..=options.rounds {
            writeln!(progress, "{}: round {round} of {}", row.name(), options.rounds)?;
            for result in &mut row.columns {
                result.samples.push(self.measure(&result.tool, job)?);
            }
        }
        Ok(row)
    }

    /// Another process may drop the page cache, so the file is read again each time.
    fn measure(&self, tool: &Tool, job: &Job) -> Result<Sample> {
        if self.cheap == Cheap::CachedFile {
            self.file.warm()?;
        }
        self.kit.measure(tool, job)
    }

    /// Returns the fastest of several settings; a single one needs no trial.
    fn best_of(&self, mut candidates: Vec<Tool>, job: &Job, seconds: f64) -> Result<Option<Tool>> {
        if candidates.len() <= 1 || seconds <= 0.0 {
            candidates.truncate(1);
            return Ok(candidates.pop());
        }
        let trial = Job { seconds, ..job.clone() };
        let mut best: Option<(f64, Tool)> = None;
        for tool in candidates {
            let iops = self.measure(&tool, &trial)?.figures.iops;
            if best.as_ref().is_none_or(|(most, _)| iops > *most) {
                best = Some((iops, tool));
            }
        }
        Ok(best.map(|(_, tool)| tool))
    }
}

fn count_instructions(
    row: &mut Row,
    job: &Job,
    counter: &Counter,
    kit: &Kit,
    missing: &mut Vec<String>,
    progress: &mut dyn Write,
) -> Result<()> {
    let name = row.name();
    writeln!(progress, "{name}: counting instructions with {}", counter.name())?;
    let job = Job { seconds: COUNTED_SECONDS.min(job.seconds), ..job.clone() };
    for result in &mut row.columns {
        match kit.instructions_per_operation(counter, &result.tool, &job) {
            Ok(count) => result.instructions = Some(count),
            Err(error) => {
                missing.push(format!("no instructions of {} on {name}: {error}", result.column.name()));
            }
        }
        crate::child::check_interrupt()?;
    }
    Ok(())
}

fn print_head(options: &Options, kit: &Kit, counter: Option<Counter>, out: &mut dyn Write) -> Result<()> {
    let Options { seconds, rounds, size_bytes, .. } = options;
    let fio = kit.fio.as_deref().unwrap_or("no fio");
    writeln!(
        out,
        "4 KiB random reads, buffered, one thread, {} MiB; medians of {rounds} rounds of {seconds} s, \
         interleaved; {fio}",
        size_bytes >> 20
    )?;
    if let Some(counter) = counter {
        writeln!(out, "user instructions: counted with {}", counter.name())?;
    }
    Ok(())
}

fn print_tables(rows: &[Row], out: &mut dyn Write) -> Result<()> {
    type Field = fn(&ColumnResult) -> String;
    let tables: [(&str, Field); 3] = [
        ("thousand IOPS (spread in %)", |result| {
            let iops = result.iops();
            format!("{} ({})", figure(median(&iops) / 1e3, 0), figure(spread(&iops) * 100.0, 0))
        }),
        ("user CPU ns per operation", |result| figure(median(&result.user_ns()), 1)),
        ("user instructions per operation", |result| figure(result.instructions.unwrap_or(f64::NAN), 0)),
    ];
    let counted = rows.iter().flat_map(|row| &row.columns).any(|result| result.instructions.is_some());
    for (title, field) in tables.into_iter().take(if counted { 3 } else { 2 }) {
        let mut laid = vec![std::iter::once(title).chain(Column::ALL.map(Column::name)).collect::<Vec<_>>()]
            .into_iter()
            .map(|heading| heading.into_iter().map(str::to_owned).collect())
            .collect::<Vec<Vec<String>>>();
        for row in rows {
            let fields = Column::ALL.map(|column| row.get(column).map_or_else(|| "–".to_owned(), field));
            laid.push(std::iter::once(row.name()).chain(fields).collect());
        }
        writeln!(out, "\n{}", layout(&laid).trim_end())?;
    }
    Ok(())
}

/// A promise about kurabe in one row.
struct Promise {
    what: String,
    measured: f64,
    limit: f64,
    at_most: bool,
}

impl Promise {
    /// Returns the relative shortfall; 0 or less if the promise is kept.
    fn short_by(&self) -> f64 {
        if self.at_most { self.measured / self.limit - 1.0 } else { 1.0 - self.measured / self.limit }
    }

    fn verdict(&self) -> String {
        match self.short_by() {
            missed if missed <= 0.0 => "PASS".to_owned(),
            missed => format!("short of it by {:.0} %", missed * 100.0),
        }
    }
}

/// Returns the promises about a row that were measured.
fn promises(row: &Row) -> Vec<Promise> {
    let least = |what: &str, column: Column, limit: f64| {
        row.kurabe_over(column).map(|measured| Promise {
            what: format!("IOPS / {what}"),
            measured,
            limit,
            at_most: false,
        })
    };
    let promises = if row.depth == 1 {
        vec![least("fio psync", Column::FioPsync, 1.0)]
    } else {
        let user = row.get(Column::Kurabe).map(|kurabe| Promise {
            what: "user CPU ns".to_owned(),
            measured: median(&kurabe.user_ns()),
            limit: USER_NS_AT_MOST,
            at_most: true,
        });
        vec![
            user,
            least("bare loop", Column::BareUring, OF_BARE_AT_LEAST),
            least("fio tuned", Column::FioTuned, row.cheap.of_fio_at_least()),
        ]
    };
    promises.into_iter().flatten().collect()
}

fn print_promises(rows: &[Row], out: &mut dyn Write) -> Result<()> {
    let mut laid = vec![
        ["kurabe against what was promised", "of", "measured", "promised", ""].map(str::to_owned).to_vec(),
    ];
    for row in rows {
        for promise in promises(row) {
            let sign = if promise.at_most { "≤" } else { "≥" };
            laid.push(vec![
                row.name(),
                promise.what.clone(),
                figure(promise.measured, 2),
                format!("{sign} {}", promise.limit),
                promise.verdict(),
            ]);
        }
    }
    Ok(writeln!(out, "\n{}", layout(&laid).trim_end())?)
}

fn print_settings(rows: &[Row], out: &mut dyn Write) -> Result<()> {
    writeln!(out, "\nfio's settings (the best of those tried)")?;
    for row in rows {
        for result in &row.columns {
            if let Tool::Fio(engine, flags) = &result.tool {
                writeln!(out, "  {}, {}: {engine} {}", row.name(), result.column.name(), flags.join(" "))?;
            }
        }
    }
    Ok(())
}

fn as_json(options: &Options, kit: &Kit, rows: &[Row], missing: &[String]) -> Value {
    let column = |result: &ColumnResult| {
        json!({
            "tool": result.column.name(),
            "settings": format!("{:?}", result.tool),
            "iops": result.iops(),
            "iops_median": median(&result.iops()),
            "user_ns_per_operation": result.user_ns(),
            "user_ns_per_operation_median": median(&result.user_ns()),
            "user_instructions_per_operation": result.instructions,
        })
    };
    let promise = |promise: &Promise| {
        json!({
            "what": promise.what,
            "measured": promise.measured,
            "limit": promise.limit,
            "at_most": promise.at_most,
            "short_by": promise.short_by().max(0.0),
        })
    };
    let row = |row: &Row| {
        json!({
            "target": row.cheap.name(),
            "iodepth": row.depth,
            "tools": row.columns.iter().map(column).collect::<Vec<_>>(),
            "promises": promises(row).iter().map(promise).collect::<Vec<_>>(),
        })
    };
    json!({
        "bench": "overhead",
        "seconds": options.seconds,
        "rounds": options.rounds,
        "size_bytes": options.size_bytes,
        "fio": kit.fio,
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
        "missing": missing,
    })
}

/// Flags of `cargo bench --bench overhead`.
pub const HELP: &str = "\
cargo bench -p kurabe-benches --bench overhead -- [flags]
  --seconds N        time of one measurement (3)
  --rounds N         rounds in which all tools take a turn (7)
  --size-mib N       size of the cached file (1024)
  --dir PATH         where it is made (the target directory)
  --trial-seconds N  time of each of fio's settings that are tried first (1)
  --no-instructions  do not count instructions
  --ring-features    only what each feature of a ring brings the bare loop, on /dev/zero
  --json             JSON instead of tables";

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns the errors of [`run`], and an error for an invalid flag.
pub fn main(bare: &Path, out: &mut dyn Write, progress: &mut dyn Write) -> Result<()> {
    let flags = crate::options::Flags::from_environment(
        &["seconds", "rounds", "size-mib", "dir", "trial-seconds"],
        &["no-instructions", "ring-features", "json"],
        HELP,
    )?;
    let mut options = Options {
        seconds: 3.0,
        rounds: 7,
        size_bytes: 1 << 30,
        depths: vec![1, 32, 128],
        directory: crate::test_file::own_directory()?,
        trial_seconds: 1.0,
        instructions: !flags.has("no-instructions"),
        json: flags.has("json"),
    };
    flags.set("seconds", &mut options.seconds)?;
    flags.set("rounds", &mut options.rounds)?;
    flags.set_mib("size-mib", &mut options.size_bytes)?;
    flags.set("dir", &mut options.directory)?;
    flags.set("trial-seconds", &mut options.trial_seconds)?;
    let kit = Kit::new(bare, crate::tools::build_kurabe()?)?;
    if flags.has("ring-features") {
        let job = |depth: &u32| options.job("/dev/zero".into(), *depth);
        let jobs: Vec<Job> = options.depths.iter().map(job).collect();
        return ring_features::run(&jobs, options.rounds, &kit, out);
    }
    run(&options, &kit, out, progress)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_missed_in_its_own_direction() {
        let promise = |measured, limit, at_most| Promise { what: String::new(), measured, limit, at_most };
        assert_eq!(promise(60.0, 60.0, true).verdict(), "PASS");
        assert_eq!(promise(75.0, 60.0, true).verdict(), "short of it by 25 %");
        assert_eq!(promise(1.2, 1.15, false).verdict(), "PASS");
        assert_eq!(promise(0.45, 0.9, false).verdict(), "short of it by 50 %");
    }

    #[test]
    fn a_depth_of_one_is_held_against_psync_only() {
        assert_eq!(Column::FioPsync.candidates(32).len(), 0);
        assert_eq!(fio_tuned(1).len(), 2);
    }
}
