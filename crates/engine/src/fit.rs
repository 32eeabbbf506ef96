//! Whether a profile fits a target: which cells are left, and whether each can be run there.

use crate::target::Target;
use kurabe_core::profile::{CellPlan, Profile};
use kurabe_core::quantity::format_bytes;
use kurabe_core::record::TargetKind;
use kurabe_core::workload::Workload;
use kurabe_core::{Error, ErrorKind, Result, Text, text};

/// The cells of a profile that a target takes.
///
/// # Errors
/// When no cell is left, or one cannot be run there at all.
pub fn plan_cells(profile: &Profile, target: &Target) -> Result<Vec<CellPlan>> {
    let cells: Vec<CellPlan> = profile
        .cells(target.span_bytes())
        .into_iter()
        .filter(|cell| target.is_writable() || !cell.workload.writes())
        .collect();
    if cells.is_empty() {
        return Err(Error::new(
            ErrorKind::Refused,
            text!(
                "nothing is left to measure: the profile only writes, and the target is read-only",
                "測るものがありません。プロファイルは書き込みだけで、対象は読み取り専用です"
            ),
        )
        .remedy(how_to_write(target.kind())));
    }
    for cell in &cells {
        check_fit(cell, target)?;
    }
    Ok(cells)
}

fn check_fit(cell: &CellPlan, target: &Target) -> Result<()> {
    let Workload { offset_bytes, span_bytes, .. } = cell.workload;
    let (label, largest) = (&cell.label, u64::from(cell.workload.largest_block_bytes()));
    if span_bytes < largest {
        return Err(Error::new(
            ErrorKind::Target,
            text!(
                "{label} needs {}, but only {} lie within its span",
                "{label} には {} 必要ですが、範囲には {} しかありません",
                format_bytes(largest),
                format_bytes(span_bytes)
            ),
        )
        .remedy(text!(
            "choose a larger --size, a smaller --bs or a smaller --offset",
            "--size を大きくするか、--bs または --offset を小さくしてください"
        )));
    }
    let unit = u64::from(target.alignment_bytes());
    let sizes = cell.workload.block_sizes.iter().map(|block| u64::from(block.size_bytes));
    if let Some(odd) = sizes.chain([offset_bytes]).find(|bytes| !bytes.is_multiple_of(unit)) {
        return Err(Error::new(
            ErrorKind::Target,
            text!(
                "{label}: {odd} bytes is not a multiple of {unit}, the unit of direct I/O here",
                "{label}: {odd} バイトは、ここでのダイレクト I/O の単位 {unit} バイトの倍数ではありません"
            ),
        )
        .remedy(text!(
            "use multiples of {unit} bytes, or --buffered",
            "{unit} バイトの倍数にするか、--buffered を使ってください"
        )));
    }
    Ok(())
}

pub(crate) fn writes_left_out(kind: TargetKind) -> Text {
    let how = how_to_write(kind);
    Text {
        en: format!("write cells are left out: {}", how.en),
        ja: format!("書き込みは測りません。{}", how.ja),
    }
}

fn how_to_write(kind: TargetKind) -> Text {
    match kind {
        TargetKind::BlockDevice => text!(
            "writing to a device needs --destroy-data-on naming it, and destroys what is on it",
            "デバイスへの書き込みには --destroy-data-on での指定が必要で、中身は失われます"
        ),
        TargetKind::CharacterDevice => {
            text!("this device is only read", "このデバイスは読み出しだけ測れます")
        }
        _ => text!(
            "writing to an existing file needs --write-existing, and destroys its contents",
            "既存のファイルへの書き込みには --write-existing が必要で、中身は失われます"
        ),
    }
}

/// How long a run of these cells takes at least, if all are bounded by time.
pub fn planned_time_ns(profile: &Profile, cells: &[CellPlan]) -> Option<u64> {
    let rules = &profile.rules;
    let mut one_pass_ns = 0u64;
    for cell in cells {
        one_pass_ns =
            one_pass_ns.saturating_add(cell.workload.end.time_ns?).saturating_add(cell.workload.warm_up_ns);
    }
    let pauses_ns = rules.interval_ns.saturating_mul((cells.len() as u64).saturating_sub(1));
    let repetitions = u64::from(rules.runs) + u64::from(rules.discarded_runs);
    Some(one_pass_ns.saturating_mul(repetitions).saturating_add(pauses_ns))
}
