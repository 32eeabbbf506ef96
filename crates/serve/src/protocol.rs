//! NBD, the network block device protocol (fixed newstyle), as a function from bytes to bytes.
//!
//! The model: whoever has a connection shows what has come and not been taken yet, and is told the next turn: wait for
//! more, send these bytes, a request, or the end. No more than [`MOST_HELD_BYTES`] ever have to be held for that,
//! because what a write brings is not shown: it follows the request, and the connection takes it where it belongs.
//!
//! Source: the protocol's own text, `doc/proto.md` of NetworkBlockDevice/nbd.

mod options;
mod replies;
mod request;

pub use replies::{ExtentKind, StatusExtent};
pub use request::{NO_HOLE, NbdCommand, NbdError, NbdRequest};

use std::sync::Arc;

/// Bytes behind an option: a list of a few hundred names, or one name and what is asked about it.
pub const MOST_OPTION_BYTES: u32 = 64 << 10;
/// Bytes of one read or write: what every client keeps to that asks for no limit (32 MiB, as the protocol's text has it).
pub const MOST_REQUEST_BYTES: u32 = 32 << 20;
/// Bytes of a name, as the protocol's text has it.
pub const MOST_NAME_BYTES: usize = 4096;
/// Bytes that have to be held until a turn is whole: an option with its head.
pub const MOST_HELD_BYTES: usize = OPTION_HEAD_BYTES + MOST_OPTION_BYTES as usize;

const MAGIC: u64 = 0x4e42_444d_4147_4943;
const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
const OPTION_HEAD_BYTES: usize = 16;

/// Handshake flags: fixed newstyle, and no zeroes behind the size.
const FIXED_NEWSTYLE: u32 = 1;
const NO_ZEROES: u32 = 2;

/// An export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Its name; the first one also answers to no name.
    pub name: String,
    /// Its description for clients.
    pub description: String,
    /// Its bytes.
    pub size_bytes: u64,
    /// Whether it has a head that moves.
    pub is_rotational: bool,
    /// Whether it takes note of what is no longer needed.
    pub has_trim: bool,
    /// Whether zeroes are written without their bytes.
    pub has_quick_zeroes: bool,
}

/// What the bytes so far amount to.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn {
    /// More bytes are needed.
    Wait,
    /// Bytes for the client.
    Answer {
        /// How many of the bytes that were shown are done with.
        taken: usize,
        /// What to send.
        bytes: Vec<u8>,
    },
    /// A request. What a write brings comes next and is not shown.
    Request {
        /// How many of the bytes that were shown are done with.
        taken: usize,
        /// The request of the client.
        request: NbdRequest,
    },
    /// The client is done, or does not keep to the protocol: last bytes for it.
    End {
        /// What to send.
        bytes: Vec<u8>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Flags,
    Options,
    Requests,
}

/// One client's conversation.
#[derive(Clone, Debug)]
pub struct Conversation {
    exports: Arc<[Export]>,
    phase: Phase,
    no_zeroes: bool,
    structured: bool,
    /// The export for which `base:allocation` was agreed.
    context: Option<usize>,
    export: usize,
}

impl Conversation {
    /// Starts the conversation with a client that has connected. One for whom there are no exports is one too many: whatever it
    /// wants is refused, with the reason.
    pub fn new(exports: Arc<[Export]>) -> Self {
        Self { exports, phase: Phase::Flags, no_zeroes: false, structured: false, context: None, export: 0 }
    }

    /// With a client that knows this export already, and begins to ask at once.
    pub(crate) fn begun(exports: Arc<[Export]>, export: usize) -> Self {
        Self { phase: Phase::Requests, export, ..Self::new(exports) }
    }

    /// The greeting.
    pub fn greeting() -> Vec<u8> {
        let mut bytes = MAGIC.to_be_bytes().to_vec();
        bytes.extend(OPTION_MAGIC.to_be_bytes());
        bytes.extend(((FIXED_NEWSTYLE | NO_ZEROES) as u16).to_be_bytes());
        bytes
    }

    /// Whether it has chosen an export.
    pub fn has_begun(&self) -> bool {
        self.phase == Phase::Requests
    }

    /// Which export it has chosen, by place.
    pub fn export(&self) -> usize {
        self.export
    }

    fn chosen(&self) -> &Export {
        &self.exports[self.export]
    }

    /// The next turn, from the bytes that have come and were not taken.
    pub fn next(&mut self, bytes: &[u8]) -> Turn {
        match self.phase {
            Phase::Flags => self.take_flags(bytes),
            Phase::Options => self.take_option(bytes),
            Phase::Requests => self.take_request(bytes),
        }
    }

    fn take_flags(&mut self, bytes: &[u8]) -> Turn {
        let Some((flags, _)) = bytes.split_first_chunk::<4>() else { return Turn::Wait };
        let flags = u32::from_be_bytes(*flags);
        if flags & !(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
            return Turn::End { bytes: Vec::new() };
        }
        self.no_zeroes = flags & NO_ZEROES != 0;
        self.phase = Phase::Options;
        Turn::Answer { taken: 4, bytes: Vec::new() }
    }

    fn take_request(&self, bytes: &[u8]) -> Turn {
        match NbdRequest::read(bytes) {
            None => Turn::Wait,
            Some(Ok((taken, request))) => match request.command {
                NbdCommand::Disconnect => Turn::End { bytes: Vec::new() },
                // What it brings would have to be read to its end before anything else could be.
                NbdCommand::Write if request.length_bytes > MOST_REQUEST_BYTES => {
                    let mut bytes = Vec::new();
                    self.failure(&request, NbdError::TooLong, &mut bytes);
                    Turn::End { bytes }
                }
                _ => Turn::Request { taken, request },
            },
            Some(Err(())) => Turn::End { bytes: Vec::new() },
        }
    }
}

/// Takes numbers and names off the front of bytes.
struct Front<'b>(&'b [u8]);

impl<'b> Front<'b> {
    fn bytes(&mut self, count: usize) -> Option<&'b [u8]> {
        let (front, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(front)
    }

    fn u16(&mut self) -> Option<u16> {
        let (front, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u16::from_be_bytes(*front))
    }

    fn u32(&mut self) -> Option<u32> {
        let (front, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*front))
    }

    fn u64(&mut self) -> Option<u64> {
        let (front, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_be_bytes(*front))
    }

    /// A name behind its length.
    fn name(&mut self) -> Option<&'b [u8]> {
        let length = self.u32()? as usize;
        if length > MOST_NAME_BYTES { None } else { self.bytes(length) }
    }
}

#[cfg(test)]
mod tests;
