//! The memory of I/O buffers.
//!
//! Each device has one mapping, divided into equal buffers. A `Lease` is the exclusive right to one
//! buffer. It can't be copied, so no other code can access the bytes while an operation in flight
//! owns it. It borrows the `Arena`, so moving it takes two words and dropping it does nothing.
#![allow(unsafe_code)]

use crate::platform;
use kurabe_core::device::Buffer;
pub use kurabe_core::issue::Pages;
use kurabe_core::mention::{BS, IODEPTH, THREADS};
use kurabe_core::{Error, Result, quantity::format_bytes, text};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ptr::NonNull;

/// Alignment of every buffer in bytes. No device requires more.
pub const BUFFER_ALIGNMENT_BYTES: usize = 4096;

/// Size of a huge page in bytes.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Reserve that must remain of a limited address space (`ulimit -v`) after all buffers are
/// allocated. Names, histograms and the store need some MiB during the measurement, and a failed
/// allocation would abort the process.
const RESERVE_BYTES: usize = 16 << 20;

/// A mapping of anonymous memory.
pub struct Arena {
    /// The mapping as returned by the kernel.
    mapping: NonNull<u8>,
    mapping_length: usize,
    /// The first buffer. It starts after `mapping` if huge pages require an alignment.
    start: NonNull<u8>,
    length: usize,
    stride: usize,
    /// Number of buffers that are not leased.
    unleased: usize,
}

// SAFETY: the arena is plain memory. Leases, which can't be cloned, decide which part may be
// accessed.
unsafe impl Send for Arena {}
// SAFETY: as above; a shared reference to the arena gives no access to the bytes.
unsafe impl Sync for Arena {}

impl Arena {
    /// Maps memory for `count` buffers of `size` bytes. The bytes are zero. Also returns the kind of
    /// pages that back them.
    ///
    /// # Errors
    /// Fails if the operating system has no memory.
    pub fn new(count: usize, size: usize, pages: Pages) -> Result<(Self, Pages)> {
        Self::map(count, size, pages).map_err(|error| {
            let asked = format_bytes((count as u64).saturating_mul(size as u64));
            Error::os(
                text!(
                    "no memory for {asked} of I/O buffers",
                    "I/O バッファー {asked} 分のメモリーがありません"
                ),
                &error,
            )
            .remedy(text!(
                "use a smaller {BS}, {IODEPTH} or {THREADS}",
                "{BS}、{IODEPTH}、{THREADS} を小さくしてください"
            ))
        })
    }

    fn map(count: usize, size: usize, pages: Pages) -> std::io::Result<(Self, Pages)> {
        let stride = size.max(1).next_multiple_of(BUFFER_ALIGNMENT_BYTES);
        let length = stride.checked_mul(count.max(1)).ok_or(rustix::io::Errno::NOMEM)?;
        let (alignment, advice) = match pages {
            Pages::Small => (BUFFER_ALIGNMENT_BYTES, Advice::LinuxNoHugepage),
            Pages::Huge => (HUGE_PAGE_BYTES, Advice::LinuxHugepage),
        };
        let mapped = length.next_multiple_of(alignment);
        let mapping_length = mapped + alignment;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // The reserve is part of the same mapping, so that other threads never see less free space
        // than the reserve.
        let whole_length = mapping_length.checked_add(RESERVE_BYTES).ok_or(rustix::io::Errno::NOMEM)?;
        // SAFETY: a new anonymous mapping at an address that the kernel chooses touches no existing
        // memory.
        let mapping =
            unsafe { mmap_anonymous(std::ptr::null_mut(), whole_length, protection, MapFlags::PRIVATE) }?;
        let mapping = NonNull::new(mapping.cast::<u8>()).ok_or(rustix::io::Errno::NOMEM)?;
        // SAFETY: the reserve is the end of the mapping created above, after the buffers.
        let reserve = unsafe { mapping.add(mapping_length) };
        // SAFETY: there are no references into the reserve. It starts at a page boundary, because
        // the length before it is a multiple of the page size.
        unsafe { munmap(reserve.as_ptr().cast(), RESERVE_BYTES) }?;
        let shift = mapping.as_ptr().align_offset(alignment);
        // SAFETY: the mapping is one alignment unit longer than the buffers need, and the shift is
        // less than that.
        let start = unsafe { mapping.add(shift) };
        // SAFETY: the range lies inside the mapping created above, and the advice does not change
        // its contents.
        let advised = unsafe { madvise(start.as_ptr().cast(), mapped, advice) };
        let mut arena = Self { mapping, mapping_length, start, length, stride, unleased: count };
        // Touching every page now keeps page faults out of the measured time.
        arena.leases().iter_mut().for_each(|lease| lease.bytes_mut(stride).fill(0));
        arena.unleased = count;
        let huge =
            pages == Pages::Huge && advised.is_ok() && platform::has_huge_pages(start.as_ptr() as usize);
        Ok((arena, if huge { Pages::Huge } else { Pages::Small }))
    }

