//! Configurations of one target, in words: options of `kurabe run`, and parameters of models, that differ from side to side.
//!
//! The model: `bs=4k,16k` makes a side for each value; several make the product. Each side's words are read by whoever reads
//! those of `kurabe run`, so they mean the same and are refused alike.

use super::{MOST_VARIANTS, Variant};
use crate::request::Overrides;
use kurabe_core::mention::{COMPARE, HELP, PROFILE, REPETITION, RUN, VARY};
use kurabe_core::{Error, ErrorKind, Result, Text, nearest, text};
use kurabe_engine::Settings;

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

/// What differs, and its values as they are written, the baseline's first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variation {
    /// An option's name, or a parameter of a model.
    pub key: String,
    /// Its values.
    pub values: Vec<String>,
}

/// What differs on one side: key and value.
pub type SideWords<'a> = Vec<(&'a str, &'a str)>;

/// Whoever reads the words of `kurabe run`.
pub trait RunOptions {
    /// The name of the option that has this name, or this other name.
    fn option(&self, word: &str) -> Option<String>;

    /// What options and their values (`--bs=4k`) ask for.
    ///
    /// # Errors
    /// Why that cannot be read.
    fn read(&self, words: &[String]) -> std::result::Result<(Overrides, Settings), Text>;
}

/// The options that may differ from side to side.
pub fn may_differ() -> impl Iterator<Item = &'static str> {
    VALUED.into_iter().chain(OF_PROFILES).chain(SWITCHES)
}

/// How many sides there are.
pub fn count_sides(axes: &[Variation]) -> usize {
    axes.iter().fold(1, |sides: usize, axis| sides.saturating_mul(axis.values.len()))
}

/// Every combination of the values, the first axis slowest.
pub fn sides<'a>(axes: &'a [Variation]) -> Vec<SideWords<'a>> {
    let mut sides: Vec<SideWords<'a>> = vec![Vec::new()];
    for Variation { key, values } in axes {
        sides = sides
            .iter()
            .flat_map(|side| {
                let with =
                    move |value: &'a String| [side.as_slice(), &[(key.as_str(), value.as_str())]].concat();
                values.iter().map(with)
            })
            .collect();
    }
    sides
}

/// What a side is called: `bs=4k, iodepth=1`.
pub fn side_name(side: &[(&str, &str)]) -> String {
    side.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ")
}

/// The sides that words as of `--vary` make; `common` are words of `kurabe run` that hold for all sides, as option and value.
///
/// # Errors
/// When a word is no option, has not two values, or a value is wrong.
pub fn variants(
    words: &[String],
    common: &[(&str, String)],
    options: &dyn RunOptions,
) -> Result<Vec<Variant>> {
    let axes = words.iter().map(|words| axis(words, options)).collect::<Result<Vec<_>>>()?;
    if let Some(place) =
        (1..axes.len()).find(|place| axes[..*place].iter().any(|axis| axis.key == axes[*place].key))
    {
        let key = &axes[place].key;
        return Err(usage(text!("{VARY} {key} is given twice", "{VARY} {key} が 2 回あります")).remedy(
            text!(
                "write all values behind one: {VARY} {key}=ONE,OTHER",
                "値はまとめて書いてください: {VARY} {key}=値1,値2"
            ),
        ));
    }
    let count = count_sides(&axes);
    if count > MOST_VARIANTS {
        return Err(usage(text!(
            "{VARY}: {count} sides are more than {MOST_VARIANTS}",
            "{VARY}: {count} 通りは上限の {MOST_VARIANTS} を超えています"
        ))
        .remedy(text!(
            "several {VARY} make the product of their values: vary fewer, or one after the other",
            "{VARY} を複数書くと組み合わせの数だけ測ります。減らすか、1 つずつ比べてください"
        )));
    }
    if axes.is_empty() {
        return Ok(Vec::new());
    }
    sides(&axes).iter().map(|side| variant(side, common, options)).collect()
}

fn usage(context: Text) -> Error {
    Error::new(ErrorKind::Usage, context)
}

