//! Output files that a user names. They never replace existing data without consent, and are
//! written completely or not at all.
//!
//! An output is *claimed* before any work is done, and written at the end. Claiming refuses
//! everything that must not be written (devices, directories, existing files without `--force`, two
//! outputs that are the same file) and opens the folder. From then on the folder's descriptor is
//! used and its path never again. The bytes go into a temporary file in that folder, which takes
//! the name when it is complete, and only if the name is still free or still belongs to a regular
//! file. A pipe has no name to take and is written directly.

use kurabe_core::output_path::OutputPath;
use kurabe_core::{Error, ErrorKind, Result, Text, mention::FORCE, shown, text};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, StatxAttributes, StatxFlags};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Device number of `/dev/null`, from the kernel's list of devices (admin-guide/devices.txt).
const NULL_DEVICE: (u32, u32) = (1, 3);
/// Permissions of a new file, less the user's umask.
const NEW_FILE_MODE: Mode = Mode::from_raw_mode(0o666);

/// Identity of an output, to detect outputs that share a file.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    Stdout,
    Inode { device: u64, inode: u64 },
    Name { device: u64, folder_inode: u64, name: OsString },
}

/// Outputs of one command.
#[derive(Debug)]
pub struct Outputs {
    force: bool,
    taken: Vec<Identity>,
    /// Other files that the command uses, such as the store.
    used: Vec<(Identity, PathBuf)>,
}

impl Outputs {
    /// Creates an empty set. With `force`, existing regular files may be replaced.
    pub fn new(force: bool) -> Self {
        Self { force, taken: Vec::new(), used: Vec::new() }
    }

    /// Refuses this file as an output even with `--force`, because the command uses it.
    #[must_use]
    pub fn without(mut self, path: Option<&Path>) -> Self {
        if let Some((path, facts)) = path.and_then(|path| Some((path, rustix::fs::stat(path).ok()?))) {
            self.used.push((inode_of(&facts), path.to_owned()));
        }
        self
    }

    /// Reserves standard output for the command's own result, such as its JSON.
    #[must_use]
    pub fn without_stdout(mut self, is_reserved: bool) -> Self {
        if is_reserved {
            self.taken.push(Identity::Stdout);
        }
        self
    }

    /// Returns whether one of the outputs is standard output.
    pub fn has_stdout(&self) -> bool {
        self.taken.contains(&Identity::Stdout)
    }

    /// Claims an output that is written at the end.
    ///
    /// # Errors
    /// When it must not or cannot be written. Nothing is changed in this case.
    pub fn claim(&mut self, path: &OutputPath) -> Result<Output> {
        let (place, identity) = match path {
            OutputPath::Stdout => (OutputPlace::Stdout, Some(Identity::Stdout)),
            OutputPath::Stderr => (OutputPlace::Stderr, None),
            OutputPath::File(path) => self.claim_path(path)?,
        };
        if let Some(identity) = identity {
            self.refuse_used(path, &identity)?;
            self.taken.push(identity);
        }
        Ok(Output { shown: path.to_string(), place })
    }

    /// Claims an output if one is given.
    ///
    /// # Errors
    /// As [`Self::claim`].
    pub fn claim_optional(&mut self, path: Option<&OutputPath>) -> Result<Option<Output>> {
        path.map(|path| self.claim(path)).transpose()
    }

    fn refuse_used(&self, path: &OutputPath, identity: &Identity) -> Result<()> {
        if let Some((_, used)) = self.used.iter().find(|(used, _)| used == identity) {
            let used = shown::path(used);
            let why = text!("this command itself uses {used}", "{used} はこのコマンド自身が使います");
            return Err(refused(&path.to_string(), &why).remedy(another_name()));
        }
        if !self.taken.contains(identity) {
            return Ok(());
        }
        Err(ErrorKind::Usage
            .error(text!("two outputs go to {path}", "2 つの出力先がどちらも {path} です"))
            .remedy(text!("name a different file for each", "出力ごとに別のファイルを指定してください")))
    }

