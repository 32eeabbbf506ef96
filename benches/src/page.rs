//! How long the page lets people wait, and what it costs while something is measured.
//!
//! The model: the page is served in this process and asked over its own socket, as a browser asks it. Times are from the request
//! to the last byte of the answer. For the cost, a directory is measured through the page while a window follows every event
//! and fetches the board when it is told to; the CPU time of the page's threads stands beside the time that passed. The
//! browser's own time is not in it.

use crate::Result;
use crate::options::Flags;
use crate::statistics::median;
use crate::store_scale;
use crate::table::{figure, layout};
use crate::tools::build_kurabe;
use kurabe_core::Lang;
use kurabe_sim::DEVICES;
use kurabe_ui::{Options as PageOptions, Ui};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const HELP: &str = "flags: --runs N (10000)  --rounds N (5)  --models N (all)";

/// What is asked for, in ms: a slider to new figures, and a page.
const FIGURES_MS: f64 = 100.0;
const PAGE_MS: f64 = 300.0;

/// What to ask and how often.
pub struct Options {
    /// Runs in the store.
    pub runs: usize,
    /// Times that each question is asked.
    pub rounds: usize,
    /// Models that are asked.
    pub models: usize,
    /// The program, which measures the run that fills the store.
    pub kurabe: PathBuf,
}

/// The bench with the flags of the command line.
///
/// # Errors
/// When kurabe does not build, or the page does not answer.
pub fn main(out: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["runs", "rounds", "models"], &[], HELP)?;
    let mut options = Options { runs: 10_000, rounds: 5, models: usize::MAX, kurabe: build_kurabe()? };
    flags.set("runs", &mut options.runs)?;
    flags.set("rounds", &mut options.rounds)?;
    flags.set("models", &mut options.models)?;
    run(&options, out)
}

/// A browser with its session.
struct Browser {
    host: String,
    cookie: String,
}

impl Browser {
    /// Enters by an address.
    fn enter(address: &str) -> Result<Self> {
        let (host, word) = address.trim_start_matches("http://").split_once("/#").ok_or("no address")?;
        let mut browser = Self { host: host.to_owned(), cookie: String::new() };
        let answer = browser.ask("POST", "/session", &format!("{{\"word\":\"{word}\"}}"))?;
        let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).ok_or("no cookie")?;
        browser.cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        Ok(browser)
    }

    fn send(&self, method: &str, path: &str, body: &str) -> Result<TcpStream> {
        let Self { host, cookie } = self;
        let mut stream = TcpStream::connect(host)?;
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\nContent-Type: \
             application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )?;
        Ok(stream)
    }

    /// The whole answer, which has to be a success.
    fn ask(&self, method: &str, path: &str, body: &str) -> Result<String> {
        let mut answer = String::new();
        self.send(method, path, body)?.read_to_string(&mut answer)?;
        if answer.starts_with("HTTP/1.1 2") { Ok(answer) } else { Err(format!("{path}: {answer}").into()) }
    }

    fn time_ms(&self, method: &str, path: &str, body: &str) -> Result<f64> {
        let started = Instant::now();
        self.ask(method, path, body)?;
        Ok(started.elapsed().as_secs_f64() * 1e3)
    }
}

/// The bench with these options.
///
/// # Errors
/// As [`main`].
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
    let page = Ui::bind(PageOptions { store, port: 0, listen: None, lang: Lang::En, command: Vec::new() })?;
    let (address, closer) = (page.launch_address()?, page.closer());
    let serving = std::thread::Builder::new().name("page".to_owned()).spawn(move || page.serve())?;
    let asked = ask_all(&Browser::enter(&address)?, &ids, directory.path(), options, out);
    closer.close();
    serving.join().map_err(|_| "the page failed")??;
    asked
}

