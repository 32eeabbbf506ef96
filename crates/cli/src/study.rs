//! `kurabe study`: list, show, run.

use crate::args::{Global, StudyAction, StudyArgs, StudyNewArgs, StudyRunArgs};
use crate::output::{self, error_style, outputs, print, print_json, print_page, progress_mode, say, style};
use crate::output::{outputs_next_to_result, write};
use crate::report::tell_written;
use crate::show::{ScriptLine, study_listener};
use crate::{is_silent, lang::lang, signals, stored::open_recovered};
use kurabe_chart::Theme;
use kurabe_core::output_path::OutputPath;
use kurabe_core::record::RunRecord;
use kurabe_core::words::Keyword;
use kurabe_core::{Result, shown, shown::Shown, text};
use kurabe_lab::output::Output;
use kurabe_lab::{Communicator, Stream, StudyRunner, check_paths, check_targets, run_study, share_points};
use kurabe_lab::{assignments, text_of};
use kurabe_report::{
    MadeReport, ReportFormat, SpokenStudy, StudyLine, check_article_format, render_studies, render_study,
    render_study_file, render_study_markdown, study_article,
};
use kurabe_study::catalogue::Catalogue;
use kurabe_study::{
    ComparedDevice, PointAnswers, STUDIES, Study, StudyAxis, StudyOptions, StudyResult, load_study,
    study_named, study_of_devices,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

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
        StudyAction::New(args) => create(args, global),
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
    plans.iter().try_for_each(check_targets)?;
    let format = args.output.as_ref().map(|path| format_of(path, global)).transpose()?;
    let output = outputs(args.force, global).claim_optional(args.output.as_ref())?;
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
    let (mut failed, mut last) = (None, None);
    for (place, (planned, before)) in plans.iter().zip(before).enumerate() {
        let stream = Stream::default();
        stream.listen(study_listener(planned, error_style(), progress_mode(global)));
        let result = run_study(planned, before, &StudyRunner { stream: &stream, ..runner })?;
        // The progress line is removed before anything is printed.
        drop(stream);
        failed = failed.or_else(|| result.failure());
        if output.is_none() {
            show(&result, args, global, place)?;
        }
        last = Some(result);
    }
    if let (Some(output), Some(format), Some(result)) = (output, format, last) {
        write_article(&result, (output, format), args, global)?;
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

/// Returns the format of an article, from the name of its file.
fn format_of(path: &OutputPath, global: &Global) -> Result<ReportFormat> {
    let format = match path.file() {
        Some(path) => ReportFormat::of_file(path)?,
        None if global.json => ReportFormat::Json,
        None => ReportFormat::Markdown,
    };
    check_article_format(format).map(|()| format)
}

/// Writes the article of a study, and shows its answer.
fn write_article(
    result: &StudyResult,
    (output, format): (Output, ReportFormat),
    args: &StudyRunArgs,
    global: &Global,
) -> Result<()> {
    let runs = stored_runs(result, global)?;
    let theme = Theme::of_word(&args.theme).unwrap_or_default();
    let made = study_article(result, &runs, format, theme, lang())?;
    if let MadeReport::Words(_, left_out) = &made {
        for left_out in left_out.iter().filter(|_| !global.quiet) {
            say(&format!("kurabe: {}", left_out.get(lang())));
        }
    }
    if output.is_stdout() {
        return match &made {
            MadeReport::Words(words, _) => write(words),
            MadeReport::Picture(bytes) => output::write_bytes(bytes),
        };
    }
    output.write(made.bytes())?;
    let Some(path) = &args.output else { return Ok(()) };
    if !global.json && !global.quiet {
        show(result, args, global, 0)?;
        print("\n")?;
    }
    tell_written(path, format, made.bytes().len(), &runs, global)
}

/// Loads the runs of a study's real targets, each once.
fn stored_runs(result: &StudyResult, global: &Global) -> Result<Vec<RunRecord>> {
    let mut ids: Vec<&String> = Vec::new();
    for id in result.parts.iter().flat_map(|part| &part.rows).filter_map(|row| row.run.as_ref()) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let store = open_recovered(global)?;
    ids.into_iter().map(|id| store.load(id)).collect()
}

/// Writes the file of a study that compares devices.
fn create(args: &StudyNewArgs, global: &Global) -> Result<()> {
    let devices: Vec<ComparedDevice> =
        args.targets.iter().map(|target| compared_device(target.as_os_str())).collect();
    let stem = args.file.file().and_then(Path::file_stem).map(|name| shown::name(Path::new(name)));
    let name = stem.unwrap_or_else(|| "devices".to_owned());
    let output = outputs_next_to_result(args.force, global).claim(&args.file)?;
    let toml = study_of_devices(&name, args.title.as_deref(), &args.profile, &devices)?;
    if output.is_stdout() {
        return write(&Shown::source(&toml));
    }
    output.write(toml.as_bytes())?;
    if global.json {
        return print_json(&ScriptLine::StudyFile { file: args.file.name(), bytes: toml.len() });
    }
    if global.quiet {
        return Ok(());
    }
    let (file, path) = (&args.file, shown::shell_word(&args.file.to_string()));
    let path = if path.contains('/') { path } else { format!("./{path}") };
    let next = text!(
        "wrote {file}\nnext: kurabe study run {path} -o article.html\n",
        "{file} に書きました\n次は: kurabe study run {path} -o article.html\n"
    );
    print(next.get(lang()))
}

/// Splits `NAME=TARGET`. A target that exists under the whole words has no name.
fn compared_device(words: &OsStr) -> ComparedDevice {
    let bytes = words.as_bytes();
    let parts = bytes.iter().position(|byte| *byte == b'=').filter(|_| !Path::new(words).exists());
    let name = parts.and_then(|place| std::str::from_utf8(&bytes[..place]).ok());
    match name.filter(|name| !name.is_empty() && !name.contains('/')) {
        Some(name) => ComparedDevice {
            name: Some(name.to_owned()),
            path: OsStr::from_bytes(&bytes[name.len() + 1..]).into(),
        },
        None => ComparedDevice { name: None, path: words.into() },
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
