//! Facts about the storage that the cells of a run were measured on.

use crate::ceiling::{Ceiling, ceiling};
use kurabe_core::environment::{BlockDevice, Environment, Link};
use kurabe_core::record::{RunRecord, TargetKind};

/// Bus that the kernel's name of a device implies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bus {
    /// `nvme0n1`: PCI Express.
    Nvme,
    /// `sda`: SATA, SAS or USB.
    Scsi,
    /// `mmcblk0`: the lines of a card, whose clock depends on the host.
    Card,
    /// `nbd0`, `rbd0`, `drbd0`: a network, whose rate may be that of the server.
    Network,
}

impl Bus {
    /// Returns the bus of a device by its kernel name. `None` if the name does not determine it.
    pub(super) fn of(name: &str) -> Option<Self> {
        let buses = [
            ("nvme", Self::Nvme),
            ("sd", Self::Scsi),
            ("hd", Self::Scsi),
            ("mmcblk", Self::Card),
            ("nbd", Self::Network),
            ("rbd", Self::Network),
            ("drbd", Self::Network),
        ];
        buses.into_iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, bus)| bus)
    }
}

/// Facts about the storage below a run.
pub(crate) struct StorageFacts {
    pub(super) link: Option<Ceiling>,
    /// For several devices, the connection of each if all have the same one. `drives` is their
    /// number.
    pub(super) each_link: Option<Ceiling>,
    pub(super) drives: usize,
    /// Whether the medium is rotational, if all devices agree.
    pub(super) turns: Option<bool>,
    /// Whether the kernel can ask the drive if it is rotational, as on ATA and NVMe and of cards in a
    /// slot. For SCSI and USB, it reports every device as rotational unless the device says
    /// otherwise, and some bridges and network targets call a hard disk non-rotational.
    pub(super) is_asked: bool,
    /// Whether a hypervisor or another file is in front of the device.
    pub(super) is_hidden: bool,
    /// Provider that sells it as a volume with limits on operations and bytes.
    pub(super) provider: Option<&'static str>,
    /// Whether there are several devices, so that no single link limits all of them.
    pub(crate) several: bool,
    /// Whether the offsets cover a whole device.
    pub(super) is_whole: bool,
    /// The file system, if it is in the computer's memory without a device below it.
    pub(super) in_memory: Option<String>,
    /// Whether operations went through the page cache.
    pub(super) cached: bool,
    /// Whether the file system has a cache of its own, which direct I/O does not bypass.
    pub(super) has_own_cache: bool,
    /// Largest request in bytes that the kernel sends to the device.
    pub(super) largest_request: Option<u64>,
    /// The bus that the kernel's names of the devices imply.
    pub(super) bus: Option<Bus>,
    /// Whether the connection is a network or an adapter of which only the driver is known.
    pub(super) is_other: bool,
}

impl StorageFacts {
    pub(super) fn of(record: &RunRecord) -> Self {
        let devices = &record.header.environment.devices;
        let link = match devices.as_slice() {
            [one] => one.link.as_ref().and_then(ceiling),
            _ => None,
        };
        let same = devices.windows(2).all(|two| two[0].link == two[1].link);
        let each_link = devices.first().filter(|_| same && link.is_none());
        let each_link = each_link.and_then(|one| one.link.as_ref()).and_then(ceiling);
        let turns = devices
            .first()
            .and_then(BlockDevice::turns)
            .filter(|turns| devices.iter().all(|one| one.turns() == Some(*turns)));
        let provider = devices.first().and_then(BlockDevice::provider);
        let is_hidden = devices.iter().any(BlockDevice::is_hidden);
        let is_asked = |one: &BlockDevice| {
            matches!(one.link, Some(Link::Sata { .. } | Link::Pcie { .. } | Link::CardLines { .. }))
        };
        let is_asked = devices.iter().all(is_asked);
        let stored =
            |kind| matches!(kind, TargetKind::File | TargetKind::Directory | TargetKind::BlockDevice);
        let cached =
            record.header.target.as_ref().is_some_and(|target| !target.direct && stored(target.kind));
        let is_whole = record.header.profile.as_ref().is_some_and(|profile| profile.rules.whole_device);
        let in_memory = file_system_in_memory(&record.header.environment);
        let (drives, several) = (devices.len(), devices.len() > 1);
        let file_system = record.header.environment.file_system.as_ref();
        let has_own_cache = file_system.and_then(|one| one.kind.as_deref()) == Some("zfs");
        let largest_request = devices.iter().filter_map(|one| one.largest_request_bytes).min();
        let largest_request = largest_request.filter(|bytes| *bytes > 0);
        let bus = devices.first().and_then(|one| Bus::of(&one.name));
        let bus = bus.filter(|bus| devices.iter().all(|one| Bus::of(&one.name) == Some(*bus)));
        let is_other = devices.iter().any(|one| matches!(one.link, Some(Link::Other { .. })));
        Self {
            link,
            each_link,
            drives,
            turns,
            is_asked,
            is_hidden,
            provider,
            several,
            is_whole,
            in_memory,
            cached,
            has_own_cache,
            largest_request,
            bus,
            is_other,
        }
    }
}

/// Returns the file system of a run if it only uses memory.
fn file_system_in_memory(environment: &Environment) -> Option<String> {
    let devices = &environment.devices;
    let memory = |device: &BlockDevice| device.link == Some(Link::Memory);
    (!devices.is_empty() && devices.iter().all(memory)).then(|| {
        let kind = environment.file_system.as_ref().and_then(|file_system| file_system.kind.clone());
        kind.unwrap_or_else(|| devices[0].name.clone())
    })
}
