//! Seats for connections: so many at a time, and who keeps others waiting goes first.
//!
//! The model: a connection has a seat, and where there is none, the next one waits for it. Then those get up that are waited for
//! too long themselves: for a request, for its body, or until they have read an answer. Who is being answered stays, and so does a
//! browser that was let in.

use crate::shared::locked;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Connections at a time: several windows, each with six as browsers open them.
const MOST_CONNECTIONS: usize = 64;
/// How long a guest is waited for while others wait for a seat.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long somebody waits before it is looked whose seat he may have.
const LOOK: Duration = Duration::from_millis(50);

/// What there is of them, and who has them.
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

/// What becomes of a guest where others wait.
#[derive(Clone, Copy)]
pub(crate) enum GuestState {
    /// Since then the client is waited for.
    WaitedFor(Instant),
    /// A whole request is there, and an answer is made.
    Answered,
    /// Its browser was let in.
    Resident,
}

impl Seats {
    pub(crate) fn new() -> Self {
        Self { free: Arc::new(Semaphore::new(MOST_CONNECTIONS)), guests: Mutex::default() }
    }

    /// A seat, once there is one; none when there will be none any more.
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
    /// Another state, which a resident does not get into.
    pub(crate) fn change(&self, state: GuestState) {
        let mut own = locked(&self.state);
        if !matches!(*own, GuestState::Resident) {
            *own = state;
        }
    }

    /// Waits until others need its seat.
    pub(crate) async fn leaves(&self) {
        self.leave.notified().await;
    }
}
