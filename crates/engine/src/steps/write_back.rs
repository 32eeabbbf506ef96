//! Writes data from the page cache to the target after a test, and reports write errors.
//!
//! A buffered write completes when the data is in memory, and only later does it become known
//! whether the target stores it. Each repetition that wrote through the page cache is therefore
//! followed by a sync outside its time, and counts only if the sync succeeds: the data of a stored
//! repetition was also stored by the target. The kernel reports an error once to each open file
//! description that existed before the error (`errseq_t`, lib/errseq.c). Therefore the target's own
//! description is synced. It is open from before the first write and is synced for no other
//! purpose.
//!
//! A sync may take minutes, and hangs if the storage does. It runs in a separate thread, which is
//! abandoned when the user stops the run. The sync is done in pieces, so that this thread soon ends
//! if the storage is merely slow. In a hanging call it remains until the storage responds.

use crate::clock::monotonic_ns;
use crate::context::Context;
use crate::drive::driver::target_error;
use crate::drive::rest::PATIENCE_NS;
use crate::real::Real;
use crate::steps::copy::thread_lost;
use crate::steps::copy_loop::is_passing;
use kurabe_core::profile::{Task, Work};
use kurabe_core::record::TargetRecord;
use kurabe_core::workload::Direction;
use kurabe_core::{Error, Result, event::Event, quantity::MIB, text};
use kurabe_host::write_pages;
use kurabe_program::Stop;
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often the user's interrupt is checked. A shorter sync is not shown.
const TICK: Duration = Duration::from_millis(100);
/// Minimum number of bytes written back per call …
const LEAST_PIECE_BYTES: u64 = MIB;
/// … and the maximum number of pieces, because even a piece without dirty pages costs a call.
const MOST_PIECES: u64 = 4096;

impl Real<'_> {
    /// Writes the data that a repetition left in the page cache to the target. Copy, command and
    /// metadata steps do this themselves.
    ///
    /// # Errors
    /// Fails if the target fails, which makes the repetition fail, or if the user stops the run.
    pub(crate) fn store_written(&self, context: &mut Context<'_>, task: &Task) -> Result<()> {
        if writes_through_cache(task, self.target.facts()) { self.write_back(context) } else { Ok(()) }
    }

    /// Writes back the cached data of the target.
    ///
    /// # Errors
    /// Fails like [`Self::store_written`].
    pub(crate) fn write_back(&self, context: &mut Context<'_>) -> Result<()> {
        let (file, span_bytes) = (self.target.held_description()?, self.target.facts().span_bytes);
        context.store(move |stop| in_pieces(&file, span_bytes, stop))
    }
}

impl Context<'_> {
    /// Runs work that waits for the target to store data, and shows it if it takes a while.
    ///
    /// # Errors
    /// Fails if the work fails or the user stops the run. In the latter case, the work continues in
    /// the background until it notices the stop request.
    pub(crate) fn store(
        &mut self,
        work: impl FnOnce(&Stop) -> io::Result<()> + Send + 'static,
    ) -> Result<()> {
        let (sender, receiver) = channel();
        let stop = Arc::new(Stop::default());
        let thread_stop = Arc::clone(&stop);
        let storing = move || {
            // The receiver is closed if the user has stopped the run.
            let _ = sender.send(work(&thread_stop));
        };
        let thread = std::thread::Builder::new().name("kurabe-sync".to_owned()).spawn(storing);
        thread.map_err(|error| Error::no_thread(&error))?;
        let mut is_shown = false;
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(stored) => return stored.map_err(|error| not_stored(&error)),
                Err(RecvTimeoutError::Disconnected) => return Err(thread_lost()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let mut going_on = self.interrupt.check();
            if going_on.is_ok() && !is_shown {
                is_shown = true;
                going_on = self.show_writing_back();
            }
            going_on.inspect_err(|_| stop.ask())?;
        }
    }

    fn show_writing_back(&mut self) -> Result<()> {
        let what = text!(
            "writing back: waiting until buffered writes have reached the target",
            "書き戻し中: ページキャッシュ経由で書き込んだデータが対象に届くのを待っています"
        );
        self.emit(Event::Preparing { what })
    }
}

/// Returns whether a task leaves data in the page cache that the target has not stored yet.
fn writes_through_cache(task: &Task, target: &TargetRecord) -> bool {
    let writes = match &task.work {
        Work::Io(_) | Work::Positional(_) | Work::AccessTime(_) => task.writes(),
        Work::Replay(_) => task.direction().is_some_and(|direction| direction != Direction::Read),
        Work::Copy(_) | Work::Command(_) | Work::Metadata(_) | Work::Stopwatch(_) => false,
    };
    writes && target.writable && !target.direct
}

/// Writes back a span of a file piece by piece, then any remaining data, its metadata and the
/// drive's cache.
fn in_pieces(file: &File, span_bytes: u64, stop: &Stop) -> io::Result<()> {
    const FLAGS: u32 =
        libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    let piece_bytes = span_bytes.div_ceil(MOST_PIECES).next_multiple_of(LEAST_PIECE_BYTES);
    let mut from_bytes = 0;
    while from_bytes < span_bytes {
        let length_bytes = piece_bytes.min(span_bytes - from_bytes);
        match patiently(stop, || write_pages(file, from_bytes, length_bytes, FLAGS)) {
            // The kernel or the file system does not support this call.
            Err(error) if is_missing(&error) => break,
            written => written?,
        }
        from_bytes += length_bytes;
    }
    patiently(stop, || file.sync_all())
}

/// Repeats a call until it succeeds, or fails with a non-transient error.
fn patiently(stop: &Stop, mut call: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    let begun_ns = monotonic_ns();
    loop {
        if stop.is_asked() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match call() {
            Err(error) if is_passing(&error) && monotonic_ns() - begun_ns <= PATIENCE_NS => {}
            other => return other,
        }
    }
}

fn is_missing(error: &io::Error) -> bool {
    let missing = [Errno::NOSYS, Errno::OPNOTSUPP, Errno::INVAL, Errno::SPIPE].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|number| missing.contains(&number))
}

fn not_stored(error: &io::Error) -> Error {
    let what = text!(
        "the target failed to store buffered writes",
        "ページキャッシュ経由で書き込んだデータを、対象が保存できませんでした"
    );
    target_error(what, error)
}
