//! File copies on a modelled target, as its host performs them.
//!
//! The parts and the loop are those of [`crate::steps::copy`], each timed from its first operation
//! to its last. The file occupies the first bytes of the device, and its copy follows it. The host
//! reads or writes in pieces, with several in flight and a pause before each. Reads and writes have
//! different pauses, because a program waits for the data it reads, while data it writes is
//! buffered and sent later. Within one device, the host alternates between reading and writing a
//! turn of pieces. A disk in memory adds the time that follows from its rate, before the piece is
//! written or after it was read.
//!
//! A page cache that reads ahead while it writes is not modelled. The device's own background work
//! is modelled by its layers.

use crate::drive::driver::operation_error;
use crate::drive::recorder::Recorder;
use crate::steps::copy_loop::{CopyEnds, CopySide, Pass, copy};
use crate::{context::Context, drive::rest::SYNC, modelled::Modelled, task::Attempt};
use kurabe_core::device::{Buffer, Completion, Device, Submission, Wait};
use kurabe_core::model::{CopyHabits, Model, Queues};
use kurabe_core::workload::{Op, OpKind};
use kurabe_core::{Error, ErrorKind, Result, mention::SIZE, profile::CopyPart, record::Repetition, text};
use kurabe_program::Stop;

impl<M: Model> Modelled<'_, M> {
    /// Performs all parts of a copy once.
    pub(crate) fn copy(&mut self, context: &Context<'_>, attempt: &Attempt) -> Result<Vec<Repetition>> {
        let size_bytes = context.profile.rules.size_bytes.min(self.model.span_bytes() / 2);
        let habits = self.model.copy_habits();
        let size_bytes = size_bytes - size_bytes % u64::from(habits.piece_bytes);
        if size_bytes == 0 {
            return Err(too_small());
        }
        CopyPart::ALL
            .iter()
            .map(|part| {
                context.interrupt.check()?;
                let attempt = Attempt { started_ns: self.model.now_ns() - context.started_ns, ..*attempt };
                self.copy_part(*part, size_bytes, &habits, context.interrupt, &attempt)
            })
            .collect()
    }

    fn copy_part(
        &mut self,
        part: CopyPart,
        size_bytes: u64,
        habits: &CopyHabits,
        interrupt: &Stop,
        attempt: &Attempt,
    ) -> Result<Repetition> {
        let memory_ns = |rate: f64| (size_bytes as f64 * 1e9 / rate).round() as u64;
        let memory_ns = match part {
            CopyPart::MemoryRead | CopyPart::FromMemory => memory_ns(habits.memory_read_bytes_per_s),
            CopyPart::MemoryWrite | CopyPart::ToMemory => memory_ns(habits.memory_write_bytes_per_s),
            CopyPart::Within => 0,
        };
        if matches!(part, CopyPart::MemoryRead | CopyPart::MemoryWrite) {
            return Ok(memory_part(part, size_bytes, memory_ns, attempt));
        }
        let turn_bytes = if part == CopyPart::Within { habits.turn_bytes } else { size_bytes };
        let pass = Pass::of(part, size_bytes, turn_bytes, size_bytes);
        let mut device = self.model.device(Queues::of_one(habits.iodepth));
        let mut host = CopyHost::new(&mut device, habits);
        let copied = copy(&mut host, &pass, interrupt)?;
        let recorder = host.into_recorder();
        let sums = device.take_sums();
        drop(device);
        Ok(Repetition {
            elapsed_ns: copied.elapsed_ns + memory_ns,
            end_sync_ns: copied.end_sync_ns.filter(|sync_ns| *sync_ns > 0),
            account: sums.map(|sums| self.model.account(&sums)),
            ..attempt.of(Recorder::merge(&[recorder]))
        })
    }
}

/// Returns the repetition of a part that does not access the device: one operation for all bytes.
fn memory_part(part: CopyPart, size_bytes: u64, elapsed_ns: u64, attempt: &Attempt) -> Repetition {
    let kind = if part == CopyPart::MemoryRead { OpKind::Read } else { OpKind::Write };
    let mut recorder = Recorder::new(None);
    // Split into pieces whose length fits the byte count of an operation.
    let pieces = size_bytes.div_ceil(u64::from(u32::MAX));
    for piece in 0..pieces {
        let at = |piece: u64| elapsed_ns * piece / pieces;
        let bytes = size_bytes * (piece + 1) / pieces - size_bytes * piece / pieces;
        recorder.submitted(kind);
        recorder.completed(kind, 0, bytes as u32, at(piece), at(piece + 1));
    }
    Repetition { elapsed_ns, ..attempt.of(Recorder::merge(&[recorder])) }
}

