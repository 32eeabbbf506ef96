//! Runs a program and times it.
//!
//! A thread starts the program and sleeps until it has ended, so that the time is exact and not
//! that of a poll. The calling thread handles interrupts during that time. The program leads its
//! own process group, which signals from the terminal do not reach. The group is ended as a whole:
//! by SIGTERM, and by SIGKILL after a grace period. The program is reaped only after that, so its
//! process id cannot have been reused.
//!
//! The thread that starts the program also waits for it, so that the kernel kills it if kurabe is
//! killed.
//!
//! The environment has the search path and the time zone of the user, and fixed values otherwise.
//! The home directory is the work folder, which has no settings, and git is configured to run no
//! hooks and to ask no questions.
//!
//! The measured time includes the start of the process (about 1 ms). The output is read
//! continuously, and its end is kept for an error message.

use crate::missing::is_missing;
use crate::platform::{die_with_starter, signal_group};
use crate::stop::{Stop, interrupted};
use crate::{guard::Guard, worker::Worker};
use kurabe_core::{Error, ErrorKind, Result, record::CpuUse, text};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use std::io::{PipeReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use wait4::Wait4;

/// Interval at which interrupts are checked and progress is reported.
const TICK: Duration = Duration::from_millis(100);
/// Time that a program has to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(if cfg!(test) { 300 } else { 5000 });
/// Size of the end of the output that is kept.
const OUTPUT_KEPT_BYTES: usize = 4096;
/// Longest wait for the rest of the output after the end. Processes that the program left running
/// may keep it open.
const OUTPUT_AFTER_END: Duration = Duration::from_millis(200);
/// Identity for commits by git.
const GIT_NAME: &str = "kurabe";
const GIT_MAIL: &str = "kurabe@example.invalid";
/// Environment variables that programs inherit from the user.
const KEPT_NAMES: [&str; 3] = ["PATH", "TMPDIR", "TZ"];
/// Settings of git that override those of a repository, so that no code in a repository is run.
const GIT_SETTINGS: [(&str, &str); 5] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("credential.helper", ""),
];

/// Writes the standard input of a program.
pub(crate) type Feed<'a> = &'a (dyn Fn(&mut dyn Write) -> std::io::Result<()> + Sync);

/// A program to be run.
#[derive(Clone, Copy)]
pub(crate) struct Program<'a> {
    /// Program and arguments.
    pub(crate) words: &'a [String],
    /// Command line as a user would type it.
    pub(crate) shown: &'a str,
    /// Kills its processes if kurabe is killed.
    pub(crate) guard: Option<&'a Guard>,
    /// User as whom it runs.
    pub(crate) worker: Worker,
    /// Home directory.
    pub(crate) home: &'a Path,
    /// Configuration file of git, instead of the user's.
    pub(crate) git_config: &'a Path,
    /// Standard input; empty if `None`.
    pub(crate) feed: Option<Feed<'a>>,
    /// Whether it runs to its end even if the user stops the run.
    pub(crate) to_its_end: bool,
}

/// A program that ended successfully.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Time from before its start to its end.
    pub elapsed_ns: u64,
    /// CPU time of it and of the children it waited for.
    pub cpu: CpuUse,
}

/// A program that has ended and was not reaped yet.
struct Zombie {
    child: Child,
    elapsed_ns: u64,
}

/// Runs a program to its end. `live` is called about ten times a second with the elapsed time, on
/// the calling thread.
///
/// # Errors
/// `Interrupted` if the user ended it. Also if it cannot be started or fails.
pub(crate) fn run(program: Program<'_>, stop: &Stop, live: &mut dyn FnMut(u64)) -> Result<Ran> {
    let is_asked = || !program.to_its_end && stop.is_asked();
    if is_asked() {
        return Err(interrupted());
    }
    let cannot = |error: std::io::Error| cannot_start(program.shown, program.words, &error);
    let (mut command, output) = prepared(program).map_err(cannot)?;
    let output = collect(output).map_err(|error| Error::no_thread(&error))?;
    let (ended, fed) = std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        let (input_sender, input) = channel();
        let thread = std::thread::Builder::new;
        // The waiting thread is started second: the first one ends if that fails.
        let feeding = thread().spawn_scoped(scope, move || match (program.feed, input.recv()) {
            (Some(feed), Ok(mut input)) => feed(&mut input),
            _ => Ok(()),
        })?;
        let waiting = thread().spawn_scoped(scope, move || {
            let ended = start_and_wait(&mut command, stop, program.guard, &sender, &input_sender);
            // However the wait ended, the guard must not kill this group any more.
            program.guard.inspect(|guard| guard.forget());
            ended
        })?;
        listen(&receiver, &is_asked, live);
        Ok((waiting.join(), feeding.join()))
    })
    .map_err(|error: std::io::Error| Error::no_thread(&error))?;
    let ended = ended.map_err(|_| thread_lost())?.map_err(cannot)?;
    let asked = is_asked();
    if asked {
        // Kills the processes that the program left behind.
        signal_group(ended.child.id(), Signal::KILL);
    }
    stop.forget_group(ended.child.id());
    let used = ended.child.wait4().map_err(cannot)?;
    if asked {
        return Err(interrupted());
    }
    if !used.status.success() {
        return Err(failed(program.shown, used.status, &output.rest()));
    }
    // A program that ended successfully has read the input that it wanted.
    fed.map_err(|_| thread_lost())?.map_err(cannot)?;
    let [user_ns, system_ns] = [used.rusage.utime, used.rusage.stime].map(|time| time.as_nanos() as u64);
    Ok(Ran { elapsed_ns: ended.elapsed_ns, cpu: CpuUse { user_ns, system_ns } })
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
    set_environment(&mut command, program);
    program.worker.apply_to(&mut command);
    die_with_starter(&mut command);
    Ok((command, reader))
}

