//! Whether kurabe and fio say the same of one disk.
//!
//! The same file, workload, depth and kernel interface (io_uring, O_DIRECT), in turns: kurabe, fio, kurabe, fio …
//! Compared are the medians over the rounds of throughput and of the median latency. The latency of fio is its
//! `lat`, from the start of an operation's submission to its completion, because kurabe counts from submission, too;
//! fio's `clat` begins only when the system call that submits has returned, and so leaves out what a device does
//! within it.
//!
//! No tool can agree better with another than with itself on a disk that varies. So fio's odd rounds are held
//! against its even rounds in the same way, and its spread is printed.

use crate::Result;
use crate::statistics::{distance, median, spread};
use crate::table::{figure, layout};
use crate::test_file::TestFile;
use crate::tools::{Job, Kit, Sample, Tool};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The promised agreement.
const WITHIN: f64 = 0.05;

/// What to measure, and how long.
pub struct Options {
    /// Time of one measurement.
    pub seconds: f64,
    /// Rounds in which both tools take a turn.
    pub rounds: u32,
    /// Size of the test file.
    pub size_bytes: u64,
    /// Where it is made.
    pub directory: PathBuf,
    /// kurabe's engine.
    pub engine: &'static str,
    /// JSON instead of a table.
    pub json: bool,
}

/// Name, block size, depth, and the directions as both tools call them.
const CELLS: [(&str, u64, u32, [&str; 2]); 3] = [
    ("SEQ 1 MiB Q8", 1 << 20, 8, ["read", "write"]),
    ("RND 4 KiB Q1", 4096, 1, ["randread", "randwrite"]),
    ("RND 4 KiB Q32", 4096, 32, ["randread", "randwrite"]),
];

/// One cell with what both tools said in each round; fio's part is empty where it is missing.
struct Cell {
    name: String,
    block_bytes: u64,
    kurabe: Vec<Sample>,
    fio: Vec<Sample>,
}

/// One figure of a cell from both sides.
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

impl Cell {
    fn throughput(&self) -> Comparison {
        self.compare(|sample| sample.figures.iops * self.block_bytes as f64)
    }

    fn p50(&self) -> Comparison {
        self.compare(|sample| sample.figures.p50_ns)
    }

    fn compare(&self, figure: impl Fn(&Sample) -> f64) -> Comparison {
        let of = |samples: &[Sample]| samples.iter().map(&figure).collect::<Vec<_>>();
        Comparison::new(&of(&self.kurabe), &of(&self.fio))
    }
}

/// Measures and prints everything. `progress` hears what goes on meanwhile.
///
/// # Errors
/// When a tool fails, or on an interrupt.
pub fn run(options: &Options, kit: &Kit, out: &mut dyn Write, progress: &mut dyn Write) -> Result<()> {
    writeln!(progress, "filling the test file …")?;
    let file = TestFile::create(&options.directory, options.size_bytes)?;
    let mut cells = Vec::new();
    for (name, block_bytes, depth, directions) in CELLS {
        for rw in directions {
            let direction = if rw.ends_with("read") { "read" } else { "write" };
            let job = Job {
                target: file.path(),
                rw,
                block_bytes,
                depth,
                span_bytes: options.size_bytes,
                seconds: options.seconds,
                direct: true,
            };
            cells.push(measure_cell(format!("{name} {direction}"), &job, options, kit, progress)?);
        }
    }
    if options.json {
        serde_json::to_writer_pretty(&mut *out, &as_json(options, kit, &cells))?;
        return Ok(writeln!(out)?);
    }
    print_table(options, kit, &cells, out)
}

fn measure_cell(
    name: String,
    job: &Job,
    options: &Options,
    kit: &Kit,
    progress: &mut dyn Write,
) -> Result<Cell> {
    let percentiles_of_lat = ["--lat_percentiles=1", "--clat_percentiles=0"].map(str::to_owned);
    let (kurabe, fio) = (Tool::Kurabe(options.engine), Tool::Fio("io_uring", percentiles_of_lat.into()));
    let mut cell = Cell { name, block_bytes: job.block_bytes, kurabe: Vec::new(), fio: Vec::new() };
    for round in 1..=options.rounds {
        writeln!(progress, "{}: round {round} of {}", cell.name, options.rounds)?;
        cell.kurabe.push(kit.measure(&kurabe, job)?);
        if kit.has(&fio) {
            cell.fio.push(kit.measure(&fio, job)?);
        }
    }
    Ok(cell)
}

