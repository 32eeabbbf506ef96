//! What the time of a turning medium goes to, in words for its reader.

use super::mechanism::Access;
use crate::build::words;
use crate::world::{JobId, World};

words! {
    /// What the time of a disk goes to.
    pub(super) struct Causes from "disk" {
        memory: cause("memory");
        room: cause("room");
        back: cause("written-back");
        flush: cause("flush");
        waiting: line("waiting");
        command: cause("command");
        seek: cause("seek");
        rotation: cause("rotation");
        transfer: cause("transfer");
        switch: cause("switch");
    }
}

impl Causes {
    /// Charges the phases of an access.
    pub(super) fn charge(&self, world: &mut World, job: JobId, access: &Access) {
        world.charge(job, self.seek, access.sought_ns);
        world.charge(job, self.memory, access.data_ns);
        world.charge(job, self.rotation, access.turned_ns);
        world.charge(job, self.switch, access.turned_ns + access.switch_ns);
        world.charge(job, self.transfer, access.end_ns);
    }
}
