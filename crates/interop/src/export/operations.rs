//! A table of single operations: CSV as in RFC 4180, written line by line as they complete.
//!
//! The model: a line for each operation, in the order of completion. Times are in ns from the start of
//! the repetition's recording. For a model, a column for each cause contains the share of the time from
//! issue to completion; the columns add up to that time.

use super::csv::field;
use kurabe_core::listed::ListedOperation;
use std::io::{self, Write};

/// Columns before those of the causes.
const COLUMNS: &str =
    "cell_index,repetition_index,op,offset_bytes,length_bytes,issued_ns,completed_ns,latency_ns,error";

/// Writes the header. `causes` are the time categories of an operation, as `layer.cause`.
///
/// # Errors
/// As `out`.
pub fn write_operations_header(out: &mut dyn Write, causes: &[String]) -> io::Result<()> {
    write!(out, "{COLUMNS}")?;
    for cause in causes {
        write!(out, ",{}", field(&format!("{cause}_ns")))?;
    }
    write!(out, "\r\n")
}

/// Writes the line of an operation.
///
/// # Errors
/// As `out`.
pub fn write_operation(out: &mut dyn Write, operation: &ListedOperation) -> io::Result<()> {
    let ListedOperation { cell_index, repetition, op, issued_ns, completed_ns, latency_ns, .. } = operation;
    let (kind, offset_bytes, length_bytes) = (op.kind.word(), op.offset_bytes, op.length_bytes);
    write!(out, "{cell_index},{repetition},{kind},{offset_bytes},{length_bytes}")?;
    write!(out, ",{issued_ns},{completed_ns},{latency_ns},")?;
    if let Some(error) = operation.error {
        write!(out, "{}", error.0)?;
    }
    for time_ns in &operation.times_ns {
        write!(out, ",{time_ns}")?;
    }
    write!(out, "\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::device::ErrorNumber;
    use kurabe_core::workload::{Op, OpKind};

    #[test]
    fn every_line_has_as_many_columns_as_the_header() {
        let op = Op { kind: OpKind::Write, offset_bytes: 4096, length_bytes: 512 };
        let operation = ListedOperation {
            cell_index: 2,
            repetition: 1,
            op,
            issued_ns: 10,
            completed_ns: 40,
            latency_ns: 35,
            error: None,
            times_ns: vec![0, 20, 10],
        };
        let failed = ListedOperation { error: Some(ErrorNumber::IO), ..operation.clone() };
        let causes = ["unexplained", "bus.data, in", "disk.seek"].map(str::to_owned);
        let mut out = Vec::new();
        write_operations_header(&mut out, &causes).unwrap();
        write_operation(&mut out, &operation).unwrap();
        write_operation(&mut out, &failed).unwrap();
        let expected = "cell_index,repetition_index,op,offset_bytes,length_bytes,issued_ns,completed_ns,\
                        latency_ns,error,unexplained_ns,\"bus.data, in_ns\",disk.seek_ns\r\n\
                        2,1,write,4096,512,10,40,35,,0,20,10\r\n\
                        2,1,write,4096,512,10,40,35,5,0,20,10\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
