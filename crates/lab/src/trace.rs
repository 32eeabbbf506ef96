//! Traces of replay steps.

use kurabe_core::profile::{Profile, ReplayStep, Step};
use kurabe_core::trace::Trace;
use kurabe_core::workload::{Direction, OpKind};
use kurabe_core::{
    Error, ErrorKind, Result,
    mention::{OUTPUT, RECORD},
    text,
};
use kurabe_interop::{TraceFormat, read_trace};
use kurabe_stats::{Histogram, MeasuredLatencies};
use kurabe_study::embedded_trace;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

/// Resolution of trace names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceNames {
    /// Files only.
    Files,
    /// Files, then the traces that come with kurabe.
    FilesFirst,
    /// The traces that come with kurabe, then files.
    EmbeddedFirst,
}

/// Loads the traces of a profile's replay steps, by step index. The other steps have `None`.
///
/// # Errors
/// When a trace cannot be read.
pub(crate) fn traces(profile: &Profile, named: TraceNames) -> Result<Vec<Option<Arc<Trace>>>> {
    let read = |step: &Step| match step {
        Step::Replay(step) => trace(step, named).map(|trace| Some(Arc::new(trace))),
        _ => Ok(None),
    };
    profile.steps.iter().map(read).collect()
}

/// Loads a trace from a file. Without `format`, the format is detected.
///
/// # Errors
/// When it cannot be read.
fn trace_of_file(name: &str, format: Option<TraceFormat>) -> Result<Trace> {
    let file = File::open(name).map_err(|error| {
        Error::os(text!("cannot read the trace {name}", "トレース {name} を読めません"), &error).remedy(
            text!(
                "check the path, which is relative to the current directory; record a trace with \
                 `{RECORD} {OUTPUT} FILE TARGET -- COMMAND`",
                "パスを確認してください(現在のディレクトリから見たもの)。トレースは `{RECORD} {OUTPUT} ファイル 対象 -- コマンド` で作れます"
            ),
        )
    })?;
    read_trace(name, BufReader::new(file), format)
}

fn trace(step: &ReplayStep, named: TraceNames) -> Result<Trace> {
    let name = &step.trace;
    let embedded = match named {
        TraceNames::Files => None,
        TraceNames::FilesFirst if Path::new(name).exists() => None,
        TraceNames::FilesFirst | TraceNames::EmbeddedFirst => embedded_trace(name),
    };
    let format = step.format.as_deref().map(TraceFormat::from_word).transpose()?;
    if let Some(text) = embedded {
        return read_trace(name, text.as_bytes(), format);
    }
    trace_of_file(name, format)
}

/// Returns the latencies recorded in a trace, for all operations, for reads and for writes.
///
/// # Errors
/// When the trace cannot be read, or does not record latencies.
pub fn measured_latencies(name: &str) -> Result<Vec<MeasuredLatencies>> {
    let trace = trace_of_file(name, None)?;
    let latency = |direction: Option<Direction>| {
        let mut histogram = Histogram::default();
        let operations = trace.operations.iter().filter(|operation| operation.took_ns > 0);
        let of_direction = operations.filter(|operation| match direction {
            None => operation.kind != OpKind::Sync,
            Some(Direction::Read) => operation.kind == OpKind::Read,
            Some(_) => operation.kind == OpKind::Write,
        });
        of_direction.for_each(|operation| histogram.record(u64::from(operation.took_ns)));
        MeasuredLatencies { direction, latency: histogram.to_record() }
    };
    let all = latency(None);
    if all.latency.count == 0 {
        let format = &trace.format;
        return Err(ErrorKind::Import
            .error(text!(
                "{name} ({format}) does not record how long its operations took",
                "{name}({format})には各操作の所要時間がありません"
            ))
            .remedy(text!(
                "use a trace in DiskSim's `validate` format, which contains the measured times",
                "実測時間を含む DiskSim の `validate` 形式のトレースを指定してください"
            )));
    }
    Ok(vec![all, latency(Some(Direction::Read)), latency(Some(Direction::Write))])
}
