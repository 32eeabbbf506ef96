//! Assembles operations from events, with their time in queues and in the device.
//!
//! kurabe's threads submit pieces to the block layer (`block_bio_queue`). The pieces of one
//! operation are submitted consecutively by one thread until they add up to the operation's size.
//! Requests are issued (`block_rq_issue`) and completed (`block_rq_complete`). The sectors of a
//! request determine the operations that it serves, whatever was split or merged. An operation ends
//! with the last of its sectors, and is in the device while at least one of its requests is.

use crate::assemble::{Flights, land};
use crate::event::{BlockEvent, Tracepoint};
use crate::instance::Recording;
use kurabe_core::split::{KernelSplit, RequestSize, TimeSplit};
use kurabe_core::{record::Repetition, trace::BlockVerb};
use kurabe_host::{Number, SECTOR_BYTES};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Largest relative difference between the kernel's and the driver's number of operations for which
/// they count as the same.
const SAME_COUNT: f64 = 0.01;

/// A disk whose requests are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Disk {
    /// Kernel name.
    pub name: String,
    /// Device numbers of the disk and its partitions, under which operations arrive.
    pub numbers: Vec<Number>,
}

/// Disk, and whether it is a write.
type DiskDirection = (usize, bool);

/// Sectors that wait for a request: their end, and their operation.
#[derive(Clone, Copy)]
struct QueuedSectors {
    end: u64,
    operation: usize,
}

/// A request in the device: its issue time, its remaining sectors, and the sectors of each
/// operation in it.
struct IssuedRequest {
    issued_ns: u64,
    rest_sectors: u64,
    parts: Vec<(usize, u64)>,
}

#[derive(Default)]
struct Followed {
    begun_ns: u64,
    ended_ns: u64,
    /// Sectors submitted so far.
    sectors: u64,
    /// Sectors completed so far.
    done_sectors: u64,
    /// Periods in which its requests were in the device.
    in_device: Vec<(u64, u64)>,
}

#[derive(Default)]
struct Splitting {
    operations: Vec<Followed>,
    /// Operation that each thread is submitting.
    open: HashMap<u32, usize>,
    waiting: HashMap<DiskDirection, BTreeMap<u64, VecDeque<QueuedSectors>>>,
    flights: Flights<(DiskDirection, u64), IssuedRequest>,
    sizes: BTreeMap<u64, u64>,
    requests: u64,
    merged: u64,
    others: u64,
}

/// Follows the operations of our threads, each of `operation_bytes`; without a size, every piece is
/// an operation.
pub(crate) fn split(disks: &[Disk], recording: Recording, operation_bytes: Option<u64>) -> KernelSplit {
    let Recording { mut events, lost } = recording;
    // The buffers of the CPUs are read alternately. Within one µs the order of reading is kept: a
    // request may be issued, requeued and issued again in it.
    events.sort_by_key(|event| event.at_ns);
    let wanted_sectors = operation_bytes.map(|bytes| bytes / SECTOR_BYTES);
    let mut splitting = Splitting::default();
    for event in &events {
        let writes = match event.letters.verb {
            BlockVerb::Read => false,
            BlockVerb::Write => true,
            _ => continue,
        };
        let Some(disk) = disks.iter().position(|disk| disk.numbers.contains(&event.device)) else { continue };
        if event.sectors > 0 {
            splitting.take((disk, writes), event, wanted_sectors);
        }
    }
    splitting.finish(disks, wanted_sectors, lost)
}

impl Splitting {
    fn take(&mut self, side: DiskDirection, event: &BlockEvent, wanted_sectors: Option<u64>) {
        match event.tracepoint {
            Tracepoint::Queued if event.ours => self.arrive(side, event, wanted_sectors),
            Tracepoint::Issued => self.issue(side, event),
            Tracepoint::Requeued => self.give_back(side, event),
            Tracepoint::Completed => self.complete(side, event),
            Tracepoint::Queued | Tracepoint::Ended => {}
        }
    }

