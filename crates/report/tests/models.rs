//! The list of models, and the description of one.

use crate::common;

use kurabe_core::Lang;
use kurabe_report::*;
use kurabe_sim::{DEVICES, DeviceSpec, device_named, read_device};
use kurabe_testkit::sampled;

const DEVICE: &str = r#"
schema = 1
name = "test-card"
title = { en = "a card for a test", ja = "テスト用のカード" }
note = { en = "The card never gets tired.", ja = "このカードは疲れません。" }
[[layer]]
kind = "host"
largest_command = { value = "512 KiB", source = "https://example.org/driver.h: 128 segments of 4 KiB, the longest list that the adapter takes" }
[[layer]]
kind = "constant"
name = "card"
capacity = { value = "4 GiB", source = "data sheet, page 3" }
access = { value = "0.97 ms", source = "calibrated: on the access time at 1 GB" }
rate = { value = "9.7 MB/s", source = "derived: 128 KiB in 13.5 ms" }
"#;

fn device() -> DeviceSpec {
    let mut spec = read_device("test-card.toml", DEVICE).unwrap();
    spec.set("card.parallel", "4").unwrap();
    spec
}

fn both(name: &str, widths: &[usize], render: impl Fn(&Style) -> String) {
    for (lang, suffix) in [(Lang::En, "en"), (Lang::Ja, "ja")] {
        for width in widths {
            let page = render(&common::style(lang, *width));
            for line in page.lines() {
                assert!(display_width(line) <= *width, "{} > {width}: {line}", display_width(line));
            }
            if !common::is_kept(lang, *width, widths) {
                continue;
            }
            insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
                insta::assert_snapshot!(format!("{name}_{suffix}_{width}"), page);
            });
        }
    }
}

#[test]
fn a_model_is_shown_with_every_parameter_and_its_source() {
    both("models_show", &[60, 80, 120], |style| render_model(&device(), Some(4 << 30), style));
}

#[test]
fn models_are_listed_with_their_layers() {
    let models = [device_named("ideal-ram-disk").unwrap(), device()];
    both("models", &[60, 120], |style| render_models(&models, false, style));
}

#[test]
fn every_device_of_the_library_fits_every_page() {
    for (name, _) in sampled(DEVICES, 12) {
        let spec = device_named(name).unwrap();
        for lang in [Lang::En, Lang::Ja] {
            for width in [60, 80, 120, 160] {
                let style = common::style(lang, width);
                for line in render_model(&spec, None, &style).lines() {
                    assert!(display_width(line) <= width, "{name}: {line}");
                }
            }
        }
    }
}

#[test]
fn a_description_tells_calibrated_from_sourced() {
    let described = describe_model(&device(), None);
    let card = &described.layers[1];
    let standing: Vec<Provenance> = card.parameters.iter().map(|parameter| parameter.standing).collect();
    assert_eq!(
        standing,
        [
            Provenance::Sourced,
            Provenance::Calibrated,
            Provenance::Derived,
            Provenance::Assumed,
            Provenance::Assumed,
            Provenance::Changed,
        ]
    );
}

#[test]
fn a_description_tells_what_a_parameter_may_become() {
    let described = describe_model(&device_named("rascsi").unwrap(), None);
    let layer = |name: &str| described.layers.iter().find(|layer| layer.name == name).unwrap();
    let find = |layer: &LayerDescription, key: &str| {
        layer.parameters.iter().find(|parameter| parameter.key == key).unwrap().clone()
    };
    let cluster = find(layer("fat-image"), "cluster");
    assert_eq!(
        (cluster.range, cluster.unit, cluster.scale),
        (Some((512.0, 262_144.0)), "B", "powers-of-two")
    );
    let lead = find(layer("scsi"), "write_lead");
    assert_eq!((lead.number, lead.derived_from), (Some(0.0), &["write_piece"][..]));
    let restart = find(layer("fat-image"), "restart");
    assert_eq!((restart.choices, restart.live), (vec!["first".to_owned(), "forward".to_owned()], false));
    // A card's class is checked against its access time, so the access time is not a live
    // parameter.
    assert!(find(layer("card"), "program").live && !find(layer("card"), "access").live);
}
