//! Import of results and traces of other tools, and export of results and procedures for other tools and
//! people.
//!
//! The crate works on bytes and strings in memory, and accepts any input without panicking.

mod disksim;
mod export;
mod import;
mod report_page;
mod trace;

pub use disksim::{DeviceFile, is_disksim, read_disksim};
#[cfg(feature = "tables")]
pub use export::ParquetTables;
pub use export::{
    CsvColumn, EXPORT_TABLES, ExportFormat, ExportTable, TableColumn, csv_table, described, export,
    write_operation, write_operations_header,
};
pub use import::{ImportedRun, import};
pub use report_page::{embed_in_page, embedded_in_page};
pub use trace::{TraceFormat, read_trace, write_iolog_v3};
