//! Commands in a folder on a device that kurabe serves: run in real time, priced, or interrupted by power
//! cuts.

mod crash;
mod ext4_journal;
mod marks;
mod on_model;
mod open_files;
mod pricing;
mod promised;
mod served_folder;
mod system_tool;
mod without_root;
mod zfs_pool;

pub use crash::{CrashDone, CrashRequest, CutOutcome, CutPlace, CutTrial, crash_test};
pub use marks::mark;
pub use on_model::{OnDone, OnRequest, run_on};
pub(crate) use pricing::check_end;
pub use pricing::{NO_FILES, PriceRequest, PricedCommand, UNMARKED, price};
pub use served_folder::{CommandEnd, FileSystemKind, FolderRequest, LeftBehind, ModelFolder, ServedFolder};
pub use without_root::without_root;
