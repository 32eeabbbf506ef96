//! Counting user instructions: with the processor's own counter where it can be had, else with valgrind.
//!
//! Callgrind counts every instruction of the process in software. The tools then run some fifty times slower, but
//! the instructions that an operation needs stay the same; the kernel's part runs natively.

use crate::Result;
use crate::child::{self, Ended};
use std::ffi::OsString;
use std::process::Command;

/// A way to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// `perf stat -e instructions:u`.
    Perf,
    /// `valgrind --tool=callgrind`.
    Callgrind,
}

impl Counter {
    /// Finds one that works here.
    ///
    /// # Errors
    /// When none does, with both reasons.
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

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Perf => "perf stat",
            Self::Callgrind => "callgrind",
        }
    }

    /// Runs a command and counts its user instructions.
    ///
    /// # Errors
    /// When it fails or nothing was counted.
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

/// `1234,,instructions:u,…`, or `<not supported>,,instructions:u,…`.
fn perf_count(stderr: &str) -> Option<f64> {
    stderr.lines().find(|line| line.contains("instructions:u"))?.split(',').next()?.parse().ok()
}

/// `==1== Collected : 1234`, of each process: one supervises and one works.
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
