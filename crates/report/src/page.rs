//! A report of one or more runs that people publish: one page, one text, one table, one picture.
//!
//! The model: the answer in a sentence, the table, the charts, why, the stutter, what else differed, how it was measured,
//! on what, and what to mind. Of several runs the first is the baseline and each other one is held against it by itself.
//! A page is one file that loads nothing: a policy in it forbids every request, and only its own script may run. Whatever
//! words a record holds (names of devices, labels) are escaped where they are written.
//!
//! Not a goal: laying out for the terminal, which the other renderers do; writing files.

mod answer;
mod charts;
mod csv;
mod digest;
mod extent;
mod html;
mod main_result;
mod markdown;
mod method;
mod rows;
mod sections;
mod table;

pub use extent::{MOST_PAGE_BYTES, Page, ROOM_BEHIND_BYTES};

use crate::pictures::Picture;
use crate::style::Style;
use extent::Extent;
use html::Html;
use kurabe_compare::{Pair, pair};
use kurabe_core::record::RunRecord;
use kurabe_core::{Lang, Text, number, text};
use rows::{Row, rows};

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Light, dark, or as the reader's system has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageTheme {
    /// As the reader's system has it.
    #[default]
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// The records that a page holds.
#[derive(Clone, Debug, Default)]
pub struct Embedded {
    /// As JSON; empty if there are none.
    pub json: String,
    /// What is missing of them, and where it is.
    pub left_out: Option<Text>,
}

/// What a report is of.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    runs: Vec<&'a RunRecord>,
    pairs: Vec<Pair>,
    about: Vec<String>,
    title: Option<String>,
    style: Style,
    extent: Extent,
}

/// Why a cell is as fast as it is.
struct Why {
    cell: String,
    sentences: Vec<String>,
}

impl<'a> Report<'a> {
    /// A report of these runs, of which the first is the baseline; at least one. Differences up to `margin` (0.05 is 5 %)
    /// do not matter; `about` holds the words of what the user asks about.
    pub fn new(
        runs: Vec<&'a RunRecord>,
        margin: f64,
        about: &[String],
        title: Option<&str>,
        lang: Lang,
    ) -> Self {
        let pairs = match runs.split_first() {
            Some((baseline, others)) => others.iter().map(|other| pair(baseline, other, margin)).collect(),
            None => Vec::new(),
        };
        let style = Style { lang, color: false, width: 1 << 20 };
        Self {
            runs,
            pairs,
            about: about.to_vec(),
            title: title.map(str::to_owned),
            style,
            extent: Extent::Whole,
        }
    }

