//! Target of drawings: elements, escaped text, and the colours and patterns in use.

use super::ink::{INK_PATTERNS, Ink, PATTERN_TILE_PX, SERIES, Theme};
use crate::font;
use kurabe_core::shown;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Placeholder for the prefix of element names until the drawing is complete and has a hash. Texts
/// cannot contain it.
const PREFIX: char = '\u{1}';
/// Fonts available in browsers, the embedded one first.
const FAMILY: &str = "'Noto Sans JP','Noto Sans CJK JP','Hiragino Sans','Yu Gothic UI',Meiryo,sans-serif";
/// Number of marks described to a screen reader.
const TOLD: usize = 60;

/// Size and weight of text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type {
    pub size: f64,
    pub strong: bool,
}

/// The part of a text that is at the given position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Start,
    Middle,
    End,
}

/// A drawing under construction.
#[derive(Default)]
pub(super) struct Canvas {
    /// Width in pixels.
    pub width: f64,
    /// Height of a line plot; `None` derives it from the width.
    pub plot_px: Option<f64>,
    theme: Theme,
    body: String,
    inks: BTreeSet<Ink>,
    patterns: BTreeSet<usize>,
    described: Vec<String>,
}

/// Formats a coordinate to a tenth of a pixel. NaN becomes 0, because a coordinate must not be
/// missing.
pub(super) fn px(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let tenths = (value.clamp(-1e6, 1e6) * 10.0).round() as i64;
    let (sign, tenths) = if tenths < 0 { ("-", -tenths) } else { ("", tenths) };
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (0, tenth) => format!("{sign}.{tenth}"),
        (whole, tenth) => format!("{sign}{whole}.{tenth}"),
    }
}

/// Escapes a text for XML, on one line.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in shown::line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

impl Canvas {
    pub(super) fn new(width: f64, plot_px: Option<f64>, theme: Theme) -> Self {
        Self { width, plot_px, theme, ..Self::default() }
    }

    /// Returns an ink as the value of an attribute.
    pub(super) fn paint(&mut self, ink: Ink) -> String {
        self.inks.insert(ink);
        match self.theme {
            Theme::Light => ink.hex(false),
            Theme::Dark => ink.hex(true),
            Theme::Auto | Theme::Page => format!("var({})", ink.name()),
        }
    }

    /// Returns the fill of a series: its colour, with a pattern from the second series on.
    pub(super) fn series_fill(&mut self, index: usize) -> String {
        let colour = self.paint(Ink::series(index));
        if index.is_multiple_of(INK_PATTERNS) {
            return colour;
        }
        // The combination of colour and pattern repeats after their least common multiple.
        let index = index % (SERIES * INK_PATTERNS);
        self.paint(Ink::Paper);
        self.patterns.insert(index);
        format!("url(#{PREFIX}f{index})")
    }

    /// Returns the fill of missing values.
    pub(super) fn missing_fill(&mut self) -> String {
        self.paint(Ink::Axis);
        self.patterns.insert(usize::MAX);
        format!("url(#{PREFIX}m)")
    }

    pub(super) fn raw(&mut self, markup: &str) {
        self.body.push_str(markup);
    }

