//! Points that several ranks compute: each every n-th, and rank 0 hears of all.

use crate::handle::RunHandle;
use kurabe_core::{ErrorKind, Result, text};
use kurabe_ranks::Communicator;
use kurabe_study::{AnswerListener, PointAnswers};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long a rank may give no sign until rank 0 computes its points.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two signs, and between two looks whether it is to end.
const SIGN: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(20);

/// What a rank tells rank 0 of the points that it computes.
#[derive(Serialize, Deserialize)]
enum PointMessage<T> {
    /// It is at work.
    Alive,
    /// A point by its number came to this. One that failed is not told: rank 0 sees for itself.
    Answer(usize, Box<T>),
    /// It has none any more.
    Over,
}

/// Has each rank compute its part of so many points, by `compute`, which is given their places. Rank 0 is given what they came to, as
/// far as it is told: what is missing is for it to compute. Nothing for the other ranks.
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

/// Answers on their way to rank 0.
struct Gathering<'a, T> {
    communicator: &'a dyn Communicator,
    answers: PointAnswers<T>,
    /// When each rank was last heard of.
    heard_ns: Vec<u64>,
    is_over: Vec<bool>,
    /// When this one gave a sign.
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

    /// Tells rank 0 an answer, or from time to time that this one is at work.
    fn tell(&mut self, answer: Option<(usize, Result<T>)>) -> Result<()> {
        match answer {
            Some((place, Ok(measured))) => self.send(&PointMessage::Answer(place, Box::new(measured))),
            _ if self.communicator.now_ns() - self.sent_ns < SIGN.as_nanos() as u64 => Ok(()),
            _ => self.send(&PointMessage::Alive),
        }
    }

    /// Takes an answer of this rank, and what others have sent meanwhile.
    fn take(&mut self, answer: Option<(usize, Result<T>)>) -> Result<()> {
        if let Some((place, answer)) = answer {
            self.answers[place] = Some(answer);
        }
        while self.listen(Duration::ZERO)? {}
        Ok(())
    }

    /// Takes a message, if there is one.
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
            // What cannot be read is computed here.
            Ok(PointMessage::Alive) | Err(_) => {}
        }
        Ok(true)
    }

    /// Whether some rank is still at work. Of one that gives no sign nothing is awaited, the end of all neither.
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
