//! Writes through the page cache that the target fails to store: the writes succeed, but their cell
//! fails.

use crate::attaching::{DISK, Device};
use crate::faults::can_inject;
use crate::lab::{Ended, Lab, Live, list_of, names, text};
use crate::system::{LoopDevice, Mount, system};
use std::fs::File;

const MIB: u64 = 1 << 20;
const NOT_STORED: &str = "failed to store buffered writes";

/// Returns a device of 64 MiB that can store about 20 MiB: its image is larger than the file system
/// below it.
fn overcommitted(lab: &Lab) -> Option<(Mount, LoopDevice)> {
    let small = Mount::new("tmpfs", "none", "size=24m", &lab.beside("small"))?;
    let device = LoopDevice::at(&small.point().join("image"), 64 * MIB)?;
    Some((small, device))
}

fn profile(lab: &Lab, steps: &str) -> String {
    let profile = format!(
        "schema = 1\nname = \"steps\"\ntitle = {{ en = \"steps\", ja = \"steps\" }}\n\
         statistic = \"mean\"\n[rules]\n\
         size = \"64 MiB\"\nruns = 1\ntime = \"100 ms\"\ninterval = \"0s\"\norder = \"by-step\"\n\
         data = \"random\"\n{steps}"
    );
    text(&lab.write("steps.toml", profile)).to_owned()
}

/// Checks that the run fails as it does with direct I/O, and that nothing is stored.
fn fails(lab: &Lab, ended: &Ended) {
    ended.is_refusal(8, &[NOT_STORED, "(os error 5)", "dmesg"]);
    assert_eq!(lab.list(), [] as [serde_json::Value; 0], "{ended:#?}");
}

#[test]
fn buffered_writes_that_are_not_stored_fail_their_test_whatever_writes() {
    let lab = Lab::new();
    let Some((_small, device)) = overcommitted(&lab) else { return };
    let node = text(device.node());
    for more in [
        &["--rw", "write", "--bs", "1m", "--passes", "1", "--engine", "threads"][..],
        &["--rw", "write", "--bs", "1m", "--passes", "1", "--engine", "uring"],
        &["--rw", "write", "--bs", "1m", "--passes", "1", "--engine", "mmap"],
        &["--rw", "randwrite", "--time", "500ms", "--engine", "mmap", "--cache", "keep", "--iodepth", "4"],
        &["--rw", "randrw", "--rwmixread", "10", "--bs", "64k", "--time", "500ms", "--runs", "3"],
    ] {
        let words = ["--quiet", "--buffered", "--runs", "1", "--destroy-data-on", node];
        let words =
            if more.contains(&"--runs") { [&words[..2], &words[4..]].concat() } else { words.to_vec() };
        fails(&lab, &lab.run(device.node(), &[&words[..], more].concat()));
    }
}

#[test]
fn the_cells_before_buffered_writes_that_are_not_stored_are_kept() {
    let lab = Lab::new();
    let Some((_small, device)) = overcommitted(&lab) else { return };
    let step = |label: &str, offset_mib: u64, span_mib: u64| {
        format!(
            "[[step]]\nkind = \"io\"\nlabel = \"{label}\"\npattern = \"sequential\"\nblock_size = \"1 MiB\"\n\
             directions = [\"write\"]\noffset = \"{offset_mib} MiB\"\nspan = \"{span_mib} MiB\"\npasses = 1\n"
        )
    };
    let profile = profile(&lab, &[step("sound", 0, 8), step("broken", 8, 56)].concat());
    for engine in ["threads", "mmap"] {
        let words = ["--quiet", "--buffered", "--profile", &profile, "--engine", engine];
        let ended =
            lab.run(device.node(), &[&words[..], &["--destroy-data-on", text(device.node())]].concat());
        ended.is_refusal(8, &[NOT_STORED]);
        let record = lab.record("last");
        assert_eq!(record["status"], "failed");
        assert_eq!(list_of(&record["cells"]).len(), 1);
        assert_eq!(record["cells"][0]["label"], "sound");
    }
}

#[test]
fn accesses_and_replays_through_the_page_cache_fail_as_well() {
    let lab = Lab::new();
    let Some((_small, device)) = overcommitted(&lab) else { return };
    let accesses =
        "[[step]]\nkind = \"access-time\"\nsamples = 8000\nblock_size = \"4 KiB\"\ndirection = \"write\"\n";
    let accesses = profile(&lab, accesses);
    let writes: String = (0..64).map(|at| format!("{at} a write {} {MIB}\n", at * MIB)).collect();
    let trace = lab.write("t.iolog", format!("fio version 3 iolog\n0 a add\n0 a open\n{writes}99 a close\n"));
    let words = ["--quiet", "--buffered", "--destroy-data-on", text(device.node())];
    for more in [["--profile", &accesses], ["--replay", text(&trace)]] {
        fails(&lab, &lab.run(device.node(), &[&words[..], &more].concat()));
    }
}

