//! Ctrl-C and its relatives: once stops and keeps, twice ends at once; no test file is left either way.

use crate::lang::t;
use crate::output::say;
use kurabe_core::{Error, Result, text};
use kurabe_engine::{Stop, remove_orphan};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What the signals act upon.
#[derive(Clone, Default)]
pub struct Signals {
    /// Asked to stop at the first signal.
    pub stop: Arc<Stop>,
    test_files: Arc<Mutex<Vec<PathBuf>>>,
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
        let heard = signals.clone();
        std::thread::spawn(move || {
            for signal in incoming.forever() {
                if heard.stop.is_asked() {
                    heard.end_at_once(signal);
                }
                heard.stop.ask();
                say(t(
                    "\nkurabe: stopping; what was measured is kept (once more ends at once)",
                    "\nkurabe: 停止します。測定済みの結果は残ります(もう一度で即時終了)",
                ));
            }
        });
        Ok(signals)
    }

    /// Names a test file to remove if the program has to end at once.
    pub fn add_test_file(&self, path: PathBuf) {
        self.test_files.lock().unwrap_or_else(PoisonError::into_inner).push(path);
    }

    /// A test file is gone.
    pub fn forget_test_file(&self, path: &Path) {
        self.test_files.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| other != path);
    }

    fn end_at_once(&self, signal: i32) -> ! {
        // A timed program has a process group of its own and would live on.
        self.stop.kill_programs();
        for path in self.test_files.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            // If it cannot be removed now, the store still names it, and the next start tries again.
            let _ = remove_orphan(path);
        }
        std::process::exit(128 + signal)
    }
}
