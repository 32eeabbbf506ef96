//! `kurabe-mpi` under a real `mpirun`, with all ranks on this machine.

use crate::attaching::{DISK, Device};
use crate::lab::{Lab, Live, list_of, names, notices, number, text};
use crate::system::{Mount, system};
use kurabe_testkit::needs::{MOUNT, needs, skip};
use rustix::process::{Pid, Signal};
use serde_json::Value;
use std::process::Command;

/// Returns `kurabe-mpi` of this build, or the program in `KURABE_MPI_BIN`. In a build without the
/// feature `mpi` it returns `None`, and the test counts as skipped.
fn program() -> Option<String> {
    if !needs("mpirun") {
        return None;
    }
    let built = cfg!(feature = "mpi").then_some(option_env!("CARGO_BIN_EXE_kurabe-mpi")).flatten();
    let program = std::env::var("KURABE_MPI_BIN").ok().or_else(|| built.map(ToOwned::to_owned));
    if program.is_none() {
        skip("kurabe-mpi is not built (--features kurabe/mpi)");
    }
    program
}

/// Returns an `mpirun` command for groups of ranks: the number of ranks and the arguments of each
/// group.
fn mpirun(lab: &Lab, groups: &[(&str, &[&str])]) -> Option<Command> {
    let program = program()?;
    let mut command = lab.command(&[]);
    let environment: Vec<_> =
        command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
    command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe"]).current_dir(lab.beside("")).env_clear();
    for (name, value) in environment {
        command.env(name, value.unwrap_or_default());
    }
    for (place, (count, words)) in groups.iter().enumerate() {
        command.args((place > 0).then_some(":")).args(["-n", count, &program]);
        command.args((!matches!(words[0], "study" | "sweep")).then_some("run")).args(*words);
    }
    Some(command)
}

fn shares(record: &Value) -> Vec<Vec<u64>> {
    let ranks = |repetition: &Value| {
        list_of(&repetition["ranks"]["shares"]).iter().map(|share| number(&share["rank"])).collect()
    };
    list_of(&record["cells"][0]["repetitions"]).iter().map(ranks).collect()
}

/// Returns the only run of the store.
fn only_record(lab: &Lab) -> Value {
    let runs = lab.list();
    assert_eq!(runs.len(), 1, "{runs:?}");
    lab.record(runs[0]["id"].as_str().unwrap())
}

#[test]
#[ignore = "slow"]
fn ranks_are_one_run_and_leave_nothing() {
    for count in ["2", "4"] {
        let lab = Lab::new();
        let target = lab.target();
        let words = [text(&target), "--rw", "randread", "--size", "2m", "--time", "200ms", "--runs", "2"];
        let Some(command) = mpirun(&lab, &[(count, &words)]) else { return };
        let ended = Live::start(command).end().ok();
        assert_eq!(ended.out.matches("saved as").count(), 1, "one of them speaks: {}", ended.out);
        assert!(ended.out.contains(&format!("{count} ranks on 1 hosts")), "{}", ended.out);
        let record = only_record(&lab);
        let all: Vec<u64> = (0..count.parse().unwrap()).collect();
        assert_eq!(shares(&record), [all.clone(), all]);
        for repetition in list_of(&record["cells"][0]["repetitions"]) {
            let operations =
                list_of(&repetition["ranks"]["shares"]).iter().map(|share| number(&share["operations"]));
            assert_eq!(operations.sum::<u64>(), number(&repetition["read"]["latency"]["count"]));
        }
        assert_eq!(record["status"], "complete");
        assert_eq!(names(&target), [] as [&str; 0]);
        let stores = names(lab.store().parent().unwrap());
        assert!(!stores.iter().any(|name| name.contains("rank")), "{stores:?}");
    }
}

