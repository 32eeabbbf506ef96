//! The list of studies, and one study as its file tells it.

use super::paragraph;
use crate::columns::{self, Column, Cut, plain};
use crate::layout::page;
use crate::style::{Role, Style};
use kurabe_core::quantity::{format_bytes, format_time_setting};
use kurabe_core::text;
use kurabe_study::{Part, Row, Study};

/// The studies, one a line.
pub fn render_studies(studies: &[Study], style: &Style) -> String {
    let heads = [
        Column::left(style.pick("study", "スタディ")),
        Column::right(style.pick("tables", "表")),
        Column::left(style.pick("what it asks", "内容")).cut(Cut::Wrap),
    ];
    let rows: Vec<_> = studies
        .iter()
        .map(|study| {
            vec![
                (Role::Strong, study.name.clone()),
                plain(study.parts.len().to_string()),
                plain(study.title.get(style.lang)),
            ]
        })
        .collect();
    let mut lines = columns::render(&heads, &rows, 0, style);
    lines.push(String::new());
    let next = style.pick(
        "kurabe study run NAME runs one, --all runs all of them.",
        "kurabe study run 名前 で実行、--all ですべて実行します。",
    );
    lines.push(style.paint(Role::Quiet, next));
    page(&lines)
}

/// What a study consists of.
pub fn render_study_file(study: &Study, style: &Style) -> String {
    let mut lines = vec![style.paint(Role::Strong, &study.name)];
    lines.extend(paragraph(study.title.get(style.lang), style));
    if let Some(source) = &study.source {
        lines.extend(paragraph(&format!("{}: {source}", style.pick("source", "出典")), style));
    }
    for part in &study.parts {
        lines.push(String::new());
        lines.extend(part_lines(part, style));
    }
    let mut names: Vec<&str> =
        study.parts.iter().flat_map(|part| &part.rows).filter_map(|row| row.on.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    if !names.is_empty() {
        let (all, first) = (names.join(", "), names[0]);
        let study = &study.name;
        lines.push(String::new());
        lines.extend(paragraph(
            &style.say(&text!(
                "On devices of your own: kurabe study run {study} --on {first}=PATH (names: {all})",
                "手元の機器で測るには: kurabe study run {study} --on {first}=パス(使える名前: {all})"
            )),
            style,
        ));
    }
    page(&lines)
}

fn part_lines(part: &Part, style: &Style) -> Vec<String> {
    let mut lines = vec![style.paint(Role::Strong, &part.id)];
    lines.extend(paragraph(part.title.get(style.lang), style));
    let rules = &part.profile.rules;
    let mut profile = vec![
        part.profile.name.clone(),
        if rules.whole_device {
            style.pick("whole device", "デバイス全体").to_owned()
        } else {
            format_bytes(rules.size_bytes)
        },
        match rules.runs {
            1 => style.pick("1 run", "1 回").to_owned(),
            runs => style.say(&text!("{runs} runs", "{runs} 回")),
        },
        format_time_setting(rules.time_ns),
    ];
    profile
        .extend(part.catalogue.as_ref().map(|table| format!("{} {table}", style.pick("beside", "公表値"))));
    lines.extend(paragraph(&profile.join(" · "), style));
    for axis in &part.axes {
        let words = format!("{} {} = {}", style.pick("axis", "軸"), axis.parameter, axis.values.join(", "));
        lines.extend(paragraph(&words, style));
    }
    let columns: Vec<&str> = part.columns.iter().map(|column| column.name.get(style.lang)).collect();
    lines.extend(paragraph(
        &format!("{}: {}", style.pick("figures", "値"), columns.join(style.pick(", ", "、"))),
        style,
    ));
    let rows: Vec<_> =
        part.rows.iter().map(|row| vec![plain(row.label.get(style.lang)), plain(target(row))]).collect();
    let heads = [Column::left("").cut(Cut::Wrap), Column::left("").cut(Cut::Wrap)];
    lines.extend(columns::render(&heads, &rows, 4, style));
    lines
}

/// `model:raid-9260 raid.members=4`, over another if the figures are ratios.
fn target(row: &Row) -> String {
    let words = |model: &str, sets: &[(String, String)]| {
        let sets = sets.iter().map(|(key, value)| format!(" {key}={value}"));
        format!("model:{model}{}", sets.collect::<String>())
    };
    let own = words(&row.model, &row.sets);
    match &row.over {
        Some((model, sets)) => format!("{own} / {}", words(model, sets)),
        None => own,
    }
}
