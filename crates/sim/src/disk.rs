//! Rotating media: hard disks, magneto-optical disks, ZIP disks.
//!
//! The model: a layout of sectors ([`geometry`]), an arm with a seek curve ([`seek`]), and both
//! with a read buffer ([`mechanism`]). In addition, a hard disk has a queue and a write cache
//! ([`drive`]), and a drive for removable disks writes in passes ([`removable`]). Times follow from
//! the position of the head and the angle of the disk; only the choice of the next command and the
//! write-back need events.

mod dirty;
mod drive;
mod geometry;
mod layout;
mod mechanism;
mod params;
mod removable;
mod seek;

#[cfg(test)]
mod laws;

pub use drive::DISK;
pub use removable::{MAGNETO_OPTICAL, REMOVABLE};
