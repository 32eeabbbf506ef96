//! The recording of one run of a program.

use kurabe_sim::{RecordedRequest, RequestKind, TimesCommit};
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum number of bytes that the block layer joins: the usual limit of one request to a disk
/// (`max_sectors_kb` 1024 and more).
const MOST_JOINED_BYTES: u64 = 1 << 20;

/// Every request that reached the device, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgramRecording {
    /// All requests.
    pub requests: Vec<RecordedRequest>,
    /// Index of the first request that wrote data left in memory by the program.
    pub left_from: usize,
    /// Phases marked by the program, with the index of the first request of each.
    pub phases: Vec<(String, usize)>,
    /// Number of system calls by name in each phase, or in the only one. Empty if not counted.
    pub syscalls: Vec<BTreeMap<String, u64>>,
    /// Ranges of files on the device at the end, by the shown name.
    pub files: Vec<(String, Vec<Range<u64>>)>,
    /// Ranges of the file system's journal, if known.
    pub journal: Vec<Range<u64>>,
    /// Commits that contain only file times.
    pub times_commits: Vec<TimesCommit>,
    /// Bytes written by the program. `None` if not counted.
    pub asked_bytes: Option<u64>,
    /// Duration of the program on this machine, in ns. Prices do not include it.
    pub elapsed_ns: u64,
}

impl ProgramRecording {
    /// Sorts and joins the writes of data left in memory, as the kernel's write-back and a drive's
    /// queue would. For reproducibility, they were written file by file, and each was waited for.
    /// Writes between two flushes are in flight together, in ascending order, and adjacent ones are
    /// joined. An empty flush is removed: whether the kernel sends one after the last commit depends on
    /// the progress of the journal's thread.
    pub fn join_what_was_left(&mut self) {
        let mut left = self.requests.split_off(self.left_from.min(self.requests.len()));
        let mut is_clean = self.requests.last().is_none_or(|one| one.request.kind == RequestKind::Flush);
        left.retain(|one| {
            let is_flush = one.request.kind == RequestKind::Flush;
            let is_needed = !(is_flush && is_clean);
            is_clean = is_flush || is_clean && !one.request.kind.writes();
            is_needed
        });
        for mut together in left
            .chunk_by(|one, next| one.request.kind.writes() && next.request.kind.writes())
            .map(<[_]>::to_vec)
        {
            let first = self.requests.len();
            let (asked_ns, answered_ns) = (together[0].asked_ns, together[together.len() - 1].answered_ns);
            together.sort_by_key(|one| one.request.offset_bytes);
            for one in together {
                match self.requests[first..].last_mut().filter(|before| adjoins(before, &one)) {
                    Some(before) => before.request.length_bytes += one.request.length_bytes,
                    None => self.requests.push(RecordedRequest { asked_ns, answered_ns, ..one }),
                }
            }
        }
    }
}

fn adjoins(before: &RecordedRequest, one: &RecordedRequest) -> bool {
    before.request.kind == RequestKind::Write
        && one.request.kind == RequestKind::Write
        && before.request.end_bytes() == one.request.offset_bytes
        && u64::from(before.request.length_bytes) + u64::from(one.request.length_bytes) <= MOST_JOINED_BYTES
}

#[cfg(test)]
pub(crate) mod fixture {
    use kurabe_sim::{RecordedRequest, Request, RequestKind};

    /// Returns requests, each of which waits for the previous one.
    pub(crate) fn recorded(requests: &[(RequestKind, u64, u32)]) -> Vec<RecordedRequest> {
        let one = |(place, &(kind, offset_bytes, length_bytes)): (usize, &(RequestKind, u64, u32))| {
            let asked_ns = place as u64 * 10;
            let request = Request::new(kind, offset_bytes, length_bytes);
            RecordedRequest { request, asked_ns, answered_ns: asked_ns + 5 }
        };
        requests.iter().enumerate().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::recorded;
    use super::*;
    use RequestKind::{Flush, Write};

    #[test]
    fn what_was_left_is_joined_as_write_back_sends_it() {
        let requests = [
            (Write, 0, 4096),
            (Write, 4096, 4096),
            (Write, 12_288, 4096),
            (Write, 100_000, 4096),
            (Write, 8192, 4096),
            (Flush, 0, 0),
            (Flush, 0, 0),
            (Write, 104_096, 4096),
        ];
        let mut recording =
            ProgramRecording { requests: recorded(&requests), left_from: 2, ..ProgramRecording::default() };
        recording.join_what_was_left();
        let lengths: Vec<u32> = recording.requests.iter().map(|one| one.request.length_bytes).collect();
        // Requests for which the program waited are unchanged.
        assert_eq!(lengths, [4096, 4096, 8192, 4096, 0, 4096]);
        let times: Vec<u64> = recording.requests.iter().map(|one| one.asked_ns).collect();
        assert_eq!(times, [0, 10, 20, 20, 50, 70]);
    }
}
