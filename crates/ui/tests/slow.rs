//! Clients that send too much, too slowly or nothing at all, and bytes that are not valid requests.

use crate::client::{Answer, Served, wait_until};
use kurabe_ui::Patience;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Serves a page with short time limits.
fn impatient() -> Served {
    let limit = Duration::from_secs(1);
    Served::waiting(Patience { head: limit, body: limit, answer: Patience::default().answer })
}

/// Checks that the page responds as soon as a seat is free.
fn goes_on(page: &Served) {
    let request = page.get("/").bytes();
    wait_until("the door is shown", || page.say(&request).is_some_and(|answer| answer.status == 401));
}

#[test]
fn a_head_that_does_not_end_is_not_waited_for() {
    let page = impatient();
    for begun in ["", "G", "GET / HTTP/1.1\r\n", &format!("GET / HTTP/1.1\r\nHost: {}\r\nX: ", page.host())] {
        let mut stream = page.connect();
        stream.write_all(begun.as_bytes()).expect("written");
        let answer = Answer::read(&mut stream);
        assert!(
            answer.as_ref().is_none_or(|answer| (400..=499).contains(&answer.status)),
            "{begun:?}: {answer:?}"
        );
    }
    goes_on(&page);
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let page = impatient();
    let mut request = page.post("/session", "{\"word\":\"0\"}").bytes();
    request.truncate(request.len() - 1);
    let answer = page.say(&request).expect("an answer");
    assert_eq!(answer.status, 408, "{answer:?}");
    goes_on(&page);
}

#[test]
fn a_hundred_connections_do_not_keep_others_out() {
    let page = impatient();
    // They send nothing and stay connected as long as the server allows.
    let held: Vec<TcpStream> = (0..100).map(|_| page.connect()).collect();
    goes_on(&page);
    for mut stream in held {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty(), "{rest:?}");
    }
}

/// Clients with slow bodies lose their seats when others wait, before the time limit for bodies.
#[test]
fn slow_bodies_keep_nobody_out() {
    let page = Served::new();
    let cookie = page.enter(page.word());
    let mut begun = page.post("/session", "{\"word\":\"0\"}").bytes();
    begun.truncate(begun.len() - 1);
    let held: Vec<TcpStream> = (0..64)
        .map(|_| {
            let mut stream = page.connect();
            stream.write_all(&begun).expect("written");
            stream
        })
        .collect();
    let asked = Instant::now();
    assert_eq!(page.send(&page.get("/")).status, 401);
    assert_eq!(page.send(&page.get("/").with("Cookie", &cookie)).status, 200);
    assert!(asked.elapsed() < Patience::default().body, "{:?}", asked.elapsed());
    drop(held);
}

#[test]
fn who_was_let_in_keeps_his_place() {
    let page = Served::new();
    let cookie = page.enter(page.word());
    let mut resident = page.connect();
    let request = page.get("/").with("Cookie", &cookie).bytes();
    let kept = String::from_utf8(request).expect("words").replace("Connection: close\r\n", "");
    resident.write_all(kept.as_bytes()).expect("written");
    assert!(resident.read(&mut [0; 1 << 16]).expect("an answer") > 0);
    let strangers: Vec<TcpStream> = (0..64).map(|_| page.connect()).collect();
    // The seats of clients without a session are free by then.
    goes_on(&page);
    let request = page.get("/runs").with("Cookie", &cookie).bytes();
    resident.write_all(&request).expect("written");
    let mut rest = String::new();
    resident.read_to_string(&mut rest).expect("an answer");
    assert!(rest.contains("HTTP/1.1 200"), "{rest}");
    drop(strangers);
}

#[test]
fn a_thousand_requests_of_a_hundred_clients_are_answered() {
    let page = Served::new();
    let request = page.get("/").bytes();
    let lost: usize = std::thread::scope(|scope| {
        let ask = || (0..10).filter(|_| page.say(&request).is_none_or(|answer| answer.status != 401)).count();
        let clients: Vec<_> = (0..100).map(|_| scope.spawn(ask)).collect();
        clients.into_iter().map(|client| client.join().expect("a client")).sum()
    });
    assert_eq!(lost, 0);
}

#[test]
fn what_is_too_large_is_refused() {
    let page = impatient();
    let large = "x".repeat(1 << 20);
    let requests = [
        page.get("/").with("X-Large", &large).bytes(),
        page.get("/").with("Cookie", &large).bytes(),
        page.get(&format!("/{large}")).bytes(),
        page.get(&format!("/runs?q={}", &large[..60_000])).bytes(),
        page.post("/session", &large[..2_000]).bytes(),
        (0..2_000).fold(page.get("/"), |request, number| request.with(&format!("X-{number}"), "y")).bytes(),
    ];
    for request in requests {
        let answer = page.say(&request);
        let refused = |answer: &Answer| matches!(answer.status, 400 | 401 | 413 | 414 | 431);
        assert!(answer.as_ref().is_none_or(refused), "{answer:?}");
    }
    goes_on(&page);
}

#[test]
fn bytes_that_are_no_request_are_refused() {
    let page = impatient();
    let host = page.host();
    let head = format!("Host: {host}\r\nConnection: close\r\n");
    let post = format!(
        "POST /session HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Type: \
         application/json\r\nConnection: close\r\n"
    );
    let all: Vec<Vec<u8>> = vec![
        vec![0; 1000],
        vec![0xff; 1000],
        b"\r\n\r\n\r\n\r\n".to_vec(),
        // The first bytes of TLS and of HTTP/2.
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(),
        format!("GET / HTTP/9.9\r\n{head}\r\n").into_bytes(),
        format!("GET  /  HTTP/1.1\r\n{head}\r\n").into_bytes(),
        format!("GET / HTTP/1.1\r\n{head}X y: z\r\n\r\n").into_bytes(),
        format!("GET / HTTP/1.1\r\n{head}X: y\0z\r\n\r\n").into_bytes(),
        format!("GET / HTTP/1.1\r\n{head}X: y\r\n z\r\n\r\n").into_bytes(),
        format!("GET /\r\nSet-Cookie: a=b HTTP/1.1\r\n{head}\r\n").into_bytes(),
        format!("{post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}").into_bytes(),
        format!("{post}Content-Length: -2\r\n\r\n{{}}").into_bytes(),
        format!("{post}Content-Length: 99999999999999999999999\r\n\r\n{{}}").into_bytes(),
        format!("{post}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n").into_bytes(),
        format!("{post}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{{}}\r\n").into_bytes(),
        format!("{post}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{{}}\r\n0\r\n\r\nGET /runs HTTP/1.1\r\n{head}\r\n").into_bytes(),
    ];
    for bytes in all {
        let answer = page.say(&bytes);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
        assert!(
            answer.as_ref().is_none_or(|answer| (400..=499).contains(&answer.status)),
            "{shown:?}: {answer:?}"
        );
        assert!(
            answer.is_none_or(|answer| answer.body.matches("HTTP/1.1 ").count() == 0),
            "one request has one answer: {shown:?}"
        );
    }
    goes_on(&page);
}
