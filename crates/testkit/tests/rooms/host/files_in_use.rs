//! Files in use, under any of their names.

use crate::host::system::{Bound, LoopDevice, Running, claims_of, open_to_write, run, text};
use kurabe_testkit::needs::{SWAP, needs, skip};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Creates a directory with a file of 64 KiB.
fn with_file() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("file");
    std::fs::write(&file, [7; 64 << 10]).expect("a file");
    (directory, file)
}

fn words_on(target: &Path) -> Vec<String> {
    claims_of(target).into_iter().map(|claim| claim.by.en).collect()
}

#[test]
fn a_file_that_nobody_uses_is_free() {
    if !needs("sh") {
        return;
    }
    let (directory, file) = with_file();
    let reader = Running::with_input(File::open(&file).expect("opened"));
    assert_eq!(words_on(&file), [""; 0], "a reader is not a holder");
    drop((reader, directory));
}

#[test]
fn a_writer_is_found_through_every_name() {
    if !needs("sh") {
        return;
    }
    let (directory, file) = with_file();
    let hard = directory.path().join("hard");
    std::fs::hard_link(&file, &hard).expect("a hard link");
    let soft = directory.path().join("soft");
    std::os::unix::fs::symlink(&file, &soft).expect("a link");
    let writer = Running::with_input(open_to_write(&hard));
    let words = format!("open for writing in sleep (process {})", writer.pid());
    for name in [&file, &hard, &soft] {
        assert_eq!(words_on(name), std::slice::from_ref(&words), "{}", name.display());
    }
    std::fs::remove_file(&hard).expect("deleted");
    assert_eq!(words_on(&file), [words], "its own name is gone");
}

#[test]
fn a_writer_is_found_through_a_bind_mount() {
    let (directory, file) = with_file();
    let elsewhere = tempfile::tempdir().expect("a directory");
    let Some(bound) = Bound::new(directory.path(), elsewhere.path().join("bound")) else { return };
    let writer = Running::with_input(open_to_write(&bound.point().join("file")));
    assert_eq!(words_on(&file), [format!("open for writing in sleep (process {})", writer.pid())]);
}

#[test]
fn locks_of_both_kinds_are_found() {
    if !needs("python3") {
        return;
    }
    let (_directory, file) = with_file();
    for (module, take) in
        [("flock", "fcntl.flock(file, fcntl.LOCK_SH)"), ("fcntl", "fcntl.lockf(file, fcntl.LOCK_SH)")]
    {
        let program = format!(
            "import fcntl, sys, time\nfile = open(sys.argv[1], 'rb')\n{take}\nprint('ready', flush=True)\n\
             time.sleep(60)\n"
        );
        let Some(locker) = Running::start(Command::new("python3").args(["-c", &program, text(&file)])) else {
            skip("python3 cannot hold a file here");
            return;
        };
        let words = words_on(&file);
        let process = format!("(process {})", locker.pid());
        assert!(
            words.len() == 1 && words[0].starts_with("locked by ") && words[0].ends_with(&process),
            "{module}: {words:?}"
        );
    }
    assert_eq!(words_on(&file), [""; 0], "both are gone");
}

#[test]
fn a_mapping_whose_descriptor_is_closed_is_found() {
    if !needs("python3") {
        return;
    }
    let (_directory, file) = with_file();
    let program = "import mmap, os, sys, time\n\
        fd = os.open(sys.argv[1], os.O_RDWR)\n\
        kept = mmap.mmap(fd, 4096)\n\
        os.close(fd)\n\
        for other in os.listdir('/proc/self/fd'):\n    \
            if os.path.realpath('/proc/self/fd/' + other) == sys.argv[1]: os.close(int(other))\n\
        print('ready', flush=True)\n\
        time.sleep(60)\n";
    let Some(mapper) = Running::start(Command::new("python3").args(["-c", program, text(&file)])) else {
        skip("python3 cannot hold a file here");
        return;
    };
    let words = words_on(&file);
    let process = format!("(process {})", mapper.pid());
    assert!(
        words.len() == 1 && words[0].starts_with("mapped for writing in ") && words[0].ends_with(&process),
        "{words:?}"
    );
}

#[test]
fn a_descriptor_that_no_process_shows_is_found_by_the_kernels_count() {
    if !needs("python3") {
        return;
    }
    let (_directory, file) = with_file();
    // In flight between two sockets: open for writing, and in no table of descriptors.
    let program = "import array, os, socket, sys, time\n\
        one, other = socket.socketpair()\n\
        fd = os.open(sys.argv[1], os.O_RDWR)\n\
        one.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [fd]))])\n\
        os.close(fd)\n\
        print('ready', flush=True)\n\
        time.sleep(60)\n";
    let Some(sender) = Running::start(Command::new("python3").args(["-c", program, text(&file)])) else {
        skip("python3 cannot hold a file here");
        return;
    };
    assert_eq!(
        words_on(&file),
        ["open for writing in the kernel or in a program that is not visible from here"]
    );
    drop(sender);
    assert_eq!(words_on(&file), [""; 0]);
}

#[test]
fn the_image_under_a_mounted_loop_device_is_held_under_every_name() {
    let Some(device) = LoopDevice::new() else { return };
    let link = device.beside("link");
    std::fs::hard_link(device.image(), &link).expect("a hard link");
    let name = device.name();
    let stands = format!("used by loop device {name}");
    assert_eq!(words_on(&link), std::slice::from_ref(&stands), "attached, and not mounted");
    if !device.mount_ext4() {
        return;
    }
    let mounted = format!("mounted on {}", device.point().display());
    assert_eq!(words_on(&link), [mounted.clone(), stands.clone()]);
    std::fs::remove_file(device.image()).expect("deleted");
    assert_eq!(words_on(&link), [mounted, stands], "its own name is gone");
}

#[test]
fn a_file_of_swap_is_held() {
    if !needs("chmod") {
        return;
    }
    let (directory, file) = with_file();
    std::fs::write(&file, vec![0; 1 << 20]).expect("a file");
    run("chmod", &["600", text(&file)]).expect("private");
    if !needs("mkswap") {
        return;
    }
    run("mkswap", &[text(&file)]).expect("mkswap formats it");
    if run("swapon", &[text(&file)]).is_none() {
        skip(SWAP);
        return;
    }
    let hard = directory.path().join("hard");
    std::fs::hard_link(&file, &hard).ok();
    let words = words_on(&file);
    let words_of_link = hard.exists().then(|| words_on(&hard));
    run("swapoff", &[text(&file)]).expect("swapped off");
    assert!(words.contains(&"in use as swap".to_owned()), "{words:?}");
    assert!(words_of_link.is_none_or(|of_link| of_link == words));
}
