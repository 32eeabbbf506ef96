//! Servers that violate the protocol.

use super::super::failed;
use super::*;
use crate::SharedAddress;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream as Socket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

/// More than the buffers between two processes hold, and far less than these servers would send.
const MOST_SENT_BYTES: u64 = 24 << 20;
/// A test that takes longer hangs.
const HANGS: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_secs(1);
const PASSWORD: &str = "s3cret";

/// One end of a connection, which counts the bytes it sends.
struct Liar {
    socket: Socket,
    sent_bytes: Arc<AtomicU64>,
}

impl Liar {
    /// Sends bytes, and returns whether the client receives them.
    fn send(&mut self, bytes: &[u8]) -> bool {
        for part in bytes.chunks(4096) {
            if self.socket.write_all(part).is_err() {
                return false;
            }
            self.sent_bytes.fetch_add(part.len() as u64, Ordering::Relaxed);
        }
        true
    }

    fn send_endlessly(&mut self, bytes: &[u8]) {
        while self.send(bytes) {}
    }

    fn drip(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if !self.send(&[*byte]) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Sends nothing until the other end closes.
    fn be_silent(&mut self) {
        let mut bytes = [0; 4096];
        while self.socket.read(&mut bytes).is_ok_and(|count| count > 0) {}
    }

    /// Reads the startup message, and returns it without its length.
    fn startup(&mut self) -> Vec<u8> {
        let mut length = [0; 4];
        let _ = self.socket.read_exact(&mut length);
        let mut rest = vec![0; (u32::from_be_bytes(length) as usize).saturating_sub(4).min(9999)];
        let _ = self.socket.read_exact(&mut rest);
        rest
    }

    fn log_in(&mut self) {
        self.startup();
        self.send(&[message(b'R', &[0; 4]), message(b'K', &[1; 8]), message(b'Z', b"I")].concat());
    }

    /// Logs in, and waits for the first request.
    fn be_asked(&mut self) {
        self.log_in();
        let _ = self.socket.read(&mut [0; 4096]);
    }
}

fn message(letter: u8, contents: &[u8]) -> Vec<u8> {
    [&[letter][..], &(contents.len() as u32 + 4).to_be_bytes(), contents].concat()
}

fn error_message(text: &str) -> Vec<u8> {
    message(b'E', format!("SFATAL\0VFATAL\0C28P01\0M{text}\0\0").as_bytes())
}

/// Returns the outcome of a client that logs in to this server and sends a request, and the bytes
/// that the server sent.
fn met(options: &str, lie: impl FnOnce(&mut Liar) + Send + 'static) -> (kurabe_core::Result<()>, u64) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let words = format!("host=127.0.0.1 port={port} user=aki password={PASSWORD} {options}");
    let sent_bytes = Arc::new(AtomicU64::new(0));
    let count = sent_bytes.clone();
    std::thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        lie(&mut Liar { socket, sent_bytes: count });
    });
    let (answer, answered) = mpsc::channel();
    std::thread::spawn(move || {
        let address = DatabaseAddress::read(&SharedAddress::parse(&words).unwrap(), &|_| None).unwrap();
        let ask = || {
            let session = DatabaseSession::open(&address)?;
            session.set_patience(Some(SHORT));
            // Longer than the data that is accepted before the other end reads.
            let question = "x".repeat(16 << 20);
            session.execute("SELECT $1::text", &[&question])
        };
        let _ = answer.send(ask().map_err(|failure| failed(&address, failure)));
    });
    let outcome = answered.recv_timeout(HANGS).expect("the client comes back");
    (outcome, sent_bytes.load(Ordering::Relaxed))
}

/// Checks that a server is refused within the limits, for this reason.
fn refuses(name: &str, options: &str, reason: &str, lie: impl FnOnce(&mut Liar) + Send + 'static) {
    let (outcome, sent_bytes) = met(&format!("connect_timeout=1 {options}"), lie);
    let error = format!("{:?}", outcome.expect_err(name));
    assert!(error.contains(reason), "{name}: {error}");
    assert!(error.len() < 9999 && !error.contains(PASSWORD), "{name}: {error}");
    assert!(sent_bytes < MOST_SENT_BYTES, "{name}: took {sent_bytes} bytes");
}

#[test]
fn a_server_that_is_silent_is_not_waited_for() {
    let late = "did not answer within 1 s";
    refuses("before TLS", "", late, Liar::be_silent);
    refuses("before the login", "sslmode=disable", late, Liar::be_silent);
    refuses("in TLS", "", late, |server| {
        server.startup();
        server.send(b"S");
        server.be_silent();
    });
    refuses("in the login", "", late, |server| {
        server.startup();
        server.send(b"N");
        server.startup();
        server.be_silent();
    });
    refuses("after the login", "sslmode=disable", late, |server| {
        server.be_asked();
        server.be_silent();
    });
    refuses("without reading", "sslmode=disable", late, |server| {
        server.log_in();
        std::thread::sleep(HANGS);
    });
}

