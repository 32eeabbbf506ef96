//! A device in real time that does nothing. Every operation completes immediately, so a run on it
//! costs only the driver's overhead.

use crate::drive::driver::{Plan, drive, filled_buffers};
use crate::drive::recorder::Recorder;
use crate::{clock::monotonic_ns, drive::content::Content, drive::source::Generator};
use kurabe_core::device::{Buffer, Completion, Device, Submission, Wait};
use kurabe_core::workload::{End, Pattern, Workload};
use kurabe_core::{Result, quantity::GIB};
use kurabe_program::Stop;

/// A buffer without bytes.
pub struct NoBuffer(usize);

impl NoBuffer {
    /// Creates `depth` such buffers.
    pub fn count(depth: usize) -> Vec<Self> {
        (0..depth).map(Self).collect()
    }
}

impl Buffer for NoBuffer {
    fn slot(&self) -> usize {
        self.0
    }

    fn bytes_mut(&mut self, _length: usize) -> &mut [u8] {
        &mut []
    }
}

/// A device in real time that completes every operation immediately.
pub struct IdleDevice {
    depth: usize,
    done: Vec<(NoBuffer, u32)>,
}

impl IdleDevice {
    /// Creates a device with room for `depth` operations.
    pub fn new(depth: usize) -> Self {
        Self { depth, done: Vec::with_capacity(depth) }
    }
}

impl Device for IdleDevice {
    type Buffer = NoBuffer;

    fn take_buffers(&mut self) -> Vec<NoBuffer> {
        NoBuffer::count(self.depth)
    }

    fn now_ns(&mut self) -> u64 {
        monotonic_ns()
    }

    #[inline]
    fn submit(&mut self, request: Submission<NoBuffer>, now_ns: u64) -> Result<u64> {
        self.done.push((request.buffer, request.op.length_bytes));
        Ok(now_ns)
    }

    fn reap(&mut self, _wait: Wait, done: &mut impl FnMut(Completion<NoBuffer>)) -> Result<()> {
        let completed_at_ns = monotonic_ns();
        for (buffer, length) in self.done.drain(..) {
            done(Completion { buffer, outcome: Ok(length), completed_at_ns });
        }
        Ok(())
    }
}

/// Measures the driver's overhead per operation at a queue depth, in ns: 4 KiB random reads on the
/// idle device, with full recording. Returns the minimum of three rounds, because other activity on
/// the machine can only increase it.
///
/// # Errors
/// Never fails in practice, because the device does not fail.
pub fn driver_cost_ns(iodepth: u32) -> Result<f64> {
    const OPERATIONS: u64 = 400_000;
    const BLOCK_BYTES: u32 = 4096;
    let workload = Workload::plain(Pattern::Random, BLOCK_BYTES, GIB).with(|access| {
        access.iodepth = iodepth;
        access.end = End { bytes: Some(OPERATIONS * u64::from(BLOCK_BYTES)), ..End::default() };
    });
    let plan = Plan::plain(None, false);
    let mut least_ns = f64::INFINITY;
    for _ in 0..3 {
        let mut device = IdleDevice::new(iodepth as usize);
        let mut content = Content::new(workload.data, workload.seed, 0);
        let buffers = filled_buffers(&mut device, &mut content);
        let (mut recorder, stop) = (Recorder::new(None), Stop::default());
        let start_ns = monotonic_ns();
        let mut generators = Generator::for_threads(&workload);
        drive(&mut device, buffers, &mut generators[0], &mut content, &plan, &mut recorder, &stop)?;
        least_ns = least_ns.min((monotonic_ns() - start_ns) as f64 / OPERATIONS as f64);
    }
    Ok(least_ns)
}
