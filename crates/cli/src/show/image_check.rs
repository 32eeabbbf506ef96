//! Check of an image against the writes of a run, as text and as JSON.

use kurabe_core::mention::{FSYNC, JSON, O_SYNC};
use kurabe_core::number::count;
use kurabe_core::quantity::format_bytes;
use kurabe_core::{Error, ErrorKind, Text, shown, text};
use kurabe_lab::{FaultKind, ImageCheck, ImageReport, SectorFault};
use std::path::Path;

/// Maximum number of faults that are listed with their offsets. JSON has more.
const TOLD_PLACES: usize = 10;

/// Returns the error for an image that lacks flushed data.
pub fn image_error(image: &Path, check: &ImageCheck) -> Error {
    let image = shown::path(image);
    let bytes = format_bytes(check.fault_bytes.values().copied().fold(0, u64::saturating_add));
    ErrorKind::Io.error(text!(
        "{image} does not contain what was written to it: {bytes} differ from flushed data",
        "{image} には書いたはずの内容がありません({bytes} が約束と違います)"
    ))
    .remedy(text!(
        "storage that loses flushed data is unsuitable for a file system or a database; check cables, \
         caches and settings first",
        "フラッシュ済みのデータを失うストレージは、ファイルシステムやデータベースには使えません。まずケーブル、キャッシュ、設定を確認してください"
    ))
}

/// Describes the result of the check, one line per fact.
pub fn image_lines(report: &ImageReport) -> Vec<Text> {
    let ImageReport { writes, check } = report;
    let (writes, written, flushed) =
        (count(*writes), format_bytes(check.written_bytes), format_bytes(check.flushed_bytes));
    let mut lines = vec![text!(
        "{writes} writes to {written}, of which {flushed} were flushed",
        "書き込み {writes} 回、範囲 {written}(うちフラッシュ済み {flushed})"
    )];
    for (kind, bytes) in &check.fault_bytes {
        let (name, meaning) = (name(*kind), meaning(*kind));
        let bytes = format_bytes(*bytes);
        lines
            .push(text!("  {name:<10} {bytes:>10}  {meaning}", "  {name} {bytes}: {meaning}"; name, meaning));
    }
    lines.extend(check.faults.iter().take(TOLD_PLACES).map(place));
    if check.faults.len() > TOLD_PLACES {
        lines.push(text!("  … and more ({JSON} has them)", "  … ほか({JSON} で見られます)"));
    }
    if check.unflushed_bytes > 0 {
        let (unflushed, arrived) = (format_bytes(check.unflushed_bytes), format_bytes(check.arrived_bytes));
        lines.push(text!(
            "the last write to {unflushed} was not flushed; {arrived} contain it, which is not required",
            "最後の書き込みが未フラッシュの範囲 {unflushed}(うち届いていたもの {arrived}。失われても約束違反ではありません)"
        ));
    }
    if check.torn_writes > 0 {
        let torn = count(check.torn_writes);
        let (writes, they) =
            if check.torn_writes == 1 { ("write that was", "it") } else { ("writes that were", "they") };
        lines.push(text!(
            "{torn} {writes} not flushed came in part, which {they} may",
            "未フラッシュの書き込み {torn} 回が一部だけ届いていました(約束違反ではありません)"
        ));
    }
    if check.is_sound() {
        lines.push(match check.flushed_bytes {
            0 => text!(
                "Nothing was flushed, so nothing can be checked ({FSYNC} N, {O_SYNC})",
                "フラッシュがなかったため、約束された内容はありません({FSYNC} N、{O_SYNC})"
            ),
            _ => text!("All flushed data are present.", "フラッシュ済みの内容はすべて残っています。"),
        });
    }
    lines
}

fn name(kind: FaultKind) -> Text {
    match kind {
        FaultKind::Lost => text!("lost", "消失"),
        FaultKind::Stale => text!("stale", "古い内容"),
        FaultKind::Damaged => text!("damaged", "破損"),
        FaultKind::Misplaced => text!("misplaced", "位置違い"),
        FaultKind::Newer => text!("newer", "一覧より新しい"),
    }
}

fn meaning(kind: FaultKind) -> Text {
    match kind {
        FaultKind::Lost => {
            text!(
                "flushed, but no data of this run are present",
                "フラッシュ済みなのに、この測定の内容がない"
            )
        }
        FaultKind::Stale => {
            text!(
                "contains an older write than the flushed one",
                "フラッシュ済みより古い書き込みが残っている"
            )
        }
        FaultKind::Damaged => text!(
            "contains parts of two writes, or is corrupt",
            "1 セクターに 2 回分の書き込みが混ざっているか、壊れている"
        ),
        FaultKind::Misplaced => text!("contains a sector from another offset", "別の場所のセクターがある"),
        FaultKind::Newer => text!("written after the list of writes", "一覧を書いた後の書き込みがある"),
    }
}

fn place(fault: &SectorFault) -> Text {
    let name = name(fault.kind);
    let (offset, bytes) = (count(fault.offset_bytes), format_bytes(fault.length_bytes));
    let promised = count(u64::from(fault.promised));
    let here = match (fault.kind, fault.present) {
        (FaultKind::Misplaced, Some(home)) => {
            let home = count(home);
            text!("contains the sector of offset {home}", "オフセット {home} のセクターがある")
        }
        (_, Some(write)) => {
            let write = count(write);
            text!("contains write {write}", "書き込み {write} がある")
        }
        (_, None) => text!("contains no write", "書き込みがない"),
    };
    text!(
        "  at offset {offset}, {bytes} {name}: {here}, write {promised} was flushed",
        "  オフセット {offset} から {bytes}、{name}: フラッシュ済みは書き込み {promised}、実際は{here}"; name, here
    )
}
