//! Targets, or configurations of one target, that are measured in turns as `kurabe versus` does.
//!
//! The model: the form has a field for each thing that may differ. Several values in a field make a configuration each, several fields
//! the product of theirs: just what `--vary` says on a command line, so that every form has a command line that asks for the same.

use kurabe_core::{Error, ErrorKind, Lang, Result, shown, text};
use kurabe_lab::versus::{MOST_VARIANTS, SideWords, Variant, Variation, VersusRequest, count_sides, sides};
use maud::{Markup, html};
use serde::Deserialize;

/// What differs, as the form sends it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Vary {
    /// Block sizes with commas between.
    bs: String,
    iodepth: String,
    threads: String,
    /// io_uring and pread/pwrite.
    engine: bool,
    /// Around the page cache and through it.
    buffered: bool,
}

impl Vary {
    fn axes(&self) -> Result<Vec<Variation>> {
        let mut axes = Vec::new();
        for (key, words) in [("bs", &self.bs), ("iodepth", &self.iodepth), ("threads", &self.threads)] {
            let values: Vec<String> = words.split(',').map(|value| value.trim().to_owned()).collect();
            match values.as_slice() {
                [only] if only.is_empty() => {}
                [only] => return Err(alone(key, only)),
                _ => axes.push(Variation { key: key.to_owned(), values }),
            }
        }
        let pairs =
            [("engine", self.engine, ["uring", "threads"]), ("buffered", self.buffered, ["no", "yes"])];
        let chosen = pairs.into_iter().filter(|(_, is_chosen, _)| *is_chosen);
        axes.extend(chosen.map(|(key, _, values)| Variation {
            key: key.to_owned(),
            values: values.map(str::to_owned).to_vec(),
        }));
        let sides = count_sides(&axes);
        if sides > MOST_VARIANTS {
            let what = text!(
                "{sides} configurations are more than {MOST_VARIANTS}",
                "{sides} 通りは上限の {MOST_VARIANTS} を超えています"
            );
            return Err(ErrorKind::Usage.error(what).remedy(text!(
                "all values of all fields are combined: fill in fewer",
                "全項目の値の組み合わせを測ります。値を減らしてください"
            )));
        }
        Ok(axes)
    }

    /// A configuration for each combination, the first field slowest; none where nothing differs.
    pub(crate) fn variants(&self) -> Result<Vec<Variant>> {
        let axes = self.axes()?;
        if axes.is_empty() {
            return Ok(Vec::new());
        }
        let variant = |side: &SideWords<'_>| Variant::of(side).map_err(|what| ErrorKind::Usage.error(what));
        sides(&axes).iter().map(variant).collect()
    }

    /// The same as words of a command line.
    fn words(&self) -> Result<Vec<String>> {
        let word = |axis: &Variation| match axis.key.as_str() {
            "buffered" => "--vary buffered".to_owned(),
            key => format!("--vary {}", shown::shell_word(&format!("{key}={}", axis.values.join(",")))),
        };
        Ok(self.axes()?.iter().map(word).collect())
    }
}

fn alone(key: &str, value: &str) -> Error {
    let what = text!(
        "{key}: {value} alone has nothing to be compared with",
        "{key}: 値が {value} だけでは比べられません"
    );
    let remedy = text!(
        "write two values or more, with commas between",
        "2 つ以上の値をカンマで区切って書いてください"
    );
    ErrorKind::Usage.error(what).remedy(remedy)
}

/// What is asked for, as one would type it.
///
/// # Errors
/// As [`Vary::variants`].
pub(crate) fn command(request: &VersusRequest, vary: &Vary, (size, time): (&str, &str)) -> Result<String> {
    let mut words = vec![format!("kurabe versus --profile {}", shown::shell_word(&request.profile))];
    for (option, value) in [("size", size.trim()), ("time", time.trim())] {
        words.extend((!value.is_empty()).then(|| format!("--{option} {}", shown::shell_word(value))));
    }
    words.extend(vary.words()?);
    words.extend(request.targets.iter().map(|target| shown::shell_word(&shown::path(target))));
    Ok(words.join(" "))
}

/// Fields for what differs.
pub(crate) fn form(lang: Lang) -> Markup {
    let words = text!(
        "or the same place with other settings: two values or more with commas between, the baseline's first; all combinations are \
         measured, in turns",
        "または、同じ場所で条件を変えます。2 つ以上の値を、基準を先頭にしてカンマで区切ります。すべての組み合わせを交互に測ります"
    );
    let lists = [
        ("bs", text!("block size", "ブロックサイズ"), "4k,16k"),
        ("iodepth", text!("queue depth", "キュー深さ"), "1,8,32"),
        ("threads", text!("threads", "スレッド数"), "1,4"),
    ];
    let pairs = [
        ("engine", text!("io_uring and pread/pwrite", "io_uring と pread/pwrite")),
        ("buffered", text!("without and with the page cache", "ページキャッシュなしとあり")),
    ];
    html! {
        p.quiet { (words.get(lang)) }
        p.line {
            @for (key, name, example) in &lists {
                label {
                    (name.get(lang)) " "
                    input data-vary=(key) placeholder=(example) size="10" spellcheck="false";
                } " "
            }
            @for (key, name) in &pairs {
                label { input type="checkbox" data-vary=(key); " " (name.get(lang)) } " "
            }
        }
    }
}
