//! The profiles that come with kurabe, from the folder `profiles/`.

use crate::error::{Error, ErrorKind, Result};
use crate::profile::Profile;
use crate::{nearest, text};

macro_rules! library {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../profiles/", $name, ".toml")))),*]
    };
}

/// Name and text of every profile, in the order in which they are listed.
pub const PROFILES: &[(&str, &str)] =
    library!["default", "quick", "cdm-9", "cdm-9-nvme", "cdm-9-flash", "cdm-9-real", "cdm-9-mix"];

/// Reads a profile by its name.
///
/// # Errors
/// When there is none of that name; the nearest is named.
pub fn profile_named(name: &str) -> Result<Profile> {
    match PROFILES.iter().find(|(known, _)| *known == name) {
        Some((name, source)) => Profile::parse(name, source),
        None => {
            let names: Vec<&str> = PROFILES.iter().map(|(name, _)| *name).collect();
            Err(Error::new(
                ErrorKind::Usage,
                text!("there is no profile `{name}`", "`{name}` というプロファイルはありません"),
            )
            .remedy(nearest(name, &names)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_valid_and_named_as_its_file() {
        for (name, source) in PROFILES {
            let profile = Profile::parse(name, source)
                .unwrap_or_else(|error| panic!("{}", error.render(Default::default())));
            assert_eq!(profile.name, *name);
        }
    }

    #[test]
    fn a_mistyped_name_gets_the_nearest() {
        let error = profile_named("cdm9").unwrap_err();
        assert!(error.remedy_text().unwrap().en.contains("`cdm-9`"), "{error:?}");
    }

    #[test]
    fn crystaldiskmark_9_measures_its_eight_cells_in_its_order() {
        let cells: Vec<String> = profile_named("cdm-9")
            .unwrap()
            .cells(1 << 30)
            .iter()
            .map(|cell| format!("{} {}", cell.direction.word(), cell.label))
            .collect();
        assert_eq!(
            cells,
            [
                "read SEQ 1 MiB Q8 T1",
                "read SEQ 1 MiB Q1 T1",
                "read RND 4 KiB Q32 T1",
                "read RND 4 KiB Q1 T1",
                "write SEQ 1 MiB Q8 T1",
                "write SEQ 1 MiB Q1 T1",
                "write RND 4 KiB Q32 T1",
                "write RND 4 KiB Q1 T1",
            ]
        );
    }
}
