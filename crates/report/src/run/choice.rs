//! Profiles as a reader chooses them: by a short name, in groups, with their duration.

use super::profile::{group_name, time};
use kurabe_core::profile::Profile;
use kurabe_core::quantity::NS_PER_S;
use kurabe_core::record::RunHeader;
use kurabe_core::{Result, Text, number, text};
use kurabe_profile::{EVERYDAY, PROFILES, ProfileGroup, profile_named};

/// A built-in profile to choose.
#[derive(Clone, Debug)]
pub struct ProfileChoice {
    /// Name of the profile, as in `--profile`.
    pub name: &'static str,
    /// Short name and duration, as in `Standard, 50 s`.
    pub words: Text,
}

/// Returns the built-in profiles in their groups, the everyday ones first.
///
/// # Errors
///
/// Returns an error if a built-in profile cannot be read.
pub fn profile_choices() -> Result<Vec<(Text, Vec<ProfileChoice>)>> {
    let mut groups = Vec::new();
    for group in ProfileGroup::ALL {
        let all = PROFILES.iter().map(|(name, _)| *name);
        let names: Vec<&str> = match group {
            ProfileGroup::Everyday => EVERYDAY.to_vec(),
            _ => all.filter(|name| ProfileGroup::of(name) == group).collect(),
        };
        let choice = |name| {
            let profile = profile_named(name)?;
            Ok(ProfileChoice { name, words: with_time(&profile) })
        };
        groups.push((group_name(group), names.into_iter().map(choice).collect::<Result<Vec<_>>>()?));
    }
    Ok(groups)
}

fn with_time(profile: &Profile) -> Text {
    let name = short_name(profile);
    match time(profile).map(|(ns, most)| (about(ns), most)) {
        None => name,
        Some((time, false)) => text!("{name}, {time}", "{name}、{time}"; name, time),
        Some((time, true)) => text!("{name}, at most {time}", "{name}、最長 {time}"; name, time),
    }
}

/// Formats a duration as people say it: `50 s`, `3 min`, `2 h`.
pub(crate) fn about(ns: u64) -> Text {
    let seconds = ns.div_ceil(NS_PER_S);
    let rounded = match seconds {
        0..30 => seconds,
        30..90 => seconds.next_multiple_of(5),
        90..5400 => (seconds + 30) / 60 * 60,
        _ => (seconds + 1800) / 3600 * 3600,
    };
    let time = number::long_time(rounded * NS_PER_S);
    // `time_words` keeps the Latin unit of a time below a minute.
    let ja = number::time_words(&time).ja.replace(" s", " 秒");
    Text::of(time, ja)
}

/// Short names of kurabe's own profiles. Their titles are sentences.
const SHORT: [(&str, &str, &str); 6] = [
    ("default", "Standard", "標準"),
    ("quick", "Quick look", "クイック"),
    ("stutter", "Stutter while writing", "書き込み中の引っかかり"),
    ("uses", "Typical uses", "代表的な用途"),
    ("git-pull", "git pull", "git pull"),
    ("delay-ratio", "Delay ratio", "読書交錯遅延倍率"),
];

/// Returns the short name of a profile, as in `CrystalDiskMark 9`.
pub(crate) fn short_name(profile: &Profile) -> Text {
    if let Some((_, en, ja)) = SHORT.iter().find(|(name, ..)| *name == profile.name) {
        return Text::of(*en, *ja);
    }
    let plain = |words: &str, end: &str| words.strip_suffix(end).unwrap_or(words).trim_end().to_owned();
    let named = Text::of(plain(&profile.title.en, ", default"), plain(&profile.title.ja, "(標準)"));
    if named.is_empty() { Text::same(&profile.name) } else { named }
}

/// Returns the procedure of a run as readers know it: the short name of its profile, or the tool.
pub fn procedure_name(header: &RunHeader) -> Text {
    match &header.profile {
        Some(profile) if header.origin.is_none() => short_name(profile),
        _ => Text::same(header.profile_name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_have_everyday_names_and_times_in_three_groups() {
        let groups = profile_choices().unwrap();
        let names: Vec<&str> = groups.iter().map(|(group, _)| group.en.as_str()).collect();
        assert_eq!(names, ["everyday", "as other tools do", "long and special"]);
        let all: Vec<&ProfileChoice> = groups.iter().flat_map(|(_, choices)| choices).collect();
        assert_eq!(all.len(), PROFILES.len());
        let words = |name| &all.iter().find(|choice| choice.name == name).unwrap().words;
        assert_eq!(words("default"), &text!("Standard, 50 s", "標準、50 秒"));
        assert_eq!(words("cdm-9").en, "CrystalDiskMark 9, 3 min");
        assert_eq!(words("cdm-9").ja, "CrystalDiskMark 9、3 分");
    }

    #[test]
    fn times_are_rounded_as_people_say_them() {
        let times = [9, 48, 66, 195, 7300].map(|seconds| about(seconds * NS_PER_S).en);
        assert_eq!(times, ["9 s", "50 s", "1 min 10 s", "3 min", "2 h"]);
    }
}
