//! Requests and their errors.

use super::{Conversation, Front, MOST_REQUEST_BYTES};

const REQUEST_MAGIC: u32 = 0x2560_9513;
const REQUEST_BYTES: usize = 28;

const FUA: u16 = 1;
/// Flag of a write of zeroes: it must allocate space.
pub const NO_HOLE: u16 = 1 << 1;
const DO_NOT_FRAGMENT: u16 = 1 << 2;
const ONE_EXTENT: u16 = 1 << 3;
const FAST_ZERO: u16 = 1 << 4;

/// Command of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NbdCommand {
    /// Reads data.
    Read,
    /// Writes data.
    Write,
    /// Ends the connection.
    Disconnect,
    /// Makes earlier writes durable.
    Flush,
    /// Discards data.
    Trim,
    /// Prefetches data.
    Cache,
    /// Writes zeroes.
    WriteZeroes,
    /// Queries the extents.
    BlockStatus,
    /// A command that was not offered.
    Other(u16),
}

/// Error of a request, with the number in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NbdError {
    /// The device is read-only.
    NotPermitted = 1,
    /// The device failed.
    Io = 5,
    /// The request is not valid.
    Invalid = 22,
    /// Beyond the end of the device, or no space for the data.
    NoSpace = 28,
    /// Longer than the negotiated limit.
    TooLong = 75,
    /// It would not be faster than a write.
    NotQuick = 95,
}

/// A request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NbdRequest {
    /// Command.
    pub command: NbdCommand,
    /// Flags.
    pub flags: u16,
    /// Cookie, by which the client identifies the reply.
    pub cookie: u64,
    /// First byte.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub length_bytes: u32,
}

impl NbdRequest {
    /// Parses a request at the start of the bytes, and returns how many it takes. `None` if it is
    /// incomplete, an error if the bytes are not a request.
    pub(super) fn read(bytes: &[u8]) -> Option<Result<(usize, Self), ()>> {
        let mut front = Front(bytes);
        if front.u32()? != REQUEST_MAGIC {
            return Some(Err(()));
        }
        let flags = front.u16()?;
        let command = match front.u16()? {
            0 => NbdCommand::Read,
            1 => NbdCommand::Write,
            2 => NbdCommand::Disconnect,
            3 => NbdCommand::Flush,
            4 => NbdCommand::Trim,
            5 => NbdCommand::Cache,
            6 => NbdCommand::WriteZeroes,
            7 => NbdCommand::BlockStatus,
            other => NbdCommand::Other(other),
        };
        let (cookie, offset_bytes, length_bytes) = (front.u64()?, front.u64()?, front.u32()?);
        Some(Ok((REQUEST_BYTES, Self { command, flags, cookie, offset_bytes, length_bytes })))
    }

    /// Returns the length of the payload that follows.
    pub fn payload_bytes(&self) -> u32 {
        if self.command == NbdCommand::Write { self.length_bytes } else { 0 }
    }

    /// Returns whether the request changes data.
    pub(crate) fn writes(&self) -> bool {
        matches!(self.command, NbdCommand::Write | NbdCommand::WriteZeroes)
    }

    /// Returns whether the reply must wait until the data is on the medium.
    pub fn is_fua(&self) -> bool {
        self.flags & FUA != 0
    }

    /// Returns whether zeroes must allocate space, so that a later write cannot fail for lack of
    /// it.
    pub fn keeps_room(&self) -> bool {
        self.flags & NO_HOLE != 0
    }

    /// Returns whether the client wants one extent only.
    pub fn wants_one_extent(&self) -> bool {
        self.flags & ONE_EXTENT != 0
    }
}

impl Conversation {
    /// Checks a request against what was negotiated.
    ///
    /// # Errors
    /// The error to reply with.
    pub fn check(&self, request: &NbdRequest) -> Result<(), NbdError> {
        let allowed = match request.command {
            NbdCommand::Read if self.structured => DO_NOT_FRAGMENT,
            NbdCommand::WriteZeroes => NO_HOLE | FAST_ZERO,
            NbdCommand::Trim if !self.chosen().has_trim => return Err(NbdError::Invalid),
            NbdCommand::BlockStatus if self.context.is_none() => return Err(NbdError::Invalid),
            NbdCommand::BlockStatus => ONE_EXTENT,
            NbdCommand::Other(_) => return Err(NbdError::Invalid),
            _ => 0,
        };
        if request.flags & !(allowed | FUA) != 0 {
            return Err(NbdError::Invalid);
        }
        if request.flags & FAST_ZERO != 0 && !self.chosen().has_quick_zeroes {
            return Err(NbdError::NotQuick);
        }
        if request.command == NbdCommand::Flush {
            return Ok(());
        }
        let moves = matches!(request.command, NbdCommand::Read | NbdCommand::Write);
        if moves && request.length_bytes > MOST_REQUEST_BYTES {
            return Err(NbdError::TooLong);
        }
        let end = request.offset_bytes.checked_add(request.length_bytes.into());
        if end.is_none_or(|end| end > self.chosen().size_bytes) {
            return Err(if request.writes() { NbdError::NoSpace } else { NbdError::Invalid });
        }
        if request.length_bytes == 0 { Err(NbdError::Invalid) } else { Ok(()) }
    }
}
