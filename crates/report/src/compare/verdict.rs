//! Verdicts in words: of a cell, of all cells in a sentence, and of several runs.
//!
//! The model: only the interval and the verdict are known here. The caller says how many values
//! they are based on. A number has only its certain digits, and an interval is given only if it
//! adds information.

use kurabe_compare::Fastest;
use kurabe_core::{Text, text};
use kurabe_doc::Role;
use kurabe_stats::{Compared, Estimate, Verdict};

/// Verdict on a cell, with its basis.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct CellVerdict {
    /// The verdict. For two single figures, the verdict that would hold if the figures repeated.
    pub(crate) verdict: Verdict,
    /// Whether the verdict is based on single figures.
    pub(crate) by_single: bool,
}

/// Returns a verdict's word for programs, its sign, and its role.
pub(crate) fn verdict_marks(verdict: Verdict) -> (&'static str, &'static str, Role) {
    match verdict {
        Verdict::Faster => ("faster", "▲", Role::Good),
        Verdict::Slower => ("slower", "▼", Role::Bad),
        Verdict::Same => ("same", "=", Role::Plain),
        Verdict::NotEnough { .. } => ("not_enough", "?", Role::Warn),
    }
}

impl CellVerdict {
    /// All kinds, in the order in which a sentence counts them.
    const ALL: [Self; 7] = [
        Self::of(Verdict::Faster),
        Self::of(Verdict::Slower),
        Self::of(Verdict::Same),
        Self { verdict: Verdict::Faster, by_single: true },
        Self { verdict: Verdict::Slower, by_single: true },
        Self { verdict: Verdict::Same, by_single: true },
        Self::of(Verdict::NotEnough { more: None }),
    ];

    /// Returns a verdict that is based on more than single figures.
    pub(crate) const fn of(verdict: Verdict) -> Self {
        Self { verdict, by_single: false }
    }

    /// Checks whether the verdict is of a kind. Open verdicts are of the same kind however many
    /// repetitions they need.
    fn is_of(self, kind: Self) -> bool {
        let is_open = |one: Self| matches!(one.verdict, Verdict::NotEnough { .. });
        self == kind || is_open(self) && is_open(kind)
    }

    /// Describes the other run, as in "faster".
    fn words(self) -> Text {
        let words = match self.verdict {
            Verdict::Faster => text!("faster", "速い"),
            Verdict::Slower => text!("slower", "遅い"),
            Verdict::Same if self.by_single => text!("the same", "同じ"),
            Verdict::Same => text!("not measurably different", "有意な差がない"),
            Verdict::NotEnough { .. } => text!("not clear yet", "まだ判断できない"),
        };
        match self.by_single {
            true => text!("{words} by single figures", "{words}(1 回の値)"; words),
            false => words,
        }
    }

    /// Returns the sentence for the case that all cells have this verdict.
    fn everywhere(self, count: usize, a: &Text, b: &Text) -> Text {
        let all = match (count, self.verdict) {
            (1, _) => text!("the one test", "1 項目"),
            (2, Verdict::NotEnough { .. }) => text!("either test", "2 項目すべて"),
            (2, _) => text!("both tests", "2 項目すべて"),
            (_, Verdict::NotEnough { .. }) => text!("any of the {count} tests", "{count} 項目すべて"),
            _ => text!("all {count} tests", "{count} 項目すべて"),
        };
        let sentence = match self.verdict {
            Verdict::Faster | Verdict::Slower => {
                let how = Self::of(self.verdict).words();
                text!("{b} is {how} than {a} in {all}.", "{all}で {b} は {a} より{how}という結果です。"; a, b, how, all)
            }
            Verdict::Same if self.by_single => text!(
                "{b} and {a} are the same in {all}.",
                "{all}で {b} と {a} は同じです。"; a, b, all
            ),
            Verdict::Same => text!(
                "{b} is not measurably different from {a} in {all}.",
                "{all}で {b} と {a} に有意な差はありません。"; a, b, all
            ),
            Verdict::NotEnough { .. } => text!(
                "Whether {b} is faster or slower than {a} is not clear yet in {all}.",
                "{all}で、{b} が {a} より速いか遅いかはまだ判断できません。"; a, b, all
            ),
        };
        match self.by_single {
            true => text!("By single figures, {sentence}", "1 回の値では、{sentence}"; sentence),
            false => sentence,
        }
    }
}

