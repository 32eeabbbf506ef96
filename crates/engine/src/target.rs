//! The target of a run: checks and opens what the user named, without putting anyone's data at
//! risk.
//!
//! `Target::open` determines once what the target is, whether it may be written, and whether direct
//! I/O works there and with which alignment. It holds the target open from then on, so that I/O
//! goes to exactly the object that was checked, whatever happens to its name. A block device is
//! written only with the user's consent for that device, only if it is not in use, and only while
//! kurabe has it open exclusively.

pub(crate) mod common;
pub(crate) mod held;
mod in_use;
pub(crate) mod mark;
pub(crate) mod orphan;
pub(crate) mod test_file;

use crate::drive::buffer::{Arena, Pages};
use crate::platform::{self, OpenHow};
use crate::target::common::OthersFile;
use crate::target::held::{HeldFile, Looked};
use crate::target::in_use::{in_use, refuse_if_in_use, refuse_own};
use crate::target::mark::RunMark;
use crate::target::test_file::{Container, Remains, Scratch, Scratches, TestFile};
use crate::verify::{ImageCheck, Ledger, Stamping, check_image};
use kurabe_core::mention::{BUFFERED, DESTROY_DATA_ON, Mention, SIZE};
use kurabe_core::quantity::{MIB, format_bytes};
use kurabe_core::record::{TargetKind, TargetRecord};
use kurabe_core::words::Keyword;
use kurabe_core::workload::Workload;
use kurabe_core::{
    Error, ErrorKind, Result, Text, device::Buffer, made::MadeFacts, shown, text, workload::SyncRule,
};
use kurabe_host::set_write_hint;
use kurabe_program::Folder;
use rustix::fs::{FileType, Stat};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The options and permissions for a target.
#[derive(Clone, Debug, Default)]
pub struct TargetOptions {
    /// Bypass the page cache.
    pub direct: bool,
    /// An existing file may be overwritten.
    pub write_existing: bool,
    /// The block device whose data may be destroyed.
    pub destroy_data_on: Option<PathBuf>,
    /// Bytes to cover.
    pub size_bytes: u64,
    /// Whether the user requested this size, so that a smaller target is an error.
    pub size_is_asked: bool,
    /// Cover all of a block device or an existing file, unless the user requested a size.
    pub whole_device: bool,
    /// Name of the test file, if the target is a directory.
    pub test_file_name: String,
    /// Create no test file, because the profile's steps create their own files.
    pub no_test_file: bool,
    /// Create a folder with that name for the steps that create their own files. It also contains
    /// the test file, if there is one.
    pub work_folder: bool,
    /// Registers what is created in a directory before it is created.
    pub scratches: Scratches,
    /// The mark for everything that is created.
    pub mark: RunMark,
    /// Number of processes that share the test file, with a part of `size_bytes` each. 0 if the
    /// file belongs to this process alone.
    pub parts: u32,
    /// The test file that another process created for all, instead of an own one.
    pub others: Option<OthersFile>,
}

/// A target that has been checked and opened.
#[derive(Debug)]
pub struct Target {
    /// The facts for the record.
    facts: TargetRecord,
    path: PathBuf,
    /// The file or device, held open since it was checked. A writable block device is held
    /// exclusively.
    held: Option<Arc<HeldFile>>,
    /// Whether it is a test file of another process, of which this process writes a part.
    takes_part: bool,
    /// The file to read instead, if each process reads data that another one wrote.
    read_instead: Option<Arc<HeldFile>>,
    /// Everything created in a directory.
    scratch: Option<Arc<Scratch>>,
    test_file: Option<TestFile>,
    /// The folder for files of steps, if the target is a directory. It contains the test file and
    /// is removed after it.
    container: Option<Container>,
    /// The ledger of writes, if writes are verified.
    ledger: Option<Arc<Ledger>>,
    /// Whether the data is read back before the target is removed.
    reads_back: bool,
}

/// A target opened for one thread of a repetition.
#[derive(Debug)]
pub struct Opened {
    pub(crate) file: File,
    /// Stamps the data written, in a run whose writes are verified.
    pub(crate) stamping: Option<Stamping>,
    /// The kind of flush.
    pub(crate) sync: SyncRule,
}

