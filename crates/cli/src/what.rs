//! `kurabe what`: identifies a device and shows the answers with their evidence.

use crate::args::{Global, WhatArgs};
use crate::lang::lang;
use crate::output::{
    outputs_next_to_result, print_json, print_page, progress_mode, say, say_over, style, write_out,
};
use crate::show::{Mode, ScriptLine, identity_doc, identity_plan_doc, inference_doc, stage_words};
use crate::{signals, stored::open_recovered};
use kurabe_core::Result;
use kurabe_lab::{Lab, Stream};

/// Identifies the target and prints the answers.
///
/// # Errors
/// When the target cannot be opened or fails, or the user stops the program. Nothing is left then.
pub fn what(args: &WhatArgs, global: &Global, command_line: &[String]) -> Result<()> {
    let request = args.request()?;
    let prepared = request.prepare()?;
    let plan = request.plan(&prepared)?;
    if args.dry_run {
        return print_page(&identity_plan_doc(&plan).terminal(&style()));
    }
    let mode = progress_mode(global);
    if mode != Mode::Quiet && !global.json {
        say(identity_plan_doc(&plan).terminal(&style()).trim_end());
    }
    let mut outputs = outputs_next_to_result(args.force, global);
    let output = outputs.claim_optional(args.output.as_ref())?;
    let shows_pages = !global.json && !outputs.has_stdout();
    let handle = signals::listen()?;
    let store = open_recovered(global)?;
    let stream = Stream::default();
    let lab = Lab { store: &*store, stream: &stream, handle: &handle, command: command_line };
    let identified = request.identify(prepared, &lab, &mut |stage| {
        if mode == Mode::Terminal {
            say_over(stage_words(stage).get(lang()));
        }
    });
    if mode == Mode::Terminal {
        say_over("");
    }
    let identified = identified?;
    if global.json {
        let target = &identified.target.given;
        print_json(&ScriptLine::Identity { target, identity: &identified.identity })?;
    } else if shows_pages {
        print_page(&identity_doc(&identified).terminal(&style()))?;
    }
    let Some(inferred) = &identified.inferred else { return Ok(()) };
    if shows_pages {
        print_page(&inference_doc(inferred).terminal(&style()))?;
    }
    let Some(output) = output else { return Ok(()) };
    let name = format!("identified-{}", inferred.device.family.name);
    write_out(&inferred.device_file(&name, &identified.target.given)?, Some(output))
}
