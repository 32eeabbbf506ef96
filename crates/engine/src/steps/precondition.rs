//! Preconditioning: work done once before the first cell to bring a fresh device into a used state.
//! It is not a cell.

use crate::context::{Context, progress};
use crate::ground::Ground;
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::{
    Result, event::Event, number::planned_time, record::NoticeKind, text, workload::Direction,
};

/// Performs the profile's preconditioning and reports it. It is omitted on a read-only target.
pub(crate) fn precondition(ground: &mut impl Ground, context: &mut Context<'_>) -> Result<()> {
    let tasks = context.profile.precondition_tasks(ground.facts().span_bytes);
    if tasks.is_empty() {
        return Ok(());
    }
    if !ground.facts().writable {
        return context.notice(
            NoticeKind::WritesLeftOut,
            text!(
                "preconditioning was skipped, because writing to the target is not allowed: a fresh \
                 device is faster than a used one",
                "書き込めない対象のため、事前の書き込み(プレコンディショニング)を省きました。新品同様のデバイスは使用後より速く出ます"
            ),
        );
    }
    for task in tasks {
        let Some(workload) = task.workload() else { continue };
        context.interrupt.check()?;
        let (label, word) = (&task.label, task.direction().map_or("", Direction::word));
        context.emit(Event::Preparing {
            what: text!("preconditioning: {word} {label}", "事前の書き込み: {label}"),
        })?;
        let (written_bytes, elapsed_ns) = ground.run_once(context, workload, &mut progress)?;
        let written = format_bytes_decimal(written_bytes);
        let time = planned_time(elapsed_ns);
        context.notice(
            NoticeKind::Other,
            text!(
                "preconditioned: {word} {label}, {written} in {time}",
                "事前の書き込み: {label}、{written} を {time}で実施";
                time
            ),
        )?;
    }
    Ok(())
}
