//! Work that is done once before the first cell and is not a cell: bringing a device from fresh to used.

use crate::measure::measure;
use crate::session::{Session, interrupted};
use kurabe_core::event::Event;
use kurabe_core::quantity::{format_bytes_decimal, format_time_setting};
use kurabe_core::record::{Interval, NoticeKind};
use kurabe_core::{Result, text};

impl Session<'_> {
    /// Does the profile's preconditioning, and says what it did. A target that may not be written goes without.
    pub(crate) fn precondition(&mut self) -> Result<()> {
        let steps = &self.profile.preconditions;
        if steps.is_empty() {
            return Ok(());
        }
        if !self.target.is_writable() {
            return self.notice(
                NoticeKind::WritesLeftOut,
                text!(
                    "the preconditioning is left out, because the target may not be written: a fresh device is faster than a used one",
                    "書き込めない対象のため、事前の書き込み(プレコンディショニング)を省きました。新品同様のデバイスは使用後より速く出ます"
                ),
            );
        }
        for step in steps {
            for direction in &step.directions {
                self.check_interrupt()?;
                let workload = step.workload(&self.profile.rules, *direction, self.target.span_bytes());
                let (label, word) = (step.label(), direction.word());
                self.emit(Event::Preparing {
                    what: text!("preconditioning: {word} {label}", "事前の書き込み: {label}"),
                })?;
                let choice = self.choose(&workload)?;
                let target = &*self.target;
                let (mut failed, emit) = (None, &mut *self.emit);
                let mut live = |elapsed_ns, interval: Interval, interval_ns| {
                    if failed.is_none() {
                        failed = emit(Event::Progress { elapsed_ns, interval, interval_ns }).err();
                    }
                };
                let open = || target.open_file(workload.writes(), workload.sync.o_sync);
                let measured = measure(&open, &workload, choice.issue, self.interrupt, &mut live)?;
                if let Some(error) = failed {
                    return Err(error);
                }
                if measured.interrupted {
                    return Err(interrupted());
                }
                let written = format_bytes_decimal(measured.recorded.write.bytes);
                let time = format_time_setting(measured.elapsed_ns);
                self.notice(
                    NoticeKind::Other,
                    text!(
                        "preconditioned: {word} {label}, {written} in {time}",
                        "事前の書き込み: {label}、{written} を {time} で実施"
                    ),
                )?;
            }
        }
        Ok(())
    }
}
