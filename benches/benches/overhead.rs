//! `cargo bench -p kurabe-benches --bench overhead`: see `kurabe_benches::overhead`.

use std::path::Path;

fn main() -> kurabe_benches::Result<()> {
    let bare = Path::new(env!("CARGO_BIN_EXE_bare"));
    kurabe_benches::overhead::main(bare, &mut std::io::stdout(), &mut std::io::stderr())
}
