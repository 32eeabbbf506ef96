//! Option negotiation before the first request.

use super::{
    Conversation, Export, Front, MOST_OPTION_BYTES, MOST_REQUEST_BYTES, OPTION_HEAD_BYTES, OPTION_MAGIC,
    Phase, Turn,
};

const REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;

// Options.
const EXPORT_NAME: u32 = 1;
const ABORT: u32 = 2;
const LIST: u32 = 3;
const INFO: u32 = 6;
const GO: u32 = 7;
const STRUCTURED_REPLY: u32 = 8;
const LIST_META_CONTEXT: u32 = 9;
const SET_META_CONTEXT: u32 = 10;

// Replies to options.
const ACK: u32 = 1;
const SERVER: u32 = 2;
const INFORMATION: u32 = 3;
const META_CONTEXT: u32 = 4;
const UNSUPPORTED: u32 = (1 << 31) + 1;
const POLICY: u32 = (1 << 31) + 2;
const INVALID: u32 = (1 << 31) + 3;
const UNKNOWN: u32 = (1 << 31) + 6;

// Information about an export.
const ABOUT_EXPORT: u16 = 0;
const ABOUT_NAME: u16 = 1;
const ABOUT_DESCRIPTION: u16 = 2;
const ABOUT_BLOCK_SIZE: u16 = 3;

// Transmission flags of an export.
const HAS_FLAGS: u16 = 1;
const SEND_FLUSH: u16 = 1 << 2;
const SEND_FUA: u16 = 1 << 3;
const ROTATIONAL: u16 = 1 << 4;
const SEND_TRIM: u16 = 1 << 5;
const SEND_WRITE_ZEROES: u16 = 1 << 6;
const SEND_DF: u16 = 1 << 7;
const CAN_MULTI_CONN: u16 = 1 << 8;
const SEND_CACHE: u16 = 1 << 10;
const SEND_FAST_ZERO: u16 = 1 << 11;

/// Preferred block size: that of file systems and page caches.
const PREFERRED_BYTES: u32 = 4096;
/// The only metadata context: which ranges are data and which are holes.
const ALLOCATION: &[u8] = b"base:allocation";
/// Id of the context in replies.
pub(super) const ALLOCATION_ID: u32 = 1;
/// Message to a client beyond the limit.
const TOO_MANY: &[u8] = b"kurabe already has 16 clients; disconnect one of them first";
/// Zeroes after the size, for clients that did not disable them.
const PADDING_BYTES: usize = 124;

impl Export {
    /// Returns the transmission flags, for a client with or without structured replies.
    pub(crate) fn flags(&self, structured: bool) -> u16 {
        let mut flags = HAS_FLAGS | SEND_FLUSH | SEND_FUA | SEND_WRITE_ZEROES | SEND_FAST_ZERO;
        flags |= CAN_MULTI_CONN | SEND_CACHE;
        flags |= if self.has_trim { SEND_TRIM } else { 0 };
        // It has a meaning only if replies can have several chunks.
        flags |= if structured { SEND_DF } else { 0 };
        flags | if self.is_rotational { ROTATIONAL } else { 0 }
    }
}

/// Replies to one option.
struct Answers {
    option: u32,
    bytes: Vec<u8>,
}

impl Answers {
    fn add(&mut self, kind: u32, body: &[&[u8]]) {
        let length: usize = body.iter().map(|part| part.len()).sum();
        self.bytes.extend(REPLY_MAGIC.to_be_bytes());
        self.bytes.extend(self.option.to_be_bytes());
        self.bytes.extend(kind.to_be_bytes());
        self.bytes.extend((length as u32).to_be_bytes());
        body.iter().for_each(|part| self.bytes.extend_from_slice(part));
    }
}

impl Conversation {
    pub(super) fn take_option(&mut self, bytes: &[u8]) -> Turn {
        let mut front = Front(bytes);
        let (Some(magic), Some(option), Some(length)) = (front.u64(), front.u32(), front.u32()) else {
            return Turn::Wait;
        };
        if magic != OPTION_MAGIC || length > MOST_OPTION_BYTES {
            return Turn::End { bytes: Vec::new() };
        }
        let Some(body) = front.bytes(length as usize) else { return Turn::Wait };
        let taken = OPTION_HEAD_BYTES + length as usize;
        if option == EXPORT_NAME {
            return self.take_export_name(body, taken);
        }
        let mut answers = Answers { option, bytes: Vec::new() };
        match option {
            ABORT => {
                answers.add(ACK, &[]);
                return Turn::End { bytes: answers.bytes };
            }
            _ if self.exports.is_empty() => answers.add(POLICY, &[TOO_MANY]),
            LIST => self.list(body, &mut answers),
            INFO | GO => self.inform(body, option == GO, &mut answers),
            STRUCTURED_REPLY if body.is_empty() => {
                self.structured = true;
                answers.add(ACK, &[]);
            }
            STRUCTURED_REPLY => answers.add(INVALID, &[]),
            LIST_META_CONTEXT | SET_META_CONTEXT => {
                self.contexts(body, option == SET_META_CONTEXT, &mut answers);
            }
            _ => answers.add(UNSUPPORTED, &[b"kurabe does not support this option"]),
        }
        Turn::Answer { taken, bytes: answers.bytes }
    }

