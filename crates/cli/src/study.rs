//! `kurabe study`: list, show, run.

use crate::args::{Global, StudyAction, StudyArgs, StudyRunArgs};
use crate::lang::lang;
use crate::output::{error_style, print, print_json, progress_mode, style};
use crate::signals::Signals;
use crate::stored::open_recovered;
use crate::words::{assignments, text_of};
use kurabe_core::event::Event;
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_lab::{Happening, Listener, PointEvent, Stream, StudyRunner, run_study};
use kurabe_report::{
    Progress, StudyProgress, headline, render_studies, render_study, render_study_file,
    render_study_markdown, verdict_answer,
};
use kurabe_study::catalogue::Catalogue;
use kurabe_study::{
    Axis, Options, PointTarget, STUDIES, Study, StudyPlan, StudyResult, load_study, study_named,
};
use std::path::Path;

/// Runs the command.
///
/// # Errors
/// When a study, a model or a target is not there, or cannot be measured.
pub fn study(args: &StudyArgs, global: &Global, command_line: &[String]) -> Result<()> {
    let catalogue = Catalogue::load()?;
    match &args.action {
        StudyAction::List => {
            let all = all_studies(&catalogue)?;
            if global.json {
                all.iter().try_for_each(|study| print_json(&facts(study)))
            } else {
                print(&render_studies(&all, &style()))
            }
        }
        StudyAction::Show { name, toml: true } => {
            load_study(name, &catalogue)?;
            print(&text_of(STUDIES, name)?)
        }
        StudyAction::Show { name, toml: false } => {
            let study = load_study(name, &catalogue)?;
            if global.json { print_json(&facts(&study)) } else { print(&render_study_file(&study, &style())) }
        }
        StudyAction::Run(args) => run(args, global, &catalogue, command_line),
    }
}

fn all_studies(catalogue: &Catalogue) -> Result<Vec<Study>> {
    STUDIES.iter().map(|(name, _)| study_named(name, catalogue)).collect()
}

/// What scripts hear of a study.
fn facts(study: &Study) -> serde_json::Value {
    let parts: Vec<_> = study
        .parts
        .iter()
        .map(|part| {
            let rows: Vec<_> = part
                .rows
                .iter()
                .map(|row| {
                    serde_json::json!({
                        "label": row.label, "model": row.model, "sets": row.sets, "on": row.on,
                        "over": row.over.as_ref().map(|(model, _)| model),
                    })
                })
                .collect();
            serde_json::json!({
                "id": part.id, "title": part.title, "profile": part.profile.name, "catalogue": part.catalogue,
                "axes": part.axes, "rows": rows,
                "columns": part.columns.iter().map(|column| &column.key).collect::<Vec<_>>(),
            })
        })
        .collect();
    serde_json::json!({ "study": study.name, "title": study.title, "source": study.source, "parts": parts })
}

fn run(args: &StudyRunArgs, global: &Global, catalogue: &Catalogue, command_line: &[String]) -> Result<()> {
    let studies = match &args.name {
        Some(name) => vec![load_study(name, catalogue)?],
        None => all_studies(catalogue)?,
    };
    let options = options(args)?;
    // All are planned, and paths looked for, before the first is run, so that a mistake is told at once.
    let plans =
        studies.iter().map(|study| kurabe_study::plan(study, &options)).collect::<Result<Vec<_>>>()?;
    options.on.iter().try_for_each(|(name, path)| check_path(name, path))?;
    let signals = Signals::listen()?;
    let mut failed = None;
    for (place, planned) in plans.iter().enumerate() {
        let stream = Stream::default();
        stream.listen(progress(planned, global));
        let runner = StudyRunner {
            open_store: &|| open_recovered(global),
            stream: &stream,
            handle: &signals.handle,
            command: command_line,
            threads: threads(args),
        };
        let result = run_study(planned, &runner)?;
        // The live line goes before anything is printed.
        drop(stream);
        show(&result, args, global, place)?;
        failed = failed.or_else(|| failure(planned, &result));
    }
    failed.map_or(Ok(()), Err)
}

