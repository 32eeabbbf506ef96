//! What all requests have in common, and what each says of its reader.

use crate::desk::Desk;
use crate::gate::cookies;
use crate::session::Sessions;
use axum::http::HeaderMap;
use kurabe_chart::Theme;
use kurabe_core::words::Keyword;
use kurabe_core::{ErrorKind, Lang, Result, text};
use kurabe_lab::StorePlace;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// What all requests have in common.
pub(crate) struct Site {
    /// Where the runs are; what measures has it made if it is not there.
    pub(crate) store: StorePlace,
    /// Names under which this server is asked for, each with its port: `127.0.0.1:4321`.
    pub(crate) names: Vec<String>,
    pub(crate) cookie_name: String,
    /// `http://127.0.0.1:4321`
    pub(crate) address: String,
    pub(crate) sessions: Sessions,
    pub(crate) desk: Desk,
    /// Where servers of models are noted, if anywhere.
    pub(crate) served: Option<PathBuf>,
    /// The language of who has not chosen one.
    pub(crate) lang: Lang,
    /// Whether the server is on its way out.
    pub(crate) closing: watch::Sender<bool>,
}

/// What a handler is given.
pub(crate) type App = Arc<Site>;

/// What is behind a lock, also after a panic of who had it.
pub(crate) fn locked<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does what may take its time beside the thread that serves.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        Err(ErrorKind::Internal.error(text!(
            "kurabe failed while it made this page",
            "このページの作成中に kurabe 内部でエラーが起きました"
        )))
    })
}

/// Who reads: language and theme, as the browser's cookies have them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader {
    pub(crate) lang: Lang,
    pub(crate) theme: Theme,
}

/// Cookies of the reader's choices; they give no rights.
pub(crate) const LANG_COOKIE: &str = "kurabe-lang";
pub(crate) const THEME_COOKIE: &str = "kurabe-theme";

impl Reader {
    pub(crate) fn of(headers: &HeaderMap, usual: Lang) -> Self {
        let value = |name| cookies(headers).find(|(cookie, _)| *cookie == name).map(|(_, value)| value);
        Self {
            lang: value(LANG_COOKIE).map_or(usual, Lang::from_locale),
            theme: value(THEME_COOKIE).and_then(Theme::of_word).unwrap_or_default(),
        }
    }
}
