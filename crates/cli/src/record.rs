//! `kurabe record`: what a command does to the devices under a path, as a trace.

use crate::args::{Global, RecordArgs};
use crate::files::write_out;
use crate::lang::{lang, t};
use crate::output::{print, print_json, say};
use crate::signals;
use kurabe_core::{Error, ErrorKind, Result, shown, text};
use kurabe_interop::write_iolog_v3;
use kurabe_lab::{CommandRecording, RecordRequest, RecordedCommand, RecordingBy, record_command};
use kurabe_report::{beneath_line, recording_lines, traffic_line};
use kurabe_trace::RecordedTrace;
use std::path::Path;

/// Runs the command.
///
/// # Errors
/// When nothing can be recorded there, or the command cannot be run or fails.
pub fn record(args: &RecordArgs, global: &Global) -> Result<()> {
    args.output.as_deref().map_or(Ok(()), check_output)?;
    let handle = signals::listen()?;
    let begins = |by: &RecordingBy<'_>| announce(by, global);
    let request = RecordRequest {
        target: &args.target,
        command: &args.command,
        trace_only: args.output.is_some(),
        all_devices: args.all_devices,
    };
    let CommandRecording { recorded, beneath, ended } = record_command(&request, &handle, begins)?;
    match recorded {
        RecordedCommand::Trace(recorded) => show(&recorded, &beneath, args, global)?,
        RecordedCommand::Sums(devices) => {
            for (device, traffic) in &devices {
                let counted = serde_json::json!({ "event": "counted", "device": device, "traffic": traffic });
                match global.json {
                    true => print_json(&counted)?,
                    false => print(&format!("{}\n", traffic_line(device, traffic).take(lang())))?,
                }
            }
            if !global.json && !beneath.is_empty() {
                print(&format!("{}\n", beneath_line(&beneath).take(lang())))?;
            }
        }
    }
    ended
}

fn announce(by: &RecordingBy<'_>, global: &Global) {
    match by {
        RecordingBy::Tracepoints { mounted_privately: true } if !global.quiet => say(t(
            "kurabe: tracefs is not mounted; it was mounted for kurabe alone",
            "kurabe: tracefs が未マウントのため、kurabe 専用にマウントしました",
        )),
        RecordingBy::Tracepoints { .. } => {}
        RecordingBy::Counters { instead } => {
            say(&instead.render(lang()));
            say(t(
                "kurabe: counting what the devices do instead; there will be sums, but no trace",
                "kurabe: 代わりにデバイスのカウンターを使います(合計だけで、トレースは残りません)",
            ));
        }
    }
}

/// Finds out before the command runs, perhaps for hours, whether its trace can be kept.
fn check_output(output: &Path) -> Result<()> {
    let shown = shown::path(output);
    if output.symlink_metadata().is_ok() {
        return Err(Error::new(
            ErrorKind::Refused,
            text!("{shown} exists already", "{shown} はすでにあります"),
        )
        .remedy(text!(
            "choose another name; nothing is overwritten",
            "別の名前を指定してください。上書きはしません"
        )));
    }
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).map_err(|error| {
        Error::os(text!("cannot write {shown}", "{shown} に書けません"), &error.into()).remedy(text!(
            "name a file in a folder that exists and that you may write to",
            "書き込みできる既存のフォルダーの中のファイルを指定してください"
        ))
    })
}

/// What was recorded, and the trace into its file.
fn show(recorded: &RecordedTrace, beneath: &[String], args: &RecordArgs, global: &Global) -> Result<()> {
    if let Some(output) = &args.output {
        write_out(&write_iolog_v3(&recorded.trace), Some(output))?;
    }
    if global.json {
        let sum = recorded.trace.summary();
        return print_json(&serde_json::json!({
            "event": "recorded",
            "devices": recorded.trace.units,
            "devices_beneath": beneath,
            "reads": sum.reads,
            "read_bytes": sum.read_bytes,
            "writes": sum.writes,
            "write_bytes": sum.write_bytes,
            "syncs": sum.syncs,
            "discards": recorded.discards,
            "duration_ns": sum.duration_ns,
            "latency_ns_p50": recorded.latency_ns(0.5),
            "latency_ns_p99": recorded.latency_ns(0.99),
            "lost_events": recorded.lost_events,
            "file": args.output.as_deref().map(shown::name),
        }));
    }
    let next = match &args.output {
        Some(output) => {
            let output = shown::path(output);
            text!(
                "written to {output}; replay it: kurabe run --replay {output} TARGET",
                "{output} に書きました。再生: kurabe run --replay {output} 対象"
            )
        }
        None => text!("--output FILE keeps the trace", "--output FILE でトレースを残せます"),
    };
    let below = (!beneath.is_empty()).then(|| beneath_line(beneath));
    let lines = recording_lines(recorded).into_iter().chain(below).chain([next]);
    print(&lines.map(|line| line.take(lang()) + "\n").collect::<String>())
}
