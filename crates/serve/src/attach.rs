//! A served stack as block devices of this machine: the kernel's own nbd devices where it has that driver, else files of a FUSE
//! file system with a loop device on each.
//!
//! The model: the file system is mounted in a folder of this attachment alone, and the loop devices go past the page cache of
//! its files, so that what a program asks of the device is what the hub is asked. An nbd device asks the hub itself, over a
//! socket: fewer threads are on the way, and FUA is known. All of it goes with the process that serves it. After a kill the
//! kernel fails every request at once and keeps the mount and the loop devices; the next start finds them by their record and
//! removes what is provably theirs. A request that the kernel does not fail, because the killed process itself waits for it, is
//! failed by that start.

mod file_system;
mod loop_device;
mod nbd_device;
mod state;

pub use state::attachments_folder;

use crate::apart::apart;
use crate::clock::RealTime;
use crate::control::Controls;
use crate::disk::Disk;
use crate::hub::HubCommand;
use crate::listen::AttachBy;
use crate::protocol::Export;
use file_system::{DiskFiles, file_name};
use fuser::{Config, Session, SessionACL};
use kurabe_core::mention::{ATTACH, BY, SERVE};
use kurabe_core::process::ProcessIdentity;
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use kurabe_host::{Liveness, Number, claims, life_of, mounts_at};
use loop_device::{LoopDevice, file_system_of, loops_on};
use nbd_device::{NbdDevice, NbdRecord, free_nbd_devices, nbd_name};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsRawFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal, set_dumpable_behavior,
};
use state::{AttachmentFolder, Attachments, FILE_SYSTEM};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// How often it is looked whether a device is still used.
const LOOK: Duration = Duration::from_millis(20);
/// How long it is waited for a file system to end after its unmount.
const PATIENCE: Duration = Duration::from_secs(1);

/// What makes block devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontKind {
    /// The kernel's nbd driver.
    Nbd,
    /// FUSE and loop devices.
    Fuse,
    /// FUSE alone.
    Files,
}

/// What makes block devices, and what there was to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedFront {
    /// What makes them.
    pub front: FrontKind,
    /// How many nbd devices of the kernel were free; none if it has no such driver.
    pub free_nbd_devices: Option<usize>,
}

impl ServedFront {
    fn choose(by: AttachBy, exports: usize, free_nbd_devices: Option<usize>) -> Self {
        let front = match by {
            AttachBy::Nbd => FrontKind::Nbd,
            AttachBy::Auto if free_nbd_devices.is_some_and(|free| free >= exports) => FrontKind::Nbd,
            AttachBy::Auto | AttachBy::Fuse => FrontKind::Fuse,
            AttachBy::Files => FrontKind::Files,
        };
        Self { front, free_nbd_devices }
    }
}

/// What is attached.
pub(crate) struct Attachment {
    folder: AttachmentFolder,
    front: ServedFront,
    /// Of the kernel's driver; there is neither a file system nor a loop device then.
    nbds: Vec<NbdDevice>,
    /// Of the file system, once it is mounted.
    number: Option<Number>,
    session: Option<JoinHandle<io::Result<()>>>,
    loops: Vec<LoopDevice>,
    /// Those that stand for devices.
    files: Vec<PathBuf>,
    closed: bool,
}

/// What is attached, and by whom.
pub(crate) struct AttachedParts {
    pub(crate) disks: Vec<Arc<Disk>>,
    pub(crate) exports: Arc<[Export]>,
    pub(crate) controls: Arc<Controls>,
    pub(crate) time: RealTime,
}

