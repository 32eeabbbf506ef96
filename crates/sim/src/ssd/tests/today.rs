//! Published figures of current drives on which no parameter was calibrated, compared with the
//! models; docs/truth.md has the sources, and the reasons of the misses.
//!
//!     cargo test -p kurabe-sim drives_of_today -- --nocapture

use super::Load;
use crate::library::device_named;
use crate::stack::Stack;

#[derive(Clone, Copy)]
enum Figure {
    /// Bytes per second.
    Rate(Load),
    /// Requests per second.
    Requests(Load),
    /// Requests per second in the first 1 GiB, which was just written.
    NewFile(Load),
    /// Bytes per second after the first twentieth of the drive was written.
    AfterCache,
    /// Bytes per second of writing the whole drive once, extrapolated from its second twentieth; a
    /// complete run, as in docs/truth.md, takes too long here.
    Whole,
    /// Bytes per second of writing the whole drive once, for a drive that is small enough.
    Entire,
    /// Bytes written before a hundredth of the drive takes more than three times as long as the
    /// first.
    UntilSlow,
}
use Figure::{AfterCache, Entire, NewFile, Rate, Requests, UntilSlow, Whole};

const MIB: u32 = 1 << 20;

/// Returns the seconds to write the first and the second twentieth of a drive sequentially.
fn first_parts_s(stack: &mut Stack) -> (f64, f64) {
    let requests = stack.capacity_bytes() / u64::from(MIB) / 20;
    let part = |part| Load { first: part * requests, ..Load::writes(MIB, 8, requests).in_order() };
    let mut part_s = |index| requests as f64 * f64::from(MIB) / part(index).run(stack).0;
    (part_s(0), part_s(1))
}

/// Returns the seconds to write each hundredth of a drive sequentially.
fn hundredths_s(stack: &mut Stack) -> Vec<f64> {
    let requests = stack.capacity_bytes() / u64::from(MIB) / 100;
    let part = |part| Load { first: part * requests, ..Load::writes(MIB, 8, requests).in_order() };
    (0..100).map(|index| requests as f64 * f64::from(MIB) / part(index).run(stack).0).collect()
}

impl Figure {
    fn of(self, stack: &mut Stack) -> f64 {
        match self {
            Rate(load) => load.run(stack).0,
            Requests(load) => load.run(stack).0 / f64::from(load.bytes),
            NewFile(load) => {
                Load::writes(MIB, 8, 1024).in_order().run(stack);
                // The contents of the write buffer go to flash, and no data are moved yet.
                stack.advance(stack.now_ns() + 50_000_000);
                load.run_within(stack, 1 << 30).0 / f64::from(load.bytes)
            }
            AfterCache => stack.capacity_bytes() as f64 / 20.0 / first_parts_s(stack).1,
            Whole => {
                let (first_s, second_s) = first_parts_s(stack);
                stack.capacity_bytes() as f64 / (first_s + 19.0 * second_s)
            }
            Entire => stack.capacity_bytes() as f64 / hundredths_s(stack).iter().sum::<f64>(),
            UntilSlow => {
                let parts_s = hundredths_s(stack);
                parts_s.iter().take_while(|part_s| **part_s < parts_s[0] * 3.0).count() as f64 / 100.0
            }
        }
    }
}

