//! Verdicts: answers to a study's questions, computed from its figures, next to the article's
//! conclusions.
//!
//! The figures of a question are gathered into a grid of choices (`gather`), an answer is decided
//! from the grid (`decide`), and the answer is compared with the article's conclusion (`agree`). If
//! the same figures are published, they are decided in the same way. A reader then sees whether
//! model and article differ in the figures or in the conclusions drawn from them. Nothing here
//! depends on the name of a device.
//!
//! Not here: the sentences of an answer (kurabe-report).

mod agree;
mod answer;
mod decide;
mod gather;
mod reason;

pub use answer::{
    Agreement, Answer, ArticleView, AxisFit, Best, Caveat, Change, Choice, Deciding, Grounds, OfPublished,
    QuestionResult, RankedChoice, ReasonView, RestsOn,
};
pub(crate) use gather::MeasuredRows;

use crate::question::{Article, Ask, Question};
use crate::result::PartResult;
use crate::result::RowOrder;
use gather::ChoiceGrid;
use kurabe_core::text;

/// Returns the verdicts on questions whose tables are all present, in order.
///
/// Questions that no figure can decide are included only together with others. `measured` returns
/// the measurements of rows, for uses and reasons.
pub(crate) fn verdicts(
    questions: &[Question],
    parts: &[PartResult],
    measured: &MeasuredRows<'_>,
) -> Vec<QuestionResult> {
    let is_there = |question: &&Question| question.parts().all(|id| parts.iter().any(|part| part.id == id));
    let needs_tables = |question: &&Question| question.parts().next().is_some();
    let none_asked = questions.iter().any(|question| needs_tables(&question))
        && !questions.iter().filter(needs_tables).any(|question| is_there(&question));
    if none_asked {
        return Vec::new();
    }
    questions.iter().filter(is_there).map(|question| verdict(question, parts, measured)).collect()
}

fn verdict(question: &Question, parts: &[PartResult], measured: &MeasuredRows<'_>) -> QuestionResult {
    let purpose = match &question.ask {
        Ask::BestFor(purpose) => Some((purpose.name.clone(), purpose.title.clone())),
        _ => None,
    };
    let (grid, answer) = match &question.ask {
        Ask::Untold(_) => (ChoiceGrid::default(), None),
        Ask::BestFor(purpose) => match gather::for_use(question, purpose, parts, measured) {
            Some(grid) => {
                let answer = decide::decide(question, &grid, &grid.values());
                (grid, answer)
            }
            None => (gather::choices_only(question, parts), None),
        },
        Ask::Reason { at, cell } => reason::reason(question, (at, cell), parts, measured),
        _ => {
            let mut grid = gather::gather(question, parts);
            if question.ask == Ask::Best {
                grid.resample();
            }
            let answer = decide::decide(question, &grid, &grid.values());
            (grid, answer)
        }
    };
    let untold = match (&question.ask, &answer) {
        (Ask::Untold(why), _) => Some(why.clone()),
        (_, None) => {
            Some(text!("not enough of these figures were measured", "この問いに必要な値がそろっていません"))
        }
        _ => None,
    };
    let margin = decide::margin(question, &grid);
    let held = |article: &Article, answer: &Answer| {
        let conclusion = article.conclusion.as_ref()?;
        Some(agree::agreement(conclusion, answer, &grid.choices, margin))
    };
    let published = decide::decide(question, &grid, &grid.published()).map(|answer| OfPublished {
        agreement: question.article.as_ref().and_then(|article| held(article, &answer)),
        answer,
    });
    let article =
        question.article.as_ref().map(|article| judge_article(article, &grid, answer.as_ref(), margin));
    let interleaved = question.parts().all(|id| {
        let part = parts.iter().find(|part| part.id == id);
        part.is_some_and(|part| matches!(part.order.as_slice(), [RowOrder::Interleaved { .. }]))
    });
    QuestionResult {
        interleaved,
        head: question.head.clone(),
        parts: question.parts().map(str::to_owned).collect(),
        purpose,
        margin,
        article,
        grounds: grid.grounds,
        answer,
        untold,
        published,
    }
}

fn judge_article(article: &Article, grid: &ChoiceGrid, answer: Option<&Answer>, margin: f64) -> ArticleView {
    let agreement = match (&article.conclusion, answer) {
        (Some(conclusion), Some(answer)) => {
            // An agreement confirms nothing if the model was given the conclusion. A disagreement
            // would be informative.
            Some(match agree::agreement(conclusion, answer, &grid.choices, margin) {
                Agreement::Agrees | Agreement::Partly if !grid.assumed.is_empty() => Agreement::WasGiven,
                agreement => agreement,
            })
        }
        (None, Some(_)) => None,
        (_, None) => Some(Agreement::CannotBeTold),
    };
    let why = article.why.clone().filter(|_| agreement != Some(Agreement::Agrees));
    ArticleView { says: article.says.clone(), conclusion: article.conclusion.clone(), agreement, why }
}