impl Target {
    /// Resolves, checks and opens what the user named. In a directory, the test file is created and
    /// its space reserved, but nothing is written yet.
    ///
    /// # Errors
    /// Fails if the target can't or must not be measured.
    pub fn open(given: &Path, options: &TargetOptions) -> Result<Self> {
        let path = given.canonicalize().map_err(|error| cannot_use(given, &error))?;
        let metadata = path.metadata().map_err(|error| cannot_use(given, &error))?;
        options.refuse_idle_consent(given, &metadata)?;
        let facts = TargetRecord {
            given: shown::name(given),
            path: shown::name(&path),
            kind: TargetKind::Directory,
            span_bytes: options.size_bytes,
            direct: options.direct,
            alignment_bytes: 1,
            writable: false,
        };
        let mut target = Self::of(facts, path.clone());
        if metadata.is_dir() {
            let folder = Folder::open(&path).map_err(|error| cannot_use(given, &error))?;
            let scratch =
                target.scratch.insert(Arc::new(Scratch::in_folder(folder, options.mark.clone()))).clone();
            options.scratches.add(&scratch);
            target.facts.writable = true;
            let mut scratch = scratch;
            if options.work_folder {
                let container = Container::create(&scratch, OsStr::new(&options.test_file_name))?;
                let inside = container.folder.try_clone().map_err(|error| cannot_use(given, &error))?;
                scratch = Arc::new(Scratch::in_folder(inside, options.mark.clone()));
                target.container = Some(container);
            }
            match &options.others {
                _ if options.no_test_file => {
                    target.facts.direct = false;
                    return Ok(target);
                }
                Some(others) => target.take_part(&path, others, options)?,
                None => target.make_test_file(&scratch, options)?,
            }
        } else {
            let looked = Looked::at(&path).map_err(|error| cannot_use(given, &error))?;
            target.facts.kind = kind_of(given, &looked.facts)?;
            match target.facts.kind {
                TargetKind::BlockDevice => target.take_device(looked, options)?,
                _ => target.take_file(looked, options)?,
            }
        }
        target.find_alignment()?;
        if target.facts.kind == TargetKind::Directory {
            // The test file is written in whole units.
            target.facts.span_bytes -= target.facts.span_bytes % u64::from(target.facts.alignment_bytes);
        }
        Ok(target)
    }

    /// Creates a target that holds nothing open yet.
    fn of(facts: TargetRecord, path: PathBuf) -> Self {
        Self {
            facts,
            path,
            held: None,
            takes_part: false,
            read_instead: None,
            scratch: None,
            test_file: None,
            container: None,
            ledger: None,
            reads_back: false,
        }
    }

    /// Returns the same target again, to be compared with itself, on the same test file. This one
    /// remains the owner of the file. Not suitable for programs and copies, which create their own
    /// files. `direct` and `span_bytes` may differ, but the span never exceeds the existing data.
    ///
    /// # Errors
    /// Fails if direct I/O is refused.
    pub fn again(&self, direct: bool, span_bytes: u64) -> Result<Self> {
        let takes_direct =
            matches!(self.facts.kind, TargetKind::Directory | TargetKind::File | TargetKind::BlockDevice);
        let facts = TargetRecord {
            span_bytes: self.facts.span_bytes.min(span_bytes),
            direct: direct && takes_direct,
            ..self.facts.clone()
        };
        let mut again = Self { held: self.held.clone(), ..Self::of(facts, self.path.clone()) };
        if again.facts.direct && !self.facts.direct {
            again.find_alignment()?;
        }
        Ok(again)
    }

