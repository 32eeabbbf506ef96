//! Single operations on a device, one by one or several at once, with the time of each: the bench on
//! which a device is identified.
//!
//! The same loop runs on real devices and on models. Written blocks may carry a stamp: a mark of
//! this bench and the address to which they were written. A model stores no data, so its bench
//! remembers the stamps by the places that keep them.

use crate::clock::{monotonic_ns, sleep_until};
use crate::drive::buffer::{Arena, Pages};
use crate::drive::device_threads::ThreadsDevice;
use crate::drive::device_uring::{Ring, WaitMode};
use crate::platform::forget_cached;
use crate::target::Target;
use kurabe_core::device::{Buffer, Device, ErrorNumber, Submission, Wait};
use kurabe_core::model::{Model, Queues};
use kurabe_core::random::Random;
use kurabe_core::record::TargetKind;
use kurabe_core::workload::{Op, OpKind, SyncRule};
use kurabe_core::{Error, Result, text};
use kurabe_identify::{BenchFacts, DeviceBench, Manner, Performed};
use kurabe_program::Stop;
use std::collections::BTreeMap;

/// Fills the buffer of a write, or reads that of a read, and returns what it identified.
type WrittenData<'a> = &'a mut dyn FnMut(&Op, &mut [u8], bool) -> Option<u64>;

/// Most operations in flight.
const MOST_IN_FLIGHT: usize = 32;
/// Bytes of the longest operation.
const LARGEST_BYTES: usize = 1 << 20;
/// A stamp is at the beginning of each block of this size.
const STAMPED_BYTES: usize = 4096;
/// How often a stop is checked during a rest, in ns.
const LOOK_NS: u64 = 100_000_000;

/// Performs operations on a device, whose free buffers are given.
fn perform<D: Device>(
    device: &mut D,
    free: &mut Vec<D::Buffer>,
    (ops, depth): (&[Op], usize),
    stop: &Stop,
    data: WrittenData<'_>,
) -> Result<Vec<Performed>> {
    let mut performed = vec![Performed::default(); ops.len()];
    let mut flights: Vec<(usize, D::Buffer)> = Vec::new();
    let mut by_slot = BTreeMap::new();
    let (mut next, mut open) = (0, 0);
    while next < ops.len() || open > 0 {
        stop.check()?;
        while next < ops.len() && open < depth.max(1) {
            let Some(mut buffer) = free.pop() else { break };
            let op = ops[next];
            if op.kind == OpKind::Write {
                data(&op, buffer.bytes_mut(op.length_bytes as usize), true);
            }
            by_slot.insert(buffer.slot(), next);
            let now_ns = device.now_ns();
            performed[next].start_ns = now_ns;
            device.submit(Submission { op, buffer }, now_ns)?;
            (next, open) = (next + 1, open + 1);
        }
        let mut failed = None;
        device.reap(Wait::One, &mut |done| {
            let Some(index) = by_slot.remove(&done.buffer.slot()) else { return };
            performed[index].end_ns = done.completed_at_ns;
            if let Err(number) = done.outcome {
                failed = Some(number);
            }
            flights.push((index, done.buffer));
        })?;
        for (index, mut buffer) in flights.drain(..) {
            open -= 1;
            if ops[index].kind == OpKind::Read {
                let bytes = buffer.bytes_mut(ops[index].length_bytes as usize);
                performed[index].stamp_bytes = data(&ops[index], bytes, false);
            }
            free.push(buffer);
        }
        if let Some(number) = failed {
            return Err(operation_failed(number));
        }
    }
    Ok(performed)
}

fn operation_failed(ErrorNumber(number): ErrorNumber) -> Error {
    let error = std::io::Error::from_raw_os_error(number);
    Error::os(text!("an operation of a probe failed", "調査の読み書きに失敗しました"), &error)
}

/// The mark of a bench in the blocks that it writes.
struct Stamp(u64);

impl Stamp {
    fn put(&self, op: &Op, bytes: &mut [u8]) {
        for (number, block) in bytes.chunks_mut(STAMPED_BYTES).enumerate() {
            let address = op.offset_bytes + (number * STAMPED_BYTES) as u64;
            if let Some(head) = block.get_mut(..16) {
                head[..8].copy_from_slice(&self.0.to_le_bytes());
                head[8..].copy_from_slice(&address.to_le_bytes());
            }
        }
    }

