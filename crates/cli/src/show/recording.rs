//! Device activity of a command, one line per device and for scripts.

use super::ScriptLine;
use kurabe_core::mention::{ALL_DEVICES, OUTPUT, REPLAY, RUN};
use kurabe_core::number::latency_ns;
use kurabe_core::output_path::OutputPath;
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::record::Traffic;
use kurabe_core::trace::Trace;
use kurabe_core::{Text, shown, text};
use kurabe_lab::{CommandRecording, RecordedCommand};
use kurabe_trace::RecordedTrace;

/// Describes the recorded activity of a command, and where its trace is stored, if it is.
pub fn recorded_lines(done: &CommandRecording, output: Option<&OutputPath>) -> Vec<Text> {
    let below = (!done.beneath.is_empty()).then(|| beneath_line(&done.beneath));
    let recorded = match &done.recorded {
        RecordedCommand::Trace(recorded) => recorded,
        RecordedCommand::Sums(devices) => {
            let lines = devices.iter().map(|(device, traffic)| traffic_line(device, traffic));
            return lines.chain(below).collect();
        }
    };
    let next = match output.map(ToString::to_string) {
        Some(output) => text!(
            "written to {output}; replay it: {RUN} {REPLAY} {} TARGET",
            "{output} に書きました。再生: {RUN} {REPLAY} {} 対象",
            shown::shell_word(&output)
        ),
        None => text!("{OUTPUT} FILE keeps the trace", "{OUTPUT} FILE でトレースを残せます"),
    };
    recording_lines(recorded).into_iter().chain(below).chain([next]).collect()
}

/// Returns the recorded activity for scripts: one event for the trace, or one for each device.
pub fn recorded_script<'a>(done: &'a CommandRecording, output: Option<&OutputPath>) -> Vec<ScriptLine<'a>> {
    let recorded = match &done.recorded {
        RecordedCommand::Trace(recorded) => recorded,
        RecordedCommand::Sums(devices) => {
            return devices.iter().map(|(device, traffic)| ScriptLine::Counted { device, traffic }).collect();
        }
    };
    let sum = recorded.trace.summary();
    vec![ScriptLine::Recorded {
        devices: &recorded.trace.units,
        devices_beneath: &done.beneath,
        reads: sum.reads,
        read_bytes: sum.read_bytes,
        writes: sum.writes,
        write_bytes: sum.write_bytes,
        syncs: sum.syncs,
        discards: recorded.discards,
        duration_ns: sum.duration_ns,
        latency_ns_p50: recorded.latency_ns(0.5),
        latency_ns_p99: recorded.latency_ns(0.99),
        lost_events: recorded.lost_events,
        file: output.map(OutputPath::name),
    }]
}

/// Describes a recorded trace: a line for each device, the duration, and missing events.
fn recording_lines(recorded: &RecordedTrace) -> Vec<Text> {
    let trace = &recorded.trace;
    let mut lines: Vec<Text> =
        trace.units.iter().enumerate().map(|(unit, name)| of_unit(trace, unit, name)).collect();
    if let Some((median_ns, slow_ns)) = recorded.latency_ns(0.5).zip(recorded.latency_ns(0.99)) {
        let time = latency_ns(trace.summary().duration_ns);
        let (median, slow) = (latency_ns(median_ns), latency_ns(slow_ns));
        lines.push(text!(
            "over {time}; in the device p50 {median}, p99 {slow}",
            "{time} の間。デバイスでの所要時間 p50 {median}、p99 {slow}"
        ));
    }
    if recorded.lost_events > 0 {
        let lost = recorded.lost_events;
        lines.push(text!(
            "{lost} events were lost by the kernel: operations are missing",
            "カーネルがイベントを {lost} 件取りこぼしました。欠けた操作があります"
        ));
    }
    if recorded.discards > 0 {
        let (discards, plural) = (recorded.discards, if recorded.discards == 1 { "" } else { "s" });
        lines.push(text!(
            "{discards} discard{plural}, not in the trace",
            "discard {discards} 件(トレースには含みません)"
        ));
    }
    lines
}

/// Lists the devices below the recorded one.
fn beneath_line(names: &[String]) -> Text {
    let (en, ja) = (names.join(", "), names.join("、"));
    text!(
        "below it, not recorded: {en} ({ALL_DEVICES} records them as well)",
        "その下の {ja} は記録していません({ALL_DEVICES} で記録できます)"
    )
}

/// Describes the transfers of a device.
fn traffic_line(device: &str, traffic: &Traffic) -> Text {
    let Traffic { read_operations: reads, write_operations: writes, .. } = traffic;
    let read_bytes = format_bytes_decimal(traffic.read_bytes);
    let write_bytes = format_bytes_decimal(traffic.write_bytes);
    text!(
        "{device}  {reads} reads ({read_bytes}), {writes} writes ({write_bytes})",
        "{device}  読み出し {reads} 回({read_bytes})、書き込み {writes} 回({write_bytes})"
    )
}

/// Describes the activity of one device of the trace.
fn of_unit(trace: &Trace, unit: usize, name: &str) -> Text {
    let own = trace.operations.iter().filter(|operation| operation.unit as usize == unit).copied().collect();
    let sum = Trace { operations: own, ..Trace::default() }.summary();
    let traffic = Traffic {
        read_operations: sum.reads,
        read_bytes: sum.read_bytes,
        write_operations: sum.writes,
        write_bytes: sum.write_bytes,
    };
    let line = traffic_line(name, &traffic);
    if sum.syncs == 0 {
        return line;
    }
    let (syncs, plural) = (sum.syncs, if sum.syncs == 1 { "" } else { "es" });
    text!("{line}, {syncs} flush{plural}", "{line}、フラッシュ {syncs} 回"; line)
}
