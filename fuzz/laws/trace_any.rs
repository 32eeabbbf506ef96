//! A trace of any bytes, in every format: read without a panic; what is accepted is sound and survives fio's form.

use kurabe_core::words::Keyword;
use kurabe_interop::{TraceFormat, read_trace, write_iolog_v3};

pub fn holds(bytes: &[u8]) {
    for format in std::iter::once(None).chain(TraceFormat::WORDS.iter().map(|(_, format)| Some(*format))) {
        let Ok(trace) = read_trace("fuzz", bytes, format) else { continue };
        assert_eq!(trace.flaw(), None);
        let written = write_iolog_v3(&trace);
        let again = read_trace("fuzz", written.as_bytes(), None).expect("kurabe reads what it wrote");
        assert_eq!(again.operations.len(), trace.operations.len());
        let place = |trace: &kurabe_core::trace::Trace| -> Vec<_> {
            trace.operations.iter().map(|op| (op.kind, op.offset_bytes, op.length_bytes)).collect()
        };
        assert_eq!(place(&again), place(&trace));
    }
}
