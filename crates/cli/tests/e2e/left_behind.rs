//! A command of `kurabe on` or `kurabe price` leaves nothing behind, whatever it does and however
//! kurabe ends.

use crate::attaching::{attachments, can_attach, eventually, mounts};
use crate::lab::{Lab, Live, names, text};
use crate::system::{AS_NOBODY, can_be_nobody, making_loop_devices, system};
use kurabe_testkit::needs::{USER_NAMESPACES, needs, skip};
use rustix::process::Signal;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

const ON: [&str; 4] = ["on", "-q", "model:ideal-ram-disk", "--size"];

fn on(lab: &Lab, line: &str) -> crate::lab::Ended {
    let making = making_loop_devices();
    let ended = lab.kurabe(&[&ON[..], &["64MiB", "--", "sh", "-c", line]].concat());
    drop(making);
    ended
}

/// Checks that there is no device, mount or loop device left, and no process whose environment
/// names the test's folder.
fn nothing_is_left(lab: &Lab) {
    eventually("no attachment is left", || attachments(lab).is_empty());
    let run = lab.beside("run");
    assert!(!mounts().contains(text(&run)), "{}", mounts());
    let loops = || system("losetup", &["--noheadings", "--output", "BACK-FILE"]).unwrap_or_default();
    eventually("no loop device is left", || !loops().contains(text(&run)));
    let of_lab = format!("KURABE_RUNTIME_DIR={}", text(&run));
    let lives = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let environments = processes.filter_map(|process| std::fs::read(process.path().join("environ")).ok());
        environments.into_iter().any(|bytes| String::from_utf8_lossy(&bytes).contains(&of_lab))
    };
    eventually("no process is left", || !lives());
}

#[test]
#[ignore = "slow"]
fn processes_that_a_command_leaves_are_named_and_killed() {
    let lab = Lab::new();
    if !can_attach() {
        return;
    }
    let daemon = "setsid sleep 1000 > /dev/null 2>&1 < /dev/null &";
    for (what, line) in [
        ("a daemon that stays on the disk", daemon.to_owned()),
        ("a daemon elsewhere", format!("cd / && {daemon}")),
        (
            "a file that is held open from elsewhere",
            format!("echo x > held; exec 3< held; cd /; {daemon} sleep 0.1"),
        ),
        ("a daemon that left its process group and its parent", format!("(cd /; ({daemon}) &) & sleep 0.1")),
        (
            "a daemon with mounts of its own",
            "setsid unshare -m sh -c 'cd /; sleep 1000' & sleep 0.2".to_owned(),
        ),
        ("a stopped process", "sleep 1000 & sleep 0.2; kill -STOP $!".to_owned()),
    ] {
        let ended = on(&lab, &format!("{line}\nexit 4"));
        assert_eq!(ended.code(), Some(4), "{what}: {ended:#?}");
        let lines: Vec<&str> = ended.err.lines().collect();
        assert!(
            lines.len() == 1 && lines[0].contains(" still ran ") && lines[0].contains("sleep ("),
            "{what}: {ended:#?}"
        );
        nothing_is_left(&lab);
    }
    let numbered = on(&lab, "sleep 1000 > /dev/null 2>&1 & echo $!");
    let notice = format!("sleep ({}) still ran", numbered.out.trim());
    assert!(numbered.err.contains(&notice), "by the number that the command knows: {numbered:#?}");
    let alone = on(&lab, "sleep 0.1 & exit 0");
    assert!(alone.code() == Some(0) && alone.err.is_empty(), "a short leftover is not reported: {alone:#?}");
}

