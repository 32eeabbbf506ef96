//! `kurabe study`: list, show, run.

use crate::args::{Global, StudyAction, StudyArgs, StudyRunArgs};
use crate::output::{error_style, print, print_json, print_page, progress_mode, style, write};
use crate::{is_silent, lang::lang, signals, stored::open_recovered};
use kurabe_core::{Result, shown::Shown};
use kurabe_lab::{Communicator, Stream, StudyRunner, check_paths, run_study, share_points};
use kurabe_lab::{assignments, text_of};
use kurabe_report::{
    SpokenStudy, StudyLine, render_studies, render_study, render_study_file, render_study_markdown,
    study_listener,
};
use kurabe_study::catalogue::Catalogue;
use kurabe_study::{
    PointAnswers, STUDIES, Study, StudyAxis, StudyOptions, StudyResult, load_study, study_named,
};

/// Runs the command.
///
/// # Errors
/// When a study, a model or a target does not exist or cannot be measured.
pub fn study(
    args: &StudyArgs,
    global: &Global,
    command_line: &[String],
    communicator: Option<&dyn Communicator>,
) -> Result<()> {
    let catalogue = Catalogue::built_in();
    match &args.action {
        StudyAction::List => {
            let all = all_studies(catalogue)?;
            match global.json {
                true => all.iter().try_for_each(|study| print_json(&StudyLine::from(study))),
                false => print_page(&render_studies(&all, &style())),
            }
        }
        StudyAction::Show { name, toml: true } => {
            load_study(name, catalogue)?;
            write(&Shown::source(&text_of(STUDIES, name)?))
        }
        StudyAction::Show { name, toml: false } => {
            let study = load_study(name, catalogue)?;
            match global.json {
                true => print_json(&StudyLine::from(&study)),
                false => print_page(&render_study_file(&study, &style())),
            }
        }
        StudyAction::Run(args) => run(args, global, catalogue, command_line, communicator),
    }
}

fn all_studies(catalogue: &Catalogue) -> Result<Vec<Study>> {
    STUDIES.iter().map(|(name, _)| study_named(name, catalogue)).collect()
}

fn run(
    args: &StudyRunArgs,
    global: &Global,
    catalogue: &Catalogue,
    command_line: &[String],
    communicator: Option<&dyn Communicator>,
) -> Result<()> {
    let studies = match &args.name {
        Some(name) => vec![load_study(name, catalogue)?],
        None => all_studies(catalogue)?,
    };
    let options = options(args)?;
    // All studies are planned and their paths checked before the first runs, so that mistakes are
    // reported immediately.
    let plans =
        studies.iter().map(|study| kurabe_study::plan(study, &options)).collect::<Result<Vec<_>>>()?;
    check_paths(&options)?;
    let handle = signals::listen_as(!is_silent(communicator))?;
    let cpus = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let silent = Stream::default();
    let runner = StudyRunner {
        open_store: &|| open_recovered(global),
        stream: &silent,
        handle: &handle,
        command: command_line,
        threads: args.threads.map_or_else(cpus, usize::from),
    };
    let mut before = plans.iter().map(|_| PointAnswers::new()).collect();
    if let Some(communicator) = communicator {
        match share_points(&plans, &runner, communicator)? {
            Some(answers) => before = answers,
            None => return Ok(()),
        }
    }
    let mut failed = None;
    for (place, (planned, before)) in plans.iter().zip(before).enumerate() {
        let stream = Stream::default();
        stream.listen(study_listener(planned, error_style(), progress_mode(global)));
        let result = run_study(planned, before, &StudyRunner { stream: &stream, ..runner })?;
        // The progress line is removed before anything is printed.
        drop(stream);
        show(&result, args, global, place)?;
        failed = failed.or_else(|| result.failure());
    }
    failed.map_or(Ok(()), Err)
}

fn show(result: &StudyResult, args: &StudyRunArgs, global: &Global, place: usize) -> Result<()> {
    if global.json {
        return print_json(&SpokenStudy::from(result));
    }
    if place > 0 {
        print("\n")?;
    }
    match args.markdown {
        true => print(&render_study_markdown(result, lang())),
        false => print_page(&render_study(result, &style())),
    }
}

fn options(args: &StudyRunArgs) -> Result<StudyOptions> {
    Ok(StudyOptions {
        parts: args.part.clone(),
        axes: args.axis.iter().map(|axis| StudyAxis::parse(axis)).collect::<Result<_>>()?,
        sets: assignments("--set", &args.set, "raid.strip=256KiB")?,
        on: assignments("--on", &args.on, "usb=/mnt/usb")?
            .into_iter()
            .map(|(name, path)| (name, path.into()))
            .collect(),
        seed: args.seed,
    })
}
