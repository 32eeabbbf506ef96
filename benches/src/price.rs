//! Whether the bills of `kurabe price` are exact, next to busy loops on every processor, and whether a
//! price is what the program takes on the same model in real time.
//!
//! The model: each program of `programs/price.py` is recorded many times; its flushes, writes and bytes
//! must be equal in all recordings. Pairs of bills of the same program must show no change, and a bill
//! with one fsync more must show one. For the time, the program and the writing of what it leaves in
//! memory are run by `kurabe on` on each model and on memory, without busy loops; the medians differ by
//! the time of the model, which the price should be. Memory answers at once, so the program's own time is
//! in both; where a flush takes less than a tick of the kernel, the program's own time decides how many
//! commits there are, and the count of `on` is shown next to that of the bill.

use crate::Result;
use crate::options::Flags;
use crate::priced::{COUNTS, MEMORY, PricedPrograms, price_on, shown, values_of, vary};
use crate::table::{figure, layout};
use crate::tools::build_kurabe;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const HELP: &str = "flags: --recordings N (200)  --pairs N (20)  --times N (5)  --case NAME (all)  --on NAME,… (hdd-nas,ssd-sata,sd-a1,usb-stick); needs root";
/// A price may differ from the time on a model by this share.
const NEAR: f64 = 0.1;
/// Recordings of one call.
const MOST_RUNS: usize = 100;

/// What is asked of the bench.
#[derive(Clone, Debug)]
pub struct Options {
    /// Recordings of each program.
    pub recordings: usize,
    /// Pairs of bills of the same program, and pairs of which one has an fsync more.
    pub pairs: usize,
    /// How often a program runs on a model in real time; not at all at 0.
    pub times: usize,
    /// Only this program, unless empty.
    pub case: String,
    /// The models on which it runs.
    pub models: Vec<String>,
}

/// Reads the flags and runs.
///
/// # Errors
/// When a flag is wrong, a program fails, or a bar is missed.
pub fn main(out: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["recordings", "pairs", "times", "case", "on"], &[], HELP)?;
    let mut options =
        Options { recordings: 200, pairs: 20, times: 5, case: String::new(), models: Vec::new() };
    let mut models = "hdd-nas,ssd-sata,sd-a1,usb-stick".to_owned();
    flags.set("recordings", &mut options.recordings)?;
    flags.set("pairs", &mut options.pairs)?;
    flags.set("times", &mut options.times)?;
    flags.set("case", &mut options.case)?;
    flags.set("on", &mut models)?;
    options.models = models.split(',').map(str::to_owned).collect();
    let missed = run(&build_kurabe()?, &options, out)?;
    if missed.is_empty() { Ok(()) } else { Err(format!("missed: {}", missed.join(", ")).into()) }
}

