//! Compares findings of sweeps on modelled devices with the parameters of the models.

use kurabe_core::event::Event;
use kurabe_core::model::Model;
use kurabe_core::record::{RunHeader, RunRecord, RunStatus};
use kurabe_core::workload::Direction;
use kurabe_engine::{Session, Stop, model_target};
use kurabe_explain::{
    Confidence, Finding, FindingName, SweepAxis, SweepCurve, SweepPlan, explain_sweep, further_steps,
};
use kurabe_sim::{DEVICES, ModelTarget, load_device};
use kurabe_testkit::sampled;

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

/// A sweep of a device of the library with changed parameters.
struct Sweep<'a> {
    device: &'a str,
    changes: &'a [(&'a str, &'a str)],
    axis: SweepAxis,
    directions: Vec<Direction>,
    max_bytes: Option<u64>,
    time_ms: u64,
    seed: u64,
}

impl Sweep<'_> {
    fn run(&self) -> Vec<SweepCurve> {
        explain_sweep(&self.record())
    }

    fn record(&self) -> RunRecord {
        let plan = SweepPlan {
            axes: vec![self.axis],
            directions: self.directions.clone(),
            max_bytes: self.max_bytes,
            long_write: None,
            time_ns: self.time_ms * 1_000_000,
            runs: 3,
            direct: true,
            seed: self.seed,
        };
        let profile = plan.profile();
        let mut spec = load_device(self.device).unwrap();
        for (parameter, value) in self.changes {
            spec.set(parameter, value).unwrap();
        }
        let mut model = ModelTarget::new(&spec, 1).unwrap();
        let target = model_target(self.device, &model, &profile);
        let header = RunHeader {
            id: "sw0".to_owned(),
            target: Some(target),
            profile: Some(profile.clone()),
            model: Some(model.record()),
            ..RunHeader::default()
        };
        let mut record = RunRecord { status: RunStatus::Complete, ..RunRecord::begun(header) };
        let mut emit = |event: Event| {
            record.apply(&event);
            Ok(())
        };
        let stop = Stop::default();
        let session = Session::on_model(&mut model, self.device, &profile, &stop, &mut emit)
            // A test file would fill the caches whose sizes are to be found.
            .with_fill(false)
            .with_follow_up(Some(Box::new(further_steps)));
        kurabe_virtual::run(session).unwrap();
        record
    }
}

fn sweep<'a>(
    device: &'a str,
    changes: &'a [(&'a str, &'a str)],
    axis: SweepAxis,
    direction: Direction,
) -> Sweep<'a> {
    Sweep {
        device,
        changes,
        axis,
        directions: vec![direction],
        max_bytes: Some(1 << 30),
        time_ms: 50,
        seed: 1,
    }
}

fn named(findings: &[SweepCurve], name: FindingName) -> Vec<&Finding> {
    findings.iter().flat_map(|curve| &curve.findings).filter(|finding| finding.name == name).collect()
}

/// Returns the position of the only finding with a name.
fn only(findings: &[SweepCurve], name: FindingName) -> f64 {
    let [one] = named(findings, name)[..] else { panic!("not one {name:?}: {findings:#?}") };
    assert!(one.confidence > Confidence::None, "{one:?}");
    one.x.unwrap_or(f64::NAN)
}

fn within_a_step(x: f64, truth: f64) -> bool {
    (truth / 2.0..=truth * 2.0).contains(&x)
}

#[test]
fn the_span_that_a_mapping_cache_covers() {
    // Four bytes of table for each unit of 4 KiB.
    for (cache, covered) in [("16 KiB", 16.0 * MIB), ("64 KiB", 64.0 * MIB), ("256 KiB", 256.0 * MIB)] {
        let changes = [("ssd.mapping_cache", cache)];
        let findings = sweep("samsung-980", &changes, SweepAxis::WorkingSet, Direction::Read).run();
        let x = only(&findings, FindingName::MappingCache);
        assert!(within_a_step(x, covered), "{cache}: found {x}");
    }
    let full = [("ssd.mapping", "full")];
    let findings = sweep("samsung-980", &full, SweepAxis::WorkingSet, Direction::Read).run();
    assert_eq!(named(&findings, FindingName::MappingCache), Vec::<&Finding>::new());
}

