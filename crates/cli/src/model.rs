//! `model:NAME` as a target.

use crate::args::RunArgs;
use crate::words::assignment;
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_sim::{DeviceSpec, load_device};

/// The model that a run names.
pub fn model_name(args: &RunArgs) -> Option<&str> {
    args.target.to_str()?.strip_prefix("model:")
}

/// A model with the changes of the command line.
///
/// # Errors
/// When there is none of this name, or it has no such parameter.
pub fn model_spec(name: &str, changes: &[String]) -> Result<DeviceSpec> {
    let mut spec = load_device(name)?;
    for change in changes {
        let (parameter, value) = assignment("--set", change, "raid.strip=256KiB")?;
        spec.set(parameter, value)?;
    }
    Ok(spec)
}

/// Refuses what would change nothing: a model has neither a kernel nor a page cache, and no data to lose.
///
/// # Errors
/// When such a flag was given.
pub fn refuse_flags_of_real_targets(args: &RunArgs) -> Result<()> {
    let words = [
        ("--engine", args.engine != "auto"),
        ("--wait", args.wait != "sleep"),
        ("--pages", args.pages != "4k"),
        ("--direct", args.direct),
        ("--buffered", args.buffered),
        ("--cache", args.cache != "drop"),
        ("--trace", args.trace),
        ("--write-existing", args.write_existing),
        ("--destroy-data-on", args.destroy_data_on.is_some()),
        ("--with-serial", args.with_serial),
        ("--chunk", args.chunk.is_some()),
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
