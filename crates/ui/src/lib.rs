//! The page: everything that kurabe does, in a browser on the same machine.
//!
//! ```text
//! browser ─► gate ─► routes ─► pages ─► Markup                  reading: rendered here, works without JavaScript
//!              │        │
//!              │        └────► desk ─► lab (a thread) ─► Stream ─► events      measuring: one run at a time
//!              └─ Host, Origin, site, session                               server-sent, resumed by number
//! ```
//!
//! The model: pages are made on the server, as markup that escapes every word (`maud`); what the browser adds is a few
//! hundred lines of script that fetch pieces of pages and put them in their place. One thread serves all windows; a run has
//! a thread of its own, and goes on when windows close. What may be written is decided by the lab as on the command line,
//! and the page never asks for more: it writes to no device and to no existing file.
//!
//! Non-goals: users, a network, a page that outlives its terminal.

mod assets;
mod board;
mod desk;
mod events;
mod gate;
mod message;
mod pages;
mod places;
mod routes;
mod seats;
mod server;
mod session;
mod shared;

pub use pages::measure::turns_of_form;
pub use server::{Closer, Door, Options, Patience, Ui};
