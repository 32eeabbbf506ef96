//! The rules against the truth: every device of the library is measured, the account of its time is hidden, and what the
//! rules say from outside is held against what the account says.
//!
//! The model: of a cell the account gives two things: what took most of its time, and what took most of it beside
//! waiting behind others, which is what the others were waiting for. A limit is right if it names one of them by the
//! class that an outsider can know it by. The environment is what the kernel would show of such a device.

use kurabe_core::environment::{BlockDevice, Environment, Link};
use kurabe_core::model::{LayerRecord, ModelRecord};
use kurabe_core::profile::{IoStep, Profile, Step};
use kurabe_core::profile_library::profile_named;
use kurabe_core::record::{Cell, RunHeader, RunRecord, RunStatus, TargetKind, TargetRecord};
use kurabe_core::workload::Direction;
use kurabe_engine::{Stop, measure_model};
use kurabe_explain::{
    FindingName, LimitKind, SweepAxis, SweepPlan, explain_sweep, limits, limits_from_outside,
};
use kurabe_sim::{DEVICES, ModelTarget, device_named};
use std::collections::BTreeMap;
use std::path::Path;

/// What a cause is to somebody outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Behind other operations.
    Behind,
    /// For a part of the device that is busy, or in it: the account does not part the two.
    Inside,
    /// On the connection, or for it.
    Link,
    /// Arm and rotation.
    Mechanics,
    /// Everything else that a command takes: medium, controller, protocol, host.
    Service,
}

fn class(kind: &str, cause: &str) -> Class {
    let link = matches!(kind, "sata" | "usb" | "pcie" | "port-multiplier" | "scsi");
    match cause {
        "transfer" | "data-in" | "data-out" | "cable-busy" | "port-busy" if link => Class::Link,
        "seek" | "rotation" => Class::Mechanics,
        "waiting" | "queue" | "slot-busy" | "one-command" | "other-drive" | "behind-flush"
        | "processor-busy" | "memory-busy" | "merged" | "one-by-one" => Class::Behind,
        "controller-wait" | "channel-wait" | "behind-reads" | "behind-writes" | "behind-erase"
        | "buffer-full" | "room" | "written-back" | "data-path" | "read-ahead" => Class::Inside,
        _ => Class::Service,
    }
}

/// What took most of a cell's time, and what took most of it beside waiting behind others.
struct Truth {
    largest: Class,
    largest_alone: Class,
    cause: String,
}

fn truth_of(cell: &Cell, model: &ModelRecord) -> Truth {
    let mut sums: BTreeMap<(String, String), u64> = BTreeMap::new();
    for account in cell.counted().filter_map(|repetition| repetition.account.as_ref()) {
        for share in &account.shares {
            *sums.entry((share.layer.clone(), share.cause.clone())).or_default() += share.time_ns;
        }
    }
    let kind = |layer: &str| {
        model.layers.iter().find(|one| one.name == layer).map_or(String::new(), |one| one.kind.clone())
    };
    let of = |waiting: bool| {
        let pick =
            sums.iter().filter(|((layer, cause), _)| waiting || class(&kind(layer), cause) != Class::Behind);
        let ((layer, cause), _) = pick.max_by_key(|(_, time_ns)| **time_ns).expect("a cause");
        (class(&kind(layer), cause), format!("{layer}/{cause}"))
    };
    let ((largest, cause), (largest_alone, beside)) = (of(true), of(false));
    Truth { largest, largest_alone, cause: format!("{cause}, {beside}") }
}

/// Whether a limit is one of what the account allows; `deeper` is the truth of the same cell with more in flight.
fn right(kind: LimitKind, truth: &Truth, deeper: Option<&Truth>, turns: bool) -> bool {
    let waits = |truth: &Truth| matches!(truth.largest, Class::Behind | Class::Inside | Class::Link);
    match kind {
        LimitKind::Link => truth.largest == Class::Link || truth.largest_alone == Class::Link,
        // A cache writes back with arm and rotation, which the account of an operation has as waiting for room.
        LimitKind::Mechanics => {
            truth.largest_alone == Class::Mechanics || (turns && truth.largest_alone == Class::Inside)
        }
        LimitKind::Saturated => waits(truth),
        // With one in flight, whatever it waits for inside is part of the answer; the line is not.
        LimitKind::OneAtATime if deeper.is_some() => truth.largest != Class::Link,
        LimitKind::OneAtATime => truth.largest != Class::Behind,
        LimitKind::ServesOne => deeper.is_some_and(waits),
        LimitKind::DeviceRate => match truth.largest {
            Class::Behind => truth.largest_alone != Class::Link,
            largest => largest != Class::Link,
        },
        LimitKind::WriteCache | LimitKind::Stalls => truth.largest_alone != Class::Link,
        _ => false,
    }
}

