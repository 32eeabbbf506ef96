//! Replies to requests: simple replies, and structured replies where they were negotiated.

use super::options::ALLOCATION_ID;
use super::{Conversation, NbdCommand, NbdError, NbdRequest};

const SIMPLE_MAGIC: u32 = 0x6744_6698;
const CHUNK_MAGIC: u32 = 0x668e_33ef;
/// Flag of the last chunk; every reply has one chunk.
const DONE: u16 = 1;

const OFFSET_DATA: u16 = 1;
const OFFSET_HOLE: u16 = 2;
const BLOCK_STATUS: u16 = 5;
const ERROR: u16 = (1 << 15) + 1;

/// Kind of an extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtentKind {
    /// Data that was written.
    Data,
    /// A hole, which reads as zeroes.
    Hole,
}

/// An extent of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusExtent {
    /// Length in bytes.
    pub length_bytes: u32,
    /// Kind of the extent.
    pub kind: ExtentKind,
}

fn simple(error: u32, request: &NbdRequest, out: &mut Vec<u8>) {
    out.extend(SIMPLE_MAGIC.to_be_bytes());
    out.extend(error.to_be_bytes());
    out.extend(request.cookie.to_be_bytes());
}

fn chunk(kind: u16, length: u32, request: &NbdRequest, out: &mut Vec<u8>) {
    out.extend(CHUNK_MAGIC.to_be_bytes());
    out.extend(DONE.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(request.cookie.to_be_bytes());
    out.extend(length.to_be_bytes());
}

impl Conversation {
    /// Writes the reply to a successful request that returns no data.
    pub fn success(&self, request: &NbdRequest, out: &mut Vec<u8>) {
        simple(0, request, out);
    }

    /// Writes the reply to a failed request.
    pub fn failure(&self, request: &NbdRequest, error: NbdError, out: &mut Vec<u8>) {
        let in_chunks = matches!(request.command, NbdCommand::Read | NbdCommand::BlockStatus);
        if !(self.structured && in_chunks) {
            return simple(error as u32, request, out);
        }
        // Error number, and the length of an empty message.
        chunk(ERROR, 6, request, out);
        out.extend((error as u32).to_be_bytes());
        out.extend(0u16.to_be_bytes());
    }

    /// Writes the header of a reply with data.
    pub fn before_data(&self, request: &NbdRequest, out: &mut Vec<u8>) {
        if !self.structured {
            return simple(0, request, out);
        }
        chunk(OFFSET_DATA, 8 + request.length_bytes, request, out);
        out.extend(request.offset_bytes.to_be_bytes());
    }

    /// Writes a reply for a hole. Returns `false` if the client did not negotiate it and needs the
    /// zeroes.
    pub fn hole(&self, request: &NbdRequest, out: &mut Vec<u8>) -> bool {
        if self.structured {
            chunk(OFFSET_HOLE, 12, request, out);
            out.extend(request.offset_bytes.to_be_bytes());
            out.extend(request.length_bytes.to_be_bytes());
        }
        self.structured
    }

    /// Writes the extents from the start of the request.
    pub fn block_status(&self, request: &NbdRequest, extents: &[StatusExtent], out: &mut Vec<u8>) {
        chunk(BLOCK_STATUS, 4 + 8 * extents.len() as u32, request, out);
        out.extend(ALLOCATION_ID.to_be_bytes());
        for extent in extents {
            // Bits: hole, reads as zeroes.
            let state: u32 = if extent.kind == ExtentKind::Hole { 3 } else { 0 };
            out.extend(extent.length_bytes.to_be_bytes());
            out.extend(state.to_be_bytes());
        }
    }
}