#[test]
#[ignore = "slow"]
fn mounts_freezes_and_kernel_users_of_a_command_go_with_it() {
    let lab = Lab::new();
    if !can_attach() {
        return;
    }
    let (elsewhere, here) = (lab.beside("elsewhere"), text(&lab.beside("elsewhere")).to_owned());
    std::fs::create_dir(&elsewhere).unwrap();
    let write = "(dd if=/dev/zero of=x bs=1k count=1 conv=fsync > /dev/null 2>&1 &) ; sleep 0.2";
    for (what, line) in [
        ("a mount over the folder", "mount -t tmpfs none .".to_owned()),
        ("a mount over the disk", "mount -t tmpfs none /run/kurabe-disk".to_owned()),
        ("a bind mount", format!("mount --bind . {here}")),
        ("a shared bind mount", format!("mount --make-rshared / && mount --bind . {here}")),
        ("a freeze", "fsfreeze -f /run/kurabe-disk".to_owned()),
        ("a freeze under a writer", format!("fsfreeze -f /run/kurabe-disk; {write}")),
        ("a freeze under a mount", "fsfreeze -f /run/kurabe-disk; mount -t tmpfs none /run/kurabe-disk".to_owned()),
        ("a loop device on a file", "truncate -s 8M image && losetup -f image".to_owned()),
        (
            "swap space",
            "dd if=/dev/zero of=swap bs=1M count=8 status=none && chmod 600 swap && mkswap -q swap && swapon swap"
                .to_owned(),
        ),
    ] {
        let ended = on(&lab, &line);
        assert!(matches!(ended.code(), Some(0 | 1)), "{what}: {ended:#?}");
        assert!(!ended.err.contains("still used"), "{what}: {ended:#?}");
        nothing_is_left(&lab);
        assert!(names(&elsewhere).is_empty(), "{what}");
    }
    let line = format!("mkfs.ext4 -q $KURABE_DEVICE && mount $KURABE_DEVICE {here} && fsfreeze -f {here}");
    let making = making_loop_devices();
    let ended = lab.kurabe(&["on", "-q", "model:ideal-ram-disk", "--fs", "none", "--", "sh", "-c", &line]);
    drop(making);
    assert_eq!(ended.code(), Some(0), "a frozen file system of the command's own: {ended:#?}");
    nothing_is_left(&lab);
}

/// A command that waits for a disk that it froze ends on Ctrl-C.
#[test]
fn a_command_that_froze_its_own_disk_can_be_stopped() {
    let lab = Lab::new();
    if !can_attach() {
        return;
    }
    let ready = lab.beside("ready");
    let line = format!("fsfreeze -f /run/kurabe-disk; touch {}; echo > x", text(&ready));
    let making = making_loop_devices();
    let live = Live::start(lab.command(&[&ON[..], &["64MiB", "--", "sh", "-c", &line]].concat()));
    eventually("it runs", || ready.exists());
    std::thread::sleep(Duration::from_millis(200));
    live.signal(Signal::INT);
    let ended = live.end();
    drop(making);
    assert_eq!(ended.code(), Some(130), "{ended:#?}");
    nothing_is_left(&lab);
}

#[test]
#[ignore = "slow"]
fn a_write_to_the_device_under_its_file_system_leaves_nothing() {
    let lab = Lab::new();
    if !can_attach() {
        return;
    }
    for blocks in ["1", "64"] {
        let line =
            format!("dd if=/dev/urandom of=$KURABE_DEVICE bs=1M count={blocks} conv=notrunc status=none");
        let ended = on(&lab, &line);
        assert!(matches!(ended.code(), Some(0 | 1 | 8)), "{ended:#?}");
        nothing_is_left(&lab);
    }
}

#[test]
#[ignore = "slow"]
fn a_bill_counts_what_is_left_running_and_refuses_what_does_not_end() {
    let lab = Lab::new();
    if !can_attach() {
        return;
    }
    let price = |line: &str| {
        let making = making_loop_devices();
        let ended = lab.kurabe(&["--json", "price", "--runs", "1", "--", "sh", "-c", line]);
        drop(making);
        nothing_is_left(&lab);
        ended
    };
    let soon =
        price("(sleep 0.1; dd if=/dev/zero of=late bs=64k count=4 conv=fsync status=none) & exit 0").ok();
    let written = soon.json_lines()[0]["counts"]["written_bytes"][0].as_u64().unwrap();
    assert!(written >= 4 << 16 && !soon.err.contains("behind"), "{soon:#?}");
    let idle = price("sleep 1000 > /dev/null 2>&1 & exit 0").ok();
    assert!(idle.err.contains("sleep ("), "{idle:#?}");
    let busy = price("while echo x > x && sync x; do sleep 0.05; done > /dev/null 2>&1 & exit 0");
    busy.is_refusal(8, &["used the disk"]);
}

/// Phases are reported over a socket that the command may misuse in any way.
#[test]
#[ignore = "slow"]
fn a_socket_of_marks_that_is_kept_open_or_replaced_holds_up_nothing() {
    let lab = Lab::new();
    if !can_attach() || !needs("python3") {
        return;
    }
    let open = "import os, socket, time
name = os.environ['KURABE_MARKS']
s = socket.socket(socket.AF_UNIX)
s.connect('\\0' + name[1:] if name[0] == '@' else name)
s.send(b'never')
open('ready', 'w').close()
time.sleep(1000)";
    let open = lab.write("open.py", open);
    let kurabe = env!("CARGO_BIN_EXE_kurabe");
    let keep = format!(
        "setsid python3 {} & while [ ! -e ready ]; do sleep 0.02; done; {kurabe} mark second; echo x > x",
        text(&open)
    );
    for line in
        [keep, format!("rm -f \"$KURABE_MARKS\"; mkdir \"$KURABE_MARKS\"; {kurabe} mark second; echo x > x")]
    {
        let making = making_loop_devices();
        let ended = lab.kurabe(&["price", "--runs", "1", "--", "sh", "-c", &line]).ok();
        drop(making);
        assert!(ended.out.contains("second") && !ended.out.contains("never"), "{ended:#?}");
        nothing_is_left(&lab);
    }
}

