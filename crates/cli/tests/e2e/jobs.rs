//! fio job files as procedures: what they run, where, and what is refused before anything is
//! written.

use crate::lab::{Lab, list_of, names, number, text};
use crate::system::{python_with, system};
use kurabe_testkit::needs::needs;
use std::process::Command;

const JOBS: &str = "[global]\ndirect=1\nioengine=io_uring\nsize=4m\nruntime=50ms\ntime_based\n\
    group_reporting\n\n[seq]\nrw=write\nbs=1m\n\n\
    [random]\nstonewall\nrw=randread\nbs=4k\niodepth=8\nnorandommap\n";

#[test]
fn a_job_file_runs_section_by_section() {
    let lab = Lab::new();
    let (job, target) = (lab.write("mine.fio", JOBS), lab.target());
    let words = ["run", text(&job), text(&target), "--json"];
    let lines = lab.kurabe(&words).ok().json_lines();
    let record = lines.iter().find(|line| line["event"] == "record").expect("a record");
    let header = &record["run"]["header"];
    assert_eq!((&header["profile"]["name"], &header["target"]["direct"]), (&"mine.fio".into(), &true.into()));
    let cells = list_of(&record["run"]["cells"]);
    let done: Vec<_> = cells
        .iter()
        .map(|cell| {
            let workload = &cell["workload"];
            (
                cell["label"].clone(),
                workload["iodepth"].clone(),
                workload["block_sizes"][0]["size_bytes"].clone(),
            )
        })
        .collect();
    assert_eq!(
        done,
        [
            ("SEQ 1 MiB Q1 T1 · seq".into(), 1.into(), (1 << 20).into()),
            ("RND 4 KiB Q8 T1 · random".into(), 8.into(), 4096.into())
        ]
    );
    assert!(names(&target).is_empty(), "no test file stays");
    // The same job from another folder, and a notice of the differences from fio.
    let notes = lab.kurabe(&["run", text(&job), text(&target), "--lang", "en"]).ok().err;
    for part in ["ioengine=io_uring", "--runs", "group_reporting"] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
    let page = lab.kurabe(&["profiles", "show", text(&job)]).ok().out;
    assert!(page.contains("mine.fio") && page.contains("random"), "{page}");
    let plan = lab.kurabe(&["run", text(&job), text(&target), "--dry-run"]).ok().out;
    assert!(plan.contains("tests that write: 1"), "{plan}");
}

#[test]
fn a_job_goes_where_its_filename_says_and_writes_only_what_may_be_written() {
    let lab = Lab::new();
    let content = vec![7u8; 4 << 20];
    let file = lab.write("target/data", &content);
    let with = |name: &str| JOBS.replace("[seq]", &format!("filename={name}\n[seq]"));
    let job = lab.write("mine.fio", with(text(&file)));
    let ended = lab.kurabe(&["run", text(&job), "--json"]).ok();
    let lines = ended.json_lines();
    let record = lines.iter().find(|line| line["event"] == "record").expect("a record");
    assert_eq!(record["run"]["header"]["target"]["kind"], "file");
    assert_eq!(list_of(&record["run"]["cells"]).len(), 1, "the writes are left out");
    assert_eq!(std::fs::read(&file).expect("the file"), content, "a job's filename does not permit writing");
    // fio would create this file. kurabe creates its own test file next to it.
    let job = lab.write("new.fio", with(text(&lab.beside("target/none"))));
    lab.kurabe(&["run", text(&job)]).ok();
    assert_eq!(names(&lab.target()), ["data"]);
}

#[test]
fn what_a_job_file_cannot_be_is_refused_with_its_line() {
    let lab = Lab::new();
    let target = lab.target();
    let of = |name: &str, source: String| lab.write(name, source);
    let flow = of("flow.fio", JOBS.replace("stonewall", "trim_percentage=5"));
    lab.kurabe(&["run", text(&flow), text(&target)])
        .is_refusal(10, &["`trim_percentage`", "use separate jobs", "flow.fio:14:1"]);
    let job = of("mine.fio", JOBS.to_owned());
    lab.kurabe(&["run", text(&job), text(&target), "--bs", "4k"]).is_refusal(2, &["--bs", "job file"]);
    lab.kurabe(&["run", text(&target), text(&target)]).is_refusal(2, &["two targets", "kurabe versus"]);
    assert!(names(&target).is_empty() && lab.list().is_empty());
}

