//! Benches of the whole program: kurabe runs as its users run it, compared with fio and with a bare
//! loop.
//!
//! The model: every tool is a separate process. The tools are interleaved, round after round, so
//! that a drift of the machine affects all of them. The ratio is computed within each round, and
//! the median of these ratios over the rounds is reported. Figures are printed and compared with
//! the promises, but not asserted, because such tests would fail on a machine under load. Only
//! counted instructions are asserted, because they do not depend on the load. The tests of this
//! package only check that the benches run. The speed of the models is the exception: it is
//! measured within this process, because the models are a library.

pub mod agreement;
pub mod child;
pub mod disksim;
pub mod fio_export;
pub mod flushes;
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
mod priced;
pub mod ranks;
pub mod real;
pub mod ring_features;
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

/// Result of the benches; an error is printed and ends the bench.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Converts the result of a bench to an exit code, and prints an error as a sentence.
pub fn exit_code(ended: Result<()>, to: &mut dyn std::io::Write) -> std::process::ExitCode {
    match ended {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(to, "{error}");
            std::process::ExitCode::FAILURE
        }
    }
}