/// Sets a fixed environment with only the variables needed to find programs. Settings of the user
/// must not affect the result, nor the behaviour of programs that run as root.
fn set_environment(command: &mut Command, program: Program<'_>) {
    command.env_clear();
    for name in KEPT_NAMES {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    command
        .env("LC_ALL", "C")
        .envs([("HOME", program.home), ("XDG_CONFIG_HOME", program.home)])
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", program.git_config)
        .env("GIT_TEMPLATE_DIR", "")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_DEFAULT_HASH", "sha1")
        .envs([("GIT_AUTHOR_NAME", GIT_NAME), ("GIT_COMMITTER_NAME", GIT_NAME)])
        .envs([("GIT_AUTHOR_EMAIL", GIT_MAIL), ("GIT_COMMITTER_EMAIL", GIT_MAIL)])
        .env("GIT_CONFIG_COUNT", GIT_SETTINGS.len().to_string());
    for (number, (key, value)) in GIT_SETTINGS.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value);
    }
}

/// Starts the program and sleeps until it has ended, without reaping it.
fn start_and_wait(
    command: &mut Command,
    stop: &Stop,
    guard: Option<&Guard>,
    started: &Sender<u32>,
    input: &Sender<ChildStdin>,
) -> std::io::Result<Zombie> {
    let start = Instant::now();
    let mut child = command.spawn()?;
    let number = child.id();
    stop.add_group(number);
    guard.inspect(|guard| guard.watch(number));
    // The wait continues even if the receiver has gone.
    let _ = started.send(number);
    if let Some(pipe) = child.stdin.take() {
        let _ = input.send(pipe);
    }
    // This process's ends of the output must not keep it open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::io::retry_on_intr(|| waitid(WaitId::Pid(Pid::from_child(&child)), options))?;
    Ok(Zombie { child, elapsed_ns: start.elapsed().as_nanos() as u64 })
}

/// Reports progress until the program has ended, and ends it if the user stops the run.
fn listen(started: &Receiver<u32>, is_asked: &dyn Fn() -> bool, live: &mut dyn FnMut(u64)) {
    let start = Instant::now();
    let (mut group, mut asked_at): (Option<u32>, Option<Instant>) = (None, None);
    loop {
        match started.recv_timeout(TICK) {
            Ok(number) => {
                group = Some(number);
                continue;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return live(start.elapsed().as_nanos() as u64),
        }
        live(start.elapsed().as_nanos() as u64);
        match (group, asked_at) {
            (Some(group), None) if is_asked() => {
                // Sent once, because a program may be cleaning up.
                asked_at = Some(Instant::now());
                signal_group(group, Signal::TERM);
            }
            (Some(group), Some(asked_at)) if asked_at.elapsed() >= GRACE => signal_group(group, Signal::KILL),
            _ => {}
        }
    }
}

/// The output of a program, collected while it runs.
struct Collected {
    kept: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

/// Reads in a separate thread that may outlive the program, because processes it left running may
/// keep the output open.
fn collect(mut pipe: PipeReader) -> std::io::Result<Collected> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let (sender, end) = channel();
    let keep = Arc::clone(&kept);
    std::thread::Builder::new().spawn(move || {
        let mut buffer = [0; OUTPUT_KEPT_BYTES];
        while let Ok(length @ 1..) = pipe.read(&mut buffer) {
            let mut kept = keep.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&buffer[..length]);
            let surplus = kept.len().saturating_sub(OUTPUT_KEPT_BYTES);
            kept.drain(..surplus);
        }
        let _ = sender.send(());
    })?;
    Ok(Collected { kept, end })
}

impl Collected {
    /// Returns the end of the output.
    fn rest(&self) -> String {
        let _ = self.end.recv_timeout(OUTPUT_AFTER_END);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).trim().to_owned()
    }
}

