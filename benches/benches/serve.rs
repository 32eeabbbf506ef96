//! `cargo bench -p kurabe-benches --bench serve`: see `kurabe_benches::serve`.

use kurabe_benches::{exit_code, serve};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(serve::main(&mut stdout()), &mut stderr())
}
