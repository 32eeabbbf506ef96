//! A chart in the terminal, in block and braille characters.
//!
//! The model: every plot is drawn as rows of painted pieces, and a row knows the width, so that no line is longer than
//! it. Nothing is told by colour alone: bars and lines carry the letter of their series, parts of a bar a pattern and a
//! letter. Values stand in words beside what is drawn wherever there is room.
//!
//! Not a goal: exact positions. The finest step is half a column and a quarter of a line; who needs more has the SVG.

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

/// Narrower than this nothing can be drawn; lines are cut instead.
const NARROWEST: usize = 40;

impl Chart {
    /// The chart as lines of at most `width` columns, with escape codes for colours if `colour`. The title and the notes
    /// stand above and below the drawing; a chart without anything to draw is its title alone.
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
