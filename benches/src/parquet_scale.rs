//! Time of queries over many cells in tables: DuckDB on the files that
//! `kurabe export --format parquet` writes.
//!
//! The model: kurabe measures a directory once. Copies of that run, each with its own device,
//! environment and figures, are written by the export. The time of a query is that of DuckDB on a
//! file that it has not opened before in that process, excluding the start of Python; the queries
//! are interleaved.

use crate::Result;
use crate::options::Flags;
use crate::statistics::median;
use crate::store_scale::{Options, copy, measured};
use crate::table::{figure, layout};
use crate::tools::build_kurabe;
use kurabe_core::random::Random;
use kurabe_core::record::{LatencyRecord, Series};
use kurabe_interop::ParquetTables;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const HELP: &str =
    "flags: --cells N (10000000)  --rounds N (5)  --python FILE (python3, with the package duckdb)";

/// Queries with their targets in ms and their SQL.
const QUESTIONS: [(&str, f64, &str); 3] = [
    (
        "means by three keys",
        1000.0,
        "SELECT step, direction, engine, avg(rate_bytes_per_s), count(*) FROM 'cells.parquet' GROUP BY ALL",
    ),
    (
        "exact medians by three keys",
        3000.0,
        "SELECT step, direction, engine, median(rate_bytes_per_s) FROM 'cells.parquet' GROUP BY ALL",
    ),
    (
        "means by step, direction and device",
        f64::NAN,
        "SELECT device, step, direction, avg(rate_bytes_per_s) FROM 'cells.parquet' JOIN 'runs.parquet' \
         USING (run) GROUP BY ALL",
    ),
];

/// Runs a query in a separate process, and prints its time in ms and the number of rows in the
/// result.
const ASK: &str = "
import duckdb, sys, time
started = time.monotonic()
answer = duckdb.sql(sys.argv[1]).fetchall()
print((time.monotonic() - started) * 1e3, len(answer))
";

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns an error if kurabe does not build, the tables cannot be written, or DuckDB is not
/// installed.
pub fn main(out: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["cells", "rounds", "python"], &[], HELP)?;
    let kurabe = build_kurabe()?;
    let directory = tempfile::tempdir()?;
    let (mut cells, mut rounds, mut python) = (10_000_000, 5, "python3".to_owned());
    flags.set("cells", &mut cells)?;
    flags.set("rounds", &mut rounds)?;
    flags.set("python", &mut python)?;
    let options =
        Options { runs: 0, rounds, keep_digests: false, kurabe, directory: directory.path().to_owned() };
    run(&options, cells, python.as_ref(), out)
}

/// Writes this many cells, runs the queries, and prints the times.
///
/// # Errors
/// Returns an error if the tables cannot be written, or DuckDB is not installed.
pub fn run(options: &Options, cells: usize, python: &Path, out: &mut dyn Write) -> Result<()> {
    let folder = options.directory.join("tables");
    std::fs::create_dir(&folder)?;
    let started = Instant::now();
    write(options, cells, &folder)?;
    let (seconds, bytes) =
        (started.elapsed().as_secs_f64(), std::fs::metadata(folder.join("cells.parquet"))?.len());
    writeln!(out, "{cells} cells in {} MiB, written in {seconds:.0} s\n", bytes >> 20)?;
    let mut times_ms = vec![Vec::new(); QUESTIONS.len()];
    let mut lines = [""; QUESTIONS.len()].map(str::to_owned);
    for _ in 0..options.rounds {
        for (place, (_, _, sql)) in QUESTIONS.iter().enumerate() {
            let asked = Command::new(python).args(["-c", ASK, sql]).current_dir(&folder).output()?;
            if !asked.status.success() {
                return Err(String::from_utf8_lossy(&asked.stderr).into_owned().into());
            }
            let answer = String::from_utf8(asked.stdout)?;
            let (ms, count) = answer.trim().split_once(' ').ok_or("python printed no time")?;
            times_ms[place].push(ms.parse()?);
            lines[place] = count.to_owned();
        }
    }
    let mut rows = vec![["question", "lines", "median", "worst", "target"].map(str::to_owned).to_vec()];
    for (((name, target, _), times), lines) in QUESTIONS.iter().zip(times_ms).zip(lines) {
        let worst = times.iter().copied().fold(0.0, f64::max);
        let ms = |ms: f64| if ms.is_nan() { String::new() } else { format!("{} ms", figure(ms, 0)) };
        rows.push(vec![(*name).to_owned(), lines, ms(median(&times)), ms(worst), ms(*target)]);
    }
    write!(out, "{}", layout(&rows))?;
    Ok(())
}

fn write(options: &Options, cells: usize, folder: &Path) -> Result<()> {
    let mut template = measured(options)?;
    for cell in &mut template.cells {
        // The queries use the tables of cells and runs; the others are kept minimal.
        cell.repetitions.truncate(1);
        for repetition in &mut cell.repetitions {
            repetition.series = Series::default();
            for side in [&mut repetition.read, &mut repetition.write, &mut repetition.sync] {
                side.latency = LatencyRecord::default();
            }
        }
    }
    let create = |name: &str| File::create_new(folder.join(format!("{name}.parquet"))).map(BufWriter::new);
    let mut tables = ParquetTables::begin(create)?;
    let mut random = Random::new(1, 0);
    for number in 0..cells.div_ceil(template.cells.len()) {
        let mut run = copy(&template, number, &mut random);
        run.header.identity = format!("{number:08x}-0000-7000-8000-000000000000");
        tables.add(&run)?;
    }
    tables.end()?.into_iter().try_for_each(|mut file| file.flush())?;
    Ok(())
}
