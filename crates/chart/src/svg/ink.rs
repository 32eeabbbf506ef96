//! Colours of both themes, and the patterns that complement them.
//!
//! The model: a drawing names the purpose of an ink, and a theme assigns it a colour. The first six
//! series colours were found by a search: a contrast with the background of at least 3:1 (WCAG 2.1,
//! 1.4.11), and the largest possible differences (CIEDE2000), both for normal vision and without
//! each kind of cone (Machado, Oliveira and Fernandes 2009), with different lightness. The tests
//! below verify this. From the second series on, a pattern or a shape carries the same information
//! without colour.

use kurabe_core::words::Keyword;

/// Colour theme of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
    /// The reader's system setting. For browsers only: a PNG needs one of the others.
    #[default]
    Auto,
    /// The theme of the surrounding page: without inline styles, for pages that forbid them. The
    /// page includes [`super::style_sheet`].
    Page,
}

/// Themes that a user can select, by their names in flags and URLs.
impl Keyword for Theme {
    const WORDS: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("light", Self::Light), ("dark", Self::Dark)];
}

/// Number of series colours before they repeat.
pub(super) const SERIES: usize = 8;
/// Number of series fills before they repeat: solid, then patterns. Coprime to the number of
/// colours.
pub(super) const INK_PATTERNS: usize = 7;
pub(super) const PATTERN_TILE_PX: f64 = 6.0;
/// Number of steps of a heat map's colours.
pub(super) const RAMP: u8 = 16;

/// Purpose of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ink {
    /// Background.
    Paper,
    /// Text.
    Text,
    /// Secondary text: notes, ticks.
    Quiet,
    /// Axis lines, whiskers.
    Axis,
    /// Grid lines.
    Grid,
    /// A range in which differences do not matter, or a table row.
    Band,
    /// A stall.
    Stall,
    /// A series.
    Series(u8),
    /// A step of a heat map.
    Ramp(u8),
    /// Text on that step.
    OnRamp(u8),
    /// Faster.
    Better,
    /// Slower.
    Worse,
}

/// Colours of the series on a light and on a dark background.
const SERIES_COLOURS: [[u32; 2]; SERIES] = [
    [0x1c_41_b0, 0x7d_ab_fb],
    [0xcf_74_08, 0xf5_68_2b],
    [0x4d_88_63, 0x2d_8f_75],
    [0x90_19_57, 0xeb_a8_c4],
    [0x7d_5f_08, 0xe7_e2_96],
    [0x7e_5b_ce, 0x7d_5f_bd],
    [0x3f_86_b5, 0x5f_c6_d9],
    [0x6b_6f_76, 0xa9_b1_ba],
];

/// Steps of a heat map from its lowest to its highest value, on a light and on a dark background:
/// higher values differ more from the background. They are spaced evenly in OKLab between three
/// colours.
const RAMP_COLOURS: [[u32; RAMP as usize]; 2] = [
    [
        0xe9_f1_f7, 0xd7_e7_f0, 0xc5_dc_ea, 0xb3_d2_e3, 0xa1_c7_dc, 0x8e_bd_d5, 0x7c_b3_ce, 0x69_a8_c7,
        0x59_9b_bd, 0x4d_8c_b0, 0x42_7d_a2, 0x37_6e_95, 0x2c_5f_88, 0x21_51_7b, 0x16_43_6f, 0x0c_35_62,
    ],
    [
        0x1d_2b_3a, 0x20_35_47, 0x24_40_55, 0x26_4b_63, 0x29_56_71, 0x2b_61_80, 0x2d_6d_8f, 0x2e_79_9e,
        0x3c_86_ab, 0x53_95_b6, 0x69_a4_c0, 0x7e_b3_cb, 0x93_c2_d5, 0xa8_d1_df, 0xbe_e1_ea, 0xd3_f0_f4,
    ],
];

/// Step of a heat map from which text is more legible in the opposite of black and white, on a
/// light and on a dark background.
const RAMP_TURNS: [u8; 2] = [11, 8];

impl Ink {
    /// Returns the ink of a series.
    pub(super) fn series(index: usize) -> Self {
        Ink::Series((index % SERIES) as u8)
    }

    /// Returns the step of a heat map for a share from 0 to 1.
    pub(super) fn ramp(share: f64) -> u8 {
        (share.clamp(0.0, 1.0) * f64::from(RAMP - 1)).round() as u8
    }

    pub(super) fn all() -> impl Iterator<Item = Self> {
        use Ink::{Axis, Band, Better, Grid, Paper, Quiet, Stall, Text, Worse};
        let series = (0..SERIES as u8).map(Ink::Series);
        let ramp = (0..RAMP).flat_map(|step| [Ink::Ramp(step), Ink::OnRamp(step)]);
        [Paper, Text, Quiet, Axis, Grid, Band, Stall, Better, Worse].into_iter().chain(series).chain(ramp)
    }

