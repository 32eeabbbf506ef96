//! What can be told of a cell without an account: its limit with the evidence, and where the kernel says the time went.

use crate::columns::{self, Column, Cut, Entry, plain};
use crate::layout::{hanging, wrap};
use crate::style::{Role, Style};
use kurabe_core::number;
use kurabe_core::quantity::format_bytes;
use kurabe_core::split::KernelSplit;
use kurabe_core::text;
use kurabe_explain::{Limit, LimitKind, Strength};

/// Sizes of requests that are told.
const SIZES_TOLD: usize = 3;

/// The limit, why it is said, and what would tell more.
pub(super) fn limit(limit: &Limit, style: &Style) -> Vec<String> {
    let inner = style.width.saturating_sub(4);
    let (en, ja) = (&limit.sentence.en, &limit.sentence.ja);
    let sure = match limit.strength {
        Strength::None | Strength::Exact | Strength::Strong => text!("", ""),
        Strength::Likely => text!(" (likely)", "(推定)"),
    };
    let (sure_en, sure_ja) = (sure.en, sure.ja);
    let sentence = style.say(&text!("limit: {en}{sure_en}", "ボトルネック: {ja}{sure_ja}"));
    let role = if limit.kind == LimitKind::Unknown { Role::Quiet } else { Role::Strong };
    let mut lines: Vec<String> =
        hanging(wrap(&sentence, inner), 2, 4).iter().map(|line| style.paint(role, line)).collect();
    if !limit.evidence.en.is_empty() {
        let (en, ja) = (&limit.evidence.en, &limit.evidence.ja);
        let evidence = style.say(&text!("because {en}", "根拠: {ja}"));
        lines.extend(hanging(wrap(&evidence, inner.saturating_sub(2)), 4, 6));
    }
    if let Some(next) = &limit.next {
        let (en, ja) = (&next.en, &next.ja);
        let next = style.say(&match limit.kind {
            LimitKind::Unknown => text!("what would tell: {en}", "調べるには: {ja}"),
            _ => text!("to go on: {en}", "次に: {ja}"),
        });
        lines.extend(hanging(wrap(&next, inner.saturating_sub(2)), 4, 6));
    }
    lines
}

/// Where the kernel says the time of the traced repetition went.
pub(super) fn split(split: &KernelSplit, bar: fn(f64, usize) -> String, style: &Style) -> Vec<String> {
    if split.operations == 0 {
        let lost = number::count(split.lost_events);
        let nothing = style.say(&match split.lost_events {
            0 => text!(
                "the traced repetition: none of its operations could be followed through the kernel",
                "トレースつきの回: カーネル内で追跡できた操作がありません"
            ),
            _ => text!(
                "the traced repetition: the kernel dropped {lost} events, so nothing can be told of it; fewer operations per \
                 second (a larger block, a smaller --iodepth) can be followed",
                "トレースつきの回: カーネルが {lost} 件のイベントを取りこぼしたため、内訳は分かりません。毎秒の操作数を減らす \
                 (ブロックを大きく、--iodepth を小さくする)と追跡できます"
            ),
        });
        return hanging(wrap(&nothing, style.width.saturating_sub(4)), 2, 4);
    }
    let rest_ns = split.rest_mean_ns.map(|ns| ns.max(0.0));
    let whole_ns = split.queue.mean_ns + split.device.mean_ns + rest_ns.unwrap_or(0.0);
    let bar_columns = (style.width / 6).clamp(8, 20);
    let heads = [
        Column::left(style.pick("one traced repetition", "トレースつきの 1 回")).cut(Cut::Wrap),
        Column::right(style.pick("mean", "平均")),
        Column::right(style.pick("share", "割合")),
        Column::right("p50"),
        Column::right("p99"),
        Column::left("").cut(Cut::Drop),
    ];
    let row = |name: &str, mean_ns: f64, tails: Option<(u64, u64)>| -> Vec<Entry> {
        let share = if whole_ns > 0.0 { mean_ns / whole_ns } else { 0.0 };
        let tail = |ns: Option<u64>| plain(ns.map_or(number::NONE.to_owned(), number::latency_ns));
        vec![
            plain(name),
            plain(number::latency(mean_ns).to_string()),
            plain(number::percent(share)),
            tail(tails.map(|tails| tails.0)),
            tail(tails.map(|tails| tails.1)),
            (Role::Course, bar(share, bar_columns)),
        ]
    };
    let of = |part: &kurabe_core::split::TimeSplit| Some((part.p50_ns, part.p99_ns));
    let mut rows = vec![
        row(style.pick("in the kernel's queues", "カーネルのキュー"), split.queue.mean_ns, of(&split.queue)),
        row(style.pick("in the device", "デバイス"), split.device.mean_ns, of(&split.device)),
    ];
    if let Some(rest_ns) = rest_ns {
        let name = style
            .pick("the rest: system call, interrupt, waking up", "その他(システムコール、割り込み、起床)");
        rows.push(row(name, rest_ns, None));
    }
    let mut lines = columns::render(&heads, &rows, 2, style);
    let flowed =
        crate::layout::flow(&requests(split, rest_ns.is_some(), style), style.width.saturating_sub(2));
    lines.extend(hanging(flowed, 2, 2));
    lines
}

/// How operations became requests, and what is missing from these figures.
fn requests(split: &KernelSplit, has_rest: bool, style: &Style) -> Vec<String> {
    let mut items = Vec::new();
    if let Some(each) = split.requests_per_operation() {
        let each = number::fixed(each, if (each - each.round()).abs() < 0.005 { 0 } else { 2 });
        items.push(style.say(&text!("requests per operation: {each}", "1 操作あたりの要求: {each}")));
    }
    let mut sizes = split.request_sizes.clone();
    sizes.sort_by_key(|size| std::cmp::Reverse(size.count));
    let told: Vec<String> = sizes
        .iter()
        .take(SIZES_TOLD)
        .map(|size| {
            let share = number::percent(size.count as f64 / split.requests.max(1) as f64);
            format!("{} ({share})", format_bytes(size.size_bytes))
        })
        .collect();
    if !told.is_empty() {
        let told = told.join(", ");
        items.push(style.say(&text!("their sizes: {told}", "要求の大きさ: {told}")));
    }
    if split.merged_requests > 0 {
        let share = number::percent(split.merged_requests as f64 / split.requests.max(1) as f64);
        items.push(
            style.say(&text!("{share} of them merged from several operations", "{share} は複数の操作の結合")),
        );
    }
    if split.other_requests > 0 {
        let others = number::count(split.other_requests);
        items
            .push(style.say(&text!("{others} requests of others meanwhile", "ほかの処理の要求 {others} 件")));
    }
    if split.unfollowed_operations > 0 {
        let lost = number::count(split.unfollowed_operations);
        items.push(style.say(&text!("{lost} operations not followed", "追跡できなかった操作 {lost} 件")));
    }
    if !has_rest {
        items.push(style.say(&text!(
            "the rest is not known: kernel and driver counted different operations",
            "その他は不明(カーネルとドライバーの操作数が違うため)"
        )));
    }
    items
}
