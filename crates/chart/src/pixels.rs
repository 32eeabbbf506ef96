//! PNG from the SVG of a chart, with the embedded fonts alone.
//!
//! The model: a picture depends only on its SVG, not on the fonts of the machine. A character that
//! the embedded font lacks becomes `?`, because a picture with empty boxes is useless. Media
//! queries and CSS variables are not supported: pass an SVG of one theme. The renderer is a build
//! feature (`png`).

use crate::font;
use kurabe_core::{Error, ErrorKind, Result, text};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::fmt::Display;
use std::sync::{Arc, LazyLock};

/// Longest side of a picture, in pixels.
const LONGEST_PX: f32 = 20_000.0;

/// Replacement in pictures for a character that the font lacks.
const STAND_IN: char = '?';

fn no_picture(why: impl Display) -> Error {
    ErrorKind::Internal.error(text!("cannot draw the picture", "画像を描けません")).because(why)
}

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    for data in [&**font::REGULAR, font::BOLD] {
        fonts.load_font_source(fontdb::Source::Binary(Arc::new(data)));
    }
    Arc::new(fonts)
});

/// Parses the SVG with resvg and the embedded fonts.
pub(crate) fn tree(svg: &str) -> Result<Tree> {
    let options =
        Options { fontdb: Arc::clone(&FONTS), font_family: "Noto Sans JP".to_owned(), ..Options::default() };
    Tree::from_str(&drawable(svg), &options)
        .map_err(|error| no_picture(format!("the SVG cannot be read: {error}")))
}

/// Replaces each character that the font lacks with `?`, and removes those that only join others.
fn drawable(svg: &str) -> String {
    let stand_in = |c: char| if c.is_ascii() || font::has_glyph(c) { c } else { STAND_IN };
    svg.chars().filter(|c| !font::is_invisible(*c)).map(stand_in).collect()
}

/// See [`crate::png`].
pub(crate) fn png(svg: &str, scale: f32) -> Result<Vec<u8>> {
    let tree = tree(svg)?;
    let (width, height) = (tree.size().width() * scale, tree.size().height() * scale);
    let fits = |side: f32| (0.5..=LONGEST_PX).contains(&side);
    let pixels = (fits(width) && fits(height))
        .then(|| Pixmap::new(width.round() as u32, height.round() as u32))
        .flatten();
    let mut pixels = pixels.ok_or_else(|| {
        let (width, height) = (width.round() as u64, height.round() as u64);
        no_picture(format!(
            "a picture of {width} × {height} pixels cannot be drawn: the longest side is {LONGEST_PX}"
        ))
    })?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| no_picture(format!("the picture cannot be compressed: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LACKING: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20"><text x="2" y="14" font-family="Noto Sans JP">A👨‍👩B</text></svg>"#;

    #[test]
    fn what_the_font_lacks_becomes_a_question_mark() {
        assert!(drawable(LACKING).contains(">A??B<"));
        let shown = png(LACKING, 1.0).unwrap();
        assert_eq!(shown, png(&LACKING.replace("👨‍👩", "??"), 1.0).unwrap());
        assert_ne!(shown, png(&LACKING.replace("👨‍👩", ""), 1.0).unwrap());
    }

    #[test]
    fn sizes_and_texts_that_cannot_be_drawn_are_refused() {
        let why = |svg, scale| png(svg, scale).unwrap_err().cause().unwrap().to_owned();
        assert!(why("<svg", 1.0).starts_with("the SVG cannot be read: "));
        assert!(why(LACKING, 0.0).starts_with("a picture of 0 × 0 pixels cannot be drawn: "));
        assert!(why(LACKING, f32::NAN).contains("cannot be drawn"));
        assert!(why(LACKING, 1e6).starts_with("a picture of 60000000 × 20000000 pixels cannot be drawn: "));
    }
}
