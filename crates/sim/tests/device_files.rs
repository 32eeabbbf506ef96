//! Device files: accepted ones, and errors with their line.

use kurabe_core::ErrorKind;
use kurabe_sim::{
    CARDS, COMPUTERS, DEVICES, DeviceSpec, EMULATORS, FRAGMENTS, HOSTS, Stack, assembled_source,
    combinations, device_named, load_device, part_notes, read_device,
};

const HEAD: &str = "schema = 1\nname = \"x\"\ntitle = { en = \"x\", ja = \"x\" }\n";
const MEDIUM: &str = "[[layer]]\nkind = \"constant\"\ncapacity = { value = \"1 MiB\", source = \"t\" }\n\
                      access = { value = \"1 ms\", source = \"t\" }\nrate = { value = \"1 MB/s\", source = \"t\" }\n";

fn read(body: &str) -> Result<DeviceSpec, String> {
    read_device("x.toml", &format!("{HEAD}{body}")).map_err(|error| {
        let line = error.place().map_or(0, |place| place.line);
        format!("{line}: {}", error.what().en)
    })
}

#[test]
fn a_parameter_without_a_source_is_refused_at_its_line() {
    let bare = MEDIUM.replace("{ value = \"1 ms\", source = \"t\" }", "\"1 ms\"");
    assert_eq!(read(&bare).unwrap_err(), "7: x.toml: every parameter needs a source");
    let empty = MEDIUM.replace("\"1 ms\", source = \"t\"", "\"1 ms\", source = \" \"");
    assert_eq!(read(&empty).unwrap_err(), "7: x.toml: expected a source here");
}

#[test]
fn devices_are_the_same_by_their_values_and_not_by_names_or_sources() {
    let body = format!("[[layer]]\nkind = \"host\"\n{MEDIUM}");
    let one = read(&body).unwrap();
    let mut other = read(&body.replace("\"t\"", "\"elsewhere\"").replace("1 ms", "1000 us")).unwrap();
    assert!(one.is_same_stack(&other));
    other.set("constant.access", "2 ms").unwrap();
    assert!(!one.is_same_stack(&other));
    other.set("constant.access", "1ms").unwrap();
    assert!(one.is_same_stack(&other) && other.is_same_stack(&one));
    let deeper =
        read(&format!("[[layer]]\nkind = \"host\"\n[[layer]]\nkind = \"filesystem\"\n{MEDIUM}")).unwrap();
    assert!(!one.is_same_stack(&deeper));
}

#[test]
fn unknown_kinds_keys_and_units_are_refused_at_their_line() {
    for (from, to, says) in [
        ("\"constant\"", "\"constnat\"", "5: x.toml: `constnat` is not a valid value"),
        ("access =", "acces =", "7: x.toml: unknown key `acces`"),
        ("1 MB/s", "1 MB", "8: x.toml: `1 MB` is not a rate"),
        ("1 ms", "1 week", "7: x.toml: `1 week` is not a time"),
        ("1 ms", "2 h", "7: x.toml: `2 h` is outside the range of `access`"),
    ] {
        let error = read(&MEDIUM.replace(from, to)).unwrap_err();
        assert!(error.starts_with(says), "{error}");
    }
}

#[test]
fn a_medium_ends_a_stack_and_nothing_else_does() {
    let host = "[[layer]]\nkind = \"host\"\n";
    assert!(read(&format!("{host}{MEDIUM}")).is_ok());
    assert!(read(&format!("{MEDIUM}{host}")).unwrap_err().contains("no layer can follow below it"));
    assert!(read(host).unwrap_err().contains("`host` needs a layer below it"));
}

#[test]
fn a_device_uses_the_parts_of_another_that_are_not_of_its_computer() {
    let spec =
        read("[[layer]]\nkind = \"host\"\nname = \"mine\"\n[[layer]]\nuse = \"ideal-ram-disk\"\n").unwrap();
    let names: Vec<&str> = spec.layers.iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(names, ["mine", "memory"]);
    let error = read_device("x.toml", &format!("{HEAD}[[layer]]\nuse = \"ideal-ram-dis\"\n")).unwrap_err();
    assert_eq!(error.place().unwrap().line, 5);
    assert!(error.remedy_text().unwrap().en.contains("`ideal-ram-disk`"), "{error:?}");
}

