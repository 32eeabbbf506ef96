//! Counts of user instructions: with the processor's own counter if it is available, otherwise with
//! valgrind. The bench `instructions` compares the count of the driver with its bounds.
//!
//! Callgrind counts every instruction of the process in software. The tools then run about fifty
//! times slower, but an operation needs the same number of instructions; the kernel's part runs
//! natively.
//!
//! The bench measures 4 KiB random reads of /dev/zero in both processes of kurabe, one of which
//! supervises the other. The count is the difference between two lengths, so that start-up and exit
//! do not count. The lengths differ by 2 GiB, because start-up varies by some million instructions
//! (the clock is measured). A count does not depend on the load of the machine, so this bench fails
//! above its bounds.

use crate::child::{self, Ended};
use crate::{Result, options::Flags, tools};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A method of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// `perf stat -e instructions:u`.
    Perf,
    /// `valgrind --tool=callgrind`.
    Callgrind,
}

impl Counter {
    /// Finds a method that works on this machine.
    ///
    /// # Errors
    /// Returns an error with the reasons if none does.
    pub fn find() -> Result<Self> {
        let mut reasons = Vec::new();
        for counter in [Self::Perf, Self::Callgrind] {
            match counter.run(&Command::new("true")) {
                Ok(_) => return Ok(counter),
                Err(error) => reasons.push(format!("{}: {error}", counter.name())),
            }
        }
        Err(reasons.join("; ").into())
    }

    /// Returns the name of the method.
    pub fn name(self) -> &'static str {
        match self {
            Self::Perf => "perf stat",
            Self::Callgrind => "callgrind",
        }
    }

    /// Runs a command and counts its user instructions.
    ///
    /// # Errors
    /// Returns an error if the command fails or nothing was counted.
    pub fn run(self, command: &Command) -> Result<(f64, Ended)> {
        let mut wrapped = match self {
            Self::Perf => {
                let mut perf = Command::new("perf");
                perf.args(["stat", "-x,", "-e", "instructions:u", "--"]);
                perf
            }
            Self::Callgrind => {
                let mut valgrind = Command::new("valgrind");
                valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--"]);
                valgrind
            }
        };
        let inner: Vec<OsString> =
            std::iter::once(command.get_program()).chain(command.get_args()).map(ToOwned::to_owned).collect();
        let ended = child::run(wrapped.args(inner))?;
        let count = match self {
            Self::Perf => perf_count(&ended.stderr),
            Self::Callgrind => callgrind_count(&ended.stderr),
        };
        Ok((count.ok_or("not supported on this machine")?, ended))
    }
}

/// Upper bound of the user instructions per operation at a queue depth.
#[derive(Clone, Copy, Debug)]
pub struct InstructionBound {
    /// Operations in flight.
    pub depth: u32,
    /// Maximum instructions per operation.
    pub most: f64,
}

/// Measured: 626 to 663 at depth 1 and 398 to 408 at depth 32 (io_uring with a limit in bytes,
/// which costs more than one in time; docs/cost.md). Inlining differs between builds, and a busy
/// machine adds some. The bounds leave a margin of one twentieth for other compilers and
/// processors. A loop over the operations in flight or an allocation per operation exceeds them.
pub const BOUNDS: [InstructionBound; 2] =
    [InstructionBound { depth: 1, most: 700.0 }, InstructionBound { depth: 32, most: 440.0 }];

const BLOCK_BYTES: u64 = 4096;

/// Options of the count of the driver.
#[derive(Clone, Debug)]
pub struct DriverCount {
    /// Path of kurabe.
    pub kurabe: PathBuf,
    /// Bytes read by the short and by the long run.
    pub lengths_bytes: [u64; 2],
    /// Bounds to check.
    pub bounds: Vec<InstructionBound>,
}

