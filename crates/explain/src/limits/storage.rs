//! What the cells of a run stood on.

use crate::ceiling::{Ceiling, ceiling};
use kurabe_core::environment::{BlockDevice, Environment, Link};
use kurabe_core::record::{RunRecord, TargetKind};

/// What the cells stood on.
pub(crate) struct StorageFacts {
    pub(super) link: Option<Ceiling>,
    /// Of several devices: the connection that each has, if all have the same, and how many they are.
    pub(super) each_link: Option<Ceiling>,
    pub(super) drives: usize,
    /// Whether the medium turns, if all devices say the same.
    pub(super) turns: Option<bool>,
    /// Whether the kernel can ask the drive whether it turns: on ATA and NVMe. Of SCSI and USB it says that everything turns that
    /// does not deny it.
    pub(super) is_asked: bool,
    /// Whether a hypervisor or another file stands before the device.
    pub(super) is_hidden: bool,
    /// Who sells it as a volume, with limits of operations and bytes.
    pub(super) provider: Option<&'static str>,
    /// Several devices: none of their links is the limit of all.
    pub(crate) several: bool,
    /// Whether places lie all over a device.
    pub(super) is_whole: bool,
    /// The file system, if it lies in the computer's memory and nothing is below it.
    pub(super) in_memory: Option<String>,
    /// Whether operations went through the page cache.
    pub(super) cached: bool,
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
        let is_asked = |one: &BlockDevice| matches!(one.link, Some(Link::Sata { .. } | Link::Pcie { .. }));
        let is_asked = devices.iter().all(is_asked);
        let stored =
            |kind| matches!(kind, TargetKind::File | TargetKind::Directory | TargetKind::BlockDevice);
        let cached =
            record.header.target.as_ref().is_some_and(|target| !target.direct && stored(target.kind));
        let is_whole = record.header.profile.as_ref().is_some_and(|profile| profile.rules.whole_device);
        let in_memory = file_system_in_memory(&record.header.environment);
        let (drives, several) = (devices.len(), devices.len() > 1);
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
        }
    }
}

/// The file system of a run, if it is memory alone.
fn file_system_in_memory(environment: &Environment) -> Option<String> {
    let devices = &environment.devices;
    let memory = |device: &BlockDevice| device.link == Some(Link::Memory);
    (!devices.is_empty() && devices.iter().all(memory)).then(|| {
        let kind = environment.file_system.as_ref().and_then(|file_system| file_system.kind.clone());
        kind.unwrap_or_else(|| devices[0].name.clone())
    })
}