/// Creates the error for a guard shell that cannot be started.
pub(crate) fn no_shell(error: &std::io::Error) -> Error {
    cannot_start("sh", &["sh".to_owned()], error)
}

fn cannot_start(line: &str, words: &[String], error: &std::io::Error) -> Error {
    let name = words.first().map_or("", String::as_str);
    if is_missing(name, error) {
        let message = text!(
            "cannot run `{line}`: {name} is not installed",
            "`{line}` を実行できません。{name} がインストールされていません"
        );
        return ErrorKind::Unsupported.error(message).remedy(text!(
            "install {name}, or add its folder to PATH",
            "{name} をインストールするか、PATH に加えてください"
        ));
    }
    let made = ErrorKind::Unsupported
        .error(text!("cannot run `{line}`", "`{line}` を実行できません"))
        .because(error);
    match error.kind() {
        // EAGAIN: the limit of processes is reached.
        std::io::ErrorKind::WouldBlock => made.remedy(text!(
            "raise the process limit (ulimit -u, the container's pids limit)",
            "プロセス数の上限(ulimit -u、コンテナーの pids 制限)を上げてください"
        )),
        _ => made,
    }
}

fn failed(line: &str, status: ExitStatus, output: &str) -> Error {
    let message = match (status.code(), status.signal()) {
        (Some(code), _) => {
            text!("`{line}` failed with exit code {code}", "`{line}` が終了コード {code} で失敗しました")
        }
        (None, signal) => {
            let signal = signal.unwrap_or(0);
            text!("`{line}` was ended by signal {signal}", "`{line}` がシグナル {signal} で終了しました")
        }
    };
    let made = ErrorKind::Io.error(message).remedy(text!(
        "run it by hand to see why; the profile contains the step",
        "手で実行して原因を確かめてください。このステップはプロファイルに書かれています"
    ));
    if output.is_empty() { made } else { made.because(output) }
}