#[test]
#[ignore = "slow"]
fn ranks_share_the_models_of_a_study_and_the_result_is_that_of_one() {
    for words in [&["study", "run", "sata-usb"][..], &["study", "run", "sata-usb", "--json", "--seed", "7"]] {
        let lab = Lab::new();
        let alone = lab.kurabe(words).ok().out;
        for count in ["1", "2", "4"] {
            let Some(command) = mpirun(&lab, &[(count, words)]) else { return };
            assert!(Live::start(command).end().ok().out == alone, "{count} ranks");
        }
        // Rank 0 computes the points of a killed rank, and only computed points are reported.
        assert_eq!(lab.list().len(), 0);
    }
}

#[test]
#[ignore = "slow"]
fn ranks_share_the_steps_of_a_sweep_and_the_record_is_that_of_one() {
    let words = ["sweep", "model:samsung-980", "--max", "32MiB", "--time", "5ms", "--json"];
    let cells = |out: &str| -> Vec<Value> {
        let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
        lines.filter(|line| line["event"] == "record").map(|line| line["run"]["cells"].clone()).collect()
    };
    let alone = cells(&Lab::new().kurabe(&words).ok().out);
    assert!(list_of(&alone[0]).len() > 80, "{}", list_of(&alone[0]).len());
    for count in ["2", "4"] {
        let lab = Lab::new();
        let Some(command) = mpirun(&lab, &[(count, &words)]) else { return };
        assert!(cells(&Live::start(command).end().ok().out) == alone, "{count} ranks");
        assert_eq!(lab.list().len(), 1);
    }
    // Real storage has one state, which carries over from point to point.
    let lab = Lab::new();
    let target = lab.target();
    let Some(command) = mpirun(&lab, &[("2", &["sweep", text(&target), "--max", "1MiB"])]) else { return };
    let refused = Live::start(command).end();
    assert!(refused.err.contains("several ranks can sweep only models"), "{}", refused.err);
    assert_eq!(names(&target), [] as [&str; 0]);
}

#[test]
#[ignore = "slow"]
fn one_file_is_shared_by_all_and_read_by_others() {
    for words in [
        &["--shared=strided", "--rw", "write", "--bs", "4k", "--passes", "1"][..],
        &["--shared", "--reorder", "--rw", "read", "--bs", "4k", "--passes", "1"],
        &["--reorder", "--rw", "read", "--bs", "4k", "--passes", "1"],
    ] {
        let lab = Lab::new();
        let target = lab.target();
        let words = [&[text(&target), "--size", "1m", "--runs", "1"], words].concat();
        let Some(command) = mpirun(&lab, &[("4", &words)]) else { return };
        Live::start(command).end().ok();
        let record = only_record(&lab);
        for share in list_of(&record["cells"][0]["repetitions"][0]["ranks"]["shares"]) {
            assert_eq!((number(&share["bytes"]), number(&share["failed"])), (1 << 20, 0));
        }
        assert_eq!(names(&target), [] as [&str; 0]);
    }
}

#[test]
fn a_rank_whose_disk_is_full_is_named_and_the_others_are_measured() {
    let lab = Lab::new();
    let (target, small) = (lab.target(), lab.beside("small"));
    std::fs::create_dir(&small).unwrap();
    let Some(_mount) = Mount::new("tmpfs", "none", "size=1m", &small) else {
        skip(MOUNT);
        return;
    };
    let rest = ["--rw", "randread", "--size", "2m", "--time", "200ms", "--runs", "1"];
    let (good, full) = ([&[text(&target)], &rest[..]].concat(), [&[text(&small)], &rest[..]].concat());
    let Some(command) = mpirun(&lab, &[("2", &good), ("1", &full)]) else { return };
    let ended = Live::start(command).end();
    assert_eq!(ended.code(), Some(19), "{ended:#?}");
    assert!(ended.err.contains("rank 2 on ") && ended.err.contains("has only 1 MiB free"), "{ended:#?}");
    let record = only_record(&lab);
    assert_eq!(shares(&record), [[0, 1]]);
    assert_eq!(record["status"], "failed");
    assert!(notices(&record, "other").iter().any(|notice| notice.contains("rank 2 on ")));
    assert_eq!(names(&target), [] as [&str; 0]);
}

