//! Rank 0: it decides when repetitions begin, and merges the records of all ranks, including its
//! own.
//!
//! The messages of each rank wait in its inbox. As soon as all active ranks have sent the same kind
//! of message, it is processed: a start for which all are ready, or a repetition that all have
//! completed. A rank that fails, stops responding or sends something else is excluded from then on,
//! and named. The session of rank 0 may fail like any other; the other ranks are led to their end.

use crate::merge::{RankPart, merged};
use crate::message::{Hello, RankFile, RankMessage, told_of};
use crate::party::{RankLine, is_sign};
use kurabe_core::event::Event;
use kurabe_core::record::{Cell, Notice, NoticeKind, RankHost, RankPlace, RanksRecord};
use kurabe_core::{ErrorKind, Result, Text, text};
use std::collections::{BTreeMap, VecDeque};
use std::mem::{discriminant, take};

/// Shortest time between announcing a start and the start. It is longer than a message and its
/// processing take.
const LEAD_NS: u64 = 2_000_000;

/// State of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RankStanding {
    #[default]
    Live,
    Ended,
    Silent,
}

#[derive(Default)]
struct Member {
    inbox: VecDeque<RankMessage>,
    standing: RankStanding,
    heard_ns: u64,
    host: u32,
    hello: Option<Box<Hello>>,
    /// Empty until the rank has sent it.
    host_name: String,
}

/// State of rank 0.
#[derive(Default)]
pub(crate) struct Leader {
    members: Vec<Member>,
    /// Cells so far, merged over all ranks.
    cells: BTreeMap<u32, Cell>,
    /// Events that are added to the record next.
    out: Vec<Event>,
    begin_ns: Option<u64>,
    run_started_ns: u64,
    failures: Vec<Text>,
    remarks: Vec<Text>,
    dismissed: bool,
}

impl Leader {
    pub(crate) fn of(size: u32) -> Self {
        Self { members: (0..size).map(|_| Member::default()).collect(), ..Self::default() }
    }

    pub(crate) fn has_silent(&self) -> bool {
        self.members.iter().any(|member| member.standing == RankStanding::Silent)
    }

    fn live(&self) -> Vec<usize> {
        let ranks = self.members.iter().enumerate();
        ranks.filter(|(_, member)| member.standing == RankStanding::Live).map(|(rank, _)| rank).collect()
    }

    /// Processes messages until `is_done`.
    fn lead(&mut self, line: &RankLine<'_>, is_done: impl Fn(&Self) -> bool) -> Result<()> {
        let since_ns = line.communicator.now_ns();
        while !is_done(self) {
            if !self.take_up(line)? {
                line.check_stopped()?;
                self.listen(line, since_ns)?;
            }
        }
        Ok(())
    }

    /// Receives one message, and excludes ranks that have not responded for too long.
    fn listen(&mut self, line: &RankLine<'_>, since_ns: u64) -> Result<()> {
        let received = line.receive()?;
        let now_ns = line.communicator.now_ns();
        if let Some((from, message)) = received {
            match message {
                RankMessage::Ping => line.send(from, &RankMessage::Pong(now_ns))?,
                RankMessage::Alive => {}
                message => self.members[from as usize].inbox.push_back(message),
            }
            self.members[from as usize].heard_ns = now_ns;
        }
        self.give_sign(line)?;
        for rank in self.live().into_iter().filter(|rank| *rank > 0) {
            let member = &self.members[rank];
            let quiet_ns = now_ns.saturating_sub(member.heard_ns.max(since_ns));
            if member.inbox.is_empty() && quiet_ns >= line.patience.as_nanos() as u64 {
                let time_s = line.patience.as_secs();
                let why = text!("did not respond for {time_s} s", "{time_s} 秒間応答がありませんでした");
                self.leave_out(rank, RankStanding::Silent, &why);
            }
        }
        Ok(())
    }

    /// Sends waiting ranks a sign that rank 0 is alive.
    fn give_sign(&self, line: &RankLine<'_>) -> Result<()> {
        if line.sign_is_due() {
            for (rank, _) in self
                .members
                .iter()
                .enumerate()
                .skip(1)
                .filter(|(_, member)| member.standing != RankStanding::Silent)
            {
                line.send(rank as u32, &RankMessage::Alive)?;
            }
        }
        Ok(())
    }

    /// Excludes a rank from now on, and reports it.
    fn leave_out(&mut self, rank: usize, standing: RankStanding, why: &Text) {
        self.members[rank].standing = standing;
        self.members[rank].inbox.clear();
        let who = self.name(rank);
        let what = text!("{who}: {why}", "{who}: {why}"; who, why);
        self.failures.push(what.clone());
        let text = text!(
            "{what}; later results cover only the other ranks",
            "{what}。以降は残りのランクだけの結果です"; what
        );
        self.out.push(Event::Notice { notice: Notice::new(NoticeKind::Other, text) });
    }

    fn name(&self, rank: usize) -> Text {
        match self.members[rank].host_name.as_str() {
            host if !host.is_empty() => text!("rank {rank} on {host}", "ランク {rank}({host})"),
            _ => text!("rank {rank}", "ランク {rank}"),
        }
    }

