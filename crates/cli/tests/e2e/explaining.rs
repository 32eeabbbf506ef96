//! `kurabe why --probe` on a folder, on a model, and on models served in real time, where the
//! answers match those in virtual time.

use crate::attaching::Device;
use crate::lab::{Lab, list_of, names, text};
use kurabe_core::record::RunRecord;
use kurabe_explain::{LimitKind, limits_from_outside};

/// A disk behind a USB bridge, an SD card, a USB stick, an old fast disk and an SSD. Emulators that
/// move a megabyte per second would take minutes.
const SERVED: [&str; 5] = [
    "hua722020-usb",
    "sandisk-extreme-a1-sd",
    "samsung-fit-plus-exfat",
    "quantum-atlas-10k",
    "samsung-870-evo",
];

#[test]
#[ignore = "slow"]
fn a_probe_of_a_folder_says_why_and_leaves_nothing() {
    let lab = Lab::new();
    let ended = lab.kurabe(&["why", "--probe", text(&lab.target())]).ok();
    for words in ["16 × 1 MiB", "RND 4 KiB Q32 T1", "limit:"] {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    assert_eq!(names(&lab.target()), [] as [&str; 0]);
    assert_eq!(lab.list().len(), 1, "it is a run as any other");
}

#[test]
#[ignore = "slow"]
fn a_probe_says_what_is_open_and_asks_that_next() {
    let lab = Lab::new();
    for (lang, says) in [("en", "unknown: read 16 × 1 MiB"), ("ja", "未解明: ")] {
        let ended = lab.kurabe(&["why", "--probe", "model:quantum-lps-250", "--lang", lang]).ok();
        assert!(ended.err.contains(says), "{}", ended.err);
    }
    let lines = lab.kurabe(&["why", "--probe", "model:quantum-lps-250", "--json"]).ok().json_lines();
    let added = lines.iter().find(|line| line["event"] == "steps_added").expect("further steps");
    assert_eq!(list_of(&added["steps"])[0]["label"], "same 4 KiB", "{added}");
    assert!(added["why"]["ja"].as_str().is_some_and(|why| why.contains("媒体と接続")), "{added}");
    let settled = lab.kurabe(&["why", "--probe", "model:rascsi", "--json"]).ok().json_lines();
    assert!(
        settled.iter().all(|line| line["event"] != "steps_added"),
        "nothing that a read tells: {settled:?}"
    );
}

/// Returns the bottlenecks of the first cells of a probe.
fn kinds(record: &RunRecord) -> Vec<LimitKind> {
    limits_from_outside(record).iter().take(4).map(|limit| limit.limit.kind).collect()
}

fn last_run(lab: &Lab) -> RunRecord {
    let id = lab.list().last().and_then(|run| run["id"].as_str().map(str::to_owned)).expect("a run");
    serde_json::from_value(lab.record(&id)).expect("a record")
}

/// Returns whether both name the same bottleneck. Whether commands overlap also depends on this
/// machine, which forwards the requests to the served device.
fn agrees((served, computed): (LimitKind, LimitKind)) -> bool {
    let is_command = |kind| matches!(kind, LimitKind::Command | LimitKind::CommandRate);
    served == computed || is_command(served) && is_command(computed)
}

#[test]
#[ignore = "slow"]
fn served_in_real_time_the_answers_are_those_of_virtual_time() {
    let (mut cells, mut equal) = (0, 0);
    for model in SERVED {
        let (lab, model) = (Lab::new(), format!("model:{model}"));
        let Some(device) = Device::attach(&lab, &[&model]) else { return };
        lab.kurabe(&["why", "--probe", text(device.path())]).ok();
        let served = last_run(&lab);
        device.detach().ok();
        lab.kurabe(&["run", &model, "--profile", "probe"]).ok();
        let mut computed = last_run(&lab);
        // The same device, with the environment of this machine.
        computed.header.environment = served.header.environment.clone();
        computed.header.model = None;
        // Other activity on this machine may hide an answer, but it never produces a different one.
        let is_hidden = |kind| matches!(kind, LimitKind::OtherWork | LimitKind::Unknown);
        for pair in kinds(&served).into_iter().zip(kinds(&computed)) {
            assert!(agrees(pair) || is_hidden(pair.0), "{model}: {pair:?}");
            cells += 1;
            equal += usize::from(agrees(pair));
        }
    }
    assert!(equal * 2 >= cells, "{equal} of {cells} cells; the rest hides behind other work");
}
