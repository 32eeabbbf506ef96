//! Profiles: which there are, and what one does.

use crate::columns::{self, Column, Cut, plain};
use crate::layout::{hanging, page, tame, wrap};
use crate::number;
use crate::style::{Role, Style};
use crate::words;
use kurabe_core::profile::{IoStep, Profile, Step};
use kurabe_core::quantity::{format_bytes, format_time_setting};
use kurabe_core::text;
use kurabe_core::workload::{Arrival, EndSync};

/// The profiles there are, with what each is and how long it measures.
pub fn render_profiles(profiles: &[Profile], style: &Style) -> String {
    let mut lines = Vec::new();
    for profile in profiles {
        let cells = cell_count(profile);
        let mut facts = vec![
            style.say(&match cells {
                1 => text!("1 cell", "1 項目"),
                _ => text!("{cells} cells", "{cells} 項目"),
            }),
            words::repetitions(style, profile),
            words::statistic(style, profile.statistic).to_owned(),
        ];
        facts.extend(time(profile).map(|time| {
            let time = number::long_time(time);
            style.say(&text!("measures for {time}", "測定時間 {time}"))
        }));
        let title = wrap(profile.title.get(style.lang), style.width.saturating_sub(4));
        lines.push(style.paint(Role::Strong, &tame(&profile.name)));
        lines.extend(hanging(title, 4, 4));
        lines.extend(
            hanging(crate::layout::flow(&facts, style.width.saturating_sub(4)), 4, 4)
                .iter()
                .map(|line| format!("    {}", style.paint(Role::Quiet, line.trim_start()))),
        );
    }
    let hints = [
        ("kurabe profiles show NAME", style.pick("what one does exactly", "手順の詳細")),
        ("kurabe run --profile FILE.toml", style.pick("one of your own", "自作のプロファイルで測定")),
    ];
    let rows: Vec<_> = hints.iter().map(|(command, what)| vec![plain(*command), plain(*what)]).collect();
    lines.push(String::new());
    lines.extend(columns::render(&[Column::left(""), Column::left("")], &rows, 0, style));
    page(&lines)
}

/// Cells of a profile.
fn cell_count(profile: &Profile) -> usize {
    profile.steps.iter().map(|Step::Io(step)| step.directions.len()).sum()
}

/// Measured time of a profile, if time alone ends its repetitions.
fn time(profile: &Profile) -> Option<u64> {
    let rules = &profile.rules;
    let repetitions = u64::from(rules.runs) + u64::from(rules.discarded_runs);
    let mut total = 0u64;
    for Step::Io(step) in &profile.steps {
        let by_time = step.end.bytes.is_none() && step.end.passes.is_none();
        let one = step.end.time_ns.or(by_time.then_some(rules.time_ns))?;
        let cell = one.saturating_add(step.warm_up_ns).saturating_mul(repetitions);
        total = total.saturating_add(cell.saturating_mul(step.directions.len() as u64));
    }
    Some(total)
}

/// What a profile does: source, statistic, rules, steps, and where kurabe differs from the tool.
pub fn render_profile(profile: &Profile, style: &Style) -> String {
    let mut lines = vec![style.paint(Role::Strong, &profile.name)];
    lines.extend(hanging(wrap(profile.title.get(style.lang), style.width.saturating_sub(2)), 2, 2));
    lines.push(String::new());
    let rules = rules(profile, style);
    lines.extend(columns::fields(&rules, 2, columns::key_width(&rules), style));
    lines.push(String::new());
    let heads = [
        Column::left(style.pick("step", "ステップ")).cut(Cut::End),
        Column::left(style.pick("directions", "方向")),
        Column::left(style.pick("order of offsets", "順序")),
        Column::left(style.pick("besides", "その他")).cut(Cut::Wrap),
    ];
    let rows: Vec<_> = profile
        .steps
        .iter()
        .map(|Step::Io(step)| {
            let directions: Vec<&str> =
                step.directions.iter().map(|direction| words::direction(style, *direction)).collect();
            vec![
                plain(step.label()),
                plain(directions.join(style.pick(", ", "・"))),
                plain(words::pattern(style, step.pattern)),
                plain(besides(step, style).join(" · ")),
            ]
        })
        .collect();
    lines.extend(columns::render(&heads, &rows, 2, style));
    if let Some(differs) = &profile.differs {
        lines.push(String::new());
        let title = style.pick("Where kurabe differs, and why", "kurabe が元のツールと違う点とその理由");
        lines.push(format!("  {}", style.paint(Role::Quiet, title)));
        for paragraph in differs.get(style.lang).lines() {
            lines.extend(hanging(wrap(paragraph, style.width.saturating_sub(2)), 2, 2));
        }
    }
    page(&lines)
}

