//! Executes requests, which are plain data, and stores the resulting runs, on real and modelled
//! targets alike.
//!
//! ```text
//! RunRequest ─► Prepared ─► Open ─► Done                what is to be done · a target and an id · a record, or why not
//!                  │          │ events
//!                  ▼          ▼
//!               Foreseen    store ─► Stream ─► progress · JSON lines · later readers
//! ```
//!
//! A run is prepared without touching its target, then opened (its id and the name of its test file
//! are in the store before the file exists), and measured. Events are in the store before they are
//! reported, and go to all listeners as numbered envelopes. Interleaved targets ([`versus`]) are
//! runs whose steps alternate. A study consists of many runs, of which the modelled ones are not
//! stored. Another thread can stop a run through its [`RunHandle`].
//!
//! Not here: flags, and text for users other than error messages.

mod clock;
mod computer;
mod exchange;
mod fit_count;
mod folder;
mod foreseen;
mod handle;
mod health_file;
mod identity;
mod image;
mod import;
mod inference;
mod journal;
mod limited;
mod machine;
mod made;
mod model;
mod movers;
mod open;
pub mod output;
mod own_devices;
mod passing_folder;
mod prepared;
mod profile;
mod ranked;
mod ranking;
mod recording;
mod recover;
mod request;
mod served;
mod serving;
mod shared_points;
mod side_by_side;
mod step_change;
mod stores;
mod stream;
mod study;
mod swept;
mod tables;
mod trace;
pub mod versus;
mod warmth;
mod what_if;
mod words;

pub use computer::computer_file;
pub use exchange::{Exchanged, exchange};
pub use fit_count::largest_count;
pub use folder::{
    CommandEnd, CrashDone, CrashRequest, CutOutcome, CutPlace, CutTrial, FileSystemKind, FolderRequest,
    LeftBehind, ModelFolder, NO_FILES, OnDone, OnRequest, PriceRequest, PricedCommand, ServedFolder,
    UNMARKED, crash_test, mark, price, run_on, without_root,
};
pub use handle::RunHandle;
pub use health_file::{AttachedHealth, attach_health};
pub use identity::{IdentifiedTarget, IdentityPlan, IdentityRequest, IdentityStage};
pub use image::{ImageReport, check_image};
pub use import::{Imported, import, import_device};
pub use inference::{InferenceRequest, InferredTarget, PredictedFigure};
pub use journal::Lab;
pub use kurabe_core::profile::Overrides;
pub use kurabe_engine::monotonic_ns;
pub use kurabe_engine::{FaultKind, ImageCheck, SectorFault, WriteList, plan_tasks, wake_time_ns};
pub use kurabe_explain::{SweepAxis, SweepPlan};
pub use kurabe_program::{SyncOfFile, interrupted};
pub use kurabe_promise::{BrokenKind, BrokenPromise, HazardKind, UnsafeOrder};
pub use kurabe_ranks::{Communicator, Party, PartyPlan};
pub use limited::{GivenUp, within};
pub use machine::MachineFacts;
pub use model::{load_model, model_record};
pub use movers::{CardFigures, card_figures, in_parallel, movers, movers_of};
pub use open::{Done, Open};
pub use own_devices::check_targets;
pub use prepared::Prepared;
pub use profile::{jobs_of_line, load_job, load_profile};
pub use ranking::{assumed_movers, limits_of_runs, ranked_models};
pub use recording::{CommandRecording, RecordRequest, RecordedCommand, RecordingBy, record_command};
pub use recover::{Became, Leftover, recover};
pub use request::{Procedure, RunRequest, Writing, target_of_job};
pub use serving::{
    Detached, EndedServer, Ending, KeptServer, PreparedServer, RunningServer, ServedNote, ServedNow,
    ServedRequest, ServerRecord, control_server, detach, front_word, is_background, kept_servers,
    leave_terminal, load_served_model, log_of_attachments, refuse_others_than_root, remove_left_devices,
    served_notes, served_now, start_in_background,
};
pub use side_by_side::{side_of, sides_of, sides_of_runs};
pub use stores::{StorePlace, distinct_runs, observed, remove_run, shared};
pub use stream::{
    Envelope, ForecastCell, KEPT_ENVELOPES, Listener, PointEvent, Stream, StreamEvent, VersusEvent,
};
pub use study::{StudyRunner, check_paths, run_study, share_points};
pub use tables::write_tables;
pub use trace::measured_latencies;
pub use what_if::what_if;
pub use words::{assignments, parse_label, parse_percent, parse_writes, text_of};
