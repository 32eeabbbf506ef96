//! `model:NAME` as a target.

use crate::request::RunRequest;
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_engine::Settings;
use kurabe_sim::{DeviceSpec, load_device};
use std::path::Path;

/// The model that a target names, if it is one.
pub fn model_name(target: &Path) -> Option<&str> {
    target.to_str()?.strip_prefix("model:")
}

/// A model with changed parameters.
///
/// # Errors
/// When there is none of this name, or it has no such parameter.
pub fn load_model(name: &str, sets: &[(String, String)]) -> Result<DeviceSpec> {
    let mut spec = load_device(name)?;
    for (parameter, value) in sets {
        spec.set(parameter, value)?;
    }
    Ok(spec)
}

/// Refuses what would change nothing: a model has neither a kernel nor a page cache, and no data to lose.
pub(crate) fn refuse_what_real_targets_have(request: &RunRequest) -> Result<()> {
    let (settings, usual) = (request.settings, Settings::default());
    let words = [
        ("--engine", settings.engine != usual.engine),
        ("--wait", settings.wait != usual.wait),
        ("--pages", settings.pages != usual.pages),
        ("--direct", request.overrides.direct == Some(true)),
        ("--buffered", request.overrides.direct == Some(false)),
        ("--cache", settings.cache != usual.cache),
        ("--trace", request.kernel_trace),
        ("--write-existing", request.writing.existing_file),
        ("--destroy-data-on", request.writing.destroy_data_on.is_some()),
        ("--with-serial", request.with_serial),
        ("--chunk", request.overrides.chunk_bytes.is_some()),
    ];
    let Some((word, _)) = words.iter().find(|(_, given)| *given) else { return Ok(()) };
    let remedy = match *word {
        "--chunk" => text!(
            "the model's host decides: --set host.copy_piece=SIZE, --set host.copy_turn=SIZE",
            "モデルのホストで決まります。--set host.copy_piece=サイズ、--set host.copy_turn=サイズ を使ってください"
        ),
        "--trace" => text!(
            "leave it out: a model tells where its time goes without it (kurabe why)",
            "外してください。モデルの時間の内訳は、指定しなくても kurabe why で見られます"
        ),
        _ => text!("leave it out", "外してください"),
    };
    Err(Error::new(
        ErrorKind::Usage,
        text!("{word} changes nothing on a model", "モデルでは {word} は効きません"),
    )
    .remedy(remedy))
}
