//! A computer as models take it (`computers/*.toml`), from a run on it.
//!
//! The model: the run's own processor time over its operations. Small and large operations together tell what each takes and what
//! each page of it takes; waking up is measured by two threads that wake each other.

use kurabe_core::record::{Cell, Repetition, RunRecord};
use kurabe_core::workload::{Direction, Pattern};
use kurabe_core::{ErrorKind, Result, mention::DIRECT, shown, text};

/// Unit in which memory is handed to a device.
const PAGE_BYTES: f64 = 4096.0;

/// Processor time of an operation of a cell, in ns, with its length in bytes.
struct OperationCost {
    cpu_ns: f64,
    bytes: f64,
}

impl OperationCost {
    /// Of the operations in a direction, several in flight, at random places or in order.
    fn of(record: &RunRecord, direction: Direction, pattern: Pattern) -> Option<Self> {
        let is_asked = |cell: &&Cell| {
            let workload = cell.workload.as_ref();
            cell.direction == Some(direction)
                && workload.is_some_and(|workload| workload.pattern == pattern && workload.iodepth > 1)
        };
        let cell = record.cells.iter().find(is_asked)?;
        let sum = |of: fn(&Repetition) -> u64| cell.counted().map(of).sum::<u64>() as f64;
        let operations = sum(|one| one.read.completed + one.write.completed);
        let cpu_ns = sum(|one| one.cpu.user_ns + one.cpu.system_ns) / operations;
        let bytes = sum(|one| one.read.bytes + one.write.bytes) / operations;
        (operations > 0.0).then_some(Self { cpu_ns, bytes })
    }
}

/// The file of a computer that a run of `quick` was measured on, with the time to wake a thread.
///
/// # Errors
/// When the run lacks a cell that tells, or went through the page cache.
pub fn computer_file(record: &RunRecord, wake_ns: f64) -> Result<String> {
    let run = &record.header.id;
    let no_cell = || {
        ErrorKind::Target
            .error(text!("run {run} lacks a cell that tells", "実行 {run} には必要な項目がありません"))
    };
    if !record.header.target.as_ref().is_some_and(|target| target.direct) {
        return Err(ErrorKind::Usage.error(text!(
            "run {run} went through the page cache, which is not what a model's computer does: use a path where {DIRECT} works",
            "実行 {run} はページキャッシュを通ったため、モデルのコンピューターにはできません。{DIRECT} の使える場所を指定してください"
        )));
    }
    let cost = |direction, pattern| OperationCost::of(record, direction, pattern).ok_or_else(no_cell);
    let small = cost(Direction::Read, Pattern::Random)?;
    let large = cost(Direction::Read, Pattern::Sequential)?;
    let write = cost(Direction::Write, Pattern::Random)?;
    let page_ns = ((large.cpu_ns - small.cpu_ns) / (large.bytes - small.bytes) * PAGE_BYTES).max(0.0);
    let less_pages = |cost: &OperationCost| (cost.cpu_ns - page_ns * cost.bytes / PAGE_BYTES).max(0.0);
    let machine = &record.header.environment.machine;
    let words =
        |words: &Option<String>| shown::line(words.as_deref().unwrap_or("?")).replace(['"', '\\'], "'");
    let title = format!("{}, {}", words(&machine.cpu_model), words(&machine.kernel));
    let mut file = format!(
        "# A computer, as it was measured.\nschema = 1\ntitle = {{ en = \"{title}\", ja = \"{title}\" }}\n\n[[layer]]\nkind = \"host\"\n"
    );
    for (key, time_ns, what) in [
        ("read_time", less_pages(&small), format!("processor time of random reads of 4 KiB, run {run}")),
        ("write_time", less_pages(&write), format!("processor time of random writes of 4 KiB, run {run}")),
        (
            "page_time",
            page_ns,
            format!("processor time of reads in order beyond that of small ones, run {run}"),
        ),
        ("wake_time", wake_ns, "two threads that wake each other".to_owned()),
    ] {
        let source = format!("derived: {what}");
        file += &format!("{key} = {{ value = \"{time_ns:.0} ns\", source = \"{source}\" }}\n");
    }
    Ok(file)
}
