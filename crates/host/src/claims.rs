//! Who holds a block device, for the rule that kurabe never writes to one in use.
//!
//! The model: writing to a disk destroys its partitions, and writing to a partition changes its disk, so one look
//! covers the device, its disk and its partitions. Evidence is asked from everyone who could know: the table of
//! mounts, swap, what is built on the device, loop devices, mounted btrfs, processes that have it open for writing,
//! the kernel's own exclusive lock, and the magic numbers on the medium (a member of a pool or an array may be in
//! use although nothing shows it). One piece of evidence is enough. Ignorance is an error, never "free".
//!
//! Two limits, said here because they cannot be closed: file descriptors of other users' processes are hidden from
//! an ordinary user (the exclusive lock is not), and the answer is a moment's. The caller opens with `O_EXCL` to
//! keep it; `claims` must be asked before that, or it finds the caller.

use crate::block::Block;
use crate::chain::{btrfs_of, sources};
use crate::mount::{self, Mount};
use crate::platform::{self, Number};
use crate::roots::{self, Roots};
use crate::signature::{Class, Ends, HEAD_BYTES, Signature, TAIL_BYTES, signatures};
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// One holder of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The kernel name of what is held: the device, its disk or one of its partitions.
    pub device: String,
    /// How, as a clause: `mounted on /home`.
    pub by: Text,
}

/// Who holds a block device, its disk or its partitions; empty if nobody does. Links such as
/// `/dev/disk/by-id/…` are followed.
///
/// # Errors
/// The path is no block device, or something that could show a holder cannot be read.
pub fn claims(device: &Path) -> Result<Vec<Claim>> {
    let roots = Roots::default();
    let (block, media) = open(&roots, device)?;
    Inquiry { roots: &roots, media: &media, own_pid: std::process::id() }.claims(&block)
}

/// What a block device holds that writing would destroy, in words that are the same in every language, such as
/// `ext4` or `GPT (sda1: FAT, sda2: ext4)`; `None` if nothing is recognised.
///
/// # Errors
/// The path is no block device, or it cannot be read.
pub fn contents(device: &Path) -> Result<Option<String>> {
    let roots = Roots::default();
    let (block, media) = open(&roots, device)?;
    Inquiry { roots: &roots, media: &media, own_pid: std::process::id() }.contents(&block)
}

/// The bytes and the lock of devices, behind a trait so that a test has devices of its own.
pub(crate) trait Media {
    /// The first [`HEAD_BYTES`] and the last [`TAIL_BYTES`] of a device, less if it is smaller.
    fn ends(&self, block: &Block, size_bytes: u64) -> io::Result<(Vec<u8>, Vec<u8>)>;

    /// Whether the kernel would let the device be opened exclusively.
    fn exclusive_is_free(&self, block: &Block) -> io::Result<bool>;
}

/// The machine's devices.
struct RealMedia {
    roots: Roots,
    /// The device that was asked for, and its node.
    asked: (Block, PathBuf),
}

impl RealMedia {
    /// The device's node, if it is one of this device.
    fn node(&self, block: &Block) -> io::Result<PathBuf> {
        let node =
            if block.name == self.asked.0.name { self.asked.1.clone() } else { self.roots.node(&block.name) };
        let number = block.number();
        if number.is_none() || platform::block_number(&node)? != number {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("{} is not the node of {}", shown::path(node), block.name),
            ));
        }
        Ok(node)
    }
}

impl Media for RealMedia {
    fn ends(&self, block: &Block, size_bytes: u64) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let mut file = platform::open_read(&self.node(block)?)?;
        let mut read = |offset: u64, length: u64| -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(offset))?;
            file.by_ref().take(length).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let head = read(0, HEAD_BYTES.min(size_bytes))?;
        let tail_bytes = TAIL_BYTES.min(size_bytes);
        let tail = read(size_bytes - tail_bytes, tail_bytes)?;
        // A short read would shift the tail; the medium is then smaller than sysfs says.
        if tail.len() as u64 != tail_bytes {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        Ok((head, tail))
    }

    fn exclusive_is_free(&self, block: &Block) -> io::Result<bool> {
        platform::exclusive_is_free(&self.node(block)?)
    }
}

