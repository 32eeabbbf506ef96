//! `cargo bench -p kurabe-benches --bench real`: see `kurabe_benches::real`.

use kurabe_benches::{exit_code, real};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(real::main(&mut stdout()), &mut stderr())
}
