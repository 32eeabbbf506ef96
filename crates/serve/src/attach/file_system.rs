//! Serves disks as files of a FUSE file system; the kernel's operations become requests to the hub.
//!
//! There is one folder with a file for each export. The thread that receives the kernel's
//! operations stamps a request with its time and passes it on; the hub answers it. Operations that
//! need no device are answered here: names, sizes, and which ranges are data or holes. The `flush`
//! operation on close is refused, so the kernel does not send it again and closing a file does not
//! wait for the server.

use crate::clock::RealTime;
use crate::control::Controls;
use crate::disk::{Disk, SECTOR_BYTES};
use crate::hub::{FrontOutcome, FrontRequest, HubCommand};
use crate::platform;
use crate::protocol::{ExtentKind, MOST_REQUEST_BYTES, NO_HOLE, NbdCommand, NbdError, NbdRequest};
use crate::workers::Body;
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry, ReplyLseek, ReplyOpen,
    ReplyStatfs, ReplyWrite, Request, WriteFlags,
};
use std::ffi::OsStr;
use std::io;
use std::sync::{Arc, Once};
use std::time::{Duration, SystemTime};

/// Bytes of one request: the most pages that the kernel puts into one (`FUSE_MAX_MAX_PAGES`).
const MOST_BYTES: u32 = 1 << 20;
/// Concurrent requests: more than a loop device has (128), for each of several devices.
const MOST_REQUESTS: u16 = 1024;
/// Cache lifetime: names and attributes change only with the server.
const FOR_EVER: Duration = Duration::from_secs(1 << 31);
const GENERATION: Generation = Generation(0);
/// Modes of fallocate(2): the range is not moved, and reads as zeroes afterwards.
const KEEP_SIZE: i32 = 1;
const PUNCH_HOLE: i32 = 2;
const ZERO_RANGE: i32 = 16;

/// Returns the file name of an export.
pub(super) fn file_name(export: usize) -> String {
    format!("disk{export}")
}

/// FUSE file system with one file for each disk.
pub(super) struct DiskFiles {
    pub(super) disks: Vec<Arc<Disk>>,
    pub(super) has_trim: bool,
    pub(super) controls: Arc<Controls>,
    pub(super) time: RealTime,
    /// Raises the priority of the thread that receives the kernel's operations, as for the
    /// timekeeping thread.
    pub(super) promotion: Once,
}

impl DiskFiles {
    fn export(&self, inode: INodeNo) -> Option<usize> {
        let export = usize::try_from(inode.0.checked_sub(INodeNo::ROOT.0 + 1)?).ok()?;
        (export < self.disks.len()).then_some(export)
    }

    fn size_bytes(&self, export: usize) -> u64 {
        self.disks[export].data.size_bytes()
    }

    fn attributes(&self, inode: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match self.export(inode) {
            Some(export) => (FileType::RegularFile, 0o600, self.size_bytes(export)),
            None if inode == INodeNo::ROOT => (FileType::Directory, 0o700, 0),
            None => return None,
        };
        let time = SystemTime::UNIX_EPOCH;
        Some(FileAttr {
            ino: inode,
            size,
            blocks: size / SECTOR_BYTES,
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind,
            perm,
            nlink: 1,
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            rdev: 0,
            blksize: SECTOR_BYTES as u32,
            flags: 0,
        })
    }

    /// Passes a request to the hub.
    fn ask(
        &self,
        export: usize,
        command: NbdCommand,
        (flags, offset_bytes, length_bytes): (u16, u64, u32),
        payload: Vec<u8>,
        answer: impl FnOnce(FrontOutcome) + Send + 'static,
    ) {
        let came_ns = self.time.now_ns();
        self.promotion.call_once(|| {
            // The timekeeping thread requests and reports the same privilege.
            let _ = platform::run_before_others();
        });
        let request = NbdRequest { command, flags, cookie: 0, offset_bytes, length_bytes };
        let answer = Box::new(answer);
        self.controls.tell(HubCommand::Request(FrontRequest { export, request, payload, came_ns, answer }));
    }

    /// Zeroes a range with one request.
    fn zero(
        &self,
        export: usize,
        command: NbdCommand,
        flags: u16,
        (from, end): (u64, u64),
        reply: ReplyEmpty,
    ) {
        // A loop device sends less than 4 GiB per request. Longer ranges are refused.
        let Ok(length) = u32::try_from(end - from) else { return reply.error(Errno::EOPNOTSUPP) };
        self.ask(export, command, (flags, from, length), Vec::new(), |outcome| answer_empty(&outcome, reply));
    }
}

fn error_of(error: NbdError) -> Errno {
    match error {
        NbdError::NotPermitted => Errno::EPERM,
        NbdError::Io => Errno::EIO,
        NbdError::Invalid | NbdError::TooLong => Errno::EINVAL,
        NbdError::NoSpace => Errno::ENOSPC,
        NbdError::NotQuick => Errno::EOPNOTSUPP,
    }
}

