//! fio's job files and command lines, in and out.
//!
//! A workload becomes the options of a job, and a job becomes a workload. The crate works on strings in
//! memory, and accepts any input without panicking. fio's *results* are read and written as those of all
//! other tools.

mod job;
mod log;
mod values;
mod written;

pub use job::{
    FioAccess, FioJob, FioLine, FioOptionKind, FioOptions, FioResults, JobSurroundings, NoSurroundings,
    beside, fio_options, is_job_name, read_fio_job, read_fio_jobs, read_fio_line,
};
pub use log::{FioLog, FioLogKind, fio_log};
pub use values::{ONE_BY_ONE, size_bytes, time_ns};
pub use written::{OptionList, WrittenJobs, data_options};
