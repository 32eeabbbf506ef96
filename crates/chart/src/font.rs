//! The embedded fonts: text widths, line breaks, available characters.
//!
//! The model: a width is the sum of the advances in the embedded font, so that a picture is laid
//! out before it is drawn. A browser may draw an SVG in another font, so layouts keep some space
//! free. Non-goals: shaping, right-to-left text.

use flate2::read::GzDecoder;
use kurabe_core::display::{TextPiece, pieces};
use kurabe_core::shown;
use std::io::Read;
use std::sync::LazyLock;
use ttf_parser::Face;

/// The regular font of pictures (SIL Open Font License 1.1): Noto Sans JP with the characters of
/// both languages. It is stored compressed, which saves a megabyte in the executable, and
/// decompressed for the first picture.
pub static REGULAR: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let packed = include_bytes!("../fonts/NotoSansJP-Regular.subset.ttf.gz");
    let mut font = Vec::new();
    // A corrupt font has no characters, which every test of a picture detects.
    let _ = GzDecoder::new(&packed[..]).read_to_end(&mut font);
    font
});
pub(crate) static BOLD: &[u8] = include_bytes!("../fonts/NotoSansJP-Bold.subset.ttf");

/// Width in ems of a character that the font lacks: a browser draws it from another font, and emoji
/// are wide.
const LACKING_EM: f64 = 1.3;

/// Returns the advance of a character in ems; `None` if the font lacks it.
fn advance(c: char, bold: bool) -> Option<f64> {
    static FACES: LazyLock<[Option<Face<'static>>; 2]> =
        LazyLock::new(|| [Face::parse(&REGULAR, 0).ok(), Face::parse(BOLD, 0).ok()]);
    let face = FACES[usize::from(bold)].as_ref()?;
    let glyph = face.glyph_index(c).filter(|glyph| glyph.0 != 0)?;
    Some(f64::from(face.glyph_hor_advance(glyph)?) / f64::from(face.units_per_em()))
}

/// Returns whether the regular font, and so every picture, has the character.
pub fn has_glyph(c: char) -> bool {
    advance(c, false).is_some()
}

/// Returns whether the bold font has all characters. Text with missing ones looks better in one
/// weight than in two.
pub fn bold_has(text: &str) -> bool {
    text.chars().all(|c| advance(c, true).is_some())
}

/// Returns whether a character is not drawn: joiners, variation selectors, byte order marks.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

fn advance_em(c: char, bold: bool) -> f64 {
    if is_invisible(c) {
        return 0.0;
    }
    advance(c, bold).or_else(|| advance(c, false)).unwrap_or(LACKING_EM)
}

/// Returns the width of a text in pixels at a font size, in the embedded font. Characters drawn as
/// an escape sequence count with that width.
pub fn text_width(text: &str, size_px: f64, bold: bool) -> f64 {
    shown::line(text).chars().map(|c| advance_em(c, bold)).sum::<f64>() * size_px
}

/// Returns the text, truncated with an ellipsis if it is wider than `width_px`; empty if not even
/// the ellipsis fits.
pub fn fit(text: &str, size_px: f64, bold: bool, width_px: f64) -> String {
    let text = shown::line(text);
    if text_width(&text, size_px, bold) <= width_px {
        return text;
    }
    let mut left = width_px - text_width("…", size_px, bold);
    if left < 0.0 {
        return String::new();
    }
    let mut out: String = text
        .chars()
        .take_while(|c| {
            left -= advance_em(*c, bold) * size_px;
            left >= 0.0
        })
        .collect();
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

/// Wraps the text into at most `most` lines of at most `width_px`, with the same line breaks as in
/// a terminal. Text that does not fit ends in an ellipsis.
pub fn wrap(text: &str, size_px: f64, bold: bool, width_px: f64, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let space = text_width(" ", size_px, bold);
    let mut used = 0.0;
    for TextPiece { text: piece, spaced } in pieces(&shown::line(text)) {
        let width = text_width(&piece, size_px, bold);
        let lead = if spaced && used > 0.0 { space } else { 0.0 };
        let full = lines.len() >= most.max(1);
        match lines.last_mut() {
            Some(line) if full || used == 0.0 || used + lead + width <= width_px => {
                if lead > 0.0 {
                    line.push(' ');
                }
                line.push_str(&piece);
                used += lead + width;
            }
            _ => {
                lines.push(piece);
                used = width;
            }
        }
    }
    lines.iter().map(|line| fit(line, size_px, bold, width_px)).filter(|line| !line.is_empty()).collect()
}

/// Wraps the text into lines of similar length, so that no word is left alone in the last one.
pub(crate) fn balance(text: &str, size_px: f64, width_px: f64, most: usize) -> Vec<String> {
    let lines = wrap(text, size_px, false, width_px, most);
    if lines.len() < 2 || lines.last().is_some_and(|line| line.ends_with('…')) {
        return lines;
    }
    let (mut narrow, mut wide) = (width_px / lines.len() as f64 * 0.8, width_px);
    for _ in 0..7 {
        let middle = f64::midpoint(narrow, wide);
        let tried = wrap(text, size_px, false, middle, most);
        let cut = tried.iter().any(|line| line.ends_with('…') && !text.contains(line.as_str()));
        if tried.len() <= lines.len() && !cut { wide = middle } else { narrow = middle }
    }
    wrap(text, size_px, false, wide, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_of_one_width_and_japanese_is_an_em() {
        for bold in [false, true] {
            let widths: Vec<f64> =
                "0123456789".chars().map(|c| text_width(&c.to_string(), 10.0, bold)).collect();
            assert!(widths.iter().all(|width| (width - widths[0]).abs() < 1e-9), "{widths:?}");
        }
        assert_eq!(text_width("読み出し", 12.0, false), 48.0);
        assert_eq!(text_width("", 12.0, false), 0.0);
        assert!(text_width("throughput", 12.0, true) > text_width("throughput", 12.0, false));
        assert_eq!(text_width("👨\u{200d}👩", 10.0, false), 26.0);
    }

    #[test]
    fn words_that_do_not_fit_end_in_an_ellipsis() {
        assert_eq!(fit("short", 12.0, false, 100.0), "short");
        let cut = fit("a very long label of a device", 12.0, false, 80.0);
        assert!(cut.ends_with('…') && text_width(&cut, 12.0, false) <= 80.0, "{cut}");
        assert_eq!(fit("anything", 12.0, false, 3.0), "");
    }

    #[test]
    fn lines_keep_a_number_with_its_unit_and_japanese_breaks_where_it_may() {
        assert_eq!(wrap("speed of 6 911.3 MB/s", 10.0, false, 75.0, 3), ["speed of", "6 911.3 MB/s"]);
        assert_eq!(wrap("読み出しと書き込み。速度", 10.0, false, 95.0, 3), ["読み出しと書き込", "み。速度"]);
        assert_eq!(wrap("読み出しと書き込み。", 10.0, false, 90.0, 3), ["読み出しと書き込", "み。"]);
        let cut = wrap("one two three four five six", 10.0, false, 50.0, 2);
        assert_eq!(cut.len(), 2);
        assert!(cut[1].ends_with('…'));
        assert!(wrap("", 10.0, false, 50.0, 2).is_empty());
        let even = balance("about six more are likely to settle it", 10.0, 160.0, 3);
        assert_eq!(even, ["about six more are", "likely to settle it"]);
    }
}