    /// Claims the file at a path, following symbolic links.
    fn claim_path(&self, path: &Path) -> Result<(OutputPlace, Option<Identity>)> {
        let shown = shown::path(path);
        match rustix::fs::stat(path) {
            Ok(facts) => self.claim_existing(path, &shown, facts),
            Err(rustix::io::Errno::NOENT) if path.symlink_metadata().is_ok() => {
                let why =
                    text!("it is a link to a file that does not exist", "存在しないファイルへのリンクです");
                Err(refused(&shown, &why).remedy(another_name()))
            }
            Err(rustix::io::Errno::NOENT) => {
                let (folder, name) = folder_and_name(path, &shown)?;
                let at = rustix::fs::fstat(&folder).map_err(|error| cannot_write(&shown, error.into()))?;
                let identity =
                    Identity::Name { device: at.st_dev, folder_inode: at.st_ino, name: name.clone() };
                Ok((OutputPlace::File { folder, name, replaced: None }, Some(identity)))
            }
            Err(error) => Err(cannot_write(&shown, error.into())),
        }
    }

    fn claim_existing(
        &self,
        path: &Path,
        shown: &str,
        facts: Stat,
    ) -> Result<(OutputPlace, Option<Identity>)> {
        let kind = FileType::from_raw_mode(facts.st_mode);
        let device_number = (rustix::fs::major(facts.st_rdev), rustix::fs::minor(facts.st_rdev));
        match kind {
            FileType::CharacterDevice if device_number == NULL_DEVICE => {
                Ok((OutputPlace::Stream(path.to_owned()), None))
            }
            FileType::Fifo => Ok((OutputPlace::Stream(path.to_owned()), Some(inode_of(&facts)))),
            FileType::RegularFile if !self.force => Err(exists(shown)),
            FileType::RegularFile => {
                // Replaces the file, not the symbolic link to it.
                let real = path.canonicalize().map_err(|error| cannot_write(shown, error))?;
                let (folder, name) = folder_and_name(&real, shown)?;
                refuse_mount_point(&folder, &name, shown)?;
                Ok((OutputPlace::File { folder, name, replaced: Some(facts) }, Some(inode_of(&facts))))
            }
            _ => Err(refused(shown, &what_it_is(kind)).remedy(another_name())),
        }
    }
}

/// An output that was claimed.
#[derive(Debug)]
pub struct Output {
    shown: String,
    place: OutputPlace,
}

#[derive(Debug)]
enum OutputPlace {
    Stdout,
    Stderr,
    /// A pipe, or `/dev/null`.
    Stream(PathBuf),
    /// A name in a folder. `replaced` is the existing file that may be replaced.
    File {
        folder: OwnedFd,
        name: OsString,
        replaced: Option<Stat>,
    },
}

impl Output {
    /// Returns whether this is standard output.
    pub fn is_stdout(&self) -> bool {
        matches!(self.place, OutputPlace::Stdout)
    }

    /// Writes the output.
    ///
    /// # Errors
    /// When it cannot be written, or another process has created a file with its name. No partial
    /// file remains, and a file that was to be replaced is unchanged.
    pub fn write(self, bytes: &[u8]) -> Result<()> {
        let mut file = Growing::open(self, true)?;
        file.write(|out| out.write_all(bytes))?;
        file.keep()
    }
}

/// An output that is written during the work. A new file has its final name from the start. It is
/// removed on drop unless [`Self::keep`] is called.
pub struct Growing {
    shown: String,
    out: BufWriter<Box<dyn Write + Send>>,
    part: Option<PartFile>,
}

impl Growing {
    /// Opens the output.
    ///
    /// # Errors
    /// When it cannot be created or opened.
    pub fn create(output: Output) -> Result<Self> {
        Self::open(output, false)
    }

    /// Opens the output. With `is_hidden`, a new file also has a temporary name until it is
    /// complete.
    fn open(output: Output, is_hidden: bool) -> Result<Self> {
        let Output { shown, place } = output;
        let cannot = |error| cannot_write(&shown, error);
        let (out, part): (Box<dyn Write + Send>, _) = match place {
            OutputPlace::Stdout => (Box::new(io::stdout()), None),
            OutputPlace::Stderr => (Box::new(io::stderr()), None),
            OutputPlace::Stream(path) => (Box::new(open_stream(&path).map_err(cannot)?), None),
            OutputPlace::File { folder, name, replaced } => {
                let is_hidden = is_hidden || replaced.is_some();
                let (file, part) = PartFile::create(folder, name, replaced, is_hidden).map_err(cannot)?;
                (Box::new(file), Some(part))
            }
        };
        Ok(Self { shown, out: BufWriter::with_capacity(1 << 16, out), part })
    }

