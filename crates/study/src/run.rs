//! Measures the points of a plan and lays out the results.
//!
//! Points are independent, so models share the available threads. Each answer is stored at the
//! index of its point, so the result does not depend on the order in which points finish. Real
//! targets are measured after the models, interleaved if they have the same profile. A point that
//! fails leaves its cells empty, with the reason; the others are kept.

use crate::plan::{PlannedPart, PlannedRow, Point, PointTarget, StudyPlan};
use crate::real::{RealAnswers, device_name, groups, order, repeated};
use crate::result::{CellResult, MeasuredOn, PartResult, RESULT_SCHEMA, RowResult, StudyResult};
use crate::{figure::Measured, question::Question, study::StudyRow, verdict::verdicts};
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use kurabe_stats::mean_interval;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Interval at which the listener is called while no answer arrives.
const TICK: Duration = Duration::from_millis(20);

/// Measures points on models.
pub trait Models: Sync {
    /// Measures one point.
    ///
    /// # Errors
    /// If the model cannot be built or does not finish.
    fn run(&self, point: &Point) -> Result<Measured>;

    /// Called if fewer threads could be started than requested; the points are measured anyway.
    fn fewer_threads(&self, _threads: usize, _asked: usize, _why: &std::io::Error) {}
}

/// Answers by index of the point; `None` for points that have not been measured.
pub type PointAnswers<T = Measured> = Vec<Option<Result<T>>>;

/// Called with each answer and the index of its point, and with `None` at regular intervals. An
/// error ends the computation.
pub type AnswerListener<'a, T> = &'a mut dyn FnMut(Option<(usize, Result<T>)>) -> Result<()>;

/// Measures every point of a plan that has no answer yet, with models on up to `threads` threads
/// and real targets by `real`, which gets those with the same profile together.
///
/// # Errors
/// `Interrupted` if the user stops it. Other errors of a point are stored in the result.
pub fn run(
    plan: &StudyPlan,
    mut answers: PointAnswers,
    models: &impl Models,
    mut real: impl FnMut(&[&Point]) -> RealAnswers,
    threads: usize,
) -> Result<StudyResult> {
    answers.resize_with(plan.points.len(), || None);
    let rest: Vec<usize> = (0..plan.points.len()).filter(|place| answers[*place].is_none()).collect();
    compute_models(&plan.points, &rest, models, threads, &mut |answer| {
        if let Some((place, answer)) = answer {
            answers[place] = Some(answer);
        }
        Ok(())
    })?;
    let mut apart: Vec<Option<Text>> = vec![None; plan.points.len()];
    let rest: Vec<usize> = (0..plan.points.len()).filter(|place| answers[*place].is_none()).collect();
    for (places, why) in groups(&plan.points, &rest) {
        let together: Vec<&Point> = places.iter().map(|place| &plan.points[*place]).collect();
        let measured = real(&together);
        let why = why.or(measured.apart);
        for (place, answer) in places.into_iter().zip(measured.answers) {
            (answers[place], apart[place]) = (Some(answer), why.clone());
        }
    }
    let missing =
        || ErrorKind::Internal.error(text!("a point was not measured", "測定されなかった点があります"));
    let answers: Vec<Result<Measured>> =
        answers.into_iter().map(|answer| answer.unwrap_or_else(|| Err(missing()))).collect();
    if let Some(place) = answers.iter().position(is_interrupted) {
        return Err(answers.into_iter().nth(place).and_then(Result::err).unwrap_or_else(missing));
    }
    let layout = Layout { plan, answers: &answers, apart: &apart };
    let parts: Vec<PartResult> = plan.parts.iter().map(|part| layout.part(part)).collect();
    let measured = |part: usize, row: usize| {
        let point = plan.parts.get(part)?.rows.get(row)?.point;
        answers.get(point)?.as_ref().ok()
    };
    let verdicts = verdicts(&plan.study.questions, &parts, &measured);
    let unanswered = |question: &&Question| !verdicts.iter().any(|verdict| verdict.head.id == question.id);
    Ok(StudyResult {
        schema: RESULT_SCHEMA,
        head: plan.study.head.clone(),
        seed: plan.seed,
        sets: plan.sets.clone(),
        unasked: plan.study.questions.iter().filter(unanswered).map(|question| question.id.clone()).collect(),
        parts,
        verdicts,
    })
}

