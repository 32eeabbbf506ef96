//! The interface to other processes that perform the same run concurrently.

use crate::{error::Result, workload::Workload};

/// The other processes that perform the same run concurrently.
pub trait Company {
    /// Waits until all processes are ready for the next repetition, and returns its common start
    /// time. `run_started_ns` is the start of this run. Both times are on this machine's monotonic
    /// clock.
    ///
    /// # Errors
    /// Fails if the run must stop, or if the process that provides the common time does not
    /// respond.
    fn meet(&self, run_started_ns: u64) -> Result<u64>;

    /// Returns this process's zero-based position and the number of processes.
    fn place(&self) -> (u32, u32);

    /// Returns the path and number of the folder that all processes share. The first process has
    /// created it and passes it in `made`; the others receive it.
    ///
    /// # Errors
    /// Fails if no process created the folder, or if its creator does not respond.
    fn common_folder(&self, made: Option<(String, u64)>) -> Result<(String, u64)>;

    /// Returns this process's part of a workload. `is_cell` is false for other work, such as
    /// writing the test file.
    fn part(&self, workload: Workload, is_cell: bool) -> Workload;
}
