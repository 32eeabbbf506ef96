//! `cargo bench -p kurabe-benches --bench shared_scale`: see `kurabe_benches::shared_scale`.

use kurabe_benches::{exit_code, shared_scale};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(shared_scale::main(&mut stdout()), &mut stderr())
}
