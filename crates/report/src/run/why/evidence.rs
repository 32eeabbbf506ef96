//! Explanation of a cell without an account: its bottleneck with the evidence, and the kernel's
//! account of the time.

use super::brief::how_sure;
use crate::words::present;
use kurabe_core::split::{KernelSplit, RequestSize};
use kurabe_core::{Text, mention::IODEPTH, number, quantity::format_bytes, text};
use kurabe_doc::{Cut, Doc, Entry, Paragraph, Role, Table};
use kurabe_explain::{Limit, LimitKind};

/// Maximum number of request sizes listed.
const SIZES_TOLD: usize = 3;

/// Returns the bottleneck, the evidence, and how to find out more.
pub(super) fn limit(limit: &Limit) -> Doc {
    let sentence = how_sure(limit);
    let role = if limit.kind == LimitKind::Unknown { Role::Quiet } else { Role::Strong };
    let sentence = text!("limit: {sentence}", "ボトルネック: {sentence}"; sentence);
    let mut doc = Doc::of(Paragraph::new(sentence).role(role).indent(2, 4));
    let evidence = &limit.evidence;
    if !evidence.is_empty() {
        doc.push(Paragraph::new(text!("because {evidence}", "根拠: {evidence}"; evidence)).indent(4, 6));
    }
    if let Some(next) = &limit.next {
        let next = match limit.kind {
            LimitKind::Unknown => text!("to find out: {next}", "調べるには: {next}"; next),
            _ => text!("next: {next}", "次に: {next}"; next),
        };
        doc.push(Paragraph::new(next).indent(4, 6));
    }
    doc
}

/// Returns the kernel's account of the time of the traced repetition.
pub(super) fn split(split: &KernelSplit) -> Doc {
    if split.operations == 0 {
        let lost = number::count(split.lost_events);
        let nothing = match split.lost_events {
            0 => text!(
                "the traced repetition: none of its operations could be followed through the kernel",
                "トレース付きの回: カーネル内で追跡できた操作がありません"
            ),
            _ => text!(
                "the traced repetition: the kernel dropped {lost} events, so it cannot be analysed; \
                 reduce the number of operations per second (a larger block, a smaller {IODEPTH})",
                "トレース付きの回: カーネルが {lost} 件のイベントを取りこぼしたため、内訳は分かりません。毎秒の I/O 数を減らす \
                 (ブロックを大きく、{IODEPTH} を小さくする)と追跡できます"
            ),
        };
        return Doc::of(Paragraph::new(nothing).indent(2, 4));
    }
    let rest_ns = split.rest_mean_ns.map(|ns| ns.max(0.0));
    let whole_ns = split.queue.mean_ns + split.device.mean_ns + rest_ns.unwrap_or(0.0);
    let parts = [
        (text!("in the kernel's queues", "カーネルのキュー"), split.queue.mean_ns, Some(&split.queue)),
        (text!("in the device", "デバイス"), split.device.mean_ns, Some(&split.device)),
    ];
    let rest = rest_ns.map(|rest_ns| {
        let name =
            text!("the rest: system call, interrupt, wake-up", "その他(システムコール、割り込み、起床)");
        (name, rest_ns, None)
    });
    let share = |mean_ns: f64| if whole_ns > 0.0 { mean_ns / whole_ns } else { 0.0 };
    let table = Table::of(parts.into_iter().chain(rest))
        .cut(Cut::Wrap, text!("one traced repetition", "トレース付きの 1 回"), |(name, ..)| {
            name.clone()
        })
        .right(text!("mean", "平均"), |(_, mean_ns, _)| number::latency(*mean_ns))
        .right(text!("share", "割合"), |(_, mean_ns, _)| number::percent(share(*mean_ns)))
        .right(Text::same("p50"), |(.., tails)| Entry::latency(tails.map(|tails| tails.p50_ns)))
        .right(Text::same("p99"), |(.., tails)| Entry::latency(tails.map(|tails| tails.p99_ns)))
        .cut(Cut::Drop, Text::default(), |(_, mean_ns, _)| Entry::bar(share(*mean_ns), 6, (8, 20)));
    Doc::of(table.table().indent(2))
        .push(Paragraph::flow(requests(split, rest_ns.is_some())).indent(2, 2))
        .done()
}

/// Describes how operations became requests, and what these figures don't include.
fn requests(split: &KernelSplit, has_rest: bool) -> Vec<Text> {
    let of_requests = |count: u64| number::percent(count as f64 / split.requests.max(1) as f64);
    let some = |count: u64| Some(count).filter(|count| *count > 0);
    let mut sizes = split.request_sizes.clone();
    sizes.sort_by_key(|size| std::cmp::Reverse(size.count));
    let size =
        |size: &RequestSize| format!("{} ({})", format_bytes(size.size_bytes), of_requests(size.count));
    let most = sizes.iter().take(SIZES_TOLD).map(size).collect::<Vec<_>>().join(", ");
    present([
        split.requests_per_operation().map(|each| {
            let each = number::fixed(each, if (each - each.round()).abs() < 0.005 { 0 } else { 2 });
            text!("requests per operation: {each}", "1 操作あたりの要求: {each}")
        }),
        (!most.is_empty()).then(|| text!("their sizes: {most}", "要求の大きさ: {most}")),
        some(split.merged_requests).map(of_requests).map(|share| {
            text!("{share} of them merged from several operations", "{share} は複数の操作の結合")
        }),
        some(split.other_requests)
            .map(number::count)
            .map(|others| text!("{others} requests of other programs", "ほかの処理の要求 {others} 件")),
        some(split.unfollowed_operations)
            .map(number::count)
            .map(|lost| text!("{lost} operations not followed", "追跡できなかった操作 {lost} 件")),
        (!has_rest).then_some(text!(
            "the rest is unknown: kernel and driver counted different operations",
            "その他は不明(カーネルとドライバーの操作数が違うため)"
        )),
    ])
}
