//! The loop of a copy: read a piece, write that piece, and repeat, with an fsync at the end if
//! requested.
//!
//! A copy has two sides. One may be absent (discarding what is read, or writing the same data
//! repeatedly), and one may be uncounted (memory, in a copy to or from the target). An ordinary
//! copy reads and writes each piece with system calls, so reads and writes are never in flight at
//! once. The page cache determines how much they overlap on the device. The host of a model reads
//! several pieces before it writes them (`model_copy`). The choice of files and the purpose of a
//! copy are not part of this module.

use crate::{drive::recorder::Recorder, drive::rest::PATIENCE_NS};
use kurabe_core::{Error, ErrorKind, Result, profile::CopyPart, text, workload::OpKind};
use kurabe_program::Stop;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The source and the destination of a copy.
pub(crate) trait CopyEnds {
    /// Returns the time in ns, on a clock that never goes back.
    fn now_ns(&mut self) -> u64;
    /// Reads or writes `length_bytes` of a side in full, after the bytes that are already done.
    ///
    /// # Errors
    /// Fails if the side fails or ends too early.
    fn carry(&mut self, kind: OpKind, side: CopySide, done_bytes: u64, length_bytes: u64) -> Result<()>;
    /// Makes the written data durable.
    ///
    /// # Errors
    /// Fails if the sync fails.
    fn sync(&mut self) -> Result<()>;
}

/// One side of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopySide {
    /// First byte of the side.
    pub(crate) from_bytes: u64,
    /// Whether its operations are recorded.
    pub(crate) counted: bool,
}

/// The parameters of a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    /// Total number of bytes.
    pub(crate) size_bytes: u64,
    /// Bytes read before they are written.
    pub(crate) turn_bytes: u64,
    /// The source. If `None`, the same bytes are written repeatedly.
    pub(crate) source: Option<CopySide>,
    /// The destination. If `None`, the bytes read are discarded.
    pub(crate) destination: Option<CopySide>,
    /// Whether the copy ends with an fsync that is part of its time.
    pub(crate) sync: bool,
}

impl Pass {
    /// Returns the parameters of a part. `to_bytes` is the start of a copy on the target.
    pub(crate) fn of(part: CopyPart, size_bytes: u64, turn_bytes: u64, to_bytes: u64) -> Self {
        let memory = CopySide { from_bytes: 0, counted: false };
        let counted = CopySide { from_bytes: 0, counted: true };
        let copy = CopySide { from_bytes: to_bytes, counted: true };
        let (source, destination) = match part {
            CopyPart::MemoryRead => (Some(counted), None),
            CopyPart::MemoryWrite => (None, Some(counted)),
            CopyPart::FromMemory => (Some(memory), Some(copy)),
            CopyPart::ToMemory => (Some(counted), Some(memory)),
            CopyPart::Within => (Some(counted), Some(copy)),
        };
        let sync = matches!(part, CopyPart::FromMemory | CopyPart::Within);
        Self { size_bytes, turn_bytes, source, destination, sync }
    }
}

/// The outcome of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Copied {
    /// Total duration in ns, including the fsync.
    pub(crate) elapsed_ns: u64,
    /// Duration of the fsync in ns.
    pub(crate) end_sync_ns: Option<u64>,
}

/// Copies all data turn by turn.
///
/// # Errors
/// Fails if a side fails or the user stops the run.
pub(crate) fn copy(ends: &mut impl CopyEnds, pass: &Pass, stop: &Stop) -> Result<Copied> {
    let start_ns = ends.now_ns();
    let mut done_bytes = 0;
    while done_bytes < pass.size_bytes {
        stop.check()?;
        let length_bytes = pass.turn_bytes.min(pass.size_bytes - done_bytes);
        for (kind, side) in [(OpKind::Read, pass.source), (OpKind::Write, pass.destination)] {
            if let Some(side) = side {
                ends.carry(kind, side, done_bytes, length_bytes)?;
            }
        }
        done_bytes += length_bytes;
    }
    let copied_ns = ends.now_ns();
    if pass.sync {
        ends.sync()?;
    }
    let ended_ns = ends.now_ns();
    Ok(Copied { elapsed_ns: ended_ns - start_ns, end_sync_ns: pass.sync.then_some(ended_ns - copied_ns) })
}

/// The system calls of an ordinary copy.
pub(crate) trait CopyCalls {
    /// Returns the time in ns, on a clock that never goes back.
    fn now_ns(&mut self) -> u64;
    /// Reads at an offset of the source. Returns 0 at its end.
    fn read(&mut self, offset_bytes: u64, bytes: &mut [u8]) -> io::Result<usize>;
    /// Writes at an offset of the destination.
    fn write(&mut self, offset_bytes: u64, bytes: &[u8]) -> io::Result<usize>;
    /// Makes the written data durable.
    fn sync(&mut self) -> io::Result<()>;
}

