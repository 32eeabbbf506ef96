//! Sentences that come first and alone: memory, a page cache and a failure. The figures of such a
//! run are not compared with a class.

use super::class::figures;
use kurabe_compare::{HostMemory, host_memory};
use kurabe_core::imported::{ImportedCell, Quantity};
use kurabe_core::record::{Cell, Measure, NoticeKind, RunRecord, RunStatus};
use kurabe_core::{Text, number, text, workload::Direction};
use kurabe_explain::{CellLimit, LimitKind};
use kurabe_study::catalogue::RateWork;

/// Time of a single random read below which the data comes from memory. The fastest SSDs need more
/// than 5 µs.
const MEMORY_NS: f64 = 3e3;
/// Rate in bytes per second that SATA can't reach. Faster sequential reads may come from a cache.
const ABOVE_SATA: f64 = 600e6;
/// Ratio of sequential reads to sequential writes of the same run above which such reads may come
/// from a cache.
const FAR_ABOVE_WRITES: f64 = 20.0;

/// Returns the sentence if the figures are not those of a drive.
pub(super) fn sentence(record: &RunRecord, limits: &[CellLimit]) -> Option<Text> {
    let figures = figures(record);
    let tests = record.cells.len();
    if record.status == RunStatus::Failed {
        return Some(match figures {
            Some(figures) => text!(
                "incomplete, because the run failed in test {tests}: {figures}",
                "テスト {tests} でエラーが起き、測定は途中まで: {figures}"; figures
            ),
            None => text!(
                "the run failed before a test was complete",
                "1 つのテストも終わらないうちにエラーが起きた"
            ),
        });
    }
    let mut imports = record.cells.iter().map(|cell| cell.imported.as_ref());
    if imports.len() > 0 && imports.all(|cell| cell.is_some_and(ImportedCell::is_from_memory)) {
        return Some(text!(
            "this is the speed of the computer's memory, not of a drive",
            "これはドライブではなくコンピューターのメモリーの速度"
        ));
    }
    let figures = figures?;
    let name = match &record.header.origin {
        Some(_) => return imported(record, &figures),
        None => memory(record, limits)?,
    };
    Some(
        text!("this is {name}, not a drive: {figures}", "これはドライブではなく{name}の速度: {figures}"; name, figures),
    )
}

/// Names the memory of the computer behind the target of a run.
pub(crate) fn host_memory_words(memory: HostMemory, record: &RunRecord) -> Text {
    match memory {
        HostMemory::Memory => {
            let environment = &record.header.environment;
            let kind = environment.file_system.as_ref().and_then(|one| one.kind.as_ref());
            let kind = kind.or(environment.devices.first().map(|device| &device.name));
            let kind = kind.map(String::as_str).unwrap_or_default();
            text!("memory ({kind})", "メモリー({kind})")
        }
        HostMemory::PageCache => {
            text!("a loop device on the page cache", "ページキャッシュ上の loop デバイス")
        }
    }
}

/// Names the memory that served a run instead of a drive.
fn memory(record: &RunRecord, limits: &[CellLimit]) -> Option<Text> {
    if let Some(memory) = host_memory(record) {
        return Some(host_memory_words(memory, record));
    }
    let medium = record.header.model.as_ref().and_then(|model| model.layers.last());
    if medium.is_some_and(|layer| layer.kind == "constant" && layer.name == "memory") {
        return Some(text!("memory (model)", "メモリー(モデル)"));
    }
    let rates = || limits.iter().zip(&record.cells).filter(|(_, cell)| cell.measure == Measure::Rate);
    let is_cached =
        rates().next().is_some() && rates().all(|(one, _)| one.limit.kind == LimitKind::HostMemory);
    is_cached.then(|| match record.header.model {
        Some(_) => text!("memory (model)", "メモリー(モデル)"),
        None => text!("the page cache", "ページキャッシュ"),
    })
}

/// Returns the sentence for figures of another tool, which says little about the I/O path.
fn imported(record: &RunRecord, figures: &Text) -> Option<Text> {
    let cells = || record.cells.iter().filter_map(|cell| Some((cell, cell.imported.as_ref()?)));
    let is_memory = |(cell, imported): (&Cell, &ImportedCell)| {
        let is_alone = RateWork::of(cell).is_some_and(|work| {
            !work.sequential
                && work.direction == Direction::Read
                && work.in_flight.is_some_and(|(_, most)| most == 1)
        });
        is_alone && access_ns(imported).is_some_and(|ns| ns < MEMORY_NS)
    };
    if cells().any(is_memory) {
        return Some(
            text!("this is memory, not a drive: {figures}", "これはドライブではなくメモリーの速度: {figures}"; figures),
        );
    }
    let fastest = |direction: Direction| {
        let of_direction = cells().filter(|(cell, _)| {
            RateWork::of(cell).is_some_and(|work| work.sequential && work.direction == direction)
        });
        of_direction.filter_map(|(_, imported)| printed(imported, Quantity::Rate)).reduce(f64::max)
    };
    if let (Some(read), Some(write)) = (fastest(Direction::Read), fastest(Direction::Write))
        && read > ABOVE_SATA
        && read > write * FAR_ABOVE_WRITES
    {
        let (read, write) = (number::rate(read), number::rate(write));
        return Some(text!(
            "reads of {read} were perhaps answered by a cache, because writes reach only {write}",
            "読み出しの {read} はキャッシュの速度の可能性がある(書き込みは {write})"
        ));
    }
    let is_buffered = record.notices.iter().any(|notice| notice.kind == NoticeKind::CacheDrop);
    is_buffered.then(|| {
        text!(
            "{figures}; the page cache may have answered, so this says little about the drive",
            "{figures}。ページキャッシュの速度の可能性があり、ドライブの評価にはならない"; figures
        )
    })
}

/// Returns the mean time of an operation in ns, from the printed IOPS or from the rate and the
/// block size.
fn access_ns(imported: &ImportedCell) -> Option<f64> {
    let by_rate = || Some(printed(imported, Quantity::Rate)? / imported.block_bytes? as f64);
    let operations = printed(imported, Quantity::Iops).or_else(by_rate)?;
    (operations > 0.0).then(|| 1e9 / operations)
}

fn printed(imported: &ImportedCell, quantity: Quantity) -> Option<f64> {
    imported.figures.iter().find(|figure| figure.quantity == quantity).map(|figure| figure.value)
}