fn disk_caches(segments: &str, segment: &str) -> Vec<f64> {
    let changes = [("disk.segments", segments), ("disk.segment", segment)];
    let mut plan = sweep("hitachi-hds721616plat80", &changes, SweepAxis::WorkingSet, Direction::Read);
    (plan.time_ms, plan.max_bytes) = (400, Some(256 << 20));
    named(&plan.run(), FindingName::DriveCache).iter().filter_map(|finding| finding.x).collect()
}

#[test]
fn of_a_disk_cache_in_one_piece_random_access_uses_a_part() {
    // A ring is read again at every backward step, so random access uses only part of it.
    for (segment, size) in [("4 MiB", 4.0), ("8 MiB", 8.0)] {
        let caches = disk_caches("1", segment);
        let fits = caches.len() == 1 && (size / 4.0 * MIB..=size * MIB).contains(&caches[0]);
        assert!(fits, "{segment}: found {caches:?}");
    }
    // Of a small one it uses nothing, so none is reported.
    assert_eq!(disk_caches("1", "512 KiB"), Vec::<f64>::new());
}

#[test]
fn of_a_disk_cache_in_segments_random_access_uses_one_at_least_and_all_at_most() {
    for (segments, size) in [("4", 2.0), ("8", 4.0), ("16", 8.0)] {
        let caches = disk_caches(segments, "512 KiB");
        let fits = caches.len() == 1 && (0.25 * MIB..=size * 2.0 * MIB).contains(&caches[0]);
        assert!(fits, "{segments} segments: found {caches:?}");
    }
}

#[test]
fn the_strip_of_a_raid_and_its_drives() {
    for (strip, size) in [("16 KiB", 16.0), ("32 KiB", 32.0), ("64 KiB", 64.0), ("256 KiB", 256.0)] {
        // If the driver itself splits into commands of 256 KiB, that hides a strip of this size.
        let changes = [("raid.strip", strip), ("host.largest_command", "1 MiB")];
        let findings = sweep("raid-9260", &changes, SweepAxis::BlockSize, Direction::Read).run();
        let x = only(&findings, FindingName::Strip);
        assert!((x / KIB - size).abs() < 1e-9, "{strip}: found {x}, {findings:#?}");
        let finding = named(&findings, FindingName::Strip)[0];
        assert!(finding.text.en.contains("over 4 drives"), "{finding:?}");
    }
}

#[test]
fn how_much_flash_is_written_with_one_bit() {
    for (cache, size) in [("512 MiB", 512.0 * MIB), ("1 GiB", 1024.0 * MIB), ("2 GiB", 2048.0 * MIB)] {
        let changes = [("ssd.slc_dynamic", cache)];
        let mut plan = sweep("crucial-p1", &changes, SweepAxis::BytesWritten, Direction::Write);
        (plan.time_ms, plan.max_bytes) = (200, Some(16 << 30));
        let findings = plan.run();
        let first = named(&findings, FindingName::SlcCache);
        let x =
            first.first().and_then(|finding| finding.x).unwrap_or_else(|| panic!("{cache}: {findings:#?}"));
        assert!(within_a_step(x, size), "{cache}: found {x}");
    }
}

#[test]
fn how_many_parts_work_side_by_side() {
    for (parallel, count) in [("4", 4.0), ("16", 16.0)] {
        let changes = [("memory.parallel", parallel)];
        let findings = sweep("ideal-ram-disk", &changes, SweepAxis::QueueDepth, Direction::Read).run();
        let x = only(&findings, FindingName::Parallelism);
        assert!((x - count).abs() < 1e-9, "{parallel}: found {x}");
    }
    let alone = [("memory.parallel", "1")];
    let findings = sweep("ideal-ram-disk", &alone, SweepAxis::QueueDepth, Direction::Read).run();
    only(&findings, FindingName::OneAtATime);
}

#[test]
fn a_depth_that_is_enough_is_told_with_its_own_rate() {
    let mut plan = sweep("crucial-p1", &[], SweepAxis::QueueDepth, Direction::Read);
    plan.time_ms = 500;
    let findings = plan.run();
    let [parts] = named(&findings, FindingName::Parallelism)[..] else { panic!("{findings:#?}") };
    let at = |depth: Option<f64>| findings[0].points.iter().find(|point| Some(point.0) == depth).unwrap().1;
    assert!((parts.after / at(parts.x) - 1.0).abs() < 1e-9, "{parts:?}");
    // Here the largest depth still brings a small gain.
    assert!(parts.x == Some(32.0) && at(Some(64.0)) > parts.after * 1.02, "{:?}", findings[0].points);
    assert!(parts.text.en.contains("a deeper queue brings little ("), "{parts:?}");
}