/// A fio command line with concurrent jobs.
const LINE: &str = "--size=4m --runtime=200ms --time_based --name=wal --rw=write --bs=8k --fdatasync=1 \
    --name=queries --rw=randread --bs 8k --iodepth=4 --ioengine=libaio --group_reporting --eta=never";

#[test]
fn a_line_of_fio_runs_as_it_is_here_and_on_a_model() {
    let lab = Lab::new();
    let target = lab.target();
    let line: Vec<&str> = LINE.split_whitespace().collect();
    let on = ["--on", text(&target), "--label", "name=real", "--json"];
    // kurabe's own options may appear anywhere.
    let lines = lab.kurabe(&[&["fio"], &line[..4], &on[..], &line[4..]].concat()).ok().json_lines();
    let record = &lines.iter().find(|line| line["event"] == "record").expect("a record")["run"];
    let cells = list_of(&record["cells"]);
    let called: Vec<_> = cells.iter().map(|cell| cell["label"].as_str().expect("a label")).collect();
    assert_eq!(called, ["SEQ 8 KiB Q1 T1 · wal", "RND 8 KiB Q4 T1 · queries"]);
    let done =
        |cell: usize, kind: &str| cells[cell]["repetitions"][0][kind]["completed"].as_u64().expect("a count");
    // The last write may still be waiting for its flush when time runs out.
    assert!(done(0, "write") > 0 && done(0, "sync").abs_diff(done(0, "write")) <= 1, "{record}");
    assert!(done(1, "read") > 0);
    assert!(names(&target).is_empty(), "no test file stays");
    // The same jobs on a drive that is not available here, with the differences.
    let modelled = [&["fio", "--on", "model:hdd-nas", "--against", "real"], &line[..]].concat();
    let shown = lab.kurabe(&[&modelled[..], &["--lang", "en"]].concat()).ok();
    for part in ["without effect here", "group_reporting", "--eta"] {
        assert!(shown.err.contains(part), "{part}: {}", shown.err);
    }
    assert!(shown.out.contains("queries") && shown.out.contains("beside"), "{}", shown.out);
    // Arguments of other programs are refused, and a user who mistakes `kurabe run` for fio is told
    // where fio's arguments go.
    let run = lab.kurabe(&["run", text(&target), "--group_reporting"]);
    assert!(run.code() == Some(2) && run.err.contains("kurabe fio"), "{}", run.err);
    lab.kurabe(&["fio", "--name=a", "--iodpeth=3"]).is_refusal(2, &["--iodpeth", "--iodepth"]);
    lab.kurabe(&["fio", "--name=a", "--rw=write", "--size=1m", "--readonly"]).is_refusal(2, &["--readonly"]);
    let planned = lab.kurabe(&[&["fio", "--parse-only", "--on", text(&target)], &line[..]].concat()).ok().out;
    assert!(planned.contains("tests that write: 1"), "{planned}");
    assert_eq!(lab.list().len(), 2);
}

