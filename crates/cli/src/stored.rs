//! Commands that work on stored runs: list, show, why, label, export, import.

use crate::args::{ExportArgs, ForceArgs, Global, ImportArgs, LabelArgs, ListArgs, ShowArgs, WhyArgs};
use crate::lang::{lang, t};
use crate::output::{outputs, print, print_json, print_page, print_record, say, style, tell, write_out};
use crate::show::{ScriptLine, leftover_words};
use crate::{catalogue::show_beside, pivot::digests};
use kurabe_compare::listed;
use kurabe_core::outside::{self, Outside};
use kurabe_core::{
    Error, ErrorKind, Result, digest::Digests, record::RunRecord, shown, text, words::Keyword,
};
use kurabe_interop::ExportFormat;
use kurabe_lab::{AttachedHealth, Became, Imported, movers_of, parse_label};
use kurabe_report::{
    Report, charts_of, explain, further_charts, headline, render_details, render_list, render_pictures,
    render_run, render_why, run_figures,
};
use kurabe_store::{Filter, LAST, Runs, Store, abandonable, export_with_figures};
use kurabe_study::{USUAL_MARGIN, catalogue::Catalogue};
use std::path::Path;

/// Reports that kurabe is waiting for the store.
pub fn say_wait() {
    say(t(
        "kurabe: waiting for another process that is writing to the store",
        "kurabe: ほかのプロセスが保存先に書き込んでいるため、待っています",
    ));
}

/// Opens the store, creating it if necessary, and recovers runs that were killed.
///
/// # Errors
/// When the store cannot be used.
pub fn open_recovered(global: &Global) -> Result<Box<dyn Store>> {
    let store = global.store().open()?;
    recover(&*store)?;
    Ok(store)
}

/// Opens the store if it exists, and recovers runs that were killed.
fn recovered_store(global: &Global) -> Result<Option<Box<dyn Store>>> {
    let store = global.store().existing()?;
    store.iter().try_for_each(|store| recover(&**store))?;
    Ok(store)
}

/// Opens the runs for reading, if a store exists: those of a shared database, or those of this
/// machine after recovery of killed runs.
fn runs_of(global: &Global) -> Result<Option<Box<dyn Runs>>> {
    match global.store().shared_runs()? {
        Some(runs) => Ok(Some(runs)),
        None => Ok(recovered_store(global)?.map(|store| store as Box<dyn Runs>)),
    }
}

/// Opens the runs for reading. Fails if there is no store.
pub fn store_with_runs(global: &Global) -> Result<Box<dyn Runs>> {
    runs_of(global)?.ok_or_else(no_run_yet)
}

/// Opens this machine's store for changes. Fails if there is no store.
pub fn own_store(global: &Global) -> Result<Box<dyn Store>> {
    recovered_store(global)?.ok_or_else(no_run_yet)
}

fn no_run_yet() -> Error {
    ErrorKind::NoSuchRun
        .error(text!("no runs are stored yet", "保存された測定はまだありません"))
        .remedy(text!("measure something first: kurabe run", "まず測定してください: kurabe run"))
}

/// Removes the files of runs that were killed, and reports each. A file that cannot be removed for
/// a reason reported before is mentioned only by `kurabe doctor`.
fn recover(store: &dyn Store) -> Result<()> {
    for leftover in abandonable(|| kurabe_lab::recover(store))?.iter().filter(|leftover| leftover.is_news) {
        let (what, remedy) = leftover_words(leftover);
        say(&match (&leftover.became, remedy) {
            (Became::Failed(error), _) => error.render(lang()),
            (_, Some(remedy)) => ErrorKind::Target.error(what).remedy(remedy).render(lang()),
            (_, None) => format!("kurabe: {}", what.get(lang())),
        });
    }
    Ok(())
}

/// `kurabe list`: lists stored runs.
///
/// # Errors
/// When the store cannot be read.
pub fn list(args: &ListArgs, global: &Global) -> Result<()> {
    if args.served {
        return crate::serve::list(global);
    }
    let filter = Filter {
        profile: args.profile.clone(),
        device: args.device.clone(),
        labels: args.label.iter().map(|words| wanted_label(words)).collect::<Result<_>>()?,
        since: args.since.clone(),
        last: args.last.map(|last| last as usize),
    };
    let store = runs_of(global)?;
    let runs = store.as_ref().map_or(Ok(Vec::new()), |store| store.narrowed(&filter))?;
    let digests = match &store {
        Some(store) if !runs.is_empty() => digests(&**store, &runs, global)?,
        _ => Digests::default(),
    };
    let runs = listed(runs, &digests);
    let count = match &store {
        Some(store) if runs.is_empty() => store.list()?.len(),
        _ => 0,
    };
    if count > 0 && !global.json {
        let plural = if count == 1 { "" } else { "s" };
        return print(
            &text!(
                "None of the {count} stored run{plural} matches.\n",
                "保存した {count} 件に、当てはまる測定はありません。\n"
            )
            .take(lang()),
        );
    }
    if global.json {
        return runs.iter().try_for_each(print_json);
    }
    print_page(&render_list(&runs, &style()))
}

