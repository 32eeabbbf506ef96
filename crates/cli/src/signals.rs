//! Ctrl-C and its relatives: once stops and keeps, twice ends at once; no test file is left either way.

use crate::lang::t;
use crate::output::say;
use kurabe_core::{Error, Result, text};
use kurabe_lab::RunHandle;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use std::sync::Arc;

/// Has a file that becomes too large (`ulimit -f`) fail with an error that can be told, instead of ending kurabe on the
/// spot. A handler that does nothing, because being ignored would be passed on to the programs of a profile.
///
/// # Errors
/// When the operating system does not let it.
pub fn survive_size_limit() -> Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(|_| ()).map_err(|error| cannot_listen(&error))
}

/// Starts to listen: the handle is stopped at the first signal and abandoned at the second.
///
/// # Errors
/// When the operating system does not let it.
pub fn listen() -> Result<RunHandle> {
    let mut incoming = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(|error| cannot_listen(&error))?;
    let handle = RunHandle::default();
    let signalled = handle.clone();
    let listening = std::thread::Builder::new().spawn(move || {
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
    listening.map_err(|error| Error::no_thread(&error))?;
    Ok(handle)
}

fn cannot_listen(error: &std::io::Error) -> Error {
    Error::os(text!("cannot listen for signals", "シグナルを待ち受けられません"), error)
}
