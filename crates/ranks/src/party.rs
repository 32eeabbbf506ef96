//! A rank's view of the others for its session; the interface is the same for rank 0 and any other.

use crate::follower::Follower;
use crate::leader::Leader;
use crate::message::{Hello, RankFile, RankMessage};
use crate::{Communicator, PartPlan};
use kurabe_core::company::Company;
use kurabe_core::event::Event;
use kurabe_core::record::{RankLayout, RanksRecord, RunHeader};
use kurabe_core::workload::Workload;
use kurabe_core::{Error, ErrorKind, Result, text};
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// Interval at which a wait checks whether to end.
pub(crate) const TICK: Duration = Duration::from_millis(20);
/// Number of signs of life within the patience of a waiting rank.
const SIGNS: u32 = 6;

/// Rules by which ranks work together.
#[derive(Clone, Copy, Debug)]
pub struct PartyPlan {
    /// Whether ranks have separate files or share one.
    pub layout: RankLayout,
    /// Whether each rank reads the data of another.
    pub reorder: bool,
    /// Longest time without a sign of life until a rank is lost.
    pub patience: Duration,
}

/// A rank among others.
pub struct Party<'a> {
    pub(crate) line: RankLine<'a>,
    plan: PartyPlan,
    part: Cell<PartPlan>,
    role: RefCell<RankRole>,
}

enum RankRole {
    Leader(Leader),
    Follower(Follower),
}

/// Connection to the other ranks.
pub(crate) struct RankLine<'a> {
    pub(crate) communicator: &'a dyn Communicator,
    pub(crate) patience: Duration,
    is_stopped: &'a dyn Fn() -> bool,
    last_sign_ns: Cell<u64>,
}

impl RankLine<'_> {
    pub(crate) fn send(&self, to: u32, message: &RankMessage) -> Result<()> {
        self.communicator.send(to, message.to_bytes()?)
    }

    pub(crate) fn receive(&self) -> Result<Option<(u32, RankMessage)>> {
        let Some((from, bytes)) = self.communicator.receive(TICK)? else { return Ok(None) };
        Ok(Some((from, RankMessage::of(&bytes)?)))
    }

    /// Checks that the run was not stopped.
    ///
    /// # Errors
    /// `Interrupted` if the user stopped the run.
    pub(crate) fn check_stopped(&self) -> Result<()> {
        match (self.is_stopped)() {
            true => Err(ErrorKind::Interrupted.error(text!("stopped", "中断しました"))),
            false => Ok(()),
        }
    }

    /// Returns whether a sign of life is due.
    pub(crate) fn sign_is_due(&self) -> bool {
        let now_ns = self.communicator.now_ns();
        let is_due =
            now_ns.saturating_sub(self.last_sign_ns.get()) >= (self.patience / SIGNS).as_nanos() as u64;
        if is_due {
            self.last_sign_ns.set(now_ns);
        }
        is_due
    }
}

/// Returns whether an event shows that the storage of a rank responds.
pub(crate) fn is_sign(event: &Event) -> bool {
    match event {
        Event::Progress { interval, .. } => interval.operations() > 0,
        Event::FillProgress { .. } | Event::Preparing { .. } | Event::Pause { .. } => true,
        _ => false,
    }
}

impl<'a> Party<'a> {
    /// Creates the view of this process. `is_stopped` returns whether the user has stopped the run.
    pub fn new(
        communicator: &'a dyn Communicator,
        is_stopped: &'a dyn Fn() -> bool,
        plan: PartyPlan,
    ) -> Self {
        let (rank, size) = (communicator.rank(), communicator.size());
        let line = RankLine { communicator, patience: plan.patience, is_stopped, last_sign_ns: Cell::new(0) };
        let role = match rank {
            0 => RankRole::Leader(Leader::of(size)),
            _ => RankRole::Follower(Follower::default()),
        };
        let PartyPlan { layout, reorder, .. } = plan;
        let part = PartPlan { rank, size, layout, reorder, part_bytes: 0 };
        Self { line, plan, part: Cell::new(part), role: RefCell::new(role) }
    }

