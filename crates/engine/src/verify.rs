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

use crate::real::Real;
use crate::session::Session;
use kurabe_core::profile::{Task, Work};
use kurabe_core::record::TargetKind;
use kurabe_core::{Error, ErrorKind, Result, text};

impl Session<'_, Real<'_>> {
    /// Refuses what cannot be verified.
    ///
    /// # Errors
    /// When the target goes with the run, or something writes past the stamps.
    pub(crate) fn check_verified(&self, tasks: &[Task]) -> Result<()> {
        let target = &self.ground.target;
        if !target.is_verified() {
            return Ok(());
        }
        if !matches!(target.kind(), TargetKind::File | TargetKind::BlockDevice) {
            return Err(Error::new(
                ErrorKind::Usage,
                text!(
                    "--verify needs a target that is there afterwards, and a test file is removed",
                    "--verify には測定後も残る対象が必要です(テストファイルは消えます)"
                ),
            )
            .remedy(text!(
                "name a block device with --destroy-data-on, or a file with --write-existing",
                "--destroy-data-on でブロックデバイスを、または --write-existing でファイルを指定してください"
            )));
        }
        match tasks.iter().find(|task| matches!(task.work, Work::Copy(_) | Work::Command(_))) {
            None => Ok(()),
            Some(Task { label, .. }) => Err(Error::new(
                ErrorKind::Usage,
                text!(
                    "{label} writes in its own way, which cannot be verified",
                    "{label} は独自の方法で書き込むため、検証できません"
                ),
            )
            .remedy(text!(
                "verify reads and writes that kurabe issues itself: --rw randwrite, or --replay FILE",
                "検証できるのは kurabe 自身の読み書きです(--rw randwrite、--replay ファイル)"
            ))),
        }
    }
}
