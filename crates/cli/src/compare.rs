//! `kurabe compare`, `kurabe recommend` and `kurabe history`

use crate::args::{CompareArgs, Global, HistoryArgs, RecommendArgs};
use crate::lang::lang;
use crate::output::{print_json, print_page, style};
use crate::pivot::{digests, pivot};
use crate::stored::store_with_runs;
use kurabe_compare::{Pair, Use, check_about, fastest, measured_again, names, pair};
use kurabe_core::record::RunRecord;
use kurabe_core::{Error, ErrorKind, Result, Text, text};
use kurabe_report::{
    answer, answer_for, asked_json, demerit_pictures, demerits, fastest_words, forest_of, render_demerits,
    render_history, render_pair, render_pairs, render_pictures, render_recommendation, run_figures,
    spoken_json,
};
use kurabe_store::Filter;

/// Runs the command.
///
/// # Errors
/// When there is no such run, or nothing of that name can differ.
pub fn compare(args: &CompareArgs, global: &Global) -> Result<()> {
    if !args.pivot.by.is_empty() {
        return pivot(args, global);
    }
    if let Some(trace) = &args.measured {
        return compare_with_measured(trace, args, global);
    }
    check_about(&args.about)?;
    let runs = load(&args.runs, global)?;
    let [baseline, other] = runs.as_slice() else { return compare_several(&runs, args, global) };
    let pair = pair(baseline, other, args.margin);
    if args.chart {
        let forest = forest_of(&pair, [baseline, other], lang())?;
        return print_page(&render_pictures(&forest, &style()));
    }
    if global.json {
        let spoken = spoken_json(&pair, "/differences", &pair.differences)?;
        return print_json(&serde_json::json!({
            "event": "comparison",
            "answer": answer(&pair),
            "comparison": spoken,
            "about": asked_json(&pair.facts, &args.about),
            "figures": { "baseline": run_figures(baseline), "other": run_figures(other) },
        }));
    }
    print_page(&render_pair(&pair, [&baseline.header, &other.header], &args.about, &style()))
}

/// Several runs, each held against the first.
fn compare_several(runs: &[RunRecord], args: &CompareArgs, global: &Global) -> Result<()> {
    let list: Vec<&RunRecord> = runs.iter().collect();
    let Some((baseline, others)) = list.split_first().filter(|(_, others)| others.len() > 1 && !args.chart)
    else {
        return Err(two_runs(args.chart));
    };
    let names = names(&list);
    let pairs: Vec<Pair> = others
        .iter()
        .zip(&names[1..])
        .map(|(other, name)| {
            // In all of the answer a run has one name.
            Pair { names: [names[0].clone(), name.clone()], ..pair(baseline, other, args.margin) }
        })
        .collect();
    let fastest = fastest_of(&list, args.margin);
    if global.json {
        let answers: Vec<Text> = pairs.iter().map(answer).collect();
        let spoken = |pair: &Pair| spoken_json(pair, "/differences", &pair.differences);
        return print_json(&serde_json::json!({
            "event": "comparisons",
            "fastest": fastest,
            "answers": answers,
            "comparisons": pairs.iter().map(spoken).collect::<Result<Vec<_>>>()?,
        }));
    }
    let headers: Vec<_> = list.iter().map(|run| &run.header).collect();
    print_page(&render_pairs(&pairs, &headers, fastest, &args.about, &style()))
}

/// Which of several runs is the fastest, in a sentence.
pub fn fastest_of(runs: &[&RunRecord], margin: f64) -> Option<Text> {
    Some(fastest_words(&fastest(runs, margin)?, &names(runs)))
}

/// One run, and the latencies that a trace says were measured.
fn compare_with_measured(trace: &str, args: &CompareArgs, global: &Global) -> Result<()> {
    let runs = load(&args.runs, global)?;
    let [run] = runs.as_slice() else {
        return Err(Error::new(
            ErrorKind::Usage,
            text!("--measured compares one run with a trace", "--measured で比べられる測定は 1 つです"),
        )
        .remedy(text!("name one run", "測定を 1 つだけ指定してください")));
    };
    let measured = kurabe_lab::measured_latencies(trace)?;
    let rows = demerits(run, &measured);
    if global.json {
        return print_json(
            &serde_json::json!({ "event": "demerit", "run": run.header.id, "demerits": rows }),
        );
    }
    if args.chart {
        return print_page(&render_pictures(&demerit_pictures(run, &measured, lang()), &style()));
    }
    print_page(&render_demerits(run, trace, &rows, &style()))
}

