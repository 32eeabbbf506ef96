//! Adapter of a stack to the driver's `Model` trait: it behaves like a real device, with virtual
//! time as its clock.

use crate::layer::Volatile;
use crate::spec::DeviceSpec;
use crate::stack::Stack;
use crate::world::{CompletedRequest, Request, RequestKind};
use kurabe_core::device::{self, Buffer, Device, Wait};
use kurabe_core::model::{CopyHabits, Model, ModelRecord, Queues, TimeAccount, TimeSums};
use kurabe_core::workload::OpKind;
use kurabe_core::{ErrorKind, Result, text};

/// Copying of files if the host does not specify it: 64 KiB at a time, alternating reads and
/// writes, with negligible time for memory copies.
const PLAIN_COPY: CopyHabits = CopyHabits {
    piece_bytes: 64 << 10,
    iodepth: 1,
    read_gap_ns: 0,
    write_gap_ns: 0,
    turn_bytes: 64 << 10,
    memory_read_bytes_per_s: 5e9,
    memory_write_bytes_per_s: 5e9,
};

/// A modelled device as a target of the driver.
pub struct ModelTarget {
    spec: DeviceSpec,
    stack: Stack,
}

impl ModelTarget {
    /// Builds the stack of a device.
    ///
    /// # Errors
    /// Returns an error if its parameters are inconsistent.
    pub fn new(spec: &DeviceSpec, seed: u64) -> Result<Self> {
        Ok(Self { stack: Stack::new(spec, seed)?, spec: spec.clone() })
    }

    /// Returns the specification of the modelled device.
    pub fn spec(&self) -> &DeviceSpec {
        &self.spec
    }

    /// Returns what a power cut at this moment would lose or spare, by layer.
    pub fn volatile(&self) -> Vec<(&str, Volatile)> {
        self.stack.volatile()
    }
}

impl Model for ModelTarget {
    type Device<'m> = ModelDevice<'m>;

    fn span_bytes(&self) -> u64 {
        self.stack.capacity_bytes()
    }

    fn device(&mut self, queues: Queues) -> ModelDevice<'_> {
        // Earlier sums belong to no operation of this device.
        self.stack.take_sums();
        self.stack.keep_each(false);
        ModelDevice { stack: &mut self.stack, queues, flying: (0..queues.slots()).map(|_| None).collect() }
    }

    fn now_ns(&self) -> u64 {
        self.stack.now_ns()
    }

    fn idle(&mut self, length_ns: u64) {
        self.stack.advance(self.stack.now_ns().saturating_add(length_ns));
    }

    fn kept_at(&self, offset_bytes: u64) -> Option<u64> {
        self.stack.kept_at(offset_bytes)
    }

    fn copy_habits(&self) -> CopyHabits {
        self.stack.copy_habits().unwrap_or(PLAIN_COPY)
    }

    fn record(&self) -> ModelRecord {
        self.stack.record(&self.spec)
    }

    fn account(&self, sums: &TimeSums) -> TimeAccount {
        self.stack.account(sums)
    }
}

/// A buffer without data: it only records which bytes of the device it would hold.
#[derive(Debug)]
pub struct ModelBuffer {
    slot: usize,
    holds: Option<(u64, u32)>,
}

impl ModelBuffer {
    /// Returns whether it begins with these bytes of the device.
    fn has(&self, offset_bytes: u64, length_bytes: u32) -> bool {
        self.holds.is_some_and(|(from_bytes, bytes)| from_bytes == offset_bytes && bytes >= length_bytes)
    }

    /// Updates its contents after an operation.
    fn fill(&mut self, kind: OpKind, offset_bytes: u64, length_bytes: u32) {
        // A repeated read of the beginning leaves the rest unchanged.
        if kind == OpKind::Read && !self.has(offset_bytes, length_bytes) {
            self.holds = Some((offset_bytes, length_bytes));
        }
    }
}

impl Buffer for ModelBuffer {
    fn slot(&self) -> usize {
        self.slot
    }

    fn bytes_mut(&mut self, _length: usize) -> &mut [u8] {
        // A caller that takes the bytes is going to change them.
        self.holds = None;
        &mut []
    }
}

/// The device of a modelled target.
pub struct ModelDevice<'m> {
    stack: &'m mut Stack,
    queues: Queues,
    flying: Vec<Option<(ModelBuffer, OpKind, u64, u32)>>,
}

