//! The words on a card, from the record alone.

use super::paper::Tone;
use super::table;
use crate::environment::link;
use crate::figures::Figures;
use crate::layout::tame;
use crate::pictures::target;
use crate::stutter::{slow_operation, smooth_words, stutter_words};
use crate::style::Style;
use crate::{derived, model, words};
use kurabe_core::number;
use kurabe_core::profile::Statistic;
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::record::{Cell, Measure, NoticeKind, RunRecord, RunStatus};
use kurabe_core::{Text, text};
use kurabe_explain::swept_axis;
use kurabe_stats::stutter;

/// The device, as a reader looks for it.
pub(super) fn title(run: &RunRecord, style: &Style) -> String {
    if let Some(model) = &run.header.model {
        return tame(model.title.get(style.lang));
    }
    // A path says less than the device below it, even without a model.
    if let Some(name) = nameless(run).filter(|_| run.header.origin.is_none()) {
        return name;
    }
    match target(run) {
        name if name.is_empty() => tame(&run.header.profile_name()),
        name => name,
    }
}

/// The kernel's name of the one device below the run, if it tells no model.
fn nameless(run: &RunRecord) -> Option<String> {
    match run.header.environment.devices.as_slice() {
        [device] if device.model.is_none() => Some(format!("/dev/{}", tame(&device.name))),
        _ => None,
    }
}

/// Link, file system, capacity; of a model its layers and what was changed.
pub(super) fn connection(run: &RunRecord, style: &Style) -> Vec<String> {
    if let Some(of) = &run.header.model {
        return [vec![tame(&of.name)], model::facts(of, style)].concat();
    }
    let environment = &run.header.environment;
    let mut items: Vec<String> = Vec::new();
    let comment = run.header.origin.as_ref().and_then(|origin| origin.facts.get("Comment"));
    items.extend(comment.map(|comment| tame(comment)));
    if let [device] = environment.devices.as_slice() {
        items.extend(device.link.iter().flat_map(|found| link(found, style)));
        items.extend(device.size_bytes.map(format_bytes_decimal));
        items.extend(device.firmware.as_ref().map(|firmware| {
            let firmware = tame(firmware);
            style.say(&text!("firmware {firmware}", "ファームウェア {firmware}"))
        }));
    } else if !environment.devices.is_empty() {
        let count = environment.devices.len();
        items.push(style.say(&text!("{count} devices", "デバイス {count} 台")));
    }
    items.extend(
        environment.file_system.iter().filter_map(|file_system| file_system.kind.as_deref()).map(tame),
    );
    items.extend(environment.layers.iter().map(|layer| tame(layer)));
    if items.is_empty() {
        // Nothing is known of what is below: then at least where it was.
        let name = tame(run.header.target_name());
        items.extend(Some(name).filter(|name| !name.is_empty() && *name != title(run, style)));
    }
    items
}

/// Profile, test size, direct or not, data, repetitions.
pub(super) fn procedure(run: &RunRecord, style: &Style) -> Vec<String> {
    let header = &run.header;
    let mut items = vec![tame(&header.profile_name())];
    if let (Some(profile), Some(target)) = (&header.profile, &header.target) {
        if profile.needs_span() {
            items.push(style.say(&words::span(target)));
            if header.model.is_none() {
                items.push(style.say(&words::access(target.direct)).to_owned());
            }
        }
        items.push(style.say(&words::repetitions(profile)));
    }
    if let Some(origin) = &header.origin {
        items.extend(origin.procedure.as_deref().map(tame));
        items.push(style.say(&text!("as that tool printed it", "そのツールの表示値")));
    }
    items
}

/// Scores, stutter, and whatever casts doubt on the figures, the weightiest first.
pub(super) fn remarks(run: &RunRecord, style: &Style) -> Vec<(Tone, String)> {
    let mut all = status(run, style).into_iter().map(|words| (Tone::Warn, words)).collect::<Vec<_>>();
    all.extend(doubts(run, style).into_iter().map(|words| (Tone::Warn, words)));
    let scores = scores(run, style);
    if !scores.is_empty() {
        all.insert(0, (Tone::Plain, scores.join(" · ")));
    }
    let place = all.iter().take_while(|(tone, _)| *tone == Tone::Plain).count();
    if let Some(words) = stutter_line(run, style) {
        all.insert(place, (Tone::Plain, words));
    }
    all
}

