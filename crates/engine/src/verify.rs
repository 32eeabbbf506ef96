//! Whether storage keeps what it was given: writes that say what they are, a ledger of what was promised, and the
//! comparison of an image with both.
//!
//! The model: each sector of 512 bytes that a verified run writes bears a stamp (whose run, which place, which write of
//! the run). The ledger knows, for each sector, the last write that was issued and the oldest that may still be read
//! there: what was acknowledged before a flush began must be there when that flush is done, or something newer. So an
//! image that is found later, after a power cut say, is judged without any memory of the bytes.
//!
//! Not here: reads are not checked while they are measured.

mod image;
mod ledger;
mod list;
mod stamp;

pub use image::{FaultKind, ImageCheck, SectorFault, check_image};
pub use ledger::Ledger;
pub(crate) use ledger::Stamping;
pub use list::WriteList;