/// Finds the device that a path names.
fn open(roots: &Roots, device: &Path) -> Result<(Block, RealMedia)> {
    let shown = shown::path(device);
    let cannot =
        |error: &io::Error| Error::os(text!("cannot look at {shown}", "{shown} を調べられません"), error);
    let node = std::fs::canonicalize(device).map_err(|error| cannot(&error))?;
    let number: Number = platform::block_number(&node).map_err(|error| cannot(&error))?.ok_or_else(|| {
        Error::new(
            ErrorKind::Target,
            text!("{shown} is not a block device", "{shown} はブロックデバイスではありません"),
        )
    })?;
    let block = Block::by_number(roots, number).map_err(|error| unknown(&shown.to_string(), &error))?;
    Ok((block.clone(), RealMedia { roots: roots.clone(), asked: (block, node) }))
}

/// The error of not being able to find out who holds a device.
fn unknown(device: &str, error: &io::Error) -> Error {
    ignorance(
        text!("cannot find out whether {device} is in use", "{device} が使用中かどうかを確かめられません"),
        error,
    )
}

/// The error of not being able to see what a device holds.
fn unreadable(device: &str, error: &io::Error) -> Error {
    ignorance(text!("cannot read what {device} holds", "{device} の内容を読み取れません"), error)
}

/// Both are of kind `Permission` even where a file is missing, because the effect is the same: kurabe may not write.
fn ignorance(what: Text, error: &io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound => ErrorKind::Permission,
        io::ErrorKind::Unsupported => ErrorKind::Unsupported,
        _ => ErrorKind::Io,
    };
    Error::new(kind, what).because(error).remedy(text!(
        "run as a user who may read the device and /sys, such as root",
        "デバイスと /sys を読めるユーザー(root など)で実行してください"
    ))
}

/// One look at who holds a device.
pub(crate) struct Inquiry<'a> {
    pub roots: &'a Roots,
    pub media: &'a dyn Media,
    pub own_pid: u32,
}

/// What there is to know about a device besides itself.
struct Family {
    /// The device, its disk, its partitions, and what a loop device stands on.
    all: Vec<Block>,
}

