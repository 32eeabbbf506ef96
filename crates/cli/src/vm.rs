//! `kurabe vm`

use crate::args::{Global, VmArgs};
use crate::output::{print_json, print_texts};
use kurabe_core::{Result, shown};
use kurabe_report::{GuestRequest, Recipe};

/// Runs the command.
///
/// # Errors
/// When the model does not exist, or its options are invalid.
pub fn vm(args: &VmArgs, global: &Global) -> Result<()> {
    let recipe = Recipe::new(&GuestRequest {
        target: shown::name(&*args.target),
        sets: args.set.clone(),
        without: args.without.clone(),
        exports: args.exports,
        data: args.data.clone(),
        guest: args.guest.as_deref().map(shown::name),
        socket: shown::name(&*args.socket),
    })?;
    if global.json { print_json(&recipe.script()) } else { print_texts(&recipe.lines()) }
}