#[test]
fn a_server_that_sends_a_byte_now_and_then_is_not_waited_for() {
    let notice = message(b'N', &[b"SNOTICE\0VNOTICE\0C00000\0M", &[b'x'; 999][..], b"\0\0"].concat());
    let late = "did not answer within 1 s";
    let slow = notice.clone();
    refuses("in the login", "sslmode=disable", late, move |server| {
        server.startup();
        server.send(&message(b'R', &[0; 4]));
        server.drip(&slow);
    });
    refuses("after the login", "sslmode=disable", late, move |server| {
        server.be_asked();
        server.drip(&notice);
    });
}

#[test]
fn a_server_that_does_not_stop_is_stopped() {
    let notice = message(b'N', b"SNOTICE\0VNOTICE\0C00000\0Mx\0\0");
    for (name, endless) in [
        ("notices", notice),
        ("settings", message(b'S', b"name\0value\0")),
        ("notifications", message(b'A', b"\0\0\0\x01a\0b\0")),
        ("ends of statements", message(b'C', b"SELECT 1\0")),
    ] {
        let again = endless.repeat(100);
        if name == "notices" || name == "settings" {
            let again = again.clone();
            refuses(name, "sslmode=disable", "notices and settings", move |server| {
                server.startup();
                server.send(&message(b'R', &[0; 4]));
                server.send_endlessly(&again);
            });
        }
        refuses(name, "sslmode=disable", "cannot use", move |server| {
            server.be_asked();
            server.send_endlessly(&again);
        });
    }
}

#[test]
fn a_message_without_measure_is_refused_by_its_length() {
    let huge = |letter: u8, length: u32| [&[letter][..], &length.to_be_bytes()].concat();
    for (letter, length) in
        [(b'D', i32::MAX as u32), (b'E', 8 << 20), (b'S', 1 << 20), (b'R', 1 << 30), (b'T', 1 << 30)]
    {
        refuses("in the login", "sslmode=disable", "limit for this kind", move |server| {
            server.startup();
            server.send(&huge(letter, length));
            server.send_endlessly(&[b'x'; 4096]);
        });
        refuses("after the login", "sslmode=disable", "limit for this kind", move |server| {
            server.be_asked();
            server.send(&huge(letter, length));
            server.send_endlessly(&[b'x'; 4096]);
        });
    }
}

#[test]
fn what_is_not_a_server_of_postgresql_is_said_to_be_none() {
    for garbage in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        &[0; 64],
        &[0xff; 64],
        b"R\0\0\0\x03",
        b"E\0\0\0\x09\0\0\0\0\0",
    ] {
        refuses("in the login", "sslmode=disable", "cannot use", move |server| {
            server.startup();
            server.send(garbage);
            server.be_silent();
        });
        refuses("after the login", "sslmode=disable", "cannot use", move |server| {
            server.be_asked();
            server.send(garbage);
            server.be_silent();
        });
        refuses("before TLS", "", "cannot use", move |server| {
            server.startup();
            server.send(garbage);
            server.be_silent();
        });
        refuses("in TLS", "", "cannot use", move |server| {
            server.startup();
            server.send(b"S");
            server.send(garbage);
            server.be_silent();
        });
    }
}

#[test]
fn an_answer_about_tls_is_yes_or_no() {
    let speak = "does not use the PostgreSQL protocol";
    refuses("an error", "", speak, |server| {
        server.startup();
        server.send(b"E");
        server.be_silent();
    });
    refuses("no, where it must be", "sslmode=require", "does not support TLS", |server| {
        server.startup();
        server.send(b"N");
        server.be_silent();
    });
}

#[test]
fn a_server_that_closes_in_the_middle_is_an_error() {
    let cut: [fn(&mut Liar); 6] = [
        |_| (),
        |server| drop(server.startup()),
        |server| {
            server.startup();
            server.send(b"S");
        },
        |server| {
            server.startup();
            server.send(b"N");
            server.log_in();
        },
        |server| {
            server.startup();
            server.send(b"N");
            server.startup();
            server.send(&message(b'R', &[0; 4])[..7]);
        },
        |server| {
            server.startup();
            server.send(b"N");
            server.be_asked();
            server.send(&message(b'1', b"")[..3]);
        },
    ];
    for (place, cut) in cut.into_iter().enumerate() {
        refuses(&format!("cut {place}"), "", "cannot use", cut);
    }
}

#[test]
fn a_login_costs_neither_years_nor_the_password() {
    refuses("hashing", "sslmode=disable", "rounds of hashing", |server| {
        server.startup();
        server.send(&message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0"));
        let mut bytes = [0; 4096];
        let count = server.socket.read(&mut bytes).unwrap();
        let first = String::from_utf8_lossy(&bytes[..count]).into_owned();
        let nonce = first.split("r=").nth(1).unwrap().to_owned();
        let challenge = format!("\0\0\0\x0br={nonce}x,s=c2FsdA==,i=2000000000");
        server.send(&message(b'R', challenge.as_bytes()));
        server.be_silent();
    });
    refuses("an echo", "sslmode=disable", "you are …, not", |server| {
        server.startup();
        server.send(&message(b'R', &[0, 0, 0, 3]));
        let mut bytes = [0; 4096];
        let count = server.socket.read(&mut bytes).unwrap();
        let password = String::from_utf8_lossy(&bytes[5..count - 1]).into_owned();
        server.send(&error_message(&format!("you are {password}, not {}", "x".repeat(9999))));
        server.be_silent();
    });
}