#[test]
fn of_a_disk_nobody_is_asked_what_kind_of_medium_it_is() {
    let asks = |findings: &[SweepCurve]| -> Vec<bool> {
        let unknown = named(findings, FindingName::Unknown);
        unknown.iter().map(|finding| finding.evidence.en.contains("the kind of medium")).collect()
    };
    let (mut unknown, mut undescribed) = (0, 0);
    for device in ["ibm-dcas-34330", "hitachi-hua722020ala330", "seagate-barracuda-st32171w"] {
        for direction in [Direction::Read, Direction::Write] {
            let mut plan = sweep(device, &[], SweepAxis::WorkingSet, direction);
            plan.time_ms = 500;
            let mut record = plan.record();
            let described = asks(&explain_sweep(&record));
            unknown += described.len();
            assert!(described.iter().all(|asks| !asks), "{device}");
            // The same figures of a device without a description.
            record.header.model = None;
            undescribed += asks(&explain_sweep(&record)).into_iter().filter(|asks| *asks).count();
        }
    }
    assert!(unknown > 0 && undescribed > 0, "{unknown} and {undescribed}");
}

#[test]
fn one_command_at_a_time_on_usb_without_uas_and_on_sata_without_queueing() {
    let findings =
        sweep("samsung-870-evo", &[("sata.depth", "1")], SweepAxis::QueueDepth, Direction::Read).run();
    only(&findings, FindingName::OneAtATime);
    let findings =
        sweep("samsung-870-evo", &[("sata.depth", "8")], SweepAxis::QueueDepth, Direction::Read).run();
    assert!(only(&findings, FindingName::Parallelism) <= 8.0, "{findings:#?}");
    let mut disk = sweep("hua722020-usb", &[], SweepAxis::QueueDepth, Direction::Read);
    disk.time_ms = 1000;
    only(&disk.run(), FindingName::OneAtATime);
}

#[test]
fn a_file_allocation_table_that_is_walked() {
    let walked = [("fat-image.restart", "first")];
    let mut plan = sweep("rascsi", &walked, SweepAxis::WorkingSet, Direction::Read);
    plan.time_ms = 400;
    let findings = plan.run();
    assert!(!named(&findings, FindingName::ChainWalk).is_empty(), "{findings:#?}");
}

#[test]
fn a_walk_over_clusters_of_twice_the_size_is_half_as_long() {
    let rise = |cluster: &str| {
        let changes = [("fat-image.restart", "first"), ("fat-image.cluster", cluster)];
        let mut plan = sweep("rascsi", &changes, SweepAxis::WorkingSet, Direction::Read);
        plan.time_ms = 2000;
        let findings = plan.run();
        let [walk] = named(&findings, FindingName::ChainWalk)[..] else { panic!("{cluster}: {findings:#?}") };
        walk.after - walk.before
    };
    let (small, large) = (rise("16 KiB"), rise("32 KiB"));
    assert!((1.8..2.2).contains(&(small / large)), "{small} {large}");
}

#[test]
fn the_memory_of_a_raid_controller() {
    for (cache, size) in [("8 MiB", 8.0), ("32 MiB", 32.0), ("128 MiB", 128.0)] {
        let changes = [("raid.io_policy", "cached"), ("raid.cache", cache)];
        let findings = sweep("raid-9260", &changes, SweepAxis::WorkingSet, Direction::Read).run();
        let x = only(&findings, FindingName::ControllerCache);
        assert!(within_a_step(x, size * MIB), "{cache}: found {x}");
    }
    // Direct reads leave nothing in it, so there is none to be found.
    let findings =
        sweep("raid-9260", &[("raid.cache", "8 MiB")], SweepAxis::WorkingSet, Direction::Read).run();
    assert_eq!(named(&findings, FindingName::ControllerCache), Vec::<&Finding>::new());
}

