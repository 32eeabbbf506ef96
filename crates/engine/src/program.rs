//! Running a program and timing it.
//!
//! The model: a thread starts the program and sleeps until it has ended, so that the time is that of the program and not
//! of somebody who looks now and then; the calling thread listens for the user meanwhile. The program leads a process
//! group of its own, which no key of the terminal reaches and which is ended as a whole: first asked to (SIGTERM), after a
//! while made to (SIGKILL). It is reaped only after that, so its number cannot have become another's.
//!
//! Its time goes from before its start to its end, the start of a process (about 1 ms) included. What it prints is read
//! all the time, and the end of it kept for an error.

use crate::clock::monotonic_ns;
use crate::command_line::shown;
use crate::driver::Stop;
use crate::session::interrupted;
use kurabe_core::record::CpuUse;
use kurabe_core::{Error, ErrorKind, Result, text};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::{PipeReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often the interrupt is looked at and progress is told.
const TICK: Duration = Duration::from_millis(100);
/// Time that a program gets to end after it was asked to.
const GRACE_NS: u64 = if cfg!(test) { 300_000_000 } else { 5_000_000_000 };
/// The end of the output that is kept.
const OUTPUT_KEPT_BYTES: usize = 4096;
/// Time in which the rest of the output comes after the end. What a program left running may hold it open for longer.
const OUTPUT_AFTER_END: Duration = Duration::from_millis(200);
/// Who commits where git is run.
const GIT_NAME: &str = "kurabe";
const GIT_MAIL: &str = "kurabe@example.invalid";

/// The process group of the program that runs now; 0: none.
static RUNNING: AtomicI32 = AtomicI32::new(0);

/// Ends the program of a `command` step that runs now, and all that it started, at once. For a way out that waits for
/// nothing; kurabe's own stop is gentler.
pub fn kill_running_program() {
    kill_group(RUNNING.load(Ordering::SeqCst), Signal::KILL);
}

/// Writes what a program reads.
pub(crate) type Feed<'a> = &'a (dyn Fn(&mut dyn Write, &Stop) -> std::io::Result<()> + Sync);

/// A program to be run.
#[derive(Clone, Copy)]
pub(crate) struct Program<'a> {
    /// The program and its arguments.
    pub(crate) words: &'a [String],
    /// git's own settings, in the place of the user's.
    pub(crate) git_config: &'a Path,
    /// What it reads; nothing if absent.
    pub(crate) feed: Option<Feed<'a>>,
}

/// A program that ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    /// From before its start to its end.
    pub(crate) elapsed_ns: u64,
    /// CPU time of it and of all that it waited for.
    pub(crate) cpu: CpuUse,
}

/// A program that ended, but still has its number.
struct Ended {
    child: Child,
    elapsed_ns: u64,
}

/// Runs a program to its end. `live` hears about ten times a second how long it has run, and is the last to hear.
///
/// # Errors
/// `Interrupted` when it was ended for the user; when it cannot be started or says that it failed.
pub(crate) fn run(program: Program<'_>, stop: &Stop, live: &mut dyn FnMut(u64)) -> Result<Ran> {
    let cannot = |error: std::io::Error| cannot_start(program.words, &error);
    let (mut command, output) = prepared(program).map_err(cannot)?;
    let cpu_before = cpu_of_ended();
    let output = collect(output);
    let (ended, fed) = std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        let (input_sender, input) = channel();
        let waiting = scope.spawn(move || start_and_wait(&mut command, &sender, &input_sender));
        let feeding = scope.spawn(move || match (program.feed, input.recv()) {
            (Some(feed), Ok(mut input)) => feed(&mut input, stop),
            _ => Ok(()),
        });
        listen(&receiver, stop, live);
        (waiting.join(), feeding.join())
    });
    let mut ended = ended.map_err(|_| thread_lost())?.map_err(cannot)?;
    let asked = stop.is_asked();
    if asked {
        // Those that the program left behind.
        kill_group(ended.child.id() as i32, Signal::KILL);
    }
    RUNNING.store(0, Ordering::SeqCst);
    let status = ended.child.wait().map_err(cannot)?;
    if asked {
        return Err(interrupted());
    }
    if !status.success() {
        return Err(failed(program.words, status, &output.rest()));
    }
    // A program that ended well has read what it wanted.
    fed.map_err(|_| thread_lost())?.map_err(cannot)?;
    let cpu = cpu_of_ended();
    let cpu = CpuUse {
        user_ns: cpu.user_ns.saturating_sub(cpu_before.user_ns),
        system_ns: cpu.system_ns.saturating_sub(cpu_before.system_ns),
    };
    Ok(Ran { elapsed_ns: ended.elapsed_ns, cpu })
}

