//! Pictures that are asked for by name: the right ones, or which there are.

use super::{PICTURE_NAMES, Picture, pictures};
use crate::compare::answer;
use crate::style::Style;
use kurabe_compare::Pair;
use kurabe_core::record::RunRecord;
use kurabe_core::{Error, ErrorKind, Lang, Result, nearest, text};

/// The charts of a run, or those of one name.
///
/// # Errors
/// When the run has nothing to draw, or nothing of this name.
pub fn charts_of(run: &RunRecord, name: Option<&str>, lang: Lang) -> Result<Vec<Picture>> {
    let mut all = pictures(&[run], None, lang);
    let mut names: Vec<&str> = all.iter().map(|picture| picture.name).collect();
    names.dedup();
    let id = &run.header.id;
    if names.is_empty() {
        return Err(Error::new(
            ErrorKind::Unsupported,
            text!("run {id} has nothing to draw", "測定 {id} にはグラフにできるデータがありません"),
        )
        .remedy(text!("`kurabe show {id}` shows what it has", "内容は `kurabe show {id}` で確認できます")));
    }
    if let Some(name) = name {
        all.retain(|picture| picture.name == name);
        if all.is_empty() {
            return Err(no_chart(name, &names, &[run]));
        }
    }
    Ok(all)
}

/// The ratios of a comparison, drawn.
///
/// # Errors
/// When the two runs have no cell in common.
pub fn forest_of(pair: &Pair, runs: [&RunRecord; 2], lang: Lang) -> Result<Vec<Picture>> {
    let mut all = pictures(&runs, Some(pair), lang);
    all.retain(|picture| picture.name == "forest");
    if all.is_empty() {
        return Err(Error::new(ErrorKind::Usage, answer(pair))
            .remedy(text!("measure both with one profile", "両方を同じプロファイルで測ってください")));
    }
    Ok(all)
}

/// Pictures in block characters, one below the other.
pub fn render_pictures(pictures: &[Picture], style: &Style) -> String {
    let drawn =
        pictures.iter().map(|picture| picture.chart.terminal(style.width, style.color).join("\n") + "\n");
    drawn.collect::<Vec<_>>().join("\n")
}

/// That runs have no chart of a name, and which they have.
pub(crate) fn no_chart(name: &str, names: &[&str], runs: &[&RunRecord]) -> Error {
    let ids: Vec<&str> = runs.iter().map(|run| run.header.id.as_str()).collect();
    let (has, ids) = (names.join(", "), ids.join(", "));
    let is_kind = PICTURE_NAMES.contains(&name);
    let what = match (is_kind, runs.len()) {
        (false, _) => text!("there is no chart `{name}`", "`{name}` というグラフはありません"),
        (true, 1) => text!(
            "run {ids} has no data for the chart `{name}`",
            "測定 {ids} には `{name}` のグラフに必要なデータがありません"
        ),
        (true, _) => text!(
            "the runs {ids} have no data for the chart `{name}`",
            "測定 {ids} には `{name}` のグラフに必要なデータがありません"
        ),
    };
    let mut remedy = match runs.len() {
        1 => text!("this run has: {has}", "この測定で描けるグラフ: {has}"),
        _ => text!("these runs have: {has}", "これらの測定で描けるグラフ: {has}"),
    };
    if !is_kind {
        let near = nearest(name, names);
        remedy.en = format!("{}; {}", near.en, remedy.en);
        remedy.ja = format!("{}。{}", near.ja, remedy.ja);
    }
    Error::new(ErrorKind::Usage, what).remedy(remedy)
}

/// A drawing as PNG, `scale` pixels for one of its own.
///
/// # Errors
/// When the drawing has no size that a picture can have.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>> {
    kurabe_chart::png(svg, scale).map_err(|error| {
        Error::new(ErrorKind::Internal, text!("cannot draw the picture", "画像を描けません")).because(error)
    })
}
