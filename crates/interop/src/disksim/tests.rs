//! Tests of the conversion of DiskSim disks. Damaged or unsupported parts are reported with their line.

use super::*;
use kurabe_core::Lang;
use proptest::prelude::*;

/// A system with its disk in one file. The seek curve is in another file.
const SYSTEM: &str = include_str!("../../tests/fixtures/disksim/small.parv");
const CURVE: &str = "Seek distances measured: 3\n1,\t0.50000\n2,\t0.75000\n99,\t9.00000\n";

fn beside(file: &str) -> Result<String> {
    if file == "small.seek" {
        Ok(CURVE.to_owned())
    } else {
        Err(ErrorKind::Import
            .error(text!("{file} does not contain a DiskSim disk", "{file} にディスクがありません")))
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

/// Returns the value of a parameter of the device file.
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
        ("cylinders", "100"),
        ("heads", "2"),
        ("zones", "[[0, 20], [60, 10]]"),
        // The second zone ends a cylinder early, which is two of ten tracks.
        ("zone_skews", "[[4, 5, 0, 40, 0], [2, 3, 1, 0, 20]]"),
        ("slips", "[[0, 60, 1], [0, 99, 1], [0, 2355, 3], [1, 7, 1], [1, 777, 2]]"),
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
    let rows = |scheme: &str, changes: &[(&str, &str)]| {
        let mut source =
            SYSTEM.replace("Sparing scheme used = 9", &format!("Sparing scheme used = {scheme}"));
        for (from, to) in changes {
            assert!(source.contains(from), "{from}");
            source = source.replace(from, to);
        }
        let device = device(&source);
        ["slips", "spares", "zones", "zone_skews"].map(|key| {
            if device.toml.contains(&format!("\n{key} = ")) { value(&device, key) } else { String::new() }
        })
    };
    // Only defective sectors.
    let [slips, spares, _, skews] = rows("7", &[]);
    assert_eq!((slips.as_str(), spares.as_str()), ("[[0, 60, 1], [0, 99, 1], [1, 7, 1]]", ""));
    assert_eq!(skews, "[[4, 5, 0, 40, 0], [2, 3, 1, 0, 20]]");
    // Each ten cylinders of 40 sectors end with five spares, minus those that defects consumed.
    let [slips, spares, ..] = rows("8", &[]);
    assert_eq!(
        slips,
        "[[0, 60, 1], [0, 99, 1], [0, 355, 3], [1, 7, 1], [1, 197, 2], [1, 394, 3], [1, 591, 3]]"
    );
    assert_eq!(spares, "[[0, 750, 5, 395, 5]]");
    // Of 120 and 78 tracks, the last five and three are spare. A defective track among the spares
    // consumes none.
    let tracks = "[[0, 1960, 20], [0, 2260, 80], [1, 70, 10], [1, 750, 20]]";
    assert_eq!(rows("1", &[])[0], tracks);
    assert_eq!(rows("1", &[("slips = [ 7 ]", "slips = [ 7, 77 ]")])[0], tracks);
    // Spares of zones that defects do not consume.
    assert_eq!(rows("10", &[])[0], "[[0, 60, 1], [0, 99, 1], [0, 2353, 5], [1, 7, 1], [1, 776, 3]]");
    // In each cylinder, the unused 40 sectors are a cylinder of 35, and 5. After a defective sector,
    // tracks begin a sector later.
    let [slips, spares, zones, skews] = rows("2", &[]);
    assert_eq!(zones, "[[0, 20], [3, 20], [4, 20], [60, 10], [61, 10]]");
    assert_eq!(
        skews,
        "[[4, 5, 0, 45, 0], [4, 5, 8, 0, 0], [4, 5, 18, 0, 0], [2, 3, 1, 0, 0], [2, 3, 7, 0, 20]]"
    );
    assert_eq!(slips, "[[0, 30, 5], [0, 50, 1], [0, 65, 4], [1, 20, 1], [1, 35, 4], [3, 7, 1], [3, 17, 2]]");
    assert_eq!(spares, "[[2, 35, 5, 35, 56], [4, 17, 3, 17, 38]]");
    // In each track.
    let none = [("slips = [ 100, 140 ]", "slips = []"), ("slips = [ 7 ]", "slips = []")];
    assert_eq!(rows("3", &none)[1], "[[0, 5, 5, 15, 118], [1, 7, 3, 7, 78]]");
    // At the start of each cylinder.
    assert_eq!(rows("5", &none)[1], "[[0, 30, 5, 35, 58], [1, 0, 3, 17, 39]]");
    assert_eq!(rows("0", &none)[..2], ["", ""]);
}

#[test]
fn the_zones_say_where_the_disk_ends() {
    let read = |from: &str, to: &str| {
        assert!(SYSTEM.contains(from), "{from}");
        device(&SYSTEM.replace(from, to))
    };
    let (usual, counted) = (device(SYSTEM), read("Block count = 2000", "Block count = 7"));
    assert_eq!(usual, counted);
    assert!(!usual.toml.contains("capacity"), "the zones hold what they hold");
    assert_eq!(value(&read("cylinder number = 98", "cylinder number = 100"), "cylinders"), "101");
    let turns = read("Sparing scheme used = 9", "Skew units = revolutions, Sparing scheme used = 9");
    assert_eq!(value(&turns, "zone_skews"), "[[80, 100, 0, 40, 0], [20, 30, 5, 0, 20]]");
}

#[test]
fn what_a_disk_does_with_its_memory_and_its_bus_is_read() {
    let read = |changes: &[(&str, &str)]| {
        let mut source = SYSTEM.to_owned();
        for (from, to) in changes {
            assert!(source.contains(from), "{from}");
            source = source.replace(from, to);
        }
        device(&source)
    };
    let plus = |more: &str| read(&[("Fast write level = 2", &format!("Fast write level = 2, {more}"))]);
    assert_eq!(value(&read(&[]), "look_ahead_until"), "\"next-track\"");
    let whole = read(&[
        ("continuous read = 4", "continuous read = 1"),
        ("read-ahead (blks) = 32", "read-ahead (blks) = 0"),
    ]);
    assert_eq!(value(&whole, "look_ahead_until"), "\"track\"");
    assert_eq!(value(&whole, "look_ahead"), "\"32768 B\"", "0 is as much as a segment holds");
    let short = read(&[("Segment size (in blks) = 64", "Segment size (in blks) = 8")]);
    assert_eq!(value(&short, "look_ahead_of_runs_only"), "true");
    for (words, key) in [
        ("Read-ahead on idle hit = 0", "look_ahead_on_hits"),
        ("Read any free blocks = 1", "keeps_passing"),
        ("Use separate write segment = 0", "writes_empty_segments"),
        ("Read completion overhead = 0.2", "read_end"),
        ("First reselect overhead = 0.2", "reconnect"),
        ("Extra write disconnect = 1", "write_start_most"),
    ] {
        assert!(plus(words).toml.contains(&format!("\n{key} = ")), "{words}");
        assert!(!read(&[]).toml.contains(&format!("\n{key} = ")), "{key}");
    }
    assert!(
        !plus("Read-ahead on idle hit = 0, Read-ahead over requested = 1")
            .toml
            .contains("look_ahead_on_hits")
    );
    // A write through the buffer reacquires the bus at its end; a write that ends in the buffer does
    // not.
    let reselects = "Write completion overhead = 0.1, First reselect overhead = 0.25";
    assert_eq!(value(&plus(reselects), "write_end"), "\"0.1 ms\"");
    let through = read(&[("Fast write level = 2", &format!("Fast write level = 0, {reselects}"))]);
    assert_eq!(value(&through, "write_end"), "\"0.35 ms\"");
}

#[test]
fn what_is_damaged_or_not_modelled_is_told_with_its_line() {
    for (from, to, words) in [
        ("Seek type = extracted", "Seek type = linear", "only the seek types extracted and hplplus10"),
        ("Sparing scheme used = 9", "Sparing scheme used = 11", "only 0 – 10 for `Sparing scheme used`"),
        ("mapping scheme = 1", "mapping scheme = 3", "only 0, 1, 2 for `LBN-to-PBN mapping scheme`"),
        ("Number of cylinders = 100", "Number of cylinders = many", "is not a number that is not negative"),
        ("Number of cylinders = 100,", "", "has no `Number of cylinders`"),
        ("Last cylinder number = 59", "Last cylinder number = 60", "are inconsistent"),
        ("cylinder number = 98", "cylinder number = 50", "are inconsistent"),
        ("small.seek", "other.seek", "other.seek does not contain a DiskSim disk"),
        ("dm_layout_g1 {", "dm_layout_g1 ]", "`key = value` is expected"),
        ("# end of the system", "{", "the file ends too early"),
    ] {
        let error = refused(from, to);
        assert!(error.contains(words), "{from}: {error}");
    }
    assert!(refused("disksim_disk", "disksim_tape").contains("does not contain a DiskSim disk"));
    let deep = format!("disksim_disk D {{ Model = {}", "[".repeat(100_000));
    let error = read_disksim("deep", &deep, &beside).expect_err("refused");
    assert!(error.render(Lang::En).contains("too deep"));
    let endless = |_: &str| Ok("source again".to_owned());
    let error = read_disksim("again", "source again", &endless).expect_err("refused");
    assert!(error.render(Lang::En).contains("too many nested files"));
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