    /// Passes a writer to `lines`.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(&mut self, lines: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        lines(&mut self.out).map_err(|error| cannot_write(&self.shown, error))
    }

    /// Completes the file and gives it its final name.
    ///
    /// # Errors
    /// When the rest of it cannot be written, or another process has created a file with its name.
    pub fn keep(mut self) -> Result<()> {
        self.out.flush().map_err(|error| cannot_write(&self.shown, error))?;
        let Some(part) = &mut self.part else { return Ok(()) };
        part.take_name().map_err(|error| match error.kind() {
            io::ErrorKind::ResourceBusy => is_mount_point(&self.shown).because(error),
            _ => cannot_write(&self.shown, error),
        })
    }
}

/// A file that does not have its final name yet.
struct PartFile {
    folder: OwnedFd,
    /// Current name.
    part_name: OsString,
    /// Final name.
    name: OsString,
    replaces: bool,
    identity: Identity,
    is_kept: bool,
}

impl PartFile {
    fn create(
        folder: OwnedFd,
        name: OsString,
        replaced: Option<Stat>,
        is_hidden: bool,
    ) -> io::Result<(File, Self)> {
        let part_name = match is_hidden {
            true => OsString::from(format!(".kurabe-{}-{}.part", std::process::id(), shown::name(&name))),
            false => name.clone(),
        };
        let file = File::from(create_new(&folder, &part_name)?);
        let identity = inode_of(&rustix::fs::fstat(&file)?);
        let part = Self { folder, part_name, name, replaces: replaced.is_some(), identity, is_kept: false };
        if let Some(facts) = replaced {
            // Only root may change the owner of a file. Without that right the replacement belongs
            // to this user.
            let _ = std::os::unix::fs::fchown(&file, Some(facts.st_uid), Some(facts.st_gid));
            rustix::fs::fchmod(&file, Mode::from_raw_mode(facts.st_mode))?;
        }
        Ok((file, part))
    }

    fn take_name(&mut self) -> io::Result<()> {
        let Self { folder, part_name, name, .. } = self;
        if self.replaces {
            let facts = rustix::fs::statat(&*folder, &*name, AtFlags::SYMLINK_NOFOLLOW);
            let is_file = |facts: Stat| FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile;
            if facts.is_ok_and(|facts| !is_file(facts)) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            rustix::fs::renameat(&*folder, &*part_name, &*folder, &*name)?;
        } else if part_name != name {
            use rustix::io::Errno;
            match rustix::fs::renameat_with(&*folder, &*part_name, &*folder, &*name, RenameFlags::NOREPLACE) {
                // File systems without this feature (some FUSE file systems, NFS): an empty file
                // reserves the name first.
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    create_new(folder, name)?;
                    rustix::fs::renameat(&*folder, &*part_name, &*folder, &*name)?;
                }
                renamed => renamed?,
            }
        }
        self.is_kept = true;
        Ok(())
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        let facts = rustix::fs::statat(&self.folder, &self.part_name, AtFlags::SYMLINK_NOFOLLOW);
        if !self.is_kept && facts.is_ok_and(|facts| inode_of(&facts) == self.identity) {
            let _ = rustix::fs::unlinkat(&self.folder, &self.part_name, AtFlags::empty());
        }
    }
}

fn create_new(folder: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, name, flags, NEW_FILE_MODE)?)
}

