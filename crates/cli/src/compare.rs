//! `kurabe compare`, `kurabe recommend` and `kurabe history`

use crate::args::{CompareArgs, Global, HistoryArgs, RecommendArgs};
use crate::charts::show_forest;
use crate::output::{print, print_json, style};
use crate::stored::store_with_runs;
use kurabe_compare::{KEYS, Use, pair};
use kurabe_core::record::{RunRecord, RunStatus};
use kurabe_core::{Error, ErrorKind, Result, Text, nearest, text};
use kurabe_report::{answer, answer_for, render_history, render_pair, render_recommendation};
use std::collections::BTreeMap;

/// Runs the command.
///
/// # Errors
/// When there is no such run, or nothing of that name can differ.
pub fn compare(args: &CompareArgs, global: &Global) -> Result<()> {
    check_about(&args.about)?;
    let runs = load([&args.baseline, &args.other], global)?;
    let (baseline, other) = (&runs[0], &runs[1]);
    let pair = pair(baseline, other, args.margin);
    if args.chart {
        return show_forest(&pair, [baseline, other]);
    }
    if global.json {
        return print_json(
            &serde_json::json!({ "event": "comparison", "answer": answer(&pair), "comparison": pair }),
        );
    }
    print(&render_pair(&pair, [&baseline.header, &other.header], &args.about, &style()))
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
        let answer = answer_for(&found, &ids);
        return print_json(
            &serde_json::json!({ "event": "recommendation", "runs": ids, "answer": answer, "recommendation": found }),
        );
    }
    print(&render_recommendation(&found, &wanted, &ids, &style()))
}

/// `kurabe history`
///
/// # Errors
/// When no device of this name was measured twice with one profile.
pub fn history(args: &HistoryArgs, global: &Global) -> Result<()> {
    let store = store_with_runs(global)?;
    let mut groups: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for run in store.list()? {
        let device = run.device.clone().unwrap_or_else(|| run.target.clone());
        let names = [
            Some(device.as_str()),
            Some(run.target.as_str()),
            run.model.as_ref().map(|title| title.en.as_str()),
        ];
        let wanted = args.word.as_ref().is_none_or(|word| {
            let word = word.to_lowercase();
            names.iter().flatten().any(|name| name.to_lowercase().contains(&word))
        });
        let of_profile = args.profile.as_ref().is_none_or(|profile| *profile == run.profile);
        if wanted && of_profile && run.status == RunStatus::Complete {
            groups.entry((device, run.profile)).or_default().push(run.id);
        }
    }
    groups.retain(|_, ids| ids.len() > 1);
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
    for (place, ((device, _), ids)) in groups.iter().enumerate() {
        let mut runs = ids.iter().map(|id| store.load(id)).collect::<Result<Vec<RunRecord>>>()?;
        runs.sort_by(|a, b| a.header.measured_at().cmp(b.header.measured_at()));
        let Some(found) = kurabe_compare::history(&runs, args.margin) else { continue };
        if global.json {
            print_json(&serde_json::json!({ "event": "history", "device": device, "history": found }))?;
            continue;
        }
        let headers = [&runs[0].header, &runs[runs.len() - 1].header];
        let gap = if place > 0 { "\n" } else { "" };
        print(&format!("{gap}{}", render_history(&found, device, headers, &style())))?;
    }
    Ok(())
}

/// Refuses what nothing is compared by.
///
/// # Errors
/// When nothing of a name can differ.
pub fn check_about(about: &[String]) -> Result<()> {
    if let Some(word) = about.iter().find(|word| !KEYS.contains(&word.as_str())) {
        return Err(Error::new(
            ErrorKind::Usage,
            text!(
                "--about {word}: runs are not compared by this",
                "--about {word}: この条件では比べられません"
            ),
        )
        .remedy(nearest(word, KEYS)));
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

fn list_them() -> Text {
    text!("`kurabe list` shows all runs", "`kurabe list` ですべての測定を確認できます")
}
