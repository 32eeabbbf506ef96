//! Recipient of a request's answer.

use crate::protocol::{NbdError, NbdRequest};
use crate::workers::Body;

/// Outcome of a request.
pub(crate) type FrontOutcome = Result<Body, NbdError>;

/// Callback that receives the outcome of a request, on any thread.
pub(crate) type FrontAnswer = Box<dyn FnOnce(FrontOutcome) + Send>;

/// A request of a front; it lies within its export.
pub(crate) struct FrontRequest {
    pub(crate) export: usize,
    pub(crate) request: NbdRequest,
    /// Data of a write.
    pub(crate) payload: Vec<u8>,
    pub(crate) came_ns: u64,
    pub(crate) answer: FrontAnswer,
}

/// Recipient of a request's answer.
pub(super) enum Recipient {
    /// Client of the socket.
    Connection(u64),
    /// Front, until it is answered.
    Front(Option<FrontAnswer>),
}

impl Recipient {
    pub(super) fn connection(&self) -> Option<u64> {
        match self {
            Self::Connection(id) => Some(*id),
            Self::Front(_) => None,
        }
    }
}