/// Returns the path of a new folder.
///
/// # Errors
/// When it exists, or is a standard stream.
pub(crate) fn new_folder(path: &OutputPath) -> Result<&Path> {
    let Some(folder) = path.file() else {
        return Err(ErrorKind::Usage
            .error(text!("a folder cannot go to standard output", "フォルダーは標準出力に書けません"))
            .remedy(text!("name a new folder", "新しいフォルダーを指定してください")));
    };
    match folder.symlink_metadata() {
        Ok(_) => {
            let why = text!("it already exists", "すでに存在します");
            Err(refused(&shown::path(folder), &why).remedy(text!(
                "name a new folder; an existing one is never replaced",
                "新しいフォルダーを指定してください。既存のフォルダーは置き換えません"
            )))
        }
        Err(_) => Ok(folder),
    }
}

fn inode_of(facts: &Stat) -> Identity {
    Identity::Inode { device: facts.st_dev, inode: facts.st_ino }
}

/// Opens the folder of a path, which must be writable, and returns it with the file name.
fn folder_and_name(path: &Path, shown: &str) -> Result<(OwnedFd, OsString)> {
    let cannot = |error: rustix::io::Errno| cannot_write(shown, error.into());
    let Some(name) = path.file_name().filter(|_| !ends_in_separator(path)) else {
        return Err(
            refused(shown, &text!("it has no file name", "ファイル名がありません")).remedy(another_name())
        );
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(folder, flags, Mode::empty()).map_err(cannot)?;
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).map_err(cannot)?;
    Ok((opened, name.to_owned()))
}

fn ends_in_separator(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Opens a pipe or `/dev/null`. The type is checked again through the descriptor.
fn open_stream(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::empty())?;
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&opened)?.st_mode);
    if !matches!(kind, FileType::Fifo | FileType::CharacterDevice) {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    Ok(File::from(opened))
}

/// Refuses a file that is a mount point, because a rename cannot replace it. Kernels before 5.8 do
/// not report this here, only at the end.
fn refuse_mount_point(folder: &OwnedFd, name: &OsStr, shown: &str) -> Result<()> {
    let facts = rustix::fs::statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS);
    match facts {
        Ok(facts) if facts.stx_attributes.contains(StatxAttributes::MOUNT_ROOT) => Err(is_mount_point(shown)),
        _ => Ok(()),
    }
}

fn is_mount_point(file: &str) -> Error {
    let what = text!(
        "another file is mounted there, so it cannot be replaced by renaming",
        "別のファイルがマウントされており、名前の変更では置き換えられません"
    );
    refused(file, &what).remedy(another_name())
}

/// Describes a file that cannot be an output.
fn what_it_is(kind: FileType) -> Text {
    match kind {
        FileType::BlockDevice => text!("it is a block device", "ブロックデバイスです"),
        FileType::CharacterDevice => text!("it is a character device", "キャラクターデバイスです"),
        FileType::Directory => text!("it is a directory", "ディレクトリです"),
        FileType::Socket => text!("it is a socket", "ソケットです"),
        _ => text!("it is not a regular file", "通常のファイルではありません"),
    }
}

fn another_name() -> Text {
    text!("name a new file", "新しいファイルを指定してください")
}

fn refused(file: &str, why: &Text) -> Error {
    ErrorKind::Refused.error(text!("cannot write {file}: {why}", "{file} に書けません({why})"; why))
}

fn exists(file: &str) -> Error {
    refused(file, &text!("it already exists", "すでに存在します")).remedy(text!(
        "choose another name, or replace it with {FORCE}",
        "別の名前を指定するか、{FORCE} で置き換えてください"
    ))
}

