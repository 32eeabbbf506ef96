//! Import of results and traces of other tools, and export of job files and texts for other tools and
//! people.
//!
//! The crate works on bytes and strings in memory, and accepts any input without panicking.

mod disksim;
mod export;
mod fio_values;
mod import;
mod job;
mod report_page;
mod trace;

pub use disksim::{DeviceFile, is_disksim, read_disksim};
#[cfg(feature = "tables")]
pub use export::ParquetTables;
pub use export::{
    CsvColumn, EXPORT_TABLES, ExportFormat, ExportTable, FioLog, FioLogKind, TableColumn, csv_table,
    described, export, fio_log, write_operation, write_operations_header,
};
pub use import::{ImportedRun, import};
pub use job::{
    FioAccess, FioJob, FioLine, FioOptionKind, FioOptions, JobSurroundings, NoSurroundings, fio_options,
    is_job_name, read_fio_job, read_fio_jobs, read_fio_line,
};
pub use report_page::{embed_in_page, embedded_in_page};
pub use trace::{TraceFormat, read_trace, write_iolog_v3};
