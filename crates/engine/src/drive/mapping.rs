//! A memory mapping of a target. Operations copy bytes from and to it.
//!
//! The pages of an operation are populated first (`MADV_POPULATE_READ` and `MADV_POPULATE_WRITE`,
//! since Linux 5.14), so that an unreadable page is reported as an error, and are then copied. If
//! the kernel evicts a page between the two steps and can't provide it again, because the file was
//! truncated or the device fails, it raises SIGBUS, which `bus_error` turns into an error. After
//! that, the mapping is unusable.
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

/// Ranges passed to the kernel start at a multiple of this size, the smallest page size of any
/// processor. So does the mapping.
const PAGE_BYTES: usize = 4096;

/// A whole target mapped into memory.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    length: usize,
    /// Whether a write completes only when it is durable.
    durable: bool,
    /// Whether anonymous memory has replaced it because a page was lost.
    is_lost: Cell<bool>,
}

impl Mapping {
    /// Maps a target, also for writing if `writes` is set.
    ///
    /// # Errors
    /// Fails if there is not enough address space, and with `Unsupported` if pages can't be
    /// populated.
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
        // SAFETY: a new mapping at an address that the kernel chooses touches no existing memory.
        let start = unsafe { mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, file, 0) };
        let start = start.map_err(|error| cannot(&error.into()))?;
        let start = NonNull::new(start.cast::<u8>()).ok_or_else(|| cannot(&Errno::NOMEM.into()))?;
        let mapping = Self { start, length, durable, is_lost: Cell::new(false) };
        match mapping.populate(0, 1, Advice::LinuxPopulateRead) {
            Err(Errno::INVAL) => Err(ErrorKind::Unsupported
                .error(text!(
                    "this kernel cannot report whether a mapped page is readable",
                    "このカーネルでは、マップしたページを読めるかどうかを確かめられません"
                ))
                .remedy(text!(
                    "use Linux 5.14 or later, or {ENGINE} threads",
                    "Linux 5.14 以降を使うか、{ENGINE} threads を指定してください"
                ))),
            // An error of the first page is reported by the operation that reads it.
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
            // The kernel's error for an unavailable page.
            Errno::FAULT => ErrorNumber::IO,
            error => ErrorNumber(error.raw_os_error()),
        });
        if self.is_lost.get() {
            return Err(ErrorNumber::IO);
        }
        // SAFETY: the range lies in the mapping, as checked above.
        let mapped = unsafe { self.start.add(from) }.as_ptr();
        match op.kind {
            OpKind::Read => {
                self.populate(from, length, Advice::LinuxPopulateRead).map_err(failed)?;
                // SAFETY: both are `length` bytes long and don't overlap: one is the mapping, the
                // other a buffer in separate memory.
                self.touch(|| unsafe { std::ptr::copy_nonoverlapping(mapped, bytes.as_mut_ptr(), length) })
                    .map_err(failed)?;
            }
            OpKind::Write => {
                self.populate(from, length, Advice::LinuxPopulateWrite).map_err(failed)?;
                // SAFETY: as above. A target that is written is mapped for writing, or populating
                // it has just failed.
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

    /// Copies from or to the mapping.
    fn touch(&self, copy: impl FnOnce()) -> rustix::io::Result<()> {
        // SAFETY: this is the whole mapping, there are no references into it, and only one thread
        // uses it, because the type is not `Sync`. Copying bytes does not unwind.
        unsafe { bus_error::touching(self.start, self.length, copy) }.inspect_err(|_| self.is_lost.set(true))
    }

    /// Lets the kernel populate the pages of a range.
    fn populate(&self, from: usize, length: usize, advice: Advice) -> rustix::io::Result<()> {
        let (start, length) = self.pages(from, length);
        // SAFETY: the pages lie in the mapping. Populating them does not change their contents.
        unsafe { madvise(start.cast(), length, advice) }
    }

    /// Writes the data in a range back to the target.
    fn flush(&self, from: usize, length: usize) -> rustix::io::Result<()> {
        let (start, length) = self.pages(from, length);
        // SAFETY: the pages lie in the mapping.
        unsafe { msync(start.cast(), length, MsyncFlags::SYNC) }
    }

    /// Returns the whole pages that contain a range.
    fn pages(&self, from: usize, length: usize) -> (*mut u8, usize) {
        let first = from - from % PAGE_BYTES;
        // SAFETY: the first page lies in the mapping if the range does.
        let start = unsafe { self.start.add(first) }.as_ptr();
        (start, from + length - first)
    }
}

/// Returns the error for a failed operation if the target now ends before it. `None` if the
/// operation failed for another reason.
pub(crate) fn ends_before(mut file: &File, op: Op) -> Option<Error> {
    let end_bytes = file.seek(SeekFrom::End(0)).ok()?;
    (op.offset_bytes + u64::from(op.length_bytes) > end_bytes).then(|| shortened(end_bytes))
}

fn shortened(end_bytes: u64) -> Error {
    ErrorKind::Io
        .error(text!(
            "the target shrank while it was mapped into memory: it ends at byte {end_bytes}",
            "メモリーにマップしている間に対象が短くなりました(現在の長さは {end_bytes} バイト)"
        ))
        .remedy(text!(
            "do not touch the file during the run, and measure again",
            "測定中はこのファイルに触らず、もう一度測ってください"
        ))
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was created in `of`, and there are no references into it.
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

    /// Accessing these pages directly would abort the program.
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
                // SAFETY: both are one page long: the mapping's page and the array.
                unsafe { std::ptr::copy_nonoverlapping(from, to, PAGE_BYTES) };
            });
            assert_eq!(touched, Err(Errno::IO));
            let first = op(OpKind::Read, 0, PAGE);
            assert_eq!(lost.carry(first, &mut bytes), Err(ErrorNumber::IO), "it is no longer the file");
            assert!(ends_before(&file, op(OpKind::Read, 4 * u64::from(PAGE), PAGE)).is_some());
            // Other mappings are not affected.
            let other = Mapping::of(&file, writes, false).unwrap();
            assert_eq!(other.carry(first, &mut bytes), Ok(PAGE));
            assert!(ends_before(&file, first).is_none());
        }
        assert!(Mapping::of(&tempfile::tempfile().unwrap(), false, false).is_err(), "nothing to map");
    }
}