#[test]
fn what_does_not_fit_together_shows_the_line_or_the_value_that_the_user_gave() {
    let host = "[[layer]]\nkind = \"host\"\ncopy_turn = { value = \"4 KiB\", source = \"t\" }\n";
    let spec = read(&format!("{host}{MEDIUM}")).unwrap();
    let error = Stack::new(&spec, 1).err().unwrap();
    assert_eq!((error.kind(), error.place().unwrap().line), (ErrorKind::DataFile, 6));
    assert!(error.remedy_text().unwrap().en.contains("`host.copy_piece`, which is 64 KiB"), "{error:?}");
    let mut spec = read(&format!("[[layer]]\nkind = \"host\"\n{MEDIUM}")).unwrap();
    spec.set("host.copy_piece", "1 GiB").unwrap();
    let error = Stack::new(&spec, 1).err().unwrap();
    assert_eq!((error.kind(), error.place()), (ErrorKind::Usage, None));
    assert!(error.what().ja.starts_with("host.copy_piece=1 GiB: "), "{error:?}");
    assert!(error.remedy_text().unwrap().en.contains("`host.copy_turn`, which is 768 KiB"), "{error:?}");
}

#[test]
fn what_stands_below_a_layer_is_the_rest_as_often_as_it_has_members_or_the_members_that_it_lists() {
    let mirror = "[[layer]]\nkind = \"mirror\"\n";
    let bare = MEDIUM.replace("[[layer]]", "[[layer.member.layer]]");
    for (members, expected) in [
        (format!("members = {{ value = 0x3, source = \"t\" }}\n{MEDIUM}"), vec![(3, 1)]),
        (format!("[[layer.member]]\ncount = 2\n{bare}[[layer.member]]\n{bare}"), vec![(2, 1), (1, 1)]),
    ] {
        let spec = read(&format!("{mirror}{members}")).unwrap();
        let below = spec.layers[0].below(&spec.layers[1..]);
        let below: Vec<(u64, usize)> = below.iter().map(|(count, layers)| (*count, layers.len())).collect();
        assert_eq!(below, expected);
    }
    assert!(read(MEDIUM).unwrap().layers[0].below(&[]).is_empty());
}

#[test]
fn a_change_reaches_the_layer_and_is_marked() {
    let mut spec = read(MEDIUM).unwrap();
    spec.set("constant.access", "2 ms").unwrap();
    spec.set("constant.parallel", "4").unwrap();
    assert_eq!(spec.get("constant.access").as_deref(), Some("2 ms"));
    let changed: Vec<&str> = spec.layers[0]
        .settings
        .iter()
        .filter(|setting| setting.changed)
        .map(|setting| setting.parameter.key)
        .collect();
    assert_eq!(changed, ["access", "parallel"]);
    for (path, value) in [
        ("constant.parallel", "0"),
        ("constant.parallel", "many"),
        ("constant.speed", "1"),
        ("disk.access", "1 ms"),
        ("access", "1 ms"),
        ("constant.access", "\"]] oops"),
    ] {
        assert!(spec.set(path, value).is_err(), "{path} = {value}");
    }
}

#[test]
fn layers_of_one_branch_have_different_names() {
    let host = "[[layer]]\nkind = \"host\"\n";
    assert!(read(&format!("{host}{host}{MEDIUM}")).unwrap_err().contains("two layers have the name `host`"));
    assert!(read(&format!("{host}name = \"second\"\n{host}{MEDIUM}")).is_ok());
}