#[test]
fn a_link_that_is_the_ceiling() {
    let findings = sweep("samsung-870-evo", &[], SweepAxis::BlockSize, Direction::Read).run();
    assert!(!named(&findings, FindingName::LinkCeiling).is_empty(), "{findings:#?}");
    // A slower cable is the limit as well, and a disk behind a fast one is not.
    let findings =
        sweep("samsung-870-evo", &[("sata.generation", "sata-1")], SweepAxis::BlockSize, Direction::Read)
            .run();
    let link = named(&findings, FindingName::LinkCeiling);
    assert!(
        link.iter().all(|finding| finding.text.en.contains("1.5 Gbit/s")) && !link.is_empty(),
        "{findings:#?}"
    );
    let mut disk = sweep("hua722020-sata", &[], SweepAxis::BlockSize, Direction::Read);
    disk.time_ms = 200;
    assert_eq!(named(&disk.run(), FindingName::LinkCeiling), Vec::<&Finding>::new());
}

#[test]
fn a_fast_drive_that_ends_near_its_slot_does_not_end_at_it() {
    // Reads reach 89 % of the rate of PCIe 3 ×4, and writes are well below, so the limit is the
    // controller.
    let mut plan = sweep("samsung-980", &[], SweepAxis::BlockSize, Direction::Read);
    plan.directions.push(Direction::Write);
    assert_eq!(named(&plan.run(), FindingName::LinkCeiling), Vec::<&Finding>::new());
    // With half of the lanes the slot limits both directions.
    let narrow = [("pcie.lanes", "2")];
    let mut plan = sweep("samsung-980", &narrow, SweepAxis::BlockSize, Direction::Read);
    plan.directions.push(Direction::Write);
    let findings = plan.run();
    let link = named(&findings, FindingName::LinkCeiling);
    assert!(link.iter().any(|finding| finding.confidence == Confidence::Firm), "{findings:#?}");
}

#[test]
fn the_unit_that_flash_maps() {
    for (unit, size) in [("4 KiB", 4.0), ("16 KiB", 16.0)] {
        let changes = [("ssd.mapping_unit", unit)];
        let findings = sweep("crucial-p1", &changes, SweepAxis::BlockSize, Direction::Write).run();
        for finding in named(&findings, FindingName::MappingUnit) {
            assert!((finding.x.unwrap() / KIB - size).abs() < 1e-9, "{unit}: {finding:?}");
        }
        assert!(!named(&findings, FindingName::MappingUnit).is_empty(), "{unit}: {findings:#?}");
    }
}

#[test]
fn a_write_cache_that_fills_up_is_no_unit_that_a_disk_maps() {
    let turns = |device: &str| {
        let spec = load_device(device).unwrap();
        let layers = ModelTarget::new(&spec, 1).unwrap().record().layers;
        let has = |kinds: &[&str]| layers.iter().any(|layer| kinds.contains(&layer.kind.as_str()));
        // Arrays have a unit, 4 KiB for md. A pool accepts a million writes in a second into the
        // computer's memory.
        has(&["disk", "magneto-optical", "removable"]) && !has(&["md", "raidz"])
    };
    let mut mistaken_units = Vec::new();
    for (device, _) in sampled(DEVICES.iter().filter(|(device, _)| turns(device)), 4) {
        let mut plan = sweep(device, &[], SweepAxis::BlockSize, Direction::Write);
        (plan.time_ms, plan.max_bytes) = (500, None);
        for seed in [1, 7] {
            plan.seed = seed;
            let findings = plan.run();
            let units = named(&findings, FindingName::MappingUnit);
            mistaken_units.extend(units.iter().map(|unit| format!("{device} {seed}: {}", unit.text.en)));
        }
    }
    assert_eq!(mistaken_units, Vec::<String>::new());
}

#[test]
fn an_arm_that_moves_farther() {
    let mut plan = sweep("hua722020-sata", &[("disk.segments", "0")], SweepAxis::WorkingSet, Direction::Read);
    (plan.time_ms, plan.max_bytes) = (1000, Some(256 << 30));
    let findings = plan.run();
    assert!(!named(&findings, FindingName::SeekCurve).is_empty(), "{findings:#?}");
}

#[test]
fn a_device_without_caches_has_none() {
    for device in ["ideal-ram-disk", "henkan-bancho"] {
        let mut plan = sweep(device, &[], SweepAxis::WorkingSet, Direction::Read);
        plan.time_ms = 200;
        let findings = plan.run();
        assert_eq!(
            findings.iter().flat_map(|curve| &curve.findings).collect::<Vec<_>>(),
            Vec::<&Finding>::new(),
            "{device}"
        );
    }
}
