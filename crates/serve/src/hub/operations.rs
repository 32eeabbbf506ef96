//! Requests on their way through the data and the stack.

use super::Hub;
use super::pending::{DeviceCompletion, PendingRequest, StackSubmission, Stage, TickedFlush};
use super::recipient::Recipient;
use crate::disk::{SECTOR_BYTES, sectors_length};
use crate::fault::FaultMet;
use crate::honesty::Timing;
use crate::protocol::{NbdCommand, NbdError, NbdRequest};
use crate::round_trip::ANSWER_NS;
use crate::segment::{DataExtent, Segment, SegmentBytes};
use crate::tick::{LOOK_NS, MOST_LOOK_NS, left_ns, tick_begin_ns};
use crate::workers::{Body, DataJob, PayloadJob, SMALL_BYTES, act};
use kurabe_sim::{CompletedRequest, RecordedRequest, Request, RequestKind};
use std::sync::Arc;

impl Hub {
    pub(super) fn begin(
        &mut self,
        recipient: Recipient,
        export: usize,
        request: &NbdRequest,
        came_ns: u64,
    ) -> u64 {
        let operation = self.requests.next;
        self.requests.next += 1;
        if let Some(connection) = recipient.connection().and_then(|id| self.connections.all.get_mut(&id)) {
            connection.requests += 1;
            connection.bytes += moved_bytes(request);
        }
        let mut new = PendingRequest {
            bypasses_stack: self.bypasses_stack(&recipient, request.command),
            recipient,
            export,
            request: *request,
            came_ns,
            asked_ns: came_ns.saturating_sub(self.accounts.counts.round_trip_ns),
            number: 0,
            fault: FaultMet::default(),
            outcome: None,
            stage: Stage::Arrived,
        };
        if new.request.writes() {
            self.requests.writes += 1;
            new.number = self.requests.writes;
        }
        self.requests.pending.insert(operation, new);
        operation
    }

    /// Executes a request whose payload, if it has one, is complete.
    pub(super) fn do_request(&mut self, operation: u64, payload: Vec<u8>) {
        let Some(pending) = self.requests.pending.get_mut(&operation) else { return };
        let (request, changes) = (pending.request, pending.changes());
        let is_of_front = pending.recipient.connection().is_none();
        let keeps_bytes = changes && pending.fault.error.is_some();
        let data_job = data_job_of(&request, pending.number, payload).filter(|_| !keeps_bytes);
        let disk = Arc::clone(&self.parts.disks[pending.export]);
        let is_small = disk.data.is_quick() && request.length_bytes as usize <= SMALL_BYTES;
        let bypasses_stack = pending.bypasses_stack;
        let bypassed = |due_ns| DeviceCompletion { due_ns, outcome: Ok(()), submission: None };
        if bypasses_stack && request.command == NbdCommand::BlockStatus {
            pending.stage = Stage::Due(bypassed(pending.came_ns));
        } else if bypasses_stack {
            let due_ns = pending.came_ns + ANSWER_NS;
            pending.stage = Stage::Held(bypassed(due_ns), None);
            self.requests.timed.insert((due_ns, operation));
        } else if changes && is_of_front {
            self.requests.front_changes.push_back(operation);
        }
        match data_job {
            None => self.data_done(operation, Ok(Body::Nothing)),
            Some(data_job) if is_small => self.data_done(operation, act(&disk, data_job)),
            Some(DataJob::Read { offset_bytes, length_bytes })
                if disk.data.is_quick_to_send() && !is_of_front =>
            {
                let body = match disk.data.is_hole(offset_bytes, length_bytes.into()) {
                    true => Body::Hole,
                    false => Body::Stored(DataExtent { disk, offset_bytes, length: length_bytes as usize }),
                };
                self.data_done(operation, Ok(body));
            }
            Some(data_job) => {
                self.workers.give(PayloadJob::Data { operation, disk, data_job });
                // Changes are made to the data before the device receives them, so that its answer
                // comes last.
                if !changes && !bypasses_stack {
                    self.submit(operation);
                }
            }
        }
    }

    /// Continues a request after its data was read or written.
    pub(super) fn data_done(&mut self, operation: u64, outcome: Result<Body, NbdError>) {
        let Some(pending) = self.requests.pending.get_mut(&operation) else { return };
        if !matches!(pending.stage, Stage::Arrived) {
            pending.outcome = Some(outcome);
            return self.answer_if_ready(operation);
        }
        match outcome {
            Err(error) => self.fail(operation, error),
            Ok(body) => {
                pending.outcome = Some(Ok(body));
                if !self.requests.front_changes.contains(&operation) {
                    self.submit(operation);
                }
            }
        }
        self.submit_front_changes();
    }

    /// Submits changes of fronts to the stack, in order, up to the first whose data is not in
    /// place.
    fn submit_front_changes(&mut self) {
        while let Some(operation) = self.requests.front_changes.front().copied() {
            let pending = self.requests.pending.get(&operation);
            if pending.is_some_and(|pending| pending.outcome.is_none()) {
                return;
            }
            self.requests.front_changes.pop_front();
            self.submit(operation);
        }
    }