/// Reads a device in a folder with the user's own fragment of this text. Returns the error, or the
/// device.
fn with_fragment(name: &str, fragment: &str, uses: &str) -> Result<DeviceSpec, kurabe_core::Error> {
    let folder = std::env::temp_dir().join(format!("kurabe-fragment-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("host.toml"), format!("schema = 1\n{fragment}")).unwrap();
    let file = folder.join("device.toml");
    std::fs::write(&file, format!("{HEAD}[[layer]]\nuse = \"./host.toml\"\n{uses}\n{MEDIUM}")).unwrap();
    let spec = load_device(file.to_str().unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
    spec
}

#[test]
fn a_fragment_gives_its_layers_and_its_user_changes_their_parameters() {
    let fragment = "[[layer]]\nkind = \"host\"\nin_flight = { value = 1, source = \"slow\" }\n[[layer]]\n\
        kind = \"usb\"\n";
    let changes = "usb.generation = { value = \"usb-2\", source = \"t\" }\n\
        usb.protocol = { value = \"bot\", source = \"t\" }\n\
        host.copy_depth = { value = 2, source = \"t\" }";
    let spec = with_fragment("good", fragment, changes).unwrap();
    let values = ["host.in_flight", "host.copy_depth", "usb.generation"].map(|path| spec.get(path).unwrap());
    assert_eq!(values, ["1", "2", "usb-2"]);
    // Parameters that the fragment omits must be given where it is used.
    let error = with_fragment("open", fragment, "").unwrap_err();
    assert!(error.what().en.ends_with("the key `usb.generation` is missing here"), "{error}");
    assert_eq!(error.place().unwrap().line, 4);
    let error = with_fragment("word", fragment, "usbb.generation = {}").unwrap_err();
    assert!(error.remedy_text().unwrap().en.contains("`usb`"), "{error:?}");
}

#[test]
fn an_error_in_a_fragment_shows_its_line_and_who_uses_it() {
    let fragment = "[[layer]]\nkind = \"host\"\nin_flight = { value = 0, source = \"t\" }\n";
    let error = with_fragment("wrong", fragment, "").unwrap_err();
    let place = error.place().unwrap();
    assert!(place.file.ends_with("host.toml") && place.line == 4, "{place:?}");
    assert!(error.what().en.ends_with("device.toml, line 5)"), "{error}");
}

#[test]
fn a_device_stands_in_the_computer_that_is_set() {
    let keys = ["read_time", "write_time", "page_time", "wake_time"];
    for (name, source) in COMPUTERS {
        let mut spec = device_named("samsung-990-pro").unwrap();
        spec.set("computer", name).unwrap();
        let record = Stack::new(&spec, 1).unwrap().record(&spec);
        let changed: Vec<_> = record.layers[0].parameters.iter().filter(|setting| setting.changed).collect();
        // A computer removes all settings of the previous one.
        assert_eq!(changed.iter().map(|setting| setting.key.as_str()).collect::<Vec<_>>(), keys, "{name}");
        assert!(changed.iter().all(|setting| source.contains(&setting.source)), "{name}");
    }
    let mut spec = device_named("samsung-990-pro").unwrap();
    let error = spec.set("computer", "windows-desktp").unwrap_err();
    assert!(error.to_string().contains("windows-desktp"), "{error}");
    assert!(error.remedy_text().unwrap().en.contains("windows-desktop"), "{error:?}");
    assert!(spec.set("computer", "toshiba-hg3").is_err());
}

#[test]
fn every_device_fits_under_a_journal() {
    for (name, _) in DEVICES {
        let mut spec = device_named(name).unwrap();
        spec.put_under_journal(true, true).unwrap();
        let record = Stack::new(&spec, 1).unwrap().record(&spec);
        let journal = &record.layers[0];
        assert_eq!(journal.kind, "journal", "{name}");
        // The parameters follow from the run, so the model counts as unchanged.
        assert!(record.changes().is_empty(), "{name}");
        assert_eq!(journal.value("commits_pages"), Some("true"), "{name}");
    }
}

#[test]
fn every_fragment_is_used_and_is_no_device() {
    // The journal is put above a device by a run that needs it.
    for (name, _) in FRAGMENTS.iter().filter(|(name, _)| *name != "journal") {
        let uses = format!("use = \"{name}\"");
        assert!(DEVICES.iter().any(|(_, source)| source.contains(&uses)), "{name}");
        assert!(DEVICES.iter().all(|(device, _)| device != name), "{name}");
    }
}

#[test]
fn an_emulator_a_card_and_a_computer_make_a_device_in_every_combination() {
    let mut count = 0;
    for (host, _) in HOSTS {
        for name in combinations(&format!("all+all+{host}")).unwrap() {
            let spec = device_named(&name).unwrap_or_else(|error| panic!("{name}: {error:?}"));
            Stack::new(&spec, 1).unwrap_or_else(|error| panic!("{name}: {error:?}"));
            assert_eq!(spec.name, name);
            let kinds: Vec<&str> = spec.layers.iter().map(|layer| layer.kind.word).collect();
            assert_eq!(kinds.last(), Some(&"card"), "{name}");
            assert_eq!(kinds.iter().filter(|kind| **kind == "scsi").count(), 1, "{name}");
            count += 1;
        }
    }
    assert_eq!(count, EMULATORS.len() * CARDS.len() * HOSTS.len());
    assert_eq!(combinations("piscsi+sd-class2+falcon").unwrap(), ["piscsi+sd-class2+falcon"]);
    assert_eq!(combinations("rascsi").unwrap(), ["rascsi"]);
    assert!(combinations("all+all+falcn").unwrap_err().remedy_text().unwrap().en.contains("`falcon`"));
}

#[test]
fn each_part_gives_its_share_of_the_device_and_its_words() {
    let name = "zuluscsi-rp2040+sd-class2+mac-8100";
    let spec = device_named(name).unwrap();
    assert_eq!(spec.title.en, "ZuluSCSI RP2040, SD card of class 2, Power Macintosh 8100 (5 MB/s)");
    // The bus has a share of the computer's and one of the emulator's, the card one of both.
    let of = |path: &str| spec.get(path).unwrap_or_else(|| panic!("{path}"));
    let other = device_named("zuluscsi-rp2040+sd-class10+pc-ultra-scsi").unwrap();
    for (path, same) in [
        ("scsi.initiator_in", false),
        ("scsi.target_in", true),
        ("card.interface", true),
        ("card.write", false),
        ("fat-image.cluster", true),
    ] {
        assert_eq!(other.get(path).as_deref() == Some(&*of(path)), same, "{path}");
    }
    let parts: Vec<String> = part_notes(name).unwrap().into_iter().map(|(part, _)| part).collect();
    assert!(parts.contains(&"sd-class2".to_owned()), "{parts:?}");
    let source = assembled_source(name).unwrap();
    assert!(read_device("mine.toml", &source).unwrap().is_same_stack(&spec), "{source}");
    assert_eq!(["rascsi", "sd-class2"].map(assembled_source), [None, None]);
    let note = spec.note.unwrap().en;
    assert!(part_notes(name).unwrap().iter().all(|(_, text)| note.contains(&text.en)), "{note}");
}

#[test]
fn a_part_alone_and_an_unknown_part_are_refused() {
    for (name, remedy) in [
        ("bluescsi-v2", "+"),
        ("bluescsi-v2+sd-class10", "+"),
        ("bluescsi-v2+sd-class10+mac-8100+falcon", "+"),
        ("bluescsi-v3+sd-class10+mac-8100", "`bluescsi-v2`"),
        ("bluescsi-v2+sd-clas10+mac-8100", "`sd-class10`"),
        ("bluescsi-v2+sd-class10+mac-810", "`mac-8100`"),
    ] {
        let error = device_named(name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{name}");
        assert!(error.remedy_text().unwrap().en.contains(remedy), "{name}: {error:?}");
    }
}

#[test]
fn layers_of_a_list_of_fragments_that_have_the_same_name_become_one_and_the_last_value_counts() {
    let folder = std::env::temp_dir().join(format!("kurabe-fragments-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let host = |keys: &str| format!("schema = 1\n[[layer]]\nkind = \"host\"\n{keys}");
    let one = "in_flight = { value = 1, source = \"a\" }\ncopy_depth = { value = 1, source = \"a\" }\n";
    let two = "copy_depth = { value = 2, source = \"b\" }\n";
    std::fs::write(folder.join("one.toml"), host(one)).unwrap();
    std::fs::write(folder.join("two.toml"), host(two)).unwrap();
    let file = folder.join("device.toml");
    let device = format!("{HEAD}[[layer]]\nuse = [\"./one.toml\", \"./two.toml\"]\n{MEDIUM}");
    std::fs::write(&file, device).unwrap();
    let spec = load_device(file.to_str().unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
    let spec = spec.unwrap();
    assert_eq!(spec.layers.len(), 2);
    assert_eq!(["host.in_flight", "host.copy_depth"].map(|path| spec.get(path).unwrap()), ["1", "2"]);
}
