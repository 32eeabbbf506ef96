//! Copies of a file on a modelled target, as its host makes them.
//!
//! The model: the parts of [`crate::steps::copy`], each timed from its first operation to its last. The file is the first bytes
//! of the device, its copy lies behind it. The host reads or writes in pieces, some in flight, with a pause of its own
//! before each, one for reads and one for writes: a program waits for what it reads, while what it writes is gathered and
//! sent on. Within one device it reads a turn of pieces and writes them, again and again. A disk in memory takes the time
//! of its rate, before the piece is written or after it was read.
//!
//! Not modelled: a page cache that reads on while it writes. What a device does by itself meanwhile, its layers tell.

use crate::drive::driver::operation_error;
use crate::drive::recorder::Recorder;
use crate::modelled::Modelled;
use crate::session::Session;
use crate::task::Attempt;
use kurabe_core::device::{Buffer, Completion, Device, Submission, Wait};
use kurabe_core::model::{CopyHabits, Model};
use kurabe_core::profile::CopyPart;
use kurabe_core::record::Repetition;
use kurabe_core::workload::{Op, OpKind};
use kurabe_core::{Error, ErrorKind, Result, text};

impl<M: Model> Session<'_, Modelled<'_, M>> {
    /// Does all parts of a copy once.
    pub(crate) fn model_copy(&mut self, attempt: &Attempt) -> Result<Vec<Repetition>> {
        let size_bytes = self.profile.rules.size_bytes.min(self.ground.model.span_bytes() / 2);
        let habits = self.ground.model.copy_habits();
        let size_bytes = size_bytes - size_bytes % u64::from(habits.piece_bytes);
        if size_bytes == 0 {
            return Err(too_small());
        }
        CopyPart::ALL
            .iter()
            .map(|part| {
                self.check_interrupt()?;
                let attempt =
                    Attempt { started_ns: self.ground.model.now_ns() - self.started_ns, ..*attempt };
                self.copy_part(*part, size_bytes, &habits, &attempt)
            })
            .collect()
    }

    fn copy_part(
        &mut self,
        part: CopyPart,
        size_bytes: u64,
        habits: &CopyHabits,
        attempt: &Attempt,
    ) -> Result<Repetition> {
        let memory_ns = |rate: f64| (size_bytes as f64 * 1e9 / rate).round() as u64;
        let in_memory = match part {
            CopyPart::MemoryRead => Some(memory_ns(habits.memory_read_bytes_per_s)),
            CopyPart::MemoryWrite => Some(memory_ns(habits.memory_write_bytes_per_s)),
            CopyPart::FromMemory | CopyPart::ToMemory | CopyPart::Within => None,
        };
        if let Some(elapsed_ns) = in_memory {
            return Ok(memory_part(part, size_bytes, elapsed_ns, attempt));
        }
        let mut device = self.ground.model.device(habits.iodepth as usize);
        let buffers = device.take_buffers();
        let start_ns = device.now_ns();
        let mut copy = Copy {
            piece_bytes: habits.piece_bytes,
            read_gap_ns: habits.read_gap_ns,
            write_gap_ns: habits.write_gap_ns,
            buffers,
            ops: vec![None; habits.iodepth as usize],
            recorder: Recorder::new(None),
            start_ns,
            free_ns: start_ns,
            device: &mut device,
        };
        match part {
            CopyPart::FromMemory => copy.stretch(OpKind::Write, size_bytes, size_bytes)?,
            CopyPart::ToMemory => copy.stretch(OpKind::Read, 0, size_bytes)?,
            _ => {
                let mut done_bytes = 0;
                while done_bytes < size_bytes {
                    let turn_bytes = habits.turn_bytes.min(size_bytes - done_bytes);
                    copy.stretch(OpKind::Read, done_bytes, turn_bytes)?;
                    copy.stretch(OpKind::Write, size_bytes + done_bytes, turn_bytes)?;
                    done_bytes += turn_bytes;
                }
            }
        }
        let before_sync_ns = copy.free_ns;
        if part != CopyPart::ToMemory {
            copy.sync()?;
        }
        let (ended_ns, recorder) = copy.into_end();
        let sums = device.take_sums();
        drop(device);
        let memory_ns = match part {
            CopyPart::FromMemory => memory_ns(habits.memory_read_bytes_per_s),
            CopyPart::ToMemory => memory_ns(habits.memory_write_bytes_per_s),
            _ => 0,
        };
        Ok(Repetition {
            elapsed_ns: ended_ns - start_ns + memory_ns,
            end_sync_ns: (ended_ns > before_sync_ns).then_some(ended_ns - before_sync_ns),
            account: sums.map(|sums| self.ground.model.account(&sums)),
            ..attempt.of(Recorder::merge(&[recorder]))
        })
    }
}

