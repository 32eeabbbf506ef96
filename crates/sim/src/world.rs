//! What a layer can do: see a request, send others below, wake up later, end a request, and say where its time went.
//!
//! The model: one queue of messages in order of time. A message that is due now goes through a plain queue, past those
//! that have waited for this moment in the heap, and among its like the order is that of sending. There is no clock; time
//! is that of the message.

use crate::account::{Cause, Counter, Path, UNEXPLAINED};
use crate::agenda::Agenda;
use kurabe_core::device::{ErrorNumber, Transfer};
use std::collections::{BTreeMap, VecDeque};

/// The end of time, 36 years: what would happen later never does. So no sum of times that a layer computes from now on
/// leaves the range of its type, whatever the parameters are.
pub(crate) const LAST_NS: u64 = 1 << 60;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// Bytes from the medium.
    Read,
    /// Bytes to the medium.
    Write,
    /// Everything that was written must be on the medium.
    Flush,
    /// These bytes are no longer needed.
    Trim,
    /// Bytes of value 0 to the medium, without moving any.
    WriteZeroes,
}

impl RequestKind {
    /// Whether every medium has a command for it: what flash added came later.
    pub(crate) fn is_known_to_all(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Flush)
    }

    /// Whether the medium holds other bytes afterwards.
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::WriteZeroes)
    }
}

/// A request to a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What it asks for.
    pub kind: RequestKind,
    /// Which of the things below a shared bus it is for, from 0.
    pub unit: u16,
    /// Which thread of the computer asks, from 0.
    pub thread: u16,
    /// First byte.
    pub offset_bytes: u64,
    /// Length; 0 for a flush.
    pub length_bytes: u32,
    /// Of a write: the bytes are those that are there already.
    pub identical: bool,
    /// Of a write: it is done when the medium has it, past all volatile memory (FUA, force unit access).
    pub fua: bool,
    /// It is a further piece of a command whose first piece came before: there is nothing more to work out.
    pub continues: bool,
    /// Of a write: its place in the order of its user's writes, by which it is known after a power cut; 0 has the stack
    /// count.
    pub number: u64,
}

impl Request {
    /// A request to what stands alone: an ordinary one, not numbered.
    pub const fn new(kind: RequestKind, offset_bytes: u64, length_bytes: u32) -> Self {
        Self {
            kind,
            unit: 0,
            thread: 0,
            offset_bytes,
            length_bytes,
            identical: false,
            fua: false,
            continues: false,
            number: 0,
        }
    }

    /// The byte after the last one.
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes + u64::from(self.length_bytes)
    }

    /// The same for another stretch of bytes.
    #[must_use]
    pub fn at(self, offset_bytes: u64, length_bytes: u32) -> Self {
        Self { offset_bytes, length_bytes, ..self }
    }
}

/// A request at a layer. The number is used again after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(u32);

/// Requests that are done when all their parts are, each with how many are not.
pub(crate) type OpenParts = BTreeMap<JobId, u64>;

/// A part of a request is done, and no longer open: whether it was the last one.
pub(crate) fn is_last_part(open: &mut OpenParts, job: JobId) -> bool {
    match open.get_mut(&job) {
        Some(left) if *left > 1 => {
            *left -= 1;
            false
        }
        _ => {
            open.remove(&job);
            true
        }
    }
}

/// A layer of a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LayerId(pub(crate) u16);

/// A request that came back from below.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    /// The request on whose behalf it was sent; none if it was sent in the background.
    pub parent: Option<JobId>,
    /// The word that the sender gave it.
    pub tag: u64,
    /// What was asked for.
    pub request: Request,
    /// Why it failed, if it did; its parent then fails, too.
    pub error: Option<ErrorNumber>,
    /// Of a read: from when on its data came, if the layer below told.
    pub data_ns: u64,
}

