//! The colours of both themes, and the patterns that stand beside them.
//!
//! The model: a drawing names what an ink is for, a theme says which colour that is. The first six colours of series were
//! searched for: contrast with the paper of at least 3:1 (WCAG 2.1, 1.4.11), and as far apart as possible (CIEDE2000) for
//! normal sight and as seen without each kind of cone (Machado, Oliveira and Fernandes 2009), at different lightness. The
//! tests below compute this again. From the second series on a pattern or a shape tells the same without colour.

/// Colours of series before they begin again.
pub(super) const SERIES: usize = 8;
/// Fills of series before they begin again: solid, then patterns. No divisor in common with the colours.
pub(super) const INK_PATTERNS: usize = 7;
pub(super) const PATTERN_TILE_PX: f64 = 6.0;
/// Steps of a heat map's colours.
pub(super) const RAMP: u8 = 16;

/// What a colour is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ink {
    /// What it is drawn on.
    Paper,
    /// Words that are read.
    Text,
    /// Words that help: notes, ticks.
    Quiet,
    /// Lines of axes, whiskers.
    Axis,
    /// Lines behind data.
    Grid,
    /// A stretch where differences do not matter, a row of a table.
    Band,
    /// A stretch where nothing moved.
    Stall,
    /// A series.
    Series(u8),
    /// A step of a heat map.
    Ramp(u8),
    /// Words on that step.
    OnRamp(u8),
    /// Faster.
    Better,
    /// Slower.
    Worse,
}

/// Light and dark.
const SERIES_COLOURS: [(u32, u32); SERIES] = [
    (0x0f_30_a6, 0x7d_ab_fb),
    (0xcf_74_08, 0xf5_68_2b),
    (0x4d_88_63, 0x2d_8f_75),
    (0x90_19_57, 0xeb_a8_c4),
    (0x7d_5f_08, 0xe7_e2_96),
    (0x7e_5b_ce, 0x7d_5f_bd),
    (0x3f_86_b5, 0x5f_c6_d9),
    (0x6b_6f_76, 0xa9_b1_ba),
];

/// Lowest, middle and highest value of a heat map, for light and for dark paper: more is further from the paper.
const RAMP_COLOURS: ([u32; 3], [u32; 3]) =
    ([0xe9_f1_f7, 0x5f_a3_c4, 0x0c_35_62], [0x1d_2b_3a, 0x2f_7f_a6, 0xd3_f0_f4]);

impl Ink {
    /// The ink of a series.
    pub(super) fn series(index: usize) -> Self {
        Ink::Series((index % SERIES) as u8)
    }

    /// The step of a heat map for a share from 0 to 1.
    pub(super) fn ramp(share: f64) -> u8 {
        (share.clamp(0.0, 1.0) * f64::from(RAMP - 1)).round() as u8
    }

    /// Its name as a CSS property.
    pub(super) fn name(self) -> String {
        match self {
            Ink::Paper => "--paper".to_owned(),
            Ink::Text => "--text".to_owned(),
            Ink::Quiet => "--quiet".to_owned(),
            Ink::Axis => "--axis".to_owned(),
            Ink::Grid => "--grid".to_owned(),
            Ink::Band => "--band".to_owned(),
            Ink::Stall => "--stall".to_owned(),
            Ink::Series(index) => format!("--s{index}"),
            Ink::Ramp(step) => format!("--r{step}"),
            Ink::OnRamp(step) => format!("--o{step}"),
            Ink::Better => "--better".to_owned(),
            Ink::Worse => "--worse".to_owned(),
        }
    }

    /// Its colour as `#rrggbb`.
    pub(super) fn hex(self, dark: bool) -> String {
        format!("#{:06x}", self.rgb(dark))
    }

