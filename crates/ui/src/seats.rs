//! Limit on concurrent connections: idle clients give way to waiting ones.
//!
//! The model: each connection has a seat. If no seat is free, the next connection waits. The server
//! then closes connections whose client has been idle for too long: before a request, during its
//! body, or while reading the response. A connection whose request is being processed stays, and so
//! does a browser with a session.

use crate::shared::locked;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Maximum number of connections: several windows with six connections each, as browsers open them.
const MOST_CONNECTIONS: usize = 64;
/// How long a client may be idle while others wait for a seat.
const PATIENCE: Duration = Duration::from_secs(1);
/// Interval at which a waiting connection looks for a seat to take over.
const LOOK: Duration = Duration::from_millis(50);

/// The seats and their holders.
pub(crate) struct Seats {
    free: Arc<Semaphore>,
    guests: Mutex<Vec<Weak<Guest>>>,
}

/// A connection that has a seat.
pub(crate) struct Guest {
    _seat: OwnedSemaphorePermit,
    state: Mutex<GuestState>,
    leave: Notify,
}

/// State of a guest, which matters while other guests are waiting.
#[derive(Clone, Copy)]
pub(crate) enum GuestState {
    /// The server has been waiting for the client since then.
    WaitedFor(Instant),
    /// The whole request has arrived and is being processed.
    Answered,
    /// The browser has a session.
    Resident,
}

impl Seats {
    pub(crate) fn new() -> Self {
        Self { free: Arc::new(Semaphore::new(MOST_CONNECTIONS)), guests: Mutex::default() }
    }

    /// Waits for a seat. `None` if the server is closing.
    pub(crate) async fn seat(&self) -> Option<Arc<Guest>> {
        let seat = loop {
            match tokio::time::timeout(LOOK, Arc::clone(&self.free).acquire_owned()).await {
                Ok(seat) => break seat.ok()?,
                Err(_) => self.send_away(),
            }
        };
        let state = Mutex::new(GuestState::WaitedFor(Instant::now()));
        let guest = Arc::new(Guest { _seat: seat, state, leave: Notify::new() });
        let mut guests = locked(&self.guests);
        guests.retain(|guest| guest.strong_count() > 0);
        guests.push(Arc::downgrade(&guest));
        Some(guest)
    }

    fn send_away(&self) {
        for guest in locked(&self.guests).iter().filter_map(Weak::upgrade) {
            match *locked(&guest.state) {
                GuestState::WaitedFor(since) if since.elapsed() > PATIENCE => guest.leave.notify_one(),
                _ => {}
            }
        }
    }
}

impl Guest {
    /// Changes the state. A resident stays one.
    pub(crate) fn change(&self, state: GuestState) {
        let mut own = locked(&self.state);
        if !matches!(*own, GuestState::Resident) {
            *own = state;
        }
    }

    /// Waits until another connection needs the seat.
    pub(crate) async fn leaves(&self) {
        self.leave.notified().await;
    }
}
