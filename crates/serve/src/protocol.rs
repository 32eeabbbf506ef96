//! NBD, the network block device protocol (fixed newstyle), as a function from bytes to bytes.
//!
//! The caller passes the bytes that have arrived and were not processed, and receives the next
//! turn: wait for more, send these bytes, a request, or the end. At most [`MOST_HELD_BYTES`] have
//! to be buffered for that. The payload of a write is not passed: it follows the request, and the
//! connection transfers it to its destination.
//!
//! Source: the protocol's own text, `doc/proto.md` of NetworkBlockDevice/nbd.

mod options;
mod replies;
mod request;

pub use replies::{ExtentKind, StatusExtent};
pub use request::{NO_HOLE, NbdCommand, NbdError, NbdRequest};

use std::sync::Arc;

/// Longest body of an option: a list of a few hundred names, or one name with its information
/// requests.
pub const MOST_OPTION_BYTES: u32 = 64 << 10;
/// Longest read or write: the limit for clients that do not negotiate one (32 MiB according to the
/// protocol).
pub const MOST_REQUEST_BYTES: u32 = 32 << 20;
/// Longest name according to the protocol.
pub const MOST_NAME_BYTES: usize = 4096;
/// Bytes that have to be buffered for one turn: an option with its header.
pub const MOST_HELD_BYTES: usize = OPTION_HEAD_BYTES + MOST_OPTION_BYTES as usize;

const MAGIC: u64 = 0x4e42_444d_4147_4943;
const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
const OPTION_HEAD_BYTES: usize = 16;

/// Handshake flags: fixed newstyle, and no zeroes after the size.
const FIXED_NEWSTYLE: u32 = 1;
const NO_ZEROES: u32 = 2;

/// An export of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Name; the first export also has the empty name.
    pub name: String,
    /// Description for clients.
    pub description: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Whether it is rotational.
    pub is_rotational: bool,
    /// Whether it supports trims.
    pub has_trim: bool,
    /// Whether zeroes can be written faster than data.
    pub has_quick_zeroes: bool,
}

/// Meaning of the bytes received so far.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn {
    /// More bytes are needed.
    Wait,
    /// Bytes for the client.
    Answer {
        /// Number of bytes that were processed.
        taken: usize,
        /// Bytes to send.
        bytes: Vec<u8>,
    },
    /// A request. The payload of a write follows and is not passed.
    Request {
        /// Number of bytes that were processed.
        taken: usize,
        /// The request of the client.
        request: NbdRequest,
    },
    /// The client is done, or violates the protocol.
    End {
        /// Last bytes to send.
        bytes: Vec<u8>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Flags,
    Options,
    Requests,
}

/// State of the conversation with one client.
#[derive(Clone, Debug)]
pub struct Conversation {
    exports: Arc<[Export]>,
    phase: Phase,
    no_zeroes: bool,
    structured: bool,
    /// Export for which `base:allocation` was negotiated.
    context: Option<usize>,
    export: usize,
}

impl Conversation {
    /// Starts the conversation with a client that has connected. Without exports, the client
    /// exceeds the limit: every option is refused, with the reason.
    pub fn new(exports: Arc<[Export]>) -> Self {
        Self { exports, phase: Phase::Flags, no_zeroes: false, structured: false, context: None, export: 0 }
    }

    /// Starts with a client that already knows its export and sends requests immediately.
    pub(crate) fn begun(exports: Arc<[Export]>, export: usize) -> Self {
        Self { phase: Phase::Requests, export, ..Self::new(exports) }
    }

    /// Returns the server's greeting.
    pub fn greeting() -> Vec<u8> {
        let mut bytes = MAGIC.to_be_bytes().to_vec();
        bytes.extend(OPTION_MAGIC.to_be_bytes());
        bytes.extend(((FIXED_NEWSTYLE | NO_ZEROES) as u16).to_be_bytes());
        bytes
    }

    /// Returns whether the client has chosen an export.
    pub fn has_begun(&self) -> bool {
        self.phase == Phase::Requests
    }

    /// Returns the index of the export that the client has chosen.
    pub fn export(&self) -> usize {
        self.export
    }

    fn chosen(&self) -> &Export {
        &self.exports[self.export]
    }

    /// Returns the next turn, from the bytes that have arrived and were not processed.
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
                // Its payload would have to be read completely before any further request.
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

/// Reads numbers and names from the start of a byte slice.
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

    /// Reads a name that is preceded by its length.
    fn name(&mut self) -> Option<&'b [u8]> {
        let length = self.u32()? as usize;
        if length > MOST_NAME_BYTES { None } else { self.bytes(length) }
    }
}

#[cfg(test)]
mod tests;