    fn rgb(self, dark: bool) -> u32 {
        let (light_rgb, dark_rgb) = match self {
            Ink::Paper => (0xff_ff_ff, 0x16_19_1e),
            Ink::Text => (0x1b_20_27, 0xe9_ec_ef),
            Ink::Quiet => (0x5a_63_6e, 0xa4_ad_b8),
            Ink::Axis => (0x7f_88_93, 0x7b_84_90),
            Ink::Grid => (0xe6_e9_ed, 0x2a_2f_37),
            Ink::Band => (0xf1_f3_f6, 0x20_25_2c),
            Ink::Stall => (0xf6_d9_cf, 0x55_2a_1f),
            Ink::Series(index) => SERIES_COLOURS[usize::from(index) % SERIES],
            Ink::Ramp(step) => (ramp(RAMP_COLOURS.0, step), ramp(RAMP_COLOURS.1, step)),
            Ink::OnRamp(step) => (on(ramp(RAMP_COLOURS.0, step)), on(ramp(RAMP_COLOURS.1, step))),
            Ink::Better => (0x14_6c_8c, 0x5f_c0_e6),
            Ink::Worse => (0xb8_4a_12, 0xf5_8b_52),
        };
        if dark { dark_rgb } else { light_rgb }
    }

    /// The strokes of a pattern in a tile of six pixels; none for the solid one.
    pub(super) fn pattern_strokes(index: usize) -> &'static str {
        match index % INK_PATTERNS {
            0 => "",
            1 => "M-1 1l2-2M0 6l6-6M5 7l2-2",
            2 => "M1.5 1.5h.01M4.5 4.5h.01",
            3 => "M1.5 0v6",
            4 => "M-1 5l2 2M0 0l6 6M5-1l2 2",
            5 => "M0 1.5h6",
            _ => "M0 1.5h6M1.5 0v6",
        }
    }
}

/// A step between three colours, evenly in OKLab.
fn ramp(ends: [u32; 3], step: u8) -> u32 {
    let share = f64::from(step.min(RAMP - 1)) / f64::from(RAMP - 1) * 2.0;
    let (from, to, share) =
        if share <= 1.0 { (ends[0], ends[1], share) } else { (ends[1], ends[2], share - 1.0) };
    let (from, to) = (oklab(from), oklab(to));
    from_oklab([0, 1, 2].map(|i| from[i] + (to[i] - from[i]) * share))
}

/// Black or white, whichever is read better on the colour.
fn on(paper: u32) -> u32 {
    let (dark, light) = (0x10_14_1a, 0xff_ff_ff);
    if contrast(paper, dark) >= contrast(paper, light) { dark } else { light }
}

/// Red, green and blue as light, from 0 to 1 (IEC 61966-2-1).
fn linear(rgb: u32) -> [f64; 3] {
    [16, 8, 0].map(|shift| {
        let value = f64::from((rgb >> shift) & 0xff) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    })
}

fn from_linear(rgb: [f64; 3]) -> u32 {
    rgb.into_iter().fold(0, |all, value| {
        let value = value.clamp(0.0, 1.0);
        let value = if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
        (all << 8) | (value * 255.0).round() as u32
    })
}

fn times(matrix: [[f64; 3]; 3], [a, b, c]: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row[0] * a + row[1] * b + row[2] * c)
}

/// OKLab (Ottosson 2020).
fn oklab(rgb: u32) -> [f64; 3] {
    let cones = times(
        [
            [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
            [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
            [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
        ],
        linear(rgb),
    );
    times(
        [
            [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
            [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
            [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
        ],
        cones.map(f64::cbrt),
    )
}

fn from_oklab(lab: [f64; 3]) -> u32 {
    let cones = times(
        [
            [1.0, 0.396_337_777_4, 0.215_803_757_3],
            [1.0, -0.105_561_345_8, -0.063_854_172_8],
            [1.0, -0.089_484_177_5, -1.291_485_548_0],
        ],
        lab,
    );
    from_linear(times(
        [
            [4.076_741_662_1, -3.307_711_591_3, 0.230_969_929_2],
            [-1.268_438_004_6, 2.609_757_401_1, -0.341_319_396_5],
            [-0.004_196_086_3, -0.703_418_614_7, 1.707_614_701_0],
        ],
        cones.map(|value| value.powi(3)),
    ))
}

/// Relative luminance (WCAG 2.1).
fn luminance(rgb: u32) -> f64 {
    let [r, g, b] = linear(rgb);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// Contrast of two colours, from 1 to 21 (WCAG 2.1).
fn contrast(a: u32, b: u32) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}
