//! Importing results of other tools, and exporting runs in formats for them and for people.

use crate::lab::{Lab, Live, SHORT, list_of, text};
use kurabe_testkit::needs::needs;

const CDM: &str = "------------------------------------------------------------------------------\r
CrystalDiskMark 8.0.1 x64 (C) 2007-2021 hiyohiyo\r
                                  Crystal Dew World: https://crystalmark.info/\r
------------------------------------------------------------------------------\r
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]\r
* KB = 1000 bytes, KiB = 1024 bytes\r
\r
[Read]\r
  SEQ    1MiB (Q=  8, T= 1):  3501.250 MB/s [   3339.1 IOPS] <  2392.11 us>\r
  RND    4KiB (Q=  1, T= 1):    61.440 MB/s [  15000.0 IOPS] <    66.42 us>\r
\r
[Write]\r
  SEQ    1MiB (Q=  8, T= 1):  3001.750 MB/s [   2862.7 IOPS] <  2790.33 us>\r
  RND    4KiB (Q=  1, T= 1):   204.800 MB/s [  50000.0 IOPS] <    19.78 us>\r
\r
Profile: Default\r
   Test: 1 GiB (x5) [D: 12% (112/931GiB)]\r
   Mode: [Admin]\r
   Time: Measure 5 sec / Interval 5 sec \r
   Date: 2021/02/05 11:16:10\r
     OS: Windows 10 Professional [10.0 Build 19042] (x64)\r
";

