//! The page: kurabe's functions in a browser on the same machine.
//!
//! ```text
//! browser ─► gate ─► routes ─► pages ─► Markup                  reading: rendered here, works without JavaScript
//!              │        │
//!              │        └────► desk ─► lab (a thread) ─► Stream ─► events      measuring: one run at a time
//!              └─ Host, Origin, site, session                               server-sent, resumed by number
//! ```
//!
//! The model: pages are rendered on the server as markup that escapes all text (`maud`). The browser adds a few hundred
//! lines of script, which fetch parts of pages and insert them. One thread serves all windows. A run has its own
//! thread and continues when windows close. As on the command line, the lab decides what may be written. The page
//! never asks for permission to write to a device or to an existing file.
//!
//! Non-goals: multiple users, access over a network, a page that outlives its terminal.

mod assets;
mod board;
mod desk;
mod events;
mod gate;
mod message;
mod pages;
mod places;
mod reader;
mod routes;
mod seats;
mod server;
mod session;
mod shared;

pub use pages::measure::versus_of_form;
pub use server::{Closer, Door, Options, Patience, Ui};
