//! `kurabe price` and `kurabe on`: recordings that agree to the request, changes named by cause,
//! budgets, power cuts, and no leftovers however the command ends.

use crate::attaching::{can_attach, eventually};
use crate::lab::{Lab, Live, text};
use crate::system::{AS_NOBODY, can_be_nobody, making_loop_devices, system};
use kurabe_testkit::needs::{USER_NAMESPACES, needs, skip};
use serde_json::Value;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;

/// Writes 20 records to a log and to a table, and flushes as requested: `table` or `both`.
const WRITER: &str = r#"
import os, sys
log = os.open('log', os.O_CREAT | os.O_WRONLY | os.O_APPEND)
table = os.open('table', os.O_CREAT | os.O_RDWR)
outside = os.environ.get('KURABE_OUTSIDE')
for record in range(20):
    os.write(log, b'%04d\n' % record)
    os.pwrite(table, b'y' * 4096, record * 7 % 20 * 4096)
    os.fsync(table)
    if sys.argv[1] == 'both':
        os.fsync(log)
    if outside:
        with open(outside + '/promised', 'w') as promised:
            promised.write('%d' % (record + 1))
"#;
/// Checks that the log contains every record that was promised.
const CHECK: &str = r#"n=$(cat "$KURABE_OUTSIDE/promised" 2> /dev/null || echo 0); test "$(cat log 2> /dev/null | wc -l)" -ge "$n""#;

fn can_price() -> bool {
    needs("python3") && can_attach()
}

fn json_of(lab: &Lab, words: &[&str]) -> Value {
    let making = making_loop_devices();
    let ended = lab.kurabe(&[&["--json", "-q"][..], words].concat()).ok();
    drop(making);
    ended.json_lines().remove(0)
}

/// Returns whether a count is about reads.
fn is_of_reads(count: &str) -> bool {
    count.contains("read")
}

#[test]
#[ignore = "slow"]
fn a_program_costs_the_same_each_time_and_one_flush_more_is_found() {
    if !can_price() {
        return;
    }
    let lab = Lab::new();
    let (writer, base) = (lab.write("writer.py", WRITER), lab.beside("base.json"));
    let of = |how: &'static str| ["--", "python3", text(&writer), how];
    let first = json_of(&lab, &[&["price", "--save", text(&base)][..], &of("table")].concat());
    for (count, values) in first["counts"].as_object().unwrap() {
        let values = values.as_array().unwrap();
        // The journal may issue one more or one fewer empty flush. Reads depend on whether another
        // test makes the machine drop its page cache. On a busy machine, two writes that are due
        // together may be swapped, so that one does not continue where the last one ended.
        let figures = || values.iter().filter_map(Value::as_u64);
        let most_apart = u64::from(count == "random_writes");
        assert!(
            count == "empty_flushes"
                || is_of_reads(count)
                || figures().max() <= figures().min().map(|least| least + most_apart),
            "{count}: {values:?}"
        );
    }
    assert!(first["counts"]["flushes"][0].as_u64().unwrap() >= 20);
    let names: Vec<&str> =
        first["files"].as_array().unwrap().iter().filter_map(|file| file["name"].as_str()).collect();
    assert!(names.contains(&"log") && names.contains(&"table") && names.contains(&"(journal)"), "{names:?}");

    let again = json_of(&lab, &[&["price", "--against", text(&base)][..], &of("table")].concat());
    let changed = again["changes"]["counts"].as_array().unwrap();
    assert!(changed.iter().all(|change| is_of_reads(change["count"].as_str().unwrap())), "{changed:?}");
    let making = making_loop_devices();
    let words = [&["price", "--against", text(&base), "--fail-on", "slower"][..], &of("both")].concat();
    let costs_more = lab.kurabe(&words);
    drop(making);
    assert_eq!(costs_more.code(), Some(13), "{}", costs_more.err);
    assert!(
        costs_more.out.starts_with("Each write to log now waits for the medium: flushes"),
        "{}",
        costs_more.out
    );
}

