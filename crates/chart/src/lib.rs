//! Charts of storage performance. The content of a chart ([`Chart`]) is separate from its
//! rendering: as SVG, as PNG from the same SVG, or in block characters in the terminal.
//!
//! The model: the caller supplies the texts (in one language) and plain numbers in base units
//! (bytes per second, ns, bytes). The chart formats numbers of each unit, both on axes and in
//! texts. Nothing here depends on runs, records or languages.

mod font;
#[cfg(feature = "png")]
mod pixels;
mod plot;
mod png;
mod svg;
mod terminal;

pub use font::{REGULAR, bold_has, fit, has_glyph, text_width, wrap};
pub use plot::{
    Axis, Bar, BarGroup, Bars, Chart, ChartLine, Forest, ForestRow, Heat, LineStyle, Lines, Mark, Plot,
    RatioVerdict, Scale, ShadedBand, ShareRow, Shares, Unit,
};
pub use png::{DRAWS_PNG, png};
pub use svg::{Drawing, Theme, escape, style_sheet};
