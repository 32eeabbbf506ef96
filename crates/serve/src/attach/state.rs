//! Records attachments for other processes, in one folder per attachment.
//!
//! Below a folder that only the user can access, each attachment has a folder with a random name.
//! It holds the mount point of the file system (`disks`), the control socket and a record. The
//! record names the process, and the device number of the file system or the nbd devices that it
//! took. A name alone proves nothing. A mount is left over from a kill if it is at that place, with
//! the recorded number and the attachment's name as its source, and its process is dead. A loop
//! device is ours if the kernel reports that its file is on that number, and an nbd device if the
//! kernel reports the recorded thread.

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

/// Environment variable with the folder for attachments, instead of the default.
const VARIABLE: &str = "KURABE_RUNTIME_DIR";
const OWNER_ALONE: u32 = 0o700;
/// File system type in the mount table.
pub(super) const FILE_SYSTEM: &str = "fuse.kurabe";
const RECORD: &str = "state.json";
/// File with the path of a temporary folder that is removed with the attachment.
const PASSING: &str = "passing";
const RECORD_BYTES: u64 = 4096;
/// Version of the record.
const RECORD_SCHEMA: u32 = 1;

/// Record of an attachment.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    kurabe_attached: u32,
    process: ProcessIdentity,
    /// Device number of the file system, once it is mounted.
    number: Option<Number>,
    /// nbd devices of the kernel that it took.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nbd: Vec<NbdRecord>,
}

/// Returns the folder for this user's attachments.
///
/// # Errors
/// If no suitable folder exists.
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
            .error(text!(
                "no folder is available for the state of attached devices",
                "接続の状態を置くフォルダーがありません"
            ))
            .remedy(text!(
                "set {VARIABLE} to a folder that you own",
                "{VARIABLE} に自分のフォルダーを指定してください"
            ))
    })
}

/// All attachments of a user, locked by one process at a time.
#[derive(Debug)]
pub(super) struct Attachments {
    folder: PathBuf,
    /// Holds the lock while open.
    _lock: File,
}

impl Attachments {
    /// Opens a folder of attachments, and creates it if it does not exist.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let shown = shown::path(folder);
        let cannot = |error: io::Error| cannot_keep(&shown, &error);
        match std::fs::DirBuilder::new().mode(OWNER_ALONE).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(cannot(error)),
            _ => {}
        }
        // Names in it are trusted, so no other user may create any.
        let facts = rustix::fs::lstat(folder).map_err(|error| cannot(error.into()))?;
        let is_ours = FileType::from_raw_mode(facts.st_mode) == FileType::Directory
            && facts.st_uid == rustix::process::geteuid().as_raw()
            && !Mode::from_raw_mode(facts.st_mode).intersects(Mode::RWXG | Mode::RWXO);
        if !is_ours {
            return Err(ErrorKind::Refused
                .error(text!(
                    "{shown} is not a folder that only this user can access",
                    "{shown} はこのユーザー専用のフォルダーではありません"
                ))
                .remedy(text!(
                    "if the folder is yours, `chmod 700` it; otherwise set {VARIABLE} to another folder",
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

    /// Creates the folder of a new attachment of this process.
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

    /// Returns every attachment of this user.
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
    Error::os(
        text!("cannot store the state of attached devices in {shown}", "接続の状態を {shown} に置けません"),
        error,
    )
}

/// Folder of an attachment.
#[derive(Clone, Debug)]
pub(super) struct AttachmentFolder {
    path: PathBuf,
}

impl AttachmentFolder {
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Returns the mount point of the file system.
    pub(super) fn point(&self) -> PathBuf {
        self.path.join("disks")
    }

    /// Returns the path of the control socket.
    pub(super) fn control(&self) -> PathBuf {
        self.path.join("control")
    }

    /// Returns the source that the mount table shows.
    pub(super) fn source(&self) -> String {
        format!("kurabe-{}", shown::name(self.path.file_name().unwrap_or_default()))
    }

    /// Writes the record atomically.
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

    /// Returns the process that serves it.
    pub(super) fn process(&self) -> Option<ProcessIdentity> {
        self.record().map(|record| record.process)
    }

    /// Returns whether a kill left the attachment, so that no process can create anything in it any
    /// more.
    ///
    /// An attachment without a record is left over if the file does not exist, because the record
    /// is written under the lock under which the folder is created.
    pub(super) fn is_left(&self) -> bool {
        match self.process() {
            Some(process) => life_of(&process) == Liveness::Dead,
            None => !self.path.join(RECORD).exists(),
        }
    }

    /// Returns the recorded device number of the file system, which may be mounted in another mount
    /// namespace.
    pub(super) fn noted_number(&self) -> Option<Number> {
        self.record()?.number
    }

    /// Returns the nbd devices that it took.
    pub(super) fn nbd(&self) -> Vec<NbdRecord> {
        self.record().map(|record| record.nbd).unwrap_or_default()
    }

    /// Returns the device number of the file system if it is mounted and provably belongs to this
    /// attachment.
    pub(super) fn number(&self) -> io::Result<Option<Number>> {
        let noted = self.noted_number();
        let mounts = mounts_at(&self.point())?;
        let own = |number: Number| noted.is_none_or(|noted| noted == number);
        Ok(mounts
            .last()
            .filter(|mount| mount.kind == FILE_SYSTEM && mount.source == self.source() && own(mount.number))
            .map(|mount| mount.number))
    }

    /// Creates a temporary folder, with a name that other users cannot predict. Its path is
    /// recorded first.
    pub(super) fn make_passing(&self, name: &str) -> io::Result<PathBuf> {
        let own = self.path.file_name().unwrap_or_default().to_string_lossy();
        let path = std::path::absolute(std::env::temp_dir())?.join(format!("{name}-{own}"));
        std::fs::write(self.path.join(PASSING), path.as_os_str().as_bytes())?;
        std::fs::create_dir(&path)?;
        Ok(path)
    }

    /// Removes the recorded temporary folder, if it has the name of this attachment and belongs to
    /// this user.
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

    /// Removes only the files that were created here, by name. A folder with other files remains.
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
