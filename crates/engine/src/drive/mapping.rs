//! A mapping of a target into memory: bytes are copied from it and into it.
//!
//! The model: the pages of an operation are asked for first (`MADV_POPULATE_READ` and `MADV_POPULATE_WRITE`, since Linux 5.14), so that
//! a page that cannot be read is an error, and are copied after that. A page that the kernel takes away between the two and cannot
//! provide again, because the file became shorter or the device fails, raises SIGBUS, which `bus_error` turns into an error. The
//! mapping is unusable after that.
#![allow(unsafe_code)]

use crate::drive::bus_error;
use kurabe_core::device::{ErrorNumber, Transfer};
use kurabe_core::workload::{Op, OpKind};
use kurabe_core::{Error, ErrorKind, Result, mention::ENGINE, text};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, MsyncFlags, ProtFlags, madvise, mmap, msync, munmap};
use std::cell::Cell;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ptr::NonNull;

/// What the kernel is asked for begins at a multiple of this, the smallest page of any processor; so does the mapping.
const PAGE_BYTES: usize = 4096;

/// All of a target in memory.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    length: usize,
    /// Whether a write is done only when it is safe.
    durable: bool,
    /// Whether anonymous memory has replaced it, because a page was lost.
    is_lost: Cell<bool>,
}

impl Mapping {
    /// Maps a target, to be written as well if `writes`.
    ///
    /// # Errors
    /// When there is no room in the address space, and `Unsupported` where pages cannot be asked for.
    pub(crate) fn of(mut file: &File, writes: bool, durable: bool) -> Result<Self> {
        let cannot = |error: &std::io::Error| {
            Error::os(text!("cannot map the target into memory", "対象をメモリーにマップできません"), error)
        };
        bus_error::survive()?;
        let length = file.seek(SeekFrom::End(0)).map_err(|error| cannot(&error))? as usize;
        if length == 0 {
            return Err(shortened(0));
        }
        let protection = if writes { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a fresh mapping at an address of the kernel's choice touches no existing memory.
        let start = unsafe { mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, file, 0) };
        let start = start.map_err(|error| cannot(&error.into()))?;
        let start = NonNull::new(start.cast::<u8>()).ok_or_else(|| cannot(&Errno::NOMEM.into()))?;
        let mapping = Self { start, length, durable, is_lost: Cell::new(false) };
        match mapping.populate(0, 1, Advice::LinuxPopulateRead) {
            Err(Errno::INVAL) => Err(ErrorKind::Unsupported
                .error(text!(
                    "this kernel does not tell whether a mapped page can be read",
                    "このカーネルでは、マップしたページを読めるかどうかを確かめられません"
                ))
                .remedy(text!(
                    "take Linux 5.14 or later, or {ENGINE} threads",
                    "Linux 5.14 以降を使うか、{ENGINE} threads を指定してください"
                ))),
            // What the first page has to say is told by the operation that reads it.
            _ => Ok(mapping),
        }
    }

    /// Performs an operation on the bytes of its buffer.
    pub(crate) fn carry(&self, op: Op, bytes: &mut [u8]) -> Transfer {
        let from = op.offset_bytes as usize;
        if from.checked_add(bytes.len()).is_none_or(|end| end > self.length) {
            return Err(if op.kind == OpKind::Read { ErrorNumber::INVALID } else { ErrorNumber::NO_SPACE });
        }
        let (length, failed) = (bytes.len(), |error: Errno| match error {
            // The kernel's word for a page that cannot be had.
            Errno::FAULT => ErrorNumber::IO,
            error => ErrorNumber(error.raw_os_error()),
        });
        if self.is_lost.get() {
            return Err(ErrorNumber::IO);
        }
        // SAFETY: the bytes lie in the mapping, as was checked above.
        let mapped = unsafe { self.start.add(from) }.as_ptr();
        match op.kind {
            OpKind::Read => {
                self.populate(from, length, Advice::LinuxPopulateRead).map_err(failed)?;
                // SAFETY: both are `length` bytes, the mapping's and those of a buffer of its own memory.
                self.touch(|| unsafe { std::ptr::copy_nonoverlapping(mapped, bytes.as_mut_ptr(), length) })
                    .map_err(failed)?;
            }
            OpKind::Write => {
                self.populate(from, length, Advice::LinuxPopulateWrite).map_err(failed)?;
                // SAFETY: as above; a target that is written is mapped so, or the kernel has refused it right before.
                self.touch(|| unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), mapped, length) })
                    .map_err(failed)?;
                if self.durable {
                    self.flush(from, length).map_err(failed)?;
                }
            }
            OpKind::Sync | OpKind::Trim => {
                self.flush(0, self.length).map_err(failed)?;
            }
        }
        Ok(op.length_bytes)
    }

    /// Copies from the mapping or into it.
    fn touch(&self, copy: impl FnOnce()) -> rustix::io::Result<()> {
        // SAFETY: the mapping is whole, has no references into it, and is of one thread, because it is not `Sync`; a copy of bytes
        // does not unwind.
        unsafe { bus_error::touching(self.start, self.length, copy) }.inspect_err(|_| self.is_lost.set(true))
    }

    /// Has the kernel bring the pages of these bytes.
    fn populate(&self, from: usize, length: usize, advice: Advice) -> rustix::io::Result<()> {
        let (start, length) = self.pages(from, length);
        // SAFETY: the pages lie in the mapping; to bring them changes nothing in them.
        unsafe { madvise(start.cast(), length, advice) }
    }

    /// Has what was written of these bytes brought to the target.
    fn flush(&self, from: usize, length: usize) -> rustix::io::Result<()> {
        let (start, length) = self.pages(from, length);
        // SAFETY: the pages lie in the mapping.
        unsafe { msync(start.cast(), length, MsyncFlags::SYNC) }
    }

    /// The whole pages that hold these bytes.
    fn pages(&self, from: usize, length: usize) -> (*mut u8, usize) {
        let first = from - from % PAGE_BYTES;
        // SAFETY: the first page lies in the mapping if the bytes do.
        let start = unsafe { self.start.add(first) }.as_ptr();
        (start, from + length - first)
    }
}

