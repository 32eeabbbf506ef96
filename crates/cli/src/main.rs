//! kurabe.

use std::process::ExitCode;

/// What allocates in static binaries.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    kurabe::run_program(None)
}
