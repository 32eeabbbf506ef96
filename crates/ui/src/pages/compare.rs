//! Comparison of runs or models: which one is faster with what confidence, the other differences,
//! and the better one for a use.

use super::frame::{Tab, report_tabs, tabs};
use super::head::{card_file, facts_line, run_name, share_card};
use super::kit::*;
use super::models::own_model;
use super::run::load;
use kurabe_compare::{USES, Use, UseWork, recommend};
use kurabe_lab::{in_parallel, limits_of_runs, sides_of, what_if};
use kurabe_report::{recommendation_doc, side_by_side_doc, words::directed};
use kurabe_study::catalogue::Catalogue;

/// Maximum number of runs for a readable page.
const MOST_RUNS: usize = 50;
/// Maximum number of models, because the reader waits while they are computed.
const MOST_MODELS: usize = 6;
/// The profile by which models are compared.
const MODELS_PROFILE: &str = "quick";

/// The parameters that name a side: a stored run, a model, a published entry.
const KINDS: [&str; 3] = ["run", "model", "entry"];

/// The compared sides: the page's path, the parameters with their names, and all parameters.
struct TickedSides<'a> {
    path: &'static str,
    asked: &'a [(String, String)],
    named: Vec<(&'static str, &'a str)>,
}

/// Handles `GET /compare?run=A&model=B&entry=C…`.
pub(crate) fn page(shared: &App, lang: Lang, Query(asked): Query<Vec<(String, String)>>) -> Result<Made> {
    let sides = TickedSides::ticked("/compare", &asked)?;
    let runs = loaded(shared, &sides)?;
    side_by_side(&sides, runs, lang, Vec::new())
}

/// Handles `GET /compare/card.png?run=A&model=B…`.
pub(crate) fn file(
    shared: &App,
    lang: Lang,
    (Path(name), Query(asked)): (Path<String>, Query<Vec<(String, String)>>),
) -> Result<Made> {
    let sides = TickedSides::ticked("/compare", &asked)?;
    let mut runs = loaded(shared, &sides)?;
    card_file(&name, (sides.word("lang"), sides.word("theme")), lang, |theme, lang| {
        name_by_device(&mut runs, lang);
        Report::new(runs.iter().collect(), MARGIN, &[], None, lang).card(theme)
    })
}

fn loaded(shared: &Site, sides: &TickedSides<'_>) -> Result<Vec<RunRecord>> {
    let mut runs: Vec<Option<RunRecord>> = Vec::new();
    for (kind, name) in &sides.named {
        runs.push(match *kind {
            "run" => Some(load(shared, name)?),
            "entry" => Some(Catalogue::built_in().entry(name)?.as_run()),
            _ => None,
        });
    }
    with_models(shared, sides, runs)
}

/// Handles `GET /models/compare?model=A&model=B…`.
pub(crate) fn models(shared: &App, lang: Lang, Query(asked): Query<Vec<(String, String)>>) -> Result<Made> {
    let sides = TickedSides::ticked("/models/compare", &asked)?;
    let none = sides.named.iter().map(|_| None).collect();
    let runs = with_models(shared, &sides, none)?;
    let names: Vec<&str> = sides.named.iter().map(|(_, name)| *name).collect();
    let worth = || Ok(written(&side_by_side_doc(&sides_of(&names, &[])?), lang));
    let tab: Tab<'_> = ("worth", text!("Capacity and safety", "容量と安全性"), Box::new(worth));
    side_by_side(&sides, runs, lang, vec![tab])
}

/// Computes the models among the sides. They are measured as the first run was, so that their tests
/// are the same.
fn with_models(
    shared: &Site,
    sides: &TickedSides<'_>,
    runs: Vec<Option<RunRecord>>,
) -> Result<Vec<RunRecord>> {
    let missing: Vec<&str> =
        sides.named.iter().zip(&runs).filter(|(_, run)| run.is_none()).map(|((_, name), _)| *name).collect();
    if missing.is_empty() {
        return Ok(runs.into_iter().flatten().collect());
    }
    if missing.len() > MOST_MODELS {
        return Err(usage(
            text!("at most {MOST_MODELS} models are compared", "モデルは {MOST_MODELS} 件まで比べられます"),
            text!("tick fewer of them", "選ぶ数を減らしてください"),
        ));
    }
    shared.desk.refuse_beside_real()?;
    let profile = match runs.iter().flatten().find_map(|run| run.header.profile.clone()) {
        Some(profile) => profile,
        None => profile_named(MODELS_PROFILE)?,
    };
    let compute = |name: &&str| {
        own_model(name, &[])?;
        what_if(name, profile.clone(), Vec::new())
    };
    let mut computed = in_parallel(&missing, compute)?.into_iter();
    let mut all = Vec::new();
    for run in runs {
        all.extend(match run {
            Some(run) => Some(run),
            None => computed.next().transpose()?,
        });
    }
    Ok(all)
}