/// The error of an operation that failed if the target ends before it by now; `None` if it failed for another reason.
pub(crate) fn ends_before(mut file: &File, op: Op) -> Option<Error> {
    let end_bytes = file.seek(SeekFrom::End(0)).ok()?;
    (op.offset_bytes + u64::from(op.length_bytes) > end_bytes).then(|| shortened(end_bytes))
}

fn shortened(end_bytes: u64) -> Error {
    ErrorKind::Io
        .error(text!(
            "the target became shorter while it was mapped into memory: it ends at byte {end_bytes}",
            "メモリーにマップしている間に対象が短くなりました(現在の長さは {end_bytes} バイト)"
        ))
        .remedy(text!(
            "leave the file alone while it is measured, and measure again",
            "測定中はこのファイルに触らず、もう一度測ってください"
        ))
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `of`, and nothing refers to its bytes.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
        debug_assert!(unmapped.is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const PAGE: u32 = PAGE_BYTES as u32;

    fn op(kind: OpKind, offset_bytes: u64, length_bytes: u32) -> Op {
        Op { kind, offset_bytes, length_bytes }
    }

    #[test]
    fn bytes_go_in_and_out_and_are_there_after_a_flush() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; 3 * PAGE_BYTES]).unwrap();
        let mapping = Mapping::of(&file, true, true).unwrap();
        let mut bytes = vec![9; 1000];
        assert_eq!(mapping.carry(op(OpKind::Write, 4000, 1000), &mut bytes), Ok(1000));
        assert_eq!(mapping.carry(op(OpKind::Sync, 0, 0), &mut []), Ok(0));
        let mut read = vec![0; 1002];
        assert_eq!(mapping.carry(op(OpKind::Read, 3999, 1002), &mut read), Ok(1002));
        assert_eq!((read[0], &read[1..1001], read[1001]), (7, &bytes[..], 7));
        file.seek(SeekFrom::Start(3999)).unwrap();
        let mut in_file = vec![0; 1002];
        std::io::Read::read_exact(&mut file, &mut in_file).unwrap();
        assert_eq!(in_file, read);
        let beyond = mapping.carry(op(OpKind::Read, 2 * u64::from(PAGE), 2 * PAGE), &mut vec![0; 8192]);
        assert_eq!(beyond, Err(ErrorNumber::INVALID));
    }

    /// Touched, these pages would end the program.
    #[test]
    fn a_page_that_cannot_be_had_is_an_error() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(8 * u64::from(PAGE)).unwrap();
        let mapping = Mapping::of(&file, true, false).unwrap();
        file.set_len(u64::from(PAGE)).unwrap();
        for kind in [OpKind::Read, OpKind::Write] {
            let at = |page: u64| mapping.carry(op(kind, page * u64::from(PAGE), PAGE), &mut [1; PAGE_BYTES]);
            assert_eq!([at(0), at(4)], [Ok(PAGE), Err(ErrorNumber::IO)], "{kind:?}");
        }
    }

    #[test]
    fn a_page_that_is_lost_before_it_is_touched_is_an_error_each_time() {
        for writes in [false, true] {
            let file = tempfile::tempfile().unwrap();
            file.set_len(8 * u64::from(PAGE)).unwrap();
            let lost = Mapping::of(&file, writes, false).unwrap();
            file.set_len(2 * u64::from(PAGE)).unwrap();
            let mut bytes = [1; PAGE_BYTES];
            // SAFETY: the page lies in the mapping.
            let page = unsafe { lost.start.add(4 * PAGE_BYTES) }.as_ptr();
            let touched = lost.touch(|| {
                let memory = bytes.as_mut_ptr();
                let (from, to) = if writes { (memory, page) } else { (page, memory) };
                // SAFETY: both are a page long, the mapping's and the array.
                unsafe { std::ptr::copy_nonoverlapping(from, to, PAGE_BYTES) };
            });
            assert_eq!(touched, Err(Errno::IO));
            let first = op(OpKind::Read, 0, PAGE);
            assert_eq!(lost.carry(first, &mut bytes), Err(ErrorNumber::IO), "it is no longer the file");
            assert!(ends_before(&file, op(OpKind::Read, 4 * u64::from(PAGE), PAGE)).is_some());
            // What else is mapped is as it was.
            let other = Mapping::of(&file, writes, false).unwrap();
            assert_eq!(other.carry(first, &mut bytes), Ok(PAGE));
            assert!(ends_before(&file, first).is_none());
        }
        assert!(Mapping::of(&tempfile::tempfile().unwrap(), false, false).is_err(), "nothing to map");
    }
}
