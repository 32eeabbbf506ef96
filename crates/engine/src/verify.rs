//! Verification that storage keeps the data written to it: stamped writes, a ledger of the promised
//! writes, and the comparison of an image with both.
//!
//! Each sector of 512 bytes that a verified run writes carries a stamp (run, sector, number of the
//! write). For each sector, the ledger stores the last write that was issued and the oldest one
//! that may still be read. Writes that were acknowledged before a flush started must be readable
//! once the flush is complete, unless a newer write replaced them. An image found later, for
//! example after a power cut, can thus be judged without a copy of the data.
//!
//! Reads are not verified during the measurement.

mod image;
mod ledger;
mod list;
mod stamp;

pub use image::{FaultKind, ImageCheck, SectorFault, check_image};
pub use ledger::Ledger;
pub(crate) use ledger::Stamping;
pub use list::WriteList;
