//! One check of what holds a device or a file.

use super::media::Media;
use super::{By, Claim, unknown, unreadable, wipefs};
use crate::block::BlockNode;
use crate::chain::{btrfs_of, sources};
use crate::family::{Family, Loop, Member};
use crate::mount::{self, Mount};
use crate::platform::{self, Object};
use crate::processes::{self, Hold, Process};
use crate::roots::{self, Roots};
use crate::signature::{Class, Extract, Signature, places, signatures};
use kurabe_core::Result;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) struct Inquiry<'a> {
    pub roots: &'a Roots,
    pub media: &'a dyn Media,
    pub own_pid: u32,
}

/// A file to be written, open only for reading.
pub(crate) struct Asked<'a> {
    /// The name that the user gave.
    pub shown: &'a str,
    pub object: Object,
    /// The same object in the kernel's own tables, where its file system may have a different
    /// number.
    pub in_tables: Object,
    /// Whether the kernel reports that the file is open for writing. `None` if it does not answer.
    pub has_writer: Option<bool>,
}

/// A mount, and a process that sees it if this one does not.
struct Sight {
    mount: Mount,
    by: Option<Process>,
}

impl Inquiry<'_> {
    /// Returns what holds the device or its family.
    pub(crate) fn claims(&self, block: &BlockNode) -> Result<Vec<Claim>> {
        let failed = |error: &io::Error| unknown(&block.name, error);
        let loops = self.loops();
        // A loop device whose file is hidden from this user could be on this device.
        if let Some(hidden) = loops.iter().find(|other| other.on.is_none()) {
            return Err(failed(&cannot_follow(hidden)));
        }
        let family = Family::of_device(self.roots, &loops, block).map_err(|error| failed(&error))?;
        let mut claims = Vec::new();
        self.on_family(&family, &loops, Some(self.own_pid), &mut claims).map_err(|error| failed(&error))?;
        self.exclusive(&family, &mut claims).map_err(|error| failed(&error))?;
        match self.members_by_signature(block, &family) {
            Ok(members) => claims.extend(members),
            // A device with a claim needs no further evidence.
            Err(error) if claims.is_empty() => return Err(failed(&error)),
            Err(_) => {}
        }
        Ok(claims)
    }

    /// Returns what holds a file. This process is included, because it may have the file open as
    /// its store.
    pub(crate) fn claims_on_file(&self, asked: &Asked<'_>) -> Result<Vec<Claim>> {
        let failed = |error: &io::Error| unknown(asked.shown, error);
        let loops = self.loops();
        let mut family = Family::of_file(self.roots, &loops, asked.object).map_err(|error| failed(&error))?;
        if !family.files.contains(&asked.in_tables) {
            family.files.push(asked.in_tables);
        }
        let mut claims = Vec::new();
        self.on_family(&family, &loops, None, &mut claims).map_err(|error| failed(&error))?;
        // Even an unused loop device has its file open in the kernel.
        for above in loops.iter().filter(|above| above.on == Some(asked.object)) {
            push(&mut claims, Claim::new(None, By::Loop(above.block.name.clone())));
        }
        self.locks(&family, &mut claims);
        if claims.is_empty() && asked.has_writer == Some(true) {
            claims.push(Claim::new(None, By::UnseenWriter));
        }
        // Unless the kernel reports that the file is not open for writing, a loop device with a
        // hidden file could be on this one.
        match loops.iter().find(|other| other.on.is_none()) {
            Some(hidden) if claims.is_empty() && asked.has_writer.is_none() => {
                Err(failed(&cannot_follow(hidden)))
            }
            _ => Ok(claims),
        }
    }

    /// Describes the contents that a write would destroy.
    pub(crate) fn contents(&self, block: &BlockNode) -> Result<Option<String>> {
        let failed = |error: &io::Error| unreadable(&block.name, error);
        let own = self.own_signatures(block).map_err(|error| failed(&error))?;
        let mut kinds: Vec<String> = Vec::new();
        for signature in own {
            if !kinds.iter().any(|word| *word == signature.kind) {
                kinds.push(signature.kind.into_owned());
            }
        }
        let mut parts = Vec::new();
        for partition in block.partitions().map_err(|error| failed(&error))? {
            let kinds = self.own_signatures(&partition).map_err(|error| failed(&error))?;
            let kind = kinds.first().map_or("?", |signature| &signature.kind);
            parts.push(format!("{}: {kind}", partition.name));
        }
        let mut summary = kinds.join(" + ");
        if !parts.is_empty() {
            summary = format!("{summary} ({})", parts.join(", ")).trim_start().to_owned();
        }
        Ok((!summary.is_empty()).then_some(summary))
    }

    /// Collects all evidence of use from the kernel and from processes. `but` is a process to
    /// ignore.
    fn on_family(
        &self,
        family: &Family,
        loops: &[Loop],
        but: Option<u32>,
        claims: &mut Vec<Claim>,
    ) -> io::Result<()> {
        let mounts = self.mounts()?;
        for Member { block, .. } in &family.members {
            self.mounted(block, &mounts, claims);
            self.built_on(block, claims)?;
            self.in_btrfs(block, claims);
        }
        self.swaps(family, claims)?;
        loops_above(family, loops, claims);
        self.held(family, but, claims);
        Ok(())
    }

    /// Returns all loop devices that have a backing file or device.
    fn loops(&self) -> Vec<Loop> {
        roots::names(&self.roots.sys.join("block"))
            .into_iter()
            .filter(|name| name.starts_with("loop"))
            .filter_map(|name| BlockNode::by_name(self.roots, &name))
            .filter(|block| block.loop_backing().is_some())
            .filter_map(|block| match self.media.under_loop(&block) {
                Ok(Some(object)) => Some(Loop { block, on: Some(object) }),
                Ok(None) => None,
                Err(_) => Some(Loop { block, on: None }),
            })
            .collect()
    }

    /// Returns the mounts of this process, and those of other processes with different mount
    /// tables. Each mount namespace has its own.
    fn mounts(&self) -> io::Result<Vec<Sight>> {
        let own = roots::read_bytes(&self.roots.proc.join("self/mountinfo"))?;
        let mut sights: Vec<Sight> =
            mount::parse(&own).into_iter().map(|mount| Sight { mount, by: None }).collect();
        // Processes in the same namespace show the same table.
        let mut tables = HashSet::from([own]);
        for pid in processes::pids(self.roots) {
            let table = self.roots.proc.join(format!("{pid}/mountinfo"));
            let Ok(table) = roots::read_bytes(&table) else { continue };
            if tables.contains(&table) {
                continue;
            }
            let process = processes::process(self.roots, pid);
            for mount in mount::parse(&table) {
                if !sights.iter().any(|sight| sight.mount == mount) {
                    sights.push(Sight { mount, by: Some(process.clone()) });
                }
            }
            tables.insert(table);
        }
        Ok(sights)
    }

    fn mounted(&self, block: &BlockNode, mounts: &[Sight], claims: &mut Vec<Claim>) {
        let number = block.number();
        for Sight { mount, by } in mounts {
            let by_number = number.is_some() && Some(mount.number) == number;
            let by_source =
                || sources(self.roots, &mount.source).iter().any(|source| source.name == block.name);
            if by_number || by_source() {
                add(claims, block, By::Mount(mount.point.clone(), by.clone()));
            }
        }
    }

    fn built_on(&self, block: &BlockNode, claims: &mut Vec<Claim>) -> io::Result<()> {
        for name in roots::names_checked(&block.directory.join("holders"))? {
            let holder = BlockNode::by_name(self.roots, &name).map_or(name, |holder| holder.described());
            add(claims, block, By::Holder(holder));
        }
        Ok(())
    }

    fn in_btrfs(&self, block: &BlockNode, claims: &mut Vec<Claim>) {
        if let Some((uuid, _)) = btrfs_of(self.roots, &block.name) {
            add(claims, block, By::Btrfs(uuid));
        }
    }

    fn swaps(&self, family: &Family, claims: &mut Vec<Claim>) -> io::Result<()> {
        let swaps = match roots::read_bytes(&self.roots.proc.join("swaps")) {
            Ok(swaps) => swaps,
            // A kernel without swap has no such file. procfs itself has been verified to exist.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        for path in parse_swaps(&swaps) {
            // If the path of a swap area no longer exists, a device is still covered by the
            // kernel's lock, and a swap file can't be written.
            let Ok(object) = self.media.object(&self.roots.relocate(&path)) else { continue };
            claim_object(family, object, By::Swap, claims);
        }
        Ok(())
    }

    /// Finds processes that have it open for writing, such as a virtual machine on a raw disk. Open
    /// for reading is not a claim, because udev briefly reads every device after a write. A lock on
    /// a file is one.
    fn held(&self, family: &Family, but: Option<u32>, claims: &mut Vec<Claim>) {
        let look_at = |path: &Path| self.media.object(path);
        for held in processes::holding(self.roots, &look_at, &family.objects(), but) {
            let by = match held.hold {
                _ if held.process.pid == self.own_pid => By::Own,
                Hold::Descriptor => By::Writer(held.process),
                Hold::Mapping => By::Mapping(held.process),
                Hold::Lock if matches!(held.object, Object::Device(_)) => continue,
                Hold::Lock => By::Lock(Some(held.process)),
            };
            claim_object(family, held.object, by, claims);
        }
    }

    /// Finds locks of hidden processes.
    fn locks(&self, family: &Family, claims: &mut Vec<Claim>) {
        let table = roots::read_bytes(&self.roots.proc.join("locks")).unwrap_or_default();
        for lock in processes::parse_locks(&table).filter(|lock| family.files.contains(&lock.object)) {
            let by = match lock.pid {
                Some(pid) if pid == self.own_pid => By::Own,
                pid => By::Lock(pid.map(|pid| processes::process(self.roots, pid))),
            };
            if lock.pid.is_some() || claims.is_empty() {
                claim_object(family, lock.object, by, claims);
            }
        }
    }

    /// Checks the kernel's own lock, which is reported only if there is no more specific claim.
    fn exclusive(&self, family: &Family, claims: &mut Vec<Claim>) -> io::Result<()> {
        for Member { block, .. } in family.members.iter().filter(|member| member.whole) {
            if claims.is_empty() && block.size_bytes() != Some(0) && !self.media.exclusive_is_free(block)? {
                add(claims, block, By::KernelLock);
            }
        }
        Ok(())
    }

    /// Returns the signatures that are claims: on the device, on its partitions, and on its disk.
    fn members_by_signature(&self, block: &BlockNode, family: &Family) -> io::Result<Vec<Claim>> {
        let mut claims = Vec::new();
        for Member { block: member, .. } in &family.members {
            // Loop devices on one another or on the same file have the same bytes.
            if member.name != block.name && member.loop_backing().is_some() {
                continue;
            }
            for signature in self.own_signatures(member)? {
                if signature.class == Class::Member {
                    add(&mut claims, member, By::Signature(signature.kind));
                }
            }
        }
        Ok(claims)
    }

    /// Returns the signatures of the device itself. Those within a partition belong to the
    /// partition. At the end of a disk, both can appear to be at the same offset.
    fn own_signatures(&self, block: &BlockNode) -> io::Result<Vec<Signature>> {
        let size_bytes = block.size_bytes().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        if size_bytes == 0 {
            return Ok(Vec::new());
        }
        let pieces = self.media.pieces(block, &places(size_bytes))?;
        let mut own = signatures(&Extract { pieces: &pieces, size_bytes });
        let mut named = self.media.named_by_libblkid(block);
        for partition in block.partitions()? {
            let Some((start, size)) = partition.start_bytes().zip(partition.size_bytes()) else { continue };
            let extent = start..start.saturating_add(size);
            for signatures_here in [&mut own, &mut named] {
                signatures_here.retain(|signature| !extent.contains(&signature.offset_bytes));
            }
        }
        wipefs::add_to(&mut own, named);
        Ok(own)
    }
}

