//! A stopwatch as a task of a run: the time from one mark to another.
//!
//! What is timed runs elsewhere: another computer that boots from the device, or a person with an
//! application. kurabe waits for the marks and looks for them every millisecond, which is the
//! precision of the time. What a console sent, which keys were pressed and which files existed
//! before the start does not count.
//!
//! Non-goals: the speed of a serial line, which `stty` sets, and data of the target, which the step
//! does not touch.

use crate::clock::{monotonic_ns, sleep_until};
use crate::context::{Context, progress};
use crate::real::Real;
use crate::task::{Attempt, Repeated};
use kurabe_core::profile::{StopwatchStep, TimeMark};
use kurabe_core::record::{Interval, Noise, Repetition};
use kurabe_core::{Error, ErrorKind, Result, Text, event::Event, number, shown, text};
use kurabe_program::{Foreground, Stop};
use rustix::fs::OFlags;
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind as IoErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Interval between two checks for a mark.
const POLL_NS: u64 = 1_000_000;
/// Interval of progress events.
const PROGRESS_NS: u64 = 100_000_000;
/// Terminal on which keys are pressed.
const TERMINAL: &str = "/dev/tty";

/// A measured time, on the clock of the run.
struct TimedSpan {
    start_ns: u64,
    end_ns: u64,
    noise: Noise,
}

impl Real<'_> {
    /// Waits for the start and then for the end.
    pub(crate) fn repeat_stopwatch(
        &self,
        context: &mut Context<'_>,
        step: &StopwatchStep,
        attempt: &Attempt,
    ) -> Result<Repeated> {
        let mut stop = Lookout::of(&step.stop)?;
        let TimedSpan { start_ns, end_ns, noise } = match &step.start {
            TimeMark::Program { command } => self.timed_by_program(context, step, command, &mut stop)?,
            start => {
                let mut start = Lookout::of(start)?;
                start.forget()?;
                context.emit(Event::Preparing { what: mark_words(&step.start) })?;
                while !start.is_seen()? {
                    context.interrupt.check()?;
                    sleep_until(monotonic_ns() + POLL_NS);
                }
                drop(start);
                stop.forget()?;
                self.await_end(context, step, &mut stop, monotonic_ns(), &|| false)?
            }
        };
        let repetition = Repetition {
            elapsed_ns: end_ns - start_ns,
            // The I/O of other processes may be the timed work.
            noise: Noise { other_read_bytes: None, other_write_bytes: None, ..noise },
            ..attempt.of(Repetition::default())
        };
        let started_ns = start_ns - context.started_ns;
        Ok(Repeated { engines: Vec::new(), repetitions: vec![Repetition { started_ns, ..repetition }] })
    }

    /// Starts a program, waits for the end, and then stops the program.
    fn timed_by_program(
        &self,
        context: &mut Context<'_>,
        step: &StopwatchStep,
        command: &[String],
        stop: &mut Lookout,
    ) -> Result<TimedSpan> {
        context.emit(Event::Preparing { what: mark_words(&step.start) })?;
        stop.forget()?;
        let (ending, has_failed) = (Stop::default(), AtomicBool::new(false));
        let run = || {
            let program = Foreground { words: command, is_silent: true, ..Foreground::default() };
            let ended = program.run(&ending).map(|_| ());
            has_failed.store(ended.is_err(), Ordering::Relaxed);
            ended
        };
        std::thread::scope(|scope| {
            let start_ns = monotonic_ns();
            let thread = std::thread::Builder::new().spawn_scoped(scope, run);
            let thread = thread.map_err(|error| Error::no_thread(&error))?;
            let failed = || has_failed.load(Ordering::Relaxed);
            let span = self.await_end(context, step, stop, start_ns, &failed);
            ending.ask();
            thread.join().map_err(|_| lost())??;
            span
        })
    }

    /// Waits for the end, and reports the time so far. `failed` returns whether the start has failed.
    fn await_end(
        &self,
        context: &mut Context<'_>,
        step: &StopwatchStep,
        stop: &mut Lookout,
        start_ns: u64,
        failed: &dyn Fn() -> bool,
    ) -> Result<TimedSpan> {
        let mark = self.noise.start();
        context.emit(Event::Preparing { what: mark_words(&step.stop) })?;
        let mut shown_ns = start_ns;
        loop {
            let now_ns = monotonic_ns();
            if stop.is_seen()? {
                return Ok(TimedSpan { start_ns, end_ns: monotonic_ns(), noise: self.noise.finish(mark) });
            }
            context.interrupt.check()?;
            if failed() {
                return Err(lost());
            }
            if now_ns - start_ns > step.limit_ns {
                return Err(too_long(step));
            }
            if now_ns - shown_ns >= PROGRESS_NS {
                context.emit(progress(now_ns - start_ns, Interval::default(), now_ns - shown_ns))?;
                shown_ns = now_ns;
            }
            sleep_until(now_ns + POLL_NS);
        }
    }
}

