//! The words of `kurabe versus --vary`: options of `kurabe run`, and parameters of models, that differ from side to side.
//!
//! The model: `--vary bs=4k,16k` makes a side for each value; several make the product. Each side's words are read as those of
//! `kurabe run`, so they mean the same and are refused alike.

use super::run::RunArgs;
use super::{Cli, Command};
use crate::wrong_words;
use clap::{Args, Parser};
use kurabe_core::{Error, ErrorKind, Result, Text, nearest, text};
use kurabe_lab::versus::{MOST_VARIANTS, Variant};

/// Options that take a value and may differ from side to side.
const VALUED: [&str; 21] = [
    "rw",
    "bs",
    "iodepth",
    "threads",
    "rwmixread",
    "order",
    "offset",
    "bytes",
    "passes",
    "warm-up",
    "rate",
    "fsync",
    "end-fsync",
    "size",
    "interval",
    "data",
    "seed",
    "engine",
    "wait",
    "pages",
    "cache",
];
/// The same of options that belong to some profiles only.
const OF_PROFILES: [&str; 2] = ["chunk", "files"];
/// Options that are on or off.
const SWITCHES: [&str; 4] = ["buffered", "direct", "o-sync", "poisson"];

/// What differs, and its values, the baseline's first.
struct Axis {
    key: String,
    values: Vec<String>,
}

/// The sides that `--vary` words make; `common` are words of `kurabe run` that hold for all sides, as option and value.
///
/// # Errors
/// When a word is no option, has not two values, or a value is wrong.
pub fn variants(words: &[String], common: &[(&str, String)]) -> Result<Vec<Variant>> {
    let axes = words.iter().map(|words| axis(words)).collect::<Result<Vec<_>>>()?;
    if let Some(place) =
        (1..axes.len()).find(|place| axes[..*place].iter().any(|axis| axis.key == axes[*place].key))
    {
        let key = &axes[place].key;
        return Err(usage(text!("--vary {key} is given twice", "--vary {key} が 2 回あります")).remedy(
            text!(
                "write all values behind one: --vary {key}=ONE,OTHER",
                "値はまとめて書いてください: --vary {key}=値1,値2"
            ),
        ));
    }
    let sides = axes.iter().fold(1, |sides: usize, axis| sides.saturating_mul(axis.values.len()));
    if sides > MOST_VARIANTS {
        return Err(usage(text!(
            "--vary: {sides} sides are more than {MOST_VARIANTS}",
            "--vary: {sides} 通りは上限の {MOST_VARIANTS} を超えています"
        ))
        .remedy(text!(
            "several --vary make the product of their values: vary fewer, or one after the other",
            "--vary を複数書くと組み合わせの数だけ測ります。減らすか、1 つずつ比べてください"
        )));
    }
    if axes.is_empty() {
        return Ok(Vec::new());
    }
    product(&axes).iter().map(|side| variant(side, common)).collect()
}

fn usage(context: Text) -> Error {
    Error::new(ErrorKind::Usage, context)
}

/// Reads `KEY=ONE,OTHER`, or `KEY` of a switch.
fn axis(words: &str) -> Result<Axis> {
    let (word, values) = match words.split_once('=') {
        Some((word, values)) => (word.trim(), Some(values)),
        None => (words.trim(), None),
    };
    let key = key(word.trim_start_matches('-'))?;
    let values: Vec<String> = match values {
        Some(values) => values.split(',').map(|value| value.trim().to_owned()).collect(),
        None if SWITCHES.contains(&key.as_str()) => vec!["no".to_owned(), "yes".to_owned()],
        None => Vec::new(),
    };
    let example = example(&key);
    let wrong = |why: Text| {
        Err(usage(why).remedy(text!(
            "name two values or more, the baseline's first: --vary {example}",
            "2 つ以上の値を、基準を先頭にして書いてください: --vary {example}"
        )))
    };
    match values.as_slice() {
        [] => wrong(text!("--vary {key}: there are no values", "--vary {key}: 値がありません")),
        values if values.iter().any(String::is_empty) => {
            wrong(text!("--vary {words}: a value is empty", "--vary {words}: 空の値があります"))
        }
        [only] => wrong(text!(
            "--vary {key}: {only} is the only value, so there is nothing to compare with",
            "--vary {key}: 値が {only} だけでは比べられません"
        )),
        _ => Ok(Axis { key, values }),
    }
}

fn example(key: &str) -> String {
    match key {
        "iodepth" | "threads" => format!("{key}=1,8,32"),
        "rw" => "rw=randread,randwrite".to_owned(),
        "engine" => "engine=uring,threads".to_owned(),
        "fat-image.cluster" => "fat-image.cluster=16KiB,64KiB".to_owned(),
        key if SWITCHES.contains(&key) => format!("{key}=no,yes"),
        "bs" => "bs=4k,16k".to_owned(),
        key => format!("{key}=ONE,OTHER"),
    }
}