#[test]
fn jobs_that_share_and_jobs_on_one_target_after_the_other() {
    let lab = Lab::new();
    let target = lab.target();
    let line = |words: &str| words.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let run = |words: &[String]| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        lab.kurabe(&[&["--lang", "en", "fio"], &words[..]].concat())
    };
    let shares = "--size=4m --bs=4k --on model:hdd-nas --json --runtime=1 --time_based --name=a \
        --rw=randread --flow=3 --name=b --rw=randread --flow=1 --exitall";
    let lines = run(&line(shares)).ok().json_lines();
    let record = &lines.iter().find(|line| line["event"] == "record").expect("a record")["run"];
    let done: Vec<u64> = list_of(&record["cells"])
        .iter()
        .map(|cell| cell["repetitions"][0]["read"]["completed"].as_u64().expect("a count"))
        .collect();
    assert!(done[0].abs_diff(3 * done[1]) <= 4, "{done:?}");
    // A job that waits and uses another file is a separate run, and fio's JSON has the jobs of
    // both.
    let [one, two] = ["one", "two"].map(|name| lab.write(&format!("target/{name}"), vec![7; 1 << 20]));
    let jobs = format!(
        "--direct=0 --rw=read --bs=64k --output-format=json --name=a --filename={} --name=b --stonewall \
         --direct=1 --filename={}",
        text(&one),
        text(&two)
    );
    let printed: serde_json::Value = serde_json::from_str(&run(&line(&jobs)).ok().out).expect("fio's JSON");
    let names_of_jobs: Vec<&str> =
        list_of(&printed["jobs"]).iter().filter_map(|job| job["jobname"].as_str()).collect();
    assert_eq!(names_of_jobs.len(), 2, "{printed}");
    assert_eq!(lab.list().len(), 3);
    run(&line(&format!("{jobs} --against last"))).is_refusal(2, &["2 runs", "kurabe compare"]);
    // The greatest depth within a latency, and its course over time in fio's format.
    let log = lab.beside("depth");
    let depth = format!(
        "--on model:ssd-sata --name=d --rw=randread --bs=4k --size=64m --ioengine=libaio --iodepth=128 \
         --latency_target=1000 --latency_window=50ms --latency_percentile=99 --runtime=1 --time_based \
         --write_lat_log={}",
        text(&log)
    );
    let shown = run(&line(&depth)).ok().out;
    assert!(shown.contains("is the greatest that keeps 99 % of the operations"), "{shown}");
    let lines = std::fs::read_to_string(format!("{}_lat.1.log", text(&log))).expect("a log");
    assert!(
        lines.lines().count() >= 10 && lines.lines().all(|line| line.split(", ").count() == 6),
        "{lines}"
    );
    let again = run(&line(&depth));
    assert!(again.code() == Some(6) && again.err.contains("already exists"), "{}", again.err);
    // If a device node does not exist, no file is created under its name.
    let missing = run(&line("--name=a --rw=read --size=1m --filename=/dev/no-such-disk"));
    assert!(missing.code() == Some(4) && missing.err.contains("/dev/no-such-disk"), "{}", missing.err);
    assert_eq!(names(&target), ["one", "two"]);
}

/// Jobs whose random offsets fio seeds and repeats in different ways.
const DRAWN_JOBS: [&str; 8] = [
    "rw=randread\nsize=1m",
    "rw=randread\nsize=1m\nnorandommap",
    "rw=randread\nsize=1m\nrandseed=42",
    "rw=randread\nsize=1m\nrandrepeat=0\nrandseed=42\nloops=2",
    "rw=randwrite\nsize=1m\nloops=3",
    "rw=randrw\nsize=8m\nio_size=12m",
    "rw=randread\nsize=1000k\noffset=300k\nrandom_generator=tausworthe64",
    "rw=randread\nsize=256k\n[b]\nstonewall\nsize=5m\n[c]\nstonewall\noffset=1m",
];

#[test]
#[ignore = "slow"]
fn random_places_are_those_of_the_fio_that_is_here() {
    if !needs("fio") {
        return;
    }
    let lab = Lab::new();
    let file = lab.target().join("test");
    for drawn in DRAWN_JOBS {
        let [file_log, list] = ["iolog", "operations.csv"].map(|name| lab.beside(name));
        let logged = |log: &str| {
            let global = format!("[global]\nfilename={}\nbs=4k\ninvalidate=0\n{log}", text(&file));
            // Options before the first section apply to all jobs.
            let (first, others) = drawn.split_once("[b]").unwrap_or((drawn, ""));
            let others = if others.is_empty() { String::new() } else { format!("[b]{others}") };
            format!("{global}{first}\n[a]\n{others}\n")
        };
        let [ours, theirs] = [("ours.fio", ""), ("theirs.fio", "write_iolog=iolog\n")]
            .map(|(name, log)| lab.write(name, logged(log)));
        let ran = Command::new("fio").arg(&theirs).current_dir(lab.beside("")).output().expect("fio");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let log = std::fs::read_to_string(&file_log).expect("fio's list");
        let offsets_of = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().rev().collect();
            (["read", "write"].contains(words.get(2)?)).then(|| words[1].parse::<u64>().expect("a place"))
        };
        let in_fio: Vec<u64> = log.lines().filter_map(offsets_of).collect();
        lab.kurabe(&["run", text(&ours), "--write-existing", "--per-request", text(&list)]).ok();
        let list_text = std::fs::read_to_string(&list).expect("the list");
        let here: Vec<u64> = list_text
            .lines()
            .skip(1)
            .map(|line| line.split(',').nth(3).expect("a place").parse().expect("a number"))
            .collect();
        assert_eq!(here, in_fio, "{drawn}");
        for path in [&file_log, &list, &file] {
            std::fs::remove_file(path).expect("a file");
        }
    }
}