impl Attachment {
    /// Makes its folder below one of the user's, and removes what kills left there.
    pub(crate) fn begin(folder: &Path, by: AttachBy, exports: usize) -> Result<Self> {
        let attachments = Attachments::open(folder)?;
        clean(&attachments)?;
        // A core dump stops every thread before it closes any file, so a thread that waits for this server would wait without end.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        let front = ServedFront::choose(by, exports, free_nbd_devices());
        let folder = attachments.make()?;
        let (nbds, loops, files) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { folder, front, nbds, number: None, session: None, loops, files, closed: false })
    }

    /// What makes its devices.
    pub(crate) fn front(&self) -> ServedFront {
        self.front
    }

    /// Where it is controlled.
    pub(crate) fn control(&self) -> PathBuf {
        self.folder.control()
    }

    /// Creates a folder among temporary files that lasts no longer than this: the next start removes it after a kill.
    pub(crate) fn make_passing_folder(&self, name: &str) -> Result<PathBuf> {
        self.folder.make_passing(name).map_err(|error| {
            Error::os(text!("cannot create a temporary folder", "一時フォルダーを作れません"), &error)
        })
    }

    /// Makes the devices.
    pub(crate) fn attach(&mut self, parts: AttachedParts) -> Result<()> {
        match self.front.front {
            FrontKind::Nbd => self.take_nbd_devices(&parts),
            FrontKind::Fuse | FrontKind::Files => self.mount_files(parts),
        }
    }

    /// Takes a device of the kernel's driver for each export.
    fn take_nbd_devices(&mut self, parts: &AttachedParts) -> Result<()> {
        let left = Arc::new(AtomicUsize::new(parts.exports.len()));
        for (index, export) in parts.exports.iter().enumerate() {
            let (controls, left) = (Arc::clone(&parts.controls), Arc::clone(&left));
            // Whoever took the last one away, with whatever tool: nobody can ask any more.
            let ended = move || {
                if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                    controls.tell(HubCommand::End);
                }
            };
            let serve = |socket| parts.controls.tell(HubCommand::Kernel(socket, index));
            let device = NbdDevice::over(export, serve, ended).map_err(|error| {
                let message = text!("cannot set up an nbd device", "nbd デバイスを用意できません");
                Error::os(message, &error).remedy(text!(
                    "it needs root and a free device of the kernel's driver (`modprobe nbd`); {BY} fuse needs no driver",
                    "root 権限と、カーネルの nbd ドライバー(`modprobe nbd`)の空きデバイスが必要です。{BY} fuse ならドライバーは不要です"
                ))
            })?;
            self.nbds.push(device);
            let records: Vec<NbdRecord> = self.nbds.iter().map(|device| device.record.clone()).collect();
            self.folder.write(None, &records).map_err(|error| cannot_note(&self.folder, &error))?;
        }
        Ok(())
    }

    /// Mounts the files and puts loop devices on them.
    fn mount_files(&mut self, parts: AttachedParts) -> Result<()> {
        let AttachedParts { disks, exports, controls, time } = parts;
        let has_trim = exports.iter().all(|export| export.has_trim);
        let files = DiskFiles { disks, has_trim, controls, time, promotion: Once::new() };
        let session = self.mount(files).map_err(|error| {
            Error::os(
                text!("cannot mount a FUSE file system", "FUSE ファイルシステムをマウントできません"),
                &error,
            )
            .remedy(text!(
                "it needs root and /dev/fuse (`modprobe fuse`); `{SERVE}` needs neither",
                "root 権限と /dev/fuse(`modprobe fuse`)が必要です。`{SERVE}` ならどちらも不要です"
            ))
        })?;
        let hears = Builder::new().name("kurabe-fuse".to_owned()).spawn(move || session.run());
        self.session = Some(hears.map_err(|error| Error::no_thread(&error))?);
        for (index, export) in exports.iter().enumerate() {
            let file = self.folder.point().join(file_name(index));
            if self.front.front == FrontKind::Files {
                self.files.push(file);
                continue;
            }
            let device = LoopDevice::over(&file, export);
            self.loops.push(device.map_err(|error| {
                Error::os(text!("cannot set up a loop device", "ループデバイスを用意できません"), &error)
                    .remedy(text!(
                        "it needs root and loop devices (`modprobe loop`); `{SERVE}` needs neither",
                        "root 権限とループデバイス(`modprobe loop`)が必要です。`{SERVE}` ならどちらも不要です"
                    ))
            })?);
        }
        Ok(())
    }

    fn mount(&mut self, files: DiskFiles) -> io::Result<Session<DiskFiles>> {
        let kernel = OpenOptions::new().read(true).write(true).open("/dev/fuse")?;
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let options = format!("fd={},rootmode=40000,user_id={user},group_id={group}", kernel.as_raw_fd());
        let options = std::ffi::CString::new(options)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::NOATIME;
        let point = self.folder.point();
        rustix::mount::mount(self.folder.source(), &point, FILE_SYSTEM, flags, options.as_c_str())?;
        self.number = mounts_at(&point)?.last().map(|mount| mount.number);
        self.folder.write(self.number, &[])?;
        Session::from_fd(files, kernel.into(), SessionACL::Owner, Config::default())
    }

    /// The devices, by export.
    pub(crate) fn devices(&self) -> Vec<PathBuf> {
        let nbds = self.nbds.iter().map(|device| device.record.path());
        nbds.chain(self.loops.iter().map(|device| device.path.clone())).chain(self.files.clone()).collect()
    }

    /// Takes the devices away, once nobody uses them any more; `busy` is told once for what it has to wait. Where power was
    /// cut, the kernel may still have to say that writes failed. The device that is still in use at `until`, if there is one.
    pub(crate) fn detach(
        &mut self,
        has_failed: bool,
        until: Option<Instant>,
        mut busy: impl FnMut(&Path, &[Text]),
    ) -> Result<Option<PathBuf>> {
        let is_over = || until.is_some_and(|until| Instant::now() >= until);
        for device in &mut self.nbds {
            let path = device.record.path();
            let is_gone = detach_nbd(device, has_failed, &is_over, &mut busy)
                .map_err(|error| cannot_detach(&path, &error))?;
            if !is_gone {
                return Ok(Some(path));
            }
        }
        let cannot = |device: &LoopDevice, error: io::Error| cannot_detach(&device.path, &error);
        if let Some(number) = self.number {
            for device in &self.loops {
                let is_let_go =
                    device.flush_and_let_go(number, has_failed).map_err(|error| cannot(device, error))?;
                if !is_let_go {
                    busy(&device.path, &users_of(&device.path));
                    device.let_go(number).map_err(|error| cannot(device, error))?;
                }
            }
            for device in &self.loops {
                // Whoever opened it without taking it for himself is waited for as well.
                while device.is_on(number) {
                    if is_over() {
                        return Ok(Some(device.path.clone()));
                    }
                    std::thread::sleep(LOOK);
                }
            }
        }
        self.close(UnmountFlags::empty()).map(|()| None)
    }

    /// Takes the file system and the folder away.
    fn close(&mut self, how: UnmountFlags) -> Result<()> {
        self.closed = true;
        let point = self.folder.point();
        if self.number.is_some() {
            let unmounted = rustix::mount::unmount(&point, how | UnmountFlags::NOFOLLOW);
            // Somebody looks at the files themselves.
            let unmounted = unmounted.or_else(|_| {
                self.session = None;
                rustix::mount::unmount(&point, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)
            });
            unmounted.map_err(|error| {
                let shown = shown::path(&point);
                Error::os(text!("cannot unmount {shown}", "{shown} をアンマウントできません"), &error.into())
            })?;
            // It ends with its file system, or with this process where another mount name space has a copy of that.
            let begun = Instant::now();
            while self.session.as_ref().is_some_and(|session| !session.is_finished())
                && begun.elapsed() < PATIENCE
            {
                std::thread::sleep(LOOK);
            }
        }
        self.folder.remove().map_err(|error| cannot_remove(&self.folder, &error))
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        if self.closed {
            return;
        }
        // An attachment that never came to be, or whose server ended by itself: users get errors from now on.
        for device in &mut self.nbds {
            let _ = device.let_go();
        }
        if let Some(number) = self.number {
            for device in &self.loops {
                let _ = device.let_go(number);
            }
        }
        self.session = None;
        let _ = self.close(UnmountFlags::DETACH);
    }
}

