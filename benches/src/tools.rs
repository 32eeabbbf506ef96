//! The tools to compare: how to call each, and how to read its result.

use crate::child::{self, Ended};
use crate::{Result, instructions};
use kurabe_core::record::RunRecord;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A measurement to run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The file or device.
    pub target: PathBuf,
    /// Pattern, as fio and kurabe both call it: `randread`, `write` and so on.
    pub rw: &'static str,
    /// Size of an operation.
    pub block_bytes: u64,
    /// Operations in flight.
    pub depth: u32,
    /// Upper bound of the offsets.
    pub span_bytes: u64,
    /// Measured time.
    pub seconds: f64,
}

/// Figures that a tool reports for a job.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Operations completed.
    pub operations: u64,
    /// Operations per second.
    pub iops: f64,
    /// Median latency; NaN if the tool reports none.
    pub p50_ns: f64,
}

/// A measured job with its cost.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Figures of the tool.
    pub figures: Figures,
    /// User CPU time of the whole process per operation.
    pub user_ns_per_operation: f64,
}

/// A tool with its settings.
#[derive(Clone, Debug)]
pub enum Tool {
    /// The bare loop of this package, `uring` or `sync`.
    Bare(String),
    /// kurabe with one of its engines.
    Kurabe(&'static str),
    /// fio with one of its engines and further flags.
    Fio(&'static str, Vec<String>),
}

/// Paths of the programs.
pub struct Kit {
    /// Path of the bare loop.
    pub bare: PathBuf,
    /// Path of kurabe.
    pub kurabe: PathBuf,
    /// Version of fio, if it is installed.
    pub fio: Option<String>,
    /// kurabe's store for these runs.
    store: TempDir,
}

/// Runs fio in one process and without dropping the page cache, which is measured here.
const FIO_COMMON: [&str; 5] =
    ["--name=bench", "--thread", "--time_based", "--invalidate=0", "--output-format=json"];

impl Kit {
    /// Creates a kit of these programs.
    ///
    /// # Errors
    /// Returns an error if no temporary directory can be created.
    pub fn new(bare: &Path, kurabe: PathBuf) -> Result<Self> {
        let fio = Command::new("fio").arg("--version").output().ok();
        Ok(Self {
            bare: bare.to_owned(),
            kurabe,
            fio: fio.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            store: tempfile::tempdir()?,
        })
    }

    /// Returns whether a tool is installed.
    pub fn has(&self, tool: &Tool) -> bool {
        self.fio.is_some() || !matches!(tool, Tool::Fio(..))
    }

    /// Runs a tool on a job.
    ///
    /// # Errors
    /// Returns an error if it fails or its output cannot be parsed.
    pub fn measure(&self, tool: &Tool, job: &Job) -> Result<Sample> {
        let ended = child::run(&mut self.command(tool, job))?;
        let figures = figures(tool, &ended)?;
        Ok(Sample { figures, user_ns_per_operation: ended.user_ns as f64 / figures.operations as f64 })
    }

    /// Returns the user instructions per operation: the difference between a short and a long run,
    /// so that start-up and exit do not count.
    ///
    /// # Errors
    /// Returns an error with the reason if they cannot be counted.
    pub fn instructions_per_operation(
        &self,
        counter: &instructions::Counter,
        tool: &Tool,
        job: &Job,
    ) -> Result<f64> {
        let [short, long] = [1.0, 2.0].map(|times| -> Result<(f64, f64)> {
            let job = Job { seconds: job.seconds * times, ..job.clone() };
            let (count, ended) = counter.run(&self.command(tool, &job))?;
            Ok((count, figures(tool, &ended)?.operations as f64))
        });
        let (short, long) = (short?, long?);
        Ok((long.0 - short.0) / (long.1 - short.1))
    }

    fn command(&self, tool: &Tool, job: &Job) -> Command {
        match tool {
            Tool::Bare(mode) => self.bare_command(mode, job),
            Tool::Kurabe(engine) => self.kurabe_command(engine, job),
            Tool::Fio(engine, flags) => fio_command(engine, flags, job),
        }
    }

    fn bare_command(&self, mode: &str, job: &Job) -> Command {
        let mut command = Command::new(&self.bare);
        command.arg(mode).arg(&job.target);
        command.args([
            job.depth.to_string(),
            job.block_bytes.to_string(),
            job.span_bytes.to_string(),
            job.seconds.to_string(),
        ]);
        command
    }

    fn kurabe_command(&self, engine: &str, job: &Job) -> Command {
        let mut command = Command::new(&self.kurabe);
        command.arg("--db").arg(self.store.path().join("bench.db"));
        command.args(["run", "--json", "--quiet", "--threads", "1", "--runs", "1", "--cache", "keep"]);
        command.args(["--rw", job.rw, "--engine", engine]);
        command.args(["--bs", &job.block_bytes.to_string()]);
        command.args(["--iodepth", &job.depth.to_string()]);
        command.args(["--size", &job.span_bytes.to_string()]);
        command.args(["--time", &format!("{}ms", (job.seconds * 1000.0).round())]);
        command.arg("--buffered").arg(&job.target);
        command
    }
}

fn fio_command(engine: &str, flags: &[String], job: &Job) -> Command {
    let mut command = Command::new("fio");
    // The engine comes first, because it determines the available flags.
    command.args(FIO_COMMON).arg(format!("--ioengine={engine}")).args(flags);
    command.arg(format!("--filename={}", job.target.display()));
    command.arg(format!("--rw={}", job.rw));
    command.arg(format!("--bs={}", job.block_bytes));
    command.arg(format!("--iodepth={}", job.depth));
    command.arg(format!("--size={}", job.span_bytes));
    command.arg(format!("--runtime={}ms", (job.seconds * 1000.0).round()));
    command.arg("--direct=0");
    command
}

fn figures(tool: &Tool, ended: &Ended) -> Result<Figures> {
    let read = match tool {
        Tool::Bare(_) => bare_figures(&ended.stdout),
        Tool::Kurabe(_) => kurabe_figures(&ended.stdout),
        Tool::Fio(..) => fio_figures(&ended.stdout),
    };
    let figures = read.map_err(|error| {
        format!("cannot read the result of {tool:?}: {error}\n{}\n{}", ended.stdout, ended.stderr)
    })?;
    if figures.operations == 0 {
        return Err(format!("{tool:?} did not complete one operation").into());
    }
    Ok(figures)
}

fn bare_figures(stdout: &str) -> Result<Figures> {
    let result: Value = serde_json::from_str(stdout)?;
    let field = |name: &str| result[name].as_u64().ok_or_else(|| format!("no {name}"));
    let operations = field("operations")?;
    Ok(Figures {
        operations,
        iops: operations as f64 * 1e9 / field("elapsed_ns")? as f64,
        p50_ns: field("p50_ns")? as f64,
    })
}

/// Reads kurabe's figures. The last line has the record; its only cell has one repetition.
fn kurabe_figures(stdout: &str) -> Result<Figures> {
    let line: Value = serde_json::from_str(stdout.lines().next_back().ok_or("no output")?)?;
    if line["event"] != "record" {
        return Err("the last line is not the record".into());
    }
    let record: RunRecord = serde_json::from_value(line["run"].clone())?;
    let cell = record.cells.first().ok_or("no cell")?;
    let direction = cell.direction.ok_or("the cell has no direction")?;
    let repetition = cell.counted().next().ok_or("no repetition")?;
    let latency =
        kurabe_core::record::LatencyRecord::together([&repetition.read.latency, &repetition.write.latency]);
    Ok(Figures {
        operations: repetition.operations(direction),
        iops: repetition.rate_iops(direction),
        p50_ns: kurabe_stats::percentile_ns(&latency, 0.5).map_or(f64::NAN, |ns| ns as f64),
    })
}

/// Parses output in fio's format, by fio or by `kurabe fio`; messages may precede it.
///
/// # Errors
/// Returns an error if there is no JSON.
pub fn fio_json(stdout: &str) -> Result<Value> {
    let document = stdout.find('{').map(|start| &stdout[start..]).ok_or("no JSON")?;
    Ok(serde_json::from_str(document)?)
}

/// Reads fio's figures. The percentile is that of `lat` if it exists (submission to completion),
/// otherwise that of `clat`.
fn fio_figures(stdout: &str) -> Result<Figures> {
    let result = fio_json(stdout)?;
    let job = &result["jobs"][0];
    let half = [&job["read"], &job["write"]]
        .into_iter()
        .find(|half| half["total_ios"].as_u64().is_some_and(|count| count > 0))
        .ok_or("no operations")?;
    let percentile =
        |of: &str| half[of]["percentile"]["50.000000"].as_f64().filter(|nanoseconds| *nanoseconds > 0.0);
    Ok(Figures {
        operations: half["total_ios"].as_u64().ok_or("no total_ios")?,
        iops: half["iops"].as_f64().ok_or("no iops")?,
        p50_ns: percentile("lat_ns").or_else(|| percentile("clat_ns")).unwrap_or(f64::NAN),
    })
}

/// Finds kurabe: `KURABE_BIN`, or in this program's own directory or the one above it, where cargo
/// places programs.
///
/// # Errors
/// Returns an error with a remedy if it is in neither place.
pub fn find_kurabe() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("KURABE_BIN") {
        return Ok(named.into());
    }
    let program = std::env::current_exe()?;
    let beside = program.ancestors().skip(1).take(2).map(|directory| directory.join("kurabe"));
    beside.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        "there is no kurabe beside this program: build it (cargo build --release -p kurabe), or name it in KURABE_BIN"
            .into()
    })
}

