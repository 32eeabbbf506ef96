//! Bad input: one clear error with its remedy and exit code, no files left behind, and no run in
//! the store.

use crate::lab::{Lab, SHORT, names, text};
use crate::system::{Mount, system};
use kurabe_testkit::needs::needs;

const PROFILE: &str = "\
schema = 1
name = \"own\"
title = { en = \"own\", ja = \"own\" }
statistic = \"mean\"

[rules]
size = \"16 MiB\"
runs = 1
time = \"100 ms\"

[[step]]
kind = \"io\"
pattern = \"random\"
block_size = \"4 KiB\"
";

/// Checks that a command line is refused with clap's error and exit code 2, and that nothing is
/// done.
fn is_wrong_usage(words: &[&str], says: &[&str]) {
    let lab = Lab::new();
    let ended = lab.run(&lab.target(), words);
    assert_eq!(ended.code(), Some(2), "{ended:#?}");
    let errors = ended.err.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(errors, 1, "one error: {ended:#?}");
    for words in says.iter().chain(&["--help"]) {
        assert!(ended.err.contains(words), "`{words}` is said: {ended:#?}");
    }
    assert!(ended.out.is_empty(), "{ended:#?}");
    assert!(names(&lab.target()).is_empty() && !lab.store().exists());
}

#[test]
fn a_target_that_is_not_there_is_named() {
    let lab = Lab::new();
    let missing = lab.target().join("missing");
    lab.refuses(&missing, &SHORT, 4, &[text(&missing), "No such file"]);
}

#[test]
fn a_size_of_zero_is_wrong_usage() {
    is_wrong_usage(&["--size", "0"], &["--size", "above zero"]);
    is_wrong_usage(&["--size", "10 parsecs"], &["--size", "4 KiB"]);
    is_wrong_usage(&["--time", "0s"], &["--time", "above zero"]);
    is_wrong_usage(&["--runs", "0"], &["--runs"]);
}

#[test]
fn flags_that_contradict_each_other_are_wrong_usage() {
    is_wrong_usage(&["--direct", "--buffered"], &["--direct", "--buffered"]);
    is_wrong_usage(&["--profile", "quick", "--bs", "4k"], &["--profile", "--bs"]);
    is_wrong_usage(&["--poisson"], &["--rate"]);
}

#[test]
fn words_that_flags_do_not_know_are_wrong_usage() {
    is_wrong_usage(&["--engine", "aio"], &["uring", "threads"]);
    is_wrong_usage(&["--data", "prose"], &["random", "compressible"]);
    is_wrong_usage(&["--order", "backwards"], &["permutation", "zipf"]);
    is_wrong_usage(&["--iodepht", "4"], &["--iodepth"]);
}

#[test]
fn a_label_that_is_none_is_wrong_usage() {
    let lab = Lab::new();
    lab.refuses(&lab.target(), &["--quiet", "--label", "nonsense"], 2, &["nonsense", "key=value"]);
}

#[test]
fn a_label_with_a_key_that_cannot_be_one_is_wrong_usage() {
    let lab = Lab::new();
    let words = [&SHORT[..], &["--quiet", "--label", "Firmware=2"]].concat();
    let ended = lab.run(&lab.target(), &words);
    assert_eq!(ended.code(), Some(2), "{ended:#?}");
    assert!(ended.err.contains("a-z 0-9 _ . -"), "{ended:#?}");
    assert!(names(&lab.target()).is_empty() && lab.list().is_empty());
}

#[test]
fn an_unaligned_block_size_is_refused_with_the_unit() {
    let lab = Lab::new();
    lab.refuses(
        &lab.target(),
        &["--size", "16m", "--bs", "1000"],
        4,
        &["1000", "the direct I/O unit, 512 bytes", "--buffered"],
    );
}

#[test]
fn a_block_larger_than_the_span_is_refused() {
    let lab = Lab::new();
    lab.refuses(&lab.target(), &["--size", "64k", "--bs", "1m"], 4, &["1 MiB", "64 KiB", "--size"]);
}

#[test]
fn an_empty_file_is_no_target() {
    let lab = Lab::new();
    let file = lab.write("empty", "");
    lab.refuses(&file, &SHORT, 4, &[text(&file), "empty"]);
}

#[test]
fn a_size_above_the_file_is_refused() {
    let lab = Lab::new();
    let file = lab.write("small", vec![0; 1 << 20]);
    lab.refuses(&file, &["--size", "2m"], 4, &["2 MiB", "1 MiB", "--size"]);
}

#[test]
fn a_fifo_is_no_target() {
    if !needs("mkfifo") {
        return;
    }
    let lab = Lab::new();
    let fifo = lab.beside("fifo");
    system("mkfifo", &[text(&fifo)]).expect("a FIFO");
    lab.refuses(&fifo, &SHORT, 4, &[text(&fifo), "neither a directory"]);
}

#[test]
fn a_terminal_is_no_target() {
    let lab = Lab::new();
    lab.refuses("/dev/tty".as_ref(), &SHORT, 4, &["/dev/tty", "neither a directory"]);
    lab.refuses("/dev/null".as_ref(), &SHORT, 4, &["/dev/null", "neither a directory"]);
}

#[test]
fn an_unknown_key_in_a_profile_shows_its_line_and_the_nearest_word() {
    let lab = Lab::new();
    let file = lab.write("own.toml", PROFILE.replace("block_size", "block_sise"));
    let says =
        ["unknown key `block_sise`", "own.toml:14:1", "block_sise = \"4 KiB\"", "^^^^^^^^^^", "`block_size`"];
    lab.refuses(&lab.target(), &["--profile", text(&file)], 3, &says);
}

#[test]
fn a_wrong_value_in_a_profile_shows_its_line() {
    let lab = Lab::new();
    for (right, wrong, says) in [
        ("\"4 KiB\"", "\"4 Kib\"", "4 Kib"),
        ("\"16 MiB\"", "\"0\"", "own.toml:7"),
        ("runs = 1", "runs = 0", "own.toml:8"),
        ("\"random\"", "\"randon\"", "`random`"),
        ("[[step]]", "[[step]", "not valid TOML"),
    ] {
        let file = lab.write("own.toml", PROFILE.replacen(right, wrong, 1));
        let ended = lab.run(&lab.target(), &["--profile", text(&file)]);
        assert_eq!(ended.code(), Some(3), "{ended:#?}");
        assert!(ended.err.contains(says) && ended.err.contains('^'), "`{says}` is said: {ended:#?}");
    }
    assert!(names(&lab.target()).is_empty() && !lab.store().exists());
}

#[test]
fn a_profile_name_that_nobody_knows_gets_the_nearest() {
    let lab = Lab::new();
    lab.refuses(&lab.target(), &["--profile", "cdm9"], 2, &["`cdm9`", "`cdm-9`"]);
    lab.kurabe(&["profiles", "show", "quik"]).is_refusal(2, &["`quick`"]);
}

#[test]
fn a_profile_file_that_is_not_there_is_named() {
    let lab = Lab::new();
    let ended = lab.run(&lab.target(), &["--profile", "./missing.toml"]);
    assert!(matches!(ended.code(), Some(3 | 4)), "{ended:#?}");
    assert!(ended.err.contains("./missing.toml"), "{ended:#?}");
}

#[test]
fn a_file_system_that_refuses_direct_io_needs_buffered() {
    let lab = Lab::new();
    let Some(mount) = Mount::new("ramfs", "none", "mode=0755", &lab.beside("mnt")) else { return };
    let file = mount.point().join("file");
    std::fs::write(&file, vec![7; 1 << 20]).expect("a file");
    let words = ["--rw", "randread", "--time", "100ms"];
    lab.refuses(&file, &words, 10, &[text(&file), "direct I/O", "--buffered"]);
    let record = lab.measure(&file, &[&words[..], &["--buffered"]].concat());
    assert_eq!(record["header"]["target"]["direct"], false);
    assert!(lab.kurabe(&["show"]).ok().out.contains("buffered I/O (page cache)"));
}

#[test]
fn a_file_system_that_does_not_tell_its_size_can_be_measured() {
    let lab = Lab::new();
    let Some(mount) = Mount::new("ramfs", "none", "mode=0755", &lab.beside("mnt")) else { return };
    lab.run(mount.point(), &[&SHORT[..], &["--buffered"]].concat()).ok();
    assert!(names(mount.point()).is_empty());
}

#[test]
fn a_file_that_never_ends_is_read_up_to_the_limit_of_its_kind() {
    let lab = Lab::new();
    let endless = lab.beside("endless.toml");
    std::os::unix::fs::symlink("/dev/zero", &endless).expect("a link");
    let endless = text(&endless);
    let model = format!("model:{endless}");
    for words in [
        &["run", ".", "--profile", endless][..],
        &["run", &model],
        &["profiles", "show", endless],
        &["models", "show", endless],
        &["study", "show", endless],
    ] {
        lab.kurabe(words).is_refusal(3, &["cannot read", "endless.toml", "larger than 4 MiB"]);
    }
    lab.model_run("1us");
    lab.kurabe(&["recommend", "last", "--for", endless]).is_refusal(3, &["larger than 4 MiB"]);
    lab.kurabe(&["import", endless]).is_refusal(11, &["larger than 256 MiB", "split the file"]);
    lab.run(&lab.target(), &["--replay", endless]).is_refusal(11, &["is not text"]);
    assert_eq!(lab.list().len(), 1);
}

#[test]
fn a_data_file_of_a_gibibyte_is_told_by_its_size_and_one_in_another_encoding_by_its_place() {
    let lab = Lab::new();
    let file = lab.write("own.toml", PROFILE);
    std::fs::File::options().write(true).open(&file).and_then(|file| file.set_len(1 << 30)).expect("a size");
    lab.refuses(&lab.target(), &["--profile", text(&file)], 3, &["own.toml", "larger than 4 MiB"]);
    let file = lab.write("own.toml", [PROFILE.as_bytes(), b"# \xe9\n"].concat());
    lab.refuses(&lab.target(), &["--profile", text(&file)], 3, &["own.toml", "not valid UTF-8 at byte"]);
}

#[test]
fn a_path_that_leads_nowhere_is_an_unusable_target() {
    let lab = Lab::new();
    let circle = lab.beside("circle");
    std::os::unix::fs::symlink(&circle, &circle).expect("a link");
    let below_a_file = lab.write("file", "x").join("below");
    let too_long = lab.beside(&"n".repeat(256));
    for (path, says, remedy) in [
        (circle, "(os error 40)", "each part of the path"),
        (below_a_file, "Not a directory", "each part of the path"),
        (too_long, "(os error 36)", "a shorter one"),
    ] {
        lab.refuses(&path, &SHORT, 4, &[text(&path), says, remedy]);
    }
}
