//! docs/studies.md: its examples are valid, and it describes every key.

use kurabe_core::Error;
use kurabe_study::Study;
use kurabe_study::catalogue::Catalogue;

const REFERENCE: &str = include_str!("../../../../../docs/studies.md");

/// Returns the TOML examples.
fn examples() -> Vec<&'static str> {
    REFERENCE.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

fn parse(source: &str) -> Result<(), Error> {
    if source.contains("[[part]]") {
        Study::parse("docs/studies.md", source, &Catalogue::load()?).map(|_| ())
    } else {
        Catalogue::parse("docs/studies.md", source).map(|_| ())
    }
}

#[test]
fn every_example_is_read() {
    assert_eq!(examples().len(), 2);
    for example in examples() {
        parse(example).unwrap_or_else(|error| panic!("{}", error.render(Default::default())));
    }
}

/// Returns the keys that the reader accepts at a place, which it lists when it meets an unknown
/// one.
fn known_keys(source: &str) -> Vec<String> {
    let error = parse(source).unwrap_err();
    assert!(error.what().en.contains("unknown key"), "{error:?}");
    let remedy = &error.remedy_text().unwrap().en;
    let list = remedy.rsplit_once(": ").unwrap().1.trim_end_matches(')');
    list.split(", ").map(str::to_owned).collect()
}

#[test]
fn every_key_is_told() {
    let examples = examples();
    let [study, catalogue] = examples.as_slice() else { panic!("two examples") };
    let with = |source: &str, before: &str, key: &str| source.replacen(before, &format!("{key}{before}"), 1);
    let files = [
        with(study, "name =", "zzz = 1\n"),
        with(study, "id =", "zzz = 1\n"),
        with(study, "published = \"read\"", "zzz = 1, "),
        with(study, "label =", "zzz = 1\n"),
        with(study, "size =", "zzz = 1, "),
        with(study, "along =", "zzz = 1\n"),
        with(study, "says =", "zzz = 1, "),
        with(study, "part = \"latency\"", "zzz = 1, "),
        with(catalogue, "source =", "zzz = 1\n"),
        with(catalogue, "id =", "zzz = 1\n"),
        with(catalogue, "key =", "zzz = 1, "),
        with(catalogue, "device =", "zzz = 1\n"),
    ];
    for file in files {
        let keys = known_keys(&file);
        assert!(keys.len() > 2, "{keys:?}");
        for key in keys.iter().filter(|key| *key != "read") {
            assert!(REFERENCE.contains(&format!("`{key}`")), "docs/studies.md does not tell `{key}`");
        }
    }
}
