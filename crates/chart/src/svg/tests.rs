//! Laws of every drawing: it is valid, has no invalid coordinates, and no text leaves it.

use super::*;
use crate::pixels::tree;
use crate::plot::*;
use proptest::prelude::*;
use resvg::usvg::{Group, Node};

const UNITS: [Unit; 9] = [
    Unit::Rate,
    Unit::Iops,
    Unit::Latency,
    Unit::Moment,
    Unit::Bytes,
    Unit::Count,
    Unit::Factor,
    Unit::Share,
    Unit::Celsius,
];

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.0..1e3f64,
        3 => 1e3..1e12f64,
        2 => 0.0..1.0f64,
        1 => proptest::sample::select(vec![
            0.0, -0.0, 1.0, -5.0, 1e15, 1e-300, f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.5, 0.999_999_999_9,
        ]),
    ]
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9 ]{0,12}",
        "[ぁ-んァ-ヴ一-龠]{0,80}",
        proptest::sample::select(vec![
            "</text><script>alert(1)</script>".to_owned(),
            "\"'&<>\u{1}\u{0}\n\u{7f}\u{ffff}".to_owned(),
            "👨\u{200d}👩\u{200d}👧 emoji".to_owned(),
            "averyveryverylongwordwithoutanyplacewherealinemaybreak".repeat(4),
        ]),
    ]
}

fn axis() -> impl Strategy<Value = Axis> {
    let scale = proptest::sample::select(vec![Scale::Linear, Scale::Log, Scale::Tail]);
    (words(), proptest::sample::select(UNITS.to_vec()), scale).prop_map(|(label, unit, scale)| Axis {
        label,
        unit,
        scale,
    })
}

