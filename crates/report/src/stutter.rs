//! Stutter in one line that a person understands.

use kurabe_core::number;
use kurabe_core::{Text, text};
use kurabe_stats::Stutter;

/// Shorter stalls than this nobody feels.
const FELT_NS: u64 = 100_000_000;

/// `freezes for 0.8 s about 4 times a minute (5.3 % of the time), at worst for 2.1 s`; nothing if nobody would feel it.
pub(crate) fn stutter_words(stutter: &Stutter) -> Option<Text> {
    if stutter.worst_ns < FELT_NS || stutter.stalls == 0 {
        return None;
    }
    let typical = number::latency_ns(stutter.typical_ns);
    let worst = number::latency_ns(stutter.worst_ns);
    let share = number::percent(stutter.stalled_share);
    let often = match stutter.stalls_per_minute {
        _ if stutter.stalls == 1 => text!("once", "1 回"),
        per_minute if per_minute >= 1.0 => {
            let times = number::whole(per_minute.round());
            text!("about {times} times a minute", "1 分に約 {times} 回")
        }
        per_minute => {
            let minutes = number::whole((1.0 / per_minute).round().max(1.0));
            text!("about every {minutes} minutes", "約 {minutes} 分に 1 回")
        }
    };
    let at_least = if stutter.all_kept { text!("", "") } else { text!("at least ", "少なくとも ") };
    let (often_en, often_ja, least_en, least_ja) = (often.en, often.ja, at_least.en, at_least.ja);
    Some(Text {
        en: format!("freezes for {typical} {often_en} ({least_en}{share} of the time), at worst for {worst}"),
        ja: format!("{often_ja}、{typical} ほど止まる ({least_ja}時間の {share}、最長 {worst})"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stutter(stalls: u64, per_minute: f64, worst_ns: u64) -> Stutter {
        Stutter {
            measured_ns: 60_000_000_000,
            stalls,
            stalls_per_minute: per_minute,
            typical_ns: 800_000_000,
            worst_ns,
            stalled_share: 0.053,
            all_kept: true,
            longest_silence_ns: 0,
        }
    }

    #[test]
    fn a_person_hears_how_long_and_how_often() {
        let words = stutter_words(&stutter(4, 4.2, 2_100_000_000)).unwrap();
        assert_eq!(
            words.en,
            "freezes for 800 ms about 4 times a minute (5.3 % of the time), at worst for 2.10 s"
        );
        assert_eq!(words.ja, "1 分に約 4 回、800 ms ほど止まる (時間の 5.3 %、最長 2.10 s)");
        let rare = stutter_words(&stutter(2, 0.2, 2_100_000_000)).unwrap();
        assert!(rare.en.contains("about every 5 minutes"), "{}", rare.en);
        assert_eq!(stutter_words(&stutter(4, 4.0, 90_000_000)), None);
        assert_eq!(stutter_words(&stutter(0, 0.0, 0)), None);
    }
}
