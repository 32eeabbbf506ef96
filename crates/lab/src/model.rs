//! `model:NAME` as a target.

use crate::request::RunRequest;
use kurabe_core::mention::{
    DESTROY_DATA_ON, Mention, NO_FILL, PROFILE, RUN, SET, TRACE, VERIFY, WHY, WITH_SERIAL, WRITE_EXISTING,
};
use kurabe_core::model::ModelRecord;
use kurabe_core::outside::text_of_file;
use kurabe_core::{ErrorKind, Result, shown, text};
use kurabe_sim::{DeviceSpec, ModelTarget, device_named, load_device};
use std::path::Path;

/// The model that a target names, if it is one.
pub fn model_name(target: &Path) -> Option<&str> {
    target.to_str()?.strip_prefix("model:")
}

/// A model with changed parameters and without some of its layers.
///
/// # Errors
/// When there is none of this name, or it has no such parameter or layer.
pub fn load_model(name: &str, sets: &[(String, String)], without: &[String]) -> Result<DeviceSpec> {
    change_model(load_device(name)?, sets, without)
}

/// Returns the description of such a model that the record of a run on it has.
///
/// # Errors
/// As [`load_model`].
pub fn model_record(name: &str, sets: &[(String, String)], without: &[String]) -> Result<ModelRecord> {
    let spec = load_model(name, sets, without)?;
    Ok(kurabe_core::model::Model::record(&ModelTarget::new(&spec, 0)?))
}

/// The same of a device that is loaded.
pub(crate) fn change_model(
    mut spec: DeviceSpec,
    sets: &[(String, String)],
    without: &[String],
) -> Result<DeviceSpec> {
    for (parameter, value) in sets {
        spec.set(parameter, value)?;
    }
    without.iter().try_for_each(|layer| spec.remove_layer(layer))?;
    Ok(spec)
}

/// What was changed of a model that a run was computed on, as [`load_model`] takes it. None if it is not one of kurabe's own, or
/// layers were left out: a file of somebody's own may have changed since.
pub(crate) fn own_changes(model: &ModelRecord) -> Option<Vec<(String, String)>> {
    let spec = device_named(&model.name).ok()?;
    let is_whole = spec.all_layers().iter().all(|own| model.layer(&own.name).is_some());
    let split =
        |change: &String| change.split_once(" = ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    is_whole.then(|| model.changes().iter().filter_map(split).collect())
}

/// Refuses a device's or a profile's file as a target: who names one wants what it describes, and not the file measured.
pub(crate) fn refuse_own_file(target: &Path) -> Result<()> {
    let is_toml = target.extension().is_some_and(|extension| extension == "toml") && target.is_file();
    let Some(name) = target.to_str().filter(|_| is_toml) else { return Ok(()) };
    let source = text_of_file(name, &text!("cannot read {name}", "{name} を読めません"))?;
    let has = |table: &str| source.lines().any(|line| line.trim_start().starts_with(table));
    let file = shown::path(target);
    let word = shown::shell_word(&file);
    let (what, remedy) = if has("[[layer") {
        (
            text!("{file} describes a device", "{file} はデバイスの定義ファイルです"),
            text!(
                "name it as a model: {RUN} model:{word}",
                "モデルとして指定してください: {RUN} model:{word}"
            ),
        )
    } else if has("[[step") {
        (
            text!("{file} is a profile", "{file} はプロファイルです"),
            text!(
                "name it as such: {RUN} {PROFILE} {word} TARGET",
                "プロファイルとして指定してください: {RUN} {PROFILE} {word} 対象"
            ),
        )
    } else {
        return Ok(());
    };
    Err(ErrorKind::Usage.error(what).remedy(remedy))
}

/// Refuses to leave out the test file of a real target: what it held would be read.
pub(crate) fn refuse_no_fill(request: &RunRequest) -> Result<()> {
    if !request.no_fill || model_name(&request.target).is_some() {
        return Ok(());
    }
    Err(ErrorKind::Usage
        .error(text!(
            "{NO_FILL} is for models: a real test file is always written before it is read",
            "{NO_FILL} はモデル用です。実際のテストファイルは、必ず読み出す前に書き込みます"
        ))
        .remedy(text!(
            "leave it out, or name an existing file or a device, which is not filled",
            "外すか、書き込みを伴わない既存のファイルやデバイスを対象にしてください"
        )))
}

/// Refuses what would change nothing: a model has neither a kernel nor a page cache, and no data to lose.
pub(crate) fn refuse_what_real_targets_have(request: &RunRequest) -> Result<()> {
    let idle = request.overrides.given().find(|option| option.idle_on_models);
    let of_real_targets = [
        (VERIFY, request.verify),
        (TRACE, request.kernel_trace),
        (WRITE_EXISTING, request.writing.existing_file),
        (DESTROY_DATA_ON, request.writing.destroy_data_on.is_some()),
        (WITH_SERIAL, request.with_serial),
    ];
    let of_real_targets = of_real_targets.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag);
    let Some(word) = idle.map(|option| Mention::Flag(option.name)).or(of_real_targets) else {
        return Ok(());
    };
    let remedy = match word {
        Mention::Flag("chunk") => text!(
            "the model's host decides: {SET} host.copy_piece=SIZE, {SET} host.copy_turn=SIZE",
            "モデルのホストで決まります。{SET} host.copy_piece=サイズ、{SET} host.copy_turn=サイズ を使ってください"
        ),
        TRACE => text!(
            "leave it out: a model tells where its time goes without it ({WHY})",
            "外してください。モデルの時間の内訳は、指定しなくても {WHY} で見られます"
        ),
        _ => text!("leave it out", "外してください"),
    };
    Err(ErrorKind::Usage
        .error(text!("{word} changes nothing on a model", "モデルでは {word} は効きません"))
        .remedy(remedy))
}
