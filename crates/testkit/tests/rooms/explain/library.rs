//! Well-known devices of the library, and the limits that are inferred for them.

use crate::explain::blind::{measured_on, model, take_time, truth_of};
use kurabe_core::model::CauseClass;
use kurabe_core::profile::Profile;
use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::workload::Direction;
use kurabe_explain::{
    FindingName, LimitKind, SweepAxis, SweepPlan, explain_sweep, limits, limits_from_outside,
};
use kurabe_profile::profile_named;
use kurabe_sim::{DEVICES, ModelTarget, device_named};
use kurabe_testkit::{all_is_tested, sampled};

/// Returns a profile whose cells take this time.
fn for_time(name: &str, time_ns: u64) -> Profile {
    let mut profile = profile_named(name).unwrap();
    take_time(&mut profile, time_ns);
    profile.rules.runs = 1;
    profile.rules.size_bytes = 128 << 20;
    profile
}

fn measured(device: &str, profile: &Profile) -> RunRecord {
    measured_on(model(device), profile)
}

#[test]
fn a_sweep_names_a_link_only_where_the_account_does() {
    let plan = SweepPlan {
        axes: vec![SweepAxis::BlockSize],
        directions: vec![Direction::Read, Direction::Write],
        max_bytes: Some(128 << 20),
        long_write: None,
        time_ns: 30_000_000,
        runs: 1,
        direct: true,
        seed: 1,
    };
    let (mut links, mut wrong) = (Vec::new(), Vec::new());
    for (device, _) in sampled(DEVICES, 24) {
        let record = measured(device, &plan.profile());
        let model = record.header.model.clone().unwrap();
        let curves = explain_sweep(&record);
        let findings = curves.iter().flat_map(|curve| &curve.findings);
        for link in findings.filter(|finding| finding.name == FindingName::LinkCeiling) {
            let is_its = |cell: &&Cell| {
                let sequential = cell.workload.as_ref().is_some_and(|one| one.pattern.is_sequential());
                cell.direction == Some(link.direction) && sequential == link.sequential
            };
            let rate = |cell: &Cell| {
                let bytes: u64 = cell.counted().map(|one| one.bytes(link.direction)).sum();
                bytes as f64 / cell.counted().map(|one| one.elapsed_ns as f64).sum::<f64>()
            };
            let fastest = record.cells.iter().filter(is_its).max_by(|a, b| rate(a).total_cmp(&rate(b)));
            let truth = truth_of(fastest.unwrap(), &model);
            let line = format!("{device}: {} <- {truth:?}", link.text.en);
            if truth[0].0 == CauseClass::Link { links.push(line) } else { wrong.push(line) }
        }
    }
    assert!(wrong.is_empty(), "wrong: {wrong:#?}, right: {links:#?}");
    assert!(links.len() >= if all_is_tested() { 4 } else { 1 }, "{links:#?}");
}

#[test]
fn well_known_devices_are_told_as_people_know_them() {
    let profile = for_time("default", 150_000_000);
    let kinds = |device: &str| -> Vec<LimitKind> {
        limits_from_outside(&measured(device, &profile)).iter().map(|one| one.limit.kind).collect()
    };
    // SEQ Q8, SEQ Q1, RND Q32, RND Q1, all read; then the same written.
    use LimitKind::{Command, CommandRate, DeviceRate, Link, Mechanics};
    let sata_ssd = kinds("samsung-870-evo");
    assert_eq!(sata_ssd, [Link, Link, CommandRate, Command, Link, Link, CommandRate, Command]);
    let disk = kinds("hitachi-hua722020ala330");
    assert_eq!(disk[..4], [DeviceRate, DeviceRate, Mechanics, Mechanics]);
    // Near the limit of PCIe, a drive and its slot cannot be distinguished by one direction.
    assert!(!kinds("samsung-980").contains(&Link));
}

#[test]
fn a_write_cache_that_fills_up_is_seen() {
    let mut profile = for_time("default", 4_000_000_000);
    profile.steps.truncate(1);
    // If the whole device is used, no test file is written first, so the cache is empty at first.
    profile.rules.whole_device = true;
    let mut spec = device_named("samsung-870-evo").unwrap();
    // The link hides the drop of the unchanged drive, so it gets fewer channels and a cache of 1
    // GB.
    let changes =
        [("slc_static", "1 GB"), ("slc_dynamic", "0 B"), ("channels", "2"), ("program_time", "2 ms")];
    for (key, value) in changes {
        spec.set(&format!("ssd.{key}"), value).unwrap();
    }
    let record = measured_on(ModelTarget::new(&spec, 1).unwrap(), &profile);
    let limits = limits_from_outside(&record);
    let write = limits.iter().find(|one| one.part == "write").unwrap();
    assert_eq!(write.limit.kind, LimitKind::WriteCache, "{write:?}");
    assert!(write.limit.evidence.en.contains("fell from"), "{write:?}");
}

#[test]
fn a_hidden_account_changes_nothing_for_the_rules_and_a_shown_one_is_exact() {
    let mut record = measured("samsung-870-evo", &for_time("quick", 20_000_000));
    let outside = limits_from_outside(&record);
    let inside = limits(&record);
    assert!(inside.iter().all(|one| one.limit.kind == LimitKind::Cause), "{inside:?}");
    for repetition in record.cells.iter_mut().flat_map(|cell| &mut cell.repetitions) {
        repetition.account = None;
    }
    record.header.model = None;
    assert_eq!(limits_from_outside(&record), outside);
    assert_eq!(limits(&record), outside);
}

#[test]
fn of_who_stands_in_line_the_limit_is_what_the_others_are_served_with() {
    for device in ["hitachi-hua722020ala330", "samsung-fit-plus-apfs"] {
        let record = measured(device, &for_time("quick", 50_000_000));
        let layers = record.header.model.as_ref().unwrap().layers.iter();
        let lines: Vec<String> = layers
            .flat_map(|layer| layer.causes.iter().filter(|cause| cause.in_line))
            .map(|cause| format!("\"{}\" ", cause.name.en))
            .collect();
        let limits = limits(&record);
        let in_line = |limit: &str| lines.iter().any(|line| limit.starts_with(line.as_str()));
        assert!(limits.iter().all(|one| !in_line(&one.limit.sentence.en)), "{device}: {limits:#?}");
        let waited = |evidence: &str| evidence.contains("waits in a queue for");
        assert!(limits.iter().any(|one| waited(&one.limit.evidence.en)), "{device}: {limits:#?}");
    }
}
