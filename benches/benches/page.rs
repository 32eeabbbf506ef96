//! `cargo bench -p kurabe-benches --bench page`: see `kurabe_benches::page`.

use kurabe_benches::{exit_code, page};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(page::main(&mut stdout()), &mut stderr())
}