    /// Returns the facts that identify what was created on the target, if anything was.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn made(&self) -> Result<Option<MadeFacts>> {
        let status = match (&self.container, &self.test_file) {
            (Some(container), _) => rustix::fs::fstat(&container.folder),
            (None, Some(file)) => rustix::fs::fstat(file.file()),
            (None, None) => return Ok(None),
        };
        let status = status.map_err(|error| cannot_open(&self.path, &error.into()))?;
        Ok(Some(MadeFacts { inode: Some(status.st_ino), user: status.st_uid }))
    }

    /// Removes everything that was created on the target, and returns what could not be removed.
    #[must_use]
    pub fn close(self) -> Vec<Remains> {
        self.scratch.as_ref().map(|scratch| scratch.remove_all()).unwrap_or_default()
    }

    fn make_test_file(&mut self, scratch: &Arc<Scratch>, options: &TargetOptions) -> Result<()> {
        let directory = shown::path(&self.path);
        let free_bytes = || platform::free_bytes(&scratch.folder);
        let free = free_bytes().map_err(|error| {
            Error::os(
                text!(
                    "cannot determine the free space on {directory}",
                    "{directory} の空き容量が分かりません"
                ),
                &error,
            )
        })?;
        let size_bytes = options.size_bytes.saturating_mul(u64::from(options.parts.max(1)));
        if free.is_some_and(|free| free < size_bytes) {
            return Err(no_space(&self.path, size_bytes, free));
        }
        let test_file = TestFile::create(scratch, OsStr::new(&options.test_file_name))?;
        platform::preallocate(&test_file.held, size_bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                no_space(&self.path, size_bytes, free_bytes().ok().flatten())
            }
            _ => Error::os(
                text!("cannot reserve space on {directory}", "{directory} に領域を確保できません"),
                &error,
            ),
        })?;
        self.path = test_file.held.path();
        self.facts.path = shown::name(&self.path);
        self.held = Some(Arc::clone(&test_file.held));
        self.test_file = Some(test_file);
        Ok(())
    }

    /// Takes the user's file, or a character device that returns bytes endlessly.
    fn take_file(&mut self, looked: Looked, options: &TargetOptions) -> Result<()> {
        let cannot = |error: &std::io::Error| cannot_open(&self.path, error);
        let is_file = self.facts.kind == TargetKind::File;
        let size = u64::try_from(looked.facts.st_size).unwrap_or(0);
        if is_file {
            refuse_own(&looked.facts, &self.path)?;
        }
        let mut held = looked.open().map_err(|error| cannot(&error))?;
        self.facts.writable = is_file && options.write_existing;
        if self.facts.writable {
            refuse_if_in_use(self.facts.kind, held.file(), &self.path)?;
            held = held.for_writing(false).map_err(|error| cannot(&error))?;
        }
        self.held = Some(Arc::new(held));
        if !is_file {
            self.facts.direct = false;
            return Ok(());
        }
        self.fit_span(size, options)
    }

    /// Takes a block device: read-only, unless the user consented to the loss of its data.
    fn take_device(&mut self, looked: Looked, options: &TargetOptions) -> Result<()> {
        let number = looked.facts.st_rdev;
        let cannot = |error: &std::io::Error| cannot_open(&self.path, error);
        let mut held = looked.open().map_err(|error| cannot(&error))?;
        if let Some(consent) = &options.destroy_data_on {
            refuse_other_device(&self.path, number, consent)?;
            refuse_if_in_use(self.facts.kind, held.file(), &self.path)?;
            refuse_protected(&self.path, number)?;
            held = held.for_writing(true).map_err(|error| {
                if error.raw_os_error() == Some(rustix::io::Errno::BUSY.raw_os_error()) {
                    return in_use(
                        self.facts.kind,
                        &self.path,
                        &text!("the kernel reports it as busy", "カーネルが使用中と報告"),
                    );
                }
                cannot(&error)
            })?;
        }
        self.facts.writable = options.destroy_data_on.is_some();
        let size = held.file().seek(SeekFrom::End(0)).map_err(|error| cannot_open(&self.path, &error))?;
        self.held = Some(Arc::new(held));
        self.fit_span(size, options)
    }

    fn fit_span(&mut self, size_bytes: u64, options: &TargetOptions) -> Result<()> {
        let (path, size) = (shown::path(&self.path), format_bytes(size_bytes));
        if size_bytes == 0 {
            return Err(ErrorKind::Target
                .error(text!(
                    "{path} is empty, so it has no data to read",
                    "{path} は空なので、読むものがありません"
                ))
                .remedy(text!(
                    "name a directory to let kurabe create a test file in it",
                    "ディレクトリを指定すれば、その中にテストファイルを作ります"
                )));
        }
        if options.size_is_asked && options.size_bytes > size_bytes {
            return Err(ErrorKind::Target
                .error(text!(
                    "{} were requested, but {path} has only {size}",
                    "{} を指定されましたが、{path} は {size} しかありません",
                    format_bytes(options.size_bytes)
                ))
                .remedy(text!("set {SIZE} to {size} or less", "{SIZE} を {size} 以下にしてください")));
        }
        let all = options.whole_device && !options.size_is_asked;
        self.facts.span_bytes = if all { size_bytes } else { options.size_bytes.min(size_bytes) };
        Ok(())
    }

    /// Determines the smallest unit that direct I/O supports here, by trying.
    fn find_alignment(&mut self) -> Result<()> {
        if !self.facts.direct {
            return Ok(());
        }
        let unit = self.open_file(false, SyncRule::default()).and_then(|file| smallest_direct_unit(&file));
        match unit {
            Ok(Some(unit)) => self.facts.alignment_bytes = unit,
            Err(error) if error.kind() != ErrorKind::Unsupported => return Err(error),
            Ok(None) | Err(_) => {
                return Err(ErrorKind::Unsupported
                    .error(text!(
                        "{} does not support direct I/O, so the page cache cannot be bypassed",
                        "{} はダイレクト I/O を受け付けないため、ページキャッシュを避けられません",
                        self.facts.given
                    ))
                    .remedy(text!(
                        "add {BUFFERED} to measure through the page cache; the result records that",
                        "{BUFFERED} を付けるとページキャッシュ経由で測り、結果にそう記録します"
                    )));
            }
        }
        Ok(())
    }

    /// Opens the target again for a thread of a workload.
    ///
    /// # Errors
    /// As [`Self::open_lane`].
    pub(crate) fn open_for(&self, workload: &Workload) -> Result<Opened> {
        let opened = self.open_lane(workload.writes(), workload.sync)?;
        if let Some(hint) = workload.write_hint.filter(|_| workload.writes()) {
            set_write_hint(&opened.file, hint).map_err(|error| {
                let word = hint.word();
                Error::os(
                    text!(
                        "the write hint `{word}` cannot be set",
                        "書き込みのヒント `{word}` を設定できません"
                    ),
                    &error,
                )
            })?;
        }
        Ok(opened)
    }

    /// Opens the target again for a thread of a repetition.
    ///
    /// # Errors
    /// Returns the operating system's error, or `Unsupported` if direct I/O is refused at opening.
    pub(crate) fn open_lane(&self, write: bool, sync: SyncRule) -> Result<Opened> {
        let stamping = self.ledger.clone().map(|ledger| Stamping { ledger, o_sync: sync.o_sync });
        let file = match self.read_instead.as_ref().filter(|_| !write) {
            Some(others) => others.reopen(OpenHow { direct: self.facts.direct, ..OpenHow::default() })?,
            None => self.open_file(write, sync)?,
        };
        Ok(Opened { file, stamping, sync })
    }

    /// Enables verification: from now on every write is stamped and listed, as long as only
    /// workloads write. If the data is read back by [`Self::read_back`], it need not exist
    /// afterwards.
    pub fn verify(&mut self, ledger: Arc<Ledger>, reads_back: bool) {
        (self.ledger, self.reads_back) = (Some(ledger), reads_back);
    }

    /// Returns whether the target may be removed with a verified run, because its data is read back
    /// first.
    pub(crate) fn reads_back(&self) -> bool {
        self.reads_back
    }

    /// Flushes the written data and compares the target's content with the ledger.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn read_back(&self, ledger: &Arc<Ledger>) -> Result<ImageCheck> {
        let cannot = |error: &std::io::Error| {
            Error::os(text!("written data cannot be read back", "書いた内容を読み戻せません"), error)
        };
        let file = self.open_buffered()?;
        let stamping = Stamping { ledger: Arc::clone(ledger), o_sync: false };
        stamping.flush(|| file.sync_all()).map_err(|error| cannot(&error))?;
        check_image(&file, &ledger.list(), &mut |_| {}).map_err(|error| cannot(&error))
    }

    /// Returns whether writes are stamped and listed.
    pub(crate) fn is_verified(&self) -> bool {
        self.ledger.is_some()
    }

    /// Opens the target again.
    ///
    /// # Errors
    /// Returns the operating system's error, or `Unsupported` if direct I/O is refused at opening.
    pub fn open_file(&self, write: bool, sync: SyncRule) -> Result<File> {
        let SyncRule { o_sync, data_only, .. } = sync;
        let how = OpenHow { write, o_sync, data_only, direct: self.facts.direct, ..OpenHow::default() };
        self.held()?.reopen(how)
    }

    /// Opens the target again through the page cache, as a copy does.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub(crate) fn open_buffered(&self) -> Result<File> {
        self.held()?.reopen(OpenHow { write: true, ..OpenHow::default() })
    }

    /// Returns the open file description that has existed since the target was checked, and thus
    /// since before anything was written.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub(crate) fn held_description(&self) -> Result<File> {
        self.held()?.file().try_clone().map_err(|error| cannot_open(&self.path, &error))
    }

    fn held(&self) -> Result<&HeldFile> {
        self.held.as_deref().ok_or_else(no_test_file)
    }

    /// Truncates the test file to the size that was written.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn cut(&mut self, size_bytes: u64) -> Result<()> {
        let what = || text!("cannot shorten the test file", "テストファイルを縮められません");
        self.open_buffered()?.set_len(size_bytes).map_err(|error| Error::os(what(), &error))?;
        self.facts.span_bytes = size_bytes;
        Ok(())
    }

    /// Reduces the span. The existing data stays unchanged.
    pub fn narrow(&mut self, span_bytes: u64) {
        self.facts.span_bytes = self.facts.span_bytes.min(span_bytes);
    }

    /// Returns the target's path, which for a directory is that of the test file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder in which programs may work. It belongs to kurabe, and a later run removes
    /// it if this one is killed.
    pub fn container(&self) -> Option<&Folder> {
        self.container.as_ref().map(|container| &container.folder)
    }

    /// Returns the test file that was created in a directory.
    pub fn test_file(&self) -> Option<&TestFile> {
        self.test_file.as_ref()
    }

    /// Returns whether there is a test file, or a part of one, that is written before anything is
    /// read.
    pub(crate) fn is_written_first(&self) -> bool {
        self.test_file.is_some() || self.takes_part
    }

    /// Returns what was created in a directory, for code that ends the process early.
    pub fn scratch(&self) -> Option<&Arc<Scratch>> {
        self.scratch.as_ref()
    }

    /// Returns the facts for the record.
    pub fn facts(&self) -> &TargetRecord {
        &self.facts
    }
}

