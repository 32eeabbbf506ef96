//! `kurabe models`: the list, one model in full, and several side by side.

use crate::args::{Global, ModelShown, ModelsAction, ModelsArgs, ModelsCompared};
use crate::output::{print_json, print_page, style, write};
use kurabe_core::{Result, model::Model, shown::Shown};
use kurabe_lab::{assignments, load_model, sides_of, text_of};
use kurabe_report::{describe_model, render_model, render_models, side_by_side_doc};
use kurabe_sim::{DEVICES, ModelTarget, device_named, load_device};

/// Runs the command.
///
/// # Errors
/// When there is no such model, or its file or a change is wrong.
pub fn models(args: &ModelsArgs, global: &Global) -> Result<()> {
    let ModelShown { name, set, toml } = match &args.action {
        Some(ModelsAction::Show(shown)) => shown,
        Some(ModelsAction::Compare(compared)) => return compare(compared, global),
        None => &args.shown,
    };
    let Some(name) = name else {
        let all = DEVICES.iter().map(|(name, _)| device_named(name)).collect::<Result<Vec<_>>>()?;
        return match global.json {
            true => all.iter().try_for_each(|model| print_json(&describe_model(model, None))),
            false => print_page(&render_models(&all, &style())),
        };
    };
    if *toml {
        load_device(name)?;
        return write(&Shown::source(&text_of(DEVICES, name)?));
    }
    let spec = load_model(name, &assignments("--set", set, "raid.strip=256KiB")?, &[])?;
    // Built, so that parameters that do not fit together are told here and not by the first run.
    let capacity = Some(ModelTarget::new(&spec, 0)?.span_bytes());
    match global.json {
        true => print_json(&describe_model(&spec, capacity)),
        false => print_page(&render_model(&spec, capacity, &style())),
    }
}

fn compare(compared: &ModelsCompared, global: &Global) -> Result<()> {
    let names: Vec<&str> = compared.names.iter().map(String::as_str).collect();
    let sides = sides_of(&names, &assignments("--set", &compared.set, "disk.failures_per_year=0.03")?)?;
    match global.json {
        true => sides.iter().try_for_each(print_json),
        false => print_page(&side_by_side_doc(&sides).terminal(&style())),
    }
}
