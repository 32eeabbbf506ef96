//! `kurabe attach` killed at any moment: no process hangs, and the next start removes everything it
//! left.

use crate::attaching::{DISK, attachments, can_attach, eventually, mounts};
use crate::lab::{Lab, Live, text};
use crate::system::{making_loop_devices, system};
use kurabe_core::random::split_mix;
use rustix::process::Signal;
use std::time::Duration;

/// Attaching takes about 400 ms, and ending about 50 ms after the signal.
const BEGINNING_US: u64 = 600_000;
const END_US: u64 = 60_000;

/// Returns whether a killed child has exited. A child that waits forever in the kernel has not.
fn has_ended(live: &Live) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", live.pid().as_raw_nonzero()));
    stat.is_ok_and(|stat| stat.contains(") Z "))
}

/// Performs `KURABE_KILLS` kills, half of them during the start and half during the end.
#[test]
#[ignore = "slow"]
fn kills_at_any_moment_leave_nothing() {
    let lab = Lab::new();
    if !can_attach() {
        return;
    }
    let kills = std::env::var("KURABE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(40_u64);
    let mut state = 27;
    let mut moment = |most_us: u64| Duration::from_micros(split_mix(&mut state) % most_us);
    let _making = making_loop_devices();
    for kill in 0..kills {
        let words = [&["attach", "--foreground", "--by", "fuse"][..], &DISK].concat();
        let mut live = Live::start(lab.command(&words));
        if kill % 2 == 0 {
            std::thread::sleep(moment(BEGINNING_US));
        } else {
            live.wait_for_err("Ctrl-C also ends it");
            live.signal(Signal::TERM);
            std::thread::sleep(moment(END_US));
        }
        live.signal(Signal::KILL);
        for _ in 0..500 {
            if has_ended(&live) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        if !has_ended(&live) {
            // The mount must not stay forever.
            for attachment in attachments(&lab) {
                system("umount", &["-f", "-l", text(&lab.beside("run").join(attachment).join("disks"))]);
            }
            panic!("kill {kill}: the process waits for itself");
        }
        live.end();
    }
    // Any later command cleans up, even a detach.
    lab.kurabe(&["detach", "/dev/loop-control"]);
    let loops = || system("losetup", &["--noheadings", "--output", "BACK-FILE"]).unwrap_or_default();
    let run = lab.beside("run");
    eventually("no loop device is left", || !loops().contains(text(&run)));
    assert_eq!(attachments(&lab), [] as [String; 0]);
    assert!(!mounts().contains(text(&run)), "{}", mounts());
}