#[derive(Clone, Debug)]
struct Job {
    request: Request,
    layer: LayerId,
    /// The layer that sent it and that it goes back to; of a request of the user none.
    back: Option<LayerId>,
    parent: Option<JobId>,
    tag: u64,
    error: Option<ErrorNumber>,
    data_ns: u64,
    path: Path,
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Message {
    /// A request comes to its layer.
    Arrive(JobId),
    /// A request is done.
    Done(JobId),
    /// A layer wanted to be called.
    Wake(LayerId, u64),
}

/// A request of the user that left the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletedRequest {
    /// The word that the user gave it.
    pub token: u64,
    /// When.
    pub at_ns: u64,
    /// The bytes that it asked for, or why it failed.
    pub outcome: Transfer,
}

/// The state that all layers of a stack share.
#[derive(Clone, Debug, Default)]
pub struct World {
    now_ns: u64,
    current: u16,
    jobs: Vec<Job>,
    free: Vec<JobId>,
    /// Where the time of the request went that came back last of those sent in the background.
    background: Path,
    /// What is due now: the first of it, which mostly is all, and the others.
    first_ready: Option<Message>,
    ready: VecDeque<Message>,
    later: Agenda,
    pub(crate) completions: VecDeque<CompletedRequest>,
    /// Time of requests that left the stack, by cause.
    pub(crate) times_ns: Vec<u64>,
    /// The same of each request, in the order of `completions`, if anybody wants it.
    pub(crate) each: Option<Vec<Vec<u64>>>,
    /// By counter.
    pub(crate) counts: Vec<u64>,
    /// Requests that left the stack since the account was taken, and the sum of their latencies.
    pub(crate) left: (u64, u64),
    in_flight: u64,
    /// The highest number of a write.
    last_number: u64,
}

impl World {
    pub(crate) fn new(causes: usize, counters: usize) -> Self {
        Self { times_ns: vec![0; causes], counts: vec![0; counters], ..Self::default() }
    }

    /// The time of what is happening.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// What a job asks for.
    #[inline]
    pub fn request(&self, job: JobId) -> Request {
        self.jobs[job.0 as usize].request
    }

    /// The time of `job` from what was charged so far to `until_ns` went to `cause`. `until_ns` may lie in the future;
    /// a time that was charged already stays as it is.
    #[inline]
    pub fn charge(&mut self, job: JobId, cause: Cause, until_ns: u64) {
        self.jobs[job.0 as usize].path.charge(cause, until_ns);
    }

    /// The time of `job` from what was charged so far went to what the background request waited for that has just come
    /// back; only for a job that came after that request was sent.
    pub fn charge_as_returned(&mut self, job: JobId) {
        self.jobs[job.0 as usize].path.follow(&self.background);
    }

    /// Counts something.
    #[inline]
    pub fn count(&mut self, counter: Counter, times: u64) {
        self.counts[usize::from(counter.0)] += times;
    }

    /// Sends a request to a layer below on behalf of `parent`; it arrives at once. The parent's time until its return is
    /// accounted for by what the layer below charges.
    #[inline]
    pub fn send(&mut self, parent: JobId, below: LayerId, request: Request, tag: u64) {
        self.send_at(self.now_ns, Some(parent), below, request, tag);
    }

    /// Sends a request that nobody waits for: a cache is written back, data are read ahead.
    #[inline]
    pub fn send_in_background(&mut self, below: LayerId, request: Request, tag: u64) {
        self.send_at(self.now_ns, None, below, request, tag);
    }

    /// Sends a request that arrives at a time not before now.
    #[inline]
    pub fn send_at(&mut self, at_ns: u64, parent: Option<JobId>, below: LayerId, request: Request, tag: u64) {
        let job = self.new_job(request, below, Some(LayerId(self.current)), parent, tag);
        self.post(at_ns, Message::Arrive(job));
    }

    /// Ends a job now.
    #[inline]
    pub fn finish(&mut self, job: JobId) {
        self.finish_at(self.now_ns, job);
    }