/// Overwrites one block 12 times and flushes it each time: only the time of the file changes.
const OVERWRITER: &str = r"
import os
data = os.open('data', os.O_CREAT | os.O_RDWR)
for _ in range(12):
    os.pwrite(data, b'x' * 4096, 0)
    os.fsync(data)
";

/// ext4 commits the time of a file only once per tick, and in memory many flushes would fit into one.
#[test]
fn every_fsync_is_recorded_with_its_commit() {
    if !can_price() {
        return;
    }
    let lab = Lab::new();
    let overwriter = lab.write("overwriter.py", OVERWRITER);
    let bill = json_of(&lab, &["price", "--runs", "3", "--", "python3", text(&overwriter)]);
    for count in ["flushes", "writes", "written_bytes"] {
        let values = bill["counts"][count].as_array().unwrap();
        assert!(values.iter().all(|value| *value == values[0]), "{count}: {values:?}");
    }
    let of_file = |name: &str, of: &str| {
        let files = bill["files"].as_array().unwrap();
        files.iter().find(|file| file["name"] == name).unwrap()[of][0].as_u64().unwrap()
    };
    // Data and journal, then the commit block; the second flush is the journal's alone.
    assert_eq!((of_file("data", "writes"), of_file("data", "flushes")), (12, 12));
    assert!(of_file("(journal)", "flushes") >= 12, "{bill}");
    let flushes = bill["counts"]["flushes"][0].as_u64().unwrap();
    let on = |model: &str| {
        let prices = bill["prices"].as_array().unwrap();
        prices.iter().find(|price| price["model"] == model).unwrap()["flushes"][0].as_u64().unwrap()
    };
    // A hard disk takes longer than a tick for each of them, and an SSD does not.
    assert_eq!(on("seagate-ironwolf-4tb"), flushes);
    assert!((12..flushes).contains(&on("samsung-870-evo")), "{bill}");
}

#[test]
fn a_budget_that_is_exceeded_has_an_exit_code_and_phases_are_told_apart() {
    if !can_price() {
        return;
    }
    let lab = Lab::new();
    let budget = lab.write("io.toml", "schema = 1\n[counts]\nflushes = 3\nreads = 1000\n");
    let [junit, markdown] = ["io.xml", "io.md"].map(|name| lab.beside(name));
    let script = lab.write(
        "phases.sh",
        format!(
            "dd if=/dev/zero of=a bs=4k count=8 oflag=sync status=none\n{} mark second\necho b > b\n",
            env!("CARGO_BIN_EXE_kurabe")
        ),
    );
    let files = ["--junit", text(&junit), "--markdown", text(&markdown)];
    let making = making_loop_devices();
    let words =
        [&["price", "--runs", "1", "--budget", text(&budget)][..], &files, &["--", "sh", text(&script)]]
            .concat();
    let over = lab.kurabe(&words);
    drop(making);
    assert_eq!(over.code(), Some(16), "{}", over.err);
    assert!(over.err.contains("over budget: flushes: "), "{}", over.err);
    assert!(over.out.contains("second") && over.out.contains("before the first mark"), "{}", over.out);
    let xml = std::fs::read_to_string(junit).unwrap();
    assert!(xml.contains("tests=\"2\" failures=\"1\""), "{xml}");
    assert!(std::fs::read_to_string(markdown).unwrap().contains("| hard disk |"));
}

#[test]
fn a_command_on_a_model_passes_its_exit_code_on_and_leaves_nothing() {
    if !can_price() {
        return;
    }
    let lab = Lab::new();
    let seen = lab.write("seen.txt", "here");
    let making = making_loop_devices();
    let words = [
        "on",
        "model:ideal-ram-disk",
        "--with",
        text(&seen),
        "--",
        "sh",
        "-c",
        "cat seen.txt; sync -f .; exit 7",
    ];
    let ended = lab.kurabe(&words);
    drop(making);
    assert!(ended.code() == Some(7) && ended.out.starts_with("here"), "{} {}", ended.out, ended.err);
    nothing_is_left(&lab);
}

