//! The current or last run: progress, summary, tiles, and further links.

use super::kit::*;
use super::run::files;
use super::tiles;
use crate::board::Board;
use kurabe_core::record::RunStatus;
use kurabe_report::{Assessment, headline, notices_doc, positions_doc};

/// Renders the board, or a hint if nothing has been measured.
pub(crate) fn board_piece(board: Option<&Board>, lang: Lang) -> Result<Markup> {
    let Some(board) = board else {
        let words = text!(
            "Nothing has been measured yet. Choose a place above, and start.",
            "まだ測定していません。上で場所を選び、「測定開始」を押してください。"
        );
        return Ok(html! { p.empty { (words.get(lang)) } });
    };
    let summary = Assessment::of(&board.record);
    let count = board.record.notices.len();
    Ok(html! {
        (head(board, lang))
        @if board.goes_on() { (now(board, lang)) }
        // The summary of an incomplete run would change with each test.
        @if let Some(summary) = summary.as_ref().filter(|_| !board.goes_on()) {
            p.summary { (summary.sentence.get(lang)) }
        }
        @for words in &board.programs { p.notice { (words.line(lang)) } }
        (tiles::of_board(board, summary.as_ref().and_then(|summary| summary.likeness.as_ref()), lang))
        @if board.samples { div #plot { (plot_piece(Some(board), lang)) } }
        @if count > 0 {
            details {
                summary #remarks { (text!("remarks: {count}", "注記: {count} 件").get(lang)) }
                (written(&notices_doc(&board.record), lang))
            }
        }
        @if !board.goes_on() { (outcome(board, lang)) }
    })
}

/// Renders what is measured, and the choice of the tiles' unit.
fn head(board: &Board, lang: Lang) -> Markup {
    let header = &board.record.header;
    let target = header.target.as_ref().map(|target| shown::line(target.place()));
    let subject = headline(header);
    html! {
        header.run data-goes-on=[board.goes_on().then_some("1")] {
            h2 {
                @if let Some(target) = target { (target) } " " small { (header.profile_name()) }
                @if header.model.is_some() {
                    em.model { (text!("model: computed, not measured", "モデルの計算値").get(lang)) }
                }
            }
            p.quiet { (subject.get(lang)) }
            div.units role="group" aria-label=(text!("unit", "単位").get(lang)) {
                @for (unit, name) in [("rate", "MB/s"), ("giga", "GB/s"), ("iops", "IOPS"), ("time", "µs")] {
                    button type="button" data-unit=(unit) aria-pressed=((unit == "rate").to_string()) { (name) }
                }
            }
        }
    }
}

/// Renders the rates and access times over the target so far.
pub(crate) fn plot_piece(board: Option<&Board>, lang: Lang) -> Markup {
    html! { @if let Some(board) = board { (written(&positions_doc(&[&board.sampled()]), lang)) } }
}

/// Renders the current work: text, progress bar, and a curve over time if there is no curve over
/// the target.
fn now(board: &Board, lang: Lang) -> Markup {
    let words = board.phase.clone().unwrap_or_else(|| text!("measuring", "測定中"));
    let label = text!("rate of the running repetition over time", "測定中の転送速度の推移");
    html! {
        div.live #live {
            p #phase { (words.line(lang)) }
            @if let Some(time) = board.left_ns.map(number::long_time) {
                p.quiet { (text!("about {time} of measuring left", "残りの測定時間 約 {time}").get(lang)) }
            }
            @if !board.samples {
                div.curve {
                    svg #curve viewBox="0 0 600 120" preserveAspectRatio="none" role="img"
                        aria-label=(label.get(lang)) { path #course d="" {} }
                    span #most aria-hidden="true" {} span.zero aria-hidden="true" { "0" } span #until aria-hidden="true" {}
                }
            }
        }
    }
}

/// Renders how the run ended, and further links.
fn outcome(board: &Board, lang: Lang) -> Markup {
    let id = &board.record.header.id;
    let status = match board.record.status {
        RunStatus::Complete => text!("complete", "完了"),
        RunStatus::Interrupted => {
            text!("stopped; what was measured is kept", "停止しました。測定済みの結果は残っています")
        }
        _ => text!("ended by an error", "エラーで終了しました"),
    };
    let error = board.error.as_ref().filter(|_| board.record.status != RunStatus::Interrupted);
    let runs = std::iter::once(id).chain(&board.others).map(String::as_str);
    let compare = text!("which is faster, and how sure that is", "どちらが速いか、どのくらい確かか");
    let ways = [
        (format!("/runs/{id}"), text!("everything about this run", "この測定の詳細")),
        (format!("/runs/{id}?tab=card"), text!("card", "画像カード")),
    ];
    html! {
        footer.after {
            p.status { (status.get(lang)) }
            @if let Some(error) = error {
                p.notice.warn { (Message::of(error).line(lang)) }
            }
            @if !board.others.is_empty() {
                p { a.next href=(compare_address(runs)) { (compare.get(lang)) } }
            }
            @if !board.record.cells.is_empty() { (ways_to(ways.into_iter().chain(files(id)), lang)) }
        }
    }
}
