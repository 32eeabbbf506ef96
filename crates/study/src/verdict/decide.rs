//! Decides: computes an answer from a grid of figures.
//!
//! A decision depends only on the values of the grid, so measured and published figures are treated
//! alike. A figure counts only if every measured choice has it. If the figures cannot decide, the
//! answer is `None`.

use super::answer::{Answer, AxisFit, Best, Change, RankedChoice, RestsOn, place_of};
use super::gather::ChoiceGrid;
use crate::axis::{Along, number_of};
use crate::question::{Ask, Becomes, Goes, MODEL_MARGIN, Question, USUAL_MARGIN};
use kurabe_compare::FIRM_SHARE;
use kurabe_stats::{CONFIDENCE, concordance, geometric_mean, harmonic_mean, line};

/// Smallest share of the variance that a line must explain (R²).
const ON_LINE: f64 = 0.99;

/// One row for each figure, one column for each choice.
type Values = [Vec<Option<f64>>];

/// Returns the answer that the values give, or `None` if they cannot decide.
pub(super) fn decide(question: &Question, grid: &ChoiceGrid, values: &Values) -> Option<Answer> {
    let margin = margin(question, grid);
    match &question.ask {
        Ask::Best => best(grid, values, geometric_mean, margin).map(Answer::Best),
        Ask::BestFor(_) => best(grid, values, harmonic_mean, margin).map(Answer::Best),
        Ask::Change { from, to } => changes(grid, values, [from, to], margin).map(Answer::Change),
        Ask::Order => order(values),
        Ask::Line => courses(grid, values).map(Answer::Line),
        Ask::Keeps { at_most, at_least } => keeps(grid, values, *at_most, *at_least),
        // A grid of figures cannot decide these.
        Ask::Reason { .. } | Ask::Untold(_) => None,
    }
}

/// Returns the largest relative difference that does not matter.
pub(super) fn margin(question: &Question, grid: &ChoiceGrid) -> f64 {
    let ranks = matches!(question.ask, Ask::Best | Ask::BestFor(_));
    let computed = grid.choices.iter().all(|choice| !choice.real);
    question.margin.unwrap_or(if ranks && computed { MODEL_MARGIN } else { USUAL_MARGIN })
}

/// Returns the choices that have any figure.
fn present(grid: &ChoiceGrid, values: &Values) -> Vec<usize> {
    (0..grid.choices.len()).filter(|choice| values.iter().any(|line| line[*choice].is_some())).collect()
}

/// Returns the figures that all of these choices have, with values above zero.
fn usable(values: &Values, choices: &[usize]) -> Vec<usize> {
    let is_usable = |line: &Vec<Option<f64>>| {
        choices.iter().all(|choice| line[*choice].is_some_and(|value| value > 0.0 && value.is_finite()))
    };
    (0..values.len()).filter(|figure| is_usable(&values[*figure])).collect()
}

/// Mean that combines the figures of a choice: geometric for independent figures, harmonic for
/// amounts of work done one after the other.
type Mean = fn(Vec<(f64, f64)>) -> f64;

fn best(grid: &ChoiceGrid, values: &Values, mean: Mean, margin: f64) -> Option<Best> {
    let choices = present(grid, values);
    let figures = usable(values, &choices);
    if choices.len() < 2 || figures.is_empty() {
        return None;
    }
    let standings = ranked(grid, values, mean, &choices, &figures);
    let holds = grid.holds;
    let leaders = leaders(&standings, margin, &grid.behind);
    let rests_on = figures
        .iter()
        .filter(|_| figures.len() > 1)
        .filter_map(|left_out| {
            let others: Vec<usize> = figures.iter().copied().filter(|figure| figure != left_out).collect();
            let instead = self::leaders(&ranked(grid, values, mean, &choices, &others), margin, &[]);
            (instead != leaders).then_some(RestsOn { figure: *left_out, instead })
        })
        .collect();
    // With repetitions, the share of resamples shows how stable the order is, rather than single
    // figures.
    Some(Best {
        best: leaders,
        rests_on: if holds.is_some() { Vec::new() } else { rests_on },
        standings,
        holds,
    })
}