/// ext4 reports errors to a program whose disk accepts no writes. However the program ends, the
/// disk is detached.
#[test]
fn a_command_on_a_faulty_disk_gets_its_errors_and_its_exit_code_is_passed_on() {
    if !can_price() {
        return;
    }
    let lab = Lab::new();
    let line = "dd if=/dev/zero of=a bs=4k count=4 conv=fsync && exit 0; echo it errs; exit 9";
    let on = |fault: &str| {
        let making = making_loop_devices();
        let ended = lab.kurabe(&["on", "model:ideal-ram-disk", "--fault", fault, "--", "sh", "-c", line]);
        drop(making);
        nothing_is_left(&lab);
        (ended.code(), ended.out, ended.err)
    };
    for fault in ["error:write@0+4GiB", "read-only", "error:write@after-1-writes"] {
        let (code, out, err) = on(fault);
        assert!(
            code == Some(9) && out.starts_with("it errs") && err.contains("Input/output error"),
            "{out} {err}"
        );
        let flat = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(&format!("Faults were injected during the run ({fault})")), "{out}");
        assert!(flat.contains(&format!("fault {fault}: met ")) && !flat.contains("met 0"), "{out}");
    }
    // Faults apply only while the command runs, not before or after it.
    let (code, out, err) = on("error:write@after-1h");
    assert!(code == Some(0) && !out.contains("it errs"), "{out} {err}");
}

/// Real ZFS: the pool is removed after the command, returns after a power cut, and does not keep a
/// command from being stopped.
#[test]
#[ignore = "slow"]
fn a_pool_of_zfs_is_made_kept_through_cuts_and_taken_away() {
    if !can_price() {
        return;
    }
    if !needs("zpool") {
        return;
    }
    let lab = Lab::new();
    let (writer, seen) = (lab.write("writer.py", WRITER), lab.write("seen.txt", "here"));
    let on = |words: &[&str]| {
        let making = making_loop_devices();
        let begin = ["on", "-q", "model:ideal-ram-disk", "--set", "memory.capacity=1GiB", "--fs", "zfs"];
        let ended = lab.kurabe(&[&begin[..], words].concat());
        drop(making);
        nothing_is_left(&lab);
        ended
    };
    let line = "cat seen.txt; grep -c 'kurabe-disk.*zfs' /proc/mounts; exit 3";
    let ended = on(&["--with", text(&seen), "--", "sh", "-c", line]);
    assert!(ended.code() == Some(3) && ended.out == "here1\n", "{ended:#?}");
    let words = ["--cut-power", "--seeds", "2", "--check", CHECK, "--", "python3", text(&writer), "both"];
    let kept = on(&words);
    assert!(kept.code() == Some(0) && kept.out.contains("2 power cuts: nothing was lost"), "{kept:#?}");

    // A pool waits for its failing device.
    let ready = lab.beside("ready");
    let line = format!("touch {}; dd if=/dev/zero of=a bs=64k count=8 conv=fsync", text(&ready));
    let making = making_loop_devices();
    let words = [
        "on",
        "-q",
        "model:ideal-ram-disk",
        "--fs",
        "zfs",
        "--fault",
        "error:write",
        "--",
        "sh",
        "-c",
        &line,
    ];
    let live = Live::start(lab.command(&words));
    eventually("it runs", || ready.exists());
    live.signal(rustix::process::Signal::INT);
    let stopped = live.end();
    drop(making);
    assert_eq!(stopped.code(), Some(130), "{stopped:#?}");
    nothing_is_left(&lab);
}