/// A part of which nothing touches the device: one operation of all bytes.
fn memory_part(part: CopyPart, size_bytes: u64, elapsed_ns: u64, attempt: &Attempt) -> Repetition {
    let kind = if part == CopyPart::MemoryRead { OpKind::Read } else { OpKind::Write };
    let mut recorder = Recorder::new(None);
    // In pieces that a count of bytes can hold.
    let pieces = size_bytes.div_ceil(u64::from(u32::MAX));
    for piece in 0..pieces {
        let at = |piece: u64| elapsed_ns * piece / pieces;
        let bytes = size_bytes * (piece + 1) / pieces - size_bytes * piece / pieces;
        recorder.submitted(kind);
        recorder.completed(kind, 0, bytes as u32, at(piece), at(piece + 1));
    }
    Repetition { elapsed_ns, ..attempt.of(Recorder::merge(&[recorder])) }
}

struct Copy<'d, D: Device> {
    device: &'d mut D,
    piece_bytes: u32,
    read_gap_ns: u64,
    write_gap_ns: u64,
    buffers: Vec<D::Buffer>,
    /// What is in flight, by slot.
    ops: Vec<Option<(Op, u64)>>,
    recorder: Recorder,
    start_ns: u64,
    /// When the host goes on.
    free_ns: u64,
}

impl<D: Device> Copy<'_, D> {
    /// When the host was done, and what was recorded; the buffers go.
    fn into_end(self) -> (u64, Recorder) {
        (self.free_ns, self.recorder)
    }

    /// Reads or writes a stretch of bytes in pieces, and waits for all of them.
    fn stretch(&mut self, kind: OpKind, offset_bytes: u64, length_bytes: u64) -> Result<()> {
        let gap_ns = if kind == OpKind::Read { self.read_gap_ns } else { self.write_gap_ns };
        let mut next_bytes = 0;
        while next_bytes < length_bytes {
            let Some(buffer) = self.buffers.pop() else {
                self.wait()?;
                continue;
            };
            // The host prepares each piece; nothing else comes of it meanwhile.
            let at_ns = self.free_ns + gap_ns;
            self.free_ns = at_ns;
            self.reap(Wait::Until(at_ns))?;
            let length = u64::from(self.piece_bytes).min(length_bytes - next_bytes) as u32;
            let op = Op { kind, offset_bytes: offset_bytes + next_bytes, length_bytes: length };
            self.submit(op, buffer, at_ns)?;
            next_bytes += u64::from(length);
        }
        while self.ops.iter().any(Option::is_some) {
            self.wait()?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        let Some(buffer) = self.buffers.pop() else { return Ok(()) };
        let op = Op { kind: OpKind::Sync, offset_bytes: 0, length_bytes: 0 };
        self.submit(op, buffer, self.free_ns)?;
        self.wait()
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
        // A wait until a time ends with the first completion, too.
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
    Error::new(
        ErrorKind::Target,
        text!(
            "the model is too small for a file and its copy",
            "モデルの容量が小さく、ファイルとそのコピーが入りません"
        ),
    )
    .remedy(text!(
        "choose a larger model, or a smaller --size",
        "容量の大きいモデルにするか、--size を小さくしてください"
    ))
}