#[test]
fn a_result_of_another_tool_is_listed_shown_exported_and_removed_like_a_run() {
    let lab = Lab::new();
    let file = lab.write("result.txt", CDM);
    let ended = lab.kurabe(&["import", text(&file)]).ok();
    for words in ["3,501.2", "best of 5", "CrystalDiskMark 8.0.1", "result.txt"] {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    let run = &lab.list()[0];
    assert_eq!(
        (run["imported"].as_bool(), run["measured_at"].as_str()),
        (Some(true), Some("2021-02-05T11:16:10"))
    );
    let record = lab.record("last");
    assert_eq!(list_of(&record["cells"]).len(), 4);
    assert_eq!(record["cells"][0]["imported"]["figures"][0]["printed"], "3501.250");
    assert!(record["header"]["profile"].is_null(), "what the file does not tell is absent");
    // Importing the same file again does not create another run.
    lab.kurabe(&["import", text(&file)]).ok();
    assert_eq!(lab.list().len(), 1);
    let exported = lab.beside("run.json");
    lab.kurabe(&["export", "last", "-o", text(&exported)]).ok();
    lab.kurabe(&["show", "--details"]).ok();
    for format in ["csv", "markdown", "cdm-text", "fio"] {
        assert!(!lab.kurabe(&["export", "--format", format]).ok().out.is_empty());
    }
    lab.kurabe(&["rm", "last", "--yes"]).ok();
    lab.kurabe(&["import", text(&exported)]).ok();
    assert_eq!(lab.record("last")["cells"], record["cells"]);
}

#[test]
fn a_pasted_page_becomes_a_run_of_each_tool_and_a_trace_says_what_it_is() {
    let lab = Lab::new();
    let page = format!(
        "My disk:\n\n{CDM}\nand by hand:\n$ dd if=/dev/zero of=/srv/t bs=1M count=256 oflag=direct\n\
         256+0 Datensätze ein\n\
         256+0 Datensätze aus\n268435456 Bytes (268 MB, 256 MiB) kopiert, 2,04 s, 132 MB/s\n\
         /dev/sda:\n Timing buffered disk reads: 456 MB in seconds\n"
    );
    let file = lab.write("page.txt", &page);
    let mut command = lab.command(&["import", "-"]);
    command.stdin(std::fs::File::open(&file).expect("a file"));
    let ended = Live::start(command).end().ok();
    assert!(ended.out.contains("left out of this file: hdparm timings"), "{}", ended.out);
    let tools: Vec<String> = lab
        .list()
        .iter()
        .map(|run| {
            lab.record(run["id"].as_str().unwrap())["header"]["origin"]["tool"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(tools.len(), 2, "{tools:?}");
    assert!(tools.contains(&"CrystalDiskMark".to_owned()) && tools.contains(&"dd".to_owned()), "{tools:?}");
    let trace = lab.write("hm.csv", "128166372003061629,hm,0,Read,383496192,32768,413\n");
    lab.kurabe(&["import", text(&trace)]).is_refusal(11, &["is a trace (msr)", "kurabe run --replay"]);
}

#[test]
fn crystaldiskmarks_text_out_and_in_again_has_the_same_figures() {
    let lab = Lab::new();
    lab.run(&lab.target(), &SHORT).ok();
    let first = lab.kurabe(&["export", "--format", "cdm-text"]).ok().out;
    let file = lab.write("again.txt", &first);
    lab.kurabe(&["import", text(&file)]).ok();
    let figures = |words: &str| -> Vec<String> {
        words.lines().filter(|line| line.contains(" MB/s [")).map(str::to_owned).collect()
    };
    let second = lab.kurabe(&["export", "--format", "cdm-text"]).ok().out;
    assert!(figures(&first).len() >= 6, "{first}");
    assert_eq!(figures(&first), figures(&second));
}

#[test]
#[ignore = "slow"]
fn several_runs_go_into_one_table_but_not_into_one_job_file() {
    let lab = Lab::new();
    lab.run(&lab.target(), &SHORT).ok();
    lab.run(&lab.target(), &SHORT).ok();
    let ids: Vec<String> = lab.list().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect();
    let csv = lab.kurabe(&["export", &ids[0], &ids[1], "--format", "csv"]).ok().out;
    assert!(ids.iter().all(|id| csv.contains(id.as_str())), "{csv}");
    lab.kurabe(&["export", &ids[0], &ids[1], "--format", "fio"]).is_refusal(2, &["one run"]);
    lab.kurabe(&["export", &ids[0], &ids[1]]).is_refusal(2, &["one run"]);
}

#[test]
fn a_file_that_is_no_result_is_told_in_one_line_what_is_nearest() {
    let lab = Lab::new();
    let file = lab.write("notes.txt", "Shopping list\n- milk\n");
    lab.kurabe(&["import", text(&file)]).is_refusal(11, &["does not name a known tool"]);
    let near = lab.write("near.txt", "CrystalDiskMark 8 is a program\n- milk\n");
    let ended = lab.kurabe(&["import", text(&near)]);
    ended.is_refusal(11, &["the most similar kind is CrystalDiskMark text: ", "but no result line follows"]);
    assert!(lab.list().is_empty());
}

#[test]
fn fio_takes_the_job_and_its_result_comes_back() {
    if !needs("fio") {
        return;
    }
    let lab = Lab::new();
    lab.run(
        &lab.target(),
        &["--rw", "randread", "--bs", "4k", "--iodepth", "4", "--size", "4m", "--time", "200ms"],
    )
    .ok();
    let job = lab.write("job.fio", lab.kurabe(&["export", "--format", "fio"]).ok().out);
    let output = lab.beside("fio.json");
    let fio = std::process::Command::new("fio")
        .args(["--output-format=json", "--output", text(&output), text(&job)])
        .current_dir(lab.beside("."))
        .output()
        .unwrap();
    assert!(fio.status.success(), "{fio:?}");
    lab.kurabe(&["import", text(&output)]).ok();
    let record = lab.record("last");
    assert_eq!(record["header"]["origin"]["tool"], "fio");
    let read = list_of(&record["cells"]).iter().find(|cell| cell["direction"] == "read").unwrap();
    assert_eq!(read["imported"]["block_bytes"], 4096);
    // Either a ring with four operations in flight, or four threads with one each: kurabe chooses
    // by what it measured.
    let count = |key: &str| read["imported"][key].as_u64().unwrap();
    assert_eq!(count("iodepth") * count("threads"), 4);
}

/// smartctl's report of a drive behind a bridge.
const SMART: &str = r#"{"json_format_version":[1,0],"smartctl":{"version":[7,3]},"local_time":{"time_t":1612520000},
    "device":{"name":"/dev/sdb","protocol":"ATA"},"model_name":"Example SSD 500","serial_number":"S1",
    "interface_speed":{"max":{"string":"6.0 Gb/s"},"current":{"string":"3.0 Gb/s"}},
    "temperature":{"current":41},"power_on_time":{"hours":1234}}"#;

#[test]
fn health_of_a_drive_is_attached_to_its_run_and_refused_without_one() {
    let lab = Lab::new();
    let (cdm, smart) = (lab.write("result.txt", CDM), lab.write("smart.json", SMART));
    let refused = lab.kurabe(&["import", text(&smart)]);
    assert_eq!(refused.code(), Some(12), "{}", refused.err);
    for words in ["Example SSD 500, link 3.0 Gb/s of 6.0 Gb/s", "of which no run is stored", "--to RUN"] {
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
    }
    lab.kurabe(&["import", text(&cdm)]).ok();
    let id = lab.list()[0]["id"].as_str().unwrap().to_owned();
    let attached = lab.kurabe(&["import", text(&smart), "--to", "last"]).ok();
    assert!(attached.out.contains(&format!("attached to run {id}")), "{}", attached.out);
    let shown = lab.kurabe(&["show", "--details"]).ok();
    for words in ["Example SSD 500", "41 °C", "on for 1,234 h", "smart.json, 2021-02-05 10:13 UTC)"] {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
    // The next report is of the same drive by its serial number.
    let again = lab.kurabe(&["import", text(&smart)]).ok();
    assert!(again.out.contains("the same serial number"), "{}", again.out);
    let other = lab.write("other.json", SMART.replace("\"S1\"", "\"S2\""));
    let of_other = lab.kurabe(&["import", text(&other), "--to", "last"]);
    assert!(of_other.code() == Some(6) && of_other.err.contains("another drive"), "{}", of_other.err);
    // The result itself is unchanged: importing it again adds nothing.
    lab.kurabe(&["import", text(&cdm)]).ok();
    assert_eq!(lab.list().len(), 1);
    let no_health = lab.kurabe(&["import", text(&cdm), "--to", "last"]);
    assert!(no_health.code() == Some(2) && no_health.err.contains("not health data"), "{}", no_health.err);
}
