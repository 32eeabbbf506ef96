//! The tiles: a row for each step, a tile for each direction, filled as cells end.

use crate::board::{Board, column};
use crate::message::Message;
use crate::pages::frame::say;
use crate::shared::catalogue;
use kurabe_core::profile::{Statistic, Task, TaskCell};
use kurabe_core::record::{Cell, RunStatus};
use kurabe_core::workload::Direction;
use kurabe_core::{Lang, Result, Text, number, shown, text};
use kurabe_report::{Html, Tile, band_words, headline, notices_doc, positions_doc, run_standings};
use kurabe_study::catalogue::CellStanding;

/// What stands in the place of results.
pub(crate) fn board_piece(board: Option<&Board>, lang: Lang) -> Result<Html> {
    let mut html = Html::new();
    let Some(board) = board else {
        let words = text!(
            "Nothing has been measured in this window yet. Choose a place above; All begins.",
            "まだ測定していません。上で場所を選び、「すべて測る」を押してください。"
        );
        say(&mut html, "p", "empty", &words, lang);
        return Ok(html);
    };
    head(&mut html, board, lang);
    let standings = run_standings(&board.record, catalogue()?);
    for words in &board.programs {
        html.element("p", &[("class", "notice")], words.get(lang));
    }
    tiles(&mut html, board, &standings, lang);
    now(&mut html, board, lang);
    if board.samples() {
        html.raw("<div id=\"plot\">").piece(&plot_piece(Some(board), lang)).raw("</div>");
    }
    notices(&mut html, board, lang);
    if !board.goes_on() {
        outcome(&mut html, board, lang);
    }
    Ok(html)
}

fn head(html: &mut Html, board: &Board, lang: Lang) {
    let header = &board.record.header;
    let target =
        header.target.as_ref().map(|target| shown::line(target.place()).to_string()).unwrap_or_default();
    html.open("header", &[("class", "run"), ("data-goes-on", if board.goes_on() { "1" } else { "" })]);
    html.raw("<h2>").words(&target).raw(" ");
    html.element("small", &[], &header.profile_name());
    if header.model.is_some() {
        html.element(
            "em",
            &[("class", "model")],
            text!("model: computed, not measured", "モデルの計算値").get(lang),
        );
    }
    html.close("h2");
    let what = header.model.as_ref().map_or_else(|| headline(header), |model| model.title.clone());
    html.element("p", &[("class", "quiet")], what.get(lang));
    units(html, lang);
    html.close("header");
}

/// In which unit tiles show their figures.
fn units(html: &mut Html, lang: Lang) {
    html.open(
        "div",
        &[("class", "units"), ("role", "group"), ("aria-label", text!("unit", "単位").get(lang))],
    );
    for (unit, name) in [("rate", "MB/s"), ("giga", "GB/s"), ("iops", "IOPS"), ("time", "µs")] {
        let pressed = if unit == "rate" { "true" } else { "false" };
        html.element("button", &[("type", "button"), ("data-unit", unit), ("aria-pressed", pressed)], name);
    }
    html.raw("</div>");
}

fn tiles(html: &mut Html, board: &Board, standings: &[CellStanding], lang: Lang) {
    let used: Vec<usize> = [0, 1, 2]
        .into_iter()
        .filter(|place| {
            board.tasks.iter().flat_map(|task| &task.cells).any(|cell| column(cell.direction) == *place)
        })
        .collect();
    let names = [text!("Read", "読み出し"), text!("Write", "書き込み"), text!("Other", "その他")];
    let statistic = board.record.header.statistic();
    html.open("div", &[("class", &format!("tiles columns-{}", used.len()))]);
    html.raw("<div class=\"names\" aria-hidden=\"true\"><span></span>");
    used.iter().for_each(|place| say(html, "span", "", &names[*place], lang));
    html.raw("</div>");
    for row in rows(&board.tasks) {
        html.raw("<div class=\"row\">");
        let title = text!("measure this one alone", "この項目だけを測る");
        let label = shown::line(row.label).to_string();
        html.open(
            "button",
            &[("type", "button"), ("class", "step"), ("data-only", row.label), ("title", title.get(lang))],
        );
        html.words(&label).close("button");
        for place in &used {
            let mut here =
                row.cells.iter().filter(|(_, planned)| column(planned.direction) == *place).peekable();
            if here.peek().is_none() {
                html.raw("<div class=\"tile none\"></div>");
            }
            for (index, planned) in here {
                let slot = Slot {
                    index: *index,
                    name: names[*place].map(|name| format!("{name} {label}")),
                    done: board.record.cells.iter().find(|cell| cell.index == *index),
                    standing: standings.iter().find(|standing| standing.cell_index as u32 == *index),
                    is_now: board.now == Some(*index),
                    statistic,
                };
                slot.write(html, planned.direction, lang);
            }
        }
        html.raw("</div>");
    }
    html.raw("</div>");
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

/// A tile and what fills it.
struct Slot<'a> {
    index: u32,
    name: Text,
    done: Option<&'a Cell>,
    standing: Option<&'a CellStanding>,
    is_now: bool,
    statistic: Statistic,
}

