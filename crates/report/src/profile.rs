//! Profiles: which there are, and what one does.

use crate::columns::{self, Column, Cut, plain};
use crate::layout::{hanging, page, tame, wrap};
use crate::style::{Role, Style};
use crate::{steps, words};
use kurabe_core::number;
use kurabe_core::profile::{Profile, Rules, Statistic, Step, Task, Work};
use kurabe_core::quantity::{format_bytes, format_time_setting};
use kurabe_core::record::Measure;
use kurabe_core::text;

/// A family of this many profiles stands apart in the list.
const FAMILY: usize = 3;

/// The profiles there are, with what each is and how long it measures. Families stand apart.
pub fn render_profiles(profiles: &[Profile], style: &Style) -> String {
    let heads = [
        Column::left(style.pick("profile", "プロファイル")),
        Column::left(style.pick("what it does", "内容")).cut(Cut::Wrap),
        Column::right(style.pick("measures for", "測定時間")),
    ];
    let mut rows: Vec<Vec<columns::Entry>> = Vec::new();
    let mut before: Option<&str> = None;
    for profile in profiles {
        let group = group(profile, profiles);
        if before.is_some_and(|before| before != group) {
            rows.push(Vec::new());
        }
        before = Some(group);
        let time = time(profile).map(|(time, most)| {
            match (style.say(&words::time(&number::long_time(time))), most) {
                (time, true) => style.say(&text!("≤ {time}", "最長 {time}")),
                (time, false) => time,
            }
        });
        rows.push(vec![
            (Role::Strong, tame(&profile.name)),
            plain(profile.title.get(style.lang)),
            (Role::Quiet, time.unwrap_or_default()),
        ]);
    }
    let mut lines = columns::render(&heads, &rows, 0, style);
    let hints = [
        ("kurabe profiles show NAME", style.pick("what one does exactly", "手順の詳細")),
        ("kurabe run --profile FILE.toml", style.pick("one of your own", "自作のプロファイルで測定")),
    ];
    let rows: Vec<_> = hints.iter().map(|(command, what)| vec![plain(*command), plain(*what)]).collect();
    lines.push(String::new());
    lines.extend(columns::render(&[Column::left(""), Column::left("")], &rows, 0, style));
    page(&lines)
}

/// The beginning of the name that several profiles share; empty for a profile of a small family.
fn group<'a>(profile: &'a Profile, profiles: &[Profile]) -> &'a str {
    let family = family(&profile.name);
    let members = profiles.iter().filter(|other| self::family(&other.name) == family).count();
    if members >= FAMILY { family } else { "" }
}

fn family(name: &str) -> &str {
    name.split('-').next().unwrap_or(name)
}

/// Measured time of a profile, and whether it may be less; `None` if something other than time ends a repetition.
fn time(profile: &Profile) -> Option<(u64, bool)> {
    let mut total = 0u64;
    let mut most = profile.rounds.is_some();
    for task in profile.tasks(profile.rules.size_bytes) {
        total = total.saturating_add(task.planned_time_ns()?);
        most |= task
            .workload()
            .is_some_and(|workload| workload.end.bytes.is_some() || workload.end.passes.is_some());
    }
    Some((total.saturating_mul(u64::from(profile.repetitions())), most))
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
        Column::left(style.pick("directions", "方向")).cut(Cut::Wrap),
        Column::left(style.pick("what", "内容")).cut(Cut::Wrap),
        Column::left(style.pick("besides", "その他")).cut(Cut::Wrap),
    ];
    let rows: Vec<_> = profile.steps.iter().map(|step| step_row(step, style)).collect();
    lines.extend(columns::render(&heads, &rows, 2, style));
    for step in &profile.steps {
        if let Step::Command(step) = step {
            lines.push(String::new());
            lines.extend(steps::programs(step, style));
        }
    }
    if let Some(differs) = &profile.differs {
        lines.push(String::new());
        let title = style.pick("Where kurabe differs", "元のツールと違う点");
        lines.push(format!("  {}", style.paint(Role::Quiet, title)));
        for paragraph in differs.get(style.lang).lines() {
            lines.extend(hanging(wrap(paragraph, style.width.saturating_sub(2)), 2, 2));
        }
    }
    page(&lines)
}

fn step_row(step: &Step, style: &Style) -> Vec<columns::Entry> {
    let directions: Vec<String> =
        step.directions().iter().map(|direction| style.say(&words::direction(*direction))).collect();
    let (what, besides) = match step {
        Step::Io(step) => (style.say(&words::pattern(step.pattern)), steps::io(step, style)),
        other => steps::describe(other, style),
    };
    vec![
        plain(step.label()),
        plain(directions.join(style.pick(", ", "・"))),
        plain(what),
        plain(besides.join(" · ")),
    ]
}

