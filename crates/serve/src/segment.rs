//! Outgoing answers in segments: bytes, or a range of the data that is sent to the socket without
//! being copied.

use crate::disk::Disk;
use crate::honesty::Timing;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// A range of an export's data.
#[derive(Debug)]
pub(crate) struct DataExtent {
    pub(crate) disk: Arc<Disk>,
    pub(crate) offset_bytes: u64,
    pub(crate) length: usize,
}

/// The content to send.
#[derive(Debug)]
pub(crate) enum SegmentBytes {
    Bytes(Vec<u8>),
    Stored(DataExtent),
}

/// A part of an answer with its due time. If an answer has several, the last one has no timing.
#[derive(Debug)]
pub(crate) struct Segment {
    content: SegmentBytes,
    /// Bytes that were sent.
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

    /// Returns the bytes that were not sent yet.
    pub(crate) fn left(&self) -> usize {
        let length = match &self.content {
            SegmentBytes::Bytes(bytes) => bytes.len(),
            SegmentBytes::Stored(stretch) => stretch.length,
        };
        length - self.sent
    }

    /// Returns the unsent bytes, unless they are in the data.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match &self.content {
            SegmentBytes::Bytes(bytes) => Some(&bytes[self.sent..]),
            SegmentBytes::Stored(_) => None,
        }
    }

    /// Sends as much as the socket accepts without waiting.
    fn send(&mut self, socket: &OwnedFd) -> rustix::io::Result<usize> {
        let count = match &self.content {
            SegmentBytes::Bytes(bytes) => {
                rustix::net::send(socket, &bytes[self.sent..], SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?
            }
            SegmentBytes::Stored(stretch) => {
                let from = stretch.offset_bytes + self.sent as u64;
                match stretch.disk.data.send(socket, from, self.left())? {
                    // The data is shorter than its size.
                    0 => return Err(Errno::IO),
                    count => count,
                }
            }
        };
        self.sent += count;
        Ok(count)
    }
}

/// Sends segments until all are sent or the socket accepts nothing for longer than `patience`. The
/// rest remains in `rest`. `begins` is called with the timing of each answer just before its first
/// byte is sent.
///
/// # Errors
/// If the client has disconnected.
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