#[test]
fn a_kill_leaves_no_mount_and_the_next_start_takes_the_device_away() {
    if !can_price() {
        return;
    }
    let lab = Lab::new();
    let ready = lab.beside("ready");
    let line = format!("touch {}; exec sleep 100", text(&ready));
    let making = making_loop_devices();
    let live = Live::start(lab.command(&["on", "model:ideal-ram-disk", "--", "sh", "-c", &line]));
    eventually("it runs", || ready.exists());
    live.signal(rustix::process::Signal::KILL);
    live.end();
    let next = lab.kurabe(&["on", "-q", "model:ideal-ram-disk", "--", "true"]).ok();
    drop(making);
    drop(next);
    nothing_is_left(&lab);
}

#[test]
#[ignore = "slow"]
fn a_power_cut_takes_what_was_not_flushed_and_spares_what_was() {
    if !can_price() {
        return;
    }
    let lab = Lab::new();
    let writer = lab.write("writer.py", WRITER);
    let cut = |how: &str| {
        let making = making_loop_devices();
        let words = [
            "on",
            "-q",
            "model:ssd-sata",
            "--cut-power",
            "--seeds",
            "4",
            "--check",
            CHECK,
            "--",
            "python3",
            text(&writer),
            how,
        ];
        let ended = lab.kurabe(&words);
        drop(making);
        ended
    };
    let kept = cut("both");
    assert!(
        kept.code() == Some(0) && kept.out.contains("4 power cuts: nothing was lost"),
        "{} {}",
        kept.out,
        kept.err
    );
    let lost = cut("table");
    assert!(lost.code() == Some(17) && lost.out.contains("repeat it with seed"), "{} {}", lost.out, lost.err);
    nothing_is_left(&lab);
}

#[test]
#[ignore = "slow"]
fn the_examples_keep_to_their_budget_and_the_action_says_so() {
    if !can_price() {
        return;
    }
    let lab = Lab::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let built = lab.beside("built");
    let cargo = system(
        "cargo",
        &[
            "test",
            "-q",
            "--no-run",
            "--offline",
            "--manifest-path",
            text(&examples.join("rust/Cargo.toml")),
            "--target-dir",
            text(&built),
        ],
    );
    let (go, test) = (examples.join("go"), lab.beside("journal.test"));
    let go = system("go", &["test", "-C", text(&go), "-c", "-o", text(&test)]);
    let python = format!("python3 {}", text(&examples.join("python/test_journal.py")));
    let rust = format!("{}/debug/deps/journal-*[0-9a-f][0-9a-f]", text(&built));
    for (what, line, is_there) in
        [("Python", &*python, true), ("Rust", &*rust, cargo.is_some()), ("Go", text(&test), go.is_some())]
    {
        if !is_there {
            skip(format_args!("{what}'s example cannot be built here"));
            continue;
        }
        let summary = lab.beside(what);
        let making = making_loop_devices();
        let ended = Command::new(examples.join("price-action.sh"))
            .envs([("KURABE", env!("CARGO_BIN_EXE_kurabe")), ("KURABE_RUN", line)])
            .envs([
                ("KURABE_BUDGET", text(&examples.join("budget.toml"))),
                ("GITHUB_STEP_SUMMARY", text(&summary)),
            ])
            .envs([("RUNNER_TEMP", text(&lab.beside(""))), ("KURABE_RUNTIME_DIR", text(&lab.beside("run")))])
            .output()
            .unwrap();
        drop(making);
        assert!(ended.status.success(), "{what}: {}", String::from_utf8_lossy(&ended.stderr));
        assert!(std::fs::read_to_string(summary).unwrap().contains("| flushes | "), "{what}");
    }
}

