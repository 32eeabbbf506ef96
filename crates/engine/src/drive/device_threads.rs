//! pread and pwrite: one operation at a time for each issuing thread. A queue depth above one needs
//! as many threads, as in AmorphousDiskMark. Discards are also system calls. A mapping of the file
//! can replace reads and writes. A call that a signal interrupted is reported as interrupted,
//! because the caller decides how long to retry.

use crate::clock::{monotonic_ns, sleep_until};
use crate::drive::buffer::{Arena, Lease};
use crate::drive::mapping::{Mapping, ends_before};
use crate::{target::Opened, verify::Stamping};
use kurabe_core::Result;
use kurabe_core::device::{Buffer, Completion, Device, ErrorNumber, Submission, Transfer, Wait};
use kurabe_core::workload::{Op, OpKind, SyncRule};
use kurabe_host::{discard, write_pages};
use rustix::io::{Errno, pread, pwrite};
use std::fs::File;
use std::os::unix::fs::FileTypeExt;

/// A file on which one operation at a time is performed.
pub struct ThreadsDevice<'a> {
    file: File,
    /// Stamps the data written, in a run whose writes are verified.
    stamping: Option<Stamping>,
    /// The kind of flush.
    sync: SyncRule,
    /// Whether it is a block device, for which discards are a separate request.
    is_block: bool,
    /// A mapping that replaces system calls, if used.
    mapping: Option<Mapping>,
    leases: Vec<Lease<'a>>,
    pending: Option<Submission<Lease<'a>>>,
}

impl<'a> ThreadsDevice<'a> {
    /// Takes a file and memory with one buffer.
    pub fn new(opened: Opened, arena: &'a mut Arena) -> Self {
        let Opened { file, stamping, sync } = opened;
        let is_block = file.metadata().is_ok_and(|facts| facts.file_type().is_block_device());
        let leases = arena.leases();
        Self { file, stamping, sync, is_block, mapping: None, leases, pending: None }
    }

    /// Accesses the file through a mapping instead.
    ///
    /// # Errors
    /// Fails like [`Mapping::of`].
    pub fn mapped(self, writes: bool, durable: bool) -> Result<Self> {
        Ok(Self { mapping: Some(Mapping::of(&self.file, writes, durable)?), ..self })
    }

    fn perform(&self, request: &mut Submission<Lease<'a>>) -> Transfer {
        let Submission { op, buffer } = request;
        let bytes = buffer.bytes_mut(op.length_bytes as usize);
        if let Some(mapping) = &self.mapping {
            return mapping.carry(*op, bytes);
        }
        let write = |bytes: &[u8]| pwrite(&self.file, bytes, op.offset_bytes);
        let flush = || match self.sync {
            SyncRule { page_range_flags: Some(flags), .. } => write_pages(&self.file, 0, 0, flags)
                .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO)),
            SyncRule { data_only: true, .. } => rustix::fs::fdatasync(&self.file),
            _ => rustix::fs::fsync(&self.file),
        };
        let result = match (op.kind, &self.stamping) {
            (OpKind::Trim, _) => return self.discard(*op),
            (OpKind::Read, _) => pread(&self.file, &mut *bytes, op.offset_bytes),
            (OpKind::Write, None) => write(bytes),
            (OpKind::Write, Some(stamping)) => stamping.write(*op, bytes, write),
            (OpKind::Sync, None) => flush().map(|()| 0),
            (OpKind::Sync, Some(stamping)) => stamping.flush(flush).map(|()| 0),
        };
        result.map(|bytes| bytes as u32).map_err(|error| ErrorNumber(error.raw_os_error()))
    }
}

impl ThreadsDevice<'_> {
    fn discard(&self, op: Op) -> Transfer {
        let discarded = discard(&self.file, self.is_block, op.offset_bytes, u64::from(op.length_bytes));
        if let Some(stamping) = &self.stamping {
            stamping.forget(op);
        }
        let number = |error: std::io::Error| ErrorNumber(error.raw_os_error().unwrap_or(ErrorNumber::IO.0));
        discarded.map(|()| op.length_bytes).map_err(number)
    }
}

impl<'a> Device for ThreadsDevice<'a> {
    type Buffer = Lease<'a>;

    fn take_buffers(&mut self) -> Vec<Lease<'a>> {
        std::mem::take(&mut self.leases)
    }

    #[inline]
    fn now_ns(&mut self) -> u64 {
        monotonic_ns()
    }

    #[inline]
    fn submit(&mut self, request: Submission<Lease<'a>>, now_ns: u64) -> Result<u64> {
        debug_assert!(self.pending.is_none(), "one buffer, one operation");
        if let Some(stamping) = &self.stamping {
            stamping.check(request.op)?;
        }
        self.pending = Some(request);
        Ok(now_ns)
    }

    fn reap(&mut self, wait: Wait, done: &mut impl FnMut(Completion<Lease<'a>>)) -> Result<()> {
        match (self.pending.take(), wait) {
            (Some(mut request), _) => {
                let outcome = self.perform(&mut request);
                let completed_at_ns = monotonic_ns();
                if outcome.is_err()
                    && self.mapping.is_some()
                    && let Some(error) = ends_before(&self.file, request.op)
                {
                    return Err(error);
                }
                done(Completion { buffer: request.buffer, outcome, completed_at_ns });
            }
            (None, Wait::Until(until_ns)) => sleep_until(until_ns),
            (None, Wait::One) => {}
        }
        Ok(())
    }
}
