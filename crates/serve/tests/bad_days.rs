//! Clients that misbehave do not affect others.

use crate::client::{Client, READ, WRITE, eventually, serve};
use kurabe_core::random::Random;
use kurabe_serve::DataPlace;
use kurabe_testkit::needs::{MOUNT, skip};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Checks that another client is served.
fn others_are_served(socket: &Path) {
    let mut client = Client::connect(socket).unwrap();
    client.write(1 << 20, &[5; 70_000], 0).unwrap();
    assert_eq!(client.read(1 << 20, 70_000).unwrap(), vec![5; 70_000]);
}

#[test]
fn a_client_that_dies_in_mid_request_leaves_nothing_behind() {
    let server = serve(|_| {});
    for sent in [0, 1, 100, 16 << 10, 600_000] {
        let mut client = Client::connect(&server.socket).unwrap();
        client.send(WRITE, 0, 0, 1 << 20, &vec![1; sent]).unwrap();
        client.stream.write_all(&[]).unwrap();
        drop(client);
        let mut client = Client::connect(&server.socket).unwrap();
        client.stream.write_all(&0x2560_9513u32.to_be_bytes()[..3]).unwrap();
    }
    others_are_served(&server.socket);
    eventually("the dead are gone", || server.serving.figures().unwrap().clients == 0);
    // The device never received a request whose payload is incomplete.
    assert_eq!(server.serving.figures().unwrap().writes, 1);
}

#[test]
fn garbage_ends_one_conversation_and_no_other() {
    let server = serve(|_| {});
    let mut random = Random::new(3, 0);
    for round in 0..200 {
        let mut stream = UnixStream::connect(&server.socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.read_exact(&mut [0; 18]).unwrap();
        let length = random.below(3000) as usize;
        let mut garbage: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        if round % 2 == 0 {
            // An option, or something similar.
            garbage.splice(0..0, [&3u32.to_be_bytes()[..], b"IHAVEOPT"].concat());
        }
        // The server may have closed the connection before all of it was sent.
        let _ = stream.write_all(&garbage);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
    others_are_served(&server.socket);
    eventually("they are gone", || server.serving.figures().unwrap().clients == 0);
}

fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// The client requests 64 GiB and reads none of it; then it sends 100,000 small requests.
#[test]
fn a_client_that_floods_and_never_reads_takes_a_bounded_memory() {
    let server = serve(|_| {});
    let mut writer = Client::connect(&server.socket).unwrap();
    writer.write(0, &vec![7; 1 << 20], 0).unwrap();
    let before = resident_bytes();
    let mut floods = Vec::new();
    for length in [1 << 20, 512] {
        let mut flood = Client::connect(&server.socket).unwrap();
        flood.stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
        let start = Instant::now();
        // Until its requests are no longer accepted.
        while flood.send(READ, 0, 0, length, &[]).is_ok() && start.elapsed() < Duration::from_secs(20) {}
        floods.push(flood);
    }
    others_are_served(&server.socket);
    let grown = resident_bytes().saturating_sub(before);
    // 32 MiB of requests per client, their answers, and the memory of other tests.
    assert!(grown < 400 << 20, "{grown} bytes");
    drop(floods);
    eventually("the flood is gone", || server.serving.figures().unwrap().clients == 1);
}

#[test]
fn the_seventeenth_client_is_turned_away_and_the_others_stay() {
    let server = serve(|_| {});
    let mut clients: Vec<Client> = (0..16).map(|_| Client::connect(&server.socket).unwrap()).collect();
    // The old way to choose an export has no error reply; the new one has.
    assert!(Client::connect(&server.socket).is_err());
    let mut stream = UnixStream::connect(&server.socket).unwrap();
    stream.read_exact(&mut [0; 18]).unwrap();
    let go = [&[0, 0, 0, 3][..], b"IHAVEOPT", &7u32.to_be_bytes(), &6u32.to_be_bytes(), &[0; 6]];
    stream.write_all(&go.concat()).unwrap();
    let mut head = [0; 20];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(head[12..16], 0x8000_0002_u32.to_be_bytes(), "refused by policy");
    let mut reason = vec![0; u32::from_be_bytes(head[16..].try_into().unwrap()) as usize];
    stream.read_exact(&mut reason).unwrap();
    assert!(String::from_utf8(reason).unwrap().contains("16 clients"));
    drop(stream);
    for client in &mut clients {
        assert_eq!(client.read(0, 512).unwrap(), vec![0; 512]);
    }
    let figures = server.serving.figures().unwrap();
    assert_eq!((figures.clients, figures.refused_connections), (16, 2));
    clients.pop();
    eventually("there is room again", || Client::connect(&server.socket).is_ok());
}

#[test]
fn who_never_says_what_it_wants_is_let_go() {
    let server = serve(|_| {});
    let mut silent = UnixStream::connect(&server.socket).unwrap();
    silent.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    silent.read_exact(&mut [0; 18]).unwrap();
    assert_eq!(silent.read(&mut [0; 1]).unwrap(), 0);
    assert_eq!(server.serving.figures().unwrap().slow_connections, 1);
    others_are_served(&server.socket);
}

/// A small file system in memory, which is unmounted when the value is dropped.
struct SmallMount(tempfile::TempDir);

impl SmallMount {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(folder.path());
        mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success()).then_some(Self(folder))
    }
}

impl Drop for SmallMount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

/// A write without space fails, and existing data can still be read.
#[test]
fn a_full_disk_under_a_file_is_an_error_of_the_write() {
    let Some(mount) = SmallMount::new() else {
        skip(MOUNT);
        return;
    };
    let server = serve(|request| request.data = DataPlace::File(mount.0.path().join("data")));
    let mut client = Client::connect(&server.socket).unwrap();
    client.write(0, &[1; 4096], 0).unwrap();
    let full = client.write(1 << 20, &vec![2; 4 << 20], 0).unwrap_err();
    assert_eq!(full.raw_os_error(), Some(28));
    assert_eq!(client.read(0, 4096).unwrap(), vec![1; 4096]);
}