/// Counts the verdicts: `Of 6 cells, b against a is faster in 2, slower in 1; 3 are not clear yet.`
/// `judged` must not be empty.
pub(crate) fn tally(judged: &[CellVerdict], other: &Text, baseline: &Text) -> Text {
    let all = judged.len();
    let count = |kind: CellVerdict| judged.iter().filter(|one| one.is_of(kind)).count();
    let counts: Vec<(CellVerdict, usize)> = CellVerdict::ALL
        .into_iter()
        .map(|kind| (kind, count(kind)))
        .filter(|(_, count)| *count > 0)
        .collect();
    if let [(only, _)] = counts.as_slice() {
        return only.everywhere(all, baseline, other);
    }
    let unclear = CellVerdict::of(Verdict::NotEnough { more: None });
    let clear = counts.iter().filter(|(kind, _)| *kind != unclear);
    let counted = Text::list(clear.map(|(kind, count)| {
        let words = kind.words();
        text!("{words} in {count}", "{count} 項目で{words}"; words)
    }));
    // In Japanese, all verdicts but the last take the adverbial form: 2 項目で速く、4 項目で遅い.
    let adverbs = counted.ja.replace("い、", "く、").replace("い(1 回の値)、", "く(1 回の値)、");
    let counted = Text::of(counted.en, adverbs);
    let open = match count(unclear) {
        0 => Text::default(),
        1 => text!("; 1 is not clear yet", "。1 項目はまだ判断できません"),
        count => text!("; {count} are not clear yet", "。{count} 項目はまだ判断できません"),
    };
    text!(
        "Of {all} tests, {other} against {baseline} is {counted}{open}.",
        "{other} は {baseline} と比べて、全 {all} 項目のうち {counted}という結果です{open}。";
        other, baseline, counted, open
    )
}

/// Returns a verdict in words.
pub fn verdict_words(compared: &Compared) -> (Role, Text) {
    words_of(&compared.speed, compared.verdict)
}

/// Returns the verdict on a ratio of speeds in words.
pub(crate) fn words_of(speed: &Estimate, verdict: Verdict) -> (Role, Text) {
    match verdict {
        Verdict::Faster => (Role::Good, changed(speed, true)),
        Verdict::Slower => (Role::Bad, changed(speed, false)),
        Verdict::Same if is_exact(speed) => {
            let percent = per_cent(speed.value);
            let words =
                text!("no difference that matters ({percent:+} %)", "問題になる差なし({percent:+} %)");
            (Role::Plain, words)
        }
        Verdict::Same => {
            let span = change_span(speed);
            (Role::Plain, text!("no measurable difference ({span})", "有意な差なし({span})"; span))
        }
        Verdict::NotEnough { more } => (Role::Warn, not_clear(speed, more)),
    }
}

/// Intervals wider than this ratio are not shown, because they are meaningless.
const WIDEST_TOLD: f64 = 3.0;

fn not_clear(speed: &Estimate, more: Option<u32>) -> Text {
    let span = if speed.high <= WIDEST_TOLD && speed.low >= 1.0 / WIDEST_TOLD {
        let span = change_span(speed);
        text!(" ({span})", "({span})"; span)
    } else {
        Text::default()
    };
    let more = match more {
        Some(1) => text!(
            ": 1 more repetition of each would likely settle it",
            "。あと 1 回ずつ測れば判断できる見込み"
        ),
        Some(more) => text!(
            ": about {more} more repetitions of each would likely settle it",
            "。あと約 {more} 回ずつ測れば判断できる見込み"
        ),
        None => Text::default(),
    };
    text!("not clear yet{span}{more}", "まだ判断できない{span}{more}"; span, more)
}

/// Ratios below this are given in percent, larger ones as a factor.
const TOLD_IN_PERCENT: f64 = 2.0;

/// Checks whether the ratio has no interval, as is the case for computed figures.
fn is_exact(speed: &Estimate) -> bool {
    speed.low == speed.high
}

/// Formats a factor with the digits of spoken language: `4.9`, `177`.
pub(crate) fn times(ratio: f64) -> String {
    format!("{ratio:.*}", usize::from(ratio < 9.95))
}

