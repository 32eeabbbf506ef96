//! A folder on a served model: a file system is created on a device that kurabe serves, mounted
//! where no other process sees it, and removed at the end.
//!
//! Only a visitor touches the mount: a thread with its own mount namespace and descriptor table.
//! However this process ends, the mount disappears with it, and no process waits for a device
//! without a server. The next start removes what is left of the device.
//!
//! A file system always starts in the same state: its identifiers and the seed of its hashes are
//! fixed, lazy initialization is disabled, and its timers are postponed. Files for the command are
//! copied in, and the file system is mounted again, so that its caches are empty.

mod command;

pub use command::{CommandEnd, LeftBehind};

use crate::folder::system_tool::{POINT, cannot_fill, cannot_unmount, program};
use crate::folder::without_root::{FileSystemProgram, is_without_root};
use crate::folder::zfs_pool::ZfsPool;
use crate::handle::RunHandle;
use kurabe_core::words::Keyword;
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use kurabe_host::{Process, file_extents, users_of_file_system};
use kurabe_serve::{
    Address, AttachBy, ControlRequest, CutReport, DataPlace, DeviceFault, PowerRules, RequestLog,
    ServeRequest, ServeSettings, ServedFacts, ServedFigures, Serving, Visitor, attachments_folder,
    read_answer,
};
use kurabe_sim::DeviceSpec;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Name of the command's folder on the file system.
const WORK: &str = "work";
/// Identifier of the file system, and seed of its hashes.
const IDENTIFIER: &str = "6b757261-6265-4000-8000-000000000001";
/// How long to wait for processes that still use the file system after the command has ended.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);

/// File system to create on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSystemKind {
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
    /// exFAT. It is as large as the device.
    Exfat,
    /// ZFS. It is as large as the device.
    Zfs,
    /// None: the command uses the device directly.
    None,
}

impl Keyword for FileSystemKind {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("ext4", Self::Ext4),
        ("xfs", Self::Xfs),
        ("btrfs", Self::Btrfs),
        ("exfat", Self::Exfat),
        ("zfs", Self::Zfs),
        ("none", Self::None),
    ];
}

/// A device, the file system on it, and the files in the command's folder.
#[derive(Clone, Debug)]
pub struct ModelFolder {
    /// The device, without the computer layer.
    pub spec: DeviceSpec,
    /// Seed of random events in the device and in a power cut.
    pub seed: u64,
    /// File system to create.
    pub file_system: FileSystemKind,
    /// Size of the file system.
    pub size_bytes: u64,
    /// Files and folders to copy into the command's folder.
    pub with: Vec<PathBuf>,
}

/// A request for a folder on a served model.
#[derive(Clone, Debug)]
pub struct FolderRequest {
    /// Device, file system and files.
    pub setup: ModelFolder,
    /// Whether formatting writes only the minimum, for slow devices in real time.
    pub is_made_in_a_hurry: bool,
    /// Rules for power cuts, if allowed.
    pub power: Option<PowerRules>,
    /// Whether replies should arrive on time. The round trip to the device is then measured at the
    /// start.
    pub is_in_time: bool,
    /// Log of the requests to the device.
    pub log: Option<Arc<RequestLog>>,
}

/// A folder on a served model.
pub struct ServedFolder {
    visitor: Visitor,
    serving: Serving,
    request: FolderRequest,
    device: PathBuf,
    pool: Option<Arc<ZfsPool>>,
    /// The FUSE file system that replaces the kernel's where that is not available.
    program: Option<FileSystemProgram>,
    is_mounted: bool,
}

/// Result of removing the folder.
#[derive(Debug)]
pub struct FolderEnd {
    /// Figures of the device.
    pub figures: ServedFigures,
    /// Processes that still used the device when it was removed.
    pub left: Vec<Text>,
}

impl FolderEnd {
    /// Returns the figures of the device.
    ///
    /// # Errors
    /// When processes still used it, because their last writes are missing.
    pub fn alone(self) -> Result<ServedFigures> {
        refuse_left(self.left).map(|()| self.figures)
    }
}

