//! The procedures of other tools, run completely on small targets.

use crate::lab::{Lab, list_of, names, notices, number, text};
use crate::system::{LoopDevice, system};
use kurabe_testkit::needs::{MOUNT, ROOT, TRACER, needs, skip};
use serde_json::Value;

fn cells(record: &Value) -> Vec<(String, String)> {
    list_of(&record["cells"])
        .iter()
        .map(|cell| (cell["label"].as_str().unwrap().to_owned(), cell["part"].as_str().unwrap().to_owned()))
        .collect()
}

fn cell<'a>(record: &'a Value, part: &str) -> &'a Value {
    list_of(&record["cells"])
        .iter()
        .find(|cell| cell["part"] == part)
        .unwrap_or_else(|| panic!("a cell {part}"))
}

#[test]
#[ignore = "slow"]
fn gnome_disks_samples_a_file_and_leaves_its_bytes_as_they_are() {
    let lab = Lab::new();
    let content: Vec<u8> = (0..24 << 20).map(|at: u32| (at / 4096 * 7 + at) as u8).collect();
    let file = lab.write("target/device", &content);
    let record = lab.measure(&file, &["--profile", "gnome-disks", "--write-existing"]);
    assert_eq!(std::fs::read(&file).unwrap(), content, "the data read are written back");
    let read = list_of(&cell(&record, "read")["repetitions"][0]["samples"]);
    let write = list_of(&cell(&record, "write")["repetitions"][0]["samples"]);
    assert_eq!((read.len(), write.len()), (100, 100));
    let size = content.len() as u64;
    for (n, sample) in read.iter().enumerate() {
        let expected = n as u64 * size / 100 / 4096 * 4096;
        assert_eq!(number(&sample["offset_bytes"]), expected);
        assert_eq!(
            number(&sample["bytes"]),
            (10 << 20).min(size - expected),
            "a short last sample counts as it is"
        );
    }
    let access = list_of(&record["cells"]).iter().find(|cell| cell["measure"] == "access_time").unwrap();
    // From version 51 on, the first of the 1000 accesses does not count.
    assert_eq!(list_of(&access["repetitions"][0]["samples"]).len(), 999);
    let shown = lab.kurabe(&["show"]).ok().out;
    assert!(shown.contains("over the place on the target"), "{shown}");
    assert!(shown.contains("over the distance"), "{shown}");
}

#[test]
fn a_target_that_may_not_be_written_keeps_the_reads() {
    let lab = Lab::new();
    let file = lab.write("target/device", vec![1_u8; 24 << 20]);
    let record = lab.measure(&file, &["--profile", "gnome-disks"]);
    assert!(list_of(&record["cells"]).iter().all(|cell| cell["part"] == "read"), "{:?}", cells(&record));
    assert_eq!(notices(&record, "writes_left_out").len(), 1);
}

#[test]
fn the_delay_ratio_is_made_of_five_copies() {
    let lab = Lab::new();
    let record = lab.measure(&lab.target(), &["--profile", "delay-ratio", "--size", "16m", "--runs", "2"]);
    let parts: Vec<String> = cells(&record).into_iter().map(|(_, part)| part).collect();
    assert_eq!(parts, ["memory_read", "memory_write", "from_memory", "to_memory", "within"]);
    for cell in list_of(&record["cells"]) {
        let repetitions = list_of(&cell["repetitions"]);
        assert_eq!(repetitions.len(), 2);
        for repetition in repetitions {
            assert!(number(&repetition["elapsed_ns"]) > 0);
        }
    }
    let within = &cell(&record, "within")["repetitions"][0];
    assert_eq!(number(&within["read"]["bytes"]), 16 << 20);
    assert_eq!(number(&within["write"]["bytes"]), 16 << 20);
    let shown = lab.kurabe(&["show"]).ok().out;
    assert!(shown.contains("atio"), "{shown}");
}

#[test]
fn git_pull_is_a_real_one_and_leaves_nothing_behind() {
    if !needs("git") || !needs("sh") {
        return;
    }
    let lab = Lab::new();
    let record = lab.measure(&lab.target(), &["--profile", "git-pull", "--files", "200", "--runs", "2"]);
    let repetitions = list_of(&cell(&record, "command")["repetitions"]);
    assert_eq!(repetitions.len(), 2);
    assert!(repetitions.iter().all(|repetition| number(&repetition["elapsed_ns"]) > 0));
    assert_eq!(names(&lab.target()), [] as [&str; 0]);
}

