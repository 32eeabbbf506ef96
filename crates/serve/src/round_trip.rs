//! What the way to a client and back costs by itself.
//!
//! The model: a client of kurabe's own reads 4 KiB again and again, which the stack never sees and which is answered after
//! [`ANSWER_NS`], so that the client sleeps as one of a modelled device does. What it takes on top of that is the socket, the
//! wake-ups and the copying, and no client of a modelled device should be charged with it.

use crate::protocol::Conversation;
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// A read as most clients ask.
const READ_BYTES: usize = 4096;
/// After so long it is answered: as a quick SSD would, and long enough that a processor goes to sleep meanwhile.
pub(crate) const ANSWER_NS: u64 = 200_000;
/// The way to a socket (15 to 80 µs) or a block device (50 to 200 µs) and back takes no longer than this: more is a busy machine,
/// and to answer earlier by that would be wrong as soon as it is idle.
pub const MOST_WAY_NS: u64 = 500_000;
/// Reads that warm up, and reads that count: a quarter of a second.
const WARM_UP: usize = 50;
const COUNTED: usize = 1000;
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
    let mut answer = vec![0; 16 + READ_BYTES];
    let times_ns = measure_all(|round| {
        let cookie = (round as u64).to_be_bytes();
        let (head, length) = (0x2560_9513_0000_0000_u64.to_be_bytes(), (READ_BYTES as u32).to_be_bytes());
        let request = [&head[..], &cookie, &0u64.to_be_bytes(), &length].concat();
        connection.write_all(&request)?;
        connection.read_exact(&mut answer)
    })?;
    Ok(way_ns(&times_ns, 2))
}

/// Measures the round trip through a block device of this machine that was just made: what one in ten is quicker than, because
/// the kernel's own threads on the way wait for every other program.
pub(crate) fn measure_device(device: &Path) -> io::Result<u64> {
    let device = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(device)?;
    // Direct I/O is into whole pages.
    let mut memory = vec![0; 2 * READ_BYTES];
    let from = memory.as_ptr().align_offset(READ_BYTES);
    let page = &mut memory[from..from + READ_BYTES];
    let ways_ns = measure_all(|_| device.read_exact_at(page, 0))?;
    Ok(way_ns(&ways_ns, 10))
}

/// What one in so many of the sorted times is quicker than.
fn way_ns(times_ns: &[u64], one_in: usize) -> u64 {
    times_ns.get(times_ns.len() / one_in).copied().unwrap_or(0).min(MOST_WAY_NS)
}

/// The times of each round, sorted, without what the answer takes by itself.
fn measure_all(mut ask: impl FnMut(usize) -> io::Result<()>) -> io::Result<Vec<u64>> {
    let mut times = Vec::with_capacity(COUNTED);
    let begun = Instant::now();
    for round in 0..WARM_UP + COUNTED {
        let start = Instant::now();
        ask(round)?;
        if round >= WARM_UP {
            times.push((start.elapsed().as_nanos() as u64).saturating_sub(ANSWER_NS));
        }
        if begun.elapsed() > MOST {
            break;
        }
    }
    times.sort_unstable();
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_no_longer_than_a_way_can_be() {
        let times_ns: Vec<u64> = (1..=20).map(|place| place * 40_000).collect();
        assert_eq!((way_ns(&times_ns, 2), way_ns(&times_ns, 10)), (440_000, 120_000));
        let busy = [2_000_000; 20];
        assert_eq!((way_ns(&busy, 2), way_ns(&busy, 10), way_ns(&[], 2)), (MOST_WAY_NS, MOST_WAY_NS, 0));
    }
}