    fn arrive(&mut self, side: DiskDirection, event: &BlockEvent, wanted_sectors: Option<u64>) {
        let sectors = u64::from(event.sectors);
        let room =
            |operation: &Followed| wanted_sectors.is_some_and(|all| operation.sectors + sectors <= all);
        let begun = self.open.get(&event.thread).copied().filter(|index| room(&self.operations[*index]));
        let operation = begun.unwrap_or_else(|| {
            self.operations.push(Followed { begun_ns: event.at_ns, ..Followed::default() });
            self.operations.len() - 1
        });
        self.operations[operation].sectors += sectors;
        self.open.insert(event.thread, operation);
        let piece = QueuedSectors { end: event.sector + sectors, operation };
        self.waiting.entry(side).or_default().entry(event.sector).or_default().push_back(piece);
    }

    /// Issues a request with all pieces that wait for its sectors.
    fn issue(&mut self, side: DiskDirection, event: &BlockEvent) {
        let (start, end) = (event.sector, event.sector + u64::from(event.sectors));
        let parts =
            self.waiting.get_mut(&side).map(|waiting| cut_out(waiting, start, end)).unwrap_or_default();
        if parts.is_empty() {
            self.others += 1;
            return;
        }
        self.requests += 1;
        *self.sizes.entry((end - start) * SECTOR_BYTES).or_default() += 1;
        if parts.iter().any(|(operation, _)| *operation != parts[0].0) {
            self.merged += 1;
        }
        let flight = IssuedRequest { issued_ns: event.at_ns, rest_sectors: end - start, parts };
        self.flights.entry((side, start)).or_default().push_back(flight);
    }

    /// Requeues a request: its sectors wait again.
    fn give_back(&mut self, side: DiskDirection, event: &BlockEvent) {
        let Some(flight) = land(&mut self.flights, &(side, event.sector)) else { return };
        self.requests -= 1;
        if let Some(count) = self.sizes.get_mut(&(flight.rest_sectors * SECTOR_BYTES)) {
            *count = count.saturating_sub(1);
        }
        if flight.parts.iter().any(|(operation, _)| *operation != flight.parts[0].0) {
            self.merged -= 1;
        }
        let waiting = self.waiting.entry(side).or_default();
        let mut start = event.sector;
        for (operation, sectors) in flight.parts {
            waiting.entry(start).or_default().push_front(QueuedSectors { end: start + sectors, operation });
            start += sectors;
        }
    }

    fn complete(&mut self, side: DiskDirection, event: &BlockEvent) {
        let Some(mut flight) = land(&mut self.flights, &(side, event.sector)) else { return };
        let sectors = u64::from(event.sectors);
        if sectors < flight.rest_sectors {
            flight.rest_sectors -= sectors;
            self.flights.entry((side, event.sector + sectors)).or_default().push_back(flight);
            return;
        }
        for (index, sectors) in flight.parts {
            let operation = &mut self.operations[index];
            operation.done_sectors += sectors;
            operation.in_device.push((flight.issued_ns, event.at_ns));
            operation.ended_ns = operation.ended_ns.max(event.at_ns);
        }
    }

    fn finish(self, disks: &[Disk], wanted_sectors: Option<u64>, lost_events: u64) -> KernelSplit {
        let devices = disks.iter().map(|disk| disk.name.clone()).collect();
        if lost_events > 0 {
            // A completion that is missing would be taken from a later request for the same
            // sectors, so no figure would be reliable.
            let unfollowed_operations = self.operations.len() as u64;
            return KernelSplit { devices, unfollowed_operations, lost_events, ..KernelSplit::default() };
        }
        let whole = |one: &&Followed| {
            one.done_sectors == one.sectors && wanted_sectors.is_none_or(|all| one.sectors == all)
        };
        let (mut queue_ns, mut device_ns) = (Vec::new(), Vec::new());
        for operation in self.operations.iter().filter(whole) {
            let in_device_ns = union_ns(&operation.in_device);
            let whole_ns = operation.ended_ns.saturating_sub(operation.begun_ns);
            device_ns.push(in_device_ns);
            queue_ns.push(whole_ns.saturating_sub(in_device_ns));
        }
        let operations = device_ns.len() as u64;
        KernelSplit {
            devices,
            operations,
            unfollowed_operations: self.operations.len() as u64 - operations,
            queue: summary(queue_ns),
            device: summary(device_ns),
            rest_mean_ns: None,
            requests: self.requests,
            merged_requests: self.merged,
            request_sizes: self
                .sizes
                .into_iter()
                .filter(|(_, count)| *count > 0)
                .map(|(size_bytes, count)| RequestSize { size_bytes, count })
                .collect(),
            other_requests: self.others,
            lost_events,
        }
    }
}