/// A copy with system calls through a buffer, which is as long as a turn.
pub(crate) struct ByCalls<'a, C> {
    calls: &'a mut C,
    buffer: &'a mut [u8],
    recorder: &'a mut Recorder,
    start_ns: u64,
}

impl<'a, C: CopyCalls> ByCalls<'a, C> {
    pub(crate) fn new(calls: &'a mut C, buffer: &'a mut [u8], recorder: &'a mut Recorder) -> Self {
        let start_ns = calls.now_ns();
        Self { calls, buffer, recorder, start_ns }
    }
}

impl<C: CopyCalls> CopyEnds for ByCalls<'_, C> {
    fn now_ns(&mut self) -> u64 {
        self.calls.now_ns()
    }

    /// Performs one operation with as many calls as it takes.
    fn carry(&mut self, kind: OpKind, side: CopySide, done_bytes: u64, length_bytes: u64) -> Result<()> {
        let Self { calls, buffer, recorder, start_ns } = self;
        let bytes = &mut buffer[..length_bytes as usize];
        let (offset_bytes, from_ns) = (side.from_bytes + done_bytes, calls.now_ns());
        if side.counted {
            recorder.submitted(kind);
        }
        let (mut moved, mut moved_at_ns) = (0, from_ns);
        while moved < bytes.len() {
            let at = offset_bytes + moved as u64;
            let outcome = match kind {
                OpKind::Read => calls.read(at, &mut bytes[moved..]),
                OpKind::Write | OpKind::Sync | OpKind::Trim => calls.write(at, &bytes[moved..]),
            };
            match outcome {
                Ok(0) => return Err(ended(kind, at)),
                Ok(length) => (moved, moved_at_ns) = (moved + length, calls.now_ns()),
                Err(error) if is_passing(&error) && calls.now_ns() - moved_at_ns <= PATIENCE_NS => {}
                Err(error) => return Err(failed(kind, at, &error)),
            }
        }
        if side.counted {
            let (from_ns, now_ns) = (from_ns - *start_ns, moved_at_ns - *start_ns);
            recorder.completed(kind, offset_bytes, moved as u32, from_ns, now_ns);
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.calls.sync().map_err(|error| {
            Error::os(text!("cannot write the copy back (fsync)", "コピーを書き戻せません(fsync)"), &error)
        })
    }
}

/// Returns whether a call with this error must be retried.
pub(crate) fn is_passing(error: &io::Error) -> bool {
    [io::ErrorKind::Interrupted, io::ErrorKind::WouldBlock].contains(&error.kind())
}

fn failed(kind: OpKind, offset_bytes: u64, error: &io::Error) -> Error {
    let what = match kind {
        OpKind::Read => text!(
            "cannot read the source of the copy at byte {offset_bytes}",
            "コピー元を読み出せません(位置 {offset_bytes} バイト)"
        ),
        _ => text!(
            "cannot write the copy at byte {offset_bytes}",
            "コピー先に書き込めません(位置 {offset_bytes} バイト)"
        ),
    };
    Error::os(what, error)
}

fn ended(kind: OpKind, offset_bytes: u64) -> Error {
    let what = match kind {
        OpKind::Read => text!(
            "the source of the copy ends at byte {offset_bytes}",
            "コピー元が {offset_bytes} バイトで終わっています"
        ),
        _ => text!(
            "the copy accepts no more data at byte {offset_bytes}",
            "コピー先の {offset_bytes} バイト以降に書き込めません"
        ),
    };
    ErrorKind::Io.error(what)
}

/// Two files. They are the same one if data is copied within a file.
pub(crate) struct FilePair<'a> {
    /// The source file.
    pub(crate) source: &'a File,
    /// The destination file.
    pub(crate) destination: &'a File,
}

