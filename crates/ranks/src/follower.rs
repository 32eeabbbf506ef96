//! A rank other than 0: it reports its events to rank 0, and begins repetitions when rank 0 says
//! so.

use crate::clock::{ClockOffset, fastest};
use crate::message::{Hello, RankFile, RankMessage, told_of};
use crate::party::{RankLine, is_sign};
use kurabe_core::event::Event;
use kurabe_core::{Error, ErrorKind, Result, text};

/// Number of round trips, of which the fastest determines the clock offset.
const TRIPS: u32 = 64;
/// Time after which the clocks are compared again. Quartz clocks that differ by 50 ppm drift apart
/// by 0.5 ms in this time.
const STALE_NS: u64 = 10_000_000_000;

/// State of a rank other than 0.
#[derive(Default)]
pub(crate) struct Follower {
    clock: ClockOffset,
    compared_ns: u64,
    run_started_ns: u64,
    /// Whether rank 0 has dismissed this one, and whether it stores the results that were sent.
    dismissed: Option<bool>,
}

impl Follower {
    /// Waits for a message of rank 0 for which `is_it` returns a value.
    fn wait<T>(
        &mut self,
        line: &RankLine<'_>,
        stops: bool,
        is_it: impl Fn(&RankMessage) -> Option<T>,
    ) -> Result<Option<T>> {
        let mut heard_ns = line.communicator.now_ns();
        loop {
            if stops {
                line.check_stopped()?;
            }
            match line.receive()? {
                Some((0, RankMessage::Over(kept))) => {
                    self.dismissed = Some(kept);
                    return Ok(None);
                }
                Some((0, message)) => {
                    if let Some(it) = is_it(&message) {
                        return Ok(Some(it));
                    }
                    heard_ns = line.communicator.now_ns();
                }
                _ => {}
            }
            if line.communicator.now_ns().saturating_sub(heard_ns) >= line.patience.as_nanos() as u64 {
                return Err(leader_lost());
            }
        }
    }

    fn wait_or_end<T>(
        &mut self,
        line: &RankLine<'_>,
        is_it: impl Fn(&RankMessage) -> Option<T>,
    ) -> Result<T> {
        self.wait(line, true, is_it)?.ok_or_else(|| {
            ErrorKind::Interrupted.error(text!("rank 0 has ended the run", "ランク 0 が測定を終了しました"))
        })
    }

    fn compare_clocks(&mut self, line: &RankLine<'_>) -> Result<()> {
        let now_ns = line.communicator.now_ns();
        if self.compared_ns > 0 && now_ns.saturating_sub(self.compared_ns) < STALE_NS {
            return Ok(());
        }
        let mut trips = Vec::new();
        for _ in 0..TRIPS {
            let sent_ns = line.communicator.now_ns();
            line.send(0, &RankMessage::Ping)?;
            let pong =
                |message: &RankMessage| if let RankMessage::Pong(ns) = message { Some(*ns) } else { None };
            let other_ns = self.wait_or_end(line, pong)?;
            trips.push((sent_ns, other_ns, line.communicator.now_ns()));
        }
        self.clock = fastest(trips).unwrap_or_default();
        self.compared_ns = now_ns;
        Ok(())
    }

    pub(crate) fn file(&mut self, line: &RankLine<'_>) -> Result<RankFile> {
        self.wait_or_end(line, |message| match message {
            RankMessage::File(path, number) => Some((path.clone(), *number)),
            _ => None,
        })
    }

    pub(crate) fn greet(
        &mut self,
        line: &RankLine<'_>,
        hello: Hello,
        reads_others: bool,
    ) -> Result<Option<RankFile>> {
        self.compare_clocks(line)?;
        let ClockOffset { offset_ns, bound_ns } = self.clock;
        let hello = Hello { clock_offset_ns: offset_ns, clock_bound_ns: bound_ns, ..hello };
        line.send(0, &RankMessage::Hello(Box::new(hello)))?;
        if reads_others { self.file(line).map(Some) } else { Ok(None) }
    }

    pub(crate) fn meet(&mut self, line: &RankLine<'_>, run_started_ns: u64) -> Result<u64> {
        self.run_started_ns = run_started_ns;
        self.compare_clocks(line)?;
        line.send(0, &RankMessage::Ready)?;
        let begin =
            |message: &RankMessage| if let RankMessage::Begin(ns) = message { Some(*ns) } else { None };
        let begin_ns = self.wait_or_end(line, begin)?;
        Ok(self.clock.to_own(begin_ns))
    }

    pub(crate) fn hear(&mut self, line: &RankLine<'_>, event: Event) -> Result<Event> {
        match &event {
            Event::RepetitionDone { cell_index, repetition } => {
                let begun_ns = self.clock.to_other(self.run_started_ns.saturating_add(repetition.started_ns));
                line.send(0, &RankMessage::Done(*cell_index, begun_ns, repetition.clone()))?;
            }
            Event::CellBegun { .. } | Event::CellDone { .. } | Event::Notice { .. } => {
                line.send(0, &RankMessage::Told(Box::new(event.clone())))?;
            }
            other if is_sign(other) && line.sign_is_due() => line.send(0, &RankMessage::Alive)?,
            _ => {}
        }
        Ok(event)
    }

    pub(crate) fn finish(&mut self, line: &RankLine<'_>, outcome: Result<&(), &Error>) -> Result<bool> {
        if let Some(kept) = self.dismissed {
            return Ok(kept);
        }
        line.send(0, &RankMessage::Ended(outcome.err().map(told_of), line.communicator.host()))?;
        // The error that stopped this rank may or may not stop rank 0. It is reported in any case.
        Ok(self.wait(line, false, |_| None::<()>)?.is_none() && self.dismissed == Some(true))
    }
}

fn leader_lost() -> Error {
    ErrorKind::RankLost.error(text!("rank 0 no longer responds", "ランク 0 から応答がありません")).remedy(
        text!(
            "the results of this rank are in a separate store next to that of rank 0",
            "ここで測定した結果は、ランク 0 の保存先の隣にある個別の保存先に残っています"
        ),
    )
}