    pub(super) fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str, more: &str) {
        let (w, h) = (px(width.max(0.0)), px(height.max(0.0)));
        let _ = write!(
            self.body,
            r#"<rect x="{}" y="{}" width="{w}" height="{h}" fill="{fill}"{more}/>"#,
            px(x),
            px(y)
        );
    }

    pub(super) fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), ink: Ink, more: &str) {
        let stroke = self.paint(ink);
        let (x1, y1, x2, y2) = (px(x1), px(y1), px(x2), px(y2));
        let _ = write!(self.body, r#"<path d="M{x1} {y1}L{x2} {y2}" stroke="{stroke}"{more}/>"#);
    }

    /// Draws a path without a fill, unless it is empty.
    pub(super) fn stroke(&mut self, path: &str, ink: Ink, more: &str) {
        if path.is_empty() {
            return;
        }
        let stroke = self.paint(ink);
        let _ = write!(self.body, r#"<path d="{path}" fill="none" stroke="{stroke}"{more}/>"#);
    }

    /// Draws text with its baseline at `y`.
    pub(super) fn text(&mut self, x: f64, y: f64, align: Align, kind: Type, ink: Ink, text: &str) {
        if text.is_empty() {
            return;
        }
        let fill = self.paint(ink);
        let anchor = match align {
            Align::Start => "",
            Align::Middle => r#" text-anchor="middle""#,
            Align::End => r#" text-anchor="end""#,
        };
        // Regular Japanese next to bold Latin looks inconsistent: text that the bold font lacks is
        // drawn in one weight, slightly thicker.
        let weight = match kind.strong {
            true if font::bold_has(text) => r#" font-weight="700""#.to_owned(),
            true => format!(r#" font-weight="500" stroke="{fill}" stroke-width=".45""#),
            false => String::new(),
        };
        let _ = write!(
            self.body,
            r#"<text x="{}" y="{}" font-size="{}" fill="{fill}"{anchor}{weight}>{}</text>"#,
            px(x),
            px(y),
            px(kind.size),
            escape(text)
        );
    }

    /// Draws text vertically centred at `y`.
    pub(super) fn text_mid(&mut self, x: f64, y: f64, align: Align, kind: Type, ink: Ink, text: &str) {
        self.text(x, y + kind.size * 0.36, align, kind, ink, text);
    }

    /// Draws lines of text centred at `y`.
    pub(super) fn lines_mid(&mut self, x: f64, y: f64, align: Align, kind: Type, ink: Ink, lines: &[String]) {
        let step = kind.size * 1.25;
        let first = y - step * (lines.len() as f64 - 1.0) / 2.0;
        for (index, line) in lines.iter().enumerate() {
            self.text_mid(x, first + step * index as f64, align, kind, ink, line);
        }
    }

    /// Opens a data mark with its tooltip, which is also described to screen readers.
    pub(super) fn open_mark(&mut self, label: &str, value: &str) {
        let both = format!("{label}: {value}");
        let (l, v) = (escape(label), escape(value));
        let _ = write!(
            self.body,
            r#"<g class="mark" data-label="{l}" data-value="{v}"><title>{}</title>"#,
            escape(&both)
        );
        if self.described.len() < TOLD {
            self.described.push(both);
        }
    }

    pub(super) fn close_mark(&mut self) {
        self.body.push_str("</g>");
    }

    /// Returns the complete SVG.
    pub(super) fn finish(mut self, height: f64, title: &str, notes: &[String]) -> String {
        let paper = self.paint(Ink::Paper);
        let text = self.paint(Ink::Text);
        let patterns = self.patterns.clone();
        let defs: String = patterns.into_iter().map(|index| self.pattern(index)).collect();
        let style = if self.theme == Theme::Auto { self.style() } else { String::new() };
        let defs = if defs.is_empty() { defs } else { format!("<defs>{defs}</defs>") };
        let described: Vec<String> = notes.iter().cloned().chain(self.described).collect();
        let (w, h) = (px(self.width), px(height));
        let numerals =
            if self.theme == Theme::Page { "" } else { " style=\"font-variant-numeric:tabular-nums\"" };
        let out = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" id="{PREFIX}" class="kurabe-chart" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" aria-labelledby="{PREFIX}t {PREFIX}d" font-family="{FAMILY}"{numerals} fill="{text}"><title id="{PREFIX}t">{}</title><desc id="{PREFIX}d">{}</desc>{style}{defs}<rect width="{w}" height="{h}" fill="{paper}"/>{}</svg>"#,
            escape(title),
            escape(&described.join("; ")),
            self.body,
        );
        let prefix = format!("k{:08x}", hash(&out) as u32);
        out.replace(PREFIX, &prefix)
    }

    fn pattern(&mut self, index: usize) -> String {
        let tile = px(PATTERN_TILE_PX);
        let head = format!(r#"patternUnits="userSpaceOnUse" width="{tile}" height="{tile}""#);
        if index == usize::MAX {
            let stroke = self.paint(Ink::Axis);
            let strokes = Ink::pattern_strokes(1);
            return format!(
                r#"<pattern id="{PREFIX}m" {head}><path d="{strokes}" stroke="{stroke}" stroke-width="1" opacity=".6"/></pattern>"#
            );
        }
        let (colour, paper) = (self.paint(Ink::series(index)), self.paint(Ink::Paper));
        let strokes = Ink::pattern_strokes(index % INK_PATTERNS);
        format!(
            r#"<pattern id="{PREFIX}f{index}" {head}><rect width="{tile}" height="{tile}" fill="{colour}"/><path d="{strokes}" stroke="{paper}" stroke-width="1.3" stroke-linecap="round" opacity=".75"/></pattern>"#
        )
    }

    /// Returns the colours of both themes, for this drawing only.
    fn style(&self) -> String {
        let [light, dark] =
            [false, true].map(|dark| self.inks.iter().map(|ink| ink.property(dark)).collect::<String>());
        format!(
            "<style>#{PREFIX}{{{light}}}@media (prefers-color-scheme:dark){{#{PREFIX}{{{dark}}}}}</style>"
        )
    }
}

/// Computes FNV-1a, 64 bits: the same drawing has the same element names everywhere.
fn hash(text: &str) -> u64 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    hash ^ (hash >> 32)
}
