//! Response times of the page, and its cost during a measurement.
//!
//! The model: this process serves the page. Over the page's own socket, a request is timed from its
//! start to the last byte of the response. In Chromium, the times are from the start of a visit to
//! the first paint, per frame while the list of runs is scrolled, and from an event in the lab to
//! the screen (`pixels`). The cost is measured as in `kurabe versus`: the same folder with and
//! without an open window (`cost`), together with the CPU time of the page's threads.

mod cost;
mod cpu;
mod pixels;
mod served;

use crate::Result;
use crate::options::Flags;
use crate::statistics::median;
use crate::store_scale;
use crate::table::{figure, layout};
use crate::tools::build_kurabe;
use cost::{InBrowser, Subscriber, blocks};
use kurabe_sim::DEVICES;
use kurabe_testkit::browser::Browser;
use serde_json::json;
use served::{Client, Served};
use std::io::Write;
use std::path::{Path, PathBuf};

const HELP: &str = "flags: --runs N (10000)  --rounds N (5)  --models N (all)  --blocks N (40)  --directory PATH (a temporary one)";

/// Targets in ms: from a slider to new figures, and for a page.
const FIGURES_MS: f64 = 100.0;
const PAGE_MS: f64 = 300.0;

/// Options of the bench.
pub struct Options {
    /// Runs in the store.
    pub runs: usize,
    /// Number of times that each page is requested.
    pub rounds: usize,
    /// Number of models requested.
    pub models: usize,
    /// Maximum number of blocks for the cost; 0 skips it.
    pub blocks: usize,
    /// Time of each repetition, instead of the default.
    pub time: Option<String>,
    /// Directory of the measured files; empty for that of the store.
    pub directory: PathBuf,
    /// Path of kurabe, which measures the run that fills the store.
    pub kurabe: PathBuf,
}

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns an error if kurabe does not build, or the page does not respond.
pub fn main(out: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["runs", "rounds", "models", "blocks", "directory"], &[], HELP)?;
    let (kurabe, directory) = (build_kurabe()?, PathBuf::new());
    let mut options =
        Options { runs: 10_000, rounds: 5, models: usize::MAX, blocks: 40, time: None, directory, kurabe };
    flags.set("runs", &mut options.runs)?;
    flags.set("rounds", &mut options.rounds)?;
    flags.set("models", &mut options.models)?;
    flags.set("blocks", &mut options.blocks)?;
    flags.set("directory", &mut options.directory)?;
    run(&options, out)
}

/// Runs the bench with these options.
///
/// # Errors
/// Returns the errors of [`main`].
pub fn run(options: &Options, out: &mut dyn Write) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let store = directory.path().join("kurabe.db");
    let filling = store_scale::Options {
        runs: options.runs,
        rounds: 0,
        keep_digests: true,
        kurabe: options.kurabe.clone(),
        directory: directory.path().to_owned(),
    };
    let ids = store_scale::fill(&filling, &store)?;
    let target = tempfile::tempdir_in(match options.directory.as_os_str().is_empty() {
        true => directory.path(),
        false => &options.directory,
    })?;
    let page = Served::new(&store)?;
    let pages = pages(&ids);
    ask_pages(&page.client, &pages, ids.len(), options, out)?;
    ask_figures(&page.client, options, out)?;
    look(&page, &pages, target.path(), options, out)?;
    page.close()
}

/// Returns the requested pages: name and path.
fn pages(ids: &[String]) -> Vec<(String, String)> {
    let (first, last) = (&ids[0], &ids[ids.len() - 1]);
    let run = format!("/runs/{first}");
    let two = format!("/compare?run={first}&run={last}");
    let paths = [
        "/",
        "/runs",
        "/runs?page=1",
        "/runs?q=default",
        &run,
        &two,
        "/matrix",
        "/matrix?by=run",
        "/history",
        "/models",
        "/models/samsung-870-evo",
        "/catalogue",
    ];
    let name = |path: &str| path.replace(first, "RUN").replace(last, "OTHER");
    paths.iter().map(|path| (name(path), (*path).to_owned())).collect()
}

fn ask_pages(
    client: &Client,
    pages: &[(String, String)],
    runs: usize,
    options: &Options,
    out: &mut dyn Write,
) -> Result<()> {
    let mut rows = vec![["page", "median", "worst", "target"].map(str::to_owned).to_vec()];
    for (name, path) in pages {
        let times = timed(options.rounds, || client.time_ms("GET", path, ""))?;
        rows.push(row(name, &times, PAGE_MS));
    }
    Ok(writeln!(out, "pages, with {runs} runs in the store\n{}", layout(&rows))?)
}

fn ask_figures(client: &Client, options: &Options, out: &mut dyn Write) -> Result<()> {
    let mut figures = Vec::new();
    for (name, _) in DEVICES.iter().take(options.models) {
        let path = format!("/models/{name}/figures");
        figures.push((*name, timed(options.rounds, || client.time_ms("POST", &path, "{}"))?));
    }
    figures.sort_by(|one, other| median(&other.1).total_cmp(&median(&one.1)));
    let late = figures.iter().filter(|(_, times)| median(times) > FIGURES_MS).count();
    let mut rows = vec![["slowest models", "median", "worst", "target"].map(str::to_owned).to_vec()];
    rows.extend(figures.iter().take(5).map(|(name, times)| row(name, times, FIGURES_MS)));
    writeln!(
        out,
        "a slider to new figures (gnome-disks): {late} of {} models above {FIGURES_MS:.0} ms\n{}",
        figures.len(),
        layout(&rows)
    )?;
    Ok(())
}

/// Measures the page in a browser, if there is one, and the cost of an open window.
fn look(
    page: &Served,
    pages: &[(String, String)],
    target: &Path,
    options: &Options,
    out: &mut dyn Write,
) -> Result<()> {
    let block = json!({ "target": target, "profile": "quick", "size": "16MiB", "runs": "1", "time": options.time.as_deref().unwrap_or("200ms") });
    if options.blocks > 0 {
        blocks(page, &mut Subscriber::new(page.client.clone()), &block, options.blocks, out)?;
    }
    let browser = match Browser::start() {
        Ok(browser) => browser,
        Err(why) => return Ok(writeln!(out, "without a browser: {why}")?),
    };
    browser.open(&page.launch_address);
    browser.wait_until("document.querySelector('#measure')");
    pixels::paint(&browser, page, pages, options.rounds, out)?;
    pixels::scroll(&browser, page, out)?;
    if options.blocks > 0 {
        blocks(page, &mut InBrowser::new(&browser, page), &block, options.blocks, out)?;
    }
    pixels::watch(&browser);
    let time = options.time.as_deref().unwrap_or("");
    let wish = json!({ "target": target, "profile": "quick", "size": "256MiB", "time": time });
    pixels::events(&browser, page, &wish, out)
}

fn timed(rounds: usize, mut ask: impl FnMut() -> Result<f64>) -> Result<Vec<f64>> {
    // The first request fills the caches.
    ask()?;
    (0..rounds.max(1)).map(|_| ask()).collect()
}

fn row(name: &str, times_ms: &[f64], target_ms: f64) -> Vec<String> {
    let worst = times_ms.iter().copied().fold(0.0, f64::max);
    let ms = |value: f64| format!("{} ms", figure(value, 1));
    vec![name.to_owned(), ms(median(times_ms)), ms(worst), ms(target_ms)]
}
