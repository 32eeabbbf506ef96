//! Where the data of each mapping unit are, as far as that was changed since the start.
//!
//! The model: a unit that nobody wrote since the start has no entry; it is where the layout of the start has it. Entries
//! come in chunks that are made when one of them is first needed, so an untouched drive costs a number per 16 MiB.

/// Units of a chunk.
const CHUNK: usize = 4096;

/// An entry: the unit is where the layout of the start has it.
pub(super) const UNCHANGED: u32 = u32::MAX;

/// An entry: the unit was trimmed.
pub(super) const TRIMMED: u32 = u32::MAX - 1;

/// Entries of all units.
#[derive(Clone)]
pub(super) struct Map {
    /// Which chunk has a unit, from 1; 0 for none.
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
