//! Every output that a user can name: existing files and devices stay unchanged to the byte, and
//! two outputs never share a file.

use crate::lab::{Lab, Live, names, text};
use crate::system::{LoopDevice, Mount};
use kurabe_testkit::needs::skip;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Initial contents of a file or a device.
const PRECIOUS: u8 = 0xa5;

/// The arguments of a command that writes an output to a path.
type Named = Box<dyn Fn(&str) -> Vec<String>>;

/// Returns every command that writes an output, as a function of its path.
fn commands(run: &str, lab: &Lab) -> Vec<(&'static str, Named)> {
    let budget = lab.write("budget.toml", "schema = 1\n[counts]\nflushes = 1\n");
    let line = |line: String| -> Named {
        Box::new(move |path: &str| {
            line.split(' ')
                .map(|word| if word == "PATH" { path.to_owned() } else { word.to_owned() })
                .collect()
        })
    };
    let named = |name, words: String| (name, line(words));
    let model = "model:ideal-ram-disk --runs 1 --time 5ms";
    let mut commands = vec![
        named("card", format!("card {run} -o PATH")),
        named("report", format!("report {run} -f md -o PATH")),
        named("export", format!("export {run} -o PATH")),
        #[cfg(feature = "tables")]
        named("parquet", format!("export {run} -f parquet -o PATH")),
        named("run --per-request", format!("run {model} --rw randread --per-request PATH")),
        named("run --verify", format!("run {model} --rw write --verify PATH")),
        named("price --save", "price --runs 1 --save PATH -- true".into()),
        named("price --markdown", "price --runs 1 --markdown PATH -- true".into()),
        named("price --junit", format!("price --runs 1 --budget {} --junit PATH -- true", budget.display())),
        named("record", "record -o PATH . -- true".into()),
        named("serve --record", "serve model:ideal-ram-disk --port 0 --record PATH".into()),
        ("fio --output", of_fio("--output=")),
    ];
    if !can_price(lab) {
        commands.retain(|(name, _)| !name.starts_with("price "));
    }
    commands
}

/// Returns whether `kurabe price` gets as far as checking its options here.
fn can_price(lab: &Lab) -> bool {
    let ended = lab.kurabe(&["price", "--panel", "no-such-panel", "--", "true"]);
    let can = ended.err.contains("no-such-panel");
    if !can {
        skip("kurabe price cannot run here (needs root, or fuse2fs and user namespaces)");
    }
    can
}

/// Returns a fio command with the path after an option of fio.
fn of_fio(option: &'static str) -> Named {
    Box::new(move |path: &str| {
        let words = ["fio", "--on", "model:ideal-ram-disk", "--name=a", "--size=1m"].map(str::to_owned);
        [&words[..], &[format!("{option}{path}")]].concat()
    })
}

fn refused(lab: &Lab, name: &str, words: &[String], force: bool) {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    if force {
        // The arguments after `--` are a command.
        words.insert(1, "--force");
    }
    let ended = Live::start(lab.command(&words)).end();
    assert!(matches!(ended.code(), Some(2..=7)), "{name}, force {force}: {:?} {}", ended.code(), ended.err);
    assert!(ended.err.contains("cannot write") || ended.err.contains(".svg"), "{name}: {}", ended.err);
}

#[test]
fn existing_files_and_directories_stay_as_they_are() {
    let lab = Lab::new();
    let run = lab.model_run("1us");
    let file = lab.write("precious.svg", [PRECIOUS; 64]);
    let folder = lab.beside("folder.svg");
    std::fs::create_dir(&folder).expect("a folder");
    let [link, dangling] = ["link.svg", "dangling.svg"].map(|name| lab.beside(name));
    symlink(&file, &link).expect("a link");
    symlink("nowhere", &dangling).expect("a link");
    let before = names(file.parent().expect("a folder"));
    for (name, words) in commands(&run, &lab) {
        for path in [&file, &link, &folder, &dangling] {
            refused(&lab, name, &words(text(path)), false);
        }
        for path in [&folder, &dangling] {
            refused(&lab, name, &words(text(path)), true);
        }
    }
    assert_eq!(std::fs::read(&file).expect("the file"), [PRECIOUS; 64]);
    let after = names(file.parent().expect("a folder"));
    assert!(before.iter().all(|name| after.contains(name)), "{after:?}");
    assert!(!after.iter().any(|name| name.ends_with(".part")), "{after:?}");
}