    /// Submits a request to the stack.
    fn submit(&mut self, operation: u64) {
        let Some(pending) = self.requests.pending.get_mut(&operation) else { return };
        let (asked, lies) = (&pending.request, pending.fault.lies);
        let (unit, number) = (pending.export as u16, pending.number);
        let fua = asked.is_fua() && asked.writes() && !lies;
        let request = Request { unit, fua, number, ..model_request(asked) };
        let stamp_ns = pending.asked_ns.max(self.parts.stack.now_ns());
        pending.stage = Stage::InStack(StackSubmission { stamp_ns, request });
        if request.kind == RequestKind::Flush && lies {
            return self.is_done(operation, stamp_ns, Ok(()));
        }
        self.parts.stack.submit(stamp_ns, request, operation);
    }

    /// Handles a completion of the stack.
    pub(super) fn left_stack(&mut self, completion: &CompletedRequest) {
        let outcome = completion.outcome.map(|_| ()).map_err(|_| NbdError::Io);
        self.is_done(completion.token, completion.at_ns, outcome);
    }

    /// Records the completion of a request by the device; a fault or a tick may delay its answer.
    fn is_done(&mut self, operation: u64, at_ns: u64, outcome: Result<(), NbdError>) {
        let now_ns = self.now_ns();
        let Some(pending) = self.requests.pending.get_mut(&operation) else { return };
        let Stage::InStack(submission) = pending.stage else { return };
        let FaultMet { error, delay_ns, .. } = pending.fault;
        let mut due_ns = self.faults.leaves_ns(at_ns.saturating_add(delay_ns), pending.export);
        let is_flush = submission.request.kind == RequestKind::Flush || submission.request.fua;
        let mut ticked = None;
        if let Some(log) = self.parts.request.log.as_ref().filter(|_| is_flush) {
            let number = log.flush_came();
            if log.is_ticked() {
                let tick_begin_ns = tick_begin_ns();
                let seen_by_ns = now_ns + MOST_LOOK_NS;
                ticked = Some(TickedFlush { tick_begin_ns, number, seen_by_ns });
                due_ns = due_ns.max(now_ns.max(at_ns) + left_ns(tick_begin_ns).max(LOOK_NS));
            }
        }
        let outcome = outcome.and(error.map_or(Ok(()), Err));
        let completion = DeviceCompletion { due_ns, outcome, submission: Some(submission) };
        if due_ns > at_ns {
            pending.stage = Stage::Held(completion, ticked);
            self.requests.timed.insert((due_ns, operation));
        } else {
            pending.stage = Stage::Due(completion);
            self.answer_if_ready(operation);
        }
    }

    /// Answers a request that was delayed until now.
    pub(super) fn held_is_due(&mut self, operation: u64) {
        let now_ns = self.now_ns();
        let Some(pending) = self.requests.pending.get_mut(&operation) else { return };
        let Stage::Held(completion, ticked) = pending.stage else { return };
        if let Some((flush, log)) = ticked.zip(self.parts.request.log.as_ref())
            && (flush.tick_begin_ns == tick_begin_ns()
                || now_ns < flush.seen_by_ns && !log.is_seen(flush.number))
        {
            self.requests.timed.insert((now_ns + LOOK_NS, operation));
            return;
        }
        pending.stage = Stage::Due(completion);
        self.accounts.own_requests += u64::from(completion.submission.is_none());
        self.answer_if_ready(operation);
    }

    /// Determines the faults that affect a request to the stack.
    pub(super) fn meet_faults(&mut self, operation: u64) {
        let pending = self.requests.pending.get_mut(&operation);
        if let Some(pending) = pending.filter(|pending| !pending.bypasses_stack) {
            pending.fault = self.faults.meet(&pending.request, pending.export, pending.came_ns);
        }
    }

    /// Returns the error that a fault causes for a request.
    pub(super) fn fault_of(&self, operation: u64) -> Option<NbdError> {
        self.requests.pending.get(&operation).and_then(|pending| pending.fault.error)
    }

    /// Answers a request if its data is ready and it is due.
    fn answer_if_ready(&mut self, operation: u64) {
        let answer = self.requests.pending.get_mut(&operation).and_then(PendingRequest::take_answer);
        let Some((DeviceCompletion { due_ns, outcome: of_stack, submission }, outcome)) = answer else {
            return;
        };
        let Some(mut done) = self.requests.pending.remove(&operation) else { return };
        let timing = submission.map(|StackSubmission { stamp_ns, request }| Timing {
            asked_ns: done.asked_ns,
            due_ns,
            service_ns: due_ns.saturating_sub(stamp_ns),
            request,
        });
        if let Some(StackSubmission { request, .. }) = submission {
            self.accounts.count(&done.request);
            if let Some(log) = self.parts.request.log.as_ref().filter(|_| of_stack.is_ok()) {
                log.add(operation, RecordedRequest { request, asked_ns: done.came_ns, answered_ns: 0 });
            }
        }
        self.reply(&mut done, of_stack.and(outcome), timing);
        self.after_answer(&done.request, of_stack.is_ok());
    }

