//! The table of parameters: its values and ranges are correct for every parameter of every device.

use kurabe_core::random::Random;
use kurabe_sim::{
    DEVICES, DeviceSpec, KINDS, LayerSpec, Parameter, ParameterScale, ParameterType, Request, RequestKind,
    Stack, device_named, read_device,
};
use kurabe_testkit::sampled;
use proptest::prelude::*;

/// Returns every parameter of a device with its path, each once.
fn parameters(spec: &DeviceSpec) -> Vec<(String, &'static Parameter)> {
    let of = |layer: &LayerSpec| {
        let name = layer.name.clone();
        let settings: Vec<_> = layer.settings.iter().map(|setting| setting.parameter).collect();
        settings.into_iter().map(move |parameter| (format!("{name}.{}", parameter.key), parameter))
    };
    let mut all: Vec<_> = spec.all_layers().into_iter().flat_map(of).collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all.dedup_by(|one, other| one.0 == other.0);
    all
}

/// Formats a number with a parameter's unit.
fn written(parameter: &Parameter, number: f64) -> String {
    format!("{number} {}", parameter.kind.unit()).trim_end().to_owned()
}

/// Returns values within the range: both ends, and one in between.
fn inside(parameter: &Parameter, share: f64) -> Vec<String> {
    let Some((least, most)) = parameter.kind.range() else {
        return match parameter.kind {
            ParameterType::Flag => vec!["true".to_owned(), "false".to_owned()],
            ParameterType::Word(words) => words.iter().map(|word| (*word).to_owned()).collect(),
            _ => vec!["[]".to_owned()],
        };
    };
    if let ParameterType::OneOf(numbers) = parameter.kind {
        return numbers.iter().map(ToString::to_string).collect();
    }
    let between = least + (most - least) * share.powi(8);
    let between = match (parameter.scale, parameter.kind) {
        (ParameterScale::PowersOfTwo, _) => between.log2().floor().exp2().max(least),
        (ParameterScale::Multiples(step), _) => (between / step as f64).ceil() * step as f64,
        (_, ParameterType::Number(..)) => between,
        _ => between.floor(),
    };
    [least, between, most].map(|number| written(parameter, number)).to_vec()
}

/// Returns invalid values of a parameter.
fn outside(parameter: &Parameter) -> Vec<String> {
    let mut values = vec!["\"]] oops".to_owned(), "[[1, 2, 3, 4, 5, 6, 7]]".to_owned()];
    if let Some((least, most)) = parameter.kind.range() {
        let step = if matches!(parameter.kind, ParameterType::Number(..)) { 0.001 } else { 1.0 };
        // A step beyond the largest sizes is below the precision of an `f64`.
        values.push(written(parameter, (most * (1.0 + 1e-9)).ceil() + step));
        values.push(written(parameter, least - step));
        values.extend((least > 0.0).then(|| written(parameter, 0.0)));
    }
    match parameter.scale {
        ParameterScale::PowersOfTwo => values.push(written(parameter, 3072.0)),
        ParameterScale::Multiples(step) => values.push(written(parameter, step as f64 + 1.0)),
        ParameterScale::Choice => values.push("7".to_owned()),
        ParameterScale::Linear | ParameterScale::Log => {}
    }
    values
}

#[test]
fn what_a_parameter_is_can_be_set_again_and_changes_nothing() {
    for (name, _) in sampled(DEVICES, 16) {
        let spec = device_named(name).unwrap();
        for (path, _) in parameters(&spec) {
            let mut again = spec.clone();
            let value = spec.get(&path).unwrap();
            again.set(&path, &value).unwrap_or_else(|error| panic!("{name}: {path}={value}: {error}"));
            // Different members of the same name share a path: all of them get the value of the
            // first.
            let unlike = spec.all_layers().iter().any(|layer| layer.members.len() > 1);
            assert!(unlike || spec.is_same_stack(&again), "{name}: {path}={value}");
        }
    }
}