fn print_table(options: &Options, kit: &Kit, cells: &[Cell], out: &mut dyn Write) -> Result<()> {
    let Options { seconds, rounds, size_bytes, engine, .. } = options;
    writeln!(
        out,
        "{} MiB in {}, O_DIRECT; medians of {rounds} rounds of {seconds} s in turns; kurabe --engine {engine}; {}",
        size_bytes >> 20,
        options.directory.display(),
        kit.fio.as_deref().unwrap_or("fio is not installed: its columns are left empty")
    )?;
    let heading = ["kurabe", "fio", "kurabe / fio", "fio / itself", "spread % kurabe", "fio", ""];
    type Figure = fn(&Cell) -> Comparison;
    let tables: [(&str, f64, Figure); 2] =
        [("throughput, MB/s", 1e6, Cell::throughput), ("p50, µs", 1e3, Cell::p50)];
    for (title, unit, comparison) in tables {
        let mut laid: Vec<Vec<String>> =
            vec![std::iter::once(title).chain(heading).map(str::to_owned).collect()];
        for cell in cells {
            laid.push(std::iter::once(cell.name.clone()).chain(comparison(cell).fields(unit)).collect());
        }
        writeln!(out, "\n{}", layout(&laid).trim_end())?;
    }
    writeln!(
        out,
        "\nfio / itself: its odd rounds over its even rounds. Spread: largest less smallest, over the median.\n\
         fio's p50 is that of `lat`, which like kurabe's counts from submission to completion."
    )?;
    Ok(())
}

fn as_json(options: &Options, kit: &Kit, cells: &[Cell]) -> Value {
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
    let cell = |cell: &Cell| {
        json!({
            "cell": cell.name,
            "throughput_bytes_per_s": comparison(&cell.throughput()),
            "latency_ns_p50": comparison(&cell.p50()),
        })
    };
    json!({
        "bench": "agreement",
        "seconds": options.seconds,
        "rounds": options.rounds,
        "size_bytes": options.size_bytes,
        "engine": options.engine,
        "fio": kit.fio,
        "cells": cells.iter().map(cell).collect::<Vec<_>>(),
    })
}

/// The flags of `cargo bench --bench agreement`.
pub const HELP: &str = "\
cargo bench -p kurabe-benches --bench agreement -- [flags]
  --seconds N   time of one measurement (5)
  --rounds N    rounds in which both tools take a turn (5)
  --size-mib N  size of the test file (1024)
  --dir PATH    where it is made, which decides the disk (the target directory)
  --auto        kurabe chooses its engine itself, instead of io_uring as fio has it
  --json        JSON instead of tables";

/// Reads the flags and runs.
///
/// # Errors
/// As `run`, and on a wrong flag.
pub fn main(bare: &Path, out: &mut dyn Write, progress: &mut dyn Write) -> Result<()> {
    let flags = crate::options::Flags::from_environment(
        &["seconds", "rounds", "size-mib", "dir"],
        &["auto", "json"],
        HELP,
    )?;
    let mut options = Options {
        seconds: 5.0,
        rounds: 5,
        size_bytes: 1 << 30,
        directory: crate::test_file::own_directory()?,
        engine: if flags.has("auto") { "auto" } else { "uring" },
        json: flags.has("json"),
    };
    flags.set("seconds", &mut options.seconds)?;
    flags.set("rounds", &mut options.rounds)?;
    flags.set_mib("size-mib", &mut options.size_bytes)?;
    flags.set("dir", &mut options.directory)?;
    let kit = Kit::new(bare, crate::tools::build_kurabe()?)?;
    run(&options, &kit, out, progress)
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
