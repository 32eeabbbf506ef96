//! Work on file systems that may never respond.
//!
//! A thread that waits for storage cannot be cancelled. After the time limit it is abandoned, and a
//! flag tells it not to act on results that arrive later.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Whether the caller has stopped waiting for the work.
#[derive(Clone, Debug, Default)]
pub struct GivenUp(Arc<AtomicBool>);

impl GivenUp {
    /// Returns whether the work was abandoned.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Runs all tasks concurrently and waits for them for at most `limit` in total. Returns `None` for
/// each task without a result.
pub fn within<T: Send + 'static>(
    limit: Duration,
    works: Vec<impl FnOnce(&GivenUp) -> T + Send + 'static>,
) -> Vec<Option<T>> {
    let given_up = GivenUp::default();
    let started: Vec<Receiver<T>> = works
        .into_iter()
        .map(|work| {
            let (answer, answered) = mpsc::channel();
            let given_up = given_up.clone();
            // If no thread can be started, the sender is dropped with the task, and the receiver
            // does not wait.
            let _ = Builder::new().spawn(move || {
                // A result that arrives too late is ignored.
                let _ = answer.send(work(&given_up));
            });
            answered
        })
        .collect();
    let end = Instant::now() + limit;
    let answers = started
        .iter()
        .map(|answered| answered.recv_timeout(end.saturating_duration_since(Instant::now())).ok())
        .collect();
    given_up.0.store(true, Ordering::SeqCst);
    answers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_answers_is_heard_and_who_does_not_is_left_behind_with_a_flag() {
        type Work = Box<dyn FnOnce(&GivenUp) -> u32 + Send>;
        let (go, wait) = mpsc::channel::<()>();
        let (tell, flag) = mpsc::channel();
        let hangs: Work = Box::new(move |given_up| {
            let _ = wait.recv();
            let _ = tell.send(given_up.is_set());
            1
        });
        assert_eq!(within(Duration::from_millis(50), vec![hangs, Box::new(|_| 2)]), [None, Some(2)]);
        go.send(()).unwrap();
        assert!(flag.recv().unwrap(), "it learns that no thread waits any more");
    }
}