impl ServedFolder {
    /// Creates the folder and copies the requested files into it.
    ///
    /// # Errors
    /// When the device cannot be served, or a program that formats or mounts the file system fails.
    pub fn make(request: FolderRequest) -> Result<Self> {
        refuse_equal_names(&request.setup.with, request.setup.file_system)?;
        let visitor = Visitor::start(!is_without_root()).map_err(|error| {
            let message =
                text!("cannot create a private mount namespace", "専用のマウント名前空間を作れません");
            Error::os(message, &error)
                .remedy(text!("run as root: use sudo", "root 権限が必要です。sudo を使ってください"))
        })?;
        if is_without_root() && request.setup.file_system != FileSystemKind::Ext4 {
            let message =
                text!("without root, only ext4 is available", "root なしで使えるのは ext4 だけです");
            return Err(ErrorKind::Usage.error(message).remedy(text!("use sudo", "sudo を使ってください")));
        }
        let serving = Serving::start(&ServeRequest {
            spec: request.setup.spec.clone(),
            address: Address::Devices {
                folder: attachments_folder()?,
                by: if is_without_root() { AttachBy::Files } else { AttachBy::Auto },
            },
            control: None,
            data: DataPlace::Memory,
            log: request.log.clone(),
            settings: ServeSettings {
                seed: request.setup.seed,
                round_trip_ns: (!request.is_in_time).then_some(0),
                power: request.power.clone(),
                ..ServeSettings::default()
            },
        })?;
        let device = serving.facts().devices[0].clone();
        let (pool, program) = (None, None);
        let mut made = Self { visitor, serving, request, device, pool, program, is_mounted: false };
        if made.has_file_system() {
            made.make_file_system()?;
            made.mount()?;
            let folder = made.folder();
            made.visit(move || std::fs::create_dir(&folder).map_err(|error| cannot_fill(&folder, &error)))?;
            made.copy_in()?;
            made.settle()?;
            made.unmount()?;
            made.mount()?;
        }
        if let Some(log) = &made.request.log {
            let _ = log.take();
        }
        Ok(made)
    }

    /// Returns the facts about the served device.
    pub fn facts(&self) -> &ServedFacts {
        self.serving.facts()
    }

    /// Returns the figures so far, unless the server has ended.
    pub fn figures(&self) -> Option<ServedFigures> {
        self.serving.figures()
    }

    /// Returns the device node.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// Returns the mount point of the file system.
    pub fn point(&self) -> &Path {
        Path::new(POINT)
    }

    /// Returns whether there is a file system on the device.
    pub fn has_file_system(&self) -> bool {
        self.request.setup.file_system != FileSystemKind::None
    }

    /// Whether it is known where files lie while the command runs. A file system that is a program
    /// does not say, and would answer nothing while it waits for its device.
    pub fn tells_places(&self) -> bool {
        let is_kernels = !is_without_root() && self.program.is_none();
        is_kernels
            && matches!(
                self.request.setup.file_system,
                FileSystemKind::Ext4 | FileSystemKind::Xfs | FileSystemKind::Btrfs
            )
    }

