//! Rendering of a chart in the terminal, in block and braille characters.
//!
//! The model: every plot is drawn as rows of coloured pieces, and a row tracks its width, so that
//! no line is too long. Colour is never the only distinction: bars and lines have the letter of
//! their series, parts of a bar a pattern and a letter. Values are written next to the marks
//! wherever they fit.
//!
//! Not a goal: exact positions. The finest step is half a column and a quarter of a line; the SVG
//! is exact.

mod bars;
mod braille;
mod forest;
mod heat;
mod lines;
mod row;
mod shares;
mod ticks;

use crate::plot::{Chart, Plot};
use kurabe_core::display::wrap;
use row::{Ink, InkedLine};

/// Minimum width of a plot; in a narrower terminal, lines are truncated.
const NARROWEST: usize = 40;

impl Chart {
    /// Renders the chart as lines of at most `width` columns, with escape codes for colours if
    /// `colour`. The title is above the plot and the notes below it; a chart without data is its
    /// title alone.
    pub fn terminal(&self, width: usize, colour: bool) -> Vec<String> {
        let room = width.max(NARROWEST);
        let mut rows: Vec<InkedLine> =
            wrap(&self.title, room).iter().map(|line| InkedLine::of(Ink::Strong, line)).collect();
        let drawn = match &self.plot {
            Plot::Bars(bars) => bars::draw(bars, room),
            Plot::Lines(lines) => lines::draw(lines, room),
            Plot::Forest(forest) => forest::draw(forest, room),
            Plot::Heat(heat) => heat::draw(heat, room),
            Plot::Shares(shares) => shares::draw(shares, room),
        };
        if !drawn.is_empty() {
            rows.extend(drawn);
            let notes = self.notes.iter().flat_map(|note| wrap(note, room.saturating_sub(2)));
            rows.extend(notes.map(|line| InkedLine::indented(Ink::Quiet, &line)));
        }
        rows.iter().map(|row| row.finish(width, colour)).collect()
    }
}

#[cfg(test)]
mod tests;