    /// Returns its name as a CSS property.
    pub(super) fn name(self) -> String {
        match self {
            Ink::Series(index) | Ink::Ramp(index) | Ink::OnRamp(index) => {
                format!("--{}{index}", self.traits().0)
            }
            _ => format!("--{}", self.traits().0),
        }
    }

    /// Returns its colour as `#rrggbb`.
    pub(super) fn hex(self, dark: bool) -> String {
        format!("#{:06x}", self.rgb(dark))
    }

    /// Returns its colour as a CSS declaration.
    pub(super) fn property(self, dark: bool) -> String {
        format!("{}:{};", self.name(), self.hex(dark))
    }

    fn rgb(self, dark: bool) -> u32 {
        self.traits().1[usize::from(dark)]
    }

    /// Returns the prefix of its name, and its colours on a light and on a dark background.
    fn traits(self) -> (&'static str, [u32; 2]) {
        match self {
            Ink::Paper => ("paper", [0xff_ff_ff, 0x16_19_1e]),
            Ink::Text => ("text", [0x1b_20_27, 0xe9_ec_ef]),
            Ink::Quiet => ("quiet", [0x5a_63_6e, 0xa4_ad_b8]),
            Ink::Axis => ("axis", [0x7f_88_93, 0x7b_84_90]),
            Ink::Grid => ("grid", [0xe6_e9_ed, 0x2a_2f_37]),
            Ink::Band => ("band", [0xf1_f3_f6, 0x20_25_2c]),
            Ink::Stall => ("stall", [0xf6_d9_cf, 0x55_2a_1f]),
            Ink::Series(index) => ("s", SERIES_COLOURS[usize::from(index) % SERIES]),
            Ink::Ramp(step) => ("r", RAMP_COLOURS.map(|steps| steps[usize::from(step.min(RAMP - 1))])),
            Ink::OnRamp(step) => {
                let is_early = RAMP_TURNS.map(|turn| step < turn);
                ("o", [is_early[0], !is_early[1]].map(|is_black| if is_black { 0 } else { 0xff_ff_ff }))
            }
            Ink::Better => ("better", [0x14_6c_8c, 0x5f_c0_e6]),
            Ink::Worse => ("worse", [0xb8_4a_12, 0xf5_8b_52]),
        }
    }

    /// Returns the strokes of a pattern in a tile of six pixels; empty for the solid one.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Colour vision without the cones for long, middle and short wavelengths (Machado, Oliveira
    /// and Fernandes 2009, severity 1.0), in linear light.
    const CONES: [(&str, [[f64; 3]; 3]); 4] = [
        ("normal", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protanopia",
            [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
        ),
        (
            "tritanopia",
            [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_900],
            ],
        ),
    ];

