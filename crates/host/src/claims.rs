//! Determines what holds a block device or a file, so that kurabe never writes to one in use.
//!
//! A check covers everything that shares bytes with the target ([`crate::family`]). It queries
//! every possible source of evidence: the mount tables of all processes, swap, devices built on
//! this one, loop devices, mounted btrfs, files that processes have open for writing, mapped or
//! locked ([`crate::processes`]), the kernel's exclusive lock, and the magic numbers on the medium,
//! from kurabe's own list and from libblkid (a member of a pool or array may be in use without any
//! other evidence). Objects are compared, never names. One piece of evidence is sufficient. If the
//! answer can't be determined, the result is an error, never "free".
//!
//! Two limitations can't be avoided. Descriptors of other users' processes are hidden from an
//! ordinary user (the exclusive lock of a device and the number of a file's writers are not). The
//! answer is valid only at the moment of the check. The caller opens a device with `O_EXCL` to keep
//! it. `claims` must be called before the target is opened for writing, because otherwise it finds
//! the caller.

pub(crate) mod inquiry;
mod media;
pub(crate) mod wipefs;

use crate::block::BlockNode;
use crate::platform::{self, Number, Object};
use crate::processes::{self, Process};
use crate::roots::{Roots, base};
use inquiry::{Asked, Inquiry};
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use media::RealMedia;
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Evidence that a device or a file is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Kernel name of the device that is in use: the device itself, its disk or one of its
    /// partitions. `None` for the file.
    pub device: Option<String>,
    /// The kind of use, as a clause: `mounted on /home`.
    pub by: Text,
    /// Whether the only evidence is a signature on the medium, which may be left over from earlier
    /// use.
    pub is_signature: bool,
    /// Whether the only evidence is a descriptor of another process, which may be about to close
    /// it.
    pub is_descriptor: bool,
}

impl Claim {
    fn new(device: Option<String>, by: By) -> Self {
        let is_signature = matches!(by, By::Signature(_));
        let is_descriptor = matches!(by, By::Writer(_) | By::UnseenWriter);
        Self { device, is_signature, is_descriptor, by: by.words() }
    }
}