    /// Ends a job at a time not before now. Time not charged until then counts as unexplained.
    #[inline]
    pub fn finish_at(&mut self, at_ns: u64, job: JobId) {
        self.post(at_ns, Message::Done(job));
    }

    /// The data of a read come from a time on, the first before the others.
    #[inline]
    pub(crate) fn data_from(&mut self, at_ns: u64, job: JobId) {
        self.jobs[job.0 as usize].data_ns = at_ns;
    }

    /// Ends a job now, unsuccessfully.
    pub fn fail(&mut self, job: JobId, error: ErrorNumber) {
        self.note_error(job, error);
        self.finish(job);
    }

    /// A job will end unsuccessfully: something failed that was sent for it and others.
    pub(crate) fn note_error(&mut self, job: JobId, error: ErrorNumber) {
        self.jobs[job.0 as usize].error = Some(error);
    }

    /// From here on a job that writes zeroes writes data: there is no command for zeroes below.
    pub fn write_as_data(&mut self, job: JobId) {
        let request = &mut self.jobs[job.0 as usize].request;
        if request.kind == RequestKind::WriteZeroes {
            request.kind = RequestKind::Write;
        }
    }

    /// Has the layer's `wake` called at a time not before now. There is no way to take that back: a layer that may change
    /// its mind puts a number into the token and ignores old ones.
    #[inline]
    pub fn wake_at(&mut self, at_ns: u64, token: u64) {
        self.post(at_ns, Message::Wake(LayerId(self.current), token));
    }

    #[inline]
    fn new_job(
        &mut self,
        request: Request,
        layer: LayerId,
        back: Option<LayerId>,
        parent: Option<JobId>,
        tag: u64,
    ) -> JobId {
        if let Some(id) = self.free.pop() {
            let job = &mut self.jobs[id.0 as usize];
            (job.request, job.layer, job.back, job.parent) = (request, layer, back, parent);
            (job.tag, job.error, job.data_ns) = (tag, None, 0);
            return id;
        }
        let id = JobId(self.jobs.len() as u32);
        let path = Path::default();
        self.jobs.push(Job { request, layer, back, parent, tag, error: None, data_ns: 0, path });
        id
    }

    #[inline]
    fn post(&mut self, at_ns: u64, message: Message) {
        if at_ns <= self.now_ns {
            if self.is_ready() {
                self.ready.push_back(message);
            } else {
                self.first_ready = Some(message);
            }
        } else {
            self.later.add(at_ns, message);
        }
    }

    /// A request of the user comes to the topmost layer.
    pub(crate) fn submit(&mut self, mut request: Request, token: u64) {
        self.in_flight += 1;
        if request.kind.writes() {
            if request.number == 0 {
                request.number = self.last_number + 1;
            }
            self.last_number = self.last_number.max(request.number);
        }
        let job = self.new_job(request, LayerId(0), None, None, token);
        self.post(self.now_ns, Message::Arrive(job));
    }

    /// A request of the user that no layer could serve fails at once.
    pub(crate) fn refuse(&mut self, token: u64, error: ErrorNumber) {
        self.left.0 += 1;
        if let Some(each) = &mut self.each {
            each.push(vec![0; self.times_ns.len()]);
        }
        self.completions.push_back(CompletedRequest { token, at_ns: self.now_ns, outcome: Err(error) });
    }

    /// Nothing goes on any more: every request of the user fails.
    pub(crate) fn abandon(&mut self) {
        let tokens: Vec<u64> = self.of_user().map(|job| job.tag).collect();
        tokens.into_iter().for_each(|token| self.refuse(token, ErrorNumber::IO));
        self.in_flight = 0;
        self.first_ready = None;
        self.ready.clear();
        self.later.clear();
    }

    /// Numbers of writes of the user that were not acknowledged yet.
    pub(crate) fn numbers_in_flight(&self) -> Vec<u64> {
        self.of_user().filter(|job| job.request.kind.writes()).map(|job| job.request.number).collect()
    }

