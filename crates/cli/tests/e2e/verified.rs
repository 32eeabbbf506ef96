//! `run --verify` and `check IMAGE --verify`: flushed data is checked, and missing data is
//! reported.

use crate::faults::can_inject;
use crate::lab::{Lab, Live, names, text};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const WRITES: [&str; 9] =
    ["--write-existing", "--rw", "write", "--bs", "64k", "--passes", "1", "--end-fsync", "untimed"];

/// Returns a file of 1 MiB that a verified run wrote once, and the list of its writes.
fn written(lab: &Lab) -> (PathBuf, PathBuf) {
    let (image, list) = (lab.write("image", vec![0; 1 << 20]), lab.beside("writes.txt"));
    let words = [&WRITES[..], &["--runs", "1", "--verify", text(&list)]].concat();
    let ended = lab.run(&image, &words).ok();
    assert!(ended.err.contains("writes are listed in") && ended.err.contains("kurabe check"), "{ended:#?}");
    (image, list)
}

fn check(image: &Path, list: &Path) -> [String; 5] {
    ["--json", "check", text(image), "--verify", text(list)].map(str::to_owned)
}

#[test]
fn an_image_that_holds_what_was_flushed_is_sound_and_each_hole_in_it_is_told() {
    let lab = Lab::new();
    let (image, list) = written(&lab);
    let words = check(&image, &list);
    let words = words.each_ref().map(String::as_str);
    let report = &lab.kurabe(&words).ok().json_lines()[0];
    assert_eq!((&report["sound"], &report["flushed_bytes"]), (&true.into(), &(1 << 20).into()));

    let file = std::fs::File::options().write(true).open(&image).unwrap();
    file.write_all_at(&[0; 4096], 640 << 10).unwrap();
    let ended = lab.kurabe(&words);
    assert_eq!(ended.code(), Some(8), "{ended:#?}");
    let report = &ended.json_lines()[0];
    assert_eq!((&report["sound"], &report["fault_bytes"]["lost"]), (&false.into(), &4096.into()));
    assert_eq!(report["faults"][0]["offset_bytes"], 640 << 10);
    let ended = lab.kurabe(&words[1..]);
    assert!(ended.out.contains("at offset 655,360, 4 KiB lost"), "{ended:#?}");
    let ended = lab.kurabe(&[&["--lang", "ja"], &words[1..]].concat());
    assert!(ended.out.contains("オフセット 655,360 から 4 KiB、消失"), "{ended:#?}");
}

#[test]
#[ignore = "slow"]
fn an_image_whose_reads_are_interrupted_for_ever_cannot_be_read() {
    if !can_inject() {
        return;
    }
    let lab = Lab::new();
    let (image, list) = written(&lab);
    let tracer = ["strace", "-f", "-qqq", "-o", "/dev/null", "-P", text(&image), "-e"];
    let tracer = [&tracer[..], &["inject=pread64:error=EINTR:when=1+"]].concat();
    let ended = Live::start(lab.wrapped(&tracer, &["check", text(&image), "--verify", text(&list)])).end();
    assert!(ended.code() == Some(8) && ended.err.contains("os error 4"), "{ended:#?}");
}

#[test]
fn what_cannot_be_verified_is_refused_and_nothing_is_written() {
    let lab = Lab::new();
    let list = lab.beside("writes.txt");
    let verify = ["--verify", text(&list)];
    let writes = ["--rw", "randwrite", "--time", "100ms", "--size", "1m"];
    // A test file is removed after the run, so it cannot be checked.
    lab.refuses(&lab.target(), &[&writes[..], &verify].concat(), 2, &["--verify", "--destroy-data-on"]);
    let image = lab.write("image", vec![7; 1 << 20]);
    let engine = ["--write-existing", "--engine", "uring"];
    lab.refuses(&image, &[&writes[..], &engine, &verify].concat(), 2, &["io_uring"]);
    let odd = ["--write-existing", "--buffered", "--bs", "1000"];
    lab.refuses(&image, &[&writes[..], &odd, &verify].concat(), 2, &["does not consist of whole"]);
    lab.refuses(Path::new("model:ideal-ram-disk"), &[&writes[..], &verify].concat(), 2, &["--verify"]);
    assert!(!list.exists() && std::fs::read(&image).unwrap() == vec![7; 1 << 20]);
    let precious = lab.write("precious", "precious");
    let over = ["--write-existing", "--verify", text(&precious)];
    lab.refuses(&image, &[&writes[..], &over].concat(), 6, &["precious"]);
    assert_eq!(std::fs::read(&precious).unwrap(), b"precious");
    assert!(names(&lab.target()).iter().all(|name| !name.starts_with(".kurabe")));
}

#[test]
fn a_file_that_is_no_list_is_told() {
    let lab = Lab::new();
    let (image, other) = (lab.write("image", "x"), lab.write("other.txt", "{}\n1 2 3\n"));
    let words = check(&image, &other);
    lab.kurabe(&words.each_ref().map(String::as_str)[1..]).is_refusal(11, &["not a list of writes"]);
    let ended = lab.kurabe(&["check", text(&image)]);
    assert_eq!(ended.code(), Some(2), "an image without a list: {ended:#?}");
}
