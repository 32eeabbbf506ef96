//! State shared by all requests.

use crate::desk::Desk;
use crate::session::Sessions;
use kurabe_core::{ErrorKind, Lang, Result, text};
use kurabe_lab::StorePlace;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// State shared by all requests.
pub(crate) struct Site {
    /// The store. A measurement creates it if it does not exist.
    pub(crate) store: StorePlace,
    /// Accepted host names of this server with the port: `127.0.0.1:4321`.
    pub(crate) names: Vec<String>,
    pub(crate) cookie_name: String,
    /// `http://127.0.0.1:4321`
    pub(crate) address: String,
    pub(crate) sessions: Sessions,
    pub(crate) desk: Desk,
    /// The folder in which servers of models are registered, if there is one.
    pub(crate) served: Option<PathBuf>,
    /// The language for readers who have not chosen one.
    pub(crate) lang: Lang,
    /// Whether the server is closing.
    pub(crate) closing: watch::Sender<bool>,
}

/// State passed to the handlers.
pub(crate) type App = Arc<Site>;

/// Locks a mutex, even if a thread panicked while holding it.
pub(crate) fn locked<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs long work on a blocking thread.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        Err(ErrorKind::Internal.error(text!(
            "kurabe failed while creating this page",
            "このページの作成中に kurabe 内部でエラーが起きました"
        )))
    })
}
