//! Attaches a served stack as block devices of this machine, by the kernel's nbd driver if it is
//! available, otherwise by a FUSE file system with a loop device on each file.
//!
//! The file system is mounted in a folder that belongs to this attachment only. The loop devices
//! bypass the page cache of its files, so the hub receives exactly the requests that programs send
//! to the device. An nbd device sends its requests to the hub directly over a socket: fewer threads
//! are involved, and FUA is passed on.
//!
//! All of it is removed with the process that serves it. If that process is killed, the kernel
//! fails every request but keeps the mount and the loop devices. The next start finds them by their
//! record and removes those that provably belong to the attachment. It also fails requests that the
//! kernel does not fail because the killed process itself waits for them.

mod file_system;
mod loop_device;
mod nbd_device;
mod state;
mod use_of_device;

pub use state::attachments_folder;
pub use use_of_device::refuse_used;
pub(crate) use use_of_device::users_of;

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
use kurabe_core::{Error, Result, Text, shown, text};
use kurabe_host::{Liveness, Number, life_of, mounts_at};
use loop_device::{LoopDevice, file_system_of, loops_on};
use nbd_device::{NbdDevice, NbdRecord, free_nbd_devices, nbd_name};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsRawFd;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal, set_dumpable_behavior,
};
use state::{AttachmentFolder, Attachments, FILE_SYSTEM};
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};
use use_of_device::{flush, open_alone};

/// Interval at which the use of a device is polled.
const LOOK: Duration = Duration::from_millis(20);
/// Longest wait for a file system to end after its unmount.
const PATIENCE: Duration = Duration::from_secs(1);

/// Mechanism that provides block devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontKind {
    /// The kernel's nbd driver.
    Nbd,
    /// FUSE and loop devices.
    Fuse,
    /// FUSE only.
    Files,
}

/// Mechanism that provides the block devices, and the alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedFront {
    /// Mechanism in use.
    pub front: FrontKind,
    /// Number of free nbd devices; `None` if the kernel has no such driver.
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

/// Block devices of a served stack.
pub(crate) struct Attachment {
    folder: AttachmentFolder,
    front: ServedFront,
    /// Devices of the nbd driver; if there are any, there is neither a file system nor a loop
    /// device.
    nbds: Vec<NbdDevice>,
    /// Device number of the file system, once it is mounted.
    number: Option<Number>,
    session: Option<JoinHandle<io::Result<()>>>,
    loops: Vec<LoopDevice>,
    /// Files that are used as devices.
    files: Vec<PathBuf>,
    closed: bool,
}

/// Parts of the server that an attachment needs.
pub(crate) struct AttachedParts {
    pub(crate) disks: Vec<Arc<Disk>>,
    pub(crate) exports: Arc<[Export]>,
    pub(crate) controls: Arc<Controls>,
    pub(crate) time: RealTime,
}

