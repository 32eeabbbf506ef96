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

/// Returns the bottlenecks of the first cells of a probe, with their sentences.
fn kinds(record: &RunRecord) -> Vec<(LimitKind, String)> {
    let limits = limits_from_outside(record).into_iter().take(4);
    limits.map(|limit| (limit.limit.kind, limit.limit.sentence.en)).collect()
}

fn last_run(lab: &Lab) -> RunRecord {
    let id = lab.list().last().and_then(|run| run["id"].as_str().map(str::to_owned)).expect("a run");
    serde_json::from_value(lab.record(&id)).expect("a record")
}

/// Returns whether both name the same bottleneck. Whether commands overlap also depends on this
/// machine, which forwards the requests to the served device.
fn agrees(served: LimitKind, computed: LimitKind) -> bool {
    served == computed || is_command(served) && is_command(computed)
}

fn is_command(kind: LimitKind) -> bool {
    matches!(kind, LimitKind::Command | LimitKind::CommandRate)
}

/// Returns whether other activity on this machine may hide the computed bottleneck behind this
/// answer. It may hide it altogether, and since it lengthens transfers, it may show them beside the
/// command. It never produces a different answer.
fn is_hidden((served, sentence): &(LimitKind, String), computed: LimitKind) -> bool {
    match served {
        LimitKind::OtherWork | LimitKind::Unknown => true,
        LimitKind::Shared => is_command(computed) && sentence.contains("the command"),
        _ => false,
    }
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
        for (answer, (reason, _)) in kinds(&served).into_iter().zip(kinds(&computed)) {
            let is_equal = agrees(answer.0, reason);
            assert!(is_equal || is_hidden(&answer, reason), "{model}: {answer:?}, computed {reason:?}");
            cells += 1;
            equal += usize::from(is_equal);
        }
    }
    assert!(equal * 2 >= cells, "{equal} of {cells} cells; the rest hides behind other work");
}
