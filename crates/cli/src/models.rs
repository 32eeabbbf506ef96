//! `kurabe models`: the list, one model in full, and several side by side.

use crate::args::{Global, ModelShown, ModelsAction, ModelsArgs, ModelsCompared};
use crate::output::{print_json, print_page, style, write};
use kurabe_core::{Result, library::is_path, model::Model, shown::Shown};
use kurabe_lab::{assignments, load_model, sides_of, text_of};
use kurabe_report::{describe_model, render_model, render_models, side_by_side_doc};
use kurabe_sim::{
    DEVICES, DeviceSpec, KINDS_OF_DRIVES, ModelTarget, assembled_source, device_named, load_device,
};
use kurabe_study::catalogue::Catalogue;
use kurabe_study::{STUDIES, study_named};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Runs the command.
///
/// # Errors
/// When the model does not exist, or its file or a change is invalid.
pub fn models(args: &ModelsArgs, global: &Global) -> Result<()> {
    let ModelShown { name, set, toml } = match &args.action {
        Some(ModelsAction::Show(shown)) => shown,
        Some(ModelsAction::Compare(compared)) => return compare(compared, global),
        None => &args.shown,
    };
    let all = || DEVICES.iter().map(|(name, _)| device_named(name)).collect::<Result<Vec<_>>>();
    let Some(name) = name else {
        let everything = args.all || global.json;
        let models = if everything { all()? } else { first_models(all()?) };
        return list(&models, !args.all, global);
    };
    if device_named(name).is_err() && !is_path(name) && !*toml && set.is_empty() {
        let matching: Vec<DeviceSpec> = all()?.into_iter().filter(|model| has_word(model, name)).collect();
        if !matching.is_empty() {
            return list(&matching, false, global);
        }
    }
    if *toml {
        load_device(name)?;
        let source = assembled_source(name).map_or_else(|| text_of(DEVICES, name), Ok)?;
        return write(&Shown::source(&source));
    }
    let spec = load_model(name, &assignments("--set", set, "raid.strip=256KiB")?, &[])?;
    // Built here, so that conflicting parameters are reported now and not by the first run.
    let capacity = Some(ModelTarget::new(&spec, 0)?.span_bytes());
    match global.json {
        true => print_json(&describe_model(&spec, capacity)),
        false => print_page(&render_model(&spec, capacity, &style())),
    }
}

/// Returns the models of devices from about the last ten years, followed by those in published
/// comparisons.
fn first_models(models: Vec<DeviceSpec>) -> Vec<DeviceSpec> {
    const RECENT: u16 = 2016;
    let catalogue = Catalogue::built_in();
    let studies = STUDIES.iter().filter_map(|(name, _)| study_named(name, catalogue).ok());
    let rows = studies.flat_map(|study| study.parts).flat_map(|part| part.rows);
    let compared: BTreeSet<String> = rows.filter_map(|row| row.model).collect();
    let is_recent = |model: &DeviceSpec| model.year.is_none_or(|year| year >= RECENT);
    let (mut recent, older): (Vec<_>, Vec<_>) = models.into_iter().partition(is_recent);
    recent.sort_by_key(|model| Reverse(model.year));
    recent.extend(older.into_iter().filter(|model| compared.contains(&model.name)));
    recent
}

/// Returns whether the name, the title or a kind of the model contains the word.
fn has_word(model: &DeviceSpec, word: &str) -> bool {
    let word = word.to_lowercase();
    let kinds = KINDS_OF_DRIVES.iter().filter(|(_, device)| *device == model.name).map(|(kind, _)| *kind);
    let names = kinds.chain([model.name.as_str(), &model.title.en, &model.title.ja]);
    names.map(str::to_lowercase).any(|name| name.contains(&word))
}

fn list(models: &[DeviceSpec], more: bool, global: &Global) -> Result<()> {
    match global.json {
        true => models.iter().try_for_each(|model| {
            // A file of the user whose parameters conflict is listed without it.
            let capacity = ModelTarget::new(model, 0).ok().map(|target| target.span_bytes());
            print_json(&describe_model(model, capacity))
        }),
        false => print_page(&render_models(models, more, &style())),
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