fn answer_empty(outcome: &FrontOutcome, reply: ReplyEmpty) {
    match outcome {
        Ok(_) => reply.ok(),
        Err(error) => reply.error(error_of(*error)),
    }
}

impl Filesystem for DiskFiles {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // If the kernel supports less, its requests are smaller.
        let _ = config.set_max_write(MOST_BYTES);
        let _ = config.set_max_background(MOST_REQUESTS);
        let _ = config.set_congestion_threshold(MOST_REQUESTS);
        config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(|_| io::ErrorKind::Unsupported.into())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let export = (parent == INodeNo::ROOT)
            .then(|| (0..self.disks.len()).find(|export| name == file_name(*export).as_str()))
            .flatten();
        let inode = export.map(|export| INodeNo(INodeNo::ROOT.0 + 1 + export as u64));
        match inode.and_then(|inode| self.attributes(inode)) {
            Some(attributes) => reply.entry(&FOR_EVER, &attributes, GENERATION),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(inode) {
            Some(attributes) => reply.attr(&FOR_EVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.export(inode) {
            // A page cache would hide the device, and writes need not wait for each other.
            Some(_) => reply.opened(
                FileHandle(0),
                FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES,
            ),
            None => reply.error(Errno::EISDIR),
        }
    }

    fn read(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some(export) = self.export(inode) else { return reply.error(Errno::EBADF) };
        let left = self.size_bytes(export).saturating_sub(offset);
        let length = u64::from(size.min(MOST_REQUEST_BYTES)).min(left) as u32;
        if length == 0 {
            return reply.data(&[]);
        }
        self.ask(export, NbdCommand::Read, (0, offset, length), Vec::new(), move |outcome| match outcome {
            Ok(Body::Bytes(bytes)) => reply.data(&bytes),
            Ok(_) => reply.data(&vec![0; length as usize]),
            Err(error) => reply.error(error_of(error)),
        });
    }

    fn write(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let Some(export) = self.export(inode) else { return reply.error(Errno::EBADF) };
        let length = data.len() as u32;
        if offset.checked_add(length.into()).is_none_or(|end| end > self.size_bytes(export)) {
            return reply.error(Errno::ENOSPC);
        }
        if length == 0 {
            return reply.written(0);
        }
        self.ask(
            export,
            NbdCommand::Write,
            (0, offset, length),
            data.to_vec(),
            move |outcome| match outcome {
                Ok(_) => reply.written(length),
                Err(error) => reply.error(error_of(error)),
            },
        );
    }

    fn fsync(&self, _: &Request, inode: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let Some(export) = self.export(inode) else { return reply.error(Errno::EBADF) };
        self.ask(export, NbdCommand::Flush, (0, 0, 0), Vec::new(), |outcome| answer_empty(&outcome, reply));
    }

    fn fallocate(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let Some(export) = self.export(inode) else { return reply.error(Errno::EBADF) };
        let end = offset.checked_add(length).filter(|end| *end <= self.size_bytes(export) && length > 0);
        let Some(end) = end else { return reply.error(Errno::EINVAL) };
        match mode & !KEEP_SIZE {
            PUNCH_HOLE if self.has_trim => self.zero(export, NbdCommand::Trim, 0, (offset, end), reply),
            ZERO_RANGE => self.zero(export, NbdCommand::WriteZeroes, NO_HOLE, (offset, end), reply),
            // A loop device concludes that discards are not supported, and does not try again.
            _ => reply.error(Errno::EOPNOTSUPP),
        }
    }

    fn lseek(&self, _: &Request, inode: INodeNo, _: FileHandle, offset: i64, whence: i32, reply: ReplyLseek) {
        let Some(export) = self.export(inode) else { return reply.error(Errno::EBADF) };
        let kind = match whence {
            libc::SEEK_DATA => ExtentKind::Data,
            libc::SEEK_HOLE => ExtentKind::Hole,
            _ => return reply.error(Errno::EINVAL),
        };
        let size_bytes = self.size_bytes(export);
        let from = u64::try_from(offset).ok().filter(|from| *from < size_bytes);
        let offset = from.and_then(|from| self.disks[export].data.next_of(from, kind));
        // The end of the file counts as a hole.
        match offset.or(from.filter(|_| kind == ExtentKind::Hole).map(|_| size_bytes)) {
            Some(offset) => reply.offset(offset as i64),
            None => reply.error(Errno::ENXIO),
        }
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        // A loop device derives its discard granularity from the block size.
        let block = SECTOR_BYTES as u32;
        reply.statfs(0, 0, 0, self.disks.len() as u64, 0, block, 255, block);
    }
}
