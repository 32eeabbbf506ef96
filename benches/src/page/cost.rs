//! Cost of an open page for a measurement: the same folder in blocks with and without a window,
//! judged as in `versus`.
//!
//! The model: a block is a run through the page, from the request to the end. One side has no open
//! window; the other has one that follows the run: a client that receives every event and fetches
//! the board when notified, or Chromium. The order in the first block of a pair is random, the
//! second block reverses it, and the interim analyses are those of `kurabe versus`.

use super::cpu::CpuTime;
use super::served::{Client, Served, cells};
use crate::Result;
use crate::table::{figure, layout};
use kurabe_core::random::Random;
use kurabe_core::record::Cell;
use kurabe_stats::{Blocked, Sides, Verdict, is_look, judge, repetition_value};
use kurabe_testkit::browser::Browser;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Differences below this do not matter: the default of `kurabe versus`.
const MARGIN: f64 = 0.05;
/// Waiting time after a window was opened or closed, and also on the side without one.
const SETTLING: Duration = Duration::from_millis(300);
/// Maximum CPU share of the page.
const PAGE_SHARE: f64 = 0.01;

/// A window that can be opened and closed.
pub(super) trait Window {
    /// Returns its name.
    fn name(&self) -> &'static str;
    /// Opens or closes it; has no effect if it is already in that state.
    fn set_open(&mut self, opens: bool) -> Result<()>;
}

/// Chromium on the page, or on an empty one.
pub(super) struct InBrowser<'a> {
    browser: &'a Browser,
    address: String,
    is_open: bool,
}

impl<'a> InBrowser<'a> {
    pub(super) fn new(browser: &'a Browser, page: &Served) -> Self {
        browser.open("about:blank");
        Self { browser, address: format!("http://{}/", page.client.host), is_open: false }
    }
}

impl Window for InBrowser<'_> {
    fn name(&self) -> &'static str {
        "Chromium"
    }

    fn set_open(&mut self, opens: bool) -> Result<()> {
        if self.is_open != opens {
            self.browser.open(if opens { &self.address } else { "about:blank" });
            self.browser.wait_until("document.readyState === 'complete'");
            self.is_open = opens;
        }
        Ok(())
    }
}

/// A client that receives every event and fetches the board when notified.
pub(super) struct Subscriber {
    client: Client,
    following: Option<(TcpStream, JoinHandle<()>)>,
}

impl Subscriber {
    pub(super) fn new(client: Client) -> Self {
        Self { client, following: None }
    }
}

impl Window for Subscriber {
    fn name(&self) -> &'static str {
        "a subscriber"
    }

    fn set_open(&mut self, opens: bool) -> Result<()> {
        if opens && self.following.is_none() {
            let first = self.client.ask("GET", "/", "")?;
            let from = first
                .split_once("data-from=\"")
                .and_then(|(_, rest)| rest.split_once('"'))
                .ok_or("no number")?
                .0;
            let stream = self.client.send("GET", &format!("/events?from={from}"), "")?;
            let (events, client) = (BufReader::new(stream.try_clone()?), self.client.clone());
            let work = move || {
                for line in events.lines().map_while(std::result::Result::ok) {
                    if line.contains("\"t\":\"board\"") {
                        // A page that is shutting down no longer responds.
                        drop(client.ask("GET", "/board", ""));
                    }
                }
            };
            self.following = Some((stream, std::thread::spawn(work)));
        }
        if let Some((stream, thread)) = self.following.take_if(|_| !opens) {
            stream.shutdown(Shutdown::Both)?;
            thread.join().map_err(|_| "the subscriber failed")?;
        }
        Ok(())
    }
}

/// Results of one side.
#[derive(Default)]
struct Side {
    /// Values of each cell, by block.
    values: Vec<Vec<f64>>,
    cpu: CpuTime,
    wall_s: f64,
}