/// What holds for all steps, by its name.
fn rules(profile: &Profile, style: &Style) -> Vec<columns::Field> {
    let mut fields = Vec::new();
    let mut put = |key: &str, items: Vec<String>| fields.push((key.to_owned(), items));
    if let Some(source) = &profile.source {
        put(style.pick("source", "出典"), vec![source.clone()]);
    }
    put(style.pick("figure", "値"), figure(profile, style));
    for (place, derived) in profile.derived.iter().enumerate() {
        let key = if place == 0 { style.pick("derived", "導出値") } else { "" };
        let label = derived.label.get(style.lang);
        put(key, vec![format!("{label} = {}", derived.formula.source())]);
    }
    if let Some(rounds) = &profile.rounds {
        let (window, excursion, slope) = (rounds.window, rounds.excursion_percent, rounds.slope_percent);
        let mut items = vec![style.say(&text!(
            "over {window} rounds, excursion at most {excursion} % and slope at most {slope} % of the average",
            "{window} ラウンドの変動幅が平均の {excursion} % 以内、かつ傾きが {slope} % 以内"
        ))];
        items.extend(crate::steady::tracked_names(rounds, style));
        put(style.pick("steady state", "定常状態"), items);
    }
    for step in &profile.preconditions {
        let items = [vec![step.label()], steps::io(step, style)].concat();
        put(style.pick("before", "事前の書き込み"), items);
    }
    put(style.pick("repetitions", "繰り返し"), repetitions(profile, style));
    if profile.needs_span() {
        put(style.pick("test file", "テストファイル"), size(&profile.rules, style));
        put(style.pick("access", "アクセス"), access(&profile.rules, style));
    }
    fields
}

/// How a figure is made, and in which units.
fn figure(profile: &Profile, style: &Style) -> Vec<String> {
    let tasks = profile.tasks(profile.rules.size_bytes);
    let rates = tasks.iter().flat_map(|task| &task.cells).any(|cell| cell.measure == Measure::Rate);
    let unit = if rates { style.pick(", in MB/s (10^6 bytes)", "、MB/s (10^6 バイト)") } else { "" };
    let sampled = |task: &Task| matches!(task.work, Work::Positional(_) | Work::AccessTime(_));
    let samples = tasks.iter().filter(|task| sampled(task)).count();
    let statistic = match (profile.repetitions(), profile.statistic) {
        (_, Statistic::Mean) if samples == tasks.len() => text!("mean of the samples", "サンプルの平均"),
        (1, _) if samples == 0 => text!("the only repetition", "1 回の値"),
        (_, statistic) => words::statistic(statistic),
    };
    let statistic = style.say(&statistic);
    let mut items = vec![format!("{statistic}{unit}")];
    if samples > 0 && samples < tasks.len() {
        let words =
            text!("over the samples, where there are samples", "サンプルのある項目ではサンプルについて");
        items.push(style.say(&words));
    }
    if let Some(printed) = &profile.as_printed {
        let (unit, bytes) = (&printed.unit, number::count(printed.bytes));
        items.push(style.say(&text!(
            "and in the tool's own {unit}, which are {bytes} bytes/s",
            "元のツールの {unit} 表記(実際は {bytes} バイト/秒)も併記"
        )));
    }
    items
}

fn repetitions(profile: &Profile, style: &Style) -> Vec<String> {
    let mut items = vec![style.say(&words::repetitions(profile))];
    items.extend(time(profile).map(|(time, most)| {
        let time = style.say(&words::time(&number::long_time(time)));
        style.say(&match most {
            true => text!("at most {time} of measuring in all", "測定時間の合計は最長 {time}"),
            false => text!("{time} of measuring in all", "測定時間の合計 {time}"),
        })
    }));
    if let Some(limit) = profile.rules.write_limit_bytes {
        let limit = format_bytes(limit);
        items.push(style.say(&text!(
            "a timed repetition that writes ends after {limit}",
            "時間で終わる書き込みは 1 回 {limit} まで"
        )));
    }
    if profile.rules.interval_ns > 0 {
        let pause = style.say(&words::time(&format_time_setting(profile.rules.interval_ns)));
        items.push(style.say(&text!("{pause} of pause between cells", "項目の間に {pause} 休止")));
    }
    items
}

fn size(rules: &Rules, style: &Style) -> Vec<String> {
    let mut items = vec![format_bytes(rules.size_bytes)];
    if let Some(limit) = rules.fill_time_limit_ns {
        let limit = format_time_setting(limit);
        let least = format_bytes(rules.size_at_least_bytes.unwrap_or(rules.size_bytes));
        items.push(style.say(&text!(
            "cut when writing it takes longer than {limit}, to {least} at least",
            "書き込みが {limit} を超えるときは縮小(最小 {least})"
        )));
    }
    if rules.whole_device {
        items.push(style.pick("a device is used whole", "デバイスは全体を使用").to_owned());
    }
    items
}

fn access(rules: &Rules, style: &Style) -> Vec<String> {
    let mut items = vec![
        style.say(&words::access(rules.direct)).to_owned(),
        style.say(&words::data(rules.data)),
        style.say(&words::order(rules.order)).to_owned(),
    ];
    if rules.same_offsets {
        items.push(style.pick("the same offsets in every repetition", "毎回同じオフセット列").to_owned());
    }
    items
}