    /// Requests of the user that are in the stack.
    fn of_user(&self) -> impl Iterator<Item = &Job> {
        let mut is_free = vec![false; self.jobs.len()];
        self.free.iter().for_each(|job| is_free[job.0 as usize] = true);
        let jobs = self.jobs.iter().zip(is_free);
        jobs.filter(|(job, is_free)| !is_free && job.back.is_none()).map(|(job, _)| job)
    }

    /// The next message due until `until_ns`; time goes on to it.
    #[inline]
    pub(crate) fn next(&mut self, until_ns: u64) -> Option<Message> {
        if let Some(message) = self.first_ready.take() {
            return Some(message);
        }
        if !self.ready.is_empty() {
            return self.ready.pop_front();
        }
        let at_ns = self.next_later_ns()?;
        if at_ns > until_ns {
            return None;
        }
        self.now_ns = at_ns;
        self.later.take()
    }

    /// Whether something is due now.
    #[inline]
    fn is_ready(&self) -> bool {
        self.first_ready.is_some() || !self.ready.is_empty()
    }

    /// When the next message is due.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        if self.is_ready() { Some(self.now_ns) } else { self.next_later_ns() }
    }

    #[inline]
    fn next_later_ns(&self) -> Option<u64> {
        self.later.next_ns().filter(|at_ns| *at_ns <= LAST_NS)
    }

    /// Whether something is due after the end of time.
    pub(crate) fn is_over(&self) -> bool {
        !self.is_ready() && self.next_later_ns().is_none() && !self.later.is_empty()
    }

    /// Time goes on to `now_ns` when everything before it has happened.
    pub(crate) fn pass(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns.min(LAST_NS));
    }

    /// The layer that acts.
    pub(crate) fn current(&self) -> usize {
        usize::from(self.current)
    }

    /// The layer that acts from here on.
    #[inline]
    pub(crate) fn enter(&mut self, layer: LayerId) {
        self.current = layer.0;
    }

    /// The layer to which a job came; its time there begins.
    #[inline]
    pub(crate) fn arrived(&mut self, job: JobId) -> LayerId {
        let now_ns = self.now_ns;
        let job = &mut self.jobs[job.0 as usize];
        job.path.restart(now_ns);
        job.layer
    }

    /// Takes a job away that is done: the layer to which it returns, if it does not leave the stack.
    #[inline]
    pub(crate) fn done(&mut self, id: JobId) -> Option<(LayerId, Child)> {
        let now_ns = self.now_ns;
        let job = &mut self.jobs[id.0 as usize];
        job.path.charge(UNEXPLAINED, now_ns);
        let Job { request, tag, error, data_ns, parent, back, .. } = *job;
        let Some(layer) = back else {
            job.path.add_to(&mut self.times_ns);
            if let Some(each) = &mut self.each {
                let mut times_ns = vec![0; self.times_ns.len()];
                job.path.add_to(&mut times_ns);
                each.push(times_ns);
            }
            self.left.0 += 1;
            self.left.1 = self.left.1.saturating_add(job.path.length_ns());
            self.free.push(id);
            self.in_flight -= 1;
            let outcome = error.map_or(Ok(request.length_bytes), Err);
            self.completions.push_back(CompletedRequest { token: tag, at_ns: now_ns, outcome });
            return None;
        };
        match parent.map(|parent| self.jobs.get_disjoint_mut([id.0 as usize, parent.0 as usize])) {
            Some(Ok([job, above])) => {
                above.path.follow(&job.path);
                above.error = above.error.or(error);
            }
            // A job has another as its parent, so the places differ.
            Some(Err(_)) => {}
            None => std::mem::swap(&mut self.jobs[id.0 as usize].path, &mut self.background),
        }
        self.free.push(id);
        Some((layer, Child { parent, tag, request, error, data_ns }))
    }

    /// How many requests of the user are in the stack.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }
}
