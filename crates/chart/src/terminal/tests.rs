use crate::plot::*;
use kurabe_core::display::display_width;
use proptest::prelude::*;

fn axis(unit: Unit, scale: Scale) -> Axis {
    Axis { label: "速度".into(), unit, scale }
}

fn chart(plot: Plot) -> Chart {
    Chart { title: "t".into(), notes: vec!["n".into()], plot }
}

fn bars(values: &[f64]) -> Chart {
    let group = |(index, value): (usize, &f64)| BarGroup {
        label: format!("g{index}"),
        bars: vec![Some(Bar { value: *value, interval: None })],
    };
    chart(Plot::Bars(Bars {
        series: vec!["7kq".into()],
        groups: values.iter().enumerate().map(group).collect(),
        axis: axis(Unit::Rate, Scale::Linear),
    }))
}

#[test]
fn a_bar_is_as_long_as_its_value_and_says_it() {
    let lines = bars(&[100e6, 50e6]).terminal(40, false);
    assert_eq!(
        lines,
        ["t", "  g0 ████████████████████████ 100.0 MB/s", "  g1 ████████████              50.0 MB/s", "  n"]
    );
}

#[test]
fn a_falling_line_falls() {
    let points = (0..=10).map(|x| (f64::from(x), 100.0 - 10.0 * f64::from(x))).collect();
    let line = ChartLine { name: "r".into(), style: LineStyle::Joined, at_right: false, points };
    let lines = chart(Plot::Lines(Lines {
        x: axis(Unit::Count, Scale::Linear),
        y: axis(Unit::Count, Scale::Linear),
        right: None,
        lines: vec![line],
        marks: Vec::new(),
        stretches: Vec::new(),
    }))
    .terminal(40, false);
    let column = |line: &String| line.chars().position(|c| ('\u{2801}'..'\u{28ff}').contains(&c));
    let places: Vec<usize> = lines.iter().filter_map(column).collect();
    assert_eq!(places.len(), 10, "{lines:#?}");
    assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{lines:#?}");
}

#[test]
fn nothing_to_draw_is_the_title_alone() {
    assert_eq!(bars(&[]).terminal(80, false), ["t"]);
    assert_eq!(bars(&[f64::NAN]).terminal(80, false), ["t"]);
}

#[test]
fn colours_are_written_only_if_they_are_welcome() {
    let count =
        |colour| bars(&[1e6]).terminal(80, colour).iter().filter(|line| line.contains('\x1b')).count();
    assert_eq!((count(false), count(true)), (0, 3));
}

#[test]
fn a_ratio_above_one_stands_right_of_the_line() {
    let row = |ratio, outcome| ForestRow { label: "c".into(), ratio, outcome, words: "w".into() };
    let rows = vec![
        row(Some((1.5, 1.4, 1.6)), RatioVerdict::Better),
        row(Some((0.5, 0.4, 0.6)), RatioVerdict::Worse),
    ];
    let lines =
        chart(Plot::Forest(Forest { axis_label: "speed".into(), rows, margin: 0.05 })).terminal(60, false);
    let place = |line: &str, sign: char| line.chars().position(|c| c == sign).unwrap();
    assert!(place(&lines[1], '●') > place(&lines[1], '│'), "{lines:#?}");
    assert!(place(&lines[2], '●') < place(&lines[2], '│'), "{lines:#?}");
}

#[test]
fn parts_fill_the_bar() {
    let rows = vec![ShareRow { label: "r".into(), values: vec![3.0, 0.0, 1.0] }];
    let parts = ["x", "y", "z"].map(str::to_owned).to_vec();
    let shares = Shares { parts, rows, axis: axis(Unit::Latency, Scale::Linear) };
    let lines = chart(Plot::Shares(shares)).terminal(60, false);
    let bar = lines[1].split_whitespace().nth(1).unwrap();
    assert_eq!((bar.chars().count(), bar.matches(['▓', 'C']).count()), (47, 12), "{lines:#?}");
    assert!(lines[1].ends_with("A 75 %"), "{lines:#?}");
}

#[test]
fn a_place_of_the_map_says_its_value() {
    let heat = Heat {
        x_label: "bs".into(),
        columns: vec!["4 KiB".into(), "1 MiB".into()],
        y_label: "qd".into(),
        rows: vec!["1".into(), "32".into()],
        values: vec![vec![Some(1e6), Some(100e6)], vec![None, Some(1000e6)]],
        axis: axis(Unit::Rate, Scale::Log),
    };
    let lines = chart(Plot::Heat(heat)).terminal(60, false);
    assert!(lines[3].contains("1.00") && lines[3].contains("100.0 ▓▓"), "{lines:#?}");
    assert!(lines[4].contains('–') && lines[4].ends_with("1,000.0 ██"), "{lines:#?}");
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![3 => 0.0..1e12, 1 => any::<f64>()]
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z ]{0,40}", ".{0,20}", Just("書き込み RND 4 KiB Q32 T1".to_owned())]
}

