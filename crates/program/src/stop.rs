//! Stops a run.

use crate::platform::signal_group;
use kurabe_core::{Error, ErrorKind, Result, text};
use rustix::process::Signal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Handle that stops a run. Each run has its own, which knows the programs that run under it.
#[derive(Debug, Default)]
pub struct Stop {
    asked: AtomicBool,
    /// Process groups of the programs that run now.
    groups: Mutex<Vec<u32>>,
}

impl Stop {
    /// Requests a stop of the running programs.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Returns whether a stop was requested.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Checks that no stop was requested.
    ///
    /// # Errors
    /// `Interrupted` if it was.
    pub fn check(&self) -> Result<()> {
        if self.is_asked() { Err(interrupted()) } else { Ok(()) }
    }

    /// Kills the programs that run under this handle and all processes that they started,
    /// immediately. This is for an exit that must not wait; [`Stop::ask`] gives programs time to
    /// end.
    pub fn kill_programs(&self) {
        for group in self.groups.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            signal_group(*group, Signal::KILL);
        }
    }

    /// Records that a program runs, which leads this process group.
    pub(crate) fn add_group(&self, group: u32) {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner).push(group);
    }

    /// Records that a program has ended, so that its number may be reused.
    pub(crate) fn forget_group(&self, group: u32) {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| *other != group);
    }
}

/// Creates the error of a run that was stopped.
pub fn interrupted() -> Error {
    ErrorKind::Interrupted.error(text!("stopped by the user", "中断されました"))
}
