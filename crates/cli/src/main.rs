//! The `kurabe` program.

use std::process::ExitCode;

/// Allocator of static binaries.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    kurabe::run_program(None)
}
