//! `cargo bench -p kurabe-benches --bench flushes`: see `kurabe_benches::flushes`.

use kurabe_benches::{exit_code, flushes};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(flushes::main(&mut stdout()), &mut stderr())
}
