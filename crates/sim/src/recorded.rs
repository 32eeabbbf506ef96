//! Replay of recorded requests on a stack.
//!
//! The model: the recorded program may have waited for any request that was answered before, and
//! for nothing else. So a request is submitted once all requests that had been answered when it was
//! recorded have completed. Requests that were in flight together stay together, and a slow device
//! delays only the requests that waited for it. Two kinds of requests always wait for all earlier
//! writes: a flush, because it covers them, and a read, because it is an accident of the recording
//! whether write-back was done by then. Pauses between the last answer that was waited for and the
//! next request are either all kept or all left out.
//!
//! Commits of file times: a file system commits the times of a file only if they changed, which
//! happens at most once per tick of the kernel. A recording at the pace of ticks has every such
//! commit. On a faster stack, the commits are left out that the file system would not have made,
//! because the tick had not changed in virtual time.

use crate::stack::Stack;
use crate::world::{Request, RequestKind};
use kurabe_core::model::TimeAccount;
use kurabe_core::{Error, ErrorKind, Result, text};

/// A request with its times, in order of submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedRequest {
    /// The request.
    pub request: Request,
    /// Time of submission.
    pub asked_ns: u64,
    /// Time of the answer.
    pub answered_ns: u64,
}

/// A commit that changed nothing but times of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimesCommit {
    /// The request that was asked right after the files were stamped for this commit.
    pub stamp: usize,
    /// The request that was asked right after they were stamped for the commit before.
    pub stamp_before: usize,
    /// The requests of this commit, all after `stamp`.
    pub requests: Vec<usize>,
}

/// How a recording is asked again.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplayRules<'r> {
    /// Whether pauses are kept.
    pub keeps_pauses: bool,
    /// Commits of file times, in the order of their stamps.
    pub times_commits: &'r [TimesCommit],
    /// Length of a tick, in ns: a commit whose two stamps are in one tick is left out. At 0, none is.
    pub tick_ns: u64,
    /// How much of the first tick has passed when the replay begins, in ns.
    pub tick_phase_ns: u64,
}

/// Result of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// Time from the first request to the last answer.
    pub took_ns: u64,
    /// Submission time of each request, relative to the first.
    pub asked_ns: Vec<u64>,
    /// Whether each was left out.
    pub left_out: Vec<bool>,
    /// Time account of the requests.
    pub account: TimeAccount,
}

/// Replays recorded requests on a stack, starting now.
///
/// # Errors
/// Returns an error if a request is beyond the end of the stack, or the model has a bug.
pub fn replay(stack: &mut Stack, recorded: &[RecordedRequest], rules: &ReplayRules<'_>) -> Result<Replayed> {
    let keeps_pauses = rules.keeps_pauses;
    let mut commits = rules.times_commits.iter().filter(|_| rules.tick_ns > 0).peekable();
    let mut left_out = vec![false; recorded.len()];
    let waits = Waits::new(recorded);
    let begun_ns = stack.now_ns();
    let mut asked_ns = begun_ns;
    let mut done = vec![false; recorded.len()];
    // Time at which the first n ends, in recorded order, had all happened.
    let mut ended_ns = vec![begun_ns];
    let mut times_ns = Vec::with_capacity(recorded.len());
    let _ = stack.take_account();
    while ended_ns.len() <= recorded.len() {
        let next = times_ns.len();
        let waited_ns = waits.for_ends.get(next).and_then(|&ends| ended_ns.get(ends));
        let pause_ns = if keeps_pauses { waits.pauses_ns.get(next).copied() } else { None };
        let at_ns = waited_ns.map(|waited_ns| asked_ns.max(*waited_ns).saturating_add(pause_ns.unwrap_or(0)));
        match at_ns {
            Some(at_ns) if stack.next_wake_ns().is_none_or(|wake_ns| wake_ns > at_ns) => {
                asked_ns = at_ns.max(stack.now_ns());
                times_ns.push(asked_ns - begun_ns);
                while let Some(commit) = commits.next_if(|commit| commit.stamp == next) {
                    let tick = |request: usize| (times_ns[request] + rules.tick_phase_ns) / rules.tick_ns;
                    if tick(commit.stamp) == tick(commit.stamp_before) {
                        commit.requests.iter().for_each(|&request| left_out[request] = true);
                    }
                }
                match left_out[next] {
                    false => stack.submit(asked_ns, recorded[next].request, next as u64),
                    true => {
                        done[waits.place_of_end[next]] = true;
                        while done.get(ended_ns.len() - 1) == Some(&true) {
                            ended_ns.push(asked_ns);
                        }
                    }
                }
            }
            None if stack.next_wake_ns().is_none() => stack.check_not_blocked()?,
            _ => stack.advance_to_completion(at_ns.unwrap_or(u64::MAX)),
        }
        while let Some(completion) = stack.take_completion() {
            if completion.outcome.is_err() {
                stack.check_sound()?;
                return Err(beyond_end(stack));
            }
            done[waits.place_of_end[completion.token as usize]] = true;
            while done.get(ended_ns.len() - 1) == Some(&true) {
                ended_ns.push(completion.at_ns);
            }
        }
    }
    let took_ns = ended_ns[recorded.len()] - begun_ns;
    Ok(Replayed { took_ns, asked_ns: times_ns, left_out, account: stack.take_account() })
}

