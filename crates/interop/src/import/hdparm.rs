//! hdparm's timings: `hdparm -tT`, including `--direct` and `--offset`.
//!
//! The model: a line with the device and a colon, then a line for each timing: amount, time and rate.
//! Each device line begins a run. MB is 2^20 bytes (`hdparm.c`), so rates are corrected. Cached reads
//! come from memory; they are imported under their own name. A failed timing has no figures and is
//! skipped. Source: hdparm 9.65 as run here, and its source.

use super::kit::*;
use super::units::{binary, corrected};

const DEVICE: &str = "/dev/{}:";
const TIMING: &str = "Timing {}:{}";
const SHAPES: LineShapes = LineShapes {
    begins: &[DEVICE],
    belongs: &[
        "Timing cached reads{}:{}",
        "Timing buffered disk reads{}:{}",
        "Timing buffer-cache reads{}:{}",
        "Timing O_DIRECT{}:{}",
    ],
};

/// Timings of the computer's memory (`-T`).
const FROM_MEMORY: [&str; 2] = ["cached reads", "buffer-cache reads"];

pub(super) const IMPORTER: Importer =
    Importer::of(("hdparm timings", "hdparm", &["hdparm"]), Recognizer::Shapes(SHAPES), read);

const MB: ToolUnit = units::unit("MB", Quantity::Bytes, 1_048_576.0);
const SECONDS: ToolUnit = units::unit("seconds", Quantity::Duration, 1e9);
fn read(input: &Input<'_>) -> ImportedRuns {
    let own = input.lines().filter(|(_, line)| SHAPES.mark(line) == LineMark::Belongs);
    let timings: Vec<(usize, [&str; 2])> =
        own.filter_map(|(number, line)| Some((number, holes(TIMING, line)?))).collect();
    let Some((first, _)) = timings.first() else { return without_line("Timing buffered disk reads: …") };
    let whole = timings.iter().filter(|(_, [_, figures])| !figures.contains("failed"));
    let cells: Vec<Cell> = whole
        .map(|(number, [name, figures])| {
            timing_cell(name, figures).ok_or_else(|| {
                broken_line(input, *number, text!("the timing cannot be read", "計測の行を読めません"))
            })
        })
        .collect::<Result<_, _>>()?;
    if cells.is_empty() {
        let what = text!("every timing failed", "すべての計測が失敗しています");
        return Err(broken_line(input, *first, what).into());
    }
    let target = input.holes(DEVICE).map(|[name]| format!("/dev/{name}"));
    let origin = Origin { target, ..input.origin("hdparm", "hdparm") };
    let mut notices = vec![units::prints_mebibytes("hdparm", "MB/sec")];
    if timings.iter().any(|(_, [name, _])| FROM_MEMORY.contains(name)) {
        notices.push(notice(text!(
            "cached reads (`-T`) come from the computer's memory: they do not measure the drive",
            "cached reads(`-T`)はコンピューターのメモリーの速度で、ドライブの速度ではありません"
        )));
    }
    if cells.len() < timings.len() {
        notices.push(notice(text!("failed timings were skipped", "失敗した計測は取り込んでいません")));
    }
    Ok(vec![ImportedRun { origin, cells, notices, ..ImportedRun::default() }])
}

/// Parses `204 MB in  3.00 seconds =  67.98 MB/sec`. Versions before 2004 print no space after the
/// equals sign.
fn timing_cell(name: &str, words: &str) -> Option<Cell> {
    // People end a sentence with the line.
    let [amount, seconds, rate] = holes("{} MB in {} seconds ={}", words.trim_end_matches('.'))?;
    let mega = || text!("hdparm's MB is 2^20 bytes", "hdparm の MB は 2^20 バイトです");
    let kilo = || text!("hdparm's kB is 1024 bytes", "hdparm の kB は 1024 バイトです");
    let (rate, unit) = rate.split_once(' ')?;
    let (base, correction) = match unit.trim() {
        "MB/sec" => (1_048_576.0, binary("MiB/s", mega())),
        "kB/sec" => (1024.0, binary("KiB/s", kilo())),
        _ => return None,
    };
    let rate = units::figure(Quantity::Rate, Statistic::Mean, rate, unit.trim(), base)?;
    let size = corrected(MB.figure(Statistic::Sum, amount)?, binary("MiB", mega()));
    let imported = ImportedCell {
        procedure: Some(format!("Timing {name}")),
        // With O_DIRECT, they come from the drive's own memory.
        cached: name.starts_with("cached reads") || name.starts_with("buffer-cache reads"),
        figures: vec![corrected(rate, correction), SECONDS.figure(Statistic::Sum, seconds)?, size],
        ..ImportedCell::default()
    };
    Some(cell(name, Some(Direction::Read), imported))
}
