//! Exposes a modelled stack to other programs as a block device.
//!
//! Programs connect to it over NBD through a socket, or use it as a block device of this machine
//! (the kernel's nbd driver, or FUSE and a loop device). Requests enter the stack at the real time
//! of their arrival, and are answered at the real time at which the modelled device would have
//! answered. The data is stored separately from the stack.

mod apart;
mod attach;
mod clock;
mod control;
mod data;
mod disk;
mod fault;
mod honesty;
mod hub;
mod listen;
mod platform;
mod power;
mod rehearsal;
mod request;
mod request_log;
mod round_trip;
mod segment;
mod server;
mod tick;
mod workers;

pub mod protocol;

pub use apart::{Visitor, apart};
pub use attach::{
    Attached, FrontKind, ServedFront, attachment_of, attachments_folder, clean_attachments, let_go_of_loops,
    refuse_used,
};
pub use clock::{Grants, USUAL_SPIN_NS, WaitFor, wait_for};
pub use control::{ControlRequest, ask_server, read_answer};
pub use data::DataPlace;
pub use fault::{DeviceFault, FaultFigures};
pub use honesty::{Lateness, Slowdown};
pub use hub::ServedFigures;
pub use listen::{Address, AttachBy, control_path};
pub use power::{CutReport, PowerRules};
pub use rehearsal::{ClientFigures, KeepingUp, ServedLimit, closed_loop_ns};
pub use request::{ServeRequest, ServeSettings};
pub use request_log::RequestLog;
pub use round_trip::MOST_WAY_NS;
pub use server::{ServedFacts, Serving, check_exports};
pub use tick::tick_ns;
