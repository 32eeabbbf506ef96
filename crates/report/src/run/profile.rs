//! The list of profiles, and the description of one.

use crate::{run::steps, words};
use kurabe_core::mention::{ALL, PROFILE, PROFILES, PROFILES_SHOW, RUN};
use kurabe_core::profile::{Profile, Rules, Statistic, Step, Task, Work};
use kurabe_core::{Text, number, quantity::format_bytes, record::Measure, shown, text};
use kurabe_doc::{Column, Cut, Doc, Entry, Field, Fields, Paragraph, Role, Style, Table, TableRow};
use kurabe_profile::ProfileGroup;

/// Renders profiles in groups, with their titles and durations. `more` says that `--all` lists
/// others.
pub fn render_profiles(profiles: &[Profile], more: bool, style: &Style) -> String {
    let columns = [
        Column::left(text!("profile", "プロファイル")),
        Column::left(text!("what it does", "内容")).cut(Cut::Wrap),
        Column::right(text!("measures for", "測定時間")),
    ];
    let mut rows: Vec<TableRow> = Vec::new();
    for group in ProfileGroup::ALL {
        let members = || profiles.iter().filter(move |profile| ProfileGroup::of(&profile.name) == group);
        if members().next().is_none() {
            continue;
        }
        if !rows.is_empty() {
            rows.push(TableRow::default());
        }
        rows.push([Entry::new(Role::Quiet, group_name(group)), Entry::default(), Entry::default()].into());
        rows.extend(members().map(profile_row));
    }
    let all = more.then(|| (format!("{PROFILES:#} {ALL:#}"), text!("all profiles", "すべてのプロファイル")));
    let hints = all.into_iter().chain([
        (format!("{PROFILES_SHOW:#} NAME"), text!("what one does exactly", "手順の詳細")),
        (format!("{RUN:#} {PROFILE:#} FILE.toml"), text!("one of your own", "自作のプロファイルで測定")),
    ]);
    let hints = hints.map(|(command, what)| [command.into(), what.into()]);
    let hints = Table::new([Column::untitled(), Column::untitled()], hints);
    Doc::of(Table::new(columns, rows)).gap().push(hints).terminal(style)
}

pub(super) fn group_name(group: ProfileGroup) -> Text {
    match group {
        ProfileGroup::Everyday => text!("everyday", "普段の測定"),
        ProfileGroup::OtherTools => text!("as other tools do", "ほかのツールと同じ手順"),
        ProfileGroup::Special => text!("long and special", "長時間・特殊な測定"),
    }
}

fn profile_row(profile: &Profile) -> TableRow {
    let time = time(profile).map(|(time, most)| match (number::time_words(&number::long_time(time)), most) {
        (time, true) => text!("≤ {time}", "最長 {time}"; time),
        (time, false) => time,
    });
    let row = [
        Entry::new(Role::Strong, shown::line(&profile.name)),
        profile.title.clone().into(),
        Entry::new(Role::Quiet, time.unwrap_or_default()),
    ];
    row.into()
}

/// Returns the measured time of a profile, and whether it may be shorter. `None` if a repetition
/// ends by something other than time.
pub(super) fn time(profile: &Profile) -> Option<(u64, bool)> {
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

/// Renders a profile: source, statistic, rules, steps, and the differences between kurabe and the
/// tool.
pub fn render_profile(profile: &Profile, style: &Style) -> String {
    let mut doc = Doc::new();
    doc.heading(1, profile.name.clone()).aside(profile.title.clone()).gap();
    doc.push(Fields::from(rules(profile))).gap();
    let table = Table::of(profile.steps.iter().map(|step| (step, what(step))))
        .cut(Cut::End, text!("step", "ステップ"), |(step, _)| step.label())
        .cut(Cut::Wrap, text!("directions", "方向"), |(step, _)| {
            Text::join(step.directions().into_iter().map(words::direction), [", ", "・"])
        })
        .cut(Cut::Wrap, text!("what", "内容"), |(_, (what, _))| what.clone())
        .cut(Cut::Wrap, text!("besides", "その他"), |(_, (_, besides))| {
            Text::join(besides.iter().cloned(), [" · "; 2])
        });
    doc.push(table.table().indent(2));
    for step in &profile.steps {
        if let Step::Command(step) = step {
            doc.gap().push(steps::programs(step));
        }
    }
    if let Some(differs) = &profile.differs {
        let title = Paragraph::new(text!("Where kurabe differs", "元のツールと違う点"));
        doc.gap().push(title.indent(2, 2).role(Role::Quiet));
        doc.asides(differs);
    }
    doc.terminal(style)
}

fn what(step: &Step) -> (Text, Vec<Text>) {
    match step {
        Step::Io(step) => (words::pattern(step.pattern), steps::io(step)),
        other => steps::describe(other),
    }
}

/// Returns the rules that apply to all steps, by name.
fn rules(profile: &Profile) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut put = |key: Text, items: Vec<Text>| fields.push((key, items));
    if let Some(source) = &profile.source {
        put(text!("source", "出典"), vec![source.clone().into()]);
    }
    put(text!("figure", "値"), figure(profile));
    for (index, derived) in profile.derived.iter().enumerate() {
        let key = if index == 0 { text!("derived", "導出値") } else { Text::default() };
        let formula = derived.formula.source();
        put(key, vec![derived.label.map(|label| format!("{label} = {formula}"))]);
    }
    if let Some(rounds) = &profile.rounds {
        let (window, excursion, slope) = (rounds.window, rounds.excursion_percent, rounds.slope_percent);
        let mut items = vec![text!(
            "over {window} rounds, excursion at most {excursion} % and slope at most {slope} % of the average",
            "{window} ラウンドの変動幅が平均の {excursion} % 以内、かつ傾きが {slope} % 以内"
        )];
        items.extend(crate::run::steady::tracked_names(rounds));
        put(text!("steady state", "定常状態"), items);
    }
    for step in &profile.preconditions {
        let items = [vec![step.label().into()], steps::io(step)].concat();
        put(text!("before", "事前の書き込み"), items);
    }
    put(text!("repetitions", "繰り返し"), repetitions(profile));
    if profile.needs_span() {
        put(text!("test file", "テストファイル"), size(&profile.rules));
        put(text!("access", "アクセス"), access(&profile.rules));
    }
    fields
}

