//! Creates a computer file for models (`computers/*.toml`) from a run on this machine.
//!
//! The values come from the run's own processor time per operation. Small and large operations
//! together give the cost of an operation and of each page. The wake-up time is measured with two
//! threads that wake each other.

use kurabe_core::record::{Cell, Repetition, RunRecord};
use kurabe_core::workload::{Direction, Pattern};
use kurabe_core::{ErrorKind, Result, mention::DIRECT, shown, text};

/// Size of a page, the unit in which memory is passed to a device.
const PAGE_BYTES: f64 = 4096.0;

/// Mean processor time and length of the operations of a cell.
struct OperationCost {
    cpu_ns: f64,
    bytes: f64,
}

impl OperationCost {
    /// Returns the cost of the operations with this direction and pattern, from a cell with several
    /// in flight.
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

/// Returns a computer file from a run of `quick`. `wake_ns` is the time to wake a thread.
///
/// # Errors
/// When the run lacks a required cell, or went through the page cache.
pub fn computer_file(record: &RunRecord, wake_ns: f64) -> Result<String> {
    let run = &record.header.id;
    let no_cell = || {
        ErrorKind::Target
            .error(text!("run {run} lacks a test that is needed", "測定 {run} には必要な項目がありません"))
    };
    if !record.header.target.as_ref().is_some_and(|target| target.direct) {
        return Err(ErrorKind::Usage.error(text!(
            "run {run} used the page cache, so its CPU times do not apply to a model: use a path that \
             supports {DIRECT}",
            "測定 {run} はページキャッシュを経由したため、CPU 時間をモデルに使えません。{DIRECT} を使える場所を指定してください"
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
        "# A computer, as it was measured.\nschema = 1\ntitle = {{ en = \"{title}\", ja = \"{title}\" }}\n\
         \n[[layer]]\nkind = \"host\"\n"
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