    /// Returns whether this is rank 0, whose record covers all ranks.
    pub fn leads(&self) -> bool {
        self.part.get().rank == 0
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> u32 {
        self.part.get().size
    }

    /// Returns the rules by which the ranks work together.
    pub fn plan(&self) -> &PartyPlan {
        &self.plan
    }

    /// Returns the file that all ranks share. Rank 0 has created it and sends it to the others.
    ///
    /// # Errors
    /// If rank 0 could not create it, or does not respond.
    pub fn common_file(&self, made: Option<RankFile>) -> Result<RankFile> {
        match (&mut *self.role.borrow_mut(), made) {
            (RankRole::Leader(_), Some((path, number))) => {
                let message = RankMessage::File(path.clone(), number);
                (1..self.size()).try_for_each(|rank| self.line.send(rank, &message))?;
                Ok((path, number))
            }
            (RankRole::Follower(follower), _) => follower.file(&self.line),
            (RankRole::Leader(_), None) => Err(ErrorKind::Internal
                .error(text!("the ranks have no file to share", "共有するファイルがありません"))),
        }
    }

    /// Reports that the target is open, and waits for the others.
    ///
    /// Returns the description of all ranks (on rank 0), and the file to read from if each rank
    /// reads the data of another and has created its own `file`.
    ///
    /// # Errors
    /// If the run is stopped, or rank 0 does not respond.
    pub fn greet(
        &self,
        header: &RunHeader,
        file: Option<RankFile>,
        part_bytes: u64,
    ) -> Result<(Option<RanksRecord>, Option<RankFile>)> {
        self.part.set(PartPlan { part_bytes, ..self.part.get() });
        let hello = Hello {
            host: self.line.communicator.host(),
            header: header.clone(),
            clock_offset_ns: 0,
            clock_bound_ns: 0,
            file,
        };
        let reads_others = self.plan.reorder && self.plan.layout == RankLayout::Own;
        match &mut *self.role.borrow_mut() {
            RankRole::Leader(leader) => {
                let (mut record, others) = leader.greet(&self.line, hello, reads_others)?;
                (record.layout, record.reorder) = (self.plan.layout, self.plan.reorder);
                Ok((Some(record), others))
            }
            RankRole::Follower(follower) => Ok((None, follower.greet(&self.line, hello, reads_others)?)),
        }
    }

    /// Processes an event of this rank's session, and returns the events for the local record
    /// instead.
    ///
    /// # Errors
    /// If the run is stopped, or a message cannot be sent.
    pub fn hear(&self, event: Event) -> Result<Vec<Event>> {
        match &mut *self.role.borrow_mut() {
            RankRole::Leader(leader) => leader.hear(&self.line, event),
            RankRole::Follower(follower) => follower.hear(&self.line, event).map(|event| vec![event]),
        }
    }

    /// Reports that this rank's session has ended.
    ///
    /// Rank 0 waits for the others, and returns the remaining events and the outcome of the whole
    /// run. Another rank waits for rank 0, and returns whether its own record may be removed.
    pub fn finish(&self, outcome: Result<()>) -> (Vec<Event>, Result<bool>) {
        match &mut *self.role.borrow_mut() {
            RankRole::Leader(leader) => {
                let (events, outcome) = leader.finish(&self.line, outcome);
                (events, outcome.map(|()| false))
            }
            RankRole::Follower(follower) => (Vec::new(), follower.finish(&self.line, outcome.as_ref())),
        }
    }

    /// Reports that this rank cannot take part, because of this error.
    pub fn decline(&self, error: &Error) {
        match &mut *self.role.borrow_mut() {
            RankRole::Leader(leader) => leader.dismiss(&self.line, false),
            RankRole::Follower(follower) => {
                // This rank has no record that could be kept.
                let _ = follower.finish(&self.line, Err(error));
            }
        }
    }

    /// Dismisses the other ranks. `kept` says whether their results are part of this rank's record.
    pub fn dismiss(&self, kept: bool) {
        if let RankRole::Leader(leader) = &mut *self.role.borrow_mut() {
            leader.dismiss(&self.line, kept);
        }
    }

    /// Returns whether a rank stopped responding. It may hang, and so would a process that waits
    /// for its end.
    pub fn has_silent(&self) -> bool {
        matches!(&*self.role.borrow(), RankRole::Leader(leader) if leader.has_silent())
    }
}

impl Company for Party<'_> {
    fn meet(&self, run_started_ns: u64) -> Result<u64> {
        match &mut *self.role.borrow_mut() {
            RankRole::Leader(leader) => leader.meet(&self.line, run_started_ns),
            RankRole::Follower(follower) => follower.meet(&self.line, run_started_ns),
        }
    }

    fn place(&self) -> (u32, u32) {
        (self.part.get().rank, self.size())
    }

    fn common_folder(&self, made: Option<RankFile>) -> Result<RankFile> {
        self.common_file(made)
    }

    fn part(&self, workload: Workload, is_cell: bool) -> Workload {
        self.part.get().of(workload, is_cell)
    }
}

impl Drop for Party<'_> {
    fn drop(&mut self) {
        // Ranks may wait for a run that never began.
        self.dismiss(false);
    }
}