/// Drive, changes, quantity, published figure, and the model's deviation from it in percent, as
/// stated in docs/truth.md.
type Row = (&'static str, &'static [(&'static str, &'static str)], &'static str, Figure, f64, f64);

fn drives() -> Vec<Row> {
    let read = Rate(Load::reads(MIB, 8, 300).in_order());
    let write = Rate(Load::writes(MIB, 8, 300).in_order());
    let reads = |depth| Load::reads(4096, depth, 10_000);
    let writes = |depth| Load::writes(4096, depth, 10_000);
    let durable = Requests(Load { fua: true, ..Load::writes(4096, 1, 300) }.in_order());
    // The mapping of the tested span is in the memory lent by the host.
    const NEAR: &[(&str, &str)] = &[("ssd.mapping", "full")];
    // A thirty-second of each block and of the cache, so that the test writes it quickly.
    const SMALL: &[(&str, &str)] =
        &[("ssd.capacity", "31256 MB"), ("ssd.pages_per_block", "33"), ("ssd.slc_dynamic", "8750 MB")];
    vec![
        ("samsung-870-evo", &[], "sequential reads", read, 560e6, -0.4),
        ("samsung-870-evo", &[], "sequential writes", write, 530e6, 5.3),
        ("samsung-870-evo", &[], "random writes, depth 1", Requests(writes(1)), 36_000.0, -9.7),
        (
            "samsung-980",
            NEAR,
            "random writes, depth 512",
            Requests(Load::writes(4096, 512, 50_000)),
            480_000.0,
            4.0,
        ),
        (
            "crucial-p1",
            &[],
            "random reads, depth 32, new file",
            NewFile(Load::reads(4096, 32, 60_000)),
            170_000.0,
            -9.7,
        ),
        ("crucial-p1", &[], "sequential reads", read, 2000e6, 25.8),
        ("samsung-870-qvo", &[], "sequential reads", read, 560e6, -0.4),
        ("samsung-870-qvo", &[], "sequential writes", write, 530e6, 5.3),
        ("samsung-870-qvo", &[], "random reads, depth 32, new file", NewFile(reads(32)), 98_000.0, 0.9),
        ("samsung-870-qvo", &[], "random writes, depth 32", Requests(writes(32)), 88_000.0, 0.0),
        ("samsung-870-qvo", &[], "after its cache", AfterCache, 80e6, 49.0),
        ("samsung-870-qvo", &[], "the whole drive", Whole, 116e6, 6.5),
        ("wd-black-sn770", &[], "sequential reads", read, 5150e6, -8.1),
        ("wd-black-sn770", &[], "sequential writes", write, 4900e6, -1.8),
        ("wd-black-sn770", NEAR, "random writes, depth 512", Requests(writes(512)), 800_000.0, -7.5),
        ("samsung-990-pro", &[], "sequential reads", read, 7450e6, -3.3),
        ("samsung-990-pro", &[], "sequential writes", write, 6900e6, -9.0),
        ("hp-fx900", SMALL, "the whole drive", Entire, 830e6, 1.7),
        ("hp-fx900", SMALL, "written before all flash is used", UntilSlow, 0.5, 6.0),
        ("ebs-gp3", &[], "random reads, depth 1024", Requests(Load::reads(4096, 1024, 30_000)), 3024.0, -0.8),
        (
            "samsung-990-pro",
            &[],
            "random reads, depth 1, new file",
            NewFile(Load::reads(4096, 1, 10_000)),
            20_020.0,
            0.7,
        ),
        // anandtech.com 11930: data sheet.
        ("intel-optane-p4800x", &[], "random reads, depth 16", Requests(reads(16)), 550_000.0, -8.0),
        ("intel-optane-p4800x", &[], "random writes, depth 16", Requests(writes(16)), 500_000.0, -14.2),
        // gist.github.com/anarazel/b527e5317bb7d58483a9858f5f2435ca: an SN850, and a Sabrent Rocket 4.0
        // with an earlier controller.
        ("wd-black-sn770", &[], "writes with O_DSYNC", durable, 4863.0, -16.0),
        ("crucial-t700", &[], "writes with O_DSYNC", durable, 2325.0, -4.1),
    ]
}

fn cards() -> Vec<Row> {
    const PI_4: &[(&str, &str)] = &[("card.interface", "50 MB/s")];
    const EXTREME: &str = "sandisk-extreme-a1-sd";
    type Way = fn(u32, u64, u64) -> Load;
    let piece = |way: Way| Rate(way(1 << 19, 1, 300).in_order());
    let run = |way: Way| Rate(way(1 << 24, 1, 20).in_order());
    let random = |way: Way, kib: u32| Rate(way(kib << 10, 1, 300));
    let kib4 = |way: Way| way(4096, 1, 3000);
    let (reads, writes): (Way, Way) = (Load::reads, Load::writes);
    let kib = |per_s: f64| per_s * 1024.0;
    vec![
        ("samsung-evo-plus-sd", PI_4, "sequential reads", piece(reads), 46.05e6, 5.8),
        ("samsung-evo-plus-sd", PI_4, "sequential writes", piece(writes), 21.3e6, -34.0),
        ("samsung-evo-plus-sd", PI_4, "random reads", Requests(kib4(reads)), 2765.0, 1.3),
        ("samsung-evo-plus-sd", PI_4, "random writes", Requests(kib4(writes)), 986.0, -22.0),
        (EXTREME, &[], "reads of 16 MiB in order", run(reads), kib(67_433.0), 0.5),
        (EXTREME, &[], "random reads of 4 KiB", Rate(kib4(reads)), kib(13_190.0), -0.5),
        (EXTREME, &[], "random reads of 16 KiB", random(reads, 16), kib(34_426.0), -2.4),
        (EXTREME, &[], "random reads of 128 KiB", random(reads, 128), kib(56_853.0), 8.5),
        (EXTREME, &[], "random reads of 512 KiB", random(reads, 512), kib(63_556.0), 6.6),
        (EXTREME, &[], "writes of 16 MiB in order", run(writes), kib(61_120.0), -3.5),
        (EXTREME, &[], "random writes of 4 KiB", Rate(kib4(writes)), kib(5888.0), 2.3),
        (EXTREME, &[], "random writes of 16 KiB", random(writes, 16), kib(17_431.0), 7.6),
        (EXTREME, &[], "random writes of 128 KiB", random(writes, 128), kib(30_835.0), 58.4),
        (EXTREME, &[], "random writes of 512 KiB", random(writes, 512), kib(50_015.0), 17.9),
    ]
}

#[test]
#[expect(clippy::print_stdout, reason = "the table of docs/truth.md is made by this test")]
fn drives_of_today() {
    let (mut near, mut wrong) = (0, Vec::new());
    let rows = [drives(), cards()].concat();
    for (drive, changes, what, figure, published, stated_percent) in &rows {
        let mut spec = device_named(drive).unwrap();
        changes.iter().for_each(|(key, value)| spec.set(key, value).unwrap());
        let modelled = figure.of(&mut Stack::new(&spec, 1).unwrap());
        let percent = (modelled / published - 1.0) * 100.0;
        println!("| {drive} | {what} | {published:.0} | {modelled:.0} | {percent:+.1} % |");
        near += u32::from(percent.abs() <= 10.0);
        // As in docs/truth.md, except for the effect of a different run length.
        if (percent - stated_percent).abs() > 1.0 {
            wrong.push(format!("{drive}, {what}: {percent:+.1} %, said {stated_percent:+.1} %"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(rows.len() >= 14 && near >= 10, "{near} of {}", rows.len());
}