    /// Fails a request before it reaches the stack.
    pub(super) fn fail(&mut self, operation: u64, error: NbdError) {
        let Some(mut done) = self.requests.pending.remove(&operation) else { return };
        self.accounts.counts.errors += 1;
        self.reply(&mut done, Err(error), None);
    }

    /// Removes a request whose client has disconnected.
    pub(super) fn forget(&mut self, operation: u64) {
        if let Some(done) = self.requests.pending.remove(&operation) {
            self.release(&done);
        }
    }

    fn release(&mut self, done: &PendingRequest) {
        let Some(id) = done.recipient.connection() else { return };
        if let Some(connection) = self.connections.all.get_mut(&id) {
            connection.requests -= 1;
            connection.bytes -= moved_bytes(&done.request);
            // Requests that had to wait can be accepted now.
            self.connections.dirty.insert(id);
        }
    }

    fn reply(&mut self, done: &mut PendingRequest, outcome: Result<Body, NbdError>, timing: Option<Timing>) {
        let id = match &mut done.recipient {
            Recipient::Connection(id) => *id,
            Recipient::Front(answer) => {
                if let Some(answer) = answer.take() {
                    self.answer_front(answer, outcome, timing);
                }
                return;
            }
        };
        let Some(connection) = self.connections.all.get(&id) else { return };
        let (conversation, request) = (&connection.conversation, &done.request);
        let mut head = Vec::with_capacity(64);
        let mut body = Vec::new();
        let mut stored = None;
        match outcome {
            Err(error) => conversation.failure(request, error, &mut head),
            Ok(Body::Nothing) => conversation.success(request, &mut head),
            Ok(Body::Extents(extents)) => {
                let extents = if request.wants_one_extent() { &extents[..1] } else { &extents };
                conversation.block_status(request, extents, &mut head);
            }
            Ok(Body::Bytes(bytes)) => {
                conversation.before_data(request, &mut head);
                body = bytes;
            }
            Ok(Body::Stored(stretch)) => {
                conversation.before_data(request, &mut head);
                stored = Some(stretch);
            }
            Ok(Body::Hole) => {
                if !conversation.hole(request, &mut head) {
                    conversation.before_data(request, &mut head);
                    body = vec![0; request.length_bytes as usize];
                }
            }
        }
        if body.len() <= SMALL_BYTES {
            head.append(&mut body);
        }
        self.say(id, Segment::new(SegmentBytes::Bytes(head), timing));
        self.say(id, Segment::new(stored.map_or(SegmentBytes::Bytes(body), SegmentBytes::Stored), None));
        self.release(done);
    }

    /// Cuts power after a write if that is due. After a flush, shortens the journals.
    fn after_answer(&mut self, request: &NbdRequest, succeeded: bool) {
        self.requests.acknowledged_writes += u64::from(request.writes() && succeeded);
        let Some(rules) = &self.parts.request.settings.power else { return };
        if request.writes() && rules.after_writes == Some(self.requests.acknowledged_writes) {
            self.flush_all();
            if let Err(error) = self.cut_power() {
                (self.failure, self.ended) = (Some(error), true);
            }
        } else if request.command == NbdCommand::Flush {
            self.trim_journals(0);
        } else if request.writes() {
            self.trim_journals(super::commands::JOURNAL_BYTES);
        }
    }
}

fn moved_bytes(request: &NbdRequest) -> u64 {
    match request.command {
        NbdCommand::Read | NbdCommand::Write => request.length_bytes.into(),
        _ => 0,
    }
}

/// Returns the job on the data.
fn data_job_of(request: &NbdRequest, number: u64, payload: Vec<u8>) -> Option<DataJob> {
    let NbdRequest { offset_bytes, length_bytes, .. } = *request;
    let keeps_room = request.keeps_room();
    Some(match request.command {
        NbdCommand::Read => DataJob::Read { offset_bytes, length_bytes },
        NbdCommand::Write => DataJob::Write { offset_bytes, bytes: payload, number },
        NbdCommand::WriteZeroes => DataJob::Zero { offset_bytes, length_bytes, keeps_room, number },
        NbdCommand::Trim => DataJob::Zero { offset_bytes, length_bytes, keeps_room: false, number },
        NbdCommand::BlockStatus => DataJob::Extents { offset_bytes, length_bytes },
        _ => return None,
    })
}

/// Returns the request to the stack, in whole sectors.
fn model_request(request: &NbdRequest) -> Request {
    let kind = match request.command {
        NbdCommand::Write => RequestKind::Write,
        NbdCommand::Flush => return Request::new(RequestKind::Flush, 0, 0),
        NbdCommand::Trim => RequestKind::Trim,
        NbdCommand::WriteZeroes => RequestKind::WriteZeroes,
        _ => RequestKind::Read,
    };
    let from = request.offset_bytes / SECTOR_BYTES * SECTOR_BYTES;
    let end = (request.offset_bytes + u64::from(request.length_bytes)).next_multiple_of(SECTOR_BYTES);
    // Only trims and zeroes are that long.
    let length_bytes = sectors_length(end - from);
    Request::new(kind, from, length_bytes)
}
