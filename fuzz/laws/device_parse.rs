//! A device file of any bytes: read without a panic; what is accepted can be built, and serves requests until they are
//! done or for a while.

use kurabe_sim::{Request, RequestKind, Stack, read_device};

/// Messages until a request counts as served: parameters may make any request as long as they like.
const PATIENCE: usize = 20_000;

pub fn holds(bytes: &[u8]) {
    let source = super::text_of(bytes);
    let Ok(spec) = read_device("fuzz.toml", source) else { return };
    let Ok(mut stack) = Stack::new(&spec, 1) else { return };
    let capacity_bytes = stack.capacity_bytes();
    for (token, kind) in [
        RequestKind::Read,
        RequestKind::Write,
        RequestKind::Flush,
        RequestKind::Read,
        RequestKind::Trim,
        RequestKind::Write,
    ]
    .into_iter()
    .enumerate()
    {
        let length_bytes = if kind == RequestKind::Flush { 0 } else { 4096 << token };
        let offset_bytes = (capacity_bytes / 7).saturating_mul(token as u64) / 512 * 512;
        let request = Request::new(kind, offset_bytes, length_bytes);
        stack.submit(stack.now_ns(), request, token as u64);
    }
    for _ in 0..PATIENCE {
        let Some(at_ns) = stack.next_wake_ns() else {
            if let Err(error) = stack.check_not_blocked() {
                assert!(error.what().en.contains("end of its time"), "{error}");
            }
            break;
        };
        stack.advance(at_ns);
    }
    let account = stack.take_account();
    assert_eq!(account.shares.iter().map(|share| share.time_ns).sum::<u64>(), account.latency_ns);
}
