//! `cargo bench -p kurabe-benches --bench uses`: see `kurabe_benches::uses`.

use kurabe_benches::{exit_code, uses};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(uses::main(&mut stdout()), &mut stderr())
}
