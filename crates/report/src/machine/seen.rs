//! Translation of the observations about a machine into the reader's language.
//!
//! The model: a record stores the layers below a target, and what could not be determined, as
//! English phrases that contain names.

use kurabe_core::{Text, phrases};

const PHRASES: &str = include_str!("seen.txt");

/// Translates a phrase of a record.
pub(crate) fn seen(phrase: &str) -> Text {
    Text::of(phrase, phrases::in_japanese(PHRASES, phrase))
}

/// Translates a list of phrases that are joined with commas. Commas within parentheses don't
/// separate phrases.
pub(crate) fn seen_list(phrases: &str) -> Text {
    let mut depth = 0;
    let apart = phrases.split_inclusive(", ").fold(Vec::<String>::new(), |mut apart, part| {
        match apart.last_mut().filter(|_| depth > 0) {
            Some(open) => open.push_str(part),
            None => apart.push(part.to_owned()),
        }
        depth += part.matches('(').count() as i32 - part.matches(')').count() as i32;
        apart
    });
    Text::join(apart.iter().map(|phrase| seen(phrase.trim_end_matches(", "))), [", "; 2])
}

#[test]
fn a_phrase_is_said_in_japanese_with_its_names_kept() {
    for (en, ja) in [
        ("under loop0: ext4 on vda", "loop0 の下: vda 上の ext4"),
        ("under loop0: md0 (raid1, 2 devices)", "loop0 の下: md0 (raid1、2 台)"),
        ("loop0 (loop, /srv/x.img, direct)", "loop0 (ループデバイス、/srv/x.img、ダイレクト)"),
        ("md0 (raid0, 4 devices, strip 64 KiB)", "md0 (raid0、4 台、ストリップ 64 KiB)"),
        (
            "devices under the overlay: its upper directory is not visible from here",
            "overlay の下のデバイス: 書き込み先のディレクトリがここからは見えません",
        ),
        ("health of sda: smartctl: not installed", "sda の健康状態: smartctl: インストールされていません"),
        ("dm-1 (lvm, vg-root)", "dm-1 (lvm, vg-root)"),
        ("Samsung SSD 980 PRO", "Samsung SSD 980 PRO"),
    ] {
        assert_eq!(seen(en), Text::of(en, ja));
    }
    let layers = seen_list("loop0 (loop, /x, direct), under loop0: ext4 on vda");
    assert_eq!(layers.ja, "loop0 (ループデバイス、/x、ダイレクト), loop0 の下: vda 上の ext4");
    assert_eq!(layers.en, "loop0 (loop, /x, direct), under loop0: ext4 on vda");
}
