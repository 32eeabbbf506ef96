//! Time to push runs to a shared database, and time of commands over a large one, as a user waits
//! for them.
//!
//! The model: a store is filled as in `store_scale` and pushed twice; the second time nothing is
//! new. Then the rows are multiplied within the server, each copy with its own devices, as if from
//! many machines. Each command is run by the whole program over TCP on this machine, interleaved.

use crate::Result;
use crate::options::Flags;
use crate::statistics::median;
use crate::store_scale::{self, ask};
use crate::table::{figure, layout};
use crate::tools::build_kurabe;
use kurabe_testkit::postgres::{PASSWORD, PostgresServer};
use std::io::Write;
use std::time::Instant;

const HELP: &str =
    "flags: --runs N (10000, pushed)  --times N (100, how often they are in the database)  --rounds N (5)";

/// Commands and their targets in ms.
const QUESTIONS: [(&str, &[&str], f64); 4] = [
    ("history of a device", &["history", "disk-1-39"], 100.0),
    ("list --last 20", &["list", "--last", "20"], 100.0),
    ("show", &["show"], 100.0),
    ("pivot over all", &["compare", "--by", "filesystem,firmware"], 2000.0),
];

/// Copies all rows, each copy with its own devices. Only the first and the last copy have records,
/// the first for queries of a device and the last for the newest run: a million of them would fill
/// the disk, and no command reads them.
const MULTIPLY: &str = "
INSERT INTO kurabe.words (hash, word)
SELECT sha256(convert_to(word || copy, 'UTF8')), replace(word, 'disk-', 'disk-' || copy || '-')
FROM kurabe.words, generate_series(1, COPIES) copy WHERE word_id IN (SELECT names_id FROM kurabe.names);
INSERT INTO kurabe.names
SELECT own.word_id, own.word FROM kurabe.names, generate_series(1, COPIES) copy, kurabe.words own
WHERE own.hash = sha256(convert_to(names || copy, 'UTF8'));
CREATE TABLE kurabe.copies AS
SELECT arrival, copy, nextval('kurabe.runs_arrival_seq') AS own_arrival, own.word_id AS own_names,
    gen_random_uuid() AS own_identity
FROM kurabe.runs JOIN kurabe.names USING (names_id), generate_series(1, COPIES) copy, kurabe.words own
WHERE own.hash = sha256(convert_to(names || copy, 'UTF8'));
INSERT INTO kurabe.runs (identity, id, arrival, started_unix_s, summary, names_id, schema, record, record_sha256, digest_version, digest)
SELECT own_identity, id || 'z' || copy, own_arrival, started_unix_s + copy, replace(summary, '\"disk-', '\"disk-' || copy || '-'),
    own_names, schema, own_record, sha256(convert_to(own_record, 'UTF8')), digest_version, digest
FROM kurabe.copies JOIN kurabe.runs USING (arrival),
    LATERAL (SELECT CASE WHEN copy IN (1, COPIES) THEN replace(record, identity::text, own_identity::text) ELSE '' END AS own_record) own;
INSERT INTO kurabe.figures SELECT own_arrival, started_unix_s + copy, measured_on, alike, means
FROM kurabe.copies JOIN kurabe.figures USING (arrival);
DROP TABLE kurabe.copies;";

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns an error if kurabe does not build, there is no server, or a command fails.
pub fn main(out: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["runs", "times", "rounds"], &[], HELP)?;
    let kurabe = build_kurabe()?;
    let directory = tempfile::tempdir()?;
    let (mut times, directory) = (100, directory.path().to_owned());
    let mut options = store_scale::Options { runs: 10_000, rounds: 5, keep_digests: true, kurabe, directory };
    flags.set("runs", &mut options.runs)?;
    flags.set("times", &mut times)?;
    flags.set("rounds", &mut options.rounds)?;
    run(&options, times, out)
}

/// Fills and pushes a store, multiplies the rows, runs the commands, and prints the times.
///
/// # Errors
/// Returns an error if there is no server, or a command fails.
pub fn run(options: &store_scale::Options, times: usize, out: &mut dyn Write) -> Result<()> {
    let server = PostgresServer::start()?;
    let address = server.address("owner", PASSWORD);
    let store = options.directory.join("kurabe.db");
    let count = store_scale::fill(options, &store)?.len();
    for what in ["pushed", "pushed again"] {
        let ms = ask(&options.kurabe, &store, &["push", &address])?;
        writeln!(out, "{count} runs {what} in {} s", figure(ms / 1e3, 1))?;
    }
    let started = Instant::now();
    if times > 1 {
        server.sql("lab", &MULTIPLY.replace("COPIES", &(times - 1).to_string()))?;
        server.sql("lab", "VACUUM ANALYZE kurabe.runs, kurabe.figures, kurabe.names, kurabe.words")?;
    }
    let rows = server.sql("lab", "SELECT count(*) FROM kurabe.runs")?;
    writeln!(out, "{rows} runs in the database, multiplied in {:.0} s\n", started.elapsed().as_secs_f64())?;
    let mut times_ms = vec![Vec::new(); QUESTIONS.len()];
    for _ in 0..options.rounds {
        for ((_, words, _), times) in QUESTIONS.iter().zip(&mut times_ms) {
            times.push(ask(&options.kurabe, address.as_ref(), words)?);
        }
    }
    let mut rows = vec![["question", "median", "worst", "target"].map(str::to_owned).to_vec()];
    for ((name, _, target), times) in QUESTIONS.iter().zip(times_ms) {
        let worst = times.iter().copied().fold(0.0, f64::max);
        let ms = |ms: f64| format!("{} ms", figure(ms, 0));
        rows.push(vec![(*name).to_owned(), ms(median(&times)), ms(worst), ms(*target)]);
    }
    write!(out, "{}", layout(&rows))?;
    Ok(())
}