/// Has the kernel let go of a device once nobody has it for himself or open for writing; what it caches is written before.
/// Whether it has, before the time for that is over.
fn detach_nbd(
    device: &mut NbdDevice,
    has_failed: bool,
    is_over: &impl Fn() -> bool,
    busy: &mut impl FnMut(&Path, &[Text]),
) -> io::Result<bool> {
    let path = device.record.path();
    let mut is_told = false;
    // As long as nobody else took it away.
    while device.record.is_held() {
        if open_alone(&path)?.is_some()
            && users_of(&path).is_empty()
            && let Some(node) = open_alone(&path)?
        {
            flush(&node, has_failed)?;
            return device.let_go().map(|()| true);
        }
        if !is_told {
            busy(&path, &users_of(&path));
            is_told = true;
        }
        if is_over() {
            return Ok(false);
        }
        std::thread::sleep(LOOK);
    }
    device.let_go().map(|()| true)
}

/// A device for this process alone, so that nothing can be mounted on it; none if somebody has it for himself.
fn open_alone(device: &Path) -> io::Result<Option<File>> {
    match rustix::fs::open(device, OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC, Mode::empty()) {
        Ok(node) => Ok(Some(node.into())),
        Err(Errno::BUSY) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Has the kernel write what it caches of a device. After a power cut or a fault nobody expects all of it to be written.
fn flush(node: &File, has_failed: bool) -> io::Result<()> {
    node.sync_all().or_else(|error| if has_failed { Ok(()) } else { Err(error) })
}

fn cannot_note(folder: &AttachmentFolder, error: &io::Error) -> Error {
    let shown = shown::path(folder.point());
    Error::os(text!("cannot note what {shown} is for", "{shown} の用途を記録できません"), error)
}

fn cannot_detach(device: &Path, error: &io::Error) -> Error {
    let shown = shown::path(device);
    Error::os(text!("cannot detach {shown}", "{shown} を切り離せません"), error)
}

fn cannot_remove(folder: &AttachmentFolder, error: &io::Error) -> Error {
    let shown = shown::path(folder.point());
    Error::os(text!("cannot remove what {shown} is in", "{shown} のあるフォルダーを削除できません"), error)
}

/// Who uses a device, as clauses; empty if nobody does, or if that cannot be told.
pub(crate) fn users_of(device: &Path) -> Vec<Text> {
    let claims = apart(|| claims(&File::open(device)?, device).map_err(|_| io::ErrorKind::Other.into()));
    let claims = claims.unwrap_or_default().into_iter().filter(|claim| !claim.is_signature);
    claims.map(|claim| claim.by).collect()
}

/// Has loop devices let go of the files of a file system with a number, where those have a name below its place. What uses such a
/// device keeps it until then.
///
/// # Errors
/// When a device cannot be asked.
pub fn let_go_of_loops(point: &Path, number: Number) -> io::Result<()> {
    loops_on(point, number)?.iter().try_for_each(|device| device.let_go(number))
}

/// Removes what kills left below a folder of attachments: dead mounts and their loop devices, and what was changed of nbd
/// devices.
///
/// The devices that are free now, or will be when they are unmounted.
///
/// # Errors
/// When something of it cannot be looked at or removed.
pub fn clean_attachments(folder: &Path) -> Result<Vec<PathBuf>> {
    match folder.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        _ => clean(&Attachments::open(folder)?),
    }
}

fn clean(attachments: &Attachments) -> Result<Vec<PathBuf>> {
    let mut devices = Vec::new();
    for folder in attachments.all()?.into_iter().filter(AttachmentFolder::is_left) {
        clean_one(&folder, &mut devices).map_err(|error| cannot_remove(&folder, &error))?;
    }
    Ok(devices)
}

fn clean_one(folder: &AttachmentFolder, devices: &mut Vec<PathBuf>) -> io::Result<()> {
    if let Some(number) = folder.number()? {
        // Ends its connection, and whatever waits for that, though loop devices keep it mounted.
        let _ = rustix::mount::unmount(folder.point(), UnmountFlags::FORCE | UnmountFlags::NOFOLLOW);
        wait_for_killed(folder);
        for device in loops_on(&folder.point(), number)? {
            // One that is still mounted goes when that is unmounted.
            device.let_go(number)?;
            devices.push(device.path);
        }
        if folder.number()?.is_some() {
            rustix::mount::unmount(folder.point(), UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)?;
        }
    }
    devices.extend(folder.nbd().iter().filter(|device| device.clean()).map(NbdRecord::path));
    folder.remove()
}

/// What a killed process was about to make is there when it has ended.
fn wait_for_killed(folder: &AttachmentFolder) {
    let pid = folder.process().and_then(|process| Pid::from_raw(i32::try_from(process.pid).ok()?));
    if let Some(process) = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) {
        let limit = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
        let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit));
    }
}