fn is_interrupted<T>(answer: &Result<T>) -> bool {
    answer.as_ref().err().is_some_and(|error| error.kind() == ErrorKind::Interrupted)
}

/// Computes the points at these indices that are models, on up to `threads` threads; `each` is
/// called on this thread.
///
/// # Errors
/// Those of `each`.
pub fn compute_models(
    points: &[Point],
    places: &[usize],
    models: &impl Models,
    threads: usize,
    each: AnswerListener<'_, Measured>,
) -> Result<()> {
    let is_model = |place: &usize| matches!(points[*place].target, PointTarget::Model { .. });
    let places: Vec<usize> = places.iter().copied().filter(is_model).collect();
    let fewer = |threads, asked, why: &std::io::Error| models.fewer_threads(threads, asked, why);
    compute(&places, &|place| models.run(&points[place]), threads, &fewer, each)
}

/// Runs `work` for each of these indices, on up to `threads` threads; `each` is called on this
/// thread. `fewer` is called if fewer threads could be started than requested.
///
/// # Errors
/// Those of `each`. An error of `work` is an answer.
pub fn compute<T: Send>(
    places: &[usize],
    work: &(dyn Fn(usize) -> Result<T> + Sync),
    threads: usize,
    fewer: &dyn Fn(usize, usize, &std::io::Error),
    each: AnswerListener<'_, T>,
) -> Result<()> {
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let compute_next = || {
        let place = *places.get(next.fetch_add(1, Ordering::Relaxed))?;
        if stopped.load(Ordering::Relaxed) {
            return None;
        }
        let answer = work(place);
        stopped.fetch_or(is_interrupted(&answer), Ordering::Relaxed);
        Some((place, answer))
    };
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        let asked = threads.clamp(1, places.len().max(1));
        // This thread is one of them, so at least one is always available.
        for number in 1..asked {
            let (own, compute_next) = (sender.clone(), &compute_next);
            // Sending fails only if the receiver has stopped because of an error.
            let work = move || std::iter::from_fn(compute_next).for_each(|answer| _ = own.send(answer));
            if let Err(why) = std::thread::Builder::new().spawn_scoped(scope, work) {
                fewer(number, asked, &why);
                break;
            }
        }
        drop(sender);
        let mut hear = |answer| each(answer).inspect_err(|_| stopped.store(true, Ordering::Relaxed));
        while let Some(answer) = compute_next() {
            hear(Some(answer))?;
            receiver.try_iter().try_for_each(|answer| hear(Some(answer)))?;
        }
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(answer) => hear(Some(answer))?,
                Err(RecvTimeoutError::Timeout) => hear(None)?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    })
}

/// Lays out the answers of a plan's points as tables.
struct Layout<'a> {
    plan: &'a StudyPlan,
    answers: &'a [Result<Measured>],
    /// Why a point was not measured interleaved with others.
    apart: &'a [Option<Text>],
}