fn cannot_use(given: &Path, error: &std::io::Error) -> Error {
    let shown = shown::path(given);
    let made = Error::os(text!("cannot use {shown} as a target", "{shown} を測定対象にできません"), error);
    if error.kind() == std::io::ErrorKind::NotFound {
        return made.remedy(text!(
            "name a directory, a file or a block device that exists",
            "実在するディレクトリ、ファイル、ブロックデバイスを指定してください"
        ));
    }
    made
}

fn cannot_open(path: &Path, error: &std::io::Error) -> Error {
    let path = shown::path(path);
    Error::os(text!("cannot open {path}", "{path} を開けません"), error)
}

fn no_test_file() -> Error {
    ErrorKind::Internal.error(text!(
        "a test file was requested, but the profile does not need one",
        "テストファイルを使わないプロファイルでテストファイルが要求されました"
    ))
}

fn kind_of(given: &Path, facts: &Stat) -> Result<TargetKind> {
    /// Major number of the memory devices, and the minor numbers of those that return bytes
    /// endlessly.
    const MEMORY_MAJOR: u32 = 1;
    const ENDLESS_MINORS: [u32; 3] = [5, 8, 9];
    let number = facts.st_rdev;
    let is_endless =
        rustix::fs::major(number) == MEMORY_MAJOR && ENDLESS_MINORS.contains(&rustix::fs::minor(number));
    match FileType::from_raw_mode(facts.st_mode) {
        FileType::RegularFile => return Ok(TargetKind::File),
        FileType::BlockDevice => return Ok(TargetKind::BlockDevice),
        FileType::CharacterDevice if is_endless => return Ok(TargetKind::CharacterDevice),
        _ => {}
    }
    Err(ErrorKind::Target
        .error(text!(
            "{} is neither a directory, a file nor a block device",
            "{} はディレクトリでもファイルでもブロックデバイスでもありません",
            shown::path(given)
        ))
        .remedy(text!(
            "name a directory on the storage that you want to measure",
            "測りたいストレージ上のディレクトリを指定してください"
        )))
}