/// An attachment, as others find it.
#[derive(Clone, Debug)]
pub struct Attached {
    /// The process that serves it.
    pub process: ProcessIdentity,
    /// Its devices.
    pub devices: Vec<PathBuf>,
    /// Where it is controlled.
    pub control: PathBuf,
}

/// The attachment that a device belongs to; none if it is not one of kurabe's, or if a kill left it.
///
/// # Errors
/// An attachment whose state cannot be read.
pub fn attachment_of(folder: &Path, device: &Path) -> Result<Option<Attached>> {
    let find = || -> io::Result<Option<Attached>> {
        let (number, name) = (file_system_of(device)?, nbd_name(device)?);
        if number.is_none() && name.is_none() {
            return Ok(None);
        }
        // Without the lock: who ends holds it for no longer than its folder is there.
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            entries => entries?,
        };
        for entry in entries.flatten() {
            let folder = AttachmentFolder::at(entry.path());
            // Who lives has the number still, wherever it is mounted.
            let of_files = number.filter(|_| folder.noted_number() == number);
            let nbds = folder.nbd();
            let is_nbd = nbds.iter().any(|nbd| Some(&nbd.name) == name.as_ref() && nbd.is_held());
            if (of_files.is_some() || is_nbd)
                && let Some(process) = folder.process().filter(|process| life_of(process) == Liveness::Alive)
            {
                let loops = of_files.map_or(Ok(Vec::new()), |number| loops_on(&folder.point(), number))?;
                let nbds = nbds.iter().map(NbdRecord::path);
                let devices = nbds.chain(loops.into_iter().map(|device| device.path)).collect();
                return Ok(Some(Attached { process, devices, control: folder.control() }));
            }
        }
        Ok(None)
    };
    find().map_err(|error| {
        let shown = shown::path(device);
        Error::os(text!("cannot tell what {shown} is", "{shown} が何か調べられません"), &error).remedy(text!(
            "name the device that `{ATTACH}` printed",
            "`{ATTACH}` が表示したデバイスを指定してください"
        ))
    })
}

