//! Laws of rotation and seeks, for every disk of the library.

use super::{assert_near, device, drive, in_order, scattered, with_layer};
use kurabe_sim::{Request, RequestKind, device_named};

const READS: u64 = 2000;

/// Returns a parameter of a model's layer as a number, without its unit.
fn number(name: &str, layer: &str, key: &str) -> f64 {
    let spec = device_named(name).unwrap();
    let layers = spec.all_layers();
    let layer = layers.iter().find(|spec| spec.name == layer).unwrap();
    let setting = layer.settings.iter().find(|setting| setting.parameter.key == key).unwrap();
    setting.written.split_whitespace().next().unwrap().parse().unwrap()
}

/// Returns the mean rotational latency and transfer time of random reads all over a disk without a
/// cache, in ns.
fn rotation_and_transfer_ns(name: &str, layer: &str, rpm: f64) -> (f64, f64) {
    let rotation = format!("{layer}.rotation");
    let segments = format!("{layer}.segments");
    let mut stack = device(name, &[(&rotation, &rpm.to_string()), (&segments, "0")]);
    let span_bytes = stack.capacity_bytes();
    let outcome = drive(&mut stack, &scattered(RequestKind::Read, READS, 4096, span_bytes, 11), 1);
    let mean = |cause: &str| outcome.share_ns(layer, cause) / READS as f64;
    (mean("rotation"), mean("transfer"))
}

/// Returns the disks without other layers: a bus or an array above would divide and distribute the
/// requests.
fn disks() -> Vec<(&'static str, String)> {
    let alone = |name: &&'static str| device_named(name).unwrap().all_layers().len() == 1;
    with_layer("disk").into_iter().filter(|(name, _)| alone(name)).collect()
}

/// 6 %: four times the standard error of a mean of 2,000 waits that are uniformly distributed over
/// a revolution.
#[test]
fn a_random_read_waits_for_half_a_turn() {
    let disks = disks();
    assert!(disks.len() >= 5, "{disks:?}");
    for (name, layer) in disks {
        let rpm = number(name, &layer, "rotation");
        let (rotation_ns, _) = rotation_and_transfer_ns(name, &layer, rpm);
        assert_near(rotation_ns, 60e9 / rpm / 2.0, 0.06, name);
    }
}

/// 8 % for the waits, because both sides have the error above; 0.1 % for the transfer, because
/// sectors begin at whole ns.
#[test]
fn twice_the_turns_halve_the_wait_and_the_time_of_the_bytes() {
    for (name, layer) in disks() {
        let rpm = number(name, &layer, "rotation");
        let (slow, fast) =
            (rotation_and_transfer_ns(name, &layer, rpm), rotation_and_transfer_ns(name, &layer, 2.0 * rpm));
        assert_near(fast.0, slow.0 / 2.0, 0.08, name);
        assert_near(fast.1, slow.1 / 2.0, 0.001, name);
    }
}

/// 5 %: the average of the curve over seeks between sectors, of which the outer cylinders hold
/// more, compared with that over cylinders.
#[test]
fn random_reads_move_the_arm_for_its_average_time() {
    for (name, layer) in disks() {
        let segments = format!("{layer}.segments");
        let curve =
            [("seek_table", "[]"), ("seek_single", "1 ms"), ("seek_average", "8 ms"), ("seek_full", "16 ms")];
        let keys = curve.map(|(key, value)| (format!("{layer}.{key}"), value));
        let mut changes: Vec<(&str, &str)> = keys.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        changes.push((&segments, "0"));
        let mut stack = device(name, &changes);
        let span_bytes = stack.capacity_bytes();
        let outcome = drive(&mut stack, &scattered(RequestKind::Read, READS, 4096, span_bytes, 12), 1);
        assert_near(outcome.share_ns(&layer, "seek") / READS as f64, 8e6, 0.05, name);
    }
}

/// 3 %: the curve ends at its longest time, and the last zone may end before the last cylinder of
/// the disk.
#[test]
fn the_farther_the_arm_goes_the_longer_it_takes() {
    for (name, layer) in disks() {
        let segments = format!("{layer}.segments");
        let curve =
            [("seek_table", "[]"), ("seek_single", "1 ms"), ("seek_average", "8 ms"), ("seek_full", "16 ms")];
        let keys = curve.map(|(key, value)| (format!("{layer}.{key}"), value));
        let seek_ns = |of_disk: f64| {
            let mut changes: Vec<(&str, &str)> =
                keys.iter().map(|(key, value)| (key.as_str(), *value)).collect();
            changes.push((&segments, "0"));
            let mut stack = device(name, &changes);
            let far_bytes = ((stack.capacity_bytes() - 4096) as f64 * of_disk) as u64 / 4096 * 4096;
            let to_and_fro = |index: u64| Request::new(RequestKind::Read, index % 2 * far_bytes, 4096);
            let outcome = drive(&mut stack, &(0..201).map(to_and_fro).collect::<Vec<_>>(), 1);
            outcome.share_ns(&layer, "seek") / 200.0
        };
        let times = [0.01, 0.1, 0.25, 0.5, 1.0].map(seek_ns);
        assert!(times.is_sorted() && times[0] < 0.5 * times[4], "{name}: {times:?}");
        assert_near(times[4], 16e6, 0.03, name);
    }
}

/// 5 %: skews are whole sectors, which are longer in the last zone, and the first seek is part of
/// the time.
#[test]
fn the_first_zone_is_faster_than_the_last_by_its_sectors() {
    for (name, layer) in disks() {
        let spec = device_named(name).unwrap();
        let zones =
            spec.all_layers()[0].settings.iter().find(|setting| setting.parameter.key == "zones").unwrap();
        let sectors: Vec<f64> = zones
            .written
            .split(['[', ']', ','])
            .filter_map(|word| word.trim().parse::<f64>().ok())
            .skip(1)
            .step_by(2)
            .collect();
        let (first, last) = (sectors[0], sectors[sectors.len() - 1]);
        let none = format!("{layer}.zone_skews");
        let slips = format!("{layer}.slips");
        let buffer = format!("{layer}.buffer_rate");
        let rate = |at_end: bool| {
            let mut stack = device(name, &[(&none, "[]"), (&slips, "[]"), (&buffer, "1 GB/s")]);
            let bytes = 8 << 20;
            let from_bytes = if at_end { (stack.capacity_bytes() - bytes) / 65_536 * 65_536 } else { 0 };
            drive(&mut stack, &in_order(RequestKind::Read, from_bytes, bytes / 65_536, 65_536), 4).per_s()
        };
        assert_near(rate(false) / rate(true), first / last, 0.05, name);
    }
}

/// 1 %: the last seeks of a run.
#[test]
fn reads_within_less_of_a_disk_are_never_slower() {
    for (name, layer) in disks() {
        let segments = format!("{layer}.segments");
        let mean_ns = |parts: u64| {
            let mut stack = device(name, &[(&segments, "0")]);
            let span_bytes = stack.capacity_bytes() / parts;
            drive(&mut stack, &scattered(RequestKind::Read, READS, 4096, span_bytes, 13), 1).mean_ns()
        };
        let means = [1, 4, 16, 64].map(mean_ns);
        assert!(means.windows(2).all(|pair| pair[1] <= pair[0] * 1.01), "{name}: {means:?}");
    }
}
