//! `kurabe compare` and `kurabe recommend`

use crate::args::{CompareArgs, Global, RecommendArgs};
use crate::output::{print, print_json, style};
use crate::stored::store_with_runs;
use kurabe_compare::{KEYS, Use, pair};
use kurabe_core::record::RunRecord;
use kurabe_core::{Error, ErrorKind, Result, nearest, text};
use kurabe_report::{answer, answer_for, render_pair, render_recommendation};

/// Runs the command.
///
/// # Errors
/// When there is no such run, or nothing of that name can differ.
pub fn compare(args: &CompareArgs, global: &Global) -> Result<()> {
    if let Some(word) = args.about.iter().find(|word| !KEYS.contains(&word.as_str())) {
        return Err(Error::new(
            ErrorKind::Usage,
            text!(
                "--about {word}: runs are not compared by this",
                "--about {word}: この条件では比べられません"
            ),
        )
        .remedy(nearest(word, KEYS)));
    }
    let [baseline, other] = &load(&[args.baseline.clone(), args.other.clone()], global)?[..] else {
        return Err(Error::new(ErrorKind::Internal, text!("two runs are compared", "2 つの測定を比べます")));
    };
    let pair = pair(baseline, other, args.margin);
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

/// The runs of these names, each of which must be another.
fn load(names: &[String], global: &Global) -> Result<Vec<RunRecord>> {
    let store = store_with_runs(global)?;
    let ids = names.iter().map(|name| store.resolve(name)).collect::<Result<Vec<_>>>()?;
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
        .remedy(text!("`kurabe list` shows all runs", "`kurabe list` ですべての測定を確認できます")));
    }
    ids.iter().map(|id| store.load(id)).collect()
}
