//! Completions, the manual page, the version.

use crate::lab::{Lab, text};
use crate::system::system;

const COMMANDS: [&str; 13] = [
    "run",
    "list",
    "show",
    "rm",
    "label",
    "export",
    "import",
    "check",
    "record",
    "profiles",
    "doctor",
    "completions",
    "man",
];

#[test]
fn completions_name_every_command() {
    let lab = Lab::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = lab.kurabe(&["completions", shell]).ok().out;
        for command in COMMANDS {
            assert!(script.contains(command), "{shell} knows {command}");
        }
        assert!(script.contains("destroy-data-on"), "{shell} knows the flags");
        let file = lab.write(shell, &script);
        match system(shell, &["--version"]) {
            Some(_) => assert!(system(shell, &["-n", text(&file)]).is_some(), "{shell} reads it"),
            None => eprintln!("skipped: no {shell} to read its completions"),
        }
    }
}

#[test]
fn the_manual_page_names_every_command() {
    let page = Lab::new().kurabe(&["man"]).ok().out;
    assert!(page.contains(".TH kurabe"), "{page}");
    for command in COMMANDS {
        let named = page.contains(&format!("kurabe\\-{command}"));
        assert!(named, "it names {command}: {page}");
    }
}

#[test]
fn the_help_names_every_command_and_exit_code() {
    let help = Lab::new().kurabe(&["--help"]).ok().out;
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command} ")), "it names {command}: {help}");
    }
    for code in (0..=12).chain([130]) {
        assert!(help.contains(&format!("{code} ")), "it names exit code {code}: {help}");
    }
}

#[test]
fn the_version_is_told_and_leaves_no_trace() {
    let lab = Lab::new();
    let version = lab.kurabe(&["--version"]).ok().out;
    assert_eq!(version, format!("kurabe {}\n", env!("CARGO_PKG_VERSION")));
    assert!(!lab.store().exists());
}
