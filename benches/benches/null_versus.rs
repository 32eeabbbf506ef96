//! `cargo bench -p kurabe-benches --bench null_versus`: see `kurabe_benches::null_versus`.

use kurabe_benches::{exit_code, null_versus};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(null_versus::main(&mut stdout()), &mut stderr())
}
