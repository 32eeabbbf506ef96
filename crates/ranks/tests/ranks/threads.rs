//! Threads instead of processes, and channels instead of MPI.

use kurabe_core::{ErrorKind, Result, text};
use kurabe_ranks::{Communicator, Party, PartyPlan};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// A thread that acts as a rank.
pub struct Thread {
    rank: u32,
    begun: Instant,
    /// Lead of its clock, in ns.
    shift_ns: u64,
    senders: Vec<Sender<(u32, Vec<u8>)>>,
    receiver: Receiver<(u32, Vec<u8>)>,
}

impl Communicator for Thread {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.senders.len() as u32
    }

    fn host(&self) -> String {
        format!("host{}", self.rank / 2)
    }

    fn now_ns(&self) -> u64 {
        1_000_000_000 + self.begun.elapsed().as_nanos() as u64 + self.shift_ns
    }

    fn send(&self, to: u32, bytes: Vec<u8>) -> Result<()> {
        // A thread that has ended receives nothing.
        let _ = self.senders[to as usize].send((self.rank, bytes));
        Ok(())
    }

    fn receive(&self, limit: Duration) -> Result<Option<(u32, Vec<u8>)>> {
        match self.receiver.recv_timeout(limit) {
            Ok(message) => Ok(Some(message)),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => Ok(None),
            Err(_) => Err(ErrorKind::Internal.error(text!("no rank is left", "誰もいません"))),
        }
    }
}

/// Runs as many ranks as there are clock shifts, and returns their results in order.
pub fn ranks<T: Send>(
    shifts_ns: &[u64],
    patience: Duration,
    work: impl Fn(&Party<'_>, &Thread) -> T + Sync,
) -> Vec<T> {
    let (senders, receivers): (Vec<_>, Vec<_>) = shifts_ns.iter().map(|_| channel()).unzip();
    let begun = Instant::now();
    let threads: Vec<Thread> = (0..)
        .zip(receivers)
        .zip(shifts_ns)
        .map(|((rank, receiver), shift_ns)| Thread {
            rank,
            begun,
            shift_ns: *shift_ns,
            senders: senders.clone(),
            receiver,
        })
        .collect();
    let work = &work;
    std::thread::scope(|scope| {
        let running: Vec<_> = threads
            .into_iter()
            .map(|thread| {
                scope.spawn(move || {
                    let plan = PartyPlan { layout: Default::default(), reorder: false, patience };
                    let party = Party::new(&thread, &|| false, plan);
                    work(&party, &thread)
                })
            })
            .collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
