//! Layout of an image on its card, and the number of FAT sectors to read when following its chain.
//!
//! The model: a FAT32 volume that fills the card: reserved sectors, two FATs of 4 bytes per
//! cluster, clusters from number 2 on. The directory has cluster 2. The image begins at cluster 3
//! and consists of a number of runs of adjoining clusters, in order, with gaps of equal size. The
//! firmware sees the FAT through a window of one sector, which is read again whenever the sector
//! changes (ChaN FatFs R0.16, source/ff.c: get_fat and move_window).

use super::tracks::ImageRange;

/// Bytes per sector of the card.
pub(super) const SECTOR_BYTES: u64 = 512;
/// FAT entries of 4 bytes per sector.
const ENTRIES: u64 = SECTOR_BYTES / 4;
/// Bytes before the first FAT, as usual formatters lay them out.
const RESERVED_BYTES: u64 = 32 * SECTOR_BYTES;
/// Cluster of the directory; the image may start at the next one.
const DIRECTORY: u64 = 2;

/// A run of adjoining clusters of the image.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Index of its first cluster in the image, from 0.
    index: u64,
    /// Number of that cluster on the card.
    cluster: u64,
    /// Changes of the FAT sector between the image's first entry and this one's.
    changes: u64,
}

/// The clusters of an image.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    pub(super) cluster_bytes: u64,
    data_bytes: u64,
    runs: Vec<Run>,
}

/// The FAT sector in the firmware's window; `None` if the window holds another sector of the card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Window(pub(super) Option<u64>);

impl Chain {
    /// Places an image of at least one byte on a card, in `fragments` runs or as many as it has
    /// clusters. `None` if it does not fit.
    pub(super) fn new(card_bytes: u64, image_bytes: u64, cluster_bytes: u64, fragments: u64) -> Option<Self> {
        let count = image_bytes.div_ceil(cluster_bytes);
        let fragments = fragments.clamp(1, count);
        let most = card_bytes / cluster_bytes;
        let fat_bytes = (most * 4).next_multiple_of(SECTOR_BYTES);
        let data_bytes = RESERVED_BYTES + 2 * fat_bytes;
        let clusters = card_bytes.checked_sub(data_bytes)? / cluster_bytes;
        // One cluster is taken by the directory.
        let spare = clusters.checked_sub(1 + count)?;
        let gap = if fragments > 1 { spare / (fragments - 1) } else { 0 };
        if fragments > 1 && gap == 0 {
            return None;
        }
        let mut runs: Vec<Run> = Vec::with_capacity(fragments as usize);
        for number in 0..fragments {
            let index = number * count / fragments;
            let cluster = DIRECTORY + 1 + index + number * gap;
            let changes = runs.last().map_or(0, |before| {
                let last = before.cluster + (index - 1 - before.index);
                let within = last / ENTRIES - before.cluster / ENTRIES;
                before.changes + within + u64::from(cluster / ENTRIES != last / ENTRIES)
            });
            runs.push(Run { index, cluster, changes });
        }
        Some(Self { cluster_bytes, data_bytes, runs })
    }

    /// Returns whether the image is a single run.
    pub(super) fn is_contiguous(&self) -> bool {
        self.runs.len() == 1
    }

    fn run(&self, index: u64) -> Run {
        let after = self.runs.partition_point(|run| run.index <= index);
        self.runs[after.max(1) - 1]
    }

    /// Returns the FAT sector that has the entry of the image's cluster `index`, and its position
    /// in the order of sector changes.
    fn entry(&self, index: u64) -> (u64, u64) {
        let run = self.run(index);
        let sector = (run.cluster + (index - run.index)) / ENTRIES;
        (sector, run.changes + sector - run.cluster / ENTRIES)
    }

    /// Follows the chain from cluster `from` to cluster `to` of the image and returns the number of
    /// FAT sectors read. The entry of a cluster has the number of the next one, so the entry of
    /// `to` is not read.
    pub(super) fn walk(&self, from: u64, to: u64, window: &mut Window) -> u64 {
        if to <= from {
            return 0;
        }
        let (first, first_place) = self.entry(from);
        let (last, last_place) = self.entry(to - 1);
        let held = window.0 == Some(first);
        window.0 = Some(last);
        last_place - first_place + u64::from(!held)
    }