/// Reads `KEY=ONE,OTHER`, or `KEY` of a switch.
fn axis(words: &str, options: &dyn RunOptions) -> Result<Variation> {
    let (word, values) = match words.split_once('=') {
        Some((word, values)) => (word.trim(), Some(values)),
        None => (words.trim(), None),
    };
    let key = key(word.trim_start_matches('-'), options)?;
    let values: Vec<String> = match values {
        Some(values) => values.split(',').map(|value| value.trim().to_owned()).collect(),
        None if SWITCHES.contains(&key.as_str()) => vec!["no".to_owned(), "yes".to_owned()],
        None => Vec::new(),
    };
    let example = example(&key);
    let wrong = |why: Text| {
        Err(usage(why).remedy(text!(
            "name two values or more, the baseline's first: {VARY} {example}",
            "2 つ以上の値を、基準を先頭にして書いてください: {VARY} {example}"
        )))
    };
    match values.as_slice() {
        [] => wrong(text!("{VARY} {key}: there are no values", "{VARY} {key}: 値がありません")),
        values if values.iter().any(String::is_empty) => {
            wrong(text!("{VARY} {words}: a value is empty", "{VARY} {words}: 空の値があります"))
        }
        [only] => wrong(text!(
            "{VARY} {key}: {only} is the only value, so there is nothing to compare with",
            "{VARY} {key}: 値が {only} だけでは比べられません"
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
        key if SWITCHES.contains(&key) => format!("{key}=no,yes"),
        "bs" => "bs=4k,16k".to_owned(),
        key => format!("{key}=ONE,OTHER"),
    }
}

/// The name of an option, or a parameter of a model.
fn key(word: &str, options: &dyn RunOptions) -> Result<String> {
    if word.contains('.') {
        return Ok(word.to_owned());
    }
    let may_differ: Vec<&str> = may_differ().collect();
    match options.option(word).as_deref() {
        Some(name) if may_differ.contains(&name) => Ok(name.to_owned()),
        Some("time") => Err(usage(text!(
            "{VARY} {word}: a repetition takes the same time on all sides",
            "{VARY} {word}: 1 回の時間は全体で同じです"
        ))
        .remedy(text!("set it for all with {REPETITION}", "{REPETITION} でまとめて指定してください"))),
        Some(_) => Err(usage(text!(
            "{VARY} {word}: sides cannot differ in this",
            "{VARY} {word}: これは変えて比べられません"
        ))
        .remedy(text!(
            "measure each with `{RUN}`, then `{COMPARE}`",
            "それぞれ `{RUN}` で測り、`{COMPARE}` で比べてください"
        ))),
        None => Err(usage(text!(
            "{VARY} {word}: `{RUN}` has no such option, and parameters of models are LAYER.PARAMETER",
            "{VARY} {word}: `{RUN}` にこのオプションはありません。モデルのパラメーターは 層.名前 と書きます"
        ))
        .remedy(nearest(word, &may_differ))),
    }
}

fn variant(side: &[(&str, &str)], common: &[(&str, String)], options: &dyn RunOptions) -> Result<Variant> {
    let name = side_name(side);
    let (mut words, mut sets) = (Vec::new(), Vec::new());
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
        words.push(format!("{PROFILE:#}=default"));
    }
    let varied = |key: &str| side.iter().any(|(other, _)| *other == key);
    words
        .extend(common.iter().filter(|(key, _)| !varied(key)).map(|(key, value)| format!("--{key}={value}")));
    let (overrides, settings) = options.read(&words).map_err(|why| {
        let name = Text::same(&name);
        usage(text!("{VARY} {name}: {why}", "{VARY} {name}: {why}"; name, why)).remedy(text!(
            "`{RUN} {HELP}` tells what each option takes",
            "各オプションの値は `{RUN} {HELP}` にあります"
        ))
    })?;
    Ok(Variant { name, overrides, settings, sets })
}

/// The words of a switch that is on or off; `o-sync` and `poisson` have none for off.
fn switch(key: &str, value: &str) -> Result<Option<String>> {
    let on = match value.to_ascii_lowercase().as_str() {
        "yes" | "on" | "true" | "1" => true,
        "no" | "off" | "false" | "0" => false,
        _ => {
            return Err(usage(text!(
                "{VARY} {key}={value}: it is on or off",
                "{VARY} {key}={value}: 値は yes か no です"
            ))
            .remedy(text!("write {VARY} {key}=no,yes", "{VARY} {key}=no,yes と書いてください")));
        }
    };
    Ok(match key {
        "direct" | "buffered" => Some(format!("--{key}={on}")),
        _ => on.then(|| format!("--{key}")),
    })
}