fn some<T: std::fmt::Debug>(of: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<T>> {
    proptest::collection::vec(of, 0..6)
}

fn bars() -> impl Strategy<Value = Plot> {
    let bar = (number(), proptest::option::of((number(), number())))
        .prop_map(|(value, interval)| Bar { value, interval });
    let group = (words(), some(proptest::option::of(bar))).prop_map(|(label, bars)| BarGroup { label, bars });
    (some(words()), some(group), axis())
        .prop_map(|(series, groups, axis)| Plot::Bars(Bars { series, groups, axis }))
}

fn lines() -> impl Strategy<Value = Plot> {
    let styles = vec![LineStyle::Joined, LineStyle::Marked, LineStyle::Dots, LineStyle::Steps];
    let points = proptest::collection::vec((number(), number()), 0..120);
    let line = (words(), proptest::sample::select(styles), any::<bool>(), points)
        .prop_map(|(name, style, at_right, points)| ChartLine { name, style, at_right, points });
    let mark = (number(), words()).prop_map(|(x, label)| Mark { x, label });
    let stretch = (number(), number(), words()).prop_map(|(from, to, label)| ShadedBand { from, to, label });
    (axis(), axis(), proptest::option::of(axis()), some(line), some(mark), some(stretch)).prop_map(
        |(x, y, right, lines, marks, stretches)| Plot::Lines(Lines { x, y, right, lines, marks, stretches }),
    )
}

fn forest() -> impl Strategy<Value = Plot> {
    let outcomes = vec![RatioVerdict::Better, RatioVerdict::Worse, RatioVerdict::Same, RatioVerdict::Open];
    let row = (
        words(),
        proptest::option::of((number(), number(), number())),
        proptest::sample::select(outcomes),
        words(),
    )
        .prop_map(|(label, ratio, outcome, words)| ForestRow { label, ratio, outcome, words });
    (words(), some(row), number())
        .prop_map(|(axis_label, rows, margin)| Plot::Forest(Forest { axis_label, rows, margin }))
}

fn heat() -> impl Strategy<Value = Plot> {
    let values = some(some(proptest::option::of(number())));
    let columns = proptest::collection::vec(words(), 0..40);
    (words(), columns, words(), some(words()), values, axis()).prop_map(
        |(x_label, columns, y_label, rows, values, axis)| {
            Plot::Heat(Heat { x_label, columns, y_label, rows, values, axis })
        },
    )
}

fn shares() -> impl Strategy<Value = Plot> {
    let row = (words(), some(number())).prop_map(|(label, values)| ShareRow { label, values });
    (some(words()), some(row), axis())
        .prop_map(|(parts, rows, axis)| Plot::Shares(Shares { parts, rows, axis }))
}

fn chart() -> impl Strategy<Value = Chart> {
    (words(), some(words()), prop_oneof![bars(), lines(), forest(), heat(), shares()])
        .prop_map(|(title, notes, plot)| Chart { title, notes, plot })
}

/// Returns a text that leaves the picture, if there is one.
fn outside(group: &Group, width: f32, height: f32) -> Option<String> {
    group.children().iter().find_map(|node| match node {
        Node::Group(group) => outside(group, width, height),
        Node::Text(text) => {
            let area = text.abs_bounding_box();
            let fits = area.left() >= -1.0
                && area.right() <= width + 1.0
                && area.top() >= -1.0
                && area.bottom() <= height + 1.0;
            let words: String = text.chunks().iter().map(|chunk| chunk.text().to_owned()).collect();
            (!fits).then(|| format!("{words}: {area:?} in {width} × {height}"))
        }
        _ => None,
    })
}

/// Returns the values of the attributes that are drawn, in order.
fn coordinates(svg: &str) -> impl Iterator<Item = &str> {
    [" x=\"", " y=\"", " width=\"", " height=\"", " d=\""]
        .into_iter()
        .flat_map(|name| svg.split(name).skip(1).map(|rest| rest.split('"').next().unwrap_or_default()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn every_chart_is_drawn_whole(chart in chart(), width_px in 0u32..1300) {
        let drawing = chart.draw(width_px, Theme::Light);
        let tree = tree(&drawing.svg).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(outside(tree.root(), drawing.width_px as f32, drawing.height_px as f32), None);
        for value in coordinates(&drawing.svg) {
            prop_assert!(!value.is_empty() && !value.contains("NaN") && !value.contains("inf"), "{}", value);
        }
        let auto = chart.svg(width_px, Theme::Auto);
        prop_assert!(crate::pixels::tree(&auto).is_ok());
        prop_assert!(!auto.contains("<script"));
        prop_assert_eq!(&auto, &chart.svg(width_px, Theme::Auto));
    }
}

fn small(plot: Plot) -> Chart {
    Chart { title: "A <title>".to_owned(), notes: vec!["how to read it".to_owned()], plot }
}

fn rate(scale: Scale) -> Axis {
    Axis { label: "throughput".to_owned(), unit: Unit::Rate, scale }
}

fn small_bars() -> Chart {
    let bar = |value: f64| Some(Bar { value, interval: Some((value * 0.9, value * 1.1)) });
    let group = BarGroup { label: "SEQ1M read".to_owned(), bars: vec![bar(400e6), None] };
    let more = BarGroup { label: "SEQ1M write".to_owned(), bars: vec![bar(120e6), bar(300e6)] };
    let series = vec!["7kq".to_owned(), "9mz".to_owned()];
    small(Plot::Bars(Bars { series, groups: vec![group, more], axis: rate(Scale::Linear) }))
}

fn small_lines() -> Chart {
    let line = ChartLine {
        name: "read".to_owned(),
        style: LineStyle::Marked,
        at_right: false,
        points: vec![(4096.0, 20e6), (8192.0, 40e6), (16_384.0, f64::NAN), (65_536.0, 250e6)],
    };
    small(Plot::Lines(Lines {
        x: Axis { label: "block size".to_owned(), unit: Unit::Bytes, scale: Scale::Log },
        y: rate(Scale::Log),
        right: None,
        lines: vec![line],
        marks: vec![Mark { x: 16_384.0, label: "cluster".to_owned() }],
        stretches: vec![ShadedBand { from: 5000.0, to: 6000.0, label: "stall".to_owned() }],
    }))
}

fn small_forest() -> Chart {
    let row = |label: &str, ratio, outcome, words: &str| ForestRow {
        label: label.to_owned(),
        ratio,
        outcome,
        words: words.to_owned(),
    };
    let rows = vec![
        row("read", Some((1.3, 1.2, 1.4)), RatioVerdict::Better, "20 % to 40 % faster"),
        row("write", Some((1.0, 0.7, f64::INFINITY)), RatioVerdict::Open, "not enough runs"),
        row("verify", None, RatioVerdict::Open, "only one run has it"),
    ];
    small(Plot::Forest(Forest { axis_label: "speed of 9mz against 7kq".to_owned(), rows, margin: 0.05 }))
}

fn small_heat() -> Chart {
    small(Plot::Heat(Heat {
        x_label: "queue depth".to_owned(),
        columns: vec!["1".to_owned(), "8".to_owned()],
        y_label: "block size".to_owned(),
        rows: vec!["4 KiB".to_owned(), "64 KiB".to_owned()],
        values: vec![vec![Some(30e6), None], vec![Some(200e6), Some(500e6)]],
        axis: rate(Scale::Linear),
    }))
}

fn small_shares() -> Chart {
    let row = |label: &str, values: Vec<f64>| ShareRow { label: label.to_owned(), values };
    small(Plot::Shares(Shares {
        parts: vec!["bus".to_owned(), "FAT walk".to_owned()],
        rows: vec![row("4 KiB clusters", vec![10e9, 14e9]), row("raw", vec![10e9, 0.1e9])],
        axis: Axis { label: "time".to_owned(), unit: Unit::Moment, scale: Scale::Linear },
    }))
}

#[test]
fn a_small_chart_looks_as_it_did() {
    // One element per line, so that a change is readable.
    let svg = small_bars().svg(520, Theme::Auto).replace("><", ">\n<");
    insta::assert_snapshot!("bars", svg);
}

/// Returns the markup of a data mark, by its label.
fn mark<'a>(svg: &'a str, label: &str) -> &'a str {
    let start = format!("data-label=\"{label}\"");
    let (_, rest) = svg.split_once(&start).unwrap_or_else(|| panic!("no {label}: {svg}"));
    rest.split("</g>").next().unwrap_or_default()
}

/// Returns an attribute of the first shape of a kind.
fn attribute<'a>(mark: &'a str, shape: &str, name: &str) -> &'a str {
    let shape = mark.split(&format!("<{shape} ")).nth(1).unwrap_or_else(|| panic!("no {shape}: {mark}"));
    let value = shape.split(&format!("{name}=\"")).nth(1).unwrap_or_else(|| panic!("no {name}: {mark}"));
    value.split('"').next().unwrap_or_default()
}

