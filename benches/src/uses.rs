//! Checks whether `kurabe recommend` ranks devices for a use in the order in which a program of
//! this use experiences them.
//!
//! The model: a program for each use (`programs/uses.sh`) is recorded once by `kurabe price`, and
//! priced on every device of the library that is large enough. Every device is measured with the
//! profile `uses`, and the runs are ranked for the use. For pairs of devices whose prices differ by
//! a tenth or more, the bench checks whether the order is the same. A use that is judged only by
//! measurements at its own fixed rate (cameras, clients of a NAS) has no order.

use crate::options::Flags;
use crate::table::{figure, layout};
use crate::tools::build_kurabe;
use crate::{Result, child};
use kurabe_compare::Use;
use kurabe_sim::{DEVICES, Stack, load_device};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const HELP: &str =
    "flags: --least PERCENT (95)  --use NAME (all that can be recorded here); needs root and /dev/fuse";
/// Size of the file system on which programs are recorded; smaller devices are excluded.
const LEAST_BYTES: u64 = 1 << 30;
/// Ratio of prices below which a pair has no order.
const APART: f64 = 1.1;

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns an error if a flag is invalid, a program fails, or fewer pairs than required are in the
/// same order.
pub fn main(out: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["least", "use"], &[], HELP)?;
    let (mut least_percent, mut only) = (95.0, String::new());
    flags.set("least", &mut least_percent)?;
    flags.set("use", &mut only)?;
    let folder = tempfile::tempdir()?;
    let trial = Trial { kurabe: build_kurabe()?, folder: folder.path().to_owned() };
    let data = folder.path().join("data");
    std::fs::create_dir(&data)?;
    let recordable = child::run(Command::new(programs()).arg("prepare").arg(&data))?.stdout;
    let devices = devices()?;
    let runs = devices.iter().map(|name| trial.measured(name)).collect::<Result<Vec<String>>>()?;
    trial.write_panel(&devices)?;
    let mut rows = vec![["use", "pairs", "same order", "requests", "flushes"].map(str::to_owned).to_vec()];
    let mut short = Vec::new();
    for name in recordable.split_whitespace().filter(|name| only.is_empty() || *name == only) {
        let purpose = Use::load(name).map_err(|error| error.what().en.clone())?;
        if purpose.work.iter().any(|work| work.rate_bytes_per_s.is_some()) {
            continue;
        }
        let bill = trial.priced(name, &data.join(name))?;
        let (pairs, same) = pairs(&times(&bill), &trial.speeds(name, &runs)?);
        let percent = 100.0 * same as f64 / pairs.max(1) as f64;
        let count = |key: &str| bill["counts"][key][0].as_u64().unwrap_or(0);
        let requests = count("reads") + count("writes");
        let cells = [pairs.to_string(), format!("{} %", figure(percent, 1)), requests.to_string()];
        rows.push([vec![name.to_owned()], cells.to_vec(), vec![count("flushes").to_string()]].concat());
        if percent < least_percent {
            short.push(name.to_owned());
        }
    }
    writeln!(out, "{} devices", devices.len())?;
    write!(out, "{}", layout(&rows))?;
    if short.is_empty() {
        Ok(())
    } else {
        Err(format!("below {least_percent} %: {}", short.join(", ")).into())
    }
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/uses.sh")
}

/// Returns the devices that are large enough.
fn devices() -> Result<Vec<&'static str>> {
    let mut large = Vec::new();
    for (name, _) in DEVICES {
        let spec = load_device(name).map_err(|error| error.what().en.clone())?;
        let stack = Stack::new(&spec, 1).map_err(|error| error.what().en.clone())?;
        if stack.capacity_bytes() >= LEAST_BYTES {
            large.push(*name);
        }
    }
    Ok(large)
}

