//! Power cuts without a check command: what a program's own calls promise, compared with what a file
//! system shows, and the orders of calls that are unsafe.

use crate::attaching::can_attach;
use crate::lab::{Ended, Lab, text};
use crate::system::{making_loop_devices, python};
use kurabe_testkit::needs::needs;

/// Appends records to a log and makes each durable before it is acknowledged. `correct` makes the
/// log's name durable as well, and replaces a second file in the way that is safe everywhere.
const WRITER: &str = r#"
import os, sys, threading
is_correct = sys.argv[1] == 'correct'
folder = os.open('.', os.O_RDONLY)
log = os.open('log', os.O_CREAT | os.O_WRONLY | os.O_APPEND)
if is_correct:
    os.fsync(folder)
def replace(record):
    new = os.open('state.new', os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.write(new, b'%d' % record * 3000)
    os.fsync(new)
    os.close(new)
    os.rename('state.new', 'state')
    os.fsync(folder)
for record in range(12):
    os.write(log, b'%04d\n' % record)
    os.fsync(log)
    if is_correct:
        other = threading.Thread(target=replace, args=(record,))
        other.start()
        other.join()
"#;

fn can_cut() -> bool {
    needs("python3") && can_attach()
}

fn cut(lab: &Lab, words: &[&str]) -> Ended {
    let making = making_loop_devices();
    let ended = lab.kurabe(&[&["on", "-q", "model:ssd-sata", "--cut-power"][..], words].concat());
    drop(making);
    ended
}

#[test]
#[ignore = "slow"]
fn a_correct_program_and_sqlite_lose_nothing_and_are_not_reported() {
    if !can_cut() || !needs("sqlite3") {
        return;
    }
    let lab = Lab::new();
    let writer = lab.write("writer.py", WRITER);
    let sql = |mode: &str| {
        let insert = "insert into t select randomblob(900) from generate_series(1, 20);";
        format!("pragma journal_mode={mode}; create table t(a); {}", insert.repeat(4))
    };
    let (delete, wal) = (sql("delete"), sql("wal"));
    for command in [
        &["python3", text(&writer), "correct"][..],
        &["sqlite3", "t.db", &delete],
        &["sqlite3", "t.db", &wal],
    ] {
        let ended = cut(&lab, &[&["--seeds", "8", "--"][..], command].concat());
        let is_silent = ended.out.lines().filter(|line| line.contains("power cuts")).count() == 1
            && ended.out.contains("8 power cuts: nothing was lost")
            && !ended.out.contains("unsafe");
        assert!(ended.code() == Some(0) && is_silent, "{command:?}: {ended:#?}");
    }
}

#[test]
#[ignore = "slow"]
fn a_drive_that_ignores_flushes_breaks_a_promise_that_names_both_calls() {
    if !can_cut() {
        return;
    }
    let lab = Lab::new();
    let writer = lab.write("writer.py", WRITER);
    let words = ["--fault", "lie-about-flush", "--seeds", "6", "--", "python3", text(&writer), "correct"];
    let lost = cut(&lab, &words);
    assert!(lost.code() == Some(17) && lost.out.contains("lost acknowledged data"), "{lost:#?}");
    assert!(lost.out.contains("was lost after an acknowledged fsync("), "{lost:#?}");
    // The line before it has the seed.
    let before = lost.out.split("was lost after an acknowledged").next().unwrap();
    let seed = before.rsplit_once("repeat it with seed ").unwrap().1.lines().next().unwrap().to_owned();
    let words = [&["--seed", &seed, "--seeds", "1"][..], &words[..2], &words[4..]].concat();
    let again = cut(&lab, &words);
    assert!(again.code() == Some(17) && again.out.contains("was lost after an acknowledged"), "{again:#?}");
}

/// gzip, sort, sed and zip, as they are installed.
#[test]
#[ignore = "slow"]
fn unsafe_orders_of_installed_programs_are_reported() {
    if !can_attach() {
        return;
    }
    let lab = Lab::new();
    let lines: String = (0..3000).map(|line| format!("{line}\n")).collect();
    let file = lab.write("a", &lines);
    for (program, command, reported) in [
        ("gzip", "gzip a", "unlinkat(a) removes the source before"),
        ("sort", "sort -o a a", "destroy the old content"),
        ("sed", "sed -i s/1/2/ a", "gives a new file its name before"),
        ("zip", "zip -q z.zip a", "gives a new file its name before"),
    ] {
        if needs(program) {
            let ended = cut(&lab, &["--with", text(&file), "--seeds", "2", "--", "sh", "-c", command]);
            assert!(ended.out.contains(reported), "{program}: {ended:#?}");
        }
    }
}

/// The program of a real machine stops with it. Here it would go on, and acknowledge what is lost.
#[test]
fn a_program_stops_at_the_power_cut_and_never_sees_an_error() {
    if !can_cut() {
        return;
    }
    let lab = Lab::new();
    let seen = lab.beside("seen");
    let line = format!(
        "trap '' TERM HUP; while :; do echo x >> log; sync log 2> /dev/null || echo error >> {0}; done & \
         (while :; do echo y >> other; sync other 2> /dev/null || echo error >> {0}; done) & wait",
        text(&seen)
    );
    let ended = cut(&lab, &["40-writes", "--check", "true", "--", "sh", "-c", &line]);
    assert!(ended.code() == Some(0) && ended.out.contains("1 power cuts"), "{ended:#?}");
    assert!(!seen.exists(), "{}", std::fs::read_to_string(&seen).unwrap());
}

#[test]
fn each_fsync_of_the_chosen_file_fails_and_those_of_other_files_do_not() {
    if !can_cut() {
        return;
    }
    let lab = Lab::new();
    let (program, python) = (lab.write("program.py", SYNCER), python());
    let making = making_loop_devices();
    let words = ["--json", "-q", "on", "model:ssd-sata", "--fault", "error:fsync@wal"];
    let ended = lab.kurabe(&[&words[..], &["--", &*python, text(&program)]].concat());
    drop(making);
    // The number of fsyncs that failed, with the error of a disk.
    assert_eq!(ended.code(), Some(3), "{ended:#?}");
    assert!(ended.out.contains("error:fsync@wal"), "{ended:#?}");
}

/// Exits with the number of fsyncs of `wal` that failed.
const SYNCER: &str = r"
import errno, os, sys
failed = 0
for name in ['table', 'wal', 'old-wal'] * 3:
    file = os.open(name, os.O_CREAT | os.O_WRONLY)
    os.write(file, b'x')
    try:
        os.fsync(file)
    except OSError as error:
        failed += 1 if name == 'wal' and error.errno == errno.EIO else 100
sys.exit(failed)
";

#[test]
#[ignore = "slow"]
fn power_is_cut_before_the_chosen_fsync() {
    if !can_cut() {
        return;
    }
    let lab = Lab::new();
    let writer = lab.write("writer.py", WRITER);
    let check = "test $(wc -l < log) -eq 2";
    let words = ["3-fsync@log", "--check", check, "--", "python3", text(&writer), "plain"];
    let kept = cut(&lab, &words);
    assert_eq!(kept.code(), Some(0), "{kept:#?}");
    let none = cut(&lab, &["3-fsync@table", "--check", check, "--", "python3", text(&writer), "plain"]);
    assert!(none.err.contains("the command ended before fsync 3 of table"), "{none:#?}");
}
