//! A rank among others, as whoever runs a session sees it: what it says is the same for rank 0 and for any other.

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

/// How often a wait looks whether it is to end.
pub(crate) const TICK: Duration = Duration::from_millis(20);
/// Signs of life within the patience of who waits for them.
const SIGNS: u32 = 6;

/// How ranks work together.
#[derive(Clone, Copy, Debug)]
pub struct PartyPlan {
    /// What file each works on.
    pub layout: RankLayout,
    /// Whether each reads what another one wrote.
    pub reorder: bool,
    /// How long a rank may give no sign until it is lost.
    pub patience: Duration,
}

/// A rank among others.
pub struct Party<'a> {
    pub(crate) line: RankLine<'a>,
    plan: PartyPlan,
    part: Cell<PartPlan>,
    role: RefCell<Role>,
}

enum Role {
    Leader(Leader),
    Follower(Follower),
}

/// The way to other ranks.
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

    /// # Errors
    /// When the user wants an end.
    pub(crate) fn check_stopped(&self) -> Result<()> {
        match (self.is_stopped)() {
            true => Err(ErrorKind::Interrupted.error(text!("stopped", "中断しました"))),
            false => Ok(()),
        }
    }

    /// Whether it is time to give a sign of life.
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

/// Whether an event tells that somebody's storage answers.
pub(crate) fn is_sign(event: &Event) -> bool {
    match event {
        Event::Progress { interval, .. } => interval.operations() > 0,
        Event::FillProgress { .. } | Event::Preparing { .. } | Event::Pause { .. } => true,
        _ => false,
    }
}

impl<'a> Party<'a> {
    /// This process among those that a communicator reaches. `is_stopped` tells whether the user wants an end.
    pub fn new(
        communicator: &'a dyn Communicator,
        is_stopped: &'a dyn Fn() -> bool,
        plan: PartyPlan,
    ) -> Self {
        let (rank, size) = (communicator.rank(), communicator.size());
        let line = RankLine { communicator, patience: plan.patience, is_stopped, last_sign_ns: Cell::new(0) };
        let role = match rank {
            0 => Role::Leader(Leader::of(size)),
            _ => Role::Follower(Follower::default()),
        };
        let PartyPlan { layout, reorder, .. } = plan;
        let part = PartPlan { rank, size, layout, reorder, part_bytes: 0 };
        Self { line, plan, part: Cell::new(part), role: RefCell::new(role) }
    }

    /// Whether this is rank 0, whose record is that of all.
    pub fn leads(&self) -> bool {
        self.part.get().rank == 0
    }

    /// All ranks.
    pub fn size(&self) -> u32 {
        self.part.get().size
    }

    /// How the ranks work together.
    pub fn plan(&self) -> &PartyPlan {
        &self.plan
    }

    /// The file in which all have a part. Rank 0 has made it and tells it; the others are told.
    ///
    /// # Errors
    /// When rank 0 could not make it, or gives no sign.
    pub fn common_file(&self, made: Option<RankFile>) -> Result<RankFile> {
        match (&mut *self.role.borrow_mut(), made) {
            (Role::Leader(_), Some((path, number))) => {
                let message = RankMessage::File(path.clone(), number);
                (1..self.size()).try_for_each(|rank| self.line.send(rank, &message))?;
                Ok((path, number))
            }
            (Role::Follower(follower), _) => follower.file(&self.line),
            (Role::Leader(_), None) => {
                Err(ErrorKind::Internal
                    .error(text!("there is no file to share", "共有するファイルがありません")))
            }
        }
    }

    /// Tells that the target is open, and waits for the others. What rank 0 keeps of them, and the file to read from where
    /// each reads what another one wrote, of those that made `file` themselves.
    ///
    /// # Errors
    /// When the run is stopped, or rank 0 gives no sign.
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
            Role::Leader(leader) => {
                let (mut record, others) = leader.greet(&self.line, hello, reads_others)?;
                (record.layout, record.reorder) = (self.plan.layout, self.plan.reorder);
                Ok((Some(record), others))
            }
            Role::Follower(follower) => Ok((None, follower.greet(&self.line, hello, reads_others)?)),
        }
    }

    /// Takes an event of the session that runs here; what the record here takes in its place.
    ///
    /// # Errors
    /// When the run is stopped, or a message cannot be sent.
    pub fn hear(&self, event: Event) -> Result<Vec<Event>> {
        match &mut *self.role.borrow_mut() {
            Role::Leader(leader) => leader.hear(&self.line, event),
            Role::Follower(follower) => follower.hear(&self.line, event).map(|event| vec![event]),
        }
    }

    /// The session here is at its end. Rank 0 waits for the others; the events that it still has to take, and how the run of all
    /// ended. Another rank waits for rank 0, and is told whether its own record may go.
    pub fn finish(&self, outcome: Result<()>) -> (Vec<Event>, Result<bool>) {
        match &mut *self.role.borrow_mut() {
            Role::Leader(leader) => {
                let (events, outcome) = leader.finish(&self.line, outcome);
                (events, outcome.map(|()| false))
            }
            Role::Follower(follower) => (Vec::new(), follower.finish(&self.line, outcome.as_ref())),
        }
    }

    /// This rank cannot take part, by this error.
    pub fn decline(&self, error: &Error) {
        match &mut *self.role.borrow_mut() {
            Role::Leader(leader) => leader.dismiss(&self.line, false),
            Role::Follower(follower) => {
                // There is nothing here that could be kept.
                let _ = follower.finish(&self.line, Err(error));
            }
        }
    }

    /// Lets the others go. `kept`: their records are part of the one here.
    pub fn dismiss(&self, kept: bool) {
        if let Role::Leader(leader) = &mut *self.role.borrow_mut() {
            leader.dismiss(&self.line, kept);
        }
    }

    /// Whether a rank gave no sign: it may hang, and whoever waits for its end would, too.
    pub fn has_silent(&self) -> bool {
        matches!(&*self.role.borrow(), Role::Leader(leader) if leader.has_silent())
    }
}

impl Company for Party<'_> {
    fn meet(&self, run_started_ns: u64) -> Result<u64> {
        match &mut *self.role.borrow_mut() {
            Role::Leader(leader) => leader.meet(&self.line, run_started_ns),
            Role::Follower(follower) => follower.meet(&self.line, run_started_ns),
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
        // Those that wait for a run that never began.
        self.dismiss(false);
    }
}
