//! Devices and files that share bytes with a device or a file.
//!
//! Writing to a disk destroys its partitions, and writing to a partition changes its disk. A loop
//! device writes through to its backing file or device, across any number of nested loop devices,
//! and all loop devices on one file share its bytes. The backing file is identified as an object,
//! not by name: a hard link, a bind mount and a deleted name refer to the same file.

use crate::{block::BlockNode, platform::Object, roots::Roots};
use std::io;

/// A loop device that has a backing file or device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    pub block: BlockNode,
    /// The backing object. `None` if it can't be determined.
    pub on: Option<Object>,
}

/// A device of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub block: BlockNode,
    /// Whether the whole device belongs to the family, instead of only one of its partitions.
    pub whole: bool,
}

/// Everything that shares bytes with a device or a file.
#[derive(Debug, Default)]
pub(crate) struct Family {
    /// Devices of the family. The first one is the device itself.
    pub members: Vec<Member>,
    /// Backing files of loop devices, or the file itself.
    pub files: Vec<Object>,
}

impl Family {
    /// Returns the family of a device.
    ///
    /// # Errors
    /// Fails if sysfs does not provide the necessary information.
    pub(crate) fn of_device(roots: &Roots, loops: &[Loop], block: &BlockNode) -> io::Result<Self> {
        let mut family = Self::default();
        Gathering { roots, loops, family: &mut family }.device(block, true)?;
        Ok(family)
    }

    /// Returns the family of a file.
    ///
    /// # Errors
    /// Fails if sysfs does not provide the necessary information.
    pub(crate) fn of_file(roots: &Roots, loops: &[Loop], file: Object) -> io::Result<Self> {
        let mut family = Self::default();
        Gathering { roots, loops, family: &mut family }.object(file)?;
        Ok(family)
    }

    /// Returns the devices and files as objects.
    pub(crate) fn objects(&self) -> Vec<Object> {
        let numbers = self.members.iter().filter_map(|member| member.block.number());
        numbers.map(Object::Device).chain(self.files.iter().copied()).collect()
    }

    /// Returns the device of an object, if it belongs to the family.
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
            Some(None) => Err(io::Error::other(format!("the devices under {} are not visible", block.name))),
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
            // The device through which this one was reached stays unchanged: a partition's disk is
            // not a whole member.
            if !self.family.members.iter().any(|member| member.block.name == other.block.name) {
                self.device(&other.block, true)?;
            }
        }
        Ok(())
    }
}
