//! Variants of one target from the command line: options of `kurabe run` and parameters of models
//! that differ between the sides of a comparison.
//!
//! `bs=4k,16k` creates a side for each value, and several such arguments create their product. The
//! options of each side are parsed as those of `kurabe run`, so they have the same meaning and the
//! same errors.

use super::run::RunArgs;
use clap::{Args, Command};
use kurabe_core::profile::{OPTIONS, WorkloadOption, option};
use kurabe_core::{Error, ErrorKind, Result, Text, nearest, text};
use kurabe_lab::Overrides;
use kurabe_lab::versus::{MOST_VARIANTS, Variant, Variation, count_sides, side_name, sides};

/// Returns the name of the option of `kurabe run` with this name or alias.
fn option_of_run(word: &str) -> Option<String> {
    let command = RunArgs::augment_args(Command::new("run"));
    let option = command.get_arguments().find(|option| {
        let is_alias = option.get_all_aliases().is_some_and(|aliases| aliases.contains(&word));
        option.get_long() == Some(word) || is_alias
    });
    option?.get_long().map(str::to_owned)
}

/// Returns the options that may differ between sides, switches last.
fn may_differ() -> impl Iterator<Item = &'static str> {
    let of = |is_switch: bool| {
        OPTIONS.iter().filter(move |option| option.may_differ && option.is_switch() == is_switch)
    };
    of(false).chain(of(true).rev()).map(|option| option.name)
}

fn is_switch(name: &str) -> bool {
    option(name).is_some_and(WorkloadOption::is_switch)
}

/// Returns the sides that `--vary` arguments define. `common` are options of `kurabe run` for all
/// sides, with their values.
///
/// # Errors
/// When an argument does not name an option, lists fewer than two values, or has an invalid value.
pub fn variants(words: &[String], common: &[(&str, String)]) -> Result<Vec<Variant>> {
    let axes = words.iter().map(|words| axis(words)).collect::<Result<Vec<_>>>()?;
    if let Some(place) =
        (1..axes.len()).find(|place| axes[..*place].iter().any(|axis| axis.key == axes[*place].key))
    {
        let key = &axes[place].key;
        return Err(usage(text!("--vary {key} was given twice", "--vary {key} が 2 回あります")).remedy(
            text!(
                "give all values in one option: --vary {key}=ONE,OTHER",
                "値はまとめて書いてください: --vary {key}=値1,値2"
            ),
        ));
    }
    let count = count_sides(&axes);
    if count > MOST_VARIANTS {
        return Err(usage(text!(
            "--vary: {count} configurations exceed the limit of {MOST_VARIANTS}",
            "--vary: {count} 通りは上限の {MOST_VARIANTS} を超えています"
        ))
        .remedy(text!(
            "several --vary options measure every combination of their values: vary fewer options, or one at a time",
            "--vary を複数書くと組み合わせの数だけ測ります。減らすか、1 つずつ比べてください"
        )));
    }
    if axes.is_empty() {
        return Ok(Vec::new());
    }
    sides(&axes).iter().map(|side| variant(side, common)).collect()
}

/// Returns the sides that commands define. `--` separates them.
///
/// # Errors
/// When there are fewer than two commands.
pub fn commands(words: &[String]) -> Result<Vec<Variant>> {
    let sides: Vec<Variant> =
        words.split(|word| word == "--").map(|words| Variant::of_command(words.to_vec())).collect();
    if sides.len() < 2 || sides.iter().any(|side| side.command.is_empty()) {
        return Err(usage(text!(
            "a comparison of commands needs two or more of them",
            "コマンドを比べるには 2 つ以上必要です"
        ))
        .remedy(text!(
            "separate them by `--`, the baseline first: kurabe versus -- COMMAND -- OTHER COMMAND",
            "基準を先頭にして `--` で区切ってください: kurabe versus -- コマンド -- 別のコマンド"
        )));
    }
    Ok(sides)
}

