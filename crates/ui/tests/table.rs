//! Saving every table as a picture.

use crate::browsing::{DOOR, Reader};
use kurabe_testkit::browser::keys;

/// Waits for the saved picture and returns its width, its height, and the number of pixels that
/// differ from the background.
const SAVED: &str = "const done = arguments[0];
    const look = async () => {
        const saved = window.saved;
        if (!saved) { setTimeout(look, 20); return; }
        const bitmap = await createImageBitmap(saved.picture);
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
        const pen = canvas.getContext('2d');
        pen.drawImage(bitmap, 0, 0);
        const words = new Uint32Array(pen.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer);
        done({ name: saved.name, written: window.written.join(' '), kind: saved.picture.type, width: bitmap.width, height: bitmap.height,
            inked: words.filter((word) => word !== words[0]).length });
    };
    look();";

/// Captures the saved picture and the text drawn on it, instead of saving it to a file.
const KEEP: &str = "let picture;
    window.written = [];
    const write = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (words, ...place) {
        window.written.push(words);
        write.call(this, words, ...place);
    };
    URL.createObjectURL = (own) => { picture = own; return '#'; };
    HTMLAnchorElement.prototype.click = function () { window.saved = { picture, name: this.download }; };";

#[test]
#[ignore = "slow"]
fn a_table_is_saved_as_a_picture_in_both_languages_and_themes() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    for (lang, theme, note) in [
        ("en", "light", "computed by a model, not measured"),
        ("ja", "dark", "モデルの計算値(実測ではありません)"),
    ] {
        reader.go(&format!("/choose/lang/{lang}"));
        reader.go(&format!("/choose/theme/{theme}"));
        reader.go("/models/samsung-870-evo");
        reader.wait_for("#figures table");
        reader.wait_for("#figures .as-picture");
        browser.run(KEEP);
        browser.tab_to("#figures .as-picture");
        browser.type_keys(keys::ENTER);
        let saved = browser.run_later(SAVED);
        let size = |name: &str| saved[name].as_f64().unwrap_or_default();
        let shown =
            browser.run("return document.querySelector('#figures table').getBoundingClientRect().width");
        assert_eq!(saved["kind"], "image/png", "{saved}");
        assert_eq!(saved["name"], "Samsung 870 EVO 1 TB.png", "{saved}");
        // Twice the resolution of the screen, with a margin.
        assert!(size("width") >= 2.0 * shown.as_f64().unwrap_or(f64::INFINITY), "{saved} beside {shown}");
        // The picture must include the note that the page has next to the table.
        let written = saved["written"].as_str().unwrap_or_default();
        assert!(written.contains(note), "{note}: {written}");
        let share = size("inked") / (size("width") * size("height"));
        assert!((0.01..0.9).contains(&share), "neither empty nor full: {saved}");
    }
    reader.console_is_clean(&[DOOR]);
}
