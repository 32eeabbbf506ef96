//! Steady targets: /dev/zero and a file in the page cache, in ten seconds each. How often equal
//! sides are called different, and how often a difference of 1 % is found.
//!
//! The model: 4 KiB reads in bursts of 64 with a pause after each burst. The other side's pause is
//! longer by a hundredth of the whole cycle, which a run of the baseline measures first.

use super::{Tally, compared_cells};
use crate::Result;
use crate::table::layout;
use serde_json::Value;
use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Time limit of a comparison.
const TIME: &str = "10s";
/// Margin below the difference to be found.
const STEADY_MARGIN: &str = "0.5%";
/// Operations of a burst.
const BURST: u64 = 64;
/// Pause of the baseline, several times as long as a burst.
const PAUSE_NS: u64 = 400_000;
const PROFILE: &str = r#"
schema = 1
name = "steady"
title = { en = "reads of a steady target", ja = "一定の速さの対象の読み出し" }
source = "kurabe"
statistic = "mean"
[rules]
size = "64 MiB"
runs = 10
time = "100 ms"
[[step]]
kind = "io"
pattern = "random"
directions = ["read"]
block_size = "4 KiB"
iodepth = 1
"#;

/// A steady target, with the arguments that measure it.
struct SteadyTarget<'a> {
    name: &'static str,
    path: &'a Path,
    arguments: &'static [&'static str],
}

/// Runs both experiments on each target.
pub(super) fn steady(
    kurabe: &Path,
    directory: &Path,
    [null_trials, trials]: [u64; 2],
    out: &mut impl Write,
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let profile = |name: &str, pausing: &str| -> Result<std::path::PathBuf> {
        let file = folder.path().join(name);
        std::fs::write(&file, format!("{PROFILE}{pausing}"))?;
        Ok(file)
    };
    let plain = profile("plain.toml", "")?;
    let pausing =
        profile("pausing.toml", &format!("think_time = \"{PAUSE_NS} ns\"\nthink_operations = {BURST}\n"))?;
    let targets = [
        SteadyTarget { name: "/dev/zero", path: Path::new("/dev/zero"), arguments: &[] },
        SteadyTarget { name: "page cache", path: directory, arguments: &["--buffered"] },
    ];
    let mut rows = vec![super::HEAD.map(str::to_owned).to_vec()];
    for target in &targets {
        let command = |profile: &Path, words: &[&OsStr]| -> Result<Vec<Value>> {
            let mut command = Command::new(kurabe);
            command.args(words).args(target.arguments).arg("--profile").arg(profile);
            let store = folder.path().join("kurabe.db");
            let output = command.args(["--json", "--quiet", "--db"]).arg(&store).output()?;
            std::fs::remove_file(&store)?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
            }
            let text = String::from_utf8(output.stdout)?;
            Ok(text.lines().map(serde_json::from_str).collect::<std::result::Result<_, _>>()?)
        };
        let versus = |profile: &Path, sides: &[&OsStr], count: u64, name: &str| -> Result<Vec<String>> {
            let mut tally = Tally::default();
            for _ in 0..count {
                let start = ["versus", "--time", TIME, "--margin", STEADY_MARGIN].map(OsStr::new);
                let lines = command(profile, &[&start[..], sides].concat())?;
                let cells = compared_cells(lines.last().ok_or("no result")?)?;
                tally.add(&cells.into_iter().map(|(_, verdict)| verdict).collect::<Vec<_>>());
            }
            Ok(tally.row(&format!("{}, {name}", target.name)))
        };
        let path = target.path.as_os_str();
        rows.push(versus(&plain, &[path, path], null_trials, "equal sides")?);
        let lines = command(&pausing, &[OsStr::new("run"), path])?;
        let cycle_ns = cycle_ns(lines.last().ok_or("no run")?).ok_or("no cycle")?;
        let vary = format!("think-time={PAUSE_NS}ns,{}ns", PAUSE_NS + (cycle_ns / 100.0) as u64);
        let sides = [path, OsStr::new("--vary"), OsStr::new(&vary)];
        rows.push(versus(&pausing, &sides, trials, "1 % apart")?);
    }
    writeln!(out, "\nSteady targets, {TIME} each, margin {STEADY_MARGIN}:")?;
    write!(out, "{}", layout(&rows))?;
    Ok(())
}

/// Returns the time of a burst with its pause in ns, from the record of a run.
fn cycle_ns(line: &Value) -> Option<f64> {
    let run = line.get("run").unwrap_or(line);
    let repetitions = run["cells"][0]["repetitions"].as_array()?;
    let sum = |of: fn(&Value) -> &Value| repetitions.iter().filter_map(|one| of(one).as_f64()).sum::<f64>();
    let operations = sum(|one| &one["read"]["completed"]);
    let elapsed_ns = sum(|one| &one["elapsed_ns"]);
    (operations > 0.0).then(|| elapsed_ns / operations * BURST as f64)
}