    /// Creates a folder elsewhere that survives a power cut, but is removed with this one.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn make_passing_folder(&self, name: &str) -> Result<PathBuf> {
        self.serving.make_passing_folder(name)
    }

    /// Returns the command's folder.
    pub fn folder(&self) -> PathBuf {
        self.point().join(WORK)
    }

    /// Runs work on the visitor's thread.
    fn visit<T: Send + 'static>(&self, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
        self.visitor.run(work).map_err(|error| Error::no_thread(&error))?
    }

    /// Writes back dirty data, file by file in the order of their names, because the order of the
    /// kernel's own write-back varies. Returns each file with its extents on the device.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn settle(&self) -> Result<Vec<SettledFile>> {
        // Waiting for a pool whose device failed would never end, and a killed pool has no dirty
        // data.
        let is_lost = |pool: &Arc<ZfsPool>| pool.is_killed() || self.has_faults();
        if !self.is_mounted || self.pool.as_ref().is_some_and(is_lost) {
            return Ok(Vec::new());
        }
        self.visit(|| {
            let mut files = Vec::new();
            walk(Path::new(POINT), &mut files).map_err(|error| cannot_settle(&error))?;
            let mounted = File::open(POINT).map_err(|error| cannot_settle(&error))?;
            rustix::fs::syncfs(&mounted).map_err(|error| cannot_settle(&error.into()))?;
            Ok(files)
        })
    }

    /// Passes the device node to `look` on the visitor's thread.
    ///
    /// # Errors
    /// When the thread has ended.
    pub fn look_at_device<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Path) -> T + Send + 'static,
    ) -> Result<T> {
        let device = self.device.clone();
        self.visit(move || Ok(look(&device)))
    }

    /// Removes everything and returns the figures of the device. Its faults are cleared first, so
    /// that caches can be written. Processes that use it after the grace period get errors.
    ///
    /// # Errors
    /// When it cannot be unmounted, or the server has failed.
    pub fn end(mut self) -> Result<FolderEnd> {
        if self.has_faults() {
            self.pool.iter().for_each(|pool| pool.kill());
        }
        self.serving.control(ControlRequest::NO_FAULTS)?;
        let mut left = self.unmount()?;
        if left.is_empty() {
            left = self.serving.detach_within(PATIENCE)?;
        }
        if !left.is_empty() {
            let figures = read_answer(self.serving.control(ControlRequest::Stats)?)?;
            return Ok(FolderEnd { figures, left });
        }
        self.serving.end();
        Ok(FolderEnd { figures: self.serving.wait()?, left })
    }

    /// Sets a fault of the device from now on.
    ///
    /// # Errors
    /// When no request can ever meet the fault, or the server has ended.
    pub fn set_fault(&self, fault: &DeviceFault) -> Result<()> {
        // Loads the metadata of the folder first, because a command that cannot start would not end
        // cleanly.
        let folder = self.folder();
        let _ = self.visitor.run(move || std::fs::metadata(folder));
        let fault = Some(fault.words().to_owned());
        self.serving.control(ControlRequest::Fault { fault }).map(|_| ())
    }

    /// Returns whether the device has any faults.
    pub fn has_faults(&self) -> bool {
        self.figures().is_some_and(|figures| !figures.faults.is_empty())
    }

    /// Cuts power after this number of writes from now on.
    ///
    /// # Errors
    /// When the server has ended, or has no rules for power cuts.
    pub fn cut_power_after(&self, writes: u64) -> Result<()> {
        self.serving.control(ControlRequest::CutAfter { writes }).map(|_| ())
    }

    /// Kills the programs of a run at the beginning of each power cut. A real machine stops as well,
    /// so that a program never sees its disk fail.
    pub fn stop_programs_at_cut(&self, handle: &RunHandle) {
        let handle = handle.clone();
        self.serving.at_cut(move || handle.kill_programs());
    }

    /// Returns work that cuts power, for another thread.
    pub fn cutter(&self) -> impl Fn() + Send + Sync + 'static {
        self.serving.cutter()
    }

    /// Makes a file outside the command's folder durable, as another program does at any time. The
    /// journal of a file system then commits what the command did to names, and not always its data.
    pub fn sync_another_file(&self) {
        let file = self.point().join("another-program");
        // The power may be cut in the middle.
        let _ = self.visitor.run(move || {
            File::create(file).and_then(|mut file| {
                std::io::Write::write_all(&mut file, b"1")?;
                file.sync_all()
            })
        });
    }

    /// Passes the command's folder to `look` on the visitor's thread.
    ///
    /// # Errors
    /// When the thread has ended.
    pub fn look_at_folder<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Path) -> T + Send + 'static,
    ) -> Result<T> {
        let folder = self.folder();
        self.visit(move || Ok(look(&folder)))
    }

    /// Cuts power now unless it is already off, and returns the report of the power cut.
    ///
    /// # Errors
    /// When the server has ended.
    pub fn ensure_cut(&self) -> Result<CutReport> {
        if let Some(report) = self.figures().and_then(|figures| figures.cuts.last().copied()) {
            return Ok(report);
        }
        read_answer(self.serving.control(ControlRequest::Cut)?)
    }

    /// Unmounts the file system that was mounted before a power cut.
    ///
    /// # Errors
    /// When it is still used, because it would stay active alongside the next mount.
    pub fn give_up(&mut self) -> Result<()> {
        let Some(pool) = self.pool.clone() else { return self.unmount().and_then(refuse_left) };
        self.is_mounted = false;
        self.visit(move || pool.crash())
    }

    /// Restores power after a power cut, and mounts the file system again.
    ///
    /// # Errors
    /// When it cannot be mounted.
    pub fn mount_again(&mut self) -> Result<()> {
        self.serving.control(ControlRequest::PowerOn)?;
        self.mount()
    }

    /// Unmounts the file system, or returns the processes that still use it.
    fn unmount(&mut self) -> Result<Vec<Text>> {
        if !self.is_mounted {
            return Ok(Vec::new());
        }
        let pool = self.pool.clone();
        let users = self.visit(move || {
            let begun = Instant::now();
            loop {
                let unmounted = match &pool {
                    Some(pool) => pool.export(),
                    None => rustix::mount::unmount(POINT, rustix::mount::UnmountFlags::NOFOLLOW)
                        .map_err(|error| cannot_unmount(&error.into())),
                };
                let Err(error) = unmounted else { return Ok(Vec::new()) };
                if begun.elapsed() > PATIENCE {
                    let users: Vec<Text> = users_of_file_system(Path::new(POINT)).iter().map(user).collect();
                    return if users.is_empty() { Err(error) } else { Ok(users) };
                }
                std::thread::sleep(LOOK);
            }
        })?;
        self.is_mounted = !users.is_empty();
        if let Some(program) = self.program.take_if(|_| users.is_empty()) {
            program.end()?;
        }
        Ok(users)
    }

    fn mount(&mut self) -> Result<()> {
        if let Some(pool) = self.pool.clone() {
            self.visit(move || pool.import())?;
            self.is_mounted = true;
            return Ok(());
        }
        let kind = self.request.setup.file_system;
        if is_without_root() {
            let device = self.device.clone();
            self.program = Some(self.visit(move || FileSystemProgram::mount(&device))?);
            self.is_mounted = true;
            return Ok(());
        }
        let options = match kind {
            // Read-ahead by the file system's own threads would make the requests vary.
            FileSystemKind::Ext4 => {
                "noatime,commit=3600,no_prefetch_block_bitmaps,inode_readahead_blks=1,noinit_itable"
            }
            FileSystemKind::Btrfs => "noatime,commit=3600",
            FileSystemKind::Xfs => "noatime,nouuid",
            FileSystemKind::Exfat | FileSystemKind::Zfs | FileSystemKind::None => "noatime",
        };
        let device = self.device.to_string_lossy().into_owned();
        self.visit(move || {
            std::fs::create_dir_all(POINT).map_err(|error| cannot_fill(Path::new(POINT), &error))?;
            let mount = |word: &str| program("mount", &["-t", word, "-o", options, &device, POINT], "mount");
            // A kernel without exFAT may have the FUSE driver.
            mount(kind.word()).or_else(|error| match kind {
                FileSystemKind::Exfat => mount("exfat-fuse").map_err(|_| error),
                _ => Err(error),
            })
        })?;
        self.is_mounted = true;
        if let Some(name) = self.device.file_name() {
            // By default, the location of a small file on ext4 depends on the processor that writes
            // it. This setting disables packing small files together. Kernels without the setting
            // choose the location.
            let setting = Path::new("/sys/fs/ext4").join(name).join("mb_stream_req");
            let _ = std::fs::write(setting, "0");
        }
        Ok(())
    }

    fn make_file_system(&mut self) -> Result<()> {
        if self.request.setup.file_system == FileSystemKind::Zfs {
            let device = self.device.clone();
            self.pool = Some(Arc::new(self.visit(move || ZfsPool::make(&device))?));
            return Ok(());
        }
        let device = self.device.to_string_lossy();
        let size = self.request.setup.size_bytes;
        let kibibytes = format!("{}k", size >> 10);
        let lazy = u8::from(self.request.is_made_in_a_hurry);
        let hashes = format!(
            "hash_seed={IDENTIFIER},lazy_itable_init={lazy},lazy_journal_init={lazy},nodiscard,root_owner=0:0"
        );
        let (uuid, bytes) = (format!("uuid={IDENTIFIER}"), format!("size={size}"));
        match self.request.setup.file_system {
            FileSystemKind::Ext4 => program(
                "mkfs.ext4",
                &["-q", "-F", "-b", "4096", "-U", IDENTIFIER, "-E", &hashes, &device, &kibibytes],
                "e2fsprogs",
            ),
            FileSystemKind::Xfs => {
                program("mkfs.xfs", &["-q", "-f", "-K", "-m", &uuid, "-d", &bytes, &device], "xfsprogs")
            }
            FileSystemKind::Btrfs => {
                program("mkfs.btrfs", &["-q", "-f", "-K", "-b", &size.to_string(), &device], "btrfs-progs")
            }
            FileSystemKind::Exfat => program("mkfs.exfat", &[&device], "exfatprogs"),
            FileSystemKind::Zfs | FileSystemKind::None => Ok(()),
        }
    }

    fn copy_in(&self) -> Result<()> {
        let (folder, with) = (self.folder(), self.request.setup.with.clone());
        self.visit(move || {
            with.iter().try_for_each(|path| {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                program("cp", &["-a", "--", &path.to_string_lossy(), &folder.to_string_lossy()], "coreutils")
            })
        })
    }
}