fn any_axis() -> impl Strategy<Value = Axis> {
    let unit = prop::sample::select(vec![
        Unit::Rate,
        Unit::Iops,
        Unit::Latency,
        Unit::Moment,
        Unit::Bytes,
        Unit::Count,
        Unit::Factor,
        Unit::Share,
        Unit::Celsius,
    ]);
    let scale = prop::sample::select(vec![Scale::Linear, Scale::Log, Scale::Tail]);
    (words(), unit, scale).prop_map(|(label, unit, scale)| Axis { label, unit, scale })
}

fn any_bars() -> impl Strategy<Value = Plot> {
    let bar = prop::option::of((number(), prop::option::of((number(), number()))))
        .prop_map(|bar| bar.map(|(value, interval)| Bar { value, interval }));
    let group =
        (words(), prop::collection::vec(bar, 0..4)).prop_map(|(label, bars)| BarGroup { label, bars });
    (prop::collection::vec(words(), 0..4), prop::collection::vec(group, 0..5), any_axis())
        .prop_map(|(series, groups, axis)| Plot::Bars(Bars { series, groups, axis }))
}

fn any_lines() -> impl Strategy<Value = Plot> {
    let style =
        prop::sample::select(vec![LineStyle::Joined, LineStyle::Marked, LineStyle::Dots, LineStyle::Steps]);
    let points = prop::collection::vec((number(), number()), 0..20);
    let line = (words(), style, any::<bool>(), points)
        .prop_map(|(name, style, at_right, points)| ChartLine { name, style, at_right, points });
    let mark = (number(), words()).prop_map(|(x, label)| Mark { x, label });
    let stretch = (number(), number(), words()).prop_map(|(from, to, label)| ShadedBand { from, to, label });
    (
        (any_axis(), any_axis(), prop::option::of(any_axis())),
        prop::collection::vec(line, 0..5),
        prop::collection::vec(mark, 0..3),
        prop::collection::vec(stretch, 0..3),
    )
        .prop_map(|((x, y, right), lines, marks, stretches)| {
            Plot::Lines(Lines { x, y, right, lines, marks, stretches })
        })
}

fn any_forest() -> impl Strategy<Value = Plot> {
    let outcome = prop::sample::select(vec![
        RatioVerdict::Better,
        RatioVerdict::Worse,
        RatioVerdict::Same,
        RatioVerdict::Open,
    ]);
    let row = (words(), prop::option::of((number(), number(), number())), outcome, words())
        .prop_map(|(label, ratio, outcome, words)| ForestRow { label, ratio, outcome, words });
    (words(), prop::collection::vec(row, 0..6), number())
        .prop_map(|(axis_label, rows, margin)| Plot::Forest(Forest { axis_label, rows, margin }))
}

fn any_heat() -> impl Strategy<Value = Plot> {
    let names = || prop::collection::vec(words(), 0..12);
    let values = prop::collection::vec(prop::collection::vec(prop::option::of(number()), 0..12), 0..6);
    (words(), names(), words(), names(), values, any_axis()).prop_map(
        |(x_label, columns, y_label, rows, values, axis)| {
            Plot::Heat(Heat { x_label, columns, y_label, rows, values, axis })
        },
    )
}

fn any_shares() -> impl Strategy<Value = Plot> {
    let row = (words(), prop::collection::vec(number(), 0..30))
        .prop_map(|(label, values)| ShareRow { label, values });
    (prop::collection::vec(words(), 0..30), prop::collection::vec(row, 0..5), any_axis())
        .prop_map(|(parts, rows, axis)| Plot::Shares(Shares { parts, rows, axis }))
}

proptest! {
    #[test]
    fn no_line_is_wider_than_asked_and_nothing_panics(
        plot in prop_oneof![any_bars(), any_lines(), any_forest(), any_heat(), any_shares()],
        title in words(),
        notes in prop::collection::vec(words(), 0..3),
        width in 0usize..220,
    ) {
        let chart = Chart { title, notes, plot };
        for line in chart.terminal(width, false) {
            prop_assert!(display_width(&line) <= width, "{line:?}");
            prop_assert_eq!(line.trim_end(), &line);
        }
        chart.terminal(width, true);
    }
}
