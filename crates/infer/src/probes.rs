//! The first probes, and those among which the next ones are chosen.

use crate::workload::{ProbeRegion, ProbeWorkload, ProbeWrites};

const KIB: u32 = 1 << 10;
const MIB: u32 = 1 << 20;
/// A region that a memory in the device may hold.
const NEAR: ProbeRegion = ProbeRegion::first(64 << 20);

/// Returns the probes that every device gets. Those that write come last.
pub(crate) fn first_probes(writes: bool) -> Vec<ProbeWorkload> {
    use ProbeWorkload as Probe;
    let mut probes = vec![
        Probe::random(4 * KIB, 1),
        Probe::random(16 * KIB, 1),
        Probe::random(64 * KIB, 1),
        Probe::random(256 * KIB, 1),
        Probe::random(MIB, 1),
        Probe::sequential(4 * KIB, 1),
        Probe::sequential(64 * KIB, 1),
        Probe::sequential(MIB, 1),
        Probe::random(4 * KIB, 4),
        Probe::random(4 * KIB, 32),
        Probe::sequential(128 * KIB, 32),
        Probe::random(64 * KIB, 32),
        Probe::random(4 * KIB, 1).within(ProbeRegion::part(0, 20)),
        Probe::random(4 * KIB, 1).within(ProbeRegion::part(0, 250)),
        Probe::sequential(MIB, 1).within(ProbeRegion::part(500, 600)),
        Probe::sequential(MIB, 1).within(ProbeRegion::part(950, 1000)),
        Probe { order: crate::ProbeOrder::Again, ..Probe::random(4 * KIB, 1) },
    ];
    if writes {
        probes.extend([
            Probe::random(4 * KIB, 1).writing(),
            Probe::random(64 * KIB, 1).writing(),
            Probe::random(MIB, 1).writing(),
            Probe::sequential(4 * KIB, 1).writing(),
            Probe::sequential(64 * KIB, 1).writing(),
            Probe::sequential(MIB, 1).writing(),
            Probe::random(4 * KIB, 32).writing(),
            Probe::sequential(128 * KIB, 32).writing(),
        ]);
    }
    probes
}

/// Returns the probes among which the next ones are chosen.
pub(crate) fn further_probes(writes: bool) -> Vec<ProbeWorkload> {
    use ProbeWorkload as Probe;
    let mut probes = Vec::new();
    for block in [4, 8, 24, 48, 96, 192, 512, 768].map(|size| size * KIB) {
        probes.extend([
            Probe::random(block, 1),
            Probe::random(block, 4),
            Probe::sequential(block, 2),
            Probe { order: crate::ProbeOrder::Again, ..Probe::random(block, 1) }.within(NEAR),
        ]);
        if writes {
            probes.extend([
                Probe::random(block, 1).writing(),
                Probe::random(block, 1).writing().within(NEAR),
                Probe::random(block, 1).with(ProbeWrites::Percent(50)),
                Probe::random(block, 8).with(ProbeWrites::Percent(30)),
                Probe::sequential(block, 1).writing(),
                Probe::sequential(block, 1).with(ProbeWrites::Percent(50)),
            ]);
        }
    }
    probes
}