/// Returns the number of pairs of devices whose times differ, and the number of those whose speeds
/// are in the same order.
fn pairs(times_ns: &[f64], speeds: &[f64]) -> (usize, usize) {
    let mut counted = (0, 0);
    for first in 0..times_ns.len() {
        for second in 0..first {
            let ratio = times_ns[first] / times_ns[second];
            if ratio.max(ratio.recip()) >= APART {
                counted.0 += 1;
                counted.1 += usize::from((ratio < 1.0) == (speeds[first] > speeds[second]));
            }
        }
    }
    counted
}

/// Returns the time of each device for the program, or for its phase `work` if it marks one.
fn times(bill: &Value) -> Vec<f64> {
    let phases = bill["phases"].as_array().cloned().unwrap_or_default();
    let of_phase = phases.iter().find(|phase| phase["name"] == "work").map(|phase| phase["times_ns"].clone());
    let of_all = || {
        bill["prices"]
            .as_array()
            .map_or(Vec::new(), |prices| prices.iter().map(|one| one["time_ns"].clone()).collect())
    };
    let times = of_phase.and_then(|times| times.as_array().cloned()).unwrap_or_else(of_all);
    times.iter().map(|recordings| recordings[0].as_f64().unwrap_or(f64::NAN)).collect()
}

/// Path of kurabe, and the working folder.
struct Trial {
    kurabe: PathBuf,
    folder: PathBuf,
}

impl Trial {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.kurabe);
        command.args(words).args(["--json", "--quiet"]).current_dir(&self.folder);
        command.env("KURABE_DB", self.folder.join("kurabe.db")).env("KURABE_BIN", &self.kurabe);
        command
    }

    /// Runs a command and parses the last line of its output.
    fn last_line(&self, mut command: Command) -> Result<Value> {
        let ended = child::run(&mut command)?;
        Ok(serde_json::from_str(ended.stdout.lines().last().ok_or("kurabe printed nothing")?)?)
    }

    /// Measures a model and returns the id of the run.
    fn measured(&self, device: &str) -> Result<String> {
        let line = self.last_line(self.command(&["run", &format!("model:{device}"), "--profile", "uses"]))?;
        let id = line["run"]["header"]["id"].as_str().ok_or("the run has no id")?;
        Ok(id.to_owned())
    }

    fn write_panel(&self, devices: &[&str]) -> Result<()> {
        let device = |name: &&str| {
            format!("[[device]]\nmodel = \"{name}\"\ntitle = {{ en = \"{name}\", ja = \"{name}\" }}\n")
        };
        let text = devices.iter().map(device).collect::<String>();
        Ok(std::fs::write(self.folder.join("panel.toml"), format!("schema = 1\n{text}"))?)
    }

    /// Returns the bill of a use's program, with the files of this folder.
    fn priced(&self, name: &str, with: &Path) -> Result<Value> {
        let mut command = self.command(&["price", "--runs", "1", "--panel", "./panel.toml"]);
        for entry in std::fs::read_dir(with)? {
            command.arg("--with").arg(entry?.path());
        }
        command.arg("--").arg(programs()).arg(name);
        self.last_line(command)
    }

    /// Returns the speed of each run for a use, in the order of the runs.
    fn speeds(&self, name: &str, runs: &[String]) -> Result<Vec<f64>> {
        let mut words = vec!["recommend", "--for", name];
        words.extend(runs.iter().map(String::as_str));
        let line = self.last_line(self.command(&words))?;
        let standings = line["recommendation"]["standings"].as_array().ok_or("no standings")?;
        let place = |one: &Value| Some((one["run"].as_u64()?, one["speed"].as_f64()?));
        let speeds: BTreeMap<u64, f64> = standings.iter().filter_map(place).collect();
        Ok(speeds.into_values().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_alike_has_no_order() {
        assert_eq!(pairs(&[1.0, 1.05, 2.0], &[3.0, 4.0, 1.0]), (2, 2));
        assert_eq!(pairs(&[1.0, 2.0, 4.0], &[4.0, 1.0, 2.0]), (3, 2));
    }
}
