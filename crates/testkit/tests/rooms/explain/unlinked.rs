//! Limits of transfers over a connection whose rate the record does not contain.

use crate::explain::blind::{measured_on, model, profile, take_time, without_account};
use kurabe_core::environment::{BlockDevice, Link};
use kurabe_core::record::RunRecord;
use kurabe_explain::{Limit, LimitKind, Strength, limits_from_outside};

/// Returns a quick run on a device whose connection the kernel does not report.
fn unlinked(device: &str) -> RunRecord {
    let mut profile = profile("quick", None);
    take_time(&mut profile, 60_000_000);
    let mut record = without_account(measured_on(model(device), &profile));
    for device in &mut record.header.environment.devices {
        device.link = None;
    }
    record
}

fn limit(record: &RunRecord, part: &str, label: &str) -> Limit {
    let mut limits = limits_from_outside(record).into_iter();
    let is_it = |limit: &kurabe_explain::CellLimit| limit.part == part && limit.label.starts_with(label);
    limits.find(is_it).expect("a limit").limit
}

/// Asserts that a limit is likely, is of this kind, and says this.
fn is_likely(limit: &Limit, kind: LimitKind, words: &str) {
    assert_eq!((limit.kind, limit.strength), (kind, Strength::Likely), "{limit:?}");
    let says = limit.sentence.en.contains(words) || limit.evidence.en.contains(words);
    assert!(says && !limit.evidence.ja.is_empty(), "{words}: {limit:?}");
}

#[test]
fn one_fast_operation_shows_that_the_connection_of_a_hard_disk_carries_more() {
    let record = unlinked("wd-red-3tb");
    for part in ["read", "write"] {
        is_likely(&limit(&record, part, "SEQ"), LimitKind::DeviceRate, "the connection carries at least");
    }
    // The same disk behind a host that has a cache of its own.
    let mut hidden = record.clone();
    hidden.header.environment.devices[0].link = Some(Link::Virtio);
    assert_eq!(limit(&hidden, "write", "SEQ").kind, LimitKind::Unknown);
}

#[test]
fn a_rate_at_which_only_a_line_ends_is_that_of_the_line() {
    let record = unlinked("samsung-870-evo");
    for part in ["read", "write"] {
        is_likely(&limit(&record, part, "SEQ"), LimitKind::Link, "SATA at 6 Gbit/s");
    }
    is_likely(&limit(&unlinked("samsung-990-pro"), "read", "SEQ"), LimitKind::Link, "PCIe at 16 GT/s ×4");
}

#[test]
fn a_rate_at_which_no_connection_ends_is_the_device_s_own() {
    let mut record = unlinked("crucial-p1");
    is_likely(&limit(&record, "read", "SEQ"), LimitKind::DeviceRate, "no common connection ends");
    // A network may end anywhere.
    let other = Some(Link::Other { subsystem: "nvme-tcp".to_owned() });
    record.header.environment.devices = vec![BlockDevice { link: other, ..BlockDevice::default() }];
    assert_eq!(limit(&record, "read", "SEQ").kind, LimitKind::Unknown);
}

#[test]
fn near_the_rate_of_a_connection_the_limit_is_open_and_says_between_what() {
    let open = limit(&unlinked("samsung-980"), "read", "SEQ");
    assert_eq!((open.kind, open.strength), (LimitKind::Unknown, Strength::None), "{open:?}");
    assert!(open.sentence.en.contains("the connection or the device"), "{open:?}");
    let next = |limit: &Limit| limit.next.as_ref().expect("how to find out").en.clone();
    assert!(next(&open).contains("PCIe at 8 GT/s ×4") && next(&open).contains("another port"), "{open:?}");
    // A probe tells the medium of a hard disk from its bus.
    let disk = limit(&unlinked("seagate-cheetah-9lp"), "read", "SEQ");
    assert!(disk.sentence.en.contains("the connection or the medium"), "{disk:?}");
    assert!(next(&disk).contains("--probe"), "{disk:?}");
    let card = limit(&unlinked("sandisk-extreme-a1-sd"), "read", "SEQ");
    assert!(card.kind == LimitKind::Unknown && next(&card).contains("root"), "{card:?}");
}

#[test]
fn small_writes_of_an_array_wait_for_a_medium_only_if_their_times_differ() {
    let alike = limit(&unlinked("mirror3-usb"), "write", "RND 4 KiB Q1");
    assert_eq!((alike.kind, alike.strength), (LimitKind::Command, Strength::Likely), "{alike:?}");
    let few_slow = limit(&unlinked("md-raid1-2"), "write", "RND 4 KiB Q1");
    assert_eq!((few_slow.kind, few_slow.strength), (LimitKind::WriteCache, Strength::Likely), "{few_slow:?}");
}