impl DriverCount {
    fn command(&self, store: &Path, depth: u32, length_bytes: u64) -> Command {
        let mut command = Command::new(&self.kurabe);
        command.arg("--db").arg(store).args(["run", "--json", "--quiet", "--threads", "1", "--runs", "1"]);
        command.args([
            "--cache",
            "keep",
            "--buffered",
            "--rw",
            "randread",
            "--bs",
            "4k",
            "--engine",
            "uring",
        ]);
        command.args(["--size", "16MiB", "--time", "10min", "--iodepth", &depth.to_string()]);
        command.args(["--bytes", &length_bytes.to_string(), "/dev/zero"]);
        command
    }

    fn per_operation(&self, store: &Path, depth: u32) -> Result<f64> {
        let [short, long] = self.lengths_bytes.map(|length_bytes| {
            Counter::Callgrind.run(&self.command(store, depth, length_bytes)).map(|(count, _)| count)
        });
        let operations = (self.lengths_bytes[1] - self.lengths_bytes[0]) / BLOCK_BYTES;
        Ok((long? - short?) / operations as f64)
    }

    /// Counts at every bound and prints the counts. If counting is impossible on this machine,
    /// prints the reason.
    ///
    /// # Errors
    /// Returns an error if a count exceeds its bound, or kurabe fails under callgrind.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        let folder = tempfile::tempdir()?;
        let store = folder.path().join("counted.db");
        if let Err(error) = Counter::Callgrind.run(&Command::new("true")) {
            writeln!(out, "not counted, because it needs valgrind: {error}")?;
            return Ok(());
        }
        if let Err(error) = child::run(&mut self.command(&store, 1, BLOCK_BYTES)) {
            writeln!(out, "not counted, because it needs io_uring: {error}")?;
            return Ok(());
        }
        let mut exceeded = Vec::new();
        for InstructionBound { depth, most } in &self.bounds {
            let count = self.per_operation(&store, *depth)?;
            writeln!(out, "queue depth {depth}: {count:.0} instructions per operation, at most {most:.0}")?;
            if count > *most {
                exceeded.push(format!("{count:.0} instructions at queue depth {depth} (at most {most:.0})"));
            }
        }
        if exceeded.is_empty() {
            return Ok(());
        }
        Err(format!(
            "the driver takes more instructions per operation than its bound: {}",
            exceeded.join(", ")
        )
        .into())
    }
}

/// Counts the instructions of the driver, for `cargo bench --bench instructions`.
///
/// # Errors
/// Returns the errors of [`DriverCount::run`], and an error for any flag.
pub fn main(out: &mut dyn Write) -> Result<()> {
    Flags::from_environment(&[], &[], "This bench has no flags.")?;
    let lengths_bytes = [128 << 20, 2176 << 20];
    DriverCount { kurabe: tools::build_kurabe()?, lengths_bytes, bounds: BOUNDS.to_vec() }.run(out)
}

/// Parses `1234,,instructions:u,…`, or `<not supported>,,instructions:u,…`.
fn perf_count(stderr: &str) -> Option<f64> {
    stderr.lines().find(|line| line.contains("instructions:u"))?.split(',').next()?.parse().ok()
}

/// Parses `==1== Collected : 1234` of each process (one supervises and one works), and returns the
/// sum.
fn callgrind_count(stderr: &str) -> Option<f64> {
    let counts = stderr.lines().filter_map(|line| line.split_once("Collected : "));
    counts.map(|(_, count)| count.trim().parse().ok()).reduce(|one, other| Some(one? + other?))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read() {
        assert_eq!(perf_count("noise\n1234,,instructions:u,100,100.00,,\n"), Some(1234.0));
        assert_eq!(perf_count("<not supported>,,instructions:u,0,100.00,,\n"), None);
        assert_eq!(callgrind_count("==7== Events    : Ir\n==7== Collected : 99\n"), Some(99.0));
        assert_eq!(callgrind_count("==8== Collected : 98\n==7== Collected : 1\n"), Some(99.0));
        assert_eq!(callgrind_count("nothing"), None);
    }
}
