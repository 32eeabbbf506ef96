//! Compares the price of programs that others wrote with the time that they take on the same models.
//!
//! The model: each program of `programs/real.py` has a fixed amount of work. `kurabe price` records it
//! three times. `kurabe on` runs it in real time on each model and on memory, with the writing of what it
//! leaves in memory; the shortest times, because load can only prolong a run, differ by the time that the
//! model adds. A program that computes while its storage works hides a part of that time, so its price is
//! longer than what its user waits.

use crate::options::Flags;
use crate::table::{figure, layout};
use crate::tools::build_kurabe;
use crate::{Result, child};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const HELP: &str = "flags: --program NAME (all that are installed)  --on NAME,… (hdd-nas,ssd-sata,ssd-nvme,sd-a1)  --times N (3)  --share 0..1 of the work (1); needs root and Python";
/// Programs of `programs/real.py`.
const PROGRAMS: [&str; 6] = ["redis", "postgresql", "dpkg", "etcd", "sqlite", "git"];
/// Memory, on which a program takes its own time.
const MEMORY: &str = "ideal-ram-disk";
/// Counts of a row.
const COUNTS: [&str; 3] = ["flushes", "writes", "written_bytes"];

/// Options of the bench.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only this program, unless empty.
    pub program: String,
    /// The models on which it runs.
    pub models: Vec<String>,
    /// How often it runs on each of them.
    pub times: usize,
    /// Share of the work, from 0 to 1.
    pub share: f64,
}

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns an error if a flag is invalid or a program fails.
pub fn main(out: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["program", "on", "times", "share"], &[], HELP)?;
    let mut options = Options { program: String::new(), models: Vec::new(), times: 3, share: 1.0 };
    let mut models = "hdd-nas,ssd-sata,ssd-nvme,sd-a1".to_owned();
    flags.set("program", &mut options.program)?;
    flags.set("on", &mut models)?;
    flags.set("times", &mut options.times)?;
    flags.set("share", &mut options.share)?;
    options.models = models.split(',').map(str::to_owned).collect();
    run(&build_kurabe()?, &options, out)
}

/// Runs the programs and prints a row for each as soon as it is measured, then the table.
///
/// # Errors
/// Returns an error if a program fails.
pub fn run(kurabe: &Path, options: &Options, out: &mut dyn Write) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let python = child::run(Command::new("python3").args(["-c", "import sys; print(sys.executable)"]))?;
    let bench = Bench {
        kurabe: kurabe.to_owned(),
        python: python.stdout.trim().to_owned(),
        program: Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/real.py"),
        folder: folder.path().to_owned(),
        options: options.clone(),
    };
    let device = |model: &String| format!("[[device]]\nmodel = \"{model}\"\n");
    let panel = format!("schema = 1\n{}", options.models.iter().map(device).collect::<String>());
    std::fs::write(bench.panel(), panel)?;
    let installed = child::run(Command::new(&bench.python).arg(&bench.program).arg("list"))?.stdout;
    let heads = ["program", "flushes", "writes", "bytes", "counts"].map(str::to_owned);
    let on = options.models.iter().map(|model| format!("{model}: on · price"));
    let mut rows = vec![heads.into_iter().chain(on).collect::<Vec<_>>()];
    for program in PROGRAMS.iter().filter(|name| options.program.is_empty() || options.program == **name) {
        if !installed.split_whitespace().any(|name| name == *program) {
            writeln!(out, "without {program}, which is not installed")?;
            continue;
        }
        rows.push(bench.row(program)?);
    }
    Ok(write!(out, "{}", layout(&rows))?)
}

struct Bench {
    kurabe: PathBuf,
    python: String,
    program: PathBuf,
    folder: PathBuf,
    options: Options,
}

impl Bench {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.kurabe);
        command.args(["--json", "-q"]).args(words);
        command.env("HOME", &self.folder).env("KURABE_RUNTIME_DIR", self.folder.join("run"));
        command
    }

    fn panel(&self) -> PathBuf {
        self.folder.join("panel.toml")
    }

    fn row(&self, program: &str) -> Result<Vec<String>> {
        let mut command = self.command(&["price", "--panel"]);
        command.arg(self.panel()).arg("--").arg(&self.python).arg(&self.program);
        let share = self.options.share.to_string();
        let bill: Value = serde_json::from_str(&child::run(command.args([program, &share]))?.stdout)?;
        let counts = COUNTS.map(|count| &bill["counts"][count]);
        let is_exact =
            counts.iter().all(|values| values_of(values).windows(2).all(|pair| pair[0] == pair[1]));
        let kind = if is_exact { "exact" } else { "vary" };
        let cells = [program.to_owned()].into_iter().chain(counts.map(shown)).chain([kind.to_owned()]);
        let mut row: Vec<String> = cells.collect();
        let in_memory_ns = self.on_ns(program, MEMORY)?;
        for model in &self.options.models {
            let prices = bill["prices"].as_array().into_iter().flatten();
            let price = prices.into_iter().find(|price| price["model"] == **model).ok_or("no such price")?;
            let values = values_of(&price["time_ns"]);
            let price_ns = values.iter().sum::<u64>() / values.len().max(1) as u64;
            let takes_ns = self.on_ns(program, model)?.saturating_sub(in_memory_ns);
            row.push(format!("{} · {} s", seconds(takes_ns), seconds(price_ns)));
        }
        Ok(row)
    }

    /// The shortest time on a model.
    fn on_ns(&self, program: &str, model: &str) -> Result<u64> {
        let (python, file, share) = (&self.python, self.program.display(), self.options.share);
        let line = format!("{python} {file} {program} {share} && sync -f .");
        let mut least_ns = u64::MAX;
        for _ in 0..self.options.times.max(1) {
            let words = ["on", &format!("model:{model}"), "--", "sh", "-c", &line];
            let bill: Value = serde_json::from_str(&child::run(&mut self.command(&words))?.stdout)?;
            least_ns = least_ns.min(bill["bill"]["elapsed_ns"][0].as_u64().ok_or("no time")?);
        }
        Ok(least_ns)
    }
}

fn values_of(values: &Value) -> Vec<u64> {
    values.as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
}

fn shown(values: &Value) -> String {
    let values = values_of(values);
    match (values.iter().min(), values.iter().max()) {
        (Some(least), Some(most)) if least != most => format!("{least}–{most}"),
        (Some(value), _) => value.to_string(),
        _ => String::new(),
    }
}

fn seconds(ns: u64) -> String {
    figure(ns as f64 / 1e9, 2)
}