/// Looks for a mark.
enum Lookout {
    /// A terminal.
    Keys(File),
    /// A console with the text to find in it.
    Text(Console, Vec<u8>),
    /// A file that does not exist yet.
    File(String),
}

impl Lookout {
    /// Prepares to look for a mark.
    fn of(mark: &TimeMark) -> Result<Self> {
        Ok(match mark {
            TimeMark::Key { .. } => {
                Self::Keys(open_unblocked(TERMINAL).map_err(|error| no_terminal(&error))?)
            }
            TimeMark::Line { text, from } => Self::Text(Console::open(from)?, text.clone().into_bytes()),
            TimeMark::File { path } => Self::File(path.clone()),
            TimeMark::Program { .. } => return Err(lost()),
        })
    }

    /// Forgets what came before the start.
    fn forget(&mut self) -> Result<()> {
        match self {
            Self::Keys(terminal) => {
                let _ = tcflush(terminal, QueueSelector::IFlush);
                Ok(())
            }
            Self::Text(console, _) => {
                console.more()?;
                console.kept.clear();
                Ok(())
            }
            Self::File(path) if Path::new(path).exists() => Err(ErrorKind::Refused
                .error(text!(
                    "{path} exists already, so its appearance cannot be seen",
                    "{path} がすでにあるため、現れたことが分かりません"
                ))
                .remedy(text!(
                    "remove it before each repetition, or name another file",
                    "繰り返しのたびに消すか、別のファイルを指定してください"
                ))),
            Self::File(_) => Ok(()),
        }
    }

    /// Returns whether the mark has come.
    fn is_seen(&mut self) -> Result<bool> {
        match self {
            Self::Keys(terminal) => {
                let mut key = [0; 64];
                Ok(read_unblocked(terminal, &mut key).map_err(|error| no_terminal(&error))? > 0)
            }
            Self::Text(console, text) => {
                console.more()?;
                Ok(console.takes(text))
            }
            Self::File(path) => Ok(Path::new(path).exists()),
        }
    }
}

/// A serial console, a FIFO or a file that grows.
struct Console {
    file: File,
    path: String,
    /// Bytes that were read and not searched to their end.
    kept: Vec<u8>,
    /// Settings of a terminal before it was made raw, without which it would hold back a line that
    /// is not complete, such as a prompt.
    before: Option<Termios>,
}

impl Console {
    fn open(path: &str) -> Result<Self> {
        let cannot = |error: std::io::Error| cannot_read(path, &error);
        let mut file = open_unblocked(path).map_err(cannot)?;
        let kind = file.metadata().map_err(cannot)?.file_type();
        if kind.is_dir() || kind.is_block_device() {
            let path = shown::name(Path::new(path));
            return Err(ErrorKind::Usage.error(text!(
                "{path} is not a console: a character device, a FIFO or a file is expected",
                "{path} はコンソールではありません。キャラクターデバイス、FIFO、ファイルを指定してください"
            )));
        }
        if kind.is_file() {
            file.seek(SeekFrom::End(0)).map_err(cannot)?;
        }
        let before = tcgetattr(&file).ok();
        if let Some(before) = &before {
            let mut raw = before.clone();
            raw.make_raw();
            tcsetattr(&file, OptionalActions::Now, &raw).map_err(|error| cannot(error.into()))?;
        }
        Ok(Self { file, path: path.to_owned(), kept: Vec::new(), before })
    }

    /// Reads what has arrived.
    fn more(&mut self) -> Result<()> {
        let mut bytes = [0; 4096];
        loop {
            let read = read_unblocked(&mut self.file, &mut bytes);
            let count = read.map_err(|error| cannot_read(&self.path, &error))?;
            if count == 0 {
                return Ok(());
            }
            self.kept.extend_from_slice(&bytes[..count]);
        }
    }

