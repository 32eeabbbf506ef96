//! Charts of storage performance. What a chart shows ([`Chart`]) is apart from how it is drawn: as SVG, as PNG from the
//! same SVG, or in block characters in the terminal.
//!
//! The model: whoever makes a chart chooses the words (in one language) and gives plain numbers in base units (bytes per
//! second, ns, bytes); the chart knows how numbers of each unit are written, at axes as in words. Nothing here knows runs,
//! records or languages.

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
