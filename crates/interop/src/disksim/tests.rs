//! A disk in DiskSim's language becomes a device file; what is damaged or not modelled is told with its line.

use super::*;
use kurabe_core::Lang;
use proptest::prelude::*;

/// A system with its disk, as it stands in one file; the curve is in another.
const SYSTEM: &str = include_str!("../../tests/fixtures/disksim/small.parv");
const CURVE: &str = "Seek distances measured: 3\n1,\t0.50000\n2,\t0.75000\n99,\t9.00000\n";

fn beside(file: &str) -> Result<String> {
    if file == "small.seek" {
        Ok(CURVE.to_owned())
    } else {
        Err(ErrorKind::Import.error(text!("{file} holds no disk", "{file} にディスクがありません")))
    }
}

fn device(source: &str) -> DeviceFile {
    read_disksim("some/SMALL_1.parv", source, &beside)
        .unwrap_or_else(|error| panic!("{}", error.render(Lang::En)))
}

fn refused(from: &str, to: &str) -> String {
    assert!(SYSTEM.contains(from), "{from}");
    let source = SYSTEM.replace(from, to);
    read_disksim("small.parv", &source, &beside).expect_err("refused").render(Lang::En)
}

/// The value of a parameter of the device file.
fn value(device: &DeviceFile, key: &str) -> String {
    let line = device.toml.lines().find(|line| line.starts_with(&format!("{key} = "))).unwrap_or_else(|| {
        panic!("{key} is missing:\n{}", device.toml);
    });
    let (_, rest) = line.split_once("{ value = ").expect("a value");
    rest.split_once(", source = ").expect("a source").0.to_owned()
}

#[test]
fn a_disk_becomes_a_device_file() {
    let device = device(SYSTEM);
    assert_eq!(device.name, "small-1");
    assert!(is_disksim(SYSTEM.as_bytes()) && !is_disksim(b"disksim_disk of words") && !is_disksim(b""));
    for (key, expected) in [
        ("capacity", "\"1024000 B\""),
        ("cylinders", "100"),
        ("heads", "2"),
        ("zones", "[[0, 20], [60, 10]]"),
        // The second zone ends a cylinder early, which is two tracks of ten.
        ("zone_skews", "[[4, 5, 0, 40, 3], [2, 3, 1.5, 0, 22]]"),
        ("slips", "[[0, 60, 1], [0, 99, 1], [1, 7, 1]]"),
        ("serpentine", "true"),
        ("rotation", "10000"),
        ("seek_table", "[[1, 0.5], [2, 0.75], [99, 9]]"),
        ("head_switch", "\"0.25 ms\""),
        ("write_settle", "\"0.5 ms\""),
        ("overheads", "[[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]]"),
        ("segments", "3"),
        ("segment", "\"32768 B\""),
        ("look_ahead", "\"16384 B\""),
        // The bus is slower than the disk: 0.256 ms for 512 bytes.
        ("buffer_rate", "\"2000000 B/s\""),
        ("read_start", "0.75"),
        ("write_cache", "true"),
        ("write_cache_size", "\"65536 B\""),
    ] {
        assert_eq!(value(&device, key), expected, "{key}");
    }
    assert!(!device.toml.contains("write_start"), "a mark of 0 is none");
}

#[test]
fn a_write_that_settles_sooner_than_a_read_and_every_order_of_heads_are_read() {
    let read = |from: &str, to: &str| {
        assert!(SYSTEM.contains(from), "{from}");
        device(&SYSTEM.replace(from, to))
    };
    let sooner = read("Add. write settling delay = 0.5", "Add. write settling delay = -0.25");
    assert_eq!(value(&sooner, "read_settle"), "\"0.25 ms\"");
    assert!(!sooner.toml.contains("write_settle"));
    assert!(
        refused("Add. write settling delay = 0.5", "Add. write settling delay = x").contains("not a number")
    );
    for (scheme, keys) in [("0", 0), ("1", 1), ("2", 2)] {
        let scheme = format!("LBN-to-PBN mapping scheme = {scheme}");
        let device = read("LBN-to-PBN mapping scheme = 1", &scheme);
        assert_eq!(device.toml.matches("serpentine").count(), keys, "{scheme}");
    }
}

#[test]
fn every_way_of_sparing_leaves_out_what_disksim_does() {
    let slips = |scheme: &str| {
        let device =
            device(&SYSTEM.replace("Sparing scheme used = 9", &format!("Sparing scheme used = {scheme}")));
        (value(&device, "slips"), value(&device, "zone_skews"))
    };
    // Bad sectors alone.
    assert_eq!(slips("7").0, "[[0, 60, 1], [0, 99, 1], [1, 7, 1]]");
    assert_eq!(slips("7").1, "[[4, 5, 0, 40, 0], [2, 3, 1.5, 0, 20]]");
    // Each ten cylinders of 40 sectors end with five spares, less those that bad ones used.
    let (slips_by_range, skews) = slips("8");
    assert!(
        slips_by_range.starts_with("[[0, 60, 1], [0, 99, 1], [0, 355, 3], [0, 750, 5],"),
        "{slips_by_range}"
    );
    assert_eq!(skews, "[[4, 5, 0, 40, 0], [2, 3, 1.5, 0, 20]]");
    // Tracks 100 and 140 of 20 sectors.
    let tracks = SYSTEM.replace("Sparing scheme used = 9", "Sparing scheme used = 1");
    assert_eq!(value(&device(&tracks), "slips"), "[[0, 1960, 20], [0, 2740, 20], [1, 70, 10]]");
}

#[test]
fn what_is_damaged_or_not_modelled_is_told_with_its_line() {
    for (from, to, words) in [
        ("Seek type = extracted", "Seek type = linear", "extracted and hplplus10 only"),
        (
            "Sparing scheme used = 9",
            "Sparing scheme used = 4",
            "`Sparing scheme used` of 1, 7, 8, 9, 10 only",
        ),
        ("mapping scheme = 1", "mapping scheme = 3", "`LBN-to-PBN mapping scheme` of 0, 1, 2 only"),
        ("Number of cylinders = 100", "Number of cylinders = many", "is not a number that is not negative"),
        ("Number of cylinders = 100,", "", "has no `Number of cylinders`"),
        ("Last cylinder number = 59", "Last cylinder number = 60", "do not fit together"),
        ("small.seek", "other.seek", "other.seek holds no disk"),
        ("dm_layout_g1 {", "dm_layout_g1 ]", "`key = value` is expected"),
        ("# end of the system", "{", "the file ends too early"),
    ] {
        let error = refused(from, to);
        assert!(error.contains(words), "{from}: {error}");
    }
    assert!(refused("disksim_disk", "disksim_tape").contains("holds no disk"));
    let deep = format!("disksim_disk D {{ Model = {}", "[".repeat(100_000));
    let error = read_disksim("deep", &deep, &beside).expect_err("refused");
    assert!(error.render(Lang::En).contains("too deep"));
    let endless = |_: &str| Ok("source again".to_owned());
    let error = read_disksim("again", "source again", &endless).expect_err("refused");
    assert!(error.render(Lang::En).contains("too many files"));
}

proptest! {
    #[test]
    fn no_text_panics(cut in 0usize..4000, at in 0usize..4000, word in "[{}\\[\\]=,# a-z0-9.]{0,8}") {
        let mut source: String = SYSTEM.chars().take(cut).collect();
        let place = source.char_indices().nth(at).map_or(source.len(), |(place, _)| place);
        source.insert_str(place, &word);
        let _ = read_disksim("any", &source, &beside);
    }
}
