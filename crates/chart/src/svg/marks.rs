//! Shapes that distinguish series without colour: dashes and markers.

use super::canvas::{Canvas, px};
use super::ink::Ink;

/// Dash patterns of lines, the first one solid.
const DASHES: [&str; 6] = ["", "7 3", "2 3", "9 3 2 3", "5 2 1 2 1 2", "12 4"];

/// Returns the attribute for the dashes of a series.
pub(super) fn dash(index: usize) -> String {
    match DASHES[index % DASHES.len()] {
        "" => String::new(),
        dashes => format!(r#" stroke-dasharray="{dashes}""#),
    }
}

/// Number of marker shapes; coprime to the number of colours.
const SHAPES: usize = 7;

/// Returns the outline of a marker around a position.
fn outline(shape: usize, (x, y): (f64, f64), r: f64) -> String {
    let corners = |around: &[(f64, f64)]| {
        let corner = |(dx, dy): &(f64, f64)| format!("{} {}", px(x + dx * r), px(y + dy * r));
        format!("M{}Z", around.iter().map(corner).collect::<Vec<_>>().join("L"))
    };
    match shape % SHAPES {
        0 => format!(
            "M{} {}a{r} {r} 0 1 0 {} 0a{r} {r} 0 1 0 {} 0Z",
            px(x - r),
            px(y),
            px(2.0 * r),
            px(-2.0 * r),
            r = px(r)
        ),
        1 => corners(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => corners(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        3 => corners(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        4 => corners(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
        5 => corners(&[(-1.3, -0.45), (1.3, -0.45), (1.3, 0.45), (-1.3, 0.45)]),
        _ => corners(&[(-0.45, -1.3), (0.45, -1.3), (0.45, 1.3), (-0.45, 1.3)]),
    }
}

/// Draws a marker of a series, with a background-coloured outline.
pub(super) fn marker(canvas: &mut Canvas, index: usize, centre: (f64, f64), r: f64) {
    shape(canvas, index, centre, r, Ink::series(index));
}

/// Draws a marker of any shape and ink.
pub(super) fn shape(canvas: &mut Canvas, index: usize, centre: (f64, f64), r: f64, ink: Ink) {
    let (fill, paper) = (canvas.paint(ink), canvas.paint(Ink::Paper));
    let path = outline(index, centre, r);
    canvas.raw(&format!(r#"<path d="{path}" fill="{fill}" stroke="{paper}" stroke-width="1"/>"#));
}

/// Draws an unfilled marker.
pub(super) fn hollow(canvas: &mut Canvas, index: usize, centre: (f64, f64), r: f64, ink: Ink) {
    let (stroke, paper) = (canvas.paint(ink), canvas.paint(Ink::Paper));
    let path = outline(index, centre, r);
    canvas.raw(&format!(r#"<path d="{path}" fill="{paper}" stroke="{stroke}" stroke-width="1.6"/>"#));
}
