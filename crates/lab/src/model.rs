//! Models as targets: `model:NAME`.

use crate::request::RunRequest;
use kurabe_core::mention::{
    DESTROY_DATA_ON, Mention, NO_FILL, PROFILE, RUN, SET, TRACE, VERIFY, WHY, WITH_SERIAL, WRITE_EXISTING,
};
use kurabe_core::model::ModelRecord;
use kurabe_core::outside::text_of_file;
use kurabe_core::{ErrorKind, Result, shown, text};
use kurabe_sim::{DeviceSpec, ModelTarget, device_named, load_device};
use std::path::Path;

/// Loads a model, changes parameters and removes layers.
///
/// # Errors
/// When the model, a parameter or a layer does not exist.
pub fn load_model(name: &str, sets: &[(String, String)], without: &[String]) -> Result<DeviceSpec> {
    change_model(load_device(name)?, sets, without)
}

/// Returns the description of a model that a run on it would record.
///
/// # Errors
/// As [`load_model`].
pub fn model_record(name: &str, sets: &[(String, String)], without: &[String]) -> Result<ModelRecord> {
    let spec = load_model(name, sets, without)?;
    Ok(kurabe_core::model::Model::record(&ModelTarget::new(&spec, 0)?))
}

/// Changes parameters of a loaded device and removes layers.
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

/// Returns the parameter changes of the model that a run used, in the form that [`load_model`]
/// takes. Returns `None` if the model does not come with kurabe, because a user's file may have
/// changed since, or if layers were left out.
pub(crate) fn own_changes(model: &ModelRecord) -> Option<Vec<(String, String)>> {
    let spec = device_named(&model.name).ok()?;
    let is_whole = spec.all_layers().iter().all(|own| model.layer(&own.name).is_some());
    let split =
        |change: &String| change.split_once(" = ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    is_whole.then(|| model.changes().iter().filter_map(split).collect())
}

/// Refuses a device file or a profile file as a target, because the user probably wants what it
/// describes rather than measure the file.
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
                "pass it as a model: {RUN} model:{word}",
                "モデルとして指定してください: {RUN} model:{word}"
            ),
        )
    } else if has("[[step") {
        (
            text!("{file} is a profile", "{file} はプロファイルです"),
            text!(
                "pass it as a profile: {RUN} {PROFILE} {word} TARGET",
                "プロファイルとして指定してください: {RUN} {PROFILE} {word} 対象"
            ),
        )
    } else {
        return Ok(());
    };
    Err(ErrorKind::Usage.error(what).remedy(remedy))
}

/// Refuses to omit the test file of a real target, because the run would read whatever the storage
/// held before.
pub(crate) fn refuse_no_fill(request: &RunRequest) -> Result<()> {
    if !request.no_fill || request.target.model().is_some() {
        return Ok(());
    }
    Err(ErrorKind::Usage
        .error(text!(
            "{NO_FILL} is for models: a real test file is always written before it is read",
            "{NO_FILL} はモデル用です。実際のテストファイルは、必ず読み出す前に書き込みます"
        ))
        .remedy(text!(
            "remove it, or name an existing file or a device, which kurabe does not fill",
            "外すか、書き込みを伴わない既存のファイルやデバイスを対象にしてください"
        )))
}

/// Refuses options that have no effect on a model, which has no kernel, no page cache and no data
/// to lose.
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
            "the host of the model determines this; change it with {SET} host.copy_piece=SIZE and {SET} \
             host.copy_turn=SIZE",
            "モデルのホストで決まります。{SET} host.copy_piece=サイズ、{SET} host.copy_turn=サイズ を使ってください"
        ),
        TRACE => text!(
            "remove it; the time account of a model is always available: {WHY}",
            "外してください。モデルの時間の内訳は、指定しなくても {WHY} で見られます"
        ),
        _ => text!("remove it", "外してください"),
    };
    Err(ErrorKind::Usage
        .error(text!("{word} has no effect on a model", "モデルでは {word} は効きません"))
        .remedy(remedy))
}
