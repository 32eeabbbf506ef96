//! The system calls of a program by name and phase, and those that changed since another bill.

use super::price::{phase_name, shown_values};
use kurabe_core::{Text, number, shown, text};
use kurabe_doc::{Doc, Table};
use kurabe_price::{Bill, RepeatedValue, SyscallChange};

/// Number of changed calls in the summary.
const NAMED: usize = 3;

fn shown_calls(calls: &RepeatedValue) -> String {
    shown_values(calls, number::whole)
}

/// The calls, the most frequent first, with a column for each phase.
pub(super) fn syscalls_table(bill: &Bill) -> Doc {
    if bill.syscalls.is_empty() {
        return Doc::new();
    }
    let mut calls: Vec<(&String, &RepeatedValue)> = bill.syscalls.iter().collect();
    calls.sort_by_key(|(_, values)| std::cmp::Reverse(values.most()));
    let mut table = Table::of(&calls)
        .left(text!("system call", "システムコール"), |(name, _)| Text::same(shown::line(name)))
        .right(text!("calls", "回数"), |(_, values)| shown_calls(values));
    for phase in bill.phases.iter().filter(|phase| !phase.syscalls.is_empty()) {
        table = table.right(phase_name(phase), |(name, _)| {
            phase.syscalls.get(*name).map_or_else(|| "0".to_owned(), shown_calls)
        });
    }
    Doc::new().gap().push(table.table()).done()
}

/// The calls that changed.
pub(super) fn syscall_changes_table(changes: &[SyscallChange]) -> Doc {
    if changes.is_empty() {
        return Doc::new();
    }
    let table = Table::of(changes)
        .left(text!("system call", "システムコール"), |change: &&SyscallChange| {
            Text::same(shown::line(&change.syscall))
        })
        .right(text!("before", "以前"), |change| shown_calls(&change.before))
        .right(text!("now", "今回"), |change| shown_calls(&change.now));
    Doc::new().gap().push(table.table()).done()
}

/// Summarizes changed calls where the requests to the device are the same.
pub(super) fn changed_syscalls(changes: &[SyscallChange]) -> Text {
    let difference = |change: &SyscallChange| (change.now.mean() - change.before.mean()).abs();
    let mut by_difference: Vec<&SyscallChange> = changes.iter().collect();
    by_difference.sort_by(|one, other| difference(other).total_cmp(&difference(one)));
    let words = |change: &&SyscallChange| {
        let (name, before, now) =
            (shown::line(&change.syscall), shown_calls(&change.before), shown_calls(&change.now));
        text!("{name} {before} → {now}", "{name} {before} → {now}")
    };
    let named = Text::list(by_difference.iter().take(NAMED).map(words));
    let more = match by_difference.len().saturating_sub(NAMED) {
        0 => Text::default(),
        count => text!(" and {count} more", "、ほか {count} 種"),
    };
    text!(
        "The requests to the device are the same; system calls changed: {named}{more}.",
        "デバイスへの要求は同じですが、システムコールの回数が変わりました: {named}{more}。";
        named, more
    )
}