fn number_of(mark: &str, shape: &str, name: &str) -> f64 {
    attribute(mark, shape, name).parse().unwrap()
}

/// Returns the start of the last path of a mark: the left end of a circle, or the top of a
/// triangle.
fn start_of(mark: &str) -> (f64, f64) {
    let path = mark.rsplit(" d=\"M").next().unwrap();
    let mut numbers = path.split(|letter: char| !letter.is_ascii_digit() && letter != '.').map(str::parse);
    (numbers.next().unwrap().unwrap(), numbers.next().unwrap().unwrap())
}

#[track_caller]
fn is_near(one: f64, other: f64, most: f64) {
    assert!((one - other).abs() <= most, "{one} and {other}");
}

#[test]
fn a_bar_is_as_long_as_its_value() {
    let svg = small_bars().svg(520, Theme::Light);
    let labels = [("SEQ1M read, 7kq", 400.0), ("SEQ1M write, 7kq", 120.0), ("SEQ1M write, 9mz", 300.0)];
    let longest = number_of(mark(&svg, labels[0].0), "rect", "width");
    for (label, value) in labels {
        let bar = mark(&svg, label);
        is_near(number_of(bar, "rect", "width"), longest * value / 400.0, 0.1);
        is_near(number_of(bar, "rect", "x"), number_of(mark(&svg, labels[0].0), "rect", "x"), 0.0);
    }
}

