//! Distributes points among several ranks: each rank computes every n-th point, and rank 0 receives
//! all results.

use crate::handle::RunHandle;
use kurabe_core::{ErrorKind, Result, text};
use kurabe_ranks::Communicator;
use kurabe_study::{AnswerListener, PointAnswers};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Time without a message after which rank 0 computes the points of a rank itself.
const PATIENCE: Duration = Duration::from_secs(60);
/// Interval of the messages that a rank sends while it computes. `TICK` is the interval at which it
/// checks whether to end.
const SIGN: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(20);

/// Messages from a rank to rank 0 about its points.
#[derive(Serialize, Deserialize)]
enum PointMessage<T> {
    /// The rank is still working.
    Alive,
    /// Result of a point, by its index. A failed point is not sent, because rank 0 computes it
    /// again.
    Answer(usize, Box<T>),
    /// The rank has no more points.
    Over,
}

/// Lets each rank compute its share of `count` points with `compute`, which receives their indices.
/// Rank 0 gets the results that arrived, and has to compute the missing ones. Other ranks get
/// `None`.
///
/// # Errors
/// When messages cannot be sent or received.
pub(crate) fn share<T: Serialize + DeserializeOwned>(
    count: usize,
    communicator: &dyn Communicator,
    handle: &RunHandle,
    compute: impl FnOnce(&[usize], AnswerListener<'_, T>) -> Result<()>,
) -> Result<Option<PointAnswers<T>>> {
    let (rank, size) = (communicator.rank() as usize, communicator.size() as usize);
    let mut gathering = Gathering {
        communicator,
        answers: (0..count).map(|_| None).collect(),
        heard_ns: vec![communicator.now_ns(); size],
        is_over: vec![false; size],
        sent_ns: 0,
    };
    let own: Vec<usize> = (rank..count).step_by(size.max(1)).collect();
    compute(&own, &mut |answer| if rank == 0 { gathering.take(answer) } else { gathering.tell(answer) })?;
    if rank > 0 {
        gathering.send(&PointMessage::Over)?;
        return Ok(None);
    }
    gathering.is_over[0] = true;
    while !handle.is_stopped() && gathering.awaits_any() {
        gathering.listen(TICK)?;
    }
    Ok(Some(gathering.answers))
}

/// Collects the results at rank 0.
struct Gathering<'a, T> {
    communicator: &'a dyn Communicator,
    answers: PointAnswers<T>,
    /// When rank 0 last received a message from each rank.
    heard_ns: Vec<u64>,
    is_over: Vec<bool>,
    /// When this rank last sent a message.
    sent_ns: u64,
}

impl<T: Serialize + DeserializeOwned> Gathering<'_, T> {
    fn send(&mut self, message: &PointMessage<T>) -> Result<()> {
        self.sent_ns = self.communicator.now_ns();
        let bytes = serde_json::to_vec(message).map_err(|error| {
            ErrorKind::Internal.error(text!("cannot write a message", "通知を書けません")).because(error)
        })?;
        self.communicator.send(0, bytes)
    }

    /// Sends a result to rank 0, or occasionally a message that this rank is working.
    fn tell(&mut self, answer: Option<(usize, Result<T>)>) -> Result<()> {
        match answer {
            Some((place, Ok(measured))) => self.send(&PointMessage::Answer(place, Box::new(measured))),
            _ if self.communicator.now_ns() - self.sent_ns < SIGN.as_nanos() as u64 => Ok(()),
            _ => self.send(&PointMessage::Alive),
        }
    }

    /// Takes a result of this rank, and the messages that others have sent.
    fn take(&mut self, answer: Option<(usize, Result<T>)>) -> Result<()> {
        if let Some((place, answer)) = answer {
            self.answers[place] = Some(answer);
        }
        while self.listen(Duration::ZERO)? {}
        Ok(())
    }

    /// Receives a message, if there is one. Returns whether there was.
    fn listen(&mut self, limit: Duration) -> Result<bool> {
        let Some((from, bytes)) = self.communicator.receive(limit)? else { return Ok(false) };
        let from = from as usize;
        self.heard_ns[from] = self.communicator.now_ns();
        match serde_json::from_slice(&bytes) {
            Ok(PointMessage::Answer(place, measured)) => {
                if let Some(answer) = self.answers.get_mut(place) {
                    *answer = Some(Ok(*measured));
                }
            }
            Ok(PointMessage::Over) => self.is_over[from] = true,
            // Points in unreadable messages are computed here.
            Ok(PointMessage::Alive) | Err(_) => {}
        }
        Ok(true)
    }

    /// Returns whether any rank is still working. A silent rank is given up, and the end does not
    /// wait for it.
    fn awaits_any(&mut self) -> bool {
        let now_ns = self.communicator.now_ns();
        let silent = |heard_ns: &u64| now_ns.saturating_sub(*heard_ns) >= PATIENCE.as_nanos() as u64;
        for (is_over, heard_ns) in self.is_over.iter_mut().zip(&self.heard_ns) {
            if !*is_over && silent(heard_ns) {
                *is_over = true;
                self.communicator.give_up();
            }
        }
        self.is_over.contains(&false)
    }
}
