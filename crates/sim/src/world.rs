//! The interface of a layer to its stack: read a request, send others below, request a wake-up, end
//! a request, and charge its time.
//!
//! The model: one queue of messages in order of time. A message that is due now goes through a
//! plain queue, bypassing those in the heap that are due at the same time; within each queue, equal
//! times keep the order of sending. There is no clock; the time is that of the current message.

use crate::account::{Cause, Counter, Path, UNEXPLAINED};
use crate::agenda::Agenda;
use kurabe_core::device::{ErrorNumber, Transfer};
use std::collections::{BTreeMap, VecDeque};

/// The end of time, 36 years: later events never happen. So no sum of times that a layer computes
/// exceeds the range of its type, whatever the parameters are.
pub(crate) const LAST_NS: u64 = 1 << 60;

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// Reads bytes from the medium.
    Read,
    /// Writes bytes to the medium.
    Write,
    /// Makes all acknowledged writes durable on the medium.
    Flush,
    /// Declares these bytes as no longer needed.
    Trim,
    /// Writes zeroes to the medium, without transferring them.
    WriteZeroes,
}

impl RequestKind {
    /// Returns whether every medium has a command for it; commands introduced with flash do not
    /// count.
    pub(crate) fn is_known_to_all(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Flush)
    }

    /// Returns whether it changes the contents of the medium.
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::WriteZeroes)
    }
}

/// A request to a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Kind of the request.
    pub kind: RequestKind,
    /// Target unit below a shared bus, from 0.
    pub unit: u16,
    /// Submitting thread of the computer, from 0.
    pub thread: u16,
    /// First byte.
    pub offset_bytes: u64,
    /// Length in bytes; 0 for a flush.
    pub length_bytes: u32,
    /// For a write: whether the data equal the current contents.
    pub identical: bool,
    /// For a write: whether it completes only when it is on the medium, past all volatile memory
    /// (FUA, force unit access).
    pub fua: bool,
    /// Whether it is a further piece of a command that was already processed with its first piece.
    pub continues: bool,
    /// For a write: its position in the order of the user's writes, which identifies it after a
    /// power cut; 0 lets the stack count.
    pub number: u64,
}

impl Request {
    /// Returns an ordinary, unnumbered request to unit 0.
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

    /// Returns the byte after the last one.
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes + u64::from(self.length_bytes)
    }

    /// Returns the same request for another range of bytes.
    #[must_use]
    pub fn at(self, offset_bytes: u64, length_bytes: u32) -> Self {
        Self { offset_bytes, length_bytes, ..self }
    }
}

/// Identifier of a request at a layer. It is reused after the request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(u32);

/// Number of unfinished parts of each request that is done when all its parts are.
pub(crate) type OpenParts = BTreeMap<JobId, u64>;

/// Records that a part of a request is done. Returns whether it was the last one.
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

/// Identifier of a layer in a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LayerId(pub(crate) u16);

/// A request that returned from below.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    /// The request for which it was sent; `None` if it was sent in the background.
    pub parent: Option<JobId>,
    /// The tag given by the sender.
    pub tag: u64,
    /// The request.
    pub request: Request,
    /// Error, if it failed; its parent then fails as well.
    pub error: Option<ErrorNumber>,
    /// For a read: time at which its data started to arrive, if the layer below reported it.
    pub data_ns: u64,
}

#[derive(Clone, Debug)]
struct Job {
    /// The request as it returns to its sender.
    sent: Child,
    layer: LayerId,
    /// The layer that sent it and that it returns to; `None` for a request of the user.
    back: Option<LayerId>,
    path: Path,
}

/// An event in the stack, due now or later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Message {
    /// A request arrives at its layer.
    Arrive(JobId),
    /// A request is done.
    Done(JobId),
    /// A layer is to be woken.
    Wake(LayerId, u64),
}

/// A request of the user that left the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletedRequest {
    /// The token given by the user.
    pub token: u64,
    /// Time of completion.
    pub at_ns: u64,
    /// Number of bytes transferred, or the error.
    pub outcome: Transfer,
}

