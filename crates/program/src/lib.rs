//! Timed programs: the arguments of a step, the folder in which its programs work, the git
//! repository that is generated for them, and how a program is started, stopped and timed.
//!
//! The programs of a step are [`Programs`], from the creation of the folder to its removal. The
//! caller runs the timed one and observes the device during it. [`Folder`] is an open folder, and
//! the paths that programs receive lead through it. [`Stop`] is the handle of a run, and knows the
//! programs that run under it.
//!
//! The calls of a command that concern files can be recorded ([`CallLog`]).
//!
//! Not here: cold caches before a program starts, counters of the device, cells and events (the
//! engine's).

mod call_counts;
mod call_log;
mod call_table;
mod command_line;
mod enclosure;
mod folder;
mod followed_call;
mod foreground;
mod git_material;
mod git_tree;
mod guard;
mod missing;
mod platform;
mod programs;
mod run;
mod scope;
mod stop;
mod traced_thread;
mod tracer;
mod work_folder;
mod worker;

pub use call_counts::CallCounts;
pub use call_log::{BeforeSync, CallLog, CallRules, RecordedCalls, SyncOfFile};
pub use enclosure::Enclosure;
pub use folder::{FileIdentity, Folder};
pub use foreground::{Foreground, ForegroundEnd};
pub use platform::{Forked, die_with_starter, fork_worker};
pub use programs::{Coming, Listed, Programs, Tell, Workplace};
pub use run::Ran;
pub use stop::{Stop, interrupted};
pub use worker::OtherUser;
