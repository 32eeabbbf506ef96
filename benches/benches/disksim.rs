//! `cargo bench -p kurabe-benches --bench disksim`: see `kurabe_benches::disksim`.

use kurabe_benches::{disksim, exit_code};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(disksim::main(&mut stdout()), &mut stderr())
}
