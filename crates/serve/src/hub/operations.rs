//! Requests on their way through the data and the stack.

use super::Hub;
use super::pending::{PendingRequest, TickedFlush};
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
        let operation = self.next_operation;
        self.next_operation += 1;
        if let Some(connection) = recipient.connection().and_then(|id| self.connections.get_mut(&id)) {
            connection.requests += 1;
            connection.bytes += moved_bytes(request);
        }
        let mut new = PendingRequest {
            recipient,
            export,
            request: *request,
            came_ns,
            asked_ns: came_ns.saturating_sub(self.counts.round_trip_ns),
            stamp_ns: came_ns,
            modelled: Request::new(RequestKind::Flush, 0, 0),
            number: 0,
            outcome: None,
            fault: FaultMet::default(),
            due: None,
            is_held: false,
            flush: None,
            is_in_stack: false,
            is_beside: false,
        };
        if new.request.writes() {
            self.writes += 1;
            new.number = self.writes;
        }
        self.operations.insert(operation, new);
        operation
    }

    /// Executes a request whose payload, if it has one, is complete.
    pub(super) fn do_request(&mut self, operation: u64, payload: Vec<u8>) {
        let Some(waiting) = self.operations.get_mut(&operation) else { return };
        let (request, export, came_ns) = (waiting.request, waiting.export, waiting.came_ns);
        let changes = waiting.changes();
        let is_of_front = waiting.recipient.connection().is_none();
        let keeps_bytes = changes && waiting.fault.error.is_some();
        let data_job = data_job_of(&request, waiting.number, payload).filter(|_| !keeps_bytes);
        let beside = self.is_beside_stack(operation);
        if changes && !beside && is_of_front {
            self.front_changes.push_back(operation);
        }
        let disk = Arc::clone(&self.parts.disks[export]);
        let is_small = disk.data.is_quick() && request.length_bytes as usize <= SMALL_BYTES;
        if let Some(waiting) = self.operations.get_mut(&operation)
            && beside
        {
            waiting.is_beside = true;
            waiting.is_held = request.command != NbdCommand::BlockStatus;
            let due_ns = came_ns + if waiting.is_held { ANSWER_NS } else { 0 };
            waiting.due = Some((due_ns, Ok(())));
            if waiting.is_held {
                self.timed.insert((due_ns, operation));
            }
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
                if !changes && !beside {
                    self.submit(operation);
                }
            }
        }
    }

    /// Continues a request after its data was read or written.
    pub(super) fn data_done(&mut self, operation: u64, outcome: Result<Body, NbdError>) {
        let Some(waiting) = self.operations.get_mut(&operation) else { return };
        if waiting.is_in_stack || waiting.is_beside {
            waiting.outcome = Some(outcome);
            return self.answer_if_ready(operation);
        }
        match outcome {
            Err(error) => self.fail(operation, error),
            Ok(body) => {
                waiting.outcome = Some(Ok(body));
                if !self.front_changes.contains(&operation) {
                    self.submit(operation);
                }
            }
        }
        self.submit_front_changes();
    }

    /// Submits changes of fronts to the stack, in order, up to the first whose data is not in
    /// place.
    fn submit_front_changes(&mut self) {
        while let Some(operation) = self.front_changes.front().copied() {
            let waiting = self.operations.get(&operation);
            if waiting.is_some_and(|waiting| waiting.outcome.is_none()) {
                return;
            }
            self.front_changes.pop_front();
            self.submit(operation);
        }
    }

    /// Submits a request to the stack.
    fn submit(&mut self, operation: u64) {
        let Some(waiting) = self.operations.get_mut(&operation) else { return };
        let (request, lies) = (waiting.request, waiting.fault.lies);
        waiting.stamp_ns = waiting.asked_ns.max(self.parts.stack.now_ns());
        waiting.is_in_stack = true;
        if request.command == NbdCommand::Flush && lies {
            let stamp_ns = waiting.stamp_ns;
            return self.is_done(operation, stamp_ns, Ok(()));
        }
        let fua = request.is_fua() && waiting.request.writes() && !lies;
        waiting.modelled =
            Request { unit: waiting.export as u16, fua, number: waiting.number, ..model_request(&request) };
        self.parts.stack.submit(waiting.stamp_ns, waiting.modelled, operation);
    }

    /// Handles a completion of the stack.
    pub(super) fn left_stack(&mut self, completion: &CompletedRequest) {
        let outcome = completion.outcome.map(|_| ()).map_err(|_| NbdError::Io);
        self.is_done(completion.token, completion.at_ns, outcome);
    }

    /// Records the completion of a request by the device; a fault or a tick may delay its answer.
    fn is_done(&mut self, operation: u64, at_ns: u64, outcome: Result<(), NbdError>) {
        let now_ns = self.now_ns();
        let Some(waiting) = self.operations.get_mut(&operation) else { return };
        let FaultMet { error, delay_ns, .. } = waiting.fault;
        let mut due_ns = self.faults.leaves_ns(at_ns.saturating_add(delay_ns), waiting.export);
        let request = &waiting.modelled;
        let is_flush = request.kind == RequestKind::Flush || request.fua;
        if let Some(log) = self.parts.request.log.as_ref().filter(|_| is_flush) {
            let number = log.flush_came();
            if log.is_ticked() {
                let tick_begin_ns = tick_begin_ns();
                let seen_by_ns = now_ns + MOST_LOOK_NS;
                waiting.flush = Some(TickedFlush { tick_begin_ns, number, seen_by_ns });
                due_ns = due_ns.max(now_ns.max(at_ns) + left_ns(tick_begin_ns).max(LOOK_NS));
            }
        }
        waiting.due = Some((due_ns, outcome.and(error.map_or(Ok(()), Err))));
        waiting.is_held = due_ns > at_ns;
        if waiting.is_held {
            self.timed.insert((due_ns, operation));
        }
        self.answer_if_ready(operation);
    }

    /// Answers a request that was delayed until now.
    pub(super) fn held_is_due(&mut self, operation: u64) {
        let now_ns = self.now_ns();
        if let Some(waiting) = self.operations.get_mut(&operation) {
            let log = self.parts.request.log.as_ref();
            if let Some((flush, log)) = waiting.flush.zip(log)
                && (flush.tick_begin_ns == tick_begin_ns()
                    || now_ns < flush.seen_by_ns && !log.is_seen(flush.number))
            {
                self.timed.insert((now_ns + LOOK_NS, operation));
                return;
            }
            waiting.is_held = false;
            self.own_requests += u64::from(waiting.is_beside);
        }
        self.answer_if_ready(operation);
    }

    /// Determines the faults that affect a request to the stack.
    pub(super) fn meet_faults(&mut self, operation: u64) {
        if self.is_beside_stack(operation) {
            return;
        }
        if let Some(waiting) = self.operations.get_mut(&operation) {
            waiting.fault = self.faults.meet(&waiting.request, waiting.export, waiting.came_ns);
        }
    }

    /// Returns the error that a fault causes for a request.
    pub(super) fn fault_of(&self, operation: u64) -> Option<NbdError> {
        self.operations.get(&operation).and_then(|waiting| waiting.fault.error)
    }

    /// Answers a request if its data is ready and it is due.
    fn answer_if_ready(&mut self, operation: u64) {
        let is_ready =
            |waiting: &PendingRequest| waiting.outcome.is_some() && waiting.due.is_some() && !waiting.is_held;
        if !self.operations.get(&operation).is_some_and(is_ready) {
            return;
        }
        let Some(mut done) = self.operations.remove(&operation) else { return };
        let (Some(outcome), Some((due_ns, of_stack))) = (done.outcome.take(), done.due) else { return };
        let timing = done.is_in_stack.then(|| Timing {
            asked_ns: done.asked_ns,
            due_ns,
            service_ns: due_ns.saturating_sub(done.stamp_ns),
            request: done.modelled,
        });
        self.count(&done);
        if let Some(log) = self.parts.request.log.as_ref().filter(|_| done.is_in_stack && of_stack.is_ok()) {
            let (request, asked_ns) = (done.modelled, done.came_ns);
            log.add(operation, RecordedRequest { request, asked_ns, answered_ns: 0 });
        }
        self.reply(&mut done, of_stack.and(outcome), timing);
        self.after_answer(&done);
    }

    /// Fails a request before it reaches the stack.
    pub(super) fn fail(&mut self, operation: u64, error: NbdError) {
        let Some(mut done) = self.operations.remove(&operation) else { return };
        self.counts.errors += 1;
        self.reply(&mut done, Err(error), None);
    }

    /// Removes a request whose client has disconnected.
    pub(super) fn forget(&mut self, operation: u64) {
        if let Some(done) = self.operations.remove(&operation) {
            self.release(&done);
        }
    }

    fn release(&mut self, done: &PendingRequest) {
        let Some(id) = done.recipient.connection() else { return };
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.requests -= 1;
            connection.bytes -= moved_bytes(&done.request);
            // Requests that had to wait can be accepted now.
            self.dirty.insert(id);
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
        let Some(connection) = self.connections.get(&id) else { return };
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

    fn count(&mut self, done: &PendingRequest) {
        if !done.is_in_stack {
            return;
        }
        let bytes = u64::from(done.request.length_bytes);
        match done.request.command {
            NbdCommand::Read => {
                self.counts.reads += 1;
                self.counts.read_bytes += bytes;
            }
            NbdCommand::Write | NbdCommand::WriteZeroes => {
                self.counts.writes += 1;
                self.counts.written_bytes += bytes;
            }
            NbdCommand::Flush => self.counts.flushes += 1,
            NbdCommand::Trim => self.counts.trims += 1,
            _ => {}
        }
    }

    /// Cuts power after a write if that is due. After a flush, shortens the journals.
    fn after_answer(&mut self, done: &PendingRequest) {
        self.acknowledged_writes += u64::from(done.request.writes() && matches!(done.due, Some((_, Ok(())))));
        let Some(rules) = &self.parts.request.settings.power else { return };
        if done.request.writes() && rules.after_writes == Some(self.acknowledged_writes) {
            self.flush_all();
            if let Err(error) = self.cut_power() {
                (self.failure, self.ended) = (Some(error), true);
            }
        } else if done.request.command == NbdCommand::Flush {
            self.trim_journals(0);
        } else if done.request.writes() {
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
