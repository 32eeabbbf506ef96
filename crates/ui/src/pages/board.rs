//! The current run, or the last one: progress, summary, tiles, and further links.

use super::head::{run_head, share};
use super::kit::*;
use super::tiles;
use crate::board::Board;
use kurabe_core::record::RunStatus;
use kurabe_report::{Assessment, notices_doc, positions_doc};

/// Renders the board. Before the first run of this server, it shows the last stored run.
pub(crate) fn board_piece(board: Option<&Board>, last: Option<&RunRecord>, lang: Lang) -> Markup {
    let Some(board) = board else {
        return html! { @if let Some(last) = last { (last_run(last, lang)) } };
    };
    let summary = Assessment::of(&board.record);
    let count = board.record.notices.len();
    // A run without a test can't be shared.
    let actions = html! {
        @if !board.goes_on() && !board.record.cells.is_empty() { (share(&board.record.header.id, lang)) }
    };
    html! {
        header.run data-goes-on=[board.goes_on().then_some("1")] { (run_head(&board.record, 2, &actions, lang)) }
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
    }
}

/// Renders the last stored run.
fn last_run(record: &RunRecord, lang: Lang) -> Markup {
    let summary = Assessment::of(record);
    let id = &record.header.id;
    let ways = [
        (format!("/runs/{}", encoded(id)), text!("all details of this run", "この測定の詳細")),
        ("/runs".to_owned(), text!("all runs", "すべての結果")),
    ];
    html! {
        header.run { (run_head(record, 2, &share(id, lang), lang)) }
        @if let Some(summary) = &summary { p.summary { (summary.sentence.get(lang)) } }
        (tiles::of_run(record, summary.as_ref().and_then(|summary| summary.likeness.as_ref()), lang))
        (ways_to(ways, lang))
    }
}

/// Renders the rates and access times over the target so far.
pub(crate) fn plot_piece(board: Option<&Board>, lang: Lang) -> Markup {
    html! { @if let Some(board) = board { (written(&positions_doc(&[&board.sampled()]), lang)) } }
}

/// Renders the current work: text, the time left for all tests, and a curve over time if there is
/// no curve over the target.
fn now(board: &Board, lang: Lang) -> Markup {
    let words = board.phase.clone().unwrap_or_else(|| text!("measuring", "測定中"));
    let label = text!("rate over time, on a logarithmic axis", "転送速度の推移(対数目盛)");
    html! {
        div.live #live {
            p {
                span #phase { (words.line(lang)) } " "
                span.quiet #left { @if let Some(left) = board.left_ns { (left_words(left).get(lang)) } }
            }
            @if !board.samples {
                div.curve {
                    svg #curve viewBox="0 0 600 100" preserveAspectRatio="none" role="img"
                        aria-label=(label.get(lang)) { path.grid d="" {} path #course d="" {} }
                    div #scale aria-hidden="true" {}
                    span #until aria-hidden="true" {}
                }
            }
        }
    }
}

/// Returns the time left for all tests.
pub(crate) fn left_words(left_ns: u64) -> Text {
    let time = number::time_words(&number::long_time(left_ns));
    // Below a minute, the unit is still the abbreviation.
    let time = Text::of(time.en, time.ja.replace(" s", " 秒"));
    text!("about {time} left", "残り約 {time}"; time)
}

/// Renders how the run ended, and further links.
fn outcome(board: &Board, lang: Lang) -> Markup {
    let id = &board.record.header.id;
    let status = match board.record.status {
        RunStatus::Complete => text!("complete", "完了"),
        RunStatus::Interrupted => {
            text!("stopped; the results so far are saved", "停止しました。測定済みの結果は残っています")
        }
        _ => text!("ended with an error", "エラーで終了しました"),
    };
    let error = board.error.as_ref().filter(|_| board.record.status != RunStatus::Interrupted);
    let runs = std::iter::once(id).chain(&board.others).map(String::as_str);
    let compare = text!("which is faster, and how sure that is", "どちらが速いか、どのくらい確かか");
    let ways = [
        (format!("/runs/{id}"), text!("all details of this run", "この測定の詳細")),
        (format!("/runs/{id}?tab=card"), text!("card", "画像カード")),
        ("/runs".to_owned(), text!("all runs", "すべての結果")),
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
            @if !board.record.cells.is_empty() { (ways_to(ways, lang)) }
        }
    }
}
