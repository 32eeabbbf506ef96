//! Explanation of a cell's time table in a few sentences, for readers who don't know the device.

use super::account::{CauseTime, CellTime, Per};
use kurabe_core::{Text, number, text};

/// Minimum share of a second cause that gets a sentence.
const WORTH_TELLING: f64 = 0.1;
/// Share of a single cause beyond which the rest is negligible.
const ALMOST_ALL: f64 = 0.995;
/// Mean number of operations in flight up to which operations count as sequential.
const ALONE: f64 = 1.2;
/// Minimum share of the time between operations that gets a sentence.
const WORTH_TELLING_BETWEEN: f64 = 0.05;

/// Returns the sentences, most important first.
pub(super) fn sentences(time: &CellTime) -> Vec<Text> {
    let by_weight = time.by_weight();
    let Some(largest) = by_weight.first() else { return Vec::new() };
    let mut sentences = vec![first(time, largest)];
    let overlapping = time.in_flight.filter(|in_flight| *in_flight > ALONE);
    if overlapping.is_none() && !largest.overlaps && (WORTH_TELLING..ALMOST_ALL).contains(&largest.share) {
        sentences.push(without(time, largest));
    }
    if let Some(next) = by_weight.get(1).filter(|next| next.share >= WORTH_TELLING) {
        sentences.push(second(next));
    }
    sentences.extend(overlapping.map(overlap));
    sentences.extend(between(time));
    sentences
}

fn first(time: &CellTime, largest: &CauseTime) -> Text {
    let (took, all) = (number::latency(largest.each_ns), number::latency(time.each_ns));
    let (share, layer) = (number::percent(largest.share), &largest.layer);
    let name = &largest.name;
    let why = explained(&largest.explanation);
    let part = if largest.share >= 0.5 { "Most of the time" } else { "The largest part" };
    text!(
        "{part}, {took} of {all} ({share}), is spent on \"{name}\" ({layer}){why}",
        "{all} のうち {took} ({share})は「{name}」({layer})です。{why}";
        name, why
    )
}

fn second(next: &CauseTime) -> Text {
    let (took, share) = (number::latency(next.each_ns), number::percent(next.share));
    let (name, layer, why) = (&next.name, &next.layer, explained(&next.explanation));
    text!(
        "Next, {took} ({share}) is spent on \"{name}\" ({layer}){why}",
        "次は「{name}」({layer})の {took} ({share})です。{why}";
        name, why
    )
}

/// Formats an explanation as the end of an English sentence, and as a separate Japanese sentence.
fn explained(explanation: &Text) -> Text {
    let (en, ja) = (explanation.en.trim_end_matches('.'), explanation.ja.trim_end_matches('。'));
    Text::of(
        if en.is_empty() { ".".to_owned() } else { format!(": {en}.") },
        if ja.is_empty() { String::new() } else { format!("{ja}。") },
    )
}

fn without(time: &CellTime, largest: &CauseTime) -> Text {
    let rest = number::latency((time.each_ns - largest.each_ns).max(0.0));
    let (en, ja) = one(time.per);
    text!("Without it {en} would take {rest}.", "これがなければ、{ja}は {rest} で済みます。")
}

fn overlap(in_flight: f64) -> Text {
    let many = number::whole(in_flight.max(2.0));
    text!(
        "About {many} operations were in flight at once, so their times overlap: each waits while \
         others are served.",
        "平均して約 {many} 個の操作が同時に進行しているため、時間は互いに重なります。ある操作が待つ間に、ほかの操作が処理されています。"
    )
}

/// Describes the time in which the device had no requests.
fn between(time: &CellTime) -> Option<Text> {
    let between_ns = time.between_ns.filter(|_| time.per == Per::Repetition)?;
    let whole_ns = time.each_ns + between_ns;
    (between_ns / whole_ns >= WORTH_TELLING_BETWEEN).then(|| {
        let (between, whole) = (number::latency(between_ns), number::latency(whole_ns));
        text!(
            "A repetition lasts {whole}; for {between} of it, the computer is busy and sends no \
             requests to the device.",
            "1 回の所要時間は {whole} です。このうち {between} はコンピューター側の処理で、デバイスには何も要求していません。"
        )
    })
}

/// Returns the unit as the subject of a sentence, as in `an operation`.
fn one(per: Per) -> (&'static str, &'static str) {
    match per {
        Per::Operation => ("an operation", "1 操作"),
        Per::Sample => ("a sample", "1 サンプル"),
        Per::Repetition => ("a repetition", "1 回"),
    }
}