#[test]
fn files_of_a_metadata_step_that_are_not_stored_fail_it() {
    let lab = Lab::new();
    let Some(device) = Device::attach(&lab, &DISK) else { return };
    system("mkfs.ext4", &["-q", text(device.path())]).expect("a file system");
    let Some(mount) = Mount::new("ext4", text(device.path()), "rw", &lab.beside("mnt")) else { return };
    let step = "[[step]]\nkind = \"metadata\"\nid = \"files\"\nfiles = 50\nthreads = 2\nwrite_size = \"64 KiB\"\n\
                parts = [\"create\", \"stat\"]\n";
    let profile = profile(&lab, step);
    lab.run(mount.point(), &["--quiet", "--profile", &profile]).ok();
    lab.kurabe(&["rm", "last", "--yes"]);
    lab.kurabe(&["control", text(device.path()), "fault", "error:write"]).ok();
    let ended = lab.run(mount.point(), &["--quiet", "--profile", &profile]);
    lab.kurabe(&["control", text(device.path()), "fault", "none"]).ok();
    assert_eq!(ended.code(), Some(8), "{ended:#?}");
}

#[test]
#[ignore = "slow"]
fn an_error_of_the_last_sync_fails_the_test_and_direct_writes_have_none() {
    if !can_inject() {
        return;
    }
    let lab = Lab::new();
    let target = lab.write("file", vec![7_u8; 4 << 20]);
    let run = |call: &str, error: &str, words: &[&str]| {
        let inject = format!("inject={call}:error={error}:when=1+");
        let trace = ["strace", "-f", "-qqq", "-o", "/dev/null", "-P", text(&target), "-e", &inject];
        let run = [
            "run",
            text(&target),
            "--quiet",
            "--size",
            "4m",
            "--passes",
            "1",
            "--runs",
            "1",
            "--rw",
            "write",
        ];
        let more = ["--write-existing", "--cache", "keep", "--engine", "threads", "--iodepth", "1"];
        Live::start(lab.wrapped(&trace, &[&run[..], &more, words].concat())).end()
    };
    for call in ["fsync", "sync_file_range"] {
        fails(&lab, &run(call, "EIO", &["--buffered"]));
        let full = run(call, "ENOSPC", &["--buffered"]);
        assert!(full.code() == Some(7) && full.err.contains("(os error 28)"), "{full:#?}");
    }
    run("sync_file_range", "ENOSYS", &["--buffered"]).ok();
    run("fsync", "EIO", &["--direct"]).ok();
    run("sync_file_range", "EIO", &["--direct"]).ok();
}

#[test]
#[ignore = "slow"]
fn a_mapped_file_that_becomes_shorter_ends_its_test_and_no_more() {
    for rw in ["randread", "randwrite"] {
        for size in [0, 4096, 3 * MIB + 1] {
            let lab = Lab::new();
            let step = |label: &str| {
                format!(
                    "[[step]]\nkind = \"io\"\nlabel = \"{label}\"\npattern = \"random\"\nblock_size = \"4 KiB\"\n\
                     directions = [\"{}\"]\niodepth = 4\n",
                    rw.trim_start_matches("rand")
                )
            };
            let profile = profile(&lab, &[step("first"), step("second")].concat());
            let words = ["--buffered", "--engine", "mmap", "--size", "8m", "--profile", &profile];
            let mut live = lab.start(&lab.target(), &[&words[..], &["--time", "1s"]].concat());
            live.wait_for_out_times("\"event\":\"repetition_started\"", 2);
            let file = lab.target().join(names(&lab.target()).remove(0));
            File::options().write(true).open(file).and_then(|file| file.set_len(size)).expect("cut");
            let ended = live.end();
            ended.is_refusal(8, &["shrank", &format!("byte {size}")]);
            assert_eq!(names(&lab.target()), [] as [&str; 0], "{ended:#?}");
            let record = lab.record("last");
            assert_eq!((&record["status"], list_of(&record["cells"]).len()), (&"failed".into(), 1));
        }
    }
}

#[test]
fn a_device_that_fails_mapped_reads_ends_the_test_with_its_error() {
    let Some(device) = LoopDevice::new(64 * MIB) else { return };
    File::options().write(true).open(device.image()).and_then(|image| image.set_len(32 * MIB)).expect("cut");
    let lab = Lab::new();
    let words =
        ["--quiet", "--buffered", "--engine", "mmap", "--rw", "read", "--bs", "1m", "--offset", "48m"];
    lab.refuses(
        device.node(),
        &[&words[..], &["--passes", "1"]].concat(),
        8,
        &["failed a read", "os error 5"],
    );
}