/// Shows how many models are computed, and each real target's run with a progress of its own. The study is the answer:
/// the events of its runs are not printed.
fn progress(planned: &StudyPlan, global: &Global) -> Listener {
    let models = planned.points.iter().filter(|point| matches!(point.target, PointTarget::Model { .. }));
    let (style, mode) = (error_style(), progress_mode(global));
    let study = StudyProgress::new(&planned.name, models.count() as u64, style, mode);
    let mut real: Option<(String, Progress)> = None;
    Box::new(move |envelope| {
        match &envelope.event {
            Happening::Point(PointEvent::PointStarted { model }) => study.begin(model),
            Happening::Point(PointEvent::PointDone) => study.done(),
            Happening::Run(event) => {
                if matches!(event, Event::RunStarted { .. }) {
                    study.clear();
                    let progress = Progress::new(style, mode).with_headline(headline);
                    real = Some((envelope.run.clone(), progress));
                }
                if let Some((_, progress)) = real.as_mut().filter(|(run, _)| *run == envelope.run) {
                    progress.on_event(event);
                }
            }
            Happening::Turns(_) => {}
        }
        Ok(())
    })
}

/// Refuses a path of `--on` that is not there.
fn check_path(name: &str, path: &Path) -> Result<()> {
    let Err(error) = std::fs::metadata(path) else { return Ok(()) };
    let path = path.display();
    if error.kind() == std::io::ErrorKind::NotFound {
        return Err(Error::new(
            ErrorKind::Target,
            text!(
                "--on {name}={path}: cannot use it, there is no such path",
                "--on {name}={path}: 使えません。このパスは存在しません"
            ),
        )
        .remedy(text!(
            "name a directory, a file or a block device that exists",
            "実在するディレクトリ、ファイル、ブロックデバイスを指定してください"
        )));
    }
    Err(Error::os(text!("--on {name}={path}: cannot use it", "--on {name}={path}: 使えません"), &error))
}

fn threads(args: &StudyRunArgs) -> usize {
    let there = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    args.threads.map_or_else(there, usize::from)
}

fn show(result: &StudyResult, args: &StudyRunArgs, global: &Global, place: usize) -> Result<()> {
    if global.json {
        return print_json(&with_answers(result)?);
    }
    if place > 0 {
        print("\n")?;
    }
    match args.markdown {
        true => print(&render_study_markdown(result, lang())),
        false => print(&render_study(result, &style())),
    }
}

/// The result with each verdict's answer in words.
fn with_answers(result: &StudyResult) -> Result<serde_json::Value> {
    let broken = |error: serde_json::Error| {
        Error::new(ErrorKind::Internal, text!("the result is no JSON", "結果を JSON にできません"))
            .because(error)
    };
    let mut json = serde_json::to_value(result).map_err(broken)?;
    for (place, verdict) in result.verdicts.iter().enumerate() {
        json["verdicts"][place]["words"] = serde_json::to_value(verdict_answer(verdict)).map_err(broken)?;
    }
    Ok(json)
}

/// The error of a study with rows that could not be measured; its other rows were shown.
fn failure(planned: &StudyPlan, result: &StudyResult) -> Option<Error> {
    let first = result.first_error()?;
    let rows = result.parts.iter().flat_map(|part| &part.rows).filter(|row| row.error.is_some()).count();
    let name = &planned.name;
    let (en, ja) = (&first.en, &first.ja);
    Some(Error::new(
        ErrorKind::Target,
        text!(
            "{name}: rows that could not be measured: {rows}; the first: {en}",
            "{name}: 測定できない行が {rows} 件あります。最初のもの: {ja}"
        ),
    ))
}

fn options(args: &StudyRunArgs) -> Result<Options> {
    Ok(Options {
        parts: args.part.clone(),
        axes: args.axis.iter().map(|axis| Axis::parse(axis)).collect::<Result<_>>()?,
        sets: assignments("--set", &args.set, "raid.strip=256KiB")?,
        on: assignments("--on", &args.on, "usb=/mnt/usb")?
            .into_iter()
            .map(|(name, path)| (name, path.into()))
            .collect(),
        seed: args.seed,
    })
}
