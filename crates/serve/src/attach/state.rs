//! What is attached, as others find it: a folder for each, with a record of whose it is.
//!
//! The model: below one folder of the user's alone, each attachment has a folder with a name of chance, in which its file
//! system is mounted (`disks`) beside its control socket and a record: which process, and which device number the kernel
//! gave the file system, or which nbd devices it took. A name alone proves nothing: what a kill left is what is mounted at that
//! place, under that number, with the attachment's name as its source, by a process that is dead; a loop device is ours if
//! the kernel says that it stands on that number, and an nbd device if the kernel says that the noted thread has it.

use super::nbd_device::NbdRecord;
use kurabe_core::process::ProcessIdentity;
use kurabe_core::{Error, ErrorKind, Result, shown, text};
use kurabe_host::{Liveness, Number, life_of, mounts_at, own_identity, random_bytes};
use rustix::fs::{FileType, Mode};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Where attachments are kept, instead of the usual folder.
const VARIABLE: &str = "KURABE_RUNTIME_DIR";
const OWNER_ALONE: u32 = 0o700;
/// Type of the file system in the table of mounts.
pub(super) const FILE_SYSTEM: &str = "fuse.kurabe";
const RECORD: &str = "state.json";
/// Where the path of a folder elsewhere is noted that goes with the attachment.
const PASSING: &str = "passing";
const RECORD_BYTES: u64 = 4096;
/// Version of the record.
const RECORD_SCHEMA: u32 = 1;

/// The owner of an attachment.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    kurabe_attached: u32,
    process: ProcessIdentity,
    /// Number of the file system, once it is mounted.
    number: Option<Number>,
    /// The kernel's nbd devices that it took.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nbd: Vec<NbdRecord>,
}

/// Where this user's attachments are.
///
/// # Errors
/// When there is no place for them.
pub fn attachments_folder() -> Result<PathBuf> {
    let named =
        |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = named(VARIABLE) {
        return Ok(folder);
    }
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from("/run/kurabe"));
    }
    named("XDG_RUNTIME_DIR").map(|folder| folder.join("kurabe")).ok_or_else(|| {
        ErrorKind::Permission
            .error(text!("there is no folder for what is attached", "接続の状態を置くフォルダーがありません"))
            .remedy(text!(
                "set {VARIABLE} to a folder of yours",
                "{VARIABLE} に自分のフォルダーを指定してください"
            ))
    })
}

/// All attachments of a user; one process at a time looks after them.
#[derive(Debug)]
pub(super) struct Attachments {
    folder: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
}

impl Attachments {
    /// Those in a folder, which is made if it is not there.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let shown = shown::path(folder);
        let cannot = |error: io::Error| cannot_keep(&shown, &error);
        match std::fs::DirBuilder::new().mode(OWNER_ALONE).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(cannot(error)),
            _ => {}
        }
        // Names in it are trusted, so nobody else may make any.
        let facts = rustix::fs::lstat(folder).map_err(|error| cannot(error.into()))?;
        let is_ours = FileType::from_raw_mode(facts.st_mode) == FileType::Directory
            && facts.st_uid == rustix::process::geteuid().as_raw()
            && !Mode::from_raw_mode(facts.st_mode).intersects(Mode::RWXG | Mode::RWXO);
        if !is_ours {
            return Err(ErrorKind::Refused
                .error(text!(
                    "{shown} is not a folder of this user alone",
                    "{shown} はこのユーザー専用のフォルダーではありません"
                ))
                .remedy(text!(
                    "`chmod 700` it if it is yours, or set {VARIABLE} to another folder",
                    "自分のものなら `chmod 700` するか、{VARIABLE} で別のフォルダーを指定してください"
                )));
        }
        let lock =
            File::options().write(true).create(true).truncate(false).mode(0o600).open(folder.join("lock"));
        let lock = lock.map_err(cannot)?;
        lock.lock().map_err(cannot)?;
        let folder = folder.canonicalize().map_err(cannot)?;
        Ok(Self { folder, _lock: lock })
    }

    /// A new one, of this process.
    pub(super) fn make(&self) -> Result<AttachmentFolder> {
        let name = format!("{:016x}", u64::from_ne_bytes(random_bytes()?));
        let made = || -> io::Result<AttachmentFolder> {
            let folder = AttachmentFolder { path: self.folder.join(name) };
            let mut builder = std::fs::DirBuilder::new();
            builder.mode(OWNER_ALONE).create(&folder.path)?;
            folder.write(None, &[])?;
            builder.create(folder.point())?;
            Ok(folder)
        };
        made().map_err(|error| cannot_keep(&shown::path(&self.folder), &error))
    }

    /// Every attachment of this user.
    pub(super) fn all(&self) -> Result<Vec<AttachmentFolder>> {
        let entries = std::fs::read_dir(&self.folder)
            .map_err(|error| cannot_keep(&shown::path(&self.folder), &error))?;
        let is_name = |name: &str| name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok(entries
            .flatten()
            .filter(|entry| entry.file_name().to_str().is_some_and(is_name))
            .map(|entry| AttachmentFolder { path: entry.path() })
            .collect())
    }
}

