//! Media that turn: hard disks, magneto-optical disks, ZIP disks.
//!
//! The model: a layout of sectors ([`geometry`]), an arm with a seek curve ([`seek`]), both with a memory for what was
//! read ([`mechanism`]). On top of it a hard disk has a queue and a write cache ([`drive`]), and a drive for removable
//! disks writes in passes ([`removable`]). Time follows from where the head is and from the angle of the disk; only the
//! choice of the next command and writing back need events.

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

pub use params::{DISK, MAGNETO_OPTICAL, REMOVABLE};