impl<'a> TickedSides<'a> {
    /// Returns the selected sides without duplicates. At least two are required.
    fn ticked(path: &'static str, asked: &'a [(String, String)]) -> Result<Self> {
        let mut named: Vec<(&str, &str)> = Vec::new();
        for (key, name) in asked {
            let Some(kind) = KINDS.iter().find(|kind| *kind == key) else { continue };
            if !named.contains(&(*kind, name.as_str())) {
                named.push((kind, name));
            }
        }
        if !(2..=MOST_RUNS).contains(&named.len()) {
            return Err(usage(
                text!("two to {MOST_RUNS} are compared", "比べられるのは 2 件から {MOST_RUNS} 件までです"),
                text!("tick them in the list", "一覧で選んでください"),
            ));
        }
        Ok(Self { path, asked, named })
    }

    /// Returns the address of this comparison.
    fn address(&self) -> String {
        format!("{}{}", self.path, self.query("?"))
    }

    /// Returns the sides as parameters, after `first`.
    fn query(&self, first: &str) -> String {
        let sides: Vec<String> =
            self.named.iter().map(|(kind, name)| format!("{kind}={}", encoded(name))).collect();
        format!("{first}{}", sides.join("&"))
    }

    /// Returns the value of a parameter.
    fn word(&self, key: &str) -> Option<&'a str> {
        self.asked.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

fn side_by_side(
    sides: &TickedSides<'_>,
    mut runs: Vec<RunRecord>,
    lang: Lang,
    more: Vec<Tab<'_>>,
) -> Result<Made> {
    name_by_device(&mut runs, lang);
    let list: Vec<&RunRecord> = runs.iter().collect();
    let report = Report::new(list.clone(), MARGIN, &[], None, lang);
    let address = sides.address();
    let figure = sides.word("figure");
    let mut parts = report_tabs(&report, lang);
    if let Some((_, _, results)) = parts.first_mut().filter(|(id, ..)| *id == "results") {
        let means = std::mem::replace(results, Box::new(|| Ok(html! {})));
        *results = Box::new(|| figures(&report, (&address, figure), means, lang));
    }
    parts.extend(more);
    parts.push(("use", text!("For a use", "用途で選ぶ"), Box::new(|| purpose(sides, &list, lang))));
    // A reader who sets weights for a use wants to see its tab.
    let tab = sides.word("tab").or(sides.word("use").map(|_| "use"));
    let mut sentences = report.sentences().into_iter();
    let answer = sentences.next().unwrap_or_default();
    let rest = Text::sentences(sentences);
    let page = html! {
        header.run.report {
            div.title {
                h1 { (report.title().get(lang)) }
                (share_card("/compare/", "comparison", &sides.query("&"), lang))
            }
            p.answer { (answer.get(lang)) }
            @if !rest.is_empty() { p.further { (rest.get(lang)) } }
            ul.runs {
                @for (place, run) in runs.iter().enumerate() {
                    li {
                        b { (run_name(run).get(lang)) } " · " (facts_line(run).get(lang))
                        @if place == 0 { em { (text!("baseline", "基準").get(lang)) } }
                        @if run.header.model.is_some() { em.model { (text!("model", "モデル").get(lang)) } }
                    }
                }
            }
        }
        (tabs(&address, parts, tab, lang)?)
    };
    Ok(Made::Headed(report.title(), page))
}

/// Names runs by their devices, as far as these are different and have no other name.
fn name_by_device(runs: &mut [RunRecord], lang: Lang) {
    let names: Vec<String> = runs.iter().map(|run| run_name(run).take(lang)).collect();
    let is_unique = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    if names.iter().all(|name| !name.is_empty() && is_unique(name)) {
        for (run, name) in runs.iter_mut().zip(names) {
            run.labels.insert(NAME_LABEL.to_owned(), name);
        }
    }
}

/// Renders the table of a comparison: of means, or of latencies at a percentile.
fn figures(
    report: &Report<'_>,
    (address, asked): (&str, Option<&str>),
    means: Box<dyn FnOnce() -> Result<Markup> + '_>,
    lang: Lang,
) -> Result<Markup> {
    let switch = [
        ("mean", text!("mean", "平均"), None),
        ("p50", text!("p50 latency", "p50 レイテンシ"), Some(0.5)),
        ("p99", text!("p99 latency", "p99 レイテンシ"), Some(0.99)),
    ];
    let chosen = switch.iter().find(|(word, ..)| Some(*word) == asked).unwrap_or(&switch[0]);
    let latencies = chosen.2.map(|share| written(&report.latencies(share), lang));
    let nothing = text!("No test of these runs has latencies.", "レイテンシのある項目がありません。");
    let content = match latencies {
        Some(latencies) if latencies.0.is_empty() => html! { p.empty { (nothing.get(lang)) } },
        Some(latencies) => latencies,
        None => means()?,
    };
    Ok(html! {
        p.chips {
            @for (word, name, _) in &switch {
                @let is_on = (*word == chosen.0).then_some("true");
                a href={ (address) "&figure=" (word) } aria-current=[is_on] { (name.get(lang)) } " "
            }
        }
        (content)
    })
}

/// Renders which run is better for a use. The reader can weight the parts of the use.
fn purpose(sides: &TickedSides<'_>, runs: &[&RunRecord], lang: Lang) -> Result<Markup> {
    let chosen = sides.word("use").filter(|name| USES.iter().any(|(own, _)| own == name));
    let mut uses = vec![("", Text::same("–"))];
    for (name, _) in USES {
        uses.push((name, Use::load(name)?.title));
    }
    let weighed = chosen.map(|name| weighed_use(name, sides)).transpose()?;
    Ok(html! {
        div #weigh {
            form method="get" action=(sides.path) {
                @for (kind, name) in &sides.named { input type="hidden" name=(kind) value=(name); }
                p.line {
                    (choice(("use", text!("Use", "用途")), uses, chosen, lang))
                    button { (text!("weigh", "評価する").get(lang)) }
                }
                @if let Some(weighed) = &weighed {
                    input type="hidden" name="of" value=[chosen];
                    div.sliders {
                        @for (place, work) in weighed.work.iter().enumerate() { (slider(place, work, lang)) }
                    }
                }
            }
            @if let Some(weighed) = &weighed { (recommended(runs, weighed, lang)?) }
        }
    })
}

