//! `cargo bench -p kurabe-benches --bench instructions`: see `kurabe_benches::instructions`.

use kurabe_benches::{exit_code, instructions};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(instructions::main(&mut stdout()), &mut stderr())
}