/// The state shared by all layers of a stack.
#[derive(Clone, Debug, Default)]
pub struct World {
    now_ns: u64,
    current: u16,
    jobs: Vec<Job>,
    free: Vec<JobId>,
    /// Path of the background request that returned last.
    background: Path,
    /// Messages that are due now: the first one, which is usually the only one, and the others.
    first_ready: Option<Message>,
    ready: VecDeque<Message>,
    later: Agenda,
    pub(crate) completions: VecDeque<CompletedRequest>,
    /// Time of the requests that left the stack, by cause.
    pub(crate) times_ns: Vec<u64>,
    /// Times of each request, in the order of `completions`, if they are recorded.
    pub(crate) each: Option<Vec<Vec<u64>>>,
    /// By counter.
    pub(crate) counts: Vec<u64>,
    /// Number of requests that left the stack since the last account, and the sum of their
    /// latencies.
    pub(crate) left: (u64, u64),
    in_flight: u64,
    /// The highest number of a write.
    last_number: u64,
}

impl World {
    pub(crate) fn new(causes: usize, counters: usize) -> Self {
        Self { times_ns: vec![0; causes], counts: vec![0; counters], ..Self::default() }
    }

    /// Returns the time of the current event.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Returns the request of a job.
    #[inline]
    pub fn request(&self, job: JobId) -> Request {
        self.jobs[job.0 as usize].sent.request
    }

    /// Charges the time of `job` from what was charged so far to `until_ns` to `cause`. `until_ns`
    /// may be in the future; time that was charged already does not change.
    #[inline]
    pub fn charge(&mut self, job: JobId, cause: Cause, until_ns: u64) {
        self.jobs[job.0 as usize].path.charge(cause, until_ns);
    }

    /// Charges the time of `job` from what was charged so far like that of the background request
    /// that has just returned; only valid for a job that arrived after that request was sent.
    pub fn charge_as_returned(&mut self, job: JobId) {
        self.jobs[job.0 as usize].path.follow(&self.background);
    }

    /// Adds to a counter.
    #[inline]
    pub fn count(&mut self, counter: Counter, times: u64) {
        self.counts[usize::from(counter.0)] += times;
    }

    /// Sends a request to a layer below for `parent`; it arrives immediately. The parent's time
    /// until its return is accounted for by the charges of the layer below.
    #[inline]
    pub fn send(&mut self, parent: JobId, below: LayerId, request: Request, tag: u64) {
        self.send_at(self.now_ns, Some(parent), below, request, tag);
    }

    /// Sends a request that no job waits for, such as write-back or read-ahead.
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

    /// Reports that the data of a read arrive from a time on, the first before the others.
    #[inline]
    pub(crate) fn data_from(&mut self, at_ns: u64, job: JobId) {
        self.jobs[job.0 as usize].sent.data_ns = at_ns;
    }

    /// Ends a job now with an error.
    pub fn fail(&mut self, job: JobId, error: ErrorNumber) {
        self.note_error(job, error);
        self.finish(job);
    }

    /// Records that a job will fail, because a request sent for it and others has failed.
    pub(crate) fn note_error(&mut self, job: JobId, error: ErrorNumber) {
        self.jobs[job.0 as usize].sent.error = Some(error);
    }

    /// Converts a job that writes zeroes to a data write, because there is no command for zeroes
    /// below.
    pub fn write_as_data(&mut self, job: JobId) {
        let request = &mut self.jobs[job.0 as usize].sent.request;
        if request.kind == RequestKind::WriteZeroes {
            request.kind = RequestKind::Write;
        }
    }

    /// Requests a call of the layer's `wake` at a time not before now. It cannot be cancelled: a
    /// layer that may change its mind puts a number into the token and ignores old ones.
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
        let sent = Child { parent, tag, request, error: None, data_ns: 0 };
        if let Some(id) = self.free.pop() {
            let job = &mut self.jobs[id.0 as usize];
            (job.sent, job.layer, job.back) = (sent, layer, back);
            return id;
        }
        let id = JobId(self.jobs.len() as u32);
        let path = Path::default();
        self.jobs.push(Job { sent, layer, back, path });
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

    /// Submits a request of the user to the topmost layer.
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