impl Slot<'_> {
    fn write(&self, html: &mut Html, direction: Option<Direction>, lang: Lang) {
        let class = match (self.done, direction) {
            _ if self.is_now => "tile now",
            (None, _) => "tile waits",
            (Some(_), Some(Direction::Write)) => "tile done writes",
            (Some(_), _) => "tile done",
        };
        html.open(
            "div",
            &[
                ("class", class),
                ("data-cell", &self.index.to_string()),
                ("role", "group"),
                ("aria-label", self.name.get(lang)),
            ],
        );
        match self.done {
            Some(cell) => figures(html, &Tile::of(cell, self.statistic), lang),
            None => {
                html.raw("<p class=\"figure\"><span class=\"live\">–</span></p><p class=\"more\"></p>");
            }
        }
        if let Some(standing) = self.standing {
            bands(html, standing);
            html.element("p", &[("class", "like")], band_words(standing).get(lang));
        }
        html.raw("</div>");
    }
}

/// What such devices do, on a scale of tenfold steps, and where this one stands. The words below say the same.
fn bands(html: &mut Html, standing: &CellStanding) {
    let rate = standing.bytes_per_s;
    let least = standing.bands.iter().map(|band| band.low_bytes_per_s).fold(rate, f64::min);
    let most = standing.bands.iter().map(|band| band.high_bytes_per_s).fold(rate, f64::max);
    let reach = (most / least).ln();
    if standing.bands.is_empty() || !reach.is_finite() || reach <= 0.0 {
        return;
    }
    let place = |rate: f64| 2.0 + 196.0 * (rate / least).ln() / reach;
    let height = 5.0 * standing.bands.len() as f64;
    html.open(
        "svg",
        &[
            ("class", "bands"),
            ("viewBox", &format!("0 0 200 {height}")),
            ("preserveAspectRatio", "none"),
            ("aria-hidden", "true"),
        ],
    );
    for (row, band) in standing.bands.iter().enumerate() {
        let (from, to) = (place(band.low_bytes_per_s), place(band.high_bytes_per_s));
        let class = if band.holds(rate) { "band holds" } else { "band" };
        let (x, width, y) =
            (format!("{from:.1}"), format!("{:.1}", (to - from).max(1.0)), (row * 5 + 1).to_string());
        html.open("rect", &[("class", class), ("x", &x), ("y", &y), ("width", &width), ("height", "3")])
            .raw("</rect>");
    }
    let x = format!("{:.1}", place(rate) - 0.6);
    html.open(
        "rect",
        &[("class", "stands"), ("x", &x), ("y", "0"), ("width", "1.2"), ("height", &height.to_string())],
    );
    html.raw("</rect></svg>");
}

/// The figures of a cell in every unit; the style shows the one that is chosen.
fn figures(html: &mut Html, tile: &Tile, lang: Lang) {
    let Tile { main, gigabytes, iops, microseconds, .. } = tile;
    html.raw("<p class=\"figure\">");
    let units = [("u-rate", main), ("u-giga", gigabytes), ("u-iops", iops), ("u-time", microseconds)];
    // A time has one unit, and so has what has no operations.
    let has_units = gigabytes.is_some();
    for (class, figure) in units.into_iter().filter(|(class, _)| has_units || *class == "u-rate") {
        html.open("span", &[("class", if has_units { class } else { "" })]);
        match figure {
            Some(figure) => html.element("b", &[], &figure.number).raw(" ").element("i", &[], figure.unit),
            None => html.element("b", &[], number::NONE),
        };
        html.close("span");
    }
    html.raw("</p><p class=\"more\">");
    let mut facts = Vec::new();
    facts.extend(tile.interval.clone().map(Text::same));
    facts.extend(tile.iops.as_ref().map(|iops| Text::same(iops.to_string())));
    facts.extend(tile.mean_latency.as_ref().map(|latency| text!("mean {latency}", "平均 {latency}")));
    facts.extend(tile.p99_latency.as_ref().map(|latency| Text::same(format!("p99 {latency}"))));
    html.words(Text::join(facts, [" · "; 2]).get(lang)).raw("</p>");
}

