//! What a run would do: its profile, its time, and what it would write.

use crate::profile::render_profile;
use crate::style::Style;
use kurabe_core::quantity::{NS_PER_S, format_bytes_decimal, format_time_setting};
use kurabe_core::{Result, shown, text};
use kurabe_lab::versus::PreparedVersus;
use kurabe_lab::{Foreseen, Prepared};

/// Of one run.
///
/// # Errors
/// When there is no such target.
pub fn render_foreseen(prepared: &Prepared, style: &Style) -> Result<String> {
    let foreseen = prepared.foresee()?;
    let mut page = render_profile(prepared.profile(), style);
    if let Some(ns) = foreseen.planned_ns {
        let time = format_time_setting(ns.checked_next_multiple_of(NS_PER_S).unwrap_or(ns));
        let least = match prepared.is_modelled() {
            true => text!("of the model's time, at least {time}\n", "モデルの中の時間(最短): {time}\n"),
            false => text!("measuring takes at least {time}\n", "測定時間(最短): {time}\n"),
        };
        page.push_str(least.get(style.lang));
    }
    page.extend(written(&foreseen, prepared.is_modelled(), style));
    Ok(page)
}

/// Of targets in turns: the same of each; the profile says what is asked of all of them.
///
/// # Errors
/// When there is no such target.
pub fn render_foreseen_versus(prepared: &PreparedVersus, longest_ns: u64, style: &Style) -> Result<String> {
    let runs = prepared.runs();
    let mut page = render_profile(runs[0].profile(), style);
    let time = format_time_setting(longest_ns);
    let most = text!(
        "measuring takes at most, all targets together: {time}\n",
        "測定時間(最長、全対象の合計): {time}\n"
    );
    page.push_str(most.get(style.lang));
    for run in runs {
        page.push_str(&format!("\n{}\n", shown::path(run.target())));
        let lines = written(&run.foresee()?, run.is_modelled(), style);
        page.extend(lines.into_iter().map(|line| format!("  {line}")));
    }
    Ok(page)
}

/// What is written on a target, in lines.
fn written(foreseen: &Foreseen, is_modelled: bool, style: &Style) -> Vec<String> {
    let cells = foreseen.writing_cells;
    let mut lines = Vec::new();
    if let Some(bytes) = foreseen.test_file_bytes.map(format_bytes_decimal) {
        lines.push(text!("test file to write: {bytes}\n", "書き込むテストファイル: {bytes}\n"));
    }
    lines.push(text!("cells that write: {cells}\n", "書き込みを含む項目: {cells}\n"));
    if !foreseen.writable && !is_modelled && cells > 0 {
        lines.push(text!(
            "they are left out: the target may not be written without --write-existing or --destroy-data-on\n",
            "これらは測りません(--write-existing または --destroy-data-on がなければ対象に書き込みません)\n"
        ));
    }
    if foreseen.written_bytes > 0 {
        let bytes = format_bytes_decimal(foreseen.written_bytes);
        lines.push(text!(
            "written at most, cells that end by time apart: {bytes}\n",
            "書き込み量(最大、時間で終わる項目を除く): {bytes}\n"
        ));
    }
    lines.into_iter().map(|line| line.take(style.lang)).collect()
}
