//! The memory under I/O buffers.
//!
//! The model: one mapping per device, cut into equal buffers. A `Lease` is the right to one buffer: it cannot be
//! copied, so while an operation in flight owns it nobody else reaches the bytes. The mapping lives as long as any
//! lease or device that holds the `Arena`.
#![allow(unsafe_code)]

use crate::platform;
use kurabe_core::device::Buffer;
pub use kurabe_core::issue::Pages;
use kurabe_core::mention::{BS, IODEPTH, THREADS};
use kurabe_core::{Error, Result, quantity::format_bytes, text};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ptr::NonNull;
use std::sync::Arc;

/// Alignment of every buffer; no device asks for more.
pub const BUFFER_ALIGNMENT_BYTES: usize = 4096;

/// Size of a huge page.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// What is left of a limited address space (`ulimit -v`) when all buffers are there: names, histograms and the store take some
/// MiB while it is measured, and an allocation of theirs that fails would end the process.
const RESERVE_BYTES: usize = 16 << 20;

/// A mapping of anonymous memory.
pub struct Arena {
    /// The mapping as the kernel gave it.
    mapping: NonNull<u8>,
    mapping_length: usize,
    /// The first buffer; behind `mapping` where huge pages want their alignment.
    start: NonNull<u8>,
    length: usize,
    stride: usize,
}

// SAFETY: the arena is plain memory; who may touch which part is decided by leases, which are not cloneable.
unsafe impl Send for Arena {}
// SAFETY: as above; a shared reference to the arena gives no access to the bytes.
unsafe impl Sync for Arena {}

impl Arena {
    /// Maps memory for `count` buffers of `size` bytes and gives out their leases. The bytes are zero. Says, too,
    /// which pages lie under them.
    ///
    /// # Errors
    /// When the operating system has no memory.
    pub fn lease(count: usize, size: usize, pages: Pages) -> Result<(Arc<Self>, Vec<Lease>, Pages)> {
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

    fn map(count: usize, size: usize, pages: Pages) -> std::io::Result<(Arc<Self>, Vec<Lease>, Pages)> {
        let stride = size.max(1).next_multiple_of(BUFFER_ALIGNMENT_BYTES);
        let length = stride.checked_mul(count.max(1)).ok_or(rustix::io::Errno::NOMEM)?;
        let (alignment, advice) = match pages {
            Pages::Small => (BUFFER_ALIGNMENT_BYTES, Advice::LinuxNoHugepage),
            Pages::Huge => (HUGE_PAGE_BYTES, Advice::LinuxHugepage),
        };
        let mapped = length.next_multiple_of(alignment);
        let mapping_length = mapped + alignment;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // Asked for in one mapping with the reserve, so that no other thread ever meets less than that.
        let whole_length = mapping_length.checked_add(RESERVE_BYTES).ok_or(rustix::io::Errno::NOMEM)?;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches no existing memory.
        let mapping =
            unsafe { mmap_anonymous(std::ptr::null_mut(), whole_length, protection, MapFlags::PRIVATE) }?;
        let mapping = NonNull::new(mapping.cast::<u8>()).ok_or(rustix::io::Errno::NOMEM)?;
        // SAFETY: the reserve is the end of the mapping made above, behind the buffers.
        let reserve = unsafe { mapping.add(mapping_length) };
        // SAFETY: nothing refers to the reserve, which begins at a page: the length before it is a multiple of one.
        unsafe { munmap(reserve.as_ptr().cast(), RESERVE_BYTES) }?;
        let shift = mapping.as_ptr().align_offset(alignment);
        // SAFETY: the mapping is one alignment longer than the buffers need, and the shift is below it.
        let start = unsafe { mapping.add(shift) };
        // SAFETY: the range lies inside the mapping made above; advice does not change its contents.
        let advised = unsafe { madvise(start.as_ptr().cast(), mapped, advice) };
        let arena = Arc::new(Self { mapping, mapping_length, start, length, stride });
        let mut leases: Vec<Lease> =
            (0..count).map(|slot| Lease { arena: Arc::clone(&arena), slot }).collect();
        // Touching every page now keeps page faults out of the measured time.
        leases.iter_mut().for_each(|lease| lease.bytes_mut(stride).fill(0));
        let huge =
            pages == Pages::Huge && advised.is_ok() && platform::has_huge_pages(start.as_ptr() as usize);
        Ok((arena, leases, if huge { Pages::Huge } else { Pages::Small }))
    }

    /// The whole mapping as the kernel wants it for registration: address and length.
    pub fn span(&self) -> (*mut u8, usize) {
        (self.start.as_ptr(), self.length)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `lease`, and no lease is left, because each holds the arena.
        let unmapped = unsafe { munmap(self.mapping.as_ptr().cast(), self.mapping_length) };
        debug_assert!(unmapped.is_ok());
    }
}

/// The right to one buffer of an arena. Only `Arena::map` makes one, for each slot of the arena once.
pub struct Lease {
    arena: Arc<Arena>,
    slot: usize,
}

impl Lease {
    /// Address of the buffer.
    #[inline]
    pub fn address(&self) -> *mut u8 {
        // SAFETY: the slot is one of this arena's, which all lie inside the mapping, and the Arc keeps that alive.
        unsafe { self.arena.start.as_ptr().add(self.slot * self.arena.stride) }
    }
}

impl Buffer for Lease {
    #[inline]
    fn slot(&self) -> usize {
        self.slot
    }

    #[inline]
    fn bytes_mut(&mut self, length: usize) -> &mut [u8] {
        let length = length.min(self.arena.stride);
        // SAFETY: the slot's stride lies inside the mapping, which the Arc keeps alive; this lease is the only one
        // for the slot and is borrowed mutably, so no other reference exists and the kernel does not own it now.
        unsafe { std::slice::from_raw_parts_mut(self.address(), length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_apart() {
        let (arena, mut leases, _) = Arena::lease(3, 5000, Pages::Small).unwrap();
        assert_eq!(arena.stride, 8192);
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
    fn a_lease_outlives_the_arena_handle() {
        let (arena, mut leases, _) = Arena::lease(1, 16, Pages::Small).unwrap();
        drop(arena);
        leases[0].bytes_mut(16).fill(7);
        assert_eq!(leases[0].bytes_mut(16), [7; 16]);
    }
}