/// Describes how much faster or slower a run is, with the interval if it adds information.
fn changed(speed: &Estimate, is_faster: bool) -> Text {
    let Estimate { value, low, high } = *speed;
    let ratios = if is_faster { [value, low, high] } else { [value, high, low] };
    let in_percent = if is_faster { value < TOLD_IN_PERCENT } else { value > 1.0 / TOLD_IN_PERCENT };
    let [value, from, to] = ratios.map(|ratio| match (in_percent, is_faster) {
        (true, true) => per_cent(ratio).to_string(),
        (true, false) => (-per_cent(ratio)).to_string(),
        (false, true) => times(ratio),
        (false, false) => times(1.0 / ratio),
    });
    let parts = [&value, &from, &to].map(|times| times.trim_end_matches(".0").to_owned());
    let [part, part_from, part_to] = parts;
    let words = match (in_percent, is_faster) {
        (true, true) => text!("{value} % faster", "{value} % 速い"),
        (true, false) => text!("{value} % slower", "{value} % 遅い"),
        (false, true) => text!("{value} times as fast", "{value} 倍の速さ"),
        (false, false) => text!("slower: it takes {value} times as long", "約 1/{part} の速さ"),
    };
    match in_percent {
        _ if is_exact(speed) || (from == value && to == value) => words,
        true => text!("{words} ({from} to {to} %)", "{words}({from}〜{to} %)"; words),
        false if is_faster => text!("{words} ({from} to {to})", "{words}({from}〜{to} 倍)"; words),
        false => text!("{words} ({from} to {to})", "{words}(1/{part_from}〜1/{part_to})"; words),
    }
}

/// Describes the ratio of two single figures, without an interval.
pub(crate) fn single_words(speed: f64, verdict: Verdict) -> (Role, Text) {
    let exact = Estimate { value: speed, low: speed, high: speed };
    let percent = per_cent(speed);
    let words = match verdict {
        Verdict::Faster => changed(&exact, true),
        Verdict::Slower => changed(&exact, false),
        _ if percent == 0 => text!("the same", "同じ"),
        _ => text!("the same but for {percent:+} %", "ほぼ同じ({percent:+} %)"),
    };
    (Role::Plain, text!("{words} (single figures)", "{words}(1 回の値)"; words))
}

/// Returns the change in speed, in whole percent.
pub(crate) fn per_cent(ratio: f64) -> i64 {
    ((ratio - 1.0) * 100.0).round() as i64
}

/// Formats the interval of a change, as in `-1 to +2 %`.
pub(crate) fn change_span(speed: &Estimate) -> Text {
    let (from, to) = (per_cent(speed.low), per_cent(speed.high));
    // Ends that round to the same number are written once.
    match from == to {
        true => Text::same(format!("{from:+} %")),
        false => text!("{from:+} to {to:+} %", "{from:+}〜{to:+} %"),
    }
}

/// Names the fastest of several runs in a sentence. `names` are the names of the runs.
pub fn fastest_words(fastest: &Fastest, names: &[Text]) -> Text {
    let unbeaten = Text::list(fastest.unbeaten.iter().map(|index| names[*index].clone()));
    match fastest.unbeaten.len() {
        unbeaten if !fastest.is_decided || unbeaten == 0 => {
            let leads = leads(fastest, names);
            let none = match fastest.is_decided {
                true => text!("the fastest in every test", "すべての項目で最も速い"),
                false => text!("measurably faster than another", "有意に速い"),
            };
            text!(
                "None of them is {none}; by their means {leads}.",
                "{none}測定はありません。平均では、{leads}。";
                none, leads
            )
        }
        1 => text!(
            "The fastest is {unbeaten}: no other is faster in any test.",
            "最も速いのは {unbeaten} です(ほかより遅い項目はありません)。";
            unbeaten
        ),
        _ => text!(
            "The fastest are {unbeaten}: no other is faster in any test.",
            "最も速いのは {unbeaten} です(いずれも、ほかより遅い項目はありません)。";
            unbeaten
        ),
    }
}

