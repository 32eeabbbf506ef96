//! Time of commands over a large store, as a user waits for them: the whole process, from its start
//! to its last line.
//!
//! The model: kurabe measures a directory once, so that the runs have the size of real ones
//! (histograms, series, stalls). Copies of that run, each with its own time, environment and
//! figures, fill a store. Then the commands are run, interleaved, so that a drift of the machine
//! affects all of them, and the median of the rounds is shown next to the target. The first command
//! over all runs adds the data that a store of an older kurabe lacks; it is timed separately.

use crate::Result;
use crate::options::Flags;
use crate::statistics::median;
use crate::table::{figure, layout};
use crate::tools::build_kurabe;
use kurabe_compare::DIGESTER;
use kurabe_core::environment::BlockDevice;
use kurabe_core::random::Random;
use kurabe_core::record::RunRecord;
use kurabe_store::{Archive, SqliteStore, parse_export};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const HELP: &str =
    "flags: --runs N (10000)  --rounds N (9)  --keep-digests (as runs made by this kurabe have them)";

/// Target in ms.
const TARGET_MS: f64 = 200.0;

/// Commands: name, arguments, and whether the target applies to them.
const QUESTIONS: [(&str, &[&str], bool); 7] = [
    ("list", &["list"], true),
    ("list --json", &["list", "--json"], true),
    ("list --last 20", &["list", "--last", "20"], true),
    ("compare of two", &["compare"], true),
    ("pivot over all", &["compare", "--by", "filesystem,firmware"], true),
    ("pivot with a baseline", &["compare", "--by", "filesystem,firmware", "--baseline", "ext4"], true),
    ("history of a device", &["history", "disk-0"], false),
];

/// Options of the bench.
pub struct Options {
    /// Runs in the store.
    pub runs: usize,
    /// Number of times that each command is run.
    pub rounds: usize,
    /// Whether each run's digest is stored with it.
    pub keep_digests: bool,
    /// Path of kurabe.
    pub kurabe: PathBuf,
    /// Directory of the store and the measured directory.
    pub directory: PathBuf,
}

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns an error if kurabe does not build, or a command fails.
pub fn main(out: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["runs", "rounds"], &["keep-digests"], HELP)?;
    let kurabe = build_kurabe()?;
    let directory = tempfile::tempdir()?;
    let mut options = Options {
        runs: 10_000,
        rounds: 9,
        keep_digests: flags.has("keep-digests"),
        kurabe,
        directory: directory.path().to_owned(),
    };
    flags.set("runs", &mut options.runs)?;
    flags.set("rounds", &mut options.rounds)?;
    run(&options, out)
}

/// Fills the store, runs the commands, and prints the times.
///
/// # Errors
/// Returns an error if a command fails.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<()> {
    let path = options.directory.join("kurabe.db");
    let started = Instant::now();
    let ids = fill(options, &path)?;
    let (count, seconds) = (ids.len(), started.elapsed().as_secs_f64());
    let mib = std::fs::metadata(&path)?.len() as f64 / f64::from(1 << 20);
    writeln!(out, "{count} runs in a store of {mib:.0} MiB, built in {seconds:.0} s")?;
    let first_ms = ask(&options.kurabe, &path, QUESTIONS[4].1)?;
    writeln!(out, "the first pivot: {first_ms:.0} ms\n")?;
    let mut times_ms = vec![Vec::new(); QUESTIONS.len()];
    for _ in 0..options.rounds {
        for ((name, words, _), times) in QUESTIONS.iter().zip(&mut times_ms) {
            let two = [ids[0].as_str(), ids[count - 1].as_str()];
            let more: &[&str] = if name.starts_with("compare") { &two } else { &[] };
            times.push(ask(&options.kurabe, &path, &[*words, more].concat())?);
        }
    }
    let mut rows = vec![["question", "median", "worst", "target"].map(str::to_owned).to_vec()];
    for ((name, _, held), times) in QUESTIONS.iter().zip(times_ms) {
        let worst = times.iter().copied().fold(0.0, f64::max);
        let target = if *held { format!("{TARGET_MS:.0} ms") } else { String::new() };
        rows.push(vec![
            (*name).to_owned(),
            format!("{} ms", figure(median(&times), 0)),
            format!("{} ms", figure(worst, 0)),
            target,
        ]);
    }
    write!(out, "{}", layout(&rows))?;
    Ok(())
}

