//! How far long work without a run is: a line that is written over on a terminal, one line elsewhere.

use crate::args::Global;
use crate::output::{progress_mode, say};
use kurabe_report::Mode;
use std::io::Write;

/// Work whose share that is done is shown. The line goes when this does.
pub struct Share {
    words: &'static str,
    mode: Mode,
    percent: Option<u64>,
}

impl Share {
    /// Nothing is shown yet. `words` say what is done.
    pub fn of(words: &'static str, global: &Global) -> Self {
        Self { words, mode: progress_mode(global), percent: None }
    }

    /// Shows how much is done of all.
    pub fn tell(&mut self, done: u64, all: u64) {
        let percent = (u128::from(done) * 100 / u128::from(all.max(1))) as u64;
        if self.mode == Mode::Quiet || self.percent == Some(percent) {
            return;
        }
        if self.mode == Mode::Terminal {
            // A terminal that takes nothing shows no progress.
            let _ = write!(std::io::stderr(), "\r{} ({percent} %)", self.words);
        } else if self.percent.is_none() {
            say(self.words);
        }
        self.percent = Some(percent);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.percent.is_some() && self.mode == Mode::Terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
