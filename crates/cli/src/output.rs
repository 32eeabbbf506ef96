//! Standard output and standard error, and their style.

use crate::args::{ForceArgs, Global};
use crate::lang::lang;
use crate::show::{Mode, ScriptLine};
use kurabe_core::{Error, ErrorKind, Result, Text, record::RunRecord, shown::Shown, text};
use kurabe_lab::output::{Output, Outputs};
use kurabe_report::Style;
use kurabe_store::Secrets;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Width if the terminal does not report one.
const USUAL_WIDTH: usize = 100;
const NARROWEST: usize = 60;
const WIDEST: usize = 160;

/// Returns the style of standard output.
pub fn style() -> Style {
    let terminal = std::io::stdout().is_terminal();
    Style { lang: lang(), color: terminal && colour_is_welcome(), width: width() }
}

/// Returns the style of standard error.
pub fn error_style() -> Style {
    Style { color: std::io::stderr().is_terminal() && colour_is_welcome(), ..style() }
}

/// Returns how to show progress.
pub fn progress_mode(global: &Global) -> Mode {
    if global.quiet {
        Mode::Quiet
    } else if std::io::stderr().is_terminal() {
        Mode::Terminal
    } else {
        Mode::Plain
    }
}

/// Returns whether a question can be asked: a terminal can show it and read the answer.
pub fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Returns whether progress and result appear one below the other, because both streams lead to the
/// same terminal or file.
pub fn result_follows_progress(global: &Global) -> bool {
    let place = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino);
    let [out, err] = [rustix::fs::fstat(std::io::stdout()), rustix::fs::fstat(std::io::stderr())]
        .map(|stat| stat.map(place));
    !global.json && !global.quiet && out.is_ok() && out == err
}

/// <https://no-color.org>
fn colour_is_welcome() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || {
        rustix::termios::tcgetwinsize(std::io::stdout())
            .or_else(|_| rustix::termios::tcgetwinsize(std::io::stderr()))
            .ok()
            .map(|size| usize::from(size.ws_col))
            .filter(|columns| *columns > 0)
    };
    asked.or_else(seen).unwrap_or(USUAL_WIDTH).clamp(NARROWEST, WIDEST)
}

/// Passwords in the command line or the environment, which no message may repeat.
static SECRETS: OnceLock<Secrets> = OnceLock::new();

/// Removes the passwords of the command line and of `KURABE_DB` from all messages from now on.
pub fn cover_passwords(command_line: &[String]) {
    let variable = std::env::var("KURABE_DB").unwrap_or_default();
    let words = command_line.iter().map(String::as_str).chain([variable.as_str()]);
    SECRETS.get_or_init(|| Secrets::of(words));
}

/// Returns the message without passwords.
fn covered(words: &str) -> String {
    SECRETS.get_or_init(Secrets::default).cover(words)
}

/// Set when the reader of standard output has closed it.
static READER_GONE: AtomicBool = AtomicBool::new(false);

/// Returns whether the reader of standard output closed it, as in `kurabe list | head -1`. The
/// program then ends quietly, without an error message.
pub fn reader_is_gone() -> bool {
    READER_GONE.load(Ordering::Relaxed)
}

/// Prints text without colours to standard output.
///
/// # Errors
/// When standard output cannot be written.
pub fn print(words: &str) -> Result<()> {
    write(&Shown::lines(words))
}

/// Prints a page, which may be coloured, to standard output.
///
/// # Errors
/// When standard output cannot be written.
pub fn print_page(page: &str) -> Result<()> {
    write(&style().page(page))
}

/// Prints lines in the current language.
///
/// # Errors
/// When standard output cannot be written.
pub fn print_texts(lines: &[Text]) -> Result<()> {
    print(&lines.iter().map(|line| line.clone().take(lang()) + "\n").collect::<String>())
}

/// Returns the outputs of a command. The store is refused as an output.
pub fn outputs(force: ForceArgs, global: &Global) -> Outputs {
    let store = global.store().lasting_path().ok().flatten();
    Outputs::new(force.force).without(store.as_deref())
}

/// Returns the outputs of a command that also prints a result. With `--json` the result occupies
/// standard output.
pub fn outputs_next_to_result(force: ForceArgs, global: &Global) -> Outputs {
    outputs(force, global).without_stdout(global.json)
}

/// Writes a text to an output, or to standard output if there is none.
///
/// # Errors
/// When it cannot be written.
pub fn write_out(words: &str, output: Option<Output>) -> Result<()> {
    let shown = Shown::file(words);
    match output.filter(|output| !output.is_stdout()) {
        None => write(&shown),
        Some(output) => output.write(shown.as_ref().as_bytes()),
    }
}

/// Writes bytes, such as those of a picture, to standard output unless it is a terminal.
///
/// # Errors
/// When standard output is a terminal, or cannot be written.
pub fn write_bytes(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if out.is_terminal() {
        return Err(ErrorKind::Usage
            .error(text!("cannot write a picture to a terminal", "画像は端末に出せません"))
            .remedy(text!("name a file: -o report.png", "ファイルを指定してください: -o report.png")));
    }
    out.write_all(bytes).and_then(|()| out.flush()).map_err(cannot_print)
}

/// Writes to standard output.
///
/// # Errors
/// When standard output cannot be written; `Interrupted` if its reader closed it.
pub fn write(shown: &Shown) -> Result<()> {
    shown.write_to(&mut std::io::stdout().lock()).map_err(cannot_print)
}

fn cannot_print(error: std::io::Error) -> Error {
    let what = text!("cannot write to standard output", "標準出力に書けません");
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        READER_GONE.store(true, Ordering::Relaxed);
        return ErrorKind::Interrupted.error(what).because(error);
    }
    Error::os(what, &error)
}

/// Prints a line of JSON.
///
/// # Errors
/// When standard output cannot be written.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    write(&Shown::json(&(json_line(value)? + "\n")))
}

/// Prints an error as a line of JSON.
///
/// # Errors
/// When standard output cannot be written.
pub fn print_error(error: &Error) -> Result<()> {
    let line = json_line(&ScriptLine::from(error))?;
    write(&Shown::json(&format!("{}\n", covered(&line))))
}

fn json_line(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| {
        ErrorKind::Internal.error(text!("cannot write JSON", "JSON を書けません")).because(error)
    })
}

/// Prints the record, which is the last line of `--json`.
///
/// # Errors
/// When standard output cannot be written.
pub fn print_record(record: &RunRecord) -> Result<()> {
    print_json(&ScriptLine::from(record))
}

/// Prints a message of clap, which may be coloured, on standard error.
pub fn say_page(page: &str) {
    let _ = error_style().page(&covered(page)).write_to(&mut std::io::stderr().lock());
}

/// Replaces the previous line that this function printed on standard error. An empty text removes
/// it.
pub fn say_over(words: &str) {
    let line = Shown::lines(words);
    let _ = Shown::of_ours(format!("\r\x1b[K{}", line.as_ref())).write_to(&mut std::io::stderr().lock());
}

/// Prints a message on standard error.
pub fn say(words: &str) {
    // If standard error cannot be written, the failure cannot be reported either.
    let _ = Shown::lines(&covered(&format!("{words}\n"))).write_to(&mut std::io::stderr().lock());
}

/// Reports on standard output what was done to a run.
///
/// # Errors
/// When standard output cannot be written.
pub fn tell(global: &Global, line: &ScriptLine<'_>, id: &str, words: &str) -> Result<()> {
    if global.json {
        return print_json(line);
    }
    if global.quiet { Ok(()) } else { print(&format!("{words} {id}\n")) }
}