/// Finds the process of a rank by its environment.
fn process_of_rank(store: &str, rank: u32) -> Pid {
    let mine = format!("KURABE_DB={store}");
    let number = format!("OMPI_COMM_WORLD_RANK={rank}");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pid = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()).find(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let has = |word: &str| environment.split(|byte| *byte == 0).any(|own| own == word.as_bytes());
        has(&mine) && has(&number)
    });
    Pid::from_raw(pid.expect("the rank's process")).unwrap()
}

#[test]
fn a_rank_that_stands_still_is_given_up_and_the_others_come_to_their_end() {
    let lab = Lab::new();
    let target = lab.target();
    let words = [
        text(&target),
        "--rw",
        "randread",
        "--size",
        "2m",
        "--time",
        "500ms",
        "--runs",
        "6",
        "--patience",
        "2s",
        "--json",
        "--quiet",
    ];
    let Some(command) = mpirun(&lab, &[("3", &words)]) else { return };
    let mut live = Live::start(command);
    live.wait_for_out("repetition_done");
    rustix::process::kill_process(process_of_rank(text(&lab.store()), 1), Signal::STOP).unwrap();
    let ended = live.end();
    // Open MPI's launcher may die of its own signal when it ends the ranks. Its message then
    // contains the exit code.
    let is_told = ended.code().is_none() && ended.err.contains("with errorcode 19");
    assert!(ended.code() == Some(19) || is_told, "{ended:#?}");
    assert!(ended.err.contains("did not respond for 2 s"), "{ended:#?}");
    let record = only_record(&lab);
    let shares = shares(&record);
    assert_eq!((shares.len(), &shares[0], &shares[5]), (6, &vec![0, 1, 2], &vec![0, 2]));
}

/// Runs a program with a clock that is 5 ms ahead of the other clocks of this machine.
const AHEAD: &str = r#"
import ctypes, subprocess, sys
if ctypes.CDLL(None).unshare(0x80): sys.exit(77)
open("/proc/self/timens_offsets", "w").write("monotonic 0 5000000")
sys.exit(subprocess.call(sys.argv[1:]))
"#;

#[test]
fn a_clock_that_is_ahead_is_seen_within_its_bound() {
    if !needs("python3") {
        return;
    }
    if system("python3", &["-c", AHEAD, "true"]).is_none() {
        skip("the kernel refuses a time namespace (needs root)");
        return;
    }
    let lab = Lab::new();
    let target = lab.target();
    let words = [text(&target), "--rw", "randread", "--size", "2m", "--time", "100ms", "--runs", "1"];
    let Some(mut command) = mpirun(&lab, &[("1", &words)]) else { return };
    let Some(program) = program() else { return };
    command.args([":", "-n", "1", "python3", "-c", AHEAD, &program, "run"]).args(words);
    Live::start(command).end().ok();
    let rank = &only_record(&lab)["header"]["ranks"]["ranks"][1];
    let (offset_ns, bound_ns) = (rank["clock_offset_ns"].as_i64().unwrap(), number(&rank["clock_bound_ns"]));
    assert!((offset_ns + 5_000_000).unsigned_abs() <= bound_ns, "{rank}");
}

#[test]
fn words_of_several_processes_need_some() {
    let lab = Lab::new();
    lab.refuses(
        &lab.target(),
        &["--shared"],
        2,
        &["--shared needs several processes", "mpirun -n 4 kurabe-mpi"],
    );
}

#[test]
fn outputs_of_one_process_are_refused() {
    for flag in ["--per-request", "--verify"] {
        let lab = Lab::new();
        let target = lab.target();
        let file = lab.beside("operations");
        let words = [text(&target), "--rw", "write", "--size", "2m", "--time", "50ms", flag, text(&file)];
        let Some(command) = mpirun(&lab, &[("2", &words)]) else { return };
        let ended = Live::start(command).end();
        assert_eq!(ended.code(), Some(2), "{ended:#?}");
        assert_eq!(
            ended.err.matches(&format!("kurabe-mpi does not support {flag}")).count(),
            1,
            "{ended:#?}"
        );
        assert!(!file.exists() && lab.list().is_empty());
    }
}