impl CopyCalls for FilePair<'_> {
    fn now_ns(&mut self) -> u64 {
        crate::clock::monotonic_ns()
    }

    fn read(&mut self, offset_bytes: u64, bytes: &mut [u8]) -> io::Result<usize> {
        self.source.read_at(bytes, offset_bytes)
    }

    fn write(&mut self, offset_bytes: u64, bytes: &[u8]) -> io::Result<usize> {
        self.destination.write_at(bytes, offset_bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.destination.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logs calls. A call takes 1 ms, a sync 5 ms.
    struct Listed<'a> {
        now_ns: u64,
        calls: Vec<String>,
        /// Bytes that the next write accepts, if not all.
        short_write: Option<usize>,
        /// Whether a signal interrupts the next read.
        signalled: bool,
        source_bytes: u64,
        /// Requested to stop in the third call.
        stop: Option<&'a Stop>,
    }

    impl Listed<'_> {
        fn new() -> Self {
            Self {
                now_ns: 100,
                calls: Vec::new(),
                short_write: None,
                signalled: false,
                source_bytes: u64::MAX,
                stop: None,
            }
        }

        fn list(&mut self, call: String) {
            self.now_ns += 1_000_000;
            self.calls.push(call);
            if let Some(stop) = self.stop.filter(|_| self.calls.len() == 3) {
                stop.ask();
            }
        }
    }

    impl CopyCalls for Listed<'_> {
        fn now_ns(&mut self) -> u64 {
            self.now_ns
        }

        fn read(&mut self, offset_bytes: u64, bytes: &mut [u8]) -> io::Result<usize> {
            if std::mem::take(&mut self.signalled) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let length = (self.source_bytes.saturating_sub(offset_bytes) as usize).min(bytes.len());
            self.list(format!("read {offset_bytes} {length}"));
            Ok(length)
        }

        fn write(&mut self, offset_bytes: u64, bytes: &[u8]) -> io::Result<usize> {
            let length = self.short_write.take().unwrap_or(bytes.len());
            self.list(format!("write {offset_bytes} {length}"));
            Ok(length)
        }

        fn sync(&mut self) -> io::Result<()> {
            self.now_ns += 4_000_000;
            self.list("fsync".to_owned());
            Ok(())
        }
    }

    const COUNTED: CopySide = CopySide { from_bytes: 0, counted: true };
    const WITHIN: Pass = Pass {
        size_bytes: 250,
        turn_bytes: 100,
        source: Some(COUNTED),
        destination: Some(CopySide { from_bytes: 1000, counted: true }),
        sync: true,
    };

    fn run(pair: &mut Listed<'_>, pass: &Pass) -> (Result<Copied>, kurabe_core::record::Repetition) {
        let mut recorder = Recorder::new(None);
        let copied = copy(&mut ByCalls::new(pair, &mut [0; 100], &mut recorder), pass, &Stop::default());
        (copied, Recorder::merge(&[recorder]))
    }

    #[test]
    fn a_copy_reads_a_piece_and_writes_it_and_syncs_at_the_end() {
        let mut pair = Listed::new();
        let (copied, recorded) = run(&mut pair, &WITHIN);
        let calls = [
            "read 0 100",
            "write 1000 100",
            "read 100 100",
            "write 1100 100",
            "read 200 50",
            "write 1200 50",
            "fsync",
        ];
        assert_eq!(pair.calls, calls);
        let copied = copied.unwrap();
        assert_eq!((copied.elapsed_ns, copied.end_sync_ns), (11_000_000, Some(5_000_000)));
        assert_eq!((recorded.read.bytes, recorded.read.completed), (250, 3));
        assert_eq!((recorded.write.bytes, recorded.write.completed), (250, 3));
        assert_eq!(recorded.read.latency.max_ns, 1_000_000);
        assert_eq!(recorded.sync.completed, 0);
    }

    #[test]
    fn a_side_in_memory_moves_bytes_but_is_not_counted() {
        let mut pair = Listed::new();
        let source = Some(CopySide { counted: false, ..COUNTED });
        let (copied, recorded) = run(&mut pair, &Pass { source, sync: false, ..WITHIN });
        assert_eq!(pair.calls.len(), 6);
        assert_eq!(copied.unwrap().end_sync_ns, None);
        assert_eq!((recorded.read.bytes, recorded.write.bytes), (0, 250));
    }

    #[test]
    fn one_side_alone_is_read_or_written() {
        let mut pair = Listed::new();
        let (_, recorded) = run(&mut pair, &Pass { destination: None, sync: false, ..WITHIN });
        assert_eq!(pair.calls, ["read 0 100", "read 100 100", "read 200 50"]);
        assert_eq!((recorded.read.bytes, recorded.write.bytes), (250, 0));
        let mut pair = Listed::new();
        run(&mut pair, &Pass { source: None, sync: false, ..WITHIN }).0.unwrap();
        assert_eq!(pair.calls, ["write 1000 100", "write 1100 100", "write 1200 50"]);
    }

    #[test]
    fn a_short_write_is_finished_before_the_next_read() {
        let mut pair = Listed { short_write: Some(30), signalled: true, ..Listed::new() };
        let (copied, recorded) = run(&mut pair, &WITHIN);
        copied.unwrap();
        // One operation, regardless of the number of calls.
        assert_eq!((recorded.write.completed, recorded.write.latency.max_ns), (3, 2_000_000));
        assert_eq!(pair.calls[..4], ["read 0 100", "write 1000 30", "write 1030 70", "read 100 100"]);
    }

    #[test]
    fn a_source_that_ends_early_is_an_error() {
        let mut pair = Listed { source_bytes: 120, ..Listed::new() };
        let error = run(&mut pair, &WITHIN).0.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.what().en.contains("byte 120"), "{}", error.what().en);
    }

    #[test]
    fn a_stop_is_heard_after_the_piece_under_way() {
        let stop = Stop::default();
        let mut pair = Listed { stop: Some(&stop), ..Listed::new() };
        let (mut buffer, mut recorder) = ([0; 100], Recorder::new(None));
        let error =
            copy(&mut ByCalls::new(&mut pair, &mut buffer, &mut recorder), &WITHIN, &stop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        assert_eq!(pair.calls, ["read 0 100", "write 1000 100", "read 100 100", "write 1100 100"]);
    }
}