/// Ranks the choices by the weighted mean of their figures; those that break a limit come last.
fn ranked(
    grid: &ChoiceGrid,
    values: &Values,
    mean: Mean,
    choices: &[usize],
    figures: &[usize],
) -> Vec<RankedChoice> {
    let worth = |choice: usize| {
        let weighted = figures.iter().map(|figure| {
            let deciding = &grid.figures[*figure];
            let value = values[*figure][choice].unwrap_or(f64::NAN);
            (deciding.weight, if deciding.less_is_better { 1.0 / value } else { value })
        });
        mean(weighted.collect())
    };
    let out = |choice: usize| grid.outs[choice].clone();
    let mut order: Vec<(usize, f64)> = choices.iter().map(|choice| (*choice, worth(*choice))).collect();
    order.sort_by(|a, b| out(a.0).is_some().cmp(&out(b.0).is_some()).then(b.1.total_cmp(&a.1)));
    let first = order[0].1;
    order
        .into_iter()
        .map(|(choice, worth)| RankedChoice { choice, of_best: worth / first, out: out(choice) })
        .collect()
}

/// Returns the first choice, and those whose distance to it does not matter or is not certain, in
/// the order of the choices. Empty if all break a limit.
fn leaders(standings: &[RankedChoice], margin: f64, behind: &[f64]) -> Vec<usize> {
    let able = standings.iter().filter(|standing| standing.out.is_none());
    let unsure = |choice: usize| behind.get(choice).is_some_and(|share| *share < FIRM_SHARE);
    let mut leaders: Vec<usize> = able
        .filter(|standing| standing.of_best * (1.0 + margin) > 1.0 || unsure(standing.choice))
        .map(|standing| standing.choice)
        .collect();
    leaders.sort_unstable();
    leaders
}

fn changes(grid: &ChoiceGrid, values: &Values, ends: [&String; 2], margin: f64) -> Option<Vec<Change>> {
    let (from, to) = (place_of(&grid.choices, ends[0])?, place_of(&grid.choices, ends[1])?);
    let of_figure = |figure: usize| {
        let (from, to) = (values[figure][from]?, values[figure][to]?);
        let less_is_better = grid.figures[figure].less_is_better;
        Some(Change { figure, from, to, becomes: becomes(from, to, less_is_better, margin) })
    };
    let changes: Vec<Change> = (0..values.len()).filter_map(of_figure).collect();
    (!changes.is_empty()).then_some(changes)
}

fn becomes(from: f64, to: f64, less_is_better: bool, margin: f64) -> Becomes {
    let (low, high) = if from < to { (from, to) } else { (to, from) };
    if high <= low * (1.0 + margin) {
        return Becomes::Same;
    }
    if (to > from) == less_is_better { Becomes::Worse } else { Becomes::Better }
}

fn order(values: &Values) -> Option<Answer> {
    let [one, other] = values else { return None };
    let both: Vec<(f64, f64)> = one.iter().zip(other).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    let (one, other): (Vec<f64>, Vec<f64>) = both.into_iter().unzip();
    let pairs = concordance(&one, &other)?;
    let goes = match pairs.p_value < 1.0 - CONFIDENCE {
        true if pairs.tau > 0.0 => Goes::Together,
        true => Goes::Opposite,
        false => Goes::Neither,
    };
    Some(Answer::Order { pairs, goes })
}

fn courses(grid: &ChoiceGrid, values: &Values) -> Option<Vec<AxisFit>> {
    let (along, places): (Vec<Along>, Vec<f64>) = grid
        .choices
        .iter()
        .map(|choice| number_of(&choice.key))
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .unzip();
    let unit = *along.first()?;
    let of_figure = |figure: usize| {
        let points =
            places.iter().zip(&values[figure]).filter_map(|(place, value)| Some((*place, (*value)?)));
        let (places, values): (Vec<f64>, Vec<f64>) = points.unzip();
        let line = line(&places, &values)?;
        Some(AxisFit { figure, line, on_line: line.fit >= ON_LINE, along: unit })
    };
    let courses: Vec<AxisFit> = (0..values.len()).filter_map(of_figure).collect();
    let same_unit = along.iter().all(|one| *one == unit);
    (same_unit && !courses.is_empty()).then_some(courses)
}

fn keeps(grid: &ChoiceGrid, values: &Values, at_most: Option<f64>, at_least: Option<f64>) -> Option<Answer> {
    let choices = present(grid, values);
    let of_choice = |choice: usize| values.iter().filter_map(move |line| line[choice]);
    let (keep, break_it): (Vec<usize>, Vec<usize>) = choices.iter().partition(|choice| {
        of_choice(**choice).all(|value| {
            at_most.is_none_or(|most| value <= most) && at_least.is_none_or(|least| value >= least)
        })
    });
    let worst = |choice: usize| match at_most {
        Some(_) => of_choice(choice).max_by(f64::total_cmp),
        None => of_choice(choice).min_by(f64::total_cmp),
    };
    let worst = (0..grid.choices.len()).map(worst).collect();
    (!choices.is_empty()).then_some(Answer::Keeps { keep, break_it, worst })
}