fn rules(profile: &Profile, style: &Style) -> Vec<(String, Vec<String>)> {
    let rules = &profile.rules;
    let mut fields = Vec::new();
    let mut put = |key: &str, items: Vec<String>| fields.push((key.to_owned(), items));
    if let Some(source) = &profile.source {
        put(style.pick("source", "出典"), vec![source.clone()]);
    }
    put(
        style.pick("figure", "値"),
        vec![format!(
            "{}{}",
            words::statistic(style, profile.statistic),
            style.pick(", in MB/s (10^6 bytes)", "、MB/s (10^6 バイト)")
        )],
    );
    let mut repetitions = vec![words::repetitions(style, profile)];
    repetitions.extend(time(profile).map(|time| {
        let time = number::long_time(time);
        style.say(&text!("{time} of measuring in all", "測定時間の合計 {time}"))
    }));
    if rules.interval_ns > 0 {
        let pause = format_time_setting(rules.interval_ns);
        repetitions.push(style.say(&text!("{pause} of pause between cells", "項目の間に {pause} 休止")));
    }
    put(style.pick("repetitions", "繰り返し"), repetitions);
    let mut size = vec![format_bytes(rules.size_bytes)];
    if let Some(limit) = rules.fill_time_limit_ns {
        let limit = format_time_setting(limit);
        let least = format_bytes(rules.size_at_least_bytes.unwrap_or(rules.size_bytes));
        size.push(style.say(&text!(
            "cut when writing it takes longer than {limit}, to {least} at least",
            "書き込みが {limit} を超えるときは縮小 (最小 {least})"
        )));
    }
    put(style.pick("test file", "テストファイル"), size);
    let mut access = vec![
        words::access(style, rules.direct).to_owned(),
        words::data(style, rules.data),
        words::order(style, rules.order).to_owned(),
    ];
    if rules.same_offsets {
        access.push(style.pick("the same offsets in every repetition", "毎回同じオフセット列").to_owned());
    }
    put(style.pick("access", "アクセス"), access);
    fields
}

/// What sets a step apart beyond its name.
fn besides(step: &IoStep, style: &Style) -> Vec<String> {
    let mut items = Vec::new();
    if step.directions.contains(&kurabe_core::workload::Direction::Mix) {
        let percent = step.read_percent;
        items.push(style.say(&text!("mix: {percent} % reads", "混合: 読み出し {percent} %")));
    }
    if let Some(open) = step.open_loop {
        let rate = number::iops(open.rate_iops);
        let (en, ja) = match open.arrival {
            Arrival::Even => ("even", "等間隔"),
            Arrival::Poisson => ("Poisson", "ポアソン"),
        };
        items.push(style.say(&text!("{rate} offered, {en} arrivals", "{rate} で投入、到着は{ja}")));
    }
    if step.warm_up_ns > 0 {
        let time = format_time_setting(step.warm_up_ns);
        items.push(style.say(&text!("{time} of warm-up", "ウォームアップ {time}")));
    }
    if let Some(time) = step.end.time_ns {
        let time = format_time_setting(time);
        items.push(style.say(&text!("for {time}", "{time} 間")));
    }
    if let Some(bytes) = step.end.bytes {
        let bytes = format_bytes(bytes);
        items.push(style.say(&text!("{bytes} each", "1 回 {bytes}")));
    }
    if let Some(passes) = step.end.passes {
        let plural = if passes == 1 { "" } else { "es" };
        items.push(style.say(&text!("{passes} pass{plural}", "{passes} 周")));
    }
    if let Some(span) = step.span_bytes {
        let span = format_bytes(span);
        items.push(style.say(&text!("within {span}", "範囲 {span}")));
    }
    if step.sync.o_sync {
        items.push("O_SYNC".to_owned());
    }
    if let Some(every) = step.sync.every_writes {
        items.push(style.say(&match every {
            1 => text!("fsync after every write", "書き込みごとに fsync"),
            _ => text!("fsync every {every} writes", "書き込み {every} 回ごとに fsync"),
        }));
    }
    match step.sync.at_end {
        EndSync::None => {}
        EndSync::Timed => {
            items.push(style.pick("fsync at the end, timed", "最後に fsync (計時に含む)").to_owned());
        }
        EndSync::Untimed => {
            items.push(style.pick("fsync at the end, not timed", "最後に fsync (計時に含まない)").to_owned());
        }
    }
    items.extend(step.data.map(|data| words::data(style, data)));
    items
}
