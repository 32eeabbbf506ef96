//! The trait that real and modelled devices implement.
//!
//! A device has a clock, accepts batches of operations, and returns completions. An operation in
//! flight owns its buffer: `submit` takes it, the completion returns it, and no other code can
//! access it in between. The driver is generic over this trait and monomorphised, so the real path
//! has no overhead from the modelled one.

use crate::{Result, model::TimeSums, workload::Op};

/// A buffer that a device lends to the driver, one for each operation that may be in flight.
pub trait Buffer {
    /// Returns the buffer's zero-based number, unique within its device.
    fn slot(&self) -> usize;

    /// Returns the first `length` bytes. A modelled device that stores no data returns an empty
    /// slice.
    fn bytes_mut(&mut self, length: usize) -> &mut [u8];
}

/// An operation to submit to a device, with the buffer that it will own.
pub struct Submission<B> {
    /// The operation.
    pub op: Op,
    /// The buffer for its data.
    pub buffer: B,
}

/// The error number of a failed operation, from the operating system or from a model that fails the
/// same way as a real device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorNumber(pub i32);

/// Error numbers that are the same on every Unix.
impl ErrorNumber {
    /// EIO: the medium can't read or write the data.
    pub const IO: Self = Self(5);
    /// EINVAL: the range to read is not part of the device.
    pub const INVALID: Self = Self(22);
    /// ENOSPC: there is no space for the range to write.
    pub const NO_SPACE: Self = Self(28);
}

/// The number of bytes transferred, or the error.
pub type Transfer = std::result::Result<u32, ErrorNumber>;

/// A completed operation, which returns its buffer.
pub struct Completion<B> {
    /// The buffer, returned.
    pub buffer: B,
    /// The number of bytes transferred, or the error.
    pub outcome: Transfer,
    /// Completion time in ns, on the device's clock.
    pub completed_at_ns: u64,
}

/// How long `reap` may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Until at least one operation completes. Returns immediately if none is in flight.
    One,
    /// Until at least one operation completes or the clock reaches this time, whichever is first.
    /// If nothing is in flight, until that time.
    Until(u64),
}

/// A device that performs operations.
pub trait Device {
    /// The device's buffer type.
    type Buffer: Buffer;

    /// Returns all buffers of the device, one for each operation that it can have in flight. Called
    /// once.
    fn take_buffers(&mut self) -> Vec<Self::Buffer>;

    /// Returns the device's clock, in ns from an arbitrary zero. It never goes back.
    fn now_ns(&mut self) -> u64;

    /// Accepts a request at `now_ns`. The device may batch it with others and issue it later, in
    /// `reap` at the latest, and then returns `now_ns`. If it issues the request immediately, it
    /// returns the time afterwards.
    ///
    /// # Errors
    /// Fails if the device itself fails. A failed operation is reported as a completion.
    fn submit(&mut self, request: Submission<Self::Buffer>, now_ns: u64) -> Result<u64>;

    /// Passes completed operations to `done` one by one, waiting as `wait` specifies. A callback is
    /// used instead of a list so that the driver's handling of a completion is compiled into the
    /// device's own loop.
    ///
    /// # Errors
    /// Fails if the device itself fails.
    fn reap(&mut self, wait: Wait, done: &mut impl FnMut(Completion<Self::Buffer>)) -> Result<()>;

    /// Returns the time breakdown of the operations that completed since the last call, if the
    /// device can report it. Modelled devices can.
    fn take_sums(&mut self) -> Option<TimeSums> {
        None
    }

    /// Enables the time breakdown of single operations, if the device supports it.
    fn keep_each(&mut self) {}

    /// Returns the time breakdown of each operation that `reap` returned since the last call, in
    /// that order. Each entry is in the order of [`TimeSums::times_ns`]. Empty if the device does
    /// not record it.
    fn take_each(&mut self) -> Vec<Vec<u64>> {
        Vec::new()
    }
}