    /// Returns the offset on the card of a byte of the image.
    pub(super) fn card_offset_bytes(&self, offset_bytes: u64) -> u64 {
        let index = offset_bytes / self.cluster_bytes;
        let run = self.run(index);
        let cluster = run.cluster + (index - run.index) - DIRECTORY;
        self.data_bytes + cluster * self.cluster_bytes + offset_bytes % self.cluster_bytes
    }

    /// Returns the ranges of the image that are within a range of the card.
    pub(super) fn image_stretches(&self, from: u64, to: u64) -> impl Iterator<Item = ImageRange> {
        let ends = self.runs.iter().skip(1).map(|run| run.index).chain([u64::MAX / self.cluster_bytes]);
        self.runs.iter().zip(ends).filter_map(move |(run, end)| {
            let first = self.card_offset_bytes(run.index * self.cluster_bytes);
            let start = run.index * self.cluster_bytes;
            let last = first.saturating_add((end - run.index).saturating_mul(self.cluster_bytes));
            let (from, to) = (from.max(first), to.min(last));
            (from < to).then(|| (start + (from - first), start + (to - first)))
        })
    }

    /// Returns the offset on the card of the FAT sector in the window; for an empty window, any
    /// sector will do.
    pub(super) fn fat_offset_bytes(&self, window: Window) -> u64 {
        RESERVED_BYTES + window.0.unwrap_or(0) * SECTOR_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CARD: u64 = 1 << 28;

    /// Follows the chain entry by entry, as the firmware does.
    fn step_by_step(chain: &Chain, from: u64, to: u64, window: &mut Window) -> u64 {
        let mut reads = 0;
        for index in from..to {
            let cluster = (chain.card_offset_bytes(index * chain.cluster_bytes) - chain.data_bytes)
                / chain.cluster_bytes
                + DIRECTORY;
            let sector = Some(cluster / ENTRIES);
            reads += u64::from(window.0 != sector);
            window.0 = sector;
        }
        reads
    }

    proptest! {
        #[test]
        fn a_walk_counts_as_many_sectors_as_going_step_by_step(
            image in 1u64..(1 << 26), cluster_log in 12u32..17, fragments in 1u64..600,
            walks in prop::collection::vec((0.0f64..1.0, 0.0f64..1.0), 1..8),
        ) {
            let Some(chain) = Chain::new(CARD, image, 1 << cluster_log, fragments) else { return Ok(()) };
            let count = image.div_ceil(1 << cluster_log);
            let (mut window, mut other) = (Window::default(), Window::default());
            for (from, to) in walks {
                let (from, to) = ((from * count as f64) as u64, (to * count as f64) as u64);
                let walked = chain.walk(from, to, &mut window);
                prop_assert_eq!(walked, step_by_step(&chain, from, to, &mut other));
                prop_assert_eq!(window, other);
            }
            prop_assert!(chain.card_offset_bytes(image - 1) < CARD);
        }

        #[test]
        fn larger_clusters_never_raise_a_walk(
            image in 1u64..(1 << 26), at in 0.0f64..1.0, cluster_log in 9u32..16, fragments in 1u64..100,
        ) {
            let reads = |log: u32| {
                let chain = Chain::new(CARD, image, 1 << log, fragments)?;
                let to = (at * image as f64) as u64 >> log;
                Some(chain.walk(0, to, &mut Window::default()))
            };
            let (Some(small), Some(large)) = (reads(cluster_log), reads(cluster_log + 1)) else { return Ok(()) };
            // Fragments may be placed so that one more sector is touched; a contiguous image
            // cannot.
            prop_assert!(large <= small + if fragments > 1 { fragments } else { 0 }, "{} > {}", large, small);
        }
    }

    #[test]
    fn a_gibibyte_in_clusters_of_64_kib_has_128_sectors_of_fat() {
        let chain = Chain::new(16 << 30, 1 << 30, 64 << 10, 1).unwrap();
        // One more, because the image does not begin at the start of a FAT sector.
        assert_eq!(chain.walk(0, 16_384, &mut Window::default()), 129);
        assert!(Chain::new(1 << 30, 1 << 30, 64 << 10, 1).is_none());
    }
}