#[test]
fn a_point_is_where_its_values_are_and_a_gap_is_not_joined() {
    let svg = small_lines().svg(520, Theme::Light);
    let [one, two, three] = ["4 KiB", "8 KiB", "64 KiB"].map(|x| start_of(mark(&svg, &format!("read, {x}"))));
    // Both axes are logarithmic: the first step is a doubling on both.
    let (right, up) = (two.0 - one.0, one.1 - two.1);
    assert!(right > 20.0 && up > 20.0, "{one:?} {two:?}");
    is_near(three.0 - one.0, 4.0 * right, 0.3);
    is_near(one.1 - three.1, up * 12.5f64.log2(), 0.3);
    // The third point has no value, so the curve ends before it and starts again after it.
    let curve = svg.split("<path d=\"").find(|path| path.contains("stroke-linejoin")).unwrap();
    let curve = curve.split('"').next().unwrap();
    assert_eq!(curve.matches('M').count(), 2, "{curve}");
    let place = |label: &str, shape: &str, name: &str| number_of(mark(&svg, label), shape, name);
    // A dashed line at the change point, two doublings from the first, and a range from 5,000 to
    // 6,000 bytes.
    is_near(start_of(mark(&svg, "cluster")).0, one.0 + 3.6 + 2.0 * right, 0.3);
    is_near(place("stall", "rect", "x"), one.0 + 3.6 + right * (5000.0f64 / 4096.0).log2(), 0.3);
    is_near(place("stall", "rect", "width"), right * 1.2f64.log2(), 0.3);
}

#[test]
fn a_ratio_is_on_its_side_of_one_and_an_open_end_has_an_arrow() {
    let svg = small_forest().svg(520, Theme::Light);
    let ends = |label: &str| {
        let path = attribute(mark(&svg, label), "path", "d");
        let (left, right) = path.split_once('H').unwrap();
        let left = left.trim_start_matches('M').split(' ').next().unwrap();
        (left.parse::<f64>().unwrap(), right.parse::<f64>().unwrap())
    };
    // A circle with radius 4.2 at the ratio of one.
    let one = start_of(mark(&svg, "write")).0 + 4.2;
    let ((low, high), (least, most)) = (ends("read"), ends("write"));
    assert!(least < one && one < low && low < high && high < most, "{svg}");
    // The scale is logarithmic.
    is_near((low - one) / (high - one), 1.2f64.ln() / 1.4f64.ln(), 0.01);
    is_near((one - least) / (high - one), -(0.7f64.ln()) / 1.4f64.ln(), 0.01);
    assert!(mark(&svg, "write").contains("l4 4l-4 4") && !mark(&svg, "read").contains("l4 4"), "{svg}");
    assert!(!mark(&svg, "verify").contains("<path"), "a row without a ratio has only words");
}

#[test]
fn a_cell_of_a_map_has_the_colour_of_its_value_at_its_column_and_row() {
    let chart = small_heat();
    let svg = chart.svg(520, Theme::Auto);
    let cell = |label: &str| {
        let mark = mark(&svg, label);
        let place = |name: &str| number_of(mark, "rect", name);
        (attribute(mark, "rect", "fill"), place("x"), place("y"), place("width"), place("height"))
    };
    let [least, none, some, most] = ["4 KiB, 1", "4 KiB, 8", "64 KiB, 1", "64 KiB, 8"].map(cell);
    // Sixteen steps from 30 to 500.
    assert_eq!([least.0, some.0, most.0], ["var(--r0)", "var(--r5)", "var(--r15)"]);
    assert!(none.0.starts_with("url(#"), "what was not measured is hatched: {}", none.0);
    assert!(least.1 + least.3 < none.1 && least.2 + least.4 < some.2, "cells do not overlap: {svg}");
    assert_eq!((least.1, least.2, none.1, some.2), (some.1, none.2, most.1, most.2));
}

#[test]
fn the_parts_of_a_row_are_as_long_as_their_shares_and_follow_each_other() {
    let svg = small_shares().svg(520, Theme::Light);
    let part = |label: &str| {
        let mark = mark(&svg, label);
        (number_of(mark, "rect", "x"), number_of(mark, "rect", "width"))
    };
    let rows = [("4 KiB clusters", [10.0, 14.0]), ("raw", [10.0, 0.1])];
    let whole = 342.0;
    for (row, values) in rows {
        let [first, second] = ["bus", "FAT walk"].map(|name| part(&format!("{row}, {name}")));
        let sum: f64 = values.iter().sum();
        // The parts have a gap of a pixel.
        is_near(first.1, whole * values[0] / sum, 1.1);
        is_near(second.1, whole * values[1] / sum, 1.1);
        is_near(second.0, first.0 + first.1 + 1.0, 0.2);
        is_near(second.0 + second.1, first.0 + whole, 1.1);
    }
}