/// `kurabe recommend`
///
/// # Errors
/// When there is no such run or use, or the runs have nothing in common that the use does.
pub fn recommend(args: &RecommendArgs, global: &Global) -> Result<()> {
    let wanted = Use::load(&args.purpose)?;
    let runs = load(&args.runs, global)?;
    let list: Vec<&RunRecord> = runs.iter().collect();
    let ids: Vec<&str> = runs.iter().map(|run| run.header.id.as_str()).collect();
    let found = kurabe_compare::recommend(&list, &wanted).ok_or_else(|| {
        let name = &wanted.name;
        Error::new(
            ErrorKind::Usage,
            text!(
                "these runs have no cell in common that `{name}` needs",
                "これらの測定には、`{name}` に必要な共通の項目がありません"
            ),
        )
        .remedy(text!(
            "measure all of them with one profile, such as default or cdm-9",
            "すべてを同じプロファイル(default や cdm-9 など)で測ってください"
        ))
    })?;
    if global.json {
        let answer = answer_for(&found, &names(&list));
        let spoken = spoken_json(&found, "/doubts", &found.doubts)?;
        return print_json(
            &serde_json::json!({ "event": "recommendation", "runs": ids, "answer": answer, "recommendation": spoken }),
        );
    }
    print_page(&render_recommendation(&found, &wanted, &list, &style()))
}

/// `kurabe history`
///
/// # Errors
/// When no device of this name was measured twice with one profile.
pub fn history(args: &HistoryArgs, global: &Global) -> Result<()> {
    let store = store_with_runs(global)?;
    let filter = Filter {
        device: args.word.clone().or_else(|| args.device.clone()),
        profile: args.profile.clone(),
        ..Filter::default()
    };
    let digests = digests(&*store, global)?;
    let groups = measured_again(&filter.apply(store.list()?), &digests);
    if groups.is_empty() {
        return Err(Error::new(
            ErrorKind::NoSuchRun,
            text!(
                "no such device was measured twice with one profile",
                "同じプロファイルで 2 回以上測ったデバイスが見つかりません"
            ),
        )
        .remedy(list_them()));
    }
    for (place, (device, ids)) in groups.iter().enumerate() {
        let (first, last) = (store.load(&ids[0])?, store.load(&ids[ids.len() - 1])?);
        let found = kurabe_compare::history(&first, &last, ids, &digests, args.margin);
        if global.json {
            let spoken = spoken_json(&found, "/change/differences", &found.change.differences)?;
            print_json(&serde_json::json!({ "event": "history", "device": device, "history": spoken }))?;
            continue;
        }
        let gap = if place > 0 { "\n" } else { "" };
        let page = render_history(&found, device, [&first.header, &last.header], &style());
        print_page(&format!("{gap}{page}"))?;
    }
    Ok(())
}

/// The runs of these names, each of which must be another.
///
/// # Errors
/// When there is no such run, or one is named twice.
pub fn load<'n>(names: impl IntoIterator<Item = &'n String>, global: &Global) -> Result<Vec<RunRecord>> {
    let store = store_with_runs(global)?;
    let ids = names.into_iter().map(|name| store.resolve(name)).collect::<Result<Vec<_>>>()?;
    if let Some(twice) =
        ids.iter().enumerate().find_map(|(place, id)| ids[..place].contains(id).then_some(id))
    {
        return Err(Error::new(
            ErrorKind::Usage,
            text!(
                "{twice} is named twice: that is the same run",
                "{twice} が 2 回指定されています(同じ測定です)"
            ),
        )
        .remedy(list_them()));
    }
    ids.iter().map(|id| store.load(id)).collect()
}

fn two_runs(as_chart: bool) -> Error {
    let what = if as_chart {
        text!("a chart compares two runs", "図で比べられるのは 2 つの測定です")
    } else {
        text!("two runs or more are compared", "比べるには 2 つ以上の測定が必要です")
    };
    Error::new(ErrorKind::Usage, what).remedy(text!(
        "name two runs, the baseline first; several are laid out with --by, such as --by run",
        "2 つの測定を、基準を先に指定してください。3 つ以上は --by(--by run など)で並べられます"
    ))
}

fn list_them() -> Text {
    text!("`kurabe list` shows all runs", "`kurabe list` ですべての測定を確認できます")
}
