//! Locations of the mapping units whose data have changed since the start.
//!
//! The model: a unit that was not written since the start has no entry; it is where the initial
//! layout puts it. Entries are in chunks that are allocated on first use, so an untouched drive
//! costs one number per 16 MiB.

const CHUNK: usize = 4096;

/// Entry of a unit that is where the initial layout puts it.
pub(super) const UNCHANGED: u32 = u32::MAX;

/// Entry of a unit that was trimmed.
pub(super) const TRIMMED: u32 = u32::MAX - 1;

/// Entries of all units.
#[derive(Clone)]
pub(super) struct Map {
    /// Index of each chunk, from 1; 0 if it is not allocated.
    places: Vec<u32>,
    chunks: Vec<Box<[u32; CHUNK]>>,
}

impl Map {
    pub(super) fn new(units: u32) -> Self {
        Self { places: vec![0; (units as usize).div_ceil(CHUNK)], chunks: Vec::new() }
    }

    #[inline]
    pub(super) fn get(&self, unit: u32) -> u32 {
        match self.places[unit as usize / CHUNK] {
            0 => UNCHANGED,
            place => self.chunks[place as usize - 1][unit as usize % CHUNK],
        }
    }

    #[inline]
    pub(super) fn set(&mut self, unit: u32, entry: u32) {
        let place = &mut self.places[unit as usize / CHUNK];
        if *place == 0 {
            self.chunks.push(Box::new([UNCHANGED; CHUNK]));
            *place = self.chunks.len() as u32;
        }
        self.chunks[*place as usize - 1][unit as usize % CHUNK] = entry;
    }
}
