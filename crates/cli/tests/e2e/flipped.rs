//! A device node that is repeatedly swapped for that of a mounted device while runs open it. The
//! mounted device is never written.

use crate::lab::{Lab, text};
use crate::system::{LoopDevice, Mount, Stacked, other_node, system};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const SIZE: u64 = 8 << 20;
/// When the path was resolved twice, one run in ten wrote to the mounted device.
const RUNS: usize = 60;

#[test]
#[ignore = "slow"]
fn a_node_that_flips_to_a_mounted_device_leads_no_write_there() {
    let Some(own) = LoopDevice::new(SIZE) else { return };
    let lab = Lab::new();
    let image = lab.write("victim", vec![0; SIZE as usize]);
    system("mkfs.ext4", &["-q", text(&image)]);
    let Some(victim) = Stacked::over(&image) else { return };
    // Only a wrong write would change it.
    let Some(mount) = Mount::new("ext4", victim.node(), "ro", &lab.beside("mnt")) else { return };
    let contents = || {
        system("blockdev", &["--flushbufs", victim.node()]);
        std::fs::read(&image).expect("the image")
    };
    let before = contents();
    let nodes = [own.node(), Path::new(victim.node())];
    let nodes = [0, 1].map(|at| other_node(nodes[at], &lab.beside(["own", "mounted"][at])));
    let (name, next) = (lab.beside("node"), lab.beside("next"));
    std::fs::hard_link(&nodes[0], &name).expect("a name");
    let flips = AtomicBool::new(true);
    let mut written = 0;
    std::thread::scope(|scope| {
        let flipping = scope.spawn(|| {
            while flips.load(Ordering::Relaxed) {
                for node in [&nodes[1], &nodes[0]] {
                    std::fs::hard_link(node, &next)
                        .and_then(|()| std::fs::rename(&next, &name))
                        .expect("a flip");
                }
            }
        });
        let words = ["--rw", "write", "--bs", "64k", "--size", "1m", "--passes", "1", "--runs", "3"];
        let consent = ["--destroy-data-on", text(&name), "--engine", "threads", "--quiet"];
        for _ in 0..RUNS {
            let ended = lab.run(&name, &[&words[..], &consent].concat());
            assert!(!ended.err.contains("panicked"), "{ended:#?}");
            written += u32::from(ended.code() == Some(0));
        }
        flips.store(false, Ordering::Relaxed);
        flipping.join().expect("flipped to the end");
    });
    drop(mount);
    assert!(contents() == before, "the mounted device was written");
    assert!(written > 0, "no run met its own device");
}
