//! Third-party clients: the tools of libnbd, QEMU and fio.

use crate::client::{Server, serve};
use kurabe_testkit::needs::{needs, skip};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Output};

/// Returns whether the programs are installed, and reports those that are not.
fn have(programs: &[&str]) -> bool {
    programs.iter().all(|program| needs(program))
}

fn run(program: &str, words: &[&str]) -> Output {
    // A server that hangs must not block the tests.
    let output = Command::new("timeout").arg("120").arg(program).args(words).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {words:?}: {}\n{error}", output.status);
    output
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn uri(server: &Server) -> &str {
    server.serving.facts().uri.as_deref().unwrap()
}

/// Writes 24 MiB with holes to a file.
fn image(path: &Path) -> Vec<u8> {
    let mut random = kurabe_core::random::Random::new(1, 0);
    let mut bytes = vec![0u8; 24 << 20];
    for piece in [0..3 << 20, (5 << 20)..(5 << 20) + 4096, (20 << 20) + 512..21 << 20] {
        bytes[piece]
            .chunks_mut(8)
            .for_each(|word| word.copy_from_slice(&random.bits().to_le_bytes()[..word.len()]));
    }
    std::fs::write(path, &bytes).unwrap();
    bytes
}

#[test]
fn nbdinfo_sees_what_is_offered_and_what_is_there() {
    if !have(&["nbdinfo"]) {
        return;
    }
    let server = serve(|_| {});
    let info: serde_json::Value =
        serde_json::from_slice(&run("nbdinfo", &["--json", uri(&server)]).stdout).unwrap();
    assert_eq!(info["structured"], true, "{info}");
    let export = &info["exports"][0];
    assert_eq!(export["export-size"], 1 << 30);
    for ability in ["can_flush", "can_fua", "can_trim", "can_zero", "can_df", "can_multi_conn", "can_cache"] {
        assert_eq!(export[ability], true, "{ability}");
    }
    assert_eq!(export["can_fast_zero"], true);
    assert_eq!(export["block_size_maximum"], 32 << 20);
    crate::client::Client::connect(&server.socket).unwrap().write(8192, &[1; 4096], 0).unwrap();
    let map = run("nbdinfo", &["--map", "--json", uri(&server)]);
    let map: serde_json::Value = serde_json::from_slice(&map.stdout).unwrap();
    let extents: Vec<(u64, u64)> = map
        .as_array()
        .unwrap()
        .iter()
        .map(|extent| (extent["length"].as_u64().unwrap(), extent["type"].as_u64().unwrap()))
        .collect();
    assert_eq!(extents, [(8192, 3), (4096, 0), ((1 << 30) - 12288, 3)]);
}

#[test]
fn nbdinfo_lists_several_exports() {
    if !have(&["nbdinfo"]) {
        return;
    }
    let server = serve(|request| {
        request.spec = kurabe_sim::load_device("mirror3-usb").unwrap();
        ["zfs", "mirror"].iter().for_each(|name| request.spec.remove_layer(name).unwrap());
        request.settings.exports = 3;
    });
    let list = words(&run("nbdinfo", &["--list", uri(&server)]));
    for name in ["export=\"0\"", "export=\"1\"", "export=\"2\""] {
        assert!(list.contains(name), "{list}");
    }
    assert!(list.contains("is_rotational: true"), "{list}");
}

#[test]
fn nbdcopy_takes_an_image_there_and_back_over_four_connections() {
    if !have(&["nbdcopy"]) {
        return;
    }
    let server = serve(|request| request.spec.set("memory.capacity", "24MiB").unwrap());
    let (sent, back) = (server.folder.path().join("sent"), server.folder.path().join("back"));
    let bytes = image(&sent);
    run("nbdcopy", &["--connections=4", "--threads=4", sent.to_str().unwrap(), uri(&server)]);
    run("nbdcopy", &["--connections=4", "--threads=4", uri(&server), back.to_str().unwrap()]);
    assert!(std::fs::read(&back).unwrap() == bytes, "what came back differs");
    assert!(server.serving.figures().unwrap().connections >= 8);
}

#[test]
fn qemu_img_converts_and_compares() {
    if !have(&["qemu-img"]) {
        return;
    }
    let server = serve(|request| request.spec.set("memory.capacity", "24MiB").unwrap());
    let path = server.folder.path().join("image");
    image(&path);
    let path = path.to_str().unwrap();
    run("qemu-img", &["convert", "-n", "-f", "raw", "-O", "raw", path, uri(&server)]);
    let same = words(&run("qemu-img", &["compare", "-f", "raw", "-F", "raw", path, uri(&server)]));
    assert!(same.contains("identical"), "{same}");
    // Differences are detected.
    crate::client::Client::connect(&server.socket).unwrap().write(77, b"x", 0).unwrap();
    let differs =
        Command::new("qemu-img").args(["compare", "-f", "raw", "-F", "raw", path, uri(&server)]).status();
    assert_eq!(differs.unwrap().code(), Some(1));
}

#[test]
fn qemu_io_finds_its_patterns() {
    if !have(&["qemu-io"]) {
        return;
    }
    let server = serve(|_| {});
    let commands = [
        "write -P 0x5a 1M 64k",
        "write -P 0xa5 -f 3M 1M",
        "read -P 0x5a 1M 64k",
        "write -z 1M 32k",
        "read -P 0 1M 32k",
        "read -P 0x5a 1056k 32k",
        "discard 1056k 32k",
        "read -P 0 1M 64k",
        "writev -P 0x77 8M 4k 60k 512",
        "readv -P 0x77 8M 60k 4k 512",
        "aio_write -P 1 16M 2M",
        "aio_write -P 2 18M 2M",
        "aio_flush",
        "read -P 1 16M 2M",
        "read -P 2 18M 2M",
        "flush",
    ];
    let mut all: Vec<&str> = vec!["-f", "raw"];
    commands.iter().for_each(|command| all.extend(["-c", *command]));
    let answers = words(&run("qemu-io", &[&all[..], &[uri(&server)]].concat()));
    assert!(!answers.contains("failed") && !answers.contains("error"), "{answers}");
}

#[test]
#[ignore = "slow"]
fn fio_verifies_1_gib_at_depth_32() {
    if !have(&["fio"]) {
        return;
    }
    if !words(&run("fio", &["--enghelp"])).contains("nbd") {
        skip("this fio has no engine for NBD");
        return;
    }
    let server = serve(|_| {});
    let uri = format!("--uri={}", uri(&server));
    // In the test's folder, because fio leaves a state file behind.
    let output = Command::new("timeout")
        .args(["300", "fio", "--name=v", "--ioengine=nbd", &uri, "--rw=randwrite", "--bsrange=4k-128k"])
        .args(["--size=1g", "--iodepth=32", "--verify=crc32c", "--verify_fatal=1", "--randrepeat=1"])
        .current_dir(server.folder.path())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{error}", words(&output));
    let figures = server.serving.figures().unwrap();
    assert!(figures.read_bytes >= 1 << 30 && figures.written_bytes >= 1 << 30, "{figures:?}");
}

#[test]
fn nbdfuse_gives_a_file_that_keeps_what_is_written() {
    if !have(&["nbdfuse", "umount"]) || std::fs::File::options().write(true).open("/dev/fuse").is_err() {
        return;
    }
    let server = serve(|_| {});
    let folder = server.folder.path().join("fuse");
    std::fs::create_dir(&folder).unwrap();
    let disk = folder.join("disk");
    let mut nbdfuse = Command::new("nbdfuse").arg(&disk).arg(uri(&server)).spawn().unwrap();
    crate::client::eventually("the file is there, or nbdfuse is not allowed to mount", || {
        disk.exists() || nbdfuse.try_wait().is_ok_and(|ended| ended.is_some())
    });
    if disk.exists() {
        let mut file = std::fs::File::options().read(true).write(true).open(&disk).unwrap();
        let bytes = image(&server.folder.path().join("image"));
        file.write_all(&bytes).unwrap();
        file.sync_all().unwrap();
        let mut kept = vec![0; bytes.len()];
        file.read_exact_at(&mut kept, 0).unwrap();
        assert!(kept == bytes);
        drop(file);
        assert!(server.serving.figures().unwrap().flushes > 0);
        run("umount", &[folder.to_str().unwrap()]);
    } else {
        skip("nbdfuse cannot mount here");
    }
    nbdfuse.wait().unwrap();
}
