//! Ctrl-C and its relatives: once stops and keeps, twice ends at once; no test file is left either way.

use crate::lang::t;
use crate::output::say;
use kurabe_core::{Error, Result, text};
use kurabe_lab::RunHandle;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// What the signals act upon.
#[derive(Default)]
pub struct Signals {
    /// Stopped at the first signal, abandoned at the second.
    pub handle: RunHandle,
}

impl Signals {
    /// Starts to listen.
    ///
    /// # Errors
    /// When the operating system does not let it.
    pub fn listen() -> Result<Self> {
        let signals = Self::default();
        let mut incoming =
            signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(|error| {
                Error::os(text!("cannot listen for signals", "シグナルを待ち受けられません"), &error)
            })?;
        let handle = signals.handle.clone();
        std::thread::spawn(move || {
            for signal in incoming.forever() {
                if handle.is_stopped() {
                    handle.abandon();
                    std::process::exit(128 + signal);
                }
                handle.stop();
                say(t(
                    "\nkurabe: stopping; what was measured is kept (once more ends at once)",
                    "\nkurabe: 停止します。測定済みの結果は残ります(もう一度で即時終了)",
                ));
            }
        });
        Ok(signals)
    }
}
