//! Written data: the contents of the file after a pass of writes.

use crate::lab::Lab;
use std::collections::HashSet;

const SIZE: usize = 2 << 20;
const BLOCK: usize = 16 << 10;

/// Returns the contents of a file after one pass of writes with this kind of data.
fn written(data: &str) -> Vec<u8> {
    let lab = Lab::new();
    let file = lab.write("scratch", vec![0xee; SIZE]);
    let words = ["--write-existing", "--rw", "write", "--bs", "16k", "--passes", "1", "--data", data];
    let record = lab.measure(&file, &words);
    assert_eq!(record["cells"][0]["repetitions"][0]["write"]["bytes"], SIZE);
    std::fs::read(&file).expect("the file")
}

/// Returns the share of distinct 8-byte words, near 1 for incompressible data.
fn distinct_words(bytes: &[u8]) -> f64 {
    let words: HashSet<&[u8]> = bytes.chunks_exact(8).collect();
    words.len() as f64 / (bytes.len() / 8) as f64
}

fn zero_share(bytes: &[u8]) -> f64 {
    bytes.iter().filter(|byte| **byte == 0).count() as f64 / bytes.len() as f64
}

#[test]
fn zero_writes_zeros() {
    assert!(written("zero").iter().all(|byte| *byte == 0));
}

#[test]
fn repeat_writes_one_block_again_and_again() {
    let bytes = written("repeat");
    let first = &bytes[..BLOCK];
    assert!(distinct_words(first) > 0.99, "the block itself is random");
    assert!(bytes.chunks(BLOCK).all(|block| block == first));
}

#[test]
fn random_writes_what_neither_deduplicates_nor_compresses() {
    let bytes = written("random");
    let blocks: HashSet<&[u8]> = bytes.chunks(4 << 10).collect();
    assert_eq!(blocks.len(), SIZE / (4 << 10), "no 4 KiB twice");
    assert!(distinct_words(&bytes) > 0.99, "{}", distinct_words(&bytes));
    assert!(zero_share(&bytes) < 0.01);
}

#[test]
fn compressible_writes_its_share_of_zeros() {
    for percent in [0, 25, 50, 100] {
        let bytes = written(&format!("compressible:{percent}"));
        let (share, expected) = (zero_share(&bytes), f64::from(percent) / 100.0);
        assert!((share - expected).abs() < 0.02, "{share} for {expected}");
        let every_block = bytes.chunks(4 << 10).all(|block| (zero_share(block) - expected).abs() < 0.05);
        assert!(every_block, "every 4 KiB has its share at {percent}");
        let unlike: HashSet<&[u8]> = bytes.chunks(4 << 10).collect();
        assert!(percent == 100 || unlike.len() == SIZE / (4 << 10), "no 4 KiB twice at {percent}");
    }
}

#[test]
fn the_test_file_itself_holds_the_data_asked_for() {
    use crate::lab::names;
    for (data, zeros) in [("zero", 1.0), ("random", 0.004), ("compressible:50", 0.5)] {
        let lab = Lab::new();
        let target = lab.target();
        let words = ["--rw", "randread", "--size", "4m", "--time", "50s", "--data", data];
        let mut live = lab.start(&target, &words);
        live.wait_for_out("\"event\":\"repetition_started\"");
        let bytes = std::fs::read(target.join(&names(&target)[0])).expect("the test file");
        drop(live);
        assert_eq!(bytes.len(), 4 << 20);
        assert!((zero_share(&bytes) - zeros).abs() < 0.02, "{data}: {}", zero_share(&bytes));
    }
}
