//! `cargo bench -p kurabe-benches --bench mqsim`: see `kurabe_benches::mqsim`.

use kurabe_benches::{exit_code, mqsim};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(mqsim::main(&mut stdout()), &mut stderr())
}