/// Finds loop devices that are on a member and are not members themselves.
fn loops_above(family: &Family, loops: &[Loop], claims: &mut Vec<Claim>) {
    for Loop { block, on } in loops {
        let is_member = family.members.iter().any(|member| member.block.name == block.name);
        if let Some(object) = on.filter(|_| !is_member) {
            claim_object(family, object, By::Loop(block.name.clone()), claims);
        }
    }
}

fn claim_object(family: &Family, object: Object, by: By, claims: &mut Vec<Claim>) {
    match family.member(object) {
        Some(block) => add(claims, block, by),
        None if family.files.contains(&object) => push(claims, Claim::new(None, by)),
        None => {}
    }
}

fn add(claims: &mut Vec<Claim>, block: &BlockNode, by: By) {
    push(claims, Claim::new(Some(block.name.clone()), by));
}

fn push(claims: &mut Vec<Claim>, claim: Claim) {
    if !claims.contains(&claim) {
        claims.push(claim);
    }
}

fn cannot_follow(hidden: &Loop) -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!("the devices under {} are not visible", hidden.block.name),
    )
}

/// Parses the swap areas of /proc/swaps: the first word of each line after the heading, escaped as
/// in mountinfo.
pub(crate) fn parse_swaps(swaps: &[u8]) -> Vec<PathBuf> {
    swaps
        .split(|&byte| byte == b'\n')
        .skip(1)
        .filter_map(|line| line.split(u8::is_ascii_whitespace).next())
        .filter(|path| path.first() == Some(&b'/'))
        .map(|path| platform::path_of_bytes(mount::unescape(path)))
        .collect()
}