/// Measures a request in at most this many blocks, and prints the verdicts.
pub(super) fn blocks(
    page: &Served,
    window: &mut dyn Window,
    wish: &Value,
    most: usize,
    out: &mut dyn Write,
) -> Result<()> {
    let mut random = Random::new(1, 0);
    let mut sides = [Side::default(), Side::default()];
    let mut names: Vec<String> = Vec::new();
    let mut judged: Vec<Option<Blocked>> = Vec::new();
    for pair in 0..most.div_ceil(2) {
        let first = random.below(2) as usize;
        for side in [first, 1 - first, 1 - first, first] {
            window.set_open(side == 1)?;
            std::thread::sleep(SETTLING);
            let cells = sides[side].block(page, wish)?;
            names = cells.iter().map(name).collect();
        }
        let done = 2 * (pair + 1);
        if is_look(done) || done >= most {
            judged = judge(&sides_of(&sides, names.len()), MARGIN, 1);
            if judged.iter().all(|cell| cell.is_some_and(|blocked| blocked.course.settled)) {
                break;
            }
        }
    }
    window.set_open(false)?;
    tell(window.name(), &sides, &names, &judged, out)
}

impl Side {
    fn block(&mut self, page: &Served, wish: &Value) -> Result<Vec<Cell>> {
        let (before, begun) = (CpuTime::now()?, Instant::now());
        page.start(wish)?;
        let cells = cells(page.finish()?);
        self.wall_s += begun.elapsed().as_secs_f64();
        self.cpu.add(CpuTime::now()?.since(before));
        let value =
            |cell: &Cell| cell.counted().next().and_then(|repetition| repetition_value(cell, repetition));
        self.values.push(cells.iter().map(|cell| value(cell).unwrap_or(f64::NAN)).collect());
        Ok(cells)
    }

    /// Returns the values of a cell.
    fn of_cell(&self, place: usize) -> Vec<f64> {
        self.values.iter().map(|block| block.get(place).copied().unwrap_or(f64::NAN)).collect()
    }
}

fn sides_of([without, with]: &[Side; 2], cells: usize) -> Vec<Sides> {
    let of_cell = |place| Sides {
        baseline: without.of_cell(place),
        other: with.of_cell(place),
        higher_is_better: true,
        computed: false,
    };
    (0..cells).map(of_cell).collect()
}

fn name(cell: &Cell) -> String {
    format!("{} {}", cell.direction.map_or("", |direction| direction.word()), cell.label)
}

fn tell(
    window: &str,
    [without, with]: &[Side; 2],
    names: &[String],
    judged: &[Option<Blocked>],
    out: &mut dyn Write,
) -> Result<()> {
    let blocks = with.values.len();
    let head = [&format!("with {window}, {blocks} blocks"), "speed beside none", "95 % interval", "verdict"];
    let mut rows = vec![head.map(ToString::to_string).to_vec()];
    for (name, blocked) in names.iter().zip(judged) {
        let Some(Blocked { compared, .. }) = blocked else {
            rows.push(vec![name.clone(), "–".to_owned(), "–".to_owned(), "no values".to_owned()]);
            continue;
        };
        let percent = |ratio: f64| figure((ratio - 1.0) * 100.0, 1);
        let speed = compared.speed;
        let verdict = match compared.verdict {
            Verdict::Same => "no difference of 5 %",
            Verdict::Faster => "faster",
            Verdict::Slower => "SLOWER",
            Verdict::NotEnough { .. } => "not clear",
        };
        rows.push(vec![
            name.clone(),
            format!("{} %", percent(speed.value)),
            format!("{} to {} %", percent(speed.low), percent(speed.high)),
            verdict.to_owned(),
        ]);
    }
    writeln!(out, "{}", layout(&rows).trim_end())?;
    let share = |side: &Side, cpu_s: f64| cpu_s / side.wall_s.max(1e-9);
    let percent = |share: f64| format!("{} %", figure(100.0 * share, 2));
    let page = share(with, with.cpu.page_s);
    let missed = if page > PAGE_SHARE { " MISSED" } else { "" };
    writeln!(
        out,
        "of one CPU while it is measured: the page {} (without a window {}; at most {} is asked for{missed}), the browser {} \
         ({})\n",
        percent(page),
        percent(share(without, without.cpu.page_s)),
        percent(PAGE_SHARE),
        percent(share(with, with.cpu.browser_s)),
        percent(share(without, without.cpu.browser_s)),
    )?;
    Ok(())
}