/// Collects the bounding boxes of the texts of a picture.
fn boxes(group: &Group, into: &mut Vec<(resvg::usvg::Rect, String)>) {
    for node in group.children() {
        match node {
            Node::Group(group) => boxes(group, into),
            Node::Text(text) => {
                let words = text.chunks().iter().map(|chunk| chunk.text().to_owned()).collect();
                into.push((text.abs_bounding_box(), words));
            }
            _ => {}
        }
    }
}

#[test]
fn the_words_of_small_charts_do_not_overlap() {
    for chart in [small_bars(), small_lines(), small_forest(), small_heat(), small_shares()] {
        for width_px in [360, 520, 1000] {
            let drawing = chart.draw(width_px, Theme::Light);
            let tree = tree(&drawing.svg).unwrap();
            let mut all = Vec::new();
            boxes(tree.root(), &mut all);
            assert!(all.len() > 5);
            for (index, (one, words)) in all.iter().enumerate() {
                for (other, more) in &all[index + 1..] {
                    // A bounding box includes space above and below the letters.
                    let room = 0.25 * one.height().min(other.height());
                    let apart = one.right() <= other.left()
                        || other.right() <= one.left()
                        || one.bottom() - room <= other.top() + room
                        || other.bottom() - room <= one.top() + room;
                    assert!(apart, "`{words}` and `{more}` overlap in {width_px} px: {one:?} {other:?}");
                }
            }
        }
    }
}