fn prepared(program: Program<'_>) -> std::io::Result<(Command, PipeReader)> {
    let (first, arguments) = program.words.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    let (reader, writer) = std::io::pipe()?;
    let mut command = Command::new(first);
    command
        .args(arguments)
        .stdin(if program.feed.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0);
    // A repository that the user is in, or settings of theirs, must not take part.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", program.git_config)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_DEFAULT_HASH", "sha1")
        .envs([("GIT_AUTHOR_NAME", GIT_NAME), ("GIT_COMMITTER_NAME", GIT_NAME)])
        .envs([("GIT_AUTHOR_EMAIL", GIT_MAIL), ("GIT_COMMITTER_EMAIL", GIT_MAIL)]);
    Ok((command, reader))
}

/// Starts the program and sleeps until it has ended; it is not reaped.
fn start_and_wait(
    command: &mut Command,
    started: &Sender<i32>,
    input: &Sender<ChildStdin>,
) -> std::io::Result<Ended> {
    let start_ns = monotonic_ns();
    let mut child = command.spawn()?;
    let number = child.id() as i32;
    RUNNING.store(number, Ordering::SeqCst);
    // Nobody listening is no reason to stop waiting.
    let _ = started.send(number);
    if let Some(pipe) = child.stdin.take() {
        let _ = input.send(pipe);
    }
    // This side's ends of the output must not keep it open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(pid) = Pid::from_raw(number) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(error) = waitid(WaitId::Pid(pid), options) {
            if error != rustix::io::Errno::INTR {
                return Err(error.into());
            }
        }
    }
    Ok(Ended { child, elapsed_ns: monotonic_ns() - start_ns })
}

/// Tells progress until the program has ended, and ends it when the user wants that.
fn listen(started: &Receiver<i32>, stop: &Stop, live: &mut dyn FnMut(u64)) {
    let start_ns = monotonic_ns();
    let (mut group, mut asked_ns) = (0, None);
    loop {
        match started.recv_timeout(TICK) {
            Ok(number) => {
                group = number;
                continue;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return live(monotonic_ns() - start_ns),
        }
        let now_ns = monotonic_ns();
        live(now_ns - start_ns);
        match asked_ns {
            None if group != 0 && stop.is_asked() => {
                // Once: a program may be tidying up.
                asked_ns = Some(now_ns);
                kill_group(group, Signal::TERM);
            }
            Some(asked_ns) if now_ns - asked_ns >= GRACE_NS => kill_group(group, Signal::KILL),
            _ => {}
        }
    }
}

/// Sends a signal to a process group, if there is one.
fn kill_group(group: i32, signal: Signal) {
    // 1 is the system's; Pid takes no 0.
    if let Some(group) = Pid::from_raw(group).filter(|_| group > 1) {
        // It may have ended by itself just now.
        let _ = kill_process_group(group, signal);
    }
}

/// CPU time of all programs that were waited for, and of those that these waited for.
fn cpu_of_ended() -> CpuUse {
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(CpuUse::default(), |usage| CpuUse {
        user_ns: u64::try_from(usage.user_time().num_nanoseconds()).unwrap_or(0),
        system_ns: u64::try_from(usage.system_time().num_nanoseconds()).unwrap_or(0),
    })
}

/// What a program prints, as it comes.
struct Output {
    kept: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

/// Reads in a thread of its own, which may outlive the program: what it left running may hold the output open.
fn collect(mut pipe: PipeReader) -> Output {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let (sender, end) = channel();
    let keep = Arc::clone(&kept);
    std::thread::spawn(move || {
        let mut buffer = [0; OUTPUT_KEPT_BYTES];
        while let Ok(length @ 1..) = pipe.read(&mut buffer) {
            let mut kept = keep.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&buffer[..length]);
            let surplus = kept.len().saturating_sub(OUTPUT_KEPT_BYTES);
            kept.drain(..surplus);
        }
        let _ = sender.send(());
    });
    Output { kept, end }
}

impl Output {
    /// The end of all that was printed.
    fn rest(&self) -> String {
        let _ = self.end.recv_timeout(OUTPUT_AFTER_END);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).trim().to_owned()
    }
}

fn cannot_start(words: &[String], error: &std::io::Error) -> Error {
    let (line, name) = (shown(words), words.first().map_or("", String::as_str));
    let made = Error::new(ErrorKind::Unsupported, text!("cannot run `{line}`", "`{line}` を実行できません"))
        .because(error);
    match error.kind() {
        std::io::ErrorKind::NotFound => made.remedy(text!(
            "install {name}, or put it on the PATH",
            "{name} をインストールするか、PATH に加えてください"
        )),
        _ => made,
    }
}

fn failed(words: &[String], status: ExitStatus, output: &str) -> Error {
    let line = shown(words);
    let what = match (status.code(), status.signal()) {
        (Some(code), _) => {
            text!("`{line}` failed with exit code {code}", "`{line}` が終了コード {code} で失敗しました")
        }
        (None, signal) => {
            let signal = signal.unwrap_or(0);
            text!("`{line}` was ended by signal {signal}", "`{line}` がシグナル {signal} で終了しました")
        }
    };
    let made = Error::new(ErrorKind::Io, what).remedy(text!(
        "run it by hand to see why; the step is in the profile",
        "手で実行して原因を確かめてください。このステップはプロファイルに書かれています"
    ));
    if output.is_empty() { made } else { made.because(output) }
}

