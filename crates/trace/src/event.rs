//! Lines of `trace_pipe` as events.
//!
//! Format (include/trace/events/block.h): `comm-pid [cpu] flags SECONDS.µs: NAME: MAJOR,MINOR
//! LETTERS …SECTOR + COUNT …`. A line of another kind is `CPU:1 [LOST 12 EVENTS]`.

use kurabe_core::trace::BlockLetters;
use kurabe_host::Number;

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tracepoint {
    /// An operation arrived (`block_bio_queue`).
    Queued,
    /// The operation completed (`block_bio_complete`).
    Ended,
    /// A request was issued to the driver (`block_rq_issue`).
    Issued,
    /// The request, or a part from its start, completed (`block_rq_complete`).
    Completed,
    /// The driver returned the request to be issued again (`block_rq_requeue`).
    Requeued,
}

impl Tracepoint {
    /// All kinds with their names in tracefs.
    pub(crate) const NAMES: [(&'static str, Self); 5] = [
        ("block_bio_queue", Self::Queued),
        ("block_bio_complete", Self::Ended),
        ("block_rq_issue", Self::Issued),
        ("block_rq_complete", Self::Completed),
        ("block_rq_requeue", Self::Requeued),
    ];
}

/// An event of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockEvent {
    /// Time of the kernel's monotonic clock.
    pub at_ns: u64,
    pub tracepoint: Tracepoint,
    pub device: Number,
    pub letters: BlockLetters,
    pub sector: u64,
    pub sectors: u32,
    /// Kernel number of the thread that ran when it happened.
    pub thread: u32,
    /// Whether a followed thread submitted the operation.
    pub ours: bool,
}

/// Content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    Event(BlockEvent),
    /// Number of events that were dropped.
    Lost(u64),
    /// A line of the block layer that cannot be parsed.
    Strange,
    /// Any other line.
    Other,
}

/// Parses a line of a recording that does not follow particular threads.
#[cfg(test)]
pub(crate) fn read_line(line: &str) -> Read {
    read_line_of(line, &|_, _| false)
}

/// Parses a line; `ours` returns whether a thread is followed, by its number and name.
pub(crate) fn read_line_of(line: &str, ours: &dyn Fn(u32, &str) -> bool) -> Read {
    if let Some(lost) = read_lost(line) {
        return Read::Lost(lost);
    }
    let event = Tracepoint::NAMES.iter().find_map(|(name, tracepoint)| {
        let at = line.find(&format!(": {name}: "))?;
        Some((*tracepoint, &line[..at], &line[at + name.len() + 4..]))
    });
    match event {
        Some((tracepoint, before, after)) => {
            read_event(tracepoint, before, after, ours).map_or(Read::Strange, Read::Event)
        }
        None => Read::Other,
    }
}

fn read_lost(line: &str) -> Option<u64> {
    let (_, rest) = line.strip_prefix("CPU:")?.split_once("[LOST ")?;
    rest.split(' ').next()?.parse().ok()
}

fn read_event(
    tracepoint: Tracepoint,
    before: &str,
    after: &str,
    ours: &dyn Fn(u32, &str) -> bool,
) -> Option<BlockEvent> {
    let at_ns = seconds_ns(before.rsplit(' ').next()?)?;
    let mut words = after.split(' ');
    let (major, minor) = words.next()?.split_once(',')?;
    let device = (major.parse().ok()?, minor.parse().ok()?);
    let letters = BlockLetters::parse(words.next()?)?;
    let (left, right) = after.split_once(" + ")?;
    let sector = left.rsplit(' ').next()?.parse().ok()?;
    let sectors = right.split(' ').next()?.parse().ok()?;
    let thread = thread(before);
    let ours = tracepoint == Tracepoint::Queued && ours(thread, name(after));
    Some(BlockEvent { at_ns, tracepoint, device, letters, sector, sectors, thread, ours })
}