/// Returns how often each run leads, most leads first: `a leads in 4 of 6 cells, b in 2`.
fn leads(fastest: &Fastest, names: &[Text]) -> Text {
    let mut leads: Vec<(usize, &Text)> = fastest.leads.iter().copied().zip(names).collect();
    leads.retain(|(count, _)| *count > 0);
    leads.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let all = fastest.cell_count;
    let each = leads.into_iter().enumerate().map(|(index, (count, name))| match index {
        0 => text!(
            "{name} leads in {count} of {all} tests",
            "{name} が {all} 項目中 {count} 項目で先頭";
            name
        ),
        _ => text!("{name} in {count}", "{name} が {count} 項目で先頭"; name),
    });
    Text::list(each)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(value: f64, low: f64, high: f64, verdict: Verdict) -> Compared {
        let speed = Estimate { value, low, high };
        Compared { speed, speed_by_median: speed, superiority: 1.0, p_value: 0.01, verdict }
    }

    #[test]
    fn verdicts_can_be_read_aloud_in_both_languages() {
        let spoken = |compared: &Compared| verdict_words(compared).1;
        let words = spoken(&compared(1.3, 1.27, 1.34, Verdict::Faster));
        assert_eq!(words.en, "30 % faster (27 to 34 %)");
        assert_eq!(words.ja, "30 % 速い(27〜34 %)");
        assert_eq!(spoken(&compared(3.2, 3.0, 3.4, Verdict::Faster)).en, "3.2 times as fast (3.0 to 3.4)");
        assert_eq!(spoken(&compared(3.2, 3.0, 3.4, Verdict::Faster)).ja, "3.2 倍の速さ(3.0〜3.4 倍)");
        assert_eq!(spoken(&compared(177.2, 177.2, 177.2, Verdict::Faster)).en, "177 times as fast");
        assert_eq!(spoken(&compared(0.62, 0.6, 0.65, Verdict::Slower)).en, "38 % slower (35 to 40 %)");
        assert_eq!(spoken(&compared(0.25, 0.2, 0.3, Verdict::Slower)).ja, "約 1/4 の速さ(1/3.3〜1/5)");
        let words = spoken(&compared(1.01, 0.99, 1.02, Verdict::Same));
        assert_eq!(words.en, "no measurable difference (-1 to +2 %)");
        assert_eq!(
            spoken(&compared(1.01, 1.008, 1.012, Verdict::Same)).en,
            "no measurable difference (+1 %)"
        );
        // Computed figures have no interval.
        assert_eq!(
            spoken(&compared(0.04, 0.04, 0.04, Verdict::Slower)).en,
            "slower: it takes 25 times as long"
        );
        assert_eq!(spoken(&compared(1.01, 1.01, 1.01, Verdict::Same)).ja, "問題になる差なし(+1 %)");
        let single = |speed, verdict| single_words(speed, verdict).1;
        assert_eq!(single(2.0, Verdict::Faster).en, "2.0 times as fast (single figures)");
        assert_eq!(single(1.01, Verdict::Same).en, "the same but for +1 % (single figures)");
        assert_eq!(single(1.004, Verdict::Same).ja, "同じ(1 回の値)");
    }

    #[test]
    fn what_is_not_clear_says_what_would_settle_it_and_no_interval_that_says_nothing() {
        let spoken =
            |low, high, more| verdict_words(&compared(1.1, low, high, Verdict::NotEnough { more })).1;
        let words = spoken(0.9, 1.3, Some(6));
        assert_eq!(words.ja, "まだ判断できない(-10〜+30 %)。あと約 6 回ずつ測れば判断できる見込み");
        let words = spoken(0.9, 1.3, Some(1));
        assert_eq!(
            words.en,
            "not clear yet (-10 to +30 %): 1 more repetition of each would likely settle it"
        );
        assert_eq!(words.ja, "まだ判断できない(-10〜+30 %)。あと 1 回ずつ測れば判断できる見込み");
        assert_eq!(spoken(0.001, 1200.0, None).en, "not clear yet");
        assert_eq!(spoken(f64::NAN, f64::NAN, None).ja, "まだ判断できない");
    }

    #[test]
    fn all_cells_are_told_in_a_sentence() {
        let (fast, slow) = (CellVerdict::of(Verdict::Faster), CellVerdict::of(Verdict::Slower));
        let open = CellVerdict::of(Verdict::NotEnough { more: Some(3) });
        let (a, b) = (Text::same("a"), Text::same("b"));
        let sentence = |spoken: &[CellVerdict]| tally(spoken, &b, &a);
        assert_eq!(sentence(&[slow; 3]).en, "b is slower than a in all 3 tests.");
        assert_eq!(sentence(&[slow; 3]).ja, "3 項目すべてで b は a より遅いという結果です。");
        assert_eq!(sentence(&[fast]).en, "b is faster than a in the one test.");
        assert_eq!(
            sentence(&[fast, slow, open]).en,
            "Of 3 tests, b against a is faster in 1, slower in 1; 1 is not clear yet."
        );
        assert_eq!(
            sentence(&[fast, open, open]).ja,
            "b は a と比べて、全 3 項目のうち 1 項目で速いという結果です。2 項目はまだ判断できません。"
        );
        let words = sentence(&[open; 6]);
        assert_eq!(words.en, "Whether b is faster or slower than a is not clear yet in any of the 6 tests.");
        assert_eq!(
            sentence(&[open; 2]).en,
            "Whether b is faster or slower than a is not clear yet in either test."
        );
    }

    #[test]
    fn single_figures_are_counted_as_they_are_told() {
        let single = |verdict| CellVerdict { verdict, by_single: true };
        let (a, b) = (Text::same("a"), Text::same("b"));
        let words = tally(&[single(Verdict::Same), single(Verdict::Faster), single(Verdict::Faster)], &b, &a);
        assert_eq!(
            words.en,
            "Of 3 tests, b against a is faster by single figures in 2, the same by single figures in 1."
        );
    }
}
