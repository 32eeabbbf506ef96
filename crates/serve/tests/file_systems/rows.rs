//! Transactions of the sqlite3 program with write-ahead log and `synchronous=FULL`, with many
//! checkpoints.

use super::Work;
use crate::machine::run;
use kurabe_core::random::Random;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Rows of a transaction, of which all or none must be present.
const ROWS: u64 = 3;
const MOST_CHARACTERS: u64 = 3000;
/// Number of transactions whose rows are kept.
const KEPT: usize = 40;

/// Length of the rows of each transaction, from the first.
pub struct Rows {
    random: Random,
    lengths: Vec<u64>,
    /// Number of promised transactions; one more may be present.
    promised: usize,
}

impl Rows {
    pub fn new(random: Random) -> Self {
        Self { random, lengths: Vec::new(), promised: 0 }
    }

    /// Returns the SQL of the next transaction, which prints its number once it is committed.
    fn next(&mut self) -> String {
        let (number, length) = (self.lengths.len() + 1, self.random.below(MOST_CHARACTERS));
        self.lengths.push(length);
        let rows: String = (0..ROWS)
            .map(|row| format!("INSERT INTO rows VALUES ({number}, {row}, hex(zeroblob({length})));"))
            .collect();
        let gone = number as i64 - KEPT as i64;
        format!(
            "BEGIN; {rows} DELETE FROM rows WHERE number <= {gone}; UPDATE last SET number = {number}; \
             COMMIT; SELECT {number};\n"
        )
    }

    /// Returns the expected content of a database with this number of transactions.
    fn expected(&self, count: usize) -> String {
        let from = count.saturating_sub(KEPT);
        let kept = &self.lengths[from..count];
        format!("ok\n{count}|{}|{}", kept.len() as u64 * ROWS, kept.iter().sum::<u64>() * 2 * ROWS)
    }
}

impl Work for Rows {
    fn promise(&mut self, folder: &Path, promised: &mut dyn FnMut()) -> String {
        let mut command = Command::new("sqlite3");
        command.arg("-batch").arg(folder.join("db"));
        let mut sqlite =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut words = sqlite.stdin.take().unwrap();
        let mut answers = BufReader::new(sqlite.stderr.take().unwrap()).lines();
        // Standard error is not buffered.
        let begin = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=16;\n\
            CREATE TABLE IF NOT EXISTS rows (number, row, text);\n\
            CREATE TABLE IF NOT EXISTS last AS SELECT 0 AS number;\n.output stderr\n";
        let _ = words.write_all(begin.as_bytes());
        self.lengths.truncate(self.promised);
        let why = loop {
            let transaction = self.next();
            let answer = words.write_all(transaction.as_bytes()).ok().and_then(|()| answers.next()?.ok());
            if answer != Some(self.lengths.len().to_string()) {
                break format!("sqlite3: {answer:?}");
            }
            self.promised = self.lengths.len();
            promised();
        };
        drop(words);
        let _ = sqlite.kill();
        let _ = sqlite.wait();
        why
    }

    fn broken(&mut self, folder: &Path) -> Option<String> {
        let questions = "PRAGMA integrity_check; \
            SELECT last.number, count(*), coalesce(sum(length(text)), 0) FROM rows, last;";
        let answer = run("sqlite3", &["-batch", folder.join("db").to_str().unwrap(), questions]);
        let Some(answer) = answer else { return Some("the database cannot be read".to_owned()) };
        let counts = self.promised..=self.lengths.len();
        let kept = counts.into_iter().find(|count| answer == self.expected(*count));
        let Some(kept) = kept else {
            return Some(format!("{answer} is there, {} was promised", self.expected(self.promised)));
        };
        self.promised = kept;
        None
    }
}