/// Parses `key=value` of a label that listed runs must have.
fn wanted_label(words: &str) -> Result<(String, String)> {
    let (key, value) = parse_label(words)?;
    Ok((key, value.unwrap_or_default()))
}

/// `kurabe show`: shows a run.
///
/// # Errors
/// When the run does not exist.
pub fn show(args: &ShowArgs, global: &Global) -> Result<()> {
    let store = store_with_runs(global)?;
    let record = store.load(&store.resolve(&args.run)?)?;
    if let Some(chart) = &args.chart {
        let charts = charts_of(&record, chart.as_deref(), lang())?;
        print_page(&render_pictures(&charts, &style()))?;
        return match chart {
            Some(_) => Ok(()),
            None => further_charts(&record, lang())
                .map_or(Ok(()), |words| print(&format!("\n{}\n", words.take(lang())))),
        };
    }
    // A mistyped entry is reported before the run is printed.
    let catalogue = Catalogue::built_in();
    args.beside.iter().try_for_each(|entry| catalogue.entry(entry).map(|_| ()))?;
    let show_beside =
        || args.beside.iter().try_for_each(|entry| show_beside(&record, entry, catalogue, global));
    if global.json {
        print_record(&record)?;
        return show_beside();
    }
    print_page(&render_run(&record, &headline(&record.header), &style()))?;
    if args.details {
        print("\n")?;
        print_page(&render_details(&record, &style()))?;
    }
    show_beside()
}

/// `kurabe why`: explains the limits of a run's cells.
///
/// # Errors
/// When the run or the cell does not exist.
pub fn why(args: &WhyArgs, global: &Global, command_line: &[String]) -> Result<()> {
    let cell = args.cell.as_deref();
    if let Some(target) = &args.probe {
        let Some(done) = crate::run::measured_as(target, kurabe_explain::PROBE, global, command_line)? else {
            return Ok(());
        };
        return done.record.iter().try_for_each(|record| tell_why(record, cell, global)).and(done.outcome);
    }
    let store = store_with_runs(global)?;
    tell_why(&store.load(&store.resolve(&args.run)?)?, cell, global)
}

fn tell_why(record: &RunRecord, cell: Option<&str>, global: &Global) -> Result<()> {
    if global.json {
        return explain(record, cell)?.iter().try_for_each(print_json);
    }
    let movers = if cell.is_none() { movers_of(record)? } else { Vec::new() };
    print_page(&render_why(record, &headline(&record.header), cell, &movers, &style())?)
}

/// `kurabe label`: sets and removes labels of a run.
///
/// # Errors
/// When the run does not exist, or a label is malformed.
pub fn label(args: &LabelArgs, global: &Global) -> Result<()> {
    let store = own_store(global)?;
    let id = store.resolve(&args.run)?;
    let labels = args.labels.iter().map(|label| parse_label(label)).collect::<Result<Vec<_>>>()?;
    for (key, value) in labels {
        store.label(&id, &key, value.as_deref())?;
    }
    tell(global, &ScriptLine::Labelled { id: &id }, &id, t("labelled", "ラベルを更新しました:"))
}

/// `kurabe export`: writes formats of other tools, kurabe's own JSON, and the Markdown of
/// `kurabe report`.
///
/// # Errors
/// When a run does not exist, or the file already exists.
pub fn export(args: &ExportArgs, global: &Global) -> Result<()> {
    let store = store_with_runs(global)?;
    if args.format == "parquet" {
        return export_tables(args, &*store);
    }
    let output = outputs(args.force, global).claim_optional(args.output.as_ref())?;
    let last = [LAST.to_owned()];
    let runs = if args.runs.is_empty() { &last } else { args.runs.as_slice() };
    let records = runs.iter().map(|run| store.load(&store.resolve(run)?)).collect::<Result<Vec<_>>>()?;
    if args.format == "markdown" {
        let report = Report::new(records.iter().collect(), USUAL_MARGIN, &[], None, lang());
        return write_out(&report.markdown(), output);
    }
    let Some(format) = ExportFormat::of_word(&args.format) else {
        let [record] = records.as_slice() else { return Err(one_run_only()) };
        return write_out(&export_with_figures(record, &run_figures(record))?, output);
    };
    if records.len() > 1 && format != ExportFormat::Csv {
        return Err(one_run_only());
    }
    write_out(&kurabe_interop::export(&records, format, lang())?, output)
}

