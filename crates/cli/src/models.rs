//! `kurabe models`: the list, and one model in full.

use crate::args::{Global, ModelsAction, ModelsArgs};
use crate::model::model_spec;
use crate::output::{print, print_json, style};
use kurabe_core::model::Model;
use kurabe_core::{Error, Result, text};
use kurabe_report::{describe_model, render_model, render_models};
use kurabe_sim::{DEVICES, ModelTarget, device_named, load_device};

/// Runs the command.
///
/// # Errors
/// When there is no such model, or its file or a change is wrong.
pub fn models(args: &ModelsArgs, global: &Global) -> Result<()> {
    match &args.action {
        None => {
            let all = DEVICES.iter().map(|(name, _)| device_named(name)).collect::<Result<Vec<_>>>()?;
            if global.json {
                all.iter().try_for_each(|model| print_json(&describe_model(model, None)))
            } else {
                print(&render_models(&all, &style()))
            }
        }
        Some(ModelsAction::Show { name, toml: true, .. }) => print(&source(name)?),
        Some(ModelsAction::Show { name, set, toml: false }) => {
            let spec = model_spec(name, set)?;
            // Built, so that parameters that do not fit together are told here and not by the first run.
            let capacity = Some(ModelTarget::new(&spec, 0)?.span_bytes());
            if global.json {
                print_json(&describe_model(&spec, capacity))
            } else {
                print(&render_model(&spec, capacity, &style()))
            }
        }
    }
}

/// A device file's own text.
fn source(name: &str) -> Result<String> {
    load_device(name)?;
    match DEVICES.iter().find(|(known, _)| *known == name) {
        Some((_, source)) => Ok((*source).to_owned()),
        None => std::fs::read_to_string(name)
            .map_err(|error| Error::os(text!("cannot read {name}", "{name} を読めません"), &error)),
    }
}
