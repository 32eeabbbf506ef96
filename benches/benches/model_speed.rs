//! `cargo bench -p kurabe-benches --bench model_speed`: see `kurabe_benches::model_speed`.

use kurabe_benches::{exit_code, model_speed};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(model_speed::main(&mut stdout()), &mut stderr())
}
