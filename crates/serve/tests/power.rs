//! Data after a power cut, as a reboot finds it, for writes of this file's own.

use crate::client::{Client, FUA, Server, request};
use kurabe_core::random::Random;
use kurabe_serve::{ControlRequest, DeviceFault, PowerRules, Serving, ask_server};
use std::path::PathBuf;

/// Number of blocks, and number of writes until the cut.
const BLOCKS: u64 = 64;
const BLOCK_BYTES: usize = 4096;
const WRITES: u64 = 120;

/// Serves a disk with a volatile cache.
fn serve(rules: PowerRules, faults: &[&str]) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s.sock");
    let mut request = request("hitachi-hds721616plat80", &socket);
    // The cache makes the test faster and changes nothing else.
    request.spec.set("disk.write_cache", "true").unwrap();
    request.settings.power = Some(rules);
    request.settings.faults = faults.iter().map(|words| DeviceFault::parse(words).unwrap()).collect();
    Server { serving: Serving::start(&request).unwrap(), socket, folder }
}

/// State of a block: the value that must at least be present, and the last one written.
#[derive(Clone, Copy, Default)]
struct Block {
    flushed: u8,
    latest: u8,
}

/// Writes increasing numbers to blocks until power is cut, and counts the blocks that are older
/// than the last flush or hold a value that was never written.
fn losses(seed: u64, lies: bool, torn: bool) -> usize {
    let rules = PowerRules { after_writes: Some(WRITES), seed, torn };
    let server = serve(rules, if lies { &["lie-about-flush"] } else { &[] });
    let mut client = Client::connect(&server.socket).unwrap();
    let mut blocks = [Block::default(); BLOCKS as usize];
    let mut random = Random::new(seed, 1);
    for number in 1..=WRITES {
        let place = random.below(BLOCKS);
        let block = &mut blocks[place as usize];
        let fua = number % 17 == 0;
        let written =
            client.write(place * BLOCK_BYTES as u64, &[number as u8; BLOCK_BYTES], if fua { FUA } else { 0 });
        assert!(written.is_ok(), "{number}");
        block.latest = number as u8;
        if fua {
            block.flushed = number as u8;
        }
        if number % 25 == 0 {
            client.flush().unwrap();
            blocks.iter_mut().for_each(|block| block.flushed = block.latest);
        }
    }
    // The last write was acknowledged before the cut.
    assert!(client.read(0, 1).is_err());
    let mut client = Client::connect(&server.socket).unwrap();
    let cuts = server.serving.figures().unwrap().cuts;
    assert_eq!((cuts.len(), cuts[0].acknowledged_writes), (1, WRITES));
    let mut losses = 0;
    for (place, block) in blocks.iter().enumerate() {
        for sector in client.read(place as u64 * BLOCK_BYTES as u64, BLOCK_BYTES).unwrap().chunks(512) {
            assert!(sector.iter().all(|byte| *byte == sector[0]), "a sector is torn");
            losses += usize::from(!(block.flushed..=block.latest).contains(&sector[0]));
        }
    }
    losses
}

#[test]
fn what_was_flushed_is_there_after_a_cut() {
    for seed in 0..12 {
        assert_eq!(losses(seed, false, seed % 2 == 1), 0, "seed {seed}");
    }
}

/// The negative control: a disk that lies about flushes loses flushed data.
#[test]
fn a_disk_that_lies_about_flushes_loses_what_was_flushed() {
    let lost = (0..4).filter(|seed| losses(*seed, true, false) > 0).count();
    assert!(lost > 0);
}

#[test]
fn power_is_cut_on_command_and_the_journal_is_asked_for_first() {
    let server = serve(PowerRules { seed: 5, ..PowerRules::default() }, &[]);
    let mut client = Client::connect(&server.socket).unwrap();
    for place in 0..32 {
        client.write(place << 16, &[3; 65536], 0).unwrap();
    }
    let control = PathBuf::from(format!("{}.control", server.socket.display()));
    let cut = ask_server(&control, &ControlRequest::Cut).unwrap();
    assert_eq!(cut["acknowledged_writes"], 32);
    assert!(cut["sectors_lost"].as_u64().unwrap() > 0, "{cut}");
    assert!(client.read(0, 1).is_err());
    let mut client = Client::connect(&server.socket).unwrap();
    let kept = (0..32).filter(|place| client.read(place << 16, 1).unwrap() == [3]).count();
    assert!(kept < 32, "{cut}");
    // Power can be cut a second time.
    client.write(0, &[4; 4096], 0).unwrap();
    assert_eq!(ask_server(&control, &ControlRequest::Cut).unwrap()["acknowledged_writes"], 1);
}
