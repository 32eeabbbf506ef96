//! The properties of the fuzz targets, checked on the corpus that fuzzing has collected and on the
//! seed files. `host_any` is replayed in `host`, because its parsers are private.

use std::path::Path;

#[path = "../../../../fuzz/laws/lib.rs"]
mod laws;

/// Checks a property on every file of some folders, each of which must have files.
fn replay(law: fn(&[u8]), folders: &[&str]) {
    for folder in folders {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder);
        let entries =
            std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let files: Vec<_> =
            entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
        assert!(!files.is_empty(), "{}", folder.display());
        for file in files {
            let bytes = std::fs::read(&file).unwrap();
            let held = std::panic::catch_unwind(|| law(&bytes));
            assert!(held.is_ok(), "{} breaks the law", file.display());
        }
    }
}

#[test]
fn any_profile() {
    replay(laws::profile_parse::holds, &["fuzz/corpus/profile_parse", "profiles"]);
}

#[test]
fn any_device_file() {
    replay(laws::device_parse::holds, &["fuzz/corpus/device_parse", "devices"]);
}

#[test]
fn any_exported_run() {
    replay(laws::export_parse::holds, &["fuzz/corpus/export_parse", "crates/store/tests/fixtures"]);
}

#[test]
fn any_quantity() {
    replay(laws::quantity::holds, &["fuzz/corpus/quantity"]);
}

#[test]
fn any_trace() {
    replay(laws::trace_any::holds, &["fuzz/corpus/trace_any", "crates/interop/tests/fixtures/traces"]);
}

#[test]
fn any_result_of_another_tool() {
    let fixtures = [
        "fuzz/corpus/import_any",
        "crates/interop/tests/fixtures/consumer",
        "crates/interop/tests/fixtures/lab",
    ];
    replay(laws::import_any::holds, &fixtures);
}

#[test]
fn any_client_of_nbd() {
    replay(laws::nbd_any::holds, &["fuzz/corpus/nbd_any"]);
}