/// Writes Parquet tables: the given runs into the folder of `--output`, or all runs into a folder
/// that is the only argument.
fn export_tables(args: &ExportArgs, store: &dyn Runs) -> Result<()> {
    let (folder, runs) = match (&args.output, args.runs.as_slice()) {
        (Some(folder), runs) => (folder.clone(), runs),
        (None, [folder]) => (folder.as_str().into(), &[] as &[String]),
        (None, _) => {
            return Err(ErrorKind::Usage
                .error(text!("parquet output is a folder of tables", "parquet は表のフォルダーになります"))
                .remedy(text!(
                    "name a new folder with --output; name runs before it to export only those",
                    "--output で新しいフォルダーを指定してください。その前に測定を指定すると、その測定だけを書き出します"
                )));
        }
    };
    let ids = runs.iter().map(|run| store.resolve(run)).collect::<Result<_>>()?;
    kurabe_lab::write_tables(store, ids, &folder)
}

fn one_run_only() -> Error {
    ErrorKind::Usage
        .error(text!("this format holds a single run", "この形式に書き出せる測定は 1 つだけです"))
        .remedy(text!(
            "name one run, or choose --format csv or markdown",
            "測定を 1 つだけ指定するか、--format csv か markdown を選んでください"
        ))
}

/// `kurabe import`: imports runs and device files.
///
/// # Errors
/// When a file is neither an exported run nor a result of a tool that kurabe knows.
pub fn import(args: &ImportArgs, global: &Global, command_line: &[String]) -> Result<()> {
    let store = global.store().open()?;
    let mut shown = 0;
    let mut heard = |Imported { id, of_other_tool }| {
        if !of_other_tool || global.json {
            return tell(
                global,
                &ScriptLine::Imported { id: &id },
                &id,
                t("imported as run", "取り込みました:"),
            );
        }
        if global.quiet {
            return Ok(());
        }
        if shown > 0 {
            print("\n")?;
        }
        shown += 1;
        let record = store.load(&id)?;
        print_page(&render_run(&record, &headline(&record.header), &style()))
    };
    args.files.iter().try_for_each(|path| {
        let (name, bytes) = (shown::name(&**path), read(path)?);
        if let Some(device) = kurabe_lab::import_device(path, &bytes) {
            let device = device?;
            return keep_device(&device.name, &device.toml, args.force, global);
        }
        if let Some(attached) = kurabe_lab::attach_health(&*store, &name, &bytes, args.to.as_deref()) {
            return tell_attached(&attached?, global);
        }
        if args.to.is_some() {
            return Err(only_health(&name));
        }
        kurabe_lab::import(&*store, &name, &bytes, command_line, &mut heard)
    })
}

fn tell_attached(attached: &AttachedHealth, global: &Global) -> Result<()> {
    let AttachedHealth { run, drive } = attached;
    let words = text!(
        "health of {drive} attached to run",
        "{drive}の健康状態を次の測定に付けました:"; drive
    );
    tell(global, &ScriptLine::HealthAttached { id: run }, run, words.get(lang()))
}

fn only_health(name: &str) -> Error {
    ErrorKind::Usage
        .error(text!(
            "{name} is not health data of a drive, so --to has nothing to attach",
            "{name} はドライブの健康状態ではないため、--to で付けるものがありません"
        ))
        .remedy(text!("import it without --to", "--to なしで取り込んでください"))
}

/// Writes a device file that was converted from another simulator into the current folder, where
/// `model:./NAME.toml` finds it.
fn keep_device(name: &str, toml: &str, force: ForceArgs, global: &Global) -> Result<()> {
    let file = format!("{name}.toml");
    let output = outputs(force, global).claim(&file.as_str().into())?;
    write_out(toml, Some(output))?;
    if global.json {
        return print_json(&ScriptLine::DeviceImported { file: &file });
    }
    let words = t("device file written; use it with", "デバイスファイルを書きました。次のように使えます:");
    if global.quiet { Ok(()) } else { print(&format!("{words} kurabe run model:./{file}\n")) }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let what = text!("cannot read {}", "{} を読めません", shown::path(path));
    if path == Path::new("-") {
        return outside::bytes(std::io::stdin().lock(), what, Outside::Import);
    }
    outside::bytes_of_file(path, what, Outside::Import)
}
