//! Programs that are timed: the words of a step as they are run, the folder that they work in, the git repository that
//! kurabe makes for them, and how one is started, ended and timed.
//!
//! The model: a step's programs are [`Programs`], from the folder's making to its removal; whoever measures asks for the
//! timed one and looks at the device meanwhile. [`Folder`] is a folder that is held open; what programs are given leads
//! through it. [`Stop`] is the handle of a run, and knows what runs under it.
//!
//! Not here: what is cold before a program starts, what a device counts, cells and events (the engine's).

mod command_line;
mod enclosure;
mod folder;
mod foreground;
mod git_material;
mod git_tree;
mod guard;
mod missing;
mod platform;
mod programs;
mod run;
mod stop;
mod work_folder;
mod worker;

pub use enclosure::Enclosure;
pub use folder::{FileIdentity, Folder};
pub use foreground::{Foreground, ForegroundEnd};
pub use platform::{Forked, die_with_starter, fork_worker};
pub use programs::{Coming, Listed, Programs, Tell, Workplace};
pub use run::Ran;
pub use stop::{Stop, interrupted};
pub use worker::OtherUser;
