//! Style sheet, scripts, icon and font, with the addresses under which browsers cache them.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use kurabe_report::{PAGE_SCRIPT, page_style};
use maud::{Markup, html};
use std::borrow::Cow;
use std::sync::LazyLock;

const STYLE: &str = include_str!("../assets/ui.css");
const SCRIPT: &str = include_str!("../assets/ui.js");
const PICTURE: &str = include_str!("../assets/picture.js");

/// The icon: two bars side by side.
const ICON: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b5cad"/><path d="M5 13V6M11 13V3" stroke="#fff" stroke-width="3"/></svg>"##;

/// A file that the page loads.
struct Asset {
    /// Address with a hash that changes with the content.
    address: String,
    kind: &'static str,
    content: Cow<'static, [u8]>,
}

/// Style sheet, script, icon and font.
static ASSETS: LazyLock<[Asset; 4]> = LazyLock::new(|| {
    // The font has Japanese characters for systems without them. Browsers load it only if no other
    // font has a character.
    let font = Asset::new("ttf", "font/ttf", kurabe_chart::REGULAR.as_slice());
    let face = format!("@font-face {{ font-family: \"kurabe\"; src: url({}); }}\n", font.address);
    let style = format!("{face}{}{STYLE}", page_style()).into_bytes();
    // Comments and indentation are only for readers of the source.
    let lines = [SCRIPT, PICTURE, PAGE_SCRIPT].into_iter().flat_map(str::lines).map(str::trim_start);
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("//")).collect();
    let script = Asset::new("js", "text/javascript; charset=utf-8", lines.join("\n").into_bytes());
    let icon = Asset::new("svg", "image/svg+xml", ICON.as_bytes());
    [Asset::new("css", "text/css; charset=utf-8", style), script, icon, font]
});

impl Asset {
    fn new(ending: &str, kind: &'static str, content: impl Into<Cow<'static, [u8]>>) -> Self {
        let content = content.into();
        // FNV-1a. The hash only has to change with the content.
        let hash = content.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
        });
        Self { address: format!("/assets/{hash:016x}.{ending}"), kind, content }
    }
}

/// Returns the elements for a page's head that load these files.
pub(crate) fn links() -> Markup {
    let [style, script, icon, _] = &*ASSETS;
    html! {
        link rel="stylesheet" href=(style.address);
        link rel="icon" href=(icon.address);
        script src=(script.address) defer {}
    }
}

/// Handles `GET /assets/NAME`.
pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    let asset = ASSETS.iter().find(|asset| asset.address.strip_prefix("/assets/") == Some(&name));
    let Some(asset) = asset else { return StatusCode::NOT_FOUND.into_response() };
    let kept = "public, max-age=31536000, immutable";
    ([(header::CONTENT_TYPE, asset.kind), (header::CACHE_CONTROL, kept)], &*asset.content).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_stays_small() {
        // Measuring, sliders, tables, pictures, and lists that are searched and ticked. A framework alone
        // has several times as much.
        let bytes = ASSETS[1].content.len();
        assert!(bytes <= 30 << 10, "{bytes} bytes");
    }
}
