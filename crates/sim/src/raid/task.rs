//! Tasks of the card that involve its members.

use super::parity::ParityUpdate;
use crate::world::JobId;

/// Action when the requests to the members have returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NextStep {
    /// Answer the host's read.
    #[default]
    Read,
    /// Answer the host's write or flush.
    Answer,
    /// Compute and write parity.
    Compute,
    /// End the write of a row.
    Row,
    /// End a read-ahead.
    Ahead,
}

/// A task in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct RaidTask {
    pub(super) step: NextStep,
    /// The host's request that waits for it.
    pub(super) job: Option<JobId>,
    /// The task that waits for it: that of a write to several rows.
    pub(super) above: Option<u32>,
    /// Requests to members that have not returned, subtasks that are not done, and read-aheads to
    /// wait for.
    pub(super) pending: u32,
    /// Bytes from which data of failed members are computed.
    pub(super) computed_bytes: u64,
    /// For a write-back: the oldest write in it.
    pub(super) number: u64,
    /// First byte in the array.
    pub(super) from: u64,
    /// The byte after the last.
    pub(super) to: u64,
    /// End of the transfer of cached data to the host.
    pub(super) copied_ns: u64,
    /// Bytes still to be copied to the host when the drives have delivered.
    pub(super) copy_bytes: u64,
    /// For a row: the ranges written. For a read: the ranges that the drives deliver.
    pub(super) stretches: Vec<(u64, u64)>,
    /// For a row: the plan of its update.
    pub(super) plan: ParityUpdate,
    /// For a read-ahead: the tasks that wait for it.
    pub(super) waiters: Vec<u32>,
}

/// All tasks, in reusable slots.
#[derive(Clone, Debug, Default)]
pub(super) struct Tasks {
    list: Vec<RaidTask>,
    free: Vec<u32>,
}

impl Tasks {
    pub(super) fn begin(&mut self, step: NextStep, job: Option<JobId>, from: u64, to: u64) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| {
            self.list.push(RaidTask::default());
            self.list.len() as u32 - 1
        });
        let task = &mut self.list[id as usize];
        (task.step, task.job, task.above, task.pending) = (step, job, None, 0);
        (task.from, task.to, task.copied_ns, task.copy_bytes) = (from, to, 0, 0);
        (task.number, task.computed_bytes) = (0, 0);
        task.stretches.clear();
        id
    }

    /// Releases the slot of a task.
    pub(super) fn end(&mut self, id: u32) {
        self.free.push(id);
    }
}

impl std::ops::Index<u32> for Tasks {
    type Output = RaidTask;

    fn index(&self, id: u32) -> &RaidTask {
        &self.list[id as usize]
    }
}

impl std::ops::IndexMut<u32> for Tasks {
    fn index_mut(&mut self, id: u32) -> &mut RaidTask {
        &mut self.list[id as usize]
    }
}