impl Device for ModelDevice<'_> {
    type Buffer = ModelBuffer;

    fn take_buffers(&mut self) -> Vec<ModelBuffer> {
        (0..self.flying.len()).map(|slot| ModelBuffer { slot, holds: None }).collect()
    }

    fn now_ns(&mut self) -> u64 {
        self.stack.now_ns()
    }

    fn submit(&mut self, request: device::Submission<ModelBuffer>, now_ns: u64) -> Result<u64> {
        let (op, buffer) = (request.op, request.buffer);
        if op.kind == OpKind::Trim && !self.stack.knows(RequestKind::Trim) {
            return Err(ErrorKind::Unsupported
                .error(text!("this model does not support discards", "このモデルに破棄(TRIM)はありません"))
                .remedy(text!(
                    "use a model of a device with TRIM, such as an SSD",
                    "SSD など、TRIM のある機器のモデルを使ってください"
                )));
        }
        let kind = match op.kind {
            OpKind::Read => RequestKind::Read,
            OpKind::Write => RequestKind::Write,
            OpKind::Sync => RequestKind::Flush,
            OpKind::Trim => RequestKind::Trim,
        };
        let slot = buffer.slot;
        let request = Request {
            identical: kind == RequestKind::Write && buffer.has(op.offset_bytes, op.length_bytes),
            fua: self.queues.o_sync && kind == RequestKind::Write,
            thread: (slot / self.queues.iodepth.max(1) as usize) as u16,
            ..Request::new(kind, op.offset_bytes, op.length_bytes)
        };
        self.flying[slot] = Some((buffer, op.kind, op.offset_bytes, op.length_bytes));
        self.stack.submit(now_ns, request, slot as u64);
        Ok(now_ns)
    }

    fn reap(&mut self, wait: Wait, done: &mut impl FnMut(device::Completion<ModelBuffer>)) -> Result<()> {
        let mut any = false;
        loop {
            self.stack.check_sound()?;
            while let Some(completion) = self.stack.take_completion() {
                let Some((mut buffer, kind, offset_bytes, length_bytes)) =
                    self.flying[completion.token as usize].take()
                else {
                    return Err(ErrorKind::Internal.error(text!(
                        "the model completed a request twice",
                        "モデルが同じ要求を二度完了しました"
                    )));
                };
                buffer.fill(kind, offset_bytes, length_bytes);
                let CompletedRequest { outcome, at_ns: completed_at_ns, .. } = completion;
                done(device::Completion { buffer, outcome, completed_at_ns });
                any = true;
            }
            let limit_ns = match wait {
                _ if any => return Ok(()),
                Wait::One if self.stack.in_flight() == 0 => return Ok(()),
                Wait::One => u64::MAX,
                Wait::Until(limit_ns) => limit_ns,
            };
            match self.stack.next_wake_ns() {
                Some(at_ns) if at_ns <= limit_ns => self.stack.advance_to_completion(limit_ns),
                _ => {
                    if wait == Wait::One {
                        self.stack.check_not_blocked()?;
                    }
                    self.stack.advance(limit_ns);
                    return Ok(());
                }
            }
        }
    }

    fn take_sums(&mut self) -> Option<TimeSums> {
        Some(self.stack.take_sums())
    }

    fn keep_each(&mut self) {
        self.stack.keep_each(true);
    }

    fn take_each(&mut self) -> Vec<Vec<u64>> {
        self.stack.take_each()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_knows_whether_a_write_changes_anything() {
        let mut buffer = ModelBuffer { slot: 0, holds: None };
        buffer.fill(OpKind::Read, 4096, 8192);
        // As GNOME Disks does: a page at the same offset is read into the beginning of the buffer,
        // then the whole buffer is written back.
        buffer.fill(OpKind::Read, 4096, 4096);
        assert_eq!(buffer.holds, Some((4096, 8192)));
        buffer.fill(OpKind::Write, 0, 512);
        assert_eq!(buffer.holds, Some((4096, 8192)));
        buffer.fill(OpKind::Read, 0, 4096);
        assert_eq!(buffer.holds, Some((0, 4096)));
        buffer.bytes_mut(1);
        assert_eq!(buffer.holds, None);
    }
}
