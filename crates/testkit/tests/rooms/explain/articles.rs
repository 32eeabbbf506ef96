//! The reasons that published comparisons give, inferred without the model's account.

use crate::explain::blind::{measured_on, model_with, profile, without_account};
use kurabe_explain::{LimitKind, limits_from_outside};

/// A reason from an article: the cell in which it appears, and the limit that must be inferred.
struct Reason {
    what: &'static str,
    device: &'static str,
    changes: &'static [(&'static str, &'static str)],
    profile: &'static str,
    /// Part and label of the cell.
    cell: (&'static str, &'static str),
    kind: LimitKind,
}

const fn reason(
    what: &'static str,
    device: &'static str,
    profile: &'static str,
    cell: (&'static str, &'static str),
    kind: LimitKind,
) -> Reason {
    Reason { what, device, changes: &[], profile, cell, kind }
}

const SEQUENTIAL: (&str, &str) = ("read", "SEQ 1 MiB Q8 T1");
const RANDOM: (&str, &str) = ("read", "RND 4 KiB Q1 T1");
const RANDOM_WRITE: (&str, &str) = ("write", "RND 4 KiB Q1 T1");

const REASONS: [Reason; 11] = [
    reason("the FAT chain", "henkan-bancho-pro", "probe", RANDOM, LimitKind::Walk),
    reason("the FAT chain", "rascsi", "probe", RANDOM, LimitKind::Walk),
    reason("the card programs", "scsi2sd-v6", "quick", RANDOM_WRITE, LimitKind::SmallWrites),
    reason("the SCSI bus", "henkan-bancho", "probe", SEQUENTIAL, LimitKind::Link),
    reason("the handshake of every byte", "scsi2sd-v5-mac", "probe", SEQUENTIAL, LimitKind::Link),
    reason("one command at a time over USB", "mirror3-usb", "probe", SEQUENTIAL, LimitKind::Link),
    reason("the port serves one drive at a time", "mirror3-sata-cbs", "probe", SEQUENTIAL, LimitKind::Link),
    reason("the card's processor", "raid-9260", "probe", SEQUENTIAL, LimitKind::DeviceRate),
    Reason {
        changes: &[("pcie.generation", "1")],
        ..reason("the slot", "raid-9260-cached", "quick", SEQUENTIAL, LimitKind::Link)
    },
    reason("a unit is rewritten", "samsung-fit-plus-exfat", "quick", RANDOM_WRITE, LimitKind::SmallWrites),
    reason(
        "reads wait behind writes",
        "ocz-core-v2",
        "stutter",
        ("mix", "RND 4 KiB Q4 T1"),
        LimitKind::BehindWrites,
    ),
];

#[test]
fn the_reasons_of_the_articles_are_found() {
    for Reason { what, device, changes, profile: name, cell: (part, label), kind } in REASONS {
        let record = without_account(measured_on(model_with(device, changes), &profile(name, None)));
        let limits = limits_from_outside(&record);
        let limit = limits.iter().find(|limit| limit.part == part && limit.label == label).unwrap();
        assert_eq!(limit.limit.kind, kind, "{what}, {device}: {:?}", limit.limit.sentence);
    }
}