impl Attached {
    /// Has its server end, and waits until it has.
    ///
    /// # Errors
    /// A process that cannot be signalled.
    pub fn end(&self) -> Result<()> {
        let cannot = |error: Errno| {
            let process = self.process.pid;
            let message = text!("cannot end the process {process}", "プロセス {process} を終了できません");
            Error::os(message, &error.into())
        };
        let pid = i32::try_from(self.process.pid).ok().and_then(Pid::from_raw);
        let Some(pid) = pid else { return Ok(()) };
        let process = match pidfd_open(pid, PidfdFlags::empty()) {
            Err(Errno::SRCH) => return Ok(()),
            process => process.map_err(cannot)?,
        };
        // Asked while its number cannot be used again: what is signalled is what was asked about.
        if life_of(&self.process) != Liveness::Alive {
            return Ok(());
        }
        match pidfd_send_signal(&process, Signal::TERM) {
            Ok(()) => {}
            Err(Errno::SRCH) => return Ok(()),
            Err(error) => return Err(cannot(error)),
        }
        loop {
            match poll(&mut [PollFd::new(&process, PollFlags::IN)], None) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(cannot(error)),
            }
        }
    }
}

/// Refuses while somebody uses one of the devices.
///
/// # Errors
/// The users of the device, as an error.
pub fn refuse_used(devices: &[PathBuf]) -> Result<()> {
    let used = devices.iter().map(|device| (device, users_of(device))).find(|(_, users)| !users.is_empty());
    let Some((device, users)) = used else { return Ok(()) };
    let (shown, users) = (shown::path(device), Text::list(users));
    Err(ErrorKind::Refused
        .error(text!("{shown} is in use: {users}", "{shown} は使用中です: {users}"; users))
        .remedy(text!(
            "`umount {shown}`, or end what uses it, and try again then",
            "`umount {shown}` するか、使っているものを終了してから、もう一度実行してください"
        )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nbd_is_chosen_where_it_is_and_suffices_and_what_was_asked_for_always() {
        let chosen = |by, exports, free| ServedFront::choose(by, exports, free).front;
        assert_eq!(chosen(AttachBy::Auto, 3, Some(3)), FrontKind::Nbd);
        assert_eq!(chosen(AttachBy::Auto, 3, Some(2)), FrontKind::Fuse);
        assert_eq!(chosen(AttachBy::Auto, 1, None), FrontKind::Fuse);
        assert_eq!(chosen(AttachBy::Nbd, 1, None), FrontKind::Nbd);
        assert_eq!(chosen(AttachBy::Fuse, 1, Some(16)), FrontKind::Fuse);
    }
}
