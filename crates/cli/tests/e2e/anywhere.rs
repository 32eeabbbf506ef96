//! Tests in minimal environments: an old kernel, and an empty root folder.

use crate::lab::{Lab, Live, binary, notices, text};
use crate::limits::{filter, run_under};
use crate::system::{Mount, system};
use kurabe_chart::DRAWS_PNG;
use kurabe_testkit::needs::skip;
use std::path::Path;

/// Read and write cells with more than one operation in flight.
const DEEP: [&str; 8] = ["--rw", "randrw", "--iodepth", "8", "--size", "4m", "--time", "100ms"];

/// Directories that contain chroot.
const CHROOT: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// System calls introduced after Linux 4.18. From `pidfd_send_signal` on they have the same numbers
/// on all architectures. Source: `arch/x86/entry/syscalls/syscall_64.tbl`,
/// `include/uapi/asm-generic/unistd.h`.
const LATER_CALLS: std::ops::RangeInclusive<i64> = 424..=470;

#[test]
#[ignore = "slow"]
fn with_the_calls_of_linux_4_18_it_measures_by_threads_and_says_so() {
    let lab = Lab::new();
    let target = lab.target();
    let old: Vec<_> = LATER_CALLS.map(|call| filter(call, None, libc::ENOSYS)).collect();
    let words = [&["run", text(&target)], &DEEP[..]].concat();
    let ended = run_under(lab.command(&words), &old).ok();
    assert!(ended.err.contains("io_uring cannot be used (Function not implemented"), "{ended:#?}");
    let record = lab.record("last");
    assert_eq!(record["cells"][0]["engine"]["name"], "threads");
    assert!(notices(&record, "engine_fallback").iter().any(|words| words.contains("uring")), "{record:#}");
    for words in
        [&["list"][..], &["card", "last"], &["doctor"], &["run", "model:rascsi", "--profile", "quick"]]
    {
        run_under(lab.command(words), &old).ok();
    }
}

/// The root folder contains only the static binary, as in a container built from scratch.
#[test]
fn in_an_empty_root_folder_it_measures_draws_and_computes() {
    let lab = Lab::new();
    let root = lab.beside("root");
    std::fs::create_dir_all(root.join("target")).expect("a folder");
    std::fs::copy(binary(), root.join("kurabe")).expect("a copy");
    let inside = |words: &[&str]| {
        let mut command = std::process::Command::new("chroot");
        command
            .args([text(&root), "/kurabe"])
            .args(words)
            .env_clear()
            .env("KURABE_DB", "/kurabe.db")
            .env("PATH", CHROOT);
        Live::start(command).end()
    };
    if system("ldd", &[binary()]).is_some()
        || system("env", &[&format!("PATH={CHROOT}"), "chroot", text(&root), "/kurabe", "--version"])
            .is_none()
    {
        skip("needs root, and a static binary in KURABE_BIN");
        return;
    }
    inside(&["run", "model:rascsi", "--profile", "quick"]).ok();
    let (name, begin): (_, &[u8]) = if DRAWS_PNG { ("card.png", b"\x89PNG") } else { ("card.svg", b"<svg") };
    inside(&["--lang", "ja", "card", "last", "-o", name]).ok();
    let picture = std::fs::read(root.join(name)).expect("a picture");
    assert!(picture.starts_with(begin));
    inside(&["report", "last", "-o", "/report.html"]).ok();
    // Containers also have /proc. Without it, kurabe cannot refer to a target by its descriptor.
    let _proc = Mount::new("proc", "proc", "ro", &root.join("proc"));
    inside(&[&["run", "/target"], &DEEP[..]].concat()).ok();
    assert_eq!(inside(&["list", "--json"]).ok().json_lines().len(), 2);
    assert_eq!(std::fs::read_dir(root.join("target")).expect("a folder").count(), 0);
    assert!(!Path::new(&root.join("tmp")).exists(), "nothing is made that was not asked for");
}
