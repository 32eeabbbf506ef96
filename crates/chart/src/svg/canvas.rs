//! What drawings are written on: elements, escaped words, and the colours and patterns they use.

use super::ink::{INK_PATTERNS, Ink, PATTERN_TILE_PX, SERIES, Theme};
use crate::font;
use kurabe_core::shown;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Stands for the prefix of names until the drawing is complete and has a hash. Words cannot hold it.
const PREFIX: char = '\u{1}';
/// Fonts that browsers have, the embedded one first.
const FAMILY: &str = "'Noto Sans JP','Noto Sans CJK JP','Hiragino Sans','Yu Gothic UI',Meiryo,sans-serif";
/// So many marks are told to a screen reader.
const TOLD: usize = 60;

/// Size and weight of words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type {
    pub size: f64,
    pub strong: bool,
}

/// Which end of the words stands at the given place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Start,
    Middle,
    End,
}

/// A drawing that grows.
#[derive(Default)]
pub(super) struct Canvas {
    /// Width in pixels.
    pub width: f64,
    /// Height of the drawing area of lines; by the width if none is given.
    pub plot_px: Option<f64>,
    theme: Theme,
    body: String,
    inks: BTreeSet<Ink>,
    patterns: BTreeSet<usize>,
    described: Vec<String>,
}

/// A place in the drawing, to the tenth of a pixel. What is not a number is 0: a coordinate is never left out.
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

/// Words as they may stand in XML, on one line.
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

    /// An ink as the value of an attribute.
    pub(super) fn paint(&mut self, ink: Ink) -> String {
        self.inks.insert(ink);
        match self.theme {
            Theme::Light => ink.hex(false),
            Theme::Dark => ink.hex(true),
            Theme::Auto | Theme::Page => format!("var({})", ink.name()),
        }
    }

    /// The fill of a series: its colour, with its pattern from the second on.
    pub(super) fn series_fill(&mut self, index: usize) -> String {
        let colour = self.paint(Ink::series(index));
        if index.is_multiple_of(INK_PATTERNS) {
            return colour;
        }
        // Colour and pattern together come again after their least common multiple.
        let index = index % (SERIES * INK_PATTERNS);
        self.paint(Ink::Paper);
        self.patterns.insert(index);
        format!("url(#{PREFIX}f{index})")
    }

    /// The fill of what has no value.
    pub(super) fn missing_fill(&mut self) -> String {
        self.paint(Ink::Axis);
        self.patterns.insert(usize::MAX);
        format!("url(#{PREFIX}m)")
    }

    /// Writes markup that is known to be well-formed.
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

    /// A path that is not filled; nothing if it has no points.
    pub(super) fn stroke(&mut self, path: &str, ink: Ink, more: &str) {
        if path.is_empty() {
            return;
        }
        let stroke = self.paint(ink);
        let _ = write!(self.body, r#"<path d="{path}" fill="none" stroke="{stroke}"{more}/>"#);
    }

    /// Words with their baseline at `y`.
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
        // Regular Japanese beside bold Latin looks patched: words that the bold font lacks are drawn in one weight,
        // a little thicker.
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

    /// Words with their middle at `y`.
    pub(super) fn text_mid(&mut self, x: f64, y: f64, align: Align, kind: Type, ink: Ink, text: &str) {
        self.text(x, y + kind.size * 0.36, align, kind, ink, text);
    }

    /// Lines of words around a middle.
    pub(super) fn lines_mid(&mut self, x: f64, y: f64, align: Align, kind: Type, ink: Ink, lines: &[String]) {
        let step = kind.size * 1.25;
        let first = y - step * (lines.len() as f64 - 1.0) / 2.0;
        for (index, line) in lines.iter().enumerate() {
            self.text_mid(x, first + step * index as f64, align, kind, ink, line);
        }
    }

    /// Opens a mark of data: what a browser shows for it, told to screen readers as well.
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

    /// The whole SVG.
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

    /// The colours of both themes, for this drawing alone.
    fn style(&self) -> String {
        let [light, dark] =
            [false, true].map(|dark| self.inks.iter().map(|ink| ink.property(dark)).collect::<String>());
        format!(
            "<style>#{PREFIX}{{{light}}}@media (prefers-color-scheme:dark){{#{PREFIX}{{{dark}}}}}</style>"
        )
    }
}

/// FNV-1a, 64 bits: the same drawing has the same names everywhere.
fn hash(text: &str) -> u64 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    hash ^ (hash >> 32)
}
