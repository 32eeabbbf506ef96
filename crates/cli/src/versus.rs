//! `kurabe versus`: interleaved measurement of several targets. Each target is a separate run in
//! the store.

use crate::args::{Global, VersusArgs};
use crate::output::{error_style, print_json, print_page, print_record, progress_mode, say, style};
use crate::show::{ScriptLine, VersusProgress, too_short};
use crate::{compare::fastest_of, lang::lang, signals, stored::open_recovered};
use kurabe_compare::pairs;
use kurabe_core::{Result, record::RunRecord, shown, text};
use kurabe_lab::versus::{PreparedVersus, VersusDone, WhyEnded};
use kurabe_lab::{Envelope, Lab, Stream, StreamEvent};
use kurabe_report::{SpokenPairs, accept, headline, render_foreseen_versus, render_versus, written_by_all};
use serde_json::json;

/// Runs the command.
///
/// # Errors
/// When the measurement cannot finish. Cells that were measured before are stored and shown.
pub fn versus(args: &VersusArgs, global: &Global, command_line: &[String]) -> Result<()> {
    let prepared = PreparedVersus::new(args.request()?)?;
    if args.dry_run {
        return print_page(&render_foreseen_versus(
            prepared.runs()[0].profile(),
            &prepared.foresee()?,
            &style(),
        ));
    }
    if let Some(short) = prepared.too_short().filter(|_| !global.json && !global.quiet) {
        say(too_short(&short).get(lang()));
    }
    // A target that cannot be used is reported with its remedy when it is opened.
    let foreseen = prepared.foresee().ok().filter(|_| !global.json && !global.quiet);
    if let Some(writes) = foreseen.as_ref().and_then(written_by_all) {
        say(writes.get(lang()));
    }
    let handle = signals::listen()?;
    let store = open_recovered(global)?;
    let stream = Stream::default();
    let lab = Lab { store: &*store, stream: &stream, handle: &handle, command: command_line };
    let (limit, repetition_ns) = (prepared.limit(), prepared.repetition_range_ns());
    let opened = prepared.open(&lab)?;
    let headlines: Vec<_> = opened.headers().map(|header| (header.clone(), headline(header))).collect();
    let mut progress = VersusProgress::new(error_style(), progress_mode(global));
    progress.start(&headlines, limit, repetition_ns);
    let json = global.json;
    stream.listen(Box::new(move |envelope| {
        progress.on_envelope(envelope);
        if json { print_envelope(envelope) } else { Ok(()) }
    }));
    let done = opened.measure();
    // The progress line is removed before anything is printed.
    drop(stream);
    show(args, done, json)
}

fn print_envelope(envelope: &Envelope) -> Result<()> {
    match &envelope.event {
        StreamEvent::Run(happened) => {
            let Envelope { run, number, at_ns, .. } = envelope;
            print_json(&ScriptLine::VersusRun { run, happened, number: *number, at_ns: *at_ns })
        }
        StreamEvent::Versus(_) | StreamEvent::Point(_) => print_json(envelope),
    }
}

/// Shows the stored records of the measurement.
fn show(args: &VersusArgs, done: VersusDone, json: bool) -> Result<()> {
    let VersusDone { records, why, blocks, rescued } = done;
    let records: Option<Vec<RunRecord>> = records.into_iter().collect();
    let mut accepted = Ok(());
    let ended = why.as_ref().ok().copied();
    match records {
        Some(records) => {
            let runs: Vec<&RunRecord> = records.iter().collect();
            let pairs = pairs(&runs, args.margin);
            let fastest = fastest_of(&runs, args.margin);
            accepted = accept(&pairs, &args.fail_on);
            if json {
                records.iter().try_for_each(print_record)?;
                let ended = ended.map_or_else(|| "error".into(), |why| json!(why));
                print_json(&ScriptLine::Versus { pairs: SpokenPairs::new(&pairs, fastest), blocks, ended })?;
            } else {
                let headers: Vec<_> = records.iter().map(|record| &record.header).collect();
                let settled = ended.map(|why| why == WhyEnded::Settled);
                print_page(&render_versus(&pairs, &headers, settled, fastest, rescued.as_deref(), &style()))?;
            }
        }
        None if json => {}
        None => {
            let place = rescued.map_or_else(|| "`kurabe list`".to_owned(), |file| shown::path(&file));
            let words = text!(
                "kurabe: not all targets were measured, so they cannot be compared; {place} shows the \
                 completed results",
                "kurabe: 測れなかった対象があるため比べられません。測定済みの結果は {place} で見られます"
            );
            say(words.get(lang()));
        }
    }
    why.and(accepted)
}
