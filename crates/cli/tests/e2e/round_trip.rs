//! run → list → show → export → rm → import → show, on every kind of target.

use crate::lab::{Lab, SHORT, list_of, names, text};
use crate::system::LoopDevice;
use kurabe_testkit::needs::{MEMORY_FOLDER, skip};
use std::path::Path;

/// Runs the whole sequence on a target with this many cells, and checks that the table and the file
/// are unchanged.
fn goes_round(lab: &Lab, target: &Path, cells: u32) {
    let shown = lab.run(target, &SHORT).ok();
    let runs = lab.list();
    assert_eq!(runs.len(), 1);
    assert_eq!((&runs[0]["status"], &runs[0]["cell_count"]), (&"complete".into(), &cells.into()));
    let id = runs[0]["id"].as_str().expect("an id");

    let table = lab.kurabe(&["show", id]).ok().out;
    assert!(table.contains("SEQ 1 MiB Q8 T1") && table.contains("MB/s"), "{table}");
    assert_eq!(shown.out, table, "a run ends with the table that `show` prints");
    let details = lab.kurabe(&["show", id, "--details"]).ok().out;
    assert!(details.starts_with(&table) && details.len() > table.len(), "{details}");

    let file = lab.beside("run.json");
    lab.kurabe(&["export", id, "--output", text(&file)]).ok();
    let exported = std::fs::read_to_string(&file).expect("an exported run");
    assert_eq!(lab.kurabe(&["export"]).ok().out, exported, "`last` is the run");
    lab.kurabe(&["export", id, "-o", text(&file)]).is_refusal(6, &["already exists"]);

    lab.kurabe(&["rm", id]).ok();
    assert!(lab.list().is_empty());
    assert_eq!(lab.kurabe(&["show", id]).code(), Some(12));

    lab.kurabe(&["import", text(&file)]).ok();
    assert_eq!(lab.list(), runs, "the same line in the list");
    assert_eq!(lab.kurabe(&["show", id]).ok().out, table, "the same table");
    assert_eq!(lab.kurabe(&["show", id, "--details"]).ok().out, details, "the same details");
    assert_eq!(lab.kurabe(&["export", id]).ok().out, exported, "the same file");
}

#[test]
#[ignore = "slow"]
fn a_run_on_the_usual_file_system_goes_out_and_comes_back_the_same() {
    let lab = Lab::new();
    goes_round(&lab, &lab.target(), 6);
    assert!(names(&lab.target()).is_empty(), "the test file is gone");
}

#[test]
#[ignore = "slow"]
fn a_run_on_tmpfs_goes_out_and_comes_back_the_same() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        skip(MEMORY_FOLDER);
        return;
    };
    let lab = Lab::new();
    goes_round(&lab, memory.path(), 6);
    assert!(names(memory.path()).is_empty(), "the test file is gone");
    assert_eq!(lab.record("last")["header"]["environment"]["file_system"]["kind"], "tmpfs");
}

#[test]
#[ignore = "slow"]
fn a_run_on_ext4_on_a_loop_device_goes_out_and_comes_back_the_same() {
    let Some(device) = LoopDevice::new(64 << 20) else { return };
    let Some(mount) = device.mount_ext4() else { return };
    let lab = Lab::new();
    goes_round(&lab, mount.point(), 6);
    assert_eq!(names(mount.point()), ["lost+found"], "the test file is gone");
    let record = lab.record("last");
    let environment = &record["header"]["environment"];
    assert_eq!(environment["file_system"]["kind"], "ext4");
    let name = device.node().file_name().expect("a name").to_str().expect("a name");
    assert!(list_of(&environment["devices"]).iter().any(|device| device["name"] == name), "{environment}");
}

#[test]
fn a_run_on_a_raw_loop_device_goes_out_and_comes_back_the_same() {
    let Some(device) = LoopDevice::new(32 << 20) else { return };
    goes_round(&Lab::new(), device.node(), 3);
}

#[test]
#[ignore = "slow"]
fn the_same_run_imported_twice_is_one_run() {
    let lab = Lab::new();
    lab.run(&lab.target(), &SHORT).ok();
    let file = lab.beside("run.json");
    lab.kurabe(&["export", "-o", text(&file)]).ok();
    lab.kurabe(&["import", text(&file), text(&file)]).ok();
    assert_eq!(lab.list().len(), 1);
    // The run remains one run after passing through another machine's store and receiving a label
    // there.
    let identity = lab.record("last")["header"]["identity"].as_str().expect("an identity").to_owned();
    let other = Lab::new();
    other.kurabe(&["import", text(&file)]).ok();
    other.kurabe(&["label", &identity, "seen=there"]).ok();
    let back = other.beside("back.json");
    other.kurabe(&["export", &identity, "-o", text(&back)]).ok();
    lab.kurabe(&["import", text(&back)]).ok();
    assert_eq!((lab.list().len(), &lab.list()[0]["labels"]["seen"]), (1, &"there".into()));
    // A run with a changed figure is no longer the same run.
    let changed =
        std::fs::read_to_string(&back).unwrap().replacen("\"elapsed_ns\": ", "\"elapsed_ns\": 1", 1);
    std::fs::write(&back, changed).unwrap();
    let before = lab.record("last");
    lab.kurabe(&["import", text(&back)]).is_refusal(6, &["one of them was changed", "kurabe rm"]);
    assert_eq!((lab.list().len(), lab.record("last")), (1, before));
}

#[test]
fn a_file_that_is_no_exported_run_is_not_imported() {
    let lab = Lab::new();
    for (name, contents) in [("empty", ""), ("prose", "# Notes\n"), ("array", "[]"), ("object", "{\"a\": 1}")]
    {
        let file = lab.write(name, contents);
        let ended = lab.kurabe(&["import", text(&file)]);
        assert_eq!(ended.code(), Some(11), "{ended:#?}");
        assert!(ended.err.contains(text(&file)), "it names the file: {ended:#?}");
    }
    assert!(lab.list().is_empty());
}

#[test]
fn labels_are_set_shown_and_removed() {
    let lab = Lab::new();
    lab.run(&lab.target(), &[&SHORT[..], &["--label", "firmware=v2", "--label", "port=usb3"]].concat()).ok();
    assert_eq!(lab.list()[0]["labels"], serde_json::json!({ "firmware": "v2", "port": "usb3" }));
    lab.kurabe(&["label", "last", "firmware=v3", "port="]).ok();
    assert_eq!(lab.list()[0]["labels"], serde_json::json!({ "firmware": "v3" }));
    assert!(lab.kurabe(&["list"]).ok().out.contains("firmware=v3"));
}
