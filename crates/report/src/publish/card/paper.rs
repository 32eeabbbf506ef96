//! Drawing surface of a card: text, bars and rules as SVG, in the colours of a theme.

use kurabe_chart::{Chart, Drawing, Theme, bold_has, escape, fit, text_width};
use kurabe_core::shown;
use std::fmt::Write;

/// Fonts: the embedded one first, then Japanese fonts for browsers that don't load it.
const FONTS: &str = "'Noto Sans JP', 'Noto Sans CJK JP', 'Hiragino Sans', 'Yu Gothic UI', sans-serif";

/// A rectangle of the picture, in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Point of a text that its position refers to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Purpose of a text, which determines its colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tone {
    Plain,
    Quiet,
    Warn,
    /// A continuation line of a warning, without the sign.
    WarnRest,
}

/// Size, weight and alignment of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Type {
    size: f64,
    bold: bool,
    anchor: Anchor,
    most: Option<f64>,
}

impl Type {
    pub(crate) fn of(size: f64) -> Self {
        Self { size, bold: false, anchor: Anchor::Start, most: None }
    }

    pub(crate) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(crate) fn at(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    /// Limits the text to a width in pixels. Longer text is cut.
    pub(crate) fn within(self, width: f64) -> Self {
        Self { most: Some(width), ..self }
    }
}

/// The colours of a theme.
struct Colours {
    ground: &'static str,
    plain: &'static str,
    quiet: &'static str,
    warn: &'static str,
    track: &'static str,
    rule: &'static str,
    /// Bars of reads, writes, and everything else. Text is drawn on them.
    bars: [&'static str; 3],
}

const LIGHT: Colours = Colours {
    ground: "#ffffff",
    plain: "#1b1f23",
    quiet: "#57606a",
    warn: "#9a4b00",
    track: "#f0f3f6",
    rule: "#d0d7de",
    bars: ["#9fd0f0", "#f6c48a", "#b7dfc4"],
};

// The background must equal that of the charts, which are drawn on it.
const DARK: Colours = Colours {
    ground: "#16191e",
    plain: "#f0f3f6",
    quiet: "#a3adb8",
    warn: "#ffb454",
    track: "#222931",
    rule: "#39424d",
    bars: ["#145b86", "#86500f", "#1f6b42"],
};

/// The picture under construction.
pub(crate) struct Paper {
    out: String,
    colours: &'static Colours,
}

impl Paper {
    pub(crate) fn new(width: f64, height: f64, theme: Theme, title: &str) -> Self {
        let colours = if matches!(theme, Theme::Dark) { &DARK } else { &LIGHT };
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\" font-family=\"{FONTS}\"><title>{}</title>",
            escape(title)
        );
        let _ = write!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>", colours.ground);
        Self { out, colours }
    }

    pub(crate) fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }

