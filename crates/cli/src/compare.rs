//! `kurabe compare`, `kurabe recommend` and `kurabe history`

use crate::args::{CompareArgs, Global, HistoryArgs, JudgedArgs, RecommendArgs};
use crate::output::{print_json, print_page, style};
use crate::pivot::{digests, pivot};
use crate::show::{ScriptLine, pair_line};
use crate::{lang::lang, stored::store_with_runs};
use kurabe_compare::{Use, check_about, fastest, measured_again, names, pairs};
use kurabe_core::target_name::TargetName;
use kurabe_core::{Error, ErrorKind, Result, Text, record::RunRecord, text};
use kurabe_lab::{assumed_movers, distinct_runs, limits_of_runs, observed, ranked_models, sides_of_runs};
use kurabe_report::{
    SpokenPairs, Unaccepted, accept, answer_for, demerit_pictures, demerits, fastest_words, forests,
    history_doc, ranking_doc, recommendation_doc, render_demerits, render_pair, render_pairs,
    render_pictures,
};
use kurabe_store::Filter;
use kurabe_study::ModelSide;

/// Runs the command.
///
/// # Errors
/// When a run does not exist, or `--about` names an unknown fact.
pub fn compare(args: &CompareArgs, global: &Global) -> Result<()> {
    if !args.pivot.by.is_empty() {
        return pivot(args, global);
    }
    if let Some(trace) = &args.measured {
        return compare_with_measured(trace, args, global);
    }
    check_about(&args.judged.about)?;
    if args.chart {
        let runs = load(&args.runs, global)?;
        let list: Vec<&RunRecord> = runs.iter().collect();
        let pairs = pairs(&list, args.judged.margin);
        return print_page(&render_pictures(&forests(&pairs, &list, lang())?, &style()));
    }
    compare_runs(&args.runs, &args.judged, &args.fail_on, global)
}

/// Shows runs side by side, the first as the baseline.
///
/// # Errors
/// When a run does not exist, or a `--fail-on` condition is met.
pub fn compare_runs(
    names_of_runs: &[String],
    judged: &JudgedArgs,
    fail_on: &[Unaccepted],
    global: &Global,
) -> Result<()> {
    let runs = load(names_of_runs, global)?;
    let list: Vec<&RunRecord> = runs.iter().collect();
    let pairs = pairs(&list, judged.margin);
    let headers: Vec<_> = list.iter().map(|run| &run.header).collect();
    let printed = match (pairs.as_slice(), global.json) {
        ([], _) => Err(two_runs()),
        ([pair], true) => print_json(&pair_line(pair, [list[0], list[1]], &judged.about)),
        ([pair], false) => print_page(&render_pair(pair, [headers[0], headers[1]], &judged.about, &style())),
        (several, is_json) => {
            let fastest = fastest_of(&list, judged.margin);
            match is_json {
                true => print_json(&ScriptLine::Comparisons(SpokenPairs::new(several, fastest))),
                false => print_page(&render_pairs(several, &headers, fastest, &judged.about, &style())),
            }
        }
    };
    printed.and_then(|()| accept(&pairs, fail_on))
}

/// Returns a sentence that names the fastest of several runs.
pub fn fastest_of(runs: &[&RunRecord], margin: f64) -> Option<Text> {
    Some(fastest_words(&fastest(runs, margin)?, &names(runs)))
}

/// Compares one run with the latencies in a trace of real I/O.
fn compare_with_measured(trace: &str, args: &CompareArgs, global: &Global) -> Result<()> {
    let runs = load(&args.runs, global)?;
    let [run] = runs.as_slice() else {
        return Err(ErrorKind::Usage
            .error(text!(
                "--measured compares one run with a trace",
                "--measured で比べられる測定は 1 つです"
            ))
            .remedy(text!("name one run", "測定を 1 つだけ指定してください")));
    };
    let measured = kurabe_lab::measured_latencies(trace)?;
    let rows = demerits(run, &measured);
    if global.json {
        return print_json(&ScriptLine::Demerit { run: &run.header.id, demerits: rows });
    }
    if args.chart {
        return print_page(&render_pictures(&demerit_pictures(run, &measured, lang()), &style()));
    }
    print_page(&render_demerits(run, trace, &rows, &style()))
}

