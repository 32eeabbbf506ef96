//! Font sizes, margins, and the space that text occupies.

use super::canvas::Type;
use crate::font;

pub(super) const PAD_PX: f64 = 20.0;

pub(super) const TITLE: Type = Type { size: 17.0, strong: true };
pub(super) const NOTE: Type = Type { size: 12.0, strong: false };
/// Labels of rows, legends and axes.
pub(super) const LABEL: Type = Type { size: 12.5, strong: false };
/// Numbers at tick marks.
pub(super) const TICK: Type = Type { size: 11.5, strong: false };
/// Figures next to or in marks.
pub(super) const FIGURE: Type = Type { size: 12.0, strong: false };

/// Returns the width that a text needs, with some margin for a browser's own font.
pub(super) fn room_for(text: &str, kind: Type) -> f64 {
    (font::text_width(text, kind.size, kind.strong) * 1.04).ceil()
}

/// Returns the width of the widest text, limited to `most`.
pub(super) fn widest(texts: impl IntoIterator<Item = impl AsRef<str>>, kind: Type, most: f64) -> f64 {
    texts.into_iter().map(|text| room_for(text.as_ref(), kind)).fold(0.0, f64::max).min(most)
}

/// Returns the position nearest to `middle` at which a centred text keeps this distance from both
/// sides of a drawing.
pub(super) fn inside(width: f64, free_px: f64, text: &str, kind: Type, middle: f64) -> f64 {
    let least = room_for(text, kind) / 2.0 + free_px;
    middle.clamp(least, (width - least).max(least))
}