impl Attachment {
    /// Creates a folder for the attachment below the user's, and removes what killed processes left
    /// there.
    pub(crate) fn begin(folder: &Path, by: AttachBy, exports: usize) -> Result<Self> {
        let attachments = Attachments::open(folder)?;
        clean(&attachments)?;
        // A core dump stops every thread before it closes any file, so a thread that waits for this
        // server would wait forever.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        let front = ServedFront::choose(by, exports, free_nbd_devices());
        let folder = attachments.make()?;
        let (nbds, loops, files) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { folder, front, nbds, number: None, session: None, loops, files, closed: false })
    }

    /// Returns the mechanism that provides the devices.
    pub(crate) fn front(&self) -> ServedFront {
        self.front
    }

    /// Returns the path of the control socket.
    pub(crate) fn control(&self) -> PathBuf {
        self.folder.control()
    }

    /// Creates a temporary folder that is removed with the attachment; after a kill the next start
    /// removes it.
    pub(crate) fn make_passing_folder(&self, name: &str) -> Result<PathBuf> {
        self.folder.make_passing(name).map_err(|error| {
            Error::os(text!("cannot create a temporary folder", "一時フォルダーを作れません"), &error)
        })
    }

    pub(crate) fn attach(&mut self, parts: AttachedParts) -> Result<()> {
        match self.front.front {
            FrontKind::Nbd => self.take_nbd_devices(&parts),
            FrontKind::Fuse | FrontKind::Files => self.mount_files(parts),
        }
    }

    /// Takes an nbd device of the kernel for each export.
    fn take_nbd_devices(&mut self, parts: &AttachedParts) -> Result<()> {
        let left = Arc::new(AtomicUsize::new(parts.exports.len()));
        for (index, export) in parts.exports.iter().enumerate() {
            let (controls, left) = (Arc::clone(&parts.controls), Arc::clone(&left));
            // The last device was disconnected, by whatever tool, so no more requests can arrive.
            let ended = move || {
                if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                    controls.tell(HubCommand::End);
                }
            };
            let serve = |socket| parts.controls.tell(HubCommand::Kernel(socket, index));
            let device = NbdDevice::over(export, serve, ended).map_err(|error| {
                let message = text!("cannot set up an nbd device", "nbd デバイスを用意できません");
                Error::os(message, &error).remedy(text!(
                    "run as root and provide a free nbd device (`modprobe nbd`), or use {BY} fuse, which \
                     needs no driver",
                    "root 権限と、カーネルの nbd ドライバー(`modprobe nbd`)の空きデバイスが必要です。{BY} fuse ならドライバーは不要です"
                ))
            })?;
            self.nbds.push(device);
            let records: Vec<NbdRecord> = self.nbds.iter().map(|device| device.record.clone()).collect();
            self.folder.write(None, &records).map_err(|error| cannot_note(&self.folder, &error))?;
        }
        Ok(())
    }

    /// Mounts the file system and sets up loop devices on its files.
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
                "run as root and provide /dev/fuse (`modprobe fuse`), or use `{SERVE}`, which needs neither",
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
                        "run as root and provide loop devices (`modprobe loop`), or use `{SERVE}`, which needs neither",
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

    /// Returns the devices, by export.
    pub(crate) fn devices(&self) -> Vec<PathBuf> {
        let nbds = self.nbds.iter().map(|device| device.record.path());
        nbds.chain(self.loops.iter().map(|device| device.path.clone())).chain(self.files.clone()).collect()
    }

    /// Removes the devices once no process uses them.
    ///
    /// Calls `busy` once for each device that it has to wait for. After a power cut or a fault,
    /// failed writes of the kernel's cache are ignored (`has_failed`). Returns the device that is
    /// still in use at `until`, if any.
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
                // Users that did not open it exclusively are waited for as well.
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

    /// Unmounts the file system and removes the folder.
    fn close(&mut self, how: UnmountFlags) -> Result<()> {
        self.closed = true;
        let point = self.folder.point();
        if self.number.is_some() {
            let unmounted = rustix::mount::unmount(&point, how | UnmountFlags::NOFOLLOW);
            // Another process has files of the file system open.
            let unmounted = unmounted.or_else(|_| {
                self.session = None;
                rustix::mount::unmount(&point, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)
            });
            unmounted.map_err(|error| {
                let shown = shown::path(&point);
                Error::os(text!("cannot unmount {shown}", "{shown} をアンマウントできません"), &error.into())
            })?;
            // The session ends with its file system. It ends with this process if another mount
            // namespace has a copy.
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
        // The attachment was not completed, or its server ended unexpectedly. Users get errors from
        // now on.
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

/// Disconnects a device once no process has it open exclusively or for writing, after writing the
/// kernel's cache.
///
/// Returns whether that was possible before `is_over`.
fn detach_nbd(
    device: &mut NbdDevice,
    has_failed: bool,
    is_over: &impl Fn() -> bool,
    busy: &mut impl FnMut(&Path, &[Text]),
) -> io::Result<bool> {
    let path = device.record.path();
    let mut is_told = false;
    // Until another process disconnects it.
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

fn cannot_note(folder: &AttachmentFolder, error: &io::Error) -> Error {
    let shown = shown::path(folder.point());
    Error::os(text!("cannot record the purpose of {shown}", "{shown} の用途を記録できません"), error)
}

fn cannot_detach(device: &Path, error: &io::Error) -> Error {
    let shown = shown::path(device);
    Error::os(text!("cannot detach {shown}", "{shown} を切り離せません"), error)
}

fn cannot_remove(folder: &AttachmentFolder, error: &io::Error) -> Error {
    let shown = shown::path(folder.point());
    Error::os(text!("cannot remove the folder of {shown}", "{shown} のあるフォルダーを削除できません"), error)
}

/// Detaches loop devices from the files of a file system, if their names are below its mount point.
/// A device in use is detached when its last user closes it.
///
/// # Errors
/// If a device cannot be queried.
pub fn let_go_of_loops(point: &Path, number: Number) -> io::Result<()> {
    loops_on(point, number)?.iter().try_for_each(|device| device.let_go(number))
}

/// Removes what killed processes left below a folder of attachments: dead mounts and their loop
/// devices, and changed settings of nbd devices.
///
/// Returns the devices that are free now, or will be when they are unmounted.
///
/// # Errors
/// If part of it cannot be inspected or removed.
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
        // Aborts the connection and everything that waits for it, even though loop devices keep the
        // file system mounted.
        let _ = rustix::mount::unmount(folder.point(), UnmountFlags::FORCE | UnmountFlags::NOFOLLOW);
        wait_for_killed(folder);
        for device in loops_on(&folder.point(), number)? {
            // A device that is mounted is released when it is unmounted.
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

/// Waits for the end of a killed process, after which it can create nothing more.
fn wait_for_killed(folder: &AttachmentFolder) {
    let pid = folder.process().and_then(|process| Pid::from_raw(i32::try_from(process.pid).ok()?));
    if let Some(process) = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) {
        let limit = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
        let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit));
    }
}

/// An attachment of any process of the user.
#[derive(Clone, Debug)]
pub struct Attached {
    /// Process that serves it.
    pub process: ProcessIdentity,
    /// Block devices.
    pub devices: Vec<PathBuf>,
    /// Path of the control socket.
    pub control: PathBuf,
}

/// Finds the attachment that a device belongs to.
///
/// Returns `None` if it is not one of kurabe's, or if its process was killed.
///
/// # Errors
/// If the state of an attachment cannot be read.
pub fn attachment_of(folder: &Path, device: &Path) -> Result<Option<Attached>> {
    let find = || -> io::Result<Option<Attached>> {
        let (number, name) = (file_system_of(device)?, nbd_name(device)?);
        if number.is_none() && name.is_none() {
            return Ok(None);
        }
        // Read without the lock. A process that is ending holds it only until its folder is
        // removed.
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            entries => entries?,
        };
        for entry in entries.flatten() {
            let folder = AttachmentFolder::at(entry.path());
            // A running server still has the number, wherever it is mounted.
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
        Error::os(text!("cannot identify {shown}", "{shown} が何のデバイスか確認できません"), &error).remedy(
            text!(
                "name the device that `{ATTACH}` printed",
                "`{ATTACH}` が表示したデバイスを指定してください"
            ),
        )
    })
}

impl Attached {
    /// Terminates its server, and waits until the process has exited.
    ///
    /// # Errors
    /// If the process cannot be signalled.
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
        // Checked while the process id cannot be reused, so the signal goes to the process that was
        // checked.
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
