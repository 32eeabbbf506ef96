//! PNG output, if the build has it.

use kurabe_core::Result;
#[cfg(not(feature = "png"))]
use kurabe_core::{Error, ErrorKind};

/// Whether this build can draw PNG.
pub const DRAWS_PNG: bool = cfg!(feature = "png");

/// Draws an SVG as a PNG, `scale` times its size in pixels.
///
/// # Errors
/// Returns an error if the SVG cannot be parsed, the picture would be empty or larger than 20 000
/// pixels on a side, or this build cannot draw PNG.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>> {
    #[cfg(feature = "png")]
    return crate::pixels::png(svg, scale);
    #[cfg(not(feature = "png"))]
    {
        let _ = (svg, scale);
        Err(Error::not_built(ErrorKind::Unsupported, "PNG", "png"))
    }
}
