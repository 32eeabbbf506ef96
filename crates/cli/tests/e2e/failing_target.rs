//! A target that fails in the middle of a run: the error names the offset, the cells so far are
//! stored, and the run is `failed`.

use crate::lab::{Ended, Lab, list_of, text};
use crate::system::{LoopDevice, Mount};
use std::fs::File;
use std::path::Path;

const MIB: u64 = 1 << 20;

/// Writes a profile with one cell over the working part of a target and one over the failing part.
fn profile(lab: &Lab, size_mib: u64, direction: &str, steps: [(u64, u64); 2], interval: &str) -> String {
    let mut profile = format!(
        "schema = 1\nname = \"two-steps\"\ntitle = {{ en = \"two steps\", ja = \"two steps\" }}\n\
         statistic = \"mean\"\n[rules]\nsize = \"{size_mib} MiB\"\nruns = 1\ntime = \"100 ms\"\n\
         interval = \"{interval}\"\norder = \"by-step\"\n"
    );
    for (label, (offset_mib, span_mib)) in ["sound", "broken"].iter().zip(steps) {
        profile.push_str(&format!(
            "[[step]]\nkind = \"io\"\nlabel = \"{label}\"\npattern = \"sequential\"\nblock_size = \"1 MiB\"\n\
             directions = [\"{direction}\"]\noffset = \"{offset_mib} MiB\"\nspan = \"{span_mib} MiB\"\npasses = 1\n"
        ));
    }
    text(&lab.write("two-steps.toml", profile)).to_owned()
}

/// Checks that the first cell is stored, and that the run records why the second is missing.
fn keeps_the_first_cell(lab: &Lab, ended: &Ended, broken_from: u64) {
    let offset = offset_of(&ended.err);
    assert!((broken_from..64 * MIB).contains(&offset), "the offset is in the broken part: {ended:#?}");
    let runs = lab.list();
    assert_eq!(runs.len(), 1);
    assert_eq!((&runs[0]["status"], &runs[0]["cell_count"]), (&"failed".into(), &1.into()));
    let record = lab.record("last");
    assert_eq!(list_of(&record["cells"])[0]["label"], "sound");
    let error = record["error"]["en"].as_str().expect("the error is kept");
    assert!(ended.err.contains(error), "{error}");
    let table = lab.kurabe(&["show"]).ok().out;
    assert!(table.contains("sound") && table.contains("MB/s"), "{table}");
    assert!(table.contains(&offset.to_string()), "it says where it failed: {table}");
    assert!(lab.kurabe(&["list"]).ok().out.contains("failed"));
}

fn offset_of(error: &str) -> u64 {
    let (_, rest) = error.split_once("at offset ").unwrap_or_else(|| panic!("an offset in: {error}"));
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().expect("an offset")
}

#[test]
fn reads_that_fail_end_the_run_and_keep_its_cells() {
    let Some(device) = LoopDevice::new(64 * MIB) else { return };
    // Beyond the end of the shortened image, the loop device returns EIO.
    File::options().write(true).open(device.image()).and_then(|image| image.set_len(32 * MIB)).expect("cut");
    for engine in ["uring", "threads"] {
        let lab = Lab::new();
        let profile = profile(&lab, 64, "read", [(0, 16), (48, 16)], "0s");
        let ended = lab.run(device.node(), &["--quiet", "--profile", &profile, "--engine", engine]);
        ended.is_refusal(8, &["failed a read", "(os error 5)", "dmesg"]);
        keeps_the_first_cell(&lab, &ended, 48 * MIB);
    }
}

#[test]
fn writes_that_fail_end_the_run_and_keep_its_cells() {
    let lab = Lab::new();
    let Some(small) = Mount::new("tmpfs", "none", "size=24m", &lab.beside("small")) else { return };
    // The image is sparse and larger than the file system that holds it.
    let Some(device) = LoopDevice::at(&small.point().join("image"), 64 * MIB) else { return };
    let profile = profile(&lab, 64, "write", [(0, 8), (8, 56)], "0s");
    let words = ["--quiet", "--profile", &profile, "--destroy-data-on", text(device.node())];
    let ended = lab.run(device.node(), &words);
    assert!(matches!(ended.code(), Some(7 | 8)), "{ended:#?}");
    keeps_the_first_cell(&lab, &ended, 8 * MIB);
}

#[test]
fn a_file_that_becomes_shorter_ends_the_run_and_keeps_its_cells() {
    let lab = Lab::new();
    let file = lab.write("file", vec![1; 16 << 20]);
    let profile = profile(&lab, 16, "read", [(0, 8), (8, 8)], "1s");
    let mut live = lab.start(&file, &["--profile", &profile]);
    live.wait_for_out("\"event\":\"pause\"");
    File::options().write(true).open(&file).and_then(|file| file.set_len(8 * MIB)).expect("cut");
    let ended = live.end();
    ended.is_refusal(8, &["returned only 0", "shrank"]);
    keeps_the_first_cell(&lab, &ended, 8 * MIB);
    let last = ended.json_lines().pop().expect("a line");
    assert_eq!(
        (&last["event"], &last["kind"], &last["exit_code"]),
        (&"error".into(), &"io".into(), &8.into())
    );
}

#[test]
fn a_failure_in_the_first_cell_keeps_no_run() {
    let Some(device) = LoopDevice::new(64 * MIB) else { return };
    File::options().write(true).open(device.image()).and_then(|image| image.set_len(32 * MIB)).expect("cut");
    let lab = Lab::new();
    let words = ["--quiet", "--rw", "read", "--bs", "1m", "--offset", "48m", "--passes", "1"];
    lab.refuses(device.node(), &words, 8, &["failed a read", "nothing was saved"]);
}

#[test]
fn a_target_that_goes_away_ends_the_run() {
    let lab = Lab::new();
    let file = lab.write("file", vec![1; 16 << 20]);
    let profile = profile(&lab, 16, "read", [(0, 8), (8, 8)], "1s");
    let mut live = lab.start(&file, &["--profile", &profile]);
    live.wait_for_out("\"event\":\"pause\"");
    std::fs::remove_file(&file).expect("removed");
    let ended = live.end();
    assert_eq!(ended.code(), Some(4), "{ended:#?}");
    assert!(ended.err.contains(text(&file)), "{ended:#?}");
    assert_eq!(lab.list()[0]["status"], "failed");
    assert!(!Path::new(&file).exists(), "it is not made again");
}
