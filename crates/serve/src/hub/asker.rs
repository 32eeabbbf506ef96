//! Who waits for the answer of a request.

use crate::protocol::{NbdError, NbdRequest};
use crate::workers::Body;

/// What becomes of a request.
pub(crate) type FrontOutcome = Result<Body, NbdError>;

/// What takes the outcome of a request, on any thread.
pub(crate) type FrontAnswer = Box<dyn FnOnce(FrontOutcome) + Send>;

/// A request of a front; it lies within its export.
pub(crate) struct FrontRequest {
    pub(crate) export: usize,
    pub(crate) request: NbdRequest,
    /// What a write brings.
    pub(crate) payload: Vec<u8>,
    pub(crate) came_ns: u64,
    pub(crate) answer: FrontAnswer,
}

/// Who waits for the answer of a request.
pub(super) enum Asker {
    /// A client of the socket.
    Connection(u64),
    /// A front, until it is answered.
    Front(Option<FrontAnswer>),
}

impl Asker {
    pub(super) fn connection(&self) -> Option<u64> {
        match self {
            Self::Connection(id) => Some(*id),
            Self::Front(_) => None,
        }
    }
}