fn thread_lost() -> Error {
    ErrorKind::Internal.error(text!("the thread of a program failed", "プログラムのスレッドが失敗しました"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_testkit::needs::needs;

    fn words(line: &[&str]) -> Vec<String> {
        line.iter().map(|word| (*word).to_owned()).collect()
    }

    fn program(words: &[String]) -> Program<'_> {
        Program {
            words,
            shown: "the program",
            guard: None,
            worker: Worker { other: None },
            home: Path::new("/"),
            git_config: Path::new("/dev/null"),
            feed: None,
            to_its_end: false,
        }
    }

    fn run_words(line: &[&str], feed: Option<Feed<'_>>, stop: &Stop) -> Result<Ran> {
        let words = words(line);
        run(Program { feed, ..program(&words) }, stop, &mut |_| {})
    }

    #[test]
    fn a_program_is_timed_and_its_cpu_time_is_its_own() {
        if !needs("sh") {
            return;
        }
        let start = Instant::now();
        let ran = run_words(&["sleep", "0.3"], None, &Stop::default()).unwrap();
        let around_ns = start.elapsed().as_nanos() as u64;
        assert!((300_000_000..=around_ns).contains(&ran.elapsed_ns), "{ran:?}");
        let asleep = ran.cpu.user_ns;
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let ran = run_words(&["sh", "-c", busy], None, &Stop::default()).unwrap();
        assert!(ran.cpu.user_ns > 10_000_000.max(asleep), "{ran:?}");
    }

    #[test]
    fn a_failure_tells_the_line_the_code_and_the_end_of_the_output() {
        if !needs("sh") {
            return;
        }
        let line = ["sh", "-c", "yes first | head -c 100000; echo last >&2; exit 3"];
        let error = run_words(&line, None, &Stop::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.what().en.contains("exit code 3") && error.what().en.contains("the program"));
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
        let text = error.what();
        assert!(text.en.contains("kurabe-no-such-program is not installed"), "{}", text.en);
        assert!(text.ja.contains("kurabe-no-such-program がインストールされていません"), "{}", text.ja);
        assert_eq!(error.cause(), None, "nothing is left to say in English alone");
    }

    fn is_alive(number: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        // An orphan that has ended is reaped by init.
        !stat.is_empty() && !stat.contains(") Z ")
    }

    #[test]
    fn a_stop_ends_the_program_and_all_that_it_started() {
        if !needs("sh") {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let note = dir.path().join("numbers");
        // The grandchild ignores SIGTERM.
        let script = format!(
            "sh -c 'trap \"\" TERM; echo $$ >> {0}; exec sleep 600' & echo $$ >> {0}; wait",
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
        let error = run(program(&line), &stop, &mut live).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        for number in numbers().lines() {
            // The kernel takes a while to end them. Otherwise they would live for ten minutes.
            let has_ended = (0..6000).any(|_| {
                std::thread::sleep(Duration::from_millis(10));
                !is_alive(number)
            });
            assert!(has_ended, "{number} lives on");
        }
    }

    #[test]
    fn two_runs_in_one_process_are_stopped_apart() {
        if !needs("sh") {
            return;
        }
        let (line, endless) = (words(&["sleep", "0.6"]), words(&["sleep", "600"]));
        let (first, second) = (Stop::default(), Stop::default());
        std::thread::scope(|scope| {
            let killed = scope.spawn(|| run(program(&endless), &first, &mut |_| first.kill_programs()));
            let left = scope.spawn(|| run(program(&line), &second, &mut |_| {}));
            assert_eq!(killed.join().unwrap().unwrap_err().kind(), ErrorKind::Io, "ended by signal 9");
            left.join().unwrap().unwrap();
        });
    }

    #[test]
    fn what_runs_to_its_end_is_not_stopped_and_yet_killed() {
        if !needs("sh") {
            return;
        }
        let line = words(&["sleep", "0.3"]);
        let stop = Stop::default();
        stop.ask();
        let to_its_end = Program { to_its_end: true, ..program(&line) };
        run(to_its_end, &stop, &mut |_| {}).unwrap();
        assert_eq!(run(program(&line), &stop, &mut |_| {}).unwrap_err().kind(), ErrorKind::Interrupted);
        let endless = words(&["sleep", "600"]);
        let to_its_end = Program { to_its_end: true, ..program(&endless) };
        assert!(run(to_its_end, &stop, &mut |_| stop.kill_programs()).is_err());
    }

    #[test]
    fn a_program_that_does_not_want_to_end_is_made_to() {
        if !needs("sh") {
            return;
        }
        let start = Instant::now();
        let line = words(&["sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"]);
        let stop = Stop::default();
        let error = run(program(&line), &stop, &mut |elapsed_ns| {
            if elapsed_ns > 150_000_000 {
                stop.ask();
            }
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Interrupted);
        assert!(start.elapsed() >= GRACE, "it was given time: {:?}", start.elapsed());
    }

    #[test]
    fn a_program_reads_what_it_is_fed_and_nothing_else() {
        if !needs("sh") {
            return;
        }
        let feed = |to: &mut dyn Write| (0..50_000).try_for_each(|line| writeln!(to, "{line}"));
        run_words(&["sh", "-c", "test $(wc -l) = 50000"], Some(&feed), &Stop::default()).unwrap();
        run_words(&["sh", "-c", "test $(wc -c) = 0"], None, &Stop::default()).unwrap();
    }

    #[test]
    fn what_stays_behind_holds_nobody_up() {
        if !needs("sh") {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let note = dir.path().join("number");
        // It keeps the output open.
        let script = format!("sleep 60 & echo $! > {}; exit 1", note.display());
        assert!(run_words(&["sh", "-c", &script], None, &Stop::default()).is_err());
        let number = std::fs::read_to_string(&note).unwrap();
        assert!(is_alive(number.trim()), "the run waited for its end");
        run_words(&["sh", "-c", &format!("kill {}", number.trim())], None, &Stop::default()).unwrap();
    }

    #[test]
    fn nothing_of_the_users_environment_takes_part() {
        if !needs("sh") {
            return;
        }
        // The variables that cargo sets for a test represent those of a user.
        let script = "test -z \"$CARGO_MANIFEST_DIR$GIT_DIR$USER\" && test \"$GIT_CONFIG_GLOBAL\" = /dev/null \
                      && test $LC_ALL = C && test $HOME = /";
        run_words(&["sh", "-c", script], None, &Stop::default()).unwrap();
    }

    #[test]
    fn no_hook_of_a_repository_is_run() {
        if !needs("git") || !needs("sh") {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_str().unwrap();
        run_words(&["git", "init", "--quiet", path], None, &Stop::default()).unwrap();
        assert!(!dir.path().join(".git/hooks").exists(), "git's templates take no part");
        let ran = dir.path().join("ran");
        let plant = format!(
            "mkdir {path}/.git/hooks; cd {path}/.git/hooks; printf '#!/bin/sh\ntouch {}' > post-commit; \
             chmod +x post-commit",
            ran.display()
        );
        run_words(&["sh", "-c", &plant], None, &Stop::default()).unwrap();
        let commit = ["git", "-C", path, "commit", "--quiet", "--allow-empty", "--message", "x"];
        run_words(&commit, None, &Stop::default()).unwrap();
        assert!(!ran.exists(), "a planted hook ran");
        // With hooks enabled it runs, so the test can fail.
        let script = format!("unset GIT_CONFIG_COUNT; {}", commit.join(" "));
        run_words(&["sh", "-c", &script], None, &Stop::default()).unwrap();
        assert!(ran.exists(), "the hook works");
    }
}
