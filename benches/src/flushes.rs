//! Checks whether `kurabe fit` on a model says the time of a flush that programs wait for on the same
//! modelled disk.
//!
//! The model: for each program of `programs/flushes.py` and each disk, the flush is measured three times.
//! `kurabe fit model:NAME` computes it. `kurabe on model:NAME` serves the disk with a file system in real
//! time, on which `kurabe fit .` measures it, and on which the program itself runs and reports its mean.
//! Processes that need the processor next to it make the latter two longer.

use crate::options::Flags;
use crate::table::{figure, layout};
use crate::tools::build_kurabe;
use crate::{Result, child};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const HELP: &str =
    "flags: --program NAME (all that are installed)  --on NAME,… (six disks)  --seconds N (8); needs root";
/// `fit` on a model may differ by this share.
const NEAR: f64 = 0.3;
/// Programs with the use that `kurabe fit` knows for each.
const USES: [(&str, &str); 3] = [("etcd", "etcd"), ("postgresql", "postgresql-wal"), ("sqlite", "sqlite")];
/// Runs `kurabe fit`, for which an unfit or unclear disk is not a failure.
const FIT: &str = r#""$@"; code=$?; case $code in 14|18) ;; *) exit $code ;; esac"#;

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns an error if a flag is invalid, a program fails, or `fit` on a model differs by more than the
/// limit.
pub fn main(out: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["program", "on", "seconds"], &[], HELP)?;
    let (mut only, mut seconds) = (String::new(), 8_u32);
    let mut models = "sd-a1,usb-stick,ssd-sata,ssd-nvme,ssd-enterprise,hdd-nas".to_owned();
    flags.set("program", &mut only)?;
    flags.set("on", &mut models)?;
    flags.set("seconds", &mut seconds)?;
    let folder = tempfile::tempdir()?;
    let trial = Trial { kurabe: build_kurabe()?, folder: folder.path().to_owned(), seconds };
    let installed = child::run(Command::new("python3").arg(programs()).arg("list"))?.stdout;
    let mut rows = vec![
        ["program", "disk", "fit model: p99", "mean", "fit . p99", "mean", "program's mean"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let mut missed = Vec::new();
    for (program, purpose) in USES {
        if !installed.split_whitespace().any(|name| name == program) {
            writeln!(out, "without {program}, which is not installed")?;
            continue;
        }
        for model in models.split(',').filter(|_| only.is_empty() || only == program) {
            let modelled = trial.fit_model(model, purpose)?;
            let served = trial.fit_served(model, purpose)?;
            let own_ms = trial.own_mean_ms(model, program)?;
            let is_near = |value: f64, other: f64| (value / other - 1.0).abs() <= NEAR;
            // SQLite reports nothing, and its time from outside is that of a commit.
            let is_own_near = program == "sqlite" || is_near(modelled.mean_ms, own_ms);
            if !is_near(modelled.p99_ms, served.p99_ms) || !is_own_near {
                missed.push(format!("{program} on {model}"));
            }
            let times = [modelled.p99_ms, modelled.mean_ms, served.p99_ms, served.mean_ms, own_ms];
            let cells = times.map(|ms| format!("{} ms", figure(ms, 2)));
            rows.push([vec![program.to_owned(), model.to_owned()], cells.to_vec()].concat());
        }
    }
    write!(out, "{}", layout(&rows))?;
    if missed.is_empty() { Ok(()) } else { Err(format!("missed: {}", missed.join(", ")).into()) }
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/flushes.py")
}

/// Time of a flush.
#[derive(Clone, Copy, Debug)]
struct FlushTime {
    p99_ms: f64,
    mean_ms: f64,
}

struct Trial {
    kurabe: PathBuf,
    folder: PathBuf,
    seconds: u32,
}

impl Trial {
    fn environment<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("HOME", &self.folder).env("KURABE_RUNTIME_DIR", self.folder.join("run"))
    }

    /// Runs a command of the shell on a served disk.
    fn on(&self, model: &str, script: &str, words: &[&str]) -> Result<String> {
        let output = self.folder.join("output");
        let mut command = Command::new(&self.kurabe);
        command.args(["-q", "on", &format!("model:{model}"), "--", "sh", "-c"]);
        command.arg(format!("exec > {}; {script}", output.display())).arg("sh").args(words);
        child::run(self.environment(&mut command))?;
        Ok(std::fs::read_to_string(output)?)
    }

    fn fit_model(&self, model: &str, purpose: &str) -> Result<FlushTime> {
        let mut command = Command::new("sh");
        command.args(["-c", FIT, "sh"]).arg(&self.kurabe);
        command.args(["--json", "fit", &format!("model:{model}"), "--for", purpose]);
        self.flush_time(&child::run(self.environment(&mut command))?.stdout)
    }

    fn fit_served(&self, model: &str, purpose: &str) -> Result<FlushTime> {
        let kurabe = self.kurabe.to_string_lossy();
        self.flush_time(&self.on(model, FIT, &[&kurabe, "--json", "fit", ".", "--for", purpose])?)
    }

    fn own_mean_ms(&self, model: &str, program: &str) -> Result<f64> {
        let (file, seconds) = (programs(), self.seconds.to_string());
        let printed = self.on(model, r#"python3 "$@""#, &[&file.to_string_lossy(), program, &seconds])?;
        let value: Value = serde_json::from_str(printed.lines().last().unwrap_or_default())?;
        value["mean_ms"].as_f64().ok_or_else(|| "the program reports no mean".into())
    }

    /// Returns the time of a flush in the run that `kurabe fit` printed.
    fn flush_time(&self, printed: &str) -> Result<FlushTime> {
        let fit = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let fit = fit.into_iter().find(|line| line["fit"].is_object()).ok_or("no verdict was printed")?;
        let limits = fit["fit"]["limits"].as_array().into_iter().flatten();
        let mut p99 = limits.filter_map(|limit| limit["measured"]["percentile"]["value_ns"].as_f64());
        let run = fit["run"].as_str().ok_or("no run was printed")?;
        let mut command = Command::new(&self.kurabe);
        command.args(["--json", "report", run]);
        let report: Value = serde_json::from_str(&child::run(self.environment(&mut command))?.stdout)?;
        let (mut count, mut sum_ns) = (0.0, 0.0);
        let cells = report["runs"][0]["run"]["cells"].as_array().into_iter().flatten();
        for repetition in cells.flat_map(|cell| cell["repetitions"].as_array().into_iter().flatten()) {
            let latency = &repetition["sync"]["latency"];
            count += latency["count"].as_f64().unwrap_or(0.0);
            sum_ns += latency["sum_ns"].as_f64().unwrap_or(0.0);
        }
        Ok(FlushTime { p99_ms: p99.next().ok_or("no percentile")? / 1e6, mean_ms: sum_ns / count / 1e6 })
    }
}
