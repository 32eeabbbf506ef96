//! The part of a workload that rank r of n executes.
//!
//! As in IOR, every rank transfers as many bytes as a single process would. With separate files
//! only the seed differs, so that no two ranks write the same data. In a shared file, the parts are
//! contiguous if it is `segmented`; if it is `strided`, block k of rank r is block `k * n + r` of
//! the file. With `reorder`, a rank reads the part of the next one.

use kurabe_core::profile::{Profile, Task, Work};
use kurabe_core::record::RankLayout;
use kurabe_core::workload::{Pattern, Workload};
use kurabe_core::{ErrorKind, Result, Text, text};

/// A rank's part among all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartPlan {
    /// Rank.
    pub rank: u32,
    /// Number of ranks.
    pub size: u32,
    /// Whether ranks have separate files or share one.
    pub layout: RankLayout,
    /// Whether each rank reads the data of another.
    pub reorder: bool,
    /// Bytes of each rank's part of a shared file.
    pub part_bytes: u64,
}

impl PartPlan {
    /// Returns this rank's part of a workload. Work that is not a cell, such as writing the test
    /// file, is done contiguously.
    pub fn of(&self, mut workload: Workload, is_cell: bool) -> Workload {
        let reads_others = self.reorder && is_cell && !workload.writes();
        let place = u64::from(if reads_others { (self.rank + 1) % self.size } else { self.rank });
        // Seeds are already mixed; ranks change bits that threads and repetitions do not use.
        workload.seed ^= u64::from(self.rank) << 44;
        match self.layout {
            RankLayout::Own => {}
            RankLayout::Strided if is_cell => {
                let block_bytes = u64::from(workload.largest_block_bytes());
                let blocks = workload.span_bytes / block_bytes.max(1);
                let stride_bytes = block_bytes * u64::from(self.size);
                workload.offset_bytes = workload.offset_bytes * u64::from(self.size) + place * block_bytes;
                // Up to the end of the last block, which is followed by the block of the next rank.
                workload.span_bytes = blocks.saturating_sub(1) * stride_bytes + block_bytes;
                if let Some(passes) = workload.end.passes.take() {
                    // A pass covers this rank's blocks and not the whole file.
                    let pass_bytes = blocks * block_bytes * u64::from(passes);
                    workload.end.bytes = Some(workload.end.bytes.unwrap_or(u64::MAX).min(pass_bytes));
                }
                let gap_bytes = (stride_bytes - block_bytes) as i64;
                workload.pattern = Pattern::Strided { run_bytes: None, gap_bytes };
            }
            RankLayout::Strided | RankLayout::Segmented => workload.offset_bytes += place * self.part_bytes,
        }
        workload
    }
}

/// Checks that several ranks can run a profile together.
///
/// # Errors
/// If a step cannot be divided among ranks, or does not support the layout of the file.
pub fn check_parts(profile: &Profile, layout: RankLayout) -> Result<()> {
    let refused = |what: Text| Err(ErrorKind::Unsupported.error(what));
    if profile.rounds.is_some() {
        return refused(text!(
            "several ranks cannot repeat rounds until the device is steady: each rank would stop at a different round",
            "定常状態まで繰り返すプロファイルは複数ランクでは測れません(ランクごとに終わるラウンドが違ってしまうため)"
        ));
    }
    for Task { label, work, .. } in profile.tasks(profile.rules.size_bytes) {
        match work {
            Work::Io(workloads) if layout != RankLayout::Strided || workloads.iter().all(strides) => {}
            Work::Io(_) => {
                return refused(text!(
                    "{label} cannot be strided across ranks: striding needs sequential access with one \
                     block size and one thread",
                    "{label} はランク間でストライドにできません(1 スレッドの、1 種類のブロックサイズでのシーケンシャルアクセスだけが対象です)"
                ));
            }
            Work::Metadata(_) if layout == RankLayout::Own => {}
            _ => {
                return refused(text!(
                    "several ranks cannot measure {label}: they support workloads, and file-name \
                     operations without a shared file",
                    "{label} は複数ランクでは測れません(測れるのはワークロードと、共有ファイルを使わないファイル名の操作です)"
                ));
            }
        }
    }
    Ok(())
}

fn strides(workload: &Workload) -> bool {
    workload.pattern == Pattern::Sequential
        && workload.threads == 1
        && workload.block_sizes.len() == 1
        && workload.write_block_sizes.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::workload::End;
    use proptest::prelude::*;

    fn plan(rank: u32, size: u32, layout: RankLayout, reorder: bool) -> PartPlan {
        PartPlan { rank, size, layout, reorder, part_bytes: 64 << 10 }
    }

    /// Returns the blocks of a workload that ascends once, by their index in the file.
    fn blocks(workload: &Workload) -> Vec<u64> {
        let block_bytes = u64::from(workload.largest_block_bytes());
        let step = match workload.pattern {
            Pattern::Strided { gap_bytes, .. } => block_bytes as i64 + gap_bytes,
            _ => block_bytes as i64,
        };
        let end_bytes = workload.offset_bytes + workload.span_bytes;
        (workload.offset_bytes..)
            .step_by(step as usize)
            .take_while(|offset| offset + block_bytes <= end_bytes)
            .map(|offset| offset / block_bytes)
            .collect()
    }

    proptest! {
        /// In a shared file the parts of all ranks cover the whole, each block once, and each rank
        /// reads the data of another.
        #[test]
        fn parts_are_the_whole_and_reordered_reads_are_of_others(
            size in 1u32..9, strided in any::<bool>(), read_percent in prop_oneof![Just(0u8), Just(100)],
        ) {
            let layout = if strided { RankLayout::Strided } else { RankLayout::Segmented };
            let workload = Workload::plain(Pattern::Sequential, 4096, 64 << 10).with(|access| {
                access.read_percent = read_percent;
                access.end = End { passes: Some(2), ..End::default() };
            });
            let mut all = Vec::new();
            for rank in 0..size {
                let own = blocks(&plan(rank, size, layout, false).of(workload.clone(), true));
                prop_assert_eq!(own.len(), 16);
                let end = plan(rank, size, layout, false).of(workload.clone(), true).end;
                let expected = if strided { (None, Some(128 << 10)) } else { (Some(2), None) };
                prop_assert_eq!((end.passes, end.bytes), expected);
                let reordered = blocks(&plan(rank, size, layout, true).of(workload.clone(), true));
                let reads_others = read_percent == 100 && size > 1;
                prop_assert_eq!(reordered.iter().any(|block| own.contains(block)), !reads_others);
                all.extend(own);
            }
            all.sort_unstable();
            prop_assert_eq!(all, (0..u64::from(size) * 16).collect::<Vec<_>>());
        }
    }

    #[test]
    fn ranks_with_files_of_their_own_write_other_data_and_rank_0_is_as_one_alone() {
        let workload = Workload::plain(Pattern::Random, 4096, 1 << 20);
        let of = |rank| plan(rank, 4, RankLayout::Own, true).of(workload.clone(), true);
        assert_eq!(of(0), workload);
        assert_ne!(of(1).seed, of(2).seed);
        assert_eq!(Workload { seed: workload.seed, ..of(3) }, workload);
    }
}
