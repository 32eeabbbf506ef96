//! The last test program of the workspace. It prints how many tests a plain run skipped, and how to
//! run them.

use std::path::{Path, PathBuf};

#[allow(clippy::print_stdout)]
fn main() {
    // With arguments, the user has selected tests and knows about the skipped ones.
    if std::env::args().len() > 1 {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let count: usize =
        sources(&root.join("crates")).iter().chain(&sources(&root.join("benches"))).map(ignored).sum();
    println!(
        "\n{count} slow tests were left out: those that need a guest, or more than some seconds with a device or a \
         browser.\n\
         They are run by: cargo test --workspace -- --ignored\n"
    );
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

fn ignored(source: &PathBuf) -> usize {
    let source = std::fs::read_to_string(source).unwrap_or_default();
    source.lines().filter(|line| line.trim_start().starts_with("#[ignore")).count()
}
