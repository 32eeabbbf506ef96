//! Ctrl-C and its relatives: once stops and keeps, twice ends at once, whatever hangs.
//!
//! The model: a thread of its own hears the signals and never waits for a device, a lock that is held over I/O, or a
//! terminal. At the second signal another thread takes away programs and test files; the process does not wait for it
//! longer than [`FAREWELL`], because storage that hangs is why people press twice. What it did not remove, the store
//! still names, and the next start removes it. A third signal ends the process in the signal handler itself.

use crate::lang::t;
use crate::output::say;
use kurabe_core::{Error, Result, text};
use kurabe_lab::RunHandle;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag::register_conditional_shutdown;
use signal_hook::iterator::Signals;
use signal_hook::low_level::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;

const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// How long the second signal waits for test files to go: removing one takes milliseconds where storage answers, and
/// longer than a second seems to hang to who pressed the keys.
const FAREWELL: Duration = Duration::from_secs(1);

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
    let (leaving, mut incoming) = hear()?;
    let handle = RunHandle::default();
    let signalled = handle.clone();
    let listening = Builder::new().spawn(move || {
        for signal in incoming.forever() {
            if signalled.is_stopped() {
                leaving.store(true, Ordering::Relaxed);
                end_at_once(&signalled, signal);
            }
            signalled.stop();
            aside(|| {
                say(t(
                    "\nkurabe: stopping; what was measured is kept (once more ends at once)",
                    "\nkurabe: 停止します。測定済みの結果は残ります(もう一度で即時終了)",
                ));
            });
        }
    });
    listening.map_err(|error| Error::no_thread(&error))?;
    Ok(handle)
}

/// Starts to listen for what ends a server: `end` is called at the first signal; the second ends the process, whose sockets
/// the next start removes.
///
/// # Errors
/// When the operating system does not let it.
pub fn listen_for_end(end: impl Fn() + Send + 'static) -> Result<()> {
    let (leaving, mut incoming) = hear()?;
    let listening = Builder::new().spawn(move || {
        for _ in incoming.forever() {
            leaving.store(true, Ordering::Relaxed);
            end();
        }
    });
    listening.map(|_| ()).map_err(|error| Error::no_thread(&error))
}

/// Signals from now on, and what to set before the next of them ends the process in its handler.
fn hear() -> Result<(Arc<AtomicBool>, Signals)> {
    let leaving = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS {
        register_conditional_shutdown(signal, 128 + signal, Arc::clone(&leaving))
            .map_err(|error| cannot_listen(&error))?;
    }
    let incoming = Signals::new(SIGNALS).map_err(|error| cannot_listen(&error))?;
    Ok((leaving, incoming))
}

/// Ends the process without waiting for any thread: what they did last is in the store, or is not kept.
fn end_at_once(handle: &RunHandle, signal: i32) -> ! {
    handle.kill_programs();
    let (handle, (done, removed)) = (handle.clone(), mpsc::channel());
    aside(move || {
        handle.remove_test_files();
        // Nobody listens any more when it took too long.
        let _ = done.send(());
    });
    // Where no thread could be started, this returns at once.
    let _ = removed.recv_timeout(FAREWELL);
    exit(128 + signal)
}

/// Does what may hang in a thread of its own. Where the system gives none, it is left undone.
fn aside(work: impl FnOnce() + Send + 'static) {
    let _ = Builder::new().spawn(work);
}

fn cannot_listen(error: &std::io::Error) -> Error {
    Error::os(text!("cannot listen for signals", "シグナルを待ち受けられません"), error)
}
