//! Runs kurabe under a limit on the address space (`ulimit -v`), where a failed allocation must not
//! abort it.
//!
//! By default, the C library reserves 64 MiB of addresses per thread for allocations, so a dozen
//! threads exhaust a limit that is ample for the bytes in use. With a single arena it reserves only
//! what it needs. The C library reads this setting when a process starts, so under a limit kurabe
//! executes itself again.

use kurabe_core::quantity::{MIB, format_bytes};
use kurabe_core::{Error, ErrorKind, Result, text};
use rustix::process::{Resource, getrlimit};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Environment variable of the C library that limits the number of arenas (mallopt(3)).
const ONE_FOR_ALL: &str = "MALLOC_ARENA_MAX";
/// Address space that kurabe itself needs for its code, the store and the first thread. In
/// measurements, a third of this was enough.
const LEAST_BYTES: u64 = 256 * MIB;

/// Executes kurabe again with a single allocation arena if the address space is limited.
///
/// # Errors
/// When the limit is too low for kurabe itself.
pub fn make_do() -> Result<()> {
    let Some(limit_bytes) = getrlimit(Resource::As).current else { return Ok(()) };
    if limit_bytes < LEAST_BYTES {
        return Err(too_little(limit_bytes));
    }
    if std::env::var_os(ONE_FOR_ALL).is_some() {
        return Ok(());
    }
    let mut words = std::env::args_os();
    let Ok(itself) = std::env::current_exe() else { return Ok(()) };
    let mut again = Command::new(itself);
    if let Some(name) = words.next() {
        again.arg0(name);
    }
    // If that fails, kurabe continues as it is, with fewer threads. A thread that cannot be started
    // is reported.
    let _ = again.args(words).env(ONE_FOR_ALL, "1").exec();
    Ok(())
}

fn too_little(limit_bytes: u64) -> Error {
    let (limit, least) = (format_bytes(limit_bytes), format_bytes(LEAST_BYTES));
    ErrorKind::Unsupported
        .error(text!(
            "the address space is limited to {limit}, and kurabe needs {least}",
            "アドレス空間の上限が {limit} です。kurabe には {least} 必要です"
        ))
        .remedy(text!("raise the limit: ulimit -v", "上限を上げてください: ulimit -v"))
}
