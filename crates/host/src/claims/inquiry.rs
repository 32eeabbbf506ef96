//! One look at who holds a device or a file.

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

/// A file that may be written, open for reading only.
pub(crate) struct Asked<'a> {
    /// The name by which the user gave it.
    pub shown: &'a str,
    pub object: Object,
    /// The same in the kernel's own tables, where the number of the file system can be another.
    pub in_tables: Object,
    /// Whether the kernel says that somebody can write to it; `None` if it does not answer.
    pub has_writer: Option<bool>,
}

/// A mount, and a process that sees it if this one does not.
struct Sight {
    mount: Mount,
    by: Option<Process>,
}

impl Inquiry<'_> {
    /// Who holds the device or its family.
    pub(crate) fn claims(&self, block: &BlockNode) -> Result<Vec<Claim>> {
        let failed = |error: &io::Error| unknown(&block.name, error);
        let loops = self.loops();
        // What a loop device hides from this user could be this device.
        if let Some(hidden) = loops.iter().find(|other| other.on.is_none()) {
            return Err(failed(&cannot_follow(hidden)));
        }
        let family = Family::of_device(self.roots, &loops, block).map_err(|error| failed(&error))?;
        let mut claims = Vec::new();
        self.on_family(&family, &loops, Some(self.own_pid), &mut claims).map_err(|error| failed(&error))?;
        self.exclusive(&family, &mut claims).map_err(|error| failed(&error))?;
        match self.members_by_signature(block, &family) {
            Ok(members) => claims.extend(members),
            // A device that is held needs no further proof.
            Err(error) if claims.is_empty() => return Err(failed(&error)),
            Err(_) => {}
        }
        Ok(claims)
    }

    /// Who holds a file. This process counts: it has the store open.
    pub(crate) fn claims_on_file(&self, asked: &Asked<'_>) -> Result<Vec<Claim>> {
        let failed = |error: &io::Error| unknown(asked.shown, error);
        let loops = self.loops();
        let mut family = Family::of_file(self.roots, &loops, asked.object).map_err(|error| failed(&error))?;
        if !family.files.contains(&asked.in_tables) {
            family.files.push(asked.in_tables);
        }
        let mut claims = Vec::new();
        self.on_family(&family, &loops, None, &mut claims).map_err(|error| failed(&error))?;
        // Even one that nobody uses has the file open in the kernel.
        for above in loops.iter().filter(|above| above.on == Some(asked.object)) {
            push(&mut claims, Claim::new(None, By::Loop(above.block.name.clone())));
        }
        self.locks(&family, &mut claims);
        if claims.is_empty() && asked.has_writer == Some(true) {
            claims.push(Claim::new(None, By::UnseenWriter));
        }
        // Unless the kernel says that nobody writes to it, a loop device that hides its file could stand on this one.
        match loops.iter().find(|other| other.on.is_none()) {
            Some(hidden) if claims.is_empty() && asked.has_writer.is_none() => {
                Err(failed(&cannot_follow(hidden)))
            }
            _ => Ok(claims),
        }
    }

    /// The contents that a write would destroy.
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

    /// Every trace of use that the kernel and processes show.
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

    /// All loop devices that stand on something.
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

    /// The mounts of this process, and those of others that see other ones: each mount namespace has its own.
    fn mounts(&self) -> io::Result<Vec<Sight>> {
        let own = roots::read_bytes(&self.roots.proc.join("self/mountinfo"))?;
        let mut sights: Vec<Sight> =
            mount::parse(&own).into_iter().map(|mount| Sight { mount, by: None }).collect();
        // Processes of one namespace show the same table.
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
            // A kernel without swap has no such file; procfs itself was seen to be there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        for path in parse_swaps(&swaps) {
            // An area whose name is gone is seen by the kernel's lock on a device; a file of swap cannot be written.
            let Ok(object) = self.media.object(&self.roots.relocate(&path)) else { continue };
            claim_object(family, object, By::Swap, claims);
        }
        Ok(())
    }

    /// Processes that have it open for writing, such as a virtual machine on a raw disk. A reader is no claim: udev looks
    /// at every device for a moment after a write. A lock is, on a file.
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

    /// Locks of processes that are hidden.
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

    /// The kernel's own lock, told only when nobody better known holds the device.
    fn exclusive(&self, family: &Family, claims: &mut Vec<Claim>) -> io::Result<()> {
        for Member { block, .. } in family.members.iter().filter(|member| member.whole) {
            if claims.is_empty() && block.size_bytes() != Some(0) && !self.media.exclusive_is_free(block)? {
                add(claims, block, By::KernelLock);
            }
        }
        Ok(())
    }

    /// Signatures that are claims: on the device, on its partitions, and on its disk.
    fn members_by_signature(&self, block: &BlockNode, family: &Family) -> io::Result<Vec<Claim>> {
        let mut claims = Vec::new();
        for Member { block: member, .. } in &family.members {
            // Loop devices over one another or over one file have the same bytes.
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

    /// The signatures of a device itself. Those within a partition are the partition's: at the end of a disk both
    /// can seem to be at the same place.
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

/// Loop devices that stand on a member and are none themselves.
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
        format!("what {} stands on cannot be seen", hidden.block.name),
    )
}

/// The swap areas of /proc/swaps: the first word of each line after the heading, escaped as in mountinfo.
pub(crate) fn parse_swaps(swaps: &[u8]) -> Vec<PathBuf> {
    swaps
        .split(|&byte| byte == b'\n')
        .skip(1)
        .filter_map(|line| line.split(u8::is_ascii_whitespace).next())
        .filter(|path| path.first() == Some(&b'/'))
        .map(|path| platform::path_of_bytes(mount::unescape(path)))
        .collect()
}