#[test]
fn discards_of_fio_and_of_kurabe_are_one_cell() {
    let lab = Lab::new();
    let line = ["fio", "--on", "model:ssd-sata", "--name=t", "--rw=randtrim", "--bs=64k", "--size=4m"];
    lab.kurabe(&[&line[..], &["--label", "name=own"]].concat()).ok();
    let printed = lab.kurabe(&[&line[..], &["--output-format=json"]].concat()).ok().out;
    let file = lab.write("fio.json", printed);
    lab.kurabe(&["import", text(&file)]).ok();
    let pairs = lab.kurabe(&["compare", "own", "last", "--json"]).ok().json_lines();
    let cells = list_of(&pairs[0]["comparison"]["cells"]);
    assert_eq!(cells.len(), 1, "{pairs:?}");
}

#[test]
fn a_job_ends_when_it_is_steady_and_its_pages_are_written() {
    let lab = Lab::new();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let run = |line: &str| {
        let words = words(line);
        lab.kurabe(&words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    // A drive with a write cache: the first rounds differ from the last.
    let steady =
        run("fio --on model:ssd-sata --json --name=a --rw=randread --bs=4k --size=64m --runtime=10 \
         --time_based --steadystate=iops:5% --ss_dur=500ms");
    let lines = steady.ok().json_lines();
    let record = &lines.iter().find(|line| line["event"] == "record").expect("a record")["run"];
    let repetitions = list_of(&record["cells"][0]["repetitions"]);
    assert!((5..25).contains(&repetitions.len()), "{}", repetitions.len());
    run("fio --on model:ssd-sata --name=a --rw=read --steadystate=iops:5%")
        .is_refusal(3, &["steadystate_duration"]);
    // sync_file_range is a separate call, made once for this many writes.
    let target = lab.target();
    let line = format!(
        "fio --on {} --json --direct=0 --name=a --rw=write --bs=4k --size=1m --sync_file_range=write:8",
        text(&target)
    );
    let lines = run(&line).ok().json_lines();
    let record = &lines.iter().find(|line| line["event"] == "record").expect("a record")["run"];
    let repetition = &record["cells"][0]["repetitions"][0];
    assert_eq!(
        (number(&repetition["write"]["completed"]), number(&repetition["sync"]["completed"])),
        (256, 32)
    );
    run(&format!("{line} --end_fsync=1")).is_refusal(3, &["sync_file_range"]);
}

#[test]
fn blocks_are_discarded_in_files_and_on_models_and_never_without_leave() {
    let lab = Lab::new();
    let blocks =
        |file: &std::path::Path| std::os::unix::fs::MetadataExt::blocks(&file.metadata().expect("a file"));
    let file = lab.write("target/mine", vec![7; 1 << 20]);
    let whole = blocks(&file);
    let line = |words: &str| {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        lab.kurabe(
            &[&["--lang", "en", "fio"], &words.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat(),
        )
    };
    let named = format!("--name=a --filename={} --bs=64k --size=1m", text(&file));
    let refused = line(&format!("{named} --rw=randtrim"));
    assert!(refused.code() != Some(0) && refused.err.contains("--write-existing"), "{}", refused.err);
    assert!(std::fs::read(&file).expect("a file").iter().all(|byte| *byte == 7));
    let printed = |words: &str| -> serde_json::Value {
        serde_json::from_str(&line(&format!("{words} --output-format=json")).ok().out).expect("fio's JSON")
    };
    let done = |result: &serde_json::Value| {
        ["read", "write", "trim"].map(|side| number(&result["jobs"][0][side]["total_ios"]))
    };
    let leave = "--write-existing";
    assert_eq!(done(&printed(&format!("{named} {leave} --rw=randtrim"))), [0, 0, 16]);
    assert!(blocks(&file) < whole / 2 && file.metadata().expect("a file").len() == 1 << 20, "a hole");
    assert_eq!(done(&printed(&format!("{named} {leave} --rw=trimwrite"))), [0, 16, 16]);
    assert_eq!(blocks(&file), whole);
    // On a model, trim depends on the model.
    let modelled = "--on model:ssd-sata --name=a --rw=randtrim --bs=64k --size=16m";
    assert_eq!(done(&printed(modelled)), [0, 0, 256]);
    let shown = line(modelled).ok().out;
    assert!(shown.contains("RND 64 KiB Q1 T1 trim · a"), "{shown}");
    let none = line("--on model:hdd-nas --name=a --rw=trim --size=1m");
    assert!(none.code() != Some(0) && none.err.contains("does not support discards"), "{}", none.err);
    // CPU affinity of the threads, and I/O through a mapping.
    assert_eq!(
        done(&printed(&format!("{named} {leave} --rw=write --ioengine=mmap --cpus_allowed=0"))),
        [0, 16, 0]
    );
    let nowhere = line(&format!("{named} --rw=read --cpus_allowed=8191"));
    assert!(nowhere.code() != Some(0) && nowhere.err.contains("CPUs [8191]"), "{}", nowhere.err);
}

#[test]
fn what_a_job_writes_is_read_back_where_it_says_verify() {
    let lab = Lab::new();
    let target = lab.target();
    let on = ["fio", "--on", text(&target)];
    let jobs = "--size=2m --direct=1 --verify=crc32c --do_verify=1 --verify_fatal=1 --ioengine=libaio \
        --iodepth=4 --name=a --rw=randwrite --bs=4k --name=b --rw=write --bs=64k";
    let words: Vec<&str> = jobs.split_whitespace().collect();
    let shown = lab.kurabe(&[&on[..], &words].concat()).ok().out;
    assert!(shown.contains("4 MiB were read back, and all of them contain the written data"), "{shown}");
    assert!(names(&target).is_empty(), "no test file stays");
    for (jobs, part) in [
        ("--name=a --rw=read --size=1m --verify=md5", "no writes are made"),
        ("--name=a --rw=write --size=1m --bs=2300 --verify=md5", "whole sectors"),
    ] {
        let words: Vec<&str> = jobs.split_whitespace().collect();
        lab.kurabe(&[&on[..], &words].concat()).is_refusal(10, &[part]);
    }
    // A model has no data, so verification is skipped with a notice.
    let modelled = [&["fio", "--on", "model:hdd-nas"][..], &words].concat();
    assert!(lab.kurabe(&modelled).ok().err.contains("no data to compare"));
}

#[test]
fn an_exported_job_runs_again_and_meets_its_run() {
    let lab = Lab::new();
    let target = lab.target();
    let words = ["--rw", "randread", "--bs", "8k", "--size", "4m", "--time", "20ms", "--engine", "uring"];
    lab.kurabe(&[&["run", text(&target)][..], &words].concat()).ok();
    let exported = lab.kurabe(&["export", "last", "--format", "fio"]).ok().out;
    let job = lab.write("again.fio", exported);
    lab.kurabe(&["run", text(&job), text(&target)]).ok();
    let runs = lab.list();
    let ids: Vec<&str> = runs.iter().filter_map(|run| run["id"].as_str()).collect();
    let line = lab.kurabe(&["compare", ids[0], ids[1], "--json"]).ok().json_lines().remove(0);
    let cells = list_of(&line["comparison"]["cells"]);
    assert_eq!(cells.len(), 1);
    assert!(cells[0]["counterpart"].is_null(), "the same work: {line}");
}

#[test]
#[ignore = "slow"]
fn work_meets_its_like_whoever_ran_it_and_whatever_it_is_called() {
    let lab = Lab::new();
    let target = lab.target();
    let jobs = "[global]\nioengine=libaio\ndirect=1\nfilename=data\nsize=4m\nruntime=1\ntime_based\n\
        [db reads]\nrw=randread\nbs=4k\niodepth=8\n\
        [mixed]\nstonewall\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=4\nnumjobs=2\n";
    let job = lab.write("mine.fio", jobs);
    let printed = lab.beside("fio.json");
    let output = format!("--output={}", text(&printed));
    let directory = format!("--directory={}", text(&target));
    if !needs("fio") {
        return;
    }
    system("fio", &[text(&job), &directory, "--output-format=json", &output]).expect("fio runs");
    lab.kurabe(&["import", text(&printed), "--quiet"]).ok();
    let single =
        ["--rw", "randread", "--bs", "4k", "--iodepth", "8", "--size", "4m", "--time", "1s", "--runs", "1"];
    lab.kurabe(&["run", text(&job), text(&target), "--quiet"]).ok();
    lab.run(&target, &[&single[..], &["--quiet"]].concat()).ok();
    // The same with other names of the jobs and of the file.
    let other = lab.write("other.fio", jobs.replace("db reads", "x").replace("mixed", "y"));
    lab.kurabe(&["run", text(&other), text(&target), "--quiet"]).ok();
    let renamed =
        std::fs::read_to_string(&printed).expect("JSON").replace("db reads", "x").replace("mixed", "y");
    let renamed = lab.write("renamed.json", renamed.replace("\"timestamp\" : ", "\"timestamp\" : 1"));
    lab.kurabe(&["import", text(&renamed), "--quiet"]).ok();
    let runs = lab.list();
    let ids: Vec<&str> = runs.iter().filter_map(|run| run["id"].as_str()).collect();
    let [fio, by_job, by_words, again, by_fio_again] = ids[..] else { panic!("{ids:?}") };
    let met = |one: &str, two: &str| {
        let line = lab.kurabe(&["compare", one, two, "--json"]).ok().json_lines().remove(0);
        let cells = list_of(&line["comparison"]["cells"]);
        assert!(cells.iter().all(|cell| cell["counterpart"].is_null()), "{line}");
        let [one, two] = ["only_baseline", "only_other"].map(|only| list_of(&line["comparison"][only]).len());
        (cells.len(), one, two)
    };
    assert_eq!(met(fio, by_job), (2, 0, 0), "the reads and writes of two threads each are one mix");
    assert_eq!(met(by_job, again), (2, 0, 0));
    assert_eq!(met(fio, by_words), (1, 1, 0), "only the reads");
    assert_eq!(met(by_job, by_words), (1, 1, 0));
    assert!(met(fio, by_fio_again).0 >= 2);
    let page = lab.kurabe(&["compare", fio, by_words]).ok().out;
    assert!(page.contains("read RND 4 KiB Q8 T1 · db reads"), "{page}");
    let histories = lab.kurabe(&["history", "--json"]).ok().json_lines();
    let series: Vec<usize> = histories.iter().map(|line| list_of(&line["history"]["runs"]).len()).collect();
    let has_device = !list_of(&lab.record(by_job)["header"]["environment"]["devices"]).is_empty();
    assert!(!has_device || series == [4], "both of fio's and both of the job's: {series:?}");
}

#[test]
#[ignore = "slow"]
fn fio_plot_draws_what_is_written_as_fio_writes_it() {
    let Some(python) = python_with(&["fio-plot"]) else { return };
    let lab = Lab::new();
    let folder = lab.beside("results");
    std::fs::create_dir(&folder).expect("a folder");
    for depth in ["1", "8"] {
        let (depth_word, output) =
            (format!("--iodepth={depth}"), folder.join(format!("randread-{depth}-1.json")));
        let output = format!("--output={}", text(&output));
        let words = [
            "fio",
            "--name=randread",
            "--rw=randread",
            "--bs=4k",
            "--ioengine=libaio",
            "--direct=1",
            "--size=16m",
        ];
        let rest =
            [&depth_word, "--runtime=50ms", "--on", "model:samsung-980", "--output-format=json", &output];
        lab.kurabe(&[&words[..], &rest[..]].concat()).ok();
    }
    let picture = lab.beside("out.png");
    let words = [
        "-i",
        text(&folder),
        "-T",
        "kurabe",
        "-s",
        "kurabe",
        "-l",
        "-r",
        "randread",
        "-n",
        "1",
        "-o",
        text(&picture),
    ];
    let fio_plot = python.with_file_name("fio-plot");
    let drawn = Command::new(fio_plot).args(words).args(["-d", "1", "8"]).output().expect("fio-plot");
    assert!(std::fs::read(&picture).is_ok_and(|bytes| bytes.starts_with(b"\x89PNG")), "{drawn:?}");
}
