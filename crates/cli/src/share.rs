//! Progress of long work other than a run: an updated line on a terminal, a single line elsewhere.

use crate::args::Global;
use crate::output::{progress_mode, say};
use crate::show::Mode;
use std::io::Write;

/// Progress of a piece of work, as a percentage. The line is removed on drop.
pub struct Share {
    words: &'static str,
    mode: Mode,
    percent: Option<u64>,
}

impl Share {
    /// Creates the progress without showing anything yet. `words` name the work.
    pub fn of(words: &'static str, global: &Global) -> Self {
        Self { words, mode: progress_mode(global), percent: None }
    }

    /// Shows the progress of a transfer.
    pub fn tell(&mut self, done: u64, all: u64) {
        let percent = (u128::from(done) * 100 / u128::from(all.max(1))) as u64;
        if self.mode == Mode::Quiet || self.percent == Some(percent) {
            return;
        }
        if self.mode == Mode::Terminal {
            // If the terminal cannot be written, progress is not shown.
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
