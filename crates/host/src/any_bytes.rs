//! Runs every parser of this crate on the same bytes. Used by the property tests and the fuzzer.

use crate::signature::{Extract, signatures};
use crate::{claims, device, health, identity, link, machine, mount, noise, processes, roots};
use std::path::Path;

/// Parses bytes as each of the kernel's files and of the other programs' outputs that this crate
/// reads. No parser may panic.
pub fn parse_all(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mounts = mount::parse(bytes);
    mount::holding(&mounts, Path::new("/mnt/x"), (8, 1));
    for mount in &mounts {
        mount.all_options();
        mount.option("upperdir");
    }
    mount::parse_number(&text);
    mount::unescape(bytes);
    claims::inquiry::parse_swaps(bytes);
    processes::opened_for_writing(&text);
    processes::has_lock(&text);
    processes::parse_maps(bytes).count();
    processes::parse_locks(bytes).count();
    noise::parse_disk_stat(&text);
    noise::parse_own_io(&text);
    noise::parse_cpu(&text);
    noise::parse_own_ticks(&text);
    noise::parse_pressure_us(&text);
    identity::parse_start_ticks(&text);
    identity::is_killed(&text);
    link::leading_number(&text);
    machine::parse_cpu_list(&text);
    roots::chosen(&text);
    device::parse_ata_page(bytes);
    device::parse_serial_page(bytes);
    device::parse_udev(&text);
    claims::wipefs::parse(bytes);
    health::parse_smartctl(bytes).ok();
    health::parse_nvme(bytes).ok();
    health::health_report(bytes);
    let pieces = [(0, bytes.to_vec())];
    for size_bytes in [bytes.len() as u64, 1 << 40] {
        signatures(&Extract { pieces: &pieces, size_bytes });
    }
}
