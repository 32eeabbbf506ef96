//! Published figures of the library's drives beside what their models give.

use super::Load;
use crate::library::device_named;
use crate::stack::Stack;
use crate::world::{Kind, Request};

/// Seconds of a copy of 4 GiB, from a part of it, in the pieces and turns and with the pauses of its host.
fn copy_s(name: &str, reads: bool, writes: bool) -> f64 {
    let mut stack = Stack::new(&device_named(name).unwrap(), 1).unwrap();
    let habits = stack.copy_habits().unwrap();
    let (piece, turn, total) = (u64::from(habits.piece_bytes), habits.turn_bytes, 96u64 << 20);
    let mut now_ns = 0;
    for start in (0..total).step_by(turn as usize) {
        let sides =
            [(Kind::Read, 0, habits.read_gap_ns, reads), (Kind::Write, 8 << 30, habits.write_gap_ns, writes)];
        for (kind, base, gap_ns, wanted) in sides {
            for offset in (start..start + turn).step_by(piece as usize).filter(|_| wanted) {
                let offset_bytes = base + offset;
                let request = Request::new(kind, offset_bytes, piece as u32);
                stack.submit(now_ns + gap_ns, request, 0);
                while let Some(at_ns) = stack.next_wake_ns() {
                    stack.advance(at_ns);
                }
                now_ns = stack.take_completion().unwrap().at_ns;
            }
        }
    }
    now_ns as f64 / 1e9 * ((4u64 << 30) as f64 / total as f64)
}

fn assert_near(what: &str, found: f64, published: f64, tolerance: f64) {
    assert!((found / published - 1.0).abs() <= tolerance, "{what}: {found}, published {published}");
}

/// Toshiba SSD HG2 Series & HG3 Series Benchmarks; times without those of the disk in memory.
#[test]
fn copies_of_the_delay_ratio_test() {
    let (read_s, write_s) = (copy_s("intel-x25m-g1", true, false), copy_s("intel-x25m-g1", false, true));
    let both_s = copy_s("intel-x25m-g1", true, true);
    // Nothing of reading was fitted to this drive: its rate is the specified one, the pause that of the HG2.
    assert_near("X25-M G1 read", read_s, 24.20, 0.03);
    assert_near("X25-M G1 write", write_s, 54.01, 0.02);
    assert_near("X25-M G1 copy", both_s, 72.05, 0.02);
    let ratio = both_s / (read_s + write_s);
    assert!((ratio - 0.92).abs() <= 0.15, "DelayRatio {ratio}");
    assert_near("MCCOE read", copy_s("samsung-mccoe64g5mpp", true, false), 46.03, 0.02);
    assert_near("MCCOE write", copy_s("samsung-mccoe64g5mpp", false, true), 46.59, 0.02);
}

#[test]
fn figures_that_drives_are_sold_with() {
    let rate = |name: &str, load: Load| load.run(&mut Stack::new(&device_named(name).unwrap(), 1).unwrap()).0;
    let iops = |name: &str, load: Load| rate(name, load) / f64::from(load.bytes);
    let mib = |load: fn(u32, u64, u64) -> Load, depth| load(1 << 20, depth, 300).in_order();
    assert_near("X25-M G2 read", rate("intel-x25m-g2", mib(Load::reads, 1)), 239.5e6, 0.02);
    assert_near("X25-M G2 write", rate("intel-x25m-g2", mib(Load::writes, 1)), 82.2e6, 0.02);
    assert_near("X25-M reads", iops("intel-x25m-g2", Load::reads(4096, 32, 5000)), 35_000.0, 0.03);
    assert_near("870 EVO reads", iops("samsung-870-evo", Load::reads(4096, 1, 500)), 13_000.0, 0.02);
    assert_near("870 EVO reads", iops("samsung-870-evo", Load::reads(4096, 32, 5000)), 98_000.0, 0.02);
    assert_near("870 EVO writes", iops("samsung-870-evo", Load::writes(4096, 1, 500)), 36_000.0, 0.1);
    assert_near("980 read", rate("samsung-980", mib(Load::reads, 8)), 3.5e9, 0.02);
    assert_near("980 write", rate("samsung-980", mib(Load::writes, 8)), 3.0e9, 0.02);
    // Over a span whose part of the mapping table is in memory.
    let mut near = device_named("samsung-980").unwrap();
    near.set("ssd.mapping", "full").unwrap();
    let near = |load: Load| load.run(&mut Stack::new(&near, 1).unwrap()).0 / 4096.0;
    assert_near("980 reads", near(Load::reads(4096, 1, 500)), 17_000.0, 0.02);
    assert_near("980 reads", near(Load::reads(4096, 128, 20_000)), 500_000.0, 0.02);
    assert_near("980 writes", near(Load::writes(4096, 1, 500)), 54_000.0, 0.02);
    assert_near("980 writes", near(Load::writes(4096, 32, 5000)), 480_000.0, 0.1);
    assert_near("P1 write", rate("crucial-p1", mib(Load::writes, 8)), 1.6e9, 0.03);
}