    /// Converts sRGB to linear light, from 0 to 1 (IEC 61966-2-1).
    fn linear(rgb: u32) -> [f64; 3] {
        [16, 8, 0].map(|shift| {
            let value = f64::from((rgb >> shift) & 0xff) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn times(matrix: [[f64; 3]; 3], [a, b, c]: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row[0] * a + row[1] * b + row[2] * c)
    }

    /// Returns the relative luminance (WCAG 2.1).
    fn luminance(rgb: u32) -> f64 {
        let [r, g, b] = linear(rgb);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// Returns the contrast of two colours, from 1 to 21 (WCAG 2.1).
    fn contrast(a: u32, b: u32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Converts linear light to CIE L*a*b* under D65.
    fn lab(rgb: [f64; 3]) -> [f64; 3] {
        let xyz = times(
            [
                [0.412_456_4, 0.357_576_1, 0.180_437_5],
                [0.212_672_9, 0.715_152_2, 0.072_175],
                [0.019_333_9, 0.119_192, 0.950_304_1],
            ],
            rgb.map(|value| value.clamp(0.0, 1.0)),
        );
        let white = [0.950_47, 1.0, 1.088_83];
        let [x, y, z] = [0, 1, 2].map(|i| {
            let t: f64 = xyz[i] / white[i];
            if t > 216.0 / 24389.0 { t.cbrt() } else { (24389.0 / 27.0 * t + 16.0) / 116.0 }
        });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// Returns the CIEDE2000 difference (Sharma, Wu and Dalal 2005).
    fn difference([l1, a1, b1]: [f64; 3], [l2, a2, b2]: [f64; 3]) -> f64 {
        let seven = |c: f64| (c.powi(7) / (c.powi(7) + 25f64.powi(7))).sqrt();
        let g = 0.5 * (1.0 - seven(f64::midpoint(a1.hypot(b1), a2.hypot(b2))));
        let (a1, a2) = (a1 * (1.0 + g), a2 * (1.0 + g));
        let (c1, c2) = (a1.hypot(b1), a2.hypot(b2));
        let hue = |a: f64, b: f64| b.atan2(a).to_degrees().rem_euclid(360.0);
        let (h1, h2) = (hue(a1, b1), hue(a2, b2));
        let mut turn = if c1 * c2 == 0.0 { 0.0 } else { h2 - h1 };
        if turn.abs() > 180.0 {
            turn -= 360.0 * turn.signum();
        }
        let middle = if c1 * c2 == 0.0 { h1 + h2 } else { (h1 + turn / 2.0).rem_euclid(360.0) };
        let dh = 2.0 * (c1 * c2).sqrt() * (turn.to_radians() / 2.0).sin();
        let (l, c) = (f64::midpoint(l1, l2), f64::midpoint(c1, c2));
        let cos = |degrees: f64| degrees.to_radians().cos();
        let t = 1.0 - 0.17 * cos(middle - 30.0) + 0.24 * cos(2.0 * middle) + 0.32 * cos(3.0 * middle + 6.0)
            - 0.2 * cos(4.0 * middle - 63.0);
        let sl = 1.0 + 0.015 * (l - 50.0).powi(2) / (20.0 + (l - 50.0).powi(2)).sqrt();
        let (sc, sh) = (1.0 + 0.045 * c, 1.0 + 0.015 * c * t);
        let rt = -2.0 * seven(c) * (60.0 * (-((middle - 275.0) / 25.0).powi(2)).exp()).to_radians().sin();
        let (dl, dc, dh) = ((l2 - l1) / sl, (c2 - c1) / sc, dh / sh);
        (dl * dl + dc * dc + dh * dh + rt * dc * dh).sqrt()
    }

    #[test]
    fn the_difference_of_colours_is_the_published_one() {
        // Pairs 1, 7 and 17 of the supplement to Sharma, Wu and Dalal.
        for (a, b, expected) in [
            ([50.0, 2.6772, -79.7751], [50.0, 0.0, -82.7485], 2.0425),
            ([50.0, 0.0, 0.0], [50.0, -1.0, 2.0], 2.3669),
            ([50.0, 2.5, 0.0], [73.0, 25.0, -18.0], 27.1492),
        ] {
            assert!((difference(a, b) - expected).abs() < 1e-4, "{}", difference(a, b));
        }
    }

    #[test]
    fn series_stand_out_from_the_paper() {
        for dark in [false, true] {
            let paper = Ink::Paper.rgb(dark);
            let series = (0..SERIES as u8).map(Ink::Series);
            for ink in series.chain([Ink::Axis, Ink::Better, Ink::Worse]) {
                let ratio = contrast(ink.rgb(dark), paper);
                assert!(ratio >= 3.0, "{ink:?}, dark {dark}: {ratio:.2}");
            }
            for (ink, behind) in [
                (Ink::Text, Ink::Paper),
                (Ink::Quiet, Ink::Paper),
                (Ink::Quiet, Ink::Band),
                (Ink::Text, Ink::Stall),
            ] {
                let ratio = contrast(ink.rgb(dark), behind.rgb(dark));
                assert!(ratio >= 4.5, "{ink:?} on {behind:?}, dark {dark}: {ratio:.2}");
            }
            for step in 0..RAMP {
                let ratio = contrast(Ink::OnRamp(step).rgb(dark), Ink::Ramp(step).rgb(dark));
                assert!(ratio >= 4.5, "step {step}, dark {dark}: {ratio:.2}");
            }
        }
    }

    #[test]
    fn no_two_of_the_first_six_look_alike_to_anyone() {
        for dark in [false, true] {
            for (sight, cones) in CONES {
                let seen: Vec<[f64; 3]> =
                    (0..6).map(|i| lab(times(cones, linear(Ink::Series(i).rgb(dark))))).collect();
                for i in 0..6 {
                    for j in 0..i {
                        let apart = difference(seen[i], seen[j]);
                        assert!(apart >= 11.0, "{sight}, dark {dark}: {j} and {i} are {apart:.1} apart");
                    }
                }
            }
        }
    }

    #[test]
    fn better_and_worse_are_apart_for_everyone() {
        for (dark, (sight, cones)) in
            [false, true].into_iter().flat_map(|dark| CONES.map(|cones| (dark, cones)))
        {
            let seen = [Ink::Better, Ink::Worse].map(|ink| lab(times(cones, linear(ink.rgb(dark)))));
            assert!(difference(seen[0], seen[1]) >= 20.0, "{sight}, dark {dark}");
        }
    }

    #[test]
    fn a_heat_map_is_read_by_lightness_alone() {
        for dark in [false, true] {
            let lights: Vec<f64> = (0..RAMP).map(|step| lab(linear(Ink::Ramp(step).rgb(dark)))[0]).collect();
            assert!(
                lights.windows(2).all(|pair| (pair[0] < pair[1]) == dark && (pair[0] - pair[1]).abs() > 2.0),
                "{lights:?}"
            );
        }
    }
}
