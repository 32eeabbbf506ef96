//! The list of runs.

use crate::doc::{Block, Column, Cut, Doc, Entry, Table};
use crate::style::{Role, Style};
use crate::words;
use kurabe_core::record::RunSummary;
use kurabe_core::{Text, number, text};

/// The runs of a store, one a line, in the order given; without runs a sentence that says how to make one.
pub fn render_list(runs: &[RunSummary], style: &Style) -> String {
    let mut doc = Doc::new();
    if runs.is_empty() {
        doc.say(text!(
            "No runs yet. This measures the directory you are in:",
            "まだ測定がありません。次のコマンドで、カレントディレクトリを測定できます。"
        ));
        doc.push(Block::Code("kurabe run .".to_owned()));
        return doc.terminal(style);
    }
    let columns = [
        Column::left(text!("run", "測定")),
        Column::left(text!("when", "日時")),
        Column::left(text!("status", "状態")),
        Column::right(text!("cells", "項目")).cut(Cut::Drop),
        Column::left(text!("profile", "プロファイル")).cut(Cut::End),
        Column::left(text!("target", "対象")).cut(Cut::Front),
        Column::left(text!("device", "デバイス")).cut(Cut::End),
        Column::left(text!("labels", "ラベル")).cut(Cut::End),
    ];
    let rows = runs.iter().map(|run| {
        let (status, role) = words::status(run.status);
        let labels: Vec<String> = run.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        [
            Entry::new(Role::Strong, run.id.clone()),
            number::date_minute(run.measured_at.as_ref().unwrap_or(&run.started_at)).into(),
            Entry::new(role, if run.imported { text!("imported", "取り込み") } else { status }),
            run.cell_count.to_string().into(),
            run.profile.clone().into(),
            run.target.clone().into(),
            device(run).into(),
            labels.join(", ").into(),
        ]
    });
    doc.push(Table::new(columns, rows));
    doc.terminal(style)
}

/// The device, or of what it is a model.
fn device(run: &RunSummary) -> Text {
    match &run.model {
        Some(title) => text!("model: {title}", "モデル: {title}"; title),
        None => run.device.clone().unwrap_or_default().into(),
    }
}
