//! `cargo bench -p kurabe-benches --bench price`: see `kurabe_benches::price`.

use kurabe_benches::{exit_code, price};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(price::main(&mut stdout()), &mut stderr())
}