fn ask_all(
    browser: &Browser,
    ids: &[String],
    directory: &Path,
    options: &Options,
    out: &mut dyn Write,
) -> Result<()> {
    let two = format!("/compare?run={}&run={}", ids[0], ids[ids.len() - 1]);
    let run = format!("/runs/{}", ids[0]);
    let pages = ["/", "/runs", &run, &two, "/matrix", "/models", "/models/samsung-870-evo", "/catalogue"];
    let mut rows = vec![["page", "median", "worst", "target"].map(str::to_owned).to_vec()];
    for path in pages {
        let times = timed(options.rounds, || browser.time_ms("GET", path, ""))?;
        let name = path.split(['?', '&']).next().unwrap_or(path).replace(&ids[0], "RUN");
        rows.push(row(&name, &times, PAGE_MS));
    }
    writeln!(out, "pages, with {} runs in the store\n{}", ids.len(), layout(&rows))?;
    let mut figures = Vec::new();
    for (name, _) in DEVICES.iter().take(options.models) {
        let path = format!("/models/{name}/figures");
        figures.push((*name, timed(options.rounds, || browser.time_ms("POST", &path, "{}"))?));
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
    let (cpu_s, wall_s, events) = follow(browser, directory)?;
    let share = 100.0 * cpu_s / wall_s;
    writeln!(
        out,
        "following a run of {wall_s:.1} s: {events} events, {cpu_s:.3} s of CPU for the page, {share:.2} % of one"
    )?;
    Ok(())
}

fn timed(rounds: usize, mut ask: impl FnMut() -> Result<f64>) -> Result<Vec<f64>> {
    // The first makes what is kept for the others.
    ask()?;
    (0..rounds.max(1)).map(|_| ask()).collect()
}

fn row(name: &str, times_ms: &[f64], target_ms: f64) -> Vec<String> {
    let worst = times_ms.iter().copied().fold(0.0, f64::max);
    let ms = |value: f64| format!("{} ms", figure(value, 1));
    vec![name.to_owned(), ms(median(times_ms)), ms(worst), ms(target_ms)]
}

/// Measures a directory through the page while a window follows it: CPU time of the page, time that passed, events.
fn follow(browser: &Browser, directory: &Path) -> Result<(f64, f64, usize)> {
    let target = directory.join("followed");
    std::fs::create_dir_all(&target)?;
    let events = BufReader::new(browser.send("GET", "/events?from=0", "")?);
    let is_over = Arc::new(AtomicBool::new(false));
    let window = {
        let (over, browser) =
            (Arc::clone(&is_over), Browser { host: browser.host.clone(), cookie: browser.cookie.clone() });
        std::thread::spawn(move || -> Result<usize> {
            let mut count = 0;
            for line in events.lines() {
                let line = line?;
                count += usize::from(line.starts_with("data:"));
                if line.contains("\"t\":\"board\"") {
                    browser.ask("GET", "/board", "")?;
                }
                if line.contains("\"over\":true") {
                    over.store(true, Ordering::Relaxed);
                    break;
                }
            }
            Ok(count)
        })
    };
    let (cpu_before_s, started) = (page_cpu_s()?, Instant::now());
    let wish = serde_json::json!({ "target": target, "profile": "quick", "size": "256MiB" });
    browser.ask("POST", "/measure", &wish.to_string())?;
    while !is_over.load(Ordering::Relaxed) && !window.is_finished() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let (cpu_s, wall_s) = (page_cpu_s()? - cpu_before_s, started.elapsed().as_secs_f64());
    let count = window.join().map_err(|_| "the window failed")??;
    Ok((cpu_s, wall_s, count))
}

/// CPU time of the page's threads, by their names (proc_pid_stat(5): fields 14 and 15, in ticks of 10 ms).
fn page_cpu_s() -> Result<f64> {
    const TICKS_PER_S: f64 = 100.0;
    let mut ticks = 0.0;
    for task in std::fs::read_dir("/proc/self/task")? {
        // A thread may end meanwhile.
        let Ok(stat) = std::fs::read_to_string(task?.path().join("stat")) else { continue };
        let Some((name, rest)) = stat.split_once(") ") else { continue };
        if name.ends_with("(page") || name.ends_with("(page-aside") {
            let fields: Vec<&str> = rest.split(' ').collect();
            ticks += fields[11].parse::<f64>()? + fields[12].parse::<f64>()?;
        }
    }
    Ok(ticks / TICKS_PER_S)
}