    /// Processes messages if possible, and returns whether there were any.
    fn take_up(&mut self, line: &RankLine<'_>) -> Result<bool> {
        for rank in self.live() {
            match self.members[rank].inbox.front() {
                Some(RankMessage::Ended(..)) => {
                    let Some(RankMessage::Ended(why, host)) = self.members[rank].inbox.pop_front() else {
                        continue;
                    };
                    self.members[rank].host_name = host;
                    match why {
                        None => self.members[rank].standing = RankStanding::Ended,
                        Some(why) => self.leave_out(rank, RankStanding::Ended, &why),
                    }
                    return Ok(true);
                }
                Some(RankMessage::Told(event)) if matches!(**event, Event::Notice { .. }) => {
                    if let Some(RankMessage::Told(event)) = self.members[rank].inbox.pop_front() {
                        self.remark(rank, *event);
                    }
                    return Ok(true);
                }
                _ => {}
            }
        }
        let live = self.live();
        let Some(lowest) = live.first().copied() else { return Ok(false) };
        if live.iter().any(|rank| self.members[*rank].inbox.is_empty()) {
            return Ok(false);
        }
        let about = |rank: usize| self.members[rank].inbox.front().map(About::of);
        let others: Vec<usize> = live.into_iter().filter(|rank| about(*rank) != about(lowest)).collect();
        for rank in &others {
            let why =
                text!("does not do the same work as rank {lowest}", "ランク {lowest} と違う処理をしています");
            self.leave_out(*rank, RankStanding::Ended, &why);
        }
        self.take_from_all(line)?;
        Ok(true)
    }

    /// Processes a message that all active ranks have sent.
    fn take_from_all(&mut self, line: &RankLine<'_>) -> Result<()> {
        let live = self.live();
        let mut parts = Vec::new();
        let mut done_cell = None;
        for (place, rank) in live.iter().enumerate() {
            let Some(message) = self.members[*rank].inbox.pop_front() else { continue };
            match message {
                RankMessage::Hello(hello) => {
                    self.members[*rank].host_name.clone_from(&hello.host);
                    self.members[*rank].hello = Some(hello);
                }
                RankMessage::Ready if place == 0 => self.begin(line, &live)?,
                RankMessage::Told(event) if place == 0 => self.cell_told(*event),
                RankMessage::Done(cell_index, begun_ns, repetition) => {
                    done_cell = Some(cell_index);
                    let (rank, host) = (*rank as u32, self.members[*rank].host);
                    parts.push(RankPart { rank, host, begun_ns, repetition: *repetition });
                }
                _ => {}
            }
        }
        if let (Some(cell_index), Some(repetition)) = (done_cell, merged(parts)) {
            if let Some(cell) = self.cells.get_mut(&cell_index) {
                cell.put_repetition(repetition.clone());
            }
            self.out.push(Event::RepetitionDone { cell_index, repetition: Box::new(repetition) });
        }
        Ok(())
    }

    /// Announces the start of a repetition, late enough for the message to reach every rank before.
    fn begin(&mut self, line: &RankLine<'_>, live: &[usize]) -> Result<()> {
        let bounds = self.members.iter().filter_map(|member| Some(member.hello.as_ref()?.clock_bound_ns));
        let begin_ns = line.communicator.now_ns() + LEAD_NS + bounds.max().unwrap_or(0).min(LEAD_NS) * 2;
        for rank in live.iter().filter(|rank| **rank > 0) {
            line.send(*rank as u32, &RankMessage::Begin(begin_ns))?;
        }
        self.begin_ns = Some(begin_ns);
        Ok(())
    }

    fn cell_told(&mut self, event: Event) {
        let event = match event {
            Event::CellBegun { cell } => {
                self.cells.insert(cell.index, (*cell).clone());
                Event::CellBegun { cell }
            }
            Event::CellDone { cell } => match self.cells.get(&cell.index) {
                Some(whole) => Event::CellDone { cell: Box::new(whole.clone()) },
                None => return,
            },
            other => other,
        };
        self.out.push(event);
    }

    /// Adds a notice of a rank, once for equal ones.
    ///
    /// Noise that one rank observes may come from other ranks on the same host, so it is reported
    /// per host in the repetition. Notices that every rank sends with its own figures are taken
    /// from rank 0 only.
    fn remark(&mut self, rank: usize, event: Event) {
        let Event::Notice { notice } = event else { return };
        let is_each_ones = match notice.kind {
            NoticeKind::Noise => self.members.len() > 1,
            // For example the amount of data that it is going to write.
            NoticeKind::Other => rank > 0,
            _ => false,
        };
        if is_each_ones || self.remarks.contains(&notice.text) {
            return;
        }
        self.remarks.push(notice.text.clone());
        let notice = match rank {
            0 => notice,
            _ => {
                let (who, what) = (self.name(rank), &notice.text);
                Notice { text: text!("{who}: {what}", "{who}: {what}"; who, what), ..notice }
            }
        };
        self.out.push(Event::Notice { notice });
    }