fn notices(html: &mut Html, board: &Board, lang: Lang) {
    let count = board.record.notices.len();
    if count > 0 {
        let title = text!("remarks: {count}", "注記: {count} 件");
        html.raw("<details><summary id=\"remarks\">").words(title.get(lang)).raw("</summary>");
        html.doc(&notices_doc(&board.record), lang).raw("</details>");
    }
}

/// Rates and access times over the target, as far as they are known.
pub(crate) fn plot_piece(board: Option<&Board>, lang: Lang) -> Html {
    let mut html = Html::new();
    if let Some(board) = board {
        html.doc(&positions_doc(&[&board.sampled()]), lang);
    }
    html
}

/// What goes on now: words, the share that is done, and a curve over time where there is none over the target.
fn now(html: &mut Html, board: &Board, lang: Lang) {
    if !board.goes_on() {
        return;
    }
    html.raw("<div class=\"live\" id=\"live\">");
    let words = board.phase.clone().unwrap_or_else(|| text!("measuring", "測定中"));
    html.open("p", &[("id", "phase")]).words(&shown::line(words.get(lang))).close("p");
    if let Some(left_ns) = board.left_ns {
        let time = number::long_time(left_ns);
        html.element(
            "p",
            &[("class", "quiet")],
            text!("about {time} of measuring left", "残りの測定時間 約 {time}").get(lang),
        );
    }
    if board.samples() {
        html.raw("</div>");
        return;
    }
    let label = text!("rate of the running repetition over time", "測定中の転送速度の推移");
    html.open(
        "svg",
        &[
            ("id", "curve"),
            ("viewBox", "0 0 600 120"),
            ("preserveAspectRatio", "none"),
            ("role", "img"),
            ("aria-label", label.get(lang)),
        ],
    );
    html.raw("<path id=\"course\" d=\"\"></path></svg>");
    html.raw("<p class=\"quiet\" id=\"scale\" aria-hidden=\"true\"></p></div>");
}

/// How it ended, and where to go from there.
fn outcome(html: &mut Html, board: &Board, lang: Lang) {
    let id = &board.record.header.id;
    let words = match board.record.status {
        RunStatus::Complete => text!("complete", "完了"),
        RunStatus::Interrupted => {
            text!("stopped; what was measured is kept", "停止しました。測定済みの結果は残っています")
        }
        _ => text!("ended by an error", "エラーで終了しました"),
    };
    html.raw("<footer class=\"after\">");
    html.element("p", &[("class", "status")], words.get(lang));
    let error = board.error.as_ref().filter(|_| board.record.status != RunStatus::Interrupted);
    if let Some(error) = error {
        let message = Message::of(error);
        html.open("p", &[("class", "notice warn")]).words(&shown::line(message.what.get(lang)));
        if let Some(remedy) = message.remedy {
            html.raw(" — ").words(&shown::line(remedy.get(lang)));
        }
        html.close("p");
    }
    if !board.others.is_empty() {
        let runs: String = std::iter::once(id).chain(&board.others).map(|id| format!("&run={id}")).collect();
        let name = text!("which is faster, and how sure that is", "どちらが速いか、どのくらい確かか");
        let address = format!("/compare?{}", runs.trim_start_matches('&'));
        html.raw("<p>").element("a", &[("href", &address), ("class", "next")], name.get(lang)).raw("</p>");
    }
    if !board.record.cells.is_empty() {
        let ways = [
            (format!("/runs/{id}"), text!("everything about this run", "この測定の詳細")),
            (format!("/runs/{id}#card"), text!("card", "画像カード")),
            (format!("/runs/{id}/text"), text!("as text", "テキスト")),
            (format!("/runs/{id}/report.html"), text!("save as a page", "ページとして保存")),
        ];
        html.raw("<p class=\"ways\">");
        for (address, name) in ways {
            html.element("a", &[("href", &address)], name.get(lang)).raw(" ");
        }
        html.raw("</p>");
    }
    html.raw("</footer>");
}