#[test]
fn a_value_outside_of_the_range_is_refused_with_a_remedy() {
    for (name, _) in sampled(DEVICES, 16) {
        let spec = device_named(name).unwrap();
        for (path, parameter) in parameters(&spec) {
            for value in outside(parameter) {
                let mut changed = spec.clone();
                let error = changed.set(&path, &value).err();
                let error = error.unwrap_or_else(|| panic!("{name}: {path}={value} was taken"));
                assert!(error.remedy_text().is_some(), "{name}: {path}={value}: {error}");
                assert!(spec.is_same_stack(&changed), "{name}: {path}={value}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn a_value_of_the_range_is_taken(share in 0.0f64..1.0) {
        for (name, _) in sampled(DEVICES, 16) {
            let mut spec = device_named(name).unwrap();
            for (path, parameter) in parameters(&spec) {
                for value in inside(parameter, share) {
                    prop_assert!(spec.set(&path, &value).is_ok(), "{name}: {path}={value}");
                }
            }
        }
    }
}

/// A stack is built, or the error names the conflicting parameter and a remedy. The largest drives
/// and arrays, which need much memory, are left out.
#[test]
fn the_ends_of_a_range_fit_or_are_refused_with_a_remedy() {
    let mut seen = Vec::new();
    for name in [
        "rascsi",
        "hua722020-sata",
        "mirror3-sata-cbs",
        "mirror3-usb",
        "raid-9260",
        "hitachi-hds721616plat80",
    ] {
        let spec = device_named(name).unwrap();
        for (path, parameter) in parameters(&spec) {
            let sizes = ["capacity", "members", "tracks", "segments", "cylinders", "page", "pages_per_block"];
            if path.starts_with("ssd.") || seen.contains(&path) || sizes.contains(&parameter.key) {
                continue;
            }
            for value in inside(parameter, 0.5) {
                let mut changed = spec.clone();
                changed.set(&path, &value).unwrap();
                if let Err(error) = Stack::new(&changed, 1) {
                    assert!(error.remedy_text().is_some(), "{name}: {path}={value}: {error}");
                }
            }
            seen.push(path);
        }
    }
}

#[test]
fn a_size_and_a_rate_may_be_bare_numbers() {
    let mut spec = device_named("hitachi-hds721616plat80").unwrap();
    spec.set("disk.capacity", "164696555520").unwrap();
    assert_eq!(spec.get("disk.capacity").as_deref(), Some("164696555520"));
    assert!(spec.is_same_stack(&device_named("hitachi-hds721616plat80").unwrap()));
    spec.set("disk.buffer_rate", "1000000000").unwrap();
    assert!(spec.is_same_stack(&device_named("hitachi-hds721616plat80").unwrap()));
}

#[test]
fn tables_name_parameters_that_there_are() {
    for kind in KINDS {
        let has = |key: &str| kind.parameters.iter().any(|parameter| parameter.key == key);
        for parameter in kind.parameters {
            assert!(
                parameter.derived_from.iter().all(|key| has(key) && *key != parameter.key),
                "{parameter:?}"
            );
        }
        for relation in kind.relations {
            let (one, other) = relation.keys();
            assert!(has(one) && has(other), "{relation:?}");
        }
    }
}

/// Returns the live parameters of a device, each with its value and another one.
fn live(spec: &DeviceSpec) -> Vec<(String, String, String)> {
    let other = |path: &str, parameter: &Parameter| {
        let (layer, key) = path.split_once('.').unwrap();
        let layers = spec.all_layers();
        let layer = layers.iter().find(|other| other.name == layer).unwrap();
        let setting = layer.settings.iter().find(|setting| setting.parameter.key == key).unwrap();
        let number = setting.number().unwrap();
        match parameter.kind {
            ParameterType::Flag => (number == 0.0).to_string(),
            ParameterType::Rate => written(parameter, (number / 2.0).ceil()),
            ParameterType::Time => written(parameter, number + 100_000.0),
            _ => {
                let (least, most) = parameter.kind.range().unwrap();
                let other = (number / 2.0).floor().max(least);
                written(parameter, if other == number { (number + 1.0).min(most) } else { other })
            }
        }
    };
    let live = parameters(spec).into_iter().filter(|(_, parameter)| parameter.live);
    live.map(|(path, parameter)| {
        let value = other(&path, parameter);
        let now = spec.get(&path).unwrap();
        (path, now, value)
    })
    .collect()
}

/// Returns the ends of requests of all kinds, four in flight; `change` is called while those of the
/// third round are in flight.
fn times(mut stack: Stack, change: impl Fn(&mut Stack)) -> Vec<(u64, u64)> {
    let mut random = Random::new(5, 0);
    let places = stack.capacity_bytes() / 4096 - 16;
    let mut ended = Vec::new();
    for number in 0..48 {
        let (place, sector) = (random.below(places) * 4096, number / 3 * 32_768);
        let request = match number % 8 {
            0 | 4 => Request::new(RequestKind::Read, place, 4096),
            1 | 5 => Request::new(RequestKind::Write, place, 65_536),
            7 if number % 16 == 7 => Request::new(RequestKind::Flush, 0, 0),
            2 | 6 => Request::new(RequestKind::Read, sector, 32_768),
            _ => Request::new(RequestKind::Write, sector, 32_768),
        };
        stack.submit(stack.now_ns(), request, number);
        if number == 11 {
            change(&mut stack);
        }
        while number % 4 == 3 && stack.in_flight() > 0 {
            stack.check_not_blocked().unwrap();
            stack.advance(stack.next_wake_ns().unwrap());
        }
        ended.extend(std::iter::from_fn(|| stack.take_completion()).map(|done| (done.token, done.at_ns)));
    }
    stack.check_sound().unwrap();
    assert_eq!(ended.len(), 48);
    ended
}

#[test]
fn a_live_parameter_changed_before_all_requests_is_as_one_built_so() {
    for (name, _) in sampled(DEVICES, 16) {
        let spec = device_named(name).unwrap();
        let stack = Stack::new(&spec, 1).unwrap();
        for (path, _, value) in live(&spec) {
            let mut built = spec.clone();
            built.set(&path, &value).unwrap();
            let Ok(built) = Stack::new(&built, 1) else { panic!("{name}: {path}={value} cannot be built") };
            let mut changed = stack.clone();
            changed.change(&path, &value).unwrap();
            assert_eq!(times(changed, |_| {}), times(built, |_| {}), "{name}: {path}={value}");
        }
    }
}

#[test]
fn a_change_to_the_same_value_in_the_midst_of_work_changes_nothing() {
    for (name, _) in sampled(DEVICES, 16) {
        let spec = device_named(name).unwrap();
        // Different members of the same name share a path.
        if spec.all_layers().iter().any(|layer| layer.members.len() > 1) {
            continue;
        }
        let stack = Stack::new(&spec, 1).unwrap();
        let unchanged = times(stack.clone(), |_| {});
        let same = |stack: &mut Stack| {
            live(&spec).iter().for_each(|(path, now, _)| stack.change(path, now).unwrap());
        };
        assert_eq!(times(stack, same), unchanged, "{name}");
    }
}

/// Layers that can be placed above a medium, each with its required parameters.
const OVER_A_MEDIUM: [(&str, &str); 8] = [
    ("host", ""),
    ("filesystem", ""),
    ("sata", "generation = { value = \"sata-2\", source = \"test\" }"),
    ("pcie", "generation = { value = 3, source = \"test\" }\nlanes = { value = 4, source = \"test\" }"),
    (
        "usb",
        "generation = { value = \"usb-3\", source = \"test\" }\nprotocol = { value = \"bot\", source = \"test\" }",
    ),
    ("scsi", ""),
    ("mirror", ""),
    ("raid", "level = { value = 0, source = \"test\" }"),
];

/// Returns the time of a single read of 64 KiB.
fn read_ns(stack: &mut Stack, number: u64) -> u64 {
    let from_ns = stack.now_ns();
    stack.submit(from_ns, Request::new(RequestKind::Read, number * 65_536, 65_536), 0);
    while stack.in_flight() > 0 {
        stack.advance(stack.next_wake_ns().unwrap());
    }
    stack.take_completion().unwrap().at_ns - from_ns
}

/// For a layer above a medium without state: checks the second read after the change, because the
/// first may still wait for work that began before it.
#[test]
fn a_change_in_the_midst_of_work_gives_the_times_of_a_stack_built_so() {
    let last_ns = |spec: &DeviceSpec, change: Option<(&str, &str)>| {
        let mut stack = Stack::new(spec, 1).unwrap();
        let mut last_ns = 0;
        for number in 0..8 {
            if let (6, Some((path, value))) = (number, change) {
                stack.change(path, value).unwrap();
            }
            last_ns = read_ns(&mut stack, number);
        }
        last_ns
    };
    let mut slower = Vec::new();
    for (kind, parameters) in OVER_A_MEDIUM {
        let source = format!(
            r#"
            schema = 1
            name = "test"
            title = {{ en = "test", ja = "test" }}
            [[layer]]
            kind = "{kind}"
            {parameters}
            [[layer]]
            kind = "constant"
            capacity = {{ value = "64 MiB", source = "test" }}
            access = {{ value = "1 ms", source = "test" }}
            rate = {{ value = "100 MB/s", source = "test" }}
            "#
        );
        let spec = read_device("test", &source).unwrap();
        for (path, _, value) in live(&spec) {
            let mut built = spec.clone();
            built.set(&path, &value).unwrap();
            let changed_ns = last_ns(&spec, Some((&path, &value)));
            assert_eq!(changed_ns, last_ns(&built, None), "{path}={value}");
            if changed_ns == last_ns(&spec, None) + 100_000 {
                slower.push(path);
            }
        }
    }
    slower.sort();
    slower.dedup();
    let times = [
        "constant.access",
        "filesystem.gap",
        "host.command_time",
        "host.read_time",
        "host.wake_time",
        "pcie.latency",
        "raid.latency",
        "raid.request_time",
        "raid.strip_time",
        "sata.command",
        "scsi.command",
        "scsi.selection",
        "scsi.status",
        "usb.command",
        "usb.gap",
        "usb.status",
    ];
    assert_eq!(slower, times);
}

#[test]
fn what_is_not_live_is_refused_with_what_is() {
    let mut stack = Stack::new(&device_named("raid-9260").unwrap(), 1).unwrap();
    let mut refused = |path: &str, value: &str| {
        let error = stack.change(path, value).unwrap_err();
        error.remedy_text().unwrap_or_else(|| panic!("{path}={value}: {error}")).en.clone()
    };
    assert!(refused("raid.strip", "64 KiB").starts_with("live parameters of `raid`: latency, request_time"));
    assert!(refused("raid.latnecy", "1 us").starts_with("live parameters of `raid`: latency, request_time"));
    for (path, value) in
        [("raid", "1 us"), ("riad.latency", "1 us"), ("raid.latency", "2 h"), ("raid.latency", "quick")]
    {
        refused(path, value);
    }
}
