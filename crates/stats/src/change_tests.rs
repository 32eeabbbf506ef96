use super::*;
use kurabe_core::random::Random;
use proptest::prelude::*;

const TRIALS: u32 = 300;

/// Normal values from a pinned generator (Box and Muller).
struct Noise(Random);

impl Noise {
    fn new(seed: u64) -> Self {
        Self(Random::new(seed, 0))
    }

    fn normal(&mut self) -> f64 {
        let [u, v] = [self.0.unit(), self.0.unit()];
        (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

/// Returns points at powers of two, each with `seen` values of this relative noise.
fn curve(places: usize, seen: usize, noise: f64, seed: u64, truth: impl Fn(f64) -> f64) -> Vec<CurvePoint> {
    let mut random = Noise::new(seed);
    (0..places)
        .map(|index| {
            let x = 65536.0 * 2f64.powi(index as i32);
            let values = (0..seen).map(|_| truth(x) * (noise * random.normal()).exp()).collect();
            CurvePoint { x, values }
        })
        .collect()
}

/// Returns the percentage of trials in which a condition holds.
fn percent(mut holds: impl FnMut(u64) -> bool) -> f64 {
    let held = (0..u64::from(TRIALS)).filter(|seed| holds(*seed)).count();
    held as f64 * 100.0 / f64::from(TRIALS)
}

#[test]
fn a_level_curve_has_no_change_point() {
    for (family, places, seen) in [
        (ShapeFamily::WorkingSet, 15, 3),
        (ShapeFamily::Depth, 7, 3),
        (ShapeFamily::Transfer, 15, 3),
        (ShapeFamily::Levels, 60, 1),
    ] {
        for noise in [0.05, 0.10, 0.15] {
            let cut = percent(|seed| {
                let points = curve(places, seen, noise, seed, |_| 100.0);
                !change_points(&points, family).unwrap().changes.is_empty()
            });
            assert!(cut <= 5.0, "{family:?}, noise {noise}: {cut} % are cut");
        }
    }
}

#[test]
fn a_step_is_found_between_its_points() {
    for noise in [0.05, 0.10, 0.15] {
        let percent_found = percent(|seed| {
            let points = curve(15, 3, noise, seed, |x| if x < 3e6 { 100.0 } else { 250.0 });
            let curve = change_points(&points, ShapeFamily::WorkingSet).unwrap();
            matches!(curve.changes[..], [change] if (1.5e6..=6e6).contains(&change.x))
        });
        assert!(percent_found >= 95.0, "noise {noise}: found in {percent_found} %");
    }
}

#[test]
fn a_cache_is_found_within_a_step_of_the_grid() {
    for noise in [0.05, 0.10, 0.15] {
        for size in [512.0 * 1024.0, 3e6, 32e6] {
            let percent_found = percent(|seed| {
                let truth = |x: f64| 1000.0 - 900.0 * (size / x).min(1.0);
                let points = curve(15, 3, noise, seed, truth);
                let curve = change_points(&points, ShapeFamily::WorkingSet).unwrap();
                curve.changes.iter().any(|change| (size / 2.0..=size * 2.0).contains(&change.x))
            });
            assert!(percent_found >= 95.0, "noise {noise}, size {size}: found in {percent_found} %");
        }
    }
}

#[test]
fn two_caches_are_told_apart() {
    let percent_found = percent(|seed| {
        let truth = |x: f64| {
            let outer = 5000.0 - 4000.0 * (64e6 / x).min(1.0);
            outer - (outer - 100.0) * (512.0 * 1024.0 / x).min(1.0)
        };
        let points = curve(16, 3, 0.05, seed, truth);
        let changes = change_points(&points, ShapeFamily::WorkingSet).unwrap().changes;
        let near = |size: f64| changes.iter().any(|change| (size / 2.0..=size * 2.0).contains(&change.x));
        near(512.0 * 1024.0) && near(64e6)
    });
    assert!(percent_found >= 90.0, "found in {percent_found} %");
}

#[test]
fn parallelism_ends_where_the_rate_stops_rising() {
    let points = curve(7, 3, 0.05, 1, |x| (x / 65536.0).min(8.0) * 100.0);
    let curve = change_points(&points, ShapeFamily::Depth).unwrap();
    let [change] = curve.changes[..] else { panic!("{curve:?}") };
    assert!((4.0..=16.0).contains(&(change.x / 65536.0)), "{change:?}");
}

#[test]
fn a_start_up_time_and_a_rate_are_one_piece() {
    let points = curve(8, 3, 0.05, 1, |x| 100.0 + x / 1e5);
    let curve = change_points(&points, ShapeFamily::Transfer).unwrap();
    assert_eq!(curve.changes, []);
    let piece = &curve.pieces[0];
    assert!((piece.a / 100.0 - 1.0).abs() < 0.1 && (piece.b * 1e5 - 1.0).abs() < 0.1, "{piece:?}");
}

#[test]
fn the_fit_of_a_cache_is_that_of_scipy() {
    // scipy.optimize.curve_fit of s + (f - s)·minimum(1, C/x) with sigma = 0.05·y.
    let times = [100.0, 101.5, 98.6, 95.6, 97.8, 95.2, 357.3, 725.1, 818.7, 891.4, 983.6];
    let points: Vec<CurvePoint> =
        (16..).zip(times).map(|(power, y)| CurvePoint { x: 2f64.powi(power), values: vec![y] }).collect();
    let (data, _) = data(&points, ShapeFamily::WorkingSet).unwrap();
    let (size, [low, high]) = mixing::cache_size(&data).unwrap();
    let (_, fast, slow) = mixing::times(&data, size).unwrap();
    assert!((fast - 98.014_402).abs() < 0.01, "{fast}");
    assert!((slow - 1_002.990_16).abs() < 0.1, "{slow}");
    assert!((size - 2_975_691.5).abs() < 300.0, "{size}");
    assert!(low < 2.9e6 && high > 3e6 && high < 4e6, "{low} {high}");
    // scipy.optimize.curve_fit of a + b/x over the last six, sigma = y.
    let equal: Vec<Datum> = data.into_iter().map(|datum| Datum { error: 0.05, ..datum }).collect();
    let (_, piece) = fit(Shape::Mixing, &equal, 5, 10).unwrap();
    assert!(
        (piece.a - 848.831_44).abs() < 1e-3 && (piece.b / -1_587.835_841_21e6 - 1.0).abs() < 1e-6,
        "{piece:?}"
    );
}

#[test]
fn too_little_is_no_curve() {
    let point = |x: f64, y: f64| CurvePoint { x, values: vec![y] };
    assert_eq!(change_points(&[point(1.0, 1.0), point(2.0, 1.0)], ShapeFamily::Depth), None);
    assert_eq!(change_points(&[point(1.0, 1.0), point(2.0, 0.0), point(3.0, 1.0)], ShapeFamily::Depth), None);
    // Repeated values at one position are one point.
    assert_eq!(change_points(&[point(1.0, 1.0), point(1.0, 2.0), point(2.0, 1.0)], ShapeFamily::Depth), None);
}

proptest! {
    #[test]
    fn pieces_cover_every_point_once(values in prop::collection::vec(0.1..1e6f64, 3..25), family in 0..4) {
        let families = [ShapeFamily::Levels, ShapeFamily::WorkingSet, ShapeFamily::Transfer, ShapeFamily::Depth];
        let family = families[family as usize];
        let points: Vec<CurvePoint> =
            (1..).zip(&values).map(|(x, y)| CurvePoint { x: f64::from(x), values: vec![*y] }).collect();
        let curve = change_points(&points, family).unwrap();
        let mut next = 0;
        for piece in &curve.pieces {
            prop_assert_eq!(piece.first, next);
            next = piece.last + 1;
        }
        prop_assert_eq!(next, points.len());
        for change in &curve.changes {
            prop_assert!(change.low <= change.x && change.x <= change.high, "{:?}", change);
        }
    }

    #[test]
    fn a_unit_changes_nothing(factor in 0.001..1000.0f64) {
        let base = curve(12, 3, 0.05, 5, |x| 1000.0 - 900.0 * (3e6 / x).min(1.0));
        let scaled: Vec<CurvePoint> = base
            .iter()
            .map(|point| CurvePoint {
                x: point.x,
                values: point.values.iter().map(|value| value * factor).collect(),
            })
            .collect();
        let changes = |points: &[CurvePoint]| change_points(points, ShapeFamily::WorkingSet).unwrap().changes;
        for (one, other) in changes(&base).iter().zip(changes(&scaled)) {
            prop_assert!((one.x / other.x - 1.0).abs() < 1e-6);
        }
    }
}
