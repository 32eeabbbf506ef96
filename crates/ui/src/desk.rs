//! The measurement: one run at a time, on a separate thread, visible in any number of windows.
//!
//! The model: a second run would disturb the first, so it is refused with a message about the
//! current one. The lab's stream lives as long as the server, so its numbers continue from run to
//! run. A window that lost its connection asks for the events after the last number that it
//! received. The state is also stored as a [`Board`] for windows that are opened later.

use crate::board::{Board, WindowView};
use crate::shared::{Site, locked};
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_lab::versus::{PreparedVersus, VersusRequest};
use kurabe_lab::{Envelope, Lab, Prepared, RunHandle, RunRequest, Stream, StreamEvent};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use tokio::sync::watch;

/// A requested measurement.
pub(crate) enum Wish {
    /// One target.
    Run(Box<RunRequest>),
    /// Several interleaved targets.
    Versus(Box<VersusRequest>),
}

impl Wish {
    fn is_modelled(&self) -> bool {
        match self {
            Self::Run(request) => request.target.model().is_some(),
            Self::Versus(request) => request.targets.iter().all(|target| target.model().is_some()),
        }
    }
}

/// The current measurement and its state.
pub(crate) struct Desk {
    pub(crate) stream: Arc<Stream>,
    state: Arc<Mutex<OnDesk>>,
    news: Arc<watch::Sender<News>>,
    command: Vec<String>,
}

/// Notification that wakes the windows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct News {
    /// The number of the next envelope.
    pub(crate) next: u64,
    /// Number of changes without an envelope.
    pub(crate) silent_changes: u64,
}

#[derive(Default)]
struct OnDesk {
    running: Option<Running>,
    board: Option<Board>,
}

/// Channel that returns the id of the new run, or the error, to the caller.
type RunAnswer = mpsc::Sender<Result<String>>;

struct Running {
    handle: RunHandle,
    thread: Option<JoinHandle<()>>,
    is_modelled: bool,
}

impl Desk {
    pub(crate) fn new(command: Vec<String>) -> Self {
        let (stream, news) = (Arc::new(Stream::default()), Arc::new(watch::Sender::new(News::default())));
        let state: Arc<Mutex<OnDesk>> = Arc::default();
        let (kept, telling) = (Arc::clone(&state), Arc::clone(&news));
        stream.listen(Box::new(move |envelope: &Envelope| {
            if let StreamEvent::Run(event) = &envelope.event {
                Board::follow(&mut locked(&kept).board, &envelope.run, event);
            }
            telling.send_modify(|news| news.next = envelope.number + 1);
            Ok(())
        }));
        Self { stream, state, news, command }
    }

    /// Starts a run and returns its id.
    ///
    /// # Errors
    ///
    /// Returns an error if a run is in progress, or if the request can't be measured.
    pub(crate) fn start(&self, shared: &Arc<Site>, wish: Wish) -> Result<String> {
        // A run that has ended on the board only has to close its store.
        if locked(&self.state).board.as_ref().is_some_and(|board| !board.goes_on()) {
            self.wait();
        }
        let handle = RunHandle::default();
        let (opened, answer) = mpsc::channel();
        {
            let mut state = locked(&self.state);
            if state.running.is_some() {
                return Err(busy());
            }
            let is_modelled = wish.is_modelled();
            let (shared, own) = (Arc::clone(shared), handle.clone());
            let work = move || shared.desk.measure(&shared, wish, &own, &opened);
            let thread = std::thread::Builder::new().name("measuring".to_owned()).spawn(work);
            let thread = thread.map_err(|error| Error::no_thread(&error))?;
            state.running = Some(Running { handle, thread: Some(thread), is_modelled });
            state.board = None;
        }
        answer.recv().unwrap_or_else(|_| {
            Err(ErrorKind::Internal.error(text!("the run ended at once", "測定がすぐに終了しました")))
        })
    }

    fn measure(&self, shared: &Site, wish: Wish, handle: &RunHandle, opened: &RunAnswer) {
        let outcome = self.measured(shared, wish, handle, opened);
        let mut state = locked(&self.state);
        state.running = None;
        match (outcome, &mut state.board) {
            // The caller receives the error.
            (Err(error), _) => drop(opened.send(Err(error))),
            (Ok(Err(error)), Some(board)) => board.failed(error),
            _ => {}
        }
        drop(state);
        self.news.send_modify(|news| news.silent_changes += 1);
    }

    /// Measures to the end. The outer error means that the measurement did not start. The inner one
    /// is shown on the board.
    fn measured(
        &self,
        shared: &Site,
        wish: Wish,
        handle: &RunHandle,
        opened: &RunAnswer,
    ) -> Result<Result<()>> {
        let store = shared.store.open()?;
        kurabe_lab::recover(&*store)?;
        let lab = Lab { store: &*store, stream: &self.stream, handle, command: &self.command };
        // If the window was closed, the receiver no longer exists. The run continues.
        let answer = |id: &str| drop(opened.send(Ok(id.to_owned())));
        match wish {
            Wish::Run(request) => {
                let open = Prepared::new(*request)?.open(&lab)?;
                answer(&open.header().id);
                Ok(open.measure().outcome)
            }
            Wish::Versus(request) => {
                let open = PreparedVersus::new(*request)?.open(&lab)?;
                open.headers().next().into_iter().for_each(|header| answer(&header.id));
                Ok(open.measure().why.map(|_| ()))
            }
        }
    }

    /// Asks the current run to stop. The completed measurements are stored.
    pub(crate) fn stop(&self) {
        if let Some(running) = &locked(&self.state).running {
            running.handle.stop();
        }
    }

    /// Waits for the end of the current run.
    pub(crate) fn wait(&self) {
        let thread = locked(&self.state).running.as_mut().and_then(|running| running.thread.take());
        if let Some(thread) = thread {
            // A panic of the thread was already printed.
            let _ = thread.join();
        }
    }

    /// Refuses work that would compete for the processors with a measurement of real storage.
    ///
    /// # Errors
    ///
    /// Returns an error if such a measurement is in progress.
    pub(crate) fn refuse_beside_real(&self) -> Result<()> {
        match &locked(&self.state).running {
            Some(running) if !running.is_modelled => Err(busy()),
            _ => Ok(()),
        }
    }

    /// Returns the state of the current or last run, and the number of the next event.
    pub(crate) fn board(&self) -> (Option<Board>, u64) {
        let state = locked(&self.state);
        (state.board.clone(), self.news.borrow().next)
    }

    /// Returns what windows show of the run besides its events.
    pub(crate) fn shown(&self) -> WindowView {
        WindowView::of(locked(&self.state).board.as_ref())
    }

    /// Returns a receiver that is notified of changes.
    pub(crate) fn news(&self) -> watch::Receiver<News> {
        self.news.subscribe()
    }
}

fn busy() -> Error {
    ErrorKind::Refused
        .error(text!(
            "a measurement is running, and a second one would distort both",
            "測定中です。同時に 2 つ測ると、どちらの値にも影響します"
        ))
        .remedy(text!("wait for it, or stop it", "終わるのを待つか、停止してください"))
}
