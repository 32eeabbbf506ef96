//! Programs whose calls are known to lose data in a power cut, and programs that protect their data,
//! under `kurabe on --cut-power` without a check.
//!
//! The defective ones are of the kinds that C³ (Jiang et al., FSE 2016) found in 14 programs, and those
//! of LazyFS' bugs (Ramos et al., PVLDB 2024) whose calls are known. Each is re-created as a sequence of
//! calls in a folder of its own, and runs in a process of its own.

use crate::attaching::can_attach;
use crate::lab::{Lab, text};
use crate::system::{making_loop_devices, python};
use kurabe_testkit::needs::needs;
use std::collections::BTreeSet;

/// Runs each line of a file: a folder, and calls separated by semicolons.
const INTERPRETER: &str = r"
import os, sys
def run(call, *words):
    if call == 'read':
        os.close(os.open(words[0], os.O_RDONLY))
    elif call == 'create':
        os.close(os.open(words[0], os.O_CREAT | os.O_WRONLY))
    elif call == 'empty':
        os.close(os.open(words[0], os.O_WRONLY | os.O_TRUNC))
    elif call == 'write':
        file = os.open(words[0], os.O_WRONLY)
        os.pwrite(file, b'n' * int(words[2]), int(words[1]))
        os.close(file)
    elif call == 'fsync':
        file = os.open(words[0], os.O_RDONLY)
        os.fsync(file)
        os.close(file)
    elif call == 'rename':
        os.rename(*words)
    elif call == 'unlink':
        os.unlink(words[0])
    else:
        sys.exit(f'no call {call}')
for line in open(sys.argv[1]):
    folder, calls = line.split(':')
    child = os.fork()
    if child == 0:
        os.chdir('defects/' + folder)
        for call in calls.split(';'):
            run(*call.split())
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit(line)
";

/// Name of a program, its calls, and the unsafe order that must be reported with its file; `None` for a
/// defect that calls alone do not show.
type Program = (&'static str, &'static str, Option<(&'static str, &'static str)>);

const IN_PLACE: &str = "read a; empty a; write a 0 4096; write a 4096 2004";
const BY_RENAME: &str = "read a; create a.tmp; write a.tmp 0 6100; rename a.tmp a";
const COMPRESSED: &str = "read a; create a.z; write a.z 0 3000; unlink a";

/// As found by C³.
const COMPRESSORS_AND_EDITORS: [Program; 14] = [
    ("gzip", COMPRESSED, Some(("source-removed", "a.z"))),
    ("bzip2", COMPRESSED, Some(("source-removed", "a.z"))),
    ("xz", COMPRESSED, Some(("source-removed", "a.z"))),
    ("sort-o", IN_PLACE, Some(("old-content-destroyed", "a"))),
    ("shuf-o", IN_PLACE, Some(("old-content-destroyed", "a"))),
    ("ed", IN_PLACE, Some(("old-content-destroyed", "a"))),
    ("brackets", IN_PLACE, Some(("old-content-destroyed", "a"))),
    ("texstudio", IN_PLACE, Some(("old-content-destroyed", "a"))),
    ("mogrify", IN_PLACE, Some(("old-content-destroyed", "a"))),
    ("sed-i", BY_RENAME, Some(("rename-before-data", "a"))),
    ("zip", BY_RENAME, Some(("rename-before-data", "a"))),
    ("preferences", BY_RENAME, Some(("rename-before-data", "a"))),
    ("linker", "write a 0 4096; write a 4096 1904", Some(("old-content-destroyed", "a"))),
    // The new object file is taken for complete by make, because its time is new.
    ("compiler", "read a; empty b; write b 0 900", Some(("old-content-destroyed", "b"))),
];

/// As reproduced by LazyFS.
const DATABASES: [Program; 5] = [
    // Statistics of PostgreSQL 12, CURRENT of LevelDB 1.12, and the access list of Redis 7.0.4.
    ("postgresql", "create t; write t 0 900; rename t pgstat", Some(("rename-before-data", "pgstat"))),
    (
        "leveldb",
        "create 1.tmp; write 1.tmp 0 16; rename 1.tmp CURRENT",
        Some(("rename-before-data", "CURRENT")),
    ),
    ("redis", "create acl.tmp; write acl.tmp 0 90; rename acl.tmp a", Some(("rename-before-data", "a"))),
    // A credential of the Lightning Network Daemon without any fsync: so are files that may be lost.
    ("lnd", "create admin.macaroon; write admin.macaroon 0 200", None),
    // The header of a new log of ZooKeeper and its first records have one fsync, and only the reader
    // knows whether it notices that the header is missing.
    ("zookeeper", "create log.1; write log.1 0 16; write log.1 16 500; fsync log.1; fsync .", None),
];

const PROTECTED: [Program; 4] = [
    ("replaced", "create t; write t 0 6100; fsync t; rename t a; fsync .", None),
    ("compressed", "read a; create a.z; write a.z 0 3000; fsync a.z; fsync .; unlink a", None),
    (
        "swapped",
        "read a; create s; write s 0 6000; fsync s; fsync .; empty a; write a 0 6100; fsync a; unlink s",
        None,
    ),
    ("appended", "write a 6000 100; fsync a; write a 6100 100; fsync a", None),
];

/// Runs programs with a power cut, and returns their unsafe orders.
fn reported(programs: &[Program]) -> BTreeSet<(String, String)> {
    let lab = Lab::new();
    let folder = lab.beside("defects");
    let mut lines = String::new();
    for (name, calls, _) in programs {
        std::fs::create_dir_all(folder.join(name)).unwrap();
        for file in ["a", "b"] {
            std::fs::write(folder.join(name).join(file), [b'o'; 6000]).unwrap();
        }
        lines += &format!("{name}:{calls}\n");
    }
    let (interpreter, lines) = (lab.write("interpreter.py", INTERPRETER), lab.write("calls", lines));
    let python = python();
    let making = making_loop_devices();
    let words = ["--json", "-q", "on", "model:ssd-sata", "--cut-power", "--with", text(&folder), "--"];
    let ended = lab.kurabe(&[&words[..], &[&*python, text(&interpreter), text(&lines)]].concat());
    drop(making);
    let line = ended.json_lines().into_iter().find(|line| line.get("orders").is_some());
    let orders = line.unwrap_or_else(|| panic!("{ended:#?}"))["orders"].clone();
    let word = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    orders.as_array().unwrap().iter().map(|order| (word(&order["kind"]), word(&order["file"]))).collect()
}

fn check(programs: &[Program]) -> usize {
    let expected = programs.iter().filter_map(|(name, _, defect)| {
        defect.map(|(kind, file)| (kind.to_owned(), format!("defects/{name}/{file}")))
    });
    let expected: BTreeSet<(String, String)> = expected.collect();
    assert_eq!(reported(programs), expected);
    expected.len()
}

fn can_cut() -> bool {
    needs("python3") && can_attach()
}

#[test]
fn defects_of_compressors_editors_and_databases_are_reported_with_their_files() {
    if !can_cut() {
        return;
    }
    assert_eq!(check(&COMPRESSORS_AND_EDITORS), 14);
    // ZooKeeper's fsync would count as a log of what others change, so it runs alone.
    assert_eq!(check(&DATABASES[..4]) + check(&DATABASES[4..]), 3);
}

/// Alone, because the fsync of one could protect what another changes.
#[test]
#[ignore = "slow"]
fn programs_that_protect_their_data_are_not_reported() {
    if can_cut() {
        PROTECTED.iter().for_each(|program| assert_eq!(check(std::slice::from_ref(program)), 0));
    }
}
