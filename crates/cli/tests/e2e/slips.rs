//! Common mistakes at the command line, and the hints that resolve them.

use crate::lab::{Lab, text};

#[test]
fn a_model_and_a_profile_are_shown_by_their_names_alone() {
    let lab = Lab::new();
    for (command, name) in [("models", "rascsi"), ("profiles", "cdm-9")] {
        let shown = lab.kurabe(&[command, "show", name]).ok().out;
        assert_eq!(lab.kurabe(&[command, name]).ok().out, shown);
        assert_eq!(
            lab.kurabe(&[command, name, "--toml"]).ok().out,
            lab.kurabe(&[command, "show", name, "--toml"]).ok().out
        );
        let all = lab.kurabe(&[command]).ok().out;
        assert!(all.contains(name) && all != shown, "{all}");
    }
    lab.kurabe(&["models", "rascssi"]).is_refusal(2, &["`rascsi`"]);
    assert_eq!(lab.kurabe(&["models", "show"]).code(), Some(2));
}

#[test]
fn a_file_that_describes_something_is_not_measured() {
    let lab = Lab::new();
    let device = lab.kurabe(&["models", "show", "rascsi", "--toml"]).ok().out;
    let path = lab.write("mine.toml", device);
    let ended = lab.run(&path, &[]);
    ended.is_refusal(2, &[&format!("kurabe run model:{}", text(&path))]);
    let profile = lab.kurabe(&["profiles", "show", "quick", "--toml"]).ok().out;
    let path = lab.write("usual.toml", profile);
    lab.run(&path, &[]).is_refusal(2, &[&format!("--profile {}", text(&path))]);
    // Any other file of that type is an ordinary target.
    let other = lab.write("other.toml", "x = 1\n".repeat(4096));
    lab.run(&other, &["--rw", "read", "--bs", "4k", "--time", "10ms"]).ok();
}

#[test]
fn a_size_without_a_unit_names_one_that_fits() {
    let lab = Lab::new();
    let set = |value: &str| lab.kurabe(&["models", "rascsi", "--set", &format!("fat-image.cluster={value}")]);
    set("32").is_refusal(2, &["`32` has no unit", "did you mean 32KiB?"]);
    set("32KiB").ok();
    set("4096").ok();
    set("33").is_refusal(2, &["out", "a power of two"]);
}

#[test]
fn a_store_in_a_folder_that_is_not_there_is_a_slip() {
    let lab = Lab::new();
    let store = lab.beside("nowhere").join("kurabe.db");
    for words in [&["list"][..], &["show"], &["run", "model:ideal-ram-disk"], &["check"]] {
        let ended = lab.kurabe(&[words, &["--db", text(&store)]].concat());
        ended.is_refusal(9, &["--db", "mkdir -p"]);
    }
    assert!(!lab.beside("nowhere").exists());
    // A store that does not exist yet in an existing folder has no runs.
    assert!(lab.kurabe(&["list", "--db", text(&lab.beside("new.db"))]).ok().out.contains("No runs yet"));
}
