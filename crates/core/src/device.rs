//! The trait that real and modelled devices share.
//!
//! The model: a device has a clock, takes batches of operations, and gives back completions. An operation in
//! flight owns its buffer: `submit` takes it, the completion returns it, and nothing can touch it between. The
//! driver is generic over this trait and monomorphised, so the real path pays nothing for the twin.

use crate::{Result, model::TimeSums, workload::Op};

/// A buffer that a device lends to the driver, one per operation that may be in flight.
pub trait Buffer {
    /// The buffer's number, from 0, unique within its device.
    fn slot(&self) -> usize;

    /// The first `length` bytes. A modelled device that stores no data returns an empty slice.
    fn bytes_mut(&mut self, length: usize) -> &mut [u8];
}

/// An operation on its way to a device, with the buffer it will own.
pub struct Submission<B> {
    /// What to do.
    pub op: Op,
    /// Where the bytes are.
    pub buffer: B,
}

/// Why an operation failed: an error number of the operating system, or of a model that fails as a real device does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorNumber(pub i32);

/// Numbers that every Unix shares.
impl ErrorNumber {
    /// EIO: the medium does not give or take the data.
    pub const IO: Self = Self(5);
    /// EINVAL: nothing is there that could be read.
    pub const INVALID: Self = Self(22);
    /// ENOSPC: nothing is there that could be written.
    pub const NO_SPACE: Self = Self(28);
}

/// Bytes transferred, or why none were.
pub type Transfer = std::result::Result<u32, ErrorNumber>;

/// An operation that came back.
pub struct Completion<B> {
    /// The buffer, returned.
    pub buffer: B,
    /// What came of it.
    pub outcome: Transfer,
    /// When it completed, on the device's clock.
    pub completed_at_ns: u64,
}

/// How long `reap` may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Until at least one operation is done (returns at once when none is in flight).
    One,
    /// Until at least one operation is done or the clock reaches this time, whichever is first; with nothing in
    /// flight, until that time.
    Until(u64),
}

/// Something that performs operations.
pub trait Device {
    /// Its buffers.
    type Buffer: Buffer;

    /// All buffers of the device, as many as it can hold operations in flight. Called once.
    fn take_buffers(&mut self) -> Vec<Self::Buffer>;

    /// The device's clock, in nanoseconds from an arbitrary zero; never goes back.
    fn now_ns(&mut self) -> u64;

    /// Takes a request at `now_ns`. It may wait for others and go out with them, at the latest when `reap` is
    /// called; then `now_ns` comes back. If it goes out at once, the time after that comes back.
    ///
    /// # Errors
    /// When the device itself fails; a failed operation is a completion instead.
    fn submit(&mut self, request: Submission<Self::Buffer>, now_ns: u64) -> Result<u64>;

    /// Gives what has completed to `done`, one by one, waiting as `wait` says. A call-back instead of a list: what
    /// the driver does with a completion is then compiled into the device's own loop.
    ///
    /// # Errors
    /// When the device itself fails.
    fn reap(&mut self, wait: Wait, done: &mut impl FnMut(Completion<Self::Buffer>)) -> Result<()>;

    /// Where the time of the operations went that completed since this was last asked, if the device can tell: a
    /// modelled one can.
    fn take_sums(&mut self) -> Option<TimeSums> {
        None
    }

    /// Has it keep where the time of each single operation went, if it can tell.
    fn keep_each(&mut self) {}

    /// Where the time of each operation went that `reap` gave back since this was last asked: in that order, and each in
    /// the order of [`TimeSums::times_ns`]. Nothing of a device that does not keep it.
    fn take_each(&mut self) -> Vec<Vec<u64>> {
        Vec::new()
    }
}