    /// Each run but the first, against the first.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    fn rows(&self) -> Vec<Row<'_>> {
        rows(&self.runs, &self.pairs, &self.style)
    }

    /// Its heading: what the user called it, or what was measured.
    pub fn title(&self) -> String {
        if let Some(title) = &self.title {
            return title.clone();
        }
        if let [run] = self.runs.as_slice() {
            return format!("{} · {}", run_name(run, &self.style), run.header.profile_name());
        }
        let mut names: Vec<String> = Vec::new();
        for run in &self.runs {
            let name = run_name(run, &self.style);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let count = self.runs.len();
        match names.as_slice() {
            [name] => {
                self.style.say(&text!("{name}: {count} runs compared", "{name}: {count} 件の測定の比較"))
            }
            [one, two] => self.style.say(&text!("{one} and {two} compared", "{one} と {two} の比較")),
            _ => self.style.say(&text!("{count} runs compared", "{count} 件の測定の比較")),
        }
    }

    /// The page up to its foot.
    fn body(&self, theme: PageTheme, pictures: &[Picture]) -> Html {
        let mut html = Html::new();
        self.head(&mut html, theme);
        html.raw("<body><main>\n");
        self.top(&mut html);
        let rows = self.rows();
        let style = &self.style;
        sections::section(&mut html, "results", style.pick("Results", "結果"), |html| {
            table::main_table(html, self);
            if let [run] = self.runs.as_slice() {
                sections::notes(html, &method::footnotes(run, style));
            } else {
                sections::notes(html, &self.reading());
            }
            if let [pair] = self.pairs.as_slice() {
                sections::tails(html, pair, style);
            }
        });
        self.charts(&mut html, pictures, theme);
        sections::why_part(&mut html, self);
        sections::section(&mut html, "stutter", style.pick("Stutter", "停滞"), |html| {
            sections::stutter(html, self, &rows);
        });
        if let [pair] = self.pairs.as_slice() {
            sections::section(
                &mut html,
                "fairness",
                style.pick("What else differed", "ほかに違う条件"),
                |html| {
                    sections::fairness(html, pair, &self.about, style);
                },
            );
        }
        self.runs_part(&mut html);
        html
    }

    fn head(&self, html: &mut Html, theme: PageTheme) {
        html.raw("<!doctype html>\n");
        let forced = match theme {
            PageTheme::Auto => "",
            PageTheme::Light => "light",
            PageTheme::Dark => "dark",
        };
        html.open("html", &[("lang", self.style.lang.pick("en", "ja")), ("data-theme", forced)]);
        html.raw("<head><meta charset=\"utf-8\">\n");
        let policy = format!(
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; \
             form-action 'none'",
            digest::sha256_base64(SCRIPT)
        );
        html.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
        html.raw("\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
        html.open(
            "meta",
            &[("name", "generator"), ("content", concat!("kurabe ", env!("CARGO_PKG_VERSION")))],
        );
        html.element("title", &[], &self.title());
        html.raw("\n<style>\n").raw(STYLE).raw("</style></head>\n");
    }

    /// Heading, runs, answer.
    fn top(&self, html: &mut Html) {
        let style = &self.style;
        html.raw("<header>").element("h1", &[], &self.title());
        html.raw("<ul class=\"runs\">");
        const NAMED: usize = 8;
        for (place, run) in self.runs.iter().enumerate().take(NAMED) {
            let header = &run.header;
            html.open("li", &[]).element("b", &[], &header.id);
            let mut facts =
                vec![run_name(run, style), header.profile_name(), number::date_minute(header.measured_at())];
            facts.extend(run.labels.iter().map(|(key, value)| format!("{key}={value}")));
            for fact in facts.iter().filter(|fact| !fact.is_empty()) {
                html.raw(" · ").words(fact);
            }
            if place == 0 && self.runs.len() > 1 {
                html.element("em", &[], style.pick("baseline", "基準"));
            }
            if header.model.is_some() {
                html.element("em", &[("class", "model")], style.pick("model", "モデル"));
            }
            html.close("li");
        }
        if let Some(more) = self.runs.len().checked_sub(NAMED).filter(|more| *more > 0) {
            html.element("li", &[], &style.say(&text!("and {more} more, below", "ほか {more} 件(下に掲載)")));
        }
        html.raw("</ul>");
        html.element("p", &[("class", "answer")], &style.say(&self.answer()));
        self.warnings(html);
        html.raw("</header>\n");
    }

    /// That there are warnings, of which kinds, and where they stand.
    fn warnings(&self, html: &mut Html) {
        let style = &self.style;
        let (mut count, mut warned) = (0, 0);
        let mut kinds: Vec<String> = Vec::new();
        for run in &self.runs {
            let before = count;
            for notice in method::notices(run, style).into_iter().filter(|notice| notice.warns) {
                count += 1;
                if !kinds.contains(&notice.kind) {
                    kinds.push(notice.kind);
                }
            }
            warned += usize::from(count > before);
        }
        let kinds = kinds.join(style.pick(", ", "、"));
        let words = match count {
            0 => return,
            1 => text!("1 warning ({kinds})", "警告が 1 件あります({kinds})"),
            _ if self.runs.len() > 2 => {
                let all = self.runs.len();
                text!(
                    "Warnings in {warned} of {all} runs ({kinds})",
                    "{all} 件中 {warned} 件の測定に警告があります({kinds})"
                )
            }
            _ => text!("{count} warnings ({kinds})", "警告が {count} 件あります({kinds})"),
        };
        let place = if self.runs.len() == 1 { "#notices" } else { "#runs" };
        html.open("p", &[("class", "notice warn")]);
        html.element("a", &[("href", place)], &style.say(&words)).close("p");
    }

    /// How the table of a comparison is read.
    fn reading(&self) -> Vec<String> {
        let style = &self.style;
        let margin = self.pairs.first().map_or(0.0, |pair| pair.margin * 100.0);
        let margin = format!("{} %", (margin * 100.0).round() / 100.0);
        let baseline = &self.runs[0].header.id;
        let mut notes = vec![
            style.say(&text!(
                "Figures are means of the repetitions. Speed is how many times as fast a run is as the baseline {baseline}: \
                 above 1 it is faster, also where the figure is a time.",
                "値は繰り返しの平均です。「速さの比」は基準 {baseline} に対する速さの倍率で、値が時間の項目でも 1 より大きければ\
                 速いことを示します。"
            )),
            style.say(&text!(
                "The interval holds the true ratio with 95 % confidence, corrected for the number of cells. Differences up \
                 to {margin} do not matter. ▲ faster, ▼ slower, = no difference that matters, ? not clear yet.",
                "区間は真の比を 95 % の信頼度で含みます(項目数に応じて補正済み)。{margin} までの差は問題にしません。\
                 ▲ 速い、▼ 遅い、= 差なし、? まだ判断できない。"
            )),
        ];
        if self.pairs.len() > 1 {
            notes.push(style.say(&text!(
                "Each run is held against the baseline by itself.",
                "それぞれの測定を 1 件ずつ基準と比べています。"
            )));
        }
        if self.runs.iter().any(|run| run.header.model.is_some()) {
            notes.push(style.say(&text!(
                "Figures of models are computed, not measured on a device.",
                "モデルの値は計算値であり、実機の測定値ではありません。"
            )));
        }
        notes
    }

    /// Method, environment and notices: of one run in sections, of several folded by run.
    fn runs_part(&self, html: &mut Html) {
        let style = &self.style;
        if let [run] = self.runs.as_slice() {
            sections::section(html, "method", style.pick("Method", "測定方法"), |html| {
                sections::method(html, self, 0);
            });
            sections::section(html, "environment", style.pick("Environment", "環境"), |html| {
                sections::environment(html, self, 0);
            });
            if !method::notices(run, style).is_empty() {
                sections::section(html, "notices", style.pick("Notices", "注意"), |html| {
                    sections::notices(html, self, 0);
                });
            }
            return;
        }
        let title = style.pick("Runs: figures, method, environment, notices", "各測定の値、方法、環境、注意");
        sections::section(html, "runs", title, |html| {
            if let Some(left_out) = self.tables_left_out() {
                html.element("p", &[("class", "notice")], &style.say(&left_out));
            }
            for place in 0..self.runs.len() {
                sections::run(html, self, place);
            }
        });
    }

    fn foot(&self, html: &mut Html, embedded: &Embedded) {
        let (records, style) = (embedded.json.as_str(), &self.style);
        html.raw("<footer>");
        let words = match (records.is_empty(), &embedded.left_out) {
            (true, _) => style.pick("This page holds no records.", "このページに測定記録は入っていません。"),
            (false, None) => style.pick(
                "This page holds the whole records of its runs: kurabe import takes them in again.",
                "このページには測定記録がすべて入っています。kurabe import で取り込めます。",
            ),
            (false, Some(_)) => style.pick(
                "This page holds records of its runs: kurabe import takes them in again.",
                "このページには測定記録が入っています。kurabe import で取り込めます。",
            ),
        };
        html.element("p", &[], words);
        if let Some(left_out) = &embedded.left_out {
            html.element("p", &[("class", "notice warn")], &style.say(left_out));
        }
        html.element("p", &[], concat!("kurabe ", env!("CARGO_PKG_VERSION")));
        html.raw("</footer></main>\n<div id=\"tip\" role=\"status\" hidden></div>\n");
        if !records.is_empty() {
            html.made(&kurabe_interop::embed_in_page(records));
        }
        html.raw("<script>").raw(SCRIPT).raw("</script>\n</body></html>\n");
    }
}

/// What a run is of, for people: the device or the model, or the target where neither is known.
fn run_name(run: &RunRecord, style: &Style) -> String {
    let header = &run.header;
    if let Some(model) = &header.model {
        return match model.changes().join(", ") {
            changes if changes.is_empty() => style.say(&model.title),
            changes => format!("{} ({changes})", style.say(&model.title)),
        };
    }
    let models: Vec<&str> =
        header.environment.devices.iter().filter_map(|device| device.model.as_deref()).collect();
    match models.as_slice() {
        [] => header.target_name().to_owned(),
        models => models.join(" + "),
    }
}
