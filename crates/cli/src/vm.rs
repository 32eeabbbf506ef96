//! `kurabe vm`

mod recipe;

use crate::args::{Global, VmArgs};
use crate::output::{print_json, print_texts};
use kurabe_core::Result;
use recipe::Recipe;

/// Runs the command.
///
/// # Errors
/// When the model does not exist, or its options are invalid.
pub fn vm(args: &VmArgs, global: &Global) -> Result<()> {
    let recipe = Recipe::new(args)?;
    if global.json { print_json(&recipe.script()) } else { print_texts(&recipe.lines()) }
}
