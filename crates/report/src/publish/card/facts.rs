//! Text on a card, from the record alone.

use super::paper::Tone;
use crate::machine::environment::{course, link};
use crate::run::{derived, procedure_name, remarks};
use crate::{machine::seen::seen, model, publish::pictures::target, run::figures::Figures, words};
use kurabe_compare::NAME_LABEL;
use kurabe_core::record::{Measure, NoticeKind, RunRecord, RunStatus};
use kurabe_core::{Text, number, profile::Statistic, quantity::format_bytes_decimal, shown, text};
use kurabe_doc::Role;
use kurabe_explain::swept_axis;
use kurabe_stats::DerivedFigure;

/// Returns the name of the device as a reader knows it: the user's own, or that of the maker.
pub(super) fn title(run: &RunRecord) -> Text {
    if let Some(name) = run.labels.get(NAME_LABEL) {
        return shown::line(name).into();
    }
    if let Some(model) = &run.header.model {
        return model.title.map(shown::line);
    }
    // A path says less than the device below it, even if the device's model is unknown.
    if let Some(name) = nameless(run).filter(|_| run.header.origin.is_none()) {
        return name.into();
    }
    match target(run) {
        name if name.is_empty() => shown::line(&run.header.profile_name()).into(),
        name => name.into(),
    }
}

/// Returns the kernel's name of the single device below the run, if its model is unknown.
fn nameless(run: &RunRecord) -> Option<String> {
    match run.header.environment.devices.as_slice() {
        [device] if device.model.is_none() => Some(format!("/dev/{}", shown::line(&device.name))),
        _ => None,
    }
}

/// Returns link, file system and capacity, or for a model its layers and changed parameters.
pub(super) fn connection(run: &RunRecord) -> Vec<Text> {
    if let Some(of) = &run.header.model {
        return [vec![shown::line(&of.name).into()], model::facts(of)].concat();
    }
    let environment = &run.header.environment;
    let mut items: Vec<Text> = Vec::new();
    let comment = run.header.origin.as_ref().and_then(|origin| origin.facts.get("Comment"));
    items.extend(comment.map(|comment| Text::same(shown::line(comment))));
    if let [device] = environment.devices.as_slice() {
        items.extend(device.link.iter().flat_map(link));
        items.extend(device.size_bytes.map(|bytes| Text::same(format_bytes_decimal(bytes))));
        items.extend(device.firmware.as_ref().map(|firmware| {
            let firmware = shown::line(firmware);
            text!("firmware {firmware}", "ファームウェア {firmware}")
        }));
    } else if !environment.devices.is_empty() {
        let count = environment.devices.len();
        items.push(text!("{count} devices", "デバイス {count} 台"));
    }
    let kind = environment.file_system.as_ref().and_then(|file_system| file_system.kind.as_deref());
    items.extend(kind.map(|kind| Text::same(shown::line(kind))));
    items.extend(environment.layers.iter().map(|layer| seen(&shown::line(layer))));
    if items.is_empty() {
        // The device is unknown, so at least the path is shown.
        let name = Text::same(shown::line(run.header.target_name()));
        items.extend(Some(name).filter(|name| !name.is_empty() && *name != title(run)));
    }
    items
}

/// Returns profile, test size, whether I/O is direct, and repetitions.
pub(super) fn procedure(run: &RunRecord) -> Vec<Text> {
    let header = &run.header;
    let mut items: Vec<Text> = vec![procedure_name(header).map(shown::line)];
    if let Some(profile) = header.profile.as_ref().filter(|_| header.target.is_some()) {
        // There is no room for the kind of data.
        items.extend(words::size_and_data(header).into_iter().take(2));
        items.push(words::repetitions(profile));
    }
    if let Some(origin) = &header.origin {
        items.extend(words::procedures(origin));
        items.push(text!("as that tool printed it", "そのツールの表示値"));
    }
    items
}

/// Returns scores and doubts about the figures, most important first.
pub(super) fn remarks(run: &RunRecord) -> Vec<(Tone, Text)> {
    let scores = Text::join(scores(run), [" · "; 2]);
    let scores = (!scores.is_empty()).then_some(scores);
    let plain = scores.into_iter().map(|words| (Tone::Plain, words));
    let warnings = status(run).into_iter().chain(doubts(run)).map(|words| (Tone::Warn, words));
    plain.chain(warnings).collect()
}