fn usage(context: Text) -> Error {
    ErrorKind::Usage.error(context)
}

/// Parses `KEY=ONE,OTHER`, or `KEY` of a switch.
fn axis(words: &str) -> Result<Variation> {
    let (word, values) = match words.split_once('=') {
        Some((word, values)) => (word.trim(), Some(values)),
        None => (words.trim(), None),
    };
    let key = key(word.trim_start_matches('-'))?;
    let values: Vec<String> = match values {
        Some(values) => values.split(',').map(|value| value.trim().to_owned()).collect(),
        None if is_switch(&key) => vec!["no".to_owned(), "yes".to_owned()],
        None => Vec::new(),
    };
    let example = example(&key);
    let wrong = |why: Text| {
        Err(usage(why).remedy(text!(
            "give two or more values, the baseline first: --vary {example}",
            "2 つ以上の値を、基準を先頭にして書いてください: --vary {example}"
        )))
    };
    match values.as_slice() {
        [] => wrong(text!("--vary {key}: no values were given", "--vary {key}: 値がありません")),
        values if values.iter().any(String::is_empty) => {
            wrong(text!("--vary {words}: one value is empty", "--vary {words}: 空の値があります"))
        }
        [only] => wrong(text!(
            "--vary {key}: {only} is the only value, and a comparison needs two",
            "--vary {key}: 値が {only} だけでは比べられません"
        )),
        _ => Ok(Variation { key, values }),
    }
}

fn example(key: &str) -> String {
    match key {
        "iodepth" | "threads" => format!("{key}=1,8,32"),
        "rw" => "rw=randread,randwrite".to_owned(),
        "engine" => "engine=uring,threads".to_owned(),
        "fat-image.cluster" => "fat-image.cluster=16KiB,64KiB".to_owned(),
        key if is_switch(key) => format!("{key}=no,yes"),
        "bs" => "bs=4k,16k".to_owned(),
        key => format!("{key}=ONE,OTHER"),
    }
}

/// Resolves the name of an option or of a model parameter.
fn key(word: &str) -> Result<String> {
    if word.contains('.') {
        return Ok(word.to_owned());
    }
    let may_differ: Vec<&str> = may_differ().collect();
    match option_of_run(word).as_deref() {
        Some(name) if may_differ.contains(&name) => Ok(name.to_owned()),
        Some("time") => Err(usage(text!(
            "--vary {word}: the time of a repetition must be the same for all configurations",
            "--vary {word}: 1 回の時間は全体で同じです"
        ))
        .remedy(text!("set it for all configurations with --repetition", "--repetition でまとめて指定してください"))),
        Some(_) => Err(usage(text!(
            "--vary {word}: this option cannot be varied",
            "--vary {word}: これは変えて比べられません"
        ))
        .remedy(text!(
            "measure each with `kurabe run`, then `kurabe compare`",
            "それぞれ `kurabe run` で測り、`kurabe compare` で比べてください"
        ))),
        None => Err(usage(text!(
            "--vary {word}: `kurabe run` has no such option; model parameters are written LAYER.PARAMETER",
            "--vary {word}: `kurabe run` にこのオプションはありません。モデルのパラメーターは 層.名前 と書きます"
        ))
        .remedy(nearest(word, &may_differ))),
    }
}

fn variant(side: &[(&str, &str)], common: &[(&str, String)]) -> Result<Variant> {
    let (sets, options): (Vec<_>, Vec<_>) = side.iter().copied().partition(|(key, _)| key.contains('.'));
    let is_varied = |key: &str| options.iter().any(|(other, _)| *other == key);
    let common = common.iter().filter(|(key, _)| !is_varied(key)).map(|(key, value)| (*key, value.as_str()));
    let mut overrides = Overrides::default();
    for (key, value) in options.iter().copied().chain(common) {
        overrides.set(key, value).map_err(|why| wrong_value(side, key, value, &why))?;
    }
    let sets = sets.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    Ok(Variant { name: side_name(side), overrides, sets, command: Vec::new() })
}

