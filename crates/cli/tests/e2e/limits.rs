//! Limits of the process and of the system: each causes an error with a remedy, never a panic, and
//! nothing is left behind.

use crate::lab::{Ended, Lab, Live, ONE_CELL, binary, names, notices, text};
use crate::system::system;
use kurabe_testkit::needs::{needs, skip};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use std::os::unix::fs::chown;
use std::process::Command;

/// The first of the user ids of the tests. Each test has its own, because the limit on processes
/// counts per user.
const FIRST_USER: u32 = 64_321;
/// Flag of `clone` that is set for threads but not for processes.
const CLONE_THREAD: u64 = 0x1_0000;

/// Returns a filter that makes a system call fail with an error number if its first argument has
/// all of these bits set.
pub fn filter(call: i64, bits: Option<u64>, error: i32) -> BpfProgram {
    let rules = bits.map_or(Vec::new(), |bits| {
        let has_bits = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(bits), bits)
            .expect("a condition");
        vec![SeccompRule::new(vec![has_bits]).expect("a rule")]
    });
    let arch = std::env::consts::ARCH.try_into().expect("an architecture");
    SeccompFilter::new([(call, rules)].into(), SeccompAction::Allow, SeccompAction::Errno(error as u32), arch)
        .and_then(TryInto::try_into)
        .expect("a filter")
}

/// Runs a program under filters.
pub fn run_under(command: Command, filters: &[BpfProgram]) -> Ended {
    let before =
        || filters.iter().for_each(|filter| seccompiler::apply_filter(filter).expect("a filter is set"));
    Live::start_after(command, before).end()
}

fn no_threads() -> [BpfProgram; 2] {
    [
        // The C library then falls back to the older call.
        filter(libc::SYS_clone3, None, libc::ENOSYS),
        filter(libc::SYS_clone, Some(CLONE_THREAD), libc::EAGAIN),
    ]
}

/// Runs kurabe under a limit of `prlimit`. For a limit that does not apply to root, it runs as the
/// test's own user.
fn limited(lab: &Lab, test: u32, limit: &str, words: &[&str]) -> Option<Ended> {
    let number = FIRST_USER + test;
    let user = format!("--reuid={number}");
    let (prlimit, setpriv) = (["prlimit", limit], ["setpriv", &user, "--clear-groups"]);
    let is_per_user = limit.starts_with("--nproc") || limit.starts_with("--memlock");
    let wrapper = if is_per_user { [&prlimit[..], &setpriv].concat() } else { prlimit.to_vec() };
    if is_per_user {
        let home = lab.beside("");
        for path in [home, lab.target()] {
            let _ = chown(path, Some(number), None);
        }
    }
    let [program, arguments @ ..] = &wrapper[..] else { return None };
    if system(program, &[arguments, &[binary(), "--version"]].concat()).is_none() {
        skip(if is_per_user { "needs root, prlimit and setpriv" } else { "prlimit is not installed" });
        return None;
    }
    Some(Live::start(lab.wrapped(&wrapper, words)).end())
}

#[track_caller]
fn has_no_panic(ended: &Ended) {
    for words in ["panicked", "memory allocation of", "RUST_BACKTRACE"] {
        assert!(!ended.err.contains(words), "{ended:#?}");
    }
    assert!(ended.code().is_some(), "ended by a signal: {ended:#?}");
}

#[test]
fn without_threads_a_run_is_refused() {
    let lab = Lab::new();
    let target = lab.target();
    let words = [&["run", text(&target)], &ONE_CELL[..]].concat();
    let ended = run_under(lab.command(&words), &no_threads());
    ended.is_refusal(10, &["cannot start a thread", "ulimit -u"]);
    assert_eq!(names(&lab.target()), [] as [&str; 0]);
}

#[test]
fn what_is_computed_by_several_threads_is_refused_without_them() {
    let lab = Lab::new();
    lab.kurabe(&["run", "model:rascsi", "--profile", "quick"]).ok();
    let ended = run_under(lab.command(&["why", "last"]), &no_threads());
    has_no_panic(&ended);
    ended.is_refusal(10, &["cannot start a thread", "ulimit -u"]);
    for words in [&["show", "last"][..], &["recommend", "last"], &["fit", "last"], &["models"], &["list"]] {
        has_no_panic(&run_under(lab.command(words), &no_threads()));
    }
}

