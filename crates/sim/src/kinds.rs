//! The kinds of layers.

use crate::layer::LayerKind;

/// Every kind of layer, from the host down.
pub const KINDS: &[&LayerKind] = &[
    // The host and file systems.
    &crate::zfs::ZFS,
    &crate::host::HOST,
    &crate::filesystem::FILESYSTEM,
    // Buses and links.
    &crate::sata::SATA,
    &crate::port_multiplier::PORT_MULTIPLIER,
    &crate::pcie::PCIE,
    &crate::usb::USB,
    &crate::scsi::SCSI,
    &crate::limiter::LIMITER,
    // RAID and mirrors.
    &crate::raid::RAID,
    &crate::md::MD,
    &crate::mirror::MIRROR,
    &crate::raidz::RAIDZ,
    // Emulators of disks: images, cards.
    &crate::fat_image::FAT_IMAGE,
    &crate::card::CARD,
    // Disks and removable media.
    &crate::disk::DISK,
    &crate::shingle::SHINGLE,
    &crate::disk::MAGNETO_OPTICAL,
    &crate::disk::REMOVABLE,
    // Flash.
    &crate::ssd::SSD,
    &crate::coarse::COARSE,
    // Anything.
    &crate::constant::CONSTANT,
];
