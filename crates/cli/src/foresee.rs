//! `--dry-run`: what a run would do, in words.

use crate::lang::t;
use crate::output::{print, style};
use kurabe_core::Result;
use kurabe_core::quantity::{NS_PER_S, format_bytes_decimal, format_time_setting};
use kurabe_lab::versus::PreparedVersus;
use kurabe_lab::{Foreseen, Prepared};

/// `kurabe run --dry-run`
///
/// # Errors
/// When there is no such target.
pub fn dry_run(prepared: &Prepared) -> Result<()> {
    let foreseen = prepared.foresee()?;
    let mut words = kurabe_report::render_profile(prepared.profile(), &style());
    if let Some(ns) = foreseen.planned_ns {
        let least = match prepared.is_modelled() {
            true => t("of the model's time, at least", "モデルの中の時間(最短):"),
            false => t("measuring takes at least", "測定時間(最短):"),
        };
        let time = format_time_setting(ns.checked_next_multiple_of(NS_PER_S).unwrap_or(ns));
        words.push_str(&format!("{least} {time}\n"));
    }
    words.extend(written(&foreseen, prepared.is_modelled()));
    print(&words)
}

/// `kurabe versus --dry-run`: the same of each target; the profile says what is asked of all of them.
///
/// # Errors
/// When there is no such target.
pub fn dry_run_in_turns(prepared: &PreparedVersus, longest_ns: u64) -> Result<()> {
    let runs = prepared.runs();
    let mut words = kurabe_report::render_profile(runs[0].profile(), &style());
    words.push_str(&format!(
        "{} {}\n",
        t("measuring takes at most, all targets together:", "測定時間(最長、全対象の合計):"),
        format_time_setting(longest_ns)
    ));
    for run in runs {
        words.push_str(&format!("\n{}\n", run.target().display()));
        let lines = written(&run.foresee()?, run.is_modelled());
        words.extend(lines.into_iter().map(|line| format!("  {line}")));
    }
    print(&words)
}

/// What is written on a target, in lines.
fn written(foreseen: &Foreseen, is_modelled: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(bytes) = foreseen.test_file_bytes {
        let words = t("test file to write:", "書き込むテストファイル:");
        lines.push(format!("{words} {}\n", format_bytes_decimal(bytes)));
    }
    let cells = foreseen.writing_cells;
    lines.push(format!("{} {cells}\n", t("cells that write:", "書き込みを含む項目:")));
    if !foreseen.writable && !is_modelled && cells > 0 {
        lines.push(format!(
            "{}\n",
            t(
                "they are left out: the target may not be written without --write-existing or --destroy-data-on",
                "これらは測りません(--write-existing または --destroy-data-on がなければ対象に書き込みません)"
            )
        ));
    }
    if foreseen.written_bytes > 0 {
        lines.push(format!(
            "{} {}\n",
            t("written at most, cells that end by time apart:", "書き込み量(最大、時間で終わる項目を除く):"),
            format_bytes_decimal(foreseen.written_bytes)
        ));
    }
    lines
}