#[test]
fn a_queue_of_threads_that_the_limit_does_not_allow_is_an_error() {
    let lab = Lab::new();
    let target = lab.target();
    let words =
        ["run", text(&target), "--engine", "threads", "--iodepth", "32", "--size", "4m", "--time", "1s"];
    let Some(ended) = limited(&lab, 1, "--nproc=16", &words) else { return };
    ended.is_refusal(10, &["cannot start a thread", "--iodepth", "ulimit -u"]);
    assert_eq!(names(&target), [] as [&str; 0]);
    // This many threads can be started.
    let words =
        ["run", text(&target), "--engine", "threads", "--iodepth", "4", "--size", "4m", "--time", "100ms"];
    limited(&lab, 1, "--nproc=16", &words).expect("not skipped").ok();
}

/// Many distributions let a user lock 64 KiB. Recent kernels count rings as locked memory, also those
/// that were closed some milliseconds ago.
#[test]
fn rings_that_the_limit_does_not_allow_are_replaced_and_closed_ones_do_not_count() {
    let lab = Lab::new();
    let target = lab.target();
    let run = |words: &[&str]| {
        let short = ["--size", "16m", "--time", "20ms", "--runs", "2"];
        limited(&lab, 6, "--memlock=65536", &[&["run", text(&target)], words, &short].concat())
    };
    let Some(all) = run(&["--profile", "quick"]) else { return };
    all.ok();
    let many = run(&["--rw", "randread", "--iodepth", "32", "--threads", "16"]).expect("not skipped").ok();
    let is_replaced = many.err.contains("so pread/pwrite is used");
    assert!(!is_replaced || many.err.contains("ulimit -l"), "{many:#?}");
}

#[test]
fn copies_and_programs_without_threads_are_errors() {
    let lab = Lab::new();
    let target = lab.target();
    let copy = ["run", text(&target), "--profile", "delay-ratio", "--size", "16m", "--runs", "1"];
    // The supervisor, and in the worker the main thread and the thread that listens for signals.
    let Some(ended) = limited(&lab, 2, "--nproc=3", &copy) else { return };
    ended.is_refusal(10, &["cannot start a thread", "ulimit -u"]);
    assert_eq!(names(&target), [] as [&str; 0]);
    let profile = lab.write(
        "program.toml",
        "schema = 1\nname = \"c\"\ntitle = { en = \"c\", ja = \"c\" }\nstatistic = \"mean\"\n[rules]\n\
         size = \"1 MiB\"\nruns = 1\ntime = \"1 s\"\n[[step]]\nkind = \"command\"\ncommand = [\"true\"]\n",
    );
    for limit in 2..7 {
        let words = ["run", text(&target), "--profile", text(&profile)];
        let ended = limited(&lab, 2, &format!("--nproc={limit}"), &words).expect("not skipped");
        ended.is_refusal(10, &["ulimit -u"]);
        assert_eq!(names(&target), [] as [&str; 0], "{limit}");
    }
}

#[test]
#[ignore = "slow"]
fn a_study_is_computed_by_the_threads_there_are_and_says_so() {
    let lab = Lab::new();
    let words = ["study", "run", "raid-strip", "--part", "strip-100mb", "--threads", "8", "--json"];
    let Some(ended) = limited(&lab, 3, "--nproc=4", &words) else { return };
    let few = ended.ok();
    assert!(few.err.contains("computed by 2 of 8 threads"), "{few:#?}");
    let many = lab.kurabe(&words).ok();
    assert_eq!(few.out, many.out, "the result is the same");
    assert_eq!(many.err, "");
}

#[test]
#[ignore = "slow"]
fn too_little_address_space_is_an_error_wherever_it_ends() {
    let lab = Lab::new();
    let target = lab.target();
    let buffers =
        ["run", text(&target), "--engine", "threads", "--bs", "64m", "--iodepth", "16", "--size", "1g"];
    let Some(ended) = limited(&lab, 4, "--as=600000000", &[&buffers[..], &["--rw", "read"]].concat()) else {
        return;
    };
    has_no_panic(&ended);
    ended.is_refusal(8, &["no memory", "--iodepth"]);
    assert_eq!(names(&target), [] as [&str; 0]);
    for (engine, mib) in ["uring", "threads"].into_iter().flat_map(|engine| {
        [100, 200, 255, 256, 257, 260, 270, 280, 300, 400, 600, 1000].map(|mib: u64| (engine, mib))
    }) {
        let limit = format!("--as={}", mib << 20);
        let words =
            ["run", text(&target), "--engine", engine, "--bs", "1m", "--iodepth", "48", "--size", "16m"];
        let words = [&words[..], &["--time", "50ms", "--rw", "randread"]].concat();
        let ended = limited(&lab, 4, &limit, &words).expect("not skipped");
        has_no_panic(&ended);
        if ended.code() != Some(0) {
            ended.is_refusal(if mib < 256 { 10 } else { ended.code().unwrap_or_default() }, &[]);
        }
        assert!(mib < 1000 || ended.code() == Some(0), "{ended:#?}");
        assert_eq!(names(&target), [] as [&str; 0], "{engine} {mib}");
    }
}