fn contents(device: &Path) -> Vec<u8> {
    std::fs::read(device).expect("the device")
}

#[test]
fn a_device_is_never_written_whatever_names_it() {
    let Some(device) = LoopDevice::new(4 << 20) else { return };
    let lab = Lab::new();
    let run = lab.model_run("1us");
    std::fs::write(device.node(), [PRECIOUS; 1 << 16]).expect("contents");
    let before = contents(device.node());
    let link = lab.beside("link.svg");
    symlink(device.node(), &link).expect("a link");
    let refuse_all = || {
        for (name, words) in commands(&run, &lab) {
            for path in [device.node(), &link] {
                for force in [false, true] {
                    refused(&lab, name, &words(text(path)), force);
                }
            }
        }
    };
    refuse_all();
    assert!(contents(device.node()) == before, "the device has changed");
    let Some(mount) = device.mount_ext4() else { return };
    std::fs::write(mount.point().join("file"), [PRECIOUS; 4096]).expect("a file");
    // Mounted for writing, ext4 changes its own blocks from time to time.
    mount.again("ro");
    let before = contents(device.node());
    refuse_all();
    assert!(contents(device.node()) == before, "the mounted device has changed");
}

/// fio appends to the name of a log, so the test reaches a device through a link with the final
/// name.
#[test]
fn fios_logs_overwrite_nothing() {
    let lab = Lab::new();
    let logged = lab.beside("logged");
    for option in ["bw", "iops", "lat"] {
        let words = of_fio(match option {
            "bw" => "--write_bw_log=",
            "iops" => "--write_iops_log=",
            _ => "--write_lat_log=",
        })(text(&logged));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let file = lab.beside(&format!("logged_{option}.1.log"));
        lab.kurabe(&words).ok();
        assert!(file.exists(), "{option}: {:?}", names(file.parent().expect("a folder")));
        let precious = [PRECIOUS; 64];
        std::fs::write(&file, precious).expect("a file");
        refused(&lab, option, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), false);
        assert_eq!(std::fs::read(&file).expect("the file"), precious);
        std::fs::remove_file(&file).expect("removed");
        symlink("/dev/full", &file).expect("a link");
        refused(&lab, option, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), true);
        std::fs::remove_file(&file).expect("removed");
    }
}

#[test]
fn on_a_full_or_read_only_file_system_nothing_is_left() {
    let lab = Lab::new();
    let run = lab.model_run("1us");
    let Some(mount) = Mount::new("tmpfs", "tmpfs", "size=64k", &lab.beside("small")) else { return };
    let _ = std::fs::write(mount.point().join("ballast"), vec![1; 1 << 20]);
    let path = mount.point().join("output.svg");
    for (name, words) in
        commands(&run, &lab).into_iter().filter(|(name, _)| ["card", "report", "export"].contains(name))
    {
        refused(&lab, name, &words(text(&path)), false);
        assert_eq!(names(mount.point()), ["ballast"], "{name}");
    }
    mount.again("ro");
    for (name, words) in commands(&run, &lab) {
        refused(&lab, name, &words(text(&path)), false);
    }
}

#[test]
fn two_outputs_to_one_place_are_refused_before_anything_is_measured() {
    let lab = Lab::new();
    let both = lab.beside("both");
    let (file, stdout) = (text(&both), "-");
    if can_price(&lab) {
        for path in [file, stdout] {
            lab.kurabe(&["price", "--save", path, "--markdown", path, "--", "true"])
                .is_refusal(2, &["two outputs"]);
        }
        lab.kurabe(&["--json", "price", "--save", "-", "--", "true"]).is_refusal(2, &["two outputs"]);
    }
    assert!(!both.exists());
}

#[test]
fn kurabes_own_store_is_no_output() {
    let lab = Lab::new();
    let run = lab.model_run("1us");
    let store = lab.store();
    lab.kurabe(&["report", &run, "-f", "md", "-o", text(&store), "--force"]).is_refusal(6, &["cannot write"]);
    lab.kurabe(&["list"]).ok();
}