/// Removes the waiting sectors in a range, and returns their operations with the number of sectors.
fn cut_out(waiting: &mut BTreeMap<u64, VecDeque<QueuedSectors>>, start: u64, end: u64) -> Vec<(usize, u64)> {
    let mut parts = Vec::new();
    let mut at = start;
    while at < end {
        // Waiting pieces begin where a request begins, because requests take them from their start.
        let Some((&from, pieces)) = waiting.range_mut(at..end).next() else { break };
        let Some(piece) = pieces.pop_front() else { break };
        if pieces.is_empty() {
            waiting.remove(&from);
        }
        let until = piece.end.min(end);
        parts.push((piece.operation, until - from));
        if piece.end > until {
            waiting.entry(until).or_default().push_back(piece);
        }
        at = until;
    }
    parts
}

/// Returns the time covered by the spans, counting overlaps once.
fn union_ns(spans: &[(u64, u64)]) -> u64 {
    let mut spans = spans.to_vec();
    spans.sort_unstable();
    let (mut covered, mut until) = (0u64, 0u64);
    for (from, to) in spans {
        covered = covered.saturating_add(to.saturating_sub(from.max(until)));
        until = until.max(to);
    }
    covered
}

fn summary(mut times_ns: Vec<u64>) -> TimeSplit {
    if times_ns.is_empty() {
        return TimeSplit::default();
    }
    times_ns.sort_unstable();
    // Percentile without interpolation, as for histograms.
    let at =
        |share: f64| times_ns[((share * times_ns.len() as f64).ceil() as usize).clamp(1, times_ns.len()) - 1];
    let sum: f64 = times_ns.iter().map(|ns| *ns as f64).sum();
    TimeSplit { mean_ns: sum / times_ns.len() as f64, p50_ns: at(0.5), p99_ns: at(0.99) }
}

/// Completes the split with the time that the driver measured in addition. Both count the same
/// operations, so the means can be subtracted; percentiles cannot.
pub(crate) fn with_rest(split: &KernelSplit, repetition: &Repetition) -> KernelSplit {
    KernelSplit { rest_mean_ns: rest_ns(split, repetition), ..split.clone() }
}

/// Returns the mean time that the driver measured beyond the kernel's queues and the device.
fn rest_ns(split: &KernelSplit, repetition: &Repetition) -> Option<f64> {
    let sides = [&repetition.read.latency, &repetition.write.latency];
    let count: u64 = sides.iter().map(|side| side.count).sum();
    let sum_ns: f64 = sides.iter().map(|side| side.sum_ns as f64).sum();
    let differ = split.operations.abs_diff(count) as f64;
    (count > 0 && split.operations > 0 && differ <= (count as f64 * SAME_COUNT).max(1.0))
        .then(|| sum_ns / count as f64 - split.queue.mean_ns - split.device.mean_ns)
}

#[cfg(test)]
mod tests {
    use super::super::event::{Read, read_line_of};
    use super::*;
    use kurabe_core::record::{LatencyRecord, OpsRecord};
    use proptest::prelude::*;

    fn disk() -> Disk {
        Disk { name: "vda".to_owned(), numbers: vec![(254, 0), (254, 1)] }
    }

    fn of(lines: &str, operation_bytes: Option<u64>) -> KernelSplit {
        let ours = |_: u32, comm: &str| comm == "kurabe-io";
        let events = lines.lines().filter_map(|line| match read_line_of(line, &ours) {
            Read::Event(event) => Some(event),
            _ => None,
        });
        split(&[disk()], Recording { events: events.collect(), lost: 0 }, operation_bytes)
    }