/// `kurabe recommend`: ranks runs for a use.
///
/// # Errors
/// When a run or the use does not exist, or the runs have no cell in common that the use needs.
pub fn recommend(args: &RecommendArgs, global: &Global) -> Result<()> {
    let purpose = Use::load(&args.purpose)?;
    let targets: Vec<TargetName> = args.runs.iter().map(|run| TargetName::from(run.as_str())).collect();
    let models = targets.iter().map(TargetName::model).collect::<Option<Vec<_>>>();
    if let Some(models) = models {
        return recommend_models(&models, &purpose, global);
    }
    let runs = load(&args.runs, global)?;
    let list: Vec<&RunRecord> = runs.iter().collect();
    let ids: Vec<&str> = runs.iter().map(|run| run.header.id.as_str()).collect();
    let recommendation = kurabe_compare::recommend(&list, &purpose).ok_or_else(|| {
        let name = &purpose.name;
        ErrorKind::Usage
            .error(text!(
                "these runs share no test that `{name}` needs",
                "これらの測定には、`{name}` に必要な共通の項目がありません"
            ))
            .remedy(if purpose.measured_alone {
                text!(
                    "measure each with `kurabe fit --for {name}`",
                    "それぞれを `kurabe fit --for {name}` で測ってください"
                )
            } else {
                text!(
                    "measure all of them with the profile `uses`",
                    "すべてをプロファイル `uses` で測ってください"
                )
            })
    })?;
    let (sides, limits) = (sides_of_runs(&list)?, limits_of_runs(&list)?);
    if global.json {
        let answer = answer_for(&recommendation, &names(&list));
        return print_json(&ScriptLine::Recommendation {
            runs: ids,
            answer,
            recommendation: (&recommendation).into(),
            models: sides,
            limits,
        });
    }
    let sides: Vec<ModelSide> = sides.into_iter().flatten().collect();
    let doc = recommendation_doc(&recommendation, &purpose, &list, &sides, &limits);
    print_page(&doc.terminal(&style()))
}

/// Ranks models for a use. They are measured in virtual time, and nothing is stored.
fn recommend_models(names_of_models: &[&str], purpose: &Use, global: &Global) -> Result<()> {
    let models = ranked_models(names_of_models)?;
    let list: Vec<&RunRecord> = models.iter().map(|model| &model.run).collect();
    let choice = kurabe_compare::recommend(&list, purpose).ok_or_else(|| {
        let name = &purpose.name;
        ErrorKind::Usage
            .error(text!(
                "the profile `uses` has no test that `{name}` needs",
                "プロファイル `uses` には `{name}` に必要な項目がありません"
            ))
            .remedy(text!(
                "measure each with `kurabe fit --for {name}`",
                "それぞれを `kurabe fit --for {name}` で測ってください"
            ))
    })?;
    if global.json {
        let model =
            |run: &&RunRecord| run.header.model.as_ref().map_or("?".to_owned(), |model| model.name.clone());
        let named: Vec<String> = list.iter().map(model).collect();
        let answer = answer_for(&choice, &named.iter().map(Text::same).collect::<Vec<_>>());
        return print_json(&ScriptLine::Recommendation {
            runs: named.iter().map(String::as_str).collect(),
            answer,
            recommendation: (&choice).into(),
            models: vec![None; list.len()],
            limits: models.iter().map(|model| Some(model.limits.clone())).collect(),
        });
    }
    let best = choice.standings.first().and_then(|standing| list[standing.run].header.model.as_ref());
    let assumed = best.map(|best| assumed_movers(&best.name)).transpose()?.unwrap_or_default();
    print_page(&ranking_doc(&choice, purpose, &models, &assumed).terminal(&style()))
}

/// `kurabe history`: shows the runs of a device over time.
///
/// # Errors
/// When no device of this name was measured at least twice with the same settings.
pub fn history(args: &HistoryArgs, global: &Global) -> Result<()> {
    let store = store_with_runs(global)?;
    let word = args.word.as_ref().or(args.device.as_ref());
    let here = word.map(|word| observed(&*store, word)).transpose()?.flatten();
    let filter = Filter {
        device: word.filter(|_| here.is_none()).cloned(),
        profile: args.profile.clone(),
        ..Filter::default()
    };
    let runs = store.narrowed(&filter)?;
    let digests = digests(&*store, &runs, global)?;
    let groups = measured_again(&runs, &digests, here.as_ref());
    if groups.is_empty() {
        return Err(ErrorKind::NoSuchRun
            .error(text!(
                "no device was measured twice in the same way",
                "同じ条件で 2 回以上測ったデバイスが見つかりません"
            ))
            .remedy(text!("`kurabe list` shows all runs", "`kurabe list` ですべての測定を確認できます")));
    }
    for (place, (device, ids)) in groups.iter().enumerate() {
        let (first, last) = (store.load(&ids[0])?, store.load(&ids[ids.len() - 1])?);
        let history = kurabe_compare::history(&first, &last, ids, &digests, args.margin);
        if global.json {
            print_json(&ScriptLine::History { device, history: (&history).into() })?;
            continue;
        }
        let gap = if place > 0 { "\n" } else { "" };
        let page = history_doc(&history, device, [&first.header, &last.header]).terminal(&style());
        print_page(&format!("{gap}{page}"))?;
    }
    Ok(())
}

/// Loads the runs with these names, which must be distinct.
///
/// # Errors
/// When a run does not exist, or is named twice.
pub fn load<'n>(names: impl IntoIterator<Item = &'n String>, global: &Global) -> Result<Vec<RunRecord>> {
    distinct_runs(&*store_with_runs(global)?, names)
}

fn two_runs() -> Error {
    let what = text!("a comparison needs two or more runs", "比べるには 2 つ以上の測定が必要です");
    ErrorKind::Usage.error(what).remedy(text!(
        "name two runs, the baseline first; for more runs, use a table: --by run",
        "2 つの測定を、基準を先に指定してください。3 つ以上は --by(--by run など)で並べられます"
    ))
}
