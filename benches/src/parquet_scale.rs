//! How long questions over many cells take as tables: DuckDB beside the files that `kurabe export --format parquet` writes.
//!
//! The model: kurabe measures a directory once; copies of that run, each with a device, an environment and figures of its own, go
//! through the writer of the export. What a question takes is what DuckDB needs of a file that it has not opened before in that
//! process, the start of Python left out; the questions take turns.

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

/// What is asked for, in ms, and in what words.
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
        "SELECT device, step, direction, avg(rate_bytes_per_s) FROM 'cells.parquet' JOIN 'runs.parquet' USING (run) GROUP BY ALL",
    ),
];

/// Asks a question in a process of its own, and prints its time in ms and the lines of the answer.
const ASK: &str = "
import duckdb, sys, time
started = time.monotonic()
answer = duckdb.sql(sys.argv[1]).fetchall()
print((time.monotonic() - started) * 1e3, len(answer))
";

/// The bench with the flags of the command line.
///
/// # Errors
/// When kurabe does not build, the tables cannot be written, or there is no DuckDB.
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

/// Writes so many cells, asks, prints.
///
/// # Errors
/// When the tables cannot be written, or there is no DuckDB.
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
        // The tables of cells and runs are asked: of the others there is as little as can be.
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
