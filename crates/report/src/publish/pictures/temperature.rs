//! The temperature of the devices over a run, as their sensors report it.

use super::{Picture, View};
use kurabe_chart::{Axis, ChartLine, LineStyle, Lines, Plot, Scale, Unit};
use kurabe_core::environment::TemperatureSample;
use kurabe_core::record::RunRecord;

/// Fewest samples that show a course.
const FEWEST: usize = 2;

pub(super) fn pictures(view: &View<'_>) -> Vec<Picture> {
    let has_course = |run: &RunRecord| usize::from(samples(run).len() >= FEWEST);
    let groups = view.groups(has_course).into_iter();
    groups.filter_map(|runs| picture(runs, view)).collect()
}

/// Returns the temperatures of a run, in the order of time.
fn samples(run: &RunRecord) -> &[TemperatureSample] {
    run.health_after.as_ref().map_or(&[], |health| &health.temperatures)
}

fn picture(runs: &[&RunRecord], view: &View<'_>) -> Option<Picture> {
    let shown: Vec<&RunRecord> = runs.iter().copied().filter(|run| samples(run).len() >= FEWEST).collect();
    let line = |run: &&RunRecord| {
        let points = samples(run).iter().map(|one| (one.at_ns as f64, f64::from(one.celsius))).collect();
        let name = view.line(run, &view.pick("temperature", "温度"));
        ChartLine::new(name, LineStyle::Joined, points)
    };
    let lines: Vec<ChartLine> = shown.iter().map(line).collect();
    if lines.is_empty() {
        return None;
    }
    let x = Axis::new(view.pick("time", "時間"), Unit::Moment, Scale::Linear);
    let y = Axis::new(view.pick("Temperature", "温度"), Unit::Celsius, Scale::Linear);
    let what = view.pick("Temperature over the run", "測定中の温度");
    let notes = vec![view.pick("as the device's sensor reports it", "デバイスのセンサーの値")];
    Some(view.picture("temperature", &what, &shown, notes, Plot::Lines(Lines::new(x, y, lines))))
}
