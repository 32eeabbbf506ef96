//! `cargo bench -p kurabe-benches --bench agreement`: see `kurabe_benches::agreement`.

use std::path::Path;

fn main() -> kurabe_benches::Result<()> {
    let bare = Path::new(env!("CARGO_BIN_EXE_bare"));
    kurabe_benches::agreement::main(bare, &mut std::io::stdout(), &mut std::io::stderr())
}
