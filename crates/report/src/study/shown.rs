//! The list of studies, and the description of one study file.

use kurabe_core::mention::{ALL, ON, STUDY_RUN};
use kurabe_core::target_name::MODEL_PREFIX;
use kurabe_core::{Text, number, quantity::format_bytes, shown, text};
use kurabe_doc::{Cut, Doc, Entry, Paragraph, Role, Style, Table};
use kurabe_study::{Part, Study, StudyRow};

/// Renders the studies, one per line.
pub fn render_studies(studies: &[Study], style: &Style) -> String {
    let table = Table::of(studies)
        .left(text!("study", "スタディ"), |study| Entry::new(Role::Strong, study.name.clone()))
        .right(text!("tables", "表"), |study| study.parts.len().to_string())
        .cut(Cut::Wrap, text!("what it asks", "内容"), |study| study.title.clone());
    let next = text!(
        "`{STUDY_RUN} NAME` runs one, `{STUDY_RUN} {ALL}` all of them.",
        "`{STUDY_RUN} 名前` で 1 つ、`{STUDY_RUN} {ALL}` ですべてを実行します。"
    );
    let mut doc = Doc::new();
    doc.push(table.table()).gap().push(Paragraph::new(next).role(Role::Quiet)).terminal(style)
}

/// Renders the description of a study.
pub fn render_study_file(study: &Study, style: &Style) -> String {
    let mut doc = Doc::new();
    doc.heading(1, study.name.clone()).aside(study.title.clone());
    if let Some(source) = &study.source {
        doc.aside(text!("source: {source}", "出典: {source}"));
    }
    for part in &study.parts {
        doc.gap().append(part_doc(part));
    }
    let mut names: Vec<&str> =
        study.parts.iter().flat_map(|part| &part.rows).filter_map(|row| row.on.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    if let Some(first) = names.first() {
        let (all, study) = (names.join(", "), &study.name);
        doc.gap().aside(text!(
            "On your own devices: `{STUDY_RUN} {study} {ON} {first}=PATH` (names: {all})",
            "手元の機器で測るには: `{STUDY_RUN} {study} {ON} {first}=パス`(使える名前: {all})"
        ));
    }
    doc.terminal(style)
}

fn part_doc(part: &Part) -> Doc {
    let mut doc = Doc::new();
    doc.heading(2, part.id.clone()).aside(part.title.clone());
    let rules = &part.profile.rules;
    let size = if rules.whole_device {
        text!("whole device", "デバイス全体")
    } else {
        format_bytes(rules.size_bytes).into()
    };
    let runs = match rules.runs {
        1 => text!("1 run", "1 回"),
        runs => text!("{runs} runs", "{runs} 回"),
    };
    let mut profile = vec![part.profile.name.clone().into(), size, runs, number::planned_time(rules.time_ns)];
    profile.extend(part.catalogue.as_ref().map(|table| text!("beside {table}", "公表値 {table}")));
    doc.aside(Text::join(profile, [" · "; 2]));
    for axis in &part.axes {
        let (parameter, values) = (&axis.parameter, axis.values.join(", "));
        doc.aside(text!("axis {parameter} = {values}", "軸 {parameter} = {values}"));
    }
    let figures = Text::list(part.columns.iter().map(|column| column.head.name.clone()));
    doc.aside(text!("figures: {figures}", "値: {figures}"; figures));
    let label = |row: &&StudyRow| row.label.clone().or_else(|| row.on.as_ref().map(Text::same));
    let table = Table::of(&part.rows).cut(Cut::Wrap, Text::default(), |row| label(row).unwrap_or_default());
    doc.push(table.cut(Cut::Wrap, Text::default(), |row| target(row)).table().indent(4)).done()
}

/// Returns a row's model with its changed parameters, as in `model:raid-9260 raid.members=4`, and
/// the model that it is relative to, if the figures are ratios.
fn target(row: &StudyRow) -> String {
    let words = |model: &str, sets: &[(String, String)]| {
        let sets = sets.iter().map(|(key, value)| format!(" {key}={value}"));
        format!("{MODEL_PREFIX}{model}{}", sets.collect::<String>())
    };
    let Some(model) = &row.model else {
        let own = row.target.as_deref().map(shown::name);
        return own.unwrap_or_else(|| format!("{ON:#} {}=…", row.on.as_deref().unwrap_or_default()));
    };
    let own = words(model, &row.sets);
    match &row.over {
        Some((model, sets)) => format!("{own} / {}", words(model, sets)),
        None => own,
    }
}