/// Describes how a figure is computed, and its unit.
fn figure(profile: &Profile) -> Vec<Text> {
    let tasks = profile.tasks(profile.rules.size_bytes);
    let rates = tasks.iter().flat_map(|task| &task.cells).any(|cell| cell.measure == Measure::Rate);
    let unit =
        if rates { text!(", in MB/s (10^6 bytes)", "、MB/s (10^6 バイト)") } else { Text::default() };
    let sampled = |task: &Task| matches!(task.work, Work::Positional(_) | Work::AccessTime(_));
    let samples = tasks.iter().filter(|task| sampled(task)).count();
    let statistic = match (profile.repetitions(), profile.statistic) {
        (_, Statistic::Mean) if samples == tasks.len() => text!("mean of the samples", "サンプルの平均"),
        (1, _) if samples == 0 => text!("the only repetition", "1 回の値"),
        (_, statistic) => words::statistic(statistic),
    };
    let mut items = vec![Text::join([statistic, unit], ["", ""])];
    if samples > 0 && samples < tasks.len() {
        let words =
            text!("over the samples, where there are samples", "サンプルのある項目ではサンプルについて");
        items.push(words);
    }
    if let Some(printed) = &profile.as_printed {
        let (unit, bytes) = (&printed.unit, number::count(printed.bytes));
        items.push(text!(
            "and in the tool's own {unit}, which are {bytes} bytes/s",
            "元のツールの {unit} 表記(実際は {bytes} バイト/秒)も併記"
        ));
    }
    items
}

fn repetitions(profile: &Profile) -> Vec<Text> {
    let mut items = vec![words::repetitions(profile)];
    items.extend(time(profile).map(|(time, most)| {
        let time = number::time_words(&number::long_time(time));
        match most {
            true => text!("at most {time} of measuring in total", "測定時間の合計は最長 {time}"; time),
            false => text!("{time} of measuring in total", "測定時間の合計 {time}"; time),
        }
    }));
    if let Some(limit) = profile.rules.write_limit_bytes {
        let limit = format_bytes(limit);
        items.push(text!(
            "a timed repetition that writes ends after {limit}",
            "時間で終わる書き込みは 1 回 {limit} まで"
        ));
    }
    if profile.rules.interval_ns > 0 {
        let pause = number::planned_time(profile.rules.interval_ns);
        items.push(text!("a pause of {pause} between tests", "項目の間に {pause}休止"; pause));
    }
    items
}

fn size(rules: &Rules) -> Vec<Text> {
    let mut items = vec![format_bytes(rules.size_bytes).into()];
    if let Some(limit) = rules.fill_time_limit_ns {
        let limit = number::planned_time(limit);
        let least = format_bytes(rules.size_at_least_bytes.unwrap_or(rules.size_bytes));
        items.push(text!(
            "cut when writing it takes longer than {limit}, to {least} at least",
            "書き込みが {limit}を超えるときは縮小(最小 {least})"; limit
        ));
    }
    if rules.whole_device {
        items.push(text!("a device is used whole", "デバイスは全体を使用"));
    }
    items
}

fn access(rules: &Rules) -> Vec<Text> {
    let mut items = vec![words::access(rules.direct), words::data(rules.data), words::order(rules.order)];
    if rules.same_offsets {
        items.push(text!("the same offsets in every repetition", "毎回同じオフセット列"));
    }
    if rules.moving_start {
        items.push(text!(
            "sequential access begins at another offset in each repetition",
            "シーケンシャルアクセスの開始位置は毎回変える"
        ));
    }
    if rules.new_pages {
        items.push(text!(
            "each repetition begins with pages that are allocated but not written",
            "毎回、割り当て済みで未書き込みのページから始める"
        ));
    }
    items
}
