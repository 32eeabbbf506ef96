//! `cargo bench -p kurabe-benches --bench store_scale`: see `kurabe_benches::store_scale`.

use kurabe_benches::{exit_code, store_scale};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(store_scale::main(&mut stdout()), &mut stderr())
}
