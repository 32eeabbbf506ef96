//! Compares the price of programs that others wrote with the time that they take on the same models.
//!
//! The model: each program of `programs/real.py` has a fixed amount of work. `kurabe price` records it
//! three times. `kurabe on` runs it in real time on each model and on memory, with the writing of what it
//! leaves in memory; the shortest times, because load can only prolong a run, differ by the time that the
//! model adds. A program that computes while its storage works hides a part of that time, so its price is
//! longer than what its user waits. One whose own time spreads its flushes over more ticks waits longer.

use crate::Result;
use crate::options::Flags;
use crate::priced::{COUNTS, MEMORY, PricedPrograms, price_on, shown, values_of, vary};
use crate::table::{figure, layout};
use crate::tools::build_kurabe;
use std::io::Write;
use std::path::Path;

const HELP: &str = "flags: --program NAME (all that are installed)  --on NAME,… (hdd-nas,ssd-sata,ssd-nvme,sd-a1)  --times N (3)  --share 0..1 of the work (1); needs root and Python";
/// Programs of `programs/real.py`.
const PROGRAMS: [&str; 6] = ["redis", "postgresql", "dpkg", "etcd", "sqlite", "git"];
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
    let programs = PricedPrograms::new(kurabe, "real.py", &options.models)?;
    let installed = programs.names()?;
    let heads = ["program", "flushes", "writes", "bytes", "counts"].map(str::to_owned);
    let on = options.models.iter().map(|model| format!("{model}: on · price"));
    let mut rows = vec![heads.into_iter().chain(on).collect::<Vec<_>>()];
    for program in PROGRAMS.iter().filter(|name| options.program.is_empty() || options.program == **name) {
        if !installed.iter().any(|name| name == program) {
            writeln!(out, "without {program}, which is not installed")?;
            continue;
        }
        rows.push(row(&programs, program, options)?);
    }
    Ok(write!(out, "{}", layout(&rows))?)
}

fn row(programs: &PricedPrograms, program: &str, options: &Options) -> Result<Vec<String>> {
    let share = options.share.to_string();
    let words = [program, &share];
    let bill = programs.bill(&[], &words)?;
    let counts = COUNTS.map(|count| values_of(&bill["counts"][count]));
    let kind = if counts.iter().any(|values| vary(values)) { "vary" } else { "exact" };
    let mut row = vec![program.to_owned()];
    row.extend(counts.iter().map(|values| shown(values)));
    row.push(kind.to_owned());
    let in_memory_ns = shortest_ns(programs, MEMORY, &words, options.times)?;
    for model in &options.models {
        let values = values_of(&price_on(&bill, model)?["time_ns"]);
        let price_ns = values.iter().sum::<u64>() / values.len().max(1) as u64;
        let takes_ns = shortest_ns(programs, model, &words, options.times)?.saturating_sub(in_memory_ns);
        row.push(format!("{} · {} s", seconds(takes_ns), seconds(price_ns)));
    }
    Ok(row)
}

/// Returns the shortest time of a program on a model.
fn shortest_ns(programs: &PricedPrograms, model: &str, words: &[&str], times: usize) -> Result<u64> {
    let mut least_ns = u64::MAX;
    for _ in 0..times.max(1) {
        let bill = programs.on(model, words)?;
        least_ns = least_ns.min(bill["elapsed_ns"][0].as_u64().ok_or("no time")?);
    }
    Ok(least_ns)
}

fn seconds(ns: u64) -> String {
    figure(ns as f64 / 1e9, 2)
}
