//! Charts in the terminal: `kurabe show --chart` and `kurabe compare --chart`.

use crate::lang::lang;
use crate::output::{print, style};
use kurabe_compare::Pair;
use kurabe_core::record::RunRecord;
use kurabe_core::{Error, ErrorKind, Result, nearest, text};
use kurabe_report::{PICTURE_NAMES, Picture, answer, pictures};

/// Draws the charts of a run, or those of one name.
///
/// # Errors
/// When the run has nothing to draw, or nothing of this name.
pub fn show_charts(record: &RunRecord, wanted: Option<&str>) -> Result<()> {
    let mut all = pictures(&[record], None, lang());
    let mut names: Vec<&str> = all.iter().map(|picture| picture.name).collect();
    names.dedup();
    let id = &record.header.id;
    if names.is_empty() {
        return Err(Error::new(
            ErrorKind::Unsupported,
            text!("run {id} has nothing to draw", "測定 {id} にはグラフにできるデータがありません"),
        )
        .remedy(text!("`kurabe show {id}` shows what it has", "内容は `kurabe show {id}` で確認できます")));
    }
    if let Some(wanted) = wanted {
        all.retain(|picture| picture.name == wanted);
        if all.is_empty() {
            return Err(no_chart(wanted, &names, &[id]));
        }
    }
    draw(&all)
}

/// That runs have no chart of a name, and which they have.
pub fn no_chart(wanted: &str, names: &[&str], runs: &[&str]) -> Error {
    let (has, ids) = (names.join(", "), runs.join(", "));
    let known = PICTURE_NAMES.contains(&wanted);
    let what = match (known, runs.len()) {
        (false, _) => text!("there is no chart `{wanted}`", "`{wanted}` というグラフはありません"),
        (true, 1) => text!(
            "run {ids} has no data for the chart `{wanted}`",
            "測定 {ids} には `{wanted}` のグラフに必要なデータがありません"
        ),
        (true, _) => text!(
            "the runs {ids} have no data for the chart `{wanted}`",
            "測定 {ids} には `{wanted}` のグラフに必要なデータがありません"
        ),
    };
    let mut remedy = match runs.len() {
        1 => text!("this run has: {has}", "この測定で描けるグラフ: {has}"),
        _ => text!("these runs have: {has}", "これらの測定で描けるグラフ: {has}"),
    };
    if !known {
        let near = nearest(wanted, names);
        remedy.en = format!("{}; {}", near.en, remedy.en);
        remedy.ja = format!("{}。{}", near.ja, remedy.ja);
    }
    Error::new(ErrorKind::Usage, what).remedy(remedy)
}

/// Draws the ratios of a comparison.
///
/// # Errors
/// When the two runs have no cell in common.
pub fn show_forest(pair: &Pair, runs: [&RunRecord; 2]) -> Result<()> {
    let mut all = pictures(&runs, Some(pair), lang());
    all.retain(|picture| picture.name == "forest");
    if all.is_empty() {
        return Err(Error::new(ErrorKind::Usage, answer(pair))
            .remedy(text!("measure both with one profile", "両方を同じプロファイルで測ってください")));
    }
    draw(&all)
}

fn draw(pictures: &[Picture]) -> Result<()> {
    let style = style();
    for (place, picture) in pictures.iter().enumerate() {
        let lines = picture.chart.terminal(style.width, style.color);
        let gap = if place > 0 { "\n" } else { "" };
        print(&format!("{gap}{}\n", lines.join("\n")))?;
    }
    Ok(())
}