fn beyond_end(stack: &Stack) -> Error {
    let gigabytes = stack.capacity_bytes() as f64 / 1e9;
    ErrorKind::Target.error(text!(
        "the recorded requests exceed the model's {gigabytes:.1} GB",
        "記録した I/O がモデルの容量({gigabytes:.1} GB)を超えています"
    ))
}

/// Dependencies between recorded requests.
struct Waits {
    /// Position of each request's end among all ends.
    place_of_end: Vec<usize>,
    /// Number of ends before each request.
    for_ends: Vec<usize>,
    /// Pause between the last of these ends, or the previous request, and the request.
    pauses_ns: Vec<u64>,
}

impl Waits {
    fn new(recorded: &[RecordedRequest]) -> Self {
        let ends_ns = ends_before_those_who_wait(recorded);
        let mut ends: Vec<usize> = (0..recorded.len()).collect();
        ends.sort_by_key(|&request| (ends_ns[request], request));
        let mut place_of_end = vec![0; recorded.len()];
        ends.iter().enumerate().for_each(|(place, &request)| place_of_end[request] = place);
        let (mut for_ends, mut pauses_ns) = (Vec::new(), Vec::new());
        let (mut ended, mut before_ns) = (0, recorded.first().map_or(0, |first| first.asked_ns));
        for (place, one) in recorded.iter().enumerate() {
            while let Some(&end) = ends.get(ended).filter(|&&end| end < place && ends_ns[end] <= one.asked_ns)
            {
                before_ns = before_ns.max(ends_ns[end]);
                ended += 1;
            }
            for_ends.push(ended);
            pauses_ns.push(one.asked_ns.saturating_sub(before_ns));
            before_ns = before_ns.max(one.asked_ns);
        }
        Self { place_of_end, for_ends, pauses_ns }
    }
}

