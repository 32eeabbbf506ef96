//! `cargo bench -p kurabe-benches --bench fio_export`: see `kurabe_benches::fio_export`.

use kurabe_benches::{exit_code, fio_export};
use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    exit_code(fio_export::main(&mut stdout(), &mut stderr()), &mut stderr())
}
