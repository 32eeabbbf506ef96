//! Write amplification of uniform random writes under greedy collection, compared with the closed
//! form (Desnoyers 2012): a share x of a collected block is valid, with x = exp(-s (1 - x)), where
//! s is the amount of flash divided by the amount of data in it; each unit written then costs 1 /
//! (1 - x).

use super::{assert_near, device, drive, scattered};
use kurabe_sim::RequestKind;

/// Returns the smaller root of x = exp(-s (1 - x)), by fixed-point iteration from 0, which only
/// ascends.
fn valid_share(spread: f64) -> f64 {
    (0..10_000).fold(0.0, |share: f64, _| (-spread * (1.0 - share)).exp())
}

const DATA_BLOCKS: f64 = 1024.0;

/// Returns the write amplification of one die with 1,024 blocks of 128 units for its capacity plus
/// `spare`; the share `fill` of it holds data.
fn amplification(spare: f64, fill: f64) -> f64 {
    let (spare, fill_word) = (spare.to_string(), fill.to_string());
    let changes = [
        ("ssd.capacity", "512 MiB"),
        ("ssd.channels", "1"),
        ("ssd.dies", "1"),
        ("ssd.serial_dies", "1"),
        ("ssd.planes", "1"),
        ("ssd.pages_per_block", "64"),
        ("ssd.age", "worn"),
        ("ssd.idle_after", "1000 s"),
        ("ssd.over_provisioning", &spare),
        ("ssd.fill", &fill_word),
    ];
    let mut stack = device("mqsim-512g", &changes);
    let span_bytes = (stack.capacity_bytes() as f64 * fill) as u64;
    drive(&mut stack, &scattered(RequestKind::Write, 30_000, 4096, span_bytes, 18), 16);
    let outcome = drive(&mut stack, &scattered(RequestKind::Write, 100_000, 4096, span_bytes, 19), 16);
    let (written, moved) = (outcome.count("units-written"), outcome.count("units-moved"));
    (written + moved) as f64 / written as f64
}

fn expected(spare: f64, fill: f64) -> f64 {
    // Two blocks are kept free, and two are open and half full on average. Blocks are of finite
    // length: half a unit more.
    let spread = ((DATA_BLOCKS * (1.0 + spare)).ceil() - 3.0) / (DATA_BLOCKS * fill) * (1.0 + 0.5 / 128.0);
    1.0 / (1.0 - valid_share(spread))
}

/// 2 %: the closed form assumes infinitely large blocks; the number of valid units of a block of
/// 128 spreads around its mean.
#[test]
fn amplification_by_spare_flash() {
    for spare in [0.07, 0.15, 0.28, 0.5] {
        assert_near(amplification(spare, 1.0), expected(spare, 1.0), 0.02, &format!("{spare} spare"));
    }
}

/// 2 %, as above: space without data also counts as spare.
#[test]
fn amplification_by_fill() {
    for fill in [0.5, 0.7, 0.9] {
        assert_near(amplification(0.07, fill), expected(0.07, fill), 0.02, &format!("{fill} full"));
    }
}
