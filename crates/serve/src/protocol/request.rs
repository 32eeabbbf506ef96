//! Requests, and what is wrong with them.

use super::{Conversation, Front, MOST_REQUEST_BYTES};

const REQUEST_MAGIC: u32 = 0x2560_9513;
const REQUEST_BYTES: usize = 28;

const FUA: u16 = 1;
/// Of zeroes: they take room.
pub const NO_HOLE: u16 = 1 << 1;
const DO_NOT_FRAGMENT: u16 = 1 << 2;
const ONE_EXTENT: u16 = 1 << 3;
const FAST_ZERO: u16 = 1 << 4;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NbdCommand {
    /// Bytes.
    Read,
    /// Bytes are brought.
    Write,
    /// The client goes.
    Disconnect,
    /// What was written must stay.
    Flush,
    /// Bytes that are no longer needed.
    Trim,
    /// Bytes that will be read soon.
    Cache,
    /// Bytes of value 0.
    WriteZeroes,
    /// What is data and what are holes.
    BlockStatus,
    /// Nothing that was offered.
    Other(u16),
}

/// Why not, in the protocol's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NbdError {
    /// The device takes no writes.
    NotPermitted = 1,
    /// The device failed.
    Io = 5,
    /// The request makes no sense.
    Invalid = 22,
    /// Beyond the end, or the data has no room.
    NoSpace = 28,
    /// Longer than was agreed.
    TooLong = 75,
    /// It would be no quicker than a write.
    NotQuick = 95,
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NbdRequest {
    /// What is asked for.
    pub command: NbdCommand,
    /// How.
    pub flags: u16,
    /// By what the client knows the answer.
    pub cookie: u64,
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub length_bytes: u32,
}

impl NbdRequest {
    /// A request from the front of bytes and how many it takes, if it is whole; or that this is none.
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

    /// Bytes that follow it.
    pub fn payload_bytes(&self) -> u32 {
        if self.command == NbdCommand::Write { self.length_bytes } else { 0 }
    }

    /// Whether other bytes are there afterwards.
    pub(crate) fn writes(&self) -> bool {
        matches!(self.command, NbdCommand::Write | NbdCommand::WriteZeroes)
    }

    /// Whether it is done only when the medium has it.
    pub fn is_fua(&self) -> bool {
        self.flags & FUA != 0
    }

    /// Whether zeroes must take room, so that a later write cannot fail for want of it.
    pub fn keeps_room(&self) -> bool {
        self.flags & NO_HOLE != 0
    }

    /// Whether one extent is enough.
    pub fn wants_one_extent(&self) -> bool {
        self.flags & ONE_EXTENT != 0
    }
}

impl Conversation {
    /// Checks a request against what was agreed.
    ///
    /// # Errors
    /// With what to answer.
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