    #[test]
    fn an_operation_waits_and_is_served() {
        // Arrives at 0, is issued after 20 µs and completed after 100 µs; a request of another
        // process does not count.
        let split = of(
            "
 kurabe-io-9 [000] . 1.000000: block_bio_queue: 254,1 R 2048 + 8 [kurabe-io]
 kurabe-io-9 [000] . 1.000020: block_rq_issue: 254,0 R 4096 () 2048 + 8 be,0,4 [kurabe-io]
 kworker-7 [000] . 1.000030: block_bio_queue: 254,1 W 9000 + 8 [kworker]
 kworker-7 [000] . 1.000031: block_rq_issue: 254,0 W 4096 () 9000 + 8 be,0,4 [kworker]
 idle-0 [000] . 1.000100: block_rq_complete: 254,0 R () 2048 + 8 be,0,4 [0]",
            Some(4096),
        );
        assert_eq!((split.operations, split.unfollowed_operations, split.requests), (1, 0, 1));
        assert_eq!((split.queue.mean_ns, split.device.mean_ns), (20_000.0, 80_000.0));
        assert_eq!((split.other_requests, split.merged_requests), (1, 0));
        assert_eq!(split.request_sizes, [RequestSize { size_bytes: 4096, count: 1 }]);
    }

    #[test]
    fn an_operation_that_is_split_ends_with_its_last_part() {
        // 16 KiB arrive in two pieces and are issued in three requests, two of which overlap in the
        // device.
        let split = of(
            "
 k-9 [000] . 1.000000: block_bio_queue: 254,0 W 0 + 16 [kurabe-io]
 k-9 [000] . 1.000001: block_bio_queue: 254,0 W 16 + 16 [kurabe-io]
 k-9 [000] . 1.000010: block_rq_issue: 254,0 W 4096 () 0 + 8 [kurabe-io]
 k-9 [000] . 1.000020: block_rq_issue: 254,0 W 4096 () 8 + 8 [kurabe-io]
 k-9 [000] . 1.000030: block_rq_complete: 254,0 W () 0 + 8 [0]
 k-9 [000] . 1.000040: block_rq_complete: 254,0 W () 8 + 8 [0]
 k-9 [000] . 1.000050: block_rq_issue: 254,0 W 8192 () 16 + 16 [kurabe-io]
 k-9 [000] . 1.000090: block_rq_complete: 254,0 W () 16 + 16 [0]",
            Some(16 << 10),
        );
        assert_eq!((split.operations, split.requests), (1, 3));
        assert_eq!((split.queue.p50_ns, split.device.p50_ns), (20_000, 70_000));
        assert_eq!(split.requests_per_operation(), Some(3.0));
        let sizes: Vec<(u64, u64)> =
            split.request_sizes.iter().map(|size| (size.size_bytes, size.count)).collect();
        assert_eq!(sizes, [(4096, 2), (8192, 1)]);
    }

    #[test]
    fn operations_that_are_merged_are_one_request() {
        let split = of(
            "
 k-9 [000] . 1.000000: block_bio_queue: 254,0 W 0 + 8 [kurabe-io]
 k-9 [000] . 1.000004: block_bio_queue: 254,0 W 8 + 8 [kurabe-io]
 k-9 [000] . 1.000010: block_rq_issue: 254,0 W 8192 () 0 + 16 [kurabe-io]
 k-9 [000] . 1.000030: block_rq_complete: 254,0 W () 0 + 8 [0]
 k-9 [000] . 1.000050: block_rq_complete: 254,0 W () 8 + 8 [0]",
            Some(4096),
        );
        assert_eq!((split.operations, split.requests, split.merged_requests), (2, 1, 1));
        assert_eq!((split.queue.mean_ns, split.device.mean_ns), (8_000.0, 40_000.0));
    }