    /// Fails a request of the user that no layer could serve, immediately.
    pub(crate) fn refuse(&mut self, token: u64, error: ErrorNumber) {
        self.left.0 += 1;
        if let Some(each) = &mut self.each {
            each.push(vec![0; self.times_ns.len()]);
        }
        self.completions.push_back(CompletedRequest { token, at_ns: self.now_ns, outcome: Err(error) });
    }

    /// Stops the stack: every request of the user fails.
    pub(crate) fn abandon(&mut self) {
        let tokens: Vec<u64> = self.of_user().map(|job| job.sent.tag).collect();
        tokens.into_iter().for_each(|token| self.refuse(token, ErrorNumber::IO));
        self.in_flight = 0;
        self.first_ready = None;
        self.ready.clear();
        self.later.clear();
    }

    /// Returns the numbers of the user's writes that are not acknowledged yet.
    pub(crate) fn numbers_in_flight(&self) -> Vec<u64> {
        self.of_user()
            .filter(|job| job.sent.request.kind.writes())
            .map(|job| job.sent.request.number)
            .collect()
    }

    /// Returns the requests of the user that are in the stack.
    fn of_user(&self) -> impl Iterator<Item = &Job> {
        let mut is_free = vec![false; self.jobs.len()];
        self.free.iter().for_each(|job| is_free[job.0 as usize] = true);
        let jobs = self.jobs.iter().zip(is_free);
        jobs.filter(|(job, is_free)| !is_free && job.back.is_none()).map(|(job, _)| job)
    }

    /// Returns the next message due until `until_ns`, and advances the time to it.
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

    /// Returns whether a message is due now.
    #[inline]
    fn is_ready(&self) -> bool {
        self.first_ready.is_some() || !self.ready.is_empty()
    }

    /// Returns when the next message is due.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        if self.is_ready() { Some(self.now_ns) } else { self.next_later_ns() }
    }

    #[inline]
    fn next_later_ns(&self) -> Option<u64> {
        self.later.next_ns().filter(|at_ns| *at_ns <= LAST_NS)
    }

    /// Returns whether the only messages are due after the end of time.
    pub(crate) fn is_over(&self) -> bool {
        !self.is_ready() && self.next_later_ns().is_none() && !self.later.is_empty()
    }

    /// Advances the time to `now_ns` after everything before it has happened.
    pub(crate) fn pass(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns.min(LAST_NS));
    }

    /// Returns the layer that is being called.
    pub(crate) fn current(&self) -> usize {
        usize::from(self.current)
    }

    /// Sets the layer that is being called.
    #[inline]
    pub(crate) fn enter(&mut self, layer: LayerId) {
        self.current = layer.0;
    }

    /// Returns the layer at which a job arrived, and starts its time there.
    #[inline]
    pub(crate) fn arrived(&mut self, job: JobId) -> LayerId {
        let now_ns = self.now_ns;
        let job = &mut self.jobs[job.0 as usize];
        job.path.restart(now_ns);
        job.layer
    }

    /// Removes a finished job. Returns the layer to which it returns, unless it leaves the stack.
    #[inline]
    pub(crate) fn done(&mut self, id: JobId) -> Option<(LayerId, Child)> {
        let now_ns = self.now_ns;
        let job = &mut self.jobs[id.0 as usize];
        job.path.charge(UNEXPLAINED, now_ns);
        let sent = job.sent;
        let Some(layer) = job.back else {
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
            let outcome = sent.error.map_or(Ok(sent.request.length_bytes), Err);
            self.completions.push_back(CompletedRequest { token: sent.tag, at_ns: now_ns, outcome });
            return None;
        };
        match sent.parent.map(|parent| self.jobs.get_disjoint_mut([id.0 as usize, parent.0 as usize])) {
            Some(Ok([job, above])) => {
                above.path.follow(&job.path);
                above.sent.error = above.sent.error.or(sent.error);
            }
            // A job's parent is another job, so the indices differ.
            Some(Err(_)) => {}
            None => std::mem::swap(&mut self.jobs[id.0 as usize].path, &mut self.background),
        }
        self.free.push(id);
        Some((layer, sent))
    }

    /// Returns the number of requests of the user in the stack.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }
}