    fn of(&self, bytes: &[u8]) -> Option<u64> {
        let word = |from: usize| bytes.get(from..from + 8)?.try_into().ok().map(u64::from_le_bytes);
        (word(0)? == self.0).then(|| word(8))?
    }
}

/// A model as a bench.
pub struct ModelBench<'m, M: Model> {
    model: &'m mut M,
    writes: bool,
    stop: &'m Stop,
    /// Stamps by the place that keeps them.
    stamps: BTreeMap<u64, u64>,
}

impl<'m, M: Model> ModelBench<'m, M> {
    /// Takes a model, which may be written or not.
    pub fn new(model: &'m mut M, writes: bool, stop: &'m Stop) -> Self {
        Self { model, writes, stop, stamps: BTreeMap::new() }
    }

    /// Updates the stamps after operations.
    fn remember(&mut self, ops: &[Op], performed: &mut [Performed], manner: Manner) {
        for (op, done) in ops.iter().zip(performed) {
            match op.kind {
                OpKind::Write if manner.is_stamped || !self.stamps.is_empty() => {
                    for block in (0..u64::from(op.length_bytes)).step_by(STAMPED_BYTES) {
                        let address = op.offset_bytes + block;
                        let Some(place) = self.model.kept_at(address) else { continue };
                        if manner.is_stamped {
                            self.stamps.insert(place, address);
                        } else {
                            self.stamps.remove(&place);
                        }
                    }
                }
                OpKind::Read if manner.is_stamped => {
                    let place = self.model.kept_at(op.offset_bytes);
                    done.stamp_bytes = place.and_then(|place| self.stamps.get(&place).copied());
                }
                _ => {}
            }
        }
    }
}

impl<M: Model> DeviceBench for ModelBench<'_, M> {
    fn facts(&self) -> BenchFacts {
        BenchFacts {
            span_bytes: self.model.span_bytes(),
            unit_bytes: 512,
            is_device: true,
            is_new_file: false,
            is_writable: self.writes,
            most_in_flight: MOST_IN_FLIGHT,
            is_model: true,
            may_reorder: false,
        }
    }

    fn rest(&mut self, length_ns: u64) -> Result<()> {
        self.model.idle(length_ns);
        self.stop.check()
    }

    fn perform(&mut self, ops: &[Op], manner: Manner) -> Result<Vec<Performed>> {
        let queues = Queues { threads: 1, iodepth: manner.depth as u32, o_sync: manner.is_durable };
        let mut performed = {
            let mut device = self.model.device(queues);
            let mut buffers = device.take_buffers();
            perform(&mut device, &mut buffers, (ops, manner.depth), self.stop, &mut |_, _, _| None)?
        };
        self.remember(ops, &mut performed, manner);
        Ok(performed)
    }

    fn forget(&mut self) -> Result<bool> {
        Ok(false)
    }
}

/// A device with its free buffers.
trait OpenLane {
    fn perform(&mut self, jobs: (&[Op], usize), stop: &Stop, data: WrittenData<'_>)
    -> Result<Vec<Performed>>;
}

impl<D: Device> OpenLane for (D, Vec<D::Buffer>) {
    fn perform(
        &mut self,
        jobs: (&[Op], usize),
        stop: &Stop,
        data: WrittenData<'_>,
    ) -> Result<Vec<Performed>> {
        perform(&mut self.0, &mut self.1, jobs, stop, data)
    }
}

/// A real target as a bench.
struct TargetBench<'b> {
    target: &'b Target,
    facts: BenchFacts,
    plain: Box<dyn OpenLane + 'b>,
    durable: Option<Box<dyn OpenLane + 'b>>,
    /// Contents of writes: random, so that no drive can compress them.
    contents: Vec<u8>,
    stamp: Stamp,
    stop: &'b Stop,
}

impl DeviceBench for TargetBench<'_> {
    fn facts(&self) -> BenchFacts {
        self.facts
    }

    fn rest(&mut self, length_ns: u64) -> Result<()> {
        let end_ns = monotonic_ns().saturating_add(length_ns);
        loop {
            self.stop.check()?;
            let now_ns = monotonic_ns();
            if now_ns >= end_ns {
                return Ok(());
            }
            sleep_until(end_ns.min(now_ns + LOOK_NS));
        }
    }

    fn perform(&mut self, ops: &[Op], manner: Manner) -> Result<Vec<Performed>> {
        let (stamp, contents) = (&self.stamp, &self.contents);
        let mut data = |op: &Op, bytes: &mut [u8], is_write: bool| {
            if !is_write {
                return manner.is_stamped.then(|| stamp.of(bytes)).flatten();
            }
            // The buffer still has what was read or stamped before.
            bytes.copy_from_slice(&contents[..bytes.len()]);
            if manner.is_stamped {
                stamp.put(op, bytes);
            }
            None
        };
        let lane = match &mut self.durable {
            Some(durable) if manner.is_durable => durable,
            _ => &mut self.plain,
        };
        lane.perform((ops, manner.depth.min(self.facts.most_in_flight)), self.stop, &mut data)
    }

    fn forget(&mut self) -> Result<bool> {
        let file = self.target.open_file(false, SyncRule::default())?;
        Ok(forget_cached(&file).is_ok())
    }
}

