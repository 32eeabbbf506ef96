//! The table of parameters: what it promises of values and ranges holds for every parameter of every device.

use kurabe_sim::{
    DEVICES, DeviceSpec, KINDS, LayerSpec, Parameter, ParameterType, Scale, Stack, device_named,
};
use proptest::prelude::*;

/// Every parameter of a device with its path, each once.
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

/// A number of a parameter's unit as it may be written.
fn written(parameter: &Parameter, number: f64) -> String {
    format!("{number} {}", parameter.kind.unit()).trim_end().to_owned()
}

/// Values of the range: both ends, and a place between them.
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
        (Scale::PowersOfTwo, _) => between.log2().floor().exp2().max(least),
        (Scale::Multiples(step), _) => (between / step as f64).ceil() * step as f64,
        (_, ParameterType::Number(..)) => between,
        _ => between.floor(),
    };
    [least, between, most].map(|number| written(parameter, number)).to_vec()
}

/// Values that are none of the parameter's.
fn outside(parameter: &Parameter) -> Vec<String> {
    let mut values = vec!["\"]] oops".to_owned(), "[[1, 2, 3, 4, 5, 6, 7]]".to_owned()];
    if let Some((least, most)) = parameter.kind.range() {
        let step = if matches!(parameter.kind, ParameterType::Number(..)) { 0.001 } else { 1.0 };
        // A step beyond the largest sizes is beyond what a number tells apart.
        values.push(written(parameter, (most * (1.0 + 1e-9)).ceil() + step));
        values.push(written(parameter, least - step));
        values.extend((least > 0.0).then(|| written(parameter, 0.0)));
    }
    match parameter.scale {
        Scale::PowersOfTwo => values.push(written(parameter, 3072.0)),
        Scale::Multiples(step) => values.push(written(parameter, step as f64 + 1.0)),
        Scale::Choice => values.push("7".to_owned()),
        Scale::Linear | Scale::Log => {}
    }
    values
}

#[test]
fn what_a_parameter_is_can_be_set_again_and_changes_nothing() {
    for (name, _) in DEVICES {
        let spec = device_named(name).unwrap();
        for (path, _) in parameters(&spec) {
            let mut again = spec.clone();
            let value = spec.get(&path).unwrap();
            again.set(&path, &value).unwrap_or_else(|error| panic!("{name}: {path}={value}: {error}"));
            // Unlike members of one name have one path: all of them get the value of the first.
            let unlike = spec.all_layers().iter().any(|layer| layer.members.len() > 1);
            assert!(unlike || spec.is_same_stack(&again), "{name}: {path}={value}");
        }
    }
}

#[test]
fn a_value_outside_of_the_range_is_refused_with_a_remedy() {
    for (name, _) in DEVICES {
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
        for (name, _) in DEVICES {
            let mut spec = device_named(name).unwrap();
            for (path, parameter) in parameters(&spec) {
                for value in inside(parameter, share) {
                    prop_assert!(spec.set(&path, &value).is_ok(), "{name}: {path}={value}");
                }
            }
        }
    }
}

/// A stack of it is built, or the error says at which parameter it does not fit, and what to do. Drives and arrays of the
/// largest sizes, which need much memory, are left out.
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