/// The host of a model during a copy, with several pieces in flight.
struct CopyHost<'d, D: Device> {
    device: &'d mut D,
    habits: &'d CopyHabits,
    buffers: Vec<D::Buffer>,
    /// The operations in flight, by slot.
    ops: Vec<Option<(Op, u64)>>,
    recorder: Recorder,
    start_ns: u64,
    /// When the host continues, in ns.
    free_ns: u64,
}

impl<D: Device> CopyEnds for CopyHost<'_, D> {
    fn now_ns(&mut self) -> u64 {
        self.free_ns
    }

    /// Reads or writes a range of bytes in pieces, and waits for all of them. Time spent on memory
    /// is added separately.
    fn carry(&mut self, kind: OpKind, side: CopySide, done_bytes: u64, length_bytes: u64) -> Result<()> {
        if !side.counted {
            return Ok(());
        }
        let CopyHabits { piece_bytes, read_gap_ns, write_gap_ns, .. } = *self.habits;
        let gap_ns = if kind == OpKind::Read { read_gap_ns } else { write_gap_ns };
        let mut next_bytes = 0;
        while next_bytes < length_bytes {
            let Some(buffer) = self.buffers.pop() else {
                self.wait()?;
                continue;
            };
            // The host prepares each piece. It handles no completions during that time.
            let at_ns = self.free_ns + gap_ns;
            self.free_ns = at_ns;
            self.reap(Wait::Until(at_ns))?;
            let offset_bytes = side.from_bytes + done_bytes + next_bytes;
            let length_bytes = u64::from(piece_bytes).min(length_bytes - next_bytes) as u32;
            self.submit(Op { kind, offset_bytes, length_bytes }, buffer, at_ns)?;
            next_bytes += u64::from(length_bytes);
        }
        while self.ops.iter().any(Option::is_some) {
            self.wait()?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        let Some(buffer) = self.buffers.pop() else { return Ok(()) };
        self.submit(SYNC, buffer, self.free_ns)?;
        self.wait()
    }
}

impl<'d, D: Device> CopyHost<'d, D> {
    fn new(device: &'d mut D, habits: &'d CopyHabits) -> Self {
        let (buffers, start_ns) = (device.take_buffers(), device.now_ns());
        let (ops, recorder) = (vec![None; habits.iodepth as usize], Recorder::new(None));
        Self { device, habits, buffers, ops, recorder, start_ns, free_ns: start_ns }
    }

    /// Returns the recorder and drops the buffers.
    fn into_recorder(self) -> Recorder {
        self.recorder
    }

    fn submit(&mut self, op: Op, buffer: D::Buffer, at_ns: u64) -> Result<()> {
        self.ops[buffer.slot()] = Some((op, at_ns));
        self.recorder.submitted(op.kind);
        self.device.submit(Submission { op, buffer }, at_ns).map(|_| ())
    }

    fn wait(&mut self) -> Result<()> {
        self.reap(Wait::One)?;
        self.free_ns = self.free_ns.max(self.device.now_ns());
        Ok(())
    }

    fn reap(&mut self, wait: Wait) -> Result<()> {
        let Self { device, buffers, ops, recorder, start_ns, .. } = self;
        let mut failed = None;
        // A wait until a given time also ends with the first completion.
        loop {
            let mut any = false;
            device.reap(wait, &mut |done: Completion<D::Buffer>| {
                any = true;
                if let Some((op, at_ns)) = ops[done.buffer.slot()].take() {
                    match done.outcome {
                        Ok(bytes) => recorder.completed(
                            op.kind,
                            op.offset_bytes,
                            bytes,
                            at_ns - *start_ns,
                            done.completed_at_ns - *start_ns,
                        ),
                        Err(number) => failed = Some((op, number)),
                    }
                }
                buffers.push(done.buffer);
            })?;
            if !any || wait == Wait::One {
                break;
            }
        }
        match failed {
            Some((op, number)) => Err(operation_error(op, Err(number))),
            None => Ok(()),
        }
    }
}

fn too_small() -> Error {
    ErrorKind::Target
        .error(text!(
            "the model is too small for a file and its copy",
            "モデルの容量が小さく、ファイルとそのコピーが入りません"
        ))
        .remedy(text!(
            "choose a larger model, or a smaller {SIZE}",
            "容量の大きいモデルにするか、{SIZE} を小さくしてください"
        ))
}
