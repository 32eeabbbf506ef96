//! Screenshots of the pages. `KURABE_WRITE_PICTURES=1` rewrites those of docs/.
//! `KURABE_WRITE_PICTURES=FOLDER` writes all pages in full height, for developers who change them.

use crate::accessible;
use crate::browsing::Reader;
use crate::served::{read, served};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Size above which a picture is too large for the repository.
const MOST_BYTES: usize = 150_000;

/// Width, height, theme and name suffix of the screenshots in docs/.
const FORMS: [(u32, u32, &str, &str); 1] = [(1280, 860, "light", "")];
/// The same for all pages: from the narrowest phone to 4K, and on paper.
const ALL_FORMS: [(u32, u32, &str, &str); 4] = [
    (1280, 860, "light", ""),
    (360, 740, "dark", "-small"),
    (3840, 2160, "light", "-large"),
    (PAPER_WIDTH, 1123, "dark", PAPER),
];
/// A4 at 96 dpi.
const PAPER_WIDTH: u32 = 794;
const PAPER: &str = "-paper";
/// Height at which longer pages are cut.
const LONGEST: u64 = 6000;

#[test]
fn pages_are_written_as_pictures() {
    // This is a tool for the documentation, not a test.
    let Some(place) = std::env::var_os("KURABE_WRITE_PICTURES") else { return };
    // The list of places includes the working directory, which should not be visible.
    std::env::set_current_dir("/").expect("the root");
    let Some(reader) = Reader::inside() else { return };
    // One model is measured twice, so that it has a history.
    reader.measured("samsung-870-evo");
    let runs = ["samsung-870-evo", "intel-x25m-g2"].map(|model| reader.measured(model));
    let (_server, socket) = served(reader.page.folder(), "hua722020-usb");
    let folder = PathBuf::from(&place);
    for lang in ["en", "ja"] {
        let forms = if place == "1" { &FORMS[..] } else { &ALL_FORMS[..] };
        for &(width, height, theme, ending) in forms {
            let media = if ending == PAPER { "print" } else { "screen" };
            reader.browser.devtools("Emulation.setEmulatedMedia", &json!({ "media": media }));
            let ending = format!("{lang}{ending}");
            resize(&reader, (width, height));
            reader.go(&format!("/choose/theme/{theme}"));
            reader.go(&format!("/choose/lang/{lang}"));
            // Enough reads that the last second is representative of all.
            read(&socket, 300);
            if place == "1" {
                of_the_manual(&reader, &ending, (width, height));
            } else {
                of_all(&reader, &runs, &folder, &ending, (width, height));
            }
        }
    }
}

/// Writes the screenshots for docs/.
fn of_the_manual(reader: &Reader, ending: &str, size: (u32, u32)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures/ui");
    measuring(reader, &folder, ending, size);
    reader.go("/models/mirror3-usb");
    reader.wait_for("#movers:not([hidden])");
    write(reader, &folder, &format!("model-{ending}"));
}

/// Takes a screenshot of a run in progress, with some tiles filled.
fn measuring(reader: &Reader, folder: &Path, ending: &str, (width, height): (u32, u32)) {
    let browser = &reader.browser;
    browser.run("document.querySelector('#measure').elements.target.value = '/tmp'");
    for (field, value) in [("profile", "default"), ("size", "256MiB"), ("runs", "3")] {
        browser.run(&format!("document.querySelector('#measure select[name={field}]').value = '{value}'"));
    }
    browser.click("#all");
    // The tiles of the previous run are visible until the new run has begun.
    reader.wait_for("#board [data-goes-on]");
    browser.wait_until(
        "document.querySelector('#board [data-goes-on]') && document.querySelectorAll('.tile.done').length === 5",
    );
    // Loop devices of this machine should not be visible.
    browser.run(
        "for (const place of document.querySelectorAll('.place'))
             if (/^.dev.loop/.test(place.textContent.trim())) place.remove()",
    );
    let length = browser.run("return document.documentElement.scrollHeight").as_u64().unwrap_or(0);
    resize(reader, (width, length as u32));
    browser.run("scrollTo(0, 0)");
    browser.wait_until("document.querySelector('#course')?.getAttribute('d').length > 40");
    write(reader, folder, &format!("measure-{ending}"));
    resize(reader, (width, height));
    browser.click("#stop");
    reader.wait_for("#board .after");
}

fn of_all(reader: &Reader, runs: &[String], folder: &Path, ending: &str, (width, height): (u32, u32)) {
    let first = [("/".to_owned(), "#board .after"), ("/studies/sata-usb".to_owned(), ".verdicts")];
    for (path, selector) in first.into_iter().chain(accessible::pages(runs)) {
        reader.go(&path);
        reader.wait_for(selector);
        let length = reader.browser.run("return document.documentElement.scrollHeight").as_u64().unwrap_or(0);
        reader.browser.resize(width, length.min(LONGEST) as u32);
        let name = accessible::file_name(&path);
        write(reader, folder, &format!("{name}-{ending}"));
        reader.browser.resize(width, height);
    }
}

/// Wide screenshots are scaled down.
fn resize(reader: &Reader, (width, height): (u32, u32)) {
    let scale = if width > 1000 { 0.75 } else { 1.0 };
    let size = json!({ "width": width, "height": height, "deviceScaleFactor": scale, "mobile": false });
    reader.browser.devtools("Emulation.setDeviceMetricsOverride", &size);
}

/// Writes a screenshot of the current page.
pub fn write(reader: &Reader, folder: &Path, name: &str) {
    let picture = reader.browser.picture();
    std::fs::create_dir_all(folder).expect("a folder");
    std::fs::write(folder.join(format!("{name}.png")), &picture).expect("written");
    if picture.len() > MOST_BYTES {
        eprintln!("{name}: {} bytes", picture.len());
    }
}