fn wrong_value(side: &[(&str, &str)], key: &str, value: &str, why: &Text) -> Error {
    if is_switch(key) {
        return usage(text!("--vary {key}={value}: {why}", "--vary {key}={value}: {why}"; why))
            .remedy(text!("write --vary {key}=no,yes", "--vary {key}=no,yes と書いてください"));
    }
    let (name, value_name) = (side_name(side), option(key).map_or("", |option| option.value_name));
    usage(text!(
        "--vary {name}: invalid value '{value}' for '--{key} <{value_name}>': {why}",
        "--vary {name}: --{key} <{value_name}> に `{value}` は指定できません: {why}"; why
    ))
    .remedy(text!(
        "see `kurabe run --help-all` for the values of each option",
        "各オプションの値は `kurabe run --help-all` で確認できます"
    ))
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
        for name in may_differ() {
            assert_eq!(option_of_run(name).as_deref(), Some(name));
        }
        assert_eq!(option_of_run("numjobs").as_deref(), Some("threads"));
    }

    #[test]
    fn several_make_the_product_and_each_side_has_its_name() {
        let sides = of(&["bs=4k,16k", "iodepth=1,8"]).unwrap();
        let names: Vec<&str> = sides.iter().map(|side| side.name.as_str()).collect();
        assert_eq!(names, ["bs=4k, iodepth=1", "bs=4k, iodepth=8", "bs=16k, iodepth=1", "bs=16k, iodepth=8"]);
        assert_eq!(sides[2].overrides.block_bytes, Some(16384));
        assert_eq!(sides[1].overrides.iodepth, Some(8));
        assert_eq!(sides[0].overrides.is_direct(), None);
    }

    #[test]
    fn a_switch_needs_no_values_and_parameters_of_models_are_sets() {
        let sides = of(&["buffered"]).unwrap();
        assert_eq!(
            sides.iter().map(|side| side.overrides.is_direct()).collect::<Vec<_>>(),
            [Some(true), Some(false)]
        );
        let sides = of(&["o-sync=off,on"]).unwrap();
        assert_eq!(sides.iter().map(|side| side.overrides.o_sync).collect::<Vec<_>>(), [None, Some(true)]);
        let sides = of(&["fat-image.cluster=16KiB,64KiB"]).unwrap();
        assert_eq!(sides[1].sets, [("fat-image.cluster".to_owned(), "64KiB".to_owned())]);
        let sides = of(&["rw=read,randwrite"]).unwrap();
        assert_eq!(sides[1].overrides.rw, Some((Direction::Write, Pattern::Random)));
    }

    #[test]
    fn what_is_no_comparison_is_refused_with_what_would_be_one() {
        for (words, parts) in [
            (&["iodpeth=1,8"][..], ["no such option", "`iodepth`"]),
            (&["bs=4k"][..], ["only value", "bs=4k,16k"]),
            (&["bs"][..], ["no values", "bs=4k,16k"]),
            (&["bs=4k,"][..], ["empty", "two or more values"]),
            (&["bs=4k,4q"][..], ["4q", "kurabe run --help"]),
            (&["time=1s,2s"][..], ["the same for all", "--repetition"]),
            (&["profile=quick,default"][..], ["cannot be varied", "kurabe compare"]),
            (&["bs=4k,16k", "bs=8k,32k"][..], ["twice", "one"]),
            (&["bs=4k,8k,16k", "iodepth=1,2,3,4,5,6"][..], ["18 configurations", "fewer"]),
            (&["buffered=maybe,no"][..], ["yes or no", "no,yes"]),
        ] {
            let error = of(words).unwrap_err();
            let message = format!("{} {}", error, error.remedy_text().unwrap().en);
            assert!(parts.iter().all(|part| message.contains(part)), "{words:?}: {message}");
        }
    }
}