#[test]
fn what_ranks_did_on_one_served_model_is_what_the_model_counted() {
    let lab = Lab::new();
    let Some(device) = Device::attach(&lab, &DISK) else { return };
    let path = text(device.path());
    let counted = || {
        let answer = &lab.kurabe(&["--json", "control", path, "stats"]).ok().json_lines()[0]["answer"];
        [number(&answer["reads"]), number(&answer["read_bytes"])]
    };
    let words = [
        path, "--shared", "--rw", "randread", "--bs", "4k", "--size", "64m", "--time", "500ms", "--runs",
        "1", // No trial before the run.
        "--engine", "threads",
    ];
    let Some(command) = mpirun(&lab, &[("4", &words)]) else { return };
    let before = counted();
    Live::start(command).end().ok();
    let after = counted();
    let record = only_record(&lab);
    let repetition = &record["cells"][0]["repetitions"][0];
    let all: Vec<&Value> = list_of(&repetition["ranks"]["shares"]).iter().collect();
    assert_eq!(all.len(), 4);
    let operations: u64 = all.iter().map(|share| number(&share["operations"])).sum();
    assert_eq!(operations, number(&repetition["read"]["latency"]["count"]));
    // Every process that opens a device probes it for partitions, which adds a few reads but never
    // removes one.
    let [reads, bytes] = [0, 1].map(|place| after[place] - before[place]);
    assert!(reads >= operations && reads <= operations + 200, "{reads} of {operations}");
    assert!(bytes >= operations << 12, "{bytes} of {operations} times 4096");
    // The four ranks waited for one server. The time that it took for each does not exceed what
    // they measured.
    assert!(all.iter().all(|share| number(&share["operations"]) > 0), "{all:?}");
    device.detach().ok();
}

#[test]
#[ignore = "slow"]
fn ranks_work_on_each_others_names_in_one_folder() {
    for profile in ["mdtest-easy", "mdtest-hard"] {
        let lab = Lab::new();
        let target = lab.target();
        let words = [text(&target), "--profile", profile, "--files", "20", "--runs", "2"];
        let Some(command) = mpirun(&lab, &[("2", &words)]) else { return };
        Live::start(command).end().ok();
        let record = only_record(&lab);
        for repetition in list_of(&record["cells"]).iter().flat_map(|cell| list_of(&cell["repetitions"])) {
            let done = |share: &Value| (number(&share["operations"]), number(&share["failed"]));
            let shares: Vec<_> = list_of(&repetition["ranks"]["shares"]).iter().map(done).collect();
            assert_eq!(shares, [(80, 0), (80, 0)], "{profile}");
        }
        assert_eq!(names(&target), [] as [&str; 0]);
    }
}

#[test]
fn all_of_io500_is_one_run_whose_score_says_why_it_is_not_valid() {
    let lab = Lab::new();
    let target = lab.target();
    let words = [text(&target), "--profile", "io500", "--files", "20", "--size", "4m", "--reorder"];
    let Some(command) = mpirun(&lab, &[("2", &words)]) else { return };
    let ended = Live::start(command).end().ok();
    for what in ["IO500 score [INVALID]", "ior-easy write took", "the minimum is 5 min"] {
        assert!(ended.out.contains(what), "{what}: {}", ended.out);
    }
    let record = only_record(&lab);
    let find = list_of(&record["cells"]).iter().find(|cell| cell["label"] == "find").unwrap();
    assert_eq!(number(&find["repetitions"][0]["read"]["latency"]["count"]), 2 * 4 * 20);
    assert_eq!(list_of(&record["cells"]).len(), 12);
    assert_eq!(names(&target), [] as [&str; 0]);
}