/// Fills a store with copies of a run and returns their ids.
///
/// # Errors
/// Returns an error if the run cannot be measured, or the store cannot be written.
pub fn fill(options: &Options, path: &Path) -> Result<Vec<String>> {
    let template = measured(options)?;
    let store = SqliteStore::open(path, DIGESTER)?;
    let mut random = Random::new(1, 0);
    (0..options.runs)
        .map(|number| {
            let id = store.import(copy(&template, number, &mut random))?;
            if options.keep_digests {
                store.keep_digest(&id)?;
            }
            Ok(id)
        })
        .collect()
}

/// Measures a real run of six cells.
pub(crate) fn measured(options: &Options) -> Result<RunRecord> {
    let target = options.directory.join("target");
    std::fs::create_dir_all(&target)?;
    let store = options.directory.join("template.db");
    let kurabe = || {
        let mut command = Command::new(&options.kurabe);
        command.arg("--db").arg(&store).stdin(Stdio::null()).stderr(Stdio::null());
        command
    };
    let words = ["run", "--profile", "quick", "--size", "64m", "--time", "300ms", "--runs", "2", "--quiet"];
    let run = kurabe().args(words).arg(&target).stdout(Stdio::null()).status()?;
    if !run.success() {
        return Err(format!("kurabe cannot measure {}", target.display()).into());
    }
    Ok(parse_export(&kurabe().arg("export").output()?.stdout)?)
}

/// Returns a copy of the run with another time, another device, and other figures.
pub(crate) fn copy(template: &RunRecord, number: usize, random: &mut Random) -> RunRecord {
    let mut run = template.clone();
    let pick = |random: &mut Random, count: u64| random.below(count);
    (run.header.id, run.header.identity) = (String::new(), String::new());
    let (day, second) = (number / 100, number % 100);
    let (month, day) = (day / 28, day % 28 + 1);
    let (year, month) = (2020 + month / 12, month % 12 + 1);
    run.header.started_at =
        format!("{year}-{month:02}-{day:02}T{:02}:{:02}:00+00:00", second / 6, second % 6 * 10);
    let environment = &mut run.header.environment;
    environment.machine.kernel = Some(format!("Linux 6.{}", pick(random, 12)));
    let system = environment.file_system.get_or_insert_default();
    system.kind = Some(["ext4", "xfs", "btrfs", "exfat"][pick(random, 4) as usize].to_owned());
    system.size_bytes = Some(1 << 40);
    system.free_bytes = Some(pick(random, 1 << 40));
    environment.devices.truncate(1);
    if environment.devices.is_empty() {
        environment.devices.push(BlockDevice::default());
    }
    let device = &mut environment.devices[0];
    device.model = Some(format!("disk-{}", pick(random, 40)));
    device.firmware = Some(format!("1.{}", pick(random, 6)));
    run.labels.insert("owner".to_owned(), format!("owner-{}", pick(random, 5)));
    let speed = 1.0 + random.unit() * 0.2;
    for repetition in run.cells.iter_mut().flat_map(|cell| &mut cell.repetitions) {
        repetition.elapsed_ns = (repetition.elapsed_ns as f64 * speed * (1.0 + random.unit() * 0.02)) as u64;
    }
    run
}

/// Runs kurabe with these arguments and returns the time until it exits, in ms.
pub(crate) fn ask(kurabe: &Path, store: &Path, words: &[&str]) -> Result<f64> {
    let started = Instant::now();
    let ended = Command::new(kurabe)
        .arg("--db")
        .arg(store)
        .args(words)
        .args(["--lang", "en", "--quiet"])
        .stdin(Stdio::null())
        .output()?;
    let ms = started.elapsed().as_secs_f64() * 1e3;
    if !ended.status.success() {
        return Err(format!("{words:?} failed:\n{}", String::from_utf8_lossy(&ended.stderr)).into());
    }
    Ok(ms)
}
