//! The chain from a path down to the bottom devices.
//!
//! A path lies in a mount, and the mount on one block device (or on several, on memory, or on
//! another directory). A partition lies on its disk, and a virtual device (device mapper, md,
//! bcache) on the devices in its `slaves`. A loop device is a bottom device with its own kind of
//! link. The storage under its file is reported as a layer instead of as further devices, because
//! several devices in the list indicate RAID or similar.

use crate::mount::{self, Mount};
use crate::platform::Number;
use crate::roots::{self, Roots};
use crate::subject::{ObserveOptions, Subject, SubjectKind};
use crate::{block::BlockNode, device::describe, journal::journal};
use kurabe_core::environment::{BlockDevice, Environment, FileSystem, Link};
use kurabe_core::shown;
use std::path::{Path, PathBuf};

/// Maximum depth of the stack. The kernel's own limit is far lower.
const DEEPEST: usize = 24;

/// File systems in memory.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "rootfs"];

/// File systems whose data is on another machine, or on the host of a virtual machine.
const ELSEWHERE: [&str; 12] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "9p",
    "virtiofs",
    "ceph",
    "afs",
    "lustre",
    "beegfs",
    "gpfs",
    "fuse.sshfs",
];

/// Asks the operating system for the kind of a path.
pub(crate) type PathInspector<'a> = &'a dyn Fn(&Path) -> Option<Subject>;