/// Returns the latest end of each request if every flush and read waited for earlier writes.
fn ends_before_those_who_wait(recorded: &[RecordedRequest]) -> Vec<u64> {
    let mut waiting_ns = u64::MAX;
    let mut ends_ns: Vec<u64> = recorded
        .iter()
        .rev()
        .map(|one| {
            if !one.request.kind.writes() {
                waiting_ns = if one.request.kind == RequestKind::Trim { waiting_ns } else { one.asked_ns };
                return one.answered_ns;
            }
            one.answered_ns.min(waiting_ns).max(one.asked_ns)
        })
        .collect();
    ends_ns.reverse();
    ends_ns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::load_device;

    const MS: u64 = 1_000_000;

    /// A device with four slots, each of which takes a millisecond.
    fn stack() -> Stack {
        let mut spec = load_device("ideal-ram-disk").unwrap();
        for (parameter, value) in
            [("memory.access", "1ms"), ("memory.parallel", "4"), ("memory.rate", "1000GB/s")]
        {
            spec.set(parameter, value).unwrap();
        }
        Stack::new(&spec, 1).unwrap()
    }

    fn took_ms(recorded: &[(RequestKind, u64, u64)], keeps_pauses: bool) -> u64 {
        let recorded: Vec<RecordedRequest> = recorded
            .iter()
            .enumerate()
            .map(|(place, &(kind, asked_us, answered_us))| RecordedRequest {
                request: Request::new(kind, place as u64 * 4096, if kind == Flush { 0 } else { 4096 }),
                asked_ns: asked_us * 1_000,
                answered_ns: answered_us * 1_000,
            })
            .collect();
        let rules = ReplayRules { keeps_pauses, ..ReplayRules::default() };
        let replayed = replay(&mut stack(), &recorded, &rules).unwrap();
        assert_eq!(replayed.account.operations, recorded.len() as u64);
        (replayed.took_ns + MS / 2) / MS
    }

    use RequestKind::{Flush, Read, Write};

    #[test]
    fn a_request_waits_for_those_that_had_been_answered_when_it_was_asked() {
        // One after another; all at once; two and two.
        assert_eq!(took_ms(&[(Write, 0, 1), (Write, 2, 3), (Write, 4, 5), (Write, 6, 7)], false), 4);
        assert_eq!(took_ms(&[(Write, 0, 9), (Write, 1, 10), (Write, 2, 11), (Write, 3, 12)], false), 1);
        assert_eq!(took_ms(&[(Write, 0, 4), (Write, 1, 5), (Write, 6, 9), (Write, 7, 10)], false), 2);
        // The second ended last: requests submitted before that did not wait for it.
        assert_eq!(took_ms(&[(Write, 0, 2), (Write, 1, 9), (Write, 3, 5), (Write, 6, 8)], false), 3);
    }

    #[test]
    fn a_flush_and_a_read_wait_for_the_writes_before_them_however_they_were_recorded() {
        let flush_ms = took_ms(&[(Flush, 0, 1)], false);
        assert_eq!(took_ms(&[(Write, 0, 9), (Flush, 1, 2)], false), 1 + flush_ms);
        assert_eq!(took_ms(&[(Write, 0, 9), (Read, 1, 2), (Read, 3, 8)], false), 3);
        assert_eq!(took_ms(&[(Read, 0, 9), (Read, 1, 2)], false), 1);
    }

    #[test]
    fn pauses_are_kept_or_left_out() {
        let recorded =
            [(Write, 100, 200), (Write, 5_200, 5_300), (Write, 5_250, 5_400), (Write, 9_400, 9_500)];
        assert_eq!(took_ms(&recorded, false), 3);
        // 1 ms, a pause of 5, 1 ms, a pause of 4, 1 ms.
        assert_eq!(took_ms(&recorded, true), 12);
    }

    #[test]
    fn what_lies_beyond_the_end_is_an_error() {
        let request = Request::new(Write, 1 << 60, 4096);
        let recorded = RecordedRequest { request, asked_ns: 0, answered_ns: 1 };
        let refused = replay(&mut stack(), &[recorded], &ReplayRules::default()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Target);
    }

    #[test]
    fn a_commit_of_file_times_alone_is_left_out_within_a_tick() {
        // Data, journal, flush, commit block, flush; each took a tick when it was recorded.
        let kinds = [Write, Write, Flush, Write, Flush];
        let one = |place: usize| {
            let (kind, asked_ns) = (kinds[place % 5], place as u64 * 10 * MS);
            let request = Request::new(kind, place as u64 * 4096, if kind == Flush { 0 } else { 4096 });
            RecordedRequest { request, asked_ns, answered_ns: asked_ns + 9 * MS }
        };
        let recorded: Vec<RecordedRequest> = (0..20).map(one).collect();
        let commit = |place: usize| TimesCommit {
            stamp: place * 5,
            stamp_before: place * 5 - 5,
            requests: vec![place * 5 + 1, place * 5 + 3, place * 5 + 4],
        };
        let times_commits = [commit(1), commit(2), commit(3)];
        let replayed = |tick_ns: u64| {
            let rules = ReplayRules { times_commits: &times_commits, tick_ns, ..ReplayRules::default() };
            replay(&mut stack(), &recorded, &rules).unwrap()
        };
        let commits = |tick_ns: u64| 4 - replayed(tick_ns).left_out.iter().filter(|out| **out).count() / 3;
        let second_ns = replayed(0).asked_ns[5];
        assert_eq!([0, second_ns / 2, second_ns].map(commits), [4, 4, 4]);
        assert_eq!([second_ns + 1, 1000 * MS].map(commits), [3, 1]);
        assert!(replayed(1000 * MS).took_ns < replayed(0).took_ns);
    }
}
