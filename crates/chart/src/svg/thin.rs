//! Reduction of lines with very many points.
//!
//! The model: a picture has a limited number of pixel columns. Of the points in a column only the
//! lowest and the highest are visible; they are kept, in order. So a stall of one sample in ten
//! hours keeps its full depth. A gap is kept if it is at least one pixel wide.

/// A point in pixels, or a gap.
pub(super) type PixelPoint = Option<(f64, f64)>;

/// Returns the points of each unbroken piece, at most two per pixel column.
pub(super) fn pieces(points: impl Iterator<Item = PixelPoint>) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut column: Option<PixelColumn> = None;
    let mut broken = false;
    let mut last_x = f64::NEG_INFINITY;
    for point in points {
        let Some((x, y)) = point else {
            broken = true;
            continue;
        };
        let apart = broken && x - last_x >= 1.0;
        (broken, last_x) = (false, x);
        match &mut column {
            Some(column) if !apart && column.holds(x) => column.take(x, y),
            _ => {
                if let (Some(full), Some(piece)) = (column.take(), pieces.last_mut()) {
                    full.write(piece);
                }
                if apart || pieces.is_empty() {
                    pieces.push(Vec::new());
                }
                column = Some(PixelColumn { lowest: (x, y), highest: (x, y) });
            }
        }
    }
    if let (Some(full), Some(piece)) = (column, pieces.last_mut()) {
        full.write(piece);
    }
    pieces
}

/// Returns the dots without duplicates at the same position, on a grid of 1.5 pixels.
pub(super) fn dots(points: impl Iterator<Item = PixelPoint>) -> Vec<(f64, f64)> {
    let mut spots: Vec<(i64, i64)> =
        points.flatten().map(|(x, y)| ((x / 1.5).round() as i64, (y / 1.5).round() as i64)).collect();
    spots.sort_unstable();
    spots.dedup();
    spots.into_iter().map(|(x, y)| (x as f64 * 1.5, y as f64 * 1.5)).collect()
}

/// Visible points of a pixel column.
struct PixelColumn {
    lowest: (f64, f64),
    highest: (f64, f64),
}

impl PixelColumn {
    fn holds(&self, x: f64) -> bool {
        x.floor() == self.lowest.0.floor()
    }

    fn take(&mut self, x: f64, y: f64) {
        if y < self.lowest.1 {
            self.lowest = (x, y);
        }
        if y > self.highest.1 {
            self.highest = (x, y);
        }
    }

    fn write(self, piece: &mut Vec<(f64, f64)>) {
        let (first, second) = if self.lowest.0 <= self.highest.0 {
            (self.lowest, self.highest)
        } else {
            (self.highest, self.lowest)
        };
        piece.push(first);
        if second != first {
            piece.push(second);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_single_low_point_among_many_stays() {
        let points = (0..36_000).map(|i| Some((f64::from(i) / 50.0, if i == 17_003 { 300.0 } else { 10.0 })));
        let pieces = pieces(points);
        assert_eq!(pieces.len(), 1);
        assert!(pieces[0].len() < 1500);
        assert!(pieces[0].iter().any(|(_, y)| *y == 300.0));
    }

    #[test]
    fn gaps_as_wide_as_a_pixel_stay_and_narrower_ones_do_not() {
        let place = |x: f64| Some((x, 1.0));
        let lines = pieces([place(0.0), place(3.0), None, place(9.0), None, place(9.4), None].into_iter());
        assert_eq!(lines, [vec![(0.0, 1.0), (3.0, 1.0)], vec![(9.0, 1.0)]]);
        assert!(pieces([None, None].into_iter()).is_empty());
    }

    proptest! {
        #[test]
        fn lowest_and_highest_are_never_lost(ys in proptest::collection::vec(0.0..500.0f64, 1..2000)) {
            let points = ys.iter().enumerate().map(|(i, y)| Some((i as f64 / 7.0, *y)));
            let kept: Vec<f64> = pieces(points).concat().into_iter().map(|(_, y)| y).collect();
            let ends = |ys: &[f64]| ys.iter().fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(*y), high.max(*y)));
            prop_assert_eq!(ends(&kept), ends(&ys));
        }
    }
}
