//! The traces of replay steps.

use kurabe_core::profile::{Profile, ReplayStep, Step};
use kurabe_core::trace::Trace;
use kurabe_core::{Error, Result, text};
use kurabe_interop::{TraceFormat, read_trace};
use kurabe_study::embedded_trace;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

/// Where the names of traces lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceNames {
    /// To files only.
    Files,
    /// To files, and where there is none to the traces that come with kurabe.
    FilesFirst,
    /// To the traces that come with kurabe, and where there is none to files.
    EmbeddedFirst,
}

/// The traces of a profile's replay steps, by the step's place; `None` for the other steps.
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
    let file = File::open(name).map_err(|error| {
        Error::os(text!("cannot read the trace {name}", "トレース {name} を読めません"), &error).remedy(text!(
            "check the path, which begins in the current directory; `kurabe record` makes a trace",
            "パスを確認してください(現在のディレクトリから見たもの)。トレースは `kurabe record` で作れます"
        ))
    })?;
    read_trace(name, BufReader::new(file), format)
}
