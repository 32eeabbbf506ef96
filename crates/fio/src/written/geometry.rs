//! Distribution of a workload among fio jobs: the part of the target that each job covers, and its
//! amount of work.
//!
//! The model: fio jobs share only the target, so a workload is split into independent streams. Threads
//! with their own parts become `offset_increment`. Several fio jobs may have to form one ascending
//! stream: kurabe's threads engine implements a queue depth with several system threads on one stream,
//! and `interleaved` does so with all threads. Then each job takes every n-th block: `rw=read:HOLE`
//! skips the blocks of the others.

use kurabe_core::profile::{MOST_IODEPTH, MOST_THREADS};
use kurabe_core::workload::{Pattern, ThreadShare, Workload};
use kurabe_core::{Text, text};

/// fio jobs that differ only in their offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JobGroup {
    /// Offset of the first job.
    pub(super) offset_bytes: u64,
    /// Length of the region of each job.
    pub(super) size_bytes: u64,
    /// Distance between the offsets of consecutive jobs.
    pub(super) increment_bytes: u64,
    /// Number of jobs.
    pub(super) jobs: u64,
    /// Bytes skipped after each block.
    pub(super) hole_bytes: u64,
}

/// Splits a workload into groups, and lists the differences from kurabe. `lanes` is the number of fio
/// jobs that form the queue depth of one thread: 1 for an engine with its own queue.
pub(super) fn geometry(workload: &Workload, lanes: u64) -> (Vec<JobGroup>, Vec<Text>) {
    // An imported record can contain any number.
    let block = u64::from(workload.largest_block_bytes()).max(1);
    let grain = u64::from(workload.grain_bytes()).max(1);
    let threads = u64::from(workload.threads).clamp(1, u64::from(MOST_THREADS));
    let lanes = lanes.min(u64::from(MOST_IODEPTH));
    let (offset, span) = (workload.offset_bytes, workload.span_bytes);
    let part = span / grain / threads * grain;
    let own_part = match workload.thread_share {
        ThreadShare::Usual => matches!(workload.pattern, Pattern::Sequential | Pattern::Strided { .. }),
        ThreadShare::Parts => workload.pattern != Pattern::Interleaved,
        ThreadShare::Whole => false,
    };
    let own_part = own_part && threads > 1 && part >= block;
    let mut notes = Vec::new();
    if own_part && part * threads < span {
        notes.push(text!(
            "the last {} bytes of the span belong to no job: fio's parts are all of the same length",
            "fio の担当範囲はすべて同じ長さなので、末尾の {} バイトはどのジョブにも属しません",
            span - part * threads
        ));
    }
    let part_of = |offset_bytes, size_bytes, jobs| JobGroup {
        offset_bytes,
        size_bytes,
        increment_bytes: 0,
        jobs,
        hole_bytes: 0,
    };
    let start_of = |index: u64, length: u64| offset.saturating_add(index * length);
    let groups = match workload.pattern {
        Pattern::Interleaved => vec![stream(offset, span, block, lanes * threads)],
        _ if own_part && lanes == 1 => {
            vec![JobGroup { increment_bytes: part, ..part_of(offset, part, threads) }]
        }
        Pattern::Sequential if lanes > 1 => {
            let (length, step) = if own_part { (part, part) } else { (span, 0) };
            (0..threads).map(|index| stream(start_of(index, step), length, block, lanes)).collect()
        }
        _ if own_part => (0..threads).map(|index| part_of(start_of(index, part), part, lanes)).collect(),
        _ => vec![part_of(offset, span, lanes * threads)],
    };
    let split = groups.iter().any(|group| group.hole_bytes > 0);
    if split {
        notes.push(text!(
            "kurabe's workers take the next block of one common stream; fio's jobs each take every n-th \
             block of it, so a slow job falls behind the others",
            "kurabe のワーカーは共通の流れから次のブロックを取りますが、fio のジョブはそれぞれ n 個おきのブロックを担当するため、\
             遅いジョブは取り残されます"
        ));
    }
    if !split && workload.pattern.is_sequential() && lanes > 1 {
        notes.push(text!(
            "the part of a thread is too short to be split among fio's jobs: each job covers all of it",
            "スレッドの担当範囲が短く fio のジョブに分けられないため、各ジョブがその全体を担当します"
        ));
    }
    (groups, notes)
}

/// Returns one ascending stream formed by several jobs.
fn stream(offset_bytes: u64, length_bytes: u64, block: u64, jobs: u64) -> JobGroup {
    let others = block * (jobs - 1);
    let is_split = jobs > 1 && length_bytes >= block * jobs;
    let whole = (length_bytes, 0, 0);
    let (size_bytes, increment_bytes, hole_bytes) =
        if is_split { (length_bytes / block * block - others, block, others) } else { whole };
    JobGroup { offset_bytes, size_bytes, increment_bytes, jobs, hole_bytes }
}
