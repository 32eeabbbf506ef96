//! `kurabe what`: answers with evidence, and nothing written without consent.

use crate::lab::{Lab, Live, list_of, names, text};
use crate::system::LoopDevice;
use rustix::process::Signal;

const MIB: u64 = 1 << 20;

/// A stick that claims 64 GiB and has 4.
const FAKE: &str = "\
schema = 1
name = \"fake\"
title = { en = \"fake\", ja = \"fake\" }
[[layer]]
kind = \"host\"
[[layer]]
kind = \"counterfeit\"
claims = { value = \"64 GiB\", source = \"test\" }
[[layer]]
kind = \"constant\"
capacity = { value = \"4 GiB\", source = \"test\" }
access = { value = \"400 us\", source = \"test\" }
rate = { value = \"90 MB/s\", source = \"test\" }
";

#[test]
fn a_model_is_identified_in_both_languages_and_for_scripts() {
    let lab = Lab::new();
    let fake = lab.write("fake.toml", FAKE);
    let target = format!("model:{}", text(&fake));
    let page = lab.kurabe(&["what", &target, "--quiet"]).ok().out;
    assert!(page.contains("capacity: FAKE: it holds 4.3 GB"), "{page}");
    assert!(page.contains("medium: solid state"), "{page}");
    let japanese = lab.kurabe(&["what", &target, "--lang", "ja", "--quiet"]).ok().out;
    assert!(japanese.contains("容量: 偽装: 実際は 4.3 GB"), "{japanese}");
    let lines = lab.kurabe(&["what", &target, "--json"]).ok().json_lines();
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!((&line["event"], list_of(&line["findings"]).len()), (&"identity".into(), 10));
    assert!(lab.list().is_empty(), "it is not a run");
}

#[test]
fn a_device_is_only_read_unless_it_is_named_twice() {
    let Some(device) = LoopDevice::new(64 * MIB) else { return };
    let lab = Lab::new();
    let node = text(device.node());
    let refused = lab.kurabe(&["what", "--write", node]);
    refused.is_refusal(6, &["would destroy the data", "--destroy-data-on"]);
    lab.kurabe(&["what", node, "--destroy-data-on", node]).is_refusal(2, &["--write is missing"]);
    let read = lab.kurabe(&["what", node]).ok();
    assert!(read.err.contains("only read") && read.out.contains("capacity: unclear"), "{read:#?}");
    assert!(device.contents().iter().all(|byte| *byte == 0), "not a byte is written");
    let written = lab.kurabe(&["what", "--write", "--destroy-data-on", node, node]).ok();
    assert!(written.err.contains("all data on the target are lost"), "{written:#?}");
    assert!(written.out.contains("capacity: real"), "{written:#?}");
    // On a slow machine, the time limit of the long write leaves some blocks as they were.
    let contents = device.contents();
    let zeros = |block: &[u8]| block.iter().filter(|byte| **byte == 0).count();
    let written: Vec<usize> = contents.chunks(4096).map(zeros).filter(|zeros| *zeros < 4096).collect();
    assert!(written.len() > 1000, "{} blocks are written", written.len());
    let most = written.iter().max();
    assert!(most.is_some_and(|zeros| *zeros < 410), "a block has {most:?} zeros, so it can be compressed");
}

#[test]
fn a_directory_gets_a_test_file_that_is_removed_even_after_ctrl_c() {
    let lab = Lab::new();
    let target = lab.target();
    let ended = lab.kurabe(&["what", text(&target), "--size", "64m", "--write"]).ok();
    assert!(ended.err.contains("A test file of 64 MiB is created and removed"), "{ended:#?}");
    assert!(names(&target).is_empty() && lab.list().is_empty());
    let live = Live::start(lab.command(&["what", text(&target), "--size", "512m", "--write"]));
    let mut waited = 0;
    while names(&target).is_empty() && waited < 1000 {
        std::thread::sleep(std::time::Duration::from_millis(10));
        waited += 1;
    }
    live.signal(Signal::INT);
    live.end();
    assert!(names(&target).is_empty() && lab.list().is_empty());
}