/// Checks that the files to copy have distinct names.
fn refuse_equal_names(with: &[PathBuf], file_system: FileSystemKind) -> Result<()> {
    let mut names: Vec<(String, &Path)> = Vec::new();
    for path in with {
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
        // Names on exFAT are case-insensitive.
        let name = if file_system == FileSystemKind::Exfat { name.to_lowercase() } else { name };
        if let Some((_, other)) = names.iter().find(|(taken, _)| *taken == name) {
            let (one, other) = (shown::path(other), shown::path(path));
            let message = text!(
                "{one} and {other} would have the same name on the disk",
                "{one} と {other} はディスク上で同じ名前になります"
            );
            let remedy = text!("rename one of them", "どちらかの名前を変えてください");
            return Err(ErrorKind::Usage.error(message).remedy(remedy));
        }
        names.push((name, path));
    }
    Ok(())
}

/// A file or folder of the file system.
pub struct SettledFile {
    /// Its path.
    pub path: PathBuf,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Extents on the device, as byte ranges.
    pub places: Vec<Range<u64>>,
}

impl Drop for ServedFolder {
    fn drop(&mut self) {
        if self.is_mounted {
            let _ = self.visitor.run(|| rustix::mount::unmount(POINT, rustix::mount::UnmountFlags::DETACH));
        }
    }
}