#[test]
fn a_program_in_a_chroot_is_priced_there() {
    if !can_attach() || !needs("unshare") {
        return;
    }
    let lab = Lab::new();
    let root = lab.beside("root");
    std::fs::create_dir(&root).unwrap();
    let line = format!(
        "mount --rbind / {0} && mount -t tmpfs none {0}/mnt && touch {0}/mnt/inside && exec chroot {0} {1} -q \
         price --runs 1 -- sh -c 'test -e /mnt/inside'",
        text(&root),
        env!("CARGO_BIN_EXE_kurabe"),
    );
    let making = making_loop_devices();
    let ended = Command::new("unshare")
        .args(["-m", "sh", "-c", &line])
        .env("KURABE_RUNTIME_DIR", lab.beside("run"))
        .output()
        .unwrap();
    drop(making);
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn the_action_installs_only_what_has_the_checksum() {
    if !needs("curl") {
        return;
    }
    let lab = Lab::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/install-kurabe.sh");
    // A program that stands for kurabe; the server sends it to two clients.
    let program = b"#!/bin/sh\necho kurabe 1.0\n";
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/kurabe", server.local_addr().unwrap());
    let sends = std::thread::spawn(move || {
        for stream in server.incoming().take(2) {
            let mut stream = stream.unwrap();
            assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", program.len());
            stream.write_all(&[head.as_bytes(), program].concat()).unwrap();
        }
    });
    let sum =
        system("sh", &["-c", "printf '#!/bin/sh\\necho kurabe 1.0\\n' | sha256sum | cut -d' ' -f1"]).unwrap();
    let install = |sum: &str| {
        let temporary = lab.beside(&sum[..4]);
        std::fs::create_dir(&temporary).unwrap();
        let mut command = Command::new(&script);
        command.envs([("KURABE_URL", &*url), ("KURABE_SHA256", sum), ("RUNNER_TEMP", text(&temporary))]);
        let ended = command.env_remove("GITHUB_OUTPUT").output().unwrap();
        (ended, std::fs::read_dir(&temporary).unwrap().count())
    };
    let (installed, _) = install(sum.trim());
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let path = String::from_utf8(installed.stdout).unwrap();
    assert_eq!(system(path.trim(), &[]).unwrap().trim(), "kurabe 1.0");
    let (refused, left) = install(&"0".repeat(64));
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(message.contains("another checksum") && message.contains("remedy:"), "{message}");
    assert!(!refused.status.success() && left == 0);
    sends.join().unwrap();
}

fn nothing_is_left(lab: &Lab) {
    let run = lab.beside("run");
    let left = || {
        std::fs::read_dir(&run).map(|entries| entries.flatten().filter(|entry| entry.path().is_dir()).count())
    };
    eventually("no device is left", || left().unwrap_or(0) == 0);
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains("kurabe-disk") && !mounts.contains(text(&run)), "{mounts}");
}

#[test]
fn without_root_a_flush_is_a_flush_and_the_bill_says_how_it_was_recorded() {
    let lab = Lab::new();
    if !can_be_nobody(&lab) || !needs("fuse2fs") {
        return;
    }
    if !has_name_spaces() {
        return skip(USER_NAMESPACES);
    }
    let writer = lab.write("writer.py", WRITER);
    let price = |how: &str| {
        let words = ["--json", "price", "--syscalls", "--runs", "1", "--", "python3", text(&writer), how];
        let mut command = lab.wrapped(&AS_NOBODY, &words);
        command.current_dir(lab.beside(""));
        Live::start(command).end().ok()
    };
    let ended = price("table");
    let (table, both) = (ended.json_lines().remove(0), price("both").json_lines().remove(0));
    assert!(ended.err.contains("fuse2fs"), "{}", ended.err);
    assert_eq!(table["file_system"], "ext4 (fuse2fs)");
    assert_eq!(table["syscalls"]["fsync"][0], 20, "{table}");
    let flushes = |bill: &Value| bill["counts"]["flushes"][0].as_u64().expect("a count");
    // fuse2fs issues two flushes for each one requested.
    assert!(flushes(&table) >= 20, "{table}");
    assert!(flushes(&both) >= flushes(&table) + 20, "{both}");
    assert_eq!(system("pgrep", &["-u", "nobody", "fuse2fs"]), None, "nobody's file system has ended");
}

fn has_name_spaces() -> bool {
    let words = [&AS_NOBODY[1..], &["unshare", "--user", "--map-root-user", "--mount", "true"]].concat();
    system(AS_NOBODY[0], &words).is_some()
}
