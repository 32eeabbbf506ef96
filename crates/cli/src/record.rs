//! `kurabe record`: records the I/O of a command on the devices under a path as a trace.

use crate::args::{Global, RecordArgs};
use crate::lang::{lang, t};
use crate::output::{outputs_next_to_result, print_json, print_texts, say, write_out};
use crate::show::{recorded_lines, recorded_script};
use crate::signals;
use kurabe_core::Result;
use kurabe_interop::write_iolog_v3;
use kurabe_lab::{RecordRequest, RecordedCommand, RecordingBy, output::Output, record_command};

/// Runs the command.
///
/// # Errors
/// When I/O there cannot be recorded, or the command cannot be run or fails.
pub fn record(args: &RecordArgs, global: &Global) -> Result<()> {
    let output = outputs_next_to_result(args.force, global).claim_optional(args.output.as_ref())?;
    let is_stdout = output.as_ref().is_some_and(Output::is_stdout);
    let handle = signals::listen()?;
    let request = RecordRequest {
        target: &args.target,
        command: &args.command,
        trace_only: args.output.is_some(),
        all_devices: args.all_devices,
    };
    let done = record_command(&request, &handle, |by: &RecordingBy<'_>| announce(by, global))?;
    if let (RecordedCommand::Trace(recorded), Some(output)) = (&done.recorded, output) {
        write_out(&write_iolog_v3(&recorded.trace), Some(output))?;
    }
    let output = args.output.as_ref();
    match global.json {
        _ if is_stdout => {}
        true => recorded_script(&done, output).iter().try_for_each(print_json)?,
        false => print_texts(&recorded_lines(&done, output))?,
    }
    done.ended
}

fn announce(by: &RecordingBy<'_>, global: &Global) {
    match by {
        RecordingBy::Tracepoints { mounted_privately: true } if !global.quiet => say(t(
            "kurabe: tracefs was not mounted; kurabe mounted it for itself only",
            "kurabe: tracefs が未マウントのため、kurabe 専用にマウントしました",
        )),
        RecordingBy::Tracepoints { .. } => {}
        RecordingBy::Counters { instead } => {
            say(&instead.render(lang()));
            say(t(
                "kurabe: using the counters of the devices instead; the result has totals, but no trace",
                "kurabe: 代わりにデバイスのカウンターを使います(合計だけで、トレースは残りません)",
            ));
        }
    }
}
