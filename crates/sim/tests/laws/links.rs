//! A faster link never slows anything down.

use super::{device, drive, in_order, scattered, with_layer};
use kurabe_sim::RequestKind;

/// Exact for one request at a time; 3 % for rotating media, because a request that arrives slightly
/// sooner may find a slightly worse angle.
fn check(kind: &str, key: &str, values: &[&str]) {
    let devices = with_layer(kind);
    assert!(!devices.is_empty());
    for (name, layer) in devices {
        let length_ns = |value: &&str| {
            let parameter = format!("{layer}.{key}");
            let mut stack = device(name, &[(&parameter, value)]);
            let span_bytes = stack.capacity_bytes().min(1 << 30);
            let requests = [
                scattered(RequestKind::Read, 60, 4096, span_bytes, 16),
                in_order(RequestKind::Write, 0, 20, 65_536),
                in_order(RequestKind::Read, 16 << 20, 40, 65_536),
            ]
            .concat();
            drive(&mut stack, &requests, 1).length_ns
        };
        let lengths: Vec<u64> = values.iter().map(length_ns).collect();
        let turns =
            ["disk", "removable"].iter().any(|kind| with_layer(kind).iter().any(|other| other.0 == name));
        let most = if turns { 1.03 } else { 1.0 };
        let slower = lengths.windows(2).any(|pair| pair[1] as f64 > pair[0] as f64 * most);
        assert!(!slower, "{name}, {key}: {lengths:?}");
    }
}

#[test]
fn of_sata() {
    check("sata", "generation", &["sata-1", "sata-2", "sata-3"]);
}

#[test]
fn of_pci_express_by_generation_and_by_lanes() {
    check("pcie", "generation", &["1", "2", "3", "4"]);
    check("pcie", "lanes", &["1", "2", "4", "8"]);
}
