//! Behaviour of a server towards correct clients.

use crate::client::{Client, TRIM, WRITE_ZEROES, eventually, request, serve};
use kurabe_core::ErrorKind;
use kurabe_core::random::Random;
use kurabe_serve::{Address, ControlRequest, DataPlace, ServedFigures, Serving, ask_server, read_answer};
use kurabe_sim::load_device;
use std::path::PathBuf;

fn control_of(socket: &std::path::Path) -> PathBuf {
    PathBuf::from(format!("{}.control", socket.display()))
}

/// A served disk is an array, for requests of all sizes around the workers' limits, from several
/// connections.
#[test]
fn a_served_disk_is_an_array_whoever_asks() {
    let server = serve(|_| {});
    let mut clients: Vec<Client> = (0..4).map(|_| Client::connect(&server.socket).unwrap()).collect();
    let mut array = vec![0u8; 8 << 20];
    let mut random = Random::new(7, 0);
    for round in 0..400u64 {
        let client = &mut clients[round as usize % 4];
        let length = [512, 4096, 16 << 10, (16 << 10) + 512, 300_000, 1 << 20, 77][random.below(7) as usize];
        let offset = random.below((array.len() - length) as u64) as usize;
        match random.below(8) {
            0..3 => {
                assert!(client.read(offset as u64, length).unwrap() == array[offset..][..length], "{round}");
            }
            3..6 => {
                let bytes: Vec<u8> = (0..length).map(|at| (at as u64 * 31 + round) as u8).collect();
                client.write(offset as u64, &bytes, 0).unwrap();
                array[offset..][..length].copy_from_slice(&bytes);
            }
            6 => {
                let command = if round % 2 == 0 { TRIM } else { WRITE_ZEROES };
                client.zero(command, offset as u64, length as u32).unwrap();
                array[offset..][..length].fill(0);
            }
            _ => client.flush().unwrap(),
        }
    }
    assert!(clients[0].read(0, array.len()).unwrap() == array);
    let figures = server.serving.figures().unwrap();
    assert_eq!((figures.clients, figures.connections, figures.errors), (4, 4, 0));
    assert_eq!(figures.lateness.answers, figures.reads + figures.writes + figures.flushes + figures.trims);
    assert_eq!(figures.lateness.answers, 401);
}

/// No answer comes before it is due in the model. Each read of 4 KiB takes 2 ms here, and reads
/// queue at depth 8.
#[test]
fn no_answer_comes_before_its_time() {
    let server = serve(|request| request.spec.set("memory.access", "2ms").unwrap());
    let mut client = Client::connect(&server.socket).unwrap();
    let start = std::time::Instant::now();
    for at in 0..10 {
        client.read(at << 12, 4096).unwrap();
    }
    let passed_ns = start.elapsed().as_nanos();
    assert!(passed_ns >= 10 * 2_000_000, "{passed_ns}");
    let figures = server.serving.figures().unwrap();
    let mean_ns = figures.lateness.mean_service_ns;
    assert!((2_000_000.0..2_100_000.0).contains(&mean_ns), "{mean_ns}");
}

/// Arrivals are stamped earlier by the round trip, but an answer cannot come before its request.
#[test]
fn a_round_trip_longer_than_the_model_makes_answers_immediate() {
    let server = serve(|request| {
        request.spec.set("memory.access", "2ms").unwrap();
        request.settings.round_trip_ns = Some(50_000_000);
    });
    let mut client = Client::connect(&server.socket).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    client.read(0, 4096).unwrap();
    // It was due 48 ms before it arrived.
    let figures = server.serving.figures().unwrap();
    assert!(figures.lateness.max_ns >= 45_000_000, "{figures:?}");
    assert_eq!(figures.round_trip_ns, 50_000_000);
    drop(server);
    let measured = serve(|request| request.settings.round_trip_ns = None);
    assert!(measured.serving.figures().unwrap().round_trip_ns > 0);
    // The request was by kurabe's own client, which is not counted.
    assert_eq!(measured.serving.figures().unwrap().connections, 0);
}