/// Returns the number in `comm-pid [cpu]`, or 0 if it is missing.
fn thread(before: &str) -> u32 {
    let task = before.split(" [").next().unwrap_or("").trim_end();
    task.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Returns the thread name in brackets at the end of an event.
fn name(after: &str) -> &str {
    after.rsplit_once('[').and_then(|(_, rest)| rest.strip_suffix(']')).unwrap_or("")
}

/// Parses `974.932760` to ns.
fn seconds_ns(words: &str) -> Option<u64> {
    let (seconds, fraction) = words.split_once('.')?;
    if fraction.is_empty() || fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part_ns = fraction.parse::<u64>().ok()? * 10_u64.pow(9 - fraction.len() as u32);
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(part_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::trace::BlockVerb;
    use proptest::prelude::*;

    fn event(line: &str) -> BlockEvent {
        match read_line(line) {
            Read::Event(event) => event,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn captured_lines_are_read() {
        let issue = "              dd-16737   [001] .....  1075.053808: block_rq_issue: 7,0 WS 8192 () 48 \
            + 16 be,0,4 [dd]";
        let expected = BlockEvent {
            at_ns: 1_075_053_808_000,
            tracepoint: Tracepoint::Issued,
            device: (7, 0),
            letters: BlockLetters { verb: BlockVerb::Write, flush_before: false, forced: false },
            sector: 48,
            sectors: 16,
            thread: 16_737,
            ours: false,
        };
        assert_eq!(event(issue), expected);
        let queue = "              dd-16737   [001] .....  1075.053803: block_bio_queue: 7,0 WS 48 + 16 [dd]";
        assert_eq!(
            event(queue),
            BlockEvent { at_ns: 1_075_053_803_000, tracepoint: Tracepoint::Queued, ..expected }
        );
        let Read::Event(own) = read_line_of(queue, &|_, name| name == "dd") else { panic!("no event") };
        assert!(own.ours);
        let complete = "     ksoftirqd/1-22      [001] ..s..  1075.054365: block_rq_complete: 7,0 WS () \
            48 + 16 be,0,4 [0]";
        assert_eq!(
            event(complete),
            BlockEvent {
                at_ns: 1_075_054_365_000,
                tracepoint: Tracepoint::Completed,
                thread: 22,
                ..expected
            }
        );
        let flush = "     ksoftirqd/1-22      [001] ..s..  1075.054657: block_rq_complete: 7,0 FF () \
            18446744073709551615 + 0 none,0,0 [0]";
        let flush = event(flush);
        assert_eq!((flush.letters.verb, flush.sector, flush.sectors), (BlockVerb::Flush, u64::MAX, 0));
        // Older kernels print no priority; a SCSI command has its bytes between the parentheses.
        let older =
            " a b: c-1 [000] d... 5.000001: block_rq_issue: 8,16 N 512 (12 00 00 00 24 00 ) 0 + 0 [a + b]";
        let older = event(older);
        assert_eq!(
            (older.device, older.letters.verb, older.at_ns),
            ((8, 16), BlockVerb::Other, 5_000_001_000)
        );
    }

    #[test]
    fn lost_and_other_lines_are_told_apart() {
        assert_eq!(read_line("CPU:1 [LOST 12 EVENTS]"), Read::Lost(12));
        assert_eq!(read_line(""), Read::Other);
        assert_eq!(read_line("  a-1 [000] ..... 1.000001: sched_switch: x"), Read::Other);
        assert_eq!(read_line("  a-1 [000] ..... 1.000001: block_rq_issue: 8,0 W nonsense"), Read::Strange);
        assert_eq!(read_line("  a-1 [000] ..... now: block_bio_queue: 8,0 W 1 + 1 [a]"), Read::Strange);
    }

    proptest! {
        #[test]
        fn any_line_is_read_without_a_panic(start in ".{0,40}", end in "[0-9a-zA-Z \
            ,.+()\\[\\]日-]{0,60}", which in 0..5_usize) {
            read_line(&start);
            read_line(&format!("{start}: {}: {end}", Tracepoint::NAMES[which].0));
            read_line(&format!("a-1 [0] . 1.5: {}: 8,0 {end}", Tracepoint::NAMES[which].0));
        }
    }
}
