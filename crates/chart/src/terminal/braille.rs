//! A drawing in braille characters: two dots across and four down per character cell (Unicode 16,
//! block U+2800).

use super::row::{Ink, InkedLine};

/// Bits of a braille character, by row and column of its dots.
const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// A character cell of the drawing.
#[derive(Clone, Copy, Default)]
struct Spot {
    dots: u8,
    /// The series drawn here last.
    series: Option<usize>,
    /// A letter or a sign drawn over the dots.
    sign: Option<char>,
    /// Whether a shaded range covers it.
    shaded: bool,
    /// Whether a vertical line passes through it.
    ruled: bool,
}

/// A drawing area of character cells.
pub(super) struct Canvas {
    columns: usize,
    lines: usize,
    spots: Vec<Spot>,
}

impl Canvas {
    pub(super) fn new(columns: usize, lines: usize) -> Self {
        let (columns, lines) = (columns.max(1), lines.max(1));
        Self { columns, lines, spots: vec![Spot::default(); columns * lines] }
    }

    /// Returns the dot at a position, given as shares of the width from the left and of the height
    /// from the bottom.
    fn dot(&self, x: f64, y: f64) -> (i64, i64) {
        let place = |share: f64, dots: usize| (share.clamp(0.0, 1.0) * (dots - 1) as f64).round() as i64;
        let (across, down) = (self.columns * 2, self.lines * 4);
        (place(x, across), down as i64 - 1 - place(y, down))
    }

    fn set(&mut self, (x, y): (i64, i64), series: usize) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if let Some(spot) =
            self.spots.get_mut((y / 4) * self.columns + x / 2).filter(|_| x / 2 < self.columns)
        {
            spot.dots |= BITS[y % 4][x % 2];
            spot.series = Some(series);
        }
    }

    pub(super) fn point(&mut self, at: (f64, f64), series: usize) {
        let dot = self.dot(at.0, at.1);
        self.set(dot, series);
    }

    /// Draws a straight line (Bresenham, "Algorithm for computer control of a digital plotter",
    /// 1965).
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), series: usize) {
        let ((mut x, mut y), (to_x, to_y)) = (self.dot(from.0, from.1), self.dot(to.0, to.1));
        let (width, height) = ((to_x - x).abs(), -(to_y - y).abs());
        let (step_x, step_y) = ((to_x - x).signum(), (to_y - y).signum());
        let mut error = width + height;
        loop {
            self.set((x, y), series);
            if (x, y) == (to_x, to_y) {
                return;
            }
            let twice = 2 * error;
            if twice >= height {
                error += height;
                x += step_x;
            }
            if twice <= width {
                error += width;
                y += step_y;
            }
        }
    }

    /// Draws a character over everything else.
    pub(super) fn sign(&mut self, at: (f64, f64), sign: char, series: usize) {
        let (x, y) = self.dot(at.0, at.1);
        let place = (y.max(0) as usize / 4) * self.columns + x.max(0) as usize / 2;
        if let Some(spot) = self.spots.get_mut(place) {
            spot.sign = Some(sign);
            spot.series = Some(series);
        }
    }

    /// Draws a vertical line behind everything else.
    pub(super) fn rule(&mut self, at: f64) {
        let column = (self.dot(at, 0.0).0.max(0) as usize / 2).min(self.columns - 1);
        for line in 0..self.lines {
            self.spots[line * self.columns + column].ruled = true;
        }
    }

    /// Shades the columns of a range where nothing else is drawn.
    pub(super) fn shade(&mut self, from: f64, to: f64) {
        let column =
            |share: f64| ((share.clamp(0.0, 1.0) * self.columns as f64) as usize).min(self.columns - 1);
        for column in column(from)..=column(to) {
            for line in 0..self.lines {
                self.spots[line * self.columns + column].shaded = true;
            }
        }
    }

    /// Appends the characters of a line of the drawing, counted from the top, to a row.
    pub(super) fn put_line(&self, line: usize, row: &mut InkedLine) {
        for spot in &self.spots[line * self.columns..(line + 1) * self.columns] {
            let ink = spot.series.map_or(Ink::Quiet, Ink::Series);
            let drawn = char::from_u32(0x2800 + u32::from(spot.dots)).filter(|_| spot.dots > 0);
            let behind = match (spot.ruled, spot.shaded) {
                (true, _) => '┊',
                (false, true) => '░',
                (false, false) => ' ',
            };
            let character = spot.sign.or(drawn).unwrap_or(behind);
            row.put(ink, character.encode_utf8(&mut [0; 4]));
        }
    }
}
