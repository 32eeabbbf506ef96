//! Stopping a run.

use crate::platform::signal_group;
use kurabe_core::{Error, ErrorKind, Result, text};
use rustix::process::Signal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The handle by which a run is stopped. Each run has its own; it knows the programs that run under it.
#[derive(Debug, Default)]
pub struct Stop {
    asked: AtomicBool,
    /// The process groups of the programs that run now.
    groups: Mutex<Vec<u32>>,
}

impl Stop {
    /// Asks for it.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked for.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Goes on unless it was asked for.
    ///
    /// # Errors
    /// `Interrupted` when it was.
    pub fn check(&self) -> Result<()> {
        if self.is_asked() { Err(interrupted()) } else { Ok(()) }
    }

    /// Ends the programs that run under this handle, and all that they started, at once. For a way out that waits for
    /// nothing; [`Stop::ask`] is gentler.
    pub fn kill_programs(&self) {
        for group in self.groups.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            signal_group(*group, Signal::KILL);
        }
    }

    /// A program runs; it leads this process group.
    pub(crate) fn add_group(&self, group: u32) {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner).push(group);
    }

    /// A program has ended; its number may become another's.
    pub(crate) fn forget_group(&self, group: u32) {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| *other != group);
    }
}

/// The error of what was stopped.
pub fn interrupted() -> Error {
    ErrorKind::Interrupted.error(text!("stopped by the user", "中断されました"))
}