/// More requests than the limit are accepted as soon as there is room.
#[test]
fn requests_beyond_the_limit_are_answered_in_their_turn() {
    let server = serve(|_| {});
    let mut client = Client::connect(&server.socket).unwrap();
    let requests: Vec<u8> = (0..2300u64)
        .flat_map(|cookie| {
            let (magic, length) = (0x2560_9513_0000_0003_u64.to_be_bytes(), [0; 4]);
            [&magic[..], &cookie.to_be_bytes(), &[0; 8], &length].concat()
        })
        .collect();
    std::io::Write::write_all(&mut client.stream, &requests).unwrap();
    for _ in 0..2300 {
        assert_eq!(client.reply().unwrap().1, 0);
    }
}

#[test]
fn several_exports_are_several_disks_of_one_stack() {
    let server = serve(|request| {
        request.spec = load_device("mirror3-usb").unwrap();
        ["zfs", "mirror"].iter().for_each(|name| request.spec.remove_layer(name).unwrap());
        request.settings.exports = 3;
    });
    let mut disks: Vec<Client> =
        ["0", "1", "2"].iter().map(|name| Client::of_export(&server.socket, name).unwrap()).collect();
    for (place, disk) in disks.iter_mut().enumerate() {
        disk.write(4096, &[place as u8 + 1; 4096], 0).unwrap();
    }
    for (place, disk) in disks.iter_mut().enumerate() {
        assert_eq!(disk.read(4096, 4096).unwrap(), vec![place as u8 + 1; 4096]);
    }
    // The first has the empty name, and there is no fourth.
    assert_eq!(Client::connect(&server.socket).unwrap().read(4096, 1).unwrap(), [1]);
    assert!(Client::of_export(&server.socket, "3").is_err());
}

#[test]
fn a_stack_has_no_more_exports_than_its_top_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s.sock");
    for exports in [0, 2] {
        let mut request = request("mirror3-usb", &socket);
        request.settings.exports = exports;
        assert_eq!(Serving::start(&request).err().unwrap().kind(), ErrorKind::Usage);
    }
    assert!(!socket.exists());
}

/// A disk without trim does not offer it, and zeroes are not offered as fast where the disk writes
/// them as data.
#[test]
fn what_a_device_has_no_command_for_is_not_offered() {
    const SEND_TRIM: u16 = 1 << 5;
    const FAST_ZERO: u16 = 1 << 4;
    for (model, has_trim) in [("hitachi-hds721616plat80", false), ("samsung-870-evo", true)] {
        let server = serve(|request| request.spec = load_device(model).unwrap());
        let mut client = Client::connect(&server.socket).unwrap();
        assert_eq!(client.flags & SEND_TRIM != 0, has_trim, "{model}");
        assert_eq!(client.zero(TRIM, 0, 4096).is_ok(), has_trim, "{model}");
        let cookie = client.send(WRITE_ZEROES, FAST_ZERO, 0, 4096, &[]).unwrap();
        assert_eq!(client.reply().unwrap(), (cookie, if has_trim { 0 } else { 95 }), "{model}");
        client.zero(WRITE_ZEROES, 0, 4096).unwrap();
        let figures = server.serving.figures().unwrap();
        assert_eq!(
            (figures.trims, figures.writes),
            (u64::from(has_trim), 1 + u64::from(has_trim)),
            "{model}"
        );
        assert_eq!(server.serving.facts().trim_ns.is_some(), has_trim, "{model}");
    }
}

/// The clients' depth and rate are computed from the last answers, next to the model's.
#[test]
fn a_client_is_told_what_it_kept_and_got_beside_the_model() {
    let server = serve(|request| request.spec.set("memory.access", "1ms").unwrap());
    let figures = || -> ServedFigures {
        read_answer(ask_server(&control_of(&server.socket), &ControlRequest::Stats).unwrap()).unwrap()
    };
    let mut client = Client::connect(&server.socket).unwrap();
    let mut read = |at: u64| client.read(at << 12, 4096).unwrap();
    (0..8).for_each(|at| drop(read(at)));
    assert_eq!(figures().client, None, "too few to tell");
    (8..80).for_each(|at| drop(read(at)));
    let figures = figures();
    let kept = figures.client.unwrap();
    assert_eq!(kept.answers, 79);
    // One at a time, each taking 1 ms and its transfer, is the highest possible rate.
    assert!((990.0..1000.1).contains(&kept.model_rate_per_s), "{kept:?}");
    assert!(kept.rate_per_s <= kept.model_rate_per_s && kept.depth <= 1.000_001, "{kept:?}");
    let slowdown = figures.lateness.slowdown.unwrap();
    assert!(slowdown.mean >= 1.0 && slowdown.p50 <= slowdown.p99, "{slowdown:?}");
    // According to Little's law, and with the same answers.
    let mean_real_ns = kept.depth * 1e9 / kept.rate_per_s;
    assert!(mean_real_ns >= figures.lateness.mean_service_ns - 1.0, "{figures:?}");
}

