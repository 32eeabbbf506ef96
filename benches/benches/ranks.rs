//! `cargo bench -p kurabe-benches --bench ranks`: see `kurabe_benches::ranks`.

use kurabe_benches::{exit_code, ranks};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(ranks::main(&mut stdout()), &mut stderr())
}