    /// Handles the old way to choose an export, which has no error reply.
    fn take_export_name(&mut self, name: &[u8], taken: usize) -> Turn {
        let Some(export) = self.place_of(name) else { return Turn::End { bytes: Vec::new() } };
        self.begin(export);
        let chosen = self.chosen();
        let mut bytes = chosen.size_bytes.to_be_bytes().to_vec();
        bytes.extend(chosen.flags(self.structured).to_be_bytes());
        bytes.resize(bytes.len() + if self.no_zeroes { 0 } else { PADDING_BYTES }, 0);
        Turn::Answer { taken, bytes }
    }

    fn begin(&mut self, export: usize) {
        self.phase = Phase::Requests;
        self.export = export;
        // A context is negotiated for one export and is not valid for another.
        self.context = self.context.filter(|of| *of == export);
    }

    /// Finds an export by name; the empty name is that of the first.
    fn place_of(&self, name: &[u8]) -> Option<usize> {
        self.exports.iter().position(|export| name.is_empty() || export.name.as_bytes() == name)
    }

    fn list(&self, body: &[u8], answers: &mut Answers) {
        if !body.is_empty() {
            return answers.add(INVALID, &[]);
        }
        for export in self.exports.iter() {
            let name = export.name.as_bytes();
            answers.add(SERVER, &[&(name.len() as u32).to_be_bytes(), name, export.description.as_bytes()]);
        }
        answers.add(ACK, &[]);
    }

    fn inform(&mut self, body: &[u8], go: bool, answers: &mut Answers) {
        let mut front = Front(body);
        let (Some(name), Some(count)) = (front.name(), front.u16()) else { return answers.add(INVALID, &[]) };
        let asked: Vec<u16> = std::iter::from_fn(|| front.u16()).take(usize::from(count)).collect();
        if asked.len() != usize::from(count) || !front.0.is_empty() {
            return answers.add(INVALID, &[]);
        }
        let Some(index) = self.place_of(name) else {
            return answers.add(UNKNOWN, &[b"kurabe has no export with this name"]);
        };
        let export = &self.exports[index];
        let flags = export.flags(self.structured);
        answers.add(
            INFORMATION,
            &[&ABOUT_EXPORT.to_be_bytes(), &export.size_bytes.to_be_bytes(), &flags.to_be_bytes()],
        );
        if asked.contains(&ABOUT_NAME) {
            answers.add(INFORMATION, &[&ABOUT_NAME.to_be_bytes(), export.name.as_bytes()]);
        }
        if asked.contains(&ABOUT_DESCRIPTION) {
            answers.add(INFORMATION, &[&ABOUT_DESCRIPTION.to_be_bytes(), export.description.as_bytes()]);
        }
        let sizes = [1, PREFERRED_BYTES, MOST_REQUEST_BYTES].map(u32::to_be_bytes);
        answers.add(INFORMATION, &[&ABOUT_BLOCK_SIZE.to_be_bytes(), sizes.as_flattened()]);
        answers.add(ACK, &[]);
        if go {
            self.begin(index);
        }
    }

    fn contexts(&mut self, body: &[u8], set: bool, answers: &mut Answers) {
        let mut front = Front(body);
        let (Some(name), Some(count)) = (front.name(), front.u32()) else { return answers.add(INVALID, &[]) };
        let mut queries = Vec::new();
        for _ in 0..count {
            match front.name() {
                Some(query) => queries.push(query),
                None => return answers.add(INVALID, &[]),
            }
        }
        if !front.0.is_empty() || !self.structured {
            return answers.add(INVALID, &[]);
        }
        let Some(index) = self.place_of(name) else {
            return answers.add(UNKNOWN, &[b"kurabe has no export with this name"]);
        };
        let in_list = |query: &&[u8]| *query == ALLOCATION || (!set && **query == *b"base:");
        let has = queries.iter().any(in_list) || (!set && queries.is_empty());
        if set {
            self.context = has.then_some(index);
        }
        if has {
            // In a list the id has no meaning.
            let id = if set { ALLOCATION_ID } else { 0 };
            answers.add(META_CONTEXT, &[&id.to_be_bytes(), ALLOCATION]);
        }
        answers.add(ACK, &[]);
    }
}
