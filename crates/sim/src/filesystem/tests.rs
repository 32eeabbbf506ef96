//! Effects of the file system on requests, and its invariants.

use crate::fixture::{self, account, count, request, settle, try_device};
use crate::stack::Stack;
use crate::world::{Request, RequestKind};
use kurabe_core::Result;
use kurabe_core::model::TimeAccount;
use proptest::prelude::*;

/// A medium of 1 ms and 1 GB/s with one command at a time, below a file system with these
/// parameters.
fn built(parameters: &str) -> Result<Stack> {
    let medium = "constant capacity=64_MiB access=1_ms rate=1_GB/s";
    Stack::new(&try_device(&[&format!("filesystem {parameters}"), medium])?, 1)
}

fn stack(parameters: &str) -> Stack {
    built(parameters).unwrap()
}

/// Submits all requests at once. Returns the end of the last one, and the time account.
fn run_and_account(stack: &mut Stack, requests: &[Request]) -> (u64, TimeAccount) {
    let last_ns = fixture::run(stack, requests, requests.len()).into_iter().max().unwrap_or(0);
    settle(stack);
    let account = account(stack);
    assert_eq!(account.operations, requests.len() as u64);
    (last_ns, account)
}

fn run(stack: &mut Stack, requests: &[Request]) -> u64 {
    run_and_account(stack, requests).0
}

fn reads_in_order(count: u64) -> Vec<Request> {
    (0..count).map(|index| request(RequestKind::Read, index << 17, 1 << 17)).collect()
}

#[test]
fn requests_that_wait_and_continue_one_another_are_merged() {
    let mut merging = stack("commands=1");
    // The first is alone; after it, eight at a time fit into 1 MiB.
    assert_eq!(run(&mut merging, &reads_in_order(17)), 3_000_000 + (17 << 17));
    let mut one = stack("commands=1 in_flight=1");
    assert_eq!(run(&mut one, &reads_in_order(17)), 17_000_000 + (17 << 17));
    let mut never = stack("commands=1 largest_command=0_B");
    assert_eq!(run(&mut never, &reads_in_order(17)), 17_000_000 + (17 << 17));
}

#[test]
fn the_file_system_is_blamed_only_for_what_the_device_would_have_taken() {
    let scattered: Vec<Request> = (0..8).map(|index| request(RequestKind::Read, index << 20, 4096)).collect();
    let waits = |medium: &str, requests: &[Request]| {
        let medium = format!("constant capacity=64_MiB access=1_ms rate=1_GB/s {medium}");
        let stack = Stack::new(&try_device(&["filesystem in_flight=1", &medium]).unwrap(), 1);
        let (_, account) = run_and_account(&mut stack.unwrap(), requests);
        let time_of = |cause: &str| {
            let shares = account.shares.iter().filter(|share| share.cause == cause);
            shares.map(|share| share.time_ns).sum::<u64>()
        };
        (time_of("one-by-one") > 0, time_of("admission") > 0)
    };
    // The device serves requests in order; it serves eight at once; it serves them in order, but
    // sequential ones would have been one command.
    assert_eq!(waits("", &scattered), (false, true));
    assert_eq!(waits("parallel=8", &scattered), (true, false));
    assert_eq!(waits("", &reads_in_order(8)), (true, false));
}

#[test]
fn the_computers_time_is_hidden_only_if_several_are_under_way() {
    let gap = "gap=100_us largest_command=0_B";
    let scattered: Vec<Request> =
        (0..10).map(|index| request(RequestKind::Read, index << 20, 1000)).collect();
    assert_eq!(run(&mut stack(gap), &scattered), 100_000 + 10 * 1_001_000);
    let one = format!("{gap} in_flight=1");
    assert_eq!(run(&mut stack(&one), &scattered), 10 * 1_101_000);
}

#[test]
fn the_file_system_writes_of_its_own() {
    let own = "metadata_every=64_KiB";
    let writes: Vec<Request> = (0..32).map(|index| request(RequestKind::Write, index << 16, 4096)).collect();
    let (_, account) = run_and_account(&mut stack(own), &writes);
    // Twice for 128 KiB.
    assert_eq!(count(&account, "own-writes"), 2);
}

#[test]
fn parameters_that_do_not_fit_are_errors() {
    for (key, value) in [("start", "64_MiB"), ("allocation", "0_B")] {
        let error = built(&format!("{key}={value}")).err().unwrap();
        assert!(error.what().en.contains(key), "{error}");
    }
    let own = "metadata_every=1_MiB start=2_KiB";
    assert!(built(own).err().unwrap().what().en.contains("metadata"));
    assert_eq!(stack("start=63_MiB").capacity_bytes(), 1 << 20);
}

/// A track cache below drops writes that change nothing; at a new location every write changes
/// something.
#[test]
fn what_copy_on_write_places_elsewhere_is_not_identical() {
    let dropped = |copy_on_write: &str| {
        let source = format!(
            r#"
            schema = 1
            name = "test"
            title = {{ en = "test", ja = "test" }}
            [[layer]]
            kind = "filesystem"
            copy_on_write = {{ value = {copy_on_write}, source = "test" }}
            [[layer]]
            use = "rascsi"
            "#
        );
        let spec = crate::library::read_device("test", &source).unwrap();
        let identical = Request { identical: true, ..request(RequestKind::Write, 0, 4096) };
        let (_, account) = run_and_account(&mut Stack::new(&spec, 1).unwrap(), &[identical; 3]);
        count(&account, "dropped")
    };
    assert_eq!((dropped("false"), dropped("true")), (3, 0));
}

#[test]
fn what_copy_on_write_places_stays_on_the_device() {
    let full = "copy_on_write=true allocation=48_KiB";
    let writes: Vec<Request> =
        (0..1500).map(|index| request(RequestKind::Write, (index % 7) << 16, 1 << 16)).collect();
    run(&mut stack(full), &writes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// With any file system, no request is lost, every nanosecond is accounted for, and more
    /// requests in flight are never slower.
    #[test]
    fn more_under_way_are_never_slower(
        pieces in prop::collection::vec((0u8..4, 0u64..40), 1..60),
        in_flight in 1u64..8, commands in 1u64..3, copy_on_write: bool,
    ) {
        let requests: Vec<Request> = pieces.iter().map(|(kind, place)| match kind {
            0 => request(RequestKind::Read, place << 16, 1 << 16),
            1 => request(RequestKind::Flush, 0, 0),
            2 => request(RequestKind::Trim, place << 16, 1 << 16),
            _ => request(RequestKind::Write, place << 16, 1 << 16),
        }).collect();
        let mut last_ns = u64::MAX;
        for in_flight in [in_flight, in_flight * 2] {
            let parameters = format!(
                "in_flight={in_flight} commands={commands} copy_on_write={copy_on_write} gap=10_us"
            );
            let now_ns = run(&mut stack(&parameters), &requests);
            prop_assert!(now_ns <= last_ns);
            last_ns = now_ns;
        }
    }
}