/// Returns the error of the operating system with a remedy for output files; the default remedies
/// are about targets.
pub(crate) fn cannot_write(file: &str, error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::AlreadyExists {
        return exists(file).because(error);
    }
    let described = Error::os(text!("cannot write {file}", "{file} に書けません"), &error);
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => text!("create the folder first", "先にフォルダーを作ってください"),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            text!("free some space, or name a file elsewhere", "空きを増やすか、別の場所を指定してください")
        }
        io::ErrorKind::ReadOnlyFilesystem => text!(
            "the file system is mounted read-only: name a file elsewhere",
            "ファイルシステムが読み取り専用です。別の場所を指定してください"
        ),
        _ => return described,
    };
    described.remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn claim(path: &Path, force: bool) -> Result<Output> {
        Outputs::new(force).claim(&OutputPath::from(path.as_os_str()))
    }

    #[test]
    fn an_existing_file_is_replaced_only_by_force_and_nothing_else_is_left() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        claim(&path, false).unwrap().write(b"one").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(claim(&path, false).unwrap_err().kind(), ErrorKind::Refused);
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        claim(&path, true).unwrap().write(b"three").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"three");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o640);
        assert_eq!(names(folder.path()), ["report.html"]);
    }

    #[test]
    fn a_name_that_is_taken_after_the_claim_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bill.json");
        let output = claim(&path, false).unwrap();
        std::fs::write(&path, "theirs").unwrap();
        assert_eq!(output.write(b"ours").unwrap_err().kind(), ErrorKind::Refused);
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");

        let output = claim(&path, true).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        assert_eq!(output.write(b"ours").unwrap_err().kind(), ErrorKind::Refused);
        assert_eq!(names(folder.path()), ["bill.json"]);
    }

    #[test]
    fn force_replaces_the_file_behind_a_link_and_no_link_that_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let [link, file] = ["link", "file"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink("file", &link).unwrap();
        for force in [false, true] {
            assert_eq!(claim(&link, force).unwrap_err().kind(), ErrorKind::Refused);
        }
        std::fs::write(&file, "old").unwrap();
        claim(&link, true).unwrap().write(b"new").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert!(link.symlink_metadata().unwrap().is_symlink());
    }

    #[test]
    fn devices_directories_and_sockets_are_refused_even_by_force_and_through_links() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/full", &link).unwrap();
        for path in [Path::new("/dev/full"), Path::new("/dev/zero"), &link, &socket, folder.path()] {
            let error = claim(path, true).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Refused, "{}", path.display());
            assert!(error.remedy_text().is_some());
        }
        claim(Path::new("/dev/null"), false).unwrap().write(b"nothing").unwrap();
    }

    #[test]
    fn two_outputs_are_never_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        let spelled = folder.path().join(".").join("one");
        let claim_both = |first: &OutputPath, second: &OutputPath| {
            let mut outputs = Outputs::new(true);
            outputs.claim(first).unwrap();
            outputs.claim(second)
        };
        let path = |path: &Path| OutputPath::from(path.as_os_str());
        assert_eq!(claim_both(&path(&one), &path(&spelled)).unwrap_err().kind(), ErrorKind::Usage);
        claim_both(&path(&one), &path(&other)).unwrap();
        std::fs::write(&one, "").unwrap();
        std::fs::hard_link(&one, &other).unwrap();
        assert_eq!(claim_both(&path(&one), &path(&other)).unwrap_err().kind(), ErrorKind::Usage);
        assert!(claim_both(&OutputPath::Stdout, &OutputPath::Stdout).is_err());
        let mut outputs = Outputs::new(true).without(Some(&one));
        assert_eq!(outputs.claim(&path(&other)).unwrap_err().kind(), ErrorKind::Refused);
    }

    #[test]
    fn a_growing_file_has_its_name_at_once_and_goes_unless_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("operations.csv");
        let (first, second) = (claim(&path, false).unwrap(), claim(&path, false).unwrap());
        let mut growing = Growing::create(first).unwrap();
        assert_eq!(Growing::create(second).err().unwrap().kind(), ErrorKind::Refused);
        growing.write(|out| write!(out, "one")).unwrap();
        assert_eq!(names(folder.path()), ["operations.csv"]);
        drop(growing);
        assert_eq!(names(folder.path()), Vec::<String>::new());
        let mut growing = Growing::create(claim(&path, false).unwrap()).unwrap();
        growing.write(|out| write!(out, "two")).unwrap();
        growing.keep().unwrap();
        let forced = Growing::create(claim(&path, true).unwrap()).unwrap();
        drop(forced);
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
    }

    #[test]
    fn without_a_folder_the_remedy_is_to_make_it() {
        let folder = tempfile::tempdir().unwrap();
        let error = claim(&folder.path().join("no/report.md"), false).unwrap_err();
        assert_eq!(error.remedy_text().unwrap().en, "create the folder first");
    }
}