impl Layout<'_> {
    fn part(&self, planned: &PlannedPart) -> PartResult {
        let part = &planned.part;
        let mut rows: Vec<RowResult> = planned.rows.iter().map(|row| self.row(planned, row)).collect();
        tell_apart(&mut rows);
        let real = planned.rows.iter().enumerate().filter_map(|(index, row)| {
            matches!(row.target, PointTarget::Path(_)).then_some(())?;
            let measured = self.answers[row.point].as_ref().ok()?;
            Some((index, row.point, measured, self.apart[row.point].as_ref()))
        });
        let mut result = PartResult {
            head: part.head.clone(),
            profile: part.profile.name.clone(),
            columns: part.columns.iter().map(|column| column.head.clone()).collect(),
            rows,
            swaps: Vec::new(),
            ties: Vec::new(),
            order: order(real),
        };
        (result.swaps, result.ties) = result.find_order();
        result
    }

    fn row(&self, planned: &PlannedPart, at: &PlannedRow) -> RowResult {
        let row: &StudyRow = &planned.part.rows[at.row];
        let (model, sets, path) = match &at.target {
            PointTarget::Model { name, sets } => (Some(name.clone()), sets.clone(), None),
            PointTarget::Path(path) => (None, Vec::new(), Some(shown::name(path))),
        };
        let asked = |place: usize| self.answers[place].as_ref().err().map(failure);
        RowResult {
            id: row.id.clone(),
            label: label(row, path.as_deref(), self.answers[at.point].as_ref().ok()),
            model,
            sets,
            over: row.over.as_ref().map(|(model, _)| model.clone()),
            changed: at.changed,
            values: at.values.clone(),
            run: self.answers[at.point].as_ref().ok().and_then(|measured| measured.run.clone()),
            notices: self.answers[at.point]
                .as_ref()
                .map_or_else(|_| Vec::new(), |measured| measured.notices.clone()),
            error: asked(at.point).or_else(|| asked(at.over?)),
            cells: (0..planned.part.columns.len()).map(|column| self.cell(planned, at, column)).collect(),
            path,
        }
    }

    fn cell(&self, planned: &PlannedPart, at: &PlannedRow, index: usize) -> CellResult {
        let (row, column) = (&planned.part.rows[at.row], &planned.part.columns[index]);
        let figure = |place: usize| {
            let measured = self.answers[place].as_ref().ok()?;
            column.figure.value(row.step.as_deref(), &self.plan.points[place].profile, measured)
        };
        let above = figure(at.point);
        let others: Vec<f64> = at.others.iter().filter_map(|place| figure(*place)).chain(above).collect();
        let value = match at.over {
            None => above,
            Some(over) => {
                above.zip(figure(over)).map(|(above, below)| above / below).filter(|ratio| ratio.is_finite())
            }
        };
        let ground = match &at.target {
            PointTarget::Path(_) => MeasuredOn::Real,
            PointTarget::Model { .. } if at.changed => MeasuredOn::Changed,
            PointTarget::Model { .. } => MeasuredOn::Model,
        };
        let published = row.published.get(index).copied().flatten();
        let range = (!at.others.is_empty() && !at.changed).then(|| {
            [others.iter().copied().fold(f64::INFINITY, f64::min), others.iter().copied().fold(0.0, f64::max)]
        });
        let repeated = match (&self.answers[at.point], ground) {
            (Ok(measured), MeasuredOn::Real) if at.over.is_none() => {
                let profile = &self.plan.points[at.point].profile;
                repeated(&column.figure, row.step.as_deref(), profile, measured)
            }
            _ => Vec::new(),
        };
        let plus_minus = mean_interval(&repeated).and_then(|interval| interval.half_width);
        let cell = CellResult::new(value, published, &column.head.key, &at.marks, ground);
        CellResult { range, plus_minus, repeated, ..cell }
    }
}

/// Returns what failed, the cause and the remedy, as one line.
fn failure(error: &Error) -> Text {
    let cause = error.cause().map(|cause| format!(": {cause}")).unwrap_or_default();
    let what = error.what().map(|what| format!("{what}{cause}"));
    Text::clauses([what].into_iter().chain(error.remedy_text().cloned()))
}

/// Returns the label of a row: its own, or the name of the measured device. A device in the place
/// of a model has its path.
fn label(row: &StudyRow, path: Option<&str>, measured: Option<&Measured>) -> Text {
    let name = || measured.map(device_name).filter(|name| !name.is_empty());
    match (&row.label, path) {
        (Some(label), Some(path)) if row.model.is_some() => label.map(|label| format!("{label} ({path})")),
        (Some(label), _) => label.clone(),
        (None, path) => name().unwrap_or_else(|| Text::same(path.unwrap_or_default())),
    }
}

/// Adds the path to labels that several targets share.
fn tell_apart(rows: &mut [RowResult]) {
    let shares = |row: &RowResult| {
        let other = |other: &&RowResult| other.label == row.label && other.path != row.path;
        row.path.clone().filter(|_| rows.iter().any(|row| other(&row)))
    };
    let paths: Vec<Option<String>> = rows.iter().map(shares).collect();
    for (row, path) in rows.iter_mut().zip(paths) {
        if let Some(path) = path.filter(|path| row.label.en != *path && row.model.is_none()) {
            row.label = row.label.map(|label| format!("{label} ({path})"));
        }
    }
}
