//! `cargo bench -p kurabe-benches --bench agreement`: see `kurabe_benches::agreement`.

use kurabe_benches::{agreement, exit_code};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(agreement::main(&mut stdout(), &mut stderr()), &mut stderr())
}
