//! What the way to a client and back costs by itself.
//!
//! The model: a client of kurabe's own reads 4 KiB again and again, which the stack never sees. What that takes is the
//! socket, the wake-ups and the copying, and no client of a modelled device should be charged with it.

use crate::protocol::Conversation;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

/// A read as most clients ask.
const READ_BYTES: usize = 4096;
/// Reads that warm up, and reads that count: a tenth of a second where a round trip takes 50 µs.
const WARM_UP: usize = 200;
const COUNTED: usize = 2000;
/// No longer than this, whatever the machine is busy with.
const MOST: Duration = Duration::from_secs(2);

/// Measures the median round trip over a connection that was just made.
pub(crate) fn measure(mut connection: impl Read + Write) -> io::Result<u64> {
    let mut greeting = vec![0; Conversation::greeting().len()];
    connection.read_exact(&mut greeting)?;
    // Flags: fixed newstyle, no zeroes; then the export of no name.
    connection.write_all(&3u32.to_be_bytes())?;
    connection.write_all(&[&b"IHAVEOPT"[..], &1u32.to_be_bytes(), &0u32.to_be_bytes()].concat())?;
    connection.read_exact(&mut [0; 10])?;
    let mut times = Vec::with_capacity(COUNTED);
    let mut answer = vec![0; 16 + READ_BYTES];
    let begun = Instant::now();
    for round in 0..WARM_UP + COUNTED {
        let cookie = (round as u64).to_be_bytes();
        let (head, length) = (0x2560_9513_0000_0000_u64.to_be_bytes(), (READ_BYTES as u32).to_be_bytes());
        let request = [&head[..], &cookie, &0u64.to_be_bytes(), &length].concat();
        let start = Instant::now();
        connection.write_all(&request)?;
        connection.read_exact(&mut answer)?;
        if round >= WARM_UP {
            times.push(start.elapsed().as_nanos() as u64);
        }
        if begun.elapsed() > MOST {
            break;
        }
    }
    times.sort_unstable();
    Ok(times.get(times.len() / 2).copied().unwrap_or(0))
}
