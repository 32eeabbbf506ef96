//! Faults of a served disk, as seen by its clients.

use crate::client::{Client, READ, Server, TRIM, serve};
use kurabe_core::ErrorKind;
use kurabe_serve::{ControlRequest, DeviceFault, FaultFigures};
use std::io;
use std::time::{Duration, Instant};

const EPERM: i32 = 1;
const EIO: i32 = 5;
const MIB: usize = 1 << 20;

fn faulty(faults: &[&str]) -> Server {
    serve(|request| {
        request.settings.faults = faults.iter().map(|words| DeviceFault::parse(words).unwrap()).collect();
    })
}

/// Returns the number of an error, or 0.
fn error<T>(outcome: io::Result<T>) -> i32 {
    outcome.err().map_or(0, |error| error.raw_os_error().expect("an answer"))
}

fn set(server: &Server, fault: Option<&str>) -> kurabe_core::Result<()> {
    server.serving.control(ControlRequest::Fault { fault: fault.map(str::to_owned) }).map(|_| ())
}

fn figures(server: &Server) -> Vec<(String, u64, bool)> {
    let parts = |figures: FaultFigures| (figures.fault, figures.requests, figures.is_lifted);
    server.serving.figures().unwrap().faults.into_iter().map(parts).collect()
}

/// Small and large requests take different paths through the server.
#[test]
fn sectors_that_cannot_be_read_or_written_fail_and_the_rest_of_the_disk_does_not() {
    let server = faulty(&["error:read@4MiB+64KiB", "error:write@8MiB+512"]);
    let mut client = Client::connect(&server.socket).unwrap();
    for length in [512, MIB] {
        assert_eq!(error(client.read(4 << 20, length)), EIO);
        assert_eq!(error(client.write(8 << 20, &vec![7; length], 0)), EIO);
        // Data of a failed write is not stored.
        assert_eq!(client.read(8 << 20, length).unwrap(), vec![0; length]);
        assert_eq!(error(client.read((4 << 20) - length as u64, length)), 0);
        assert_eq!(error(client.write((8 << 20) + 512, &vec![7; length], 0)), 0);
        client.write((8 << 20) + 512, &vec![0; length], 0).unwrap();
    }
    client.flush().unwrap();
    // A write makes the drive remap the sectors that it covers.
    client.write(4 << 20, &[9; 4096], 0).unwrap();
    assert_eq!(client.read(4 << 20, 4096).unwrap(), [9; 4096]);
    assert_eq!(error(client.read((4 << 20) + 4096, 512)), EIO);
    let read = ("error:read@4MiB+64KiB".to_owned(), 3, false);
    assert_eq!(figures(&server), [read, ("error:write@8MiB+512".to_owned(), 2, false)]);
    // These requests do not count as invalid.
    assert_eq!(server.serving.figures().unwrap().errors, 0);
}

/// The time of a fault counts as the device's: it appears in the times of answers, and the server
/// is not blamed.
#[test]
fn what_is_slow_is_due_later() {
    let server = faulty(&["slow:30ms@64MiB+64MiB"]);
    let mut client = Client::connect(&server.socket).unwrap();
    let mean_ns = |server: &Server| server.serving.figures().unwrap().lateness.mean_service_ns;
    client.read(0, 4096).unwrap();
    let quick_ns = mean_ns(&server);
    assert!(quick_ns < 30e6, "{quick_ns}");
    let begun = Instant::now();
    client.read(64 << 20, 4096).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(30));
    let lateness = server.serving.figures().unwrap().lateness;
    let slow_ns = 2.0 * lateness.mean_service_ns - quick_ns;
    assert!((slow_ns - 30e6 - quick_ns).abs() < 1e6, "{slow_ns} beside {quick_ns}");
    set(&server, None).unwrap();
    client.read(64 << 20, 4096).unwrap();
    assert!((3.0 * mean_ns(&server) - slow_ns - 2.0 * quick_ns).abs() < 1e6);
    assert_eq!(figures(&server), [("slow:30ms@64MiB+64MiB".to_owned(), 1, true)]);
}

#[test]
fn a_device_that_hangs_answers_all_when_it_goes_on() {
    let server = faulty(&["hang:80ms@after-2-writes"]);
    let mut client = Client::connect(&server.socket).unwrap();
    client.write(0, &[1; 4096], 0).unwrap();
    // Taken before it hangs, so that it cannot appear to end early.
    let begun = Instant::now();
    client.write(0, &[2; MIB], 0).unwrap();
    let asked: Vec<u64> = (0..8).map(|at| client.send(READ, 0, at << 20, 512, &[]).unwrap()).collect();
    let mut bytes = [0; 512];
    let mut answered: Vec<u64> = asked
        .iter()
        .map(|_| {
            let (cookie, error) = client.reply().unwrap();
            assert!(begun.elapsed() >= Duration::from_millis(80) && error == 0);
            io::Read::read_exact(&mut client.stream, &mut bytes).unwrap();
            cookie
        })
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, asked);
    assert_eq!(figures(&server), [("hang:80ms@after-2-writes".to_owned(), 8, false)]);
}

/// Only the end of the fault ends the hang, and flushed data is present.
#[test]
fn a_hang_can_be_ended_and_answers_nothing_before() {
    let server = faulty(&[]);
    let mut client = Client::connect(&server.socket).unwrap();
    client.write(0, &[1; 4096], 0).unwrap();
    set(&server, Some("hang:1h")).unwrap();
    let cookie = client.send(READ, 0, 0, 4096, &[]).unwrap();
    client.stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    assert_eq!(client.reply().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    client.stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    set(&server, None).unwrap();
    assert_eq!(client.reply().unwrap(), (cookie, 0));
    let mut bytes = [0; 4096];
    io::Read::read_exact(&mut client.stream, &mut bytes).unwrap();
    assert_eq!(bytes, [1; 4096]);
    let late_ns = server.serving.figures().unwrap().lateness.mean_service_ns;
    assert!(late_ns > 50e6 / 2.0, "its time is the device's: {late_ns}");
}

#[test]
fn a_worn_disk_takes_no_more_writes_and_gives_what_it_has() {
    let server = faulty(&["read-only@after-1MiB"]);
    let mut client = Client::connect(&server.socket).unwrap();
    client.write(0, &[1; MIB], 0).unwrap();
    for length in [512, MIB] {
        assert_eq!(error(client.write(0, &vec![2; length], 0)), EPERM);
    }
    assert_eq!(error(client.zero(TRIM, 0, 4096)), EPERM);
    client.flush().unwrap();
    assert_eq!(client.read(0, MIB).unwrap(), vec![1; MIB]);
    assert_eq!(figures(&server), [("read-only@after-1MiB".to_owned(), 3, false)]);
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let server = faulty(&[]);
    for words in ["melts", "error@2GiB+4k", "read-only@export-1"] {
        assert_eq!(set(&server, Some(words)).unwrap_err().kind(), ErrorKind::Usage, "{words}");
    }
    assert_eq!(figures(&server), []);
    Client::connect(&server.socket).unwrap().write(0, &[1; 512], 0).unwrap();
}
