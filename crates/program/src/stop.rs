//! Stops a run.

use crate::platform::signal_group;
use crate::scope::Scope;
use kurabe_core::{Error, ErrorKind, Result, text};
use rustix::process::Signal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Handle that stops a run. Each run has its own, which knows the programs that run under it.
#[derive(Debug, Default)]
pub struct Stop {
    asked: AtomicBool,
    /// Process groups of the programs that run now.
    groups: Mutex<Vec<u32>>,
    /// Enclosed commands that run now.
    scopes: Mutex<Vec<Arc<Scope>>>,
}

impl Stop {
    /// Requests a stop of the running programs.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Returns whether a stop was requested.
    #[inline]
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
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|scope| scope.kill());
    }

    /// Records that an enclosed command runs.
    pub(crate) fn add_scope(&self, scope: &Arc<Scope>) {
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(scope));
    }

    /// Records that no process of an enclosed command is left.
    pub(crate) fn forget_scopes(&self) {
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner).clear();
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
