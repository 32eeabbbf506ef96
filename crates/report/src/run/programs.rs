//! The programs that a step is going to run, a line for each kind.

use kurabe_core::event::Event;
use kurabe_core::{Text, shown, text};

/// What is going to run, if the event tells it.
pub fn program_lines(event: &Event) -> Vec<Text> {
    let Event::Programs { prepare, command, restore, cleanup } = event else { return Vec::new() };
    let line = |programs: &[String], kind: Text| {
        let programs = shown::line(&programs.join("; "));
        let words = Text { en: format!("{}: {programs}", kind.en), ja: format!("{}: {programs}", kind.ja) };
        (!programs.is_empty()).then_some(words)
    };
    [
        line(prepare, text!("programs that prepare", "準備のプログラム")),
        line(std::slice::from_ref(command), text!("timed program", "計時するプログラム")),
        line(restore, text!("programs after each repetition", "毎回のあとのプログラム")),
        line(cleanup, text!("programs at the end", "最後のプログラム")),
    ]
    .into_iter()
    .flatten()
    .collect()
}