#[test]
fn the_sockets_are_gone_when_it_ends_whoever_is_connected() {
    let server = serve(|_| {});
    let mut client = Client::connect(&server.socket).unwrap();
    client.write(0, &[1; 4096], 0).unwrap();
    let control = control_of(&server.socket);
    assert!(control.exists());
    let mut serving = server.serving;
    serving.end();
    assert_eq!(serving.wait().unwrap().writes, 1);
    drop(serving);
    assert!(!server.socket.exists() && !control.exists());
    assert!(client.read(0, 1).is_err());
}

#[test]
fn a_file_keeps_what_was_written_and_an_image_stays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (path, image) = (folder.path().join("data"), folder.path().join("image"));
    for round in 0..2u8 {
        // A program started by another test inherits all descriptors for a moment.
        let is_free = |file: std::fs::File| kurabe_host::claims(&file, &path).unwrap().is_empty();
        eventually("the file is free", || std::fs::File::open(&path).map_or(round == 0, is_free));
        let server = serve(|request| request.data = DataPlace::File(path.clone()));
        let mut client = Client::connect(&server.socket).unwrap();
        assert_eq!(client.read(1 << 20, 4096).unwrap(), vec![round; 4096]);
        client.write(1 << 20, &[round + 1; 4096], 0).unwrap();
        client.flush().unwrap();
    }
    std::fs::write(&image, [9; 8192]).unwrap();
    let server = serve(|request| request.data = DataPlace::Over(image.clone()));
    let mut client = Client::connect(&server.socket).unwrap();
    client.write(4096, &[1; 8192], 0).unwrap();
    assert_eq!(client.read(0, 12288).unwrap(), [vec![9; 4096], vec![1; 8192]].concat());
    assert_eq!(std::fs::read(&image).unwrap(), [9; 8192]);
}

#[test]
fn a_port_is_served_as_a_socket_is() {
    let server = serve(|request| request.address = Address::Port(0));
    let uri = server.serving.facts().uri.as_deref();
    let port: u16 = uri.unwrap().rsplit(':').next().unwrap().parse().unwrap();
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut greeting = [0; 18];
    std::io::Read::read_exact(&mut stream, &mut greeting).unwrap();
    assert_eq!(&greeting[..8], b"NBDMAGIC");
    assert_eq!(server.serving.facts().control, None);
}

#[test]
fn a_stack_is_changed_while_it_is_served() {
    let server = serve(|request| {
        request.spec = load_device("mirror3-usb").unwrap();
        request.spec.set("disk.capacity", "1GB").unwrap_or_default();
    });
    let control = control_of(&server.socket);
    let ask = |request: ControlRequest| ask_server(&control, &request).map_err(|error| error.kind());
    let set = |parameter: &str, value: &str| {
        ask(ControlRequest::Set { parameter: parameter.to_owned(), value: value.to_owned() })
    };
    set("usb.command", "5ms").unwrap_or_default();
    assert_eq!(set("usb.generation", "usb-2").unwrap_err(), ErrorKind::Usage);
    assert_eq!(set("none.such", "1").unwrap_err(), ErrorKind::Usage);
    ask(ControlRequest::Offline { member: 2, layer: None }).unwrap();
    assert_eq!(ask(ControlRequest::Offline { member: 9, layer: None }).unwrap_err(), ErrorKind::Usage);
    assert_eq!(ask(ControlRequest::Cut).unwrap_err(), ErrorKind::Usage);
    let mut client = Client::connect(&server.socket).unwrap();
    client.write(0, &[1; 4096], 0).unwrap();
    eventually("figures", || ask(ControlRequest::Stats).unwrap()["writes"] == 1);
    drop(server);
    assert_eq!(ask(ControlRequest::Stats).unwrap_err(), ErrorKind::Target);
}