/// The kind of use.
enum By {
    /// The mount point, and a process that sees the mount if this one does not.
    Mount(PathBuf, Option<Process>),
    Holder(String),
    Btrfs(String),
    Swap,
    Loop(String),
    Writer(Process),
    Mapping(Process),
    Lock(Option<Process>),
    /// This process.
    Own,
    UnseenWriter,
    KernelLock,
    Signature(Cow<'static, str>),
}

impl By {
    fn words(self) -> Text {
        match self {
            Self::Mount(point, by) => {
                let point = shown::path(point);
                match by {
                    None => text!("mounted on {point}", "{point} にマウント中"),
                    Some(Process { pid, command }) => text!(
                        "mounted on {point} as {command} (process {pid}) sees it",
                        "{command}(プロセス {pid})から見て {point} にマウント中"
                    ),
                }
            }
            Self::Holder(holder) => text!("held by {holder}", "{holder} が使用中"),
            Self::Btrfs(uuid) => {
                text!("part of the mounted btrfs {uuid}", "マウント中の btrfs {uuid} の一部")
            }
            Self::Swap => text!("in use as swap", "スワップとして使用中"),
            Self::Loop(name) => text!("used by loop device {name}", "ループデバイス {name} が使用中"),
            Self::Writer(Process { pid, command }) => text!(
                "open for writing in {command} (process {pid})",
                "{command}(プロセス {pid})が書き込み用に開いています"
            ),
            Self::Mapping(Process { pid, command }) => text!(
                "mapped for writing in {command} (process {pid})",
                "{command}(プロセス {pid})が書き込み用にメモリーへ割り当てています"
            ),
            Self::Lock(Some(Process { pid, command })) => {
                text!("locked by {command} (process {pid})", "{command}(プロセス {pid})がロックしています")
            }
            Self::Lock(None) => {
                text!("locked by some process", "いずれかのプロセスがロックしています")
            }
            Self::Own => text!(
                "opened by kurabe itself, as its store or as another target",
                "kurabe 自身が、結果の保存先またはほかの対象として使用中"
            ),
            Self::UnseenWriter => text!(
                "open for writing in the kernel or in a program that is not visible from here",
                "ここからは見えないプログラムまたはカーネルが書き込み用に開いています"
            ),
            Self::KernelLock => text!(
                "locked by the kernel or another program (a mount elsewhere, a pool, an array)",
                "カーネルまたはほかのプログラムが排他的に使用中(別の場所でのマウント、プール、アレイなど)"
            ),
            Self::Signature(kind) => text!("carries a signature of {kind}", "{kind} の署名があります"),
        }
    }
}

/// Returns what holds a file or a block device, its disk, its partitions, and anything else that
/// shares its bytes. Empty if it is not in use. `file` is open only for reading, and `shown` is the
/// user's name for it. Takes up to a fifth of a second while another process has it open for
/// writing.
///
/// # Errors
/// Fails if the target is neither a block device nor a file, or if a source of evidence can't be
/// read.
pub fn claims(file: &File, shown: &Path) -> Result<Vec<Claim>> {
    settled(|| claims_now(file, shown), || std::thread::sleep(PAUSE))
}

/// How often a descriptor that is open for writing is checked before it counts, and the pause
/// between two checks. A process that was just forked has copies of its parent's descriptors until
/// it executes its program. That takes milliseconds, or longer on a loaded machine.
const LOOKS: usize = 5;
const PAUSE: Duration = Duration::from_millis(40);

/// Returns the first result that is empty or contains lasting evidence, otherwise the last one.
fn settled(look: impl Fn() -> Result<Vec<Claim>>, pause: impl Fn()) -> Result<Vec<Claim>> {
    let mut claims = look()?;
    for _ in 1..LOOKS {
        if claims.is_empty() || !claims.iter().all(|claim| claim.is_descriptor) {
            break;
        }
        pause();
        claims = look()?;
    }
    Ok(claims)
}

/// Performs one check of everything that may hold the device.
fn claims_now(file: &File, shown: &Path) -> Result<Vec<Claim>> {
    let roots = Roots::default();
    let path = platform::path_of(file);
    let failed = |error: &io::Error| cannot_look(shown, error);
    if !file.metadata().map_err(|error| failed(&error))?.is_file() {
        let (block, media) = open(&roots, &path, shown)?;
        return Inquiry { roots: &roots, media: &media, own_pid: processes::own_pid(&roots) }.claims(&block);
    }
    let object = platform::object(&path).map_err(|error| failed(&error))?;
    let number = processes::number_of_file_system(&roots, &base(&path));
    let in_tables = match (object, number) {
        (Object::Inode(_, inode), Some(number)) => Object::Inode(number, inode),
        _ => object,
    };
    let again = platform::open_read(&path).map_err(|error| failed(&error))?;
    let has_writer = platform::is_open_for_writing(&again).map_err(|error| failed(&error))?;
    let media = RealMedia { roots: roots.clone(), asked: None };
    let asked = Asked { shown: &shown::path(shown), object, in_tables, has_writer };
    Inquiry { roots: &roots, media: &media, own_pid: processes::own_pid(&roots) }.claims_on_file(&asked)
}

/// Describes the content of a block device that writing would destroy, in language-independent
/// terms, such as `ext4` or `GPT (sda1: FAT, sda2: ext4)`. `None` if nothing is recognised.
///
/// # Errors
/// Fails if the path is not a block device or can't be read.
pub fn contents(device: &Path) -> Result<Option<String>> {
    let roots = Roots::default();
    let (block, media) = open(&roots, device, device)?;
    Inquiry { roots: &roots, media: &media, own_pid: processes::own_pid(&roots) }.contents(&block)
}

/// Opens the device at a path.
fn open(roots: &Roots, path: &Path, shown: &Path) -> Result<(BlockNode, RealMedia)> {
    let number: Number =
        platform::block_number(path).map_err(|error| cannot_look(shown, &error))?.ok_or_else(|| {
            let shown = shown::path(shown);
            ErrorKind::Target
                .error(text!("{shown} is not a block device", "{shown} はブロックデバイスではありません"))
        })?;
    let block = BlockNode::by_number(roots, number).map_err(|error| unknown(&shown::path(shown), &error))?;
    Ok((block.clone(), RealMedia { roots: roots.clone(), asked: Some((block, path.to_owned())) }))
}

fn cannot_look(shown: &Path, error: &io::Error) -> Error {
    let shown = shown::path(shown);
    Error::os(text!("cannot examine {shown}", "{shown} を調べられません"), error)
}

/// Returns the error for a device whose use can't be determined.
fn unknown(device: &str, error: &io::Error) -> Error {
    ignorance(
        text!("cannot find out whether {device} is in use", "{device} が使用中かどうかを確かめられません"),
        error,
    )
}

/// Returns the error for a device whose content can't be determined.
fn unreadable(device: &str, error: &io::Error) -> Error {
    ignorance(text!("cannot read the contents of {device}", "{device} の内容を読み出せません"), error)
}

/// Uses the kind `Permission` also for a missing file, because the effect is the same: kurabe may
/// not write.
fn ignorance(message: Text, error: &io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound => ErrorKind::Permission,
        io::ErrorKind::Unsupported => ErrorKind::Unsupported,
        _ => ErrorKind::Io,
    };
    Error::new(kind, message).because(error).remedy(text!(
        "run as a user with read access to the device and /sys, such as root",
        "デバイスと /sys を読めるユーザー(root など)で実行してください"
    ))
}

#[cfg(test)]
mod tests;
