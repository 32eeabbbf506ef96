//! What `kurabe doctor` found: what is well, what is worth knowing, what is wrong, and what to do about it.
//!
//! Marks are letters as well as colours, so that nothing depends on colour.

use crate::layout::{Line, display_width, page, wrap};
use crate::style::{Role, Style};
use kurabe_core::Text;
use serde::Serialize;

/// All findings.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Doctor {
    /// Findings by subject.
    pub sections: Vec<Section>,
}

/// Findings on one subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// The subject.
    pub title: Text,
    /// The findings.
    pub lines: Vec<Check>,
}

/// How a finding is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// As it should be.
    Good,
    /// Worth knowing; kurabe works.
    Note,
    /// kurabe cannot do something because of it.
    Bad,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// How it is to be taken.
    pub mark: Mark,
    /// What was looked at.
    pub what: Text,
    /// What was found.
    pub value: Text,
    /// What to do about it.
    pub remedy: Option<Text>,
}

impl Doctor {
    /// Whether something is wrong.
    pub fn is_bad(&self) -> bool {
        self.sections.iter().flat_map(|section| &section.lines).any(|line| line.mark == Mark::Bad)
    }
}

/// The findings as a page.
pub fn render_doctor(doctor: &Doctor, style: &Style) -> String {
    let all = || doctor.sections.iter().flat_map(|section| &section.lines);
    let what_width = all().map(|line| display_width(line.what.get(style.lang))).max().unwrap_or(0);
    let value_at = 4 + what_width.min(style.width / 2) + 2;
    let mut lines = Vec::new();
    for section in &doctor.sections {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(style.paint(Role::Strong, section.title.get(style.lang)));
        for line in &section.lines {
            lines.extend(render_line(line, value_at, style));
        }
    }
    let (bad, notes) = (count(doctor, Mark::Bad), count(doctor, Mark::Note));
    lines.push(String::new());
    lines.extend(wrap(
        &style.say(&match (bad, notes) {
            (0, 0) => kurabe_core::text!("All is well.", "問題はありません。"),
            (0, _) => kurabe_core::text!(
                "kurabe works here; notes: {notes}.",
                "kurabe は動作します。注意: {notes} 件。"
            ),
            _ => kurabe_core::text!("Problems: {bad}; notes: {notes}.", "問題: {bad} 件、注意: {notes} 件。"),
        }),
        style.width,
    ));
    page(&lines)
}

fn count(doctor: &Doctor, mark: Mark) -> usize {
    doctor.sections.iter().flat_map(|section| &section.lines).filter(|line| line.mark == mark).count()
}

fn render_line(line: &Check, value_at: usize, style: &Style) -> Vec<String> {
    let (sign, role) = match line.mark {
        Mark::Good => ("✓", Role::Good),
        Mark::Note => ("!", Role::Warn),
        Mark::Bad => ("✗", Role::Bad),
    };
    let room = style.width.saturating_sub(value_at).max(20);
    let mut lines = Vec::new();
    let values = wrap(line.value.get(style.lang), room);
    let remedies = line.remedy.iter().flat_map(|remedy| wrap(&format!("→ {}", remedy.get(style.lang)), room));
    let remedies: Vec<String> = remedies.collect();
    let mut first = Line::new(style);
    first.at(2, role, sign).at(4, Role::Plain, line.what.get(style.lang));
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            first = Line::new(style);
        }
        first.at(value_at, Role::Plain, value);
        lines.push(first.finish());
    }
    if values.is_empty() {
        lines.push(first.finish());
    }
    for (index, remedy) in remedies.iter().enumerate() {
        let mut row = Line::new(style);
        row.at(value_at + if index == 0 { 0 } else { 2 }, Role::Plain, remedy);
        lines.push(row.finish());
    }
    lines
}
