//! Others that do the same run at the same time, as a run sees them.

use crate::{error::Result, workload::Workload};

/// Others that do the same run at the same time.
pub trait Company {
    /// Waits until all are ready for the next repetition. `run_started_ns`: when this run began. Both times, that and when all
    /// begin, are of this machine's monotonic clock.
    ///
    /// # Errors
    /// When the run is to be stopped, or who tells the time does not answer.
    fn meet(&self, run_started_ns: u64) -> Result<u64>;

    /// This one's place among how many.
    fn place(&self) -> (u32, u32);

    /// The folder in which all work, by its path and number. Who stands first has made it and tells it; the others are told.
    ///
    /// # Errors
    /// When nobody made one, or who did does not answer.
    fn common_folder(&self, made: Option<(String, u64)>) -> Result<(String, u64)>;

    /// The part of a workload that is done here; of one that is no cell, such as the writing of a test file, likewise.
    fn part(&self, workload: Workload, is_cell: bool) -> Workload;
}