    #[test]
    fn what_is_given_back_waits_again_and_what_does_not_end_is_told() {
        let split = of(
            "
 k-9 [000] . 1.000000: block_bio_queue: 254,0 R 0 + 8 [kurabe-io]
 k-9 [000] . 1.000010: block_rq_issue: 254,0 R 4096 () 0 + 8 [kurabe-io]
 k-9 [000] . 1.000010: block_rq_requeue: 254,0 R () 0 + 8 [0]
 k-9 [000] . 1.000010: block_rq_issue: 254,0 R 4096 () 0 + 8 [kurabe-io]
 k-9 [000] . 1.000020: block_rq_requeue: 254,0 R () 0 + 8 [0]
 k-9 [000] . 1.000040: block_rq_issue: 254,0 R 4096 () 0 + 8 [kurabe-io]
 k-9 [000] . 1.000090: block_rq_complete: 254,0 R () 0 + 8 [0]
 k-9 [000] . 1.000100: block_bio_queue: 254,0 R 64 + 8 [kurabe-io]",
            Some(4096),
        );
        assert_eq!((split.operations, split.unfollowed_operations, split.requests), (1, 1, 1));
        assert_eq!(split.other_requests, 0, "each issue found its operation");
        assert_eq!((split.queue.mean_ns, split.device.mean_ns), (40_000.0, 50_000.0));
    }

    #[test]
    fn where_events_are_missing_nothing_is_told() {
        let event = |line| match read_line_of(line, &|_, _| true) {
            Read::Event(event) => event,
            other => panic!("{other:?}"),
        };
        let events = vec![
            event(" k-9 [0] . 1.000000: block_bio_queue: 254,0 R 0 + 8 [k]"),
            event(" k-9 [0] . 1.000010: block_rq_issue: 254,0 R 4096 () 0 + 8 [k]"),
            event(" k-9 [0] . 9.000000: block_rq_complete: 254,0 R () 0 + 8 [0]"),
        ];
        let split = split(&[disk()], Recording { events, lost: 3 }, Some(4096));
        assert_eq!((split.operations, split.unfollowed_operations, split.lost_events), (0, 1, 3));
        assert_eq!((split.requests, split.device), (0, TimeSplit::default()));
    }

    proptest! {
        #[test]
        fn no_operation_is_longer_than_from_arrival_to_completion(
            starts in prop::collection::vec((0..50_u64, 1..4_u32, 0..40_u64, 1..40_u64), 1..40),
        ) {
            let mut lines = String::new();
            let mut longest_ns = 0;
            for (number, (sector, blocks, wait, serve)) in starts.iter().enumerate() {
                let (at, sectors) = (number as u64 * 100, blocks * 8);
                let sector = sector * 32;
                lines += &format!("k-9 [0] . 1.{at:06}: block_bio_queue: 254,0 R {sector} + {sectors} [kurabe-io]\n");
                lines += &format!("k-9 [0] . 1.{:06}: block_rq_issue: 254,0 R 0 () {sector} + {sectors} \
                    [k]\n", at + wait);
                lines += &format!("k-9 [0] . 1.{:06}: block_rq_complete: 254,0 R () {sector} + {sectors} \
                    [0]\n", at + wait + serve);
                longest_ns = longest_ns.max((wait + serve) * 1000);
            }
            let split = of(&lines, None);
            prop_assert_eq!(split.operations, starts.len() as u64);
            prop_assert!(split.queue.p99_ns.max(split.device.p99_ns) <= longest_ns);
            let waits: u64 = starts.iter().map(|(_, _, wait, _)| wait * 1000).sum();
            prop_assert!((split.queue.mean_ns * starts.len() as f64 - waits as f64).abs() < 1.0);
        }
    }

    #[test]
    fn the_rest_is_what_both_do_not_cover() {
        let part = |mean_ns| TimeSplit { mean_ns, ..TimeSplit::default() };
        let split = KernelSplit {
            operations: 1000,
            queue: part(5_000.0),
            device: part(60_000.0),
            ..KernelSplit::default()
        };
        let latency = LatencyRecord { count: 1001, sum_ns: 1001 * 80_000, ..LatencyRecord::default() };
        let one = Repetition { read: OpsRecord { latency, ..OpsRecord::default() }, ..Repetition::default() };
        assert_eq!(rest_ns(&split, &one), Some(15_000.0));
        // The kernel saw other operations than the driver, so nothing can be computed.
        assert_eq!(rest_ns(&KernelSplit { operations: 900, ..split }, &one), None);
        assert_eq!(rest_ns(&KernelSplit::default(), &one), None);
    }
}
