//! Comparisons for other programs: each with its answer in words.

use crate::compare::answer;
use crate::compare::facts::{asked_json, spoken_json};
use kurabe_compare::Pair;
use kurabe_core::record::RunRecord;
use kurabe_core::{Result, Text};
use kurabe_stats::run_figures;
use serde_json::{Value, json};

/// Two runs beside each other, and what is known of the facts that were asked about.
///
/// # Errors
/// When they cannot be written as JSON.
pub fn pair_json(pair: &Pair, [baseline, other]: [&RunRecord; 2], about: &[String]) -> Result<Value> {
    Ok(json!({
        "event": "comparison",
        "answer": answer(pair),
        "comparison": spoken_json(pair, "/differences", &pair.differences)?,
        "about": asked_json(&pair.facts, about),
        "figures": { "baseline": run_figures(baseline), "other": run_figures(other) },
    }))
}

/// Several runs, each beside the first, and which is the fastest.
///
/// # Errors
/// When they cannot be written as JSON.
pub fn pairs_json(event: &str, pairs: &[Pair], fastest: Option<&Text>) -> Result<Value> {
    let answers: Vec<Text> = pairs.iter().map(answer).collect();
    let spoken = |pair: &Pair| spoken_json(pair, "/differences", &pair.differences);
    let comparisons = pairs.iter().map(spoken).collect::<Result<Vec<_>>>()?;
    Ok(json!({ "event": event, "fastest": fastest, "answers": answers, "comparisons": comparisons }))
}
