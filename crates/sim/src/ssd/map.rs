//! Where the data of each mapping unit are, as far as that was changed since the start.
//!
//! The model: a unit that nobody wrote since the start has no entry; it is where the layout of the start has it. Entries
//! come in chunks that are made when one of them is first needed, so an untouched drive costs a pointer per 16 MiB.

/// Units of a chunk.
const CHUNK: usize = 4096;

/// An entry: the unit is where the layout of the start has it.
pub(super) const UNCHANGED: u32 = u32::MAX;

/// An entry: the unit was trimmed.
pub(super) const TRIMMED: u32 = u32::MAX - 1;

/// Entries of all units.
#[derive(Clone)]
pub(super) struct Map {
    chunks: Vec<Option<Box<[u32; CHUNK]>>>,
}

impl Map {
    pub(super) fn new(units: u32) -> Self {
        Self { chunks: (0..(units as usize).div_ceil(CHUNK)).map(|_| None).collect() }
    }

    #[inline]
    pub(super) fn get(&self, unit: u32) -> u32 {
        self.chunks[unit as usize / CHUNK].as_ref().map_or(UNCHANGED, |chunk| chunk[unit as usize % CHUNK])
    }

    #[inline]
    pub(super) fn set(&mut self, unit: u32, entry: u32) {
        let chunk = self.chunks[unit as usize / CHUNK].get_or_insert_with(|| Box::new([UNCHANGED; CHUNK]));
        chunk[unit as usize % CHUNK] = entry;
    }
}
