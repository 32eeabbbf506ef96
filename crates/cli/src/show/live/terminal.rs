//! An in-memory terminal, which shows what a live line leaves behind.

use indicatif::TermLike;
use std::io::{Result, Write};
use std::sync::{Arc, Mutex};

/// A terminal. Clones refer to the same terminal.
#[derive(Clone)]
pub struct Terminal(Arc<Mutex<vt100::Parser>>);

impl Terminal {
    pub fn new(rows: u16, columns: u16) -> Self {
        Self(Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0))))
    }

    /// Returns the lines, without empty ones at the end.
    pub fn contents(&self) -> String {
        let parser = self.0.lock().unwrap();
        let rows: Vec<String> = parser.screen().rows(0, parser.screen().size().1).collect();
        let lines: Vec<&str> = rows.iter().map(|row| row.trim_end()).collect();
        lines.join("\n").trim_end_matches('\n').to_owned()
    }

    fn write(&self, text: &str) -> Result<()> {
        self.0.lock().unwrap().write_all(text.as_bytes())
    }

    fn move_cursor(&self, count: usize, direction: char) -> Result<()> {
        if count == 0 { Ok(()) } else { self.write(&format!("\x1b[{count}{direction}")) }
    }
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.contents())
    }
}

impl TermLike for Terminal {
    fn width(&self) -> u16 {
        self.0.lock().unwrap().screen().size().1
    }

    fn height(&self) -> u16 {
        self.0.lock().unwrap().screen().size().0
    }

    fn move_cursor_up(&self, count: usize) -> Result<()> {
        self.move_cursor(count, 'A')
    }

    fn move_cursor_down(&self, count: usize) -> Result<()> {
        self.move_cursor(count, 'B')
    }

    fn move_cursor_right(&self, count: usize) -> Result<()> {
        self.move_cursor(count, 'C')
    }

    fn move_cursor_left(&self, count: usize) -> Result<()> {
        self.move_cursor(count, 'D')
    }

    fn write_line(&self, line: &str) -> Result<()> {
        self.write(&format!("{line}\r\n"))
    }

    fn write_str(&self, text: &str) -> Result<()> {
        self.write(text)
    }

    fn clear_line(&self) -> Result<()> {
        self.write("\r\x1b[2K")
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }
}