fn cannot_keep(shown: &str, error: &io::Error) -> Error {
    Error::os(text!("cannot keep what is attached in {shown}", "接続の状態を {shown} に置けません"), error)
}

/// The folder of an attachment.
#[derive(Clone, Debug)]
pub(super) struct AttachmentFolder {
    path: PathBuf,
}

impl AttachmentFolder {
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where its file system is.
    pub(super) fn point(&self) -> PathBuf {
        self.path.join("disks")
    }

    /// Its control socket.
    pub(super) fn control(&self) -> PathBuf {
        self.path.join("control")
    }

    /// What the table of mounts calls it.
    pub(super) fn source(&self) -> String {
        format!("kurabe-{}", shown::name(self.path.file_name().unwrap_or_default()))
    }

    /// Notes whose it is, whole or not at all.
    pub(super) fn write(&self, number: Option<Number>, nbd: &[NbdRecord]) -> io::Result<()> {
        let process = own_identity();
        let record = Record { kurabe_attached: RECORD_SCHEMA, process, number, nbd: nbd.to_vec() };
        let new = self.path.join("state.new");
        let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(serde_json::to_string(&record)?.as_bytes())?;
        std::fs::rename(new, self.path.join(RECORD))
    }

    fn record(&self) -> Option<Record> {
        let mut json = String::new();
        File::open(self.path.join(RECORD)).ok()?.take(RECORD_BYTES).read_to_string(&mut json).ok()?;
        serde_json::from_str(&json).ok()
    }

    /// Its process.
    pub(super) fn process(&self) -> Option<ProcessIdentity> {
        self.record().map(|record| record.process)
    }

    /// Whether a kill left it: nothing is under way any more that could still make it. Without a record it is one if it is
    /// empty, because the record is written under the lock under which the folder is made.
    pub(super) fn is_left(&self) -> bool {
        match self.process() {
            Some(process) => life_of(&process) == Liveness::Dead,
            None => !self.path.join(RECORD).exists(),
        }
    }

    /// The device number that it noted of its file system, which may be mounted in another mount name space.
    pub(super) fn noted_number(&self) -> Option<Number> {
        self.record()?.number
    }

    /// The nbd devices that it took.
    pub(super) fn nbd(&self) -> Vec<NbdRecord> {
        self.record().map(|record| record.nbd).unwrap_or_default()
    }

    /// The device number of its file system, if that is mounted and provably its own.
    pub(super) fn number(&self) -> io::Result<Option<Number>> {
        let noted = self.noted_number();
        let mounts = mounts_at(&self.point())?;
        let own = |number: Number| noted.is_none_or(|noted| noted == number);
        Ok(mounts
            .last()
            .filter(|mount| mount.kind == FILE_SYSTEM && mount.source == self.source() && own(mount.number))
            .map(|mount| mount.number))
    }

    /// Creates a folder among temporary files. Its path is noted before, and its name is one that no other user can foresee.
    pub(super) fn make_passing(&self, name: &str) -> io::Result<PathBuf> {
        let own = self.path.file_name().unwrap_or_default().to_string_lossy();
        let path = std::path::absolute(std::env::temp_dir())?.join(format!("{name}-{own}"));
        std::fs::write(self.path.join(PASSING), path.as_os_str().as_bytes())?;
        std::fs::create_dir(&path)?;
        Ok(path)
    }

    /// Removes the folder that was noted, if it bears the name of this attachment and is a folder of this user's.
    fn remove_passing(&self) -> io::Result<()> {
        let Ok(noted) = std::fs::read(self.path.join(PASSING)) else { return Ok(()) };
        let path = PathBuf::from(OsString::from_vec(noted));
        let own = self.path.file_name().unwrap_or_default().to_string_lossy();
        let is_named = path.is_absolute()
            && path
                .file_name()
                .and_then(OsStr::to_str)
                .is_some_and(|name| name.ends_with(&format!("-{own}")));
        let is_ours = rustix::fs::lstat(&path).is_ok_and(|facts| {
            FileType::from_raw_mode(facts.st_mode) == FileType::Directory
                && facts.st_uid == rustix::process::geteuid().as_raw()
        });
        if is_named && is_ours { std::fs::remove_dir_all(path) } else { Ok(()) }
    }

    /// Removes what was made here by name, and nothing else: a folder that holds more stays.
    pub(super) fn remove(&self) -> io::Result<()> {
        let gone = |removed: io::Result<()>| match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        };
        self.remove_passing()?;
        gone(std::fs::remove_dir(self.point()))?;
        for name in ["control", PASSING, "state.new", RECORD] {
            gone(std::fs::remove_file(self.path.join(name)))?;
        }
        gone(std::fs::remove_dir(&self.path))
    }
}