/// Returns a use with the reader's weights.
fn weighed_use(name: &str, sides: &TickedSides<'_>) -> Result<Use> {
    let mut weighed = Use::load(name)?;
    let same_use = sides.word("of") == Some(name);
    // The shares of a use can have any sum. Here they are percentages.
    let whole: f64 = weighed.work.iter().map(|work| work.share).sum();
    for (place, work) in weighed.work.iter_mut().enumerate() {
        // Weights that were set for another use don't apply to this one.
        let share = sides.word(&format!("share{place}")).filter(|_| same_use);
        let share = share.and_then(|share| share.parse().ok()).filter(|share| (0.0..=100.0).contains(share));
        work.share = share.unwrap_or(work.share / whole * 100.0);
    }
    Ok(weighed)
}

/// Renders the slider for the share of one workload in a use.
fn slider(place: usize, work: &UseWork, lang: Lang) -> Markup {
    let order = if work.sequential { "SEQ" } else { "RND" };
    let block = format_bytes(work.block_bytes);
    let label = directed(Some(work.direction), &Text::same(format!("{order} {block} Q{}", work.iodepth)));
    // A small share keeps one significant digit, because a share that counts must not be shown as
    // 0.
    let places = if work.share > 0.0 { (-work.share.log10()).ceil().clamp(0.0, 9.0) } else { 0.0 };
    let (share, step) = (number::fixed(work.share, places as usize), 10f64.powf(-places));
    html! {
        label {
            span { (label.get(lang)) }
            input type="range" min="0" max="100" step=(step) name={ "share" (place) } value=(share);
            output { (share) " %" }
        }
    }
}

fn recommended(runs: &[&RunRecord], weighed: &Use, lang: Lang) -> Result<Markup> {
    let wrong = if weighed.work.iter().all(|work| work.share == 0.0) {
        text!("Give a part of the use more than 0 %.", "いずれかの割合を 0 % より大きくしてください。")
    } else if let Some(choice) = recommend(runs, weighed) {
        return Ok(written(&recommendation_doc(&choice, weighed, runs, &[], &limits_of_runs(runs)?), lang));
    } else {
        text!(
            "These runs have no test in common that this use needs.",
            "これらの測定には、この用途に必要な共通の項目がありません。"
        )
    };
    Ok(html! { p.notice.warn { (wrong.get(lang)) } })
}
