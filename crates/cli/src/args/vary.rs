//! The options of `kurabe run` that `kurabe versus --vary` compares, as the parser of `kurabe run` reads them.

use super::run::RunArgs;
use crate::wrong_words;
use clap::{Args, Command, FromArgMatches};
use kurabe_core::Text;
use kurabe_lab::versus::RunOptions;
use kurabe_lab::{Overrides, Settings};

/// The parser of `kurabe run`.
pub struct RunParser;

fn command() -> Command {
    RunArgs::augment_args(Command::new("run"))
}

impl RunOptions for RunParser {
    fn option(&self, word: &str) -> Option<String> {
        let command = command();
        let option = command.get_arguments().find(|option| {
            let is_alias = option.get_all_aliases().is_some_and(|aliases| aliases.contains(&word));
            option.get_long() == Some(word) || is_alias
        });
        option?.get_long().map(str::to_owned)
    }

    fn read(&self, words: &[String]) -> Result<(Overrides, Settings), Text> {
        let words = std::iter::once("run").chain(words.iter().map(String::as_str));
        let read = command().try_get_matches_from(words).and_then(|read| RunArgs::from_arg_matches(&read));
        let args = read.map_err(|error| wrong_words::what(&error))?;
        Ok((Overrides { steps: args.step_change(), ..args.overrides() }, args.settings()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::Result;
    use kurabe_core::workload::{Direction, Pattern};
    use kurabe_lab::versus::{Variant, may_differ, variants};

    fn of(words: &[&str]) -> Result<Vec<Variant>> {
        variants(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), &[], &RunParser)
    }

    #[test]
    fn every_name_is_an_option_of_run() {
        for name in may_differ() {
            assert_eq!(RunParser.option(name).as_deref(), Some(name));
        }
        assert_eq!(RunParser.option("numjobs").as_deref(), Some("threads"));
    }

    #[test]
    fn several_make_the_product_and_each_side_has_its_name() {
        let sides = of(&["bs=4k,16k", "iodepth=1,8"]).unwrap();
        let names: Vec<&str> = sides.iter().map(|side| side.name.as_str()).collect();
        assert_eq!(names, ["bs=4k, iodepth=1", "bs=4k, iodepth=8", "bs=16k, iodepth=1", "bs=16k, iodepth=8"]);
        assert_eq!(sides[2].overrides.steps.block_bytes, Some(16384));
        assert_eq!(sides[1].overrides.steps.iodepth, Some(8));
        assert_eq!(sides[0].overrides.direct, None);
    }

    #[test]
    fn a_switch_needs_no_values_and_parameters_of_models_are_sets() {
        let sides = of(&["buffered"]).unwrap();
        assert_eq!(
            sides.iter().map(|side| side.overrides.direct).collect::<Vec<_>>(),
            [Some(true), Some(false)]
        );
        let sides = of(&["o-sync=off,on"]).unwrap();
        assert_eq!(
            sides.iter().map(|side| side.overrides.steps.o_sync).collect::<Vec<_>>(),
            [None, Some(true)]
        );
        let sides = of(&["fat-image.cluster=16KiB,64KiB"]).unwrap();
        assert_eq!(sides[1].sets, [("fat-image.cluster".to_owned(), "64KiB".to_owned())]);
        let sides = of(&["rw=read,randwrite"]).unwrap();
        let steps = &sides[1].overrides.steps;
        assert_eq!((steps.direction, steps.pattern), (Some(Direction::Write), Some(Pattern::Random)));
    }

    #[test]
    fn what_is_no_comparison_is_refused_with_what_would_be_one() {
        for (words, parts) in [
            (&["iodpeth=1,8"][..], ["no such option", "`iodepth`"]),
            (&["bs=4k"][..], ["only value", "bs=4k,16k"]),
            (&["bs"][..], ["no values", "bs=4k,16k"]),
            (&["bs=4k,"][..], ["empty", "two values"]),
            (&["bs=4k,4q"][..], ["4q", "kurabe run --help"]),
            (&["time=1s,2s"][..], ["same time", "--repetition"]),
            (&["profile=quick,default"][..], ["cannot differ", "kurabe compare"]),
            (&["bs=4k,16k", "bs=8k,32k"][..], ["twice", "one"]),
            (&["bs=4k,8k,16k", "iodepth=1,2,3,4,5,6"][..], ["18 sides", "fewer"]),
            (&["buffered=maybe,no"][..], ["on or off", "no,yes"]),
        ] {
            let error = of(words).unwrap_err();
            let message = format!("{} {}", error, error.remedy_text().unwrap().en);
            assert!(parts.iter().all(|part| message.contains(part)), "{words:?}: {message}");
        }
    }
}