fn thread_lost() -> Error {
    Error::new(
        ErrorKind::Internal,
        text!("the thread of a program failed", "プログラムのスレッドが失敗しました"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[&str]) -> Vec<String> {
        line.iter().map(|word| (*word).to_owned()).collect()
    }

    fn run_words(line: &[&str], feed: Option<Feed<'_>>, stop: &Stop) -> Result<Ran> {
        let words = words(line);
        let program = Program { words: &words, git_config: Path::new("/dev/null"), feed };
        run(program, stop, &mut |_| {})
    }

    #[test]
    fn a_program_is_timed_and_its_cpu_time_is_its_own() {
        let ran = run_words(&["sleep", "0.3"], None, &Stop::default()).unwrap();
        assert!((300_000_000..5_000_000_000).contains(&ran.elapsed_ns), "{ran:?}");
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let ran = run_words(&["sh", "-c", busy], None, &Stop::default()).unwrap();
        assert!(ran.cpu.user_ns > 10_000_000, "{ran:?}");
    }

    #[test]
    fn a_failure_tells_the_line_the_code_and_the_end_of_the_output() {
        let line = ["sh", "-c", "yes first | head -c 100000; echo last >&2; exit 3"];
        let error = run_words(&line, None, &Stop::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.what().en.contains("exit code 3") && error.what().en.contains("sh -c 'yes"));
        let output = error.cause().unwrap();
        assert!(output.ends_with("last") && output.len() <= OUTPUT_KEPT_BYTES, "{}", output.len());
        let error = run_words(&["sh", "-c", "kill -9 $$"], None, &Stop::default()).unwrap_err();
        assert!(error.what().en.contains("signal 9"), "{}", error.what().en);
    }

    #[test]
    fn a_program_that_is_missing_is_said_to_be() {
        let error = run_words(&["kurabe-no-such-program"], None, &Stop::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.remedy_text().unwrap().en.contains("install kurabe-no-such-program"));
    }

    #[test]
    fn a_stop_ends_the_program_and_all_that_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let note = dir.path().join("numbers");
        // The grandchild does not hear the polite signal.
        let script = format!(
            "sh -c 'trap \"\" TERM; echo $$ >> {0}; exec sleep 60' & echo $$ >> {0}; wait",
            note.display()
        );
        let line = words(&["sh", "-c", &script]);
        let stop = Stop::default();
        let numbers = || std::fs::read_to_string(&note).unwrap_or_default();
        let mut live = |_| {
            if numbers().lines().count() == 2 {
                stop.ask();
            }
        };
        let program = Program { words: &line, git_config: Path::new("/dev/null"), feed: None };
        let error = run(program, &stop, &mut live).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        std::thread::sleep(Duration::from_millis(300));
        for number in numbers().lines() {
            let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
            // The grandchild is the init process's to reap.
            assert!(stat.is_empty() || stat.contains(") Z "), "{number} lives on: {stat}");
        }
    }

    #[test]
    fn a_program_that_does_not_want_to_end_is_made_to() {
        let start_ns = monotonic_ns();
        let line = words(&["sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"]);
        let stop = Stop::default();
        let program = Program { words: &line, git_config: Path::new("/dev/null"), feed: None };
        let error = run(program, &stop, &mut |elapsed_ns| {
            if elapsed_ns > 150_000_000 {
                stop.ask();
            }
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Interrupted);
        let elapsed_ns = monotonic_ns() - start_ns;
        assert!((GRACE_NS..20_000_000_000).contains(&elapsed_ns), "{elapsed_ns}");
    }

    #[test]
    fn a_program_reads_what_it_is_fed_and_nothing_else() {
        let feed = |to: &mut dyn Write, _: &Stop| (0..50_000).try_for_each(|line| writeln!(to, "{line}"));
        run_words(&["sh", "-c", "test $(wc -l) = 50000"], Some(&feed), &Stop::default()).unwrap();
        run_words(&["sh", "-c", "test $(wc -c) = 0"], None, &Stop::default()).unwrap();
    }

    #[test]
    fn what_stays_behind_holds_nobody_up() {
        let start_ns = monotonic_ns();
        let script = "sleep 3 & exit 1";
        assert!(run_words(&["sh", "-c", script], None, &Stop::default()).is_err());
        assert!(monotonic_ns() - start_ns < 2_500_000_000);
    }

    #[test]
    fn settings_of_the_user_take_no_part() {
        let script = "test \"$GIT_CONFIG_GLOBAL\" = /dev/null && test $LC_ALL = C && test -z \"$GIT_DIR\"";
        run_words(&["sh", "-c", script], None, &Stop::default()).unwrap();
    }
}