impl TargetOptions {
    /// Rejects consent to the loss of a device's data if the target is not a block device, because
    /// the user must have meant another target.
    ///
    /// # Errors
    /// Fails if the consent does not apply to the target.
    pub fn refuse_idle_consent(&self, given: &Path, target: &Metadata) -> Result<()> {
        if self.destroy_data_on.is_none() || target.file_type().is_block_device() {
            return Ok(());
        }
        let shown = shown::path(given);
        let what = text!(
            "{DESTROY_DATA_ON} applies to block devices, but {shown} is not a block device",
            "{DESTROY_DATA_ON} はブロックデバイス用ですが、{shown} はブロックデバイスではありません"
        );
        Err(ErrorKind::Refused.error(what).remedy(text!(
            "remove it: kurabe measures a directory with a test file, and does not write to existing files",
            "外してください。ディレクトリではテストファイルで測り、既存のデータには書き込みません"
        )))
    }
}

/// Checks that the target is the device for which the user consented to the loss of data.
fn refuse_other_device(device: &Path, number: u64, consent: &Path) -> Result<()> {
    let is_same =
        consent.metadata().is_ok_and(|named| named.file_type().is_block_device() && named.rdev() == number);
    if is_same {
        return Ok(());
    }
    let device = shown::path(device);
    Err(ErrorKind::Refused
        .error(text!(
            "{DESTROY_DATA_ON} names {}, but the target is {device}",
            "{DESTROY_DATA_ON} は {} ですが、測定対象は {device} です",
            shown::path(consent)
        ))
        .remedy(text!(
            "to destroy all data on the target, name the same device twice",
            "対象のデータをすべて失ってよい場合は、同じデバイスを両方に指定してください"
        )))
}