fn number(layer: &LayerRecord, key: &str) -> Option<f64> {
    let value = &layer.parameters.iter().find(|parameter| parameter.key == key)?.value;
    value.split(' ').next()?.parse().ok()
}

fn word<'l>(layer: &'l LayerRecord, key: &str) -> Option<&'l str> {
    layer.parameters.iter().find(|parameter| parameter.key == key).map(|parameter| parameter.value.as_str())
}

fn turns(model: &ModelRecord) -> Option<bool> {
    let has = |kinds: &[&str]| model.layers.iter().any(|layer| kinds.contains(&layer.kind.as_str()));
    if has(&["disk", "removable", "magneto-optical"]) {
        return Some(true);
    }
    has(&["ssd", "flash-coarse", "constant"]).then_some(false)
}

/// What sysfs would tell of the device.
fn environment(model: &ModelRecord) -> Environment {
    let link = model.layers.iter().find_map(|layer| match layer.kind.as_str() {
        "sata" => {
            let speed = match word(layer, "generation")? {
                "sata-1" => 1.5,
                "sata-2" => 3.0,
                "sata-3" => 6.0,
                _ => return None,
            };
            Some(Link::Sata { speed_gbit_per_s: Some(speed), speed_max_gbit_per_s: None, ncq_depth: None })
        }
        "usb" => {
            let speed = match word(layer, "generation")? {
                "usb-1" => 12.0,
                "usb-2" => 480.0,
                "usb-3" => 5000.0,
                _ => 10_000.0,
            };
            let protocol = word(layer, "protocol").map(str::to_owned);
            Some(Link::Usb { speed_mbit_per_s: Some(speed), protocol, version: None })
        }
        "pcie" => {
            let speed = [2.5, 5.0, 8.0, 16.0][number(layer, "generation")? as usize - 1];
            Some(Link::Pcie {
                speed_gt_per_s: Some(speed),
                width: Some(number(layer, "lanes")? as u32),
                speed_max_gt_per_s: None,
                width_max: None,
            })
        }
        _ => None,
    });
    // A mirror of drives shows each of them, with a connection of its own.
    let drives = model.layers.iter().filter(|layer| matches!(layer.kind.as_str(), "disk" | "ssd"));
    let drives = drives.map(|layer| layer.instances.max(1)).max().unwrap_or(1);
    let device = BlockDevice { rotational: turns(model), link, ..BlockDevice::default() };
    Environment { devices: vec![device; drives as usize], ..Environment::default() }
}

/// A profile whose cells take so long.
fn for_time(name: &str, time_ns: u64) -> Profile {
    let mut profile = profile_named(name).unwrap();
    profile.rules.time_ns = time_ns;
    profile.rules.runs = 1;
    profile.rules.size_bytes = 128 << 20;
    for step in &mut profile.steps {
        if let Step::Io(IoStep { end, .. }) = step {
            end.time_ns = end.time_ns.map(|_| time_ns);
        }
    }
    profile
}

fn measured(device: &str, profile: &Profile) -> RunRecord {
    measured_on(ModelTarget::new(&device_named(device).unwrap(), 1).unwrap(), device, profile)
}

fn measured_on(mut model: ModelTarget, device: &str, profile: &Profile) -> RunRecord {
    let none = vec![None; profile.steps.len()];
    let cells = measure_model(&mut model, profile, &none, &Stop::default()).unwrap().0;
    let record = kurabe_core::model::Model::record(&model);
    let target = TargetRecord {
        given: device.to_owned(),
        path: device.to_owned(),
        kind: TargetKind::Model,
        span_bytes: 128 << 20,
        direct: true,
        alignment_bytes: 512,
        writable: true,
    };
    RunRecord {
        status: RunStatus::Complete,
        cells,
        ..RunRecord::begun(RunHeader {
            id: "abc".to_owned(),
            target: Some(target),
            profile: Some(profile.clone()),
            environment: environment(&record),
            model: Some(record),
            ..RunHeader::default()
        })
    }
}

