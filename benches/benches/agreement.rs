//! `cargo bench -p kurabe-benches --bench agreement`: see `kurabe_benches::agreement`.

use kurabe_benches::{agreement, exit_code};
use std::io::{stderr, stdout};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let bare = Path::new(env!("CARGO_BIN_EXE_bare"));
    exit_code(agreement::main(bare, &mut stdout(), &mut stderr()), &mut stderr())
}