#[test]
fn names_of_parts_differ_between_charts_of_one_page() {
    let ids = |chart: &Chart| -> Vec<String> {
        let svg = chart.svg(520, Theme::Auto);
        svg.split(" id=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap_or_default().to_owned())
            .collect()
    };
    let (a, b) = (ids(&small_bars()), ids(&small_shares()));
    assert!(a.len() > 3 && b.len() > 3);
    assert!(a.iter().all(|id| !b.contains(id) && id.starts_with(&a[0])), "{a:?} {b:?}");
}

#[test]
fn a_page_can_read_each_mark() {
    let svg = small_bars().svg(520, Theme::Light);
    assert!(
        svg.contains(r#"data-label="SEQ1M read, 7kq" data-value="400.0 MB/s (360.0 MB/s – 440.0 MB/s)""#)
    );
    assert!(svg.contains("<title>SEQ1M read, 7kq: 400.0 MB/s (360.0 MB/s – 440.0 MB/s)</title>"));
    assert!(svg.contains(">A &lt;title&gt;</title>") && svg.contains(r#"role="img""#));
    assert!(!svg.contains("var(") && small_bars().svg(520, Theme::Auto).contains("var(--s0)"));
}

/// Ten hours with one value per second, one of them zero.
fn ten_hours(lines: usize) -> Chart {
    let points = |seed: u32| -> Vec<(f64, f64)> {
        (0..36_000u32)
            .map(|s| {
                let noise = f64::from(s.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 16) / 65_536.0;
                (f64::from(s) * 1e9, if s == 17_003 { 0.0 } else { (300.0 + 100.0 * noise) * 1e6 })
            })
            .collect()
    };
    let line = |index: usize| ChartLine {
        name: format!("line {index}"),
        style: LineStyle::Joined,
        at_right: false,
        points: points(index as u32),
    };
    small(Plot::Lines(Lines {
        x: Axis { label: "time".to_owned(), unit: Unit::Moment, scale: Scale::Linear },
        y: rate(Scale::Linear),
        right: None,
        lines: (0..lines).map(line).collect(),
        marks: Vec::new(),
        stretches: Vec::new(),
    }))
}

#[test]
fn ten_hours_stay_small_and_keep_their_stall() {
    let svg = ten_hours(2).svg(1000, Theme::Auto);
    assert!(svg.len() < 60_000, "{} bytes", svg.len());
    assert!(svg.contains("data-value=\"line 0 0.0 MB/s – "), "no strip says that it fell to zero");
    // The first line reaches the bottom of the plot.
    let path = svg
        .split("<path d=\"M")
        .filter_map(|path| path.split('"').next())
        .find(|path| path.len() > 3000)
        .unwrap();
    let (start, moves) = path.split_once('l').unwrap();
    let mut y: f64 = start.split(' ').nth(1).unwrap().parse().unwrap();
    let mut lowest = y;
    for down in moves.split(' ').skip(1).step_by(2) {
        y += down.parse::<f64>().unwrap();
        lowest = lowest.max(y);
    }
    assert!(lowest > y + 150.0, "{lowest} is not far below {y}");
}

#[test]
fn very_many_series_and_points_are_drawn() {
    let bar = |value: f64| Some(Bar { value, interval: None });
    let bars = Bars {
        series: (0..200).map(|i| format!("run {i}")).collect(),
        groups: vec![BarGroup {
            label: "読み出し".repeat(30),
            bars: (0..200).map(|i| bar(f64::from(i) * 1e6)).collect(),
        }],
        axis: rate(Scale::Linear),
    };
    for plot in [Plot::Bars(bars), ten_hours(200).plot] {
        let drawing = small(plot).draw(800, Theme::Dark);
        let tree = tree(&drawing.svg).unwrap();
        assert_eq!(outside(tree.root(), drawing.width_px as f32, drawing.height_px as f32), None);
    }
}

fn axis_of(label: &str, unit: Unit, scale: Scale) -> Axis {
    Axis { label: label.to_owned(), unit, scale }
}

#[test]
fn an_interval_of_a_rate_does_not_pull_the_axis_below_zero() {
    let bar = Bar { value: 100e6, interval: Some((-40e6, 240e6)) };
    let chart = Chart {
        title: "rates".to_owned(),
        notes: Vec::new(),
        plot: Plot::Bars(Bars {
            series: vec!["7kq".to_owned()],
            groups: vec![BarGroup { label: "read".to_owned(), bars: vec![Some(bar)] }],
            axis: axis_of("Throughput", Unit::Rate, Scale::Linear),
        }),
    };
    let svg = chart.svg(600, Theme::Light);
    let ticks: Vec<&str> = svg.split("</text>").filter_map(|part| part.rsplit('>').next()).collect();
    assert!(ticks.contains(&"0") && !ticks.iter().any(|words| words.starts_with('-')), "{ticks:?}");
    // The text still has the exact interval.
    assert!(svg.contains("-40.0 MB/s"), "{svg}");
}

#[test]
fn lines_are_drawn_as_high_as_a_place_allows() {
    let chart = Chart {
        title: "a curve".to_owned(),
        notes: Vec::new(),
        plot: Plot::Lines(Lines {
            x: axis_of("time", Unit::Moment, Scale::Linear),
            y: axis_of("Throughput", Unit::Rate, Scale::Linear),
            right: None,
            lines: vec![ChartLine {
                name: String::new(),
                style: LineStyle::Joined,
                at_right: false,
                points: vec![(0.0, 1e6), (1e9, 2e6)],
            }],
            marks: Vec::new(),
            stretches: Vec::new(),
        }),
    };
    for height_px in [320.0, 700.0] {
        let drawn = chart.draw_into(900, height_px, Theme::Light).height_px;
        assert!((drawn - height_px).abs() <= 1.0, "{drawn} of {height_px}");
    }
    assert!(chart.draw_into(900, 60.0, Theme::Light).height_px > 150.0, "no flatter than can be read");
}

#[test]
fn a_drawing_for_a_page_has_no_style_of_its_own_and_the_sheet_has_every_colour_of_it() {
    let sheet = style_sheet();
    for chart in [small_bars(), ten_hours(2)] {
        let svg = chart.svg(520, Theme::Page);
        assert!(!svg.contains("<style") && !svg.contains("style="), "{svg}");
        for property in svg.split("var(").skip(1).filter_map(|rest| rest.split_once(')')) {
            // Light, dark by the system setting, dark by the page's attribute, and for print.
            assert_eq!(sheet.matches(&format!("{}:#", property.0)).count(), 4, "{}", property.0);
        }
    }
}
