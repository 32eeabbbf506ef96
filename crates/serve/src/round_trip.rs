//! Measures the cost of the path between a client and the server.
//!
//! kurabe's own client reads 4 KiB repeatedly. These reads bypass the stack and are answered after
//! [`ANSWER_NS`], so that the client sleeps like one of a modelled device. The additional time is
//! spent in the socket, in wake-ups and in copying, and clients should not be charged with it.

use crate::protocol::Conversation;
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// Size of a read, as most clients send it.
const READ_BYTES: usize = 4096;
/// Time until a read is answered: that of a fast SSD, and long enough for a processor to go to
/// sleep.
pub(crate) const ANSWER_NS: u64 = 200_000;
/// Upper limit of the round trip to a socket (15 to 80 µs) or a block device (50 to 200 µs). A
/// longer one means a busy machine, and answering earlier by that much would be wrong as soon as it
/// is idle.
pub const MOST_WAY_NS: u64 = 500_000;
/// Reads for warm-up, and reads that are measured: a quarter of a second.
const WARM_UP: usize = 50;
const COUNTED: usize = 1000;
/// Longest duration of the measurement, however busy the machine is.
const MOST: Duration = Duration::from_secs(2);

/// Measures the median round trip over a new connection.
pub(crate) fn measure(mut connection: impl Read + Write) -> io::Result<u64> {
    let mut greeting = vec![0; Conversation::greeting().len()];
    connection.read_exact(&mut greeting)?;
    // Flags: fixed newstyle, no zeroes; then the export without a name.
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

/// Measures the round trip through a new block device of this machine.
///
/// Returns the 10th percentile, because the kernel's threads on the path compete with every other
/// program.
pub(crate) fn measure_device(device: &Path) -> io::Result<u64> {
    let device = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(device)?;
    // Direct I/O needs whole pages.
    let mut memory = vec![0; 2 * READ_BYTES];
    let from = memory.as_ptr().align_offset(READ_BYTES);
    let page = &mut memory[from..from + READ_BYTES];
    let ways_ns = measure_all(|_| device.read_exact_at(page, 0))?;
    Ok(way_ns(&ways_ns, 10))
}

/// Returns the time that one in `one_in` of the sorted times is below.
fn way_ns(times_ns: &[u64], one_in: usize) -> u64 {
    times_ns.get(times_ns.len() / one_in).copied().unwrap_or(0).min(MOST_WAY_NS)
}

/// Returns the sorted times of all rounds, without the time of the answer.
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