/// Adds every file and folder below a folder with its extents, sorted by name, without following
/// symbolic links.
fn walk(folder: &Path, files: &mut Vec<SettledFile>) -> std::io::Result<()> {
    let mut entries: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    files.push(SettledFile { path: folder.to_owned(), is_folder: true, places: place(folder)? });
    for entry in entries {
        let (kind, path) = (entry.file_type()?, entry.path());
        if kind.is_dir() {
            walk(&path, files)?;
        } else if kind.is_file() {
            files.push(SettledFile { places: place(&path)?, path, is_folder: false });
        }
    }
    Ok(())
}

/// Returns the extents of a file; none if it was removed or the file system does not report them.
fn place(path: &Path) -> std::io::Result<Vec<Range<u64>>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        file => file?,
    };
    match file_extents(&file, true) {
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::OPNOTSUPP.raw_os_error()) => {
            if file.metadata()?.is_file() {
                file.sync_data()?;
            }
            Ok(Vec::new())
        }
        extents => extents,
    }
}

fn cannot_settle(error: &std::io::Error) -> Error {
    Error::os(
        text!("cannot write the data in memory to the disk", "メモリー上のデータを書き出せません"),
        error,
    )
    .remedy(text!(
        "check that the command does not write to the device under its file system",
        "コマンドが、ファイルシステムの下のデバイスに直接書き込んでいないか確認してください"
    ))
}

fn user(process: &Process) -> Text {
    let (name, pid) = (shown::line(&process.command), process.pid);
    Text::same(format!("{name} ({pid})"))
}

fn refuse_left(left: Vec<Text>) -> Result<()> {
    if left.is_empty() {
        return Ok(());
    }
    let left = Text::list(left);
    let message = text!(
        "the command ended, but the disk is still in use: {left}",
        "コマンドは終わりましたが、ディスクがまだ使われています: {left}";
        left
    );
    Err(ErrorKind::Io.error(message).remedy(text!(
        "make the command wait for the processes that it starts",
        "起動したプロセスの終了をコマンドが待つようにしてください"
    )))
}