/// Returns whether a thread of a process writes a core dump or waits for one.
fn dumps_core(live: &Live) -> bool {
    let threads =
        std::fs::read_dir(format!("/proc/{}/task", live.pid().as_raw_nonzero())).into_iter().flatten();
    let mut stacks =
        threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("stack")).ok());
    stacks.any(|stack| stack.contains("coredump"))
}

/// Returns whether programs that this process starts ignore a signal, as SIGQUIT is ignored behind `&` in a script.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(ignored.trim(), 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1
}

/// A signal that dumps core ends kurabe like SIGKILL.
#[test]
#[ignore = "slow"]
fn signals_that_dump_core_leave_no_process_that_waits_for_itself() {
    let lab = Lab::new();
    if !can_attach() {
        return;
    }
    let making = making_loop_devices();
    let mut signals = vec![Signal::QUIT, Signal::ABORT, Signal::SEGV];
    signals.retain(|signal| !is_ignored(*signal));
    for (round, signal) in signals.into_iter().cycle().take(12).enumerate() {
        let line = "while :; do dd if=/dev/zero of=x bs=64k count=16 conv=fsync status=none; done";
        let wrapped = ["sh", "-c", "ulimit -c unlimited; exec \"$@\"", "sh"];
        let live =
            Live::start(lab.wrapped(&wrapped, &[&ON[..], &["64MiB", "--", "sh", "-c", line]].concat()));
        std::thread::sleep(Duration::from_millis(60 + 70 * round as u64));
        let stat = || std::fs::read_to_string(format!("/proc/{}/stat", live.pid().as_raw_nonzero()));
        let has_ended = || stat().is_ok_and(|stat| stat.contains(") Z "));
        for _ in 0..1000 {
            if has_ended() {
                break;
            }
            // Rust's runtime handles a first SIGSEGV that is not a fault itself.
            live.signal(signal);
            std::thread::sleep(Duration::from_millis(10));
        }
        if !has_ended() {
            // A thread waits for the mount that the process itself serves. As after a kill, the
            // next start ends that.
            assert!(!dumps_core(&live), "round {round}, {signal:?}: the process waits for its own core dump");
            lab.kurabe(&["on", "-q", "model:ideal-ram-disk", "--", "true"]).ok();
            eventually("the process has ended", has_ended);
        }
        live.end();
    }
    lab.kurabe(&["on", "-q", "model:ideal-ram-disk", "--", "true"]).ok();
    drop(making);
    nothing_is_left(&lab);
}

#[test]
#[ignore = "slow"]
fn the_next_start_removes_the_folder_of_power_cuts_and_no_planted_one() {
    let lab = Lab::new();
    if !can_attach() {
        return;
    }
    let (temporary, victim) = (lab.beside("tmp"), lab.beside("victim"));
    [&temporary, &victim].iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
    std::fs::create_dir(temporary.join("kurabe-outside-0123456789abcdef")).unwrap();
    std::fs::write(victim.join("file"), "x").unwrap();
    let start = |line: &str| {
        let words = ["on", "-q", "model:ideal-ram-disk", "--cut-power", "3-writes", "--", "sh", "-c", line];
        let mut command = lab.command(&words);
        command.env("TMPDIR", &temporary);
        command
    };
    let is_own = |name: &String| name != "kurabe-outside-0123456789abcdef";
    let own = || names(&temporary).into_iter().filter(is_own).collect::<Vec<_>>();
    let making = making_loop_devices();
    let kill = |line: &str| {
        let ready = lab.beside("ready");
        let _ = std::fs::remove_file(&ready);
        let live = Live::start(start(&format!("{line}; touch {}; exec sleep 100", text(&ready))));
        eventually("it runs", || ready.exists());
        live.signal(Signal::KILL);
        live.end();
    };
    kill("mkdir $KURABE_OUTSIDE/deep && echo x > $KURABE_OUTSIDE/deep/file");
    assert_eq!(own().len(), 1);
    lab.kurabe(&["on", "-q", "model:ideal-ram-disk", "--", "true"]).ok();
    assert_eq!(own(), [] as [String; 0]);
    // A symbolic link with the same name is not followed.
    kill("true");
    let left = temporary.join(&own()[0]);
    std::fs::remove_dir(&left).unwrap();
    symlink(&victim, &left).unwrap();
    lab.kurabe(&["on", "-q", "model:ideal-ram-disk", "--", "true"]).ok();
    drop(making);
    assert!(victim.join("file").exists() && left.is_symlink());
    assert!(temporary.join("kurabe-outside-0123456789abcdef").is_dir());
    nothing_is_left(&lab);
}

