//! Which devices and files share bytes with a device or a file.
//!
//! The model: writing to a disk destroys its partitions, and writing to a partition changes its disk. A loop device writes
//! through to what it stands on, however many of them stand on one another, and all loop devices over one file share its
//! bytes. What they stand on is an object and no name: a hard link, a bind mount and a name that is gone lead to one file.

use crate::{block::BlockNode, platform::Object, roots::Roots};
use std::io;

/// A loop device that has something under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    pub block: BlockNode,
    /// What it stands on; `None` if that cannot be found out.
    pub on: Option<Object>,
}

/// A device of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub block: BlockNode,
    /// Whether all of it belongs to the family, and not only a partition of it.
    pub whole: bool,
}

/// Everything that shares bytes with a device or a file.
#[derive(Debug, Default)]
pub(crate) struct Family {
    /// Devices of the family, the device itself first.
    pub members: Vec<Member>,
    /// Files under loop devices, or the file itself.
    pub files: Vec<Object>,
}

impl Family {
    /// The family of a device.
    ///
    /// # Errors
    /// sysfs does not show what is needed.
    pub(crate) fn of_device(roots: &Roots, loops: &[Loop], block: &BlockNode) -> io::Result<Self> {
        let mut family = Self::default();
        Gathering { roots, loops, family: &mut family }.device(block, true)?;
        Ok(family)
    }

    /// The family of a file.
    ///
    /// # Errors
    /// sysfs does not show what is needed.
    pub(crate) fn of_file(roots: &Roots, loops: &[Loop], file: Object) -> io::Result<Self> {
        let mut family = Self::default();
        Gathering { roots, loops, family: &mut family }.object(file)?;
        Ok(family)
    }

    /// Devices and files as objects.
    pub(crate) fn objects(&self) -> Vec<Object> {
        let numbers = self.members.iter().filter_map(|member| member.block.number());
        numbers.map(Object::Device).chain(self.files.iter().copied()).collect()
    }

    /// The device with a number, if it belongs here.
    pub(crate) fn member(&self, object: Object) -> Option<&BlockNode> {
        let blocks = self.members.iter().map(|member| &member.block);
        let mut same = blocks.filter(|block| block.number().map(Object::Device) == Some(object));
        same.next()
    }
}

struct Gathering<'a> {
    roots: &'a Roots,
    loops: &'a [Loop],
    family: &'a mut Family,
}

impl Gathering<'_> {
    fn device(&mut self, block: &BlockNode, whole: bool) -> io::Result<()> {
        match self.family.members.iter_mut().find(|member| member.block.name == block.name) {
            Some(member) if member.whole || !whole => return Ok(()),
            Some(member) => member.whole = true,
            None => self.family.members.push(Member { block: block.clone(), whole }),
        }
        if let Some(disk) = block.disk() {
            self.device(&disk, false)?;
        }
        if whole {
            for partition in block.partitions()? {
                self.device(&partition, true)?;
            }
        }
        match self.loops.iter().find(|other| other.block.name == block.name).map(|other| other.on) {
            Some(Some(object)) => self.object(object),
            Some(None) => Err(io::Error::other(format!("what {} stands on cannot be seen", block.name))),
            None => Ok(()),
        }
    }

    fn object(&mut self, object: Object) -> io::Result<()> {
        if let Object::Device(number) = object {
            return self.device(&BlockNode::by_number(self.roots, number)?, true);
        }
        if self.family.files.contains(&object) {
            return Ok(());
        }
        self.family.files.push(object);
        for other in self.loops.iter().filter(|other| other.on == Some(object)) {
            // The one that led here stays as it is: a partition's disk is no member as a whole.
            if !self.family.members.iter().any(|member| member.block.name == other.block.name) {
                self.device(&other.block, true)?;
            }
        }
        Ok(())
    }
}
