//! Going on under a limit of the address space (`ulimit -v`), in which kurabe must not end by an allocation that fails.
//!
//! The model: the C library sets 64 MiB of addresses aside for the allocations of every thread, so a limit that is ample
//! for the bytes is used up by a dozen threads. Told not to, it takes what is needed. It reads that when a process
//! begins, so under a limit kurabe begins once more.

use kurabe_core::quantity::{MIB, format_bytes};
use kurabe_core::{Error, ErrorKind, Result, text};
use rustix::process::{Resource, getrlimit};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// What the C library reads (mallopt(3)).
const ONE_FOR_ALL: &str = "MALLOC_ARENA_MAX";
/// Addresses that kurabe itself needs: its own code, the store, the first thread. Measured: it runs with a third of this.
const LEAST_BYTES: u64 = 256 * MIB;

/// Begins once more if there is a limit, so that threads do not use it up.
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
    // Where that cannot be, it goes on as it is: with fewer threads, which is told where one cannot be had.
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