    fn colour(&self, tone: Tone) -> &'static str {
        match tone {
            Tone::Plain => self.colours.plain,
            Tone::Quiet => self.colours.quiet,
            Tone::Warn | Tone::WarnRest => self.colours.warn,
        }
    }

    /// Draws text with its baseline at a position.
    pub(crate) fn text(&mut self, x: f64, y: f64, form: Type, tone: Tone, words: &str) {
        // Command lines in texts are quoted for Markdown. On a picture the quotes are noise.
        let words = shown::line(words).replace('`', "");
        // A text in one weight looks better than a text in two.
        let bold = form.bold && bold_has(&words);
        let words = form.most.map_or(words.clone(), |most| fit(&words, form.size, bold, most));
        if words.is_empty() {
            return;
        }
        let anchor = match form.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if bold { " font-weight=\"700\"" } else { "" };
        let (size, colour, words) = (form.size, self.colour(tone), escape(&words));
        let _ = write!(
            self.out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size:.1}\" fill=\"{colour}\"{anchor}{weight}>{words}</text>"
        );
    }

    /// Draws the background of a bar.
    pub(crate) fn track(&mut self, area: Area) {
        self.rectangle(area, self.colours.track);
    }

    /// Draws a bar. `kind` is 0 for reads, 1 for writes, 2 for everything else.
    pub(crate) fn bar(&mut self, area: Area, kind: usize) {
        self.rectangle(area, self.colours.bars[kind % 3]);
    }

    fn rectangle(&mut self, area: Area, fill: &str) {
        let Area { x, y, width, height } = area;
        let radius = 5.0f64.min(width / 2.0).max(0.0);
        let _ = write!(
            self.out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{radius:.1}\" fill=\"{fill}\"/>",
            width.max(0.0),
            height.max(0.0)
        );
    }

    /// Draws a horizontal line.
    pub(crate) fn rule(&mut self, from: f64, to: f64, y: f64) {
        let colour = self.colours.rule;
        let _ = write!(self.out, "<path d=\"M{from:.1} {y:.1}H{to:.1}\" stroke=\"{colour}\" fill=\"none\"/>");
    }

    /// Draws a faint vertical line.
    pub(crate) fn tick(&mut self, x: f64, from: f64, to: f64) {
        let colour = self.colours.rule;
        let _ = write!(self.out, "<path d=\"M{x:.1} {from:.1}V{to:.1}\" stroke=\"{colour}\" fill=\"none\"/>");
    }

    /// Draws text in a frame, with its baseline at a position. Returns the width of the frame.
    pub(crate) fn badge(&mut self, x: f64, y: f64, size: f64, words: &str) -> f64 {
        let bold = bold_has(words);
        let width = text_width(words, size, bold) + 24.0;
        let (top, height, colour) = (y - size - 3.0, size + 12.0, self.colours.warn);
        let _ = write!(
            self.out,
            "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"6\" fill=\"none\" \
             stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
        self.text(x + 12.0, y, Type::of(size).bold(), Tone::WarnRest, words);
        width
    }

    /// Draws a triangle with an exclamation mark next to the line with this baseline.
    pub(crate) fn warning_sign(&mut self, x: f64, y: f64) {
        let colour = self.colours.warn;
        let (top, left, right) = (y - 13.0, x, x + 16.0);
        let _ = write!(
            self.out,
            "<path d=\"M{:.1} {top:.1}L{right:.1} {:.1}H{left:.1}Z\" fill=\"none\" stroke=\"{colour}\" \
             stroke-width=\"1.6\" stroke-linejoin=\"round\"/><path d=\"M{:.1} {:.1}v4.2m0 2v1.4\" stroke=\"{colour}\" \
             stroke-width=\"1.6\"/>",
            x + 8.0,
            y + 1.0,
            x + 8.0,
            y - 8.0
        );
    }

    /// Draws a chart into an area, as large as it fits.
    pub(crate) fn chart(&mut self, chart: &Chart, area: Area, theme: Theme) {
        let enlarged = |factor: f64| {
            let drawing = chart.draw_into((area.width / factor) as u32, area.height / factor, theme);
            let scale = (area.width / drawing.width_px).min(area.height / drawing.height_px);
            (drawing, scale, factor)
        };
        // Draws the chart smaller and enlarges it as far as the height allows, so that its text is
        // readable on a card.
        let fits = |(_, scale, factor): &(Drawing, f64, f64)| *scale > factor * 0.98;
        let fitting = [1.3, 1.2, 1.1].into_iter().map(enlarged).find(fits);
        let (Drawing { svg, width_px, height_px }, scale, _) = fitting.unwrap_or_else(|| enlarged(1.0));
        let left = area.x + (area.width - width_px * scale) / 2.0;
        let top = area.y + (area.height - height_px * scale) / 2.0;
        let _ =
            write!(self.out, "<g transform=\"translate({left:.1} {top:.1}) scale({scale:.4})\">{svg}</g>");
    }
}
