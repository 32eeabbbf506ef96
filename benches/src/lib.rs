//! Benches of the whole program: kurabe runs as its users run it, beside fio and beside a bare loop.
//!
//! The model: every tool is a process of its own; all of them take turns, round after round, so that a machine
//! that drifts drifts for all; what is compared is the ratio within a round, and the median of these ratios over
//! the rounds. Figures are printed and compared with the promises, but never asserted: a machine under load would make
//! liars of such tests. Only counted instructions are, because they do not depend on the load. The tests of this package only see to it that the benches run. The speed of the
//! models is the exception: it is measured within this process, because it is that of a library.

pub mod agreement;
pub mod child;
pub mod disksim;
pub mod fio_export;
pub mod instructions;
pub mod model_speed;
pub mod mqsim;
pub mod null_versus;
pub mod options;
pub mod overhead;
pub mod page;
#[cfg(feature = "tables")]
pub mod parquet_scale;
pub mod price;
pub mod ranks;
pub mod serve;
mod serve_beside;
mod serve_client;
mod serve_device;
mod serve_same;
#[cfg(feature = "postgres")]
pub mod shared_scale;
pub mod statistics;
pub mod store_scale;
pub mod table;
pub mod test_file;
pub mod tools;
pub mod uses;

/// What goes wrong here is told and ends the bench; nobody handles it.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The end of a bench: an error is told as a sentence, not as a value.
pub fn exit_code(ended: Result<()>, to: &mut dyn std::io::Write) -> std::process::ExitCode {
    match ended {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(to, "{error}");
            std::process::ExitCode::FAILURE
        }
    }
}
