//! What the card has under way with its members.

use super::parity::ParityUpdate;
use crate::world::JobId;

/// What is done when the requests to the members have returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NextStep {
    /// The host's read is answered.
    #[default]
    Read,
    /// The host's write, or flush, is answered.
    Answer,
    /// Parity is computed and written.
    Compute,
    /// The row is written.
    Row,
    /// The stretch is in the memory, ahead of the host.
    Ahead,
}

/// Something under way.
#[derive(Clone, Debug, Default)]
pub(super) struct RaidTask {
    pub(super) step: NextStep,
    /// The host's request that waits for it.
    pub(super) job: Option<JobId>,
    /// The task that waits for it: that of a write of several rows.
    pub(super) above: Option<u32>,
    /// Requests to members that have not returned, tasks below that are not done, read-aheads that are waited for.
    pub(super) pending: u32,
    /// Bytes from which those of failed members are computed.
    pub(super) computed_bytes: u64,
    /// Of what is written back: the oldest write in it.
    pub(super) number: u64,
    /// First byte of the array.
    pub(super) from: u64,
    /// The byte after the last.
    pub(super) to: u64,
    /// Until when data of the card's memory are on their way to the host.
    pub(super) copied_ns: u64,
    /// Bytes that are still to be copied to the host when the drives have delivered.
    pub(super) copy_bytes: u64,
    /// Of a row: what is written of it; of a read: what the drives deliver.
    pub(super) stretches: Vec<(u64, u64)>,
    /// Of a row: what that costs.
    pub(super) plan: ParityUpdate,
    /// Of a read-ahead: the tasks that wait for it.
    pub(super) waiters: Vec<u32>,
}

/// All of them, at places that are used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Tasks {
    list: Vec<RaidTask>,
    free: Vec<u32>,
}

impl Tasks {
    /// Begins one.
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

    /// Gives its place back.
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
