//! The kinds of layers.
//!
//! # To add a kind of layer
//!
//! - Write a file with a `LayerKind` (word, `parameters!`, relations, `build`) and a `Layer`, or a
//!   `Discipline` if it links the host with the medium (`link.rs`). `constant.rs` is the smallest.
//! - Charge every nanosecond to a cause, and give the cause the class by which an observer can recognise it
//!   (`CauseClass`). Implement `at_risk` if the layer holds acknowledged data, `lift` if its addresses differ from
//!   those below it, and `change` for parameters marked live.
//! - Name the layer, its parameters, causes and counters in a page of `sim/words/`, and add its line to `KINDS`.
//! - Test its laws by property tests. State the limits of the model in docs/models.md and docs/ja/models.md, whose
//!   tables a test writes.

use crate::layer::LayerKind;

/// Every kind of layer, from the host down.
pub const KINDS: &[&LayerKind] = &[
    // The host and file systems.
    &crate::zfs::ZFS,
    &crate::journal::JOURNAL,
    &crate::host::HOST,
    &crate::filesystem::FILESYSTEM,
    &crate::page_cache::PAGE_CACHE,
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
    // Anything else.
    &crate::counterfeit::COUNTERFEIT,
    &crate::constant::CONSTANT,
];