#[test]
fn mdtest_makes_looks_at_and_removes_files_of_its_own() {
    let lab = Lab::new();
    for (profile, parts) in [
        ("mdtest-easy", &["create", "stat", "unlink"][..]),
        ("mdtest-hard", &["create", "stat", "read", "unlink"]),
    ] {
        let ended = lab.run(&lab.target(), &["--profile", profile, "--files", "100", "--runs", "2"]).ok();
        assert!(ended.out.contains("op/s"), "{}", ended.out);
        let record = lab.record("last");
        let measured: Vec<&str> =
            list_of(&record["cells"]).iter().map(|cell| cell["part"].as_str().unwrap()).collect();
        assert_eq!(measured, parts);
        for part in parts {
            let cell = cell(&record, part);
            let side = &cell["repetitions"][1][if cell["direction"] == "read" { "read" } else { "write" }];
            assert_eq!((&cell["measure"], number(&side["completed"])), (&"operations".into(), 400), "{part}");
        }
        assert_eq!(names(&lab.target()), [] as [&str; 0]);
        lab.kurabe(&["run", "model:ideal-ram-disk", "--profile", profile]).is_refusal(4, &["file names"]);
        let compared = lab.kurabe(&["compare", "last", "last"]);
        assert_eq!(compared.code(), Some(2), "the same run: {compared:?}");
    }
}

/// The system calls match the step.
#[test]
#[ignore = "slow"]
fn mdtest_makes_one_call_for_each_file_that_is_looked_at_renamed_or_removed() {
    let lab = Lab::new();
    let profile = lab.write(
        "names.toml",
        "schema = 1\nname = \"names\"\ntitle = { en = \"names\", ja = \"名前\" }\nstatistic = \"mean\"\n\
         [rules]\nsize = \"1 MiB\"\nruns = 2\ntime = \"1 s\"\n\
         [[step]]\nkind = \"metadata\"\nfiles = 250\nthreads = 2\nsync = true\nwrite_size = \"1k\"\n",
    );
    let log = lab.beside("calls");
    let strace =
        ["strace", "-f", "-qq", "-e", "trace=openat,newfstatat,renameat,unlinkat,fsync", "-o", text(&log)];
    if std::process::Command::new("strace")
        .args(["-qq", "true"])
        .output()
        .is_ok_and(|done| done.status.success())
    {
        let target = lab.target();
        let words = ["run", text(&target), "--profile", text(&profile)];
        assert!(lab.wrapped(&strace, &words).output().unwrap().status.success());
        let calls = std::fs::read_to_string(&log).unwrap();
        let count = |call: &str, name: &str| {
            let of_step =
                |line: &&str| line.contains(call) && line.contains(name) && !line.contains("resumed");
            calls.lines().filter(of_step).count()
        };
        for thread in 0..2 {
            let (first, second) = (format!("\"f{thread}-"), format!("\"r{thread}-"));
            // Each file is created, and read.
            assert_eq!(count("openat(", &first), 2 * 2 * 250);
            assert_eq!((count("newfstatat(", &first), count("renameat(", &first)), (500, 500));
            assert_eq!((count("unlinkat(", &second), count("unlinkat(", &first)), (500, 0));
        }
        assert!(count("fsync(", "") >= 1000);
    } else {
        skip(TRACER);
    }
}

#[test]
fn a_command_of_ones_own_is_shown_before_it_runs() {
    if !needs("sh") {
        return;
    }
    let lab = Lab::new();
    let profile = lab.write(
        "mine.toml",
        "schema = 1\nname = \"mine\"\ntitle = { en = \"mine\", ja = \"自作\" }\nstatistic = \"mean\"\n\
         [rules]\nsize = \"1 MiB\"\nruns = 2\ntime = \"1 s\"\n\
         [[step]]\nkind = \"command\"\nprepare = [[\"mkdir\", \"{work}\"]]\n\
         command = [\"cp\", \"/proc/self/stat\", \"{work}/copy\"]\nrestore = [[\"rm\", \"{work}/copy\"]]\n",
    );
    let ended = lab.run(&lab.target(), &["--profile", text(&profile)]).ok();
    assert!(ended.err.contains("cp /proc/self/stat"), "{}", ended.err);
    assert!(ended.out.contains("cp"), "{}", ended.out);
    let failing =
        lab.write("failing.toml", std::fs::read_to_string(&profile).unwrap().replace("\"cp\"", "\"false\""));
    lab.run(&lab.target(), &["--profile", text(&failing)]).is_refusal(8, &["false"]);
    assert_eq!(names(&lab.target()), [] as [&str; 0], "the folder goes, whatever happened");
}

