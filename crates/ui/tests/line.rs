//! A proxy between browser and server whose connections can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// A port that forwards to another one. Requests that name this port are changed to name the other,
/// because the server accepts only its own name.
pub struct Line {
    port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    is_cut: bool,
    is_over: bool,
    open: Vec<TcpStream>,
}

impl Line {
    pub fn to(server_port: u16) -> Self {
        // A port number with another length would change the length of the requests.
        let listener = std::iter::repeat_with(|| TcpListener::bind(("127.0.0.1", 0)).expect("a port"))
            .take(100)
            .find(|listener| digits(port_of(listener)) == digits(server_port))
            .expect("a port of as many digits");
        let port = port_of(&listener);
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for browser in listener.incoming().map_while(Result::ok) {
                let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
                if state.is_over {
                    return;
                }
                if state.is_cut {
                    continue;
                }
                let server = TcpStream::connect(("127.0.0.1", server_port)).expect("the server");
                let names = [port, server_port].map(|port| format!("127.0.0.1:{port}"));
                join(&browser, &server, move |bytes| renamed(bytes, &names));
                join(&server, &browser, |_| {});
                state.open.extend([browser, server]);
            }
        });
        Self { port, state }
    }

    /// Returns the host for the browser.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Closes all connections and accepts no new ones.
    pub fn cut(&self) {
        self.change(|state| state.is_cut = true);
    }

    /// Accepts connections again.
    pub fn mend(&self) {
        self.change(|state| state.is_cut = false);
    }

    fn change(&self, change: impl Fn(&mut State)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        for stream in state.open.drain(..) {
            // The connection may be closed already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.change(|state| state.is_over = true);
        // Wakes the accepting thread.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn port_of(listener: &TcpListener) -> u16 {
    listener.local_addr().expect("an address").port()
}

fn digits(port: u16) -> usize {
    port.to_string().len()
}

/// Copies bytes until one side closes.
fn join(from: &TcpStream, to: &TcpStream, change: impl Fn(&mut [u8]) + Send + 'static) {
    let (mut from, mut to) = (from.try_clone().expect("a handle"), to.try_clone().expect("a handle"));
    std::thread::spawn(move || {
        let mut part = [0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut part) {
            change(&mut part[..count]);
            if to.write_all(&part[..count]).is_err() {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    });
}

/// Replaces one name by another. A request's head arrives in one piece here.
fn renamed(bytes: &mut [u8], [own, other]: &[String; 2]) {
    let mut at = 0;
    while let Some(place) = bytes[at..].windows(own.len()).position(|window| window == own.as_bytes()) {
        at += place;
        bytes[at..at + own.len()].copy_from_slice(other.as_bytes());
    }
}
