//! Output for terminals and scripts only: progress, lines of JSON, and the text of commands that the page
//! does not have.

mod bill_footing;
mod crash;
mod doctor;
mod identity;
mod image_check;
mod inference;
mod leftovers;
mod live;
mod price;
mod recording;
mod script_line;
mod served;
mod syscalls;

pub use crash::crash_lines;
pub use doctor::{Doctor, doctor, render_doctor};
pub use identity::{identity_doc, identity_plan_doc, stage_words};
pub use image_check::{image_error, image_lines};
pub use inference::inference_doc;
pub use leftovers::leftover_words;
pub use live::{Mode, Progress, VersusProgress, study_listener, too_short};
pub use price::{Priced, PricedLine, changes_line, over_budget};
pub use recording::{recorded_lines, recorded_script};
pub use script_line::{ScriptLine, pair_line};
pub use served::{
    attached_lines, attached_script, detached_lines, kept_server_lines, serving_lines, serving_script,
    waiting_line,
};