/// How a target is used as a bench.
#[derive(Clone, Copy, Debug)]
pub struct BenchRules {
    /// Seed of the data that is written.
    pub seed: u64,
    /// Whether probes may write, where the target allows it.
    pub writes: bool,
    /// Whether something above the device may reorder operations.
    pub may_reorder: bool,
}

/// Opens a target as a bench and passes it to `work`.
///
/// # Errors
/// When the target cannot be opened, and those of `work`.
pub fn on_target<T>(
    target: &Target,
    rules: BenchRules,
    stop: &Stop,
    work: impl FnOnce(&mut dyn DeviceBench) -> Result<T>,
) -> Result<T> {
    let record = target.facts();
    let is_new_file = record.kind == TargetKind::Directory;
    let writes = is_new_file || (rules.writes && record.writable);
    let durable_rule = SyncRule { o_sync: true, data_only: true, ..SyncRule::default() };
    let rules_of_lanes = || [Some(SyncRule::default()), writes.then_some(durable_rule)].into_iter().flatten();
    let mut rings = Vec::new();
    for rule in rules_of_lanes() {
        let opened = target.open_lane(writes, rule)?;
        let Ok(ring) = Ring::open(opened.file, MOST_IN_FLIGHT, LARGEST_BYTES, Pages::Small, WaitMode::Sleep)
        else {
            // Without a ring for each lane, threads serve all of them.
            rings.clear();
            break;
        };
        rings.push(ring);
    }
    let mut arenas = Vec::new();
    if rings.is_empty() {
        for _ in rules_of_lanes() {
            arenas.push(Arena::new(1, LARGEST_BYTES, Pages::Small)?.0);
        }
    }
    let mut random = Random::new(rules.seed, 1);
    let mut lanes: Vec<Box<dyn OpenLane + '_>> = Vec::new();
    let most_in_flight = if rings.is_empty() { 1 } else { MOST_IN_FLIGHT };
    for (ring, facts) in &mut rings {
        let mut device = ring.device(facts);
        let buffers = device.take_buffers();
        lanes.push(Box::new((device, buffers)));
    }
    for (rule, arena) in rules_of_lanes().zip(&mut arenas) {
        let mut device = ThreadsDevice::new(target.open_lane(writes, rule)?, arena);
        let buffers = device.take_buffers();
        lanes.push(Box::new((device, buffers)));
    }
    let mut lanes = lanes.into_iter();
    let Some(plain) = lanes.next() else { return Err(Error::no_thread(&std::io::Error::other("no lane"))) };
    let facts = BenchFacts {
        span_bytes: record.span_bytes / 4096 * 4096,
        unit_bytes: u64::from(record.alignment_bytes),
        is_device: record.kind == TargetKind::BlockDevice,
        is_new_file,
        is_writable: rules.writes && (is_new_file || record.writable),
        most_in_flight,
        is_model: false,
        may_reorder: rules.may_reorder,
    };
    let contents = (0..LARGEST_BYTES / 8).flat_map(|_| random.bits().to_le_bytes()).collect();
    let stamp = Stamp(random.bits());
    let mut bench = TargetBench { target, facts, plain, durable: lanes.next(), contents, stamp, stop };
    work(&mut bench)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_carries_its_address_and_those_of_others_are_no_stamps() {
        let (mine, other) = (Stamp(7), Stamp(8));
        let op = Op { kind: OpKind::Write, offset_bytes: 1 << 30, length_bytes: 8192 };
        let mut bytes = vec![0; 8192];
        mine.put(&op, &mut bytes);
        assert_eq!(mine.of(&bytes), Some(1 << 30));
        assert_eq!(mine.of(&bytes[4096..]), Some((1 << 30) + 4096));
        assert_eq!(other.of(&bytes), None);
    }
}
