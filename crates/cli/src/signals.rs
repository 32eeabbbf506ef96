//! Ctrl-C and its relatives: once stops and keeps, twice ends at once; no test file is left either way.

use crate::lang::t;
use crate::output::say;
use kurabe_core::{Error, Result, text};
use kurabe_lab::RunHandle;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Starts to listen: the handle is stopped at the first signal and abandoned at the second.
///
/// # Errors
/// When the operating system does not let it.
pub fn listen() -> Result<RunHandle> {
    let mut incoming = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(|error| {
        Error::os(text!("cannot listen for signals", "シグナルを待ち受けられません"), &error)
    })?;
    let handle = RunHandle::default();
    let signalled = handle.clone();
    std::thread::spawn(move || {
        for signal in incoming.forever() {
            if signalled.is_stopped() {
                signalled.abandon();
                std::process::exit(128 + signal);
            }
            signalled.stop();
            say(t(
                "\nkurabe: stopping; what was measured is kept (once more ends at once)",
                "\nkurabe: 停止します。測定済みの結果は残ります(もう一度で即時終了)",
            ));
        }
    });
    Ok(handle)
}
