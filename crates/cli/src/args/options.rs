//! Flags for the options of a workload, generated from their table.

use super::shared::worded;
use crate::lang::t;
use clap::builder::{BoolishValueParser, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use kurabe_core::Text;
use kurabe_core::profile::{OPTIONS, OptionKind, OptionPart, WorkloadOption};
use kurabe_lab::Overrides;

/// The flags of one set of the options, with the values that were given.
#[derive(Debug, Default)]
pub struct OptionArgs<const SET: u8>(Vec<(&'static str, String)>);

/// Options of a workload.
pub type WorkloadArgs = OptionArgs<{ OptionPart::Workload as u8 }>;
/// Rules of a profile.
pub type RuleArgs = OptionArgs<{ OptionPart::Rules as u8 }>;
/// Options of how operations are issued.
pub type IssueArgs = OptionArgs<{ OptionPart::Issue as u8 }>;
/// Options of individual profile steps.
pub type OtherStepArgs = OptionArgs<{ OptionPart::OtherSteps as u8 }>;
/// Options of `kurabe versus`.
pub type VersusOptions = OptionArgs<VERSUS>;
/// Options of `kurabe sweep`.
pub type SweepOptions = OptionArgs<SWEEP>;

const VERSUS: u8 = u8::MAX;
const SWEEP: u8 = u8::MAX - 1;

impl<const SET: u8> OptionArgs<SET> {
    fn options() -> impl Iterator<Item = &'static WorkloadOption> {
        OPTIONS.iter().filter(|option| match SET {
            VERSUS => ["size", "seed", "interval", "engine", "buffered"].contains(&option.name),
            SWEEP => ["seed", "buffered"].contains(&option.name),
            part => option.part as u8 == part,
        })
    }

    /// Returns the values as changes of a procedure.
    ///
    /// # Errors
    /// When a value is invalid.
    pub fn overrides(&self) -> Result<Overrides, Text> {
        let mut overrides = Overrides::default();
        self.given().try_for_each(|(name, words)| overrides.set(name, words))?;
        Ok(overrides)
    }

    /// Returns the names and values of the options that were given.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, words)| (*name, words.as_str()))
    }
}

impl<const SET: u8> Args for OptionArgs<SET> {
    fn augment_args(command: Command) -> Command {
        command.args(Self::options().map(|option| match SET {
            // These commands list the few options that they take among their own.
            VERSUS | SWEEP => flag(option).help_heading(None),
            _ => flag(option),
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const SET: u8> FromArgMatches for OptionArgs<SET> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let words = |option: &WorkloadOption| match option.kind {
            OptionKind::Switch => matches.get_flag(option.name).then(|| "yes".to_owned()),
            _ => matches.get_one::<String>(option.name).cloned(),
        };
        Ok(Self(Self::options().filter_map(|option| Some((option.name, words(option)?))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the heading in the help, if the options of a part have a separate heading.
pub fn heading(part: OptionPart) -> Option<&'static str> {
    match part {
        OptionPart::Rules => None,
        OptionPart::Workload => Some(t(
            "Single workload, without a profile (fio's terms)",
            "プロファイルを使わない単独のワークロード(fio の用語)",
        )),
        OptionPart::Issue => Some(t("Issuing operations", "発行の方法")),
        OptionPart::OtherSteps => Some(t("Individual steps of a profile", "プロファイルの一部だけ変える")),
    }
}

fn flag(option: &'static WorkloadOption) -> Arg {
    let arg = Arg::new(option.name)
        .long(option.name)
        .help(t(option.help.0, option.help.1))
        .help_heading(heading(option.part))
        .aliases(option.fio.iter().copied().filter(|name| *name != option.name));
    let arg = option.usual.into_iter().fold(arg, Arg::default_value);
    let arg = match option.kind {
        OptionKind::Switch => return needing(arg.action(ArgAction::SetTrue), option),
        OptionKind::Flag => {
            arg.num_args(0..=1).require_equals(true).default_missing_value("1").hide_possible_values(true)
        }
        _ => arg,
    };
    needing(arg.value_name(option.value_name).value_parser(parser(option)), option)
}

/// Adds the other arguments that a flag requires or conflicts with.
fn needing(arg: Arg, option: &WorkloadOption) -> Arg {
    match (option.part, option.name) {
        (_, "poisson") => arg.requires("rate"),
        (_, "direct") => arg.conflicts_with("buffered"),
        (_, "warm-up") => arg.conflicts_with("profile").alias("ramp-time"),
        (OptionPart::Workload, _) => arg.conflicts_with("profile"),
        (OptionPart::OtherSteps, _) => arg.requires("profile"),
        _ => arg,
    }
}

/// Returns a parser that accepts the valid values of an option.
fn parser(option: &'static WorkloadOption) -> ValueParser {
    match option.kind {
        OptionKind::Count(least, most) => {
            let range = i64::from(least)..=i64::from(most);
            ValueParser::new(value_parser!(u32).range(range).map(|number| number.to_string()))
        }
        OptionKind::Number => ValueParser::new(value_parser!(u64).map(|number| number.to_string())),
        OptionKind::Flag => ValueParser::new(BoolishValueParser::new().map(|is_on| is_on.to_string())),
        OptionKind::Choice(words) => ValueParser::new(PossibleValuesParser::new(words())),
        _ => ValueParser::new(move |words: &str| {
            Overrides::default().set(option.name, words).map_err(worded)?;
            Ok::<_, String>(words.to_owned())
        }),
    }
}
