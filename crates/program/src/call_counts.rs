//! Number of system calls of a command.

use std::collections::BTreeMap;
use syscalls::Sysno;

/// Number of calls by name.
pub type CallCounts = BTreeMap<String, u64>;

/// Number of calls by their number.
#[derive(Debug, Default)]
pub(crate) struct CallTally(BTreeMap<i64, u64>);

impl CallTally {
    pub(crate) fn add(&mut self, number: i64) {
        *self.0.entry(number).or_default() += 1;
    }

    /// Returns the counts so far. A call that is newer than the table has its number for a name.
    pub(crate) fn by_name(&self) -> CallCounts {
        let name = |number: i64| match usize::try_from(number).ok().and_then(Sysno::new) {
            Some(call) => call.name().to_owned(),
            None => format!("call {number}"),
        };
        self.0.iter().map(|(number, count)| (name(*number), *count)).collect()
    }
}

/// Returns whether a process marks a phase: it runs a program with the name of this one, of any
/// version, and its first argument is `mark`.
pub(crate) fn is_marking(process: u32) -> bool {
    let name = |path: &str| Some(std::fs::read_link(path).ok()?.file_name()?.to_owned());
    let own = name("/proc/self/exe");
    own.is_some()
        && name(&format!("/proc/{process}/exe")) == own
        && std::fs::read(format!("/proc/{process}/cmdline"))
            .is_ok_and(|words| words.split(|byte| *byte == 0).nth(1) == Some(b"mark"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_the_name_of_its_manual_page_and_an_unknown_one_its_number() {
        let mut tally = CallTally::default();
        for number in [libc::SYS_fsync, libc::SYS_openat, libc::SYS_fsync, 99_999, -1] {
            tally.add(number);
        }
        let expected = [("call -1", 1), ("call 99999", 1), ("fsync", 2), ("openat", 1)];
        assert_eq!(tally.by_name(), expected.map(|(name, count)| (name.to_owned(), count)).into());
    }
}
