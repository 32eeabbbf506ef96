//! Gains and costs of arrays: textbook ratios relative to one drive, behind a card without
//! overhead.

use super::{Outcome, assert_near, drive, stack_of};
use kurabe_sim::{Request, RequestKind, Stack};

const STRIP_BYTES: u64 = 64 << 10;
const REQUESTS: u64 = 6000;

/// Drives of 1 ms, one request at a time.
const DRIVE: (&str, &[(&str, &str)]) = (
    "constant",
    &[("capacity", "\"1 GiB\""), ("access", "\"1 ms\""), ("rate", "\"1000 TB/s\""), ("parallel", "1")],
);

fn array(level: &str, members: &str) -> Stack {
    let card: &[(&str, &str)] = &[
        ("level", level),
        ("members", members),
        ("strip", "\"64 KiB\""),
        ("latency", "\"0 ns\""),
        ("request_time", "\"0 ns\""),
        ("strip_time", "\"0 ns\""),
        ("memory_read_rate", "\"1000 TB/s\""),
        ("memory_write_rate", "\"1000 TB/s\""),
        ("parity_rate", "\"1000 TB/s\""),
        ("read_policy", "\"none\""),
    ];
    stack_of(&[("raid", card), DRIVE])
}

/// Runs small requests to strips far from each other, equally many to each drive.
fn small(stack: &mut Stack, kind: RequestKind) -> Outcome {
    let strips = stack.capacity_bytes() / STRIP_BYTES;
    // A step that is coprime to any number of drives and strips visits all of them.
    let request = |index: u64| Request::new(kind, index * 7919 % strips * STRIP_BYTES, 4096);
    drive(stack, &(0..REQUESTS).map(request).collect::<Vec<_>>(), 256)
}

/// 3 %: the queue drains at the end of a run.
#[test]
fn small_reads_use_all_drives() {
    let one = small(&mut stack_of(&[DRIVE]), RequestKind::Read).per_s();
    for (level, members, drives) in
        [("0", "4", 4.0), ("0", "8", 8.0), ("10", "4", 4.0), ("5", "4", 4.0), ("6", "6", 6.0)]
    {
        let rate = small(&mut array(level, members), RequestKind::Read).per_s();
        assert_near(rate / one, drives, 0.03, &format!("RAID {level} of {members}"));
    }
}

/// 6 %: as above, and writes to one row are serialised. A small write is one request in RAID 0, two
/// in RAID 10, four in RAID 5 and six in RAID 6.
#[test]
fn small_writes_pay_for_copies_and_for_parity() {
    let one = small(&mut stack_of(&[DRIVE]), RequestKind::Write).per_s();
    for (level, members, drives, requests) in [
        ("0", "4", 4.0, 1.0),
        ("10", "4", 4.0, 2.0),
        ("5", "4", 4.0, 4.0),
        ("5", "8", 8.0, 4.0),
        ("6", "6", 6.0, 6.0),
    ] {
        let outcome = small(&mut array(level, members), RequestKind::Write);
        let asked = outcome.count("member-reads") + outcome.count("member-writes");
        assert_eq!(asked as f64 / REQUESTS as f64, requests, "RAID {level} of {members}");
        assert_near(outcome.per_s() / one, drives / requests, 0.06, &format!("RAID {level} of {members}"));
    }
}