fn refuse_protected(device: &Path, number: u64) -> Result<()> {
    if !platform::is_write_protected(number) {
        return Ok(());
    }
    const SETRW: Mention = Mention::Shell("blockdev --setrw");
    let device = shown::path(device);
    Err(ErrorKind::Permission
        .error(text!("{device} is write-protected", "{device} は書き込み禁止です"))
        .remedy(text!(
            "remove the write protection (its switch, or {SETRW} {device}), or measure only reads",
            "保護を解除する(本体のスイッチ、または {SETRW} {device})か、読み出しだけを測ってください"
        )))
}

fn no_space(directory: &Path, need_bytes: u64, free_bytes: Option<u64>) -> Error {
    let (directory, need) = (shown::path(directory), format_bytes(need_bytes));
    let what = match free_bytes.map(format_bytes) {
        Some(free) => text!(
            "the test file needs {need}, but {directory} has only {free} free",
            "テストファイルに {need} 必要ですが、{directory} の空きは {free} です"
        ),
        None => text!(
            "the test file needs {need}, and {directory} has less",
            "テストファイルに {need} 必要ですが、{directory} の空きが足りません"
        ),
    };
    no_room_for(what, free_bytes.unwrap_or(0))
}

/// Returns the error for a request that does not fit, with the size of a test file that would.
pub(crate) fn no_room_for(what: Text, free_bytes: u64) -> Error {
    ErrorKind::NoSpace.error(what).remedy(match free_bytes / MIB * 9 / 10 {
        0 => text!(
            "free some space, or choose another directory",
            "空きを増やすか、別のディレクトリを指定してください"
        ),
        mib => text!(
            "free some space, or use a smaller size: {SIZE} {mib}m",
            "空きを増やすか、{SIZE} {mib}m のように小さくしてください"
        ),
    })
}

/// Returns the smallest power of two that direct reads support. `None` if none works.
fn smallest_direct_unit(file: &File) -> Result<Option<u32>> {
    const LARGEST: u32 = 64 << 10;
    /// More interruptions than signals could cause. The target itself returns the error.
    const MOST_INTERRUPTIONS: u32 = 1000;
    let (mut arena, _) = Arena::new(1, LARGEST as usize, Pages::Small)?;
    let mut leases = arena.leases();
    let (mut unit, mut interruptions) = (512, 0);
    while unit <= LARGEST {
        match rustix::io::pread(file, leases[0].bytes_mut(unit as usize), u64::from(unit)) {
            Err(rustix::io::Errno::INTR) if interruptions < MOST_INTERRUPTIONS => interruptions += 1,
            Ok(_) => return Ok(Some(unit)),
            Err(rustix::io::Errno::INVAL) => unit *= 2,
            Err(rustix::io::Errno::OPNOTSUPP) => return Ok(None),
            Err(error) => {
                return Err(Error::os(text!("cannot read the target", "対象を読めません"), &error.into()));
            }
        }
    }
    Ok(None)
}