    /// Returns the leases of all buffers. Only the first call does, because the kernel may still use
    /// the buffers of a device that failed.
    pub fn leases(&mut self) -> Vec<Lease<'_>> {
        let count = std::mem::take(&mut self.unleased);
        let arena = &*self;
        (0..count).map(|slot| Lease { arena, slot }).collect()
    }

    /// Returns the address and length of the whole mapping, for registration with the kernel.
    pub fn span(&self) -> (*mut u8, usize) {
        (self.start.as_ptr(), self.length)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping was created in `map`, and no lease is left, because each borrows the
        // arena.
        let unmapped = unsafe { munmap(self.mapping.as_ptr().cast(), self.mapping_length) };
        debug_assert!(unmapped.is_ok());
    }
}

/// The exclusive right to one buffer of an arena. Created only by `Arena::leases`, once for each
/// slot.
pub struct Lease<'a> {
    arena: &'a Arena,
    slot: usize,
}

impl Lease<'_> {
    /// Returns the address of the buffer.
    #[inline]
    pub fn address(&self) -> *mut u8 {
        // SAFETY: the slot belongs to this arena, all its slots lie inside the mapping, and the
        // borrow keeps the mapping alive.
        unsafe { self.arena.start.as_ptr().add(self.slot * self.arena.stride) }
    }
}

impl Buffer for Lease<'_> {
    #[inline]
    fn slot(&self) -> usize {
        self.slot
    }

    #[inline]
    fn bytes_mut(&mut self, length: usize) -> &mut [u8] {
        let length = length.min(self.arena.stride);
        // SAFETY: the slot's stride lies inside the mapping, which the borrow keeps alive. This lease
        // is the only one for the slot and is borrowed mutably, so no other reference exists and
        // the kernel does not own it now.
        unsafe { std::slice::from_raw_parts_mut(self.address(), length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_apart() {
        let (mut arena, _) = Arena::new(3, 5000, Pages::Small).unwrap();
        assert_eq!(arena.stride, 8192);
        let mut leases = arena.leases();
        for (slot, lease) in leases.iter_mut().enumerate() {
            lease.bytes_mut(5000).fill(slot as u8 + 1);
        }
        for (slot, lease) in leases.iter_mut().enumerate() {
            let bytes = lease.bytes_mut(5000);
            assert_eq!(bytes.as_ptr() as usize % BUFFER_ALIGNMENT_BYTES, 0);
            assert!(bytes.iter().all(|byte| *byte == slot as u8 + 1));
        }
    }

    #[test]
    fn buffers_are_leased_once() {
        let (mut arena, _) = Arena::new(2, 16, Pages::Small).unwrap();
        assert_eq!((arena.leases().len(), arena.leases().len()), (2, 0));
    }
}