/// Returns scores and ratios. For a sweep, each is a range from lowest to highest.
fn scores(run: &RunRecord) -> Vec<Text> {
    let score = |DerivedFigure { name, value, .. }: DerivedFigure| {
        name.map(|name| format!("{name}: {}", derived::figure_words(value)))
    };
    let single: Vec<Text> = derived::values(run).into_iter().map(score).collect();
    let Some((name, values)) = derived::of_steps(run).filter(|_| single.is_empty()) else {
        return single;
    };
    let values = || values.iter().map(|(_, value)| *value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let [low, high] = [low, high].map(derived::figure_words);
    vec![
        name.map(|name| if low == high { format!("{name} {low}") } else { format!("{name} {low} – {high}") }),
    ]
}

fn status(run: &RunRecord) -> Option<Text> {
    if run.status == RunStatus::Complete {
        return None;
    }
    let word = words::status(run.status).1;
    let measured = run.cells.len();
    let cells = if measured == 1 { "test was" } else { "tests were" };
    Some(match measured {
        0 => text!("{word}: no test was measured", "{word}: 測定済みの項目なし"; word),
        _ => {
            text!("{word}: only {measured} {cells} measured", "{word}: 測定済みは {measured} 項目のみ"; word)
        }
    })
}

/// Returns the warnings of the run, and the cells whose figures are not those of the storage.
fn doubts(run: &RunRecord) -> Vec<Text> {
    let mut doubts: Vec<Text> = Vec::new();
    let failed: u64 =
        run.cells.iter().map(|cell| Figures::of(cell, Statistic::Mean).failed).fold(0, u64::saturating_add);
    if failed > 0 {
        let operations = words::operations(failed);
        doubts.push(text!("failed: {operations}", "失敗: {operations}"; operations));
    }
    let warnings = remarks::notices(run).into_iter().filter(|remark| remark.role == Role::Warn);
    doubts.extend(warnings.map(|remark| remark.words()));
    let bound = run.cells.iter().filter(|cell| cell.counted().any(|one| one.generator_bound));
    let bound: Vec<Text> = bound.map(words::cell).collect();
    if !bound.is_empty() && !run.notices.iter().any(|notice| notice.kind == NoticeKind::GeneratorBound) {
        let cells = Text::list(bound);
        doubts.push(text!(
            "kurabe was the limit, not the storage, in: {cells}",
            "kurabe 自身が上限だった項目: {cells}";
            cells
        ));
    }
    doubts
}

/// Returns date, machine and system. For a model, says that the machine does not matter.
pub(super) fn host(run: &RunRecord) -> Vec<Text> {
    let header = &run.header;
    let mut items = vec![words::or_unknown(number::date_minute(header.measured_at()))];
    if header.model.is_some() {
        items.push(text!("virtual time, the same on any machine", "仮想時間(どのマシンでも同じ結果)"));
        return items;
    }
    items.extend(run.health_after.as_ref().and_then(course));
    let machine = &header.environment.machine;
    let facts = [&machine.model, &machine.cpu_model, &machine.os, &machine.kernel];
    items.extend(facts.into_iter().flatten().map(|fact| Text::same(shown::line(fact))));
    items.extend(machine.virtualisation.machine.as_ref().map(|name| {
        let name = shown::line(name);
        text!("virtual machine ({name})", "仮想マシン({name})")
    }));
    items
}

/// Explains the figures: the statistic, and units that appear nowhere else. `is_curve` says that a
/// curve is shown instead of the table.
pub(super) fn reading(run: &RunRecord, is_curve: bool) -> Vec<Text> {
    let mut items = Vec::new();
    if let Some(profile) = &run.header.profile {
        let swept = run.cells.iter().any(|cell| swept_axis(run, cell).is_some());
        items.push(match swept && is_curve {
            true => words::geometric_mean(),
            false => words::statistic(profile.statistic),
        });
    }
    let rates = run.cells.iter().any(|cell| cell.measure == Measure::Rate);
    items.extend(rates.then(|| Text::same("1 MB = 1,000,000 B")));
    items.push(format!("kurabe {}", shown::line(&run.header.kurabe_version)).into());
    items
}
