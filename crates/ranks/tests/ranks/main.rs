//! Ranks as threads of one process.

mod law;
mod parties;
mod threads;
