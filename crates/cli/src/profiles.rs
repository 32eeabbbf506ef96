//! `kurabe profiles`: the list, and one profile in full.

use crate::args::{Global, ProfileShown, ProfilesAction, ProfilesArgs};
use crate::output::{print_json, print_page, style, write};
use kurabe_core::{Result, shown::Shown};
use kurabe_lab::{load_profile, text_of};
use kurabe_profile::{EVERYDAY, PROFILES, profile_named};
use kurabe_report::{render_profile, render_profiles};
use kurabe_study::embedded_profile;

/// Runs the command.
///
/// # Errors
/// When the profile does not exist, or its file is invalid.
pub fn profiles(args: &ProfilesArgs, global: &Global) -> Result<()> {
    let ProfileShown { name, toml } = match &args.action {
        Some(ProfilesAction::Show(shown)) => shown,
        None => &args.shown,
    };
    let Some(name) = name else {
        let is_listed = |name: &&str| args.all || global.json || EVERYDAY.contains(name);
        let names = PROFILES.iter().map(|(name, _)| *name).filter(is_listed);
        let listed = names.map(profile_named).collect::<Result<Vec<_>>>()?;
        return match global.json {
            true => listed.iter().try_for_each(print_json),
            false => print_page(&render_profiles(&listed, !args.all, &style())),
        };
    };
    let profile = load_profile(name)?;
    if *toml {
        return match embedded_profile(name) {
            Some(source) => write(&Shown::source(source)),
            None => write(&Shown::source(&text_of(PROFILES, name)?)),
        };
    }
    if global.json { print_json(&profile) } else { print_page(&render_profile(&profile, &style())) }
}