#[test]
fn rules_that_see_no_account_do_not_contradict_it() {
    let profile = for_time("default", 150_000_000);
    let (mut named, mut unknown, mut wrong, mut lines) = (0, 0, Vec::new(), Vec::new());
    for (device, _) in DEVICES {
        let record = measured(device, &profile);
        let model = record.header.model.clone().unwrap();
        let turns = turns(&model) == Some(true);
        for (cell, cell_limit) in record.cells.iter().zip(limits_from_outside(&record)) {
            let truth = truth_of(cell, &model);
            let depth = |cell: &Cell| cell.workload.as_ref().map_or(0, |workload| workload.iodepth);
            let deeper = record.cells.iter().find(|other| {
                other.direction == cell.direction
                    && other.label[..3] == cell.label[..3]
                    && depth(other) > depth(cell)
            });
            let deeper = deeper.map(|deeper| truth_of(deeper, &model));
            let kind = cell_limit.limit.kind;
            let line =
                format!("{device:32} {:16} {:6} {kind:?} <- {}", cell.label, cell_limit.part, truth.cause);
            match kind {
                LimitKind::Unknown => unknown += 1,
                kind if right(kind, &truth, deeper.as_ref(), turns) => named += 1,
                _ => wrong.push(line.clone()),
            }
            lines.push(line);
        }
    }
    let all = named + unknown + wrong.len();
    let table = lines.join("\n");
    assert!(
        wrong.is_empty(),
        "{named} named, {unknown} unknown of {all}; wrong:\n{}\n\nall:\n{table}",
        wrong.join("\n")
    );
    assert!(named * 10 >= all * 6, "{named} named, {unknown} unknown of {all}:\n{table}");
    let devices = DEVICES.len();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (page, sentence) in [
        (
            "explaining.md",
            format!(
                "Of {all} cells on {devices} devices they name the limit of {named}, leave {unknown} unknown"
            ),
        ),
        (
            "ja/explaining.md",
            format!(
                "{devices} 台の {all} 項目のうち、{named} 項目でボトルネックを示し、{unknown} 項目を不明とし"
            ),
        ),
    ] {
        let words = std::fs::read_to_string(docs.join(page)).unwrap();
        assert!(words.contains(&sentence), "docs/{page} does not say: {sentence}");
    }
}

#[test]
fn a_sweep_names_a_link_only_where_the_account_does() {
    let plan = SweepPlan {
        axes: vec![SweepAxis::BlockSize],
        directions: vec![Direction::Read, Direction::Write],
        max_bytes: Some(128 << 20),
        time_ns: 30_000_000,
        runs: 1,
        direct: true,
        seed: 1,
    };
    let (mut links, mut wrong) = (Vec::new(), Vec::new());
    for (device, _) in DEVICES {
        let record = measured(device, &plan.profile());
        let model = record.header.model.clone().unwrap();
        for link in explain_sweep(&record).all().filter(|finding| finding.name == FindingName::LinkCeiling) {
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
            let line = format!("{device}: {} <- {}", link.text.en, truth.cause);
            if truth.largest == Class::Link || truth.largest_alone == Class::Link {
                links.push(line);
            } else {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "wrong: {wrong:#?}, right: {links:#?}");
    assert!(links.len() >= 4, "{links:#?}");
}

#[test]
fn well_known_devices_are_told_as_people_know_them() {
    let profile = for_time("default", 150_000_000);
    let kinds = |device: &str| -> Vec<LimitKind> {
        limits_from_outside(&measured(device, &profile)).iter().map(|one| one.limit.kind).collect()
    };
    // SEQ Q8, SEQ Q1, RND Q32, RND Q1, all read; then the same written.
    use LimitKind::{DeviceRate, Link, Mechanics, OneAtATime, Saturated};
    let sata_ssd = kinds("samsung-870-evo");
    assert_eq!(sata_ssd, [Link, Link, Saturated, OneAtATime, Link, Link, Saturated, OneAtATime]);
    let disk = kinds("hitachi-hua722020ala330");
    // Within 128 MiB and with 32 to choose from, an access takes less than a seek elsewhere.
    assert_eq!(disk[1..4], [DeviceRate, Saturated, Mechanics]);
    // Near what PCIe carries, a drive and its slot cannot be told apart by one direction.
    assert!(!kinds("samsung-980").contains(&Link));
}

#[test]
fn a_write_cache_that_fills_up_is_seen() {
    let mut profile = for_time("default", 4_000_000_000);
    profile.steps.truncate(1);
    // On a device used whole no file is written before, so that the cache is empty at first.
    profile.rules.whole_device = true;
    let mut spec = device_named("samsung-870-evo").unwrap();
    // The link hides the fall of the drive as it is: fewer channels, and a cache of 1 GB.
    let changes =
        [("slc_static", "1 GB"), ("slc_dynamic", "0 B"), ("channels", "2"), ("program_time", "2 ms")];
    for (key, value) in changes {
        spec.set(&format!("ssd.{key}"), value).unwrap();
    }
    let record = measured_on(ModelTarget::new(&spec, 1).unwrap(), "samsung-870-evo", &profile);
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
        let waited = |evidence: &str| evidence.contains("stands in line for");
        assert!(limits.iter().any(|one| waited(&one.limit.evidence.en)), "{device}: {limits:#?}");
    }
}
