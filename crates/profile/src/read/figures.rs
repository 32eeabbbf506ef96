//! The keys about figures: the tool's unit, rounds until a device is steady, and formulas.

use super::kit::{MOST_REPETITIONS, positive_duration, read_direction};
use kurabe_core::profile::{Derived, Formula, Name, PrintedUnit, Rounds, Rules, Step, Tracked, TrackedCell};
use kurabe_core::{Result, text};
use kurabe_core::{Value, nearest};

pub(super) fn read_printed_unit(value: &Value<'_>) -> Result<PrintedUnit> {
    let table = value.table(&["unit", "bytes"])?;
    Ok(PrintedUnit { unit: table.words("unit")?, bytes: table.require("bytes")?.integer(1..=1 << 40)? })
}

pub(super) fn read_derived(value: &Value<'_>, steps: &[Step], rules: &Rules) -> Result<Derived> {
    let table = value.table(&["label", "formula", "meaning", "least_write_time"])?;
    let words = table.require("formula")?;
    let formula = words.parsed(Formula::parse)?;
    for name in formula.names() {
        check_name(&words, name, steps, rules)?;
    }
    Ok(Derived {
        label: table.require("label")?.text()?,
        formula,
        meaning: table.read("meaning", Value::text)?,
        least_write_ns: table.read("least_write_time", positive_duration)?,
    })
}

/// Checks that a name in a formula refers to a cell.
fn check_name(words: &Value<'_>, name: &Name, steps: &[Step], rules: &Rules) -> Result<()> {
    let (id, part) = (&name.step, &name.part);
    let Some(step) = steps.iter().find(|step| step.id() == Some(id)) else {
        let parts: Vec<&str> = steps.iter().filter_map(Step::id).collect();
        return Err(words
            .error(&text!(
                "no step of this profile has the id `{id}`",
                "id が `{id}` のステップはこのプロファイルにありません"
            ))
            .remedy(nearest(id, &parts)));
    };
    let tasks = step.tasks(0, rules, rules.size_bytes);
    let parts: Vec<&str> =
        tasks.iter().flat_map(|(_, task)| &task.cells).map(|cell| cell.part.as_str()).collect();
    if parts.contains(&part.as_str()) {
        return Ok(());
    }
    Err(words
        .error(&text!(
            "the step `{id}` has no test `{part}`",
            "ステップ `{id}` に `{part}` の項目はありません"
        ))
        .remedy(nearest(part, &parts)))
}

pub(super) fn read_rounds(value: &Value<'_>, steps: &[Step]) -> Result<Rounds> {
    let table =
        value.table(&["most", "window", "excursion_percent", "slope_percent", "tracked", "tracked_cells"])?;
    let window = table.require("window")?;
    let rounds = Rounds {
        most: table.require("most")?.integer(2..=MOST_REPETITIONS)? as u32,
        window: window.integer(2..=1000)? as u32,
        excursion_percent: table.require("excursion_percent")?.positive()?,
        slope_percent: table.require("slope_percent")?.positive()?,
        tracked: table.require("tracked")?.choice(&[
            ("iops", Tracked::Iops),
            ("rate", Tracked::Rate),
            ("latency", Tracked::Latency),
        ])?,
        tracked_cells: table.require("tracked_cells")?.each(|value| read_tracked_cell(value, steps))?,
    };
    if rounds.tracked_cells.is_empty() {
        let cells = table.require("tracked_cells")?;
        return Err(
            cells.error(&text!("at least one tracked test is needed", "追跡する項目が 1 つ以上必要です"))
        );
    }
    if rounds.window > rounds.most {
        return Err(window.error(&text!(
            "the window is longer than all rounds",
            "window が全ラウンド数 most を超えています"
        )));
    }
    Ok(rounds)
}

fn read_tracked_cell(value: &Value<'_>, steps: &[Step]) -> Result<TrackedCell> {
    let table = value.table(&["label", "direction"])?;
    let label = table.require("label")?;
    let cell = TrackedCell {
        label: label.string()?.to_owned(),
        direction: read_direction(&table.require("direction")?)?,
    };
    if !steps.iter().any(|step| step.label() == cell.label && step.directions().contains(&cell.direction)) {
        let labels: Vec<String> = steps.iter().map(Step::label).collect();
        return Err(label
            .error(&text!(
                "no step has this label and direction",
                "このラベルと方向を持つステップはありません"
            ))
            .remedy(nearest(&cell.label, &labels.iter().map(String::as_str).collect::<Vec<_>>())));
    }
    Ok(cell)
}
