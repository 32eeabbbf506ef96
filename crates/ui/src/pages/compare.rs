//! Comparison of runs or models: which one is faster with what confidence, the other differences,
//! and the better one for a use.

use super::frame::{Tab, address_of, report_tabs, tabs};
use super::kit::*;
use super::models::own_model;
use super::run::load;
use kurabe_compare::{USES, Use, UseWork, recommend};
use kurabe_lab::{in_parallel, sides_of, what_if};
use kurabe_report::{directed, recommendation_doc, side_by_side_doc};

/// Maximum number of runs for a readable page.
const MOST_RUNS: usize = 50;
/// Maximum number of models, because the reader waits while they are computed.
const MOST_MODELS: usize = 6;
/// The profile by which models are compared.
const MODELS_PROFILE: &str = "quick";

/// The compared sides: the page's path, the parameter that names a side, and all parameters.
struct TickedSides<'a> {
    path: &'static str,
    key: &'static str,
    asked: &'a [(String, String)],
    names: Vec<&'a str>,
}

/// Handles `GET /compare?run=A&run=B…`.
pub(crate) fn page(shared: &App, lang: Lang, Query(asked): Query<Vec<(String, String)>>) -> Result<Made> {
    let sides = TickedSides::ticked("/compare", "run", &asked, MOST_RUNS)?;
    let runs = sides.names.iter().map(|id| load(shared, id)).collect::<Result<Vec<_>>>()?;
    side_by_side(&sides, &runs, lang, Vec::new())
}

/// Handles `GET /models/compare?model=A&model=B…`.
pub(crate) fn models(shared: &App, lang: Lang, Query(asked): Query<Vec<(String, String)>>) -> Result<Made> {
    let sides = TickedSides::ticked("/models/compare", "model", &asked, MOST_MODELS)?;
    shared.desk.refuse_beside_real()?;
    let profile = profile_named(MODELS_PROFILE)?;
    let compute = |name: &&str| {
        own_model(name, &[])?;
        what_if(name, profile.clone(), Vec::new())
    };
    let runs = in_parallel(&sides.names, compute)?.into_iter().collect::<Result<Vec<_>>>()?;
    let worth = || Ok(written(&side_by_side_doc(&sides_of(&sides.names, &[])?), lang));
    let tab: Tab<'_> = ("worth", text!("Capacity and safety", "容量と安全性"), Box::new(worth));
    side_by_side(&sides, &runs, lang, vec![tab])
}

impl<'a> TickedSides<'a> {
    /// Returns the selected sides without duplicates. At least two are required.
    fn ticked(
        path: &'static str,
        key: &'static str,
        asked: &'a [(String, String)],
        most: usize,
    ) -> Result<Self> {
        let mut names: Vec<&str> = Vec::new();
        for (_, name) in asked.iter().filter(|(word, _)| word == key) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        if !(2..=most).contains(&names.len()) {
            return Err(usage(
                text!("two to {most} are compared", "比べられるのは 2 件から {most} 件までです"),
                text!("tick them in the list", "一覧で選んでください"),
            ));
        }
        Ok(Self { path, key, asked, names })
    }

    /// Returns the value of a parameter.
    fn word(&self, key: &str) -> Option<&'a str> {
        self.asked.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

fn side_by_side(sides: &TickedSides<'_>, runs: &[RunRecord], lang: Lang, more: Vec<Tab<'_>>) -> Result<Made> {
    let list: Vec<&RunRecord> = runs.iter().collect();
    let report = Report::new(list.clone(), MARGIN, &[], None, lang);
    let mut parts = report_tabs(&report, lang);
    parts.extend(more);
    parts.push(("use", text!("For a use", "用途で選ぶ"), Box::new(|| purpose(sides, &list, lang))));
    // A reader who sets weights for a use wants to see its tab.
    let tab = sides.word("tab").or(sides.word("use").map(|_| "use"));
    let address = address_of(sides.path, sides.key, sides.names.iter().copied());
    let page = html! {
        header.report { (written(&report.head_doc(), lang)) }
        (tabs(&address, parts, tab, lang)?)
    };
    Ok(Made::Headed(report.title(), page))
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
                @for name in &sides.names { input type="hidden" name=(sides.key) value=(name); }
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
            @if let Some(weighed) = &weighed { (recommended(runs, weighed, lang)) }
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

fn recommended(runs: &[&RunRecord], weighed: &Use, lang: Lang) -> Markup {
    let wrong = if weighed.work.iter().all(|work| work.share == 0.0) {
        text!("Give a part of the use more than 0 %.", "いずれかの割合を 0 % より大きくしてください。")
    } else if let Some(choice) = recommend(runs, weighed) {
        return written(&recommendation_doc(&choice, weighed, runs, &[]), lang);
    } else {
        text!(
            "These runs have no test in common that this use needs.",
            "これらの測定には、この用途に必要な共通の項目がありません。"
        )
    };
    html! { p.notice.warn { (wrong.get(lang)) } }
}
