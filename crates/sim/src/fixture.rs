//! Helpers for tests of layers: devices from a few lines, and requests run on them.

use crate::spec::DeviceSpec;
use crate::stack::Stack;
use crate::world::{Request, RequestKind};
use kurabe_core::model::TimeAccount;
use kurabe_core::{ErrorKind, Result, text};

/// Builds a device from lines `kind key=value key=value`, from the top down. Underscores in values
/// represent spaces, and texts are quoted.
pub(crate) fn try_device(lines: &[&str]) -> Result<DeviceSpec> {
    let mut source = "schema = 1\nname = \"test\"\ntitle = { en = \"test\", ja = \"test\" }\n".to_owned();
    for line in lines {
        let mut words = line.split_whitespace();
        source += &format!("[[layer]]\nkind = \"{}\"\n", words.next().unwrap());
        for word in words {
            let (key, value) = word.split_once('=').unwrap();
            let is_bare =
                value.parse::<f64>().is_ok() || value.parse::<bool>().is_ok() || value.starts_with('[');
            let value = if is_bare { value.to_owned() } else { format!("\"{}\"", value.replace('_', " ")) };
            source += &match key {
                "name" => format!("name = {value}\n"),
                key => format!("{key} = {{ value = {value}, source = \"test\" }}\n"),
            };
        }
    }
    DeviceSpec::parse("test", &source, &|name, _| {
        Err(ErrorKind::Usage.error(text!("no device {name}", "{name} はありません")))
    })
}

/// Builds a device from lines without errors.
pub(crate) fn device(lines: &[&str]) -> DeviceSpec {
    try_device(lines).unwrap()
}

pub(crate) fn request(kind: RequestKind, offset_bytes: u64, length_bytes: u32) -> Request {
    Request::new(kind, offset_bytes, length_bytes)
}

/// Runs requests, `depth` at a time, and returns their end times.
pub(crate) fn run(stack: &mut Stack, requests: &[Request], depth: usize) -> Vec<u64> {
    let (mut sent, mut returned, mut ends) = (0, 0, vec![0; requests.len()]);
    while returned < requests.len() {
        while sent < requests.len() && sent - returned < depth {
            stack.submit(stack.now_ns(), requests[sent], sent as u64);
            sent += 1;
        }
        let done = loop {
            if let Some(done) = stack.take_completion() {
                break done;
            }
            stack.check_not_blocked().unwrap();
            stack.advance(stack.next_wake_ns().unwrap());
        };
        assert!(done.outcome.is_ok());
        ends[done.token as usize] = done.at_ns;
        returned += 1;
    }
    ends
}

/// Runs requests one at a time, each when the stack is idle, and returns their durations.
pub(crate) fn run_apart(stack: &mut Stack, requests: &[Request]) -> Vec<u64> {
    let time_ns = |request: &Request| {
        let started_ns = stack.now_ns();
        let end_ns = run(stack, &[*request], 1)[0];
        settle(stack);
        end_ns - started_ns
    };
    requests.iter().map(time_ns).collect()
}

/// Runs the stack until it is idle.
pub(crate) fn settle(stack: &mut Stack) {
    while let Some(at_ns) = stack.next_wake_ns() {
        stack.advance(at_ns);
    }
}

/// Returns the time account since the last call; every nanosecond must be accounted for.
pub(crate) fn account(stack: &mut Stack) -> TimeAccount {
    let account = stack.take_account();
    assert_eq!(account.shares.iter().map(|share| share.time_ns).sum::<u64>(), account.latency_ns);
    assert!(account.shares.iter().all(|share| share.cause != "unexplained"), "{account:?}");
    account
}

/// Returns the value of a counter.
pub(crate) fn count(account: &TimeAccount, counter: &str) -> u64 {
    account.counts.iter().filter(|count| count.counter == counter).map(|count| count.count).sum()
}

/// Returns the time charged to a cause.
pub(crate) fn spent_ns(account: &TimeAccount, cause: &str) -> u64 {
    account.shares.iter().filter(|share| share.cause == cause).map(|share| share.time_ns).sum()
}

/// Returns the share of the time charged to a cause.
pub(crate) fn share(account: &TimeAccount, cause: &str) -> f64 {
    spent_ns(account, cause) as f64 / account.latency_ns as f64
}
