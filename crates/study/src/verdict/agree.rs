//! Compares an answer with the conclusion of an article.

use super::answer::{Agreement, Answer, Best, Choice, place_of};
use crate::question::Conclusion;
use kurabe_explain::LimitKind;

/// Returns whether an answer agrees with a conclusion.
pub(super) fn agreement(
    conclusion: &Conclusion,
    answer: &Answer,
    choices: &[Choice],
    margin: f64,
) -> Agreement {
    let places =
        |keys: &[String]| -> Option<Vec<usize>> { keys.iter().map(|key| place_of(choices, key)).collect() };
    let agreement = match (conclusion, answer) {
        (Conclusion::Best(keys), Answer::Best(best)) => places(keys).map(|choices| is_best(&choices, best)),
        (Conclusion::Groups { first, last }, Answer::Best(best)) => {
            places(first).zip(places(last)).map(|(first, last)| are_apart(&first, &last, best, margin))
        }
        (Conclusion::Becomes(becomes), Answer::Change(changes)) => {
            Some(all_or_some(changes.iter().map(|change| change.becomes == *becomes)))
        }
        (Conclusion::Never(becomes), Answer::Change(changes)) => {
            Some(all_or_some(changes.iter().map(|change| change.becomes != *becomes)))
        }
        (Conclusion::Goes(concluded), Answer::Order { goes, .. }) => {
            Some(all_or_some([concluded == goes].into_iter()))
        }
        (Conclusion::OnLine(concluded), Answer::Line(courses)) => {
            Some(all_or_some(courses.iter().map(|course| course.on_line == *concluded)))
        }
        (Conclusion::Keeps { keep: kept, break_it: broken }, Answer::Keeps { keep, break_it, .. }) => {
            places(kept).zip(places(broken)).map(|(kept, broken)| {
                let measured = |row: &&usize| keep.contains(row) || break_it.contains(row);
                let does = kept.iter().filter(measured).map(|row| keep.contains(row));
                all_or_some(does.chain(broken.iter().filter(measured).map(|row| break_it.contains(row))))
            })
        }
        (Conclusion::Reason(kinds), Answer::Reason(reason)) => {
            let kind = reason.outside.limit.kind;
            let is_told = kind != LimitKind::Unknown;
            Some(all_or_some(is_told.then(|| kinds.contains(&kind)).into_iter()))
        }
        _ => None,
    };
    agreement.unwrap_or(Agreement::CannotBeTold)
}

fn all_or_some(holds: impl Iterator<Item = bool>) -> Agreement {
    let (mut yes, mut no) = (0, 0);
    holds.for_each(|holds| if holds { yes += 1 } else { no += 1 });
    match (yes, no) {
        (0, 0) => Agreement::CannotBeTold,
        (_, 0) => Agreement::Agrees,
        (0, _) => Agreement::Differs,
        _ => Agreement::Partly,
    }
}

/// Compares the best choices.
///
/// Equal sets agree, and sets that overlap agree in part.
fn is_best(conclusion: &[usize], best: &Best) -> Agreement {
    let mut conclusion = conclusion.to_vec();
    conclusion.sort_unstable();
    if conclusion == best.best {
        Agreement::Agrees
    } else if conclusion.iter().any(|choice| best.best.contains(choice)) {
        Agreement::Partly
    } else {
        Agreement::Differs
    }
}

/// Checks that each of the first is better than each of the last, either by more than the margin or
/// because the last breaks a limit. Choices without figures do not count.
fn are_apart(first: &[usize], last: &[usize], best: &Best, margin: f64) -> Agreement {
    let standing = |choice: &usize| best.standings.iter().find(|standing| standing.choice == *choice);
    let pairs = first
        .iter()
        .filter_map(standing)
        .flat_map(|better| last.iter().filter_map(standing).map(move |worse| (better, worse)));
    let holds = pairs.map(|(better, worse)| {
        better.out.is_none() && (worse.out.is_some() || better.of_best > worse.of_best * (1.0 + margin))
    });
    all_or_some(holds)
}