    /// Returns whether the text has arrived. Only the bytes that may be its beginning are kept.
    fn takes(&mut self, text: &[u8]) -> bool {
        let is_seen = self.kept.windows(text.len()).any(|window| window == text);
        let begun = self.kept.len().saturating_sub(text.len() - 1);
        self.kept.drain(..begun);
        is_seen
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(&self.file, OptionalActions::Now, before);
        }
    }
}

fn cannot_read(path: &str, error: &std::io::Error) -> Error {
    let path = shown::name(Path::new(path));
    Error::os(text!("cannot read {path}", "{path} を読めません"), error)
}

fn open_unblocked(path: &str) -> std::io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
}

/// Reads the available bytes, without waiting for more.
fn read_unblocked(file: &mut File, bytes: &mut [u8]) -> std::io::Result<usize> {
    match file.read(bytes) {
        Err(error) if matches!(error.kind(), IoErrorKind::WouldBlock | IoErrorKind::Interrupted) => Ok(0),
        read => read,
    }
}

/// Describes the awaited mark.
fn mark_words(mark: &TimeMark) -> Text {
    match mark {
        TimeMark::Key { what } => text!("press Enter: {what}", "Enter キーを押してください: {what}"; what),
        TimeMark::Line { text: words, from } => {
            text!("waiting for \"{words}\" from {from}", "{from} から「{words}」が届くのを待っています")
        }
        TimeMark::File { path } => text!("waiting for the file {path}", "ファイル {path} を待っています"),
        TimeMark::Program { command } => {
            let command = command.join(" ");
            text!("starting `{command}`", "`{command}` を実行します")
        }
    }
}

fn too_long(step: &StopwatchStep) -> Error {
    let (limit, mark) = (number::planned_time(step.limit_ns), mark_words(&step.stop));
    ErrorKind::Target
        .error(
            text!("no end within {limit} ({mark})", "{limit} 以内に終わりませんでした({mark})"; limit, mark),
        )
        .remedy(text!(
            "check the mark in the profile, or raise its `limit`",
            "プロファイルの stop を確かめるか、`limit` を長くしてください"
        ))
}

fn no_terminal(error: &std::io::Error) -> Error {
    let what = text!("no terminal is available for the key press", "キーを押す端末がありません");
    Error::os(what, error).remedy(text!(
        "run it in a terminal, or use a `line` or a `file` as the mark",
        "端末で実行するか、目印に `line` か `file` を使ってください"
    ))
}

fn lost() -> Error {
    ErrorKind::Internal.error(text!("the stopwatch was lost", "ストップウォッチが失われました"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn line(text: &str, from: &Path) -> TimeMark {
        TimeMark::Line { text: text.to_owned(), from: from.to_str().unwrap().to_owned() }
    }

    #[test]
    fn a_text_counts_only_if_it_arrives_after_the_start_and_may_arrive_in_pieces() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("console");
        std::fs::write(&path, "login:").unwrap();
        let mut lookout = Lookout::of(&line("login:", &path)).unwrap();
        assert!(!lookout.is_seen().unwrap(), "it was there before");
        let mut console = OpenOptions::new().append(true).open(&path).unwrap();
        write!(console, "login:").unwrap();
        lookout.forget().unwrap();
        assert!(!lookout.is_seen().unwrap(), "it came before the start");
        write!(console, "welcome\nlog").unwrap();
        assert!(!lookout.is_seen().unwrap());
        write!(console, "in: ").unwrap();
        assert!(lookout.is_seen().unwrap());
    }

    #[test]
    fn a_file_must_not_be_there_before_and_then_appears() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ready");
        let mark = TimeMark::File { path: path.to_str().unwrap().to_owned() };
        let mut lookout = Lookout::of(&mark).unwrap();
        lookout.forget().unwrap();
        assert!(!lookout.is_seen().unwrap());
        std::fs::write(&path, "").unwrap();
        assert!(lookout.is_seen().unwrap());
        assert_eq!(lookout.forget().unwrap_err().kind(), ErrorKind::Refused);
    }

    #[test]
    fn a_folder_is_no_console() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Lookout::of(&line("x", dir.path())).err().unwrap().kind(), ErrorKind::Usage);
    }
}
