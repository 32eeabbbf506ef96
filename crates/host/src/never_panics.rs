//! Tests that no parser panics on arbitrary or almost valid bytes.

use crate::signature::{Extract, places, signatures};
use crate::{any_bytes::parse_all, health};
use proptest::prelude::*;

/// Combines pieces of the kernel's files in random order, which reaches more code than random
/// bytes.
fn almost() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"36 27 8:1 / /mnt\\040x rw shared:1 - ext4 /dev/sda1 rw\n".to_vec()),
        Just(b"cpu  1 2 3 4 5 6 7 8 9 10\n".to_vec()),
        Just(b"some avg10=0.00 avg60=0.00 avg300=0.00 total=".to_vec()),
        Just(b"write_bytes: ".to_vec()),
        Just(b"read_bytes: ".to_vec()),
        Just(b"18446744073709551615".to_vec()),
        Just(b"9223372036854775807 ".to_vec()),
        Just(b"\\04".to_vec()),
        Just(b"flags:\t0100002\n".to_vec()),
        Just(b"lock:\t1: -> FLOCK  ADVISORY  WRITE 3 fe:00:7 0 EOF\n".to_vec()),
        Just(b"7f00-7f01 rw-s 00000000 fe:00 7 /x\n".to_vec()),
        Just(b"{\"temperature\":".to_vec()),
        Just(b"{\"ata_smart_attributes\":{\"table\":[{\"id\":177}]}}".to_vec()),
        Just(b"E:ID_MODEL_ENC=\\x2".to_vec()),
        Just(b"E:ID_SERIAL_SHORT=a\n".to_vec()),
        Just(b"1 (a) b) S ".to_vec()),
        Just(b"\n".to_vec()),
        Just(b" - ".to_vec()),
        Just(b":".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..12),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Returns JSON of the right shape with arbitrary values.
fn json_with(value: &str) -> [String; 2] {
    [
        format!(
            "{{\"smartctl\":{{\"version\":[{value},3],\"messages\":[{{\"string\":{value}}}]}},\"temperature\":{{\"current\":{value}}},\
             \"power_on_time\":{{\"hours\":{value}}},\"nvme_smart_health_information_log\":{{\"percentage_used\":{value},\"data_units_written\":{value}}},\
             \"ata_smart_attributes\":{{\"table\":[{value},{{\"id\":177,\"name\":\"Wear_Leveling_Count\",\"value\":{value}}},\
             {{\"id\":241,\"name\":\"Total_LBAs_Written\",\"raw\":{{\"value\":{value}}}}}]}},\
             \"scsi_error_counter_log\":{{\"write\":{{\"gigabytes_processed\":{value}}}}}}}"
        ),
        format!(
            "{{\"temperature\":{value},\"percent_used\":{value},\"power_on_hours\":{value},\"data_units_written\":{value}}}"
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn parsers_take_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        parse_all(&bytes);
    }

    #[test]
    fn parsers_take_almost_right_bytes(bytes in almost()) {
        parse_all(&bytes);
    }

    #[test]
    fn health_takes_any_values(value in prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_filter("JSON has no such number", |number| number.is_finite()).prop_map(|number| format!("{number:e}")),
        "[ -~]{0,12}".prop_map(|words| serde_json::Value::from(words).to_string()),
        Just("null".to_owned()), Just("[]".to_owned()), Just("{}".to_owned()),
    ]) {
        let [smartctl, nvme] = json_with(&value);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&smartctl).is_ok());
        health::parse_smartctl(smartctl.as_bytes()).ok();
        health::parse_nvme(nvme.as_bytes()).ok();
    }

    #[test]
    fn signatures_take_any_sizes_places_and_bytes(
        pieces in proptest::collection::vec(
            (prop_oneof![0..10_000_u64, any::<u64>()], proptest::collection::vec(any::<u8>(), 0..5000)),
            0..4,
        ),
        size_bytes in prop_oneof![0..10_000_u64, any::<u64>()],
    ) {
        signatures(&Extract { pieces: &pieces, size_bytes });
        prop_assert!(places(size_bytes).iter().all(|place| place.start <= place.end && place.end <= size_bytes));
    }
}

/// Inputs that the fuzzer kept.
#[test]
fn parsers_take_what_the_fuzzer_kept() {
    let corpus =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/host_any")).unwrap();
    let inputs: Vec<_> = corpus.map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect();
    assert!(!inputs.is_empty());
    inputs.iter().for_each(|bytes| parse_all(bytes));
}