/// A traversal of the chain.
pub(crate) struct Walk<'a> {
    roots: &'a Roots,
    mounts: Vec<Mount>,
    look: PathInspector<'a>,
    /// How the bottom devices are described. Without it, they only have their names.
    options: Option<&'a ObserveOptions<'a>>,
    /// Whether the devices below the first ones are visited.
    pub to_the_bottom: bool,
    /// The devices visited, from the top down, without duplicates.
    pub numbers: Vec<Number>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        roots: &'a Roots,
        look: PathInspector<'a>,
        options: Option<&'a ObserveOptions<'a>>,
    ) -> Self {
        let mounts = mount::seen(roots);
        Self { roots, mounts, look, options, to_the_bottom: true, numbers: Vec::new() }
    }

    /// Adds the file system, layers and devices of a path to the environment.
    pub(crate) fn walk_subject(&mut self, subject: &Subject, depth: usize, into: &mut Environment) {
        match subject.kind {
            SubjectKind::Block(number) => match BlockNode::by_number(self.roots, number) {
                Ok(block) => self.descend(&block, None, depth, into),
                Err(error) => {
                    into.missing.push(format!("block device {}:{}: {error}", number.0, number.1));
                }
            },
            SubjectKind::Stored => self.walk_stored(subject, depth, into),
            SubjectKind::Other => {}
        }
    }

    fn walk_stored(&mut self, subject: &Subject, depth: usize, into: &mut Environment) {
        let Some(mount) = mount::holding(&self.mounts, &subject.path, subject.dev).cloned() else {
            into.missing.push(format!("file system of {}: mount not found", shown::path(&subject.path)));
            return;
        };
        if into.file_system.is_none() {
            into.file_system = Some(self.file_system(&mount, subject));
        }
        self.walk_mount(&mount, subject, depth, into);
    }

    fn file_system(&self, mount: &Mount, subject: &Subject) -> FileSystem {
        let block = BlockNode::by_number(self.roots, mount.number).ok();
        FileSystem {
            kind: Some(mount.kind.clone()),
            mount_point: Some(shown::name(&mount.point)),
            source: Some(mount.source.clone()),
            options: Some(mount.all_options()),
            block_size_bytes: subject.space.map(|space| space.block_size_bytes),
            journal: journal(self.roots, mount, block.as_ref().map(|block| block.name.as_str())),
            size_bytes: subject.space.map(|space| space.size_bytes),
            free_bytes: subject.space.map(|space| space.free_bytes),
        }
    }

    fn walk_mount(&mut self, mount: &Mount, subject: &Subject, depth: usize, into: &mut Environment) {
        let kind = mount.kind.as_str();
        // An anonymous number (major 0) is not a device.
        let named = [subject.dev, mount.number].into_iter().find(|number| number.0 != 0);
        let block = named.and_then(|number| BlockNode::by_number(self.roots, number).ok());
        if kind == "overlay" {
            self.walk_overlay(mount, block.as_ref(), depth, into);
        } else if let Some(block) = block {
            self.descend(&block, None, depth, into);
        } else if IN_MEMORY.contains(&kind) {
            into.devices.push(BlockDevice {
                name: kind.to_owned(),
                size_bytes: subject.space.map(|space| space.size_bytes),
                link: Some(Link::Memory),
                ..BlockDevice::default()
            });
        } else if ELSEWHERE.contains(&kind) {
            into.missing.push(format!("devices under {kind} {}: not on this machine", mount.source));
        } else if kind == "zfs" {
            let pool = mount.source.split('/').next().unwrap_or_default();
            into.layers.push(format!("zfs pool {pool}"));
            into.missing.push(format!("devices of the ZFS pool {pool}: the kernel does not list them"));
        } else {
            self.walk_sources(mount, depth, into);
        }
    }

    /// Handles btrfs and bcachefs, which have an anonymous number on one or several devices.
    fn walk_sources(&mut self, mount: &Mount, depth: usize, into: &mut Environment) {
        let sources = sources(self.roots, &mount.source);
        // The mounted device is the first of the members.
        sources.iter().for_each(|source| self.note(source));
        let members =
            sources.first().map(|source| btrfs_members(self.roots, &source.name)).unwrap_or_default();
        let blocks: Vec<BlockNode> = if members.len() > sources.len() {
            members.iter().filter_map(|name| BlockNode::by_name(self.roots, name)).collect()
        } else {
            sources
        };
        if blocks.is_empty() {
            into.missing
                .push(format!("devices under {} {}: not reported by the kernel", mount.kind, mount.source));
        }
        if blocks.len() > 1 {
            into.layers.push(format!("{} over {} devices", mount.kind, blocks.len()));
        }
        for block in blocks {
            self.descend(&block, None, depth, into);
        }
    }

    /// Handles an overlay, which writes to its upper directory. The mount options contain that
    /// directory as seen by the process that mounted it. Some kernels report the number of the
    /// device below for a file in the upper directory.
    fn walk_overlay(
        &mut self,
        mount: &Mount,
        below: Option<&BlockNode>,
        depth: usize,
        into: &mut Environment,
    ) {
        let upper = mount.option("upperdir").map(|path| PathBuf::from(mount::unescape_text(path.as_bytes())));
        into.layers.push(match &upper {
            Some(upper) => format!("overlay (upper {})", shown::path(upper)),
            None => "overlay (read-only)".to_owned(),
        });
        if let Some(block) = below {
            return self.descend(block, None, depth, into);
        }
        let below = upper.and_then(|upper| (self.look)(&upper));
        match below {
            Some(below) if depth < DEEPEST => self.walk_stored(&below, depth + 1, into),
            _ => into
                .missing
                .push("devices under the overlay: its upper directory is not visible from here".to_owned()),
        }
    }

    fn note(&mut self, block: &BlockNode) {
        if let Some(number) = block.number().filter(|number| !self.numbers.contains(number)) {
            self.numbers.push(number);
        }
    }

    /// Descends from a block device.
    fn descend(
        &mut self,
        block: &BlockNode,
        partition: Option<String>,
        depth: usize,
        into: &mut Environment,
    ) {
        if depth >= DEEPEST {
            into.missing.push(format!("devices under {}: the stack is too deep", block.name));
            return;
        }
        self.note(block);
        if !self.to_the_bottom {
            return;
        }
        if let Some(disk) = block.disk() {
            let name = block.name.clone();
            return self.descend(&disk, Some(partition.unwrap_or(name)), depth + 1, into);
        }
        let slaves = block.slaves();
        let loop_backing = block.loop_backing();
        if block.layer().is_some() {
            let description = block.described();
            if !into.layers.contains(&description) {
                into.layers.push(description);
            }
        }
        if !slaves.is_empty() {
            for name in slaves {
                match BlockNode::by_name(self.roots, &name) {
                    Some(slave) => self.descend(&slave, None, depth + 1, into),
                    None => into.missing.push(format!("{name} under {}: sysfs does not show it", block.name)),
                }
            }
            return;
        }
        if into.devices.iter().any(|device| device.name == block.name) {
            return;
        }
        into.devices.push(match self.options {
            Some(options) => describe(self.roots, block, partition, options),
            None => BlockDevice { name: block.name.clone(), partition, ..BlockDevice::default() },
        });
        if let Some(backing) = loop_backing {
            self.under_loop(block, &backing, depth, into);
        }
    }

    /// Reports the storage under a loop device's file as a layer.
    fn under_loop(&mut self, block: &BlockNode, backing: &Path, depth: usize, into: &mut Environment) {
        let Some(below) = (self.look)(backing) else {
            into.missing
                .push(format!("devices under {}: its backing file is not visible from here", block.name));
            return;
        };
        let mut chain = Environment::default();
        self.walk_subject(&below, depth + 1, &mut chain);
        let devices: Vec<&str> =
            chain.devices.iter().map(|device| device.partition.as_deref().unwrap_or(&device.name)).collect();
        let kind = chain.file_system.and_then(|file_system| file_system.kind);
        let description = match kind {
            Some(kind) if kind == devices.join(", ") => kind,
            Some(kind) if devices.is_empty() => kind,
            Some(kind) => format!("{kind} on {}", devices.join(", ")),
            None => devices.join(", "),
        };
        if !description.is_empty() {
            into.layers.push(format!("under {}: {description}", block.name));
        }
        into.layers.extend(chain.layers.into_iter().map(|layer| format!("under {}: {layer}", block.name)));
    }
}

/// Returns the block devices in a mount's source. bcachefs joins several with colons.
pub(crate) fn sources(roots: &Roots, source: &str) -> Vec<BlockNode> {
    // Only paths below /dev are examined: accessing a path on an unresponsive network mount would
    // hang.
    if !source.starts_with("/dev/") {
        return Vec::new();
    }
    match BlockNode::by_path(roots, Path::new(source)) {
        Some(block) => vec![block],
        None => source.split(':').filter_map(|part| BlockNode::by_path(roots, Path::new(part))).collect(),
    }
}

/// Returns the devices of the mounted btrfs file system that contains this device, including
/// itself. Empty if there is none.
pub(crate) fn btrfs_members(roots: &Roots, name: &str) -> Vec<String> {
    btrfs_of(roots, name).map(|(_, members)| members).unwrap_or_default()
}

/// Returns the UUID and devices of the mounted btrfs file system that contains this device. sysfs
/// lists only mounted file systems.
pub(crate) fn btrfs_of(roots: &Roots, name: &str) -> Option<(String, Vec<String>)> {
    let file_systems = roots.sys.join("fs/btrfs");
    roots::names(&file_systems).into_iter().find_map(|uuid| {
        let members = roots::names(&file_systems.join(&uuid).join("devices"));
        members.iter().any(|member| member == name).then_some((uuid, members))
    })
}
