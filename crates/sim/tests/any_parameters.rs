//! Devices of the library with absurd parameters: refused, or served without a panic, with every
//! nanosecond accounted for.

use kurabe_sim::{
    DEVICES, DeviceSpec, LayerSpec, Parameter, ParameterType, Request, RequestKind, Stack, device_named,
};
use proptest::prelude::*;

/// Number of events after which a device counts as served: parameters may make a request
/// arbitrarily long.
const PATIENCE: usize = 4000;

/// Returns values of a parameter's type, including odd and extreme ones.
fn values(parameter: &Parameter) -> Vec<String> {
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
    match parameter.kind {
        ParameterType::Bytes(..) => words(&[
            "0 B", "1 B", "511 B", "512 B", "4 KiB", "12345 B", "64 KiB", "1 MiB", "3 GiB", "1 TiB",
            "1000 TiB",
        ]),
        ParameterType::Time => words(&["0 ns", "1 ns", "1 us", "7 ms", "1 h", "59 min"]),
        ParameterType::Rate => words(&["1 B/s", "1 kB/s", "3 MB/s", "1 GB/s", "1000 TB/s"]),
        // As many members of the largest drives would need too much memory.
        ParameterType::Count(least, most) if parameter.key == "members" => {
            [least, 2, 3, 5].map(|count| count.clamp(least, most).to_string()).to_vec()
        }
        ParameterType::Count(least, most) => {
            [least, least + 1, 3, most / 2, most].map(|count| count.clamp(least, most).to_string()).to_vec()
        }
        ParameterType::Number(..) => words(&["0", "1e-300", "0.001", "0.5", "1", "2", "7200", "1e300"]),
        ParameterType::OneOf(numbers) => numbers.iter().map(ToString::to_string).collect(),
        ParameterType::Flag => words(&["true", "false"]),
        ParameterType::Word(choices) => words(choices),
        ParameterType::Rows(columns) => {
            let row = |value: &str| format!("[{}]", vec![value; columns.len()].join(", "));
            vec![
                "[]".to_owned(),
                format!("[{}]", row("0")),
                format!("[{}]", row("1")),
                format!("[{}]", row("1e300")),
                format!("[{}, {}]", row("0"), row("1e300")),
                format!("[{}, {}]", row("1e300"), row("1e300")),
                format!("[{}, {}]", row("1"), row("2")),
            ]
        }
    }
}

/// Returns all parameters of a device as `layer.parameter`, each with the values to try.
fn parameters(spec: &DeviceSpec) -> Vec<(String, Vec<String>)> {
    fn add(layers: &[LayerSpec], parameters: &mut Vec<(String, Vec<String>)>) {
        for layer in layers {
            for parameter in layer.kind.parameters {
                parameters.push((format!("{}.{}", layer.name, parameter.key), values(parameter)));
            }
            for member in &layer.members {
                add(&member.layers, parameters);
            }
        }
    }
    let mut parameters = Vec::new();
    add(&spec.layers, &mut parameters);
    parameters
}

fn request(capacity_bytes: u64, kind: u8, at: f64, length: usize) -> Request {
    let kind =
        [RequestKind::Read, RequestKind::Write, RequestKind::Write, RequestKind::Flush, RequestKind::Trim]
            [usize::from(kind)];
    let length = [0u32, 1, 512, 4096, 100_000, 1 << 20][length];
    let length_bytes =
        if kind == RequestKind::Flush { 0 } else { u64::from(length).min(capacity_bytes) as u32 };
    let last_bytes = capacity_bytes - u64::from(length_bytes);
    // Aligned to pages, aligned to sectors, the first pages, the very end, and anywhere.
    let offset_bytes = match (at * 8.0) as u64 {
        0 | 1 => (last_bytes as f64 * at) as u64 / 4096 * 4096,
        2 | 3 => (last_bytes as f64 * at) as u64 / 512 * 512,
        4 | 5 => (at * 1e9) as u64 % 64 * 4096,
        6 => last_bytes,
        _ => (last_bytes as f64 * at) as u64,
    };
    let offset_bytes = offset_bytes.min(last_bytes);
    Request { identical: at > 0.7, ..Request::new(kind, offset_bytes, length_bytes) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn whatever_is_set_is_refused_or_served(
        device in 0..DEVICES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..5),
        requests in prop::collection::vec((0u8..5, 0.0f64..1.0, 0usize..6), 1..24),
        depth in 1u64..6,
    ) {
        let mut spec = device_named(DEVICES[device].0).unwrap();
        let parameters = parameters(&spec);
        let mut device_line = DEVICES[device].0.to_owned();
        for (parameter, value) in changes {
            let (path, values) = parameter.get(&parameters);
            let value = value.get(values);
            device_line += &format!(" {path}={value}");
            let _ = spec.set(path, value);
        }
        let Ok(mut stack) = Stack::new(&spec, 1) else { return Ok(()) };
        let capacity_bytes = stack.capacity_bytes();
        let (mut sent, mut left) = (0u64, PATIENCE);
        let mut last_ns = 0;
        while left > 0 {
            while stack.in_flight() < depth && sent < requests.len() as u64 {
                let (kind, at, length) = requests[sent as usize];
                stack.submit(stack.now_ns(), request(capacity_bytes, kind, at, length), sent);
                sent += 1;
            }
            while let Some(done) = stack.take_completion() {
                prop_assert!(done.at_ns >= last_ns, "{device_line}: time went back");
                last_ns = done.at_ns;
            }
            let Some(at_ns) = stack.next_wake_ns() else {
                if stack.in_flight() == 0 && sent < requests.len() as u64 {
                    continue;
                }
                break;
            };
            prop_assert!(at_ns >= stack.now_ns(), "{device_line}: time went back");
            stack.advance(at_ns);
            left -= 1;
        }
        if let Some(error) = stack.check_not_blocked().err() {
            prop_assert!(error.what().en.contains("end of its time range"), "{device_line}: {error}");
        }
        let account = stack.take_account();
        let sum: u64 = account.shares.iter().map(|share| share.time_ns).sum();
        prop_assert_eq!(sum, account.latency_ns, "{}", device_line);
        prop_assert!(account.shares.iter().all(|share| share.cause != "unexplained"), "{device_line}: {account:?}");
    }
}
