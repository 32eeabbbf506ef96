//! Interleaved measurement of targets, or of configurations of one target, as in `kurabe versus`.
//!
//! The model: the form has a field for each setting that may vary. Each value in a field is a
//! configuration, and several fields form the product of their values. This is the same as `--vary`
//! on the command line, so every form has an equivalent command line.

use super::kit::*;
use kurabe_core::profile::option;
use kurabe_lab::versus::{MOST_VARIANTS, SideWords, Variant, Variation, VersusRequest, count_sides, sides};

/// The varied settings as sent by the form: options, each with comma-separated values. An empty
/// value means that the setting doesn't vary.
pub(crate) type Vary = Vec<(String, String)>;

/// Returns the fields: an option, its name, example values, and whether these are all possible
/// values.
fn fields() -> [(&'static str, Text, &'static str, bool); 5] {
    [
        ("bs", text!("block size", "ブロックサイズ"), "4k,16k", false),
        ("iodepth", text!("queue depth", "キュー深さ"), "1,8,32", false),
        ("threads", text!("threads", "スレッド数"), "1,4", false),
        ("engine", text!("io_uring and pread/pwrite", "io_uring と pread/pwrite"), "uring,threads", true),
        ("buffered", text!("without and with the page cache", "ページキャッシュなしとあり"), "no,yes", true),
    ]
}

fn axes(vary: &Vary) -> Result<Vec<Variation>> {
    let mut axes = Vec::new();
    for (key, words) in vary.iter().filter(|(_, words)| !words.trim().is_empty()) {
        let values: Vec<String> = words.split(',').map(|value| value.trim().to_owned()).collect();
        if !option(key).is_some_and(|option| option.may_differ) {
            return Err(
                ErrorKind::Usage.error(text!("sides cannot differ in {key}", "{key} は変えて比べられません"))
            );
        }
        if let [only] = values.as_slice() {
            return Err(usage(
                text!(
                    "{key}: a single value, {only}, cannot be compared",
                    "{key}: 値が {only} だけでは比べられません"
                ),
                text!(
                    "write two or more values, separated by commas",
                    "2 つ以上の値をカンマで区切って書いてください"
                ),
            ));
        }
        axes.push(Variation { key: key.clone(), values });
    }
    let sides = count_sides(&axes);
    if sides > MOST_VARIANTS {
        return Err(usage(
            text!(
                "{sides} configurations are more than {MOST_VARIANTS}",
                "{sides} 通りは上限の {MOST_VARIANTS} を超えています"
            ),
            text!(
                "all values of all fields are combined: fill in fewer fields",
                "全項目の値の組み合わせを測ります。値を減らしてください"
            ),
        ));
    }
    Ok(axes)
}

/// Returns a configuration for each combination, with the first field varying slowest. Empty if
/// nothing varies.
pub(crate) fn variants(vary: &Vary) -> Result<Vec<Variant>> {
    let axes = axes(vary)?;
    let variant = |side: &SideWords<'_>| Variant::of(side).map_err(|what| ErrorKind::Usage.error(what));
    // Without variations, `sides` returns a single empty side.
    sides(&axes).iter().filter(|side| !side.is_empty()).map(variant).collect()
}

/// Returns the equivalent command line.
///
/// # Errors
///
/// As [`variants`].
pub(crate) fn command(request: &VersusRequest, vary: &Vary, (size, time): (&str, &str)) -> Result<String> {
    let mut words = vec![format!("kurabe versus --profile {}", shown::shell_word(&request.profile))];
    for (option, value) in [("size", size.trim()), ("time", time.trim())] {
        words.extend((!value.is_empty()).then(|| format!("--{option} {}", shown::shell_word(value))));
    }
    let differs = |Variation { key, values }| format!("{key}={}", values.join(","));
    words.extend(axes(vary)?.into_iter().map(|axis| format!("--vary {}", shown::shell_word(&differs(axis)))));
    words.extend(request.targets.iter().map(|target| shown::shell_word(&shown::path(target.typed()))));
    Ok(words.join(" "))
}

/// Renders the fields for varied settings.
pub(crate) fn form(lang: Lang) -> Markup {
    let words = text!(
        "or the same target with other settings: two or more values separated by commas, the baseline \
         first; all combinations are measured interleaved",
        "または、同じ場所で条件を変えます。2 つ以上の値を、基準を先頭にしてカンマで区切ります。すべての組み合わせを交互に測ります"
    );
    html! {
        p.quiet { (words.get(lang)) }
        p.line {
            @for (key, name, values, is_switch) in fields() {
                label {
                    @if is_switch {
                        input type="checkbox" data-vary=(key) value=(values); " " (name.get(lang))
                    } @else {
                        (name.get(lang)) " " input data-vary=(key) placeholder=(values) size="10" spellcheck="false";
                    }
                } " "
            }
        }
    }
}
