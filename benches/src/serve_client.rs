//! An NBD client with almost no cost of its own: it sends all pending requests in one system call,
//! and receives all available replies in another. Its rate is that of the server; fio, which makes
//! five system calls per request, is often the bottleneck itself.

use crate::Result;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes per read.
pub(crate) const BLOCK_BYTES: u32 = 4096;
/// NBD constants from its specification `doc/proto.md`: the option that names an export and starts
/// transmission, and the magic numbers of options and requests.
const EXPORT_NAME: u32 = 1;
const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
const REQUEST_MAGIC: u32 = 0x2560_9513;
/// Fixed newstyle, and no zeroes after the export information.
const FLAGS: u32 = 3;
const GREETING_BYTES: usize = 18;
const FACTS_BYTES: usize = 10;
/// Size of a simple reply: magic, error, cookie.
const ANSWER_BYTES: usize = 16;

/// Performs random reads within this span, `depth` in flight. Returns reads per second, and the
/// offsets in order.
///
/// # Errors
/// Returns an error if the server does not reply, or replies with an error.
pub(crate) fn random_reads(
    socket: &Path,
    span_bytes: u64,
    depth: u32,
    seconds: f64,
) -> Result<(f64, Vec<u64>)> {
    let mut stream = UnixStream::connect(socket)?;
    begin(&mut stream)?;
    let (mut places, mut requests) = (Vec::new(), Vec::new());
    let mut answers = vec![0; (depth as usize + 1) * (ANSWER_BYTES + BLOCK_BYTES as usize)];
    let (mut have, mut state, mut due) = (0, 0x9e37_79b9_7f4a_7c15_u64, depth as usize);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs_f64(seconds) {
        requests.clear();
        for _ in 0..due {
            // Marsaglia's xorshift64.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            places.push(state % (span_bytes / u64::from(BLOCK_BYTES)) * u64::from(BLOCK_BYTES));
            request(&mut requests, places[places.len() - 1]);
        }
        stream.write_all(&requests)?;
        let read = stream.read(&mut answers[have..])?;
        if read == 0 {
            return Err("the server closed the connection".into());
        }
        have += read;
        let whole = have / (ANSWER_BYTES + BLOCK_BYTES as usize);
        let taken = whole * (ANSWER_BYTES + BLOCK_BYTES as usize);
        for answer in answers[..taken].chunks_exact(ANSWER_BYTES + BLOCK_BYTES as usize) {
            if answer[4..8] != [0; 4] {
                return Err("the server answered with an error".into());
            }
        }
        answers.copy_within(taken..have, 0);
        (have, due) = (have - taken, whole);
    }
    let done = places.len() - depth as usize;
    Ok((done as f64 / begun.elapsed().as_secs_f64(), places))
}

fn begin(stream: &mut UnixStream) -> Result<()> {
    stream.read_exact(&mut [0; GREETING_BYTES])?;
    stream.write_all(&FLAGS.to_be_bytes())?;
    // The default export, whose name is empty.
    let option = [&OPTION_MAGIC.to_be_bytes()[..], &EXPORT_NAME.to_be_bytes(), &0_u32.to_be_bytes()];
    stream.write_all(&option.concat())?;
    Ok(stream.read_exact(&mut [0; FACTS_BYTES])?)
}

fn request(requests: &mut Vec<u8>, offset_bytes: u64) {
    requests.extend(REQUEST_MAGIC.to_be_bytes());
    // No flags; command 0 is a read; the cookie is not used.
    requests.extend([0; 12]);
    requests.extend(offset_bytes.to_be_bytes());
    requests.extend(BLOCK_BYTES.to_be_bytes());
}
