//! `kurabe price` and `kurabe mark`: the requests that a command sends to its storage, and their
//! cost.

use crate::args::{Global, MarkArgs, PriceArgs};
use crate::lang::lang;
use crate::on::say_left;
use crate::output::{outputs_next_to_result, print_json, print_page, say, style, write_out};
use crate::show::{Priced, changes_line, over_budget};
use crate::signals;
use kurabe_core::output_path::OutputPath;
use kurabe_core::outside::text_of_file;
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use kurabe_lab::output::Output;
use kurabe_lab::{PriceRequest, PricedCommand, price as record_and_price, without_root};
use kurabe_price::{Bill, Budget, Changes, Panel};
use kurabe_report::Unaccepted;
use std::os::unix::process::CommandExt;
use std::path::Path;

/// Runs `kurabe price`.
///
/// # Errors
/// When the command cannot be recorded or fails; if requested, when it exceeds its budget or costs
/// more.
pub fn price(args: &PriceArgs, global: &Global) -> Result<()> {
    if let Some(mut command) = without_root()? {
        if !global.quiet {
            say(&text!(
                "kurabe: without root, ext4 is provided by fuse2fs, whose requests are counted; the \
                 command appears to run as root",
                "kurabe: root でないため、ext4 には fuse2fs を使い、その要求を数えます。コマンドからは root で動いているように見えます"
            )
            .take(lang()));
        }
        let message = text!("cannot create a user namespace", "ユーザー名前空間を作れません");
        return Err(Error::os(message, &command.exec()));
    }
    let panel = Panel::load(&args.panel)?;
    let models: Vec<&str> = panel.devices.iter().map(|device| device.model.as_str()).collect();
    let budget = args.budget.as_deref().map(|path| budget(path, &models)).transpose()?;
    let before = args.against.as_deref().map(bill).transpose()?;
    let mut outputs = outputs_next_to_result(args.force, global);
    let mut claim = |path: &Option<OutputPath>| outputs.claim_optional(path.as_ref());
    let claimed = [claim(&args.save)?, claim(&args.markdown)?, claim(&args.junit)?];
    let is_stdout_taken = outputs.has_stdout();
    let handle = signals::listen()?;
    let recordings = usize::from(args.runs);
    let request = PriceRequest {
        command: args.folder.command.clone(),
        with: args.folder.with.iter().map(|path| path.0.clone()).collect(),
        file_system: args.folder.fs,
        size_bytes: args.folder.size,
        recordings,
        panel,
        keeps_pauses: args.pauses,
        counts_calls: args.syscalls,
    };
    let PricedCommand { bill, left } = record_and_price(&request, &handle, |place| {
        if !global.quiet && recordings > 1 {
            let number = place + 1;
            say(&text!(
                "kurabe: recording {number} of {recordings}",
                "kurabe: 記録 {number}/{recordings} 回目"
            )
            .take(lang()));
        }
    })?;
    say_left(&Text::list(left));
    let priced = Priced {
        changes: before.map(|before| Changes::between(&before, &bill, args.margin)),
        budget: budget.map(|budget| budget.lines(&bill)).unwrap_or_default(),
        bill,
    };
    write_outputs(claimed, &priced)?;
    match global.json {
        true => print_json(&priced.script())?,
        false if is_stdout_taken => {}
        false => print_page(&priced.doc().terminal(&style()))?,
    }
    accept(args, &priced)
}

fn write_outputs([save, markdown, junit]: [Option<Output>; 3], priced: &Priced) -> Result<()> {
    if let Some(output) = save {
        write_out(&format!("{:#}\n", serde_json::json!(priced.bill)), Some(output))?;
    }
    if let Some(output) = markdown {
        write_out(&priced.markdown(lang()), Some(output))?;
    }
    junit.map_or(Ok(()), |output| write_out(&priced.junit(lang()), Some(output)))
}

/// Checks the budget and the `--fail-on` conditions.
fn accept(args: &PriceArgs, priced: &Priced) -> Result<()> {
    if let Some(over) = over_budget(&priced.budget) {
        return Err(ErrorKind::OverBudget.error(over));
    }
    let Some(changes) = &priced.changes else { return Ok(()) };
    for condition in &args.fail_on {
        let (is_met, kind) = match condition {
            Unaccepted::Different => (changes.is_any(), ErrorKind::Different),
            Unaccepted::Slower { .. } | Unaccepted::Unclear => (changes.costs_more(), ErrorKind::Slower),
        };
        if is_met {
            return Err(kind.error(changes_line(changes)));
        }
    }
    Ok(())
}

fn budget(path: &Path, models: &[&str]) -> Result<Budget> {
    let name = shown::path(path);
    let source = text_of_file(&name, &text!("cannot read the budget {name}", "予算 {name} を読めません"))?;
    Budget::parse(&name, &source, models)
}

fn bill(path: &Path) -> Result<Bill> {
    let name = shown::path(path);
    let json = text_of_file(&name, &text!("cannot read the bill {name}", "明細 {name} を読めません"))?;
    Bill::parse(&name, &json)
}

/// Runs `kurabe mark`.
///
/// # Errors
/// When the recording process cannot be notified.
pub fn mark(args: &MarkArgs) -> Result<()> {
    kurabe_lab::mark(&args.name)
}