impl Inquiry<'_> {
    /// Who holds the device or its family.
    pub(crate) fn claims(&self, block: &Block) -> Result<Vec<Claim>> {
        let failed = |error: &io::Error| unknown(&block.name, error);
        let family = self.family(block).map_err(|error| failed(&error))?;
        let mounts = self.mounts().map_err(|error| failed(&error))?;
        let mut claims = Vec::new();
        for member in &family.all {
            self.mounted(member, &mounts, &mut claims);
            self.built_on(member, &mut claims).map_err(|error| failed(&error))?;
            self.in_btrfs(member, &mut claims);
        }
        self.swaps(&family, &mut claims).map_err(|error| failed(&error))?;
        self.loops(block, &family, &mut claims);
        self.writers(&family, &mut claims);
        self.exclusive(block, &mut claims).map_err(|error| failed(&error))?;
        match self.members_by_signature(block, &family) {
            Ok(members) => claims.extend(members),
            // A device that is held needs no further proof.
            Err(error) if claims.is_empty() => return Err(failed(&error)),
            Err(_) => {}
        }
        Ok(claims)
    }

    /// What would be lost.
    pub(crate) fn contents(&self, block: &Block) -> Result<Option<String>> {
        let failed = |error: &io::Error| unreadable(&block.name, error);
        let own = self.own_signatures(block).map_err(|error| failed(&error))?;
        let mut words: Vec<String> = Vec::new();
        for signature in own {
            if !words.iter().any(|word| word == signature.kind) {
                words.push(signature.kind.to_owned());
            }
        }
        let mut parts = Vec::new();
        for partition in block.partitions().map_err(|error| failed(&error))? {
            let kinds = self.own_signatures(&partition).map_err(|error| failed(&error))?;
            let kind = kinds.first().map_or("?", |signature| signature.kind);
            parts.push(format!("{}: {kind}", partition.name));
        }
        let mut summary = words.join(" + ");
        if !parts.is_empty() {
            summary = format!("{summary} ({})", parts.join(", ")).trim_start().to_owned();
        }
        Ok((!summary.is_empty()).then_some(summary))
    }

    fn family(&self, block: &Block) -> io::Result<Family> {
        let mut all = vec![block.clone()];
        all.extend(block.disk());
        all.extend(block.partitions()?);
        // A loop device writes through to the device it stands on, without holding it.
        let under = block.loop_backing().and_then(|path| Block::by_path(self.roots, &path));
        if let Some(under) = under {
            all.extend(under.disk());
            all.extend(under.partitions()?);
            all.push(under);
        }
        // Other loop devices over the same file share its bytes.
        if let Some(backing) = block.loop_backing() {
            for other in self.all_loops().into_iter().filter(|other| other.name != block.name) {
                if other.loop_backing().as_ref() == Some(&backing) {
                    all.push(other);
                }
            }
        }
        Ok(Family { all })
    }

    fn all_loops(&self) -> Vec<Block> {
        roots::names(&self.roots.sys.join("block"))
            .into_iter()
            .filter(|name| name.starts_with("loop"))
            .filter_map(|name| Block::by_name(self.roots, &name))
            .collect()
    }

    /// The mounts of this process, and of process 1 where it has others and shows them.
    fn mounts(&self) -> io::Result<Vec<Mount>> {
        let mut mounts = mount::parse(&roots::read_bytes(&self.roots.proc.join("self/mountinfo"))?);
        let first = roots::read_bytes(&self.roots.proc.join("1/mountinfo")).unwrap_or_default();
        mounts.extend(mount::parse(&first));
        Ok(mounts)
    }

    fn mounted(&self, block: &Block, mounts: &[Mount], claims: &mut Vec<Claim>) {
        let number = block.number();
        for mount in mounts {
            let by_number = number.is_some() && Some(mount.number) == number;
            let by_source =
                || sources(self.roots, &mount.source).iter().any(|source| source.name == block.name);
            if by_number || by_source() {
                let point = shown::path(&mount.point);
                add(claims, block, text!("mounted on {point}", "{point} にマウント中"));
            }
        }
    }

    fn built_on(&self, block: &Block, claims: &mut Vec<Claim>) -> io::Result<()> {
        for name in roots::names_checked(&block.directory.join("holders"))? {
            let holder = Block::by_name(self.roots, &name).map_or(name, |holder| holder.described());
            add(claims, block, text!("held by {holder}", "{holder} が使用中"));
        }
        Ok(())
    }

    fn in_btrfs(&self, block: &Block, claims: &mut Vec<Claim>) {
        if let Some((uuid, _)) = btrfs_of(self.roots, &block.name) {
            add(claims, block, text!("part of the mounted btrfs {uuid}", "マウント中の btrfs {uuid} の一部"));
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
            let Some(area) = Block::by_path(self.roots, &path) else { continue };
            if family.all.iter().any(|member| member.name == area.name) {
                add(claims, &area, text!("in use as swap", "スワップとして使用中"));
            }
        }
        Ok(())
    }

    fn loops(&self, block: &Block, family: &Family, claims: &mut Vec<Claim>) {
        for other in self.all_loops().into_iter().filter(|other| other.name != block.name) {
            let Some(under) = other.loop_backing().and_then(|path| Block::by_path(self.roots, &path)) else {
                continue;
            };
            if let Some(member) = family.all.iter().find(|member| member.name == under.name) {
                let name = &other.name;
                add(
                    claims,
                    member,
                    text!("loop device {name} stands on it", "ループデバイス {name} が使用中"),
                );
            }
        }
    }

    /// Processes that have the device open for writing, such as a virtual machine on a raw disk. A reader is no
    /// claim: udev looks at every device for a moment after a write.
    fn writers(&self, family: &Family, claims: &mut Vec<Claim>) {
        let mut seen: Vec<(PathBuf, Option<Block>)> = Vec::new();
        for pid in roots::names(&self.roots.proc).iter().filter_map(|name| name.parse::<u32>().ok()) {
            let process = self.roots.proc.join(pid.to_string());
            if pid == self.own_pid {
                continue;
            }
            for descriptor in roots::names(&process.join("fd")) {
                let Ok(target) = std::fs::read_link(process.join("fd").join(&descriptor)) else { continue };
                if !target.starts_with("/dev") || target.starts_with("/dev/pts") {
                    continue;
                }
                if !seen.iter().any(|(path, _)| *path == target) {
                    seen.push((target.clone(), Block::by_path(self.roots, &target)));
                }
                let block =
                    seen.iter().find(|(path, _)| *path == target).and_then(|(_, block)| block.as_ref());
                let Some(open) =
                    block.filter(|open| family.all.iter().any(|member| member.name == open.name))
                else {
                    continue;
                };
                let info = roots::text(&process.join("fdinfo").join(&descriptor)).unwrap_or_default();
                if opened_for_writing(&info) {
                    let name = roots::words(&process.join("comm")).unwrap_or_default();
                    add(
                        claims,
                        open,
                        text!(
                            "open for writing in {name} (process {pid})",
                            "{name}(プロセス {pid})が書き込み用に開いています"
                        ),
                    );
                }
            }
        }
    }

    /// The kernel's own lock, told only when nobody better known holds the device.
    fn exclusive(&self, block: &Block, claims: &mut Vec<Claim>) -> io::Result<()> {
        if !claims.is_empty() || block.size_bytes() == Some(0) {
            return Ok(());
        }
        if !self.media.exclusive_is_free(block)? {
            add(
                claims,
                block,
                text!(
                    "locked by the kernel or another program (a mount elsewhere, a pool, an array)",
                    "カーネルまたはほかのプログラムが排他的に使用中(別の場所でのマウント、プール、アレイなど)"
                ),
            );
        }
        Ok(())
    }

    /// Signatures that are claims: on the device, on its partitions, and on its disk.
    fn members_by_signature(&self, block: &Block, family: &Family) -> io::Result<Vec<Claim>> {
        let mut claims = Vec::new();
        for member in &family.all {
            // Other loop devices over the same file have the same bytes.
            if member.name != block.name && member.loop_backing().is_some() {
                continue;
            }
            for signature in self.own_signatures(member)? {
                if signature.class == Class::Member {
                    let kind = signature.kind;
                    add(
                        &mut claims,
                        member,
                        text!("carries a signature of {kind}", "{kind} の署名があります"),
                    );
                }
            }
        }
        Ok(claims)
    }

    /// The signatures of a device itself. Those within a partition are the partition's: at the end of a disk both
    /// can seem to be at the same place.
    fn own_signatures(&self, block: &Block) -> io::Result<Vec<Signature>> {
        let size_bytes = block.size_bytes().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        if size_bytes == 0 {
            return Ok(Vec::new());
        }
        let (head, tail) = self.media.ends(block, size_bytes)?;
        let mut signatures_here = signatures(&Ends { head: &head, tail: &tail, size_bytes });
        for partition in block.partitions()? {
            let Some((start, size)) = partition.start_bytes().zip(partition.size_bytes()) else { continue };
            let extent = start..start.saturating_add(size);
            signatures_here.retain(|signature| !extent.contains(&signature.offset_bytes));
        }
        Ok(signatures_here)
    }
}

fn add(claims: &mut Vec<Claim>, block: &Block, by: Text) {
    let claim = Claim { device: block.name.clone(), by };
    if !claims.contains(&claim) {
        claims.push(claim);
    }
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

/// Whether /proc/PID/fdinfo/N tells of a descriptor that can write. Flags are octal; `O_ACCMODE` is 3 on every
/// architecture of Linux.
pub(crate) fn opened_for_writing(fdinfo: &str) -> bool {
    fdinfo
        .lines()
        .find_map(|line| line.strip_prefix("flags:"))
        .and_then(|flags| u64::from_str_radix(flags.trim(), 8).ok())
        .is_some_and(|flags| flags & 0o3 != 0)
}

#[cfg(test)]
mod tests;
