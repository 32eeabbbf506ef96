//! The tiles: a row for each step, a tile for each direction, filled as cells end.

use crate::board::{Board, column};
use crate::message::Message;
use crate::pages::frame::{ways_to, written};
use kurabe_core::profile::{Task, TaskCell};
use kurabe_core::record::RunStatus;
use kurabe_core::workload::Direction;
use kurabe_core::{Lang, Result, Text, number, shown, text};
use kurabe_report::{Assessment, Tile, headline, notices_doc, positions_doc, usual_words};
use kurabe_study::{CellLikeness, Likeness};
use maud::{Markup, html};

/// Free space at the ends of a scale, as a factor.
const MARGIN: f64 = 1.3;

/// What stands in the place of results.
pub(crate) fn board_piece(board: Option<&Board>, lang: Lang) -> Result<Markup> {
    let Some(board) = board else {
        let words = text!(
            "Nothing has been measured in this window yet. Choose a place above; All begins.",
            "まだ測定していません。上で場所を選び、「すべて測る」を押してください。"
        );
        return Ok(html! { p.empty { (words.get(lang)) } });
    };
    let summary = Assessment::of(&board.record);
    let count = board.record.notices.len();
    Ok(html! {
        (head(board, lang))
        @if let Some(summary) = &summary { p.summary { (summary.sentence.get(lang)) } }
        @for words in &board.programs { p.notice { (words.line(lang)) } }
        (tiles(board, summary.as_ref().and_then(|summary| summary.likeness.as_ref()), lang))
        @if board.goes_on() { (now(board, lang)) }
        @if board.samples() { div #plot { (plot_piece(Some(board), lang)) } }
        @if count > 0 {
            details {
                summary #remarks { (text!("remarks: {count}", "注記: {count} 件").get(lang)) }
                (written(&notices_doc(&board.record), lang))
            }
        }
        @if !board.goes_on() { (outcome(board, lang)) }
    })
}

/// What is measured, and in which unit tiles show their figures.
fn head(board: &Board, lang: Lang) -> Markup {
    let header = &board.record.header;
    let target = header.target.as_ref().map(|target| shown::line(target.place()));
    let subject = header.model.as_ref().map_or_else(|| headline(header), |model| model.title.clone());
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

fn tiles(board: &Board, likeness: Option<&Likeness>, lang: Lang) -> Markup {
    let planned = || board.tasks.iter().flat_map(|task| &task.cells);
    let used: Vec<usize> =
        (0..3).filter(|place| planned().any(|cell| column(cell.direction) == *place)).collect();
    let names = [text!("Read", "読み出し"), text!("Write", "書き込み"), text!("Other", "その他")];
    let alone = text!("measure this one alone", "この項目だけを測る");
    html! {
        div class={ "tiles columns-" (used.len()) } {
            div.names aria-hidden="true" {
                span {}
                @for place in &used { span { (names[*place].get(lang)) } }
            }
            @for row in rows(&board.tasks) {
                @let label = shown::line(row.label);
                div.row {
                    button.step type="button" data-only=(row.label) title=(alone.get(lang)) { (label) }
                    @for place in &used {
                        @let cells = row.cells.iter().filter(|(_, cell)| column(cell.direction) == *place);
                        @if cells.clone().next().is_none() { div.tile.none {} }
                        @for (index, cell) in cells {
                            @let name = names[*place].map(|name| format!("{name} {label}"));
                            (tile(board, (*index, cell), &name, likeness, lang))
                        }
                    }
                }
            }
        }
    }
}

/// What stands in a row: the cells of a step, with their numbers in the run.
struct Row<'a> {
    step_index: usize,
    label: &'a str,
    cells: Vec<(u32, &'a TaskCell)>,
}

/// Directions of one step may be apart in the order of measuring, and stand in one row all the same.
fn rows(tasks: &[Task]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let cells = tasks.iter().flat_map(|task| task.cells.iter().map(move |cell| (task, cell)));
    for (index, (task, cell)) in (0..).zip(cells) {
        let cell = (index, cell);
        match rows.iter_mut().find(|row| (row.step_index, row.label) == (task.step_index, &*task.label)) {
            Some(row) => row.cells.push(cell),
            None => rows.push(Row { step_index: task.step_index, label: &task.label, cells: vec![cell] }),
        }
    }
    rows
}

/// The tile of a cell, with what is known of it.
fn tile(
    board: &Board,
    (index, cell): (u32, &TaskCell),
    name: &Text,
    likeness: Option<&Likeness>,
    lang: Lang,
) -> Markup {
    let done = board.record.cells.iter().find(|done| done.index == index);
    let class = match (done, cell.direction) {
        _ if board.now == Some(index) => "tile now",
        (None, _) => "tile waits",
        (Some(_), Some(Direction::Write)) => "tile done writes",
        (Some(_), _) => "tile done",
    };
    html! {
        div class=(class) data-cell=(index) role="group" aria-label=(name.get(lang)) {
            @if let Some(done) = done {
                (figures(&Tile::of(done, board.record.header.statistic()), lang))
            } @else {
                p.figure { span.live { "–" } }
                p.more {}
            }
            @if let Some(likeness) = likeness
                && let Some(cell) = likeness.cells.iter().find(|one| one.cell_index as u32 == index)
            {
                (band(cell))
                p.like { (usual_words(likeness.class, cell).get(lang)) }
            }
        }
    }
}

/// What such devices do, on a scale of tenfold steps, and where this one stands. The words below say the same.
fn band(cell: &CellLikeness) -> Markup {
    let (rate, band) = (cell.bytes_per_s, &cell.band);
    let (least, most) = (rate.min(band.low_bytes_per_s) / MARGIN, rate.max(band.high_bytes_per_s) * MARGIN);
    let place = |rate: f64| 200.0 * (rate / least).ln() / (most / least).ln();
    let bar = |class: &str, (from, width): (f64, f64)| {
        let [x, width] = [from, width].map(|tenths| format!("{tenths:.1}"));
        html! { rect class=(class) x=(x) y="0" width=(width) height="6" {} }
    };
    let (from, to) = (place(band.low_bytes_per_s), place(band.high_bytes_per_s));
    html! {
        svg.bands viewBox="0 0 200 6" preserveAspectRatio="none" aria-hidden="true" {
            (bar(if cell.distance() == 0.0 { "band holds" } else { "band" }, (from, (to - from).max(1.0))))
            (bar("stands", (place(rate) - 0.6, 1.2)))
        }
    }
}

/// The figures of a cell in every unit; the style shows the one that is chosen.
fn figures(tile: &Tile, lang: Lang) -> Markup {
    let Tile { main, gigabytes, iops, microseconds, .. } = tile;
    let units = [("u-rate", main), ("u-giga", gigabytes), ("u-iops", iops), ("u-time", microseconds)];
    // A time has one unit, and so has what has no operations.
    let units = if gigabytes.is_some() { &units[..] } else { &units[..1] };
    let facts = [
        tile.interval.clone().map(Text::same),
        tile.iops.as_ref().map(|iops| Text::same(iops.to_string())),
        tile.mean_latency.as_ref().map(|latency| text!("mean {latency}", "平均 {latency}")),
        tile.p99_latency.as_ref().map(|latency| Text::same(format!("p99 {latency}"))),
    ];
    html! {
        p.figure {
            @for (class, figure) in units {
                span class=[(units.len() > 1).then_some(class)] {
                    @if let Some(figure) = figure {
                        b { (figure.number) } " " i { (figure.unit) }
                    } @else {
                        b { (number::NONE) }
                    }
                }
            }
        }
        p.more { (Text::join(facts.into_iter().flatten(), [" · "; 2]).get(lang)) }
    }
}

/// Rates and access times over the target, as far as they are known.
pub(crate) fn plot_piece(board: Option<&Board>, lang: Lang) -> Markup {
    html! { @if let Some(board) = board { (written(&positions_doc(&[&board.sampled()]), lang)) } }
}

/// What goes on now: words, the share that is done, and a curve over time where there is none over the target.
fn now(board: &Board, lang: Lang) -> Markup {
    let words = board.phase.clone().unwrap_or_else(|| text!("measuring", "測定中"));
    let label = text!("rate of the running repetition over time", "測定中の転送速度の推移");
    html! {
        div.live #live {
            p #phase { (words.line(lang)) }
            @if let Some(time) = board.left_ns.map(number::long_time) {
                p.quiet { (text!("about {time} of measuring left", "残りの測定時間 約 {time}").get(lang)) }
            }
            @if !board.samples() {
                svg #curve viewBox="0 0 600 120" preserveAspectRatio="none" role="img"
                    aria-label=(label.get(lang)) { path #course d="" {} }
                p.quiet #scale aria-hidden="true" {}
            }
        }
    }
}

/// How it ended, and where to go from there.
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
    let runs: Vec<String> = std::iter::once(id).chain(&board.others).map(|id| format!("run={id}")).collect();
    let compare = text!("which is faster, and how sure that is", "どちらが速いか、どのくらい確かか");
    let ways = [
        (format!("/runs/{id}"), text!("everything about this run", "この測定の詳細")),
        (format!("/runs/{id}#card"), text!("card", "画像カード")),
        (format!("/runs/{id}/text"), text!("as text", "テキスト")),
        (format!("/runs/{id}/report.html"), text!("save as a page", "ページとして保存")),
    ];
    html! {
        footer.after {
            p.status { (status.get(lang)) }
            @if let Some(error) = error {
                @let message = Message::of(error);
                p.notice.warn {
                    (message.what.line(lang))
                    @if let Some(remedy) = message.remedy { " — " (remedy.line(lang)) }
                }
            }
            @if runs.len() > 1 {
                p { a.next href={ "/compare?" (runs.join("&")) } { (compare.get(lang)) } }
            }
            @if !board.record.cells.is_empty() { (ways_to(ways, lang)) }
        }
    }
}