#[test]
#[ignore = "slow"]
fn rounds_end_with_a_window_of_repetitions() {
    let lab = Lab::new();
    let words = ["--profile", "snia-wsat-small", "--size", "8m", "--time", "50ms"];
    let record = lab.measure(&lab.target(), &words);
    for cell in list_of(&record["cells"]) {
        let counted = list_of(&cell["repetitions"])
            .iter()
            .filter(|repetition| repetition["discarded"] == false)
            .count();
        assert_eq!(counted, 5, "the figures are of the window");
    }
    let shown = lab.kurabe(&["show"]).ok().out;
    assert!(shown.contains("excursion") && shown.contains("slope"), "{shown}");
}

#[test]
#[ignore = "slow"]
fn scores_are_worked_out_from_the_cells() {
    let lab = Lab::new();
    let ended = lab.run(&lab.target(), &["--profile", "as-ssd", "--size", "32m", "--runs", "1"]).ok();
    assert!(ended.out.contains("core"), "{}", ended.out);
}

#[test]
fn a_tools_own_unit_stands_beside_ours() {
    let lab = Lab::new();
    let words =
        ["--profile", "kdiskmark-3", "--size", "8m", "--runs", "1", "--time", "100ms", "--interval", "0s"];
    let ended = lab.run(&lab.target(), &words).ok();
    assert!(ended.out.contains("tool's MB/s"), "{}", ended.out);
}

#[test]
fn flags_for_steps_that_are_not_there_are_refused() {
    let lab = Lab::new();
    lab.refuses(&lab.target(), &["--profile", "quick", "--chunk", "1m"], 2, &["--chunk"]);
    lab.refuses(&lab.target(), &["--profile", "quick", "--files", "10"], 2, &["--files"]);
    let file = lab.write("file", vec![0_u8; 1 << 20]);
    lab.refuses(&file, &["--profile", "git-pull"], 4, &["directory"]);
    lab.refuses(&file, &["--profile", "mdtest-easy"], 4, &["directory"]);
    lab.refuses(&lab.target(), &["--profile", "git-pull", "--size", "1m"], 2, &["--size"]);
    lab.refuses(&lab.target(), &["--profile", "delay-ratio", "--time", "1s"], 2, &["--time"]);
    lab.refuses(&lab.target(), &["--profile", "snia-iops-small", "--runs", "3"], 2, &["--runs", "rounds"]);
}

#[test]
fn rounds_whose_tracked_cells_are_left_out_end_after_a_window() {
    let lab = Lab::new();
    let file = lab.write("target/device", vec![3_u8; 4 << 20]);
    let record = lab.measure(&file, &["--profile", "snia-iops-small", "--time", "20ms"]);
    for cell in list_of(&record["cells"]) {
        assert_eq!(list_of(&cell["repetitions"]).len(), 5, "no more rounds than are counted");
    }
    let remarks = notices(&record, "other");
    assert!(remarks.iter().any(|text| text.contains("cannot be determined")), "{remarks:?}");
}

#[test]
fn preconditioning_that_does_not_fit_is_refused_and_nothing_is_written() {
    let lab = Lab::new();
    let content = vec![5_u8; 64 << 10];
    let file = lab.write("target/device", &content);
    let words = ["--profile", "snia-iops-small", "--time", "20ms", "--write-existing"];
    lab.refuses(&file, &words, 4, &["128 KiB", "--size"]);
    assert_eq!(std::fs::read(&file).unwrap(), content);
}

