//! A read-only image, with written data in a layer on top.

use super::sparse::Sparse;
use crate::protocol::ExtentKind;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{PoisonError, RwLock};

/// Unit that is copied on the first write: a page.
const BLOCK_BYTES: u64 = 4096;
/// Blocks in one piece of the map: the bits of 64 words.
const PIECE_BLOCKS: u64 = 4096;

/// An image with a layer on top.
#[derive(Debug)]
pub(super) struct OverImage {
    image: File,
    image_bytes: u64,
    size_bytes: u64,
    top: Sparse,
    /// Blocks in the layer. Write-locked while a block is copied there, so that no reader sees half
    /// of it.
    on_top: RwLock<BlockSet>,
}

/// A set of blocks.
#[derive(Debug, Default)]
struct BlockSet {
    pieces: HashMap<u64, Box<[u64; 64]>>,
}

impl BlockSet {
    fn has(&self, block: u64) -> bool {
        let at = (block % PIECE_BLOCKS) as usize;
        self.pieces.get(&(block / PIECE_BLOCKS)).is_some_and(|piece| piece[at / 64] >> (at % 64) & 1 == 1)
    }

    fn add(&mut self, block: u64) {
        let at = (block % PIECE_BLOCKS) as usize;
        let piece = self.pieces.entry(block / PIECE_BLOCKS).or_insert_with(|| Box::new([0; 64]));
        piece[at / 64] |= 1 << (at % 64);
    }
}

/// Splits a range at block boundaries, into offsets and lengths.
fn parts(offset_bytes: u64, length_bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let (mut at, end) = (offset_bytes, offset_bytes + length_bytes);
    std::iter::from_fn(move || {
        let from = at;
        at = end.min((from / BLOCK_BYTES + 1) * BLOCK_BYTES);
        (from < at).then_some((from, at - from))
    })
}

impl OverImage {
    pub(super) fn new(image: File, image_bytes: u64, size_bytes: u64, most_bytes: u64) -> io::Result<Self> {
        let top = Sparse::in_memory(size_bytes, most_bytes)?;
        Ok(Self { image, image_bytes, size_bytes, top, on_top: RwLock::default() })
    }

    pub(super) fn read(&self, offset_bytes: u64, buffer: &mut [u8]) -> io::Result<()> {
        let on_top = self.on_top.read().unwrap_or_else(PoisonError::into_inner);
        let mut rest = buffer;
        for (from, length) in parts(offset_bytes, rest.len() as u64) {
            let (part, behind) = rest.split_at_mut(length as usize);
            if on_top.has(from / BLOCK_BYTES) {
                self.top.read(from, part)?;
            } else {
                self.read_image(from, part)?;
            }
            rest = behind;
        }
        Ok(())
    }

    /// Bytes beyond the end of the image read as zeroes.
    fn read_image(&self, from: u64, part: &mut [u8]) -> io::Result<()> {
        let inside = self.image_bytes.saturating_sub(from).min(part.len() as u64);
        let (inside, behind) = part.split_at_mut(inside as usize);
        self.image.read_exact_at(inside, from)?;
        behind.fill(0);
        Ok(())
    }

    pub(super) fn write(&self, offset_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        self.change(offset_bytes, bytes.len() as u64, |from, length| {
            let (part, behind) = rest.split_at(length as usize);
            rest = behind;
            self.top.write(from, part)
        })
    }

    pub(super) fn zero(&self, offset_bytes: u64, length_bytes: u64) -> io::Result<()> {
        self.change(offset_bytes, length_bytes, |from, length| self.top.punch(from, length))
    }

    /// Applies a change to each part in the layer. The rest of its block is copied there first.
    fn change(
        &self,
        offset_bytes: u64,
        length_bytes: u64,
        mut change: impl FnMut(u64, u64) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut on_top = self.on_top.write().unwrap_or_else(PoisonError::into_inner);
        for (from, length) in parts(offset_bytes, length_bytes) {
            let block = from / BLOCK_BYTES;
            if !on_top.has(block) {
                let first = block * BLOCK_BYTES;
                let whole = BLOCK_BYTES.min(self.size_bytes - first);
                if length < whole {
                    let mut copy = vec![0; whole as usize];
                    self.read_image(first, &mut copy)?;
                    self.top.write(first, &copy)?;
                }
            }
            change(from, length)?;
            on_top.add(block);
        }
        Ok(())
    }

    /// Tests block by block, up to a piece of the map. Holes of the image itself are not detected.
    pub(super) fn stretch(&self, from: u64, end: u64) -> (u64, ExtentKind) {
        let on_top = self.on_top.read().unwrap_or_else(PoisonError::into_inner);
        let kind = |from: u64, to: u64| {
            let has_hole = || self.top.is_hole(from, to);
            let is_hole = if on_top.has(from / BLOCK_BYTES) { has_hole() } else { from >= self.image_bytes };
            if is_hole { ExtentKind::Hole } else { ExtentKind::Data }
        };
        let mut stretch: Option<(u64, ExtentKind)> = None;
        for (part, length) in parts(from, end - from).take(PIECE_BLOCKS as usize) {
            let of_part = kind(part, part + length);
            match &mut stretch {
                Some((bytes, first)) if *first == of_part => *bytes += length,
                Some(_) => break,
                None => stretch = Some((length, of_part)),
            }
        }
        stretch.unwrap_or((end - from, ExtentKind::Data))
    }

    pub(super) fn room_bytes(&self) -> u64 {
        self.top.room_bytes()
    }
}
