//! The list of runs.

use crate::columns::{self, Column, Cut, plain};
use crate::layout::{page, wrap};
use crate::style::{Role, Style};
use crate::words;
use kurabe_core::number;
use kurabe_core::record::RunSummary;

/// The runs of a store, one a line, in the order given; without runs a sentence that says how to make one.
pub fn render_list(runs: &[RunSummary], style: &Style) -> String {
    if runs.is_empty() {
        let sentence = style.pick(
            "No runs yet. This measures the directory you are in:",
            "まだ測定がありません。次のコマンドで、今いるディレクトリを測定できます。",
        );
        let mut lines = wrap(sentence, style.width);
        lines.push("  kurabe run .".to_owned());
        return page(&lines);
    }
    let heads = [
        Column::left(style.pick("run", "測定")),
        Column::left(style.pick("when", "日時")),
        Column::left(style.pick("status", "状態")),
        Column::right(style.pick("cells", "項目")).cut(Cut::Drop),
        Column::left(style.pick("profile", "プロファイル")).cut(Cut::End),
        Column::left(style.pick("target", "対象")).cut(Cut::Front),
        Column::left(style.pick("device", "デバイス")).cut(Cut::End),
        Column::left(style.pick("labels", "ラベル")).cut(Cut::End),
    ];
    let rows: Vec<_> = runs
        .iter()
        .map(|run| {
            let (status, role) = words::status(run.status);
            let labels: Vec<String> =
                run.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
            vec![
                (Role::Strong, run.id.clone()),
                plain(number::date_minute(run.measured_at.as_ref().unwrap_or(&run.started_at))),
                (
                    role,
                    if run.imported {
                        style.pick("imported", "取り込み").to_owned()
                    } else {
                        style.say(&status)
                    },
                ),
                plain(run.cell_count.to_string()),
                plain(run.profile.clone()),
                plain(run.target.clone()),
                plain(device(run, style)),
                plain(labels.join(", ")),
            ]
        })
        .collect();
    page(&columns::render(&heads, &rows, 0, style))
}

/// The device, or of what it is a model.
fn device(run: &RunSummary, style: &Style) -> String {
    match &run.model {
        Some(title) => format!("{}{}", style.pick("model: ", "モデル: "), title.get(style.lang)),
        None => run.device.clone().unwrap_or_default(),
    }
}