    /// Waits for all ranks, and returns their description. If ranks read the files of others, also
    /// returns the file of the next rank.
    pub(crate) fn greet(
        &mut self,
        line: &RankLine<'_>,
        hello: Hello,
        reads_others: bool,
    ) -> Result<(RanksRecord, Option<RankFile>)> {
        self.members[0].inbox.push_back(RankMessage::Hello(Box::new(hello)));
        self.lead(line, |leader| leader.live().iter().all(|rank| leader.members[*rank].hello.is_some()))?;
        let mut record = RanksRecord::default();
        for rank in self.live() {
            let Some(Hello { host: name, header, clock_offset_ns, clock_bound_ns, .. }) =
                self.members[rank].hello.as_deref()
            else {
                continue;
            };
            let host = record.hosts.iter().position(|host| host.name == *name).unwrap_or_else(|| {
                record.hosts.push(RankHost { name: name.clone(), environment: header.environment.clone() });
                record.hosts.len() - 1
            }) as u32;
            let (clock_offset_ns, clock_bound_ns) = (*clock_offset_ns, *clock_bound_ns);
            self.members[rank].host = host;
            record.ranks.push(RankPlace { rank: rank as u32, host, clock_offset_ns, clock_bound_ns });
        }
        let mut own = None;
        if reads_others {
            let live = self.live();
            for (place, rank) in live.iter().enumerate() {
                let next = live[(place + 1) % live.len()];
                let file = self.members[next].hello.as_ref().and_then(|hello| hello.file.clone());
                match file {
                    Some(file) if *rank == 0 => own = Some(file),
                    Some((path, number)) => line.send(*rank as u32, &RankMessage::File(path, number))?,
                    None => {}
                }
            }
        }
        Ok((record, own))
    }

    pub(crate) fn meet(&mut self, line: &RankLine<'_>, run_started_ns: u64) -> Result<u64> {
        self.run_started_ns = run_started_ns;
        self.members[0].inbox.push_back(RankMessage::Ready);
        self.lead(line, |leader| leader.begin_ns.is_some())?;
        Ok(self.begin_ns.take().unwrap_or(0))
    }

    pub(crate) fn hear(&mut self, line: &RankLine<'_>, event: Event) -> Result<Vec<Event>> {
        match event {
            Event::RepetitionDone { cell_index, repetition } => {
                let begun_ns = self.run_started_ns.saturating_add(repetition.started_ns);
                self.members[0].inbox.push_back(RankMessage::Done(cell_index, begun_ns, repetition));
            }
            Event::CellBegun { .. } | Event::CellDone { .. } => {
                self.members[0].inbox.push_back(RankMessage::Told(Box::new(event)));
            }
            Event::Notice { .. } => self.remark(0, event),
            other => {
                if is_sign(&other) {
                    self.give_sign(line)?;
                }
                self.out.push(other);
            }
        }
        self.lead(line, |leader| leader.members[0].inbox.is_empty())?;
        Ok(take(&mut self.out))
    }

    pub(crate) fn finish(&mut self, line: &RankLine<'_>, outcome: Result<()>) -> (Vec<Event>, Result<()>) {
        let why = outcome.as_ref().err().filter(|_| self.members.len() > 1).map(told_of);
        let is_stopped = outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::Interrupted);
        self.members[0].inbox.clear();
        self.members[0].inbox.push_back(RankMessage::Ended(why, line.communicator.host()));
        let led = match is_stopped {
            true => Ok(()),
            false => self.lead(line, |leader| leader.live().is_empty()),
        };
        let failures = match self.failures.as_slice() {
            [] => Ok(()),
            failures => {
                let what = Text::join(failures.iter().cloned(), ["; "; 2]);
                Err(ErrorKind::RankLost.error(what).remedy(text!(
                    "completed tests are valid for the remaining ranks, which the record lists",
                    "測定済みの項目は、記録にある残りのランクの結果として有効です"
                )))
            }
        };
        (take(&mut self.out), outcome.and(led).and(failures))
    }

    pub(crate) fn dismiss(&mut self, line: &RankLine<'_>, kept: bool) {
        if std::mem::replace(&mut self.dismissed, true) {
            return;
        }
        for (rank, member) in self.members.iter().enumerate().skip(1) {
            // A lost rank receives nothing, or keeps its data.
            let _ =
                line.send(rank as u32, &RankMessage::Over(kept && member.standing != RankStanding::Silent));
        }
    }
}

/// Subject of a message, on which all ranks must agree.
#[derive(PartialEq)]
struct About(std::mem::Discriminant<RankMessage>, Option<std::mem::Discriminant<Event>>, u32, u32);

impl About {
    fn of(message: &RankMessage) -> Self {
        let (event, cell, number) = match message {
            RankMessage::Told(event) => match &**event {
                Event::CellBegun { cell } | Event::CellDone { cell } => {
                    (Some(discriminant(&**event)), cell.index, 0)
                }
                event => (Some(discriminant(event)), 0, 0),
            },
            RankMessage::Done(cell, _, repetition) => (None, *cell, repetition.index),
            _ => (None, 0, 0),
        };
        Self(discriminant(message), event, cell, number)
    }
}