#[test]
#[ignore = "slow"]
fn root_runs_no_program_of_its_search_path_that_the_user_did_not_name() {
    let lab = Lab::new();
    if !can_attach() {
        return;
    }
    let (planted, ran) = (lab.beside("planted"), lab.beside("ran"));
    std::fs::create_dir(&planted).unwrap();
    for name in ["mkfs.ext4", "mount", "cp", "cat", "sh", "wipefs", "smartctl", "git", "named"] {
        let file = planted.join(name);
        std::fs::write(&file, format!("#!/bin/sh\necho {name} >> {}\n", text(&ran))).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let seen = lab.write("seen.txt", "here");
    let mut command =
        lab.command(&["on", "-q", "model:ideal-ram-disk", "--with", text(&seen), "--", "named"]);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", text(&planted)));
    let making = making_loop_devices();
    Live::start(command).end().ok();
    drop(making);
    assert_eq!(std::fs::read_to_string(&ran).unwrap(), "named\n");
    nothing_is_left(&lab);
}

#[test]
fn files_of_one_name_are_refused_before_anything_is_made() {
    let lab = Lab::new();
    if !can_attach() {
        return;
    }
    let [one, other] = ["one", "other"].map(|folder| lab.beside(folder).join("x"));
    for file in [&one, &other] {
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        std::fs::write(file, "x").unwrap();
    }
    let words = ["on", "model:ideal-ram-disk", "--with", text(&one), "--with", text(&other), "--", "true"];
    lab.kurabe(&words).is_refusal(2, &["same name"]);
    assert!(!lab.beside("run").exists());
}

#[test]
fn a_program_that_is_missing_is_named_with_its_package() {
    let lab = Lab::new();
    if !can_be_nobody(&lab) || !needs("fuse2fs") {
        return;
    }
    let hide = "mount --bind /dev/null \"$(readlink -f \"$(command -v fuse2fs)\")\" && exec \"$@\"";
    let hidden = [&["unshare", "-m", "sh", "-c", hide, "sh"][..], &AS_NOBODY].concat();
    let price = ["price", "--", "true"];
    let ended = Live::start(lab.wrapped(&hidden, &price)).end();
    ended.is_refusal(4, &["fuse2fs is not installed", "package fuse2fs"]);
    let mut command = lab.wrapped(&hidden, &price);
    command.env("LC_ALL", "ja_JP.UTF-8");
    let ended = Live::start(command).end();
    assert!(ended.err.contains("fuse2fs がインストールされていません"), "{ended:#?}");
}

/// If the user cannot create a PID namespace, processes left by a command are adopted and killed.
#[test]
fn without_a_pid_namespace_daemons_end_as_well() {
    let lab = Lab::new();
    let spaces = [&AS_NOBODY[1..], &["unshare", "-U", "-r", "-m", "true"]].concat();
    if !can_be_nobody(&lab) || !needs("fuse2fs") {
        return;
    }
    if system(AS_NOBODY[0], &spaces).is_none() {
        return skip(USER_NAMESPACES);
    }
    for limit in ["", "echo 0 > /proc/sys/user/max_pid_namespaces && "] {
        let begin = format!("mount -t tmpfs none /run && {limit}KURABE_WITHOUT_ROOT=1 exec \"$@\"");
        let inside = [&AS_NOBODY[..], &["unshare", "-U", "-r", "-m", "sh", "-c", &begin, "sh"]].concat();
        let line = "cd / && (setsid sleep 1000 > /dev/null 2>&1 &) ; readlink /proc/self/ns/pid >&2";
        let mut command = lab.wrapped(&inside, &["price", "--runs", "1", "--", "sh", "-c", line]);
        command.current_dir(lab.beside(""));
        let ended = Live::start(command).end().ok();
        assert!(ended.err.contains("sleep ("), "{ended:#?}");
        let outer = std::fs::read_link("/proc/self/ns/pid").unwrap();
        let is_inside = !ended.err.contains(text(Path::new(&outer)));
        assert_eq!(is_inside, limit.is_empty(), "{ended:#?}");
        nothing_is_left(&lab);
    }
}
