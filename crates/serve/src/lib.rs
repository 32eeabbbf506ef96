//! A modelled stack as a block device of other programs.
//!
//! Programs speak NBD to it through a socket, or use it as a block device of this machine (the kernel's nbd, or
//! FUSE and a loop device). Their requests go through the stack at the real time at which they came, and
//! are answered at the real time at which the modelled device would have; their bytes are kept beside it.

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
pub use request_log::RequestLog;
pub use round_trip::MOST_WAY_NS;
pub use server::{ServeRequest, ServedFacts, Serving, check_exports};
pub use tick::tick_ns;
