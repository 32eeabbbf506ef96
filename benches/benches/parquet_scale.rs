//! `cargo bench -p kurabe-benches --bench parquet_scale`: see `kurabe_benches::parquet_scale`.

use kurabe_benches::{exit_code, parquet_scale};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(parquet_scale::main(&mut stdout()), &mut stderr())
}