/// Runs it and prints its table; the bars that were missed.
///
/// # Errors
/// When a program fails.
pub fn run(kurabe: &Path, options: &Options, out: &mut dyn Write) -> Result<Vec<String>> {
    let trial = Trial(PricedPrograms::new(kurabe, "price.py", &options.models)?);
    let mut missed = Vec::new();
    let mut exact = vec![
        ["program", "flushes", "writes", "bytes", "varying", "false alarms", "found"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let mut times = vec![
        ["program", "on", "flushes", "of the bill", "takes", "price", "ratio"].map(str::to_owned).to_vec(),
    ];
    for case in trial.0.names()?.iter().filter(|case| options.case.is_empty() || **case == options.case) {
        let busy = BusyLoops::start()?;
        let (row, has_missed) = trial.exactness(case, options)?;
        drop(busy);
        missed.extend(has_missed.then(|| format!("{case} is not exact")));
        exact.push(row);
        if options.times > 0 {
            for model in &options.models {
                let (row, has_missed) = trial.time_on(case, model, options.times)?;
                missed.extend(has_missed.then(|| format!("{case} on {model}")));
                times.push(row);
            }
        }
    }
    write!(out, "{}", layout(&exact))?;
    if options.times > 0 {
        write!(out, "\n{}", layout(&times))?;
    }
    Ok(missed)
}

struct Trial(PricedPrograms);

impl Trial {
    /// The bill of a program, with what changed since another bill if there is one.
    fn bill(&self, case: &str, runs: usize, more: bool, words: &[&str]) -> Result<Value> {
        let runs = runs.to_string();
        let program: Vec<&str> = [case].into_iter().chain(more.then_some("more")).collect();
        self.0.bill(&[&["--runs", &runs], words].concat(), &program)
    }

    fn exactness(&self, case: &str, options: &Options) -> Result<(Vec<String>, bool)> {
        let mut values: Vec<Vec<u64>> = vec![Vec::new(); COUNTS.len()];
        let mut left = options.recordings;
        while left > 0 {
            let runs = left.min(MOST_RUNS);
            let bill = self.bill(case, runs, false, &[])?;
            left -= runs;
            for (count, values) in COUNTS.iter().zip(&mut values) {
                values.extend(values_of(&bill["counts"][count]));
            }
        }
        let base = self.0.path("base.json");
        let (mut alarms, mut detected) = (0, 0);
        for _ in 0..options.pairs {
            let path = base.to_string_lossy().into_owned();
            self.bill(case, 3, false, &["--force", "--save", &path])?;
            let same = self.bill(case, 3, false, &["--against", &path])?;
            let more = self.bill(case, 3, true, &["--against", &path])?;
            alarms += usize::from(has_changed(&same));
            detected += usize::from(has_more_flushes(&more));
        }
        let varying = values.iter().filter(|values| vary(values)).count();
        let mut row = vec![case.to_owned()];
        row.extend(values.iter().map(|values| shown(values)));
        row.push(format!("{varying} of {}", COUNTS.len()));
        row.push(format!("{alarms} of {}", options.pairs));
        row.push(format!("{detected} of {}", options.pairs));
        Ok((row, varying > 0 || alarms > 0 || detected < options.pairs))
    }

    fn time_on(&self, case: &str, model: &str, times: usize) -> Result<(Vec<String>, bool)> {
        let bill = self.bill(case, 1, false, &[])?;
        let price = price_on(&bill, model)?;
        let (here, in_memory) = (self.on(case, model, times)?, self.on(case, MEMORY, times)?);
        let takes_ns = here.0.saturating_sub(in_memory.0);
        let price_ns = price["time_ns"][0].as_u64().unwrap_or(0);
        let ratio = price_ns as f64 / takes_ns as f64;
        let flushes = price["flushes"][0].as_u64().unwrap_or(0);
        let ms = |ns: u64| format!("{} ms", figure(ns as f64 / 1e6, 1));
        let cells = [here.1.to_string(), flushes.to_string(), ms(takes_ns), ms(price_ns), figure(ratio, 2)];
        let row = [vec![case.to_owned(), model.to_owned()], cells.to_vec()].concat();
        Ok((row, (ratio - 1.0).abs() > NEAR))
    }

    /// The median time on a model, with what was left in memory, and the flushes of the last run.
    fn on(&self, case: &str, model: &str, times: usize) -> Result<(u64, u64)> {
        let mut all_ns = Vec::new();
        let mut flushes = 0;
        for _ in 0..times {
            let bill = self.0.on(model, &[case])?;
            all_ns.push(bill["elapsed_ns"][0].as_u64().unwrap_or(0));
            flushes = bill["counts"]["flushes"][0].as_u64().unwrap_or(0);
        }
        all_ns.sort_unstable();
        Ok((all_ns[all_ns.len() / 2], flushes))
    }
}

fn has_changed(bill: &Value) -> bool {
    let changes = &bill["changes"];
    let prices = changes["prices"].as_array().into_iter().flatten();
    !changes["cause"].is_null() || prices.into_iter().any(|price| price["is_changed"] == true)
}

fn has_more_flushes(bill: &Value) -> bool {
    bill["changes"]["counts"].as_array().into_iter().flatten().any(|change| change["count"] == "flushes")
}

/// A busy loop for each processor; they end with this.
struct BusyLoops(Vec<Child>);

impl BusyLoops {
    fn start() -> Result<Self> {
        let processors = std::thread::available_parallelism()?.get();
        let mut loops = Self(Vec::new());
        for _ in 0..processors {
            let mut command = Command::new("sh");
            loops.0.push(command.args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn()?);
        }
        Ok(loops)
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