#[test]
#[ignore = "slow"]
fn what_will_be_written_is_told_before() {
    let lab = Lab::new();
    let file = lab.write("target/device", vec![5_u8; 8 << 20]);
    let planned = |target: &std::path::Path, words: &[&str]| {
        let lines = lab.run(target, &[words, &["--json"]].concat()).ok().json_lines();
        lines.into_iter().find(|line| line["event"] == "run_started").unwrap()["planned_write_bytes"].clone()
    };
    let delay = ["--profile", "delay-ratio", "--runs", "1"];
    // The test file, and two copies of it.
    assert_eq!(number(&planned(&lab.target(), &[&delay[..], &["--size", "4m"]].concat())), 3 * (4 << 20));
    // Half of the file, and two copies of that.
    assert_eq!(number(&planned(&file, &[&delay[..], &["--write-existing"]].concat())), 3 * (4 << 20));
    let small = ["--profile", "snia-iops-small", "--size", "4m", "--time", "20ms"];
    // The test file, which is written once more before the first cell.
    assert_eq!(number(&planned(&lab.target(), &small)), 2 * (4 << 20));
    let gnome = ["--profile", "gnome-disks", "--dry-run"];
    let shown = lab.run(&file, &gnome).ok().out;
    assert!(shown.contains("left out") && !shown.contains("will be written"), "{shown}");
    // Cells that end by time write as much as the target accepts, so the plan must not present the
    // test file as the total.
    let timed = lab.run(&lab.target(), &["--profile", "cdm-9", "--dry-run"]).ok().out;
    let path = lab.target().canonicalize().unwrap();
    for part in
        [path.to_str().unwrap(), "free: ", "writes 41.1 GB at 500 MB/s, up to 241.1 GB on a fast drive"]
    {
        assert!(timed.contains(part), "{part}: {timed}");
    }
}

#[test]
#[ignore = "slow"]
fn copies_for_which_there_is_no_room_are_refused_before_anything_is_written() {
    let Some(device) = LoopDevice::new(32 << 20) else { return };
    let Some(mount) = device.mount_ext4() else { return };
    let lab = Lab::new();
    let words = ["run", text(mount.point()), "--json", "--profile", "delay-ratio", "--size", "16m"];
    let ended = lab.kurabe(&words);
    assert_eq!(ended.code(), Some(7), "{ended:#?}");
    assert!(ended.json_lines().iter().all(|line| line["event"] != "fill_done"), "{}", ended.out);
    let suggested = ended.err.rsplit("--size ").next().expect("a size").trim();
    lab.run(mount.point(), &["--profile", "delay-ratio", "--runs", "1", "--size", suggested]).ok();
}

/// Writes a profile with one command.
fn command_profile(lab: &Lab, step: &str) -> std::path::PathBuf {
    lab.write(
        "command.toml",
        format!(
            "schema = 1\nname = \"c\"\ntitle = {{ en = \"c\", ja = \"c\" }}\nstatistic = \"mean\"\n[rules]\n\
             size = \"1 MiB\"\nruns = 1\ntime = \"1 s\"\n[[step]]\nkind = \"command\"\n{step}\n"
        ),
    )
}

#[test]
fn a_command_that_removes_its_folder_leaves_nothing() {
    if !needs("sh") {
        return;
    }
    let lab = Lab::new();
    let step = "command = [\"sh\", \"-c\", \"rm -r $(dirname $0)\", \"{work}\"]";
    lab.run(&lab.target(), &["--profile", text(&command_profile(&lab, step))]).ok();
    assert!(names(&lab.target()).is_empty());
}

#[test]
fn what_is_mounted_in_the_work_folder_is_not_removed() {
    let lab = Lab::new();
    let precious = lab.beside("precious");
    std::fs::create_dir(&precious).unwrap();
    let file = lab.write("precious/file", "x");
    let step = format!(
        "prepare = [[\"mkdir\", \"{{work}}\"], [\"mount\", \"--bind\", \"{}\", \"{{work}}\"]]\n\
         command = [\"true\"]\ncleanup = [[\"false\"]]",
        precious.display()
    );
    if !rustix::process::geteuid().is_root() {
        skip(ROOT);
        return;
    }
    let ended = lab.run(&lab.target(), &["--profile", text(&command_profile(&lab, &step))]);
    let left = names(&lab.target());
    if let Some(folder) = left.first() {
        system("umount", &[text(&lab.target().join(folder).join("0/work"))]);
    }
    if ended.err.contains("mount --bind") && ended.err.contains("exit code 32") {
        skip(MOUNT);
        return;
    }
    assert!(file.exists(), "{ended:#?}");
    ended.is_refusal(8, &["`false` failed", "still exists", "mounted"]);
}