/// Builds kurabe with the cargo that started this bench, so that the current sources are measured,
/// and finds it. `KURABE_BIN` selects another one.
///
/// # Errors
/// Returns an error if it cannot be built or found.
pub fn build_kurabe() -> Result<PathBuf> {
    if let (None, Some(cargo)) = (std::env::var_os("KURABE_BIN"), std::env::var_os("CARGO")) {
        let built = Command::new(cargo).args(["build", "--release", "--quiet", "-p", "kurabe"]).status()?;
        if !built.success() {
            return Err("kurabe does not build".into());
        }
    }
    find_kurabe()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fios_result_is_read_behind_its_warnings() {
        let text = r#"fio: a warning {
            "jobs": [{"read": {"total_ios": 0}, "write": {"total_ios": 10, "iops": 5.5,
            "lat_ns": {"percentile": {"50.000000": 77}}, "clat_ns": {}}}]}"#
            .replacen(
                "a warning ",
                "a warning\n",
                1,
            );
        let figures = fio_figures(&text).unwrap();
        assert_eq!((figures.operations, figures.iops, figures.p50_ns), (10, 5.5, 77.0));
    }

    #[test]
    fn a_result_without_operations_is_an_error() {
        let ended = Ended {
            stdout: r#"{"operations":0,"elapsed_ns":1,"p50_ns":0}"#.to_owned(),
            stderr: String::new(),
            user_ns: 1,
        };
        assert!(figures(&Tool::Bare("uring".to_owned()), &ended).is_err());
    }
}