#[test]
fn a_file_that_becomes_too_large_is_an_error_and_not_the_end() {
    let lab = Lab::new();
    let target = lab.target();
    for words in [&ONE_CELL[..], &["--profile", "delay-ratio", "--size", "16m", "--runs", "1"]] {
        let words = [&["run", text(&target)], words].concat();
        let Some(ended) = limited(&lab, 5, "--fsize=2000000", &words) else { return };
        has_no_panic(&ended);
        ended.is_refusal(7, &["File too large", "ulimit -f", "--size"]);
        assert_eq!(names(&target), [] as [&str; 0]);
    }
    // The limit is too small for a store, which is also reported.
    let lab = Lab::new();
    let target = lab.target();
    let words = [&["run", text(&target)], &ONE_CELL[..]].concat();
    let ended = limited(&lab, 5, "--fsize=16384", &words).expect("not skipped");
    has_no_panic(&ended);
    assert_eq!(ended.code(), Some(9), "{ended:#?}");
    assert_eq!(names(&lab.target()), [] as [&str; 0]);
}

#[test]
fn a_path_longer_than_the_system_takes_is_an_error() {
    if !needs("sh") {
        return;
    }
    let lab = Lab::new();
    let part = "d".repeat(250);
    // Created step by step, because no system call accepts the whole path.
    let script = format!(
        "cd {} && for i in $(seq 20); do mkdir {part} && cd -P {part} || exit; done; exec \"$@\"",
        text(&lab.target())
    );
    let run = |words: &[&str]| Live::start(lab.wrapped(&["sh", "-c", &script, "sh"], words)).end();
    let ended = run(&["run", ".", "--size", "4m", "--time", "100ms"]);
    has_no_panic(&ended);
    ended.is_refusal(4, &["(os error 36)", "shorter"]);
    system("rm", &["-rf", text(&lab.target().join(&part))]).expect("removed");
    // Other commands do not need the path of the current directory.
    lab.kurabe(&["list"]).ok();
    let ended = run(&["profiles"]);
    assert_eq!(ended.code(), Some(0), "{ended:#?}");
    system("rm", &["-rf", text(&lab.target().join(&part))]).expect("removed");
    let ended = lab.kurabe(&["run", &"x".repeat(300)]);
    ended.is_refusal(4, &["(os error 36)"]);
}

#[test]
fn a_ring_that_may_be_made_and_not_entered_is_left_alone() {
    let lab = Lab::new();
    let target = lab.target();
    let no_entry = [filter(libc::SYS_io_uring_enter, None, libc::EPERM)];
    let words =
        ["run", text(&target), "--rw", "randread", "--size", "4m", "--time", "100ms", "--iodepth", "8"];
    let auto = run_under(lab.command(&words), &no_entry).ok();
    assert!(auto.err.contains("uring") && auto.err.contains("Operation not permitted"), "{auto:#?}");
    let record = lab.record("last");
    assert_eq!(record["cells"][0]["engine"]["name"], "threads");
    let fallbacks = notices(&record, "engine_fallback");
    assert!(fallbacks.iter().any(|words| words.contains("uring")), "{fallbacks:?}");
    let fixed = run_under(lab.command(&[&words[..], &["--engine", "uring"]].concat()), &no_entry);
    fixed.is_refusal(5, &["io_uring failed", "--engine threads"]);
    assert_eq!(names(&target), [] as [&str; 0]);
}

/// The file has so many lines that a list of them alone would exceed the address space.
#[test]
#[ignore = "slow"]
fn a_large_file_of_jobs_is_named_in_little_memory() {
    let lab = Lab::new();
    let jobs = lab.write("many.fio", ["[a]\n", &";\n".repeat(4_300_000)].concat());
    let Some(ended) = limited(&lab, 0, "--as=268435456", &["import", text(&jobs)]) else { return };
    ended.is_refusal(11, &["fio job file"]);
}