/// The name of an option, or a parameter of a model.
fn key(word: &str) -> Result<String> {
    if word.contains('.') {
        return Ok(word.to_owned());
    }
    let may_differ: Vec<&str> = VALUED.iter().chain(&OF_PROFILES).chain(&SWITCHES).copied().collect();
    let options = RunArgs::augment_args(clap::Command::new("run"));
    let option = options.get_arguments().find(|option| {
        let is_alias = option.get_all_aliases().is_some_and(|aliases| aliases.contains(&word));
        option.get_long() == Some(word) || is_alias
    });
    match option.and_then(clap::Arg::get_long) {
        Some(name) if may_differ.contains(&name) => Ok(name.to_owned()),
        Some("time") => Err(usage(text!(
            "--vary {word}: a repetition takes the same time on all sides",
            "--vary {word}: 1 回の時間は全体で同じです"
        ))
        .remedy(text!("set it for all with --repetition", "--repetition でまとめて指定してください"))),
        Some(_) => Err(usage(text!(
            "--vary {word}: sides cannot differ in this",
            "--vary {word}: これは変えて比べられません"
        ))
        .remedy(text!(
            "measure each with `kurabe run`, then `kurabe compare`",
            "それぞれ `kurabe run` で測り、`kurabe compare` で比べてください"
        ))),
        None => Err(usage(text!(
            "--vary {word}: `kurabe run` has no such option, and parameters of models are LAYER.PARAMETER",
            "--vary {word}: `kurabe run` にこのオプションはありません。モデルのパラメーターは 層.名前 と書きます"
        ))
        .remedy(nearest(word, &may_differ))),
    }
}

/// Every combination of the values, the first axis slowest.
fn product(axes: &[Axis]) -> Vec<Vec<(&str, &str)>> {
    axes.iter().fold(vec![Vec::new()], |sides, axis| {
        let with = |side: &Vec<(_, _)>| {
            let side = side.clone();
            let add = move |value| [side.clone(), vec![(axis.key.as_str(), value)]].concat();
            axis.values.iter().map(String::as_str).map(add).collect::<Vec<_>>()
        };
        sides.iter().flat_map(with).collect()
    })
}

fn variant(side: &[(&str, &str)], common: &[(&str, String)]) -> Result<Variant> {
    let name = side.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ");
    let mut words = vec!["kurabe".to_owned(), "run".to_owned()];
    let mut sets = Vec::new();
    for (key, value) in side {
        if key.contains('.') {
            sets.push(((*key).to_owned(), (*value).to_owned()));
        } else if SWITCHES.contains(key) {
            words.extend(switch(key, value)?);
        } else {
            words.push(format!("--{key}={value}"));
        }
    }
    if side.iter().any(|(key, _)| OF_PROFILES.contains(key)) {
        // The profile is the same for all; here only its presence counts.
        words.push("--profile=default".to_owned());
    }
    let varied = |key: &str| side.iter().any(|(other, _)| *other == key);
    words
        .extend(common.iter().filter(|(key, _)| !varied(key)).map(|(key, value)| format!("--{key}={value}")));
    let cli = Cli::try_parse_from(&words).map_err(|error| {
        let (name, why) = (Text::same(&name), wrong_words::what(&error));
        usage(text!("--vary {name}: {why}", "--vary {name}: {why}"; name, why)).remedy(text!(
            "`kurabe run --help` tells what each option takes",
            "各オプションの値は `kurabe run --help` にあります"
        ))
    })?;
    let Command::Run(args) = cli.command else {
        return Err(Error::new(ErrorKind::Internal, text!("--vary {name}", "--vary {name}")));
    };
    let mut overrides = args.overrides();
    overrides.steps = args.step_change();
    Ok(Variant { name, overrides, settings: args.settings(), sets })
}

/// The words of a switch that is on or off; `o-sync` and `poisson` have none for off.
fn switch(key: &str, value: &str) -> Result<Option<String>> {
    let on = match value.to_ascii_lowercase().as_str() {
        "yes" | "on" | "true" | "1" => true,
        "no" | "off" | "false" | "0" => false,
        _ => {
            return Err(usage(text!(
                "--vary {key}={value}: it is on or off",
                "--vary {key}={value}: 値は yes か no です"
            ))
            .remedy(text!("write --vary {key}=no,yes", "--vary {key}=no,yes と書いてください")));
        }
    };
    Ok(match key {
        "direct" | "buffered" => Some(format!("--{key}={on}")),
        _ => on.then(|| format!("--{key}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::workload::{Direction, Pattern};

    fn of(words: &[&str]) -> Result<Vec<Variant>> {
        variants(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), &[])
    }

    #[test]
    fn every_name_is_an_option_of_run() {
        for name in VALUED.iter().chain(&OF_PROFILES).chain(&SWITCHES) {
            assert_eq!(key(name).unwrap(), *name);
        }
        assert_eq!(key("numjobs").unwrap(), "threads");
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