/// Scores and ratios; of a sweep from the lowest to the highest.
fn scores(run: &RunRecord, style: &Style) -> Vec<String> {
    let single: Vec<String> = derived::values(run, style)
        .into_iter()
        .map(|(name, value, _)| format!("{name} {}", number::ratio(value)))
        .collect();
    let Some((name, values)) = derived::of_steps(run, style).filter(|_| single.is_empty()) else {
        return single;
    };
    let values = || values.iter().map(|(_, value)| *value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let [low, high] = [low, high].map(number::ratio);
    vec![if low == high { format!("{name} {low}") } else { format!("{name} {low} – {high}") }]
}

fn status(run: &RunRecord, style: &Style) -> Option<String> {
    if run.status == RunStatus::Complete {
        return None;
    }
    let word = style.say(&words::status(run.status).0);
    let measured = run.cells.len();
    Some(style.say(&match measured {
        0 => text!("{word}: no cell was measured", "{word}: 測定済みの項目なし"),
        1 => text!("{word}: only 1 cell was measured", "{word}: 測定済みは 1 項目のみ"),
        _ => text!("{word}: only {measured} cells were measured", "{word}: 測定済みは {measured} 項目のみ"),
    }))
}

/// The worst stutter in a line, or that there was none; nothing of runs that cannot tell.
fn stutter_line(run: &RunRecord, style: &Style) -> Option<String> {
    let timed =
        |cell: &&Cell| cell.imported.is_none() && cell.measure == Measure::Rate && cell.workload.is_some();
    let measured: Vec<(&Cell, kurabe_stats::Stutter)> =
        run.cells.iter().filter(timed).filter_map(|cell| Some((cell, stutter(cell)?))).collect();
    if measured.is_empty() {
        return None;
    }
    let mut felt: Vec<(&Cell, u64, Text)> =
        measured.iter().filter_map(|(cell, one)| Some((*cell, one.worst_ns, stutter_words(one)?))).collect();
    felt.sort_by_key(|(_, worst_ns, _)| std::cmp::Reverse(*worst_ns));
    let Some((cell, _, said)) = felt.first() else {
        let slow =
            slow_operation(measured.iter().map(|(cell, _)| *cell), |cell| style.say(&words::cell(cell)));
        return Some(style.say(&smooth_words(slow.as_ref())));
    };
    let (name, said, others) = (style.say(&words::cell(cell)), style.say(said), felt.len() - 1);
    let rest = match others {
        0 => String::new(),
        _ => style.say(&text!("; {others} more cells stall, too", "。停滞した項目はほかに {others} 個")),
    };
    Some(style.say(&text!("stutter, {name}: {said}{rest}", "停滞({name}): {said}{rest}")))
}

/// Warnings of the run, and cells whose figures are not those of the storage.
fn doubts(run: &RunRecord, style: &Style) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let failed: u64 =
        run.cells.iter().map(|cell| Figures::of(cell, Statistic::Mean).failed).fold(0, u64::saturating_add);
    if failed > 0 {
        let operations = style.say(&words::operations(failed));
        found.push(style.say(&text!("failed: {operations}", "失敗: {operations}")));
    }
    for notice in &run.notices {
        let harmless =
            matches!(notice.kind, NoticeKind::CacheDrop | NoticeKind::Other | NoticeKind::EngineFallback);
        let words = format!("{}: {}", style.say(&words::notice(notice.kind)), notice.text.get(style.lang));
        if !harmless && !found.contains(&words) {
            found.push(words);
        }
    }
    let bound: Vec<String> = run
        .cells
        .iter()
        .filter(|cell| cell.counted().any(|one| one.generator_bound))
        .map(|cell| style.say(&words::cell(cell)))
        .collect();
    if !bound.is_empty() && !run.notices.iter().any(|notice| notice.kind == NoticeKind::GeneratorBound) {
        let cells = bound.join(style.pick(", ", "、"));
        found.push(style.say(&text!(
            "kurabe was the limit, not the storage, in: {cells}",
            "kurabe 自身が上限だった項目: {cells}"
        )));
    }
    found
}

/// Date, machine, system; of a model that the machine does not matter.
pub(super) fn host(run: &RunRecord, style: &Style) -> Vec<String> {
    let header = &run.header;
    let mut items = vec![number::date_minute(header.measured_at())];
    if header.model.is_some() {
        items.push(
            style
                .pick("virtual time, the same on any machine", "仮想時間(どのマシンでも同じ結果)")
                .to_owned(),
        );
        return items;
    }
    let machine = &header.environment.machine;
    items.extend(
        machine
            .model
            .iter()
            .chain(&machine.cpu_model)
            .chain(&machine.os)
            .chain(&machine.kernel)
            .map(|one| tame(one)),
    );
    items.extend(machine.virtualisation.machine.as_ref().map(|name| {
        let name = tame(name);
        style.say(&text!("virtual machine ({name})", "仮想マシン({name})"))
    }));
    items
}

/// What the figures are: statistic, and units that are not told elsewhere.
pub(super) fn reading(run: &RunRecord, style: &Style) -> Vec<String> {
    let mut items = Vec::new();
    if let Some(profile) = &run.header.profile {
        let swept = run.cells.iter().any(|cell| swept_axis(run, cell).is_some());
        items.push(match swept && table::rows(run, style).len() > table::MOST_ROWS {
            true => style.say(&words::geometric_mean()).to_owned(),
            false => style.say(&words::statistic(profile.statistic)).to_owned(),
        });
    }
    let rates = run.cells.iter().any(|cell| cell.measure == Measure::Rate);
    if rates {
        items.push("1 MB = 1 000 000 B".to_owned());
    }
    items.push(format!("kurabe {}", tame(&run.header.kurabe_version)));
    items
}
