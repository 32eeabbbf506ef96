//! `cargo bench -p kurabe-benches --bench overhead`: see `kurabe_benches::overhead`.

use kurabe_benches::{exit_code, overhead};
use std::io::{stderr, stdout};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let bare = Path::new(env!("CARGO_BIN_EXE_bare"));
    exit_code(overhead::main(bare, &mut stdout(), &mut stderr()), &mut stderr())
}
