//! Answers on their way out, in pieces: bytes, or a stretch of the data that goes from where it is kept into the socket without
//! being copied on the way.

use crate::disk::Disk;
use crate::honesty::Timing;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// A stretch of the data of an export.
#[derive(Debug)]
pub(crate) struct DataExtent {
    pub(crate) disk: Arc<Disk>,
    pub(crate) offset_bytes: u64,
    pub(crate) length: usize,
}

/// The bytes to send.
#[derive(Debug)]
pub(crate) enum SegmentBytes {
    Bytes(Vec<u8>),
    Stored(DataExtent),
}

/// What one answer consists of: pieces, and when they are due. Where an answer is several of these, the last has no timing.
#[derive(Debug)]
pub(crate) struct Segment {
    content: SegmentBytes,
    /// Bytes of it that were sent.
    sent: usize,
    pub(crate) timing: Option<Timing>,
}

impl Segment {
    pub(crate) fn new(content: SegmentBytes, timing: Option<Timing>) -> Self {
        Self { content, sent: 0, timing }
    }

    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Self {
        Self::new(SegmentBytes::Bytes(bytes), None)
    }

    /// Bytes that were not sent yet.
    pub(crate) fn left(&self) -> usize {
        let length = match &self.content {
            SegmentBytes::Bytes(bytes) => bytes.len(),
            SegmentBytes::Stored(stretch) => stretch.length,
        };
        length - self.sent
    }

    /// The bytes that were not sent, if it has them itself.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match &self.content {
            SegmentBytes::Bytes(bytes) => Some(&bytes[self.sent..]),
            SegmentBytes::Stored(_) => None,
        }
    }

    /// Sends as much as the socket takes at once.
    fn send(&mut self, socket: &OwnedFd) -> rustix::io::Result<usize> {
        let count = match &self.content {
            SegmentBytes::Bytes(bytes) => {
                rustix::net::send(socket, &bytes[self.sent..], SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?
            }
            SegmentBytes::Stored(stretch) => {
                let from = stretch.offset_bytes + self.sent as u64;
                match stretch.disk.data.send(socket, from, self.left())? {
                    // The data ends before its end.
                    0 => return Err(Errno::IO),
                    count => count,
                }
            }
        };
        self.sent += count;
        Ok(count)
    }
}

/// Sends segments until the socket takes no more for longer than the patience, or all is sent. What is left stays;
/// `begins` is told the timing of each answer when its first byte is about to go.
///
/// # Errors
/// A client that is gone.
pub(crate) fn send_all(
    socket: &OwnedFd,
    rest: &mut VecDeque<Segment>,
    bytes: &mut usize,
    patience: Option<Timespec>,
    mut begins: impl FnMut(Timing),
) -> io::Result<()> {
    while let Some(segment) = rest.front_mut() {
        segment.timing.take().into_iter().for_each(&mut begins);
        while segment.left() > 0 {
            match segment.send(socket) {
                Ok(count) => *bytes += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    if !patience.is_some_and(|patience| is_ready(socket, PollFlags::OUT, patience)) {
                        return Ok(());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        rest.pop_front();
    }
    Ok(())
}

pub(crate) fn is_ready(socket: &OwnedFd, events: PollFlags, patience: Timespec) -> bool {
    let mut fds = [PollFd::new(socket, events)];
    poll(&mut fds, Some(&patience)).is_ok_and(|count| count > 0)
}
